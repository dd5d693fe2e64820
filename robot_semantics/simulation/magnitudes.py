# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Numbers that no simulator can take: an engine that is given them diverges, or falls."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from robot_semantics.base.errors import ArrayError
from robot_semantics.usdf.validity import path_of
from robot_semantics.usdf.world_state import WorldState

LARGEST = 1e10
"""Beyond this [m, rad, their rates, N, N m] MuJoCo takes a number for a sign of divergence (mjMAXVAL)."""


def check_numbers(what: str, numbers: Iterable[float]) -> None:
    """Refuse numbers that are not finite or too large.

    Raises:
        ArrayError: there is one; `what` says where.
    """
    for number in numbers:
        if not abs(number) <= LARGEST:
            raise ArrayError(what, f"{number:g} is beyond {LARGEST:g}, more than a simulator can take")


def check_sizes(state: WorldState) -> None:
    """Refuse a state that states such numbers; the arrays of an engine are that engine's own affair.

    Raises:
        ArrayError: it does; the message has the element's path.
    """
    for where, numbers in _rows(state):
        if numbers is not None:
            check_numbers(where, numbers)


def _rows(state: WorldState) -> Iterator[tuple[str, Iterable[float] | None]]:
    for item in state.bodies:
        yield f"{path_of(item)}/pose", None if item.pose is None else item.pose.xyz_rpy
        yield f"{path_of(item)}/twist", item.twist
    for model in state.models:
        for link in model.links:
            path = path_of(link, path_of(model))
            yield f"{path}/pose", None if link.pose is None else link.pose.xyz_rpy
            yield f"{path}/twist", link.twist
            yield f"{path}/wrench", link.wrench
        for joint in model.joints:
            path = path_of(joint, path_of(model))
            yield f"{path}/positions", joint.positions
            yield f"{path}/velocities", joint.velocities
            yield f"{path}/torques", joint.torques
