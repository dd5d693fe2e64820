# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Joint positions and velocities read back from transforms and twists."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pytest
from scipy.optimize import minimize_scalar
from scipy.spatial.transform import Rotation

from robot_semantics import ForwardKinematics, JointSpace, RobotModel, UnknownNameError
from robot_semantics.base.errors import ArrayError
from robot_semantics.kinematics.local import LocalTransforms
from robot_semantics.kinematics.observe import JointObserver, local_from_link_poses
from robot_semantics.model.loading import robot_from_text

FloatArray = npt.NDArray[np.float64]
Robots = Callable[..., RobotModel]
Oracle = Callable[[RobotModel, FloatArray], FloatArray]

ONE = """<robot name="r"><link name="a"/><link name="b"/><joint name="j" type="{}">
    <parent link="a"/><child link="b"/><origin xyz="1 2 3" rpy="0.1 0.2 0.3"/><axis xyz="{}"/>{}</joint></robot>"""
MIMIC = """<robot name="r"><link name="a"/><link name="b"/><link name="c"/>
    <joint name="j" type="continuous"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/></joint>
    <joint name="k" type="continuous"><parent link="b"/><child link="c"/><axis xyz="0 0 1"/>
    <mimic joint="j" multiplier="-2" offset="0.5"/></joint></robot>"""


def limits(low: float, high: float) -> str:
    return f"<limit lower='{low}' upper='{high}' effort='1' velocity='1'/>"


def test_positions_of_every_joint_type_come_back_from_the_oracles_transforms(
    random_robot: Robots, oracle_local: Oracle, rng: np.random.Generator, shape: tuple[int, ...]
) -> None:
    model = random_robot(30)
    observer = JointObserver(model)
    q = observer.space.random(rng, shape)
    transforms = np.empty((*shape, 30, 4, 4))
    for index in np.ndindex(*shape):
        transforms[index] = oracle_local(model, q[index])
    seen = observer.observe(transforms, near=q)
    np.testing.assert_allclose(seen.q, q, atol=1e-14)
    np.testing.assert_allclose(seen.distance, 0.0, atol=1e-14)
    np.testing.assert_allclose(seen.angle, 0.0, atol=1e-14)
    np.testing.assert_allclose(LocalTransforms(model).matrices(observer.positions(transforms)), transforms, atol=1e-14)
    for array in (seen.q, seen.distance, seen.angle):
        assert not array.flags.writeable


@pytest.mark.parametrize("turn", [0.0, 1e-12, -1e-9, np.pi, -np.pi, np.pi - 1e-9, 1.0, -3.0])
@pytest.mark.parametrize("axis", [[0, 0, 1], [0, -1, 0], [1, 2, -3]])
def test_angles_are_exact_near_zero_and_near_the_half_turn(turn: float, axis: list[float]) -> None:
    model = robot_from_text(ONE.format("continuous", " ".join(map(str, axis)), ""))
    direction = np.array(axis) / np.linalg.norm(axis)
    transforms = np.array([np.eye(4), model.joints[1].T_parent_joint])
    transforms[1, :3, :3] = transforms[1, :3, :3] @ Rotation.from_rotvec(turn * direction).as_matrix()
    (angle,) = JointObserver(model).positions(transforms)
    assert abs(angle - turn) < 1e-15 or abs(abs(angle - turn) - 2 * np.pi) < 1e-14


@pytest.mark.parametrize(
    ("low", "high", "near", "angle", "expected"),
    [
        (-9.0, 9.0, None, 4.0, 4.0 - 2 * np.pi),  # nearest to the default position, 0
        (-9.0, 9.0, 3.0, 4.0, 4.0),  # nearest to what was expected
        (-9.0, 9.0, -8.0, 4.0, 4.0 - 4 * np.pi),
        (-1.0, 5.0, None, 4.0, 4.0),  # the only one inside the limits
        (-5.0, 1.0, None, -4.0, -4.0),
        (-1.0, 1.0, None, 2.0, 2.0),  # none is inside the limits
        (-np.pi, np.pi, 3.2, -3.1, -3.1),
        (20.0, 22.0, None, 21.0, 21.0),  # its default position is 21
        (1.0, 2.0, None, 0.5, 0.5),  # a turn more is above the limits
    ],
)
def test_of_angles_a_turn_apart_it_is_the_expected_one_inside_the_limits(
    low: float, high: float, near: float | None, angle: float, expected: float
) -> None:
    model = robot_from_text(ONE.format("revolute", "0 0 1", limits(low, high)), strict=False)
    transforms = LocalTransforms(model).matrices([angle])
    seen = JointObserver(model).positions(transforms, None if near is None else [near])
    np.testing.assert_allclose(seen, [expected], atol=1e-14)


