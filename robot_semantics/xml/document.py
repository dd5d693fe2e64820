# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""A parsed text: its lxml tree, with the exact place of every element and attribute.

Parsing is strict, or forgiving like the C++ readers.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any, NamedTuple, cast
from urllib.parse import quote

from lxml import etree

from robot_semantics.base.diagnostic import SourcePlace
from robot_semantics.base.diagnostics import Diagnostics, refusal
from robot_semantics.base.errors import DescriptionError
from robot_semantics.base.pattern import pattern
from robot_semantics.xml.source_map import SKIPPED, SourceMap, SourceText

UNDECLARED_NAMESPACE = "urn:robot-semantics:undeclared-prefix:"
"""Beginning of the namespaces of undeclared prefixes in the tree; it is never written."""

_DECLARATION = pattern(rb"<\?xml\s[^>]*\?>")
_PROPER_DECLARATION = pattern(
    rb"""<\?xml\s+version\s*=\s*(?P<v>["'])1\.[0-9]+(?P=v)"""
    rb"""(\s+encoding\s*=\s*(?P<e>["'])[A-Za-z][\w.-]*(?P=e))?"""
    rb"""(\s+standalone\s*=\s*(?P<s>["'])(yes|no)(?P=s))?\s*\?>"""
)
_BLANK = pattern(rb"\s*")
_BEFORE_ROOT = ((b"<!--", b"-->"), (b"<?", b"?>"))
_START_OF_ROOT = pattern(rb"<[^\s/>]+")
_ODD_HYPHEN = pattern(rb"-(?=-|$)")
_ATTRIBUTE = pattern(rb"""(?P<name>[^\s=<>"']+)\s*=\s*(?P<quote>["'])""")
_LIBRARY_LIMIT = pattern("too big|too long|XML_PARSE_HUGE|[Rr]esource limit")
_WITH_PREFIX = etree.XPath(
    "//*[contains(name(), ':') and not(namespace-uri())] | //@*[contains(name(), ':') and not(namespace-uri())]"
)

OPTIONS: dict[str, Any] = {
    "encoding": "utf-8",
    "resolve_entities": False,
    "no_network": True,
    "load_dtd": False,
    "dtd_validation": False,
    "huge_tree": False,
    "recover": False,
    "remove_comments": False,
    "remove_pis": False,
    "strip_cdata": False,
}
"""Parser options of lxml."""


class ForgivingParse(NamedTuple):
    """A tree, its text, and the accepted faults.

    Attributes:
        utf8: the text; faults are replaced by the same number of other characters.
        prefixes: prefixes without a declaration; in the tree the root declares them.
        odd_declaration: place of an XML declaration that XML does not allow.
        odd_comments: places of comments with ``--``.
    """

    root: etree._Element
    utf8: bytes
    prefixes: Collection[str] = ()
    odd_declaration: SourcePlace | None = None
    odd_comments: tuple[SourcePlace, ...] = ()


def parse_strictly(text: SourceText) -> etree._Element:
    """Return the tree of a text.

    Raises:
        DescriptionError: it is not well-formed, or nested too deep.
    """
    try:
        return etree.fromstring(text.utf8, etree.XMLParser(**OPTIONS))
    except etree.XMLSyntaxError as error:
        raise not_well_formed(str(error.msg), text, *error.position) from None


def parse_forgiving(text: SourceText) -> ForgivingParse:
    """Return the tree of a text; faults in prefixes, XML declaration and comments are accepted.

    Raises:
        DescriptionError: as `parse_strictly`, for all other faults.
    """
    text, odd_declaration = _without_odd_declaration(text)
    try:
        root, prefixes = _parse_with_prefixes(text)
        return ForgivingParse(root, text.utf8, prefixes, odd_declaration)
    except DescriptionError:
        text, odd_comments = _without_odd_comments(text)
        if not odd_comments:
            raise
    root, prefixes = _parse_with_prefixes(text)
    return ForgivingParse(root, text.utf8, prefixes, odd_declaration, tuple(odd_comments))


