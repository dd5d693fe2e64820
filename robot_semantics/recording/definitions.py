# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Message definitions in bags, compared with the definitions that the messages are read by."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from rosbags.interfaces import Nodetype
from rosbags.typesys import Stores, get_types_from_idl, get_types_from_msg, get_typestore

from robot_semantics.cdr.message_types import FIELDS
from robot_semantics.recording.channels import Channel, DefinitionFormat
from robot_semantics.recording.definition_text import Flat, difference


def definition_problem(channel: Channel) -> str | None:
    """Return the difference between a bag's definition and the real one; None if equal, or without a definition."""
    if channel.definition.format is DefinitionFormat.NONE or channel.msgtype not in FIELDS:
        return None
    types = _types(channel)
    if isinstance(types, str):
        return f"its definition of {channel.msgtype} cannot be read ({types})"
    try:
        # The last definition may have an older name of the type.
        found = tuple(_flat(types, channel.msgtype if channel.msgtype in types else _main(types)))
    except LookupError as error:
        return f"its definition of {channel.msgtype} leaves out {error}"
    expected = _expected(channel.msgtype)
    return difference(channel.msgtype, found, expected)


def starts_with_header(channel: Channel) -> bool:
    """Return True if a channel's messages start with a std_msgs header, by the definition in the bag or the usual
    one.
    """
    types = _types(channel)
    if isinstance(types, str) or channel.msgtype not in types:
        types = get_typestore(Stores.ROS2_JAZZY).fielddefs
    fields: Any = types[channel.msgtype][1] if channel.msgtype in types else ()
    return bool(fields) and fields[0][1] == (Nodetype.NAME, "std_msgs/msg/Header")


def _types(channel: Channel) -> Mapping[str, Any] | str:
    """Return the types in a channel's definition, or the reason why it is invalid."""
    text = channel.definition.data
    try:
        if channel.definition.format is DefinitionFormat.IDL:
            types: dict[str, Any] = {}
            separator = "=" * 80 + "\n"
            for part in text.split(separator)[1:] if text.startswith(f"{separator}IDL: ") else [f"\n{text}"]:
                types.update(get_types_from_idl(part.split("\n", 1)[1]))
            return types
        # ROS 1's word `time` is a primitive there and a message type here.
        builtin = get_typestore(Stores.ROS2_JAZZY).fielddefs["builtin_interfaces/msg/Time"]
        return {"builtin_interfaces/msg/Time": builtin, **get_types_from_msg(text, channel.msgtype)}
    except Exception as error:  # noqa: BLE001 - the errors of the grammar have no other common root
        return " ".join(str(error).split())[:100] or type(error).__name__


def _main(types: Mapping[str, Any]) -> str:
    """Return the only type that no other type contains."""
    used = {name for _, fields in types.values() for name in _names(fields)}
    return next((name for name in types if name not in used and not name.startswith("builtin_interfaces/")), "it all")


def _names(fields: Any) -> Iterator[str]:
    for _, (node, detail) in fields:
        item = detail[0] if node in (Nodetype.ARRAY, Nodetype.SEQUENCE) else (node, detail)
        if item[0] == Nodetype.NAME:
            yield item[1]


@cache
def _expected(msgtype: str) -> Flat:
    return tuple(_flat(get_typestore(Stores.ROS2_JAZZY).fielddefs, msgtype))


def _flat(types: Mapping[str, Any], msgtype: str, prefix: str = "", depth: int = 0) -> Iterator[tuple[str, str]]:
    """Yield every primitive field as (path, type), without ROS 1's sequence number."""
    if depth > 20:
        raise LookupError(f"an end to {prefix}")
    for name, (node, detail) in types[msgtype][1]:
        path = f"{prefix}{name}"
        if path.endswith("header.seq"):
            continue
        item, size = detail if node in (Nodetype.ARRAY, Nodetype.SEQUENCE) else ((node, detail), None)
        suffix = "" if size is None else f"[{size or ''}]"
        if item[0] == Nodetype.NAME:
            yield from _flat(types, item[1], f"{path}{suffix}.", depth + 1)
        else:
            yield path, f"{item[1][0]}{suffix}"
