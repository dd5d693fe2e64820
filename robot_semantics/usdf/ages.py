# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The ages of a state's values: the state has one time, but its values were measured at different times."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from robot_semantics.usdf.fields import ElementField, fields_of, lists_of, walk
from robot_semantics.usdf.table import AGE_OF_VALUE, USDF
from robot_semantics.usdf.world_state import Frame, ModelState, WorldState
from robot_semantics.xml.schema import Element


class ValueAge(NamedTuple):
    """The age of one value.

    Attributes:
        model: the model of the joint; None for a frame, or for a model as a whole.
        name: name of the joint, frame or model.
        age_ns: time between the measurement and the state's time.
    """

    model: str | None
    name: str
    age_ns: int


def with_ages(state: WorldState, ages: Sequence[ValueAge]) -> WorldState:
    """Return the state with these ages instead of its own. Ages of values that the state does not have are ignored."""
    by_name = {(age.model, age.name): age.age_ns for age in ages}

    def aged(value: Any, element: Element, model: str | None) -> Any:
        changes: dict[str, Any] = {
            items.field: tuple(aged(item, items.element, _model(value)) for item in getattr(value, items.field))
            for items in lists_of(element)
            if not items.keyed
        }
        changes |= {field.name: by_name.get((model, value.name)) for field in _age_fields(element)}
        return replace(value, **changes) if changes else value

    result: WorldState = aged(state, USDF.root, None)
    return result


def ages_of(state: WorldState) -> tuple[ValueAge, ...]:
    """Return the ages in a state, ages in models first."""
    found: list[ValueAge] = []
    model: str | None = None
    for item in walk(state):
        if isinstance(item.value, ModelState | Frame):
            model = None
        found += [
            ValueAge(model, item.value.name, age_ns)
            for field in _age_fields(item.element)
            if (age_ns := getattr(item.value, field.name)) is not None
        ]
        model = _model(item.value) or model
    return tuple(sorted(found, key=lambda age: age.model is None))


def _age_fields(element: Element) -> list[ElementField]:
    return [field for field in fields_of(element) if field.quantity is AGE_OF_VALUE]


def _model(value: object) -> str | None:
    return value.name if isinstance(value, ModelState) else None
