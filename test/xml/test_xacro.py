# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""xacro expansion, and problems with the file and line in which they were written."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from robot_semantics import DescriptionError, Diagnostics
from robot_semantics.cli.main import main
from robot_semantics.model.loading import load_robot
from robot_semantics.model.resources import PackageResolver, ResourceNotFoundError
from robot_semantics.urdf.reader import read_urdf_robot
from robot_semantics.xml.document import has_macros
from robot_semantics.xml.reader import parse_xml
from robot_semantics.xml.xacro import XacroOptions, expand_xacro, read_expanded

NAMESPACE = 'xmlns:xacro="http://www.ros.org/wiki/xacro"'
LEG = f"""<robot {NAMESPACE}>
  <!-- é -->
  <xacro:macro name="leg" params="side *origin">
    <link name="${{side}}_leg"><inertial>
      <mass value="$(arg mass)"/>
      <inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/>
    </inertial></link>
    <joint name="${{side}}_hip" type="$(arg kind)">
      <xacro:insert_block name="origin"/>
      <parent link="base"/><child link="${{side}}_leg"/>
    </joint>
  </xacro:macro>
</robot>
"""
ROBOT = f"""<?xml version="1.0"?>
<robot name="walker" {NAMESPACE}>
  <xacro:arg name="mass" default="1"/>
  <xacro:arg name="kind" default="continuous"/>
  <xacro:include filename="parts/leg.xacro"/>
  <link name="base"/>
  <xacro:leg side="left"><origin xyz="0 1 0"/></xacro:leg>
  <xacro:leg side="right"><origin xyz="0 -1"/></xacro:leg>
</robot>
"""


@pytest.fixture
def walker(tmp_path: Path) -> Path:
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "leg.xacro").write_text(LEG)
    path = tmp_path / "walker.urdf.xacro"
    path.write_text(ROBOT.replace('"0 -1"', '"0 -1 0"'))
    return path


def place_of(text: str, piece: str) -> tuple[int, int]:
    before = text[: text.index(piece)]
    return before.count("\n") + 1, len(before) - before.rfind("\n")


def test_macros_includes_and_arguments_are_carried_out(walker: Path) -> None:
    model = load_robot(walker, xacro_arguments={"mass": "2.5", "kind": "fixed"})
    assert model.joint_names[1:] == ("left_hip", "right_hip")
    assert [link.urdf.inertial.mass for link in model.links if link.urdf.inertial] == [2.5, 2.5]
    assert {joint.type.value for joint in model.joints[1:]} == {"fixed"}
    assert model.joint("left_hip").T_parent_joint[1, 3] == 1.0


def test_a_problem_names_the_file_that_it_was_written_in(walker: Path) -> None:
    walker.write_text(ROBOT)
    diagnostics = Diagnostics()
    read_urdf_robot(expand_xacro(walker, XacroOptions(arguments={"mass": "heavy"})), diagnostics)
    leg = walker.parent / "parts" / "leg.xacro"
    assert [(p.place.source, (p.place.line, p.place.column), p.code, p.place.path) for p in diagnostics] == [
        (
            str(leg),
            place_of(LEG, 'value="$(arg mass)"'),
            "bad-number",
            f"/robot/link[@name='{side}_leg']/inertial/mass/@value",
        )
        for side in ("left", "right")
    ] + [(str(walker), place_of(ROBOT, 'xyz="0 -1"'), "wrong-count", "/robot/joint[@name='right_hip']/origin/@xyz")]


def test_an_unknown_joint_type_made_of_an_argument_stands_where_the_macro_says_it(walker: Path) -> None:
    with pytest.raises(DescriptionError) as caught:
        load_robot(walker, xacro_arguments={"kind": "naQQQme"})
    problems = caught.value.diagnostics
    assert [problem.code for problem in problems] == ["unknown-joint-type"] * 2
    assert {(problem.place.line, problem.place.column) for problem in problems} == {place_of(LEG, 'type="$(arg kind)"')}


