# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Poses in space as positions of planar and floating joints, against scipy's rotations."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from scipy.spatial.transform import Rotation

from robot_semantics.kinematics.motions import (
    JointMotion,
    UnusablePose,
    joint_motion,
    pose_from_positions,
    twist_in_parent,
    twist_of,
)
from robot_semantics.model.loading import robot_from_text
from robot_semantics.model.robot_model import JointModel

FloatArray = npt.NDArray[np.float64]


def joint(kind: str) -> JointModel:
    virtual = f'<virtual_joint name="w" type="{kind}" parent_frame="odom" child_link="base"/>'
    return robot_from_text(
        '<robot name="r"><link name="base"/></robot>', f'<robot name="r">{virtual}</robot>'
    ).root_joint


def moved(joint: JointModel, pose: FloatArray, twist: FloatArray | None = None) -> JointMotion:
    found = joint_motion(joint, pose, twist)
    assert isinstance(found, JointMotion)
    return found


def test_a_twist_in_the_child_s_axes_is_turned_into_the_parent_s_both_halves_of_it() -> None:
    rng = np.random.default_rng(3)
    quat, twist = rng.normal(size=4), rng.normal(size=6)
    turn = Rotation.from_quat(quat)
    for length in (1.0, 3.0):
        found = twist_in_parent(np.array([1.0, 2.0, 3.0, *(length * quat)]), twist)
        np.testing.assert_allclose(found, [*turn.apply(twist[:3]), *turn.apply(twist[3:])], atol=1e-12)


def test_a_floating_joint_holds_everything_and_its_quaternion_has_length_one() -> None:
    twist = np.arange(6.0)
    found = moved(joint("floating"), np.array([1.0, 2.0, 3.0, 0.0, 0.0, 6.0, 8.0]), twist)
    np.testing.assert_allclose(found.positions, [1.0, 2.0, 3.0, 0.0, 0.0, 0.6, 0.8])
    assert found.velocities is not None
    np.testing.assert_array_equal(found.velocities, twist)
    assert (found.lost_m, found.lost_rad) == (0.0, 0.0)
    np.testing.assert_array_equal(pose_from_positions(joint("floating"), found.positions), found.positions)
    np.testing.assert_array_equal(twist_of(joint("floating"), twist), twist)


@pytest.mark.parametrize("yaw", [-3.0, 0.7, 3.1])
@pytest.mark.parametrize("tilt", [0.0, 0.2])
def test_a_planar_joint_says_what_it_drops(yaw: float, tilt: float) -> None:
    turn = Rotation.from_euler("ZX", [yaw, tilt])
    for length in (1.0, -2.0):
        quat = length * turn.as_quat()
        found = moved(joint("planar"), np.array([1.0, 2.0, -0.3, *quat]), np.array([4.0, 5.0, 6.0, 7.0, 8.0, 9.0]))
        np.testing.assert_allclose(found.positions, [1.0, 2.0, yaw], atol=1e-12)
        assert found.velocities is not None
        np.testing.assert_allclose(found.velocities, [4.0, 5.0, 9.0])
        assert found.lost_m == pytest.approx(0.3)
        assert found.lost_rad == pytest.approx(tilt, abs=1e-7)


def test_a_turn_in_the_plane_has_no_tilt_and_never_one_that_is_no_number() -> None:
    for yaw in np.linspace(-3.1, 3.1, 200):
        found = moved(joint("planar"), np.array([0.0, 0.0, 0.0, *Rotation.from_euler("Z", yaw).as_quat()]))
        assert 0.0 <= found.lost_rad < 1e-7


def test_planar_positions_and_rates_go_back_into_space() -> None:
    pose = pose_from_positions(joint("planar"), np.array([1.0, 2.0, 0.7]))
    np.testing.assert_allclose(pose, [1.0, 2.0, 0.0, *Rotation.from_euler("Z", 0.7).as_quat()], atol=1e-12)
    np.testing.assert_allclose(twist_of(joint("planar"), np.array([1.0, 2.0, 3.0])), [1.0, 2.0, 0.0, 0.0, 0.0, 3.0])


def test_what_is_no_pose_is_refused_and_a_twist_that_is_no_number_is_not_known() -> None:
    good = np.array([1.0, 2.0, 3.0, 0.0, 0.0, 0.0, 1.0])
    for place in range(7):
        bad = good.copy()
        bad[place] = np.nan
        assert joint_motion(joint("planar"), bad, None) == UnusablePose(False, "the pose of 'w' is not finite")
    short = np.array([1.0, 2.0, 3.0, 0.0, 0.0, 0.0, 9e-7])
    assert joint_motion(joint("planar"), short, None) == UnusablePose(True, "the quaternion of 'w' is zero")
    assert moved(joint("planar"), good).velocities is None
    assert moved(joint("planar"), good, np.array([1.0, 0, 0, 0, 0, np.nan])).velocities is None
