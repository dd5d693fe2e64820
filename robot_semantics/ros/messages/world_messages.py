# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""World states as ROS messages and back.

Poses become quaternions. A message cannot hold the engines' own states and foreign XML; they are in the USDF text that
the services return with the message.

Also as JointState and MultiDOFJointState messages: each conversion lists the data that the message cannot hold. A state
without a time has the stamp zero in messages, and the reverse.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from robot_semantics_interfaces.msg import StateItem, WorldFrame, WorldJoint, WorldLink, WorldModel
from robot_semantics_interfaces.msg import WorldState as WorldStateMessage
from sensor_msgs.msg import JointState as JointStateMessage
from sensor_msgs.msg import MultiDOFJointState as MultiDOFJointStateMessage

from robot_semantics.base.errors import ArrayError
from robot_semantics.base.names import frame_name
from robot_semantics.base.nanoseconds import stamp_ns
from robot_semantics.cdr.generated_types import RosMessage
from robot_semantics.convert.conversion import Converted
from robot_semantics.kinematics.joint_space import JointSpace
from robot_semantics.kinematics.local import LocalTransforms
from robot_semantics.kinematics.motions import SUBSPACE
from robot_semantics.kinematics.observe import JointObserver
from robot_semantics.model.robot_model import JointModel, RobotModel
from robot_semantics.ros.messages.maker import (
    MAKER,
    matrix_from_message,
    pose_from_message,
    pose_message,
    row_of_twist,
    row_of_wrench,
)
from robot_semantics.simulation.world_spec import ModelSpec
from robot_semantics.transforms import invert, xyz_quat_from_matrix
from robot_semantics.transforms.arrays import FloatArray
from robot_semantics.transforms.pose import pose_from_matrix, pose_matrix, six, xyz_quat_of
from robot_semantics.usdf.fields import ElementField, ElementList, fields_of, lists_of
from robot_semantics.usdf.frames import without_parent_links
from robot_semantics.usdf.joint_values import joint_values, stated_velocities
from robot_semantics.usdf.restore_report import RestoreItem
from robot_semantics.usdf.robot import with_carriers
from robot_semantics.usdf.table import TWIST_VECTORS, USDF, WRENCH_VECTORS, FieldQuantity, ValueForm
from robot_semantics.usdf.world_state import WORLD, Frame, JointState, LinkState, ModelState, WorldState


def world_to_message(
    state: WorldState,
    missing: Iterable[RestoreItem] = (),
    robots: Mapping[str, RobotModel] | None = None,
) -> WorldStateMessage:
    """Return the message of a world state and its `missing` items; all poses are relative to the parent's frame.

    The joints of `robots`, by their models' names, give the poses of carrying links.

    Raises:
        NotStatedError: the pose of a carrying link is not stated and cannot be computed.
    """
    links = {model.name: model.links for model in state.models}
    state = without_parent_links(with_carriers(state, robots or {}))
    state = replace(state, models=tuple(replace(model, links=links[model.name]) for model in state.models))
    message = WorldStateMessage(has_time=state.time_ns is not None)
    message.header.frame_id = WORLD
    if state.time_ns is not None:
        message.header.stamp = MAKER.time(state.time_ns)
    message.missing = item_messages(missing)
    return _message_of(state, message)


def world_from_message(message: WorldStateMessage) -> WorldState:
    """Return the world state of a message."""
    time_ns = stamp_ns(message.header.stamp) if message.has_time else None
    return WorldState(**_values_of(message), time_ns=time_ns)


def item_messages(items: Iterable[RestoreItem]) -> list[StateItem]:
    """Return the messages of result items or missing items."""
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


class _Slot(NamedTuple):
    """A field of a message and the corresponding field of a value.

    Attributes:
        slot: the message's field.
        name: the value's field.
        stated: the message's field that is true if the value is stated. None for a text, which is empty if not stated.
        to_message: returns the content of the message's field.
        from_message: returns the value.
    """

    slot: str
    name: str
    stated: str | None
    to_message: Callable[[Any], object]
    from_message: Callable[[Any], object]


