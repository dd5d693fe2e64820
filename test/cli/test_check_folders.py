# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""`check` with folders and YAML files: which files it takes, fixes, baselines, and the output for programs."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from support.commands import RunCommand
from support.configured_arm import srdf, urdf

GOOD = "joint_limits:\n" + "".join(
    f"  {name}: {{has_acceleration_limits: true, max_acceleration: 2.0}}\n" for name in ("shoulder", "elbow", "grip")
)
BAD = GOOD.replace("2.0", "2", 1)
SETUP = """moveit_setup_assistant_config:
  URDF: {{package: arm_description, relative_path: {urdf}, xacro_args: "hand:=yes"}}
  SRDF: {{relative_path: config/arm.srdf}}
  control_xacro: {{command: [position]}}
  control_xacro: {{command: [position]}}
"""
XACRO = '<robot name="arm" xmlns:xacro="http://www.ros.org/wiki/xacro"><xacro:arg name="hand" default="no"/>{}'


@pytest.fixture
def package(tmp_path: Path) -> Callable[[str], Path]:
    def make(named: str = "urdf/arm.urdf") -> Path:
        """Return a MoveIt package beside the package of its robot."""
        description, config = tmp_path / "arm_description", tmp_path / "arm_moveit_config"
        for folder in (description / "urdf", config / "config" / "more", config / ".git"):
            folder.mkdir(parents=True)
        for folder in (description, config):
            (folder / "package.xml").write_text(f"<package><name>{folder.name}</name></package>")
        text = urdf()
        (description / "urdf" / "arm.urdf").write_text(text)
        (description / "urdf" / "arm.xacro").write_text(
            XACRO.format(text.partition(">")[2].replace("</robot>", '<gazebo reference="$(arg hand)"/></robot>'))
        )
        (config / ".setup_assistant").write_text(SETUP.format(urdf=named))
        (config / "config" / "arm.srdf").write_text(srdf())
        (config / "config" / "joint_limits.yaml").write_text(BAD)
        (config / "config" / "more" / "other.yml").write_text("other: [1, 2]")
        (config / ".git" / "hidden.yaml").write_text("a: [")
        return config

    return make


def test_a_moveit_package_is_checked_with_the_files_of_its_setup_assistant(
    package: Callable[[str], Path], run: RunCommand
) -> None:
    folder = package("urdf/arm.urdf")
    result = run("check", str(folder))
    assert result.code == 0
    assert "max_acceleration of joint 'shoulder' must be a decimal number" in result.out
    assert result.out.endswith("1 warning\n")
    assert result.err.splitlines() == [
        f"note: {folder}: URDF: {folder.parent}/arm_description/urdf/arm.urdf",
        f"note: {folder}: SRDF: config/arm.srdf",
        f"note: {folder}: YAML: config/joint_limits.yaml, config/more/other.yml",
    ]


def test_a_xacro_that_a_folder_names_is_expanded_only_with_xacro(
    package: Callable[[str], Path], run: RunCommand
) -> None:
    folder = package("urdf/arm.xacro")
    (folder / "config" / "joint_limits.yaml").write_text(GOOD.replace("elbow", "elbo"))
    result = run("check", str(folder))
    assert "no URDF of arm.xacro is taken: add --xacro to expand it" in result.err
    assert "elbo" not in result.out
    expanded = run("check", str(folder), "--xacro", "--all").out
    assert "joint 'elbo' does not exist in the robot; did you mean 'elbow'?" in expanded
    assert "<gazebo> refers to 'yes'" in expanded
    assert "<gazebo> refers to 'other'" in run("check", str(folder), "--xacro", "--all", "hand:=other").out


def test_files_that_are_named_replace_those_of_a_folder(package: Callable[[str], Path], run: RunCommand) -> None:
    folder = package("urdf/missing.urdf")
    robot = folder.parent / "arm_description" / "urdf" / "arm.urdf"
    result = run("check", str(robot), str(folder / "config" / "arm.srdf"), str(folder))
    assert [line.split(": ")[2] for line in result.err.splitlines()] == ["YAML"]
    assert result.out.endswith("1 warning\n")
    without = run("check", str(folder)).err
    assert "the URDF 'urdf/missing.urdf' does not exist in package 'arm_description'" in without


@pytest.mark.parametrize("more", [0, 1])
def test_a_file_of_the_setup_assistant_is_read_up_to_1_mib(
    package: Callable[[str], Path], run: RunCommand, more: int
) -> None:
    folder = package("urdf/arm.urdf")
    path = folder / ".setup_assistant"
    text = path.read_text() + "# "
    path.write_text(text + (2**20 - len(text) + more) * "x")
    assert ("arm_description/urdf/arm.urdf" in run("check", str(folder)).err) is (more == 0)


