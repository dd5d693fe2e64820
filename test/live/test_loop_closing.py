# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Closed loops at run time: TF, held positions, measured passive joints, velocities."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.loops import (
    FOUR_BAR,
    FloatArray,
    constraint,
    four_bar,
    four_bar_positions,
    four_bar_text,
    joint,
    scotch_yoke,
    srdf,
    universal_shafts,
    urdf,
)

from robot_semantics import RobotModel
from robot_semantics.cdr.joint_states import JointStateData
from robot_semantics.kinematics import loop_following as loop_tracker
from robot_semantics.kinematics.local import LocalTransforms
from robot_semantics.kinematics.loops import ClosedLoops, LoopTracker
from robot_semantics.live.frames import TransformRows
from robot_semantics.live.health import Health
from robot_semantics.live.joint_state import Refusal
from robot_semantics.live.robot import RunningRobot
from robot_semantics.live.settings import RobotSettings
from robot_semantics.model.loading import robot_from_text


def running(model: RobotModel, **settings: Any) -> RunningRobot:
    return RunningRobot("r", model, RobotSettings(publish_interval_ns=0, raw=False, **settings))


def feed(robot: RunningRobot, stamp_ns: int, velocity: float | None = None, **positions: float) -> dict[str, Any]:
    """Give a robot a message; return the sent transforms by child link."""
    names = tuple(positions)
    rates = np.array([] if velocity is None else [velocity] * len(names))
    data = JointStateData(stamp_ns, names, np.array(list(positions.values())), rates)
    sent = robot.joint_state(data, lambda: 1)
    assert not isinstance(sent, Refusal)
    found: dict[str, Any] = {}
    for message in sent:
        assert isinstance(message, TransformRows)
        found |= {child: row for (_, child), row in zip(message.frames, message.values, strict=True)}
    return found


def turned(angles: FloatArray) -> FloatArray:
    return np.remainder(angles + np.pi, 2.0 * np.pi) - np.pi


def test_every_message_moves_the_whole_linkage() -> None:
    robot = running(four_bar())
    local = LocalTransforms(robot.model)
    theta = np.arange(1, 400, dtype=np.float64) * 0.03
    start = four_bar_positions(FOUR_BAR, np.array([0.0]), 1.0)[0]
    feed(robot, 1, crank=0.0, coupler=start[1], rocker=start[2])
    for stamp, (angle, expected) in enumerate(zip(theta, four_bar_positions(FOUR_BAR, theta, 1.0), strict=True), 2):
        sent = feed(robot, stamp, crank=angle)
        assert sent.keys() == {"crank_link", "coupler_link", "rocker_link"}
        rows = {joint.child_link: row for joint, row in zip(local.joints, local.transforms(expected), strict=True)}
        for link, row in sent.items():
            assert min(np.abs(row - rows[link]).max(), np.abs(row[3:] + rows[link][3:]).max()) < 1e-11


def test_a_measured_passive_joint_is_only_a_start_value() -> None:
    robot = running(four_bar())
    for side in (1.0, -1.0):
        fresh = running(four_bar())
        expected = four_bar_positions(FOUR_BAR, np.array([0.7]), side)[0]
        feed(fresh, 1, crank=0.7, coupler=expected[1] + 0.02, rocker=expected[2] - 0.01)
        assert np.abs(turned(fresh.values.positions - expected)).max() < 1e-11
        assert fresh.loops is not None
        assert fresh.loops.take_differences() == pytest.approx({"coupler": 0.02, "rocker": 0.01})
    health = Health(lambda _: None, lambda _: None)
    expected = four_bar_positions(FOUR_BAR, np.array([0.7]), 1.0)[0]
    feed(robot, 1, crank=0.7, coupler=expected[1], rocker=expected[2] + 0.005)
    health.update(robot, 0)
    assert health.loops["passive joint off by: rocker"] == "0.005"


