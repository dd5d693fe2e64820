# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Messages in JSON and protobuf, by the schemas of Foxglove and of ROS, as the CDR of a ROS message.

A table maps each schema to a ROS message. So every rule of the readers of CDR holds for them too.

Message definitions in the language of ``.msg`` files are compared with those of the installed packages.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timezone
from functools import cache
from itertools import zip_longest
from typing import Protocol, cast

from robot_semantics.base.errors import MissingExtraError
from robot_semantics.base.pattern import pattern
from robot_semantics.cdr.fill import filled_message
from robot_semantics.cdr.layout import CdrError
from robot_semantics.cdr.message_types import (
    FIELDS,
    JOINT_STATE,
    MULTI_DOF,
    ODOMETRY,
    POSE_STAMPED,
    POSE_WITH_COVARIANCE_STAMPED,
    STRING,
    TF_MESSAGE,
    TRANSFORM_STAMPED,
    Flat,
)
from robot_semantics.recording.bags.columns import NONSENSE
from robot_semantics.recording.bags.source import JSON, PROTOBUF, Channel, DefinitionFormat

MAX_MESSAGE_BYTES = 16 * 2**20
"""Longer messages are refused: their values as Python objects need many times this size."""

Content = dict[str, object]
Message = object
"""A decoded message: a value of JSON, or a message of protobuf."""


class _Field(Protocol):
    has_presence: bool


class _Descriptor(Protocol):
    fields_by_name: Mapping[str, _Field]


class _ProtobufMessage(Protocol):
    DESCRIPTOR: _Descriptor

    def HasField(self, name: str) -> bool:
        """Return True if a field is set."""


def message_decoder(channel: Channel) -> Callable[[bytes], bytes]:
    """Return the function that converts a message of a channel to CDR; it raises `CdrError` for a bad message.

    Raises:
        MissingExtraError: the library for protobuf is not installed.
    """
    decode, (msgtype, content_of) = _decoder(channel), _SCHEMAS[schema_key(channel.schema)]
    bad = _bad_message_errors()

    def convert(data: bytes) -> bytes:
        try:
            return bytes(filled_message(FIELDS[msgtype], content_of(decode(data))))
        except bad as error:
            if isinstance(error, CdrError):
                raise
            raise CdrError(f"it does not have the form of '{channel.schema}' ({type(error).__name__})") from None

    return convert


def stamp_decoder(channel: Channel) -> Callable[[bytes], int]:
    """Return the function that gives the stamp of a message of any schema [ns]; 0 without a stamp."""
    decode, bad = _decoder(channel), _bad_message_errors()

    def stamp(data: bytes) -> int:
        try:
            message = decode(data)
            header = _get(message, "header")
            return _time(_get(message, "timestamp") if header is None else _get(header, "stamp"))
        except bad:
            return 0

    return stamp


def _decoder(channel: Channel) -> Callable[[bytes], Message]:
    def limited(data: bytes) -> bytes:
        if len(data) > MAX_MESSAGE_BYTES:
            raise CdrError(f"it has {len(data)} bytes, more than {MAX_MESSAGE_BYTES}")
        return data

    if channel.encoding == JSON:
        return lambda data: _json_object(limited(data))
    try:
        from mcap.records import Schema
        from mcap_protobuf.decoder import DecoderFactory
    except ImportError:
        raise MissingExtraError("mcap_protobuf", "bag", "messages in protobuf") from None
    bad = _bad_message_errors()
    schema = Schema(1, channel.definition.data.encode("latin-1"), PROTOBUF, channel.schema)
    parse: list[Callable[[bytes], Message]] = []

    def decode(data: bytes) -> Message:
        if not parse:
            try:
                found = DecoderFactory().decoder_for(PROTOBUF, schema)
            except bad:
                found = None
            if found is None:
                raise CdrError(f"its schema '{channel.schema}' is not one of protobuf")
            parse.append(found)
        try:
            return parse[0](limited(data))
        except CdrError:
            raise
        except bad:
            raise CdrError(f"it is not a message of the schema '{channel.schema}'") from None

    return decode


