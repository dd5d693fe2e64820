"""What a format's elements hold, as ONE table: reading, pruning, writing, JSON and the grammar all follow from it.

A format's table is a tree of `Element`s. Each says which value it makes, which of its attributes and children become
which field of that value, and how a text becomes a field's value and back (`Kind`). Tags and attributes of the format's
extension namespace are written with its prefix, as in ``rs:time``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple


class BadValueError(ValueError):
    """A text is no value of its kind, or a value has no text; `code` is that of the problem."""

    def __init__(self, code: str, reason: str) -> None:
        self.code = code
        super().__init__(reason)


def _same(value: Any) -> Any:
    return value


def _text_from_json(value: Any) -> str:
    if not isinstance(value, str):
        raise BadValueError("bad-json", "it is not a text")
    return value


@dataclass(frozen=True, slots=True, eq=False)
class Kind:
    """How texts become values and back.

    Attributes:
        name: of its definition in the grammar.
        grammar: that definition, as the inside of a RELAX NG ``<define>``.
        parse: makes a value of a text; its second argument says what the text is called. Raises `BadValueError`.
        write: makes the text of a value, likewise.
        parse_all: makes the values of many texts in one go, None where one of them is faulty.
        to_json, from_json: between a value and what JSON can hold; the second raises `BadValueError`.
    """

    name: str
    grammar: str
    parse: Callable[[str, str], Any]
    write: Callable[[Any, str], str]
    parse_all: Callable[[Sequence[str]], Sequence[Any] | None] | None = None
    to_json: Callable[[Any], Any] = _same
    from_json: Callable[[Any], Any] = _text_from_json


TEXT = Kind("text", "<text/>", lambda text, _: text, lambda text, _: text)
"""Any text as it stands."""


@dataclass(frozen=True, slots=True)
class Attribute:
    """An attribute: the field that it becomes, and how.

    `since` is the version of the format that brought it; `json` its key in JSON, by default the field's name.
    """

    field: str
    kind: Kind = TEXT
    required: bool = False
    json: str = ""
    since: str = ""


@dataclass(frozen=True, slots=True)
class Child:
    """A child element: the field that it becomes.

    Attributes:
        field: of the parent's value.
        element: what it holds.
        many: it may stand any number of times; the field is a tuple, or with `keyed` a mapping.
        keyed: its value is a pair, of which the field maps the first to the second.
        default: what the field is where the child is not there, where that is not None and yet is written.
        json: its key in JSON, by default the field's name.
    """

    field: str
    element: Element
    many: bool = False
    keyed: bool = False
    default: Any = None
    json: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Element:
    """An element: what it holds and which value it makes.

    Attributes:
        tag: its name.
        make: makes the value of its fields; None: its text's value is all there is.
        attributes: by name.
        children: by tag.
        text: of what kind its text is; None: it holds no text.
        text_field: the field that the text becomes.
        keeps: what is foreign is kept in the field ``foreign``; else where the element stands.
        numbered: the field ``at`` is the element's number in its document.
        about: a line for the grammar.
    """

    tag: str
    make: Callable[..., Any] | None = None
    attributes: Mapping[str, Attribute] = field(default_factory=dict)
    children: Mapping[str, Child] = field(default_factory=dict)
    text: Kind | None = None
    text_field: str = ""
    keeps: bool = False
    numbered: bool = False
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


class Pair(NamedTuple):
    """What becomes one entry of a mapping."""

    name: str
    value: Any


@dataclass(frozen=True, slots=True)
class Table:
    """A format.

    Attributes:
        root: its root element.
        other_roots: tags that are read in the place of the root's, and never written.
        namespace, prefix: of what the format adds to its founding document.
        silent_namespaces: foreign ones that are known, so that nothing is said about them.
    """

    root: Element
    other_roots: tuple[str, ...]
    namespace: str
    prefix: str
    silent_namespaces: tuple[str, ...] = ()

    def key(self, name: str) -> str:
        """Return a name as lxml has it: ``{namespace}time`` for ``rs:time``."""
        start = f"{self.prefix}:"
        return f"{{{self.namespace}}}{name[len(start) :]}" if name.startswith(start) else name

    def name(self, key: str) -> str:
        """Return a name as a document writes it."""
        return key.replace(f"{{{self.namespace}}}", f"{self.prefix}:")
