# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""All services and actions with types of `robot_semantics_interfaces`; created only if that package is installed."""

from __future__ import annotations

import math
import weakref
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from functools import wraps
from itertools import combinations
from pathlib import Path
from threading import RLock
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from rclpy.clock import Clock, ClockType
from rclpy.exceptions import InvalidHandle
from rclpy.publisher import Publisher
from rclpy.timer import Timer
from robot_semantics_interfaces import srv
from robot_semantics_interfaces.msg import (
    CollisionPair,
    EndEffector,
    GroupState,
    JointAge,
    RefusalCount,
    SenderStatus,
    VirtualJoint,
)
from robot_semantics_interfaces.msg import Group as GroupMessage
from robot_semantics_interfaces.msg import WorldState as WorldStateMessage
from robot_semantics_interfaces.srv import GetStatus, GetWorldState, ReplaceDescription
from sensor_msgs.msg import JointState

from robot_semantics.base.errors import DescriptionError, RobotSemanticsError
from robot_semantics.base.files import save_bytes
from robot_semantics.base.names import frame_name
from robot_semantics.cdr.generated_types import RosMessage, ServiceType
from robot_semantics.live.health import SenderRow
from robot_semantics.live.robot import RunningRobot
from robot_semantics.live.senders import NEVER_NS
from robot_semantics.model import queries
from robot_semantics.model.robot_model import RobotModel
from robot_semantics.model.semantics import Group, NamedState
from robot_semantics.ros.messages.maker import MAKER
from robot_semantics.ros.messages.world_messages import world_to_message
from robot_semantics.ros.node.collision_action import CollisionAction
from robot_semantics.ros.node.live_parameters import LiveParameters, Replacement
from robot_semantics.ros.node.monitor import Monitor
from robot_semantics.ros.node.robot_states import NodeParts, StateSampler
from robot_semantics.ros.node.served_robot import DESCRIPTIONS, RobotInterface
from robot_semantics.ros.node.snapshots import Snapshots
from robot_semantics.ros.node.world import World, WorldCapture
from robot_semantics.ros.running import qos
from robot_semantics.srdf.edit import SrdfText, checked_name
from robot_semantics.srdf.new import group_state
from robot_semantics.usdf.writer import write_world

if TYPE_CHECKING:
    from robot_semantics_interfaces.msg import SenderStatus


# The service that replaces the description of a running robot: URDF, SRDF and transforms in one act.


class DescriptionService:
    """Offers ``~/replace_description``, or ``~/MODEL/replace_description``."""

    def __init__(self, served: RobotInterface, live: LiveParameters) -> None:
        self._served, self._live = served, live
        served.node.create_service(ReplaceDescription, f"~/{served.topic('replace_description')}", self._answer)

    def _answer(
        self, request: ReplaceDescription.Request, response: ReplaceDescription.Response
    ) -> ReplaceDescription.Response:
        served = self._served
        try:
            replacement = self._live.replace(
                served, self._texts(request), strict=request.strict, dry_run=request.dry_run
            )
        except DescriptionError as error:
            response.message = f"the description is refused, and the robot stays as it is: {error}"
            response.problems = [str(problem) for problem in error.diagnostics]
            return response
        response.success = True
        response.message = _replacement_message(served, replacement, dry_run=request.dry_run)
        warning = served.lacking_state(replacement.description, {})
        response.problems = [
            *(str(problem) for problem in replacement.description.problems),
            *([] if warning is None else [warning]),
        ]
        response.kept, response.lost = list(replacement.kept), list(replacement.lost)
        return response

    def _texts(self, request: ReplaceDescription.Request) -> dict[str, Any]:
        """Return the new texts by the names of their parameters.

        Raises:
            RobotSemanticsError: the request has an SRDF and wants to keep the present one.
        """
        if request.keep_srdf and request.srdf:
            raise RobotSemanticsError("give either a text in 'srdf' or 'keep_srdf', not both")
        urdf, srdf = (self._served.parameter(name) for name in DESCRIPTIONS)
        return {urdf: request.urdf, srdf: self._served.values[srdf] if request.keep_srdf else request.srdf}


