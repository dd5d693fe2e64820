# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Checks of numbers that are too large for a simulator: with them, an engine diverges or crashes."""

from __future__ import annotations

from collections.abc import Iterable

from robot_semantics.base.errors import ArrayError
from robot_semantics.transforms.pose import Pose
from robot_semantics.transforms.rows import LARGEST
from robot_semantics.usdf.fields import fields_of, walk
from robot_semantics.usdf.table import NUMERIC
from robot_semantics.usdf.world_state import WorldState


def check_numbers(what: str, numbers: Iterable[float]) -> None:
    """Refuse numbers that are not finite or too large.

    Raises:
        ArrayError: a number is refused; `what` names its place.
    """
    for number in numbers:
        if not abs(number) <= LARGEST:
            raise ArrayError(what, f"{number:g} is beyond {LARGEST:g}, the limit of a simulator")


def check_magnitudes(state: WorldState) -> None:
    """Refuse a state with numbers that are not finite or too large. Arrays of engine states are not checked.

    Raises:
        ArrayError: a number is too large; the message has the element's path.
    """
    for item in walk(state):
        for field in fields_of(item.element):
            value = getattr(item.value, field.name) if field.quantity.form in NUMERIC else None
            if value is not None:
                check_numbers(f"{item.xml_path}/{field.tag}", value.xyz_rpy if isinstance(value, Pose) else value)
