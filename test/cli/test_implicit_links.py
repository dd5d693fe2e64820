# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Joints without links: one switch, `--implicit-links`, for every command that reads a description."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from robot_semantics.cli.main import main

URDF = """<robot name="crane">
  <link name="boom">
    <inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>
    <collision><geometry><box size="1 0.1 0.1"/></geometry></collision>
  </link>
  <joint name="slew" type="revolute">
    <parent link="mast"/><child link="boom"/><axis xyz="0 0 1"/>
    <limit lower="-1" upper="1" effort="1" velocity="1"/>
  </joint>
  <link name="weight"><collision><geometry><sphere radius="0.2"/></geometry></collision></link>
  <joint name="far_end" type="fixed"><origin xyz="-2 0 0"/><parent link="boom"/><child link="weight"/></joint>
  <joint name="hook_joint" type="fixed"><origin xyz="1 0 0"/><parent link="boom"/><child link="hook"/></joint>
</robot>
"""
SRDF = """<robot name="crane">
  <group name="arm"><chain base_link="mast" tip_link="hook"/></group>
  <group_state name="out" group="arm"><joint name="slew" value="0.5"/></group_state>
</robot>
"""
STATE = """<world_state xmlns:rs="urn:robot-semantics:usdf:1" rs:time="1.000000000">
  <model_state name="crane" rs:description="crane.urdf"><pose>0 0 0 0 0 0</pose>
  <joint_state name="slew"><positions>0.5</positions></joint_state></model_state></world_state>
"""
MJCF = """<mujoco><worldbody><body name="boom"><joint name="slew" axis="0 0 1"/>
  <geom type="box" size="1 1 1"/></body></worldbody></mujoco>
"""
COMMANDS = [
    "check crane.urdf crane.srdf crane.usdf",
    "show crane.urdf crane.srdf",
    "fk crane.urdf",
    "groups crane.urdf crane.srdf arm",
    "groups crane.urdf crane.srdf",
    "states crane.urdf crane.srdf",
    "groups crane.urdf crane.srdf --link hook",
    "srdf new crane.urdf --chain arm=mast..hook",
    "srdf add crane.srdf --urdf crane.urdf --chain whole=mast..hook",
    "upgrade crane.urdf",
    "collisions generate crane.urdf -o made.srdf",
    "bag crane.usdf -o bag --urdf crane.urdf",
    "view crane.urdf --html page.html",
    "view crane.usdf --html page.html --force",
    "sim run crane.usdf --steps 1",
    "sim run crane.usdf --steps 1 --urdf crane=crane.urdf",
    "check crane.usdf --urdf crane.urdf",
    "usdf resolve crane.usdf crane::hook --urdf crane.urdf",
    "usdf edit crane.usdf --urdf crane.urdf --joint crane/slew=0.1",
    "diff crane.usdf crane.usdf --urdf crane.urdf",
    "usdf convert crane.usdf --to mujoco --mujoco-model crane.xml --urdf crane.urdf",
]


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the files, which is the working one."""
    for name, text in (("urdf", URDF), ("srdf", SRDF), ("usdf", STATE), ("xml", MJCF)):
        (tmp_path / f"crane.{name}").write_text(text)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_takes_joints_without_links_with_the_switch(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    main(command.split())
    assert "link 'mast' does not exist" in "".join(capsys.readouterr())
    assert main([*command.split(), "--implicit-links"]) == 0
    assert "does not exist" not in "".join(capsys.readouterr())


@pytest.mark.parametrize("command", ["upgrade", "expand"])
def test_the_links_are_written_out_for_readers_that_know_no_such_switch(
    command: str, files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([command, str(files / "crane.urdf"), "--implicit-links"]) == 0
    links = [link.get("name") for link in ET.fromstring(capsys.readouterr().out).iter("link")]
    assert links == ["boom", "weight", "mast", "hook"]


def test_a_recording_made_of_such_a_robot_is_exported_without_the_switch(
    files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["bag", "crane.usdf", "-o", "bag", "--urdf", "crane.urdf", "--implicit-links"]) == 0
    assert main(["export", "bag", "-o", "states"]) == 0
    capsys.readouterr()
    (state,) = map(str, files.glob("states/**/*.usdf"))
    assert main(["usdf", "resolve", state, "crane::hook"]) == 0
    assert "does not exist" not in "".join(capsys.readouterr())
    assert main(["export", "bag", "-o", "again.usdf", "--urdf", "crane.urdf"]) == 1
    assert main(["export", "bag", "-o", "again.usdf", "--urdf", "crane.urdf", "--implicit-links"]) == 0
