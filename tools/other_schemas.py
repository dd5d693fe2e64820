# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Conversion of a format's table to XSD and, for its JSON form, to JSON Schema.

XSD 1.0 allows children in any order only by listing every order, which is too long for more than a few children. A
schema also has only one namespace, so extensions are allowed everywhere. XSD checks unique names, which RELAX NG
cannot.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple
from xml.sax.saxutils import quoteattr

from lxml import etree

from robot_semantics.xml.relax_ng import definitions, kinds
from robot_semantics.xml.schema import Element, FormatTable, ValueKind

_NUMBER = r"[+\-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+\-]?[0-9]+)?"


_MOST_IN_ANY_ORDER = 4
"""For more children that occur once, there are too many orders to list."""


class Names(NamedTuple):
    """Names that are unique among siblings, or that refer to other names.

    Attributes:
        of: their name in the schema.
        select: the elements with the names, as XPath from the element that contains all of them.
        fields: the attributes that form the name, as XPath from there.
        among: the names that they refer to; empty for unique names.
    """

    of: str
    select: str
    fields: tuple[str, ...] = ("@name",)
    among: str = ""


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


def xsd(table: FormatTable[object], about: str, names: Mapping[str, Sequence[Names]]) -> str:
    """Return the text of the XML Schema 1.0 of a table; `about` is its first comment, `names` are by tag."""
    types = definitions(table)
    lines = [
        '<?xml version="1.0" encoding="utf-8"?>',
        f"<!--\n{about}\n-->",
        '<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">',
    ]
    for tag in (table.root.tag, *table.other_roots):
        lines += _declared(tag, types[table.root], names.get(table.root.tag, ()), "  ")
    for element, name in types.items():
        if ":" not in element.tag:
            lines += _complex_type(table, element, name, types, names)
    for kind in kinds(table):
        lines += _simple_type(kind)
    finite = f'<xs:restriction base="xs:double"><xs:pattern value={quoteattr(_NUMBER)}/></xs:restriction>'
    lines += [f'  <xs:simpleType name="of.finite">{finite}</xs:simpleType>', "</xs:schema>\n"]
    return "\n".join(lines)


def _declared(tag: str, type_name: str, names: Sequence[Names], indent: str) -> list[str]:
    """Return the declaration of an element, with the names inside it."""
    start = f'{indent}<xs:element name="{tag}" type="{type_name}"'
    if not names:
        return [f"{start}/>"]
    lines = [f"{start}>"]
    for one in names:
        kind, refer = ("keyref", f' refer="{tag}.{one.among}"') if one.among else ("unique", "")
        fields = "".join(f'<xs:field xpath="{field}"/>' for field in one.fields)
        inside = f'<xs:selector xpath="{one.select}"/>{fields}'
        lines.append(f'{indent}  <xs:{kind} name="{tag}.{one.of}"{refer}>{inside}</xs:{kind}>')
    return [*lines, f"{indent}</xs:element>"]


def _complex_type(
    table: FormatTable[object],
    element: Element,
    name: str,
    types: Mapping[Element, str],
    names: Mapping[str, Sequence[Names]],
) -> list[str]:
    attributes = [
        f'<xs:attribute name="{key}" type="of.{item.kind.name}" use="{"required" if item.required else "optional"}"/>'
        for key, item in element.attributes.items()
        if ":" not in key
    ]
    attributes.append('<xs:anyAttribute namespace="##other" processContents="lax"/>')
    if element.text is not None:
        inside = f'<xs:extension base="of.{element.text.name}">{"".join(attributes)}</xs:extension>'
        return [f'  <xs:complexType name="{name}"><xs:simpleContent>{inside}</xs:simpleContent></xs:complexType>']
    plain = {tag: child for tag, child in element.children.items() if ":" not in tag}
    declared = {tag: _declared(tag, types[child.element], names.get(tag, ()), "      ") for tag, child in plain.items()}
    once = [tag for tag, child in plain.items() if not child.many]
    required = frozenset(tag for tag in once if plain[tag].required)
    if len(once) > _MOST_IN_ANY_ORDER and not element.choice:
        once, required = [], frozenset()
    silent = sorted(table.silent_tags - element.children.keys()) if plain else []
    more = [
        f'  <xs:group name="more.{name}">',
        "    <xs:choice>",
        *(line for tag in plain if tag not in once for line in declared[tag]),
        *(f'      <xs:element name="{tag}" type="xs:anyType"/>' for tag in silent),
        '      <xs:any namespace="##other" processContents="lax"/>',
        "    </xs:choice>",
        "  </xs:group>",
    ]
    again = f'    <xs:group ref="more.{name}" minOccurs="0" maxOccurs="unbounded"/>'
    if element.choice:
        in_order = ["    <xs:choice>", *(line for tag in once for line in declared[tag]), "    </xs:choice>", again]
    else:
        in_order = _in_any_order(tuple(once), required, declared, again)
    body = [f'  <xs:complexType name="{name}">', "    <xs:sequence>", again, *in_order, "    </xs:sequence>"]
    return [*more, *body, *(f"    {line}" for line in attributes), "  </xs:complexType>"]


def _in_any_order(
    left: tuple[str, ...], required: frozenset[str], declared: Mapping[str, Sequence[str]], again: str
) -> list[str]:
    """Return the particles of children that occur at most once, in any order, with other elements between them."""
    if not left:
        return []
    lines = [f'    <xs:choice minOccurs="{1 if required else 0}">']
    for tag in left:
        after = _in_any_order(tuple(other for other in left if other != tag), required - {tag}, declared, again)
        lines += ["    <xs:sequence>", *declared[tag], again, *after, "    </xs:sequence>"]
    return [*lines, "    </xs:choice>"]


def _simple_type(kind: ValueKind) -> list[str]:
    shape, start = _shape(kind), f'  <xs:simpleType name="of.{kind.name}">'
    if shape.numbers:
        row = '<xs:simpleType><xs:list itemType="of.finite"/></xs:simpleType>'
        length = "" if shape.length is None else f'<xs:length value="{shape.length}"/>'
        return [f"{start}<xs:restriction>{row}{length}</xs:restriction></xs:simpleType>"]
    facets = "".join(f"<xs:enumeration value={quoteattr(word)}/>" for word in shape.words)
    if shape.pattern:
        facets += f"<xs:pattern value={quoteattr(shape.pattern)}/>"
    return [f'{start}<xs:restriction base="xs:string">{facets}</xs:restriction></xs:simpleType>']


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
