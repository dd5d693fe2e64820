# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Writing of a value as a document, by the format's table; all problems are reported together."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any, NamedTuple

from robot_semantics.base.diagnostic import SourcePlace
from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.xml.foreign import KeptContent, quoted
from robot_semantics.xml.schema import BadValueError, Child, Element, FormatTable, NamedValue, ValueKind

_SPECIAL = re.compile('[&<>"\t\r\n]|[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]')
_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_INDENT = "  "


def write_table(
    value: object,
    table: FormatTable[object],
    source: str,
    found: Diagnostics,
    namespaces: Iterable[tuple[str, str]] = (),
) -> str:
    """Return the text of a value, without an XML declaration; parts that cannot be written are added to `found`.

    Arguments:
        value: value of the table's root.
        table: the format.
        source: name of the text in messages.
        found: receives the problems, with their paths.
        namespaces: prefixes and URIs that the root declares, besides the format's own.
    """
    return _Writer(table, source, found).document(value, namespaces)


class _ChildField(NamedTuple):
    """A field that one or several tags write; with several, the type of a value gives its tag."""

    name: str
    children: Mapping[str, Child]
    tag: str
    child: Child


@cache
def _child_fields(element: Element) -> list[_ChildField]:
    fields: dict[str, dict[str, Child]] = {}
    for tag, child in element.children.items():
        fields.setdefault(child.field, {})[tag] = child
    return [_ChildField(name, children, *next(iter(children.items()))) for name, children in fields.items()]


def _parts(element: Element, value: object) -> Iterator[tuple[str, Element, object]]:
    """Yield tag, element and value of each child of a value, in the order of the table."""
    for name, children, tag, child in _child_fields(element):
        content: Any = getattr(value, name) if name else value
        if content is None:
            continue
        if len(children) > 1:
            by_type = {other.element.make: (other_tag, other.element) for other_tag, other in children.items()}
            for item in content if child.many else (content,):
                yield (*by_type[type(item)], item)
        elif child.keyed:
            for pair in content.items():
                yield tag, child.element, NamedValue(*pair)
        elif child.many:
            for item in content:
                yield tag, child.element, item
        else:
            yield tag, child.element, content


class _Writer:
    """Writer of one document."""

    def __init__(self, table: FormatTable[object], source: str, found: Diagnostics) -> None:
        self._table = table
        self._source = source
        self._found = found
        self._lines: list[str] = []
        self._path: list[tuple[str, object]] = []

    def document(self, value: object, namespaces: Iterable[tuple[str, str]]) -> str:
        """Return the whole text."""
        table = self._table
        self._element(table.root.tag, table.root, value, "", None, "")
        body = "".join(self._lines)
        declared = [*namespaces]
        if table.prefix and f"{table.prefix}:" in body:
            declared.append((table.prefix, table.namespace))
        names = [(f"xmlns:{prefix}" if prefix else "xmlns", uri) for prefix, uri in declared]
        start = f"<{table.root.tag}"
        attributes = "".join([f" {name}={self._quoted(uri, f'/@{name}')}" for name, uri in names])
        return f"{start}{attributes}{body[len(start) :]}"

    def _element(
        self, tag: str, element: Element, value: object, indent: str, kept: KeptContent | None, within: str
    ) -> None:
        """Write an element; `kept` is unknown content of the value that `within` begins at."""
        self._path.append((tag, value))
        if element.keeps:
            kept, within = self._table.kept(value), ""
        elif kept is not None:
            within = f"{within}/{tag}" if within else tag
        head = f"{indent}<{tag}"
        fields = value if element.fields is None else element.fields(value)
        for name, attribute in element.attributes.items():
            content = getattr(fields, attribute.field) if element.make else None if attribute.field else value
            if content is not None:
                head += f" {name}={self._attribute(attribute.kind, content, name)}"
        if kept is not None:
            head += self._allowed(kept.start_tag(within), "")
        if element.text is not None:
            content = value if element.make is None else getattr(value, element.text_field)
            self._lines.append(f"{head}>{self._text(element.text, content)}</{tag}>\n")
        else:
            lines = self._lines
            lines.append(f"{head}>\n")
            length = len(lines)
            self._children(element, value, indent + _INDENT, kept, within)
            if len(lines) == length:
                lines[-1] = f"{head}/>\n"
            else:
                lines.append(f"{indent}</{tag}>\n")
        self._path.pop()

    def _children(self, element: Element, value: object, indent: str, kept: KeptContent | None, within: str) -> None:
        if kept is None:
            for tag, child, item in _parts(element, value):
                self._element(tag, child, item, indent, None, "")
            return
        parts = list(_parts(element, value))
        for index in kept.arranged(within, [tag for tag, _, _ in parts]):
            if isinstance(index, str):
                self._lines.append(f"{indent}{index}\n")
            else:
                self._element(*parts[index], indent, kept, within)

    def _attribute(self, kind: ValueKind, content: object, name: str) -> str:
        text = self._written(kind, content, name)
        return self._quoted(text, f"/@{name}") if _SPECIAL.search(text) else f'"{text}"'

    def _quoted(self, text: str, where: str) -> str:
        return quoted(self._allowed(text, where))

    def _text(self, kind: ValueKind, content: object) -> str:
        text = self._written(kind, content, "")
        if _SPECIAL.search(text):
            text = self._allowed(text, "")
            text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("\r", "&#13;")
        return text

    def _written(self, kind: ValueKind, content: object, name: str) -> str:
        """Return the text of an attribute, or, without `name`, of an element."""
        try:
            return kind.write(content, name or "it")
        except BadValueError as error:
            self._error(error.code, str(error), f"/@{name}" if name else "")
            return ""

    def _allowed(self, text: str, where: str) -> str:
        """Return a text; report it if XML does not allow all of it."""
        bad = _NOT_XML.search(text)
        if bad:
            self._error("not-xml", f"{text!r} has a character that XML does not allow: U+{ord(bad.group()):04X}", where)
        return text

    def _error(self, code: str, message: str, where: str) -> None:
        (root, _), *others = self._path or [(self._table.root.tag, None)]
        path = f"/{root}" + "".join(f"/{tag}{_name(value)}" for tag, value in others)
        self._found.error(code, message, SourcePlace(self._source, path=path + where))


def _name(value: object) -> str:
    """Return the name of an element in paths, which distinguishes siblings; the root has none."""
    name = getattr(value, "name", None)
    return f"[@name='{name}']" if isinstance(name, str) else ""
