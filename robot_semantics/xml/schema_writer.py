# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Writing of a value as a document or as JSON data, and JSON data back to a value, by the format's table.

All problems are reported together. Values that are not stated have no key in JSON.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from typing import Any, NamedTuple

from robot_semantics.base.diagnostic import SourcePlace
from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.base.json_value import Json, JsonObject
from robot_semantics.base.pattern import pattern
from robot_semantics.xml.foreign import KeptContent, quoted_attribute
from robot_semantics.xml.schema import BadValueError, Child, Element, Fields, FormatTable, NamedValue, ValueKind

_PLAIN = pattern("[ !#-%'-;=?-~]*")
"""Printable ASCII without ``&<>"``, which is written as it is."""
_NOT_XML = pattern("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_INDENT = "  "


def write_table(
    value: object,
    table: FormatTable[object],
    source: str,
    diagnostics: Diagnostics,
    namespaces: Iterable[tuple[str, str]] = (),
) -> str:
    """Return the text of a value, without an XML declaration; parts that cannot be written are added to `diagnostics`.

    Arguments:
        value: value of the table's root.
        table: the format.
        source: name of the text in messages.
        diagnostics: receives the problems, with their paths.
        namespaces: prefixes and URIs that the root declares, besides the format's own.
    """
    return _Writer(table, source, diagnostics).document(value, namespaces)


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
        self._diagnostics = found
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
        self, tag: str, element: Element, value: object, indent: str, foreign_content: KeptContent | None, within: str
    ) -> None:
        """Write an element; `foreign_content` is unknown content of the value that `within` begins at."""
        self._path.append((tag, value))
        if element.keeps:
            foreign_content, within = self._table.kept(value), ""
        elif foreign_content is not None:
            within = f"{within}/{tag}" if within else tag
        head = f"{indent}<{tag}"
        fields = value if element.fields is None else element.fields(value)
        for name, attribute in element.attributes.items():
            content = getattr(fields, attribute.field) if element.make else None if attribute.field else value
            if content is not None:
                head += f" {name}={self._attribute(attribute.kind, content, name)}"
        if foreign_content is not None:
            head += self._allowed(foreign_content.start_tag(within), "")
        if element.text is not None:
            content = value if element.make is None else getattr(value, element.text_field)
            self._lines.append(f"{head}>{self._text(element.text, content)}</{tag}>\n")
        else:
            lines = self._lines
            lines.append(f"{head}>\n")
            length = len(lines)
            self._children(element, value, indent + _INDENT, foreign_content, within)
            if len(lines) == length:
                lines[-1] = f"{head}/>\n"
            else:
                lines.append(f"{indent}</{tag}>\n")
        self._path.pop()

    def _children(
        self, element: Element, value: object, indent: str, foreign_content: KeptContent | None, within: str
    ) -> None:
        if foreign_content is None:
            for tag, child, item in _parts(element, value):
                self._element(tag, child, item, indent, None, "")
            return
        parts = list(_parts(element, value))
        for index in foreign_content.arranged(within, [tag for tag, _, _ in parts]):
            if isinstance(index, str):
                self._lines.append(f"{indent}{index}\n")
            else:
                self._element(*parts[index], indent, foreign_content, within)

    def _attribute(self, kind: ValueKind, content: object, name: str) -> str:
        text = self._written(kind, content, name)
        return f'"{text}"' if _PLAIN.fullmatch(text) else self._quoted(text, f"/@{name}")

    def _quoted(self, text: str, where: str) -> str:
        return quoted_attribute(self._allowed(text, where))

    def _text(self, kind: ValueKind, content: object) -> str:
        text = self._written(kind, content, "")
        if not _PLAIN.fullmatch(text):
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
        self._diagnostics.error(code, message, SourcePlace(self._source, path=path + where))


def _name(value: object) -> str:
    """Return the name of an element in paths, which distinguishes siblings; the root has none."""
    name = getattr(value, "name", None)
    return f"[@name='{name}']" if isinstance(name, str) else ""


def to_json(value: object, element: Element) -> Json:
    """Return the JSON data of an element's value."""
    if element.make is None and element.text is not None:
        return element.text.to_json(value)
    return object_of(value, element)


def object_of(value: object, element: Element) -> JsonObject:
    """Return the JSON object of the value of an element that is more than a text."""
    plain: JsonObject = {}
    for attribute in element.attributes.values():
        content = getattr(value, attribute.field)
        if content is not None:
            plain[attribute.json or attribute.field] = attribute.kind.to_json(content)
    if element.text is not None:
        plain[element.text_field] = element.text.to_json(getattr(value, element.text_field))
    for child in element.children.values():
        content = getattr(value, child.field)
        if content is not None:
            plain[child.json or child.field] = _child_to_json(content, child)
    foreign = getattr(value, "foreign", ())
    if element.keeps and foreign:
        plain["foreign"] = list(foreign)
    return plain


