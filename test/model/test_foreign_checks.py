# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Results of `check` for elements that other programs read from a URDF: ros2_control, transmissions, Gazebo.

Expected refusals of ros2_control are the exceptions of its component parser in Jazzy.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from support.marks import unmarked

from robot_semantics import Diagnostics, Severity
from robot_semantics.cli.main import main
from robot_semantics.model.foreign_checks import check_foreign
from robot_semantics.model.loading import robot_from_text

ROBOT = """<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro">
  <link name="base"/><link name="upper"/><link name="finger"/><link name="thumb"/><link name="tool"/>
  <joint name="turn" type="continuous"><parent link="base"/><child link="upper"/></joint>
  <joint name="grip" type="continuous"><parent link="upper"/><child link="finger"/></joint>
  <joint name="follow" type="continuous"><parent link="upper"/><child link="thumb"/>
    <mimic joint="grip" multiplier="-1"/></joint>
  <joint name="mount" type="fixed"><parent link="upper"/><child link="tool"/></joint>
  {}
</robot>
"""


def control(body: str) -> str:
    return f'<ros2_control name="c" type="system"><!-- {{}} --><hardware/>\n{body}\n</ros2_control>'


CASES = [
    ("unknown-control-joint", "names joint 'trun', which the robot does not have; did you mean 'turn'?",
     control('<joint name="turn"/><joint §name="trun"/>')),
    ("unknown-control-joint", "names joint 'trun', which the robot does not have",
     control('<transmission name="t"><joint §name="trun" role="x"/></transmission>')),
    ("fixed-control-joint", "names joint 'mount', which is fixed", control('<joint §name="mount"/>')),
    ("odd-interface", "interface 'positon' of joint 'turn' is not a standard one",
     control('<joint name="turn"><command_interface §name="positon"/></joint>')),
    ("odd-interface", "'Velocity' of joint 'turn'",
     control('<joint name="turn"><state_interface §name="Velocity"/></joint>')),
    ("control-mimic-differs", "but the robot's joint has no <mimic>", control('<joint name="turn" §mimic="true"/>')),
    ("control-mimic-differs", "makes joint 'turn' mimic 'grip', but the robot's joint is not a mimic joint",
     control('<joint name="turn">§<param name="mimic">grip</param></joint>')),
    ("control-mimic-differs", "makes joint 'follow' mimic 'turn', but the robot's joint mimics 'grip'",
     control('<joint name="follow">§<param name="mimic"> turn </param></joint>')),
    ("control-mimic-differs", "gives mimic joint 'follow' the multiplier 1",
     control('<joint name="follow"><param name="mimic">grip</param>§<param name="multiplier">1</param></joint>')),
    ("control-mimic-differs", "gives mimic joint 'follow' the multiplier 1",
     control('<joint name="follow">§<param name="mimic">grip</param></joint>')),
    ("foreign-loop", "<joint> in <gazebo> closes a loop",
     '<gazebo>§<joint name="c" type="revolute"><parent>finger</parent><child>r::thumb</child></joint></gazebo>'),
    ("foreign-loop", "<joint> in <gazebo> closes a loop",
     '<gazebo><model name="m">§<joint name="c"><parent link="finger"/><child link="thumb"/></joint></model></gazebo>'),
    ("foreign-loop", "<connect> in <equality> of <mujoco> closes a loop",
     '<mujoco><equality>§<connect body1="finger" body2="thumb" anchor="0 0 0"/></equality></mujoco>'),
    ("foreign-loop", "<weld> in <equality> of <mujoco> closes a loop",
     '<mujoco><equality>§<weld body1="finger" body2="thumb"/></equality></mujoco>'),
    ("mimic-commanded", "refuses the command interface of mimic joint 'follow'",
     control('<joint name="follow"><state_interface name="position"/>§<command_interface name="position"/></joint>')),
    ("unknown-transmission-joint", "names joint 'gripp', which the robot does not have; did you mean 'grip'?",
     '<transmission name="t"><type>a</type><joint §name="gripp"/></transmission>'),
    ("unknown-gazebo-reference", "refers to 'toool', which is not a link or joint of the robot; did you mean 'tool'?",
     '<gazebo §reference="toool"><material>Gazebo/Blue</material></gazebo>'),
]  # fmt: skip


@pytest.mark.parametrize(("code", "message", "element"), CASES, ids=[f"{case[0]}: {case[1][:30]}" for case in CASES])
def test_what_foreign_elements_name_wrongly_is_reported_alone_with_its_place(
    code: str, message: str, element: str
) -> None:
    text, place = unmarked(ROBOT.replace("{}", element, 1))
    diagnostics = Diagnostics()
    check_foreign(robot_from_text(text), diagnostics)
    (problem,) = diagnostics
    assert problem.code == code
    assert message in str(problem)
    assert (problem.place.line, problem.place.column) == place
    refused = code in {"unknown-control-joint", "fixed-control-joint"}
    assert problem.severity is (Severity.ERROR if refused else Severity.WARNING)


FINE = [
    control('<joint name="turn"><command_interface name="effort"><param name="min">-1</param></command_interface>'
            '<state_interface name="motor_current"/><state_interface name="position_gain"/></joint>'),
    control('<joint name="turn"><command_interface name="stiffness"/><state_interface name="torque"/></joint>'),
    control('<joint name="follow" mimic="false"><command_interface name="position"/></joint>'),
    control('<joint name="follow"><param name="mimic">grip</param><param name="multiplier">-1.0</param></joint>'),
    control('<sensor name="ft"><state_interface name="force.x"/></sensor><gpio name="io"/>'),
    '<transmission name="t"><joint name="turn"/><actuator name="a"/></transmission>',
    '<gazebo reference="mount"/><gazebo reference="tool"/><gazebo><plugin name="p" filename="f"/></gazebo>',
    '<gazebo><joint name="w" type="fixed"><parent>world</parent><child>base</child></joint></gazebo>',
    '<gazebo><joint name="w" type="fixed"><parent>base</parent><child>table::top</child></joint></gazebo>',
    '<gazebo><plugin name="p" filename="f"><joint>turn</joint></plugin></gazebo>',
    '<mujoco><compiler/><equality><joint joint1="grip" joint2="follow"/></equality></mujoco>',
    '<gazebo reference="tool"><xacro:left/><other:thing/></gazebo>',
]  # fmt: skip


@pytest.mark.parametrize("element", FINE)
def test_what_is_right_or_a_driver_s_own_is_not_reported(element: str) -> None:
    diagnostics = Diagnostics()
    check_foreign(robot_from_text(ROBOT.replace("{}", element, 1)), diagnostics)
    assert list(diagnostics) == []


def test_check_reports_foreign_elements_and_missing_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "r.urdf"
    wrong = control('<joint name="trun"/>').replace("<hardware/>", "<hardware><plugin>p/P</plugin></hardware>")
    path.write_text(ROBOT.replace("{}", f'{wrong}<material name="m"><texture filename="wood.png"/></material>', 1))
    assert main(["check", str(path)]) == 1
    printed = capsys.readouterr().out
    assert "names joint 'trun', which the robot does not have" in printed
    assert "warning: texture 'wood.png' is not found" in printed
