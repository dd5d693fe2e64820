# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Rigid pairs of links: no joint moves them against each other. MuJoCo never tests them; one test is enough."""

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
    """Contact of a rigid pair: the distance of the convex hulls [m], and whether the surfaces touch."""

    distance: float
    touch: bool

    @property
    def hulls_touch(self) -> bool:
        """Whether the convex hulls touch."""
        return self.distance <= 0.0


def rigid_contacts(robot: RobotModel, scene: CollisionScene, q: FloatArray) -> dict[tuple[int, int], RigidContact]:
    """Return the contacts of all rigid pairs of links (a, b) with a < b."""
    body = rigid_bodies(robot)
    data = mujoco.MjData(scene.model)
    data.qpos[:] = scene.qpos(q)
    mujoco.mj_kinematics(scene.model, data)
    poses = scene.link_poses(data)[None]
    test = scene.surfaces.new_test() if scene.surfaces is not None else None
    contacts: dict[tuple[int, int], RigidContact] = {}
    for first, second in combinations(range(scene.model.ngeom), 2):
        a, b = sorted((int(scene.geom_link[first]), int(scene.geom_link[second])))
        if a == b or body[a] != body[b]:
            continue
        distance = mujoco.mj_geomDistance(scene.model, data, first, second, 1.0, np.zeros(6)) - 2.0 * scene.padding
        touch = distance <= 0.0
        if touch and scene.surfaces is not None and test is not None:
            pair = np.array([first]), np.array([second])
            touch = bool(scene.surfaces.is_proven(*pair, np.array([-distance]))[0])
            (T_a_b,) = scene.relative_poses(poses, np.array([0]), *pair)
            touch = touch or test.touches(first, second, T_a_b)
        known = contacts.get((a, b), RigidContact(np.inf, False))
        contacts[a, b] = RigidContact(min(distance, known.distance), touch or known.touch)
    return contacts
