# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Message definitions in the language of ``.msg`` files, compared with those of the installed packages."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import zip_longest

from robot_semantics.cdr.message_types import FIELDS
from robot_semantics.recording.bags.source import Channel, DefinitionFormat

Flat = tuple[tuple[str, str], ...]
"""Every primitive field of a message, as (path, type)."""

_FIELD = re.compile(r"([\w/]+)(?:<=\d+)?(\[(?:<=)?\d*\])?\s+(\w+)(?![\w\s]*=)")
_PRIMITIVES = frozenset(
    (
        *("bool", "byte", "char", "float32", "float64", "int8", "uint8", "int16", "uint16", "int32", "uint32"),
        *("int64", "uint64", "string", "wstring"),
    )
)


def difference(msgtype: str, found: Sequence[tuple[str, str]], expected: Sequence[tuple[str, str]]) -> str | None:
    """Return the first difference of a definition from the real one in words; None without a difference."""
    odd = [a if a[0] else b for a, b in zip_longest(found, expected, fillvalue=("", "")) if a != b]
    return f"its definition of {msgtype} is another than the real one, from {' '.join(odd[0])} on" if odd else None


def definition_problem(channel: Channel) -> str | None:
    """Return the difference of the definition in a bag from the installed one; None if there is no difference.

    A definition in IDL is not compared.
    """
    if channel.definition.format is not DefinitionFormat.MSG or channel.msgtype not in FIELDS:
        return None
    expected = _installed(channel.msgtype)
    try:
        found = flat_fields(channel.definition.data, channel.msgtype)
    except LookupError as error:
        return f"its definition of {channel.msgtype} leaves out {error}"
    return difference(channel.msgtype, found, expected) if expected else None


def starts_with_header(channel: Channel) -> bool:
    """Return True if the messages of a channel start with a std_msgs header."""
    if channel.definition.format is DefinitionFormat.MSG:
        try:
            fields = flat_fields(channel.definition.data, channel.msgtype)
        except LookupError:
            fields = ()
    else:
        fields = _installed(channel.msgtype)
    return [path for path, _ in fields[:3]] == ["header.stamp.sec", "header.stamp.nanosec", "header.frame_id"]


def flat_fields(text: str, msgtype: str) -> Flat:
    """Return the primitive fields of a message from its definition and those that follow it.

    Raises:
        LookupError: the text does not define a type that it uses.
    """
    main, *others = re.split(r"^={80}\n", text, flags=re.MULTILINE)
    types = {_full(msgtype): main}
    for part in others:
        name, _, rest = part.partition("\n")
        types[_full(name.removeprefix("MSG:").strip())] = rest
    types.setdefault("builtin_interfaces/msg/Time", "int32 sec\nuint32 nanosec")
    types.setdefault("builtin_interfaces/msg/Duration", "int32 sec\nuint32 nanosec")
    return tuple(_fields(types, _full(msgtype), "", 0))


def _fields(types: dict[str, str], msgtype: str, prefix: str, depth: int) -> Iterator[tuple[str, str]]:
    if msgtype not in types or depth > 20:
        raise LookupError(msgtype)
    for line in types[msgtype].splitlines():
        found = _FIELD.match(line.partition("#")[0].strip())
        if found is None:
            continue
        kind, array, name = found[1], found[2] or "", found[3]
        if kind in _PRIMITIVES:
            yield f"{prefix}{name}", f"{kind}{array}"
        else:
            yield from _fields(types, _full(kind, msgtype.partition("/")[0]), f"{prefix}{name}{array}.", depth + 1)


def _full(name: str, package: str = "") -> str:
    if name == "Header":
        return "std_msgs/msg/Header"
    if "/" not in name:
        return f"{package}/msg/{name}"
    first, _, last = name.partition("/")
    return name if "/" in last else f"{first}/msg/{last}"


@cache
def _installed(msgtype: str) -> Flat:
    """Return the fields of the installed message type; empty without its package."""
    from rosbag2_py import LocalMessageDefinitionSource

    try:
        text = LocalMessageDefinitionSource().get_full_text(msgtype).encoded_message_definition
        return flat_fields(text, msgtype)
    except (RuntimeError, LookupError):
        return ()