def test_a_folder_without_setup_assistant_is_searched_by_name(tmp_path: Path, run: RunCommand) -> None:
    (tmp_path / "arm.urdf").write_text(urdf())
    (tmp_path / "other.urdf").write_text(urdf("x_"))
    (tmp_path / "arm.srdf").write_text(srdf())
    (tmp_path / "limits.yaml").write_text(GOOD)
    found = run("check", str(tmp_path))
    assert "no URDF of arm.urdf, other.urdf is taken: name the URDF to check" in found.err
    (tmp_path / "other.urdf").unlink()
    assert run("check", str(tmp_path)).out == "3 files checked: no problems\n"


def test_of_several_files_the_one_with_the_name_of_the_package_is_taken(tmp_path: Path, run: RunCommand) -> None:
    folder = tmp_path / "arm_moveit_config"
    folder.mkdir()
    for name in ("aaa", "arm", "zzz"):
        (folder / f"{name}.urdf").write_text(urdf())
        (folder / f"{name}.srdf").write_text(srdf())
    notes = run("check", str(folder)).err
    assert f"note: {folder}: URDF: arm.urdf\n" in notes
    assert f"note: {folder}: SRDF: arm.srdf\n" in notes


def test_of_two_files_with_the_name_of_the_package_none_is_taken(tmp_path: Path, run: RunCommand) -> None:
    folder = tmp_path / "arm"
    for place in ("urdf", "robots"):
        (folder / place).mkdir(parents=True)
        (folder / place / "arm.urdf").write_text(urdf())
    (folder / "limits.yaml").write_text(GOOD)
    assert "no URDF of arm.urdf, arm.urdf is taken: name the URDF to check" in run("check", str(folder)).err
    (folder / "robots" / "arm.urdf").rename(folder / "robots" / "leg.urdf")
    assert f"note: {folder}: URDF: urdf/arm.urdf" in run("check", str(folder)).err


def test_a_file_of_macros_is_not_the_robot_of_a_folder(tmp_path: Path, run: RunCommand) -> None:
    (tmp_path / "cell.urdf.xacro").write_text(urdf())
    (tmp_path / "arm_macro.urdf.xacro").write_text('<robot xmlns:xacro="http://www.ros.org/wiki/xacro"/>')
    (tmp_path / "limits.yaml").write_text(GOOD)
    found = run("check", str(tmp_path), "--xacro")
    assert found.out == "2 files checked: no problems\n"
    assert f"note: {tmp_path}: URDF: cell.urdf.xacro" in found.err


def test_a_folder_without_files_to_check_is_an_error(tmp_path: Path, run: RunCommand) -> None:
    result = run("check", str(tmp_path))
    assert result.code == 1
    assert f"'{tmp_path}' cannot be checked: it has no URDF, SRDF or YAML file" in result.err


@pytest.mark.parametrize(
    "path",
    [
        "../arm_description/urdf/arm.urdf",
        "urdf/../../arm_description/urdf/arm.urdf",
        # One name and two steps up, or on Windows two names.
        r"a\b/../../arm.urdf",
        r"a\..\..\arm.urdf",
        "/etc/passwd",
        "..",
        ".",
    ],
)
def test_a_path_of_the_setup_assistant_does_not_leave_its_package(
    package: Callable[[str], Path], run: RunCommand, path: str
) -> None:
    folder = package(path)
    result = run("check", str(folder)).err
    assert "note: without --urdf" in result
    assert path == "." or f"the path '{path}' in .setup_assistant leaves its package" in result
    (folder / ".setup_assistant").write_text(SETUP.format(urdf="x").replace("config/arm.srdf", "../x.srdf"))
    assert "the path '../x.srdf' in .setup_assistant leaves its package" in run("check", str(folder)).err


def test_a_path_of_the_setup_assistant_may_go_up_and_down_again(
    package: Callable[[str], Path], run: RunCommand
) -> None:
    folder = package("meshes/../urdf/./arm.urdf")
    assert f"URDF: {folder.parent}/arm_description/urdf/arm.urdf\n" in run("check", str(folder)).err


