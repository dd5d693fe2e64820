# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Content that the format's table does not have: kept or omitted, and reported at its place."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from lxml import etree

from robot_semantics.base.diagnostics import Diagnostics, Severity
from robot_semantics.xml.document import XmlDocument, is_macro
from robot_semantics.xml.foreign import ForeignKeeper, NoForeignKeeper
from robot_semantics.xml.numbers import one_line
from robot_semantics.xml.schema import FormatTable
from robot_semantics.xml.schema_plan import ElementPlan, child_keys

_KEPT = "; it is kept but not used"


def is_element(node: etree._Element) -> bool:
    """Return True for an element; comments and instructions have a function as their tag."""
    tag: object = node.tag
    return isinstance(tag, str)


class ProblemReporter:
    """Reporter of the problems of one document in a format.

    Attributes:
        document: the document being read.
        silenced: unknown elements that have been reported already.
    """

    def __init__(self, document: XmlDocument, table: FormatTable[object], found: Diagnostics) -> None:
        self.document = document
        self.table = table
        self.found = found
        self.keeper: ForeignKeeper[Any] = NoForeignKeeper() if table.keeper is None else table.keeper(document)
        self.silenced: set[etree._Element] = set()

    def unknown_attributes(
        self, node: etree._Element, plan: ElementPlan, at: int, values: Mapping[str, str], kept: list[object]
    ) -> None:
        """Keep and report attributes that the table does not have."""
        table, within = self.table, "" if plan.keeps else plan.within
        keeps = table.unknown is not Severity.ERROR
        kept += self.keeper.attributes(
            node, within, {key: text for key, text in values.items() if keeps or key.startswith("{")}
        )
        for key in values:
            name = self.table.name(key)
            namespace = key[1:].partition("}")[0] if key.startswith("{") else ""
            newer = plan.newer.get(name)
            if newer is not None:
                message = f"attribute '{name}' of <{plan.tag}> needs version {newer} of <{table.root.tag}>{_KEPT}"
                self.warning("newer-version", message, at, name)
            elif not namespace or namespace == table.namespace:
                bad = not namespace and not keeps
                message = f"attribute '{name}' is not known in <{plan.tag}>{'' if bad else _KEPT}"
                how = self.error if bad else self.warning
                how("unknown-attribute", message, at, name, name=name, valid=tuple(plan.element.attributes))
            elif table.reports_foreign:
                name = key.rpartition("}")[2]
                message = f"attribute '{name}' of <{plan.tag}> is of another namespace{_KEPT}"
                self.warning("foreign-content", message, at)

    def unknown_child(
        self, child: etree._Element, at: int, plan: ElementPlan, kept: list[object], position: int
    ) -> bool:
        """Keep an unknown element if possible; return True if it is allowed here."""
        try:
            entries = self.keeper.child(child, at, "" if plan.keeps else plan.within, position)
        except etree.C14NError:
            message = "this cannot be kept: its namespace is a relative URI"
            self.error("relative-namespace", message, at)
            return False
        if child not in self.silenced and not self._is_allowed_here(child, child.tag, at, plan):
            return False
        kept += entries
        return True

    def _is_allowed_here(self, child: etree._Element, tag: str, at: int, plan: ElementPlan) -> bool:
        """Report an element that is unknown at its position; return True if this is not an error."""
        table, inside = self.table, plan.tag
        name = self.name_of(child)
        valid = (*plan.element.children, *table.suggested_tags)
        namespace = tag[1:].partition("}")[0] if tag.startswith("{") else ""
        if table.misplaced and tag in child_keys(table):
            homes = [e.tag for e in table.root.all() if any(table.key(word) == tag for word in e.children)]
            belongs = " or ".join(f"<{home}>" for home in homes)
            message = f"<{name}> has no meaning in <{inside}>; move it into {belongs}"
            self.error("misplaced-element", message, at)
            return False
        if is_macro(child) and not table.reports_foreign:
            local = etree.QName(tag).localname
            message = f"<xacro:{local}> is a macro that was not expanded{_KEPT}"
            self.warning("xacro-not-expanded", message, at)
        elif not namespace:
            if tag in table.silent_tags:
                return True
            kept = "" if table.unknown is Severity.ERROR else _KEPT
            message = f"<{name}> is not known in <{inside}>{kept}"
            self._as_unknown("unknown-element", message, at, name=name, valid=valid)
            return table.unknown is not Severity.ERROR
        elif namespace == table.namespace:
            self.warning("unknown-element", f"<{name}> is not known in <{inside}>{_KEPT}", at, name=name, valid=valid)
        elif table.reports_foreign:
            message = f"<{etree.QName(tag).localname}> is of another namespace{_KEPT}"
            self.warning("foreign-content", message, at)
        return True

    def unknown_choice(self, tag: str, plan: ElementPlan, at: int) -> None:
        """Report an unknown element in the position of a choice."""
        valid = tuple(plan.element.children)
        message = f"<{tag}> is not a known {plan.choice}; known are {', '.join(valid)}"
        self.error(f"unknown-{plan.choice}", message, at, name=tag, valid=valid)

    def duplicate(self, child: etree._Element, at: int, plan: ElementPlan, kept: list[object], position: int) -> None:
        """Report a repeated element that is allowed only once."""
        thing = plan.choice or f"<{self.name_of(child)}>"
        message = f"<{plan.tag}> has more than one {thing}"
        if self.table.unknown is Severity.ERROR:
            self.error("duplicate-element", message, at)
            return
        self.warning("duplicate-element", f"{message}; the first is used, this one is kept but not used", at)
        kept += self.keeper.child(child, at, "" if plan.keeps else plan.within, position)

    def stray(self, plan: ElementPlan, text: str, at: int) -> None:
        """Report a text between tags."""
        message = f"the text '{one_line(text, 40)}' in <{plan.tag}> is not used"
        self._as_unknown("stray-text", message, at)

    # -- reports -------------------------------------------------------------------------------------------------------

    def missing(self, tag: str, attribute: str, at: int) -> None:
        """Report a missing required attribute."""
        self.error("missing-attribute", f"<{tag}> has no attribute '{attribute}'", at)

    def error(
        self,
        code: str,
        message: str,
        at: int,
        attribute: str | None = None,
        *,
        name: str | None = None,
        valid: Collection[str] = (),
    ) -> None:
        """Report an error at an element or its attribute; `name` and `valid` as in `Diagnostics.error`."""
        self.found.error(code, message, self.document.places.place_finder(at, attribute), name=name, valid=valid)

    def warning(
        self,
        code: str,
        message: str,
        at: int,
        attribute: str | None = None,
        *,
        name: str | None = None,
        valid: Collection[str] = (),
    ) -> None:
        """Report a warning at an element or its attribute; `name` and `valid` as in `Diagnostics.error`."""
        self.found.warning(code, message, self.document.places.place_finder(at, attribute), name=name, valid=valid)

    def _as_unknown(
        self, code: str, message: str, at: int, *, name: str | None = None, valid: Collection[str] = ()
    ) -> None:
        """Report unknown content with the severity of the format's table."""
        report = self.error if self.table.unknown is Severity.ERROR else self.warning
        report(code, message, at, name=name, valid=valid)

    def name_of(self, node: etree._Element) -> str:
        """Return an element's tag as the document has it."""
        tag = str(node.tag)
        name = self.table.name(tag)
        if not tag.startswith("{"):
            return tag
        if name != tag:
            return name
        local = etree.QName(tag).localname
        return f"{node.prefix}:{local}" if node.prefix else local
