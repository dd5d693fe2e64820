# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The buffer of whichever tf2_ros is installed answers as the real BufferCore did: recorded look-ups."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tf2_ros
from rclpy.duration import Duration
from rclpy.time import Time
from support.tf_messages import numbers, stamped

GOLDEN = json.loads((Path(__file__).parents[1] / "data" / "tf2_lookups.json").read_text())
QUERIES: list[tuple[str, str, int, list[float] | str]] = [tuple(query) for query in GOLDEN["queries"]]


@pytest.fixture(scope="module")
def recorded() -> Any:
    """A buffer with the recorded transforms."""
    buffer = tf2_ros.Buffer(cache_time=Duration(seconds=100))
    for parent, child, static, stamp_ns, *values in GOLDEN["transforms"]:
        insert = buffer.set_transform_static if static else buffer.set_transform
        insert(stamped(parent, child, stamp_ns, tuple(values)), "recorded")
    return buffer


def test_every_recorded_transform_is_found_to_1e_9(recorded: Any) -> None:
    checked = 0
    for target, source, time_ns, answer in QUERIES:
        if isinstance(answer, str):
            continue
        found = recorded.lookup_transform(target, source, Time(nanoseconds=time_ns))
        np.testing.assert_allclose(numbers(found), answer, rtol=0, atol=1e-9, err_msg=f"{target} {source} {time_ns}")
        assert (found.header.frame_id, found.child_frame_id) == (target, source)
        assert recorded.can_transform(target, source, Time(nanoseconds=time_ns))
        checked += 1
    assert checked == 1050


def test_transforms_of_one_stamp_count_as_recorded() -> None:
    path = Path(__file__).parents[1] / "data" / "tf2_equal_stamps.json"
    answered = 0
    for world in json.loads(path.read_text())["worlds"]:
        buffer = tf2_ros.Buffer(cache_time=Duration(seconds=100_000))
        for parent, child, static, stamp_ns, *values in world["transforms"]:
            insert = buffer.set_transform_static if static else buffer.set_transform
            insert(stamped(parent, child, stamp_ns, tuple(values)), "recorded")
        for target, source, time_ns, answer in world["queries"]:
            what = f"{target} {source} {time_ns}"
            if isinstance(answer, str):
                with pytest.raises(getattr(tf2_ros, answer)):
                    buffer.lookup_transform(target, source, Time(nanoseconds=time_ns))
                continue
            found = numbers(buffer.lookup_transform(target, source, Time(nanoseconds=time_ns)))
            sign = np.where(np.arange(7) < 3, 1.0, np.sign(np.dot(found[3:], answer[3:])))
            np.testing.assert_allclose(found * sign, answer, rtol=0, atol=1e-9, err_msg=what)
            answered += 1
    assert answered == 239


def test_every_recorded_failure_is_the_same_exception(recorded: Any) -> None:
    seen = []
    for target, source, time_ns, answer in QUERIES:
        if not isinstance(answer, str):
            continue
        with pytest.raises(tf2_ros.TransformException) as raised:
            recorded.lookup_transform(target, source, Time(nanoseconds=time_ns))
        assert type(raised.value).__name__ == answer, f"{target} {source} {time_ns}: {raised.value}"
        possible, reason = recorded.can_transform(target, source, Time(nanoseconds=time_ns), return_debug_tuple=True)
        assert not possible
        assert reason
        seen.append(answer)
    assert {name: seen.count(name) for name in set(seen)} == {
        "ExtrapolationException": 94,
        "ConnectivityException": 31,
        "LookupException": 25,
    }
