# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""What a format's elements hold, as ONE table: reading, pruning, writing, JSON and the grammar all follow from it.

A format's table is a tree of `Element`s. Each element says which value it makes, which of its attributes and children
become which field of that value, and how a text becomes a field's value and back (`ValueKind`). Tags and attributes of
the format's extension namespace are written with its prefix, as in ``rs:time``.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from robot_semantics.base.diagnostics import Severity

LEFT_OUT: Any = object()
"""Stands for a value that is not there because what the text says of it is in error."""


class BadValueError(ValueError):
    """A text is no value of its kind, or a value has no text.

    Attributes:
        code: that of the problem.
        instead: the value that is taken nonetheless, if any.
        name, valid: what was written, and what might have been meant.
    """

    def __init__(
        self,
        code: str,
        reason: str,
        instead: Any = LEFT_OUT,
        name: str | None = None,
        valid: Collection[str] = (),
    ) -> None:
        self.code = code
        self.instead = instead
        self.name = name
        self.valid = valid
        super().__init__(reason)


def _same(value: Any) -> Any:
    return value


def _text_from_json(value: Any) -> str:
    if not isinstance(value, str):
        raise BadValueError("bad-json", "it is not a text")
    return value


@dataclass(frozen=True, slots=True, eq=False)
class ValueKind:
    """How texts become values and back.

    Attributes:
        name: of its definition in the grammar.
        grammar: that definition, as the inside of a RELAX NG ``<define>``.
        parse: makes a value of a text. Raises `BadValueError` with what follows the text's name in a message.
        write: makes the text of a value; its second argument says what the value is called. Raises `BadValueError`.
        to_json, from_json: between a value and what JSON can hold; the second raises `BadValueError`.
    """

    name: str
    grammar: str
    parse: Callable[[str], Any]
    write: Callable[[Any, str], str]
    to_json: Callable[[Any], Any] = _same
    from_json: Callable[[Any], Any] = _text_from_json


TEXT = ValueKind("text", "<text/>", _same, lambda text, _: text)
"""Any text as it stands."""


@dataclass(frozen=True, slots=True)
class Attribute:
    """An attribute: the field that it becomes, and how.

    Attributes:
        field: of the element's value; empty: it is that value.
        kind: of its text.
        required: the element means nothing without it.
        default: what is taken where it is required and missing, if the element is to be used even so.
        since: the version of the format that brought it.
        json: its key in JSON, by default the field's name.
        names: the kind of thing that it names, for who renames things.
        quantity: how operations on values treat the field, in terms of the format.
    """

    field: str
    kind: ValueKind = TEXT
    required: bool = False
    default: Any = None
    since: str = ""
    json: str = ""
    names: str = ""
    quantity: Any = None


@dataclass(frozen=True, slots=True)
class Child:
    """A child element: the field that it becomes.

    Attributes:
        field: of the parent's value.
        element: what it holds.
        many: it may stand any number of times; the field is a tuple, or with `keyed` a mapping.
        keyed: its value is a pair, of which the field maps the first to the second.
        required: the parent means nothing without it.
        vital: the parent means nothing if this one is in error, though it may be missing.
        at: the field that the child's number in the document becomes, if any.
        default: what the field is where the child is not there, where that is not None and yet is written.
        json: its key in JSON, by default the field's name.
        quantity: how operations on values treat the field, in terms of the format.
    """

    field: str
    element: Element
    many: bool = False
    keyed: bool = False
    required: bool = False
    vital: bool = False
    at: str = ""
    default: Any = None
    json: str = ""
    quantity: Any = None


@dataclass(frozen=True, slots=True, eq=False)
class Element:
    """An element: what it holds and which value it makes.

    Attributes:
        tag: its name.
        make: makes the value of its fields; None: its text, its one attribute or its one child is all there is.
        attributes: by name.
        children: by tag.
        text: of what kind its text is; None: it holds no text.
        text_field: the field that the text becomes.
        choice: it holds exactly one of its children, which is called so.
        keeps: what is not known in it is kept with its value; else with that of the element it stands in.
        numbered: the field ``at`` is the element's number in its document.
        whole: an attribute in error takes the element with it; else that attribute alone is left out.
        partial: it is used even where something vital in it is in error, if all that it requires is there.
        check: looks at the fields' values together: the reader, the fields, the element's number. It may change the
            fields, reports what it finds, and tells whether the element can be used.
        since: the version of the format that brought it.
        about: a line for the grammar.
    """

    tag: str
    make: Callable[..., Any] | None = None
    attributes: Mapping[str, Attribute] = field(default_factory=dict)
    children: Mapping[str, Child] = field(default_factory=dict)
    text: ValueKind | None = None
    text_field: str = ""
    choice: str = ""
    keeps: bool = False
    numbered: bool = False
    whole: bool = False
    partial: bool = False
    check: Callable[[Any, dict[str, Any], int], bool] | None = None
    since: str = ""
    about: str = ""

    def all(self) -> Iterator[Element]:
        """Yield this element and all below it, each once."""
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
        """The attributes that must be there."""
        return tuple(name for name, attribute in self.attributes.items() if attribute.required)


class NamedValue(NamedTuple):
    """What becomes one entry of a mapping."""

    name: str
    value: Any


@dataclass(frozen=True, slots=True, eq=False)
class FormatTable:
    """A format.

    Attributes:
        root: its root element.
        other_roots: tags that are read in the place of the root's, and never written.
        root_hints: what to do with a document of another format, by the tag of its root.
        namespace, prefix: of what the format adds to its founding document.
        reports_foreign: whether content of foreign namespaces is reported.
        silent_tags: elements that are none of the format's, and are known all the same.
        suggested_tags: those of them that a misspelt tag may be meant to be.
        unknown: how bad an element, an attribute or a text is that the table does not have, and an element that
            stands twice. A warning where the format's other readers pass over it: the first one counts.
        misplaced: an element that the table has elsewhere is an error of its own; else it is not known like any other.
        keeper: keeps what the table does not have, of one document; None: nothing does.
    """

    root: Element
    other_roots: tuple[str, ...] = ()
    root_hints: Mapping[str, str] = field(default_factory=dict)
    namespace: str = ""
    prefix: str = ""
    reports_foreign: bool = False
    silent_tags: frozenset[str] = frozenset()
    suggested_tags: tuple[str, ...] = ()
    unknown: Severity = Severity.WARNING
    misplaced: bool = False
    keeper: Callable[[Any], Any] | None = None

    def key(self, name: str) -> str:
        """Return a name as lxml has it: ``{namespace}time`` for ``rs:time``."""
        start = f"{self.prefix}:"
        return f"{{{self.namespace}}}{name[len(start) :]}" if self.prefix and name.startswith(start) else name

    def name(self, key: str) -> str:
        """Return a name as a document writes it."""
        return key.replace(f"{{{self.namespace}}}", f"{self.prefix}:") if self.prefix else key