def is_faultless(text: SourceText) -> bool:
    """Return True if `parse_forgiving` finds no fault, not even one that it accepts; this makes no tree.

    False for the rare ``xml:id``, which only a parser with a tree checks.
    """
    if b"xml:id" in text.utf8 or _without_odd_declaration(text)[1] is not None:
        return False
    parser = etree.XMLParser(target=cast("Any", _NoTree()), **OPTIONS)
    try:
        etree.fromstring(text.utf8, parser)
    except etree.XMLSyntaxError:
        return False
    return not parser.error_log.filter_from_errors()


class _NoTree:
    """Target of a parser that only checks."""

    def close(self) -> None:
        """End the text."""


def _parse_with_prefixes(text: SourceText) -> tuple[etree._Element, Collection[str]]:
    """Parse a text that may have prefixes without a declaration; return the tree and these prefixes."""
    parser = etree.XMLParser(**{**OPTIONS, "recover": True})
    try:
        recovered = etree.fromstring(text.utf8, parser)
    except etree.XMLSyntaxError as error:
        raise not_well_formed(str(error.msg), text, *error.position) from None
    errors = parser.error_log.filter_from_errors()
    if not errors:
        return recovered, ()
    prefixes = _undeclared_prefixes(recovered)
    if not prefixes:
        raise not_well_formed(errors[0].message, text, errors[0].line, errors[0].column)
    return _parse_declaring(prefixes, text), prefixes


def _undeclared_prefixes(recovered: etree._Element | None) -> set[str]:
    """Return the prefixes without a namespace in the names of a recovered tree."""
    found = [] if recovered is None else cast("list[Any]", _WITH_PREFIX(recovered))
    names = (str(node.tag if isinstance(node, etree._Element) else node.attrname) for node in found)
    prefixes = {prefix for prefix, _, local in (name.partition(":") for name in names) if prefix and local}
    return prefixes - {"xmlns"}


def _parse_declaring(prefixes: Collection[str], text: SourceText) -> etree._Element:
    """Parse a copy of the text that declares these prefixes on its root."""
    added = "".join(f' xmlns:{prefix}="{UNDECLARED_NAMESPACE}{quote(prefix)}"' for prefix in sorted(prefixes))
    utf8 = text.utf8
    name = _start_of_root(utf8)
    cut = name.end() if name else 0
    try:
        return parse_strictly(replace(text, utf8=utf8[:cut] + added.encode() + utf8[cut:]))
    except DescriptionError as error:
        problem = error.diagnostics[0]
        root = text.place(cut)
        if problem.place.line != root.line or problem.place.column <= root.column:
            raise
        place = SourcePlace(text.source, root.line, problem.place.column - len(added))
        raise refusal(problem.code, problem.message, place) from None


def _start_of_root(utf8: bytes) -> re.Match[bytes] | None:
    """Return the bracket and the name with which the root begins."""
    start = _skip(utf8, _BEFORE_ROOT)
    while skipped := SKIPPED.match(utf8, start):
        start = _skip(utf8, _BEFORE_ROOT, skipped.end())
    return _START_OF_ROOT.match(utf8, start)


def name_of_root(utf8: bytes) -> str:
    """Return the root's tag without its prefix."""
    found = _start_of_root(utf8)
    return "" if found is None else found.group()[1:].decode("utf-8", "replace").rpartition(":")[2]


def starts_with_doctype(utf8: bytes) -> bool:
    """Return True if a document type is before the root, the only place where it is allowed."""
    return utf8.startswith(b"<!DOCTYPE", _skip(utf8, _BEFORE_ROOT))


def _skip(utf8: bytes, marks: Iterable[tuple[bytes, bytes]], offset: int = 0) -> int:
    """Return the offset behind white space and marked parts (such as comments), starting from `offset`."""
    offset = _BLANK.match(utf8, offset).end()  # type: ignore[union-attr]  # it may match nothing
    while end := next((close for begin, close in marks if utf8.startswith(begin, offset)), b""):
        found = utf8.find(end, offset)
        if found < 0:
            break
        offset = _BLANK.match(utf8, found + len(end)).end()  # type: ignore[union-attr]  # as above
    return offset


