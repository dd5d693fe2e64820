# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Parameters of any node: a table declares, describes and checks them; and the checks for such tables."""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from rcl_interfaces.msg import FloatingPointRange, IntegerRange, ParameterDescriptor
from rclpy.exceptions import InvalidTopicNameException
from rclpy.expand_topic_name import expand_topic_name
from rclpy.parameter import Parameter as RosParameter
from rclpy.validate_full_topic_name import validate_full_topic_name

from robot_semantics.base.errors import RobotSemanticsError
from robot_semantics.base.names import duplicates, shown, suggestion
from robot_semantics.base.record import record

Values = Mapping[str, Any]
"""Values of parameters by name; each has the type of its default."""
Check = Callable[[str, object], object]
"""Raises `ParameterError` where a value, given with the parameter's full name, means nothing."""


LARGEST = 2**63 - 1
"""The largest integer that a parameter can be."""


class ParameterError(RobotSemanticsError, ValueError):
    """A parameter has an invalid value; the message has its name and the expected values."""


class Parameter(NamedTuple):
    """One parameter: its default (which sets the type), its description, and the check of its values."""

    name: str
    default: Any
    about: str
    check: Check
    read_only: bool = False

    def descriptor(self) -> ParameterDescriptor:
        """Return the ROS descriptor: the description, the fixed type and the bounds."""
        descriptor = ParameterDescriptor(description=self.about, read_only=self.read_only)
        if isinstance(self.check, Numbers):
            if isinstance(self.default, int):
                bounds = IntegerRange(from_value=int(self.check.least), to_value=min(int(self.check.most), LARGEST))
                descriptor.integer_range = [bounds]
            else:
                bounds = FloatingPointRange(from_value=self.check.least, to_value=self.check.most)
                descriptor.floating_point_range = [bounds]
        return descriptor


def text(name: str, value: object) -> str:
    """Check that the value is a text."""
    if not isinstance(value, str):
        raise ParameterError(f"parameter '{name}' must be a text, not {_shown(value)}")
    return value


def flag(name: str, value: object) -> None:
    """Check that the value is true or false."""
    if not isinstance(value, bool):
        raise ParameterError(f"parameter '{name}' must be true or false, not {_shown(value)}")


def finite_number(name: str, value: object) -> float:
    """Check that the value is a finite number."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise ParameterError(f"parameter '{name}' must be a finite number, not {_shown(value)}")
    return float(value)


@record(frozen=True, slots=True)
class Numbers:
    """Check for finite numbers within bounds; a parameter's descriptor states the same bounds.

    Attributes:
        least, most: the bounds.
        beyond: True: a number must be greater than `least`.
        gap: a number is either `least`, or at least this.

    """

    least: float = 0.0
    most: float = sys.float_info.max
    beyond: bool = False
    gap: float = 0.0

    def __call__(self, name: str, value: object) -> None:
        """Check that a number is within the bounds."""
        number = finite_number(name, value)
        if number < self.least or (self.beyond and number == self.least):
            rule = f"greater than {self.least:g}" if self.beyond else f"at least {self.least:g}"
        elif number > self.most:
            rule = f"at most {self.most:g}"
        elif self.least < number < self.gap:
            rule = f"{self.least:g} or at least {self.gap:g}"
        else:
            return
        if rule == "at least 0":
            raise ParameterError(f"parameter '{name}' must not be negative, not {_shown(value)}")
        raise ParameterError(f"parameter '{name}' must be {rule}, not {_shown(value)}")


def whole(name: str, value: object) -> None:
    """Check that the value is a whole number and not negative."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ParameterError(f"parameter '{name}' must be a whole number, at least 0, not {_shown(value)}")


not_negative = Numbers()
positive = Numbers(beyond=True)
period = Numbers(gap=0.01)
"""0, or a time between two events that a node can keep [s]."""


_LONGEST = 100
"""The longest value in a message [characters]."""


def _shown(value: object) -> str:
    """Return a value for a message, as a parameter file has it; a long one is cut."""
    if value is None:
        return "empty"
    if isinstance(value, str):
        return f"'{shown(value, _LONGEST)}'"
    if isinstance(value, bool):
        return str(value).lower()
    items = _items(value)
    return str(value) if items is None else shown(f"[{', '.join(map(_shown, items))}]", _LONGEST)


