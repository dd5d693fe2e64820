# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Forward kinematics: poses and twists of links, against products of single transforms and finite differences."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pytest

from robot_semantics import ForwardKinematics, JointSpace, RobotModel, UnknownNameError
from robot_semantics.base.errors import ArrayError
from robot_semantics.examples import example
from robot_semantics.kinematics.forward import Sweep
from robot_semantics.model.loading import load_robot, robot_from_text

FloatArray = npt.NDArray[np.float64]
Robots = Callable[..., RobotModel]
Oracle = Callable[[RobotModel, FloatArray], FloatArray]
After = Callable[[JointSpace, FloatArray, FloatArray, float], FloatArray]

ON_WHEELS = """<robot name="r"><link name="a"/><link name="b"/><joint name="j" type="continuous">
    <parent link="a"/><child link="b"/><origin xyz="1 0 0"/><axis xyz="0 0 1"/></joint></robot>"""
PLANAR = '<robot name="r"><virtual_joint name="v" type="planar" parent_frame="odom" child_link="a"/></robot>'
FLOATING = '<robot name="r"><virtual_joint name="v" type="floating" parent_frame="odom" child_link="a"/></robot>'


def chained(model: RobotModel, T_parent_child: FloatArray) -> FloatArray:
    """Return (n, 4, 4) the products along the tree, link by link."""
    poses = [np.eye(4)]
    for link in model.links[1:]:
        poses.append(poses[link.parent] @ T_parent_child[link.index])
    return np.array(poses)


def spatial(rate: FloatArray, pose: FloatArray) -> FloatArray:
    """Return (..., 6) the velocity in the moving frame's axes from a pose and its rate of change."""
    R = np.swapaxes(pose[..., :3, :3], -1, -2)
    turning = R @ rate[..., :3, :3]
    linear = (R @ rate[..., :3, 3, np.newaxis])[..., 0]
    return np.concatenate((linear, turning[..., [2, 0, 1], [1, 2, 0]]), axis=-1)