def test_an_argument_that_no_xacro_of_the_robot_asks_for_is_warned_about_with_the_nearest(walker: Path) -> None:
    semantics = walker.with_suffix(".srdf.xacro")
    semantics.write_text(f'<robot name="walker" {NAMESPACE}><xacro:arg name="hand" default="none"/></robot>')
    found = Diagnostics()
    given = {"mas": "2", "kind": "continuous", "colour": "red"}
    load_robot(walker, xacro_arguments=given, diagnostics=found)
    assert [(problem.code, problem.message) for problem in found] == [
        ("unused-argument", "argument 'colour' is given, but the xacro neither declares nor uses it"),
        (
            "unused-argument",
            "argument 'mas' is given, but the xacro neither declares nor uses it; did you mean 'mass'?",
        ),
    ]
    how = XacroOptions(arguments={"mass": "2", "hand": "left", "han": "right"})
    read_expanded(walker, how)
    assert dict(read_expanded(semantics, how).unused_arguments) == {"han": "hand"}


@pytest.mark.parametrize(
    ("change", "file", "message"),
    [
        (("$(arg mass)", "${naQQQme}"), "parts/leg.xacro", "name 'naQQQme' is not defined"),
        (("$(arg mass)", "${1/0}"), "parts/leg.xacro", "division by zero"),
        (
            ("$(arg mass)", "$(arg naQQQme)"),
            "parts/leg.xacro",
            "neither a value nor a default: give naQQQme:=VALUE",
        ),
        (("<inertial>", "<inertial"), "parts/leg.xacro", "not well-formed XML"),
        (("<!-- é -->", "<!DOCTYPE x>"), "parts/leg.xacro", "not well-formed XML"),
    ],
)
def test_a_macro_that_fails_names_its_file(walker: Path, change: tuple[str, str], file: str, message: str) -> None:
    leg = walker.parent / "parts" / "leg.xacro"
    leg.write_text(LEG.replace(*change))
    with pytest.raises(DescriptionError) as caught:
        load_robot(walker)
    (problem,) = caught.value.diagnostics
    assert problem.place.source == str(walker.parent / file)
    assert message in problem.message
    if "well-formed" not in message:
        assert problem.message.startswith("xacro: ")
        assert "in macro 'leg'" in problem.message


@pytest.mark.parametrize(
    ("wrong", "at", "message"),
    [
        ('<xacro:nobody x="1"/>', "<xacro:nobody", "xacro: unknown macro name: xacro:nobody"),
        ('<link name="b"/> <link name="${naQQQme}"/>', 'name="${naQQQme}"', "name 'naQQQme' is not defined"),
        ('<xacro:if value="maybe"/>', "<xacro:if", "not a boolean expression"),
        ('<xacro:include filename="$(find nowhere)/a"/>', "<xacro:include", "xacro: 'package://nowhere' is not found"),
        ('<link name="$(env naQQQme)"/>', 'name="$(env', "xacro: environment variable 'naQQQme' is not set"),
    ],
)
def test_a_macro_that_fails_is_found_by_line_and_column(walker: Path, wrong: str, at: str, message: str) -> None:
    text = ROBOT.replace("<xacro:include", f"<!-- é -->{wrong}\n<xacro:include")
    walker.write_text(text)
    with pytest.raises(DescriptionError) as caught:
        load_robot(walker)
    (problem,) = caught.value.diagnostics
    assert (problem.place.source, problem.place.line, problem.place.column) == (str(walker), *place_of(text, at))
    assert message in problem.message
    assert problem.message.count("naQQQme") <= 2
    assert problem.message.count("nowhere' is not") <= 1
    assert problem.place.path.startswith("/robot/")


