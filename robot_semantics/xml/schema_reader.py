# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Reading of a document by its format's table: each problem has its place, and invalid parts are omitted.

The places where names occur follow from the format's table of references.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from itertools import count
from typing import Any, Generic, NamedTuple, cast

from lxml import etree

from robot_semantics.base.diagnostic import Severity
from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.base.errors import DescriptionError
from robot_semantics.base.pattern import pattern
from robot_semantics.xml.document import XmlDocument, is_macro
from robot_semantics.xml.foreign import MANY_ATTRIBUTES, ForeignKeeper, NoForeignKeeper, attribute_items
from robot_semantics.xml.numbers import one_line
from robot_semantics.xml.other_formats import other_format
from robot_semantics.xml.schema import (
    LEFT_OUT,
    BadValueError,
    Child,
    ElementPlan,
    Fields,
    FormatTable,
    NamedValue,
    Reference,
    Root,
    child_keys,
    root_plan,
)

# Content that the format's table does not have: kept or omitted, and reported at its place.


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
        self.diagnostics = found
        self.keeper: ForeignKeeper[Any] = NoForeignKeeper() if table.keeper is None else table.keeper(document)
        self.silenced: set[etree._Element] = set()

    def unknown_attributes(
        self, node: etree._Element, plan: ElementPlan, number: int, values: Mapping[str, str], content: list[object]
    ) -> None:
        """Keep and report attributes that the table does not have."""
        table, within = self.table, "" if plan.keeps else plan.within
        keeps = table.unknown is not Severity.ERROR
        content += self.keeper.attributes(
            node, within, {key: text for key, text in values.items() if keeps or key.startswith("{")}
        )
        for key in values:
            name = self.table.name(key)
            namespace = key[1:].partition("}")[0] if key.startswith("{") else ""
            newer = plan.newer.get(name)
            if newer is not None:
                message = f"attribute '{name}' of <{plan.tag}> needs version {newer} of <{table.root.tag}>{_KEPT}"
                self.warning("newer-version", message, number, name)
            elif not namespace or namespace == table.namespace:
                bad = not namespace and not keeps
                message = f"attribute '{name}' is not known in <{plan.tag}>{'' if bad else _KEPT}"
                how = self.error if bad else self.warning
                how("unknown-attribute", message, number, name, name=name, valid=tuple(plan.element.attributes))
            elif table.reports_foreign:
                name = key.rpartition("}")[2]
                message = f"attribute '{name}' of <{plan.tag}> is of another namespace{_KEPT}"
                self.warning("foreign-content", message, number)

    def unknown_child(
        self, child: etree._Element, number: int, plan: ElementPlan, content: list[object], position: int
    ) -> bool:
        """Keep an unknown element if possible; return True if it is allowed here."""
        try:
            entries = self.keeper.child(child, number, "" if plan.keeps else plan.within, position)
        except etree.C14NError:
            message = "this cannot be kept: its namespace is a relative URI"
            self.error("relative-namespace", message, number)
            return False
        if child not in self.silenced and not self._is_allowed_here(child, child.tag, number, plan):
            return False
        content += entries
        return True

    def _is_allowed_here(self, child: etree._Element, tag: str, number: int, plan: ElementPlan) -> bool:
        """Report an element that is unknown at its position; return True if this is not an error."""
        table, inside = self.table, plan.tag
        name = self.name_of(child)
        valid = (*plan.element.children, *table.suggested_tags)
        namespace = tag[1:].partition("}")[0] if tag.startswith("{") else ""
        if table.misplaced and tag in child_keys(table):
            homes = [e.tag for e in table.root.all() if any(table.key(word) == tag for word in e.children)]
            belongs = " or ".join(f"<{home}>" for home in homes)
            message = f"<{name}> has no meaning in <{inside}>; move it into {belongs}"
            self.error("misplaced-element", message, number)
            return False
        if is_macro(child) and not table.reports_foreign:
            local = etree.QName(tag).localname
            message = f"<xacro:{local}> is a macro that was not expanded{_KEPT}"
            self.warning("xacro-not-expanded", message, number)
        elif not namespace:
            if tag in table.silent_tags:
                return True
            kept = "" if table.unknown is Severity.ERROR else _KEPT
            message = f"<{name}> is not known in <{inside}>{kept}"
            self._as_unknown("unknown-element", message, number, name=name, valid=valid)
            return table.unknown is not Severity.ERROR
        elif namespace == table.namespace:
            self.warning(
                "unknown-element", f"<{name}> is not known in <{inside}>{_KEPT}", number, name=name, valid=valid
            )
        elif table.reports_foreign:
            message = f"<{etree.QName(tag).localname}> is of another namespace{_KEPT}"
            self.warning("foreign-content", message, number)
        return True

    def unknown_choice(self, tag: str, plan: ElementPlan, at: int) -> None:
        """Report an unknown element in the position of a choice."""
        valid = tuple(plan.element.children)
        message = f"<{tag}> is not a known {plan.choice}; known are {', '.join(valid)}"
        self.error(f"unknown-{plan.choice}", message, at, name=tag, valid=valid)

    def duplicate(
        self, child: etree._Element, number: int, plan: ElementPlan, content: list[object], position: int
    ) -> None:
        """Report a repeated element that is allowed only once."""
        thing = plan.choice or f"<{self.name_of(child)}>"
        message = f"<{plan.tag}> has more than one {thing}"
        if self.table.unknown is Severity.ERROR:
            self.error("duplicate-element", message, number)
            return
        self.warning("duplicate-element", f"{message}; the first is used, this one is kept but not used", number)
        content += self.keeper.child(child, number, "" if plan.keeps else plan.within, position)

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
        number: int,
        attribute: str | None = None,
        *,
        name: str | None = None,
        valid: Collection[str] = (),
    ) -> None:
        """Report an error at an element or its attribute; `name` and `valid` as in `Diagnostics.error`."""
        self.diagnostics.error(
            code, message, self.document.places.place_finder(number, attribute), name=name, valid=valid
        )

    def warning(
        self,
        code: str,
        message: str,
        number: int,
        attribute: str | None = None,
        *,
        name: str | None = None,
        valid: Collection[str] = (),
    ) -> None:
        """Report a warning at an element or its attribute; `name` and `valid` as in `Diagnostics.error`."""
        self.diagnostics.warning(
            code, message, self.document.places.place_finder(number, attribute), name=name, valid=valid
        )

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


