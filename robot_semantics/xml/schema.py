# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Description of a format as ONE table, from which reading, pruning, writing, JSON and the grammar follow.

A format's table is a tree of `Element`s. Each element says which value it makes, which of its attributes and children
become which field of that value, and how a text becomes a field's value and back (`ValueKind`). Tags and attributes of
the format's extension namespace are written with its prefix, as in ``rs:time``.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import field
from functools import cache
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from lxml import etree

from robot_semantics.base.diagnostic import Severity
from robot_semantics.base.json_value import Json
from robot_semantics.base.record import record
from robot_semantics.xml.document import XmlDocument
from robot_semantics.xml.foreign import ForeignKeeper, KeptContent

Reference = tuple[str, str, str]
"""A place where a name occurs: the parent's tag, the element's tag, the attribute."""

LEFT_OUT = object()
"""Sentinel: the value is omitted because its text is invalid."""


Fields = dict[str, object]
"""Fields of a value by name; each has the type that the table's kind gives it."""

Root = TypeVar("Root", covariant=True)


class BadValueError(ValueError):
    """A text that is not a valid value, or a value that cannot be written as text.

    Attributes:
        code: the problem's code.
        instead: the replacement value, if any.
        name, valid: the written name and the names that may be meant.
    """

    def __init__(
        self,
        code: str,
        reason: str,
        instead: object = LEFT_OUT,
        name: str | None = None,
        valid: Collection[str] = (),
    ) -> None:
        self.code = code
        self.instead = instead
        self.name = name
        self.valid = valid
        super().__init__(reason)


def _same(value: Json) -> Json:
    return value


def text_from_json(value: Json) -> str:
    """Return JSON data that is a text.

    Raises:
        BadValueError: it is not a text.
    """
    if not isinstance(value, str):
        raise BadValueError("bad-json", "it is not a text")
    return value


@record(frozen=True, slots=True, eq=False)
class ValueKind:
    """Conversion of one kind of value between text, Python and JSON.

    Attributes:
        name: name of its definition in the grammar.
        grammar: content of this definition, as in a RELAX NG ``<define>``.
        parse: converts a text to a value. Raises `BadValueError` with the rest of a message that begins with the text's
            name.
        write: converts a value to a text; the second argument is the value's name in messages. Raises `BadValueError`.
        to_json, from_json: convert a value to and from JSON; `from_json` raises `BadValueError`.
    """

    name: str
    grammar: str
    parse: Callable[[str], object]
    write: Callable[[Any, str], str]
    to_json: Callable[[Any], Json] = _same
    from_json: Callable[[Json], object] = text_from_json


TEXT = ValueKind("text", "<text/>", _same, lambda text, _: text)
"""Any text, unchanged."""


@record(frozen=True, slots=True)
class Attribute:
    """An attribute: the field it becomes, and its conversion.

    Attributes:
        field: field of the element's value; empty if the attribute is the whole value.
        kind: conversion of its text.
        required: True if the element is meaningless without it.
        default: value for a missing required attribute, if the element is used nevertheless.
        since: first version of the format with this attribute.
        json: its key in JSON; by default the field's name.
        names: kind of thing that the attribute names; used for renaming.
        quantity: how operations on values treat the field, in terms of the format.
    """

    field: str
    kind: ValueKind = TEXT
    required: bool = False
    default: object = None
    since: str = ""
    json: str = ""
    names: str = ""
    quantity: Any = None


@record(frozen=True, slots=True)
class Child:
    """A child element and the field it becomes.

    Attributes:
        field: field of the parent's value.
        element: description of the child.
        many: True if it may occur any number of times; the field is a tuple, or with `keyed` a mapping.
        keyed: True if its value is a name-value pair; the field maps names to values.
        required: True if the parent is meaningless without it.
        vital: True if an invalid child makes the parent invalid; a missing child does not.
        ordinal: field for the child's number in the document, if any.
        default: value of the field without this child, if it is not None and is still written.
        json: its key in JSON; by default the field's name.
        quantity: how operations on values treat the field, in terms of the format.
    """

    field: str
    element: Element
    many: bool = False
    keyed: bool = False
    required: bool = False
    vital: bool = False
    ordinal: str = ""
    default: object = None
    json: str = ""
    quantity: Any = None