def _replacement_message(served: RobotInterface, replacement: Replacement, *, dry_run: bool) -> str:
    model = replacement.description.model
    return (
        f"robot '{served.prefix or model.name}' {'would be' if dry_run else 'is'} replaced: {len(model.links)} links,"
        f" {len(model.joints) - 1} joints; {len(replacement.kept)} joints keep their values,"
        f" {len(replacement.lost)} lose them"
    )


# Services about the positions of a group: its named states, its present state, and a new named state from it.


Answer = Callable[[RunningRobot, RosMessage], RosMessage]


class _Measured(NamedTuple):
    """Measured state of a group: a value for each variable, and the stamp of the value that arrived first, or None.

    `variables` has the values of all variables of the robot that were measured, for the leaders outside the group.
    """

    values: Mapping[str, float]
    oldest_ns: int | None
    variables: Mapping[str, float] = MappingProxyType({})


class GroupStateServices:
    """The answers for one robot; `GroupServices` offers the services."""

    def __init__(
        self, served: RobotInterface, lock: RLock, tolerance: Callable[[], float], refresh: Callable[[], None]
    ) -> None:
        """Prepare the answers.

        Args:
            served: the robot.
            lock: held while its values are read.
            tolerance: gives the largest difference for a matching state, if the request has none.
            refresh: looks up root links that follow TF.
        """
        self._served, self._lock, self._tolerance, self._refresh = served, lock, tolerance, refresh
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
        self._refresh()
        with self._lock:
            positions = robot.values.positions.tolist()
            measured = robot.values.measured.tolist()
            stamps = robot.values.stamps_ns.tolist()
            received = robot.values.received_ns.tolist()
        numbers = [moving.number[joint] for joint in group.joints if joint in moving.number]
        unseen = [moving.names[number] for number in numbers if not measured[number]]
        if unseen:
            raise RobotSemanticsError(f"no position was received yet for: {', '.join(unseen)}")
        # Stamps of different senders cannot be compared.
        oldest = stamps[min(numbers, key=lambda number: int(received[number]))] if numbers else NEVER_NS
        known = {name: positions[at] for at, name in enumerate(space.names) if measured[moving.of_variable[at]]}
        values = {name: known[name] for name in group.variable_names}
        return _Measured(values, None if oldest == NEVER_NS else oldest, known)

    def _get_current_state(
        self, robot: RunningRobot, request: srv.GetCurrentState.Request
    ) -> srv.GetCurrentState.Response:
        group = robot.model.semantics.group(request.group)
        measured = self._measured(robot, group)
        response = srv.GetCurrentState.Response(state=_state_message(group.name, measured.values), distance=math.nan)
        nearest = queries.matching_states(robot.model, group.name, measured.variables, math.inf)
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
        return srv.SaveGroupState.Response(
            text=str(text), group_state=_state_message(group.name, active, request.state)
        )

    def _srdf(self, robot: RunningRobot) -> SrdfText:
        description = self._served.description
        text = "" if description is None else description.texts.srdf
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
    found = [_state_message(state.group, _values(robot.model, state), state.name) for state in states]
    return srv.GetGroupStates.Response(states=found)


def _values(model: RobotModel, state: NamedState) -> dict[str, float]:
    """Return a named state's values by variable."""
    return {
        name: value
        for joint, numbers in state.positions.items()
        for name, value in zip(model.joint(joint).variable_names, numbers, strict=True)
    }


def _state_message(group: str, values: Mapping[str, float], name: str = "") -> GroupState:
    return GroupState(name=name, group=group, variable_names=list(values), values=list(values.values()))


# Services about the semantics of one robot: groups, states, end effectors, virtual joints, collision pairs.


NO_ROBOT = "there is no robot description yet"


