# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Changes to a world state: a pose, a joint, a named state of the robot; the links follow the joints.

An engine state does not fit an edited world, and would undo the edit in a simulator. So it is omitted, with a warning.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

import numpy as np

from robot_semantics.base.diagnostic import SourcePlace
from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.base.errors import ArrayError, UnknownNameError
from robot_semantics.base.names import quoted
from robot_semantics.kinematics.forward import ForwardKinematics, kinematics_of
from robot_semantics.kinematics.joint_space import JointSpace, followings
from robot_semantics.kinematics.loops import close_loops
from robot_semantics.model.joint_types import JointType
from robot_semantics.model.robot_model import RobotModel
from robot_semantics.transforms import invert, transform_distance
from robot_semantics.transforms.arrays import FloatArray, checked_array
from robot_semantics.transforms.pose import Pose, Vec6, pose_from_matrix, six
from robot_semantics.usdf.apply import apply_model_state, resolve_with
from robot_semantics.usdf.commands import COMMANDS, without_models
from robot_semantics.usdf.frames import resolve_frames, taken_as_world
from robot_semantics.usdf.joint_values import closed_values, joint_values, position_counts, stated_positions
from robot_semantics.usdf.recover import recover_joints
from robot_semantics.usdf.restore_report import TOLERANCE
from robot_semantics.usdf.robot import rederive_links, with_carriers
from robot_semantics.usdf.validity import SOURCE, element_path
from robot_semantics.usdf.world_state import (
    SEPARATOR,
    WORLD,
    EngineState,
    Frame,
    JointState,
    ModelState,
    WorldState,
    carrier_of,
)

_Placed = TypeVar("_Placed", ModelState, Frame)


def set_pose(
    state: WorldState, name: str, pose: Pose | None = None, *, parent: str | None = None, twist: Vec6 | None = None
) -> WorldState:
    """Return `state` with another pose, parent or twist of a model or frame; None keeps the old value.

    A parent is a model or frame, or a link that carries it: ``model::link``.

    Raises:
        UnknownNameError: the model, the frame or the parent does not exist.
    """
    name, names = state.body_name(name), [item.name for item in state.bodies]
    if name not in names:
        raise UnknownNameError("model or frame", name, names)
    above = None if parent is None else _carrier(state, parent)

    def moved(item: _Placed) -> _Placed:
        return replace(
            item,
            pose=item.pose if pose is None else pose,
            parent=item.parent if above is None else above[0],
            parent_link=item.parent_link if above is None else above[1],
            twist=item.twist if twist is None else twist,
            # A new pose is of the state's time, so its age is removed; a new twist alone keeps the age.
            age_ns=item.age_ns if pose is None and above is None else None,
        )

    return replace(
        state,
        models=tuple(moved(model) if model.name == name else model for model in state.models),
        frames=tuple(moved(frame) if frame.name == name else frame for frame in state.frames),
    )


def removed(state: WorldState, name: str) -> WorldState:
    """Return `state` without a model or frame.

    Raises:
        UnknownNameError: the model or frame does not exist.
        ArrayError: another body is attached to it.
    """
    name, names = state.body_name(name), [item.name for item in state.bodies]
    if name not in names:
        raise UnknownNameError("model or frame", name, names)
    carried = [item.name for item in state.bodies if item.parent == name]
    if carried:
        raise ArrayError(name, f"it carries {quoted(carried)}: remove these first, or give them another parent")
    return replace(
        state,
        models=tuple(model for model in state.models if model.name != name),
        frames=tuple(frame for frame in state.frames if frame.name != name),
    )


def _carrier(state: WorldState, parent: str) -> tuple[str, str | None]:
    """Return the model or frame of a parent's name, and the link of the model, if any."""
    parent, names = state.body_name(parent), (WORLD, *(item.name for item in state.bodies))
    if parent in names:
        return parent, None
    for model in state.models:
        link = parent.removeprefix(f"{model.name}{SEPARATOR}")
        if link not in ("", parent):
            return model.name, link
    raise UnknownNameError("parent", parent, names)


def set_joints(
    state: WorldState,
    model: str,
    positions: Mapping[str, Sequence[float]],
    robot: RobotModel | None = None,
    *,
    diagnostics: Diagnostics | None = None,
) -> WorldState:
    """Return `state` with new `positions` of a model's joints; if its robot is known, mimic joints and stated links
    follow.

    A mimic joint sets its leader. The positions of the virtual joint are converted to the model's pose in its parent.
    Joints that are not stated keep the positions that the links give. Links that cannot follow are removed, with a
    warning.

    Args:
        state: the state.
        model: the model's name.
        positions: by joint: one number [rad, m], x y theta, or x y z and a quaternion or rpy.
        robot: the model's robot. Without it, the model must not have link poses, because they would become wrong.
        diagnostics: collects the warnings.

    Raises:
        UnknownNameError: the model or a joint does not exist.
        ArrayError: a joint has another number of values, positions disagree (`JointSpace.pack`), links cannot follow,
            or the virtual joint's parent frame is attached to the model.
    """
    changed = state.model(model)
    values = {joint: tuple(checked_array(joint, list(row)).tolist()) for joint, row in positions.items()}
    if robot is None:
        changed = _without_robot(changed, values)
    else:
        kinematics = kinematics_of(robot)
        q, moved_joints = _moved(kinematics.space, values)
        if robot.root_joint.name in moved_joints:
            # A virtual joint has no joint state: it is the model's own pose.
            del moved_joints[robot.root_joint.name]
            frame, T_frame_root = robot.root_joint.parent_link or WORLD, kinematics.T_parent_root(q)
            state = _put_root(state, changed, frame, T_frame_root, diagnostics)
            changed = state.model(model)
        changed = _with_robot(changed, moved_joints, kinematics, diagnostics)
    return replace(state, models=tuple(changed if item.name == model else item for item in state.models))


