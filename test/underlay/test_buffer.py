# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The rules of a buffer one by one, on motions simple enough to know the answer. The real tf2 passes them too,
except the test of quaternions of other lengths."""

from __future__ import annotations

import threading
import time
from math import cos, sin

import numpy as np
import pytest
import tf2_ros
from rclpy.duration import Duration
from rclpy.time import Time
from support.tf_messages import numbers, stamped

SECOND = 1_000_000_000


def along_x(x: float) -> tuple[float, ...]:
    return (x, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0)


@pytest.fixture
def buffer() -> tf2_ros.Buffer:
    """World -> a moves from x = 1 at 1 s to x = 3 at 3 s; a -> b is static at x = 10."""
    buffer = tf2_ros.Buffer()
    buffer.set_transform(stamped("world", "a", 1 * SECOND, along_x(1.0)), "test")
    buffer.set_transform(stamped("world", "a", 3 * SECOND, along_x(3.0)), "test")
    buffer.set_transform_static(stamped("a", "b", 0, along_x(10.0)), "test")
    return buffer


def test_positions_are_interpolated_on_the_straight_line(buffer: tf2_ros.Buffer) -> None:
    found = buffer.lookup_transform("world", "b", Time(seconds=1.5))
    np.testing.assert_allclose(numbers(found), along_x(11.5), atol=1e-12)
    assert Time.from_msg(found.header.stamp).nanoseconds == 1_500_000_000


def test_rotations_take_the_shorter_arc_whatever_the_quaternions_sign() -> None:
    buffer = tf2_ros.Buffer()
    half = 0.4
    buffer.set_transform(stamped("world", "a", 1 * SECOND), "test")
    buffer.set_transform(stamped("world", "a", 2 * SECOND, (0, 0, 0, 0.0, 0.0, -sin(half), -cos(half))), "test")
    found = buffer.lookup_transform("world", "a", Time(seconds=1.25))
    np.testing.assert_allclose(numbers(found)[3:], [0.0, 0.0, sin(half / 4), cos(half / 4)], atol=1e-12)


def test_time_zero_is_the_newest_time_that_all_have(buffer: tf2_ros.Buffer) -> None:
    buffer.set_transform(stamped("b", "c", 2 * SECOND, along_x(100.0)), "test")
    buffer.set_transform(stamped("b", "c", 4 * SECOND, along_x(100.0)), "test")
    found = buffer.lookup_transform("world", "c", Time())
    np.testing.assert_allclose(numbers(found), along_x(113.0), atol=1e-12)
    assert Time.from_msg(found.header.stamp).nanoseconds == 3 * SECOND
    assert buffer.get_latest_common_time("world", "c").nanoseconds == 3 * SECOND
    assert buffer.get_latest_common_time("a", "b").nanoseconds == 0


def test_static_frames_hold_at_any_time(buffer: tf2_ros.Buffer) -> None:
    for at in (Time(), Time(nanoseconds=1), Time(seconds=1000)):
        np.testing.assert_allclose(numbers(buffer.lookup_transform("b", "a", at)), along_x(-10.0), atol=1e-12)


@pytest.mark.parametrize(
    ("target", "source", "seconds", "expected"),
    [
        ("world", "b", 0.5, tf2_ros.ExtrapolationException),
        ("world", "b", 3.5, tf2_ros.ExtrapolationException),
        ("b", "world", 3.5, tf2_ros.ExtrapolationException),
        ("world", "nowhere", 2.0, tf2_ros.LookupException),
        ("nowhere", "world", 2.0, tf2_ros.LookupException),
        ("world", "island", 2.0, tf2_ros.ConnectivityException),
        ("world", "island", 0.0, tf2_ros.ConnectivityException),
        ("", "world", 2.0, tf2_ros.InvalidArgumentException),
        ("/world", "a", 2.0, tf2_ros.InvalidArgumentException),
    ],
)
def test_what_cannot_be_answered_raises(
    buffer: tf2_ros.Buffer, target: str, source: str, seconds: float, expected: type[Exception]
) -> None:
    buffer.set_transform_static(stamped("island", "rock"), "test")
    with pytest.raises(expected):
        buffer.lookup_transform(target, source, Time(seconds=seconds))
    assert not buffer.can_transform(target, source, Time(seconds=seconds))


def test_a_frame_in_itself_is_the_identity_even_when_unknown(buffer: tf2_ros.Buffer) -> None:
    assert numbers(buffer.lookup_transform("nowhere", "nowhere", Time(seconds=7))) == list(along_x(0.0))


def test_between_two_times_the_fixed_frame_stays(buffer: tf2_ros.Buffer) -> None:
    found = buffer.lookup_transform_full("a", Time(seconds=3), "a", Time(seconds=1), "world")
    np.testing.assert_allclose(numbers(found), along_x(-2.0), atol=1e-12)
    assert buffer.can_transform_full("a", Time(seconds=3), "a", Time(seconds=1), "world")
    assert not buffer.can_transform_full("a", Time(seconds=4), "a", Time(seconds=1), "world")


def test_what_is_older_than_the_cache_is_forgotten_and_not_taken() -> None:
    buffer = tf2_ros.Buffer(cache_time=Duration(seconds=2))
    for second in (1, 2, 3, 4):
        buffer.set_transform(stamped("world", "a", second * SECOND, along_x(float(second))), "test")
    # The list is pruned before a new sample goes in: the sample at 1 s goes with the next one.
    buffer.set_transform(stamped("world", "a", 4 * SECOND + 1, along_x(4.0)), "test")
    assert not buffer.can_transform("world", "a", Time(seconds=1.5))
    assert buffer.can_transform("world", "a", Time(seconds=2.5))
    buffer.set_transform(stamped("world", "a", SECOND, along_x(1.0)), "test")
    assert not buffer.can_transform("world", "a", Time(seconds=1))


@pytest.mark.parametrize(
    "message",
    [
        stamped("world", "world", SECOND),
        stamped("", "new", SECOND),
        stamped("world", "", SECOND),
        stamped("world", "new", SECOND, (float("nan"), 0, 0, 0, 0, 0, 1.0)),
        stamped("world", "new", SECOND, (0.0, 0, 0, float("nan"), 0, 0, 1.0)),
        stamped("world", "new", SECOND, (0.0, 0, 0, float("inf"), 0, 0, 1.0)),
        stamped("world", "new", SECOND, (0.0, 0, 0, 0, 0, 0, 0.0)),
    ],
    ids=["self", "no parent", "no child", "nan", "nan rotation", "infinite rotation", "zero quaternion"],
)
def test_invalid_transforms_are_not_taken(buffer: tf2_ros.Buffer, message: object) -> None:
    buffer.set_transform(message, "test")
    assert not buffer.can_transform("world", "new", Time())


def test_quaternions_that_are_no_rotation_are_ignored(buffer: tf2_ros.Buffer) -> None:
    # The squared length may differ from 1 by at most 0.01. The real tf2 normalises other quaternions.
    buffer.set_transform(stamped("world", "new", SECOND, (0.0, 0, 0, 0, 0, -3.0, -4.0)), "test")
    with pytest.raises(tf2_ros.LookupException):
        buffer.lookup_transform("world", "new", Time())
    buffer.set_transform(stamped("world", "new", SECOND, (0.0, 0, 0, 0, 0, -0.6024, -0.8032)), "test")
    found = buffer.lookup_transform("world", "new", Time())
    np.testing.assert_allclose(numbers(found)[3:], [0.0, 0.0, 0.6, 0.8], atol=1e-12)


def test_times_and_durations_may_be_messages() -> None:
    # tf2 takes rclpy's type and the message's type in every argument.
    buffer = tf2_ros.Buffer(cache_time=Duration(seconds=2).to_msg())
    for second in (1, 2, 3, 4):
        buffer.set_transform(stamped("world", "a", second * SECOND, along_x(float(second))), "test")
    at, newest = Time(seconds=2.5).to_msg(), Time().to_msg()
    np.testing.assert_allclose(numbers(buffer.lookup_transform("world", "a", at)), along_x(2.5), atol=1e-12)
    np.testing.assert_allclose(numbers(buffer.lookup_transform("world", "a", newest)), along_x(4.0), atol=1e-12)
    found = buffer.lookup_transform_full("a", newest, "a", at, "world")
    np.testing.assert_allclose(numbers(found), along_x(-1.5), atol=1e-12)
    assert buffer.can_transform("world", "a", at)
    assert not buffer.can_transform("world", "a", Time(seconds=9).to_msg())
    assert buffer.can_transform_full("a", newest, "a", at, "world")
    assert buffer.wait_for_transform_async("world", "a", at).done()
    assert buffer.wait_for_transform_full_async("a", newest, "a", at, "world").done()


def test_a_loop_is_an_error_and_no_hang(buffer: tf2_ros.Buffer) -> None:
    buffer.set_transform_static(stamped("y", "x"), "test")
    buffer.set_transform_static(stamped("x", "y"), "test")
    with pytest.raises(tf2_ros.LookupException, match="loop"):
        buffer.lookup_transform("world", "x", Time(seconds=1))


def test_a_frame_may_change_its_parent(buffer: tf2_ros.Buffer) -> None:
    buffer.set_transform(stamped("other", "a", 5 * SECOND, along_x(7.0)), "test")
    np.testing.assert_allclose(numbers(buffer.lookup_transform("other", "b", Time(seconds=5))), along_x(17.0))
    # Between samples with different parents the older one holds.
    np.testing.assert_allclose(numbers(buffer.lookup_transform("world", "b", Time(seconds=4))), along_x(13.0))


def test_clearing_forgets_what_moves_and_keeps_what_does_not(buffer: tf2_ros.Buffer) -> None:
    buffer.clear()
    assert not buffer.can_transform("world", "a", Time())
    assert buffer.can_transform("a", "b", Time())


def test_a_look_up_waits_for_the_transform(buffer: tf2_ros.Buffer) -> None:
    later = threading.Timer(0.1, lambda: buffer.set_transform(stamped("b", "late", 2 * SECOND, along_x(1.0)), "test"))
    later.start()
    found = buffer.lookup_transform("a", "late", Time(seconds=2), timeout=Duration(seconds=20))
    np.testing.assert_allclose(numbers(found), along_x(11.0), atol=1e-12)
    later.join()


def test_waiting_ends_with_the_timeout(buffer: tf2_ros.Buffer) -> None:
    started = time.monotonic()
    assert not buffer.can_transform("world", "never", Time(), timeout=Duration(seconds=0.2))
    assert 0.19 < time.monotonic() - started < 5.0


def test_a_future_is_done_when_the_transform_comes(buffer: tf2_ros.Buffer) -> None:
    at_once = buffer.wait_for_transform_async("world", "b", Time(seconds=2))
    assert at_once.done()
    future = buffer.wait_for_transform_async("world", "late", Time(seconds=2))
    assert not future.done()
    buffer.set_transform_static(stamped("b", "late"), "test")
    assert future.done()
    np.testing.assert_allclose(numbers(future.result()), along_x(12.0), atol=1e-12)


def test_the_tree_is_shown_as_yaml(buffer: tf2_ros.Buffer) -> None:
    text = buffer.all_frames_as_yaml()
    assert "a: \n  parent: 'world'\n  broadcaster: 'test'\n" in text
    assert "buffer_length: 2.000" in text
