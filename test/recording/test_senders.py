# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Two senders on one topic: one is taken and never mixed with the other; what only looks like two is left whole."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from robot_semantics.recording.senders import second_sender


def told(values: npt.NDArray[Any]) -> list[bool] | None:
    """Return which samples, one a millisecond, are a second sender's."""
    columns = values.reshape(len(values), -1)
    found = second_sender([np.arange(len(values)) * 10**6], lambda _, rows: columns[rows])
    return None if found is None else found.second[0].tolist()


def mixed(slow_every: int, count: int = 400) -> tuple[npt.NDArray[Any], list[bool]]:
    """Return a sine and a standing value beside it, of which the latter comes every so often."""
    second = [i % slow_every == slow_every - 1 for i in range(count)]
    return np.where(second, 2.0, 0.5 * np.sin(np.arange(count) / 30)), second


@pytest.mark.parametrize("slow_every", [2, 3, 5, 40])
def test_the_rarer_sender_is_told(slow_every: int) -> None:
    values, second = mixed(slow_every)
    assert told(values) == second
    # And also of so many that not all are looked at at first.
    values, second = mixed(slow_every, 150_000)
    assert told(values) == second


def test_of_as_many_the_one_that_came_first_is_taken() -> None:
    values = np.where(np.arange(100) % 2, 1.0, 0.0)
    assert told(values) == [bool(i % 2) for i in range(100)]
    assert told(1.0 - values) == [bool(i % 2) for i in range(100)]


@pytest.mark.parametrize("seed", range(20))
def test_one_sender_is_left_whole_however_it_moves(seed: int) -> None:
    random, time = np.random.default_rng(seed), np.arange(2000)
    for values in (
        random.normal(0.0, 0.05, 2000),
        random.normal(0.0, 0.05, (2000, 7)),
        np.cumsum(random.normal(0.0, 0.1, 2000)),
        np.sin(time / 2.0),
        np.sin(time / 20.0) + random.normal(0.0, 0.02, 2000),
        # A low resolution that goes to and fro, a gripper that opens and closes, some values that are wrong.
        0.02 * random.integers(0, 2, 2000),
        np.where(time // 7 % 2, 0.04, 0.0),
        np.where(time % 501 == 500, random.normal(0.0, 1.0, 2000), np.sin(time / 100.0)),
    ):
        assert told(values) is None


def test_joint_states_of_two_senders_are_not_mixed(tools: Any) -> None:
    tape = tools.rover()
    for i in range(100):
        tape.joints(tools.START + i * tools.S // 25 + 3, tools.ARM, np.full(len(tools.ARM), 1.2))
    found = read(tools, tape)
    alone = read(tools, tools.rover(), "alone")
    np.testing.assert_array_equal(found["rover_arm/positions"], alone["rover_arm/positions"])
    assert (
        "topic '/joint_states', 'left_wheel_joint', 'right_wheel_joint', 'lift_joint' and 7 more: two senders"
        in found["err"]
    )
    assert "that of 200 of 300 messages is taken" in found["err"]


def test_joints_that_only_the_second_sender_names_stay_its_own(tools: Any) -> None:
    names = ("elbow_joint", "arm_tip_joint")
    tape = tools.Tape()
    for i in range(400):
        tape.joints(tools.START + i * tools.S // 100, ["elbow_joint"], [np.sin(i / 50)])
    for i in range(100):
        tape.joints(tools.START + i * tools.S // 25 + 3, names, [1.7, i / 100])
    found = read(tools, tape)
    joints = found["robot/joints"].tolist()
    elbow, tip = (found["robot/positions"][:, joints.index(name)] for name in names)
    seconds = (found["time_ns"] - tools.START) / 1e9
    # Linear between samples 10 ms apart of a sine of 2 rad/s: within h²/8 · 2² of it.
    assert np.abs(elbow - np.sin(2 * seconds))[seconds < 3.99].max() < 1e-4
    assert np.abs(tip - seconds / 4)[seconds > 0].max() < 0.01


def test_transforms_of_two_senders_are_not_mixed_whatever_parent_they_name(tools: Any) -> None:
    for parent in ("map", "odom"):
        tape = tools.Tape()
        for i in range(200):
            stamp = tools.START + i * tools.S // 50
            tape.tf([(stamp, "map", "odom", (1.0, 0.0, 0.0, *tools.turned(0.0)))])
            tape.tf([(stamp, "odom", "base", (i / 100, 0.0, 0.0, *tools.turned(i / 100)))])
            if i % 3 == 0:
                dock = (stamp, "map", "dock", (1.0, 1.0, 1.0, *tools.turned(0.0)))
                tape.tf([(stamp + 9, parent, "base", (5.0, 1.0, 0.0, *tools.turned(1.0))), dock])
        found = read(tools, tape, parent)
        base = found["frames"].tolist().index("base")
        seconds = (found["time_ns"] - tools.START) / 1e9
        # Up to the first sender's last message; from then on its value is held.
        np.testing.assert_allclose(found["frame_pose"][:, base, 0], np.minimum(seconds / 2, 1.99), atol=1e-9)
        assert {found["names"][index] for index in found["frame_parent"][:, base]} == {"odom"}
        assert "tf, frame 'base': two senders alternate" in found["err"]
        assert "dock" in found["frames"].tolist()


def test_odometry_of_two_senders_is_not_mixed(tools: Any) -> None:
    tape = tools.Tape()
    for i in range(200):
        stamp = tools.START + i * tools.S // 50
        for at, late in ((i / 100, 0), (3.7 - i / 100, 7)):
            tape.odometry(stamp + late, "odom", "base", (at, 0.0, 0.0, *tools.turned(0.0)), (0.0,) * 6)
    found = read(tools, tape)
    base = found["frames"].tolist().index("base")
    seconds = (found["time_ns"] - tools.START) / 1e9
    np.testing.assert_allclose(found["frame_pose"][:, base, 0], np.minimum(seconds / 2, 1.99), atol=1e-9)
    assert "topic '/odom', 'base': two senders alternate" in found["err"]


def read(tools: Any, tape: Any, name: str = "drive") -> dict[str, Any]:
    """Return the arrays of an export of what was recorded, and what was said."""
    bag = tape.write(tools.folder / name)
    code, _, stderr = tools.run("export", bag, "--every", "0.037", "-o", tools.folder / f"{name}.npz")
    assert code == 0, stderr
    return {**np.load(tools.folder / f"{name}.npz"), "err": stderr}
