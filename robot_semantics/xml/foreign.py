# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Unknown content of a format as self-contained text: elements, comments, attributes with their namespace declarations.

An entry that begins with ``<`` is an element, a comment or an instruction. An entry that begins with ``@tag`` has
attributes of the child `tag`, which cannot keep unknown content. Every other entry has attributes of the element that
keeps it.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol, TypeVar, cast

from lxml import etree

from robot_semantics.base.pattern import pattern
from robot_semantics.xml.edit import escape

_XML_NAMESPACE = "http://www.w3.org/XML/1998/namespace"
MANY_ATTRIBUTES = 50
"""An element with more attributes is read in linear time by `attribute_items` alone."""
_PREFIX = pattern(r"([^\W\d][\w.-]*):")


Entry = TypeVar("Entry")


class ForeignKeeper(Protocol[Entry]):
    """Storage for content that a format's table does not have, kept with the values of the surrounding elements.

    `within` has the tags from the element whose value keeps the content to the element that contains it; empty if both
    are the same.

    Attributes:
        ordered: True if the order of the known children is also kept.
    """

    ordered: bool

    def child(self, node: etree._Element, at: int, within: str, position: int) -> Iterable[Entry]:
        """Return the entries for element, comment or instruction number `at`; `position` known children are before it.

        Raises:
            etree.C14NError: it cannot be kept.
        """

    def attributes(self, node: etree._Element, within: str, values: Mapping[str, str]) -> Iterable[Entry]:
        """Return the entries for unknown attributes, given by their keys."""

    def put(self, values: dict[str, object], kept: Sequence[Entry], order: Sequence[str]) -> None:
        """Write the kept entries, and the tags of the known children in their order, into the fields of a value."""


class KeptContent(Protocol):
    """Unknown content of one value, as a writer needs it; `within` is as for `ForeignKeeper`."""

    def start_tag(self, within: str) -> str:
        """Return the attributes of an element, each after a space."""

    def arranged(self, within: str, tags: Sequence[str]) -> Sequence[int | str]:
        """Return the content of an element in order: indices of its known children, and texts as they are written.

        Arguments:
            within: the element.
            tags: tags of its known children, in the order of the table.
        """


class NoForeignKeeper:
    """Keeper that keeps nothing, for texts that are edited in place."""

    ordered = False

    def child(self, node: etree._Element, at: int, within: str, position: int) -> Iterable[object]:
        """Return nothing."""
        return ()

    def attributes(self, node: etree._Element, within: str, values: Mapping[str, str]) -> Iterable[object]:
        """Return nothing."""
        return ()

    def put(self, values: dict[str, object], kept: Sequence[object], order: Sequence[str]) -> None:
        """Put nothing."""


class ForeignTextKeeper:
    """Keeper of self-contained texts in the field ``foreign``; the known children have the order of the table."""

    ordered = False

    def __init__(self, namespace: str, prefix: str) -> None:
        """`namespace` and `prefix` belong to the format; this prefix needs no declaration."""
        self._namespace, self._prefix = namespace, prefix

    def child(self, node: etree._Element, at: int, within: str, position: int) -> Iterable[tuple[int, str]]:
        """Return the node's text.

        Raises:
            etree.C14NError: as `element_entry`.
        """
        return ((1 if within else 0, element_entry(node, self._namespace)),)

    def attributes(self, node: etree._Element, within: str, values: Mapping[str, str]) -> Iterable[tuple[int, str]]:
        """Return one text for all attributes."""
        if not values:
            return ()
        entry = attribute_entry(node, values, self._namespace, self._prefix)
        return ((2, f"@{within} {entry}") if within else (0, entry),)

    def put(self, values: dict[str, object], kept: Sequence[tuple[int, str]], order: Sequence[str]) -> None:
        """Write the texts in the order of a re-read document: entries for children that cannot keep any come last."""
        if kept:
            values["foreign"] = tuple(text for _, text in sorted(kept, key=lambda entry: entry[0]))


