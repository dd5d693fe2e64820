# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Rigid bodies: links that only fixed joints connect, and their inertia."""

from __future__ import annotations

import numpy as np

from robot_semantics.model.robot_model import RobotModel
from robot_semantics.transforms.arrays import FloatArray
from robot_semantics.urdf.tree import Inertial


def rigid_bodies(robot: RobotModel) -> tuple[int, ...]:
    """Return for each link the index of the topmost link to which it is rigidly fixed."""
    bodies: list[int] = [0]
    for link, joint in zip(robot.links[1:], robot.joints[1:], strict=True):
        bodies.append(link.index if joint.position_count else bodies[link.parent])
    return tuple(bodies)


def inertia_matrix(inertial: Inertial) -> FloatArray:
    """Return (3, 3) the inertia about the centre of mass, in the axes of the ``<origin>`` [kg m²]."""
    ixx, ixy, ixz, iyy, iyz, izz = inertial.inertia
    return np.array([[ixx, ixy, ixz], [ixy, iyy, iyz], [ixz, iyz, izz]])