Codec = tuple[Callable[[Any], object], Callable[[Any], object]]
"""Functions from a value to the content of a message's field, and back."""


@cache
def _slots(
    kind: type[RosMessage], of: ElementList | None
) -> tuple[tuple[_Slot, ...], tuple[tuple[str, ElementList], ...]]:
    """Return the fields and the lists of an item, or of the world, that a message class has."""
    element = USDF.root if of is None else of.element
    field_types = kind.get_fields_and_field_types()
    slots = []
    for field in fields_of(element):
        slot = field.tag.rpartition(":")[2]
        if slot in field_types and slot != "name":
            stated = f"has_{slot}" if f"has_{slot}" in field_types else None
            slots.append(_Slot(slot, field.name, stated, *_codec(field)))
    lists = ((f"{items.tag.rpartition(':')[2]}s", items) for items in lists_of(element))
    return tuple(slots), tuple((slot, items) for slot, items in lists if slot in field_types)


def _message_of(value: Any, message: RosMessage, of: ElementList | None = None) -> RosMessage:
    """Fill a message with the fields and lists that its class has, of an item or, without a list, of the world."""
    message_type = type(message)
    slots, lists = _slots(message_type, of)
    message.name = value.name or ""
    for slot, name, stated, to_message, _ in slots:
        content = getattr(value, name)
        if content is not None:
            if stated is not None:
                setattr(message, stated, True)
            setattr(message, slot, to_message(content))
    for slot, items in lists:
        make = MESSAGES[items.quantity.type]
        setattr(message, slot, [_message_of(item, make(), items) for item in getattr(value, items.field)])
    return message


def _values_of(message: RosMessage, of: ElementList | None = None) -> dict[str, Any]:
    """Return the fields and lists of a message as arguments of the class of the item, or of the world."""
    message_type = type(message)
    slots, lists = _slots(message_type, of)
    values: dict[str, Any] = {"name": message.name if of else message.name or None}
    for slot, name, stated, _, from_message in slots:
        content = getattr(message, slot)
        if content if stated is None else getattr(message, stated):
            values[name] = from_message(content)
    for slot, items in lists:
        make: Any = items.quantity.type
        values[items.field] = tuple(make(**_values_of(item, items)) for item in getattr(message, slot))
    return values


def _codec(field: ElementField) -> Codec:
    """Return the conversions of a field to the content of a message's field, and back."""
    return CODECS.get(field.quantity, CODECS.get(field.quantity.form, (_listed, _tupled)))


def _listed(content: object) -> object:
    return list(content) if isinstance(content, tuple) else content


def _tupled(content: Any) -> Any:
    return content if isinstance(content, str | int | float) else tuple(content)


MESSAGES: dict[type | None, Callable[[], RosMessage]] = {
    ModelState: WorldModel,
    Frame: WorldFrame,
    LinkState: WorldLink,
    JointState: WorldJoint,
}
"""The message of each item of a world state."""

CODECS: dict[FieldQuantity | ValueForm, Codec] = {
    ValueForm.POSE: (pose_message, pose_from_message),
    TWIST_VECTORS: (MAKER.twist, row_of_twist),
    WRENCH_VECTORS: (MAKER.wrench, row_of_wrench),
}
"""How quantities become message fields, and back; other values go as they are, tuples as lists."""


_ARRAYS = (("positions", "position"), ("velocities", "velocity"), ("torques", "effort"))


def to_joint_state(state: ModelState, time_ns: int | None = None) -> Converted[JointStateMessage]:
    """Return the JointState of a model's joints with one degree of freedom; NaN for values that a joint does not
    have.
    """
    message, omissions = JointStateMessage(), _beside_joints(state)
    message.header.stamp = MAKER.time(time_ns or 0)
    chosen = []
    for joint in state.joints:
        counts = {len(row) for row in (joint.positions, joint.velocities, joint.torques) if row is not None}
        if counts <= {1}:
            chosen.append(joint)
        else:
            omissions.append(f"joint '{joint.name}', which has {max(counts)} values")
    message.name = [joint.name for joint in chosen]
    for ours, theirs in _ARRAYS:
        rows = [getattr(joint, ours) for joint in chosen]
        if any(row is not None for row in rows):
            setattr(message, theirs, [math.nan if row is None else row[0] for row in rows])
    return Converted(message, tuple(omissions))


