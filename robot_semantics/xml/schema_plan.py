# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The elements of a format's table made ready for reading: names as lxml has them, what a version has."""

from __future__ import annotations

from functools import cache

from robot_semantics.xml.schema import Child, Element, Kind, Table


class ElementPlan:
    """An element of a table with its names as lxml has them, in one version of the format.

    Attributes:
        attributes: by key: field, and of what kind the text is.
        newer: attributes that only a later version has, with that version.
        rows: the field of each child, by key, whose text is all there is and can be parsed with others in one go.
        incomplete: whether there is more to look at once all children have been read.
        since: the version that brought it, if that is a later one.
        within: the tags from the element that keeps what is not known in this one, as in ``geometry/box``.
    """

    def __init__(self, element: Element, table: Table, version: str) -> None:
        self.element = element
        self.tag, self.make, self.text = element.tag, element.make, element.text
        self.check, self.whole, self.partial = element.check, element.whole, element.partial
        self.numbered, self.keeps, self.choice = element.numbered, element.keeps, element.choice
        self.since = element.since if element.since > version else ""
        self.attributes = {
            table.key(name): (attribute.field, attribute.kind)
            for name, attribute in element.attributes.items()
            if attribute.since <= version
        }
        self.newer = {name: a.since for name, a in element.attributes.items() if a.since > version}
        self.required = {element.attributes[name].field for name in element.required}
        self.rows = {
            table.key(tag): child.field
            for tag, child in element.children.items()
            if child.element.text is not None
            and child.element.text.parse_all is not None
            and child.element.make is None
            and not child.many
        }
        self.children: dict[str, tuple[Child, ElementPlan]] = {}
        self.needed = [(tag, child.field) for tag, child in element.children.items() if child.required]
        self.many = {child.field for child in element.children.values() if child.many and not child.keyed}
        self.incomplete = bool(self.needed or self.many or self.choice)
        self.within = ""


@cache
def root_plan(table: Table, version: str) -> ElementPlan:
    """Return the plan of a table's root, all others below it."""
    plans = {id(element): ElementPlan(element, table, version) for element in table.root.all()}
    for plan in plans.values():
        for tag, child in plan.element.children.items():
            below = plans[id(child.element)]
            plan.children[table.key(tag)] = child, below
            if not below.keeps:
                below.within = f"{plan.within}/{below.tag}" if plan.within else below.tag
    return plans[id(table.root)]


@cache
def kinds_of_rows(table: Table) -> list[tuple[Kind, list[str], list[tuple[str, str]]]]:
    """Return the kinds whose texts can be parsed in one go, with the keys of elements and attributes that hold them.

    An attribute's keys are those of its element and its own.
    """
    tags: dict[Kind, list[str]] = {}
    attributes: dict[Kind, list[tuple[str, str]]] = {}
    for element in table.root.all():
        if element.text is not None:
            tags.setdefault(element.text, []).append(table.key(element.tag))
        for name, attribute in element.attributes.items():
            attributes.setdefault(attribute.kind, []).append((table.key(element.tag), table.key(name)))
    kinds = [kind for kind in {**tags, **attributes} if kind.parse_all is not None]
    return [(kind, tags.get(kind, []), attributes.get(kind, [])) for kind in kinds]
