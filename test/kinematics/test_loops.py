# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Closed loops: positions of mechanisms with a closed form, branches, singularities, limits and velocities."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from support.loops import (
    FOUR_BAR,
    FloatArray,
    circles_meet,
    constraint,
    four_bar,
    four_bar_positions,
    four_bar_text,
    joint,
    numbers,
    scotch_yoke,
    srdf,
    universal_shafts,
    urdf,
)

from robot_semantics import ForwardKinematics, RobotModel
from robot_semantics.base.diagnostic import Severity
from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.kinematics import loop_following
from robot_semantics.kinematics.joint_space import JointSpace
from robot_semantics.kinematics.loop_equations import (
    Linkage,
    LoopEquations,
    LoopSolution,
    _Cut,
    shape_keys,
)
from robot_semantics.kinematics.loop_following import _PreparedLinkage, continued
from robot_semantics.kinematics.loop_freedom import LoopError, check_loops
from robot_semantics.kinematics.loops import ClosedLoops
from robot_semantics.model.loading import robot_from_text

X, Y, Z, ZERO = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0), (0.0, 0.0, 0.0)
EXACT = 1e-11


def loops_of(robot: RobotModel) -> ClosedLoops:
    found = ClosedLoops.of(robot)
    assert found is not None
    return found


def turned(angles: FloatArray) -> FloatArray:
    """Return angles without whole turns."""
    return np.remainder(angles + np.pi, 2.0 * np.pi) - np.pi


def column(loops: ClosedLoops, q: FloatArray, name: str) -> FloatArray:
    return q[..., loops.space.index[name]]


def driven(loops: ClosedLoops, **values: FloatArray) -> FloatArray:
    return loops.space.pack(
        {name: np.asarray(value)[..., np.newaxis] for name, value in values.items()}, loops.home.q[0]
    )


def test_a_robot_without_constraints_has_no_loops() -> None:
    assert ClosedLoops.of(robot_from_text("<robot name='r'><link name='a'/></robot>")) is None


@pytest.mark.parametrize("side", [1.0, -1.0])
@pytest.mark.parametrize("kind", ["revolute", "spherical_joint"])
def test_a_four_bar_linkage_has_its_closed_form_on_both_branches(side: float, kind: str) -> None:
    loops = loops_of(four_bar(kind=kind))
    theta = np.linspace(0.0, 2.0 * np.pi, 101)
    expected = four_bar_positions(FOUR_BAR, theta, side)
    found = loops.close(driven(loops, crank=theta), expected[0])
    assert found.closed.all()
    assert found.position_error.max() < 1e-12
    assert np.abs(turned(found.q - expected)).max() < EXACT


def test_a_hundred_turns_stay_on_their_branch_and_need_few_steps() -> None:
    loops = loops_of(four_bar())
    theta = np.linspace(0.0, 200.0 * np.pi, 100 * 50 + 1)
    expected = four_bar_positions(FOUR_BAR, theta, 1.0)
    found = loops.close_series(driven(loops, crank=theta), expected[0])
    assert found.closed.all()
    assert np.abs(turned(found.q - expected)).max() < EXACT
    # At 100 Hz and 1 rad/s.
    step = np.array([0.01, 0.02, 0.03])
    here = expected[0]
    for at in step:
        one = loops.close(driven(loops, crank=at), here, other_branches=False)
        here = one.q
        assert one.iterations <= 3


@pytest.mark.parametrize(
    "lengths", [FOUR_BAR, pytest.param((0.4, 0.3, 0.3, 0.3), marks=pytest.mark.slow), (0.4, 0.1, 0.4, 0.1)]
)
def test_a_series_has_the_results_of_closing_row_after_row(lengths: tuple[float, ...]) -> None:
    loops = loops_of(four_bar(lengths))
    rng, rows = np.random.default_rng(4), np.arange(120)
    motions = (
        0.04 * rows,
        1.5 * np.sin(0.05 * rows),
        np.cumsum(rng.normal(0.0, 0.08, len(rows))),
        np.cumsum(rng.choice([0.0, 0.001, 0.02, 0.3, 1.5], len(rows))),
    )
    for motion in motions:
        q = driven(loops, crank=loops.home.q[0, loops.space.index["crank"]] + motion)
        series = loops.close_series(q)
        here = loops.home.q[0]
        for row, wanted in enumerate(q):
            found = loops.close(wanted, here, other_branches=False)
            here = found.q
            assert series.closed[row] == found.closed
            assert np.abs(series.q[row] - here).max() < 1e-9


