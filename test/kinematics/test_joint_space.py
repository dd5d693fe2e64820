# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The joint space: names, order, limits, defaults, mimic joints."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from support.moveit_cases import moveit_case

from robot_semantics import JointSpace, RobotModel, UnknownNameError
from robot_semantics.base.errors import ArrayError
from robot_semantics.kinematics.motions import SUBSPACE, PositionBlend
from robot_semantics.model.joint_types import MOTION, JointType
from robot_semantics.model.loading import robot_from_text

URDF = """
<robot name="r">
  <link name="base"/><link name="a"/><link name="b"/><link name="c"/><link name="d"/><link name="e"/>
  <joint name="turn" type="revolute"><parent link="base"/><child link="a"/><axis xyz="0 0 1"/>
    <limit lower="0.5" upper="1.5" effort="1" velocity="2"/></joint>
  <joint name="slide" type="prismatic"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/>
    <limit lower="-0.1" upper="0.3" effort="1" velocity="2"/></joint>
  <joint name="wheel" type="continuous"><parent link="b"/><child link="c"/><axis xyz="0 1 0"/></joint>
  <joint name="first" type="revolute"><parent link="c"/><child link="d"/><axis xyz="0 0 1"/>
    <limit lower="-9" upper="9" effort="1" velocity="2"/><mimic joint="turn" multiplier="2" offset="0.25"/></joint>
  <joint name="second" type="revolute"><parent link="d"/><child link="e"/><axis xyz="0 0 1"/>
    <limit lower="-9" upper="9" effort="1" velocity="2"/><mimic joint="first" multiplier="-3" offset="1"/></joint>
</robot>"""

SRDF = """
<robot name="r"><virtual_joint name="world" type="floating" parent_frame="odom" child_link="base"/></robot>"""

GOLDEN = Path(__file__).parents[1] / "data" / "moveit"


@pytest.fixture
def space() -> JointSpace:
    return JointSpace.of(robot_from_text(URDF, SRDF))


def test_variables_are_named_and_ordered_as_the_joints_are(space: JointSpace) -> None:
    floating = [f"world/{suffix}" for suffix in ("trans_x", "trans_y", "trans_z", "rot_x", "rot_y", "rot_z", "rot_w")]
    assert list(space.names) == [*floating, "turn", "slide", "wheel", "first", "second"]
    assert list(space.velocity_names)[:6] == [f"world/{suffix}" for suffix in ("vx", "vy", "vz", "wx", "wy", "wz")]
    assert (space.size, space.velocity_size) == (12, 11)
    assert space.index["slide"] == 8
    assert space.joint_positions["world"] == slice(0, 7)
    assert space.joint_positions["slide"] == slice(8, 9)
    assert space.joint_velocities["slide"] == slice(7, 8)


def test_limits_are_infinite_where_there_are_none(space: JointSpace) -> None:
    np.testing.assert_array_equal(space.lower, [-np.inf] * 7 + [0.5, -0.1, -np.inf, -9, -9])
    np.testing.assert_array_equal(space.upper, [np.inf] * 7 + [1.5, 0.3, np.inf, 9, 9])
    assert not space.lower.flags.writeable
    assert not space.upper.flags.writeable


def test_neutral_is_zero_or_the_middle_of_limits_that_exclude_it_and_mimics_follow(space: JointSpace) -> None:
    turn = 1.0
    first = 2 * turn + 0.25
    np.testing.assert_allclose(space.neutral(), [0, 0, 0, 0, 0, 0, 1, turn, 0, 0, first, -3 * first + 1])


@pytest.mark.parametrize("case", ["case__bounds", "case__multidof", "case__mimic"])
def test_neutral_is_what_moveit_calls_default(case: str) -> None:
    golden = json.loads((GOLDEN / f"{case}.json").read_text())
    model = robot_from_text(moveit_case(case[6:], "urdf").read_text(), strict=False)
    space = JointSpace.of(model)
    default = {joint["name"]: joint["default"] for joint in golden["joints"]}
    # MoveIt gives a mimic joint its own default here and moves it only when it sets positions.
    compared = 0
    for joint in space.joints:
        if joint.mimic is None and joint.limits.lower <= joint.limits.upper:
            np.testing.assert_allclose(space.neutral()[space.joint_positions[joint.name]], default[joint.name])
            compared += 1
    assert compared >= 2


@pytest.mark.parametrize("shape", [(), (0,), (5,), (2, 3)])
def test_mimic_chains_follow_their_first_leader(space: JointSpace, shape: tuple[int, ...]) -> None:
    rng = np.random.default_rng(0)
    q, v = rng.normal(size=(*shape, space.size)), rng.normal(size=(*shape, space.velocity_size))
    followed, moving = space.with_mimics(q), space.with_mimic_velocities(v)
    np.testing.assert_array_equal(followed[..., :10], q[..., :10])
    np.testing.assert_allclose(followed[..., 10], 2 * q[..., 7] + 0.25)
    np.testing.assert_allclose(followed[..., 11], -3 * (2 * q[..., 7] + 0.25) + 1)
    np.testing.assert_array_equal(moving[..., :9], v[..., :9])
    np.testing.assert_allclose(moving[..., 9], 2 * v[..., 6])
    np.testing.assert_allclose(moving[..., 10], -6 * v[..., 6])