_SPACE = " \t\r\n"
_MANY_ATTRIBUTES = 5_000
_MAY_BE_STRAY = pattern(rb">\s*[^<\s]")
_LONG_TAG = pattern(rb"<[^<]{%d}" % (MANY_ATTRIBUTES * len(' a=""')))
"""A tag, with the text after it, that is long enough for more than `MANY_ATTRIBUTES` attributes."""


def read_table(document: XmlDocument, table: FormatTable[Root], diagnostics: Diagnostics) -> Root:
    """Return the value of a document's root; add problems to `diagnostics`.

    Raises:
        DescriptionError: the root belongs to another format, or cannot be read at all.
    """
    return TableReader(document, table, diagnostics).read_root()


class TableReader(ProblemReporter, Generic[Root]):
    """One walk over a tree, in document order.

    Attributes:
        version: the document's version of the format, if it has one.
        faulty: tags of the elements that could not be read completely.
    """

    def __init__(self, document: XmlDocument, table: FormatTable[Root], found: Diagnostics, version: str = "") -> None:
        super().__init__(document, table, found)
        self.version = version
        self.faulty: set[str] = set()
        self._root = self.node = document.head
        self._numbers: Iterator[int] = iter(())
        self._ordered = self.keeper.ordered
        # Search the whole text once: most documents have neither, and two searches of each element take long.
        text = document.places.text
        self._has_stray = _MAY_BE_STRAY.search(text) is not None or b"<![CDATA[" in text
        # To count the attributes of each element first takes 5 % longer.
        many = text.count(b"=") > _MANY_ATTRIBUTES and _LONG_TAG.search(text) is not None
        self._attributes_of: Callable[[etree._Element], list[tuple[str, str]]] = (
            attribute_items if many else etree._Element.items  # type: ignore[assignment]  # they are str here
        )

    def read_root(self) -> Root:
        """Return the value of the root.

        Raises:
            DescriptionError: the root belongs to another format, or cannot be read at all.
        """
        root, table = self._root, self.table
        if root.tag not in (table.root.tag, *table.other_roots):
            own = Diagnostics()
            name = self.name_of(root)
            what = other_format(self.document.places.text, self.document.places.source)
            message = f"the root element should be <{table.root.tag}>, not <{name}>{f'; {what}' if what else ''}"
            own.error("wrong-root", message, self.document.places.place(0))
            raise DescriptionError(own)
        value = self.read_whole(root, self.plan())
        if value is None or value is LEFT_OUT:
            raise DescriptionError(self.diagnostics)
        return cast("Root", value)

    def plan(self) -> ElementPlan:
        """Return the plan of the table's root."""
        return root_plan(self.table, self.version)

    def read_whole(self, node: etree._Element, plan: ElementPlan) -> object:
        """Return the value of an element that is read alone, with its whole content."""
        document = self.document
        # In an unchanged tree the walk gives the numbers in order; to look each number up takes 7 % longer.
        self._numbers = iter([document.ordinal(part) for part in node.iter("*")]) if document.changed else count()
        return self.read(node, plan, [], next(self._numbers))

    def _pass_over(self, node: etree._Element) -> None:
        """Skip the numbers of the elements inside one that is not read."""
        for _ in node.iterdescendants("*"):
            next(self._numbers)

    # -- one element ---------------------------------------------------------------------------------------------------

    def read(self, node: etree._Element, plan: ElementPlan, above: list[object], number: int) -> object:
        """Return the value of element number `number`: None if it has no content, `LEFT_OUT` if it is invalid.

        Unknown content that this element cannot keep is added to `above`.
        """
        if plan.since:
            self._pass_over(node)
            self.error("newer-version", f"<{plan.tag}> needs version {plan.since} of <{self.table.root.tag}>", number)
            return LEFT_OUT
        values: Fields = {}
        content: list[object] = [] if plan.keeps else above
        order: list[str] = []
        good = self._attributes(node, plan, number, values, content)
        is_complete = plan.required.issubset(values) or self._required(node, plan, number, values)
        good = self._content(node, plan, number, values, content, order) and good
        if plan.check is not None and good and is_complete:
            self.node = node
            good = plan.check(self, values, number)
        if plan.keeps and (content or (order and self._ordered)):
            self.keeper.put(values, content, order)
        if not (good and is_complete):
            self.faulty.add(plan.tag)
            if not is_complete or not _is_usable(plan, values):
                return LEFT_OUT if not good else None
        if plan.make is None:
            return values.get("")
        if plan.numbered:
            values["ordinal"] = number
        return plan.make(**values)

    def _content(
        self,
        node: etree._Element,
        plan: ElementPlan,
        number: int,
        values: Fields,
        content: list[object],
        order: list[str],
    ) -> bool:
        """Read the text or the children of an element; return whether the element can have a value."""
        if plan.text is not None:
            return self._text(node, plan, number, values, content)
        if plan.children or len(node) or node.text:
            return self._children(node, plan, number, values, content, order)
        return True

    def _attributes(
        self, node: etree._Element, plan: ElementPlan, number: int, values: Fields, content: list[object]
    ) -> bool:
        """Read the attributes; return False if an error makes the element invalid."""
        attributes = plan.attributes
        unknown: dict[str, str] = {}
        good = True
        for key, text in self._attributes_of(node):
            if key not in attributes:
                unknown[key] = text
                continue
            field, parse = attributes[key]
            try:
                values[field] = text if parse is None else parse(text)
            except BadValueError as error:
                name = self.table.name(key)
                if not self._bad_value(values, field, error, f"attribute '{name}' of <{plan.tag}>", number, name):
                    good = good and not plan.whole
        if unknown:
            self.unknown_attributes(node, plan, number, unknown, content)
        return good

    def _required(self, node: etree._Element, plan: ElementPlan, number: int, values: Fields) -> bool:
        """Return True if no required attribute is missing."""
        is_complete = True
        for name in plan.element.required:
            field, default = plan.element.attributes[name].field, plan.element.attributes[name].default
            if field not in values:
                # An invalid attribute has been reported already.
                if self.table.key(name) not in node.attrib:
                    self.missing(plan.tag, name, number)
                if default is None:
                    is_complete = False
                else:
                    values[field] = default
        return is_complete

    def _bad_value(
        self, values: Fields, field: str, error: BadValueError, what: str, at: int, attribute: str | None
    ) -> bool:
        """Report a text that is not a valid value; return True if a replacement value is used."""
        self.error(error.code, f"{what} {error}", at, attribute, name=error.name, valid=error.valid)
        if error.instead is LEFT_OUT:
            return False
        values[field] = error.instead
        return True

    def _text(
        self, node: etree._Element, plan: ElementPlan, number: int, values: Fields, content: list[object]
    ) -> bool:
        """Read the text of an element, without comments inside it; return True if it is valid."""
        text = node.text or ""
        good = True
        for child in node if len(node) else ():
            good = self._unknown(child, plan, content, 0) and good
            text += child.tail or ""
        assert plan.text is not None
        field = plan.element.text_field
        try:
            values[field] = plan.text.parse(text)
        except BadValueError as error:
            return good and self._bad_value(values, field, error, f"<{plan.tag}>", number, None)
        return good

    def _children(
        self,
        node: etree._Element,
        plan: ElementPlan,
        number: int,
        values: Fields,
        content: list[object],
        order: list[str],
    ) -> bool:
        """Read the children; append the tags of the used ones to `order`. Return False if the parent is invalid."""
        children, numbers, has_stray = plan.children, self._numbers, self._has_stray
        good = True
        if has_stray:
            self._report_stray(node.text, plan, number)
        # A slice is faster than steps from child to child; the stubs of lxml do not know slices.
        below_node = self.document.children() if node is self._root else node[:]  # type: ignore[index]
        for child in below_node:
            tag = child.tag
            if tag in children:
                child_plan, below = children[tag]
                field, child_ordinal = child_plan.field, next(numbers)
                if field in values and not child_plan.many:
                    self.duplicate(child, child_ordinal, plan, content, len(order))
                    self._pass_over(child)
                else:
                    # Hot path: most of a world state is elements with only a row of numbers. Without `quick`, reading
                    # takes 20 % longer.
                    value = LEFT_OUT if below.quick is None else below.quick(child)
                    if value is LEFT_OUT:
                        value = self.read(child, below, content, child_ordinal)
                    if value is None or value is LEFT_OUT:
                        good = _without_value(child_plan, values, is_error=value is LEFT_OUT) and good
                    elif child_plan.keyed:
                        self._entry(value, child_ordinal, below, field, values)
                    else:
                        if child_plan.many:
                            many: list[object] = values.setdefault(field, [])  # type: ignore[assignment]  # made here
                            many.append(value)
                        else:
                            values[field] = value
                            if child_plan.ordinal:
                                values[child_plan.ordinal] = child_ordinal
                        order.append(below.tag)
            else:
                self._unknown_child(child, plan, values, content, len(order))
            if has_stray:
                self._report_stray(child.tail, plan, number)
        return (not plan.incomplete or self._complete(plan, number, values)) and good

    def _report_stray(self, text: str | None, plan: ElementPlan, at: int) -> None:
        if text and text.strip(_SPACE):
            self.stray(plan, text, at)

    def _unknown_child(
        self, child: etree._Element, plan: ElementPlan, values: Fields, content: list[object], position: int
    ) -> None:
        if plan.choice and "" not in values and type(child.tag) is str:
            # Other readers use the first element for the choice, of any kind.
            values[""] = None
            self.unknown_choice(self.name_of(child), plan, next(self._numbers))
            self._pass_over(child)
        else:
            self._unknown(child, plan, content, position)

    def _entry(self, pair: object, number: int, plan: ElementPlan, field: str, values: Fields) -> None:
        """Add an entry to the mapping of a field, in which each name is unique."""
        entries = values.setdefault(field, {})
        assert isinstance(pair, NamedValue)
        assert isinstance(entries, dict)
        if pair.name in entries:
            self.error("duplicate-name", f"a second <{plan.tag}> has the name '{pair.name}'", number, "name")
        else:
            entries[pair.name] = pair.value

    def _unknown(self, child: etree._Element, plan: ElementPlan, content: list[object], position: int) -> bool:
        """Keep and report unknown content of an element; return True if it is allowed there."""
        if not is_element(child):
            content += self.keeper.child(child, -1, "" if plan.keeps else plan.within, position)
            return True
        at = next(self._numbers)
        self._pass_over(child)
        return self.unknown_child(child, at, plan, content, position)

    def _complete(self, plan: ElementPlan, number: int, values: Fields) -> bool:
        """Convert repeated children to tuples; return True if all required children exist."""
        good = True
        for field in plan.many:
            found = values.get(field)
            if isinstance(found, list):
                values[field] = tuple(found)
        for tag, field in plan.needed:
            if values.get(field) is None:
                good = False
                if field not in values:
                    self.error("missing-element", f"<{plan.tag}> has no <{tag}>", number)
        if plan.choice and "" not in values:
            known = ", ".join(plan.element.children)
            self.error("missing-element", f"<{plan.tag}> has no {plan.choice}; known are {known}", number)
        return good and not (plan.choice and values.get("") is None)