def test_a_slider_crank_has_its_closed_form() -> None:
    radius, rod = 0.08, 0.2
    text = urdf(
        joint("crank", "continuous", "base", "a", ZERO, Z),
        joint("rod", "continuous", "a", "b", (radius, 0, 0), Z),
        joint("slider", "prismatic", "base", "c", ZERO, X),
        constraint("pin", "revolute_joint", ("b", (rod, 0, 0)), ("c", ZERO)),
        links=["base", "a", "b", "c"],
    )
    loops = loops_of(robot_from_text(text, srdf("rod", "slider")))
    theta = np.linspace(-7.0, 7.0, 201)
    found = loops.close_series(driven(loops, crank=theta))
    x = radius * np.cos(theta) + np.sqrt(rod**2 - (radius * np.sin(theta)) ** 2)
    assert np.abs(column(loops, found.q, "slider") - x).max() < EXACT
    omega = np.zeros_like(found.q)
    omega[:, loops.space.index["crank"]] = 2.0
    v, known = loops.velocities(found.q, omega)
    speed = (
        -2.0 * radius * np.sin(theta) * (1.0 + radius * np.cos(theta) / np.sqrt(rod**2 - (radius * np.sin(theta)) ** 2))
    )
    assert known.all()
    assert np.abs(column(loops, v, "slider") - speed).max() < EXACT
    # A single configuration has the velocity that it has among others.
    one, known = loops.velocities(found.q[50], omega[50])
    assert known.tolist() == [True, True, True]
    assert one[loops.space.index["slider"]] == pytest.approx(speed[50], abs=EXACT)


def test_a_five_bar_linkage_has_two_driven_joints() -> None:
    base, near, far = 0.3, 0.2, 0.35
    text = urdf(
        joint("left", "continuous", "base", "a", ZERO, Z),
        joint("left_rod", "continuous", "a", "b", (near, 0, 0), Z),
        joint("right", "continuous", "base", "c", (base, 0, 0), Z),
        joint("right_rod", "continuous", "c", "d", (near, 0, 0), Z),
        constraint("pin", "revolute", ("b", (far, 0, 0)), ("d", (far, 0, 0))),
        links=["base", "a", "b", "c", "d"],
    )
    loops = loops_of(robot_from_text(text, srdf("left_rod", "right_rod")))
    assert loops.freedoms[0].degrees == 2
    rng = np.random.default_rng(0)
    left, right = rng.uniform(1.2, 2.4, 60), rng.uniform(0.7, 1.9, 60)

    def pins(left: FloatArray, right: FloatArray, side: float) -> FloatArray:
        a = near * np.stack((np.cos(left), np.sin(left)), axis=-1)
        c = near * np.stack((np.cos(right), np.sin(right)), axis=-1) + (base, 0.0)
        return circles_meet(a, far, c, far, side)

    first = loops.close(driven(loops, left=np.array(1.8), right=np.array(1.3)))
    kinematics = ForwardKinematics(loops.space.model, ["b"])
    tip = np.array((far, 0.0, 0.0, 1.0))

    def end(q: FloatArray) -> FloatArray:
        return np.asarray((kinematics.link_poses(q)[..., 0, :, :] @ tip)[..., :2])

    at_first = pins(np.array([1.8]), np.array([1.3]), 1.0)[0]
    side = 1.0 if np.abs(end(first.q) - at_first).max() < 1e-6 else -1.0
    found = loops.close(driven(loops, left=left, right=right), first.q)
    assert np.abs(end(found.q) - pins(left, right, side)).max() < EXACT


def test_a_spatial_linkage_with_two_ball_joints_has_its_closed_form() -> None:
    # The rocker turns about x, the crank about z; the rod has a universal joint and a ball joint.
    radius, rocker, rod, offset = 0.05, 0.15, 0.3, np.array((0.2, 0.1, 0.15))
    text = urdf(
        joint("crank", "continuous", "base", "a", ZERO, Z),
        joint("swing", "continuous", "a", "b", (radius, 0, 0), Z),
        joint("tilt", "continuous", "b", "c", ZERO, Y),
        joint("rocker", "continuous", "base", "d", offset.tolist(), X),
        constraint("ball", "spherical", ("c", (rod, 0, 0)), ("d", (0, rocker, 0))),
        links=["base", "a", "b", "c", "d"],
    )
    loops = loops_of(robot_from_text(text, srdf("swing", "tilt", "rocker")))
    assert loops.freedoms[0].degrees == 1
    theta = np.linspace(0.0, 6.0 * np.pi, 301)
    found = loops.close_series(driven(loops, crank=theta))
    pin = np.stack((radius * np.cos(theta), radius * np.sin(theta), 0.0 * theta), axis=-1) - offset
    # |pin|^2 + rocker^2 - 2 rocker (y cos + z sin) = rod^2
    angle = np.arctan2(pin[:, 2], pin[:, 1])
    spread = np.arccos((np.sum(pin**2, axis=-1) + rocker**2 - rod**2) / (2 * rocker * np.hypot(pin[:, 1], pin[:, 2])))
    errors = [np.abs(turned(column(loops, found.q, "rocker") - (angle + side * spread))).max() for side in (1, -1)]
    assert found.closed.all()
    assert min(errors) < EXACT < max(errors)