def set_named_state(
    state: WorldState,
    model: str,
    group: str,
    name: str,
    robot: RobotModel,
    *,
    diagnostics: Diagnostics | None = None,
) -> WorldState:
    """Return `state` with a model's joints in a named state of its robot's SRDF.

    Raises:
        UnknownNameError: the model, the group or the state does not exist.
        ArrayError: as for `set_joints`.
    """
    rows = robot.semantics.state(group, name).positions
    return set_joints(state, model, rows, robot, diagnostics=diagnostics)


def _put_root(
    state: WorldState, model: ModelState, frame: str, T_frame_root: FloatArray, diagnostics: Diagnostics | None
) -> WorldState:
    """Return `state` with a model's root link at a pose in a frame of the world; its parent does not change."""
    if model.parent != frame or model.parent_link is not None:
        world = resolve_frames(state)
        if frame not in world.index and diagnostics is not None:
            place = SourcePlace(SOURCE, path=element_path(model))
            diagnostics.note("unplaced-frame", f"model '{model.name}': {taken_as_world(frame)}", place)
        frame = world.frame_or_world(frame)
        if model.name in world.path(frame):
            raise ArrayError(model.name, f"'{frame}', its parent frame, is on the model itself")
        T_frame_root = invert(world.pose(carrier_of(model), frame)) @ T_frame_root
    return set_pose(state, model.name, pose_from_matrix(T_frame_root))


def without_engines(
    state: WorldState, diagnostics: Diagnostics | None = None, *, commanded: Collection[str] = ()
) -> WorldState:
    """Return an edited state without the engine states that are wrong after the edit, each with a warning.

    The joint commands of the models `commanded`, whose joints are not edited, stay.
    """
    engines: list[EngineState] = []
    for engine in state.engines:
        others = {model.name for model in state.models} - {*commanded}
        left = without_models(engine, others) if engine.name == COMMANDS and commanded else None
        engines += [] if left is None else [left]
        if left != engine and diagnostics is not None:
            what = "the engine state" if left is None else "a part of the engine state"
            message = f"{what} of '{engine.name}' is of the world before the edit; it is left out"
            diagnostics.warning("left-out", message, SourcePlace(SOURCE, path=element_path(engine)))
    return replace(state, engines=tuple(engines))


def _without_robot(model: ModelState, values: Mapping[str, tuple[float, ...]]) -> ModelState:
    if any(link.pose is not None for link in model.links):
        raise ArrayError(model.name, "its links have poses that would no longer match the joints: give the robot")
    for name, row in values.items():
        before = model.joint(name).positions
        if before is not None and len(before) != len(row):
            raise ArrayError(name, f"it has {len(before)} positions, not {len(row)}")
    return _with_positions(model, values)


def _with_robot(
    model: ModelState,
    moved_joints: Mapping[str, tuple[float, ...]],
    kinematics: ForwardKinematics,
    diagnostics: Diagnostics | None,
) -> ModelState:
    robot = kinematics.model
    recovered, _ = recover_joints(model, robot)
    if robot.constraints:
        moved_joints = {**moved_joints, **_in_loops(recovered, moved_joints, kinematics)}
    behind = _links_behind(robot, moved_joints)
    following = tuple(link for link in model.links if link.name in behind)
    changed = rederive_links(_with_positions(replace(recovered, links=following), moved_joints), robot, diagnostics)
    followed = {link.name: link for link in changed.links}
    stated = {joint.name for joint in model.joints} | moved_joints.keys()
    return replace(
        changed,
        links=tuple(followed.get(link.name, link) for link in model.links),
        joints=tuple(joint for joint in changed.joints if joint.name in stated),
    )


def _in_loops(
    model: ModelState, moved_joints: Mapping[str, tuple[float, ...]], kinematics: ForwardKinematics
) -> dict[str, tuple[float, ...]]:
    """Return the positions of passive joints, and of their followers, that close the loops after a change.

    Raises:
        OpenLoopError: the loops do not close, or need another position of a changed joint.
    """
    loops, space = kinematics.loops, kinematics.space
    before, after = joint_values(model, space), joint_values(_with_positions(model, moved_joints), space)
    closed, found = closed_values(loops, after)
    if loops is None or found is None:
        return {}
    q = close_loops(loops, after.q, moved_joints.keys(), before.q)
    names = closed.positions_of - after.positions_of | set(loops.dependent)
    return {
        joint.name: tuple(q[space.positions_of(joint)].tolist())
        for joint in space.joints
        if joint.name in names & closed.positions_of
    }


