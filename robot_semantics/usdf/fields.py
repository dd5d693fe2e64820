# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The fields of each element of USDF with their quantities, and a walk over all items of a world state.

The age of a value is one of these quantities: a state has one time, but its values were measured at different times.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from typing import Any, NamedTuple

from robot_semantics.usdf.table import AGE_OF_VALUE, STATEMENT, USDF, FieldQuantity, ListQuantity, ValueForm
from robot_semantics.usdf.world_state import Frame, ModelState, WorldState
from robot_semantics.xml.schema import Element

ROOT_PATH = "/world_state"


class ElementField(NamedTuple):
    """A field of an element with one value.

    Attributes:
        name: of the value's attribute.
        label: its name in messages and in JSON.
        tag: its name in XML.
        quantity: how operations use it.
        element: its element in the table, for a child element.
    """

    name: str
    label: str
    tag: str
    quantity: FieldQuantity
    element: Element | None


class ElementList(NamedTuple):
    """A list of named items in an element; with `keyed`, a mapping from names to values."""

    field: str
    tag: str
    element: Element
    quantity: ListQuantity
    keyed: bool


class WorldItem(NamedTuple):
    """A value of the state: the world, a model, a link and so on.

    Attributes:
        value: the value.
        element: its element in the table.
        path: its path in differences and lists of losses: ``pr2::base_link``; ``""`` for the world.
        xml_path: its path in a document.
        quantity: of its list; None for the world.
    """

    value: Any
    element: Element
    path: str
    xml_path: str
    quantity: ListQuantity | None


@cache
def fields_of(element: Element) -> tuple[ElementField, ...]:
    """Return the fields of an element, without lists and without the name that identifies an item of a list."""
    fields = [
        ElementField(a.field, a.json or a.field, tag, a.quantity or STATEMENT, None)
        for tag, a in element.attributes.items()
        if not (a.field == "name" and a.required)
    ]
    fields += [
        ElementField(child.field, child.json or child.field, tag, child.quantity or STATEMENT, child.element)
        for tag, child in element.children.items()
        if not child.many
    ]
    return tuple(fields)


@cache
def fields_with(element: Element, form: ValueForm) -> tuple[ElementField, ...]:
    """Return the fields of an element that have a form."""
    return tuple(field for field in fields_of(element) if field.quantity.form is form)


@cache
def lists_of(element: Element) -> tuple[ElementList, ...]:
    """Return the lists of an element."""
    return tuple(
        ElementList(child.field, tag, child.element, child.quantity, child.keyed)
        for tag, child in element.children.items()
        if child.many
    )


def walk(state: WorldState) -> Iterator[WorldItem]:
    """Yield the world and all named items in it, each before the items inside it."""
    return _walk(WorldItem(state, USDF.root, "", ROOT_PATH, None))


def _walk(item: WorldItem) -> Iterator[WorldItem]:
    yield item
    for items in lists_of(item.element):
        for value in () if items.keyed else getattr(item.value, items.field):
            path = items.quantity.path_of(item.path, value.name)
            xml_path = f"{item.xml_path}/{items.tag}[@name='{value.name}']"
            yield from _walk(WorldItem(value, items.element, path, xml_path, items.quantity))


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
    ages: list[ValueAge] = []
    model: str | None = None
    for item in walk(state):
        if isinstance(item.value, ModelState | Frame):
            model = None
        ages += [
            ValueAge(model, item.value.name, age_ns)
            for field in _age_fields(item.element)
            if (age_ns := getattr(item.value, field.name)) is not None
        ]
        model = _model(item.value) or model
    return tuple(sorted(ages, key=lambda age: age.model is None))


def _age_fields(element: Element) -> list[ElementField]:
    return [field for field in fields_of(element) if field.quantity is AGE_OF_VALUE]


def _model(value: object) -> str | None:
    return value.name if isinstance(value, ModelState) else None