def _child_to_json(content: Any, child: Child) -> Json:
    if child.keyed:
        kind = _value_kind(child.element)
        return {name: kind.to_json(item) for name, item in content.items()}
    return [to_json(item, child.element) for item in content] if child.many else to_json(content, child.element)


def _value_kind(element: Element) -> ValueKind:
    """Return the kind of the value in a name-value pair."""
    return element.text if element.text is not None else element.attributes["value"].kind


class JsonReader:
    """Reader of JSON data; it reports and omits invalid parts."""

    def __init__(self, source: str, found: Diagnostics) -> None:
        self._source = source
        self._diagnostics = found

    def read(self, plain: Json, element: Element, path: str = "", more_keys: tuple[str, ...] = ()) -> object:
        """Return the value of an element; None if it cannot be made."""
        if element.make is None and element.text is not None:
            return self._guarded(element.text.from_json, plain, path)
        values: Fields = {}
        good = True
        attributes = {a.json or a.field: a for a in element.attributes.values()}
        children = {c.json or c.field: c for c in element.children.values()}
        text_key = (element.text_field,) if element.text is not None else ()
        keeps = ("foreign",) if element.keeps else ()
        plain = self._object(plain, path, (*attributes, *text_key, *children, *keeps, *more_keys))
        items = [(key, attribute.field, attribute.kind, attribute.required) for key, attribute in attributes.items()]
        if element.text is not None:
            items.append((element.text_field, element.text_field, element.text, True))
        for key, field, kind, required in items:
            if key in plain:
                values[field] = self._guarded(kind.from_json, plain[key], f"{path}/{key}")
            good = self._needed(values, field, key, required, path) and good
        for key, child in children.items():
            if key in plain:
                values[child.field] = self._child(plain[key], child, f"{path}/{key}")
        if "foreign" in plain and element.keeps:
            values["foreign"] = self._texts(plain["foreign"], f"{path}/foreign")
        return _made(element, values) if good else None

    def _child(self, plain: Json, child: Child, path: str) -> object:
        """Return the content of a child element; its default if there is none."""
        content = self._content(plain, child, path)
        return child.default if content is None or content == "" else content

    def _content(self, plain: Json, child: Child, path: str) -> object:
        if child.keyed:
            kind = _value_kind(child.element)
            items = self._object(plain, path, None)
            read = {name: self._guarded(kind.from_json, item, f"{path}/{name}") for name, item in items.items()}
            return {name: value for name, value in read.items() if value is not None}
        if not child.many:
            return self.read(plain, child.element, path)
        if not isinstance(plain, list):
            self._error(path, "it is not a list")
            return ()
        found = (self.read(item, child.element, f"{path}/{at}") for at, item in enumerate(plain))
        return tuple(item for item in found if item is not None)

    def _needed(self, values: Fields, field: str, key: str, required: bool, path: str) -> bool:
        if not required or values.get(field) is not None:
            return True
        if field not in values:
            self._error(path, f"there is no {key}")
        return False

    def _guarded(self, read: Callable[[Json], object], plain: Json, path: str) -> object:
        try:
            return read(plain)
        except BadValueError as error:
            self._error(path, str(error))
            return None

    def _object(self, plain: Json, path: str, keys: tuple[str, ...] | None) -> Mapping[str, Json]:
        """Return `plain` if it is an object, else an empty one; keys outside `keys` are errors."""
        if not isinstance(plain, dict):
            self._error(path, "it is not an object")
            return {}
        for key in plain:
            if keys is not None and key not in keys:
                place = SourcePlace(self._source, path=f"{path}/{key}")
                self._diagnostics.error("unknown-key", f"the key '{key}' is not known", place, name=key, valid=keys)
        return plain

    def _texts(self, plain: Json, path: str) -> tuple[str, ...]:
        if not isinstance(plain, list) or not all(isinstance(text, str) for text in plain):
            self._error(path, "it is not a list of texts")
            return ()
        return tuple(plain)

    def _error(self, path: str, message: str) -> None:
        self._diagnostics.error("bad-json", message, SourcePlace(self._source, path=path or "/"))


def _made(element: Element, values: Fields) -> object:
    if element.make is None:
        return None
    return element.make(**{field: value for field, value in values.items() if value is not None})