@pytest.mark.parametrize("offset", [-0.25, 0.0, 0.25])
@pytest.mark.parametrize("multiplier", [-2.0, 0.5, 1.0, 2.0])
def test_every_factor_and_offset_of_a_mimic_joint_is_followed(multiplier: float, offset: float) -> None:
    mimic = f'<mimic joint="a" multiplier="{multiplier}" offset="{offset}"/>'
    space = JointSpace.of(
        robot_from_text(
            '<robot name="r"><link name="base"/><link name="a"/><link name="b"/>'
            '<joint name="a" type="continuous"><parent link="base"/><child link="a"/><axis xyz="0 0 1"/></joint>'
            f'<joint name="b" type="continuous"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/>{mimic}</joint>'
            "</robot>"
        )
    )
    q = np.array([[0.7, 9.0], [-1.2, 9.0]])
    followed = np.array([[0.7, multiplier * 0.7 + offset], [-1.2, -1.2 * multiplier + offset]])
    np.testing.assert_allclose(space.with_mimics(q), followed, rtol=1e-15)
    np.testing.assert_allclose(space.mimics.rows(q.T), followed.T, rtol=1e-15)
    np.testing.assert_allclose(space.with_mimic_velocities(q), [[0.7, multiplier * 0.7], [-1.2, -1.2 * multiplier]])


@pytest.mark.parametrize("shape", [(), (0,), (50,), (4, 5)])
def test_random_positions_are_inside_the_limits_with_unit_quaternions(
    space: JointSpace, shape: tuple[int, ...]
) -> None:
    q = space.random(np.random.default_rng(0), shape)
    assert q.shape == (*shape, space.size)
    own = [7, 8, 9]
    assert ((q[..., own] >= space.lower[own]) & (q[..., own] <= space.upper[own])).all()
    np.testing.assert_allclose((q[..., 3:7] ** 2).sum(axis=-1), 1.0)
    np.testing.assert_array_equal(q, space.with_mimics(q))


def test_some_random_positions_have_unit_quaternions_and_those_of_all_directions(space: JointSpace) -> None:
    for places in (np.arange(space.size), np.array([7, 3, 4, 5, 6, 8]), np.array([0, 1, 2, 3, 4, 5, 6])):
        q = space.random_some(np.random.default_rng(0), places, 2000)
        at = np.flatnonzero((places >= 3) & (places <= 6))
        np.testing.assert_allclose((q[:, at] ** 2).sum(axis=1), 1.0)
        np.testing.assert_allclose(q[:, at].mean(axis=0), 0.0, atol=0.06)
        np.testing.assert_allclose((q[:, at] ** 2).mean(axis=0), 0.25, atol=0.03)
        own = np.flatnonzero(places == 7)
        assert ((q[:, own] >= 0.5) & (q[:, own] <= 1.5)).all()


@pytest.mark.parametrize("some", [False, True])
def test_random_positions_fill_the_limits(space: JointSpace, some: bool) -> None:
    rng = np.random.default_rng(0)
    q = space.random_some(rng, np.arange(space.size), 4000) if some else space.random(rng, (4000,))
    for at in (7, 8):
        span = space.upper[at] - space.lower[at]
        np.testing.assert_allclose(q[:, at].min(), space.lower[at], atol=0.01 * span)
        np.testing.assert_allclose(q[:, at].max(), space.upper[at], atol=0.01 * span)
        np.testing.assert_allclose(q[:, at].mean(), space.lower[at] + span / 2, atol=0.03 * span)
    np.testing.assert_allclose(q[:, 3:7].mean(axis=0), 0.0, atol=0.05)


def test_values_pack_by_variable_or_joint_and_unpack_by_variable(space: JointSpace) -> None:
    q = space.pack({"turn": 0.75, "world": [1, 2, 3, 0, 0, 1, 0], "world/trans_z": 9, "slide": 0.2})
    values = space.unpack(q)
    assert values["world/trans_x"] == 1.0
    assert values["world/trans_z"] == 9.0
    assert values["turn"] == 0.75
    assert values["first"] == 1.75
    assert values["wheel"] == 0.0
    np.testing.assert_array_equal(space.by_joint(q)["world"], [1, 2, 9, 0, 0, 1, 0])
    np.testing.assert_array_equal(space.by_joint(q)["slide"], [0.2])


def test_values_pack_in_batches_that_broadcast(space: JointSpace) -> None:
    base = space.random(np.random.default_rng(0), (4, 1))
    q = space.pack({"turn": [[0.5], [1.0], [1.5]], "wheel": 2.0}, base)
    assert q.shape == (4, 3, space.size)
    np.testing.assert_array_equal(q[:, 1, 7], 1.0)
    np.testing.assert_array_equal(q[..., 9], 2.0)
    np.testing.assert_array_equal(q[..., 8], np.broadcast_to(base[..., 8], (4, 3)))
    np.testing.assert_array_equal(space.unpack(q)["turn"], q[..., 7])


