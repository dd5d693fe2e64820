"""A world state into MuJoCo's arrays, item by item, on a copy: nothing is changed before it is known what can be."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np
import numpy.typing as npt

from robot_semantics.base.names import did_you_mean
from robot_semantics.model.joint_types import JointType
from robot_semantics.model.robot_model import JointModel, RobotModel
from robot_semantics.simulation.mujoco_capture import planar_transform
from robot_semantics.simulation.mujoco_layout import JointPlace, ModelLayout
from robot_semantics.simulation.placement import Motion
from robot_semantics.simulation.simulator import RestoreLog
from robot_semantics.transforms import (
    invert,
    matrix_from_quat,
    quat_angle,
    quat_from_matrix,
    quat_from_rpy,
    rotation_from_z,
    xyz_quat_from_matrix,
)
from robot_semantics.usdf.poses import pose_matrices
from robot_semantics.usdf.world_state import WORLD, JointState, ModelState

FloatArray = npt.NDArray[np.float64]

PLANE_TOLERANCE = 1e-6
"""How far [m, rad, m/s, rad/s] a root may lie outside its plane."""
LINK_TOLERANCE = 1e-6
"""How far [m, rad] a link's stated pose may lie from the one that the joints give."""
LIMIT_TOLERANCE = 1e-9
"""How far [rad, m] a position may lie outside the limits."""


