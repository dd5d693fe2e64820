# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Results of `check` for the content of `<ros2_control>`.

Expected refusals are the exceptions of the component parser of ros2_control in Jazzy and later; expected warnings are
the values that it ignores or changes.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from support.marks import unmarked

from robot_semantics import Diagnostics, Severity
from robot_semantics.bringup.description import check_control, choose_descriptions
from robot_semantics.cli.main import main
from robot_semantics.model.loading import robot_from_text
from robot_semantics.urdf.writer import write_urdf

ROBOT = """<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro">
  <link name="base"/><link name="upper"/><link name="finger"/><link name="thumb"/>
  <joint name="lift" type="prismatic"><parent link="base"/><child link="upper"/><axis xyz="0 0 1"/>
    <limit lower="-1" upper="2" velocity="3" effort="4"/></joint>
  <joint name="grip" type="continuous"><parent link="upper"/><child link="finger"/></joint>
  <joint name="follow" type="continuous"><parent link="upper"/><child link="thumb"/><mimic joint="grip"/></joint>
  {}
</robot>
"""
HARDWARE = "<hardware><plugin>driver/Driver</plugin></hardware>"


def control(body: str, attributes: str = 'type="system"', hardware: str = HARDWARE) -> str:
    return f'<ros2_control name="c" {attributes}><!-- {{}} -->\n{hardware}{body}\n</ros2_control>'


def command(limits: str, name: str = "position") -> str:
    return control(f'<joint name="lift"><command_interface name="{name}">{limits}</command_interface></joint>')


def transmission(body: str, attributes: str = 'type="system"') -> str:
    inner = f'<transmission name="t"><plugin>p/P</plugin>{body}</transmission>'
    return control(f'<joint name="lift"/>{inner}', attributes)


ERRORS = [
    ("missing-attribute", "<ros2_control> has no attribute 'name'",
     f'§<ros2_control type="system">{HARDWARE}</ros2_control>'),
    ("missing-attribute", "<ros2_control> has no attribute 'type'",
     f'§<ros2_control name="c">{HARDWARE}</ros2_control>'),
    ("empty-name", "attribute 'name' of <joint> is empty", control('<joint §name=" "/>')),
    ("bad-value", "should be actuator, sensor, system, not 'systm'; did you mean 'system'?",
     control("", '§type="systm"')),
    ("unknown-element", "<jont> is not allowed directly in <ros2_control>",
     control('§<jont name="lift"><command_interface name="position"/></jont>')),
    ("missing-element", "<ros2_control> has no <hardware>",
     '§<ros2_control name="c" type="system"><joint name="lift"/></ros2_control>'),
    ("duplicate-element", "more than one <hardware>", control(f"§{HARDWARE}")),
    ("missing-element", "<hardware> has no <plugin>", control("", hardware="§<hardware><param name='a'/></hardware>")),
    ("missing-element", "<plugin> is empty", control("", hardware="<hardware>§<plugin> </plugin></hardware>")),
    ("missing-attribute", "<param> has no attribute 'name'",
     control("", hardware="<hardware><plugin>p/P</plugin>§<param>1</param></hardware>")),
    ("missing-attribute", "<param> has no attribute 'name'", control('<joint name="lift">§<param>1</param></joint>')),
    ("missing-attribute", "<joint> has no attribute 'name'", control("§<joint/>")),
    ("missing-attribute", "<gpio> has no attribute 'name'", control("§<gpio/>")),
    ("missing-attribute", "<command_interface> has no attribute 'name'",
     control('<joint name="lift">§<command_interface/></joint>')),
    ("missing-attribute", "<state_interface> has no attribute 'name'",
     control('<sensor name="s">§<state_interface/></sensor>')),
    ("missing-attribute", "<state_interface> has no attribute 'name'",
     control('<gpio name="s">§<state_interface/></gpio>')),
    ("bad-number", "'rw_rate' of <ros2_control> should be an integer of at least 0, not '-1'",
     control("", 'type="system" §rw_rate="-1"')),
    ("bad-number", "'rw_rate' of <ros2_control> should be an integer", control("", 'type="system" §rw_rate="fast"')),
    ("bad-value", "'is_async' of <ros2_control> should be true or false, not 'yes'",
     control("", 'type="system" §is_async="yes"')),
    ("bad-number", "'thread_priority' of <ros2_control> should be an integer above 0, not '0'",
     control("", 'type="system" §thread_priority="0"')),
    ("bad-number", "'thread_priority' of <async> should be an integer above 0",
     control('<properties><async §thread_priority="high"/></properties>')),
    ("bad-value", "'print_warnings' of <async> should be true or false",
     control('<properties><async §print_warnings="1"/></properties>')),
    ("bad-number", "'size' of <state_interface> should be an integer above 0, not '2.5'",
     control('<gpio name="g"><state_interface name="a" §size="2.5"/></gpio>')),
    ("bad-value", "'mimic' of <joint> should be true or false", control('<joint name="lift" §mimic="no"/>')),
    ("bad-value", "'enable' of <limits> should be true or false",
     command('<limits §enable="off"/>')),
    ("missing-attribute", "<limits> has no attribute 'enable'", control('<joint name="lift">§<limits/></joint>')),
    ("missing-element", "<transmission> has no <plugin>", control('§<transmission name="t"/>')),
    ("missing-attribute", "<joint> has no attribute 'role'", transmission('§<joint name="lift"/>')),
    ("missing-attribute", "<actuator> has no attribute 'role'", transmission('§<actuator name="m"/>')),
    ("bad-value", "'read_only' of <joint> should be true or false",
     transmission('<joint name="lift" role="r" §read_only="x"/>')),
    ("bad-number", "<offset> should be a number, not 'half'",
     transmission('<joint name="lift" role="r">§<offset>half</offset></joint>')),
    ("zero-reduction", "the mechanical reduction of 'lift' is 0",
     transmission('<joint name="lift" role="r">§<mechanical_reduction>0</mechanical_reduction></joint>')),
    ("zero-reduction", "the mechanical reduction of 'motor' is 0",
     transmission('<actuator name="motor" role="r">§<mechanical_reduction>0.0</mechanical_reduction></actuator>')),
    ("unlisted-transmission-joint", "transmission 't' names joint 'grip', which this <ros2_control> lacks",
     transmission('<joint §name="grip" role="r"/>')),
    ("actuator-joints", "a transmission of an actuator has exactly one joint, but 't' has 0",
     control('<joint name="lift"/>§<transmission name="t"><plugin>p/P</plugin></transmission>', 'type="actuator"')),
    ("limits-crossed", "min 1 of the position interface of joint 'lift' is above max 0.5",
     command('§<param name="min">1</param><param name="max">0.5</param>')),
]  # fmt: skip

