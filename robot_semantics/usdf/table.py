# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The table of USDF: every element and attribute, its field, the kind of its text, and its quantity.

The quantity of a field tells all operations on world states how to treat it: comparison, interpolation, conversion to
formats of motion, limits of simulators, ROS messages. A field without a quantity is a `STATEMENT`.
"""

from __future__ import annotations

import enum
from functools import partial
from math import isfinite
from types import MappingProxyType
from typing import Any

from robot_semantics.base.diagnostic import Severity
from robot_semantics.base.json_value import Json
from robot_semantics.base.nanoseconds import MOST_SECONDS, seconds_text
from robot_semantics.base.pattern import pattern
from robot_semantics.base.record import record
from robot_semantics.transforms.pose import Pose
from robot_semantics.usdf.world_state import WORLD, EngineState, Frame, JointState, LinkState, ModelState, WorldState
from robot_semantics.xml.foreign import ForeignTextKeeper, ForeignTexts
from robot_semantics.xml.numbers import format_row, numbers
from robot_semantics.xml.schema import (
    TEXT,
    Attribute,
    BadValueError,
    Child,
    Element,
    FormatTable,
    NamedValue,
    ValueKind,
    text_from_json,
)

XML_SPACE = " \t\r\n"
_SECONDS = pattern(r"(-?)([0-9]{1,10})(?:\.([0-9]{1,9}))?")
_WRITTEN_SECONDS = r"(-?)([0-9]{1,10})\.([0-9]{9})"
_SHA256 = pattern("[0-9a-f]{64}")


def _parse_seconds(text: str) -> int:
    found = _SECONDS.fullmatch(text)
    if found is None:
        form = "seconds, of at most ten digits, with at most nine digits behind the point"
        raise BadValueError("bad-value", f"is '{text[:40]}'; it must be {form}")
    sign, seconds, nanoseconds = found.groups(default="")
    value = int(seconds) * 1_000_000_000 + int(nanoseconds.ljust(9, "0"))
    return -value if sign else value


def _write_time(time_ns: int, what: str) -> str:
    if abs(time_ns) >= MOST_SECONDS * 1_000_000_000:
        raise BadValueError("bad-value", f"{what} is {time_ns} ns; at most ten digits of seconds are written")
    return seconds_text(time_ns)


def _time_kind(name: str, grammar: str) -> ValueKind:
    def from_json(value: Json) -> int:
        try:
            return _parse_seconds(text_from_json(value))
        except BadValueError as error:
            raise BadValueError(error.code, f"it {error}") from None

    return ValueKind(name, _pattern(grammar), _parse_seconds, _write_time, to_json=seconds_text, from_json=from_json)


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


def _sha256_from_json(value: Json) -> str:
    return _write_sha256(text_from_json(value), "it")


def _numbers(name: str, count: int | None) -> ValueKind:
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

    def from_json(value: Json) -> tuple[float, ...]:
        if not isinstance(value, list) or not all(_is_number(item) for item in value):
            raise BadValueError("bad-json", "it is not a list of finite numbers")
        return counted(tuple(float(item) for item in value), "it")

    double = '<data type="double"/>'
    grammar = f"<list>{double * count}</list>" if count else f"<list><zeroOrMore>{double}</zeroOrMore></list>"
    return ValueKind(name, grammar, partial(numbers, count=count), write, list, from_json)


def _is_number(value: Json) -> bool:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return False
    try:
        return isfinite(value)
    except OverflowError:
        return False


def _parent(text: str) -> str:
    return text.strip(XML_SPACE) or WORLD


TIME = _time_kind("time", _WRITTEN_SECONDS)
"""The reader also accepts fewer digits, as in an age, with a warning (`robot_semantics.usdf.reader`)."""
AGE = _time_kind("age", _SECONDS.pattern.replace("(?:", "("))
SHA256 = ValueKind("sha256", _pattern(_SHA256.pattern), _sha256, _write_sha256, from_json=_sha256_from_json)
PARENT = ValueKind("parent-name", "<text/>", _parent, TEXT.write)
SIX, FOUR, NUMBERS = _numbers("six-numbers", 6), _numbers("four-numbers", 4), _numbers("numbers", None)


NAMESPACE = "urn:robot-semantics:usdf:1"
"""The one extension namespace; a reader that does not know it still reads the rest."""

RESERVED = "urn:robot-semantics:usdf"
"""Start of the namespaces of all versions; another namespace with this start is an error."""

PREFIX = "rs"

VERSION = "1"
"""The newest version of the extensions that is known: `rs:version` on the root."""

VERSIONS = (VERSION, "1.0")
"""Its spellings."""


class DifferenceKind(enum.Enum):
    """The physical quantity of a difference; the value is its name and its unit."""

    POSITION = ("position", "m")
    ORIENTATION = ("orientation", "rad")
    LINEAR_VELOCITY = ("linear velocity", "m/s")
    ANGULAR_VELOCITY = ("angular velocity", "rad/s")
    FORCE = ("force", "N")
    TORQUE = ("torque", "N m")
    JOINT_POSITION = ("joint position", "rad or m")
    JOINT_VELOCITY = ("joint velocity", "rad/s or m/s")
    JOINT_EFFORT = ("joint effort", "N m or N")
    TIME = ("time", "s")
    ENGINE = ("engine state", "")
    STATEMENT = ("statement", "")

    @property
    def label(self) -> str:
        """The name in texts."""
        return self.value[0]

    @property
    def unit(self) -> str:
        """The unit of the distance."""
        return self.value[1]


class ValueForm(enum.Enum):
    """The shape of a field's values; it decides distance and interpolation."""

    STATEMENT = enum.auto()
    """Equal or different. Between two states, an equal value stays."""
    CARRIER = enum.auto()
    """The parent. Two states with different parents cannot be interpolated."""
    MOMENT = enum.auto()
    """Like a statement, but true at one time only: omitted between two states."""
    TIME = enum.auto()
    POSE = enum.auto()
    VECTORS = enum.auto()
    """Two vectors of three numbers: a twist or a wrench."""
    ROW = enum.auto()
    """Numbers of a joint, on straight lines."""
    JOINT_POSITION = enum.auto()
    """Positions of a joint, with angles and rotations."""


