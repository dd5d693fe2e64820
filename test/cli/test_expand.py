# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""`expand` prints a description as text: packages found, in UTF-8, one element a line, a line end at the end."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.commands import RunCommand

from robot_semantics.urdf.reader import parse_urdf

XACRO = 'xmlns:xacro="http://www.ros.org/wiki/xacro"'


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A folder of packages with one that has a link and a group."""
    folder = tmp_path / "packages" / "pieces"
    folder.mkdir(parents=True)
    (folder / "package.xml").write_text("<package><name>pieces</name></package>")
    (folder / "hand.xacro").write_text(f'<robot {XACRO}><link name="$(arg side)_hand"/></robot>')
    (folder / "group.xacro").write_text(f'<robot {XACRO}><group name="g"><link name="left_hand"/></group></robot>')
    return folder.parent


def with_include(path: Path, file: str) -> Path:
    argument = '<xacro:arg name="side" default="left"/>'
    path.write_text(f'<robot name="r" {XACRO}>{argument}<xacro:include filename="$(find pieces)/{file}"/></robot>')
    return path


def test_packages_are_looked_for_where_it_is_said(run: RunCommand, package: Path, tmp_path: Path) -> None:
    urdf = with_include(tmp_path / "r.urdf.xacro", "hand.xacro")
    result = run("expand", urdf, "--package-path", package, "side:=right")
    assert result.code == 0, result.err
    assert result.out.endswith('<robot name="r">\n  <link name="right_hand"/>\n</robot>\n')
    assert parse_urdf(result.out).links[0].name == "right_hand"
    without = run("expand", urdf)
    assert (without.code, without.out) == (1, "")
    assert "'package://pieces' is not found" in without.err


def test_view_and_a_new_world_find_the_packages_too(run: RunCommand, package: Path, tmp_path: Path) -> None:
    urdf = with_include(tmp_path / "r.urdf.xacro", "hand.xacro")
    srdf = with_include(tmp_path / "r.srdf.xacro", "group.xacro")
    seen = run("view", urdf, srdf, "--png", tmp_path / "r.png", "--size", "16x16", "--package-path", package)
    assert seen.code == 0, seen.err
    made = run("usdf", "new", f"{urdf},{srdf}", "-o", tmp_path / "w.usdf", "--package-path", package)
    assert made.code == 0, made.err
    assert any('<group name="g">' in path.read_text() for path in tmp_path.glob("**/*.srdf"))


def test_check_and_srdf_find_the_packages_of_an_srdf_and_a_urdf_alike(
    run: RunCommand, package: Path, tmp_path: Path
) -> None:
    urdf = with_include(tmp_path / "r.urdf.xacro", "hand.xacro")
    srdf = with_include(tmp_path / "r.srdf.xacro", "group.xacro")
    assert run("check", urdf, srdf, "--package-path", package).out == "2 files checked: no problems\n"
    assert run("groups", urdf, srdf, "g", "--package-path", package).code == 0
    new = run("srdf", "new", urdf, "--links", "h=left_hand", "--package-path", package)
    assert new.code == 0, new.err
    assert '<link name="left_hand"/>' in new.out


def test_a_plain_text_is_printed_as_it_stands_in_utf_8_with_a_line_end(run: RunCommand, tmp_path: Path) -> None:
    text = '<?xml version="1.0" encoding="{}"?>\n<robot   name="é">\n\n <link name="a"/></robot>'
    file = tmp_path / "r.urdf"
    file.write_bytes(text.format("iso-8859-1").encode("latin-1"))
    result = run("expand", file)
    assert (result.code, result.out) == (0, text.format("UTF-8") + "\n")
    file.write_text("<robot/>\n")
    assert run("expand", file).out == "<robot/>\n"
    for words in ((), ("side:=left",)):
        result = run("expand", *words)
        assert (result.code, result.out, "FILE" in result.err) == (2, "", True)


@pytest.mark.parametrize("command", ["expand", "show", "fk", "check"])
def test_a_misspelt_argument_is_never_passed_over_in_silence(run: RunCommand, tmp_path: Path, command: str) -> None:
    urdf = tmp_path / "r.urdf.xacro"
    argument = '<xacro:arg name="side" default="left"/>'
    urdf.write_text(f'<robot name="r" {XACRO}>{argument}<link name="$(arg side)"/></robot>')
    wrong = run(command, urdf, "sid:=right")
    assert "argument 'sid' is given, but the xacro neither declares nor uses it; did you mean 'side'?" in (
        wrong.out + wrong.err
    )
    assert "argument" not in run(command, urdf, "side:=right").err


def test_an_argument_without_a_value_says_how_to_give_one(run: RunCommand, tmp_path: Path) -> None:
    urdf = tmp_path / "r.urdf.xacro"
    urdf.write_text(f'<robot name="$(arg name)" {XACRO}><link name="base"/></robot>')
    result = run("show", urdf)
    assert result.code == 1
    assert "r.urdf.xacro:1:8: error: xacro: argument 'name' has neither a value nor a default: give name:=VALUE" in (
        result.err
    )


def test_a_command_that_reads_no_xacro_refuses_arguments_of_one(run: RunCommand) -> None:
    result = run("schema", "usdf", "side:=right")
    assert result.code == 2
    assert "side:= is given, but this command reads no xacro" in result.err
