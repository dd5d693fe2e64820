# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Services about the semantics of one robot: groups, states, end effectors, virtual joints, collision pairs."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Mapping
from functools import wraps
from itertools import combinations
from threading import RLock

from robot_semantics_interfaces import srv
from robot_semantics_interfaces.msg import CollisionPair, EndEffector, VirtualJoint
from robot_semantics_interfaces.msg import Group as GroupMessage

from robot_semantics.base.errors import RobotSemanticsError
from robot_semantics.cdr.generated_types import RosMessage, ServiceType
from robot_semantics.model import queries
from robot_semantics.model.robot_model import RobotModel
from robot_semantics.model.semantics import Group
from robot_semantics.ros.node.group_state_services import GroupStateServices
from robot_semantics.ros.node.served_robot import ServedRobot
from robot_semantics.state.robot import RunningRobot

NO_ROBOT = "there is no robot description yet"

Answer = Callable[[RunningRobot, RosMessage], RosMessage]
"""Function from a robot and the request of a service to the response; `success` is set elsewhere."""


class GroupServices:
    """Offers the services of one robot below the node's name: ``~/get_group``, or ``~/MODEL/get_group``."""

    def __init__(self, served: ServedRobot, lock: RLock, tolerance: Callable[[], float]) -> None:
        """`tolerance` gives the largest difference for a matching state, if the request has none."""
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
            **GroupStateServices(served, lock, tolerance).table,
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
    found = list(robot.model.semantics.groups)
    if request.link:
        having = queries.groups_with_link(robot.model, request.link)
        found = [name for name in found if name in having]
    if request.joint:
        having = queries.groups_with_joint(robot.model, request.joint)
        found = [name for name in found if name in having]
    return srv.FindGroups.Response(groups=found)


def _list_end_effectors(robot: RunningRobot, request: srv.ListEndEffectors.Request) -> srv.ListEndEffectors.Response:
    stated = robot.model.semantics.srdf.end_effectors if robot.model.semantics.srdf is not None else ()
    as_written = {effector.name: effector.parent_group for effector in stated}
    found = [
        EndEffector(
            name=effector.name,
            group=effector.group,
            parent_link=effector.parent_link,
            parent_group=effector.parent_group,
            parent_inferred=as_written.get(effector.name) != effector.parent_group,
        )
        for effector in queries.end_effectors_of(robot.model, request.group or None)
    ]
    return srv.ListEndEffectors.Response(end_effectors=found)


def _list_passive_joints(robot: RunningRobot, request: srv.ListPassiveJoints.Request) -> srv.ListPassiveJoints.Response:
    semantics = robot.model.semantics
    joints = semantics.group(request.group).passive_joints if request.group else semantics.passive_joints
    return srv.ListPassiveJoints.Response(joints=list(joints))


def _get_virtual_joints(robot: RunningRobot, _request: srv.GetVirtualJoints.Request) -> srv.GetVirtualJoints.Response:
    root = robot.model.root_joint
    stated = sorted(robot.model.semantics.virtual_joints, key=lambda joint: joint.name != root.name)
    found = [
        VirtualJoint(
            name=joint.name,
            type=joint.type,
            parent_frame=robot.settings.virtual_joint(joint.name).parent_frame or joint.parent_frame,
            child_link=joint.child_link,
            variable_names=list(root.variable_names) if joint.name == root.name else [],
        )
        for joint in stated
    ]
    return srv.GetVirtualJoints.Response(virtual_joints=found)


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