def _links_behind(robot: RobotModel, joints: Collection[str]) -> set[str]:
    """Return the links that move with one of the joints."""
    behind: set[str] = set()
    for link, joint in zip(robot.links[1:], robot.joints[1:], strict=True):
        if joint.name in joints or joint.parent_link in behind:
            behind.add(link.name)
    return behind


def _moved(
    space: JointSpace, values: Mapping[str, tuple[float, ...]]
) -> tuple[FloatArray, dict[str, tuple[float, ...]]]:
    """Return (size,) positions with `values`, and the positions of these joints, their leaders and their followers."""
    rows: dict[str, FloatArray] = {}
    for name, row in values.items():
        if name not in space.joint_positions:
            raise UnknownNameError("moving joint", name, space.joint_positions)
        joint = space.model.joint(name)
        if len(row) not in position_counts(joint):
            counts = " or ".join(map(str, position_counts(joint)))
            raise ArrayError(name, f"a {joint.type.value} joint has {counts} positions, not {len(row)}")
        position = stated_positions(joint, JointState(name, row))
        if position is None:
            raise ArrayError(name, "its quaternion is all zeros")
        rows[name] = position
    q = space.pack(rows)
    leaders = {joint.name: leader.name for joint, leader, _ in followings(space.model)}
    moving = rows.keys() | {leaders[name] for name in rows if name in leaders}
    moving |= {name for name, leader in leaders.items() if leader in moving}
    moved = {joint.name: tuple(q[space.positions_of(joint)].tolist()) for joint in space.joints if joint.name in moving}
    # Values given as roll, pitch and yaw stay in this form.
    return q, {**moved, **{name: row for name, row in values.items() if len(row) != len(rows[name])}}


def _with_positions(model: ModelState, values: Mapping[str, tuple[float, ...]]) -> ModelState:
    stated = {joint.name for joint in model.joints}
    joints = [
        replace(joint, positions=values[joint.name], age_ns=None) if joint.name in values else joint
        for joint in model.joints
    ]
    joints.extend(JointState(name, row) for name, row in values.items() if name not in stated)
    return replace(model, joints=tuple(joints))


# Changes of poses in a world state that need its robots: a new parent at the same place, and a checked pose.


def reparented(state: WorldState, name: str, parent: str, robots: Mapping[str, RobotModel]) -> WorldState:
    """Return `state` with another parent of a model or frame, at the same place: pose and twist are re-expressed.

    Args:
        state: the state.
        name: the model or frame.
        parent: a model or frame, or a link that carries it: ``model::link``.
        robots: robots by their models' names; their joints give the poses of carrying links.

    Raises:
        UnknownNameError: the model, the frame or the parent does not exist.
        ArrayError: its pose is not stated, or it carries the new parent.
        NotStatedError: the pose of the link that carries it is not stated and cannot be computed.
    """
    result = set_pose(state, name, parent=parent)
    (body,) = (item for item in result.bodies if item.name == name)
    if body.pose is None:
        raise ArrayError(name, "its pose is not stated, so its place cannot be kept")
    world = resolve_frames(with_carriers(state, robots, also=(body.parent,)))
    above = carrier_of(body)
    if name in world.path(above):
        raise ArrayError(name, f"'{above}' is on it")
    twist = None if body.twist is None else world.relative_twists((name,), above)[0]
    if twist is not None and np.isnan(twist).any():
        raise ArrayError(name, f"how '{above}' moves is not stated, so its twist there is unknown")
    pose = pose_from_matrix(world.pose(name, above))
    return set_pose(result, name, pose, twist=None if twist is None else six(twist))


def pose_refusal(state: WorldState, name: str, robot: RobotModel, before: WorldState | None = None) -> str | None:
    """Return why a command may not give a model the pose that it has in `state`, with the amount; None if it may.

    A planar virtual joint takes poses in its plane. A fixed one takes the pose of its parent frame, and the place where
    the robot is mounted: the pose that the model had `before`, or any pose in a new world. A robot without a virtual
    joint can stand anywhere.
    """
    if not robot.has_virtual_joint:
        return None
    world = resolve_with(state, robots={name: robot})
    applied = apply_model_state(state.model(name), world, robot)
    refusal = next((str(item) for item in applied.refused if item.kind == "pose"), None)
    if refusal is None or robot.root_joint.type is not JointType.FIXED:
        return refusal
    if before is None:
        return None
    frame = robot.root_joint.parent_link
    mounts = [
        found.pose(name, found.frame_or_world(frame)) for found in (world, resolve_with(before, robots={name: robot}))
    ]
    off, turned = (float(amount) for amount in transform_distance(*mounts))
    if max(off, turned) <= TOLERANCE:
        return None
    return f"{refusal}, and {off:.6g} m and {turned:.6g} rad away from where it is mounted"
