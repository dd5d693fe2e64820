"""Parameters of any node: declared, described and checked by a table, and the checks that such a table names."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from rcl_interfaces.msg import ParameterDescriptor
from rclpy.exceptions import InvalidTopicNameException
from rclpy.expand_topic_name import expand_topic_name
from rclpy.node import Node
from rclpy.validate_full_topic_name import validate_full_topic_name

from robot_semantics.base.errors import RobotSemanticsError
from robot_semantics.base.names import nearest_names

Values = Mapping[str, Any]
Check = Callable[[str, Any], None]
"""Raises `ParameterError` where a value, given with the parameter's full name, means nothing."""


class ParameterError(RobotSemanticsError, ValueError):
    """A parameter has a value that means nothing; the message names it and says what is expected."""


class Parameter(NamedTuple):
    """One parameter: its default, what it is for, and the check that turns a value away."""

    name: str
    default: Any
    about: str
    check: Check
    read_only: bool = False


def text(name: str, value: Any) -> None:
    """Take a text."""
    if not isinstance(value, str):
        raise ParameterError(f"parameter '{name}' must be a text, not {value!r}")


def flag(name: str, value: Any) -> None:
    """Take true or false."""
    if not isinstance(value, bool):
        raise ParameterError(f"parameter '{name}' must be true or false, not {value!r}")