class ForeignTexts:
    """Self-contained texts, for writing: elements and comments are before the known children."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._texts = tuple(texts)

    def start_tag(self, within: str) -> str:
        """Return the attributes of the element that keeps the texts, or of the child `within`."""
        start = f"@{within} " if within else ""
        mine = (
            text.removeprefix(start)
            for text in self._texts
            if not text.startswith("<") and (text.startswith(start) if within else not text.startswith("@"))
        )
        return "".join(f" {text}" for text in mine)

    def arranged(self, within: str, tags: Sequence[str]) -> Sequence[int | str]:
        """Return the elements and comments, then the known children."""
        children = range(len(tags))
        return children if within else [*(text for text in self._texts if text.startswith("<")), *children]


def element_entry(node: etree._Element, own_namespace: str) -> str:
    """Return a node as self-contained text: exclusive canonical XML.

    Prefixes that are only used in values (``xsi:type="x:thing"``) are also declared; otherwise they lose their meaning.

    Raises:
        etree.C14NError: a namespace is a relative URI, which has no canonical form.
    """
    tag: object = node.tag
    if not isinstance(tag, str):
        return etree.tostring(node, encoding="unicode", with_tail=False)
    prefixes: list[str] = []
    # Search the values first: few values have a prefix, and to go through all prefixes in scope may take long.
    named = {found for part in node.iter() for text in _values(part) for found in _PREFIX.findall(text)}
    if named:
        scope = node.nsmap
        prefixes = [prefix for prefix in named if scope.get(prefix, own_namespace) != own_namespace]
    if not prefixes:
        node = _alone(node)
    text = etree.tostring(
        node, method="c14n", exclusive=True, with_comments=True, with_tail=False, inclusive_ns_prefixes=prefixes
    )
    return text.decode()


def _alone(node: etree._Element) -> etree._Element:
    """Return a copy of an element that has only the declarations that it uses in its scope."""
    if len(node) or node.prefix == "xml" or any(name[0] == "{" for name in map(str, node.attrib)):
        # For each name, lxml searches all declarations around the element: a thousand take long.
        return copy.deepcopy(node)
    namespace = etree.QName(node).namespace
    copied = etree.Element(node.tag, nsmap={node.prefix: namespace} if namespace else None)
    copied.text = node.text
    for name, value in node.attrib.items():
        copied.set(name, value)
    return copied


def _values(part: etree._Element) -> list[str]:
    return [text for text in (part.text, part.tail, *map(str, part.attrib.values())) if text and ":" in text]


def attribute_entry(element: etree._Element, values: Mapping[str, str], own_namespace: str, own_prefix: str) -> str:
    """Return attributes as text, sorted, with the declarations of all prefixes except the format's own."""
    parts: list[str] = []
    declared: dict[str, str] = {}
    prefixes = {uri: prefix for prefix, uri in element.nsmap.items() if prefix and prefix != own_prefix}
    for key in sorted(values):
        namespace, _, local_name = key[1:].partition("}")
        if namespace == _XML_NAMESPACE:
            prefix = "xml"
        elif namespace == own_namespace:
            prefix = own_prefix
        else:
            prefix = prefixes.setdefault(namespace, f"ns{len(prefixes)}")
            declared[prefix] = namespace
        parts.append(f"{prefix}:{local_name}={quoted_attribute(values[key])}")
    return " ".join((*(f"xmlns:{prefix}={quoted_attribute(uri)}" for prefix, uri in sorted(declared.items())), *parts))


def attribute_items(element: etree._Element) -> list[tuple[str, str]]:
    """Return names and values of all attributes; for many attributes lxml's own method takes quadratic time."""
    if len(element.keys()) <= MANY_ATTRIBUTES:
        return element.items()  # type: ignore[return-value]  # lxml's names and values are str here
    found = cast("list[etree._ElementUnicodeResult]", element.xpath("@*"))
    return [(str(value.attrname), str(value)) for value in found]


def quoted_attribute(value: str) -> str:
    """Return an attribute's value in quotes, escaped so that it reads back unchanged."""
    quote = "'" if '"' in value and "'" not in value else '"'
    return f"{quote}{escape(value, quote).replace('>', '&gt;')}{quote}"