WARNINGS = [
    ("leader-not-controlled", "joint 'follow' mimics 'grip', which this <ros2_control> does not have",
     control('<joint §name="follow"><state_interface name="position"/></joint>')),
    ("leader-not-controlled", "joint 'follow' mimics 'grip'", control('<joint mimic="true" §name="follow"/>')),
    ("actuator-joints", "an actuator has exactly one joint, but 'c' has 2",
     control('<joint name="lift"/><joint name="grip"/>', '§type="actuator"')),
    ("bad-number", "max of joint 'lift' should be a number, not '1 m'", command('§<param name="max">1 m</param>')),
    ("limit-above-urdf", "the position limit 2.5 of joint 'lift' is outside the URDF's -1 to 2",
     command('<param name="min">-1</param>§<param name="max">2.5</param>')),
    ("limit-above-urdf", "the velocity limit -3.5 of joint 'lift' is outside the URDF's -3 to 3",
     command('§<param name="min">-3.5</param>', "velocity")),
    ("limit-above-urdf", "the effort limit 5 of joint 'lift' is outside the URDF's -4 to 4",
     command('§<param name="max">5</param>', "effort")),
    ("unknown-element", "<initial> is not known in <state_interface>",
     control('<joint name="lift"><state_interface name="position">§<initial/></state_interface></joint>')),
    ("unknown-attribute", "attribute 'sise' is not known in <state_interface>; it is kept but not used; did you mean",
     control('<gpio name="g"><state_interface name="a" §sise="2"/></gpio>')),
    ("xacro-not-expanded", "<xacro:arm> is a macro that was not expanded", control("§<xacro:arm/>")),
    ("stray-text", "the text 'position' in <command_interface> is not used",
     control('<joint name="lift">§<command_interface name="position">position</command_interface></joint>')),
]  # fmt: skip


@pytest.mark.parametrize(
    ("severity", "code", "message", "element"),
    [(Severity.ERROR, *case) for case in ERRORS] + [(Severity.WARNING, *case) for case in WARNINGS],
)
def test_a_fault_of_a_block_is_reported_alone_with_its_place(
    severity: Severity, code: str, message: str, element: str
) -> None:
    text, place = unmarked(ROBOT.replace("{}", element, 1))
    diagnostics = Diagnostics()
    check_control(robot_from_text(text), diagnostics)
    (problem,) = diagnostics
    assert (problem.code, problem.severity) == (code, severity)
    assert message in str(problem)
    assert (problem.place.line, problem.place.column) == place


