# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""What of a robot collides in a simulation: the same shapes in every engine."""

from __future__ import annotations

from typing import NamedTuple

from robot_semantics.collision.shapes import GeometryError, Shape, shape_of
from robot_semantics.simulation.world_spec import BuildNote, ModelSpec
from robot_semantics.transforms.arrays import FloatArray
from robot_semantics.urdf.dialects import matrix_of
from robot_semantics.urdf.tree import Collision


class LinkShape(NamedTuple):
    """One geometry of the link with this index: its name ``LINK/NUMBER``, and ``T_link_shape`` (4, 4) [m]."""

    link: int
    name: str
    shape: Shape
    T_link_shape: FloatArray
    collision: Collision


def collision_shapes(spec: ModelSpec, notes: list[BuildNote]) -> list[LinkShape]:
    """Return what of a robot collides, link by link; what cannot, and why, goes to `notes`."""
    found = []
    for link in spec.robot.links:
        for number, collision in enumerate(link.urdf.collisions):
            try:
                shape = shape_of(collision.geometry, spec.find_mesh)
            except GeometryError as error:
                message = f"collides without its geometry {number}: {error}"
                notes.append(BuildNote(spec.name, f"link '{link.name}'", message))
                continue
            T_link_shape = matrix_of(collision.origin)
            found.append(LinkShape(link.index, f"{link.name}/{number}", shape, T_link_shape, collision))
    if len({each.link for each in found}) > 1 and spec.robot.semantics.srdf is None:
        notes.append(BuildNote(spec.name, "self-collision", "is off: no SRDF states which links may touch"))
    return found
