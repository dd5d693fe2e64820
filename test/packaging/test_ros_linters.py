# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The linters of ROS, if the workspace has them."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = [str(ROOT / name) for name in ("robot_semantics", "launch", "interfaces", "underlay", "setup.py")]
MANIFESTS = [str(ROOT / "package.xml"), str(ROOT / "interfaces" / "package.xml")]


def problems_of(linter: str, *words: str) -> int:
    """Return the exit code of a linter; its output says why."""
    module = pytest.importorskip(f"{linter}.main", reason=f"{linter} comes with a ROS 2 installation, not from PyPI")
    return int(module.main(argv=list(words)) or 0)


def test_ament_copyright() -> None:
    assert problems_of("ament_copyright", *SOURCES, str(ROOT / "test"), str(ROOT / "tools")) == 0


def test_ament_flake8() -> None:
    assert problems_of("ament_flake8", "--config", str(ROOT / "setup.cfg"), *SOURCES) == 0


def test_ament_pep257() -> None:
    # The same exceptions as those of ruff in pyproject.toml.
    ignored = ("D104", "D105", "D107", "D205", "D402", "D415")
    assert problems_of("ament_pep257", "--convention", "google", "--add-ignore", *ignored, "--", *SOURCES[:2]) == 0


def test_ament_lint_cmake() -> None:
    assert problems_of("ament_lint_cmake", str(ROOT / "interfaces"), str(ROOT / "underlay"), str(ROOT / "interop")) == 0


def test_ament_xmllint(capfd: pytest.CaptureFixture[str]) -> None:
    if shutil.which("xmllint") is None:
        pytest.skip("xmllint is not installed (libxml2-utils)")
    problems = problems_of("ament_xmllint", *MANIFESTS)
    if "failed to load external entity" in capfd.readouterr().err:
        pytest.skip("the schema of package.xml is neither in an XML catalog nor reachable")
    assert problems == 0


def test_the_manifests_are_well_formed_for_xmllint() -> None:
    if shutil.which("xmllint") is None:
        pytest.skip("xmllint is not installed (libxml2-utils)")
    done = subprocess.run(["xmllint", "--noout", *MANIFESTS], capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