def number(name: str, value: Any) -> float:
    """Take a finite number, and return it."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise ParameterError(f"parameter '{name}' must be a finite number, not {value!r}")
    return float(value)


def positive(name: str, value: Any) -> None:
    """Take a number above 0."""
    if number(name, value) <= 0.0:
        raise ParameterError(f"parameter '{name}' must be greater than 0, not {value!r}")


def not_negative(name: str, value: Any) -> None:
    """Take a number that is 0 or more."""
    if number(name, value) < 0.0:
        raise ParameterError(f"parameter '{name}' must not be negative, not {value!r}")


def texts(name: str, value: Any) -> None:
    """Take a list of texts."""
    if isinstance(value, str) or not all(isinstance(item, str) for item in value):
        raise ParameterError(f"parameter '{name}' must be a list of texts, not {value!r}")


def names(name: str, value: Any) -> None:
    """Take names of robots, each once."""
    texts(name, value)
    given = [item for item in value if item]
    for item in given:
        # It becomes part of topic, service and parameter names.
        if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", item):
            raise ParameterError(f"parameter '{name}' must be letters, digits and underscores, not '{item}'")
    if len(set(given)) < len(given):
        raise ParameterError(f"parameter '{name}' names a robot twice: {', '.join(given)}")


def topic(name: str, value: Any) -> None:
    """Take the name of a topic."""
    text(name, value)
    if not value:
        raise ParameterError(f"parameter '{name}' must be a topic name, not empty")
    _check_name(name, value, "a topic name")


def topic_or_none(name: str, value: Any) -> None:
    """Take the name of a topic, or nothing."""
    text(name, value)
    if value:
        _check_name(name, value, "a topic name")


def nodes(name: str, value: Any) -> None:
    """Take names of nodes, or nothing."""
    texts(name, value)
    for item in value:
        # What serves standard simulators is named with its kind before its namespace.
        _, _, node = item.rpartition(":")
        if node:
            _check_name(name, node, "a node's name")


def entities(name: str, value: Any) -> None:
    """Take pairs ENTITY:=ROBOT, each name once on its side."""
    texts(name, value)
    pairs = [item.split(":=") for item in value if item]
    for pair in pairs:
        if len(pair) != 2 or not all(pair):
            raise ParameterError(f"parameter '{name}' must be a list of ENTITY:=ROBOT, not '{':='.join(pair)}'")
    for side, what in enumerate(("entity", "robot")):
        given = [pair[side] for pair in pairs]
        for twice in sorted(one for one, count in Counter(given).items() if count > 1):
            raise ParameterError(f"parameter '{name}' names the {what} '{twice}' twice")


def _check_name(name: str, value: str, what: str) -> None:
    try:
        validate_full_topic_name(expand_topic_name(value, "node", "/"))
    except (InvalidTopicNameException, ValueError) as error:
        raise ParameterError(f"parameter '{name}' must be {what}, not '{value}': {error}".splitlines()[0]) from None


def at_most(most: float) -> Check:
    """Return what takes a number from 0 to `most`."""

    def check(name: str, value: Any) -> None:
        not_negative(name, value)
        if value > most:
            raise ParameterError(f"parameter '{name}' must be at most {most:g}, not {value!r}")

    return check


def at_least(least: float) -> Check:
    """Return what takes a number from `least` on."""

    def check(name: str, value: Any) -> None:
        if number(name, value) < least:
            raise ParameterError(f"parameter '{name}' must be at least {least:g}, not {value!r}")

    return check


def period(name: str, value: Any) -> None:
    """Take 0, or a time between two events that a node can keep [s]."""
    not_negative(name, value)
    if 0.0 < value < 0.01:
        raise ParameterError(f"parameter '{name}' must be 0 or at least 0.01, not {value!r}")


def pose(name: str, value: Any) -> None:
    """Take x y z [m] roll pitch yaw [rad]."""
    numbers = [] if isinstance(value, str) else list(value)
    if len(numbers) != 6:
        raise ParameterError(f"parameter '{name}' must be six numbers x y z roll pitch yaw, not {value!r}")
    for one in numbers:
        number(name, one)


def one_of(*words: str) -> Check:
    """Return what takes one of these words."""

    def check(name: str, value: Any) -> None:
        if value not in words:
            near = nearest_names(str(value), words, 1)
            hint = f"; did you mean '{near[0]}'?" if near else ""
            raise ParameterError(f"parameter '{name}' must be one of {', '.join(words)}, not '{value}'{hint}")

    return check


def choice(name: str, value: Any) -> None:
    """Take a way of choosing default positions."""
    text(name, value)
    group, slash, state = value.partition("/")
    if value not in ("none", "zero", "mid") and not (slash and group and state):
        raise ParameterError(f"parameter '{name}' must be none, zero, mid or GROUP/STATE, not '{value}'")


def declare(node: Node, table: Iterable[Parameter], prefix: str = "", defaults: Values | None = None) -> dict[str, Any]:
    """Declare every parameter of `table` as ``PREFIX.NAME``; return the values by full name, checked.

    The values of `defaults`, by NAME, replace the table's defaults.

    Raises:
        ParameterError: a given value means nothing.

    """
    values: dict[str, Any] = {}
    for parameter in table:
        name = f"{prefix}.{parameter.name}" if prefix else parameter.name
        default = (defaults or {}).get(parameter.name, parameter.default)
        if not node.has_parameter(name):
            # The type is checked here, not by rclpy: it would turn away 20 where 20.0 is meant.
            descriptor = ParameterDescriptor(
                description=parameter.about, read_only=parameter.read_only, dynamic_typing=True
            )
            node.declare_parameter(name, default, descriptor)
        value = node.get_parameter(name).value
        if isinstance(default, list) and value is not None and not isinstance(value, str):
            value = list(value)
        parameter.check(name, value)
        values[name] = value
    return values


def unknown_overrides(node: Node, waiting: bool = False) -> dict[str, str]:
    """Return what to say of each parameter that was given to a node, in a file or an argument, and that it never reads.

    With `waiting` those below ``virtual_joints.`` may yet be declared, once a description names the joint.
    """
    # rclpy shows what was given only by declaring all of it.
    given: Iterable[str] = getattr(node, "_parameter_overrides", {})
    unknown = [name for name in given if not node.has_parameter(name) and not name.startswith("qos_overrides.")]
    declared = sorted(node.list_parameters([], 0).names)
    found = {}
    for name in unknown:
        if not (waiting and "virtual_joints." in name):
            near = nearest_names(name, declared, 1)
            hint = f"; did you mean '{near[0]}'?" if near else ""
            found[name] = f"parameter '{name}' has no effect: there is none of this name{hint}"
    return found