def _is_usable(plan: ElementPlan, values: Fields) -> bool:
    """Return whether an element with errors has a value: what it needs is there."""
    return plan.partial and all(values.get(field) is not None for _, field in plan.needed)


def _without_value(child: Child, values: Fields, *, is_error: bool) -> bool:
    """Set the default of a child that gives no value; return whether its parent can do without it."""
    if child.many:
        return True
    values[child.field] = child.default
    return not (is_error and child.vital)


class Mention(NamedTuple):
    """One occurrence of a name.

    Attributes:
        reference: the place in the format's table.
        ordinal: number of the element in its document.
        name: the value of the attribute, without surrounding white space.
    """

    reference: Reference
    ordinal: int
    name: str

    @property
    def attribute(self) -> str:
        """The attribute, as the text has it."""
        return self.reference[2]


def mentions(document: XmlDocument, references: Iterable[Reference]) -> Iterator[Mention]:
    """Yield every name at the `references`, in document order; elements of a namespace unlike the root's are ignored.

    An attribute may have the usual prefix of its format, as in ``rs:parent_link``.
    """
    by_tags: dict[tuple[str, str], list[Reference]] = {}
    for reference in dict.fromkeys(references):
        by_tags.setdefault(reference[:2], []).append(reference)
    own = etree.QName(document.root).namespace
    for number, element in enumerate(document.elements):
        tag, above = etree.QName(element), element.getparent()
        if tag.namespace != own:
            continue
        for reference in by_tags.get(("" if above is None else etree.QName(above).localname, tag.localname), ()):
            prefix, _, local = reference[2].rpartition(":")
            value = element.get(f"{{{element.nsmap.get(prefix)}}}{local}" if prefix else local)
            if value is not None and value.strip():
                yield Mention(reference, number, value.strip())
