# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""World states as the state vectors of other programs: joints in their order, numbers in their layout."""

from __future__ import annotations

from collections.abc import Mapping
from io import BytesIO

import numpy as np
import numpy.typing as npt

from robot_semantics.base.errors import RobotSemanticsError
from robot_semantics.base.record import record
from robot_semantics.convert.conversion import Converted
from robot_semantics.kinematics.joint_orders import (
    Component,
    JointOrder,
    has_free_base,
    joint_order,
    ordered_joints,
    position_components,
    velocity_components,
)
from robot_semantics.kinematics.joint_space import JointSpace
from robot_semantics.model.joint_types import JointType
from robot_semantics.model.robot_model import JointModel, RobotModel
from robot_semantics.transforms import matrix_from_quat, xyz_quat_from_matrix
from robot_semantics.transforms.arrays import FloatArray
from robot_semantics.usdf.frames import NotStatedError, ResolvedWorld, resolve_frames
from robot_semantics.usdf.joint_values import joint_values
from robot_semantics.usdf.recover import recover_joints
from robot_semantics.usdf.robot import complete_models
from robot_semantics.usdf.world_state import ModelState, WorldState


@record(frozen=True, eq=False)
class StateVector:
    """The state of one model as a program has it; NaN where the world state does not state a value.

    Attributes:
        joints: names of the moving joints, in the program's order.
        positions: (n,) with a name and a unit each in `position_components`.
        velocities: (m,) likewise.
        base_position: (7,) the pose of the root link in the world; the quaternion is in the program's order.
        base_velocity: (6,) its velocity, in the program's order and axes.
    """

    joints: tuple[str, ...]
    positions: FloatArray
    position_components: tuple[Component, ...]
    velocities: FloatArray
    velocity_components: tuple[Component, ...]
    base_position: FloatArray
    base_velocity: FloatArray


def state_vectors(world: WorldState, robots: Mapping[str, RobotModel], order: str) -> Converted[dict[str, StateVector]]:
    """Return the state vector of each model, by its name.

    Args:
        world: the state.
        robots: the robots of the models, by the models' names; models without a robot have no vector.
        order: name of the joint order.

    Raises:
        UnknownNameError: the order does not exist.
        RobotSemanticsError: no robot is known, or the program has no joint of one of its types.
    """
    convention = joint_order(order)
    if not robots:
        raise RobotSemanticsError("state vectors need the robot: name its URDF with --urdf")
    resolved = resolve_frames(complete_models(world, robots))
    vectors: dict[str, StateVector] = {}
    lost_items = []
    for model in world.models:
        if model.name not in robots:
            lost_items.append(f"model '{model.name}': its robot is not known")
            continue
        robot = robots[model.name]
        for joint in ordered_joints(robot, convention):
            reason = _unsupported(joint, convention)
            if reason is not None:
                raise RobotSemanticsError(f"joint '{joint.name}' of '{model.name}': {order} has no joint of {reason}")
        vector = _vector(model, robot, convention, resolved)
        vectors[model.name] = vector
        missing = _missing(vector)
        if missing:
            lost_items.append(f"model '{model.name}': not stated, so NaN: {', '.join(missing)}")
    return Converted(vectors, tuple(lost_items))


def npz_bytes(vectors: Mapping[str, StateVector], order: str, time_ns: int | None) -> bytes:
    """Return state vectors as the content of an ``.npz`` file."""
    arrays: dict[str, npt.NDArray[np.generic]] = {
        "order": np.array(order),
        "quaternion": np.array(joint_order(order).quaternion),
        "models": np.array(list(vectors), dtype=np.str_),
    }
    if time_ns is not None:
        arrays["time_ns"] = np.array(time_ns)
    for name, vector in vectors.items():
        arrays |= {
            f"{name}/joints": np.array(vector.joints, dtype=np.str_),
            f"{name}/positions": vector.positions,
            f"{name}/position_names": np.array([part.name for part in vector.position_components], dtype=np.str_),
            f"{name}/position_units": np.array([part.unit for part in vector.position_components], dtype=np.str_),
            f"{name}/velocities": vector.velocities,
            f"{name}/velocity_names": np.array([part.name for part in vector.velocity_components], dtype=np.str_),
            f"{name}/velocity_units": np.array([part.unit for part in vector.velocity_components], dtype=np.str_),
            f"{name}/base_position": vector.base_position,
            f"{name}/base_velocity": vector.base_velocity,
        }
    file = BytesIO()
    np.savez(file, **arrays)  # type: ignore[arg-type]  # numpy's types take an array for its option `allow_pickle`
    return file.getvalue()


