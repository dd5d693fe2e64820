# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Fixes of `check --fix`: problems with exactly one solution, changed in the text; other bytes stay.

These are misspelt names with only one similar known name, duplicates, elements in a wrong place with only one right
place, and older forms of the formats.
"""

from __future__ import annotations

import codecs
import difflib
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TextIO

from lxml import etree

from robot_semantics.base.diagnostic import Diagnostic
from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.base.errors import DescriptionError
from robot_semantics.base.pattern import pattern
from robot_semantics.bringup.checking import is_yaml
from robot_semantics.bringup.decimal_numbers import fixed_yaml
from robot_semantics.cli.frame.printing import print_line
from robot_semantics.model.resolve import resolve_urdf
from robot_semantics.srdf.table import SRDF
from robot_semantics.urdf.reader import read_urdf_robot
from robot_semantics.urdf.writer import write_urdf
from robot_semantics.xml.document import XmlDocument, has_macros
from robot_semantics.xml.edit import Edit, XmlText, escape
from robot_semantics.xml.reader import parse_xml, read_text
from robot_semantics.xml.xacro import is_xacro

OLDER = "older-dialect"
_LATE_DECLARATION = pattern(rb"(\s+|\s*(?:<!--.*?-->\s*)+)(<\?xml\s[^>]*\?>)", re.DOTALL)
_ELEMENTS = ("unknown-element", "unknown-shape")


def fixed_text(file: Path, diagnostics: Iterable[Diagnostic]) -> tuple[bytes, bytes] | None:
    """Return a file's bytes before and after the fixes; None if no problem in `diagnostics` can be fixed.

    Raises:
        DescriptionError: the file cannot be read.
    """
    problems = [problem for problem in diagnostics if Path(problem.place.source) == file]
    original = read_text(file)
    mended = mended_text(original, str(file), problems)
    return None if mended is None else (original, mended)


def mended_text(original: bytes, source: str, problems: Collection[Diagnostic]) -> bytes | None:
    """Return a text with the fixes of its `problems`; None if none of them can be fixed."""
    if is_yaml(source):
        return _fixed_yaml(original, problems)
    if any(problem.code == "odd-declaration" for problem in problems):
        declared = _declared_first(original)
        # Positions of the other problems refer to the old text: they are fixed in the next round.
        if declared is not None:
            return declared
    try:
        text = XmlText(original, source)
    except DescriptionError:
        return None
    if has_macros(text.document) or is_xacro(source):
        return None
    edits: dict[int, Edit] = {}
    for problem in problems:
        for edit in _edits(text, problem):
            # Only the first of two problems in one place is fixed; the next round finds the other if it still exists.
            edits.setdefault(edit.start, edit)
    mended = text.edited(_without_overlaps(edits.values())).original
    if any(problem.code == OLDER for problem in problems):
        mended = upgraded(parse_xml(mended, source, forgiving=True)) or mended
    return mended if mended != original else None


def _fixed_yaml(original: bytes, problems: Iterable[Diagnostic]) -> bytes | None:
    try:
        # Places do not count a byte-order mark.
        text = original.removeprefix(codecs.BOM_UTF8).decode()
    except UnicodeDecodeError:
        return None
    mended = original[: len(original) - len(text.encode())] + fixed_yaml(text, problems).encode()
    return mended if mended != original else None


def _declared_first(text: bytes) -> bytes | None:
    """Return a text with its XML declaration moved to the start; None if there is none behind spaces and comments."""
    mark = codecs.BOM_UTF8 if text.startswith(codecs.BOM_UTF8) else b""
    found = _LATE_DECLARATION.match(text, len(mark))
    if found is None:
        return None
    before, declaration = found.groups()
    rest = text[found.end() :]
    return mark + declaration + (b"\n" + before.strip() + rest if before.strip() else rest)


def upgraded(
    document: XmlDocument, diagnostics: Diagnostics | None = None, implicit_links: bool = False
) -> bytes | None:
    """Return a URDF in the current form; None if it already is.

    Raises:
        DescriptionError: the URDF has errors.
    """
    found = Diagnostics()
    model = resolve_urdf(read_urdf_robot(document, found), found, implicit_links=implicit_links)
    found.raise_if_failed()
    if diagnostics is not None:
        diagnostics.extend(found)
    return write_urdf(model.urdf).encode() if model is not None and model.urdf.rewritten else None


def print_difference(old: str, new: str, old_name: str, new_name: str, *, file: TextIO | None = None) -> None:
    """Print a unified diff for `patch`, lines of any length; the texts may lack a final newline."""
    for line in difflib.unified_diff(old.splitlines(keepends=True), new.splitlines(keepends=True), old_name, new_name):
        print_line(line.rstrip("\n"), file=file, most=len(line))
        if not line.endswith("\n"):
            print_line("\\ No newline at end of file", file=file)


def _without_overlaps(edits: Iterable[Edit]) -> Iterator[Edit]:
    """Yield the edits that do not overlap earlier ones."""
    last = 0
    for edit in sorted(edits):
        if edit.start >= last:
            last = edit.end
            yield edit


def _edits(text: XmlText, problem: Diagnostic) -> list[Edit]:
    element = text.places.element_at(problem.place.line, problem.place.column)
    if element is None:
        return []
    attribute = problem.place.path.rpartition("/@")[2] if "/@" in problem.place.path else ""
    if problem.suggestion and problem.certain:
        return _respelt(text, problem, element, attribute)
    mend = _MENDS.get(problem.code)
    return mend(text, element) if mend else []


def _respelt(text: XmlText, problem: Diagnostic, element: int, attribute: str) -> list[Edit]:
    """Return the edits that replace a misspelt name by the suggested name."""
    meant = problem.suggestion or ""
    if problem.code in _ELEMENTS:
        return _renamed(text, element, meant)
    if problem.code == "unknown-attribute":
        value = text.document.elements[element].get(attribute)
        if value is None or text.document.elements[element].get(meant) is not None:
            return []
        where = text.places.attribute_offset(element, attribute)
        return [Edit(where, where + len(attribute.encode()), meant.encode())]
    written = text.document.elements[element].get(attribute) if attribute else text.document.elements[element].text
    # A part of a value, such as a name without its namespace, is not replaced.
    if written is None or written.strip() != problem.name:
        return []
    if attribute:
        return [text.attribute(element, attribute, meant)]
    if problem.code == "unknown-parent":
        return [Edit(*text.places.inner_span(element), escape(meant).encode())]
    return []


def _renamed(text: XmlText, at: int, tag: str) -> list[Edit]:
    """Return the edits of an element's start and end tag."""
    start, end = text.places.span(at)
    _, inner_end = text.places.inner_span(at)
    old = str(text.document.elements[at].tag).encode()
    if not text.utf8.startswith(b"<" + old, start):
        return []
    edits = [Edit(start + 1, start + 1 + len(old), tag.encode())]
    if inner_end != end:
        edits.append(Edit(inner_end + 2, inner_end + 2 + len(old), tag.encode()))
    return edits


