# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Joint states from partial messages of several publishers, against a plain loop over single messages."""

from __future__ import annotations

from bisect import bisect_right
from typing import Any

import numpy as np
import pytest

from robot_semantics import read_world


def _oracle(kept: dict[int, float], stamps: list[int], now: int, mode: str) -> float:
    """Return a joint's value of its samples, by their sorted stamps."""
    at = bisect_right(stamps, now) - 1
    if mode == "nearest":
        return kept[min(stamps, key=lambda stamp: (abs(stamp - now), stamp))] if stamps else float("nan")
    if at < 0:
        return float("nan")
    if mode == "previous" or at + 1 == len(stamps) or stamps[at] == now:
        return kept[stamps[at]]
    low, high = stamps[at], stamps[at + 1]
    return kept[low] + (now - low) / (high - low) * (kept[high] - kept[low])


@pytest.mark.parametrize("mode", ["linear", "previous", "nearest"])
@pytest.mark.parametrize("seed", range(2))
def test_partial_messages_merge_joint_by_joint(tools: Any, mode: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    names = [f"joint_{i}" for i in range(7)]
    tape = tools.Tape()
    position: dict[str, dict[int, float]] = {name: {} for name in names}
    velocity: dict[str, dict[int, float]] = {name: {} for name in names}
    now = tools.START
    for i in range(400):
        now += int(rng.integers(1_000_000, 30_000_000))
        # Late and repeated stamps too.
        stamp = now - int(rng.choice([0, 0, 0, 40_000_000]))
        stamp -= stamp % 5_000_000
        some = list(rng.permutation(names)[: rng.integers(1, 6)])
        values = rng.normal(size=len(some))
        speeds = rng.normal(size=len(some)) if i % 3 else ()
        tape.joints(stamp, some, values, speeds, log=now)
        # If stamps are equal the last message is used, unless it is late for the joint: as in the running node.
        used = {name for name in some if stamp not in position[name] or stamp == max(position[name])}
        for name, value in zip(some, values, strict=True):
            position[name][stamp] = float(value) if name in used else position[name][stamp]
        # A message without velocities says that they are not known.
        for name, value in zip(some, speeds if len(speeds) else [float("nan")] * len(some), strict=True):
            velocity[name][stamp] = float(value) if name in used else velocity[name][stamp]
    bag = tape.write(tools.folder / "bag", "mcap" if seed else "sqlite3")
    out = tools.folder / "out.npz"
    code, _, stderr = tools.run("export", bag, "--every", "0.0171", "--interpolate", mode, "-o", out)
    assert code == 0
    assert "messages came after one with a later stamp; they were sorted" in stderr
    assert "messages repeat an earlier stamp; the last message of each stamp is used" in stderr
    found = np.load(out)
    times = found["time_ns"].tolist()
    for kept, key in ((position, "robot/positions"), (velocity, "robot/velocities")):
        for j, name in enumerate(found["robot/joints"].tolist()):
            stamps = sorted(kept[name])
            expected = [_oracle(kept[name], stamps, time, mode) for time in times]
            np.testing.assert_allclose(found[key][:, j], expected, atol=1e-12)
    assert found["robot/positions"].size > 2000


def test_a_continuous_joint_turns_the_short_way(tools: Any) -> None:
    tape = tools.rover(0.02)
    tape.joints(tools.START + tools.S, tools.ARM, [3.0] * 10)
    tape.joints(tools.START + 2 * tools.S, tools.ARM, [-3.0] * 10)
    bag = tape.write(tools.folder / "bag")
    tools.run("export", bag, "--at", "1.25", "-o", tools.folder / "state.usdf")
    model = read_world(tools.folder / "state.usdf").models[0]
    short = 3.0 + 0.25 * (2 * np.pi - 6.0)
    assert model.joint("left_wheel_joint").positions == pytest.approx((short,), abs=1e-12)  # continuous
    assert model.joint("elbow_joint").positions == pytest.approx((1.5,), abs=1e-12)  # revolute


def test_a_mimic_joint_that_no_message_names_follows_its_leader(tools: Any) -> None:
    tape = tools.rover(1.0)
    bag = tape.write(tools.folder / "bag")
    tools.run("export", bag, "--at", "0.5", "-o", tools.folder / "state.usdf")
    model = read_world(tools.folder / "state.usdf").models[0]
    assert "right_finger_joint" not in tools.ARM
    # The example's right finger mimics the left one, factor 1.
    assert model.joint("right_finger_joint").positions == model.joint("left_finger_joint").positions
    assert model.joint("right_finger_joint").velocities == model.joint("left_finger_joint").velocities


def test_a_mimic_joint_that_a_message_names_keeps_what_was_measured(tools: Any) -> None:
    tape = tools.rover(0.02)
    tape.joints(tools.START + tools.S, [*tools.ARM, "right_finger_joint"], [0.01] * 10 + [0.02])
    bag = tape.write(tools.folder / "bag")
    tools.run("export", bag, "--at", "end", "-o", tools.folder / "state.usdf")
    model = read_world(tools.folder / "state.usdf").models[0]
    assert model.joint("right_finger_joint").positions == (0.02,)


def test_a_joint_that_the_robot_does_not_have_is_said_with_the_nearest(tools: Any) -> None:
    tape = tools.rover(1.0)
    tape.joints(tools.START, ["elbow_jiont"], [1.0])
    bag = tape.write(tools.folder / "bag")
    code, _, stderr = tools.run("export", bag, "-o", tools.folder / "state.usdf")
    assert code == 0
    expected = (
        "warning: topic '/joint_states' names a joint 'elbow_jiont' that 'rover_arm' does not have; did you mean "
    )
    assert f"{expected}'elbow_joint'?" in stderr


def test_effort_becomes_torque_and_a_message_without_positions_is_refused(tools: Any) -> None:
    tape = tools.Tape()
    tape.joints(tools.START, ["a", "b"], [1.0, 2.0], (), [3.0, 4.0])
    tape.joints(tools.START, ["c"], (), [5.0])
    bag = tape.write(tools.folder / "bag")
    _, _, stderr = tools.run("export", bag, "-o", tools.folder / "state.usdf")
    model = read_world(tools.folder / "state.usdf").models[0]
    assert [(j.name, j.positions, j.velocities, j.torques) for j in model.joints] == [
        ("a", (1.0,), None, (3.0,)),
        ("b", (2.0,), None, (4.0,)),
    ]
    # As in the running node.
    assert "1 message refused, the first at log time 1700000000.000 s: malformed, it has no position for 'c'" in stderr


def test_a_message_without_a_stamp_counts_when_it_was_recorded(tools: Any) -> None:
    tape = tools.Tape()
    tape.joints(0, ["a"], [1.0], log=tools.START)
    tape.joints(0, ["a"], [2.0], log=tools.START + tools.S)
    bag = tape.write(tools.folder / "bag")
    tools.run("export", bag, "--at", "0.5", "-o", tools.folder / "state.usdf")
    state = read_world(tools.folder / "state.usdf")
    assert state.models[0].joint("a").positions == (1.5,)
    assert state.time_ns == tools.START + tools.S // 2


def test_planar_and_floating_joints_turn_the_short_way(tools: Any) -> None:
    urdf = """<robot name="r"><link name="base"/><link name="cart"/><link name="kite"/>
      <joint name="slide" type="planar"><parent link="base"/><child link="cart"/><axis xyz="0 0 1"/></joint>
      <joint name="fly" type="floating"><parent link="base"/><child link="kite"/></joint></robot>"""
    tape = tools.Tape()
    tape.text("/robot_description", urdf)
    names = [f"fly/{word}" for word in ["trans_x", "trans_y", "trans_z", "rot_x", "rot_y", "rot_z", "rot_w"]]
    names += ["slide/x", "slide/y", "slide/theta"]
    quarter = np.sqrt(0.5)
    # The second quaternion is a quarter turn about z, with the other sign.
    rows = [[0, 0, 0, 0, 0, 0, 1, 0, 0, 3.0], [2, 0, 0, 0, 0, -quarter, -quarter, 4, 0, -3.0]]
    for second, row in enumerate(rows):
        tape.joints(tools.START + second * tools.S, names, row)
    code, _, _ = tools.run("export", tape.write(tools.folder / "bag"), "--every", "0.5", "-o", tools.folder / "out.npz")
    assert code == 0
    q = np.load(tools.folder / "out.npz")["r/positions"][1]
    expected = [1, 0, 0, 0, 0, np.sin(np.pi / 8), np.cos(np.pi / 8), 2, 0, np.pi]
    np.testing.assert_allclose(q, expected, atol=1e-12)


def test_planar_and_floating_joints_come_by_variable_names_and_by_multi_dof_states(tools: Any) -> None:
    urdf = """<robot name="crane"><link name="base"/><link name="cart"/><link name="hook"/>
      <joint name="slide" type="planar"><parent link="base"/><child link="cart"/><axis xyz="0 0 1"/></joint>
      <joint name="free" type="floating"><parent link="cart"/><child link="hook"/></joint></robot>"""
    tape = tools.Tape()
    tape.text("/robot_description", urdf)
    tape.joints(tools.START, ["slide/x", "slide/y", "slide/theta"], [1.0, 2.0, 0.5], [0.1, 0.2, 0.3])
    pose, twist = (1.0, 2.0, 3.0, 0.5, 0.5, 0.5, 0.5), (0.1, 0.2, 0.3, 0.4, 0.5, 0.6)
    tape.multi_dof(tools.START, "cart", [("free", pose, twist)])
    bag = tape.write(tools.folder / "bag")
    code, _, _ = tools.run("export", bag, "-o", tools.folder / "state.usdf", "--links")
    assert code == 0
    model = read_world(tools.folder / "state.usdf").models[0]
    assert model.joint("slide").positions == (1.0, 2.0, 0.5)
    assert model.joint("slide").velocities == (0.1, 0.2, 0.3)
    assert model.joint("free").positions == pose
    assert model.joint("free").velocities == twist
    hook = model.link("hook").pose
    assert hook is not None
    c, s = np.cos(0.5), np.sin(0.5)
    assert hook.xyz_rpy[:3] == pytest.approx((1 + c * 1 - s * 2, 2 + s * 1 + c * 2, 3.0))