def _json_object(data: bytes) -> Message:
    """Return a message in JSON."""
    if not data.strip():
        raise CdrError("it is empty")
    try:
        message = json.loads(data)
    except UnicodeDecodeError as error:
        raise CdrError(f"it is not {error.encoding.upper()}, from byte {error.start} on") from None
    except json.JSONDecodeError as error:
        raise CdrError(f"it is not JSON, at character {error.pos}: {error.msg}") from None
    except RecursionError:
        raise CdrError("it is nested too deeply") from None
    except ValueError:
        raise CdrError("a number has too many digits") from None
    if not isinstance(message, Mapping):
        raise CdrError(f"it is {_described(message)}, not an object")
    return message


_WORDS: dict[type, str] = {list: "a list", str: "a text", bool: "true or false", type(None): "null"}


def _described(value: object) -> str:
    if isinstance(value, Mapping) or hasattr(value, "DESCRIPTOR"):
        return "an object"
    return _WORDS.get(type(value), "a number" if isinstance(value, int | float) else "a list")


def _bad_message_errors() -> tuple[type[Exception], ...]:
    """Return the errors that a message, or a schema, with any content can cause."""
    try:
        from google.protobuf.message import DecodeError
        from mcap.exceptions import McapError
    except ImportError:
        return NONSENSE
    return (*NONSENSE, DecodeError, McapError)


def _get(message: Message, *names: str) -> object:
    """Return the first field of some names that is there; None without one, or if its value is null."""
    for name in names:
        if isinstance(message, Mapping):
            if message.get(name) is not None:
                return message[name]
        else:
            protobuf = cast("_ProtobufMessage", message)
            field = protobuf.DESCRIPTOR.fields_by_name.get(name)
            if field is not None and (not field.has_presence or protobuf.HasField(name)):
                return getattr(message, name)
    return None


def _object(value: object, name: str) -> Message:
    if not isinstance(value, Mapping) and not hasattr(value, "DESCRIPTOR"):
        raise CdrError(f"'{name}' is {_described(value)}, not an object")
    return value


def _need(message: Message, name: str) -> Message:
    """Return a part of a message that must be there."""
    value = _get(message, name)
    if value is None:
        raise CdrError(f"'{name}' is missing")
    return _object(value, name)


def _number(value: object) -> float:
    """Return a number; null is NaN, as many writers of JSON have it, and the words are those of protobuf."""
    if value is None or value == "NaN":
        return math.nan
    if isinstance(value, str) and value in ("Infinity", "-Infinity"):
        return math.inf if value == "Infinity" else -math.inf
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise CdrError(f"{str(value)[:40]!r} is not a number")
    try:
        return float(value)
    except OverflowError:
        raise CdrError("a number is too large") from None


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise CdrError(f"{str(value)[:40]!r} is not a text")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise CdrError("a text has a half of a surrogate pair") from None
    return value


def _list(message: Message, name: str) -> list[object]:
    """Return a list; empty without one."""
    value = _get(message, name)
    if isinstance(value, str | Mapping) or not isinstance(value, Iterable | None):
        raise CdrError(f"'{name}' is {_described(value)}, not a list")
    return [] if value is None else list(value)


def _objects(message: Message, name: str) -> list[Message]:
    """Return the parts of a message in a list."""
    return [_object(item, f"{name}[{index}]") for index, item in enumerate(_list(message, name))]


def _time(value: object) -> int:
    """Return a time [ns]; 0 without one."""
    if value is None:
        return 0
    if isinstance(value, str):
        return _written_time(value)
    if not isinstance(value, Mapping) and not hasattr(value, "DESCRIPTOR"):
        raise CdrError(f"its time is {_described(value)}, not seconds and nanoseconds")
    parts = [_get(value, *names) for names in (("sec", "secs", "seconds"), ("nsec", "nsecs", "nanosec", "nanos"))]
    if isinstance(value, Mapping) and parts[0] is None:
        raise CdrError("its time has no seconds")
    seconds, nanoseconds = map(_whole, parts)
    if not (0 <= seconds < 2**33 and 0 <= nanoseconds < 2**32):
        raise CdrError("its time is out of range")
    return seconds * 1_000_000_000 + nanoseconds


