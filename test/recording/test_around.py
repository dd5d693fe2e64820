# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""For a few times of a large recording only their surroundings are read, with the same states as from all of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from robot_semantics.recording import export as around

NOTE = "note: only messages from"


def both(tools: Any, bag: Path, monkeypatch: pytest.MonkeyPatch, *times: str) -> tuple[str, int]:
    """Compare the results of reading a bag completely and in part; return the messages and the number of read bytes."""
    whole, part = tools.folder / "whole.npz", tools.folder / "part.npz"
    assert NOTE not in tools.run("export", bag, *times, "-o", whole)[2]
    monkeypatch.setattr(around, "LARGE_BYTES", 0)
    before = bytes_read()
    _, _, stderr = tools.run("export", bag, *times, "-o", part)
    count = bytes_read() - before
    first, second = np.load(whole), np.load(part)
    assert set(first.files) == set(second.files)
    for name in first.files:
        np.testing.assert_array_equal(first[name], second[name], name)
    return stderr, count


def bytes_read() -> int:
    """Return how many bytes this process has read, from wherever."""
    return int(Path("/proc/self/io").read_text().split()[1])


@pytest.mark.parametrize("kind", ["mcap", "sqlite3", "ros1", "bare mcap", "bare mcap zstd", "mcap split"])
@pytest.mark.parametrize(
    "times", [(), ("--at", "40.013"), ("--at", "1", "--at", "3"), ("--start", "59", "--every", "0.03")]
)
def test_the_states_are_those_of_the_whole(
    tools: Any, kind: str, times: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    stderr, _ = both(tools, tools.rover(60.0).write(tools.folder / "drive", kind), monkeypatch, *times)
    assert NOTE in stderr


def test_few_of_the_bytes_are_read(tools: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    bag = tools.rover(200.0).write(tools.folder / "drive", "bare mcap")
    # A stretch of 2 s around, and 1 s at each end, of 200 s; the index and one opening after the other are small.
    assert both(tools, bag, monkeypatch, "--at", "end")[1] < bag.stat().st_size / 5


def test_what_was_said_at_the_start_alone_is_found(tools: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    tape = tools.rover(60.0)
    tape.tf([(tools.START + 5, "map", "dock", (3.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0))])
    stderr, _ = both(tools, tape.write(tools.folder / "drive"), monkeypatch, "--at", "end")
    assert NOTE not in stderr
    assert "frame 'dock' is older than 1 s" in stderr


def test_with_a_clock_that_was_set_back_all_is_read(tools: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    tape = tools.rover(60.0)
    for i in range(3000):
        stamp, values = tools.START + i * tools.S // 50, np.full(len(tools.ARM), 0.001 * i)
        tape.joints(stamp, tools.ARM, values, values, values, log=stamp + 60 * tools.S)
    stderr, _ = both(tools, tape.write(tools.folder / "drive"), monkeypatch, "--at", "end")
    assert NOTE not in stderr
    assert "run 2 of 2 is read" in stderr