def _without_odd_declaration(text: SourceText) -> tuple[SourceText, SourcePlace | None]:
    """Return the text with spaces instead of an invalid XML declaration, and the place of the declaration."""
    utf8 = text.utf8
    if _PROPER_DECLARATION.match(utf8):
        return text, None
    found = _DECLARATION.match(utf8, _skip(utf8, _BEFORE_ROOT[:1]))
    if found is None:
        return text, None
    at, end = found.span()
    spaces = re.sub(rb"[^\r\n]", b" ", found.group())
    return replace(text, utf8=utf8[:at] + spaces + utf8[end:]), text.place(at)


def _without_odd_comments(text: SourceText) -> tuple[SourceText, list[SourcePlace]]:
    """Return the text with other characters for forbidden hyphens in comments, and the places of these comments."""
    # Step from mark to mark: a pattern would search the end of each unclosed comment.
    places: list[SourcePlace] = []
    pieces: list[bytes] = []
    last = offset = 0
    utf8 = text.utf8
    while (start := utf8.find(b"<!--", offset)) >= 0 and (end := utf8.find(b"-->", start + 4)) >= 0:
        comment = utf8[start + 4 : end]
        if b"--" in comment or comment.endswith(b"-"):
            places.append(text.place(start))
            pieces += [utf8[last : start + 4], _ODD_HYPHEN.sub(b"~", comment)]
            last = end
        offset = end + 3
    return replace(text, utf8=b"".join([*pieces, utf8[last:]])), places


def _open_quote(utf8: bytes, line: int, column: int) -> tuple[int, str] | None:
    """Return the position and attribute of a quote that is not closed before a ``<`` behind the end of the tag.

    None if the ``<`` is in a value of one tag, whose quote may be closed.
    """
    start = 0
    for _ in range(line - 1):
        start = utf8.find(b"\n", start) + 1
    # libxml2 counts columns in characters.
    before = utf8[start : start + 4 * column].decode(errors="replace")[: column - 1]
    end = start + len(before.encode())
    at = utf8.rfind(b"<", 0, end)
    while (found := _ATTRIBUTE.search(utf8, max(at, 0), end)) is not None:
        at = utf8.find(found["quote"], found.end(), end) + 1
        if not at:
            opened = b">" in utf8[found.end() : end]
            return (found.end() - 1, found["name"].decode(errors="replace")) if opened else None
    return None


def not_well_formed(reason: str, text: SourceText, line: int, column: int) -> DescriptionError:
    """Return the error for a parser's refusal at a line and column."""
    place = SourcePlace(text.source, max(line, 1), max(column, 1))
    message = " ".join(re.sub(r", line \d+, column \d+.*$", "", reason).split())
    if message.startswith("Unescaped '<'") and (quote := _open_quote(text.utf8, line, column)) is not None:
        at, name = quote
        place = text.place(at)
        return refusal("not-well-formed", f"not well-formed XML: the quote of attribute '{name}' is not closed", place)
    if "xcessive depth" in message:
        return refusal("nested-too-deep", "elements are nested too deep", place)
    if _LIBRARY_LIMIT.search(message):
        reason = "a name, an attribute, a text or a comment is longer than 10,000,000 bytes, the limit"
        return refusal("too-large", reason, place)
    return refusal("not-well-formed", f"not well-formed XML: {message}", place)


_PIECE = 1 << 16


class OddBytes(NamedTuple):
    """Bytes that no XML has: what they are and how they are read, and where the first of them is."""

    message: str
    place: SourcePlace