NUMERIC = frozenset({ValueForm.POSE, ValueForm.VECTORS, ValueForm.ROW, ValueForm.JOINT_POSITION})
"""The forms that simulators compute with."""


@record(frozen=True, slots=True)
class FieldQuantity:
    """How operations on world states treat a field.

    Attributes:
        form: shape of the values.
        kinds: kinds of difference: one, or one for each half of a pose, twist or wrench; none: not compared.
        lost: the sentence of a conversion that cannot hold the field, with `{path}` and `{name}` (the name in XML);
            empty: the field is motion, or belongs to the document.
    """

    form: ValueForm
    kinds: tuple[DifferenceKind, ...] = (DifferenceKind.STATEMENT,)
    lost: str = ""


@record(frozen=True, slots=True)
class ListQuantity:
    """How operations treat a list of named items.

    Attributes:
        type: the class of an item; None for entries of a mapping.
        word: the word for an item in messages.
        path: the path of an item, from `{parent}`, `{word}` and `{name}`.
        kind: kind of difference of statements in the items.
        lost: the sentence of a conversion that cannot hold an item; empty: its fields decide.
        blends: True if an item can be interpolated between two states.
    """

    type: type | None
    word: str
    path: str = "{parent} {word} {name}"
    kind: DifferenceKind = DifferenceKind.STATEMENT
    lost: str = ""
    blends: bool = True

    def path_of(self, parent: str, name: str) -> str:
        """Return the path of an item in differences and messages."""
        return self.path.format(parent=parent, word=self.word, name=name).strip()


_D = DifferenceKind
STATEMENT = FieldQuantity(ValueForm.STATEMENT, lost="'{path}': {name}")
_ROBOT_FILES = FieldQuantity(
    ValueForm.STATEMENT, lost="model '{path}': which robot it is (rs:description, rs:semantic, rs:hash)"
)
_OF_WORLD = FieldQuantity(ValueForm.STATEMENT)
_COMMENT = FieldQuantity(ValueForm.MOMENT, lost="the comment")
_OF_DOCUMENT = FieldQuantity(ValueForm.MOMENT, kinds=())
AGE_OF_VALUE = FieldQuantity(ValueForm.MOMENT, lost="how old values are (rs:age)")
_CARRIER = FieldQuantity(ValueForm.CARRIER)
_TIME = FieldQuantity(ValueForm.TIME, (_D.TIME,))
_POSE = FieldQuantity(ValueForm.POSE, (_D.POSITION, _D.ORIENTATION))
TWIST_VECTORS = FieldQuantity(ValueForm.VECTORS, (_D.LINEAR_VELOCITY, _D.ANGULAR_VELOCITY))
WRENCH_VECTORS = FieldQuantity(ValueForm.VECTORS, (_D.FORCE, _D.TORQUE))
_JOINT_ROWS = {
    "positions": FieldQuantity(ValueForm.JOINT_POSITION, (_D.JOINT_POSITION,)),
    "velocities": FieldQuantity(ValueForm.ROW, (_D.JOINT_VELOCITY,)),
    "torques": FieldQuantity(ValueForm.ROW, (_D.JOINT_EFFORT,)),
}

