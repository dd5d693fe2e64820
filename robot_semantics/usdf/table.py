# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The table of USDF: every element and attribute, what it becomes, and how its text is read and written."""

from __future__ import annotations

import re
from functools import partial
from math import isfinite
from types import MappingProxyType
from typing import Any

from robot_semantics.base.diagnostics import Severity
from robot_semantics.usdf.world_state import (
    WORLD,
    EngineState,
    Frame,
    JointState,
    LinkState,
    ModelState,
    Pose,
    WorldState,
)
from robot_semantics.xml.foreign import ForeignTexts
from robot_semantics.xml.numbers import format_row, numbers
from robot_semantics.xml.schema import TEXT, Attribute, BadValueError, Child, Element, Kind, Pair, Table

NAMESPACE = "urn:robot-semantics:usdf:1"
"""The one extension namespace; a reader that does not know it still reads the rest."""

PREFIX = "rs"

"""Of ages and comments in snapshots that older versions wrote; read, never written."""

VERSION = "1"
"""The newest version of the extensions that is known: `rs:version` on the root."""

XML_SPACE = " \t\r\n"
_MAX_SECONDS = 10_000_000_000
_SECONDS = re.compile(r"(-?)([0-9]{1,10})(?:\.([0-9]{1,9}))?")
_WRITTEN_SECONDS = r"(-?)([0-9]{1,10})\.([0-9]{9})"
_SHA256 = re.compile("[0-9a-f]{64}")


def format_time(time_ns: int) -> str:
    """Return nanoseconds as ``seconds.nanoseconds``, nine digits after the point."""
    seconds, nanoseconds = divmod(abs(time_ns), 1_000_000_000)
    return f"{'-' if time_ns < 0 else ''}{seconds}.{nanoseconds:09d}"


def _parse_seconds(text: str) -> int:
    found = _SECONDS.fullmatch(text)
    if found is None:
        form = "seconds, of at most ten digits, with at most nine digits behind the point"
        raise BadValueError("bad-value", f"is '{text[:40]}'; it must be {form}")
    sign, seconds, nanoseconds = found.groups(default="")
    value = int(seconds) * 1_000_000_000 + int(nanoseconds.ljust(9, "0"))
    return -value if sign else value


def _write_time(time_ns: int, what: str) -> str:
    if abs(time_ns) >= _MAX_SECONDS * 1_000_000_000:
        raise BadValueError("bad-value", f"{what} is {time_ns} ns; at most ten digits of seconds are written")
    return format_time(time_ns)


def _time_kind(name: str, grammar: str) -> Kind:
    def from_json(value: Any) -> int:
        try:
            return _parse_seconds(TEXT.from_json(value))
        except BadValueError as error:
            raise BadValueError(error.code, f"it {error}") from None

    return Kind(name, _pattern(grammar), _parse_seconds, _write_time, to_json=format_time, from_json=from_json)


def _pattern(pattern: str) -> str:
    return f'<data type="string"><param name="pattern">{pattern}</param></data>'


def _sha256(text: str) -> str:
    if not _SHA256.fullmatch(text):
        raise BadValueError("bad-value", f"is '{text[:80]}'; it must be 64 hexadecimal digits in lower case (SHA-256)")
    return text


def _write_sha256(text: str, what: str) -> str:
    try:
        return _sha256(text)
    except BadValueError as error:
        raise BadValueError(error.code, f"{what} {error}") from None


def _sha256_from_json(value: Any) -> str:
    return _write_sha256(TEXT.from_json(value), "it")


def _numbers(name: str, count: int | None) -> Kind:
    """Return the kind of rows of `count` finite numbers; None: of any count."""

    def counted(row: tuple[float, ...], what: str) -> tuple[float, ...]:
        if count is not None and len(row) != count:
            raise BadValueError("wrong-count", f"{what} has {len(row)} numbers; it must have {count}")
        return row

    def write(row: tuple[float, ...], what: str) -> str:
        counted(row, what)
        try:
            return format_row(row)
        except ValueError:
            for position, value in enumerate(row, 1):
                try:
                    format_row((value,))
                except ValueError as error:
                    raise BadValueError("bad-number", f"number {position}, {error}") from None
            raise

    def from_json(value: Any) -> tuple[float, ...]:
        if not isinstance(value, list) or not all(_is_number(item) for item in value):
            raise BadValueError("bad-json", "it is not a list of finite numbers")
        return counted(tuple(float(item) for item in value), "it")

    double = '<data type="double"/>'
    grammar = f"<list>{double * count}</list>" if count else f"<list><zeroOrMore>{double}</zeroOrMore></list>"
    return Kind(name, grammar, partial(numbers, count=count), write, list, from_json)