class CheckedReader(Protocol):
    """The reader of a document, for the checks of a table.

    Attributes:
        document: the document being read.
        version: its version of the format, if it has one.
        keeper: keeper of its unknown content.
        node: the element being checked, with its content.
        faulty: tags of the elements that could not be read completely.
    """

    document: XmlDocument
    node: etree._Element
    version: str
    keeper: ForeignKeeper[Any]
    faulty: set[str]

    def missing(self, tag: str, attribute: str, ordinal: int) -> None:
        """Report a missing required attribute."""

    def error(
        self,
        code: str,
        message: str,
        ordinal: int,
        attribute: str | None = None,
        *,
        name: str | None = None,
        valid: Collection[str] = (),
    ) -> None:
        """Report an error at an element or its attribute."""

    def warning(
        self,
        code: str,
        message: str,
        ordinal: int,
        attribute: str | None = None,
        *,
        name: str | None = None,
        valid: Collection[str] = (),
    ) -> None:
        """Report a warning at an element or its attribute."""


@record(frozen=True, slots=True, eq=False)
class Element:
    """An element: its content and its value.

    Attributes:
        tag: its name.
        make: makes the value from its fields; None if the value is its text, its only attribute or its only child.
        attributes: by name.
        children: by tag.
        text: kind of its text; None if it has no text.
        text_field: field that the text becomes.
        fields: returns an object that has the fields as attributes; None if the value has them.
        choice: name of the choice if the element has exactly one of its children.
        keeps: True if unknown content is kept with its own value; else with the value of the surrounding element.
        numbered: True if the field ``ordinal`` is the element's number in its document.
        whole: True if an invalid attribute makes the element invalid; else only the attribute is omitted.
        partial: True if the element is used despite an invalid vital child, if all required items exist.
        check: checks the fields together; called with the reader, the fields and the element's number. It may change
            the fields, reports problems, and returns True if the element is usable.
        since: first version of the format with this element.
        about: a line for the grammar.
    """

    tag: str
    make: Callable[..., object] | None = None
    attributes: Mapping[str, Attribute] = field(default_factory=dict)
    children: Mapping[str, Child] = field(default_factory=dict)
    text: ValueKind | None = None
    text_field: str = ""
    fields: Callable[[Any], object] | None = None
    choice: str = ""
    keeps: bool = False
    numbered: bool = False
    whole: bool = False
    partial: bool = False
    check: Callable[[CheckedReader, Fields, int], bool] | None = None
    since: str = ""
    about: str = ""

    def all(self) -> Iterator[Element]:
        """Yield this element and all elements below it, each once."""
        seen: dict[int, Element] = {}
        waiting = [self]
        while waiting:
            here = waiting.pop(0)
            if id(here) not in seen:
                seen[id(here)] = here
                yield here
                waiting += [child.element for child in here.children.values()]

    @property
    def required(self) -> tuple[str, ...]:
        """The required attributes."""
        return tuple(name for name, attribute in self.attributes.items() if attribute.required)


def _nothing_kept(value: object) -> None:
    return None


class NamedValue(NamedTuple):
    """One entry of a mapping."""

    name: str
    value: object


@record(frozen=True, slots=True, eq=False)
class FormatTable(Generic[Root]):
    """A format.

    Attributes:
        root: its root element.
        other_roots: tags that are read like the root's tag, and never written.
        namespace, prefix: of the format's additions to its founding document.
        reports_foreign: True if content of foreign namespaces is reported.
        silent_tags: known elements of other formats.
        suggested_tags: silent tags that may be suggested for a misspelt tag.
        unknown: severity of unknown elements, attributes and texts, and of repeated elements. It is a warning if other
            readers of the format ignore them; then the first element is used.
        misplaced: True if a known element in a wrong place is a separate error; else it is reported as unknown.
        keeper: makes the keeper of unknown content for one document; None if nothing is kept.
        kept: returns the unknown content that a value keeps, for writing; None if there is none.
    """

    root: Element
    other_roots: tuple[str, ...] = ()
    namespace: str = ""
    prefix: str = ""
    reports_foreign: bool = False
    silent_tags: frozenset[str] = frozenset()
    suggested_tags: tuple[str, ...] = ()
    unknown: Severity = Severity.WARNING
    misplaced: bool = False
    keeper: Callable[[XmlDocument], ForeignKeeper[Any]] | None = None
    kept: Callable[[Any], KeptContent | None] = _nothing_kept

    def references(self) -> dict[str, tuple[Reference, ...]]:
        """Return the places where names occur, by the kind of thing that they name."""
        references: dict[str, list[Reference]] = {}
        for parent in self.root.all():
            for tag, child in parent.children.items():
                for name, attribute in child.element.attributes.items():
                    if attribute.names:
                        references.setdefault(attribute.names, []).append((parent.tag, tag, name))
        return {kind: tuple(places) for kind, places in references.items()}

    def key(self, name: str) -> str:
        """Return a name as lxml has it: ``{namespace}time`` for ``rs:time``."""
        start = f"{self.prefix}:"
        return f"{{{self.namespace}}}{name[len(start) :]}" if self.prefix and name.startswith(start) else name

    def name(self, key: str) -> str:
        """Return a name as a document has it."""
        return key.replace(f"{{{self.namespace}}}", f"{self.prefix}:") if self.prefix else key