def rod_between_balls() -> RobotModel:
    """Return a crank that moves a rocker by a rod between two balls, which can turn about its own axis."""
    text = urdf(
        joint("crank", "continuous", "base", "a", ZERO, Z),
        joint("swing", "continuous", "a", "b", (0.05, 0, 0), Z),
        joint("tilt", "continuous", "b", "c", ZERO, Y),
        joint("roll", "continuous", "c", "rod", ZERO, X),
        joint("rocker", "continuous", "base", "d", (0.2, 0.1, 0.15), X),
        constraint("ball", "spherical", ("rod", (0.3, 0, 0)), ("d", (0, 0.15, 0))),
        links=["base", "a", "b", "c", "rod", "d"],
    )
    return robot_from_text(text, srdf("swing", "tilt", "roll", "rocker"))


def test_a_rod_that_can_turn_about_its_own_axis_keeps_its_position() -> None:
    loops = loops_of(rod_between_balls())
    assert loops.held == ("roll",)
    assert loops.freedoms[0].degrees == 1
    assert loops.freedoms[0].driven == ("crank",)
    theta = np.linspace(0.0, 6.0 * np.pi, 301)
    q = driven(loops, crank=theta, roll=np.full(301, 0.4))
    found = loops.close_series(q)
    assert found.closed.all()
    assert (column(loops, found.q, "roll") == 0.4).all()
    poses = ForwardKinematics(loops.space.model, ["rod", "d"]).link_poses(found.q)
    ends = [poses[:, k] @ (*end, 1.0) for k, end in enumerate(((0.3, 0.0, 0.0), (0.0, 0.15, 0.0)))]
    assert np.abs(ends[0] - ends[1]).max() < 1e-12
    diagnostics = Diagnostics()
    check_loops(loops.space.model, diagnostics)
    assert [(item.code, item.severity) for item in diagnostics] == [
        ("loop-freedom", Severity.NOTE),
        ("loop-underdetermined", Severity.WARNING),
    ]
    assert ": 1 degree of freedom; " in next(iter(diagnostics)).message
    assert "'roll' can turn freely" in list(diagnostics)[1].message


def test_a_joint_that_moves_other_links_is_not_held() -> None:
    text = four_bar_text().replace(
        "</robot>",
        '<link name="more"/>' + joint("extra", "continuous", "coupler_link", "more", (0.35, 0, 0), Z) + "</robot>",
    )
    text = text.replace(
        '<parent link="coupler_link"/><parent_origin xyz="0.35', '<parent link="more"/><parent_origin xyz="0.1'
    )
    with pytest.raises(LoopError, match="it determines 2 of its 3 passive joints"):
        ClosedLoops.of(robot_from_text(text, srdf("coupler", "rocker", "extra")))


@pytest.mark.parametrize("axis", [X, Y, Z])
def test_a_link_that_slides_between_two_others_is_not_held(axis: tuple[float, float, float]) -> None:
    text = urdf(
        joint("lift", "prismatic", "base", "a", ZERO, axis),
        joint("up", "prismatic", "base", "b", ZERO, axis),
        joint("down", "prismatic", "b", "c", ZERO, axis),
        constraint("ball", "spherical", ("a", ZERO), ("c", ZERO)),
        links=["base", "a", "b", "c"],
    )
    with pytest.raises(LoopError, match="it determines 1 of its 2 passive joints"):
        ClosedLoops.of(robot_from_text(text, srdf("up", "down")))


def test_a_miss_is_compared_with_the_motion_and_not_with_the_angles() -> None:
    (linkage,) = loops_of(four_bar(FOUR_BAR)).linkages
    turns = 200.0 * np.pi
    before = np.full((3, 3), turns)
    predicted = before + 0.05
    missed = np.array([0.004, 0.006, 0.5])
    near = linkage.is_near(predicted + missed[:, np.newaxis], before, predicted, 0.1)
    # Of motions of 0.054, 0.056 and 0.55 rad.
    assert near.tolist() == [True, False, False]


