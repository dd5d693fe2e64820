# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The table of `<ros2_control>`, and reading by it.

The rules are those of the parser of ros2_control in Jazzy and later. It ends the controller manager at the first
problem. Inside the elements of a block it ignores unknown content, which is therefore only a warning.
"""

from __future__ import annotations

import re
from functools import partial
from typing import Any

from lxml import etree

from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.urdf.control_tree import (
    ControlBlock,
    ControlComponent,
    ControlHardware,
    ControlInterface,
    ControlParameter,
    ControlThread,
    ControlTransmission,
    TransmissionPart,
)
from robot_semantics.urdf.extras import Extra, element_of
from robot_semantics.xml.document import XmlDocument
from robot_semantics.xml.numbers import finite_text, number, one_line
from robot_semantics.xml.schema import (
    TEXT,
    Attribute,
    BadValueError,
    CheckedReader,
    Child,
    Element,
    ElementPlan,
    Fields,
    FormatTable,
    ValueKind,
)
from robot_semantics.xml.schema_reader import TableReader
from robot_semantics.xml.source_map import PartPlaces, SourceMap

BLOCK = "ros2_control"
TYPES = ("actuator", "sensor", "system")
_BOOLEANS = ("true", "false")


def _name(text: str) -> str:
    if not text.strip():
        raise BadValueError("empty-name", "is empty")
    return text.strip()


def _plugin(text: str) -> str:
    # The parser only prints a message; then no plugin with an empty name can be loaded.
    if not text.strip():
        raise BadValueError("missing-element", "is empty; write the name of the driver's class")
    return text.strip()


def _type(text: str) -> str:
    word = text.strip()
    if word not in TYPES:
        raise BadValueError("bad-value", f"should be {', '.join(TYPES)}, not '{one_line(text)}'", "", word, TYPES)
    return word


def _boolean(text: str) -> bool:
    word = text.strip().lower()
    if word not in _BOOLEANS:
        message = f"should be true or false, not '{one_line(text)}'"
        raise BadValueError("bad-value", message, name=word, valid=_BOOLEANS)
    return word == "true"


def _integer(text: str, pattern: str, smallest: str) -> int:
    if not re.fullmatch(pattern, text.strip(), re.ASCII):
        raise BadValueError("bad-number", f"should be an integer {smallest}, not '{one_line(text)}'")
    return int(float(text))


_WORD = ValueKind("word", "<text/>", str.strip, TEXT.write)
_NAME = ValueKind("name", "<text/>", _name, TEXT.write)
_PLUGIN = ValueKind("plugin", "<text/>", _plugin, TEXT.write)
_TYPE = ValueKind("type", "<text/>", _type, TEXT.write)
_BOOLEAN = ValueKind("boolean", "<text/>", _boolean, lambda value, _: str(value).lower())
_NUMBER = ValueKind("number", "<text/>", number, finite_text)
_RATE, _COUNT = (
    ValueKind(name, "<text/>", partial(_integer, pattern=pattern, smallest=smallest), lambda value, _: str(value))
    for name, pattern, smallest in (
        ("rate", r"\+?\d+(\.0*)?", "of at least 0"),
        ("count", r"[1-9]\d*", "above 0"),
    )
)


def _one_hardware(reader: CheckedReader, values: Fields, at: int) -> bool:
    found = [reader.document.ordinal(child) for child in reader.node.iterchildren("hardware")]
    if not found:
        reader.error("missing-element", f"<{BLOCK}> has no <hardware>", at)
    for child in found[1:]:
        reader.error("duplicate-element", f"<{BLOCK}> has more than one <hardware>", child)
    return True


def _attributes(kind: ValueKind, *names: str, required: bool = False) -> dict[str, Attribute]:
    return {name: Attribute(name, kind, required) for name in names}


def _text_child(tag: str, kind: ValueKind, field: str = "", **options: Any) -> dict[str, Child]:
    return {tag: Child(field or tag, Element(tag, text=kind), **options)}


def _many(
    field: str, tag: str, make: type, attributes: dict[str, Attribute], *children: dict[str, Child]
) -> dict[str, Child]:
    below = {tag: child for group in children for tag, child in group.items()}
    return {tag: Child(field, Element(tag, make, {**_NAMED, **attributes}, below, numbered=True), many=True)}


_NAMED = _attributes(_NAME, "name", required=True)
_LIMITS = {
    "limits": Child(
        "limited", Element("limits", None, {"enable": Attribute("", _BOOLEAN, required=True)}), default=True
    )
}
_PARAMETERS = {
    "param": Child(
        "parameters",
        Element("param", ControlParameter, _NAMED, text=_WORD, text_field="value", numbered=True),
        many=True,
    )
}
_DRIVEN = {**_text_child("plugin", _PLUGIN, required=True), **_PARAMETERS}
_INTERFACE = {**_attributes(_WORD, "data_type"), **_attributes(_COUNT, "size")}
_INTERFACES = {
    **_many("commands", "command_interface", ControlInterface, _INTERFACE, _PARAMETERS, _LIMITS),
    **_many("states", "state_interface", ControlInterface, _INTERFACE, _PARAMETERS, _LIMITS),
}
_PART: tuple[dict[str, Attribute], dict[str, Child]] = (
    {**_attributes(_WORD, "role", required=True), **_attributes(_BOOLEAN, "read_only")},
    {
        **_text_child("mechanical_reduction", _NUMBER, "reduction", default=1.0, ordinal="reduction_ordinal"),
        **_text_child("offset", _NUMBER, default=0.0),
    },
)
_THREAD = Element(
    "async",
    ControlThread,
    {
        **_attributes(_WORD, "affinity", "scheduling_policy"),
        **_attributes(_COUNT, "thread_priority"),
        **_attributes(_BOOLEAN, "print_warnings"),
    },
)
CONTROL: FormatTable[ControlBlock] = FormatTable(
    Element(
        BLOCK,
        ControlBlock,
        {
            "name": Attribute("name", _NAME, required=True, default=""),
            "type": Attribute("type", _TYPE, required=True, default=""),
            **_attributes(_RATE, "rw_rate"),
            **_attributes(_BOOLEAN, "is_async"),
            **_attributes(_COUNT, "thread_priority"),
        },
        {
            "hardware": Child(
                "hardware",
                Element("hardware", ControlHardware, {}, {**_DRIVEN, **_text_child("group", _WORD)}, numbered=True),
                many=True,
            ),
            "properties": Child("thread", Element("properties", None, {}, {"async": Child("", _THREAD)})),
            **_many(
                "joints", "joint", ControlComponent, _attributes(_BOOLEAN, "mimic"), _INTERFACES, _PARAMETERS, _LIMITS
            ),
            **_many("sensors", "sensor", ControlComponent, {}, _INTERFACES, _PARAMETERS, _LIMITS),
            **_many("gpios", "gpio", ControlComponent, {}, _INTERFACES, _PARAMETERS, _LIMITS),
            **_many(
                "transmissions",
                "transmission",
                ControlTransmission,
                {},
                _DRIVEN,
                _many("joints", "joint", TransmissionPart, *_PART),
                _many("actuators", "actuator", TransmissionPart, *_PART),
            ),
        },
        numbered=True,
        partial=True,
        check=_one_hardware,
    )
)


class ControlReader(TableReader[ControlBlock]):
    """Reader of one block: an unknown element directly in it is an error."""

    def unknown_child(
        self, child: etree._Element, number: int, plan: ElementPlan, content: list[object], position: int
    ) -> bool:
        """Report an unknown element."""
        tag = str(child.tag)
        if tag.startswith("xacro:"):
            # The prefix is declared outside the block.
            self.warning("xacro-not-expanded", f"<{tag}> is a macro that was not expanded", number)
            return True
        if plan.tag != BLOCK:
            return super().unknown_child(child, number, plan, content, position)
        valid = tuple(plan.element.children)
        message = f"<{tag}> is not allowed directly in <{BLOCK}>; allowed are {', '.join(valid)}"
        self.error("unknown-element", message, number, name=tag, valid=valid)
        return False


def read_control(extra: Extra, places: SourceMap, diagnostics: Diagnostics) -> tuple[ControlBlock, SourceMap]:
    """Return the content of a `<ros2_control>` element of a URDF, and the places of its elements.

    Add problems to `diagnostics`; invalid parts are omitted.
    """
    part = PartPlaces(places, extra.ordinal, extra.xml.encode())
    block = ControlReader(XmlDocument(element_of(extra), part), CONTROL, diagnostics).read_root()
    return block, part