# The table of a format prepared for fast reading of one version: lxml names, functions, newer items.


class ChildPlan(NamedTuple):
    """A child of an element, with the plan of its content."""

    child: Child
    below: ElementPlan


class ElementPlan:
    """An element of a table in one version of the format, with lxml names.

    Attributes:
        attributes: by key: the field, and the function from text to value; None if the text is the value.
        newer: attributes of later versions, each with its version.
        children: by key.
        required: fields of the required attributes.
        incomplete: True if a check follows after all children.
        since: the element's version, if it is a later one.
        quick: makes the value of an element that has only its text, or only its one attribute; returns `LEFT_OUT` for
            any other content, which `TableReader.read` must read.
        within: the tags from the element that keeps unknown content to this one, as in ``geometry/box``.
    """

    def __init__(self, element: Element, table: FormatTable[object], version: str) -> None:
        self.element = element
        self.tag, self.text = element.tag, element.text
        self.make = element.make
        self.check, self.whole, self.partial = element.check, element.whole, element.partial
        self.numbered, self.keeps, self.choice = element.numbered, element.keeps, element.choice
        self.since = element.since if element.since > version else ""
        self.attributes: dict[str, tuple[str, Callable[[str], object] | None]] = {
            table.key(name): (attribute.field, None if attribute.kind is TEXT else attribute.kind.parse)
            for name, attribute in element.attributes.items()
            if attribute.since <= version
        }
        self.newer = {name: a.since for name, a in element.attributes.items() if a.since > version}
        self.required = frozenset(element.attributes[name].field for name in element.required)
        self.children: dict[str, ChildPlan] = {}
        self.needed = [(tag, child.field) for tag, child in element.children.items() if child.required]
        self.many = {child.field for child in element.children.values() if child.many and not child.keyed}
        self.incomplete = bool(self.needed or self.many or self.choice)
        self.within = ""
        self.quick = _quick_maker(self)


def _quick_maker(plan: ElementPlan) -> Callable[[etree._Element], object] | None:
    """Return the `quick` of a plan; None if its elements need all steps of a reader."""
    element = plan.element
    if element.check or element.numbered or plan.since or element.children:
        return None
    if plan.text is not None:
        return None if plan.required else _of_text(plan.text.parse, plan.make, element.text_field)
    if plan.make is None and len(plan.attributes) == 1:
        ((key, (_, parse)),) = plan.attributes.items()
        return _of_attribute(key, parse)
    return None


def _of_text(
    parse: Callable[[str], object], make: Callable[..., object] | None, field: str
) -> Callable[[etree._Element], object]:
    def of_text(node: etree._Element) -> object:
        if len(node) or node.keys():
            return LEFT_OUT
        try:
            value = parse(node.text or "")
        except BadValueError:
            return LEFT_OUT
        return value if make is None else make(**{field: value})

    return of_text


def _of_attribute(key: str, parse: Callable[[str], object] | None) -> Callable[[etree._Element], object]:
    def of_attribute(node: etree._Element) -> object:
        text = node.get(key)
        if text is None or len(node.attrib) != 1 or len(node) or node.text:
            return LEFT_OUT
        try:
            return text if parse is None else parse(text)
        except BadValueError:
            return LEFT_OUT

    return of_attribute


@cache
def root_plan(table: FormatTable[object], version: str) -> ElementPlan:
    """Return the plan of a table's root, with all other plans below it."""
    plans = {id(element): ElementPlan(element, table, version) for element in table.root.all()}
    for plan in plans.values():
        for tag, child in plan.element.children.items():
            below = plans[id(child.element)]
            plan.children[table.key(tag)] = ChildPlan(child, below)
            if not below.keeps:
                below.within = f"{plan.within}/{below.tag}" if plan.within else below.tag
    return plans[id(table.root)]


@cache
def child_keys(table: FormatTable[object]) -> frozenset[str]:
    """Return the keys of all elements that occur inside others."""
    return frozenset(table.key(tag) for element in table.root.all() for tag in element.children)
