# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The elements of a format's table made ready for reading: names as lxml has them, what a version has, known values."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from robot_semantics.xml.schema import TEXT, Child, Element, Kind, Table

Known = Mapping[Kind, Mapping[str, Any]]
"""Values of texts that have been parsed already, by kind."""


class ElementPlan:
    """An element of a table with its names as lxml has them, in one version of the format.

    Attributes:
        attributes: by key: field, and what makes a value of the text (None: it is the text).
        newer: attributes that only a later version has, with that version.
        leaves: of children with nothing but a text, by key: field, and those texts' values.
        since: the version that brought it, if that is a later one.
        within: the tags from the element that keeps what is not known in this one, as in ``geometry/box``.
    """

    def __init__(self, element: Element, table: Table, version: str, known: Known) -> None:
        self.element = element
        self.tag, self.make, self.text = element.tag, element.make, element.text
        self.check, self.whole, self.partial = element.check, element.whole, element.partial
        self.numbered, self.keeps, self.choice = element.numbered, element.keeps, element.choice
        self.since = element.since if element.since > version else ""
        self.attributes = {
            table.key(name): (attribute.field, _parser(attribute.kind, known))
            for name, attribute in element.attributes.items()
            if attribute.since <= version
        }
        self.newer = {name: a.since for name, a in element.attributes.items() if a.since > version}
        self.required = [
            (name, element.attributes[name].field, element.attributes[name].default) for name in element.required
        ]
        self.known_texts = known.get(element.text, {}) if element.text is not None else {}
        self.leaves = {
            table.key(tag): (child.field, known.get(child.element.text, {}))
            for tag, child in element.children.items()
            if child.element.text is not None and child.element.make is None and not child.many
        }
        self.children: dict[str, tuple[Child, ElementPlan]] = {}
        self.needed = [(tag, child.field) for tag, child in element.children.items() if child.required]
        self.many = {child.field for child in element.children.values() if child.many and not child.keyed}
        self.within = ""


def _parser(kind: Kind, known: Known) -> Any:
    if kind is TEXT:
        return None
    values = known.get(kind)
    if not values:
        return kind.parse
    return lambda text: values[text] if text in values else kind.parse(text)


def plans_of(table: Table, version: str, known: Known) -> ElementPlan:
    """Return the plan of a table's root, all others below it."""
    plans = {id(element): ElementPlan(element, table, version, known) for element in table.root.all()}
    for plan in plans.values():
        for tag, child in plan.element.children.items():
            below = plans[id(child.element)]
            plan.children[table.key(tag)] = child, below
            if not below.keeps:
                below.within = f"{plan.within}/{below.tag}" if plan.within else below.tag
    return plans[id(table.root)]


@cache
def lasting_plans(table: Table, version: str) -> ElementPlan:
    """Return the plans of a table without known texts; they are made once."""
    return plans_of(table, version, {})