def _unsupported(joint: JointModel, order: JointOrder) -> str | None:
    """Return in words which kind of joint the program does not have, None if it has this one."""
    if joint.type in order.missing:
        return f"type {joint.type.value}"
    if joint.type is JointType.PLANAR and order.walk != "document" and not np.array_equal(joint.axis, (0.0, 0.0, 1.0)):
        return "type planar with an axis other than +Z"
    return None


def _vector(model: ModelState, robot: RobotModel, order: JointOrder, world: ResolvedWorld) -> StateVector:
    space = JointSpace.of(robot)
    values = joint_values(recover_joints(model, robot)[0], space)
    q, v = values.q, values.v
    positions: list[FloatArray] = []
    velocities: list[FloatArray] = []
    names: list[Component] = []
    rates: list[Component] = []
    base, moving = _base(model, world)
    if order.base_in_vector and has_free_base(robot):
        positions.append(_positions(JointType.FLOATING, base, order, limited=False))
        velocities.append(_velocities(JointType.FLOATING, base, moving, order))
        names += position_components(robot.root_joint, order)
        rates += velocity_components(robot.root_joint, order)
    joints = ordered_joints(robot, order)
    for joint in joints:
        known = joint.name in values.positions_of
        position = q[space.positions_of(joint)] if known else np.full(joint.position_count, np.nan)
        known = joint.name in values.velocities_of
        velocity = v[space.velocities_of(joint)] if known else np.full(joint.velocity_count, np.nan)
        positions.append(_positions(joint.type, position, order, limited=joint.motion.limited))
        velocities.append(_velocities(joint.type, position, velocity, order))
        names += position_components(joint, order)
        rates += velocity_components(joint, order)
    return StateVector(
        tuple(joint.name for joint in joints),
        np.concatenate([np.zeros(0), *positions]),
        tuple(names),
        np.concatenate([np.zeros(0), *velocities]),
        tuple(rates),
        _positions(JointType.FLOATING, base, order, limited=False),
        _velocities(JointType.FLOATING, base, moving, order),
    )


def _base(model: ModelState, world: ResolvedWorld) -> tuple[FloatArray, FloatArray]:
    """Return (7,) x y z and quaternion x y z w of the root link in the world and its (6,) velocity; NaN if unknown."""
    if model.pose is None:
        return np.full(7, np.nan), np.full(6, np.nan)
    try:
        twist = np.array(world.twist(model.name))
    except NotStatedError:
        twist = np.full(6, np.nan)
    return xyz_quat_from_matrix(world.pose(model.name)), twist


def _positions(kind: JointType, position: FloatArray, order: JointOrder, *, limited: bool) -> FloatArray:
    """Return a joint's position in the layout of `order`; `position` has the layout of joint space."""
    if kind is JointType.FLOATING:
        quaternion = position[3:] if order.quaternion == "xyzw" else np.roll(position[3:], 1)
        parts = (quaternion, position[:3]) if order.quaternion_first else (position[:3], quaternion)
        return np.concatenate(parts)
    if order.cos_sin and not limited and kind is not JointType.PRISMATIC:
        return np.array([*position[:-1], np.cos(position[-1]), np.sin(position[-1])])
    return position


def _velocities(kind: JointType, position: FloatArray, velocity: FloatArray, order: JointOrder) -> FloatArray:
    """Return a joint's velocity as the program has it; `position` and `velocity` are as joint space has them."""
    if kind is JointType.FLOATING:
        to_child = matrix_from_quat(position[3:]).T if np.isfinite(position).all() else np.full((3, 3), np.nan)
        linear = to_child @ velocity[:3] if order.linear_in_child else velocity[:3]
        angular = to_child @ velocity[3:] if order.angular_in_child else velocity[3:]
        return np.concatenate((angular, linear) if order.angular_first else (linear, angular))
    if kind is JointType.PLANAR and order.linear_in_child:
        cos, sin = np.cos(position[2]), np.sin(position[2])
        vx, vy, rate = velocity
        return np.array([cos * vx + sin * vy, cos * vy - sin * vx, rate])
    return velocity


def _missing(vector: StateVector) -> list[str]:
    """Return the names of the positions that are not stated, and whether velocities are."""
    names = [
        part.name for part, value in zip(vector.position_components, vector.positions, strict=True) if np.isnan(value)
    ]
    if np.isnan(vector.base_position).any():
        names.append("the pose of the root link")
    if np.isnan(vector.velocities).any():
        names.append("velocities")
    return names