class GroupServices:
    """Offers the services of one robot below the node's name: ``~/get_group``, or ``~/MODEL/get_group``."""

    def __init__(
        self, served: RobotInterface, lock: RLock, tolerance: Callable[[], float], refresh: Callable[[], None]
    ) -> None:
        """Offer them; the arguments are those of `GroupStateServices`."""
        self._served = served
        self._messages: weakref.WeakKeyDictionary[RobotModel, dict[str, GroupMessage]] = weakref.WeakKeyDictionary()
        table: Mapping[str, tuple[type[ServiceType], Answer]] = {
            "list_groups": (srv.ListGroups, _list_groups),
            "get_group": (srv.GetGroup, self._get_group),
            "find_groups": (srv.FindGroups, _find_groups),
            "list_end_effectors": (srv.ListEndEffectors, _list_end_effectors),
            "list_passive_joints": (srv.ListPassiveJoints, _list_passive_joints),
            "get_virtual_joints": (srv.GetVirtualJoints, _get_virtual_joints),
            "get_collision_pair": (srv.GetCollisionPair, _get_collision_pair),
            "list_collision_pairs": (srv.ListCollisionPairs, _list_collision_pairs),
            **GroupStateServices(served, lock, tolerance, refresh).table,
        }
        for name, (kind, answer) in table.items():
            served.node.create_service(kind, f"~/{served.topic(name)}", self._of_robot(answer))

    def _of_robot(self, answer: Answer) -> Callable[[RosMessage, RosMessage], RosMessage]:
        """Return a service callback for the present robot."""

        @wraps(answer)
        def callback(request: RosMessage, _response: RosMessage) -> RosMessage:
            robot = self._served.robot
            if robot is None:
                raise RobotSemanticsError(NO_ROBOT)
            response = answer(robot, request)
            response.success = True
            return response

        return callback

    def _get_group(self, robot: RunningRobot, request: srv.GetGroup.Request) -> srv.GetGroup.Response:
        # Making the message costs more than sending it, and a model never changes.
        made = self._messages.setdefault(robot.model, {})
        message = made.get(request.name)
        if message is None:
            message = made[request.name] = group_message(robot.model.semantics.group(request.name))
        return srv.GetGroup.Response(group=message)


def _list_groups(robot: RunningRobot, _request: srv.ListGroups.Request) -> srv.ListGroups.Response:
    return srv.ListGroups.Response(groups=list(robot.model.semantics.groups))


def _find_groups(robot: RunningRobot, request: srv.FindGroups.Request) -> srv.FindGroups.Response:
    group_names = list(robot.model.semantics.groups)
    if request.link:
        having = queries.groups_with_link(robot.model, request.link)
        group_names = [name for name in group_names if name in having]
    if request.joint:
        having = queries.groups_with_joint(robot.model, request.joint)
        group_names = [name for name in group_names if name in having]
    return srv.FindGroups.Response(groups=group_names)


def _list_end_effectors(robot: RunningRobot, request: srv.ListEndEffectors.Request) -> srv.ListEndEffectors.Response:
    stated = robot.model.semantics.srdf.end_effectors if robot.model.semantics.srdf is not None else ()
    as_written = {effector.name: effector.parent_group for effector in stated}
    effectors = [
        EndEffector(
            name=effector.name,
            group=effector.group,
            parent_link=effector.parent_link,
            parent_group=effector.parent_group,
            parent_inferred=as_written.get(effector.name) != effector.parent_group,
        )
        for effector in queries.end_effectors_of(robot.model, request.group or None)
    ]
    return srv.ListEndEffectors.Response(end_effectors=effectors)


def _list_passive_joints(robot: RunningRobot, request: srv.ListPassiveJoints.Request) -> srv.ListPassiveJoints.Response:
    semantics = robot.model.semantics
    joints = semantics.group(request.group).passive_joints if request.group else semantics.passive_joints
    return srv.ListPassiveJoints.Response(joints=list(joints))


