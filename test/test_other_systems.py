# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The library and the commands without ROS need nothing that only Linux has; consoles, paths and files of Windows."""

from __future__ import annotations

import ast
import io
import json
import ntpath
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path, PureWindowsPath
from typing import NamedTuple

import pytest

import robot_semantics
from robot_semantics.base.files import relative_path
from robot_semantics.base.names import use_ascii_forms
from robot_semantics.base.system import missing_abilities
from robot_semantics.bringup.package_files import files_of_folder
from robot_semantics.cli.frame.problems import uri_reference
from robot_semantics.model.resources import PackageResolver, ResourceNotFoundError, listed_paths, paths_of_uri
from robot_semantics.simulation.loading import ModelFiles

PACKAGE = Path(robot_semantics.__file__).parent
OTHER_SYSTEM = Path(__file__).parent / "support" / "other_system"
POSIX_MODULES = {"fcntl", "resource", "pwd", "grp", "spwd", "termios", "tty", "pty", "posix", "syslog"}
VIEWS = subprocess.run(
    [
        sys.executable,
        "-c",
        "import json, sitecustomize as s; print(json.dumps({k: dir(v) for k, v in s.VIEWS.items()}))",
    ],
    check=True,
    capture_output=True,
    env={**os.environ, "PYTHONPATH": str(OTHER_SYSTEM)},
).stdout
ON_WINDOWS: dict[str, list[str]] = json.loads(VIEWS)
"""The names of `os` and `signal` that modules of the package see in these tests."""


class Results(NamedTuple):
    """What the examples of all commands gave: exit code, output and errors by line; the digest of each file."""

    results: dict[str, tuple[int, str, str]]
    files: dict[str, str]


