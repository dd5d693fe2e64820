# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""World states as ROS messages and back.

Poses become quaternions; what a message cannot hold, the engines' own states and foreign XML, stays in the USDF text
that the services give beside the message.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TypeVar

from robot_semantics_interfaces.msg import StateItem, WorldFrame, WorldJoint, WorldLink, WorldModel
from robot_semantics_interfaces.msg import WorldState as WorldStateMessage

from robot_semantics.kinematics.forward import ForwardKinematics
from robot_semantics.model.robot_model import RobotModel
from robot_semantics.ros.messages.maker import MAKER, pose_message, pose_of, row_of_twist, row_of_wrench
from robot_semantics.state.cdr import stamp_ns
from robot_semantics.state.report import RestoreItem
from robot_semantics.usdf.frames import without_parent_links
from robot_semantics.usdf.robot import with_carriers
from robot_semantics.usdf.world_state import WORLD, Frame, JointState, LinkState, ModelState, Pose, Vec6, WorldState

Placed = TypeVar("Placed", WorldModel, WorldFrame, WorldLink)


def world_to_message(
    state: WorldState,
    missing: Iterable[RestoreItem] = (),
    robots: Mapping[str, RobotModel | ForwardKinematics] | None = None,
) -> WorldStateMessage:
    """Return the message of a world state, everything relative to its parent's frame, and of what is `missing` of it.

    The joints of `robots`, by their models' names, place the links that carry something.

    Raises:
        NotStatedError: the pose of a link that carries something is neither stated nor follows.
    """
    links = {model.name: model.links for model in state.models}
    state = without_parent_links(with_carriers(state, robots or {}))
    state = replace(state, models=tuple(replace(model, links=links[model.name]) for model in state.models))
    message = WorldStateMessage(has_time=state.time_ns is not None, name=state.name or "")
    message.header.frame_id = WORLD
    if state.time_ns is not None:
        message.header.stamp = MAKER.time(state.time_ns)
    message.model_states = [_model_message(model) for model in state.models]
    message.frames = [_frame_message(frame) for frame in state.frames]
    message.missing = item_messages(missing)
    return message


def world_from_message(message: WorldStateMessage) -> WorldState:
    """Return the world state of a message."""
    return WorldState(
        name=message.name or None,
        models=tuple(_model(model) for model in message.model_states),
        frames=tuple(_frame(frame) for frame in message.frames),
        time_ns=stamp_ns(message.header.stamp) if message.has_time else None,
    )


def item_messages(items: Iterable[RestoreItem]) -> list[StateItem]:
    """Return the messages of what became of things, or of what is missing."""
    return [
        StateItem(kind=item.kind, model=item.model, name=item.name, code=_code(item), reason=item.detail, by=item.by)
        for item in items
    ]


def _code(item: RestoreItem) -> str:
    return item.code or ("derived" if item.derived else "taken" if item.done else "refused")


def note_messages(notes: Iterable[str]) -> list[StateItem]:
    """Return the messages of notes."""
    return item_messages(RestoreItem("", "", "", True, note, code="note") for note in notes)


def items_from_messages(messages: Iterable[StateItem], *, done: bool, by: str = "") -> list[RestoreItem]:
    """Return the items of messages; `by` is the simulator that sent them."""
    return [
        RestoreItem(
            message.kind,
            message.model,
            message.name,
            done,
            message.reason,
            derived=message.code == "derived",
            code=message.code,
            by=by or message.by,
        )
        for message in messages
    ]


def _model_message(model: ModelState) -> WorldModel:
    message = WorldModel(
        name=model.name,
        parent=model.parent,
        description=model.description or "",
        semantic=model.semantic or "",
        hash=model.urdf_sha256 or "",
        link_states=[_link_message(link) for link in model.links],
        joint_states=[_joint_message(joint) for joint in model.joints],
    )
    return _with_motion(message, model)


def _frame_message(frame: Frame) -> WorldFrame:
    return _with_motion(WorldFrame(name=frame.name, parent=frame.parent), frame)


def _link_message(link: LinkState) -> WorldLink:
    message = _with_motion(WorldLink(name=link.name), link)
    if link.wrench is not None:
        message.has_wrench, message.wrench = True, MAKER.wrench(link.wrench)
    return message


def _with_motion(message: Placed, item: ModelState | Frame | LinkState) -> Placed:
    if item.pose is not None:
        message.has_pose, message.pose = True, pose_message(item.pose)
    if item.twist is not None:
        message.has_twist, message.twist = True, MAKER.twist(item.twist)
    return message


def _joint_message(joint: JointState) -> WorldJoint:
    message = WorldJoint(name=joint.name)
    for kind in ("positions", "velocities", "torques"):
        values = getattr(joint, kind)
        if values is not None:
            setattr(message, f"has_{kind}", True)
            setattr(message, kind, list(values))
    return message


def _model(message: WorldModel) -> ModelState:
    return ModelState(
        name=message.name,
        parent=message.parent or WORLD,
        pose=_pose(message),
        twist=_twist(message),
        links=tuple(
            LinkState(link.name, _pose(link), _twist(link), row_of_wrench(link.wrench) if link.has_wrench else None)
            for link in message.link_states
        ),
        joints=tuple(_joint(joint) for joint in message.joint_states),
        description=message.description or None,
        semantic=message.semantic or None,
        urdf_sha256=message.hash or None,
    )


def _frame(message: WorldFrame) -> Frame:
    return Frame(message.name, message.parent or WORLD, _pose(message), _twist(message))


def _joint(message: WorldJoint) -> JointState:
    return JointState(
        message.name,
        positions=tuple(message.positions) if message.has_positions else None,
        velocities=tuple(message.velocities) if message.has_velocities else None,
        torques=tuple(message.torques) if message.has_torques else None,
    )


def _pose(message: Placed) -> Pose | None:
    return pose_of(message.pose) if message.has_pose else None


def _twist(message: Placed) -> Vec6 | None:
    return row_of_twist(message.twist) if message.has_twist else None