class ModelRestorer:
    """Writes one model's state into an MjData, and what it could and could not write into a log."""

    def __init__(self, layout: ModelLayout, data: Any, log: RestoreLog) -> None:
        self.layout = layout
        self.data = data
        self.log = log
        self.subject = f"model '{layout.name}'"
        self.positions_of: set[str] = set()
        """Joints whose positions were written."""
        self._velocities_of: set[str] = set()

    def restore(self, state: ModelState, placed: Motion, T_world_parent: FloatArray, *, same_robot: bool) -> None:
        """Write the state.

        Args:
            state: what is stated.
            placed: pose and motion of the root in the world, from the state's frames.
            T_world_parent: (4, 4) pose of the frame in which the root stands.
            same_robot: the state was made from this very description, so its positions need no comparing with limits.

        """
        if state.pose is not None:
            self._place_root(state, placed, T_world_parent)
        else:
            self.log.note(f"{self.subject} states no pose and stays where it is")
        if state.twist is not None:
            self._move_root(state, placed, T_world_parent)
        for joint_state in state.joints:
            self._joint(joint_state, same_robot)
        stated = {joint.name for joint in state.joints if joint.positions is not None or joint.velocities is not None}
        followers = self._follow(stated)
        if followers:
            self.log.note(f"{self.subject}: not stated, and put where their leaders take them: {', '.join(followers)}")
        silent = self.layout.by_name.keys() - stated - set(followers)
        if silent:
            names = ", ".join(sorted(silent))
            self.log.note(f"{self.subject}: {len(silent)} joints are not stated and stay as they are: {names}")

    # --- the root

    def _place_root(self, state: ModelState, placed: Motion, T_world_parent: FloatArray) -> None:
        layout, data, kind = self.layout, self.data, self.layout.spec.root_type
        subject = f"{self.subject}: pose"
        T_parent_root = invert(T_world_parent) @ placed.T
        if kind is JointType.FLOATING:
            assert layout.root is not None
            quat = quat_from_matrix(placed.T[:3, :3])
            if state.parent == WORLD and state.pose is not None:
                # As it is stated, to the last bit, sign included.
                quat = np.array(state.pose.quat_xyzw or quat_from_rpy(state.pose.xyz_rpy[3:]))
            data.qpos[layout.root.qpos] = [*placed.T[:3, 3], quat[3], *quat[:3]]
            self.log.done(subject, "set")
            return
        if kind is JointType.FIXED:
            pose = xyz_quat_from_matrix(placed.T)
            data.mocap_pos[layout.mocap] = pose[:3]
            data.mocap_quat[layout.mocap] = pose[[6, 3, 4, 5]]
            self.log.done(subject, "the fixed base is put there")
            return
        assert layout.root is not None
        xytheta, distance, angle = planar_coordinates(layout.root.joint.axis, T_parent_root)
        if distance > PLANE_TOLERANCE or angle > PLANE_TOLERANCE:
            frame = layout.spec.parent_frame
            joint = layout.root.joint.name
            self.log.failed(
                subject,
                f"planar joint '{joint}' cannot leave its plane in '{frame}': {distance:.3g} m and {angle:.3g} rad off",
            )
            return
        pose = xyz_quat_from_matrix(T_world_parent)
        data.mocap_pos[layout.mocap] = pose[:3]
        data.mocap_quat[layout.mocap] = pose[[6, 3, 4, 5]]
        data.qpos[layout.root.qpos] = xytheta
        self.log.done(subject, "set")

    def _move_root(self, state: ModelState, placed: Motion, T_world_parent: FloatArray) -> None:
        layout, kind = self.layout, self.layout.spec.root_type
        subject = f"{self.subject}: twist"
        assert state.twist is not None
        if placed.twist is None:
            self.log.failed(subject, f"the motion of its parent '{state.parent}' is not stated")
            return
        if kind is JointType.FLOATING:
            assert layout.root is not None
            # A free joint's linear velocity is in the world's axes, its angular velocity in the body's.
            w, x, y, z = self.data.qpos[layout.root.qpos[3:]]
            R_world_root = matrix_from_quat([x, y, z, w])
            self.data.qvel[layout.root.qvel] = [*placed.twist[:3], *(R_world_root.T @ placed.twist[3:])]
            self.log.done(subject, "set")
            return
        R_parent_world = T_world_parent[:3, :3].T
        linear, angular = R_parent_world @ placed.twist[:3], R_parent_world @ placed.twist[3:]
        if kind is JointType.FIXED:
            if max(np.abs(linear).max(), np.abs(angular).max()) > PLANE_TOLERANCE:
                self.log.failed(subject, "the base is fixed and cannot move")
            return
        assert layout.root is not None
        axis = layout.root.joint.axis
        across = rotation_from_z(axis)[:, :2]
        rates = np.array([*(linear @ across), angular @ axis])
        off = max(np.abs(linear - across @ rates[:2]).max(), np.abs(angular - axis * rates[2]).max())
        if off > PLANE_TOLERANCE:
            self.log.failed(
                subject, f"planar joint '{layout.root.joint.name}' cannot leave its plane: {off:.3g} m/s or rad/s off"
            )
            return
        self.data.qvel[layout.root.qvel] = rates
        self.log.done(subject, "set")

    # --- the joints

    def _joint(self, state: JointState, same_robot: bool) -> None:
        subject = f"{self.subject}: joint '{state.name}'"
        place = self.layout.by_name.get(state.name)
        if place is None:
            self.log.failed(subject, self._why_unknown(state.name))
            return
        joint = place.joint
        reason = _wrong_count(state, joint)
        if reason is None and not same_robot:
            reason = _outside_limits(state, joint)
        if reason is not None:
            self.log.failed(subject, reason)
            return
        done = []
        if state.positions is not None:
            self.data.qpos[place.qpos] = _qpos(state.positions, joint)
            self.positions_of.add(joint.name)
            done.append("position")
        if state.velocities is not None:
            self.data.qvel[place.qvel] = self._qvel(state.velocities, place)
            self._velocities_of.add(joint.name)
            done.append("velocity")
        if done:
            self.log.done(subject, " and ".join(done) + " set")

    def _follow(self, stated: Collection[str]) -> list[str]:
        """Put the mimic joints that are not `stated` where those take them that were written; return their names.

        Left where they are they would be pulled there, and pull the rest of the robot with them.
        """
        data, names = self.data, []
        for place in self.layout.joints:
            mimic = place.joint.mimic
            if mimic is None or place.joint.name in stated or len(place.qpos) != 1:
                continue
            leader = self.layout.by_name.get(mimic.joint)
            if leader is None or len(leader.qpos) != 1:
                continue
            if mimic.joint in self.positions_of:
                data.qpos[place.qpos] = mimic.multiplier * data.qpos[leader.qpos] + mimic.offset
                self.positions_of.add(place.joint.name)
                names.append(place.joint.name)
            if mimic.joint in self._velocities_of:
                data.qvel[place.qvel] = mimic.multiplier * data.qvel[leader.qvel]
        return names

    def _why_unknown(self, name: str) -> str:
        robot = self.layout.spec.robot
        if name in robot.joint_index:
            root = robot.joint(name).virtual
            return "is the model's pose in its parent frame, not a joint state" if root else "is fixed and has no state"
        nearest = did_you_mean(name, self.layout.by_name)
        return "the robot has no such joint" + (f"; did you mean '{nearest}'?" if nearest else "")

    def _qvel(self, velocities: tuple[float, ...], place: JointPlace) -> FloatArray:
        values = np.array(velocities)
        if place.joint.type is JointType.FLOATING:
            # MuJoCo's ball turns in its own axes, a floating joint's velocity is in the joint frame's.
            w, x, y, z = self.data.qpos[place.qpos[3:]]
            values[3:] = matrix_from_quat([x, y, z, w]).T @ values[3:]
        return values