FINE = [
    control('<joint name="lift"><command_interface name="position"><param name="min">-1</param>'
            '<param name="max">2.0001</param></command_interface><state_interface name="position">'
            '<param name="initial_value">0.0</param></state_interface></joint>'),
    control("", 'type="sensor" rw_rate="100" is_async="True" thread_priority="30"'),
    control("", 'type="actuator"').replace(HARDWARE, f'{HARDWARE}<joint name="lift"/>'),
    control('<properties><async affinity="[2, 4]" scheduling_policy="fifo" thread_priority="40"/></properties>'),
    control('<joint name="grip"/><joint name="follow"/>'),
    control('<joint name="follow" mimic="false"><command_interface name="position"/></joint>'),
    control('<gpio name="g"><command_interface name="out" data_type="bool" size="8"/><param name="a"/></gpio>'
            '<sensor name="s"><state_interface name="force.x"/></sensor>'),
    transmission('<joint name="lift" role="joint1"><mechanical_reduction>-325.9</mechanical_reduction>'
                 '<offset>0</offset></joint><actuator name="m" role="actuator1" read_only="false"/>'),
    transmission('<joint name="lift" role="joint1"/>', 'type="actuator"'),
    command('<limits enable="false"/><param name="min">-9</param><param name="max">9</param>'),
    command('<param name="min"/><param name="max">9</param>', "acceleration"),
    control('<joint name="grip"><command_interface name="position"><param name="min">-9</param></command_interface>'
            "</joint>"),
    control("", hardware="<hardware><plugin>p/P</plugin><group>g</group><param name='a'>1</param></hardware>"),
]  # fmt: skip


@pytest.mark.parametrize("element", FINE)
def test_a_block_without_faults_is_not_reported(element: str) -> None:
    diagnostics = Diagnostics()
    (block,) = check_control(robot_from_text(ROBOT.replace("{}", element, 1)), diagnostics)
    assert list(diagnostics) == []
    assert block.name == "c"


def test_a_block_is_written_as_it_was_read_after_a_check() -> None:
    element = control("<joint  name = \"lift\"><foo a='1'/></joint><!-- kept -->", "type='systm'")
    robot = robot_from_text(ROBOT.replace("{}", element, 1))
    check_control(robot, Diagnostics())
    assert element in write_urdf(robot.urdf)


def test_a_block_that_comes_from_another_text_has_the_whole_source_as_its_place() -> None:
    robot = robot_from_text(ROBOT.replace("{}", control("<jont/>"), 1))
    (extra,) = robot.urdf.extras
    assert "jont" in extra.xml
    extra.ordinal = -1
    diagnostics = Diagnostics()
    check_control(robot, diagnostics)
    assert [(problem.code, problem.place.line) for problem in diagnostics] == [("unknown-element", 0)]


def test_check_finds_all_faults_of_a_block_and_fixes_a_misspelt_element(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "r.urdf"
    path.write_text(ROBOT.replace("{}", control('<jointt name="lift"/><joint name="grip" mimic="falsee"/>'), 1))
    assert main(["check", str(path), "--fix"]) == 0
    assert "no problems" in capsys.readouterr().out
    assert '<joint name="lift"/><joint name="grip" mimic="false"/>' in path.read_text()


def test_the_srdf_of_a_urdf_is_the_only_one_or_the_one_of_its_name() -> None:
    several = {"1": "a", "2": "m", "3": "z"}
    assert choose_descriptions({"u": "m"}, several) == ("u", "2", dict.fromkeys(several, "u"))
    assert choose_descriptions({"u": "m"}, {"3": "z"}) == ("u", "3", {"3": "u"})
    assert choose_descriptions({"u": "m"}, {"1": "m", "2": "m"}) == ("u", None, {"1": "u", "2": "u"})
    assert choose_descriptions({"u": "m"}, several, srdf="other") == (
        "u",
        "other",
        dict.fromkeys([*several, "other"], "u"),
    )
    assert choose_descriptions({"u": "m"}, several, by_name=True) == (None, None, {"2": "u"})
    # Of two URDFs, nothing is guessed but the SRDFs with the name of one.
    two = {"u": "m", "v": "z"}
    assert choose_descriptions(two, several) == (None, None, {"2": "u", "3": "v"})
    assert choose_descriptions(two, several, urdf="v") == ("v", "3", dict.fromkeys(several, "v"))
    assert choose_descriptions({"u": "m", "v": "m"}, several) == (None, None, {})


def test_every_block_is_checked_and_other_elements_are_passed_over() -> None:
    faults = control("<jont/>"), '<gazebo reference="base"/>', control("<jnt/>").replace('"c"', '"d"')
    robot = robot_from_text(ROBOT.replace("{}", "".join(("<gazebo/>", *faults)), 1))
    diagnostics = Diagnostics()
    assert [block.name for block in check_control(robot, diagnostics)] == ["c", "d"]
    assert [re.findall(r"<(jo?nt)>", problem.message) for problem in diagnostics] == [["jont"], ["jnt"]]