def _get_virtual_joints(robot: RunningRobot, _request: srv.GetVirtualJoints.Request) -> srv.GetVirtualJoints.Response:
    root = robot.model.root_joint
    stated = sorted(robot.model.semantics.virtual_joints, key=lambda joint: joint.name != root.name)
    virtual_joints = [
        VirtualJoint(
            name=joint.name,
            type=joint.type,
            parent_frame=frame_name(robot.settings.virtual_joint(joint.name).parent_frame) or joint.parent_frame,
            child_link=joint.child_link,
            variable_names=list(root.variable_names) if joint.name == root.name else [],
        )
        for joint in stated
    ]
    return srv.GetVirtualJoints.Response(virtual_joints=virtual_joints)


def _get_collision_pair(robot: RunningRobot, request: srv.GetCollisionPair.Request) -> srv.GetCollisionPair.Response:
    return srv.GetCollisionPair.Response(pair=_pair_message(robot.model, request.link1, request.link2))


def _list_collision_pairs(
    robot: RunningRobot, request: srv.ListCollisionPairs.Request
) -> srv.ListCollisionPairs.Response:
    solid = sorted(link.name for link in robot.model.links if link.urdf.collisions)
    wanted = robot.model.link(request.link).name if request.link else None
    pairs = [pair for pair in combinations(solid, 2) if wanted is None or wanted in pair]
    return srv.ListCollisionPairs.Response(pairs=[_pair_message(robot.model, *pair) for pair in pairs])


def _pair_message(model: RobotModel, link1: str, link2: str) -> CollisionPair:
    status = queries.pair_status(model, link1, link2)
    reason = status.reason or ("" if status.checked else status.cause.value)
    return CollisionPair(link1=status.pair.first, link2=status.pair.second, checked=status.checked, reason=reason)


def group_message(group: Group) -> GroupMessage:
    """Return a group as a message; its fields have the names of the value's."""
    fields = {}
    for field in GroupMessage.get_fields_and_field_types():
        value = getattr(group, field)
        fields[field] = value if isinstance(value, (str, bool)) else list(value)
    return GroupMessage(**fields)


class Services:
    """The node's services, actions, snapshots and world state, made and removed together."""

    def __init__(
        self,
        parts: NodeParts,
        states: StateSampler,
        monitor: Monitor,
        live: LiveParameters,
        closing: ExitStack,
    ) -> None:
        """Make them; `closing` stops those with threads.

        Raises:
            ParameterError: a parameter is invalid.

        """
        robots = parts.robots
        self._robots, self._states, self._monitor = robots, states, monitor
        for served in robots.served:
            closing.callback(CollisionAction(served).destroy)
            DescriptionService(served, live)
            GroupServices(served, robots.lock, lambda: robots.settings.state_tolerance, states.refresh)
        world = World(robots, states, parts.frames)
        self.world = WorldServices(world)
        monitor.watch(self.world.subscribers_changed, self.world.follow_subscribers)
        Snapshots(world)

    def offer_status(self) -> None:
        """Offer ``~/get_status``, after everything else: a client calls a service as soon as it appears."""
        self._robots.node.create_service(GetStatus, "~/get_status", self._get_status)

    def _get_status(self, _request: GetStatus.Request, response: GetStatus.Response) -> GetStatus.Response:
        robots = self._robots
        response.success = True
        response.state = robots.state
        refused: Counter[str] = Counter()
        models: list[str] = []
        joints: list[JointAge] = []
        errors: list[str] = []
        with robots.lock:
            for served in robots.served:
                traffic = served.traffic
                response.joint_states_received += traffic.received
                response.joint_states_used += traffic.used
                response.joint_states_refused += traffic.refused_joint_states
                response.transforms_sent += traffic.transforms
                refused.update({reason.value: count for reason, count in traffic.refused.items()})
                errors += traffic.last_errors
                if served.robot is not None:
                    models.append(served.name)
                    ages = self._monitor.ages(served, served.robot)
                    joints += [JointAge(model=served.name, joint=name, age=age) for name, age in ages.items()]
        response.models, response.joints, response.last_errors = models, joints, errors
        if hasattr(response, "senders"):
            # Interfaces of an earlier build lack this field; all else works with them.
            response.senders = [_sender_message(row) for row in self._states.sender_rows()]
        response.refusals = [RefusalCount(reason=reason, count=count) for reason, count in refused.items()]
        return response


