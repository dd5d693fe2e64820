# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""RELAX NG grammar of a format, generated from its table; children may have any order.

Known elements and attributes follow the table. Foreign content, and unknown content in the format's own namespace, is
allowed in every element, because readers keep it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from lxml import etree

from robot_semantics.xml.schema import TEXT, Element, FormatTable, ValueKind

_RELAX_NG = "http://relaxng.org/ns/structure/1.0"


def relax_ng(table: FormatTable[object], about: str) -> str:
    """Return the grammar of a table as text; `about` is its first comment."""
    names = definitions(table)
    prefix = f' xmlns:{table.prefix}="{table.namespace}"' if table.prefix else ""
    lines = [
        '<?xml version="1.0" encoding="utf-8"?>',
        f"<!--\n{about}\n-->",
        f'<grammar xmlns="{_RELAX_NG}"{prefix}',
        '         datatypeLibrary="http://www.w3.org/2001/XMLSchema-datatypes">',
        "  <start>",
        "    <choice>",
        *(
            f'      <element name="{tag}"><ref name="{names[table.root]}"/></element>'
            for tag in (table.root.tag, *table.other_roots)
        ),
        "    </choice>",
        "  </start>",
    ]
    for element in table.root.all():
        lines += _element(table, element, names)
    for kind in kinds(table):
        lines.append(f'  <define name="{kind.name}">{kind.grammar}</define>')
    lines += _ANYTHING
    lines.append("</grammar>\n")
    return "\n".join(lines)


def schema_of(grammar: str) -> etree.RelaxNG:
    """Return the compiled grammar, ready to validate."""
    return etree.RelaxNG(etree.fromstring(grammar.encode()))


def definitions(table: FormatTable[object]) -> dict[Element, str]:
    """Return a definition name for each element: its tag, with the parent's definition name if the tag is ambiguous."""
    names = {table.root: table.root.tag}
    for holder in table.root.all():
        for child in holder.children.values():
            tag = child.element.tag.removeprefix(f"{table.prefix}:")
            if child.element not in names:
                names[child.element] = f"{names[holder]}.{tag}" if tag in names.values() else tag
    return names


def _element(table: FormatTable[object], element: Element, names: Mapping[Element, str]) -> list[str]:
    """Return the definition of an element's content."""
    lines = [f"  <!-- {element.about} -->"] if element.about else []
    lines.append(f'  <define name="{names[element]}">')
    for name, attribute in element.attributes.items():
        inside = "" if attribute.kind is TEXT else f'<ref name="{attribute.kind.name}"/>'
        written = f'<attribute name="{name}">{inside}</attribute>' if inside else f'<attribute name="{name}"/>'
        lines.append(f"    {written}" if attribute.required else f"    <optional>{written}</optional>")
    lines.append(f"    {_foreign(table, 'attribute', element.attributes)}")
    if element.text is not None:
        lines.append(f'    <ref name="{element.text.name}"/>')
    elif not element.children:
        lines.append(f"    {_foreign(table, 'element', ())}")
    else:
        lines += ["    <interleave>", *(["      <choice>"] if element.choice else [])]
        for tag, child in element.children.items():
            inside = f'<element name="{tag}"><ref name="{names[child.element]}"/></element>'
            count = "zeroOrMore" if child.many else "" if child.required or element.choice else "optional"
            lines.append(f"      <{count}>{inside}</{count}>" if count else f"      {inside}")
        lines += ["      </choice>"] if element.choice else []
        silent = sorted(table.silent_tags - element.children.keys())
        lines += [f"      {_foreign(table, 'element', element.children, silent)}", "    </interleave>"]
    return [*lines, "  </define>"]


def kinds(table: FormatTable[object]) -> list[ValueKind]:
    """Return the kinds of values in a table, each once."""
    found: dict[str, ValueKind] = {}
    for element in table.root.all():
        for kind in (element.text, *(attribute.kind for attribute in element.attributes.values())):
            if kind is not None:
                found[kind.name] = kind
    return list(found.values())


def _foreign(table: FormatTable[object], what: str, names: Iterable[str], silent: Sequence[str] = ()) -> str:
    """Return the pattern of unknown content: all names in a namespace except `names`, and also the names `silent`."""
    known = "".join(f"<name>{name}</name>" for name in sorted(names) if table.key(name) != name)
    which = f'<anyName><except><nsName ns=""/>{known}</except></anyName>'
    if silent:
        which = f"<choice>{which}{''.join(f'<name>{name}</name>' for name in silent)}</choice>"
    inside = '<ref name="anything"/>' if what == "element" else ""
    return f"<zeroOrMore><{what}>{which}{inside}</{what}></zeroOrMore>"


_ANYTHING = [
    '  <define name="anything">',
    "    <zeroOrMore><choice><attribute><anyName/></attribute><text/>",
    '      <element><anyName/><ref name="anything"/></element></choice></zeroOrMore>',
    "  </define>",
]
