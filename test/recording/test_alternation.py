# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Values that alternate between two paths are reported, and all of them are used."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from robot_semantics.recording.read.recording import alternates


def told(values: npt.NDArray[Any]) -> bool:
    """Return whether samples, one a millisecond, in two parts, are said to alternate."""
    times, first = np.arange(len(values)) * 10**6, np.arange(len(values)) % 3 == 0
    return alternates([(times[part], values[part]) for part in (first, ~first)])


@pytest.mark.parametrize("count", [400, 150_000])
@pytest.mark.parametrize("slow_every", [2, 3, 5, 40])
def test_two_paths_are_reported_however_rare_one_is(slow_every: int, count: int) -> None:
    second = np.arange(count) % slow_every == slow_every - 1
    assert told(np.where(second, 2.0, 0.5 * np.sin(np.arange(count) / 30)))


@pytest.mark.parametrize("seed", range(20))
def test_one_publisher_is_not_reported_however_it_moves(seed: int) -> None:
    random, time = np.random.default_rng(seed), np.arange(2000)
    for values in (
        random.normal(0.0, 0.05, 2000),
        random.normal(0.0, 0.05, (2000, 7)),
        np.cumsum(random.normal(0.0, 0.1, 2000)),
        np.sin(time / 2.0),
        np.sin(time / 20.0) + random.normal(0.0, 0.02, 2000),
        # A low resolution that goes to and fro, a gripper that opens and closes, some values that are wrong.
        0.02 * random.integers(0, 2, 2000),
        np.where(time % 2, np.pi - 1e-3, 1e-3 - np.pi),
        np.where(time // 7 % 2, 0.04, 0.0),
        np.where(time % 501 == 500, random.normal(0.0, 1.0, 2000), np.sin(time / 100.0)),
    ):
        assert not told(values)


def test_joint_states_of_two_publishers_are_all_used(tools: Any) -> None:
    tape = tools.Tape()
    for i in range(100):
        tape.joints(tools.START + i * tools.S // 25, ["a", "b"], [0.01 * i, 0.5])
        tape.joints(tools.START + i * tools.S // 25 + 3, ["b", "a"], [0.5, 1.2])
    found = read(tools, tape, "--at-topic", "/joint_states")
    assert "topic '/joint_states': values of 'a' alternate between two paths; are there two publishers?" in found["err"]
    expected = [value for i in range(100) for value in (0.01 * i, 1.2)]
    np.testing.assert_array_equal(found["robot/positions"][:, 0], expected)


@pytest.mark.parametrize("parent", ["map", "odom"])
def test_transforms_of_two_publishers_are_all_used_whatever_parent_they_name(tools: Any, parent: str) -> None:
    tape = tools.Tape()
    for i in range(200):
        stamp = tools.START + i * tools.S // 50
        tape.tf([(stamp, "map", "odom", (0.0, 0.0, 0.0, *tools.turned(0.0)))])
        tape.tf([(stamp, "odom", "base", (i / 100, 0.0, 0.0, *tools.turned(i / 100)))])
        tape.tf([(stamp + 9, parent, "base", (5.0, 1.0, 0.0, *tools.turned(1.0)))])
    found = read(tools, tape, "--every", "0.02")
    assert "topic '/tf': values of 'base' alternate between two paths" in found["err"]
    base = found["frames"].tolist().index("base")
    # At the stamps of the first publisher there is its pose.
    np.testing.assert_allclose(found["frame_pose"][:, base, 0], np.arange(200) / 100, atol=1e-9)


def test_odometry_of_two_publishers_is_all_used(tools: Any) -> None:
    tape = tools.Tape()
    for i in range(200):
        stamp = tools.START + i * tools.S // 50
        for at, late in ((i / 100, 0), (3.7 - i / 100, 7)):
            tape.odometry(stamp + late, "odom", "base", (at, 0.0, 0.0, *tools.turned(0.0)), (0.0,) * 6)
    found = read(tools, tape, "--at-topic", "/odom")
    assert "topic '/odom': values of 'base' alternate between two paths" in found["err"]
    base = found["frames"].tolist().index("base")
    expected = [value for i in range(200) for value in (i / 100, 3.7 - i / 100)]
    np.testing.assert_allclose(found["frame_pose"][:, base, 0], expected, atol=1e-12)


def read(tools: Any, tape: Any, *times: str) -> dict[str, Any]:
    """Return the arrays of an export of the recording, and its messages."""
    bag = tape.write(tools.folder / "drive")
    code, _, stderr = tools.run("export", bag, *times, "-o", tools.folder / "drive.npz")
    assert code == 0, stderr
    return {**np.load(tools.folder / "drive.npz"), "err": stderr}
