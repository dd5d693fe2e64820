# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Every downloaded package has a hash, and a known vulnerability of a locked version is found."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
import yaml

from tools.audit import UnreachableError, vulnerabilities
from tools.lock import head, packages

ROOT = Path(__file__).resolve().parents[2]
REQUIREMENTS = ROOT / "requirements"

ANSWER = """
import json, sys
lock = open(sys.argv[sys.argv.index("--requirement") + 1]).read()
found = [{"id": "PYSEC-1", "fix_versions": ["2.0"]}] if "bad==1.0" in lock else []
packages = [{"name": "bad", "version": "1.0", "vulns": found}, {"name": "x", "skip_reason": "y"}]
print(json.dumps({"dependencies": packages}))
sys.exit(bool(found))
"""


NOTHING = """print('{"dependencies": [{"name": "x", "skip_reason": "not found"}]}')"""


def test_a_known_vulnerability_is_named(tmp_path: Path) -> None:
    lock = tmp_path / "some.lock"
    lock.write_text("bad==1.0\n")
    assert list(vulnerabilities(lock, [sys.executable, "-c", ANSWER])) == ["bad 1.0: PYSEC-1; fixed in 2.0"]
    lock.write_text("good==1.0\n")
    assert list(vulnerabilities(lock, [sys.executable, "-c", ANSWER])) == []


@pytest.mark.parametrize(
    "program", ["import sys; sys.exit('ServiceError: no route')", "print('{}')", "print('[]')", NOTHING]
)
def test_without_the_lists_the_audit_is_skipped(tmp_path: Path, program: str) -> None:
    with pytest.raises(UnreachableError):
        list(vulnerabilities(tmp_path / "some.lock", [sys.executable, "-c", program]))


def test_the_action_installs_only_what_has_a_hash() -> None:
    action = yaml.safe_load((ROOT / "action.yml").read_text())
    (install,) = [step["run"] for step in action["runs"]["steps"] if step["name"] == "Install"]
    commands = [line for line in install.replace("\\\n", " ").splitlines() if " install " in line]
    assert len(commands) == 2
    for command in commands:
        assert "--require-hashes" in command or ("--no-deps" in command and "--no-build-isolation" in command)


def test_the_lock_of_the_action_is_a_part_of_the_other_lock_and_has_what_setup_py_needs() -> None:
    base, demo = (packages((REQUIREMENTS / name).read_text()) for name in ("base.lock", "demo.lock"))
    assert set(base) <= set(demo)
    assert all("--hash=sha256:" in entry for entry in base)
    (required,) = re.findall(r"install_requires=\[(.*?)\n    \]", (ROOT / "setup.py").read_text(), re.DOTALL)
    names = set(re.findall(r'"([a-z-]+)>=', required))
    assert names <= {head(entry).partition("==")[0] for entry in base}
    assert names == {line for line in (REQUIREMENTS / "base.in").read_text().split("\n") if line[:1].isalpha()}