def test_limits_of_a_planar_joint_choose_no_turn() -> None:
    model = robot_from_text(ONE.format("planar", "0 0 1", limits(4.0, 5.0)), strict=False)
    seen = JointObserver(model).positions(LocalTransforms(model).matrices([0.1, 0.2, -2.0]))
    np.testing.assert_allclose(seen, [0.1, 0.2, -2.0], atol=1e-14)


def test_a_transform_the_joint_cannot_make_gives_the_nearest_and_what_is_left(rng: np.random.Generator) -> None:
    model = robot_from_text(ONE.format("continuous", "1 2 3", ""))
    observer, local = JointObserver(model), LocalTransforms(model)
    transforms = np.array(local.matrices([0.7]))
    transforms[1, :3, :3] = transforms[1, :3, :3] @ Rotation.from_rotvec(0.3 * rng.normal(size=3)).as_matrix()
    transforms[1, :3, 3] += [0.0, 0.3, 0.4]

    def residual(angle: float) -> float:
        made = local.matrices([angle])[1, :3, :3]
        return float(Rotation.from_matrix(made.T @ transforms[1, :3, :3]).magnitude())

    nearest = minimize_scalar(residual, bounds=(0.0, 1.4), method="bounded", options={"xatol": 1e-9})
    seen = observer.observe(transforms)
    np.testing.assert_allclose(seen.q, [nearest.x], atol=1e-6)
    np.testing.assert_allclose(seen.angle, [0.0, nearest.fun], atol=1e-9)
    np.testing.assert_allclose(seen.distance, [0.0, 0.5], atol=1e-14)
    with pytest.raises(ArrayError, match=r"continuous joint 'j' cannot have this transform: .* 0\.5 m"):
        observer.positions(transforms)


def test_a_half_turn_across_the_axis_is_a_residual_of_half_a_turn() -> None:
    model = robot_from_text(ONE.format("continuous", "0 0 1", ""))
    transforms = np.array(LocalTransforms(model).matrices([0.0]))
    transforms[1, :3, :3] = transforms[1, :3, :3] @ np.diag([1.0, -1.0, -1.0])
    seen = JointObserver(model).observe(transforms)
    np.testing.assert_allclose(seen.angle[1], np.pi)
    assert np.isfinite(seen.q).all()


def test_a_fixed_joint_that_moved_is_a_residual() -> None:
    model = robot_from_text(ONE.format("fixed", "0 0 1", ""))
    transforms = np.array([np.eye(4), model.joints[1].T_parent_joint])
    transforms[1, 0, 3] += 0.25
    seen = JointObserver(model).observe(transforms)
    np.testing.assert_allclose(seen.distance, [0.0, 0.25])
    with pytest.raises(ArrayError, match="fixed joint 'j' cannot have this transform"):
        JointObserver(model).positions(transforms)


def test_mimic_joints_are_seen_where_they_are() -> None:
    model = robot_from_text(MIMIC)
    transforms = LocalTransforms(model, follow_mimics=False).matrices([0.3, 0.9])
    seen = JointObserver(model).observe(transforms)
    np.testing.assert_allclose(seen.q, [0.3, 0.9], atol=1e-15)
    np.testing.assert_allclose(seen.angle, 0.0, atol=1e-15)