def _without(text: XmlText, at: int) -> list[Edit]:
    return [text.removal(at)]


def _without_if_said_already(text: XmlText, number: int) -> list[Edit]:
    """Return the edit that removes an element with the same words as an earlier one."""
    element = text.document.elements[number]
    before = (
        text.places.verbatim(text.document.ordinal(other))
        for other in element.itersiblings(element.tag, preceding=True)
    )
    return [text.removal(number)] if text.places.verbatim(number) in before else []


def _moved_out(text: XmlText, element: int) -> list[Edit]:
    """Return the edit that moves an element allowed only in the root behind the root's child that contains it."""
    root = text.document.root
    carrier = text.document.elements[element]
    while (above := carrier.getparent()) is not None and above is not root:
        carrier = above
    strays = [
        text.document.ordinal(child)
        for child in carrier.iterchildren(etree.Element)
        if str(child.tag) in _OF_THE_ROOT and str(child.tag) not in _ELSEWHERE
    ]
    if carrier is root or element not in strays:
        return []
    start, end = text.places.span(text.document.ordinal(carrier))
    rest, last = b"", start
    for stray in strays:
        removed = text.removal(stray)
        rest += text.utf8[last : removed.start]
        last = removed.end
    line = text.utf8[text.utf8.rfind(b"\n", 0, start) + 1 : start]
    between = (text.newline.encode() + line) if not line.strip() else b" "
    moved = b"".join(between + text.utf8[slice(*text.places.span(stray))] for stray in strays)
    return [Edit(start, end, rest + text.utf8[last:end] + moved)]


_OF_THE_ROOT = frozenset(SRDF.root.children)
_ELSEWHERE = frozenset(tag for element in SRDF.root.all() if element is not SRDF.root for tag in element.children)

_MENDS: Mapping[str, Callable[[XmlText, int], list[Edit]]] = {
    "duplicate-pair": _without,
    "listed-twice": _without,
    "duplicate-element": _without_if_said_already,
    "duplicate-name": _without_if_said_already,
    "misplaced-element": _moved_out,
    "other-root": lambda text, at: _renamed(text, at, "world_state"),
}