def test_out_of_reach_the_last_positions_are_held_and_the_residual_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    lengths = (0.5, 0.3, 0.25, 0.2)
    robot = running(four_bar(lengths))
    said: list[str] = []
    health = Health(said.append, said.append)
    start = four_bar_positions(lengths, np.array([0.0]), 1.0)[0]
    feed(robot, 1, crank=0.0, coupler=start[1], rocker=start[2])
    before = start
    for stamp, theta in enumerate(np.arange(1, 160) * 0.01, 2):
        feed(robot, stamp, crank=float(theta))
        health.update(robot, 0)
        now = robot.values.positions
        assert np.isfinite(now).all()
        assert np.abs(now - before).max() < 0.4
        before = np.array(now)
    assert robot.loops is not None
    assert robot.loops.is_open
    gap = np.hypot(0.3 * np.cos(1.59) - 0.5, 0.3 * np.sin(1.59)) - 0.45
    assert robot.loops.gap.position == pytest.approx(gap, abs=5e-4)
    assert said[0].startswith("loops stay open by 0.0")
    with monkeypatch.context() as patch:
        # At rest there, nothing is computed again.
        patch.delattr(loop_tracker, "follow_loops")
        feed(robot, 999, crank=1.59)
    assert robot.loops.is_open
    assert robot.loops.gap.position == pytest.approx(gap, abs=5e-4)
    assert np.array_equal(robot.values.positions, before)
    # A passive joint alone does not bring the crank back into reach.
    feed(robot, 1000, rocker=before[2])
    assert robot.loops.is_open
    assert robot.loops.gap.position == pytest.approx(gap, abs=5e-4)
    feed(robot, 1001, crank=0.5)
    health.update(robot, 0)
    assert said[1:] == ["all loops close again"]
    assert np.abs(turned(robot.values.positions - four_bar_positions(lengths, np.array([0.5]), 1.0)[0])).max() < 1e-9


def test_velocities_of_passive_joints_follow() -> None:
    robot = running(four_bar())
    start = four_bar_positions(FOUR_BAR, np.array([0.7]), 1.0)[0]
    feed(robot, 1, crank=0.7, coupler=start[1], rocker=start[2])
    feed(robot, 2, crank=0.7, velocity=2.0)
    h = 1e-6
    expected = (
        four_bar_positions(FOUR_BAR, np.array([0.7 + h]), 1.0) - four_bar_positions(FOUR_BAR, np.array([0.7 - h]), 1.0)
    )[0] / h
    assert np.abs(robot.values.velocities - expected).max() < 1e-7


def test_without_fitting_passive_joints_the_robot_runs_open_with_a_notice() -> None:
    robot = running(robot_from_text(four_bar_text(), srdf("coupler")))
    (notice,) = robot.notices
    assert notice.startswith("loops stay open: loop 'pin': 2 of its 3 joint variables must be passive, not 1")
    assert feed(robot, 1, crank=0.7, coupler=0.1, rocker=0.2).keys() == {"crank_link", "coupler_link", "rocker_link"}


def six_bar() -> RobotModel:
    """Return two four-bar linkages in a row: the rocker of the first is the crank of the second."""
    more = (
        joint("coupler2", "continuous", "rocker_link", "coupler2_link", (0.15, 0, 0), (0, 0, 1))
        + joint("rocker2", "continuous", "base", "rocker2_link", (0.9, 0, 0), (0, 0, 1))
        + constraint("pin2", "revolute", ("coupler2_link", (0.5, 0, 0)), ("rocker2_link", (0.3, 0, 0)))
    )
    links = '<link name="coupler2_link"/><link name="rocker2_link"/>'
    text = four_bar_text().replace("</robot>", f"{links}{more}</robot>")
    return robot_from_text(text, srdf("coupler", "rocker", "coupler2", "rocker2"))


def test_a_tracker_agrees_with_the_general_solution_in_few_steps() -> None:
    loops = ClosedLoops.of(six_bar())
    assert loops is not None
    tracker = LoopTracker(loops)
    q = np.array(loops.home.q[0])
    crank = loops.space.index["crank"]
    theta = q[crank] + np.cumsum(0.02 + 0.01 * np.sin(np.arange(600) * 0.05))
    tracker.update(q)
    wanted = np.tile(q, (len(theta), 1))
    wanted[:, crank] = theta
    expected = loops.close_series(wanted, loops.home.q[0])
    assert expected.closed.all()
    for row, closed in zip(wanted, expected.q, strict=True):
        found = tracker.update(row)
        assert found.closed
        assert found.iterations <= 3
        assert max(found.position_error, found.rotation_error) < 1e-12
        assert np.abs(turned(found.q - closed)).max() < 1e-9


def test_a_tracker_follows_every_kind_of_constraint() -> None:
    tilt, radius = 0.5, 0.07
    theta = np.linspace(0.0, 4.0, 400)
    for robot, driven, wanted in (
        (universal_shafts(tilt), "input", {"output": np.arctan2(np.cos(tilt) * np.sin(theta), np.cos(theta))}),
        (scotch_yoke(radius), "crank", {"yoke": radius * np.cos(theta), "block": -theta}),
    ):
        loops = ClosedLoops.of(robot)
        assert loops is not None
        tracker = LoopTracker(loops)
        for k, angle in enumerate(theta):
            q = loops.home.q[0].copy() if tracker.q is None else tracker.q.copy()
            q[loops.space.index[driven]] = angle
            found = tracker.update(q)
            assert found.closed
            for name, values in wanted.items():
                assert turned(found.q[loops.space.index[name]] - values[k]) == pytest.approx(0.0, abs=1e-9)


