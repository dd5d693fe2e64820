# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Results of many configurations: each has memory of its own, and the numbers that no joint writes are right."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from robot_semantics import ForwardKinematics, RobotModel


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


def test_what_no_joint_writes_is_right(random_robot: Callable[..., RobotModel]) -> None:
    forward = ForwardKinematics(random_robot(12))
    rng = np.random.default_rng(0)
    for _ in range(4):
        poses = forward.link_poses(forward.space.random(rng, (64,)))
        np.testing.assert_array_equal(poses[:, :, 3], np.broadcast_to([0.0, 0.0, 0.0, 1.0], (64, 12, 4)))
        np.testing.assert_array_equal(poses[:, 0], np.broadcast_to(np.eye(4), (64, 4, 4)))
        del poses
