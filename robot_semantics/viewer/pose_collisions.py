# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Pairs of links that collide in a pose although they are checked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from robot_semantics.base.names import LinkPair
from robot_semantics.model import queries
from robot_semantics.model.robot_model import RobotModel
from robot_semantics.transforms.arrays import FloatArray

if TYPE_CHECKING:
    from robot_semantics.collision.shapes import Piece


class PoseCollisions:
    """Collision test of single poses, for one thread at a time."""

    def __init__(self, robot: RobotModel, pieces: Sequence[Piece]) -> None:
        """Compile the robot's collision geometry.

        Raises:
            MissingExtraError: the extra ``collision`` is not installed.
        """
        from robot_semantics.collision.counting import CollisionCounter
        from robot_semantics.collision.scene import build_scene

        self._counter = CollisionCounter(build_scene(robot, pieces, ()))

    def colliding(self, robot: RobotModel, q: FloatArray) -> list[LinkPair]:
        """Return the pairs that collide in positions q (size,), without those that the robot's semantics skip."""
        names = robot.link_names
        hits = self._counter.count(q[None]).surfaces.pairs()
        pairs = [LinkPair.of(names[a], names[b]) for a, b in hits]
        return sorted(pair for pair in pairs if queries.pair_status(robot, *pair).checked)