class XmlDocument:
    """A well-formed text: its lxml tree `root` (comments kept, entities refused) and its `places`.

    Attributes:
        changed: True if the tree may differ from the text; the elements keep their numbers.
        undeclared_prefixes: prefixes without a declaration, each with the number of the first element that uses it;
            only if `parse_xml` was forgiving. In the tree they have namespaces that begin with `UNDECLARED_NAMESPACE`.
        odd_declaration: place of an XML declaration that XML does not allow; only if `parse_xml` was forgiving. The
            text of `places` has spaces instead.
        odd_comments: places of comments with ``--``, which XML forbids; only if `parse_xml` was forgiving. The text of
            `places` has the same number of other characters instead.
        odd_bytes: bytes that no XML has; only if `parse_xml` was forgiving.
        unused_arguments: for an expanded xacro: given arguments that no file of the robot asks for, each with the
            nearest argument that a file asks for.
    """

    def __init__(
        self,
        root: etree._Element | None,
        places: SourceMap,
        undeclared_prefixes: Mapping[str, int] | None = None,
        odd_declaration: SourcePlace | None = None,
        odd_comments: tuple[SourcePlace, ...] = (),
        odd_bytes: tuple[OddBytes, ...] = (),
        unused_arguments: Mapping[str, str | None] | None = None,
    ) -> None:
        """Without `root`, the tree is made from the text when it is first used."""
        if root is not None:
            self.root = root
        self.changed = False
        self.places = places
        self.undeclared_prefixes: Mapping[str, int] = undeclared_prefixes or {}
        self.odd_declaration = odd_declaration
        self.odd_comments = odd_comments
        self.odd_bytes = odd_bytes
        self.unused_arguments: Mapping[str, str | None] = unused_arguments or {}

    @cached_property
    def root(self) -> etree._Element:
        """The tree."""
        return parse_forgiving(SourceText(self.places.text, self.places.source)).root

    @property
    def head(self) -> etree._Element:
        """The root as a reader of `children` needs it: with its attributes and the text before its children."""
        return self.root

    def children(self) -> Iterable[etree._Element]:
        """Return the children of `head`, comments included, to be read once in order."""
        return self.root[:]  # type: ignore[index]  # lxml slices, which its stubs do not know

    @cached_property
    def elements(self) -> list[etree._Element]:
        """The tree's elements; the index is the number in document order."""
        return list(self.root.iter("*"))

    @cached_property
    def ordinals(self) -> dict[etree._Element, int]:
        """The tree's elements with their numbers."""
        # 0.1 us for each element; it also keeps lxml's proxies alive, which makes every later walk over the tree
        # faster.
        return {element: at for at, element in enumerate(self.elements)}

    def in_no_namespace(self) -> XmlDocument:
        """Return the document without the root's default namespace on its tags: other URDF readers ignore namespaces.

        Without a default namespace, return this document.
        """
        scopes: dict[Any, str] = {**self.head.nsmap}
        default = scopes.get(None)
        if not default or not str(self.head.tag).startswith("{") or self.head.prefix:
            return self
        made = self.copied()
        start = f"{{{default}}}"
        for element in made.elements:
            if not element.prefix and element.tag.startswith(start):
                element.tag = element.tag[len(start) :]
        return made

    def copied(self) -> XmlDocument:
        """Return the document with a copy of its tree that may be changed; `ordinals` keep the numbers of the text."""
        root = copy.deepcopy(self.root.getroottree()).getroot()
        odd = self.odd_declaration, self.odd_comments, self.odd_bytes
        made = XmlDocument(root, self.places, self.undeclared_prefixes, *odd, self.unused_arguments)
        made.changed = True
        assert len(made.ordinals) == len(made.elements)
        return made

    def clone(self, element: etree._Element) -> etree._Element:
        """Return a copy of an element for another position in a changed tree; its numbers stay the same."""
        made = copy.deepcopy(element)
        made.tail = None
        for old, new in zip(element.iter("*"), made.iter("*"), strict=True):
            self.ordinals[new] = self.ordinals[old]
        return made

    def ordinal(self, element: etree._Element) -> int:
        """Return the number of `element` in document order, as `SourceMap.place` takes it."""
        return self.ordinals[element]

    def place(self, element: etree._Element, attribute: str | None = None) -> SourcePlace:
        """Return the place of `element`, or of its `attribute`."""
        return self.places.place(self.ordinal(element), attribute)