@pytest.mark.parametrize(
    "name", ["/etc", "..", ".", "../arm_description", "arm_description/urdf", "./arm_description", "above"]
)
def test_only_the_name_of_a_package_is_a_package(
    package: Callable[[str], Path], run: RunCommand, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = package("urdf/arm.urdf")
    # A package that is not beside this one.
    folder = config.parent / "src" / "arm_moveit_config"
    folder.parent.mkdir()
    above = config.parent / "above"
    (above / "urdf").mkdir(parents=True)
    (above / "urdf" / "arm.urdf").write_text(urdf())
    config.rename(folder)
    text = (folder / ".setup_assistant").read_text()
    (folder / ".setup_assistant").write_text(text.replace("package: arm_description", f"package: {name}"))
    monkeypatch.chdir(folder)
    result = run("check", ".").err
    assert "note: without --urdf" in result
    assert "URDF:" not in result
    # A folder of packages makes the second one known.
    text = (folder / ".setup_assistant").read_text().replace(f"package: {name}", "package: above")
    (folder / ".setup_assistant").write_text(text)
    assert f"URDF: {above}/urdf/arm.urdf" in run("check", ".", "--package-path", str(above.parent)).err


def test_a_link_of_a_symlink_install_is_followed_and_its_file_is_named(
    package: Callable[[str], Path], run: RunCommand
) -> None:
    folder = package("urdf/arm.urdf")
    robot, source = folder.parent / "arm_description" / "urdf" / "arm.urdf", folder.parent / "source.urdf"
    robot.rename(source)
    robot.symlink_to(source)
    assert f"URDF: {robot} (a link to {source})\n" in run("check", str(folder)).err


def test_names_of_the_setup_assistant_and_of_files_reach_the_terminal_escaped(
    package: Callable[[str], Path], run: RunCommand
) -> None:
    folder = package("urdf/arm.urdf")
    (folder / "config" / "a\x1b[2J\u202e.yaml").write_text("other: 1")
    text = (folder / ".setup_assistant").read_text()
    for old, new in (
        ("package: arm_description", "package: {}"),
        ("relative_path: urdf/arm.urdf", "relative_path: {}"),
    ):
        (folder / ".setup_assistant").write_text(text.replace(old, new.format(r'"x\e[2J\e]0;pwn\a\u202e"')))
        for style in ("text", "json", "sarif", "github"):
            result = run("check", str(folder), "--format", style)
            assert (result.err + result.out).replace("\n", "").isprintable(), (old, style)


def test_fix_adds_decimal_points_and_corrects_names_and_keeps_all_other_bytes(
    package: Callable[[str], Path], run: RunCommand
) -> None:
    folder = package("urdf/arm.urdf")
    path = folder / "config" / "joint_limits.yaml"
    text = "# limits é\r\njoint_limits: # of all\r\n" + "".join(
        f'  {name}:   {{"has_acceleration_limits": true,  max_acceleration: {value} }}  # é\r\n'
        for name, value in (("shoulder", "2"), ("'elboow'", "1e1"), ("grip", "-3"))
    )
    path.write_bytes(text.encode())
    result = run("check", str(folder), "--fix")
    expected = text.replace(": 2 ", ": 2.0 ").replace("1e1", "1.0e+1").replace("elboow", "elbow").replace("-3", "-3.0")
    assert path.read_bytes().decode() == expected
    assert "+  shoulder:   {" in result.out
    assert run("check", str(folder), "--dry-run").out.endswith("1 error\n")  # -3.0 is not above 0


def test_fix_writes_a_value_with_several_uses_once(package: Callable[[str], Path], run: RunCommand) -> None:
    folder = package("urdf/arm.urdf")
    path = folder / "config" / "joint_limits.yaml"
    text = (
        "limits: &l {has_acceleration_limits: true, max_acceleration: &n 1}\njoint_limits:\n"
        "  shoulder: *l\n  elbow: {<<: *l, has_velocity_limits: true, max_velocity: *n}\n  grip: *l\n"
    )
    path.write_text(text)
    run("check", str(folder), "--fix")
    assert path.read_text() == text.replace("&n 1", "&n 1.0")
    assert "decimal-point" not in run("check", str(folder)).out


def test_fix_does_not_change_a_urdf_of_another_package(package: Callable[[str], Path], run: RunCommand) -> None:
    folder = package("urdf/arm.urdf")
    robot = folder.parent / "arm_description" / "urdf" / "arm.urdf"
    robot.write_text(urdf().replace("<limit lower", '<limitt a="1"/><limit lower', 1))
    before = robot.read_text()
    assert run("check", str(folder), "--fix", "--quiet").code == 0
    assert robot.read_text() == before
    run("check", str(robot), "--fix")
    assert robot.read_text() != before


def test_a_named_file_without_a_known_section_is_said(tmp_path: Path, run: RunCommand) -> None:
    (tmp_path / "robot.yaml").write_text("speed: 1")
    result = run("check", str(tmp_path / "robot.yaml"))
    assert result.code == 0
    assert "robot.yaml: note: this file has no section that is known" in result.out


def test_a_folder_with_very_many_yaml_files_is_refused(tmp_path: Path, run: RunCommand) -> None:
    for number in range(1_001):
        (tmp_path / f"{number}.yaml").touch()
    assert "has more than 1,000 YAML files; name the files to check" in run("check", str(tmp_path)).err


@pytest.mark.parametrize("text", ["", "# sensors\n---\n", "#" + " #" * 20_000])
def test_a_yaml_file_without_content_is_a_warning(tmp_path: Path, run: RunCommand, text: str) -> None:
    (tmp_path / "sensors_3d.yaml").write_text(text)
    assert "sensors_3d.yaml: warning: the text is empty (empty-document)" in run("check", str(tmp_path)).out


def test_a_baseline_leaves_out_known_problems_also_after_an_edit_above_them(
    package: Callable[[str], Path], run: RunCommand
) -> None:
    folder = package("urdf/arm.urdf")
    known = folder / "known.json"
    written = run("check", str(folder), "--strict", "--write-baseline", str(known))
    assert (written.code, "1 problem written" in written.err) == (0, True)
    path = folder / "config" / "joint_limits.yaml"
    path.write_text("# one line more\n" + path.read_text())
    again = run("check", str(folder), "--strict", "--baseline", str(known))
    assert (again.code, again.out) == (0, "4 files checked: no problems\n")
    path.write_text(path.read_text().replace("2.0", "2"))
    more = run("check", str(folder), "--strict", "--all", "--baseline", str(known))
    assert (more.code, more.out.count("decimal-point")) == (1, 2)
    assert run("check", str(folder), "--write-baseline", str(known)).code == 0
    assert run("check", str(folder), "--strict", "--baseline", str(known)).code == 0
    path.write_text(GOOD)
    gone = run("check", str(folder), "--baseline", str(known))
    assert "3 problems of the baseline not found" in gone.err


@pytest.mark.parametrize("text", ["", "[]", '{"version": 2, "problems": []}', '{"version": 1, "problems": [{}]}'])
def test_a_file_that_is_not_a_baseline_is_an_error(tmp_path: Path, run: RunCommand, text: str) -> None:
    (tmp_path / "arm.urdf").write_text(urdf())
    (tmp_path / "known.json").write_text(text)
    result = run("check", str(tmp_path / "arm.urdf"), "--baseline", str(tmp_path / "known.json"))
    assert result.code == 1
    assert "baseline" in result.err
    refused = run("check", str(tmp_path / "arm.urdf"), "--write-baseline", str(tmp_path / "known.json"))
    assert (refused.code, (tmp_path / "known.json").read_text()) == (1, text)
    assert "--force overwrites it" in refused.err
    words = ("check", str(tmp_path / "arm.urdf"), "--write-baseline", str(tmp_path / "known.json"))
    assert run(*words, "--dry-run").code == 1
    assert run(*words, "--force").code == 0
    # A baseline is replaced without asking.
    assert run(*words).code == 0
    assert run("check", str(tmp_path / "arm.urdf"), "--baseline", str(tmp_path / "known.json")).code == 0


def test_problems_of_yaml_are_in_every_format_for_programs(package: Callable[[str], Path], run: RunCommand) -> None:
    folder = package("urdf/arm.urdf")
    column = BAD.splitlines()[1].index("2}") + 1
    (row,) = json.loads(run("check", str(folder), "--json").out)["diagnostics"]
    assert (row["code"], row["line"], row["column"], row["path"]) == (
        *("decimal-point", 2, column),
        "/joint_limits/shoulder/max_acceleration",
    )
    (result,) = json.loads(run("check", str(folder), "--format", "sarif").out)["runs"][0]["results"]
    region = result["locations"][0]["physicalLocation"]["region"]
    assert (result["ruleId"], region) == ("decimal-point", {"startLine": 2, "startColumn": column})
    assert f"line=2,col={column}::max_acceleration of joint" in run("check", str(folder), "--format", "github").out


def test_a_pipe_in_a_folder_is_named_and_not_read(run: RunCommand, tmp_path: Path, rover: tuple[Path, Path]) -> None:
    (tmp_path / "config").mkdir()
    shutil.copy(rover[0], tmp_path)
    pipes = [tmp_path / "a.srdf", tmp_path / "b.srdf.xacro", tmp_path / "config" / "x.yaml"]
    for pipe in pipes:
        os.mkfifo(pipe)
    done = run("check", tmp_path)
    assert done.code == 0
    for pipe in pipes:
        assert f"'{pipe}' is a pipe or a device, so it is not read" in done.err
