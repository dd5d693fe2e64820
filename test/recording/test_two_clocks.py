# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Recordings of computers with different clocks and latencies: every value is at its own sender's time."""

from __future__ import annotations

import math
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from support.bags import START, S, Tape, Tools, turned

from robot_semantics import read_world

OFFSETS_S = (-3600.0, -70.0, -3.0, -0.3, 0.0, 0.3, 2.0, 1000.0)
LATENCIES_S = (0.0, 0.15, 0.3)
KINDS = ("joints", "odometry", "tf")


class Cell(NamedTuple):
    """A sender: its clock [s], the latency of its messages [s] and its rate [Hz]."""

    offset_s: float
    latency_s: float
    rate_hz: int

    @property
    def is_shifted(self) -> bool:
        return abs(self.offset_s - self.latency_s) > 10.0


CELLS = [
    *(Cell(offset, latency, rate) for offset, latency, rate in product(OFFSETS_S, LATENCIES_S, (4, 50))),
    Cell(0.0, 0.0, 500),
    Cell(-3.0, 0.15, 500),
    Cell(0.3, 0.3, 500),
]


def f(seconds: Any) -> Any:
    return np.sin(np.pi * np.asarray(seconds))


def matrix_tape(seconds: float = 8.0) -> Tape:
    """Return messages of every cell as joint states, odometry and TF; log time is the time of arrival."""
    tape = Tape()
    for number, cell in enumerate(CELLS):
        for count in range(int(seconds * cell.rate_hz)):
            measured = (count + 0.5 * (number % 3)) / cell.rate_hz
            stamp = START + round((measured + cell.offset_s) * S)
            log = START + round((measured + cell.latency_s) * S)
            x = float(f(measured))
            tape.joints(stamp, [f"j{number}"], [x], log=log)
            pose = (x, 0.0, 0.0, *turned(0.0))
            tape.tf([(stamp, "map", f"t{number}", pose)], log=log)
            tape.odometry(stamp, f"odom{number}", f"b{number}", pose, (0.0,) * 6, topic=f"/o{number}", log=log)
    return tape


