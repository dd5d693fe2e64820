# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""What a format does not know, as text that stands on its own: elements, comments, attributes with their declarations.

An entry that begins with ``<`` is an element, a comment or an instruction; one that begins with ``@tag`` has attributes
of the child `tag`, which can keep none itself; any other has attributes of the element it is kept with.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol, cast
from xml.sax.saxutils import quoteattr

from lxml import etree

_XML_NAMESPACE = "http://www.w3.org/XML/1998/namespace"
_MANY = 50
_PREFIX = re.compile(r"([^\W\d][\w.-]*):")


class ForeignKeeper(Protocol):
    """Keeps what a format's table does not have, with the values of the elements that it stands in.

    `within` are the tags from the element whose value keeps it to the one that it stands in; empty: that element.

    Attributes:
        ordered: whether the order of the known children is kept, too.
    """

    ordered: bool

    def child(self, node: etree._Element, at: int, within: str, position: int) -> Iterable[Any]:
        """Return what is kept of element number `at`, a comment or an instruction, with `position` known ones before.

        Raises:
            etree.C14NError: it cannot be kept.
        """

    def attributes(self, node: etree._Element, within: str, values: Mapping[str, str]) -> Iterable[Any]:
        """Return what is kept of unknown attributes, by their keys."""

    def put(self, values: dict[str, Any], kept: Sequence[Any], order: Sequence[str]) -> None:
        """Put what was kept, and the tags of the known children in their order, into a value's fields."""


class NoForeignKeeper:
    """Keeps nothing: the text itself is what is edited."""

    ordered = False

    def child(self, node: etree._Element, at: int, within: str, position: int) -> Iterable[Any]:
        """Return nothing."""
        return ()

    def attributes(self, node: etree._Element, within: str, values: Mapping[str, str]) -> Iterable[Any]:
        """Return nothing."""
        return ()

    def put(self, values: dict[str, Any], kept: Sequence[Any], order: Sequence[str]) -> None:
        """Put nothing."""


class ForeignTextKeeper:
    """Keeps texts that stand on their own, in the field ``foreign``; the order of the known children is the table's."""

    ordered = False

    def __init__(self, namespace: str, prefix: str) -> None:
        """Take the namespace of the format, and its prefix, which need no declaration."""
        self._namespace, self._prefix = namespace, prefix

    def child(self, node: etree._Element, at: int, within: str, position: int) -> Iterable[Any]:
        """Return the node's text.

        Raises:
            etree.C14NError: as `element_entry`.
        """
        return ((1 if within else 0, element_entry(node, self._namespace)),)

    def attributes(self, node: etree._Element, within: str, values: Mapping[str, str]) -> Iterable[Any]:
        """Return one text for all of them."""
        if not values:
            return ()
        entry = attribute_entry(node, values, self._namespace, self._prefix)
        return ((2, f"@{within} {entry}") if within else (0, entry),)

    def put(self, values: dict[str, Any], kept: Sequence[Any], order: Sequence[str]) -> None:
        """Put the texts; as they come when what is written is read again: what children cannot keep stands last."""
        if kept:
            values["foreign"] = tuple(text for _, text in sorted(kept, key=lambda entry: int(entry[0])))


def element_entry(node: etree._Element, own_namespace: str) -> str:
    """Return a node as self-contained text: exclusive canonical XML.

    Prefixes in scope that only stand in values (``xsi:type="x:thing"``) are declared too, or they would lose their
    meaning.

    Raises:
        etree.C14NError: a namespace is a relative URI, which has no canonical form.
    """
    tag: object = node.tag
    if not isinstance(tag, str):
        return etree.tostring(node, encoding="unicode", with_tail=False)
    prefixes: list[str] = []
    # Few values have a prefix, and to look through all that are in scope takes long where many are.
    named = {found for part in node.iter() for text in _values(part) for found in _PREFIX.findall(text)}
    if named:
        scope = node.nsmap
        prefixes = [prefix for prefix in named if scope.get(prefix, own_namespace) != own_namespace]
    if not prefixes:
        # A copy has no more in its scope than it uses.
        node = copy.deepcopy(node)
    text = etree.tostring(
        node, method="c14n", exclusive=True, with_comments=True, with_tail=False, inclusive_ns_prefixes=prefixes
    )
    return text.decode()


def _values(part: etree._Element) -> list[str]:
    return [text for text in (part.text, part.tail, *map(str, part.attrib.values())) if text and ":" in text]


def attribute_entry(element: etree._Element, values: Mapping[str, str], own_namespace: str, own_prefix: str) -> str:
    """Return attributes as text, sorted, with the declarations of all prefixes but the format's own."""
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
        parts.append(f"{prefix}:{local_name}={quoted(values[key])}")
    return " ".join((*(f"xmlns:{prefix}={quoted(uri)}" for prefix, uri in sorted(declared.items())), *parts))


def attribute_items(element: etree._Element) -> list[tuple[str, str]]:
    """Return names and values of all attributes; lxml's own way takes the square of their number."""
    if len(element.keys()) <= _MANY:
        return element.items()  # type: ignore[return-value]  # lxml's names and values are str here
    found = cast("list[Any]", element.xpath("@*"))
    return [(str(value.attrname), str(value)) for value in found]


def attributes_of(entries: Iterable[str], child: str = "") -> str:
    """Return what of the entries stands in a start tag: the element's own, or that of one of its children."""
    start = f"@{child} " if child else ""
    mine = (
        entry.removeprefix(start)
        for entry in entries
        if not entry.startswith("<") and (entry.startswith(start) if child else not entry.startswith("@"))
    )
    return "".join(f" {entry}" for entry in mine)


def quoted(value: str) -> str:
    """Return an attribute's value in quotes, escaped so that it reads back to the same string."""
    return quoteattr(value, {"\n": "&#10;", "\r": "&#13;", "\t": "&#9;"})