@pytest.mark.parametrize("links", [1, 2, 40])
def test_link_poses_are_the_products_of_the_joints_transforms(
    random_robot: Robots, oracle_local: Oracle, rng: np.random.Generator, shape: tuple[int, ...], links: int
) -> None:
    model = random_robot(links)
    forward = ForwardKinematics(model)
    q = forward.space.random(rng, shape)
    poses = forward.link_poses(q)
    assert poses.shape == (*shape, links, 4, 4)
    for index in np.ndindex(*shape):
        expected = chained(model, oracle_local(model, q[index]))
        np.testing.assert_allclose(poses[index], expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("kind", ["revolute", "continuous", "prismatic", "planar", "floating", "fixed"])
def test_a_chain_of_one_joint_type_is_right_alone_and_in_batches(
    random_robot: Robots, oracle_local: Oracle, rng: np.random.Generator, kind: str
) -> None:
    model = random_robot(12, (kind,))
    forward = ForwardKinematics(model)
    q = forward.space.random(rng, (100,))
    expected = np.array([chained(model, oracle_local(model, one)) for one in q])
    np.testing.assert_allclose(forward.link_poses(q), expected, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(forward.link_poses(q[3]), expected[3], rtol=1e-12, atol=1e-12)


def test_a_batch_of_thousands_is_what_each_one_gives(random_robot: Robots, rng: np.random.Generator) -> None:
    forward = ForwardKinematics(random_robot(15))
    q = forward.space.random(rng, (3, 1777))
    poses = forward.link_poses(q)
    for index in [(0, 0), (1, 5), (2, 1776), *(tuple(rng.integers([3, 1777])) for _ in range(20))]:
        np.testing.assert_allclose(poses[index], forward.link_poses(q[index]), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("count", [(), (300,)])
def test_mimic_joints_follow_and_the_virtual_joint_takes_no_part(count: tuple[int, ...]) -> None:
    text = """<robot name="r"><link name="a"/><link name="b"/><link name="c"/>
        <joint name="j" type="continuous"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/></joint>
        <joint name="k" type="continuous"><parent link="b"/><child link="c"/><axis xyz="0 0 1"/>
        <mimic joint="j" multiplier="-2" offset="0.5"/></joint></robot>"""
    forward = ForwardKinematics(robot_from_text(text, FLOATING))
    q = np.broadcast_to([1.0, 2.0, 3.0, 0.0, 0.0, 1.0, 0.0, 0.3, 99.0], (*count, 9))
    poses = forward.link_poses(q)
    np.testing.assert_array_equal(poses[..., 0, :, :], np.broadcast_to(np.eye(4), (*count, 4, 4)))
    angle = np.arctan2(poses[..., 1, 0], poses[..., 0, 0])
    np.testing.assert_allclose(angle, np.broadcast_to([0.0, 0.3, 0.2], (*count, 3)), atol=1e-15)
    root = forward.T_parent_root(q)
    np.testing.assert_allclose(root, np.broadcast_to(forward.T_parent_root(q[..., :9]), root.shape))
    np.testing.assert_array_equal(root[..., :3, 3], np.broadcast_to([1, 2, 3], (*count, 3)))
    np.testing.assert_allclose(root[..., 0, 0], -1.0)


@pytest.mark.parametrize("with_virtual_joint", [False, True])
@pytest.mark.parametrize("srdf", [None, FLOATING, PLANAR])
def test_link_twists_are_the_rates_of_link_poses(
    random_robot: Robots, after: After, rng: np.random.Generator, srdf: str | None, with_virtual_joint: bool
) -> None:
    model = random_robot(25)
    if srdf is not None:
        model = random_robot(25, srdf=srdf.replace('child_link="a"', 'child_link="l0"'))
    forward = ForwardKinematics(model)
    q, v, step = forward.space.random(rng), rng.normal(size=forward.space.velocity_size), 1e-6

    def poses(time: float) -> FloatArray:
        moved = after(forward.space, q, v, time)
        inside = forward.link_poses(moved)
        return forward.T_parent_root(moved) @ inside if with_virtual_joint else inside

    rate = (poses(step) - poses(-step)) / (2 * step)
    twists = forward.link_twists(q, v, with_virtual_joint=with_virtual_joint)
    np.testing.assert_allclose(twists, spatial(rate, poses(0.0)), atol=2e-7)


def test_link_twists_take_batches_that_broadcast(
    random_robot: Robots, rng: np.random.Generator, shape: tuple[int, ...]
) -> None:
    forward = ForwardKinematics(random_robot(12))
    q, v = forward.space.random(rng, shape), rng.normal(size=(*shape, forward.space.velocity_size))
    twists = forward.link_twists(q, v)
    assert twists.shape == (*shape, 12, 6)
    for index in np.ndindex(*shape):
        np.testing.assert_allclose(twists[index], forward.link_twists(q[index], v[index]), atol=1e-12)
    one = forward.space.neutral()
    assert forward.link_twists(one, v).shape == (*shape, 12, 6)


@pytest.mark.parametrize(
    ("srdf", "q", "v", "expected"),
    [
        # Turned by a quarter, moving along the parent's x: the root link's own -y.
        (PLANAR, [5.0, 6.0, np.pi / 2, 0.0], [2.0, 0.0, 0.7, 0.0], [2.0, 0.0, 0.0, 0.0, 0.0, 0.7]),
        (
            FLOATING,
            [5.0, 6.0, 7.0, 0.0, 0.0, np.sqrt(0.5), np.sqrt(0.5), 0.0],
            [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 0.0],
            [1.0, 2.0, 3.0, 4.0, 5.0, 6.0],
        ),
    ],
    ids=["planar", "floating"],
)
def test_the_root_links_twist_is_in_the_parents_axes_as_usdf_has_it(
    srdf: str, q: list[float], v: list[float], expected: list[float]
) -> None:
    forward = ForwardKinematics(robot_from_text(ON_WHEELS, srdf))
    np.testing.assert_allclose(forward.twist_parent_root(q, v), expected, atol=1e-15)
    x, y, z, wx, wy, wz = expected
    # In its own axes, a quarter turned, parent x is its -y and parent y its x.
    own = forward.link_twists(q, v, with_virtual_joint=True)[0]
    np.testing.assert_allclose(own, [y, -x, z, wy, -wx, wz], atol=1e-15)
    np.testing.assert_array_equal(forward.link_twists(q, v)[0], np.zeros(6))


def test_a_chosen_link_alone_has_the_pose_it_has_among_all(
    random_robot: Robots, rng: np.random.Generator, shape: tuple[int, ...]
) -> None:
    model = random_robot(30)
    names = [model.links[i].name for i in (17, 4, 29, 0, 4)]
    everything, some = ForwardKinematics(model), ForwardKinematics(model, names)
    q = everything.space.random(rng, shape)
    assert [link.name for link in some.links] == names
    np.testing.assert_allclose(
        some.link_poses(q), everything.link_poses(q)[..., [17, 4, 29, 0, 4], :, :], rtol=1e-12, atol=1e-12
    )
    with pytest.raises(UnknownNameError, match="unknown link 'l99'"):
        ForwardKinematics(model, ["l99"])


def test_results_are_read_only(random_robot: Robots, rng: np.random.Generator) -> None:
    forward = ForwardKinematics(random_robot(5))
    for shape in ((), (200,)):
        q, v = forward.space.random(rng, shape), np.zeros(forward.space.velocity_size)
        results = (forward.link_poses(q), forward.link_twists(q, v), forward.T_parent_root(q))
        for result in (*results, forward.twist_parent_root(q, v)):
            with pytest.raises(ValueError, match="read-only"):
                result[...] = 0.0


def test_positions_and_velocities_that_cannot_be_used_are_refused(random_robot: Robots) -> None:
    forward = ForwardKinematics(random_robot(4, ("revolute",)))
    for shape in ((), (200,)):
        with pytest.raises(ArrayError, match=r"q: expected shape \(\.\.\., 3\), got"):
            forward.link_poses(np.zeros((*shape, 4)))
        with pytest.raises(ArrayError, match="q: not finite: inf at index"):
            forward.link_poses(np.full((*shape, 3), np.inf))
        with pytest.raises(ArrayError, match=r"v: expected shape \(\.\.\., 3\), got"):
            forward.link_twists(np.zeros((*shape, 3)), np.zeros((*shape, 4)))
        with pytest.raises(ArrayError, match="v: not finite: nan at index"):
            forward.link_twists(np.zeros((*shape, 3)), np.full((*shape, 3), np.nan))


@pytest.mark.parametrize("count", [19, 20, 511, 512, 2503, 2504, 2505, 5009])
def test_batches_of_any_length_are_right_to_their_last(
    random_robot: Robots, rng: np.random.Generator, count: int
) -> None:
    forward = ForwardKinematics(random_robot(6))
    q = forward.space.random(rng, (count,))
    poses = forward.link_poses(q)
    for at in (0, count // 2, count - 1):
        np.testing.assert_allclose(poses[at], forward.link_poses(q[at]), rtol=1e-12, atol=1e-12)


def test_poses_of_chosen_links_do_not_depend_on_their_order() -> None:
    model = load_robot(example("rover_arm.urdf"))
    space = JointSpace.of(model)
    q = space.random(np.random.default_rng(0), (7,))
    expected = ForwardKinematics(model).link_poses(q)
    rng = np.random.default_rng(1)
    for count in (1, 2, 3, 5, len(model.links)):
        for _ in range(10):
            links = rng.permutation(len(model.links))[:count].tolist()
            for chosen in (links, [*links, 0], [0, *links], [*links, *links]):
                np.testing.assert_allclose(Sweep(model, chosen, space).run(q), expected[:, chosen], atol=1e-12)