def from_joint_state(message: JointStateMessage, name: str) -> Converted[ModelState]:
    """Return the state of the model `name` of a JointState; NaN values are not stated.

    Raises:
        ArrayError: an array has another length than the names, or a value is infinite.
    """
    rows: dict[str, list[tuple[float, ...] | None]] = {}
    for ours, theirs in _ARRAYS:
        values = list(getattr(message, theirs))
        if values and len(values) != len(message.name):
            raise ArrayError(theirs, f"there are {len(values)} values for {len(message.name)} joints")
        if any(map(math.isinf, values)):
            raise ArrayError(theirs, "a value is infinite")
        values = values or [math.nan] * len(message.name)
        rows[ours] = [None if math.isnan(value) else (value,) for value in values]
    if len(set(message.name)) < len(message.name):
        raise ArrayError("name", "a joint is named twice")
    lost = (f"the frame '{message.header.frame_id}'",) if message.header.frame_id else ()
    columns = zip(message.name, rows["positions"], rows["velocities"], rows["torques"], strict=True)
    return Converted(ModelState(name, joints=tuple(JointState(*column) for column in columns)), lost)


def to_multi_dof_joint_state(
    state: ModelState, robot: RobotModel, time_ns: int | None = None
) -> Converted[MultiDOFJointStateMessage]:
    """Return the MultiDOFJointState of a robot's planar and floating joints, a virtual root joint included.

    A joint's transform is its motion from the joint frame, as in MoveIt; twist and wrench are in the axes of this
    frame. The frame of the message is the parent frame of the model.
    """
    message, omissions = MultiDOFJointStateMessage(), _beside_joints(state, pose=robot.root_joint.position_count > 1)
    message.header.stamp = MAKER.time(time_ns or 0)
    message.header.frame_id = state.parent
    space = JointSpace.of(robot)
    values = joint_values(state, space)
    local = LocalTransforms(robot).matrices(values.q)
    stated = {joint.name: joint for joint in state.joints}
    twists: list[FloatArray | None] = []
    wrenches: list[FloatArray | None] = []
    for joint in robot.joints:
        if joint.position_count <= 1 or not (joint.name in values.positions_of or (joint.virtual and state.pose)):
            if joint.name in stated:
                omissions.append(f"joint '{joint.name}', which is {joint.type.value}")
            continue
        T_parent_child = pose_matrix(state.pose) if joint.virtual else local[joint.index]
        message.joint_names.append(joint.name)
        message.transforms.append(
            MAKER.transform(xyz_quat_from_matrix(invert(joint.T_parent_joint) @ T_parent_child).tolist())
        )
        if joint.virtual:
            twists.append(None if state.twist is None else np.array(state.twist))
            wrenches.append(None)
            continue
        said = stated.get(joint.name, JointState(joint.name))
        velocity = stated_velocities(joint, said)
        effort = stated_velocities(joint, JointState(joint.name, velocities=said.torques))
        twists.append(None if velocity is None else _unit_twists(joint) @ velocity)
        wrenches.append(None if effort is None else _unit_twists(joint) @ effort)
    message.twist = [MAKER.twist(row) for row in _of_all(twists, message.joint_names, "twist", omissions)]
    message.wrench = [MAKER.wrench(row) for row in _of_all(wrenches, message.joint_names, "torques", omissions)]
    return Converted(message, tuple(omissions))


def _of_all(
    rows: Sequence[FloatArray | None], names: Sequence[str], what: str, omissions: list[str]
) -> list[list[float]]:
    """Return the rows if every joint has one, else none: an array of the message is for all joints or empty."""
    found = [row.tolist() for row in rows if row is not None]
    if len(found) == len(rows):
        return found
    omissions.extend(f"the {what} of '{name}'" for name, row in zip(names, rows, strict=True) if row is not None)
    return []


