"""The node's parameters: one table that declares, checks and describes them, and the settings made from the values."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from rcl_interfaces.msg import ParameterDescriptor
from rclpy.exceptions import InvalidTopicNameException
from rclpy.expand_topic_name import expand_topic_name
from rclpy.node import Node
from rclpy.validate_full_topic_name import validate_full_topic_name

from robot_semantics.base.errors import RobotSemanticsError
from robot_semantics.base.names import nearest_names
from robot_semantics.state.settings import Invalid, RobotSettings, Source, VirtualJointSettings

Values = Mapping[str, Any]


class ParameterError(RobotSemanticsError, ValueError):
    """A parameter has a value that means nothing; the message names it and says what is expected."""


class Parameter(NamedTuple):
    """One parameter: its default, what it is for, and the check that turns a value away."""

    name: str
    default: Any
    about: str
    check: Callable[[str, Any], None]
    read_only: bool = False


def _text(name: str, value: Any) -> None:
    if not isinstance(value, str):
        raise ParameterError(f"parameter '{name}' must be a text, not {value!r}")


def _flag(name: str, value: Any) -> None:
    if not isinstance(value, bool):
        raise ParameterError(f"parameter '{name}' must be true or false, not {value!r}")


def _number(name: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise ParameterError(f"parameter '{name}' must be a finite number, not {value!r}")
    return float(value)


def _positive(name: str, value: Any) -> None:
    if _number(name, value) <= 0.0:
        raise ParameterError(f"parameter '{name}' must be greater than 0, not {value!r}")


def _not_negative(name: str, value: Any) -> None:
    if _number(name, value) < 0.0:
        raise ParameterError(f"parameter '{name}' must not be negative, not {value!r}")


def _texts(name: str, value: Any) -> None:
    if isinstance(value, str) or not all(isinstance(item, str) for item in value):
        raise ParameterError(f"parameter '{name}' must be a list of texts, not {value!r}")


def _names(name: str, value: Any) -> None:
    _texts(name, value)
    names = [item for item in value if item]
    for item in names:
        # It becomes part of topic, service and parameter names.
        if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", item):
            raise ParameterError(f"parameter '{name}' must be letters, digits and underscores, not '{item}'")
    if len(set(names)) < len(names):
        raise ParameterError(f"parameter '{name}' names a robot twice: {', '.join(names)}")


def _topic(name: str, value: Any) -> None:
    _text(name, value)
    if not value:
        raise ParameterError(f"parameter '{name}' must be a topic name, not empty")
    _check_name(name, value, "a topic name")


def _topic_or_none(name: str, value: Any) -> None:
    _text(name, value)
    if value:
        _check_name(name, value, "a topic name")


def _nodes(name: str, value: Any) -> None:
    _texts(name, value)
    for item in value:
        # What serves standard simulators is named with its kind before its namespace.
        _, _, node = item.rpartition(":")
        if node:
            _check_name(name, node, "a node's name")


def _entities(name: str, value: Any) -> None:
    _texts(name, value)
    pairs = [item.split(":=") for item in value if item]
    for pair in pairs:
        if len(pair) != 2 or not all(pair):
            raise ParameterError(f"parameter '{name}' must be a list of ENTITY:=ROBOT, not '{':='.join(pair)}'")
    for side, what in enumerate(("entity", "robot")):
        names = [pair[side] for pair in pairs]
        for twice in sorted({one for one in names if names.count(one) > 1}):
            raise ParameterError(f"parameter '{name}' names the {what} '{twice}' twice")


def _check_name(name: str, value: str, what: str) -> None:
    try:
        validate_full_topic_name(expand_topic_name(value, "node", "/"))
    except (InvalidTopicNameException, ValueError) as error:
        raise ParameterError(f"parameter '{name}' must be {what}, not '{value}': {error}".splitlines()[0]) from None


def _at_most(most: float) -> Callable[[str, Any], None]:
    def check(name: str, value: Any) -> None:
        _not_negative(name, value)
        if value > most:
            raise ParameterError(f"parameter '{name}' must be at most {most:g}, not {value!r}")

    return check


def _period(name: str, value: Any) -> None:
    _not_negative(name, value)
    if 0.0 < value < 0.01:
        raise ParameterError(f"parameter '{name}' must be 0 or at least 0.01, not {value!r}")


def _pose(name: str, value: Any) -> None:
    numbers = [] if isinstance(value, str) else list(value)
    if len(numbers) != 6:
        raise ParameterError(f"parameter '{name}' must be six numbers x y z roll pitch yaw, not {value!r}")
    for number in numbers:
        _number(name, number)


def _one_of(*words: str) -> Callable[[str, Any], None]:
    def check(name: str, value: Any) -> None:
        if value not in words:
            near = nearest_names(str(value), words, 1)
            hint = f"; did you mean '{near[0]}'?" if near else ""
            raise ParameterError(f"parameter '{name}' must be one of {', '.join(words)}, not '{value}'{hint}")

    return check


def _choice(name: str, value: Any) -> None:
    _text(name, value)
    group, slash, state = value.partition("/")
    if value not in ("none", "zero", "mid") and not (slash and group and state):
        raise ParameterError(f"parameter '{name}' must be none, zero, mid or GROUP/STATE, not '{value}'")


ROBOT: tuple[Parameter, ...] = (
    Parameter("robot_description", "", "The robot's URDF, as text.", _text),
    Parameter("robot_description_semantic", "", "The robot's SRDF, as text; empty: none.", _text),
    Parameter(
        "robot_description_topic",
        "",
        "Latched std_msgs/String topic to read the URDF from instead; empty: from the parameter.",
        _topic_or_none,
        read_only=True,
    ),
    Parameter("robot_description_semantic_topic", "", "The same for the SRDF.", _topic_or_none, read_only=True),
    Parameter(
        "frame_prefix", "", "Put before the name of every link on TF; not before a virtual joint's parent.", _text
    ),
    Parameter("publish_frequency", 20.0, "Highest rate at which a joint's transform is sent [Hz].", _positive),
    Parameter("ignore_timestamp", False, "Publish every joint state, whatever its stamp and rate.", _flag),
    Parameter(
        "default_positions",
        "none",
        "Positions of joints that have not reported yet: none (not published), zero, mid, or GROUP/STATE of the SRDF.",
        _choice,
    ),
    Parameter(
        "complete_after",
        0.1,
        "A joint that has been silent for so long is repeated, at its last position, with other joints' messages [s].",
        _not_negative,
    ),
    Parameter("stale_timeout", 5.0, "Report a joint that has been silent for so long [s]; 0: never.", _not_negative),
    Parameter(
        "invalid_positions",
        "refuse",
        "A position that is NaN or infinite: refuse the message, or skip that joint alone.",
        _one_of(*(word.value for word in Invalid)),
    ),
    Parameter("strict", False, "Refuse descriptions with any error; false: leave out the parts in error.", _flag),
    Parameter("implicit_links", False, "Let joints name links that no <link> element declares.", _flag),
)
"""Those of each robot; with `models` each also as MODEL.NAME, whose default is the value without MODEL."""

VIRTUAL_JOINT: tuple[Parameter, ...] = (
    Parameter(
        "source",
        "auto",
        "Where the virtual joint's motion comes from: auto (joint_states or multi_dof), joint_states, multi_dof,"
        " odometry, tf (listens and does not publish), fixed.",
        _one_of(*(source.value for source in Source)),
    ),
    Parameter("topic", "odom", "nav_msgs/Odometry topic, with source odometry.", _topic),
    Parameter(
        "pose",
        [0.0] * 6,
        "x y z [m] roll pitch yaw [rad] of the root link in the parent frame, with source or type fixed.",
        _pose,
    ),
    Parameter("parent_frame", "", "TF name of the parent frame; empty: the SRDF's.", _text),
)
"""Those below virtual_joints.NAME."""

NODE: tuple[Parameter, ...] = (
    Parameter("models", [""], "Names of several robots in one node; empty: one robot.", _names, read_only=True),
    Parameter("simulators", [""], "Names of simulator nodes that a restored snapshot is pushed to.", _nodes),
    Parameter(
        "simulated_entities",
        [""],
        "Which robot each entity of a simulator is, where their names differ: ENTITY:=ROBOT.",
        _entities,
    ),
    Parameter("diagnostics_period", 1.0, "Time between two messages on /diagnostics [s]; 0: none.", _period),
    Parameter("world_state_frequency", 1.0, "Rate of ~/world_state [Hz]; 0: only when asked.", _at_most(100.0)),
    Parameter("check_tf_authority", True, "Report other nodes that publish this node's frames.", _flag),
    Parameter(
        "state_tolerance",
        0.01,
        "Largest difference of any variable for a named state to match [rad or m].",
        _not_negative,
    ),
    Parameter(
        "raw_messages", True, "Read and write messages as raw bytes; false: as typed messages.", _flag, read_only=True
    ),
)
"""Those of the node as a whole."""


@dataclass(frozen=True, slots=True)
class NodeSettings:
    """The parameters of the node as a whole."""

    models: tuple[str, ...]
    simulators: tuple[str, ...]
    simulated_entities: Mapping[str, str]
    diagnostics_period_s: float
    world_state_frequency_hz: float
    check_tf_authority: bool
    state_tolerance: float
    raw_messages: bool


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


def check(name: str, value: Any, models: tuple[str, ...]) -> bool:
    """Check one new value of one of our parameters; return False if `name` is none of them.

    Raises:
        ParameterError: the value means nothing.

    """
    short = name
    for model in models:
        short = short.removeprefix(f"{model}.")
    if short.startswith("virtual_joints."):
        table, short = VIRTUAL_JOINT, short.rpartition(".")[2]
    else:
        table = ROBOT + NODE
    for parameter in table:
        if parameter.name == short:
            parameter.check(name, value)
            return True
    return False


def node_settings(values: Values) -> NodeSettings:
    """Return the node's settings from the values of `NODE`."""
    return NodeSettings(
        models=tuple(name for name in values["models"] if name),
        simulators=tuple(name for name in values["simulators"] if name),
        simulated_entities=dict(item.split(":=") for item in values["simulated_entities"] if item),
        diagnostics_period_s=float(values["diagnostics_period"]),
        world_state_frequency_hz=float(values["world_state_frequency"]),
        check_tf_authority=values["check_tf_authority"],
        state_tolerance=float(values["state_tolerance"]),
        raw_messages=values["raw_messages"],
    )