@pytest.fixture(scope="module")
def matrix(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return matrix_tape().write(tmp_path_factory.mktemp("matrix") / "bag")


def worst(found: Any, times_s: Any, cell: Cell) -> float:
    """Return the largest error of a cell's values; a shifted sender may be off by its latency."""
    if not cell.is_shifted:
        return float(np.abs(found - f(times_s - cell.offset_s)).max())
    delays = np.linspace(0.0, cell.latency_s, 61) if cell.latency_s else np.zeros(1)
    return float(np.abs(found[:, np.newaxis] - f(times_s[:, np.newaxis] - delays)).min(axis=1).max())


def test_every_clock_latency_and_rate_of_joints_odometry_and_tf(
    matrix: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tools, out = Tools(tmp_path, capsys), tmp_path / "out.npz"
    begin, end = 2.61, 4.69
    code, _, stderr = tools.run(
        *("export", matrix, "--every", "0.013", "--start", f"@{START // S + begin}", "--stop", f"@{START // S + end}"),
        *("--world-frame", "map", "--max-gap", "5", "-o", out),
    )
    assert code == 0, stderr
    found = np.load(out)
    times_s = (found["time_ns"] - START) / 1e9
    assert len(times_s) > 150
    joints, frames = found["robot/joints"].tolist(), found["frames"].tolist()
    series = {
        "joints": lambda number: found["robot/positions"][:, joints.index(f"j{number}")],
        "odometry": lambda number: found["frame_pose"][:, frames.index(f"b{number}"), 0],
        "tf": lambda number: found["frame_pose"][:, frames.index(f"t{number}"), 0],
    }
    in_step = {
        (kind, rate): worst(series[kind](CELLS.index(Cell(0.0, 0.0, rate))), times_s, Cell(0.0, 0.0, rate))
        for kind in KINDS
        for rate in (4, 50, 500)
    }
    assert max(in_step[kind, 50] for kind in KINDS) < 0.0006
    bad = []
    for kind, (number, cell) in product(KINDS, enumerate(CELLS)):
        error = worst(series[kind](number), times_s, cell)
        if not error <= 3.0 * in_step[kind, cell.rate_hz] + 1e-6:
            bad.append((kind, cell, error))
    assert not bad
    for offset, latency in product((-3600.0, -70.0, 1000.0), LATENCIES_S):
        number = CELLS.index(Cell(offset, latency, 50))
        amount = f"{abs(offset - latency):.3f} s {'ahead of' if offset > 0 else 'behind'} '/joint_states'"
        assert f"the clock of '/o{number}' ('odom{number} → b{number}') is {amount}; its stamps are shifted" in stderr
    assert "left out" not in stderr


def test_the_table_of_senders_tells_which_clock_is_off(
    matrix: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tools = Tools(tmp_path, capsys)
    found = tools.json("export", matrix, "--dry-run", "--at", f"@{START // S + 3}")["senders"]
    assert len(found) == 3 * len(CELLS)
    assert found[0]["state"] == "reference"
    states = set()
    for row in found:
        kind, name = row["kind"], row["names"][-1]
        cell = CELLS[int(name[1:])]
        offset = cell.offset_s - cell.latency_s
        assert row["offset_ns"] == pytest.approx(offset * S, abs=2e6)
        assert row["interval_ns"] == pytest.approx(S / cell.rate_hz, abs=1e4)
        assert row["shift_ns"] == (pytest.approx(-offset * S, abs=2e6) if cell.is_shifted else 0)
        if not cell.is_shifted and row["state"] != "reference":
            is_apart = abs(offset) > (2.0 if kind == "tf" else 0.1)
            assert row["state"] == ("clock or latency" if is_apart else "in step"), row
        states.add(row["state"])
    assert states == {"reference", "in step", "clock or latency", "shifted"}


def run(tape: Tape, tools: Tools, *arguments: str) -> tuple[int, str, Any]:
    out = tools.folder / "state.usdf"
    code, _, stderr = tools.run("export", tape.write(tools.folder / "bag"), *arguments, "-o", out)
    return code, stderr, read_world(out) if out.exists() else None


@pytest.mark.parametrize("ratio", [1, 2, 3, 5])
def test_a_transform_that_is_dated_ahead_is_used(tools: Any, ratio: int) -> None:
    tape = Tape()
    for i in range(40):
        stamp = START + i * S // 10
        tape.tf([(stamp, "odom", "base_link", (0.1 * i, 0, 0, 0, 0, 0, 1))])
        if i % ratio == 0:
            tape.tf([(stamp + 12 * S // 10, "map", "odom", (0.01 * i, 0, 0, 0, 0, 0, 1))], log=stamp + S // 100)
    code, stderr, world = run(tape, tools, "--at", f"@{START // S + 3}")
    assert code == 0, stderr
    assert "left out" not in stderr
    assert world.frame("base_link").pose.xyz_rpy[0] == pytest.approx(3.0, abs=1e-9)
    assert world.frame("odom").pose.xyz_rpy[0] == pytest.approx(0.01 * 18, abs=1e-9)


def test_a_latched_message_is_old_and_not_shifted(tools: Any) -> None:
    tape = Tape()
    tape.joints(START - 3600 * S, ["gripper"], [7.0], log=START)
    for i in range(200):
        tape.joints(START + i * S // 50, ["arm"], [i / 50])
    code, stderr, world = run(tape, tools)
    assert code == 0
    assert "shifted" not in stderr
    (model,) = world.models
    assert model.joint("gripper").positions == (7.0,)
    assert model.joint("gripper").age_ns == 3600 * S + 199 * S // 50
    assert model.joint("arm").positions == (199 / 50,)


@pytest.mark.parametrize(("limit", "is_shifted"), [("10", False), ("1", True)])
def test_align_clocks_sets_the_limit(tools: Any, limit: str, is_shifted: bool) -> None:
    tape = Tape()
    for i in range(200):
        tape.joints(START + i * S // 50, ["arm"], [i / 50])
        tape.joints(START + i * S // 50 - 3 * S, ["gripper"], [i / 50], log=START + i * S // 50 + 1)
    code, stderr, world = run(tape, tools, "--align-clocks", limit, "--at", f"@{START // S + 2}")
    assert code == 0
    assert ("are shifted by +3.000 s" in stderr) is is_shifted
    assert ("clock or latency; its stamps are read as they are" in stderr) is not is_shifted
    # At its own stamps, the value of 3 s later holds from the last one.
    (model,) = world.models
    assert model.joint("gripper").positions == pytest.approx((2.0 if is_shifted else 199 / 50,), abs=1e-6)


def test_clocks_of_different_speeds_are_an_error_that_names_both(tools: Any) -> None:
    tape = Tape()
    for i in range(400):
        tape.joints(START + i * S // 50, ["arm"], [i / 50])
        tape.odometry(START + 3600 * S + i * S // 10, "odom", "base", (i, 0, 0, 0, 0, 0, 1), (0,) * 6)
        topic, kind, _, make = tape.events[-1]
        tape.events[-1] = topic, kind, START + i * S // 50, make
    code, stderr, _ = run(tape, tools)
    assert code == 1
    assert "two clocks are mixed: '/odom' and '/joint_states' run at different speeds" in stderr


def test_two_publishers_of_one_set_of_joints_are_no_reset(tools: Any) -> None:
    tape = Tape()
    for i in range(200):
        at = START + i * S // 20
        tape.joints(at, ["j"], [1.0], log=at)
        if i % 2:
            tape.joints(at - 2 * S, ["j"], [0.0], log=at + 1)
    code, stderr, world = run(tape, tools)
    assert code == 0
    assert "go back by" not in stderr
    assert "stamps of 'j' go back and forth; are there two publishers?" in stderr
    assert "left out" not in stderr
    assert world.models[0].joint("j").positions == (1.0,)


def test_a_reset_of_one_clock_leaves_another_clock_alone(tools: Any) -> None:
    tape = Tape()
    for i in range(200):
        log = START + i * S // 20
        # Two senders in one simulated time that is reset, and one with a clock of its own.
        simulated = (100 * S if i < 100 else 0) + (i % 100) * S // 20 + 50 * S
        tape.joints(simulated, ["a"], [i / 20], log=log)
        tape.joints(simulated + 1, ["b"], [i / 20], log=log + 1)
        tape.joints(simulated + 5 * S if i < 100 else 155 * S + i * S // 20, ["c"], [i / 20], log=log + 2)
    bag = tape.write(tools.folder / "bag")
    out = tools.folder / "run.npz"
    code, _, stderr = tools.run("export", bag, "--run", "1", "--at", "1", "-o", out)
    assert code == 0, stderr
    assert "run 1 of 2 is read" in stderr
    found = np.load(out)
    values = dict(zip(found["robot/joints"].tolist(), found["robot/positions"][0].tolist(), strict=True))
    assert values["a"] == pytest.approx(1.0)
    assert values["b"] == pytest.approx(1.0, abs=1e-6)


def test_pose_and_twist_are_kept_alike_with_their_age(tools: Any) -> None:
    tape = Tape()
    for i in range(400):
        tape.joints(START + i * S // 100, ["j1"], [i / 100])
        if i % 5 == 0 and i < 200:
            tape.odometry(START + i * S // 100, "odom", "base_link", (0.02 * i, 0, 0, 0, 0, 0, 1), (2, 0, 0, 0, 0, 0))
    joint = '<joint name="j1" type="continuous"><parent link="base_link"/><child link="l"/><axis xyz="0 0 1"/></joint>'
    tape.text("/robot_description", f'<robot name="r"><link name="base_link"/><link name="l"/>{joint}</robot>')
    code, stderr, world = run(tape, tools)
    assert code == 0
    (model,) = world.models
    assert model.pose.xyz_rpy[0] == pytest.approx(3.9)
    assert model.twist == (2.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    assert model.age_ns == (399 - 195) * S // 100
    assert "base 'r' is older than 1 s" in stderr


@pytest.mark.parametrize("stated", [True, False])
@pytest.mark.parametrize(("step", "count"), [(4.0, 50), (-4.0, 50), (4.0, 2)])
def test_a_wheel_that_counts_turns_is_interpolated_straight(tools: Any, step: float, count: int, stated: bool) -> None:
    if count == 2 and not stated:
        pytest.skip("two angles alone do not tell")
    tape = Tape()
    joint = '<joint name="left" type="continuous"><parent link="base"/><child link="l"/><axis xyz="0 0 1"/></joint>'
    tape.text("/robot_description", f'<robot name="r"><link name="base"/><link name="l"/>{joint}</robot>')
    for i in range(count):
        tape.joints(START + i * S // 10, ["left"], [step * i], [10.0 * step] if stated else [])
    code, _, world = run(tape, tools, "--at", "0.05")
    assert code == 0
    assert world.models[0].joint("left").positions == pytest.approx((step / 2,), abs=1e-9)


@pytest.mark.parametrize("stated", [True, False])
def test_a_wheel_within_one_turn_goes_the_short_way(tools: Any, stated: bool) -> None:
    tape = Tape()
    joint = '<joint name="left" type="continuous"><parent link="base"/><child link="l"/><axis xyz="0 0 1"/></joint>'
    tape.text("/robot_description", f'<robot name="r"><link name="base"/><link name="l"/>{joint}</robot>')
    for i in range(50):
        angle = math.remainder(0.5 * i, 2.0 * math.pi)
        tape.joints(START + i * S // 10, ["left"], [angle], [5.0] if stated else [])
    # From 3.0 over pi to 3.5 - 2 pi.
    code, _, world = run(tape, tools, "--at", "0.65")
    assert code == 0
    assert world.models[0].joint("left").positions == pytest.approx((3.25,), abs=1e-9)
