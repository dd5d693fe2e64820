# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Renew the lock files, for maintainers: needs uv on the PATH.

`demo.lock` and `test.lock` share no package: `test.lock` has the additional packages for tests, in compatible versions.
`build.lock` is for building the few packages without wheels. `kilted.lock` has only ROS 2 Kilted, instead of Jazzy in
`demo.lock`. `base.lock` is the part of `demo.lock` for the command line without an extra. `docs.lock` is for building
the site, `mutants.lock` for changing the code and `audit.lock` for `make audit`, each in its own environment.
Every package has the hashes of its files.
"""

from __future__ import annotations

import argparse
import re
import subprocess
from pathlib import Path

FOLDER = Path(__file__).resolve().parent.parent / "requirements"
# These have no wheels; they are pure Python, or compiled from a source with a known hash.
WITHOUT_WHEELS = ("docopt-subcommands", "empy", "lark-parser", "urdf-parser-py", "yattag")
OPTIONS = (
    *("--universal", "--python-version=3.10", "--no-emit-index-url", "--no-annotate", "--no-header", "--quiet"),
    *("--no-python-downloads", "--generate-hashes", "--only-binary=:all:"),
    *(f"--no-binary={name}" for name in WITHOUT_WHEELS),
)
BUILD = ("setuptools", "wheel")
# Packages without a successor in Kilted, and packages that only Kilted has.
ONLY_JAZZY = ("fastrtps", "fastrtps-cmake-module", "python-cmake-module")
ONLY_KILTED = ("ament-cmake-ros-core", "fastdds", "rmw-security-common")


def packages(lock: str) -> list[str]:
    """Return the entries of a lock: each package with the lines of its hashes."""
    text = "\n".join(line for line in lock.splitlines() if line and not line.startswith("#"))
    return re.findall(r"^\S.*?(?=^\S|\Z)", text + "\n", re.MULTILINE | re.DOTALL)


def head(entry: str) -> str:
    """Return the first line of an entry: name, version and Python versions."""
    return entry.splitlines()[0].rstrip(" \\")


def compiled(source: str, *options: str) -> list[str]:
    """Return the lock entries for one .in file."""
    command = ["uv", "pip", "compile", *OPTIONS, *options, str(FOLDER / source)]
    return packages(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def write(lock: str, says: str, entries: list[str]) -> None:
    """Write a lock file with a first line that describes it."""
    (FOLDER / lock).write_text("".join([f"# {says} Made by `make lock` from the .in files.\n", *entries]))


def of_kilted(line: str) -> str:
    """Return a line of `ros.in` for Kilted; empty if Kilted does not have the package."""
    name = line.removeprefix("ros-jazzy-")
    return "" if name in ONLY_JAZZY else f"ros-kilted-{name}" if name != line else line


def kilted(versions: Path) -> list[str]:
    """Return the entries of Kilted that replace Jazzy, in versions compatible with all others."""
    own = [of_kilted(line) for line in (FOLDER / "ros.in").read_text().splitlines()]
    rest = (FOLDER / "demo.in").read_text().replace("-r ros.in\n", "")
    source = FOLDER / "kilted.tmp.in"
    source.write_text("\n".join([*own, *(f"ros-kilted-{name}" for name in ONLY_KILTED), rest]))
    try:
        found = compiled(source.name, f"--constraint={versions}")
    finally:
        source.unlink()
    return [entry for entry in found if entry.startswith("ros-")]


def main() -> None:
    """Write all locks; without --upgrade, locked versions stay."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--upgrade", action="store_true", help="take the newest versions")
    upgrade = parser.parse_args().upgrade
    locks = [FOLDER / name for name in ("build.lock", "demo.lock", "test.lock")]
    locked = [head(entry) for lock in locks if lock.exists() for entry in packages(lock.read_text())]
    versions = FOLDER / "versions.tmp"
    versions.write_text("" if upgrade else "\n".join(locked))
    try:
        everything = compiled("test.in", f"--constraint={versions}")
        versions.write_text("\n".join(map(head, everything)))
        demo = compiled("demo.in", f"--constraint={versions}")
        others = [head(entry) for entry in demo if not entry.startswith("ros-")]
        before = FOLDER / "kilted.lock"
        if before.exists() and not upgrade:
            others += map(head, packages(before.read_text()))
        base = compiled("base.in", f"--constraint={versions}")
        versions.write_text("\n".join(others))
        kilted_entries = kilted(versions)
        corpus = compiled("corpus.in", "--no-deps")
        alone = {
            name: compiled(f"{name}.in", *([f"--constraint={lock}"] if lock.exists() and not upgrade else []))
            for name in ("docs", "mutants", "audit")
            for lock in (FOLDER / f"{name}.lock",)
        }
    finally:
        versions.unlink()
    build = [entry for entry in demo if head(entry).partition("==")[0] in BUILD]
    write("build.lock", "What the packages without wheels are built with.", build)
    write(
        "demo.lock",
        "What the node, the command line and the demo need.",
        [entry for entry in demo if entry not in build],
    )
    write(
        "test.lock",
        "What the tests and benchmarks need beyond demo.lock.",
        [entry for entry in everything if head(entry) not in set(map(head, demo))],
    )
    write("base.lock", "The part of demo.lock that the command line needs without an extra.", base)
    write("kilted.lock", "ROS 2 Kilted, in the place of Jazzy's packages in demo.lock.", kilted_entries)
    write("docs.lock", "What the site of the pages is made with.", alone["docs"])
    write("mutants.lock", "What `make mutants` changes the code with.", alone["mutants"])
    write(
        "audit.lock",
        "What `make audit` searches for known vulnerabilities with.",
        alone["audit"],
    )
    write("corpus.lock", "Packages that carry robots, of which only the descriptions are kept.", corpus)


if __name__ == "__main__":
    main()
