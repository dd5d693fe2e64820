# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Services about the positions of a group: its named states, its present state, and a new named state from it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from pathlib import Path
from threading import RLock
from types import MappingProxyType
from typing import NamedTuple

from robot_semantics_interfaces import srv
from robot_semantics_interfaces.msg import GroupState
from sensor_msgs.msg import JointState

from robot_semantics.base.errors import RobotSemanticsError
from robot_semantics.base.files import save_bytes
from robot_semantics.cdr.generated_types import RosMessage, ServiceType
from robot_semantics.model import queries
from robot_semantics.model.robot_model import RobotModel
from robot_semantics.model.semantics import Group, NamedState
from robot_semantics.ros.messages.maker import MAKER
from robot_semantics.ros.node.served_robot import ServedRobot
from robot_semantics.srdf.edit import SrdfText, checked_name
from robot_semantics.srdf.new import group_state
from robot_semantics.state.robot import RunningRobot
from robot_semantics.state.schedule import NEVER_NS

Answer = Callable[[RunningRobot, RosMessage], RosMessage]


class _Measured(NamedTuple):
    """Measured state of a group: a value for each variable, and the time of the oldest value [ns] or None.

    `known` has the values of all variables of the robot that were measured, for the leaders outside the group.
    """

    values: Mapping[str, float]
    oldest_ns: int | None
    known: Mapping[str, float] = MappingProxyType({})


class GroupStateServices:
    """The answers for one robot; `GroupServices` offers the services."""

    def __init__(self, served: ServedRobot, lock: RLock, tolerance: Callable[[], float]) -> None:
        """`tolerance` gives the largest difference for a matching state, if the request has none."""
        self._served, self._lock, self._tolerance = served, lock, tolerance
        self.table: Mapping[str, tuple[type[ServiceType], Answer]] = {
            "get_group_states": (srv.GetGroupStates, _get_group_states),
            "get_group_state": (srv.GetGroupState, self._get_group_state),
            "get_current_state": (srv.GetCurrentState, self._get_current_state),
            "save_group_state": (srv.SaveGroupState, self._save_group_state),
        }

    def _measured(self, robot: RunningRobot, group: Group) -> _Measured:
        """Return the present state of a group.

        Raises:
            RobotSemanticsError: one of its joints has no value yet.
        """
        moving, space = robot.moving, robot.space
        with self._lock:
            positions = robot.values.positions.tolist()
            measured = robot.values.measured.tolist()
            stamps = robot.values.stamps_ns.tolist()
        numbers = [moving.number[joint] for joint in group.joints if joint in moving.number]
        unseen = [moving.names[number] for number in numbers if not measured[number]]
        if unseen:
            raise RobotSemanticsError(f"no position was received yet for: {', '.join(unseen)}")
        oldest = min((stamps[number] for number in numbers), default=NEVER_NS)
        known = {name: positions[at] for at, name in enumerate(space.names) if measured[moving.of_variable[at]]}
        values = {name: known[name] for name in group.variable_names}
        return _Measured(values, None if oldest == NEVER_NS else oldest, known)

    def _get_current_state(
        self, robot: RunningRobot, request: srv.GetCurrentState.Request
    ) -> srv.GetCurrentState.Response:
        group = robot.model.semantics.group(request.group)
        measured = self._measured(robot, group)
        response = srv.GetCurrentState.Response(state=_message(group.name, measured.values), distance=math.nan)
        nearest = queries.matching_states(robot.model, group.name, measured.known, math.inf)
        tolerance = request.tolerance or self._tolerance()
        if nearest and math.isfinite(nearest[0].difference):
            response.distance = float(nearest[0].difference)
            if nearest[0].difference <= tolerance:
                response.matching_state = nearest[0].state
        if measured.oldest_ns is not None:
            response.stamp = MAKER.time(measured.oldest_ns)
        return response

    def _get_group_state(self, robot: RunningRobot, request: srv.GetGroupState.Request) -> srv.GetGroupState.Response:
        group = robot.model.semantics.group(request.group)
        if request.state:
            state = robot.model.semantics.state(request.group, request.state)
            found = _Measured(_values(robot.model, state), None)
        else:
            found = self._measured(robot, group)
        values, stamp_ns = found.values, found.oldest_ns
        message = JointState(name=list(values), position=list(values.values()))
        now_ns = int(self._served.node.get_clock().now().nanoseconds)
        message.header.stamp = MAKER.time(now_ns if stamp_ns is None else stamp_ns)
        return srv.GetGroupState.Response(joint_state=message)

    def _save_group_state(
        self, robot: RunningRobot, request: srv.SaveGroupState.Request
    ) -> srv.SaveGroupState.Response:
        group = robot.model.semantics.group(request.group)
        path = self._writable(request.path) if request.path else None
        values = self._measured(robot, group).values
        text = self._srdf(robot) if path is None else SrdfText.from_file(path)
        variables = {joint: robot.model.joint(joint).variable_names for joint in group.active_joints}
        rows = {joint: [values[name] for name in names] for joint, names in variables.items()}
        element = group_state(checked_name(request.state), group.name, rows)
        if group.name not in {stated.name for stated in text.semantic.groups}:
            raise RobotSemanticsError(f"{path} has no group '{group.name}'")
        if (group.name, request.state) in {(state.group, state.name) for state in text.semantic.states}:
            if not request.overwrite:
                raise RobotSemanticsError(f"group '{group.name}' has a state '{request.state}' already")
            text = text.remove("state", group.name, request.state)
        text = text.add([element])
        if path is not None:
            save_bytes(bytes(text), path)
        active = {name: values[name] for names in variables.values() for name in names}
        return srv.SaveGroupState.Response(text=str(text), group_state=_message(group.name, active, request.state))

    def _srdf(self, robot: RunningRobot) -> SrdfText:
        description = self._served.description
        text = "" if description is None else description.srdf
        return SrdfText(text) if text.strip() else SrdfText.empty(robot.model.name)

    def _writable(self, path: str) -> Path:
        """Return the file that a request names, if requests may name files.

        Raises:
            RobotSemanticsError: requests may not name files, or the file is not an existing SRDF file.
        """
        if not self._served.node.get_parameter("snapshots.allow_paths").value:
            raise RobotSemanticsError(
                "a path needs the parameter snapshots.allow_paths; leave it empty to get the text"
            )
        file = Path(path).expanduser()
        if file.suffix != ".srdf" or not file.is_file():
            raise RobotSemanticsError(f"'{path}': the file must exist and its name must end in .srdf")
        return file


def _get_group_states(robot: RunningRobot, request: srv.GetGroupStates.Request) -> srv.GetGroupStates.Response:
    if request.state:
        states: tuple[NamedState, ...] = (robot.model.semantics.state(request.group, request.state),)
    else:
        states = queries.states_of(robot.model, request.group)
    found = [_message(state.group, _values(robot.model, state), state.name) for state in states]
    return srv.GetGroupStates.Response(states=found)


def _values(model: RobotModel, state: NamedState) -> dict[str, float]:
    """Return a named state's values by variable."""
    return {
        name: value
        for joint, numbers in state.positions.items()
        for name, value in zip(model.joint(joint).variable_names, numbers, strict=True)
    }


def _message(group: str, values: Mapping[str, float], name: str = "") -> GroupState:
    return GroupState(name=name, group=group, variable_names=list(values), values=list(values.values()))
