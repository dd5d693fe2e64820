# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Local transforms and twists, joint by joint, against scipy's rotations and finite differences."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pytest

from robot_semantics import JointSpace, RobotModel, UnknownNameError
from robot_semantics.base.errors import ArrayError
from robot_semantics.kinematics.local import LocalTransforms
from robot_semantics.model.loading import robot_from_text
from robot_semantics.transforms import matrix_from_pose

FloatArray = npt.NDArray[np.float64]
Robots = Callable[..., RobotModel]
Oracle = Callable[[RobotModel, FloatArray], FloatArray]
After = Callable[[JointSpace, FloatArray, FloatArray, float], FloatArray]


def test_matrices_and_poses_of_every_joint_type_are_the_oracles(
    random_robot: Robots, oracle_local: Oracle, rng: np.random.Generator, shape: tuple[int, ...]
) -> None:
    model = random_robot(30)
    local = LocalTransforms(model)
    q = local.space.random(rng, shape)
    q[..., :3] *= 1e-9  # near zero as well
    matrices, poses = local.matrices(q), local.transforms(q)
    assert matrices.shape == (*shape, 30, 4, 4)
    assert poses.shape == (*shape, 30, 7)
    for index in np.ndindex(*shape):
        np.testing.assert_allclose(matrices[index], oracle_local(model, q[index]), atol=3e-15)
    np.testing.assert_allclose(matrix_from_pose(poses), matrices, atol=4e-15)
    np.testing.assert_allclose((poses[..., 3:] ** 2).sum(axis=-1), 1.0, atol=2e-15)


@pytest.mark.parametrize("kind", ["revolute", "continuous", "prismatic", "planar", "floating", "fixed"])
def test_a_robot_of_one_joint_type_alone_is_right(
    random_robot: Robots, oracle_local: Oracle, rng: np.random.Generator, kind: str
) -> None:
    model = random_robot(6, (kind,))
    local = LocalTransforms(model)
    q = local.space.random(rng)
    np.testing.assert_allclose(local.matrices(q), oracle_local(model, q), atol=3e-15)
    np.testing.assert_allclose(matrix_from_pose(local.transforms(q)), oracle_local(model, q), atol=3e-15)


def test_chosen_joints_come_in_the_order_they_were_named(random_robot: Robots, rng: np.random.Generator) -> None:
    model = random_robot(20)
    names = [model.joints[i].name for i in (7, 3, 12, 19, 0)]
    everything, some = LocalTransforms(model), LocalTransforms(model, names)
    q, v = everything.space.random(rng, (5,)), rng.normal(size=(5, everything.space.velocity_size))
    np.testing.assert_array_equal(some.matrices(q), everything.matrices(q)[:, [7, 3, 12, 19, 0]])
    np.testing.assert_array_equal(some.transforms(q), everything.transforms(q)[:, [7, 3, 12, 19, 0]])
    np.testing.assert_array_equal(some.twists(q, v), everything.twists(q, v)[:, [7, 3, 12, 19, 0]])
    assert LocalTransforms(model, ()).matrices(q).shape == (5, 0, 4, 4)
    with pytest.raises(UnknownNameError, match="unknown joint 'j1O'"):
        LocalTransforms(model, ["j1O"])


def test_the_axis_of_a_planar_joint_carries_its_plane() -> None:
    text = """<robot name="r"><link name="a"/><link name="b"/><joint name="j" type="planar">
        <parent link="a"/><child link="b"/><axis xyz="{}"/></joint></robot>"""
    expected = {
        "0 0 1": ([1, 2, 0], 0),
        "0 0 -1": ([1, -2, 0], 0),  # the half turn about X
        "1 0 0": ([0, 2, -1], 0),  # +Z to +X turns X to -Z
        "0 1 0": ([1, 0, -2], 0),  # +Z to +Y turns Y to -Z
    }
    for axis, (xyz, _) in expected.items():
        local = LocalTransforms(robot_from_text(text.format(axis)))
        pose = local.transforms([1.0, 2.0, 0.0])[1]
        np.testing.assert_allclose(pose[:3], xyz, atol=1e-15)
        np.testing.assert_allclose(pose[3:], [0, 0, 0, 1])
        turned = local.matrices([0.0, 0.0, 0.5])[1]
        normal = np.array([float(word) for word in axis.split()])
        np.testing.assert_allclose(turned[:3, :3] @ normal, normal, atol=1e-15)