def run_all(folder: Path, **environment: str) -> Results:
    folder.mkdir()
    done = subprocess.run(
        [sys.executable, str(OTHER_SYSTEM / "run_all.py")],
        cwd=folder,
        env={**os.environ, **environment},
        capture_output=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr.decode(errors="replace")[-2000:]
    found = json.loads(done.stdout.decode().splitlines()[-1])
    return Results({line: tuple(result) for line, result in found["results"].items()}, found["files"])


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Results:
    return run_all(tmp_path_factory.mktemp("here") / "folder")


def test_the_examples_are_run_and_do_what_they_say(here: Results) -> None:
    failed = {line for line, (code, _, _) in here.results.items() if code}
    assert failed == {"check broken.urdf", "check nowhere.urdf", "srdf new robot.urdf -o con.srdf"}
    assert len(here.results) > 70
    assert {
        "parallel.usdf",
        "fleet/index.parquet",
        "page.html",
        "arm.png",
        "plot.svg",
        "world.xml",
    } <= here.files.keys()


def test_every_command_gives_the_same_without_what_only_posix_has(here: Results, tmp_path: Path) -> None:
    there = run_all(tmp_path / "folder", PYTHONPATH=str(OTHER_SYSTEM))
    for line, result in here.results.items():
        assert there.results[line] == result, line
    assert there.files == here.files


@pytest.mark.parametrize("encoding", ["ascii", "cp1252"])
def test_no_command_fails_on_the_encoding_of_the_console(here: Results, tmp_path: Path, encoding: str) -> None:
    there = run_all(tmp_path / "folder", PYTHONIOENCODING=encoding)
    assert {line: code for line, (code, _, _) in there.results.items()} == {
        line: code for line, (code, _, _) in here.results.items()
    }
    assert there.files == here.files
    _, said, _ = there.results["check broken.urdf"]
    assert {"ascii": r"link '+\xe4->...'", "cp1252": "link '+ä->…'"}[encoding] in said
    _, tree, _ = there.results["show robot.urdf robot.srdf"]
    assert "`-- " in tree


@pytest.mark.parametrize(
    ("encoding", "shown"),
    [("ascii", r"+-|# -> ... \u5f15"), ("cp437", r"┌─│█ -> ... \u5f15"), ("cp1252", r"+-|# -> … \u5f15")],
)
def test_what_a_console_lacks_has_an_ascii_form(encoding: str, shown: str) -> None:
    stream = io.TextIOWrapper(io.BytesIO(), encoding)
    use_ascii_forms(stream)
    stream.write("┌─│█ → … 引")
    stream.flush()
    assert stream.buffer.getvalue().decode(encoding) == shown


def used_names(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Yield the attributes of `os` and `signal` that a module reads directly."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in ON_WINDOWS:
            yield node.value.id, node.attr
        elif isinstance(node, ast.ImportFrom) and node.module in ON_WINDOWS:
            yield from ((node.module, alias.name) for alias in node.names)


def test_no_module_needs_a_module_or_a_name_that_only_posix_has() -> None:
    found = []
    for path in sorted(PACKAGE.rglob("*.py")):
        text = path.read_text()
        tree = ast.parse(text)
        for node in ast.walk(tree):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [str(node.module)] if isinstance(node, ast.ImportFrom) else []
            found += [(path.name, name) for name in names if name.partition(".")[0] in POSIX_MODULES]
        found += [
            (path.name, f"{module}.{name}") for module, name in used_names(tree) if name not in ON_WINDOWS[module]
        ]
        found += [(path.name, text) for text in re.findall(r'"/proc[^"]*"|\("fork"\)', text)]
    assert found == []


def test_every_text_is_written_with_the_same_bytes_on_every_system() -> None:
    found = []
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if not isinstance(node, ast.Call):
                continue
            called = ast.unparse(node.func).rpartition(".")[2]
            modes = [word.value for word in node.args if isinstance(word, ast.Constant) and isinstance(word.value, str)]
            is_text = called == "write_text" or (
                called in ("open", "fdopen") and any(re.fullmatch("[wax]t?", mode) for mode in modes)
            )
            options = {option.arg for option in node.keywords}
            # A member of an archive is bytes.
            if is_text and not {"encoding", "newline"} <= options and "force_zip64" not in options:
                found.append(f"{path.name}:{node.lineno}")
    assert found == []


def test_a_xacro_is_bounded_where_the_system_has_no_limits(tmp_path: Path) -> None:
    site = tmp_path / "site"
    site.mkdir()
    (site / "sitecustomize.py").write_text(
        f"exec(open({str(OTHER_SYSTEM / 'sitecustomize.py')!r}).read())\nimport psutil\ndel psutil.Process.rlimit\n"
    )
    mark = tmp_path / "mark"
    large, late = "${[list(range(10**6)) for i in range(10**4)]}", "${[i for i in range(10**12) if not i]}"
    environment = {
        **os.environ,
        "PYTHONPATH": str(site),
        "ROBOT_SEMANTICS_XACRO_MEMORY_MB": "100",
        "ROBOT_SEMANTICS_XACRO_SECONDS": "60",
    }
    for expression, seconds, reason in ((large, "60", "more than 100 MB"), (late, "1", "not expanded after 1 s")):
        path = tmp_path / "r.urdf.xacro"
        path.write_text(
            f'<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro"><link name="{expression}"/></robot>'
        )
        done = subprocess.run(
            [sys.executable, "-m", "robot_semantics.cli.main", "expand", str(path)],
            env={**environment, "ROBOT_SEMANTICS_XACRO_SECONDS": seconds},
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
        assert done.returncode == 1
        assert reason in done.stderr
    assert not mark.exists()


def test_this_system_lacks_nothing_on_linux() -> None:
    if sys.platform == "linux":
        assert missing_abilities() == []


@pytest.mark.parametrize(
    ("host", "path", "files"),
    [
        ("", "/C:/robots/r.urdf", [r"C:\robots\r.urdf"]),
        ("localhost", "/C:/robots/r.urdf", [r"C:\robots\r.urdf"]),
        ("", "/robots/r.urdf", [r"\robots\r.urdf"]),
        ("C:", "/robots/r.urdf", [r"C:\robots\r.urdf"]),
        ("server", "/share/r.urdf", [r"server\share\r.urdf", r"\\server\share\r.urdf"]),
    ],
)
def test_a_file_uri_names_a_file_of_windows(host: str, path: str, files: list[str]) -> None:
    assert [str(file) for file in paths_of_uri(host, path, PureWindowsPath)] == files


def test_a_file_uri_with_a_host_names_a_file_here(tmp_path: Path) -> None:
    (tmp_path / "a b.stl").write_text("")
    for uri in (f"file://localhost{tmp_path}/a%20b.stl", f"file://{tmp_path}/a%20b.stl"):
        assert PackageResolver().resolve(uri) == tmp_path / "a b.stl"
    with pytest.raises(ResourceNotFoundError, match="Windows path"):
        PackageResolver().resolve("file:///C:/r.urdf")


@pytest.mark.parametrize(
    ("entry", "folders"),
    [
        (r"C:\robots", [r"C:\robots"]),
        (r"C:\robots;D:\more", [r"C:\robots", r"D:\more"]),
        (r"\\server\share;C:\a;", [r"\\server\share", r"C:\a"]),
    ],
)
def test_a_package_path_is_a_list_as_on_windows(entry: str, folders: list[str]) -> None:
    assert listed_paths(entry, ntpath.pathsep) == folders


def test_a_package_path_is_a_list_here(tmp_path: Path) -> None:
    (tmp_path / "a;b").mkdir()
    assert listed_paths(str(tmp_path / "a;b")) == [str(tmp_path / "a;b")]
    assert PackageResolver(["/x;/y", "/z"]).package_paths == (Path("/x"), Path("/y"), Path("/z"))


def test_files_on_different_drives_have_an_absolute_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os.path, "relpath", lambda *_: ntpath.relpath(r"D:\r.urdf", r"C:\worlds"))
    assert relative_path(tmp_path / "r.urdf", tmp_path) == (tmp_path / "r.urdf").as_posix()


def test_a_model_names_files_of_windows() -> None:
    assert ModelFiles.parse(r"arm=C:\r=1\r.urdf,C:\r.srdf") == ("arm", ModelFiles(r"C:\r=1\r.urdf", r"C:\r.srdf"))


@pytest.mark.parametrize(
    ("source", "uri"),
    [(r"C:\my robots\r.urdf", "file:///C:/my%20robots/r.urdf"), (r"robots\r.urdf", "robots/r.urdf")],
)
def test_a_report_names_a_file_by_a_uri(source: str, uri: str) -> None:
    assert uri_reference(source, PureWindowsPath) == uri


@pytest.mark.parametrize(
    "relative", [r"..\outside.urdf", r"a\..\..\outside.urdf", r"C:\r.urdf", r"\r.urdf", "C:r.urdf"]
)
def test_a_package_is_not_left_by_the_rules_of_windows(tmp_path: Path, relative: str) -> None:
    package = tmp_path / "arm_moveit_config"
    package.mkdir()
    (package / "package.xml").write_text("<package><name>arm_moveit_config</name></package>")
    (package / ".setup_assistant").write_text(
        "moveit_setup_assistant_config:\n  URDF:\n    package: arm_moveit_config\n"
        f"    relative_path: '{relative}'\n  SRDF:\n    relative_path: config/r.srdf\n"
    )
    assert any("leaves its package" in note for note in files_of_folder(package, PackageResolver(), expand=False).notes)
