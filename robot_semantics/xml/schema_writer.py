# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Writing of a value as a document, by the format's table; all problems are reported together."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from robot_semantics.base.diagnostics import Diagnostics, SourcePlace
from robot_semantics.xml.foreign import attributes_of, quoted
from robot_semantics.xml.schema import TEXT, BadValueError, Child, Element, FormatTable, NamedValue, ValueKind

_SPECIAL = re.compile('[&<>"\t\r\n]|[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]')
_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def write_table(value: Any, table: FormatTable, source: str, found: Diagnostics) -> str:
    """Return the text of a value; add parts that cannot be written to `found`, with their paths."""
    return _Writer(table, source, found).document(value)


class _Writer:
    """Writer of one document."""

    def __init__(self, table: FormatTable, source: str, found: Diagnostics) -> None:
        self._table = table
        self._source = source
        self._found = found
        self._lines: list[str] = []
        self._path: list[tuple[str, Any]] = []
        self._own_prefix = f"{table.prefix}:"

    def document(self, value: Any) -> str:
        """Return the whole text."""
        root = self._table.root
        self._element(root.tag, root, value, "", ())
        body = "".join(self._lines)
        if self._own_prefix in body:
            start = f"<{root.tag}"
            body = f'{start} xmlns:{self._table.prefix}="{self._table.namespace}"{body[len(start) :]}'
        return f'<?xml version="1.0" encoding="UTF-8"?>\n{body}'

    def _element(self, tag: str, element: Element, value: Any, indent: str, around: tuple[str, ...]) -> None:
        self._path.append((tag, value))
        foreign: tuple[str, ...] = value.foreign if element.keeps else ()
        start = [f"{indent}<{tag}"]
        for name, attribute in element.attributes.items():
            content = getattr(value, attribute.field)
            if content is not None:
                start.append(f" {name}={self._quoted(attribute.kind, content, f'/@{name}')}")
        if foreign:
            start.append(attributes_of(foreign))
        if around:
            start.append(attributes_of(around, tag))
        head = "".join(start)
        if element.text is not None:
            content = value if element.make is None else getattr(value, element.text_field)
            self._lines.append(f"{head}>{self._text(element.text, content)}</{tag}>\n")
        else:
            self._children(tag, element, value, head, indent, foreign)
        self._path.pop()

    def _children(
        self, tag: str, element: Element, value: Any, head: str, indent: str, foreign: tuple[str, ...]
    ) -> None:
        lines, inner = self._lines, indent + "  "
        if not element.children:
            lines.append(f"{head}/>\n")
            return
        lines.append(f"{head}>\n")
        if foreign:
            lines += [f"{inner}{entry}\n" for entry in foreign if entry.startswith("<")]
        for child_tag, child in element.children.items():
            for item in _items(child, getattr(value, child.field)):
                self._element(child_tag, child.element, item, inner, foreign)
        lines.append(f"{indent}</{tag}>\n")

    def _quoted(self, kind: ValueKind, content: Any, where: str) -> str:
        text = self._written(kind, content, where, where[2:])
        return quoted(text) if _SPECIAL.search(text) else f'"{text}"'

    def _text(self, kind: ValueKind, content: Any) -> str:
        text = self._written(kind, content, "", "it")
        if _SPECIAL.search(text):
            text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("\r", "&#13;")
        return text

    def _written(self, kind: ValueKind, content: Any, where: str, what: str) -> str:
        try:
            text: str = kind.write(content, what)
        except BadValueError as error:
            self._error(error.code, str(error), where)
            return ""
        if kind is TEXT and _NOT_XML.search(text):
            self._error("not-xml", f"{text!r} has a character that XML does not allow", where)
            return ""
        return text

    def _error(self, code: str, message: str, where: str) -> None:
        path = "".join(f"/{tag}{_name(value)}" for tag, value in self._path)
        self._found.error(code, message, SourcePlace(self._source, path=path + where))


def _name(value: Any) -> str:
    """Return the name of an element in paths, which distinguishes siblings; the root has none."""
    name = getattr(value, "name", None)
    return f"[@name='{name}']" if isinstance(name, str) and not hasattr(value, "models") else ""


def _items(child: Child, value: Any) -> Iterable[Any]:
    if value is None:
        return ()
    if child.keyed:
        mapping: Mapping[str, Any] = value
        return [NamedValue(*item) for item in mapping.items()]
    return value if child.many else (value,)