def test_what_fails_in_a_macro_of_another_file_is_found_there(walker: Path) -> None:
    leg = walker.parent / "parts" / "leg.xacro"
    leg.write_text(LEG.replace('block name="origin"', 'block name="orgin"'))
    with pytest.raises(DescriptionError) as caught:
        load_robot(walker)
    (problem,) = caught.value.diagnostics
    assert (problem.place.source, problem.place.line, problem.place.column) == (str(leg), *place_of(LEG, "<xacro:ins"))
    assert problem.message == "xacro: Undefined block \"orgin\", in macro 'leg', included from " + str(walker)


def test_a_file_that_can_be_read_only_once_is_expanded(walker: Path, tmp_path: Path) -> None:
    walker.write_text(ROBOT.replace('"0 -1"', '"0 -1 0"'))
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=lambda: pipe.write_bytes(walker.read_bytes()), daemon=True)
    writer.start()
    assert len(load_robot(pipe, xacro=True).links) == 3
    writer.join(10)


def test_a_missing_include_names_the_file_that_includes(walker: Path) -> None:
    walker.write_text(ROBOT.replace("parts/leg.xacro", "parts/naQQQme.xacro"))
    with pytest.raises(DescriptionError) as caught:
        load_robot(walker)
    (problem,) = caught.value.diagnostics
    assert problem.place.source == str(walker.parent / "parts" / "naQQQme.xacro")
    assert problem.message == f"cannot be read: No such file or directory, included from {walker}"


def test_entities_are_refused_in_included_files_too(walker: Path) -> None:
    leg = walker.parent / "parts" / "leg.xacro"
    leg.write_text('<!DOCTYPE robot [<!ENTITY a "b">]>\n' + LEG)
    with pytest.raises(DescriptionError, match=r"leg\.xacro:1:18: error: entity declarations are not supported"):
        load_robot(walker)


def test_a_macro_without_end_is_an_error(walker: Path) -> None:
    walker.write_text(ROBOT.replace("  <link ", '  <xacro:macro name="m"><xacro:m/></xacro:macro><xacro:m/><link '))
    with pytest.raises(DescriptionError, match="xacro: "):
        load_robot(walker)


def test_packages_are_found_by_the_resolver(walker: Path) -> None:
    walker.write_text(ROBOT.replace("parts/leg.xacro", "$(find pieces)/leg.xacro").replace('"0 -1"', '"0 -1 0"'))
    asked = []

    class Elsewhere(PackageResolver):
        def package(self, name: str, relative_to: str | Path | None = None) -> Path:
            asked.append((name, relative_to))
            return walker.parent / "parts"

    assert len(load_robot(walker, resolver=Elsewhere()).links) == 3
    assert asked == [("pieces", walker)]
    with pytest.raises(DescriptionError, match="'package://pieces' is not found; tried"):
        load_robot(walker)
    resolver = PackageResolver([walker.parent])
    with pytest.raises(ResourceNotFoundError):
        resolver.package("pieces")


def test_packages_of_a_relative_path_are_found_from_included_files_too(
    walker: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    legs = walker.parent / "pieces" / "legs"
    legs.mkdir(parents=True)
    (legs / "leg.xacro").write_text(f'<robot {NAMESPACE}><xacro:include filename="$(find more)/leg.xacro"/></robot>')
    (walker.parent / "parts").rename(walker.parent / "pieces" / "more")
    walker.write_text(ROBOT.replace("parts/leg.xacro", "$(find legs)/leg.xacro").replace('"0 -1"', '"0 -1 0"'))
    monkeypatch.chdir(walker.parent)
    assert len(load_robot(walker.name, resolver=PackageResolver(["pieces"])).links) == 3


def test_two_expansions_do_not_see_each_other_s_arguments(walker: Path) -> None:
    load_robot(walker, xacro_arguments={"mass": "7"})
    masses = [link.urdf.inertial.mass for link in load_robot(walker).links if link.urdf.inertial is not None]
    assert masses == [1.0, 1.0]


def test_a_plain_file_is_not_touched(tmp_path: Path) -> None:
    path = tmp_path / "r.urdf"
    path.write_text(f'<robot name="r" {NAMESPACE}><!-- <xacro:leg/> --><link name="a${{b}}"/></robot>')
    document = read_expanded(path)
    assert document.root[-1].get("name") == "a${b}"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"<robot {NAMESPACE}><xacro:x/></robot>", True),
        ('<robot xmlns:xacro="http://www.ros.org/xacro"><xacro:x/></robot>', True),
        ('<robot xmlns:xacro="http://wiki.ros.org/xacro"><xacro:x/></robot>', True),
        ('<robot xmlns:xacro="http://ros.org/wiki/xacro"><xacro:x/></robot>', True),
        (f"<robot {NAMESPACE}><link/></robot>", False),
        ("<robot><!-- <xacro:x/> --></robot>", False),
    ],
)
def test_macros_are_told_by_their_prefix(text: str, expected: bool) -> None:
    assert has_macros(parse_xml(text, "t")) is expected


