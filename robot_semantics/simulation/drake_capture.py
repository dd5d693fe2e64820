"""A Drake plant's numbers to and from a robot's joints, and to a world state through Drake's own kinematics."""

from __future__ import annotations

from typing import Any

import numpy as np

from robot_semantics.model.joint_types import JointType
from robot_semantics.simulation.drake_builder import DrakeWorld
from robot_semantics.simulation.link_states import link_states, pose_of
from robot_semantics.transforms.arrays import FloatArray
from robot_semantics.usdf.frames import ResolvedWorld
from robot_semantics.usdf.poses import six
from robot_semantics.usdf.world_state import JointState, ModelState

FLOATING_Q, FLOATING_V = [4, 5, 6, 1, 2, 3, 0], [3, 4, 5, 0, 1, 2]
"""Where x y z qx qy qz qw, and linear before angular, are in Drake's qw qx qy qz x y z, and angular before linear."""


def capture_model(world: DrakeWorld, name: str, context: Any, placed: ResolvedWorld, digest: str | None) -> ModelState:
    """Return the state of one robot in a plant's context; forces are not stated."""
    plant, model = world.plant, world.models[name]
    spec = model.spec
    T_world_link = [plant.EvalBodyPoseInWorld(context, body) for body in model.bodies]
    motion = [plant.EvalBodySpatialVelocityInWorld(context, body) for body in model.bodies]
    R = np.array([T.rotation().matrix() for T in T_world_link])
    xyz = np.array([T.translation() for T in T_world_link])
    linear = np.array([velocity.translational() for velocity in motion])
    angular = np.array([velocity.rotational() for velocity in motion])
    T_world_parent = placed.pose(spec.parent_frame)
    R_parent_world = T_world_parent[:3, :3].T
    q, v = unit_positions(world, plant.GetPositions(context)), plant.GetVelocities(context)
    exact = None
    if spec.root_type is JointType.FLOATING and np.array_equal(T_world_parent, np.eye(4)):
        exact = joint_part(q, model.root, "position")[FLOATING_Q][3:]  # as it is, to the last bit
    joints = []
    for joint_name, joint in model.joints.items():
        positions, velocities = joint_part(q, joint, "position"), joint_part(v, joint, "velocity")
        if len(positions) == len(FLOATING_Q):
            positions, velocities = positions[FLOATING_Q], velocities[FLOATING_V]
        joints.append(JointState(joint_name, tuple(positions.tolist()), tuple(velocities.tolist())))
    return ModelState(
        name=name,
        parent=spec.parent_frame,
        pose=pose_of(np.linalg.solve(T_world_parent, T_world_link[0].GetAsMatrix4()), exact),
        twist=six(np.concatenate((R_parent_world @ linear[0], R_parent_world @ angular[0]))),
        links=link_states(spec.robot.link_names, xyz, R, linear, angular),
        joints=tuple(joints),
        description=spec.description,
        semantic=spec.semantic,
        urdf_sha256=digest,
    )


def unit_positions(world: DrakeWorld, q: FloatArray) -> FloatArray:
    """Return a plant's positions with quaternions of length 1: Drake's grow a little with every step."""
    q = np.array(q)
    for model in world.models.values():
        for joint in (model.root, *model.joints.values()):
            if joint.num_positions() == len(FLOATING_Q):
                quat = joint_part(q, joint, "position")[:4]
                quat /= np.linalg.norm(quat)
    return q


def joint_part(values: FloatArray, joint: Any, kind: str) -> FloatArray:
    """Return a joint's own of all positions or velocities of the plant."""
    start = getattr(joint, f"{kind}_start")()
    count = joint.num_positions() if kind == "position" else joint.num_velocities()
    return values[start : start + count]


def set_joint(values: FloatArray, joint: Any, kind: str, stated: FloatArray | None) -> None:
    """Set a joint's own, as our joint space has it, in all positions or velocities of the plant."""
    assert stated is not None
    order = {len(FLOATING_Q): FLOATING_Q, len(FLOATING_V): FLOATING_V}.get(len(stated))
    part = joint_part(values, joint, kind)
    if order is None:
        part[:] = stated
    else:
        part[order] = stated