@pytest.mark.parametrize(
    ("kind", "rows"), [("link", 6), ("prismatic", 5), ("revolute", 5), ("spherical", 3), ("universal", 4)]
)
def test_the_errors_of_one_configuration_are_those_of_many(kind: str, rows: int) -> None:
    names = ("tx", "ty", "tz", "rx", "ry", "rz")
    links = ("base", *(f"{name}_link" for name in names))
    hand = [
        joint(name, "prismatic" if k < 3 else "continuous", links[k], links[k + 1], X if k == 0 else ZERO, axis)
        for k, (name, axis) in enumerate(zip(names, (X, Y, Z) * 2, strict=True))
    ]
    child_axis = Y if kind == "universal" else None
    text = urdf(*hand, constraint("hold", kind, ("base", X), (links[-1], ZERO), X, child_axis), links=links)
    robot = robot_from_text(text, strict=False)
    equations = LoopEquations(robot, JointSpace.of(robot), robot.constraints)
    chain = _PreparedLinkage.of(equations)
    assert chain is not None
    for q in np.random.default_rng(0).normal(scale=1e-4, size=(5, 6)):
        expected = equations.scaled_errors(equations.state(q[np.newaxis]))[0]
        assert expected.shape == (rows,)
        assert np.abs(expected).min() > 1e-7
        # The one has sines of angles; the derivative is that at errors of 0.
        np.testing.assert_allclose(chain.errors(q), expected, atol=1e-10)
        slopes = (equations.scaled_errors(equations.state(q + 1e-6 * np.eye(6))) - expected) / 1e-6
        (J,) = equations.derivative(equations.state(q[np.newaxis]))
        np.testing.assert_allclose(J, slopes[equations.variables].T, atol=1e-3)


def test_a_step_of_more_joints_than_equations_is_the_shortest() -> None:
    loops = loops_of(four_bar(FOUR_BAR))
    linkage = loops.linkages[0].without_driven
    J = linkage.equations.derivative(linkage.equations.state(loops.home.q[:1]))
    assert J.shape == (1, 2, 3)
    step, _ = linkage._step(J, np.array([[0.3, -0.2]]), np.zeros(1))
    np.testing.assert_allclose(step[0], np.linalg.pinv(J[0]) @ (-0.3, 0.2), atol=1e-10)


def delta() -> RobotModel:
    parts, links = [], ["base", "px", "py", "platform"]
    parts.append(joint("x", "prismatic", "base", "px", ZERO, X))
    parts.append(joint("y", "prismatic", "px", "py", ZERO, Y))
    parts.append(joint("z", "prismatic", "py", "platform", (0, 0, -0.6), Z))
    for k in range(3):
        angle = 2.0 * np.pi * k / 3.0
        out = np.array((np.cos(angle), np.sin(angle), 0.0))
        side = (-out[1], out[0], 0.0)
        parts.append(joint(f"arm{k}", "revolute", "base", f"upper{k}", 0.2 * out, side))
        parts.append(joint(f"u{k}", "revolute", f"upper{k}", f"cross{k}", 0.25 * out, side))
        parts.append(joint(f"v{k}", "revolute", f"cross{k}", f"lower{k}", ZERO, out))
        parts.append(constraint(f"ball{k}", "spherical", (f"lower{k}", (0, 0, -0.6)), ("platform", 0.05 * out)))
        links += [f"upper{k}", f"cross{k}", f"lower{k}"]
    passive = [f"{name}{k}" for name in "uv" for k in range(3)]
    return robot_from_text(urdf(*parts, links=links), srdf(*passive, "x", "y", "z"))


def test_the_platform_of_a_delta_robot_is_where_three_spheres_meet() -> None:
    loops = loops_of(delta())
    assert loops.freedoms[0].degrees == 3
    assert len(loops.linkages) == 1
    rng = np.random.default_rng(1)
    arms = rng.uniform(-0.3, 0.9, (50, 3))
    found = loops.close(driven(loops, **{f"arm{k}": arms[:, k] for k in range(3)}))
    assert found.closed.all()
    centres = []
    for k in range(3):
        angle = 2.0 * np.pi * k / 3.0
        out = np.array((np.cos(angle), np.sin(angle), 0.0))
        # A positive angle about the arm's axis lowers the elbow.
        elbow = 0.2 * out + 0.25 * (np.cos(arms[:, [k]]) * out - np.sin(arms[:, [k]]) * (0, 0, 1))
        centres.append(elbow - 0.05 * out)
    a, b, c = centres
    # Two planes and one sphere; the platform hangs below the elbows.
    normals = np.stack((b - a, c - a), axis=1)
    right = 0.5 * np.stack((np.sum(b**2 - a**2, axis=-1), np.sum(c**2 - a**2, axis=-1)), axis=-1)
    direction = np.cross(normals[:, 0], normals[:, 1])
    direction /= np.linalg.norm(direction, axis=-1, keepdims=True)
    point = np.stack([np.linalg.lstsq(n, r, rcond=None)[0] for n, r in zip(normals, right, strict=True)])
    along, across = np.sum(direction * (a - point), axis=-1), np.linalg.norm(np.cross(direction, a - point), axis=-1)
    reach = np.sqrt(0.6**2 - across**2)
    both = [point + (along + sign * reach)[:, np.newaxis] * direction for sign in (1, -1)]
    expected = np.where((both[0][:, 2] < both[1][:, 2])[:, np.newaxis], both[0], both[1])
    platform = np.stack([column(loops, found.q, name) for name in "xyz"], axis=-1) - np.array((0.0, 0.0, 0.6))
    assert np.abs(platform - expected).max() < EXACT


