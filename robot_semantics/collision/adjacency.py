# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Adjacent links of the kinematic tree. Links without geometry are skipped, as in MoveIt."""

from __future__ import annotations

from collections.abc import Collection
from itertools import combinations

from robot_semantics.base.names import LinkPair
from robot_semantics.model.robot_model import RobotModel


def adjacent_pairs(robot: RobotModel, with_geometry: Collection[str]) -> dict[LinkPair, tuple[str, ...]]:
    """Return every adjacent pair among the links `with_geometry`, with the links of the path that joins it.

    Two links are adjacent if a joint connects them, or if only links without geometry are between them. A link without
    geometry cannot collide, so its neighbours are treated as neighbours of each other.
    """
    pairs: dict[LinkPair, tuple[str, ...]] = {}
    solid = set(with_geometry)
    for link in robot.links:
        if link.parent >= 0 and link.name in solid and robot.links[link.parent].name in solid:
            parent = robot.links[link.parent].name
            pairs[LinkPair.of(parent, link.name)] = (parent, link.name)
    for members in _hollow_components(robot, solid):
        around = {at for link in members for at in (robot.links[link].parent, *robot.links[link].children) if at >= 0}
        neighbours = sorted({robot.links[at].name for at in around} & solid)
        for first, second in combinations(neighbours, 2):
            pairs[LinkPair.of(first, second)] = _path(robot, first, second)
    return pairs


def _hollow_components(robot: RobotModel, solid: Collection[str]) -> list[set[int]]:
    """Return the connected sets of links without geometry, by index."""
    component: dict[int, set[int]] = {}
    for link in robot.links:
        if link.name in solid:
            continue
        # Parents come before children in model order, so the parent's set exists.
        members = component.get(link.parent, set())
        members.add(link.index)
        component[link.index] = members
    return list({id(members): members for members in component.values()}.values())


def _path(robot: RobotModel, first: str, second: str) -> tuple[str, ...]:
    """Return the links from `first` up to the nearest common ancestor and down to `second`."""
    up, down = (robot.to_root(robot.link_index[link]) for link in (first, second))
    meeting = next(at for at in up if at in down)
    way = up[: up.index(meeting) + 1] + down[: down.index(meeting)][::-1]
    return tuple(robot.links[at].name for at in way)