def test_a_passive_joint_that_no_loop_fixes_keeps_its_newest_position() -> None:
    text = four_bar_text(kind="spherical").replace("</robot>", '<link name="rod"/></robot>')
    text = text.replace('<parent link="coupler_link"/><parent_origin', '<parent link="rod"/><parent_origin')
    spin = joint("spin", "continuous", "coupler_link", "rod", (0, 0, 0), (1, 0, 0))
    robot = running(robot_from_text(text.replace("</robot>", f"{spin}</robot>"), srdf("coupler", "rocker", "spin")))
    expected = four_bar_positions(FOUR_BAR, np.array([0.7]), 1.0)[0]
    at = [robot.space.index[name] for name in ("crank", "coupler", "rocker")]
    for stamp, spun in ((1, 0.0), (2, 0.3), (3, 0.3)):
        measured = {"spin": spun} if stamp == 2 else {}
        start = {"coupler": expected[1], "rocker": expected[2]}
        sent = feed(robot, stamp, crank=0.7, **start, **measured)
        assert "rod" in sent
        assert robot.values.positions[robot.space.index["spin"]] == pytest.approx(spun, abs=1e-15)
        assert np.abs(turned(robot.values.positions[at] - expected)).max() < 1e-11


def test_before_the_first_message_the_loops_are_not_said_to_be_open() -> None:
    loops = running(four_bar()).loops
    assert loops is not None
    assert (loops.is_open, loops.gap) == (False, (0.0, 0.0))
    assert loops.take_differences() == {}


def test_before_the_loops_have_closed_once_no_passive_joint_is_off() -> None:
    robot = running(four_bar((0.5, 0.3, 0.25, 0.2)))
    # The crank is out of reach, so there is no closed position to compare with.
    feed(robot, 1, crank=2.5, coupler=1.0, rocker=1.0)
    assert robot.loops is not None
    assert robot.loops.is_open
    assert robot.loops.take_differences() == {}


def test_a_measured_velocity_is_kept_until_the_loops_are_closed() -> None:
    robot = running(four_bar())
    feed(robot, 1, velocity=2.0, coupler=0.1)
    assert robot.loops is not None
    robot.loops.refresh_velocities()
    np.testing.assert_array_equal(robot.values.velocities, [np.nan, 2.0, np.nan])


def test_a_passive_joint_with_several_variables_is_not_compared() -> None:
    free = joint("coupler", "planar", "base", "coupler_link", (0, 0, 0), (0, 0, 1))
    pin = constraint("pin", "link", ("crank_link", (0.1, 0, 0)), ("coupler_link", (0, 0, 0)))
    crank = joint("crank", "continuous", "base", "crank_link", (0, 0, 0), (0, 0, 1))
    robot = running(
        robot_from_text(urdf(crank, free, pin, links=("base", "crank_link", "coupler_link")), srdf("coupler"))
    )
    names = ("coupler/x", "coupler/y", "coupler/theta")
    feed(robot, 1, crank=0.5, **dict(zip(names, (0.2, 0.1, 0.4), strict=True)))
    expected = [0.1 * np.cos(0.5), 0.1 * np.sin(0.5), 0.5]
    where = robot.space.joint_positions["coupler"]
    np.testing.assert_allclose(robot.values.positions[where], expected, atol=1e-11)
    assert robot.loops is not None
    assert robot.loops.take_differences() == {}


def test_after_a_restore_the_restored_positions_choose_the_branch() -> None:
    robot = running(four_bar())
    first, other = (four_bar_positions(FOUR_BAR, np.array([0.7]), side)[0] for side in (1.0, -1.0))
    feed(robot, 1, crank=0.7, coupler=first[1], rocker=first[2])
    assert np.abs(turned(robot.values.positions - first)).max() < 1e-9
    names = robot.moving.names
    robot.restore(other + np.array([0.0, 0.01, -0.01]), np.zeros(3), names, (), 2)
    assert np.abs(turned(robot.values.positions - other)).max() < 1e-9
    # The branch stays with the next messages.
    feed(robot, 3, crank=0.71)
    expected = four_bar_positions(FOUR_BAR, np.array([0.71]), -1.0)[0]
    assert np.abs(turned(robot.values.positions - expected)).max() < 1e-9