def test_a_universal_joint_turns_two_shafts_at_an_angle() -> None:
    tilt = 0.5
    loops = loops_of(universal_shafts(tilt))
    theta = np.linspace(0.0, 20.0, 400)
    found = loops.close_series(driven(loops, input=theta))
    expected = np.arctan2(np.cos(tilt) * np.sin(theta), np.cos(theta))
    assert found.closed.all()
    assert np.abs(turned(column(loops, found.q, "output") - expected)).max() < EXACT


def test_a_prismatic_constraint_makes_a_scotch_yoke() -> None:
    radius = 0.07
    loops = loops_of(scotch_yoke(radius))
    theta = np.linspace(0.0, 20.0, 400)
    found = loops.close_series(driven(loops, crank=theta))
    assert found.closed.all()
    assert np.abs(column(loops, found.q, "yoke") - radius * np.cos(theta)).max() < EXACT
    assert np.abs(turned(column(loops, found.q, "block") + theta)).max() < EXACT


def test_a_hundred_random_planar_loops_have_their_closed_form() -> None:
    rng = np.random.default_rng(7)
    for number in range(100):
        lengths = rng.uniform(0.1, 0.5, 4)
        turn = Rotation.random(random_state=rng)
        text = four_bar_text(lengths, ("revolute", "spherical", "revolute_joint")[number % 3])
        placed = joint("mount", "fixed", "world", "base", (1, 2, 3), Z)
        placed = placed.replace('"/><parent', f'" rpy="{numbers(turn.as_euler("xyz"))}"/><parent', 1)
        text = text.replace("</robot>", f'<link name="world"/>{placed}</robot>')
        loops = loops_of(robot_from_text(text, srdf("coupler", "rocker")))
        start = next((angle for angle in rng.uniform(-3.0, 3.0, 400) if _closes(lengths, np.array(angle))), None)
        if start is None:
            continue
        theta = start + np.linspace(0.0, 0.2, 6)
        theta = theta[_closes(lengths, theta)]
        for side in (1.0, -1.0):
            expected = four_bar_positions(lengths, theta, side)
            found = loops.close(driven(loops, crank=theta), expected[0], other_branches=False)
            assert found.closed.all(), (number, lengths, theta)
            assert np.abs(turned(found.q - expected)).max() < 1e-9, (number, lengths)


def _closes(lengths: FloatArray, theta: FloatArray) -> FloatArray:
    """Return where a four-bar linkage closes, with some distance from its ends."""
    ground, crank, coupler, rocker = lengths
    distance = np.hypot(crank * np.cos(theta) - ground, crank * np.sin(theta))
    return (distance < 0.97 * (coupler + rocker)) & (distance > abs(coupler - rocker) + 0.01)  # type: ignore[no-any-return]


def test_several_loops_share_links_and_a_mimic_drives_one() -> None:
    # A second four-bar linkage is driven by a follower of the crank and shares the ground.
    ground, crank, coupler, rocker = FOUR_BAR
    mimic = '<mimic joint="crank" multiplier="-2" offset="0.3"/>'
    second = (
        joint("crank2", "continuous", "rocker_link", "crank2_link", (0, 0.5, 0), Z, mimic)
        + joint("coupler2", "continuous", "crank2_link", "coupler2_link", (crank, 0, 0), Z)
        + joint("rocker2", "continuous", "rocker_link", "rocker2_link", (ground, 0.5, 0), Z)
        + constraint("pin2", "spherical", ("coupler2_link", (coupler, 0, 0)), ("rocker2_link", (rocker, 0, 0)))
    )
    links = "".join(f'<link name="{name}2_link"/>' for name in ("crank", "coupler", "rocker"))
    text = four_bar_text().replace("</robot>", f"{links}{second}</robot>")
    loops = loops_of(robot_from_text(text, srdf("coupler", "rocker", "coupler2", "rocker2")))
    assert [freedom.degrees for freedom in loops.freedoms] == [1]
    theta = np.linspace(0.0, 10.0, 300)
    found = loops.close_series(driven(loops, crank=theta))
    assert found.closed.all()
    rocker2 = column(loops, found.q, "rocker2")
    expected = [four_bar_positions(FOUR_BAR, 0.3 - 2 * theta, side)[:, 2] for side in (1.0, -1.0)]
    assert min(np.abs(turned(rocker2 - angle)).max() for angle in expected) < EXACT
    v = np.zeros_like(found.q)
    v[:, loops.space.index["crank"]] = 1.0
    velocities, known = loops.velocities(found.q, v)
    numeric = np.gradient(found.q, theta, axis=0)[1:-1]
    assert known.all()
    assert np.abs(velocities[1:-1] - numeric).max() < 0.05