def from_multi_dof_joint_state(
    message: MultiDOFJointStateMessage, robot: RobotModel, name: str | None = None
) -> Converted[ModelState]:
    """Return the state of a robot of a MultiDOFJointState.

    Raises:
        ArrayError: the arrays have different lengths, a transform is not finite, or a joint cannot have it.
    """
    count = len(message.joint_names)
    for word in ("transforms", "twist", "wrench"):
        if len(getattr(message, word)) != count and (word == "transforms" or getattr(message, word)):
            raise ArrayError(word, f"there are {len(getattr(message, word))} for {count} joints")
    space, omissions, joints = JointSpace.of(robot), [], []
    state = ModelState(robot.name if name is None else name, parent=frame_name(message.header.frame_id) or WORLD)
    for row, joint_name in enumerate(message.joint_names):
        index = robot.joint_index.get(joint_name)
        if index is None or robot.joints[index].position_count <= 1:
            omissions.append(f"joint '{joint_name}', which the robot does not have as a planar or floating one")
            continue
        joint = robot.joints[index]
        T_parent_child = joint.T_parent_joint @ matrix_from_message(message.transforms[row])
        twist = np.array(row_of_twist(message.twist[row])) if message.twist else None
        wrench = np.array(row_of_wrench(message.wrench[row])) if message.wrench else None
        if joint.virtual:
            state = replace(state, pose=pose_from_matrix(T_parent_child), twist=None if twist is None else six(twist))
            continue
        observer = JointObserver(robot, [joint_name])
        q = observer.positions(T_parent_child[np.newaxis])
        joints.append(
            JointState(
                joint_name,
                tuple(q[space.joint_positions[joint_name]].tolist()),
                None if twist is None else tuple((_unit_twists(joint).T @ twist).tolist()),
                None if wrench is None else tuple((_unit_twists(joint).T @ wrench).tolist()),
            )
        )
    return Converted(replace(state, joints=tuple(joints)), tuple(omissions))


def _unit_twists(joint: JointModel) -> FloatArray:
    """Return (6, n) the twist of a unit rate of each velocity component, in the axes of the joint frame."""
    return np.concatenate(SUBSPACE[joint.type](joint))


def _beside_joints(state: ModelState, *, pose: bool = False) -> list[str]:
    """Return the data of a model that joint messages cannot hold."""
    omissions = []
    if state.links:
        omissions.append(f"the states of {len(state.links)} links")
    if not pose and (state.pose is not None or state.twist is not None):
        omissions.append("where the model is, and how it moves")
    if state.description is not None or state.semantic is not None or state.urdf_sha256 is not None:
        omissions.append("which robot it is (rs:description, rs:semantic, rs:hash)")
    return omissions


def joint_state_message(spec: ModelSpec, model: ModelState) -> JointStateMessage:
    """Return the joint states of one model; values of a planar or floating joint have MoveIt's variable names."""
    names: list[str] = []
    positions: list[float] = []
    velocities: list[float] = []
    efforts: list[float] = []
    for joint in model.joints:
        names += spec.robot.joint(joint.name).variable_names
        positions += joint.positions or ()
        velocities += joint.velocities or ()
        efforts += joint.torques or ()
    if len(velocities) != len(positions):
        # A floating joint has six rates for seven variables; this message has no place for them.
        velocities, efforts = [], []
    return JointStateMessage(name=names, position=positions, velocity=velocities, effort=efforts)


def base_state_message(spec: ModelSpec, model: ModelState) -> MultiDOFJointStateMessage:
    """Return the root joint's state of one model: pose and twist relative to the parent, in the parent's axes."""
    message = MultiDOFJointStateMessage(joint_names=[spec.root_joint.name])
    message.header.frame_id = model.parent
    if model.pose is not None:
        message.transforms = [MAKER.transform(xyz_quat_of(model.pose))]
    if model.twist is not None:
        message.twist = [MAKER.twist(model.twist)]
    return message
