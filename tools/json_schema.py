# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Conversion of a format's table to JSON Schema, for its JSON form."""

from __future__ import annotations

from typing import Any, NamedTuple

from lxml import etree

from robot_semantics.xml.relax_ng import definitions
from robot_semantics.xml.schema import Element, FormatTable, ValueKind


class _Shape(NamedTuple):
    """The grammar of a kind: numbers (`length` of them, None: any number), words, a pattern; else a text."""

    numbers: bool = False
    length: int | None = None
    words: tuple[str, ...] = ()
    pattern: str = ""


def _shape(kind: ValueKind) -> _Shape:
    grammar = etree.fromstring(f"<define>{kind.grammar}</define>")
    rows = grammar.find("list")
    if rows is not None:
        return _Shape(True, None if rows.find("data") is None else len(rows.findall("data")))
    if grammar.find("data[@type='double']") is not None:
        return _Shape(True, 1)
    words = tuple(value.text or "" for value in grammar.iter("value"))
    pattern = grammar.find("data/param[@name='pattern']")
    return _Shape(words=words, pattern="" if pattern is None else pattern.text or "")


def json_schema(table: FormatTable[object], about: str) -> dict[str, Any]:
    """Return the JSON Schema (2020-12) of the JSON form of a table's values; `about` is its description."""
    names = definitions(table)
    root = _object(table.root, names)
    root["properties"] = {"format": {"const": table.namespace}, **root["properties"]}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"{table.namespace}:json",
        "description": about,
        **root,
        "$defs": {name: _object(element, names) for element, name in names.items() if element.make},
    }


def _object(element: Element, names: dict[Element, str]) -> dict[str, Any]:
    """Return the schema of an element's value."""
    properties: dict[str, Any] = {}
    required = []
    for attribute in element.attributes.values():
        key = attribute.json or attribute.field
        properties[key] = _value(attribute.kind)
        required += [key] if attribute.required else []
    if element.text is not None:
        properties[element.text_field] = _value(element.text)
        required.append(element.text_field)
    for child in element.children.values():
        inside = child.element
        kind = inside.text or (inside.attributes["value"].kind if child.keyed else None)
        plain = _value(kind) if kind and (child.keyed or inside.make is None) else {"$ref": f"#/$defs/{names[inside]}"}
        many = {"type": "object", "additionalProperties": plain} if child.keyed else {"type": "array", "items": plain}
        properties[child.json or child.field] = many if child.many else plain
    if element.keeps:
        properties["foreign"] = {"type": "array", "items": {"type": "string"}}
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def _value(kind: ValueKind) -> dict[str, Any]:
    shape = _shape(kind)
    if shape.numbers:
        counts = {} if shape.length is None else {"minItems": shape.length, "maxItems": shape.length}
        return {"type": "array", "items": {"type": "number"}, **counts}
    return {"type": "string", **({"pattern": f"^({shape.pattern})$"} if shape.pattern else {})}