def test_out_of_reach_the_last_closed_configuration_is_held() -> None:
    lengths = (0.5, 0.3, 0.25, 0.2)  # the crank cannot turn around
    loops = loops_of(four_bar(lengths))
    theta = np.concatenate((np.linspace(0.0, 2.0, 60), np.linspace(2.0, 0.0, 60)))
    start = four_bar_positions(lengths, np.array([0.0]), 1.0)[0]
    found = loops.close_series(driven(loops, crank=theta), start)
    distance = np.hypot(lengths[1] * np.cos(theta) - lengths[0], lengths[1] * np.sin(theta))
    reached = distance < lengths[2] + lengths[3]
    near = np.abs(distance - lengths[2] - lengths[3]) < 1e-3
    assert np.array_equal(found.closed[~near], reached[~near])
    assert np.isfinite(found.q).all()
    expected = four_bar_positions(lengths, theta[found.closed], 1.0)
    assert np.abs(turned(found.q[found.closed] - expected)).max() < 1e-6
    open_rows = np.flatnonzero(~found.closed)
    assert np.abs(np.diff(found.q[open_rows], axis=0)).max() == 0.0
    gap = (distance - lengths[2] - lengths[3])[open_rows]
    assert np.abs(found.position_error[open_rows] - gap).max() < 5e-4


def test_a_linkage_leaves_its_stretched_position_on_one_of_two_branches() -> None:
    lengths = ground, crank, coupler, rocker = (0.5, 0.3, 0.25, 0.2)
    # Coupler and rocker are one line, the third side of a triangle: there the passive joints are infinitely fast.
    stretched = np.arccos((ground**2 + crank**2 - (coupler + rocker) ** 2) / (2.0 * ground * crank))
    start = four_bar_positions(lengths, np.array([stretched - 1e-10]), -1.0)[0]
    loops, theta = loops_of(four_bar(lengths)), stretched - 0.01 * np.arange(1, 6)
    found = loops.close_series(driven(loops, crank=theta), start)
    assert found.closed.all()
    missed = [np.abs(turned(found.q - four_bar_positions(lengths, theta, side))).max() for side in (1.0, -1.0)]
    assert min(missed) < 1e-6


def test_joints_outside_of_an_open_loop_and_other_loops_move_on() -> None:
    first, second = (four_bar_text((0.5, 0.3, 0.25, 0.2)).replace('name="', f'name="{n}') for n in "ab")
    parts = [re.sub(r'link="', f'link="{name}', text) for name, text in (("a", first), ("b", second))]
    bodies = "".join(re.sub(r"</?robot[^>]*>", "", part) for part in parts)
    bodies = bodies.replace("<link name='", "<link name='a", 4).replace("<link name='", "<link name='b")
    bodies = bodies.replace("<link name='ba", "<link name='a")
    joined = joint("apart", "fixed", "abase", "bbase", (0, 1, 0), X) + joint("lamp", "revolute", "abase", "l", ZERO, X)
    text = f"<robot name='two'>{bodies}<link name='l'/>{joined}</robot>"
    loops = loops_of(robot_from_text(text, srdf("acoupler", "arocker", "bcoupler", "brocker")))
    q = driven(
        loops, acrank=np.linspace(0.0, 2.0, 60), bcrank=np.linspace(0.0, 0.5, 60), lamp=np.linspace(0.0, 1.0, 60)
    )
    for found in (loops.close_series(q), loops.close(q[-1:], loops.home.q[0], other_branches=False)):
        assert not found.closed[-1]
        assert column(loops, found.q, "bcrank")[-1] == 0.5
        assert column(loops, found.q, "lamp")[-1] == 1.0
        assert column(loops, found.q, "acrank")[-1] < 1.9


def test_a_parallelogram_stays_one_through_its_flat_positions() -> None:
    loops = loops_of(four_bar((0.3, 0.1, 0.3, 0.1)))
    theta = np.linspace(0.5, 0.5 + 20.0 * np.pi, 2001)
    found = loops.close_series(driven(loops, crank=theta), np.array((0.5, -0.5, 0.5)))
    assert found.closed.all()
    assert np.abs(turned(column(loops, found.q, "rocker") - theta)).max() < 1e-6
    assert np.abs(np.diff(found.q, axis=0)).max() < 0.05


def test_at_a_singularity_velocities_are_unknown_and_not_nan() -> None:
    loops = loops_of(four_bar((0.3, 0.1, 0.3, 0.1)))
    v, known = loops.velocities(np.zeros(3), np.array((1.0, 0.0, 0.0)))
    assert np.isfinite(v).all()
    assert known.tolist() == [True, False, False]