def _whole(value: object) -> int:
    """Return a whole number; protobuf writes long integers as texts into JSON."""
    if value is None:
        return 0
    if isinstance(value, str) and re.fullmatch(r"-?\d{1,20}", value, re.ASCII):
        return int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        raise CdrError("its time is not in whole seconds and nanoseconds")
    return value


def _written_time(text: str) -> int:
    """Return a time of RFC 3339, which protobuf writes into JSON, with up to nine digits of a second."""
    found = re.fullmatch(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d)", text, re.ASCII)
    if found is None:
        raise CdrError(f"{text[:40]!r} is not a time")
    zone = "+00:00" if found[3] == "Z" else found[3]
    since = datetime.fromisoformat(f"{found[1]}{zone}") - datetime(1970, 1, 1, tzinfo=timezone.utc)
    return (since.days * 86_400 + since.seconds) * 1_000_000_000 + int((found[2] or "").ljust(9, "0"))


def _numbers(message: Message, *names: str) -> list[float]:
    """Return numbers, such as x, y and z, that must all be there; in protobuf a zero is not written."""
    if isinstance(message, Mapping):
        missing = [name for name in names if name not in message]
        if missing:
            raise CdrError(f"'{missing[0]}' is missing")
        return [_number(message[name]) for name in names]
    missing = [name for name in names if not hasattr(message, name)]
    if missing:
        raise CdrError(f"its schema has no '{missing[0]}'")
    return [_number(getattr(message, name)) for name in names]


def _pose(message: Message, position: str, rotation: str) -> list[float]:
    return [
        *_numbers(_need(message, position), "x", "y", "z"),
        *_numbers(_need(message, rotation), "x", "y", "z", "w"),
    ]


def _twist(message: Message, linear: str, angular: str) -> list[float]:
    """Return a twist; NaN for a part that is not stated."""
    numbers: list[float] = []
    for name in (linear, angular):
        part = _get(message, name)
        numbers += [math.nan] * 3 if part is None else _numbers(_object(part, name), "x", "y", "z")
    return numbers


def _header(message: Message) -> Content:
    header = _get(message, "header")
    if header is None:
        return {"stamp": 0, "frame_id": ""}
    header = _object(header, "header")
    return {"stamp": _time(_get(header, "stamp")), "frame_id": _text(_get(header, "frame_id") or "")}


def _stamped_transform(message: Message) -> Content:
    return {
        **_header(message),
        "child_frame_id": _text(_get(message, "child_frame_id") or ""),
        "pose": _pose(_need(message, "transform"), "translation", "rotation"),
    }


def _frame_transform(message: Message) -> Content:
    return {
        "stamp": _time(_get(message, "timestamp")),
        "frame_id": _text(_get(message, "parent_frame_id") or ""),
        "child_frame_id": _text(_get(message, "child_frame_id") or ""),
        "pose": _pose(message, "translation", "rotation"),
    }


def _pose_in_frame(message: Message) -> Content:
    return {
        "stamp": _time(_get(message, "timestamp")),
        "frame_id": _text(_get(message, "frame_id") or ""),
        "pose": _pose(_need(message, "pose"), "position", "orientation"),
    }


def _foxglove_odometry(message: Message) -> Content:
    return {
        **_pose_in_frame(message),
        "child_frame_id": _text(_get(message, "body_frame_id") or ""),
        "twist": _twist(message, "linear_velocity", "angular_velocity"),
    }


def _joint_states(message: Message) -> Content:
    joints = _objects(message, "joints")
    content: Content = {"stamp": _time(_get(message, "timestamp")), "frame_id": ""}
    names = [_text(_get(joint, "name") or "") for joint in joints]
    if "" in names:
        raise CdrError("a joint has no name")
    content["name"] = names
    for name in ("position", "velocity", "effort"):
        values = [_number(_get(joint, name)) for joint in joints]
        content[name] = [] if all(map(math.isnan, values)) and name != "position" else values
    return content


