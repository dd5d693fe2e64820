# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Collisions in single poses: the pairs that touch, and the nearest pose of a group that is free of collision."""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from robot_semantics.base.names import LinkPair
from robot_semantics.kinematics.forward import kinematics_of
from robot_semantics.kinematics.joint_space import JointSpace
from robot_semantics.kinematics.loops import close_loops
from robot_semantics.model import queries
from robot_semantics.model.robot_model import RobotModel
from robot_semantics.transforms.arrays import FloatArray

if TYPE_CHECKING:
    from robot_semantics.collision.shapes import Piece

USUAL_SAMPLES, USUAL_FRACTION = 60, 0.95
"""Number of samples for the pairs that always touch, and the share of them from which a pair does."""
STEPS = 20
"""Number of steps from a pose to the middle of the limits."""
TRIES = 200
"""Number of sampled positions that are tried if no step is free of collision."""
MOST_POSES = 2000
"""Largest number of poses whose touching pairs are remembered."""


class PoseCollisions:
    """Collision test of single poses of one robot; threads take turns."""

    def __init__(self, robot: RobotModel, pieces: Sequence[Piece]) -> None:
        """Compile the robot's collision geometry.

        Raises:
            MissingExtraError: the extra ``collision`` is not installed.
        """
        # Import here: only this work needs the extra.
        from robot_semantics.collision.counting import CollisionCounter
        from robot_semantics.collision.scene import build_scene

        self._robot = robot
        self._solid = {robot.link_names[piece.link] for piece in pieces}
        self._counter = CollisionCounter(build_scene(robot, pieces, ()))
        self._pairs_of_positions: dict[bytes, frozenset[LinkPair]] = {}
        self._lock = threading.Lock()

    @property
    def space_names(self) -> tuple[str, ...]:
        """The variables of the robot's positions."""
        return JointSpace.of(self._robot).names

    def touching(self, q: FloatArray) -> frozenset[LinkPair]:
        """Return every pair of links that collides in positions q (size,)."""
        key = q.tobytes()
        with self._lock:
            if key not in self._pairs_of_positions:
                if len(self._pairs_of_positions) >= MOST_POSES:
                    self._pairs_of_positions.clear()
                names = self._robot.link_names
                hits = self._counter.count(q[None]).surfaces.pairs()
                self._pairs_of_positions[key] = frozenset(LinkPair.of(names[a], names[b]) for a, b in hits)
            return self._pairs_of_positions[key]

    def colliding(self, robot: RobotModel, q: FloatArray) -> list[LinkPair]:
        """Return the pairs that collide in positions q (size,), without those that the robot's semantics skip."""
        return sorted(pair for pair in self.touching(q) if queries.pair_status(robot, *pair).checked)

    @cached_property
    def usual(self) -> frozenset[LinkPair]:
        """The pairs that touch in any pose: links with a joint between them, and pairs that touch in most samples."""
        from robot_semantics.collision.matrix import adjacent_pairs

        counts: dict[LinkPair, int] = {}
        for q in self._samples(USUAL_SAMPLES):
            for pair in self.touching(q):
                counts[pair] = counts.get(pair, 0) + 1
        always = {pair for pair, count in counts.items() if count >= USUAL_FRACTION * USUAL_SAMPLES}
        joined = {pair for pair, path in adjacent_pairs(self._robot, self._solid).items() if len(path) == 2}
        return frozenset(always | joined)

    def unusual(self, q: FloatArray, joints: Collection[str] | None = None) -> list[LinkPair]:
        """Return the pairs that collide in positions q (size,), without those that touch in any pose.

        With `joints`, only pairs that these joints move against each other are returned.
        """
        touching = self.touching(q)
        pairs = sorted(touching - self.usual) if touching else []
        if joints is None or not pairs:
            return pairs
        above = self._joints_above(joints)
        return [pair for pair in pairs if above[pair.first] != above[pair.second]]

    def free_pose(self, q: FloatArray, joints: Collection[str]) -> FloatArray | None:
        """Return the first pose without an unusual collision from q (size,) to the middle of the limits.

        Only `joints` move, and only collisions of links that they move against each other count. If no pose on the way
        is free, joints between colliding links of the best one get sampled positions, `TRIES` times; None if collisions
        remain.
        """
        space = JointSpace.of(self._robot)
        above = self._joints_above(joints)
        columns = [at for name in joints for at in range(space.size)[space.joint_positions[name]]]
        kinematics = kinematics_of(self._robot)

        def colliding(pose: FloatArray) -> list[LinkPair]:
            return self.unusual(pose, joints)

        def closed(pose: FloatArray) -> FloatArray:
            return np.asarray(close_loops(kinematics.loops, np.array(space.with_mimics(pose))))

        lower, upper = space.lower[columns], space.upper[columns]
        finite = np.isfinite(lower) & np.isfinite(upper)
        middle = q[columns].copy()
        middle[finite] = (lower[finite] + upper[finite]) / 2.0
        steps: list[tuple[FloatArray, list[LinkPair]]] = []
        for share in np.linspace(0.0, 1.0, STEPS + 1):
            step: FloatArray = q.copy()
            step[columns] = (1.0 - share) * q[columns] + share * middle
            step = closed(step)
            steps.append((step, colliding(step)))
            if not steps[-1][1]:
                return step
        pose, pairs = min(steps, key=lambda item: len(item[1]))
        for sample in self._samples(TRIES):
            between = above[pairs[0].first] ^ above[pairs[0].second]
            changed = pose.copy()
            for name in between & {*joints}:
                changed[space.joint_positions[name]] = sample[space.joint_positions[name]]
            changed = closed(changed)
            left = colliding(changed)
            if len(left) < len(pairs):
                pose, pairs = changed, left
            if not pairs:
                return pose
        return None

    def free_positions(self, robot: RobotModel, q: FloatArray, joints: Collection[str]) -> FloatArray | None:
        """Return the pose of `free_pose` from positions q (size,) of `robot`, as positions (size,) of `robot`.

        The robot is this one, or has another virtual joint.
        """
        space, own_space = JointSpace.of(robot), JointSpace.of(self._robot)
        positions: FloatArray = q.copy()
        start = np.array(own_space.neutral())
        for name, index in own_space.index.items():
            if name in space.index:
                start[index] = q[space.index[name]]
        pose = self.free_pose(start, [name for name in joints if name in own_space.joint_positions])
        if pose is None:
            return None
        for name, index in own_space.index.items():
            if name in space.index:
                positions[space.index[name]] = pose[index]
        return positions

    def _samples(self, count: int) -> Iterator[FloatArray]:
        from robot_semantics.collision.sampling import block_sampler

        space = JointSpace.of(self._robot)
        for q in block_sampler(space, 0)(0)[:count]:
            yield np.array(space.with_mimics(q))

    def _joints_above(self, joints: Collection[str]) -> dict[str, frozenset[str]]:
        """Return for each link the joints among `joints`, and their followers, between the root and the link."""
        robot, above = self._robot, dict[str, frozenset[str]]()
        for link, joint in zip(robot.links, robot.joints, strict=True):
            leader = None if joint.mimic is None else joint.mimic.joint
            before = above[robot.links[link.parent].name] if link.parent >= 0 else frozenset[str]()
            above[link.name] = before | {joint.name} if joint.name in joints or leader in joints else before
        return above
