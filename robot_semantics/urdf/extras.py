# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Content without a field in the URDF table, kept verbatim: comments, instructions, foreign elements and attributes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

from lxml import etree

from robot_semantics.xml.document import UNDECLARED_NAMESPACE, XmlDocument
from robot_semantics.xml.foreign import quoted_attribute
from robot_semantics.xml.source_map import SourceMap

# Content without a field in the tree of a URDF: comments, instructions, foreign elements and attributes.


class Extra:
    """Content without a field in the tree, verbatim: a comment, a processing instruction, a foreign element or
    attribute.

    Two are equal if position, xml, tag and within are equal.

    Attributes:
        position: number of the parent's child elements in the tree before it; -1 for an attribute.
        tag: a foreign element's tag as written; ``@name`` for an attribute; empty for comments and instructions.
        within: the element that contains it, if this has no `extras` of its own: ``limit``, ``geometry/box``.
        ordinal: a foreign element's number in the document.
    """

    __slots__ = ("_places", "_xml", "ordinal", "position", "tag", "within")

    def __init__(
        self,
        position: int,
        xml: str | None = None,
        tag: str = "",
        within: str = "",
        ordinal: int = -1,
        places: SourceMap | None = None,
    ) -> None:
        """Take the text as `xml`, or from `places` at element `ordinal` when it is first needed."""
        self.position = position
        self.tag = tag
        self.within = within
        self.ordinal = ordinal
        self._xml = xml
        self._places = places

    @property
    def xml(self) -> str:
        """The text as in the document; for an attribute, its value."""
        if self._xml is None:
            # To find the element's end takes a pass over the whole text, which most readers never need.
            self._xml = self._places.verbatim(self.ordinal) if self._places is not None else ""
        return self._xml

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Extra) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __repr__(self) -> str:
        return f"Extra({self.position}, {self.xml!r}, {self.tag!r}, {self.within!r})"

    def behind_more_children(self, by: int) -> Extra:
        """Return a copy whose position is `by` higher, because more child elements are before it.

        Content with another kind of position, such as an attribute, is returned unchanged.
        """
        if self.within or self.tag.startswith("@"):
            return self
        return Extra(self.position + by, self._xml, self.tag, self.within, self.ordinal, self._places)

    def _key(self) -> tuple[int, str, str, str]:
        return self.position, self.tag, self.within, self.xml


class ExtraKeeper:
    """Keeper of unknown content in the `extras` of a document's parts, and of the order of their children.

    Attributes:
        namespaces: prefix and URI of the namespace declarations on the root, and of those further down that kept
            content needs: they move to the root. The prefix of the default namespace is "".
    """

    ordered = True

    def __init__(self, document: XmlDocument) -> None:
        """Keep content of this document."""
        self._places = document.places
        self.namespaces = _declared(document.head)
        self._orders: dict[tuple[str, ...], tuple[str, ...]] = {}

    @cached_property
    def _declared_below(self) -> bool:
        """True if the text may have namespace declarations below the root."""
        return self._places.text.count(b"xmlns") > len(self.namespaces)

    def child(self, node: etree._Element, number: int, within: str, position: int) -> Iterable[Extra]:
        """Return a node, unchanged."""
        tag: object = node.tag
        if not isinstance(tag, str):
            return (Extra(position, verbatim(node), "", within),)
        xml = None
        parent = node.getparent()
        if self._declared_below and parent is not None:
            for prefix, uri in _declared(parent).items():
                if self.namespaces.setdefault(prefix, uri) != uri:
                    # One prefix has two meanings, which cannot both move to the root: the element keeps its own
                    # declaration.
                    xml = etree.tostring(node, encoding="unicode", with_tail=False)
        local = tag.rpartition("}")[2]
        name = f"{node.prefix}:{local}" if tag.startswith("{") and node.prefix else local
        return (Extra(position, xml, name, within, number, self._places),)

    def attributes(self, node: etree._Element, within: str, values: Mapping[str, str]) -> Iterable[Extra]:
        """Return attributes with their prefixes."""
        prefixes = {uri: prefix for prefix, uri in _scope(node).items()}
        for key, text in values.items():
            name = key
            if key.startswith("{"):
                uri, _, local = key[1:].partition("}")
                name = f"{prefixes.get(uri, 'xml')}:{local}"
            yield Extra(-1, text, f"@{name}", within)

    def put(self, values: dict[str, object], kept: Sequence[Extra], order: Sequence[str]) -> None:
        """Write the kept content and the order into the fields of a part."""
        values["extras"] = tuple(kept)
        # A robot has few different orders: all its parts share them.
        tags = tuple(order)
        values["order"] = self._orders.setdefault(tags, tags)