def _nanoseconds(seconds: float) -> int:
    # Thirty years stand for ever, and differences to them stay within 64 bits.
    return int(min(seconds * 1e9, 1e18))


def robot_settings(values: Values, prefix: str, virtual_joints: Iterable[str], raw: bool) -> RobotSettings:
    """Return one robot's settings from the values by full name, with the settings of the named virtual joints."""

    def value(name: str) -> Any:
        return values[f"{prefix}.{name}" if prefix else name]

    return RobotSettings(
        frame_prefix=value("frame_prefix"),
        publish_interval_ns=max(1, int(1e9 / max(value("publish_frequency"), 1e-9))),
        ignore_timestamp=value("ignore_timestamp"),
        default_positions=value("default_positions"),
        complete_after_ns=_nanoseconds(value("complete_after")),
        stale_timeout_ns=_nanoseconds(value("stale_timeout")),
        invalid=Invalid(value("invalid_positions")),
        strict=value("strict"),
        raw=raw,
        virtual_joints={
            name: VirtualJointSettings(
                source=Source(value(f"virtual_joints.{name}.source")),
                topic=value(f"virtual_joints.{name}.topic"),
                pose=tuple(float(number) for number in value(f"virtual_joints.{name}.pose")),  # type: ignore[arg-type]
                parent_frame=value(f"virtual_joints.{name}.parent_frame"),
            )
            for name in virtual_joints
        },
    )
