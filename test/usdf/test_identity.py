# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""A robot's hash depends on its model: on motion, masses, shapes and limits, not on the form of its text."""

from __future__ import annotations

import hashlib
from io import BytesIO

import pytest
from lxml import etree

from robot_semantics.examples import example
from robot_semantics.model.loading import load_robot, robot_from_text
from robot_semantics.usdf.identity import appearance_digest, describes_another_robot, is_of, model_digest
from robot_semantics.usdf.world_state import ModelState

PLAIN = """<robot name="r">
  <material name="red"><color rgba="1 0 0 1"/></material>
  <link name="a">
    <inertial><mass value="12"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>
    <visual name="v"><geometry><sphere radius="1"/></geometry><material name="red"/></visual>
    <collision><geometry><sphere radius="1"/></geometry></collision>
  </link>
  <link name="b"/>
  <joint name="j" type="revolute">
    <parent link="a"/><child link="b"/><limit lower="-1" upper="1" effort="5" velocity="2"/>
  </joint>
</robot>"""


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('<robot name="r">', "<?xml version='1.0'?><!-- a comment --><robot name='r'>"),
        ('"12"', '"12.0"'),
        ('"12"', '"1.2e1"'),
        ("\n", "\n\n    "),
        ('type="revolute">', 'type="revolute"><origin xyz="0 0 0"/><axis xyz="1 0 0"/>'),
        ('<limit lower="-1" upper="1"', '<limit upper="1" lower="-1"'),
        ('<link name="b"/>', '<link name="b"></link><gazebo reference="a"/>'),
        ('rgba="1 0 0 1"', 'rgba="0 1 0 1"'),
        ('<robot name="r">', '<robot name="another">'),
    ],
)
def test_what_changes_no_motion_mass_contact_or_limit_changes_no_hash(before: str, after: str) -> None:
    assert before in PLAIN
    changed = robot_from_text(PLAIN.replace(before, after))
    assert model_digest(changed) == model_digest(robot_from_text(PLAIN))
    assert is_of(model_digest(changed), robot_from_text(PLAIN))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('<mass value="12"/>', '<mass value="13"/>'),
        ('ixx="1"', 'ixx="2"'),
        ('<collision><geometry><sphere radius="1"/>', '<collision><geometry><sphere radius="2"/>'),
        ('"revolute"', '"prismatic"'),
        ('upper="1"', 'upper="1.5"'),
        ('name="b"', 'name="c"'),
        ('type="revolute">', 'type="revolute"><origin xyz="0 0 1"/>'),
        ('type="revolute">', 'type="revolute"><origin rpy="0 0 1"/>'),
        ('type="revolute">', 'type="revolute"><axis xyz="0 0 1"/>'),
        ('type="revolute">', 'type="revolute"><safety_controller k_velocity="1" soft_upper_limit="0.5"/>'),
        ('type="revolute">', 'type="revolute"><dynamics damping="1"/>'),
    ],
)
def test_what_changes_one_of_them_does(before: str, after: str) -> None:
    assert before in PLAIN
    changed = robot_from_text(
        PLAIN.replace(before, after).replace('link="b"', 'link="c"' if after == 'name="c"' else 'link="b"')
    )
    assert model_digest(changed) != model_digest(robot_from_text(PLAIN))
    reason = describes_another_robot(ModelState("m", urdf_sha256=model_digest(changed)), robot_from_text(PLAIN))
    assert reason is not None
    assert "another URDF" in reason


def test_a_change_of_colour_is_seen_as_one_of_looks() -> None:
    changed = robot_from_text(PLAIN.replace("1 0 0 1", "0 1 0 1"))
    assert appearance_digest(changed) != appearance_digest(robot_from_text(PLAIN))
    assert appearance_digest(robot_from_text(PLAIN.replace("12", "13"))) == appearance_digest(robot_from_text(PLAIN))


def test_the_hash_of_older_files_the_canonical_xmls_is_still_known() -> None:
    written = BytesIO()
    etree.parse(str(example("rover_arm.urdf"))).write_c14n(written, with_comments=False)
    robot = load_robot(example("rover_arm.urdf"))
    assert is_of(hashlib.sha256(written.getvalue()).hexdigest(), robot)
    assert not is_of(hashlib.sha256(b"").hexdigest(), robot)


def test_a_state_without_a_hash_is_of_any_robot() -> None:
    assert describes_another_robot(ModelState("m"), robot_from_text(PLAIN)) is None


def test_a_mesh_without_scale_has_the_scale_1() -> None:
    mesh = PLAIN.replace('<sphere radius="1"/>', '<mesh filename="part.stl"{}/>')
    assert mesh.count("{}") == PLAIN.count('<sphere radius="1"/>') > 0
    plain, one, *others = (
        model_digest(robot_from_text(mesh.replace("{}", scale)))
        for scale in ("", ' scale="1 1 1"', ' scale="0 1 1"', ' scale="1 2 1"', ' scale="1 1 3"')
    )
    assert plain == one
    assert plain not in others
