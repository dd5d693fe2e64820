# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Result of a conversion: the converted value, and the lost data."""

from __future__ import annotations

from typing import Generic, TypeVar

from robot_semantics.base.record import record
from robot_semantics.usdf.fields import fields_of, walk
from robot_semantics.usdf.world_state import WorldState

T = TypeVar("T")


@record(frozen=True, slots=True)
class Converted(Generic[T]):
    """A converted value.

    Attributes:
        value: the value in the other format.
        lost: one sentence for each item that the other format cannot hold.
        notes: remarks on content with several possible meanings.
    """

    value: T
    lost: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def beyond_motion(state: WorldState) -> list[str]:
    """Return the parts of `state` that only USDF can hold: engine states, files, ages, the comment, foreign content."""
    lost_items: dict[str, None] = {}
    engines: dict[str, None] = {}
    for item in walk(state):
        if item.quantity is not None and item.quantity.lost:
            engines[item.quantity.lost.format(path=item.path, name=item.value.name)] = None
            continue
        for field in fields_of(item.element):
            if field.quantity.lost and getattr(item.value, field.name) not in (None, ""):
                lost_items[field.quantity.lost.format(path=item.path, name=field.tag)] = None
        if item.element.keeps and item.value.foreign:
            whose = f"'{item.path}':" if item.path else "the world's"
            lost_items[f"{whose} comments and content of foreign namespaces"] = None
    return [*engines, *lost_items]
