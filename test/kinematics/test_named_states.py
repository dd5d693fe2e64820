# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""A named state sets the joints of its group and keeps all others; missing joints get the requested position."""

from __future__ import annotations

import numpy as np
import pytest

from robot_semantics import JointSpace, UnknownNameError
from robot_semantics.base.errors import ArrayError
from robot_semantics.kinematics.joint_space import MissingJoints, with_state
from robot_semantics.model.loading import robot_from_text

URDF = """<robot name="r">
  <link name="base"/><link name="a"/><link name="b"/><link name="c"/><link name="d"/>
  <joint name="j1" type="revolute"><parent link="base"/><child link="a"/><axis xyz="0 0 1"/>
    <limit lower="1" upper="2" effort="1" velocity="1"/></joint>
  <joint name="j2" type="continuous"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/></joint>
  <joint name="j3" type="continuous"><parent link="b"/><child link="c"/><axis xyz="0 0 1"/>
    <mimic joint="j2" multiplier="-2" offset="0.5"/></joint>
  <joint name="j4" type="prismatic"><parent link="c"/><child link="d"/><axis xyz="0 0 1"/>
    <limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
</robot>"""
SRDF = """<robot name="r">
  <virtual_joint name="v" type="floating" parent_frame="odom" child_link="base"/>
  <group name="g"><joint name="v"/><joint name="j1"/><joint name="j2"/><joint name="j3"/></group>
  <group_state name="s" group="g"><joint name="v" value="1 2 3 0 0 0 2"/><joint name="j2" value="0.25"/></group_state>
</robot>"""
SPACE = JointSpace.of(robot_from_text(URDF, SRDF))
# v (7), j1, j2, j3, j4
CURRENT = np.array((9.0, 9.0, 9.0, 1.0, 0.0, 0.0, 0.0, 1.2, 0.7, -0.9, 0.4))


def test_what_a_state_does_not_name_keeps_its_position() -> None:
    expected = [1, 2, 3, 0, 0, 0, 1, 1.2, 0.25, 0.0, 0.4]
    np.testing.assert_allclose(with_state(SPACE, "g", "s", CURRENT), expected)


def test_what_a_state_does_not_name_gets_its_default_inside_the_limits() -> None:
    expected = [1, 2, 3, 0, 0, 0, 1, 1.5, 0.25, 0.0, 0.4]
    np.testing.assert_allclose(with_state(SPACE, "g", "s", CURRENT, MissingJoints.DEFAULT), expected)
    np.testing.assert_allclose(with_state(SPACE, "g", "s"), [*expected[:10], 0.0])


def test_a_batch_of_positions_is_set_as_each_one() -> None:
    batch = np.stack([CURRENT, 1.01 * CURRENT, np.roll(CURRENT, 0)]).reshape(3, 1, -1)
    for missing in MissingJoints:
        together = with_state(SPACE, "g", "s", batch, missing)
        assert together.shape == batch.shape
        for one, all_of_them in zip(batch, together, strict=True):
            np.testing.assert_array_equal(with_state(SPACE, "g", "s", one[0], missing), all_of_them[0])


def test_the_given_positions_are_left_alone() -> None:
    before = CURRENT.copy()
    with_state(SPACE, "g", "s", CURRENT, MissingJoints.DEFAULT)
    np.testing.assert_array_equal(CURRENT, before)


def test_a_quaternion_of_zeros_is_left_out_of_a_state() -> None:
    model = robot_from_text(URDF, SRDF.replace("0 0 0 2", "0 0 0 0"), strict=False)
    assert "v" not in model.semantics.state("g", "s").joints


def test_wrong_arguments_are_refused() -> None:
    with pytest.raises(UnknownNameError):
        with_state(SPACE, "g", "t")
    with pytest.raises(UnknownNameError):
        with_state(SPACE, "h", "s")
    with pytest.raises(ArrayError):
        with_state(SPACE, "g", "s", CURRENT[:-1])
    with pytest.raises(ArrayError):
        with_state(SPACE, "g", "s", np.full(SPACE.size, np.nan))
