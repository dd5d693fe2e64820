"""Distances between configurations."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from robot_semantics.base.errors import ArrayError, UnknownNameError
from robot_semantics.kinematics.distance import JointDistance
from robot_semantics.kinematics.joint_space import JointSpace
from robot_semantics.model.loading import robot_from_text
from robot_semantics.model.robot_model import RobotModel

URDF = """<robot name="r">
  <link name="a"/><link name="b"/><link name="c"/><link name="d"/><link name="e"/><link name="f"/>
  <joint name="hinge" type="revolute"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/>
    <limit lower="-9" upper="9" effort="1" velocity="1"/></joint>
  <joint name="wheel" type="continuous"><parent link="b"/><child link="c"/><axis xyz="0 0 1"/></joint>
  <joint name="base" type="planar"><parent link="c"/><child link="d"/><axis xyz="0 0 1"/></joint>
  <joint name="free" type="floating"><parent link="d"/><child link="e"/></joint>
  <joint name="welded" type="fixed"><parent link="e"/><child link="f"/></joint></robot>"""


@pytest.fixture
def space() -> JointSpace:
    return JointSpace.of(robot_from_text(URDF))


@pytest.mark.parametrize(
    ("joint", "a", "b", "expected"),
    [
        ("hinge", [0.5], [0.25], 0.25),
        ("hinge", [0.0], [2 * np.pi], 2 * np.pi),
        ("wheel", [0.0], [2 * np.pi], 0.0),
        ("wheel", [np.pi - 0.1], [-np.pi + 0.1], 0.2),
        ("wheel", [100 * np.pi + 0.5], [0.0], 0.5),
        ("wheel", [0.0], [np.pi], np.pi),
        ("base", [0.0, 0.0, 3.0], [3.0, 4.0, -3.0], 5.0),
        ("base", [0.0, 0.0, 3.0], [0.01, 0.0, -3.0], 2 * np.pi - 6.0),
        ("free", [1, 2, 3, 0, 0, 0, 1], [1, 2, 3, 0, 0, 0, -1], 0.0),
        ("free", [1, 2, 3, 0, 0, 0, 2], [1, 2, 3, 0, 0, 1, 0], np.pi),
        ("free", [0, 0, 0, 0, 0, 0, 1], [9, 0, 0, 0, 0, 1, 0], 9.0),
        ("welded", [], [], 0.0),
    ],
)
def test_a_joints_distance_is(space: JointSpace, joint: str, a: list[float], b: list[float], expected: float) -> None:
    distance = JointDistance(space, [joint])
    q0 = space.pack({joint: a if len(a) > 1 else a[0]}) if a else space.neutral()
    q1 = space.pack({joint: b if len(b) > 1 else b[0]}) if b else space.neutral()
    assert distance(q0, q1) == pytest.approx(expected, abs=1e-13)
    assert distance(q1, q0) == pytest.approx(expected, abs=1e-13)
    others = JointDistance(space, {"hinge", "wheel", "base", "free", "welded"} - {joint})
    assert others(q0, q1) == 0.0


def test_distances_are_a_metric_over_batches_that_broadcast(
    random_robot: Callable[..., RobotModel], rng: np.random.Generator
) -> None:
    space = JointSpace.of(random_robot(20))
    distance = JointDistance(space)
    a, b, c = space.random(rng, (5, 1)), space.random(rng, (7,)), space.random(rng, (5, 7))
    by_joint = distance.by_joint(a, b)
    assert by_joint.shape == (5, 7, len(space.joints))
    assert distance(a, b).shape == (5, 7)
    np.testing.assert_allclose(distance.by_joint(a, a), 0.0, atol=1e-15)
    np.testing.assert_allclose(by_joint, distance.by_joint(b, a), atol=1e-15)
    assert (distance.by_joint(a, b) <= distance.by_joint(a, c) + distance.by_joint(c, b) + 1e-12).all()


def test_no_joints_are_no_distance_apart(space: JointSpace) -> None:
    assert JointDistance(space, ())(space.neutral(), space.neutral()) == 0.0


def test_unknown_joints_and_bad_configurations_are_refused(space: JointSpace) -> None:
    with pytest.raises(UnknownNameError, match="unknown joint 'weel'; did you mean 'wheel'"):
        JointDistance(space, ["weel"])
    with pytest.raises(ArrayError, match="q: not finite: nan"):
        JointDistance(space)(space.neutral(), np.full(space.size, np.nan))
