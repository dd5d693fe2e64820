# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Memory of results is used again, but never while somebody can see it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from robot_semantics import ForwardKinematics, RobotModel
from robot_semantics.kinematics.forward import ArrayPool, aligned, whole_lines


def address(array: np.ndarray) -> int:
    return int(array.__array_interface__["data"][0])


def test_memory_comes_back_only_when_the_last_view_is_gone() -> None:
    recycler = ArrayPool(np.zeros)
    first = recycler.take((3, 4))
    first[...] = 7.0
    where, view = address(first), first[1:, 2:].T
    del first
    other = recycler.take((3, 4))
    assert address(other) != where
    np.testing.assert_array_equal(view, 7.0)
    del view
    again = recycler.take((3, 4))
    assert address(again) == where
    np.testing.assert_array_equal(again, 7.0)


def test_memory_of_another_shape_is_left_alone() -> None:
    recycler = ArrayPool(np.zeros)
    kept = recycler.take((5,))
    del kept
    assert recycler.take((6,)).shape == (6,)
    assert recycler.take((5,)).shape == (5,)


def test_a_result_that_is_held_does_not_change_when_others_are_made(random_robot: Callable[..., RobotModel]) -> None:
    forward = ForwardKinematics(random_robot(12))
    rng = np.random.default_rng(0)
    held: list[tuple[np.ndarray, np.ndarray]] = []
    for _ in range(12):
        poses = forward.link_poses(forward.space.random(rng, (64,)))
        if rng.uniform() < 0.5:
            held.append((poses[3:9, ::2], poses[3:9, ::2].copy()))
    for view, expected in held:
        np.testing.assert_array_equal(view, expected)


def test_what_no_joint_writes_is_right_in_recycled_memory(random_robot: Callable[..., RobotModel]) -> None:
    forward = ForwardKinematics(random_robot(12))
    rng = np.random.default_rng(0)
    for _ in range(4):
        poses = forward.link_poses(forward.space.random(rng, (64,)))
        np.testing.assert_array_equal(poses[:, :, 3], np.broadcast_to([0.0, 0.0, 0.0, 1.0], (64, 12, 4)))
        np.testing.assert_array_equal(poses[:, 0], np.broadcast_to(np.eye(4), (64, 4, 4)))
        del poses


def test_memory_starts_at_a_cache_line() -> None:
    for shape in ((3,), (2, 3, 5), (7, 1001)):
        array = aligned(shape)
        assert array.shape == shape
        assert address(array) % 64 == 0
        assert not array.any()
    assert [whole_lines(count) for count in (0, 1, 8, 9)] == [0, 8, 8, 16]
