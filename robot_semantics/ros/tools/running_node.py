# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Questions to a running node: the descriptions of its robots and the state of its world."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from rcl_interfaces.msg import ParameterValue
from rcl_interfaces.srv import GetParameters
from rclpy.parameter import parameter_value_to_python
from robot_semantics_interfaces.srv import GetStatus, GetWorldState

from robot_semantics.base.errors import RobotSemanticsError, UnknownNameError
from robot_semantics.live.health import SenderRow
from robot_semantics.model.loading import TEXT_PARAMETERS, DescriptionTexts
from robot_semantics.ros.messages.world_messages import items_from_messages
from robot_semantics.ros.tools.own_node import ServiceCaller
from robot_semantics.usdf.restore_report import RestoreItem

if TYPE_CHECKING:
    from robot_semantics_interfaces.msg import SenderStatus


_STATUS = f"{GetStatus.__module__.partition('.')[0]}/srv/GetStatus"


class WorldText(NamedTuple):
    """The state of a node's world as a USDF document, and the items that it does not have."""

    text: str
    missing: tuple[RestoreItem, ...]


def read_robot_texts(name: str, timeout_s: float) -> DescriptionTexts:
    """Return the descriptions of a robot of a running node.

    Args:
        name: the node, or ``NODE/ROBOT`` for one of several robots.
        timeout_s: longest time to find the node, and to wait for each of its answers [s].

    Raises:
        RobotSemanticsError: the node does not answer, or `name` does not select exactly one robot.
    """
    with _selected_robot(name, timeout_s) as (caller, node, models, selected):
        if not selected and len(models) > 1:
            choices = ", ".join(f"--node={node}/{item}" for item in models)
            raise RobotSemanticsError(f"the node {node} has {len(models)} robots: choose one with {choices}")
        robot = selected or "".join(models)
        prefix = f"{robot}." if robot else ""
        urdf, srdf, *others = (f"{prefix}{name}" for name in TEXT_PARAMETERS)
        values = map(parameter_value_to_python, _parameters(caller, node, *others))
        return DescriptionTexts(_description(caller, node, urdf), _description(caller, node, srdf), *values)


def read_world_text(name: str, timeout_s: float) -> WorldText:
    """Return the state of the world of a running node.

    Args:
        name: the node, or ``NODE/ROBOT`` for one of several robots.
        timeout_s: longest time to find the node, and to wait for each of its answers [s].

    Raises:
        RobotSemanticsError: the node does not answer.
    """
    with _selected_robot(name, timeout_s) as (caller, node, _, model):
        answer = caller.ask(GetWorldState, f"{node}/get_world_state", models=[model] if model else [], with_text=True)
    if not answer.success:
        raise RobotSemanticsError(answer.message)
    return WorldText(answer.text, tuple(items_from_messages(answer.state.missing, done=False)))


def read_senders(name: str, timeout_s: float) -> list[SenderRow]:
    """Return the table of senders of a running node.

    Args:
        name: the node, or ``NODE/ROBOT`` for one of several robots.
        timeout_s: longest time to find the node, and to wait for each of its answers [s].

    Raises:
        RobotSemanticsError: the node does not answer.
    """
    with _selected_robot(name, timeout_s) as (caller, node, _, model):
        answer = caller.ask(GetStatus, f"{node}/get_status")
    rows = [sender_row(message) for message in answer.senders]
    return [row for row in rows if not model or row.model in ("", model)]


def sender_row(message: SenderStatus) -> SenderRow:
    """Return a row of the table of senders from its message."""
    return SenderRow(
        message.model,
        message.kind,
        message.topic,
        tuple(message.names),
        tuple(message.publishers),
        message.messages,
        message.rate,
        message.offset,
        message.node_offset,
        message.last_heard,
        message.state,
    )


@contextmanager
def _selected_robot(name: str, timeout_s: float) -> Iterator[tuple[ServiceCaller, str, list[str], str]]:
    """Yield a caller, the node, the names of its robots if it can have several, and the robot that `name` selects."""
    with ServiceCaller(timeout_s) as caller:
        node, model = _find(caller, name)
        (value,) = _parameters(caller, node, "models")
        models = [item for item in value.string_array_value if item]
        if model and model not in models:
            raise UnknownNameError("robot", model, models, f"node '{node}'")
        yield caller, node, models, model


def _find(caller: ServiceCaller, name: str) -> tuple[str, str]:
    """Return the node and the robot that a name means."""
    full_name = f"/{name.strip('/')}"
    outer, _, inner = full_name.rpartition("/")
    end = time.monotonic() + caller.timeout_s
    node_names: Sequence[str] = ()
    while time.monotonic() < end:
        node_names = caller.nodes_with("get_status", _STATUS)
        if full_name in node_names:
            return full_name, ""
        if outer in node_names:
            return outer, inner
        time.sleep(0.05)
    others = f"; give one with {', '.join(f'--node={node}' for node in node_names)}" if node_names else ""
    hint = "; see 'robot_semantics doctor'"
    raise RobotSemanticsError(f"the node {full_name} does not run (waited {caller.timeout_s:g} s){others}{hint}")


def _description(caller: ServiceCaller, node: str, name: str) -> str:
    """Return the text of a description: the parameter, or the message on the topic that replaces the parameter."""
    text, topic = _parameters(caller, node, name, f"{name}_topic")
    if not topic.string_value:
        return str(text.string_value)
    namespace = node.rpartition("/")[0]
    return caller.latched_text(
        topic.string_value if topic.string_value[0] == "/" else f"{namespace}/{topic.string_value}"
    )


def _parameters(caller: ServiceCaller, node: str, *names: str) -> list[ParameterValue]:
    answer = caller.ask(GetParameters, f"{node}/get_parameters", names=list(names))
    if len(answer.values) != len(names):
        raise RobotSemanticsError(f"the node {node} does not have the parameters {', '.join(names)}")
    return list(answer.values)
