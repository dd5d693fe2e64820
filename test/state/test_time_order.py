# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Stamps that go back: a late message is told from a clock that was set back."""

from __future__ import annotations

import pytest

from robot_semantics.state.schedule import TimeOrder


@pytest.mark.parametrize(
    ("stamps", "orders"),
    [
        ([5, 5, 6], ["forward", "forward", "forward"]),
        # One is late; those after it go on.
        ([5, 3, 6], ["forward", "late", "forward"]),
        # Two that are in order among themselves, the same stamp twice too, as where a clock stands still.
        ([5, 3, 4], ["forward", "late", "restarted"]),
        ([5, 3, 3], ["forward", "late", "restarted"]),
        ([5, 3, 2, 2], ["forward", "late", "late", "restarted"]),
        # What came between them was in order: two late ones that have nothing to do with each other.
        ([5, 3, 6, 4], ["forward", "late", "forward", "late"]),
        ([5, 3, 4, 4, 5], ["forward", "late", "restarted", "forward", "forward"]),
    ],
)
def test_a_late_stamp_is_late_and_two_in_order_are_a_clock_set_back(stamps: list[int], orders: list[str]) -> None:
    order = TimeOrder()
    found = []
    for stamp in stamps:
        found.append("forward" if stamp >= order.last_ns else "late" if order.is_late(stamp) else "restarted")
        if found[-1] != "late":
            order.accept(stamp)
    assert found == orders