@pytest.mark.parametrize("side", [1.0, -1.0])
def test_another_branch_is_used_if_this_one_leaves_the_limits(side: float) -> None:
    wanted = four_bar_positions(FOUR_BAR, np.array([0.7]), side)[0]
    limits = 'lower="0" upper="3"' if wanted[2] > 0 else 'lower="-3" upper="0"'
    text = four_bar_text(moving="revolute").replace('lower="-3" upper="3"', limits)
    text = text.replace(limits, 'lower="-6" upper="6"', 1)
    loops = loops_of(robot_from_text(text, srdf("coupler", "rocker")))
    found = loops.close(driven(loops, crank=np.array(0.7)), four_bar_positions(FOUR_BAR, np.array([0.0]), -side)[0])
    assert found.closed
    assert loops.within_limits(found.q)
    assert np.abs(turned(found.q - wanted)).max() < EXACT


@pytest.mark.parametrize("side", [1.0, -1.0])
def test_stated_positions_choose_the_branch_and_the_driven_joint_stays(side: float) -> None:
    loops = loops_of(four_bar())
    expected = four_bar_positions(FOUR_BAR, np.linspace(0.0, 2.0 * np.pi, 101), side)
    stated = expected + np.array([0.0, 0.0, 0.05])
    stated[:, 1] = np.linspace(-3.0, 3.0, 101)
    found = loops.near(stated, ("crank", "rocker"))
    assert found.closed.all()
    assert np.abs(turned(found.q - expected)).max() < EXACT
    assert (column(loops, found.q, "crank") == expected[:, 0]).all()


THREE = "'crank', 'coupler', 'rocker'"


@pytest.mark.parametrize(
    ("passive", "said"),
    [
        (
            (),
            "2 of its 3 joint variables must be passive, not 0; add <passive_joint> for 2 of",
        ),
        (
            ("rocker",),
            "2 of its 3 joint variables must be passive, not 1; add <passive_joint> for 1 of 'crank', 'coupler'",
        ),
        (
            ("crank", "coupler", "rocker"),
            f"it determines 2 of its 3 passive joints; make 1 of {THREE} not passive",
        ),
    ],
)
def test_the_wrong_number_of_passive_joints_is_an_error(passive: tuple[str, ...], said: str) -> None:
    with pytest.raises(LoopError) as caught:
        ClosedLoops.of(robot_from_text(four_bar_text(), srdf(*passive)))
    assert said in str(caught.value)


def test_a_loop_that_cannot_close_is_an_error() -> None:
    with pytest.raises(LoopError, match=r"it cannot close; it stays open by at least 1.25 m or rad"):
        ClosedLoops.of(four_bar((2.0, 0.1, 0.35, 0.3)))


def test_rounded_angles_in_a_description_do_not_open_a_loop() -> None:
    text = four_bar_text().replace('<origin xyz="0.4 0.0 0.0"/>', '<origin xyz="0.4 0 0" rpy="1.5708 0 0"/>', 1)
    text = text.replace('child_origin xyz="0.3 0.0 0.0"', 'child_origin xyz="0.3 0 0" rpy="-1.5707963 0 0"')
    text = text.replace(
        'child link="rocker_link"/><axis xyz="0.0 0.0 1.0"/>', 'child link="rocker_link"/><axis xyz="0 1 0"/>'
    )
    loops = loops_of(robot_from_text(text, srdf("coupler", "rocker")))
    found = loops.close(driven(loops, crank=np.linspace(0, 6, 30)))
    assert found.closed.all()
    assert found.position_error.max() < 1e-5


def test_whole_turns_are_removed_only_outside_the_limits() -> None:
    # The range is wider than a turn and its middle is not zero.
    text = four_bar_text(moving="revolute").replace('lower="-3" upper="3"', 'lower="2" upper="12"')
    (linkage,) = loops_of(robot_from_text(text, srdf("coupler", "rocker"))).linkages
    near = np.zeros((1, 3))
    for rocker, wanted in ((3.0, 3.0), (11.0, 11.0), (1.0, 1.0 + 2.0 * np.pi), (20.0, 20.0 - 4.0 * np.pi)):
        q = np.array([[0.0, 5.0, rocker]])
        place = linkage.places[-1]
        assert linkage.in_usual_turn(q, near)[0, place] == pytest.approx(wanted)