_NAME = {"name": Attribute("name", required=True)}
_AGED = {"rs:age": Attribute("age_ns", AGE, json="age", quantity=AGE_OF_VALUE)}
_PARENT_LINK = {"rs:parent_link": Attribute("parent_link", quantity=_CARRIER, names="link")}

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
        quantity=_CARRIER,
    ),
    "pose": Child("pose", POSE, quantity=_POSE),
    "twist": Child("twist", TWIST, quantity=TWIST_VECTORS),
}
LINK = Element(
    "link_state",
    LinkState,
    {"name": Attribute("name", required=True, names="link")},
    {
        "pose": Child("pose", POSE, quantity=_POSE),
        "twist": Child("twist", TWIST, quantity=TWIST_VECTORS),
        "wrench": Child("wrench", WRENCH, quantity=WRENCH_VECTORS),
    },
    keeps=True,
    numbered=True,
)
JOINT = Element(
    "joint_state",
    JointState,
    {"name": Attribute("name", required=True, names="joint"), **_AGED},
    {word: Child(word, Element(word, text=NUMBERS), quantity=quantity) for word, quantity in _JOINT_ROWS.items()},
    keeps=True,
    numbered=True,
)
MODEL = Element(
    "model_state",
    ModelState,
    {
        **_NAME,
        "rs:description": Attribute("description", quantity=_ROBOT_FILES),
        "rs:semantic": Attribute("semantic", quantity=_ROBOT_FILES),
        "rs:hash": Attribute("urdf_sha256", SHA256, quantity=_ROBOT_FILES),
        **_AGED,
        **_PARENT_LINK,
    },
    {
        **_PLACED,
        "link_state": Child("links", LINK, many=True, quantity=ListQuantity(LinkState, "link", "{parent}::{name}")),
        "joint_state": Child("joints", JOINT, many=True, quantity=ListQuantity(JointState, "joint")),
    },
    keeps=True,
    numbered=True,
)
FRAME = Element("frame", Frame, {**_NAME, **_AGED, **_PARENT_LINK}, _PLACED, keeps=True, numbered=True)


def _engine(**values: Any) -> EngineState:
    for field in ("arrays", "attributes"):
        values[field] = MappingProxyType(values.get(field, {}))
    return EngineState(**values)


_ARRAY = Element("rs:array", NamedValue, _NAME, text=NUMBERS, text_field="value")
_PROPERTY = Element("rs:property", NamedValue, {**_NAME, "value": Attribute("value", required=True)})
ENGINE = Element(
    "rs:engine",
    _engine,
    {**_NAME, "version": Attribute("version", required=True)},
    {
        "rs:array": Child("arrays", _ARRAY, many=True, keyed=True, quantity=ListQuantity(None, "array")),
        "rs:property": Child("attributes", _PROPERTY, many=True, keyed=True, quantity=ListQuantity(None, "property")),
    },
    keeps=True,
    numbered=True,
    about="what one simulator needs beyond the rest to continue bit for bit",
)
_ENGINES = ListQuantity(EngineState, "engine", kind=_D.ENGINE, lost="the engine state of '{name}'", blends=False)
_COMMENT_TEXT = Element("rs:comment", text=TEXT, about="what a person wrote of it")

USDF: FormatTable[WorldState] = FormatTable(
    Element(
        "world_state",
        WorldState,
        {
            "name": Attribute("name", quantity=_OF_WORLD),
            "rs:version": Attribute("version", quantity=_OF_DOCUMENT),
            "rs:time": Attribute("time_ns", TIME, json="time", quantity=_TIME),
        },
        {
            "rs:comment": Child("comment", _COMMENT_TEXT, quantity=_COMMENT),
            "model_state": Child("models", MODEL, many=True, quantity=ListQuantity(ModelState, "model", "{name}")),
            "frame": Child("frames", FRAME, many=True, quantity=ListQuantity(Frame, "frame", "{name}")),
            "rs:engine": Child("engines", ENGINE, many=True, quantity=_ENGINES),
        },
        keeps=True,
        numbered=True,
    ),
    # The root element of the founding document's own example.
    other_roots=("world",),
    namespace=NAMESPACE,
    prefix=PREFIX,
    reports_foreign=True,
    unknown=Severity.ERROR,
    keeper=lambda _: ForeignTextKeeper(NAMESPACE, PREFIX),
    kept=lambda value: ForeignTexts(value.foreign) if value.foreign else None,
)

USDF_REFERENCES = USDF.references()
"""Kind of thing → its references in a USDF."""
