# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The files that describe the packages agree with each other and with the content."""

from __future__ import annotations

import ast
import json
import re
import shutil
import subprocess
import sys
from importlib.metadata import requires
from pathlib import Path

import pytest
from lxml import etree
from support.optional import OPTIONAL

import robot_semantics
from tools import release

ROOT = Path(__file__).parents[2]
INTERFACES = ROOT / "interfaces"
LOCKS = sorted((ROOT / "requirements").glob("*.lock"))

# ROS packages whose Python module has another name.
PACKAGE_OF_MODULE = {"tf2_ros": "tf2_ros_py"}
ROS_MODULES = re.compile(r"rclpy|tf2_ros|launch|launch_ros|ament_index_python|\w+_(msgs|srvs|interfaces)")


def names(manifest: Path, tag: str) -> list[str]:
    """The texts of one kind of element of a package.xml."""
    return [str(element.text) for element in etree.parse(manifest).getroot().iter(tag)]


def imported_modules(folder: Path) -> set[str]:
    """The top-level names of all imports below a folder."""
    found = set()
    for path in folder.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                found |= {alias.name.split(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                found.add(node.module.split(".")[0])
    return found


def test_every_ros_package_that_is_imported_is_declared() -> None:
    imported = {name for name in imported_modules(ROOT / "robot_semantics") if ROS_MODULES.fullmatch(name)}
    imported |= {name for name in imported_modules(ROOT / "launch") if ROS_MODULES.fullmatch(name)}
    declared = set(names(ROOT / "package.xml", "exec_depend"))
    optional = {
        "simulation_interfaces",
        "controller_manager_msgs",
        "mujoco_ros2_control_msgs",
    }  # imported where it is installed
    assert imported >= {"rclpy", "sensor_msgs", "tf2_msgs"}
    assert {PACKAGE_OF_MODULE.get(name, name) for name in imported} - optional <= declared


@pytest.mark.parametrize(
    "manifest", [ROOT / "package.xml", INTERFACES / "package.xml"], ids=lambda path: path.parent.name
)
def test_dependencies_are_sorted_within_their_kind(manifest: Path) -> None:
    for tag in ("depend", "exec_depend", "test_depend"):
        assert names(manifest, tag) == sorted(names(manifest, tag))


def test_all_packages_have_one_version_and_licence() -> None:
    manifests = [ROOT / "package.xml", INTERFACES / "package.xml"]
    versions = {names(manifest, "version")[0] for manifest in manifests}
    command = [sys.executable, "setup.py", "--version"]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert versions == {result.stdout.split()[-1]} == {robot_semantics.__version__}
    assert {names(manifest, "license")[0] for manifest in manifests} == {"Apache-2.0"}
    assert 'LICENCE: "Apache-2.0"' in (ROOT / "setup.py").read_text()
    citation = (ROOT / "CITATION.cff").read_text()
    assert f"version: {robot_semantics.__version__}\nlicense: Apache-2.0\n" in citation


def test_the_sources_take_their_version_from_the_manifest_beside_them(tmp_path: Path) -> None:
    for name in ("robot_semantics/__init__.py", "robot_semantics/base/__init__.py", "robot_semantics/base/version.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    manifest = re.sub("<version>.*</version>", "<version>9.8.7</version>", (ROOT / "package.xml").read_text())
    (tmp_path / "package.xml").write_text(manifest)
    command = [sys.executable, "-c", "import robot_semantics; print(robot_semantics.__version__)"]
    assert subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True).stdout == "9.8.7\n"


@pytest.mark.parametrize("name", ["robot_semantics-9.8.7.dist-info", "robot_semantics-9.8.7-py3.12.egg-info"])
def test_an_installation_takes_its_version_from_the_name_of_its_metadata(tmp_path: Path, name: str) -> None:
    (tmp_path / name).mkdir()
    (tmp_path / "robot_semantics_interfaces-1.0.0.dist-info").mkdir()
    shutil.copytree(ROOT / "robot_semantics" / "base", tmp_path / "robot_semantics" / "base")
    code = "from robot_semantics.base import version; print(version.__version__, 'importlib.metadata' in sys.modules)"
    command = [sys.executable, "-I", "-S", "-c", f"import sys; sys.path.insert(0, {str(tmp_path)!r}); {code}"]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "9.8.7 False\n"


def test_the_build_file_lists_every_interface_in_order() -> None:
    listed = re.findall(r'^  "((?:msg|srv|action)/.*)"$', (INTERFACES / "CMakeLists.txt").read_text(), re.MULTILINE)
    present = sorted(
        str(path.relative_to(INTERFACES)) for kind in ("msg", "srv", "action") for path in INTERFACES.glob(f"{kind}/*")
    )
    assert listed == present


@pytest.mark.parametrize("lock", LOCKS, ids=lambda path: path.name)
def test_locks_pin_every_package_by_the_hashes_of_its_files_and_name_no_place(lock: Path) -> None:
    lines = [line for line in lock.read_text().splitlines() if not line.startswith("#")]
    assert lines
    pinned = re.compile(r"[a-z0-9][a-z0-9.-]*==[\w.!+]+( ; .+)? \\|    --hash=sha256:[0-9a-f]{64}( \\)?")
    assert [line for line in lines if not pinned.fullmatch(line)] == []


def test_the_locks_hold_all_that_the_package_asks_for() -> None:
    asked = {re.split(r"[^\w.-]", requirement)[0].lower() for requirement in requires("robot_semantics") or []}
    locked = {line.split("==")[0] for lock in LOCKS for line in lock.read_text().splitlines()}
    assert asked >= {"numpy", "lxml", "mujoco", "ros-jazzy-rclpy", "pytest"}
    assert asked <= locked


def test_every_source_file_begins_with_copyright_and_the_notice_that_the_licence_asks_for() -> None:
    licence = " ".join((ROOT / "LICENSE").read_text().split())
    notice = licence[licence.index("Licensed under the Apache License") :].partition(" limitations under the License.")
    expected = "".join(notice[:2])
    tracked = ["git", "ls-files", "-c", "-o", "--exclude-standard", "*.py", "*.cpp", "*.hpp"]
    listed = subprocess.run(tracked, cwd=ROOT, capture_output=True, text=True, check=False).stdout.split()
    files = [path for name in listed if (path := ROOT / name).exists() and path.read_text()]
    if not files:
        pytest.skip("not a git repository")
    for path in files:
        head = path.read_text().partition("\n\n")[0].splitlines()
        words = [line.lstrip("#/").strip() for line in head if not line.startswith("#!")]
        assert re.fullmatch(r"Copyright 20\d\d .+", words[0]), path
        assert " ".join(words[1:]) == expected, path


def test_a_conftest_needs_no_module_that_rosdep_does_not_bring() -> None:
    """pytest skips a test file whose module is missing; for a conftest it ends, and so does `colcon test`."""
    for path in sorted((ROOT / "test").rglob("conftest.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        imports = [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
        names = {alias.name for node in imports if isinstance(node, ast.Import) for alias in node.names}
        names |= {node.module or "" for node in imports if isinstance(node, ast.ImportFrom)}
        assert not {name.partition(".")[0] for name in names} & (OPTIONAL - {"scipy"}), path


def test_the_maintainer_and_the_addresses_are_those_of_one_file() -> None:
    assert release.main(["--check"]) == 0
    values = release.read_values((ROOT / "release.toml").read_text())
    given = {name: f"https://host.example/owner/{name}" for name in values}
    for path, text in release.new_texts({**given, "maintainer": "A & B: #1", "email": "a@host.example"}):
        assert ".invalid" not in text
        assert "REPOSITORY" not in text.replace("INTERFACES_REPOSITORY", "")
        assert "A &amp; B" in text or path.suffix != ".xml"
        # Without the quotes, YAML would read a map and a comment.
        assert path.suffix != ".cff" or '  - name: "A & B: #1"\n' in text
    everywhere = ["git", "grep", "-lE", r"semantics\.invalid|example\.org/robot", "--", ":!test", ":!*.rst"]
    listed = subprocess.run(everywhere, cwd=ROOT, capture_output=True, text=True, check=False).stdout.split()
    written = {str(path.relative_to(ROOT)) for path, _ in release.new_texts(values)}
    assert set(listed) <= {*written, "tools/release.py"}


def test_a_release_is_refused_until_every_value_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    source = tmp_path / "release.toml"
    monkeypatch.setattr(release, "SOURCE", source)
    source.write_text("".join(f'{name} = "{name if name == "email" else ""}"\n' for name in release.NAMES))
    assert release.main(["--check-filled"]) == 1
    expected = "error: release.toml: a release needs maintainer, repository, bugtracker, website\n"
    assert capsys.readouterr().err == expected


def test_a_release_is_refused_until_every_job_has_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(release, "SOURCE", tmp_path / "release.toml")
    monkeypatch.setattr(release, "WORKFLOW", tmp_path / "ci.yml")
    monkeypatch.setattr(release, "new_texts", lambda _: [])
    release.SOURCE.write_text("".join(f'{name} = "{name}"\n' for name in release.NAMES))
    release.WORKFLOW.write_text("# This job has not run on macOS. Remove this line.\n")
    assert release.main(["--check-filled"]) == 1
    assert "This job has not run on macOS: run it" in capsys.readouterr().err
    release.WORKFLOW.write_text("jobs:\n")
    assert release.main(["--check-filled"]) == 0


@pytest.mark.parametrize("manifest", [ROOT / "package.xml", INTERFACES / "package.xml"])
def test_every_dependency_has_a_known_rosdep_key(manifest: Path) -> None:
    known = json.loads((ROOT / "test" / "data" / "rosdep_keys.json").read_text())
    own = {"robot_semantics_interfaces"}
    for element in etree.parse(manifest).getroot():
        if str(element.tag).endswith("depend"):
            assert element.text in {*known["ros"], *known["ubuntu"], *own}
            # bloom refuses keys that only pip can install.
            assert not str(element.text).endswith("-pip") or element.get("condition")


def test_the_workflow_tests_every_version_of_python_that_the_package_names() -> None:
    setup = (ROOT / "setup.py").read_text()
    first, last = map(int, re.findall(r"for minor in range\((\d+), (\d+)\)", setup)[0])
    workflow = (ROOT / ".github" / "workflows" / "ci.yml").read_text()
    (listed,) = re.findall(r"python: \[(.*)\]", workflow)
    assert listed == ", ".join(f'"3.{minor}"' for minor in range(first, last))
    assert f'python_requires=">=3.{first}"' in setup
