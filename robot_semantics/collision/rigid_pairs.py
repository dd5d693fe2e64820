# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Pairs of links that no joint moves against each other: MuJoCo never tests them, and one look decides for all."""

from __future__ import annotations

from itertools import combinations
from typing import NamedTuple

import mujoco
import numpy as np

from robot_semantics.collision.scene import CollisionScene
from robot_semantics.model.rigid_bodies import rigid_bodies
from robot_semantics.model.robot_model import RobotModel
from robot_semantics.transforms.arrays import FloatArray


class RigidContact(NamedTuple):
    """How two links stand to each other: the distance of their convex hulls [m], and whether their surfaces meet."""

    distance: float
    touch: bool

    @property
    def hulls_touch(self) -> bool:
        """Whether the convex hulls meet."""
        return self.distance <= 0.0


def rigid_contacts(robot: RobotModel, scene: CollisionScene, q: FloatArray) -> dict[tuple[int, int], RigidContact]:
    """Return how all pairs of links (a, b) with a < b stand to each other that no joint moves against one another."""
    body = rigid_bodies(robot)
    data = mujoco.MjData(scene.model)
    data.qpos[:] = scene.qpos(q)
    mujoco.mj_kinematics(scene.model, data)
    poses = scene.link_poses(data)[None]
    test = scene.surfaces.test() if scene.surfaces is not None else None
    found: dict[tuple[int, int], RigidContact] = {}
    for first, second in combinations(range(scene.model.ngeom), 2):
        a, b = sorted((int(scene.geom_link[first]), int(scene.geom_link[second])))
        if a == b or body[a] != body[b]:
            continue
        distance = mujoco.mj_geomDistance(scene.model, data, first, second, 1.0, np.zeros(6)) - 2.0 * scene.padding
        touch = distance <= 0.0
        if touch and scene.surfaces is not None and test is not None:
            pair = np.array([first]), np.array([second])
            touch = bool(scene.surfaces.decided(*pair, np.array([-distance]))[0])
            (T_a_b,) = scene.relative_poses(poses, np.array([0]), *pair)
            touch = touch or test.touch(first, second, T_a_b)
        known = found.get((a, b), RigidContact(np.inf, False))
        found[a, b] = RigidContact(min(distance, known.distance), touch or known.touch)
    return found
