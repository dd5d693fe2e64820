# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Safe parsing of a file or a text, from any encoding, to a document.

lxml makes the tree; `source_map` computes places when the first problem is reported.
"""

from __future__ import annotations

import codecs
import errno
import re
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, cast
from urllib.parse import unquote
from xml.parsers import expat

from lxml import etree

from robot_semantics.base.diagnostic import Diagnostic, SourcePlace
from robot_semantics.base.diagnostics import refusal
from robot_semantics.base.errors import DescriptionError
from robot_semantics.base.files import read_bounded, read_named
from robot_semantics.base.names import shown
from robot_semantics.base.pattern import pattern
from robot_semantics.xml.document import (
    UNDECLARED_NAMESPACE,
    ForgivingParse,
    OddBytes,
    StreamedDocument,
    XmlDocument,
    is_faultless,
    parse_forgiving,
    parse_strictly,
    starts_with_doctype,
)
from robot_semantics.xml.other_formats import other_format
from robot_semantics.xml.source_map import SKIPPED, SourceMap, SourceText

MAX_BYTES = 64 * 1024 * 1024
"""Longest text that is read [bytes]; the largest known real robot description is under 2 MB."""

_NO_CHARACTER_SETS = frozenset({"idna", "punycode", "unicode_escape", "raw_unicode_escape"})
"""Encodings of Python that no XML document uses; to decode a long text from them may take hours."""

_CONTROL = pattern(rb"[\x00-\x08\x0b\x0c\x0e-\x1f]")
_TAG_OR_CONTROL = pattern(rb"<(?!!--)[^<>]*>|" + _CONTROL.pattern)
_COMMENT = pattern(r"<!--.*?-->", re.DOTALL)
_NO_UTF8 = pattern("[\udc80-\udcff]")
"""What `surrogateescape` makes of bytes that are not UTF-8."""

_REFERENCE = pattern(rb"&(?!#|amp;|lt;|gt;|quot;|apos;)[^;\s]{1,80};")
_IS_UNDECLARED = f"starts-with(namespace-uri(), '{UNDECLARED_NAMESPACE}')"
_UNDECLARED = etree.XPath(f"//*[{_IS_UNDECLARED}] | //@*[{_IS_UNDECLARED}]")
_SMALL = 1 << 20
"""Texts up to this many bytes get a tree: reading is 20 % faster, and the tree takes at most 20 MB."""


def parse_xml(text: str | bytes, source: str, *, forgiving: bool = False, streamed: bool = False) -> XmlDocument:
    """Parse `text`; every message calls it `source`. With `streamed`, a long text without a fault gets no tree.

    Entity declarations, external entities, network access and recovery from errors are off. If `forgiving`, four faults
    are allowed, as in the C++ readers:

    - prefixes without a declaration, as in ``<gazebo:x/>``
    - an XML declaration that is not first or has another version
    - comments with ``--``
    - bytes that `forgiving_utf8` can read

    Raises:
        DescriptionError: the text is too large, nested too deep, not decodable, not well-formed, or declares entities;
            the one diagnostic has line and column.

    """
    try:
        utf8, odd_bytes = forgiving_utf8(text, source) if forgiving else (utf8_of(text, source), ())
    except DescriptionError as error:
        raise _named_format(text, source, error) from None
    read = SourceText(utf8, source)
    has_doctype = starts_with_doctype(read.utf8)
    if has_doctype and b"<!ENTITY" in read.utf8:
        _refuse_entities(read)
    if streamed and len(read.utf8) > _SMALL and not has_doctype and not odd_bytes and is_faultless(read):
        # Only a parser with a tree has the limits of depth and of the length of a text.
        with suppress(etree.XMLSyntaxError):
            return StreamedDocument(read)
    try:
        parse = parse_forgiving(read) if forgiving else ForgivingParse(parse_strictly(read), read.utf8)
    except DescriptionError as error:
        raise error if utf8.lstrip().startswith(b"<") else _named_format(text, source, error) from None
    if has_doctype:
        _refuse_references(replace(read, utf8=parse.utf8))
    document = XmlDocument(
        parse.root,
        SourceMap(source, parse.utf8),
        odd_declaration=parse.odd_declaration,
        odd_comments=parse.odd_comments,
        odd_bytes=odd_bytes,
    )
    if parse.prefixes:
        document.undeclared_prefixes = _first_uses(document)
    return document


def _named_format(text: str | bytes, source: str, error: DescriptionError) -> DescriptionError:
    """Return the error for a text that is no XML; it says what the file is, if that is known."""
    problem = error.diagnostics[0]
    what = other_format(text.encode("utf-8", "replace") if isinstance(text, str) else text, source)
    if not what or problem.code not in ("not-well-formed", "not-decodable"):
        return error
    return refusal(problem.code, f"not XML: {what}", problem.place)


def _first_uses(document: XmlDocument) -> dict[str, int]:
    """Return the prefixes without a declaration, each with the number of the first element that uses it."""
    first: dict[str, int] = {}
    for found in cast("list[Any]", _UNDECLARED(document.root)):
        is_element = isinstance(found, etree._Element)
        name, element = (found.tag, found) if is_element else (found.attrname, found.getparent())
        prefix = name.removeprefix(f"{{{UNDECLARED_NAMESPACE}").partition("}")[0]
        first.setdefault(unquote(prefix), document.ordinal(element))
    return first


def _refuse_entities(text: SourceText) -> None:
    """Refuse a text that declares entities, before any entity is expanded."""
    parser = expat.ParserCreate("utf-8")

    def entity(*_: object) -> None:
        # expat is somewhere inside the declaration now.
        start = max(text.utf8.rfind(b"<!ENTITY", 0, parser.CurrentByteIndex + 1), 0)
        raise refusal("entity-declared", "entity declarations are not supported", text.place(start))

    parser.EntityDeclHandler = entity
    with suppress(expat.ExpatError):
        parser.Parse(text.utf8, True)


def _refuse_references(text: SourceText) -> None:
    """Refuse references to entities, which an external document type may declare."""
    # Replace comments and the like by spaces of the same length, so that places stay correct.
    found = _REFERENCE.search(SKIPPED.sub(lambda skipped: b" " * len(skipped.group()), text.utf8))
    if found:
        place = text.place(found.start())
        raise refusal(
            "entity-reference", f"the entity '{found.group().decode()}' is not declared in this document", place
        )


def read_xml(
    path: str | Path, *, forgiving: bool = False, foreign: bool = False, streamed: bool = False
) -> XmlDocument:
    """Read and parse a file; `foreign` as in `read_text`.

    Raises:
        DescriptionError: as `parse_xml`, or the file cannot be read.

    """
    return parse_xml(read_text(path, foreign=foreign), str(path), forgiving=forgiving, streamed=streamed)


def read_text(path: str | Path, *, foreign: bool = False) -> bytes:
    """Return a file's bytes.

    Args:
        path: a file that the user names; it may be a pipe.
        foreign: True if another file names it; then only a regular file is read.

    Raises:
        DescriptionError: the file cannot be read, or is too long.

    """
    try:
        return (read_bounded if foreign else read_named)(path, MAX_BYTES)
    except (OSError, ValueError) as error:
        if getattr(error, "errno", None) == errno.EFBIG and not foreign:
            raise too_large(str(path)) from None
        reason = getattr(error, "strerror", None) or error
        raise refusal("unreadable", f"cannot be read: {reason}", SourcePlace(str(path))) from None


def utf8_of(text: str | bytes, source: str) -> bytes:
    """Return the text as UTF-8 without a byte-order mark, from any encoding.

    Raises:
        DescriptionError: the text is too large, empty or not decodable.

    """
    if len(text) > MAX_BYTES:
        raise too_large(source)
    encoding = "utf-8"
    try:
        if isinstance(text, str):
            utf8 = text.removeprefix("\ufeff").encode()
        elif text.startswith((b"\xff\xfe", b"\xfe\xff")):
            utf8 = text.decode("utf-16").encode()
        else:
            declared = re.match(rb"""\s*<\?xml[^>]*?encoding\s*=\s*["']([A-Za-z0-9._-]+)["']""", text)
            if declared:
                encoding = declared.group(1).decode()
            name = codecs.lookup(encoding).name.replace("-", "_")
            if name in _NO_CHARACTER_SETS:
                raise LookupError
            if text.isascii() and name in ("utf_8", "ascii"):
                # Keep the bytes unchanged: this saves two copies of a large file.
                utf8 = bytes(text)
            elif name.startswith(("utf_16", "utf_32")):
                # The XML declaration was readable as single bytes, so the text is not in the declared encoding.
                message = f"the text is declared to be {encoding}, but it is not"
                raise refusal("not-decodable", message, SourcePlace(source, 1, 1))
            else:
                utf8 = text.decode(encoding).removeprefix("\ufeff").encode()
    except UnicodeDecodeError as error:
        line = column = 1
        if isinstance(text, bytes):
            before = text[: error.start].decode(error.encoding, "replace").removeprefix("\ufeff")
            line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
        message = f"the text is not {error.encoding}: {error.reason}"
        raise refusal("not-decodable", message, SourcePlace(source, line, column)) from None
    except LookupError:
        message = f"the text is declared to be {encoding}, which is an unknown encoding"
        raise refusal("not-decodable", message, SourcePlace(source, 1, 1)) from None
    except UnicodeError as error:
        raise refusal("not-decodable", f"the text cannot be decoded: {error}", SourcePlace(source, 1, 1)) from None
    if not utf8 or utf8.isspace():
        raise refusal("empty-document", "the text is empty", SourcePlace(source, 1, 1))
    return utf8


def forgiving_utf8(text: str | bytes, source: str) -> tuple[bytes, tuple[OddBytes, ...]]:
    """Return the text as UTF-8, and the bytes that no XML has but that the C++ readers accept.

    - A byte in a comment that is not UTF-8 is read as the character of Latin-1.
    - The text ends at a NUL after the end of a tag.
    - A control character outside of tags is read as a blank.

    Raises:
        DescriptionError: as `utf8_of`, for other faults.
    """
    odd: list[OddBytes] = []
    try:
        utf8 = utf8_of(text, source)
    except DescriptionError as error:
        strange = _bytes_in_comments(text, source, error.diagnostics[0])
        if strange is None:
            raise
        utf8, odd_bytes = strange
        odd.append(odd_bytes)
    nul = utf8.find(b"\0")
    if nul >= 0 and utf8[:nul].rstrip().endswith(b">"):
        odd.append(OddBytes("the text ends at a NUL; the rest is ignored", SourceText(utf8, source).place(nul)))
        utf8 = utf8[:nul]
    if (control := _CONTROL.search(utf8)) is not None:
        place = SourceText(utf8, source).place(control.start())
        blanked = _TAG_OR_CONTROL.sub(lambda found: b" " if len(found.group()) == 1 else found.group(), utf8)
        if blanked != utf8:
            odd.append(OddBytes("a control character that XML does not allow is read as a blank", place))
            utf8 = blanked
    return utf8, tuple(odd)


def _bytes_in_comments(text: str | bytes, source: str, problem: Diagnostic) -> tuple[bytes, OddBytes] | None:
    """Return a text that is not UTF-8 as UTF-8, and its odd bytes; None for a text that is no single bytes.

    Raises:
        DescriptionError: a byte that is not UTF-8 is outside of comments.
    """
    if problem.code != "not-decodable" or not isinstance(text, bytes) or text.startswith((b"\xff\xfe", b"\xfe\xff")):
        return None
    escaped = text.decode("utf-8", "surrogateescape").removeprefix("\ufeff")
    strange = [found.start() for found in _NO_UTF8.finditer(escaped)]
    if not strange:
        return None
    outside = _NO_UTF8.search(_COMMENT.sub(lambda comment: " " * len(comment.group()), escaped))
    at = strange[0] if outside is None else outside.start()
    place = SourcePlace(source, escaped.count("\n", 0, at) + 1, at - escaped.rfind("\n", 0, at))
    if outside is not None:
        raise refusal("not-decodable", problem.message, place)
    more = f", and so {len(strange) - 1} more bytes" if strange[1:] else ""
    byte = ord(escaped[at]) - 0xDC00
    message = f"the byte 0x{byte:02X} in a comment is not UTF-8; it is read as '{shown(chr(byte))}'{more}"
    utf8 = escaped.translate({0xDC00 + byte: byte for byte in range(0x80, 0x100)}).encode()
    return utf8, OddBytes(message, place)


def too_large(source: str) -> DescriptionError:
    """Return the error for a text longer than `MAX_BYTES`."""
    return refusal("too-large", f"the text is longer than {MAX_BYTES:,} bytes, the limit", SourcePlace(source))