MACROS = """<?xml version="1.0"?>
<robot xmlns:xacro="http://www.ros.org/wiki/xacro">
  <xacro:property name="pi" value="3.14"/>{}
  <xacro:macro name="arm" params="prefix"><link name="${{prefix}}base"/></xacro:macro>
  <xacro:macro name="hand" params=""><link name="palm"/></xacro:macro>
</robot>
"""


@pytest.mark.parametrize("command", ["check", "fk", "show", "expand", "usdf new"])
def test_a_file_that_only_defines_macros_is_called_so(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "arm_macro.xacro"
    path.write_text(MACROS.format(""))
    assert main([*command.split(), str(path)]) == 1
    printed = "".join(capsys.readouterr())
    said = "the file only defines macros, 'arm', 'hand'; give the file that includes it and calls them"
    assert f"{path}:4:3: error: {said}" in printed
    assert "Traceback" not in printed


@pytest.mark.parametrize(
    "body",
    [
        '<xacro:include filename="macros.xacro"/>',
        '<xacro:unless value="false"><xacro:include filename="macros.xacro"/></xacro:unless>',
    ],
)
def test_a_file_that_only_includes_macros_is_called_so_with_the_place_of_the_macros(body: str, tmp_path: Path) -> None:
    (tmp_path / "macros.xacro").write_text(MACROS.format(""))
    path = tmp_path / "robot.urdf.xacro"
    path.write_text(f'<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro">{body}</robot>')
    with pytest.raises(
        DescriptionError, match=r"macros\.xacro:4:3: error: the file only defines macros, 'arm', 'hand'"
    ):
        load_robot(path)


def test_a_file_that_defines_and_calls_a_macro_is_a_robot(tmp_path: Path) -> None:
    path = tmp_path / "arm.xacro"
    path.write_text(
        MACROS.format("").replace("<robot ", '<robot name="r" ').replace("</robot>", "<xacro:hand/></robot>")
    )
    assert load_robot(path).link_names == ("palm",)
    # An SRDF may be empty: here a condition says so.
    path.write_text(
        MACROS.format('<xacro:if value="false"><group name="g"/></xacro:if>').replace("<robot ", '<robot name="r" ')
    )
    assert len(expand_xacro(path).root) == 0


def test_odd_bytes_of_an_included_xacro_are_reported_with_their_place(walker: Path) -> None:
    leg = walker.parent / "parts/leg.xacro"
    leg.write_bytes(leg.read_bytes().replace(b"<robot", b"<!-- 90\xb0 -->\n<robot", 1) + b"\0\0")
    diagnostics = Diagnostics()
    load_robot(walker, strict=False, diagnostics=diagnostics)
    found = [problem for problem in diagnostics if problem.code == "odd-bytes"]
    assert (found[0].place.source, found[0].place.column) == (str(leg), 8)
    assert len(found) == 2
