# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Oddities of a parsed document: faults that other XML readers accept, and xacro that is not expanded."""

from __future__ import annotations

import re
from typing import Any, cast

from lxml import etree

from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.xml.document import XmlDocument, is_macro

_EXPRESSION = re.compile(r"\$[{(]")
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
        place = document.places.place_finder(document.at(found[0].getparent()), found[0].attrname)
        diagnostics.warning("xacro-not-expanded", message, place)