class KeptExtras:
    """The extras of one part, for writing, and the original order of its children."""

    def __init__(self, extras: tuple[Extra, ...], order: tuple[str, ...]) -> None:
        self._extras = extras
        self._order = order

    def start_tag(self, within: str) -> str:
        """Return the foreign attributes of an element."""
        mine = [extra for extra in self._extras if extra.within == within and extra.tag.startswith("@")]
        return "".join([f" {extra.tag[1:]}={quoted_attribute(extra.xml)}" for extra in mine])

    def arranged(self, within: str, tags: Sequence[str]) -> Sequence[int | str]:
        """Return the children in their original order; each comment and foreign element is before the same child."""
        order = range(len(tags)) if within or not self._order else _in_order(tags, self._order)
        extras = [extra for extra in self._extras if extra.within == within and not extra.tag.startswith("@")]
        if not extras:
            return order
        extras.sort(key=lambda extra: extra.position)
        arranged: list[int | str] = []
        for position, child in enumerate(order):
            while extras and extras[0].position <= position:
                arranged.append(extras.pop(0).xml)
            arranged.append(child)
        return arranged + [extra.xml for extra in extras]


def kept_extras(part: Any) -> KeptExtras | None:
    """Return what a part of a robot keeps beside its fields; None if this changes nothing."""
    order = getattr(part, "order", ())
    return KeptExtras(part.extras, order) if part.extras or order else None


def _in_order(tags: Sequence[str], order: Sequence[str]) -> list[int]:
    """Return indices of tags in the given order; a tag that `order` does not have follows its usual predecessor."""
    waiting: dict[str, list[int]] = {}
    for usual, tag in enumerate(tags):
        waiting.setdefault(tag, []).append(usual)
    placed = [waiting[tag].pop(0) for tag in order if waiting.get(tag)]
    for usual, tag in enumerate(tags):
        if usual in waiting[tag]:
            after = [index for index, other in enumerate(placed, 1) if other < usual]
            placed.insert(after[-1] if after else 0, usual)
    return placed


def element_of(extra: Extra) -> etree._Element:
    """Return a foreign element; its prefix may be declared outside, so its text alone may not be well-formed."""
    return etree.fromstring(extra.xml, etree.XMLParser(recover=True, resolve_entities=False, no_network=True))


class ExtraContent(NamedTuple):
    """Content of a foreign element, or a foreign attribute with the tag ``@name`` and its value as text."""

    tag: str
    attributes: tuple[tuple[str, str], ...]
    text: str
    children: tuple[ExtraContent, ...]


def content_of(extra: Extra) -> ExtraContent | None:
    """Return what a foreign element or attribute says; None for comments and instructions."""
    if extra.tag.startswith("@"):
        return ExtraContent(extra.tag, (), extra.xml, ())
    return _content(element_of(extra)) if extra.tag else None


def _content(element: etree._Element) -> ExtraContent:
    attributes = tuple((str(key), str(value)) for key, value in element.attrib.items())
    children = list(element.iterchildren("*"))
    text = " ".join(filter(None, (element.text, *(child.tail for child in element))))
    return ExtraContent(str(element.tag), attributes, text, tuple(map(_content, children)))


def verbatim(node: etree._Element) -> str:
    """Return a comment or processing instruction, unchanged."""
    text = node.text or ""
    target: str | None = getattr(node, "target", None)
    if target is None:
        return f"<!--{text}-->"
    return f"<?{target} {text}?>" if text else f"<?{target}?>"


def _declared(node: etree._Element) -> dict[str, str]:
    """Return the namespace declarations in scope that are in the text itself."""
    return {prefix: uri for prefix, uri in _scope(node).items() if not uri.startswith(UNDECLARED_NAMESPACE)}


def _scope(node: etree._Element) -> dict[str, str]:
    return {prefix or "": uri for prefix, uri in node.nsmap.items()}