def test_chosen_joints_are_observed_and_the_others_kept(random_robot: Robots, rng: np.random.Generator) -> None:
    model = random_robot(20, ("revolute", "prismatic", "planar"))
    names = [model.joints[i].name for i in (7, 3, 12)]
    space = JointSpace.of(model)
    q, other = space.random(rng, (6,)), space.random(rng)
    transforms = LocalTransforms(model, names).matrices(q)
    seen = JointObserver(model, names).positions(transforms, near=other)
    observed = np.zeros(space.size, dtype=bool)
    for name in names:
        observed[space.joint_positions[name]] = True
    np.testing.assert_array_equal(seen[:, ~observed], np.broadcast_to(other[~observed], (6, (~observed).sum())))
    np.testing.assert_allclose(np.cos(seen[:, observed]), np.cos(q[:, observed]), atol=1e-12)
    with pytest.raises(UnknownNameError, match="unknown joint 'nope'"):
        JointObserver(model, ["nope"])


def test_quaternions_keep_the_expected_sign() -> None:
    text = ONE.format("floating", "0 0 1", "").replace('<axis xyz="0 0 1"/>', "")
    model = robot_from_text(text)
    q = np.array([1.0, 2.0, 3.0, 0.5, -0.5, 0.5, -0.5])
    transforms = LocalTransforms(model).matrices(q)
    np.testing.assert_allclose(JointObserver(model).positions(transforms, near=q), q, atol=1e-15)
    np.testing.assert_allclose(JointObserver(model).positions(transforms)[3:], -q[3:], atol=1e-15)


def test_each_quaternion_has_the_sign_of_the_expected_one_that_is_nearer(rng: np.random.Generator) -> None:
    model = robot_from_text(ONE.format("floating", "0 0 1", "").replace('<axis xyz="0 0 1"/>', ""))
    near = np.concatenate([rng.normal(size=(50, 3)), Rotation.random(50, random_state=0).as_quat()], axis=1)
    # By less than 60 degrees, of which the quaternion has half: their product is above 0.8.
    turns = Rotation.from_rotvec(rng.uniform(-0.6, 0.6, size=(50, 3)))
    quats = (turns * Rotation.from_quat(near[:, 3:])).as_quat()
    quats *= np.sign((quats * near[:, 3:]).sum(axis=1, keepdims=True))
    q = np.concatenate([rng.normal(size=(50, 3)), quats], axis=1)
    found = JointObserver(model).positions(LocalTransforms(model).matrices(q), near=near)
    np.testing.assert_allclose(found, q, atol=1e-12)


def test_positions_come_back_from_link_poses(
    random_robot: Robots, rng: np.random.Generator, shape: tuple[int, ...]
) -> None:
    srdf = '<robot name="r"><virtual_joint name="v" type="floating" parent_frame="o" child_link="l0"/></robot>'
    model = random_robot(25, srdf=srdf)
    forward = ForwardKinematics(model)
    q = forward.space.random(rng, shape)
    local = local_from_link_poses(model, forward.link_poses(q), forward.T_parent_root(q))
    np.testing.assert_allclose(JointObserver(model).positions(local, near=q), q, atol=1e-9)
    world = forward.T_parent_root(q)[..., np.newaxis, :, :] @ forward.link_poses(q)
    np.testing.assert_allclose(local_from_link_poses(model, world)[..., 1:, :, :], local[..., 1:, :, :], atol=1e-9)


def test_velocities_come_back_from_twists(
    random_robot: Robots, rng: np.random.Generator, shape: tuple[int, ...]
) -> None:
    model = random_robot(30)
    observer, local = JointObserver(model), LocalTransforms(model)
    q, v = observer.space.random(rng, shape), rng.normal(size=(*shape, observer.space.velocity_size))
    np.testing.assert_allclose(observer.velocities(q, local.twists(q, v)), v, atol=1e-13)


def test_transforms_that_cannot_be_used_are_refused(random_robot: Robots) -> None:
    observer = JointObserver(random_robot(4))
    with pytest.raises(ArrayError, match=r"T_parent_child: expected shape \(\.\.\., 4, 4, 4\), got \(3, 4, 4\)"):
        observer.observe(np.zeros((3, 4, 4)))
    with pytest.raises(ArrayError, match="T_parent_child: not finite: nan"):
        observer.observe(np.full((4, 4, 4), np.nan))
    with pytest.raises(ArrayError, match="near: expected shape"):
        observer.observe(np.broadcast_to(np.eye(4), (4, 4, 4)), near=np.zeros(99))