def link_disagreement(
    layout: ModelLayout, data: Any, state: ModelState, positions_of: Collection[str], log: RestoreLog
) -> None:
    """Compare the stated link poses with those that MuJoCo's kinematics (already run) gives, and log the outcome.

    Links that the joints in `positions_of` do not place are not compared, which a note says: joints left as they are
    put them elsewhere.
    """
    subject = f"model '{state.name}': link poses"
    root = layout.bodies[0]
    R_root, xyz_root = data.xmat[root].reshape(3, 3), data.xpos[root]
    index = layout.spec.robot.link_index
    placed = _placed_links(layout.spec.robot, positions_of)
    posed = [link for link in state.links if link.pose is not None and link.name in index]
    stated = [link for link in posed if link.name in placed]
    if len(stated) < len(posed):
        others = len(posed) - len(stated)
        log.note(f"{subject}: {others} are not compared, as joints on the way to them are not stated or not restored")
    for link in state.links:
        if link.name not in index:
            nearest = did_you_mean(link.name, index)
            hint = f"; did you mean '{nearest}'?" if nearest else ""
            log.failed(f"model '{state.name}': link '{link.name}'", f"the robot has no such link{hint}")
    if not stated:
        return
    bodies = layout.bodies[[index[link.name] for link in stated]]
    poses = pose_matrices([link.pose for link in stated])
    R = R_root.T @ data.xmat[bodies].reshape(-1, 3, 3)
    distance = np.linalg.norm((data.xpos[bodies] - xyz_root) @ R_root - poses[:, :3, 3], axis=1)
    angle = quat_angle(quat_from_matrix(R), quat_from_matrix(poses[:, :3, :3]))
    wrong = (distance > LINK_TOLERANCE) | (angle > LINK_TOLERANCE)
    if not wrong.any():
        log.done(subject, f"{len(stated)} agree with the joints")
        return
    worst = int(np.argmax(np.maximum(distance, angle)))
    log.failed(
        subject,
        f"{int(wrong.sum())} of {len(stated)} are not where the joints put them, "
        f"'{stated[worst].name}' the farthest: {distance[worst]:.3g} m, {angle[worst]:.3g} rad",
    )


def _placed_links(robot: RobotModel, positions_of: Collection[str]) -> set[str]:
    """Return the links that these joints place in the model's frame."""
    placed = {robot.root_link}
    for link, joint in zip(robot.links[1:], robot.joints[1:], strict=True):
        if joint.parent_link in placed and (not joint.position_count or joint.name in positions_of):
            placed.add(link.name)
    return placed


def planar_coordinates(axis: FloatArray, T: FloatArray) -> tuple[FloatArray, float, float]:
    """Return x, y, theta of the planar motion next to `T` (4, 4), and how far `T` is from it [m] and [rad]."""
    x, y = T[:3, 3] @ rotation_from_z(axis)[:, :2]
    quat = quat_from_matrix(T[:3, :3])
    theta = 2.0 * np.arctan2(quat[:3] @ axis, quat[3])
    theta = float(np.arctan2(np.sin(theta), np.cos(theta))) if abs(theta) > np.pi else float(theta)
    xytheta = np.array([x, y, theta])
    nearest = planar_transform(axis, xytheta)
    distance = float(np.linalg.norm(nearest[:3, 3] - T[:3, 3]))
    return xytheta, distance, float(quat_angle(quat, quat_from_matrix(nearest[:3, :3])))


def _qpos(positions: tuple[float, ...], joint: JointModel) -> FloatArray:
    values = np.array(positions)
    if joint.type is not JointType.FLOATING:
        return values
    quat = quat_from_rpy(values[3:]) if len(values) == 6 else values[3:]
    return np.array([*values[:3], quat[3], *quat[:3]])


def _wrong_count(state: JointState, joint: JointModel) -> str | None:
    """Return what is wrong with the numbers of values, or None."""
    expected = {
        "positions": (joint.position_count, 6) if joint.type is JointType.FLOATING else (joint.position_count,),
        "velocities": (joint.velocity_count,),
    }
    for kind, counts in expected.items():
        values = getattr(state, kind)
        if values is not None and len(values) not in counts:
            return f"{len(values)} {kind}, a {joint.type.value} joint has {' or '.join(map(str, counts))}"
    return None


def _outside_limits(state: JointState, joint: JointModel) -> str | None:
    if state.positions is None or joint.position_count != 1 or joint.type is JointType.CONTINUOUS:
        return None
    (position,) = state.positions
    lower, upper = joint.limits.lower, joint.limits.upper
    if lower - LIMIT_TOLERANCE <= position <= upper + LIMIT_TOLERANCE:
        return None
    return f"the position {position:.6g} lies outside the limits {lower:.6g} to {upper:.6g}"