def _is_number(value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return False
    try:
        return isfinite(value)
    except OverflowError:
        return False


def _parent(text: str) -> str:
    return text.strip(XML_SPACE) or WORLD


TIME = _time_kind("time", _WRITTEN_SECONDS)
"""Read with fewer digits, too, as an age: `robot_semantics.usdf.reader` warns of that."""
AGE = _time_kind("age", _SECONDS.pattern.replace("(?:", "("))
SHA256 = Kind("sha256", _pattern(_SHA256.pattern), _sha256, _write_sha256, from_json=_sha256_from_json)
PARENT = Kind("parent-name", "<text/>", _parent, TEXT.write)
SIX, FOUR, NUMBERS = _numbers("six-numbers", 6), _numbers("four-numbers", 4), _numbers("numbers", None)

_NAME = {"name": Attribute("name", required=True)}
_AGED = {"rs:age": Attribute("age_ns", AGE, json="age")}
_PARENT_LINK = {"rs:parent_link": Attribute("parent_link")}

POSE = Element(
    "pose",
    Pose,
    {"rs:quaternion": Attribute("quat_xyzw", FOUR)},
    text=SIX,
    text_field="xyz_rpy",
    about="x y z [m] roll pitch yaw [rad]; rs:quaternion x y z w is the exact orientation and wins",
)
TWIST = Element("twist", text=SIX, about="vx vy vz [m/s] wx wy wz [rad/s]")
WRENCH = Element("wrench", text=SIX, about="fx fy fz [N] tx ty tz [N m]")
_PLACED = {
    "parent": Child(
        "parent",
        Element("parent", text=PARENT, about="a frame, another model_state, or the keyword world; empty means world"),
        default=WORLD,
    ),
    "pose": Child("pose", POSE),
    "twist": Child("twist", TWIST),
}
LINK = Element(
    "link_state",
    LinkState,
    _NAME,
    {"pose": Child("pose", POSE), "twist": Child("twist", TWIST), "wrench": Child("wrench", WRENCH)},
    keeps=True,
    numbered=True,
)
JOINT = Element(
    "joint_state",
    JointState,
    {**_NAME, **_AGED},
    {word: Child(word, Element(word, text=NUMBERS)) for word in ("positions", "velocities", "torques")},
    keeps=True,
    numbered=True,
)
MODEL = Element(
    "model_state",
    ModelState,
    {
        **_NAME,
        "rs:description": Attribute("description"),
        "rs:semantic": Attribute("semantic"),
        "rs:hash": Attribute("urdf_sha256", SHA256),
        **_AGED,
        **_PARENT_LINK,
    },
    {
        **_PLACED,
        "link_state": Child("links", LINK, many=True),
        "joint_state": Child("joints", JOINT, many=True),
    },
    keeps=True,
    numbered=True,
)
FRAME = Element("frame", Frame, {**_NAME, **_AGED, **_PARENT_LINK}, _PLACED, keeps=True, numbered=True)


def _engine(**values: Any) -> EngineState:
    for field in ("arrays", "attributes"):
        values[field] = MappingProxyType(values.get(field, {}))
    return EngineState(**values)


_ARRAY = Element("rs:array", Pair, _NAME, text=NUMBERS, text_field="value")
_PROPERTY = Element("rs:property", Pair, {**_NAME, "value": Attribute("value", required=True)})
ENGINE = Element(
    "rs:engine",
    _engine,
    {**_NAME, "version": Attribute("version", required=True)},
    {
        "rs:array": Child("arrays", _ARRAY, many=True, keyed=True),
        "rs:property": Child("attributes", _PROPERTY, many=True, keyed=True),
    },
    keeps=True,
    numbered=True,
    about="what one simulator needs beyond the rest to continue bit for bit",
)
_ROBOT_HINT = "the file is a URDF or SRDF: 'robot_semantics usdf new' makes a world state of a robot"

USDF = Table(
    Element(
        "world_state",
        WorldState,
        {
            "name": Attribute("name"),
            "rs:version": Attribute("version"),
            "rs:time": Attribute("time_ns", TIME, json="time"),
        },
        {
            "rs:comment": Child("comment", Element("rs:comment", text=TEXT, about="what a person wrote of it")),
            "model_state": Child("models", MODEL, many=True),
            "frame": Child("frames", FRAME, many=True),
            "rs:engine": Child("engines", ENGINE, many=True),
        },
        keeps=True,
        numbered=True,
    ),
    # The root element of the founding document's own example.
    other_roots=("world",),
    root_hints={"robot": _ROBOT_HINT},
    namespace=NAMESPACE,
    prefix=PREFIX,
    reports_foreign=True,
    unknown=Severity.ERROR,
    keeper=lambda _: ForeignTexts(NAMESPACE, PREFIX),
)
