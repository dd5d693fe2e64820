"""Every problem of a faulty document, each with its place: what the schema refuses, in words that say what to do."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from lxml import etree

from robot_semantics.base.diagnostics import Diagnostics, Place
from robot_semantics.base.errors import DescriptionError
from robot_semantics.base.names import did_you_mean
from robot_semantics.usdf.numbers import BadNumber, parse_row
from robot_semantics.usdf.schema import structure_schema
from robot_semantics.usdf.validity import XML_SPACE, Problem
from robot_semantics.usdf.vocabulary import (
    ELEMENTS,
    NAMESPACE,
    OTHER_ROOT,
    ROOT,
    RS_ARRAY,
    RS_HASH,
    RS_QUATERNION,
    RS_TIME,
    SIX_NUMBERS,
    Element,
    written,
)
from robot_semantics.xml.reader import XmlDocument

_ARRAYS = frozenset({"positions", "velocities", "torques", RS_ARRAY})
_PATTERNS: dict[str, tuple[re.Pattern[str], str]] = {
    RS_TIME: (re.compile(r"-?[0-9]{1,10}\.[0-9]{9}"), "seconds, a point and nine digits of nanoseconds"),
    RS_HASH: (re.compile(r"[0-9a-f]{64}"), "64 hexadecimal digits in lower case (SHA-256)"),
}


def add(problems: Iterable[Problem], document: XmlDocument, found: Diagnostics) -> None:
    """Add errors in the state's meaning, each at its element's place in the document."""
    elements: dict[int, etree._Element] | None = None
    for problem in problems:
        place = Place(document.places.source)
        if problem.at >= 0:
            if elements is None:
                elements = {document.at(element): element for element in document.root.iter("*")}
            element = elements[problem.at]
            # A child is written without a namespace, and where it stands twice the first is meant.
            child = element.find(problem.child) if problem.child else None
            place = document.place(element if child is None else child, problem.attribute)
        found.error(problem.code, problem.message, place, name=problem.name, valid=problem.valid)


def report_and_prune(document: XmlDocument, found: Diagnostics) -> None:
    """Report what is wrong with the structure and the numbers, and take it out of the tree; what is left is sound.

    Raises:
        DescriptionError: nothing would be left.
    """
    document.at(document.root)  # numbers the elements, before any is taken out
    root = document.root
    if root.tag not in (ROOT, OTHER_ROOT):
        message = f"the root element is <{written(str(root.tag))}>; a world state's is <{ROOT}>"
        found.error("wrong-root", message, document.place(root))
        raise DescriptionError(found)
    if not _Pruner(document, found).sound(root):
        raise DescriptionError(found)
    if not structure_schema().validate(root):
        # Never seen; should schema and table ever differ, the schema's own words are better than none.
        for entry in structure_schema().error_log:
            found.error("schema", entry.message, Place(document.places.source, entry.line))
        raise DescriptionError(found)


class _Pruner:
    """Walks the tree with the table of elements at hand."""

    def __init__(self, document: XmlDocument, found: Diagnostics) -> None:
        self._document = document
        self._found = found

    def sound(self, element: etree._Element) -> bool:
        """Report the element's own problems and prune its children; tell whether the element itself can stay."""
        tag = str(element.tag)
        spec = ELEMENTS[tag]
        stays = self._attributes(element, tag, spec)
        if spec.text:
            return self._values(element, tag) and stays
        self._stray_text(element, tag)
        allowed = spec.once | spec.many
        seen: Counter[str] = Counter()
        for child in list(element):
            if not self._child_is_known(child, tag, allowed):
                element.remove(child)
                continue
            child_tag = str(child.tag)
            seen[child_tag] += 1
            if child_tag in spec.once and seen[child_tag] > 1:
                self._error("duplicate-element", f"a second <{written(child_tag)}> in one <{written(tag)}>", child)
                element.remove(child)
            elif not self.sound(child):
                element.remove(child)
        return stays

    def _child_is_known(self, child: etree._Element, tag: str, allowed: frozenset[str]) -> bool:
        if child.tag is etree.Entity:
            self._error("entity-reference", f"the entity {child.text} is not declared", self._owner(child))
        elif child.tag not in allowed:
            name = written(str(child.tag))
            valid = [written(word) for word in sorted(allowed)]
            elsewhere = child.tag in ELEMENTS and did_you_mean(name, valid) is None
            reason = "does not belong in" if elsewhere else "is not known in"
            self._error("unknown-element", f"<{name}> {reason} <{written(tag)}>", child, name=name, valid=valid)
        else:
            return True
        return False

    def _attributes(self, element: etree._Element, tag: str, spec: Element) -> bool:
        """Report and remove bad attributes; tell whether none that is required is missing."""
        known = spec.required | spec.optional
        for key in map(str, element.attrib):
            if key not in known:
                name, reason = written(key), "is not known"
                foreign = key.startswith("{") and not key.startswith(f"{{{NAMESPACE}}}")
                if foreign:
                    name, reason = etree.QName(key).localname, "is of another namespace and cannot be kept"
                message = f"the attribute '{name}' {reason} in <{written(tag)}>"
                valid = [written(word) for word in sorted(known)]
                place = self._document.place(element, None if foreign else name)
                self._found.error("unknown-attribute", message, place, name=name, valid=valid)
                del element.attrib[key]
            elif key in _PATTERNS and not _PATTERNS[key][0].fullmatch(element.get(key, "")):
                message = f"{written(key)} is '{element.get(key)}'; it must be {_PATTERNS[key][1]}"
                self._found.error("bad-value", message, self._document.place(element, written(key)))
                del element.attrib[key]
        if RS_QUATERNION in element.attrib and not self._row(
            element, str(element.attrib[RS_QUATERNION]), 4, "rs:quaternion"
        ):
            del element.attrib[RS_QUATERNION]
        missing = sorted(spec.required - set(map(str, element.attrib)))
        for key in missing:
            self._error("missing-attribute", f"<{written(tag)}> has no {written(key)}", element)
        return not missing

    def _values(self, element: etree._Element, tag: str) -> bool:
        """Check an element that holds text alone; tell whether its text can be used."""
        stays = True
        for child in element:
            if child.tag is etree.Entity:
                self._error("entity-reference", f"the entity {child.text} is not declared", element)
            else:
                self._error("unknown-element", f"<{written(str(child.tag))}> is not known in <{written(tag)}>", child)
            stays = False
        text = element.text or ""
        if tag in SIX_NUMBERS:
            return stays and self._row(element, text, 6, None)
        return stays and (tag not in _ARRAYS or self._row(element, text, None, None))

    def _row(self, element: etree._Element, text: str, count: int | None, attribute: str | None) -> bool:
        """Check a text of numbers; `attribute` says which one it is, None for the element's own text."""
        place = self._document.place(element, attribute)
        what = attribute or f"<{written(str(element.tag))}>"
        row = parse_row(text)
        if isinstance(row, BadNumber):
            message = f"number {row.position} of {what}, '{row.word[:40]}', {row.reason}"
            self._found.error("bad-number", message, place)
            return False
        if count is not None and len(row) != count:
            self._found.error("wrong-count", f"{what} has {len(row)} numbers; it must have {count}", place)
            return False
        return True

    def _stray_text(self, element: etree._Element, tag: str) -> None:
        """Report and remove text between the elements of one that holds elements."""
        holders = [(element, "text"), *((child, "tail") for child in element)]
        for holder, attribute in holders:
            text = (getattr(holder, attribute) or "").strip(XML_SPACE)
            if text:
                self._error("unexpected-text", f"the text '{text[:40]}' does not belong in <{written(tag)}>", element)
                setattr(holder, attribute, None)

    def _owner(self, child: etree._Element) -> etree._Element:
        parent = child.getparent()
        return child if parent is None else parent

    def _error(
        self,
        code: str,
        message: str,
        element: etree._Element,
        *,
        name: str | None = None,
        valid: list[str] | None = None,
    ) -> None:
        self._found.error(code, message, self._document.place(element), name=name, valid=valid or [])
