# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Which pairs of a robot's links cannot touch: the SRDF's word, and what a joint connects."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations

from robot_semantics.base.names import LinkPair
from robot_semantics.model.rigid_bodies import rigid_bodies
from robot_semantics.model.robot_model import RobotModel


def excluded_pairs(robot: RobotModel, links: Iterable[int]) -> tuple[LinkPair, ...]:
    """Return the pairs, among `links` (indices), that are never tested against each other, sorted.

    Excluded are links of one rigid body, links of two bodies that a joint connects, pairs that the SRDF disables, and
    pairs with a link that it disables by default and does not enable. Without an SRDF nothing says which links may
    touch: then all pairs.
    """
    return tuple(sorted(_pairs(robot, tuple(links))))


def _pairs(robot: RobotModel, links: tuple[int, ...]) -> Iterable[LinkPair]:
    rigid = rigid_bodies(robot)
    above = {rigid[link.index]: rigid[link.parent] for link in robot.links[1:] if rigid[link.index] == link.index}
    semantics = robot.semantics
    default_disabled = frozenset(semantics.default_disabled_links)
    for first, second in combinations(links, 2):
        a, b = rigid[first], rigid[second]
        pair = LinkPair.of(robot.link_names[first], robot.link_names[second])
        if (
            a == b
            or above.get(a) == b
            or above.get(b) == a
            or semantics.srdf is None
            or pair in semantics.disabled_collisions
            or (not default_disabled.isdisjoint(pair) and pair not in semantics.enabled_collisions)
        ):
            yield pair
