# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The clock rule: a late stamp is late, and a clock that jumps back by a second and stays there was reset."""

from __future__ import annotations

import random

import numpy as np
import pytest

from robot_semantics.live.order import RESET_NS, MessageOrder, stamp_resets

# Stamps in tenths of a second.
CASES = [
    ([50, 50, 51], ". . ."),
    # A single late one, however far back; the next ones are in order.
    ([50, 49, 51], ". late ."),
    ([50, 10, 51], ". late ."),
    # Two in order, the same stamp twice too: as where a clock stands still.
    ([50, 10, 11, 12], ". late reset ."),
    ([50, 10, 10, 12], ". late reset ."),
    ([50, 40, 40], ". late reset"),
    # Less than a second back is not a reset, even for a long time.
    ([50, 41, 42, 43, 49, 50], ". late late late late ."),
    # Two that are not in order among themselves, and two with one in order between them.
    ([50, 20, 10, 10], ". late late reset"),
    ([50, 20, 51, 30], ". late . late"),
    ([50, 20, 45, 21], ". late late late"),
    # Up to three stamps ahead: the clock was not reset if they return to the old values.
    ([50, 900, 51, 52, 53], ". . late return ."),
    ([50, 900, 901, 902, 51, 52, 53], ". . . . late return ."),
    ([50, 900, 901, 902, 903, 51, 52, 53], ". . . . . late reset ."),
    ([50, 900, 49, 49], ". . late reset"),
    ([50, 10, 11, 2, 3, 1, 1], ". late reset late late late reset"),
]


@pytest.mark.parametrize(("stamps", "expected"), CASES)
def test_how_a_stamp_fits_to_those_before(stamps: list[int], expected: str) -> None:
    order = MessageOrder()
    words = {"in order": ".", "late": "late", "reset": "reset", "return": "return"}
    assert " ".join(words[order.take(stamp * RESET_NS // 10).value] for stamp in stamps) == expected


@pytest.mark.parametrize(("stamps", "expected"), CASES)
def test_a_recording_has_its_resets_where_the_new_clock_begins(stamps: list[int], expected: str) -> None:
    found = stamp_resets(np.array(stamps) * RESET_NS // 10)
    assert [index + 1 for index, _ in found] == [i for i, word in enumerate(expected.split()) if word == "reset"]


def test_the_jump_of_a_reset_is_that_of_its_first_message() -> None:
    assert stamp_resets(np.array([90, 80, 20, 25, 30, 5, 6]) * RESET_NS // 10) == [
        (2, 7 * RESET_NS),
        (5, RESET_NS * 5 // 2),
    ]
    assert stamp_resets(np.zeros(0, np.int64)) == []


def test_a_recording_and_a_running_node_find_the_same_resets() -> None:
    rng = random.Random(1)
    for _ in range(300):
        now, stamps = 0, []
        for _ in range(rng.randrange(1, 40)):
            now = max(0, now + rng.choice([1, 1, 1, 1, -4, -30, 50]))
            stamps.append(now * RESET_NS // 10)
        order = MessageOrder()
        live = [i - 1 for i, stamp in enumerate(stamps) if order.take(stamp).value == "reset"]
        assert [index for index, _ in stamp_resets(np.array(stamps))] == live