def _joint_state(message: Message) -> Content:
    values = {name: [_number(v) for v in _list(message, name)] for name in ("position", "velocity", "effort")}
    return {**_header(message), "name": [_text(name) for name in _list(message, "name")], **values}


def _odometry(message: Message) -> Content:
    return {
        **_header(message),
        "child_frame_id": _text(_get(message, "child_frame_id") or ""),
        "pose": _pose(_need(_need(message, "pose"), "pose"), "position", "orientation"),
        "twist": _twist(_object(_get(_need(message, "twist"), "twist") or {}, "twist"), "linear", "angular"),
    }


def _multi_dof(message: Message) -> Content:
    return {
        **_header(message),
        "joint_names": [_text(name) for name in _list(message, "joint_names")],
        "transforms": [{"pose": _pose(item, "translation", "rotation")} for item in _objects(message, "transforms")],
        "twists": [{"twist": _twist(item, "linear", "angular")} for item in _objects(message, "twist")],
        "wrenches": [],
    }


def _stamped_pose(message: Message) -> Content:
    return {**_header(message), "pose": _pose(_need(message, "pose"), "position", "orientation")}


def _pose_with_covariance(message: Message) -> Content:
    return {**_header(message), "pose": _pose(_need(_need(message, "pose"), "pose"), "position", "orientation")}


def _several(item: Callable[[Message], Content]) -> Callable[[Message], Content]:
    return lambda message: {"transforms": [item(one) for one in _objects(message, "transforms")]}


_SCHEMAS: dict[str, tuple[str, Callable[[Message], Content]]] = {
    "foxglove/FrameTransform": (TF_MESSAGE, lambda message: {"transforms": [_frame_transform(message)]}),
    "foxglove/FrameTransforms": (TF_MESSAGE, _several(_frame_transform)),
    "foxglove/JointStates": (JOINT_STATE, _joint_states),
    "foxglove/Odometry": (ODOMETRY, _foxglove_odometry),
    "foxglove/PoseInFrame": (POSE_STAMPED, _pose_in_frame),
    "geometry_msgs/PoseStamped": (POSE_STAMPED, _stamped_pose),
    "geometry_msgs/PoseWithCovarianceStamped": (POSE_WITH_COVARIANCE_STAMPED, _pose_with_covariance),
    "geometry_msgs/TransformStamped": (TRANSFORM_STAMPED, _stamped_transform),
    "nav_msgs/Odometry": (ODOMETRY, _odometry),
    "sensor_msgs/JointState": (JOINT_STATE, _joint_state),
    "sensor_msgs/MultiDOFJointState": (MULTI_DOF, _multi_dof),
    "std_msgs/String": (STRING, lambda message: {"data": _text(_get(message, "data") or "")}),
    "tf/tfMessage": (TF_MESSAGE, _several(_stamped_transform)),
    "tf2_msgs/TFMessage": (TF_MESSAGE, _several(_stamped_transform)),
}
"""By the package and name of a schema: the ROS message, and the function that reads its fields."""


def schema_key(schema: str) -> str:
    """Return the package and name of a schema: ``sensor_msgs.msg.JointState`` → ``sensor_msgs/JointState``."""
    words = [word for word in re.split(r"[./:]+", schema) if word and word != "msg"]
    return "/".join(words[-2:])


def mapped_type(schema: str) -> str | None:
    """Return the ROS message of a schema; None if the schema is not known."""
    found = _SCHEMAS.get(schema_key(schema))
    return None if found is None else found[0]


def is_frame_transforms(schema: str) -> bool:
    """Return True for the schemas of Foxglove that are TF on every topic."""
    return schema_key(schema) in ("foxglove/FrameTransform", "foxglove/FrameTransforms")


def unknown_schemas(channels: Iterable[Channel]) -> dict[str, str]:
    """Return the schemas that are not known, by topic."""
    return {
        channel.topic: channel.schema or "no schema"
        for channel in channels
        if channel.encoding in (JSON, PROTOBUF) and mapped_type(channel.schema) is None
    }


_FIELD = pattern(r"([\w/]+)(?:<=\d+)?(\[(?:<=)?\d*\])?\s+(\w+)(?![\w\s]*=)")
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