def test_quaternions_need_not_have_length_one(rng: np.random.Generator) -> None:
    text = """<robot name="r"><link name="a"/><link name="b"/><joint name="j" type="floating">
        <parent link="a"/><child link="b"/><origin rpy="1 2 3"/></joint></robot>"""
    local = LocalTransforms(robot_from_text(text))
    q = local.space.random(rng)
    scaled = np.concatenate((q[:3], -7.0 * q[3:]))
    np.testing.assert_allclose(local.matrices(scaled), local.matrices(q), atol=1e-15)


def test_mimic_joints_go_where_their_leaders_take_them() -> None:
    text = """<robot name="r"><link name="a"/><link name="b"/><link name="c"/>
        <joint name="j" type="continuous"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/></joint>
        <joint name="k" type="continuous"><parent link="b"/><child link="c"/><axis xyz="0 0 1"/>
        <mimic joint="j" multiplier="-2" offset="0.5"/></joint></robot>"""
    local = LocalTransforms(robot_from_text(text))
    made = local.matrices([0.3, 99.0])
    np.testing.assert_allclose(np.arctan2(made[:, 1, 0], made[:, 0, 0]), [0.0, 0.3, -0.1], atol=1e-15)
    np.testing.assert_allclose(local.twists([0.3, 99.0], [2.0, 77.0])[:, 5], [0.0, 2.0, -4.0])


def test_local_twists_are_the_rates_of_local_transforms(
    random_robot: Robots, after: After, rng: np.random.Generator
) -> None:
    model = random_robot(30)
    local = LocalTransforms(model)
    q, v, step = local.space.random(rng), rng.normal(size=local.space.velocity_size), 1e-6
    before, behind = local.matrices(after(local.space, q, v, -step)), local.matrices(after(local.space, q, v, step))
    here, rate = local.matrices(q), (behind - before) / (2 * step)
    R_child_parent = np.swapaxes(here[:, :3, :3], 1, 2)
    turning = R_child_parent @ rate[:, :3, :3]
    twists = local.twists(q, v)
    np.testing.assert_allclose(twists[:, :3], (R_child_parent @ rate[:, :3, 3, np.newaxis])[..., 0], atol=1e-8)
    np.testing.assert_allclose(twists[:, 3], turning[:, 2, 1], atol=1e-8)
    np.testing.assert_allclose(twists[:, 4], turning[:, 0, 2], atol=1e-8)
    np.testing.assert_allclose(twists[:, 5], turning[:, 1, 0], atol=1e-8)


def test_results_are_read_only(random_robot: Robots, rng: np.random.Generator) -> None:
    local = LocalTransforms(random_robot(5))
    q, v = local.space.random(rng), np.zeros(local.space.velocity_size)
    for result in (local.matrices(q), local.transforms(q), local.twists(q, v)):
        with pytest.raises(ValueError, match="read-only"):
            result[0] = 0.0


@pytest.mark.parametrize("method", ["matrices", "transforms"])
def test_positions_that_cannot_be_used_are_refused(random_robot: Robots, method: str) -> None:
    local = LocalTransforms(random_robot(4, ("revolute",)))
    make = getattr(local, method)
    with pytest.raises(ArrayError, match=r"q: expected shape \(\.\.\., 3\), got \(4,\)"):
        make(np.zeros(4))
    with pytest.raises(ArrayError, match=r"q: not finite: nan at index \(1, 2\)"):
        make([[0.0, 0.0, 0.0], [0.0, 0.0, np.nan]])
    with pytest.raises(ArrayError, match="q: not an array of numbers"):
        make(["0", "0", "0"])