class StreamedDocument(XmlDocument):
    """A document whose tree is made only if it is used; the first `children` need none.

    A whole tree takes 18 times the memory of its text.
    """

    def __init__(self, text: SourceText) -> None:
        """Begin to parse a text without faults.

        Raises:
            etree.XMLSyntaxError: the beginning is beyond a limit of the parser.
        """
        utf8 = text.utf8
        super().__init__(None, SourceMap(text.source, utf8))
        self._parser = etree.XMLPullParser(("start",), tag=f"{{*}}{name_of_root(utf8)}", **OPTIONS)
        self._pieces = (utf8[at : at + _PIECE] for at in range(0, len(utf8), _PIECE))
        self._is_read = False
        self._head: etree._Element | None = None
        # The text before the first child may be in several pieces.
        while self._head is None or not len(self._head):
            piece = next(self._pieces, None)
            if piece is None:
                break
            self._parser.feed(piece)
            events = cast("Iterator[tuple[str, etree._Element]]", self._parser.read_events())
            if self._head is None:
                self._head = next((element for _, element in events), None)

    @property
    def head(self) -> etree._Element:
        """The root, without the children that are read already."""
        return self.root if self._head is None else self._head

    def children(self) -> Iterator[etree._Element]:
        """Yield each child of the root and remove it afterwards; later calls yield those of the tree.

        Raises:
            DescriptionError: elements are nested too deep, or a text is too long.
        """
        if self._head is None or self._is_read:
            yield from self.root
            return
        self._is_read = True
        try:
            for piece in self._pieces:
                # The last child may be incomplete, or text may follow it.
                yield from self._head[:-1]  # type: ignore[index]  # lxml slices, which its stubs do not know
                del self._head[:-1]
                self._parser.feed(piece)
            self._parser.close()
        except etree.XMLSyntaxError as error:
            text = SourceText(self.places.text, self.places.source)
            raise not_well_formed(str(error.msg), text, *error.position) from None
        yield from self._head


def is_macro(element: etree._Element) -> bool:
    """Return True for an element of xacro; the prefix decides, not the namespace behind it."""
    tag = element.tag
    if type(tag) is not str or not tag.startswith("{"):
        return False
    return element.prefix == "xacro" or (tag.startswith("{http://www.ros.org/") and "xacro" in tag)


# Oddities of a parsed document: faults that other XML readers accept, and xacro that is not expanded.


_EXPRESSION = pattern(r"\$[{(]")
_WITH_DOLLAR = etree.XPath("//*/@*[contains(., '$')]")


def has_macros(document: XmlDocument) -> bool:
    """Return True if a document has an xacro element."""
    return b"xacro" in document.places.text and any(map(is_macro, document.root.iter("*")))


def makes_names(document: XmlDocument) -> bool:
    """Return True if xacro may make names of a document: it has an xacro element, or an expression in an attribute."""
    return has_macros(document) or any(map(_EXPRESSION.search, cast("list[str]", _WITH_DOLLAR(document.root))))


def report_oddities(document: XmlDocument, diagnostics: Diagnostics) -> None:
    """Warn about faults that other XML readers accept, and about macros that were not expanded."""
    if document.odd_declaration is not None:
        message = "the XML declaration should be '<?xml version=\"1.0\"?>' at the very start; it is ignored"
        diagnostics.warning("odd-declaration", message, document.odd_declaration)
    for message, place in document.odd_bytes:
        diagnostics.warning("odd-bytes", message, place)
    for place in document.odd_comments:
        message = "a comment should have no '--' in it; it is read with '~' instead of '-'"
        diagnostics.warning("odd-comment", message, place)
    for prefix, at in document.undeclared_prefixes.items():
        message = f"the namespace prefix '{prefix}' is not declared"
        diagnostics.warning("undeclared-prefix", message, document.places.place_finder(at))
    report_unused_arguments(document, diagnostics)
    _report_expressions(document, diagnostics)


def report_unused_arguments(document: XmlDocument, diagnostics: Diagnostics) -> None:
    """Warn about each given argument that is not used."""
    for name, near in document.unused_arguments.items():
        advice = f"; did you mean '{near}'?" if near else ""
        message = f"argument '{name}' is given, but the xacro neither declares nor uses it{advice}"
        diagnostics.warning("unused-argument", message, document.places.place_finder(0))


def _report_expressions(document: XmlDocument, diagnostics: Diagnostics) -> None:
    """Warn once about values that look like xacro expressions that were not evaluated."""
    if b"$" not in document.places.text:
        return
    found = [value for value in cast("list[Any]", _WITH_DOLLAR(document.root)) if _EXPRESSION.search(value)]
    if found:
        more = f" and {len(found) - 1} more" if len(found) > 1 else ""
        message = f"'{found[0]}'{more} looks like xacro that was not expanded; it is used as plain text"
        place = document.places.place_finder(document.ordinal(found[0].getparent()), found[0].attrname)
        diagnostics.warning("xacro-not-expanded", message, place)
