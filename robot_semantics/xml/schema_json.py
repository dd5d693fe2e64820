# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Conversion of values to JSON data and back, by the format's table; values that are not stated have no key."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from robot_semantics.base.diagnostic import SourcePlace
from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.base.json_value import Json, JsonObject
from robot_semantics.xml.schema import BadValueError, Child, Element, Fields, ValueKind


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
        self._found = found

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
                self._found.error("unknown-key", f"the key '{key}' is not known", place, name=key, valid=keys)
        return plain

    def _texts(self, plain: Json, path: str) -> tuple[str, ...]:
        if not isinstance(plain, list) or not all(isinstance(text, str) for text in plain):
            self._error(path, "it is not a list of texts")
            return ()
        return tuple(plain)

    def _error(self, path: str, message: str) -> None:
        self._found.error("bad-json", message, SourcePlace(self._source, path=path or "/"))


def _made(element: Element, values: Fields) -> object:
    if element.make is None:
        return None
    return element.make(**{field: value for field, value in values.items() if value is not None})