def _sender_message(row: SenderRow) -> SenderStatus:
    from robot_semantics_interfaces.msg import SenderStatus

    return SenderStatus(
        model=row.model,
        kind=row.kind,
        topic=row.topic,
        names=list(row.names),
        publishers=list(row.publishers),
        messages=row.messages,
        rate=row.rate_hz,
        offset=row.offset_s,
        node_offset=row.node_offset_s,
        last_heard=row.last_heard_s,
        state=row.state,
    )


class WorldServices:
    """Publishes the world state when it has changed, at most at the rate of `world_state_frequency`.

    The state is made only for subscribers; without them the executor sleeps.
    """

    def __init__(self, world: World) -> None:
        self._world, self._robots, self._states = world, world.robots, world.states
        self._publisher = self._new_publisher()
        self._robots.node.create_service(
            GetWorldState, "~/get_world_state", self._get_world_state, callback_group=world.group
        )
        self._frequency_hz = 0.0
        self._timer: Timer | None = None
        self._busy = False
        self._seen: tuple[object, ...] = ()
        self._last: WorldCapture | None = None

    def set_rate(self, frequency_hz: float) -> None:
        """Publish at most at this rate [Hz]; 0: not at all."""
        self._frequency_hz = frequency_hz
        if self._timer is not None:
            self._robots.node.destroy_timer(self._timer)
            self._timer = self._new_timer() if frequency_hz > 0.0 else None

    def subscribers_changed(self) -> bool:
        """Return True if the first subscriber came or the last one left; any thread may call it."""
        return self._is_wanted() != (self._timer is not None)

    def follow_subscribers(self) -> None:
        """Start publishing for the first subscriber; stop after the last one."""
        if not self.subscribers_changed():
            return
        node = self._robots.node
        if self._timer is None:
            self._timer = self._new_timer()
            # The first message does not wait for the timer.
            if node.executor is not None:
                node.executor.create_task(node.guarded(self._publish, "world state"))
            return
        node.destroy_timer(self._timer)
        self._timer, self._seen, self._last = None, (), None
        # A later subscriber must not get the last message of this time.
        old, self._publisher = self._publisher, self._new_publisher()
        node.destroy_publisher(old)

    def _new_publisher(self) -> Publisher:
        return self._robots.node.create_publisher(WorldStateMessage, "~/world_state", qos.fresh(qos.LATCHED))

    def _new_timer(self) -> Timer:
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        return self._robots.node.create_timer(
            1.0 / self._frequency_hz, self._publish, self._world.group, steady, what="world state"
        )

    def _is_wanted(self) -> bool:
        try:
            return self._frequency_hz > 0.0 and self._publisher.get_subscription_count() > 0
        except InvalidHandle:
            # The executor replaced the publisher a moment ago.
            return False

    async def _publish(self) -> None:
        if not self._robots.active or self._busy:
            return
        seen = self._states.fingerprint()
        # Skip if no new value has arrived; simulators do not tell.
        if not self._robots.settings.simulators and (seen == self._seen or not self._states.knows_anything):
            return
        self._seen, self._busy = seen, True
        try:
            capture = await self._world.take(hold=False)
        finally:
            self._busy = False
        if capture != self._last and self._timer is not None:
            self._last = capture
            self._publisher.publish(world_to_message(capture.state, capture.missing, self._models(capture)))

    def _models(self, taken: WorldCapture) -> dict[str, RobotModel]:
        """Return the robots of the models that the node has."""
        known = {robot.name: robot.model for robot in self._robots.present}
        return {model: known[robot] for model, robot in taken.robots.items() if robot in known}

    async def _get_world_state(
        self, request: GetWorldState.Request, response: GetWorldState.Response
    ) -> GetWorldState.Response:
        taken = await self._world.take(request.models)
        response.state = world_to_message(taken.state, taken.missing, self._models(taken))
        if request.with_text:
            response.text = write_world(taken.state)
        response.success = True
        return response