def _items(value: object) -> list[object] | None:
    """Return the items of a list; None for another type."""
    return list(value) if isinstance(value, Iterable) and not isinstance(value, (str, bytes)) else None


def texts(name: str, value: object) -> list[str]:
    """Check that the value is a list of texts."""
    given = _items(value)
    if given is None or not all(isinstance(item, str) for item in given):
        raise ParameterError(f"parameter '{name}' must be a list of texts, not {_shown(value)}")
    return [str(item) for item in given]


def names(name: str, value: object) -> None:
    """Check that the value is a list of different robot names."""
    words = [item for item in texts(name, value) if item]
    for item in words:
        # It becomes part of topic, service and parameter names.
        if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", item):
            raise ParameterError(f"parameter '{name}' must be letters, digits and underscores, not {_shown(item)}")
    if len(set(words)) < len(words):
        raise ParameterError(f"parameter '{name}' names a robot twice: {', '.join(words)}")


def topic(name: str, value: object) -> None:
    """Check that the value is the name of a topic."""
    given = text(name, value)
    if not given:
        raise ParameterError(f"parameter '{name}' must be a topic name, not empty")
    _check_name(name, given, "a topic name")


def topic_or_none(name: str, value: object) -> None:
    """Check that the value is the name of a topic, or empty."""
    if given := text(name, value):
        _check_name(name, given, "a topic name")


def nodes(name: str, value: object) -> None:
    """Check that the value is a list of node names; it may be empty."""
    for item in texts(name, value):
        # A standard simulator is written as KIND:NAMESPACE.
        _, _, node = item.rpartition(":")
        if node:
            _check_name(name, node, "a node's name")


def entities(name: str, value: object) -> None:
    """Check that the value is a list of pairs ENTITY:=ROBOT without repeated entities or robots."""
    pairs = [item.split(":=") for item in texts(name, value) if item]
    for pair in pairs:
        if len(pair) != 2 or not all(pair):
            raise ParameterError(f"parameter '{name}' must be a list of ENTITY:=ROBOT, not '{':='.join(pair)}'")
    for side, what in enumerate(("entity", "robot")):
        for twice in duplicates(pair[side] for pair in pairs):
            raise ParameterError(f"parameter '{name}' names the {what} '{twice}' twice")


def _check_name(name: str, value: str, what: str) -> None:
    try:
        validate_full_topic_name(expand_topic_name(value, "node", "/"))
    except (InvalidTopicNameException, ValueError) as error:
        reason = shown(str(error).splitlines()[0], _LONGEST)
        raise ParameterError(f"parameter '{name}' must be {what}, not {_shown(value)}: {reason}") from None


def pose(name: str, value: object) -> None:
    """Check that the value is x y z [m] roll pitch yaw [rad]."""
    numbers = _items(value) or []
    if len(numbers) != 6:
        raise ParameterError(f"parameter '{name}' must be six numbers x y z roll pitch yaw, not {_shown(value)}")
    for one in numbers:
        finite_number(name, one)


def one_word_of(*words: str) -> Check:
    """Return a check for one of these words."""

    def check(name: str, value: object) -> None:
        if value not in words:
            near = suggestion(str(value), words)
            raise ParameterError(f"parameter '{name}' must be one of {', '.join(words)}, not {_shown(value)}{near}")

    return check


def choice(name: str, value: object) -> None:
    """Check that the value is a choice of default positions."""
    group, slash, state = text(name, value).partition("/")
    if value not in ("none", "zero", "mid") and not (slash and group and state):
        raise ParameterError(f"parameter '{name}' must be none, zero, mid or GROUP/STATE, not {_shown(value)}")


def as_type(kind: RosParameter.Type, value: object) -> object:
    """Return `value` converted to this parameter type if it means the same, such as 20.0 for 20; else unchanged."""
    if kind is RosParameter.Type.DOUBLE and type(value) is int:
        return float(value)
    if kind is RosParameter.Type.INTEGER and type(value) is float and value.is_integer():
        return int(value)
    items = _items(value)
    if kind is RosParameter.Type.DOUBLE_ARRAY and items is not None:
        return [as_type(RosParameter.Type.DOUBLE, item) for item in items]
    if kind is RosParameter.Type.STRING_ARRAY and items == []:
        # An empty list has no type of its own.
        return [""]
    return value