def test_a_passive_floating_joint_follows_in_all_six_directions() -> None:
    axis = np.array((2.0, -1.0, 2.0)) / 3.0
    text = urdf(
        joint("crank", "continuous", "base", "a", (0.1, 0.2, 0.3), axis),
        joint("free", "floating", "base", "b", ZERO, X),
        *(
            constraint(f"ball{k}", "spherical", ("a", np.array((0.3, -0.2, 0.5)) + point), ("b", point))
            for k, point in enumerate(0.2 * np.eye(3))
        ),
        links=["base", "a", "b"],
    )
    loops = loops_of(robot_from_text(text, srdf("free")))
    found = loops.close_series(driven(loops, crank=np.linspace(0.0, 2.0 * np.pi, 41)))
    assert found.closed.all()
    a, b = np.moveaxis(ForwardKinematics(loops.space.model, ["a", "b"]).link_poses(found.q), -3, 0)
    assert np.abs(a[:, :3, :3] - b[:, :3, :3]).max() < EXACT
    assert np.abs(a @ (0.3, -0.2, 0.5, 1.0) - b[:, :, 3]).max() < EXACT


def test_idle_turns_of_a_floating_joint_are_not_held() -> None:
    text = urdf(
        joint("crank", "continuous", "base", "a", ZERO, Z),
        joint("free", "floating", "base", "b", ZERO, X),
        constraint("ball", "spherical", ("a", (0.3, 0.0, 0.0)), ("b", ZERO)),
        links=["base", "a", "b"],
    )
    with pytest.raises(LoopError):
        ClosedLoops.of(robot_from_text(text, srdf("free")))


def test_the_key_of_a_cut_does_not_depend_on_the_order_of_its_ends_nor_on_the_sign_of_zero() -> None:
    for text in (four_bar_text(), four_bar_text(kind="spherical"), four_bar_text(kind="prismatic")):
        model = robot_from_text(text, srdf("coupler", "rocker"), strict=False)
        (constraint,) = model.constraints
        above, _ = shape_keys(model)
        turned = replace(
            constraint,
            parent_link=constraint.child_link,
            child_link=constraint.parent_link,
            T_parent_frame=constraint.T_child_frame,
            T_child_frame=constraint.T_parent_frame,
        )
        minus = np.where(constraint.T_parent_frame == 0.0, -0.0, constraint.T_parent_frame)
        cuts = [_Cut.of(model, one, above) for one in (constraint, turned, replace(constraint, T_parent_frame=minus))]
        keys = {
            (above[link], (frame + 0.0).tobytes()) for link, frame in zip(cuts[0].ends, cuts[0].frames, strict=True)
        }
        assert len(keys) == 2
        assert [cut.key for cut in cuts] == [tuple(sorted(keys))] * 3
        assert [cut.is_turned for cut in cuts].count(True) in (1, 2)


@pytest.mark.parametrize(("motion", "count"), [(0.3, 1), (0.7, 2), (2.0, 4), (-2.2, 5)])
def test_a_loop_is_followed_in_strides_that_are_not_longer_than_asked_for(
    motion: float, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    loops = ClosedLoops.of(robot_from_text(four_bar_text(), srdf("coupler", "rocker")))
    assert loops is not None
    (linkage,), home = loops.linkages, loops.home.q
    newton, starts = Linkage.newton, []

    def noted(self: Linkage, q: np.ndarray, *arguments: Any) -> LoopSolution:
        starts.append(q)
        return newton(self, q, *arguments)

    monkeypatch.setattr(Linkage, "newton", noted)
    crank = loops.space.index["crank"]
    q = home.copy()
    q[:, crank] += motion
    result = continued(linkage, home, q, 0.5)
    assert result.closed.all()
    angles = [float(start[0, crank]) for start in starts]
    np.testing.assert_allclose(angles, home[0, crank] + motion * np.arange(1, count + 1) / count)


def test_the_rows_between_anchors_are_closed_together_whatever_values_their_passive_joints_have(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    loops = ClosedLoops.of(robot_from_text(four_bar_text(), srdf("coupler", "rocker")))
    assert loops is not None
    q = np.repeat(loops.home.q, 2_000, axis=0)
    q[:, loops.space.index["crank"]] += np.linspace(0.0, 20.0, len(q))
    expected = loops.close_series(q)
    rng = np.random.default_rng(0)
    for name in ("coupler", "rocker"):
        q[:, loops.space.index[name]] = rng.uniform(-3.0, 3.0, size=len(q))
    monkeypatch.setattr(loop_following._OrderedRows, "_one_by_one", lambda *_: pytest.fail("row after row"))
    found = loops.close_series(q)
    assert found.closed.all()
    np.testing.assert_allclose(found.q, expected.q, atol=1e-9)


def test_where_the_passive_joints_do_not_move_the_equations_a_loop_is_singular(monkeypatch: pytest.MonkeyPatch) -> None:
    loops = ClosedLoops.of(robot_from_text(four_bar_text(), srdf("coupler", "rocker")))
    assert loops is not None
    (linkage,), home = loops.linkages, loops.home.q
    assert linkage.is_regular(home).tolist() == [True]
    derivative = type(linkage.equations).derivative
    monkeypatch.setattr(type(linkage.equations), "derivative", lambda *values: 0.0 * derivative(*values))
    assert linkage.is_regular(home).tolist() == [False]