def test_an_unknown_variable_is_named_with_the_nearest(space: JointSpace) -> None:
    with pytest.raises(UnknownNameError, match=r"unknown joint variable 'turm'; did you mean 'turn'"):
        space.pack({"turm": 1.0})


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda space: space.pack({"turn": np.nan}), "turn: not finite: nan"),
        (lambda space: space.pack({"turn": [1, 2]}), r"turn: expected shape \(\.\.\., 1\), got \(2,\)"),
        (lambda space: space.pack({"world": [1, 2, 3]}), r"world: expected shape \(\.\.\., 7\), got \(3,\)"),
        (
            lambda space: space.pack({"turn": [[1], [2]], "slide": [[1], [2], [3]]}),
            "values: the batch axes of the values do not match",
        ),
        (lambda space: space.pack({}, base=[1.0, 2.0]), r"base: expected shape \(\.\.\., 12\), got \(2,\)"),
        (lambda space: space.checked_positions(np.zeros(12)), "q: the quaternion of 'world' is all zeros"),
        (lambda space: space.checked_positions(np.zeros(11)), r"q: expected shape \(\.\.\., 12\), got \(11,\)"),
        (lambda space: space.checked_velocities(np.zeros(12)), r"v: expected shape \(\.\.\., 11\), got \(12,\)"),
    ],
)
def test_what_cannot_be_used_is_an_error_that_names_it(
    space: JointSpace, call: Callable[[JointSpace], object], message: str
) -> None:
    with pytest.raises(ArrayError, match=message):
        call(space)


def test_a_robot_without_moving_joints_has_an_empty_joint_space() -> None:
    space = JointSpace.of(robot_from_text("<robot name='r'><link name='l'/></robot>"))
    assert space.size == space.velocity_size == 0
    assert space.neutral().shape == (0,)
    assert space.random(np.random.default_rng(0), (3,)).shape == (3, 0)
    assert space.unpack(space.neutral()) == {}


def test_every_random_robot_has_as_many_variables_as_its_joints(random_robot: Callable[..., RobotModel]) -> None:
    model = random_robot(40)
    space = JointSpace.of(model)
    assert space.size == sum(joint.position_count for joint in model.joints)
    assert space.velocity_size == len(space.velocity_names)
    assert [name for name, at in sorted(space.index.items(), key=lambda item: item[1])] == list(space.names)


def test_two_joints_of_one_name_keep_their_own_places() -> None:
    text = '<robot name="r"><virtual_joint name="turn" type="planar" parent_frame="odom" child_link="base"/></robot>'
    space = JointSpace.of(robot_from_text(URDF, text, strict=False))
    assert list(space.names)[:4] == ["turn/x", "turn/y", "turn/theta", "turn"]
    assert [space.positions_of(joint) for joint in space.joints][:2] == [slice(0, 3), slice(3, 4)]
    assert space.joint_positions["turn"] == slice(3, 4)
    np.testing.assert_allclose(space.neutral()[:4], [0, 0, 0, 1])


def test_between_two_rows_rotations_and_angles_go_the_short_way_around() -> None:
    blend = PositionBlend([MOTION[kind] for kind in (JointType.PRISMATIC, JointType.FLOATING, JointType.CONTINUOUS)])
    quats = Rotation.from_rotvec([[0.0, 0.0, 0.2], [0.0, 0.0, 1.4]]).as_quat()
    low, high = (np.array([[at, at, 2.0 * at, 0.0, *quats[at], 6.0 * at + 0.1]]) for at in (0, 1))
    middle = Rotation.from_rotvec([0.0, 0.0, 0.8]).as_quat()
    angle = 0.1 + 0.5 * (6.0 - 2.0 * np.pi)
    for sign in (1.0, -1.0):
        high[0, 4:8] *= sign
        found = blend(low, high, np.array([[0.5]]))
        np.testing.assert_allclose(found, [[0.5, 0.5, 1.0, 0.0, *middle, angle]], atol=1e-12)


@pytest.mark.parametrize("kind", list(JointType))
def test_every_joint_type_has_a_linear_and_an_angular_column_for_each_velocity(kind: JointType) -> None:
    joint = f'<joint name="j" type="{kind.value}"><parent link="a"/><child link="b"/><axis xyz="0 0.6 0.8"/>'
    limit = '<limit lower="-1" upper="1" effort="1" velocity="1"/>' if kind.value in ("revolute", "prismatic") else ""
    links = '<link name="a"/><link name="b"/>'
    model = robot_from_text(f'<robot name="r">{links}{joint}{limit}</joint></robot>', strict=False)
    linear, angular = SUBSPACE[kind](model.joint("j"))
    count = {"fixed": 0, "planar": 3, "floating": 6}.get(kind.value, 1)
    assert linear.shape == angular.shape == (3, count)
