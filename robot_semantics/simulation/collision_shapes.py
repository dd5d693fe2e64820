# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Collision shapes of a simulated robot, the same in every engine."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations
from typing import NamedTuple

from robot_semantics.base.names import LinkPair
from robot_semantics.collision.shapes import GeometryError, Shape, shape_of
from robot_semantics.model.queries import pair_status
from robot_semantics.model.rigid_bodies import rigid_bodies
from robot_semantics.model.robot_model import RobotModel
from robot_semantics.simulation.world_spec import BuildNote, ModelSpec
from robot_semantics.transforms.arrays import FloatArray
from robot_semantics.urdf.dialects import matrix_of
from robot_semantics.urdf.tree import Collision


class LinkShape(NamedTuple):
    """One collision geometry: the index of its link, its name ``LINK/NUMBER``, and ``T_link_shape`` (4, 4) [m]."""

    link: int
    name: str
    shape: Shape
    T_link_shape: FloatArray
    collision: Collision


def collision_shapes(spec: ModelSpec, notes: list[BuildNote]) -> list[LinkShape]:
    """Return the collision shapes of a robot, link by link. Each geometry that cannot be used gets a note."""
    shapes = []
    for link in spec.robot.links:
        for number, collision in enumerate(link.urdf.collisions):
            try:
                shape = shape_of(collision.geometry, spec.find_mesh)
            except GeometryError as error:
                message = f"collides without its geometry {number}: {error}"
                notes.append(BuildNote(spec.name, f"link '{link.name}'", message))
                continue
            T_link_shape = matrix_of(collision.origin)
            shapes.append(LinkShape(link.index, f"{link.name}/{number}", shape, T_link_shape, collision))
    if len({each.link for each in shapes}) > 1 and spec.robot.semantics.srdf is None:
        notes.append(BuildNote(spec.name, "self-collision", "is off: no SRDF states which links may touch"))
    return shapes


def excluded_pairs(robot: RobotModel, links: Iterable[int]) -> tuple[LinkPair, ...]:
    """Return the pairs of `links` (indices) that are never tested for collision, sorted.

    A pair is excluded in four cases:

    - Both links are in one rigid body.
    - A joint or a loop constraint connects the bodies of the links.
    - The SRDF does not check the pair (`pair_status`).
    - The robot has no SRDF.
    """
    rigid, names = rigid_bodies(robot), robot.link_names
    above = {rigid[link.index]: rigid[link.parent] for link in robot.links[1:] if rigid[link.index] == link.index}
    index = robot.link_index
    looped = {frozenset((rigid[index[c.parent_link]], rigid[index[c.child_link]])) for c in robot.constraints}
    no_srdf = robot.semantics.srdf is None
    excluded = []
    for first, second in combinations(links, 2):
        a, b = rigid[first], rigid[second]
        joined = a == b or above.get(a) == b or above.get(b) == a or frozenset((a, b)) in looped
        status = pair_status(robot, names[first], names[second])
        if joined or no_srdf or not status.checked:
            excluded.append(status.pair)
    return tuple(sorted(excluded))
