# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Apply a model_state to a robot: the one function that restore, ``fk``, edit, check, view and the simulators use.

The model's pose and twist are converted through the world's frames into the frame of the robot's root joint. A joint
gets its stated value, or else the value that follows from the poses of its links. Values that contradict each other, or
do not fit the robot, are refused with the amount. Values that are neither stated nor follow stay unchanged, and are
listed. Rules: doc/usdf.md, "A state on a robot".
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from robot_semantics.base.nanoseconds import float_seconds
from robot_semantics.base.record import record
from robot_semantics.kinematics.forward import ForwardKinematics, kinematics_of
from robot_semantics.kinematics.joint_space import JointSpace
from robot_semantics.kinematics.loop_freedom import LoopError
from robot_semantics.kinematics.loops import OpenLoopError
from robot_semantics.kinematics.motions import UnusablePose, joint_motion, pose_from_positions, twist_of
from robot_semantics.model.robot_model import JointModel, RobotModel
from robot_semantics.transforms import matrix_from_pose, transform_distance, xyz_quat_from_matrix
from robot_semantics.transforms.arrays import FloatArray
from robot_semantics.transforms.pose import pose_from_matrix, pose_matrices, xyz_quat_of
from robot_semantics.usdf.frames import ResolvedWorld, resolve_frames, taken_as_world
from robot_semantics.usdf.identity import describes_another_robot
from robot_semantics.usdf.joint_values import (
    JointValues,
    closed_values,
    faults,
    stated_positions,
    stated_velocities,
    with_stated,
)
from robot_semantics.usdf.recover import NOT_OBSERVED, recover_joints
from robot_semantics.usdf.restore_report import TOLERANCE, RestoreItem, RestoreLog
from robot_semantics.usdf.robot import with_carriers
from robot_semantics.usdf.world_state import (
    SEPARATOR,
    WORLD,
    Frame,
    JointState,
    LinkState,
    ModelState,
    WorldState,
    carrier_of,
)

# The root link's pose and twist by a model_state, converted through the world's frames, or refused.


@record(frozen=True, eq=False)
class Base:
    """How a robot's root link is attached, for the code that moves the robot.

    Attributes:
        joint: the virtual root joint, or a substitute.
        frame: the parent frame of this joint; ``world`` by default.
        placeable: True if a fixed root link can be put anywhere, as in a simulator.
        xyz_quat: (7,) pose in `frame` of a fixed root link that is not placeable; None if unknown.
        held_by: the thing that moves the root link instead of the caller; part of the reason of a refusal.

    """

    joint: JointModel
    frame: str = WORLD
    placeable: bool = False
    xyz_quat: FloatArray | None = None
    held_by: str = ""

    @classmethod
    def of(cls, robot: RobotModel) -> Base:
        """Return the base by the robot's SRDF; a fixed one is at its parent frame's origin."""
        at_origin = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]) if robot.has_virtual_joint else None
        return cls(robot.root_joint, robot.root_joint.parent_link or WORLD, not robot.has_virtual_joint, at_origin)


@record(frozen=True, eq=False)
class RootPlacement:
    """The root link of one model in one world; results for its pose and twist go to the log."""

    model: ModelState
    world: ResolvedWorld
    base: Base
    log: RestoreLog

    def frame(self) -> str | None:
        """Return the parent frame of the root joint.

        It is the world if the SRDF's frame has no pose; None if the frame is a link with an unknown pose.
        """
        frame = self.world.frame_or_world(self.base.frame)
        return None if frame != self.base.frame and SEPARATOR in self.base.frame else frame

    def pose(self) -> tuple[FloatArray | None, FloatArray | None]:
        """Return the root link's pose (7,) in the base's frame and the root joint's coordinates, if they can be
        taken.
        """
        model, base = self.model, self.base
        if model.pose is None:
            self.log.note("its pose is not stated, so the root link stays where it is")
            return None, None
        frame = self.frame()
        if frame is None:
            return self._refused("pose", f"the state does not say where '{base.frame}' is, in which the robot stands")
        if frame != base.frame:
            self.log.note(taken_as_world(base.frame))
        xyz_quat = xyz_quat_from_matrix(self.world.pose(model.name, frame))
        if carrier_of(model) == frame:
            # Keep every bit of the stated pose, and its quaternion's sign.
            xyz_quat = np.array(xyz_quat_of(model.pose))
        self._note_unstated_frames()
        joint = base.joint
        if not joint.position_count or base.held_by:
            return (xyz_quat, None) if self._stands_there(xyz_quat) else (None, None)
        motion = joint_motion(joint, xyz_quat, None)
        if isinstance(motion, UnusablePose):
            return self._refused("pose", motion.message)
        lost_m, lost_rad = _apart(xyz_quat, pose_from_positions(joint, motion.positions))
        if max(lost_m, lost_rad) > TOLERANCE:
            off = f"{lost_m:.3g} m and {lost_rad:.3g} rad off"
            return self._refused("pose", f"planar joint '{joint.name}' cannot leave its plane in '{base.frame}': {off}")
        self.log.done("pose", "", "set")
        return xyz_quat, motion.positions

    def _refused(self, kind: str, reason: str) -> tuple[None, None]:
        self.log.failed(kind, "", reason)
        return None, None

    def _stands_there(self, xyz_quat: FloatArray) -> bool:
        """Report whether a fixed root link is at its stated pose, or can be put there."""
        base = self.base
        if base.placeable and not base.held_by:
            self.log.done("pose", "", "the fixed base is put there")
            return True
        why = base.held_by or f"the base is fixed in '{base.frame}'"
        if base.xyz_quat is None:
            self.log.failed("pose", "", f"{why}, in an unknown pose")
            return False
        off_m, off_rad = _apart(xyz_quat, base.xyz_quat)
        if max(off_m, off_rad) > TOLERANCE:
            self.log.failed("pose", "", f"{why}, {off_m:.3g} m and {off_rad:.3g} rad away from there")
            return False
        self.log.done("pose", "", "it is there")
        return True

    def _note_unstated_frames(self) -> None:
        """Note the frames without a pose between the model and the base's frame; the identity is used."""
        bodies = {body.name: body for body in self.world.state.bodies}
        ours, others = self.world.path(self.model.name), self.world.path(self.frame() or WORLD)
        between = [name for name in (*ours, *others) if (name in ours) != (name in others) and name != self.model.name]
        for name in between:
            # Every stated link here has a pose.
            if name in bodies and bodies[name].pose is None:
                self.log.note(f"'{name}' has no pose in '{bodies[name].parent}'; the identity is used")

    def twist(self, xyz_quat: FloatArray | None) -> tuple[FloatArray | None, FloatArray | None]:
        """Return the root link's twist (6,) in the base's frame and the root joint's rates, if they can be taken."""
        model, base, joint = self.model, self.base, self.base.joint
        if model.twist is None:
            return None, None
        frame = self.frame()
        if frame is None:
            return self._refused("twist", f"the state does not say where '{base.frame}' is, in which the robot moves")
        twist = self.world.relative_twists((model.name,), frame)[0]
        if carrier_of(model) == frame:
            twist = np.array(model.twist)
        elif model.pose is None:
            return self._refused("twist", f"its pose is not stated, and so how it moves against '{base.frame}' is not")
        if np.isnan(twist).any():
            return self._refused("twist", f"how '{model.parent}' moves against '{base.frame}' is not stated")
        if not joint.position_count or base.held_by:
            if np.abs(twist).max() > TOLERANCE:
                return self._refused("twist", f"{base.held_by or 'the base is fixed'} and cannot be given a motion")
            self.log.done("twist", "", "it does not move")
            return twist, None
        at = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]) if xyz_quat is None else xyz_quat
        motion = joint_motion(joint, at, twist)
        if isinstance(motion, UnusablePose) or motion.velocities is None:
            return self._refused("twist", "it is not finite")
        off = float(np.abs(twist_of(joint, motion.velocities) - twist).max())
        if off > TOLERANCE:
            return self._refused(
                "twist", f"planar joint '{joint.name}' cannot leave its plane: {off:.3g} m/s or rad/s off"
            )
        self.log.done("twist", "", "set")
        return twist, motion.velocities


def _apart(one: FloatArray, other: FloatArray) -> tuple[float, float]:
    """Return the distance [m] and the angle [rad] between two poses (7,)."""
    off_m, off_rad = transform_distance(matrix_from_pose(one), matrix_from_pose(other))
    return float(off_m), float(off_rad)


# Comparison of the stated links of a state with its joints: a link that differs is refused with the amount.


def compare_links(
    model: ModelState,
    measured: ForwardKinematics,
    q: FloatArray,
    v: FloatArray,
    positions_of: Collection[str],
    velocities_of: Collection[str],
    log: RestoreLog,
) -> None:
    """Log for each stated link whether its pose and twist agree with the joints.

    Args:
        model: the model_state.
        measured: kinematics in which mimic joints have their stated positions.
        q: (size,) positions.
        v: (velocity_size,) velocities, NaN where not known.
        positions_of: joints whose positions are known.
        velocities_of: joints whose velocities are.
        log: gets the items.

    """
    robot = measured.model
    known_links = []
    for link in model.links:
        if link.name in robot.link_index:
            known_links.append(link)
            continue
        log.failed("link", link.name, f"the robot does not have this link{log.suggestion(link.name, robot.link_index)}")
    placed_links = links_behind(robot, positions_of)
    moved_links = links_behind(robot, frozenset(positions_of) & frozenset(velocities_of))
    _poses([link for link in known_links if link.pose is not None and link.name in placed_links], measured, q, log)
    _twists([link for link in known_links if link.twist is not None and link.name in moved_links], measured, q, v, log)
    for link in known_links:
        without = []
        if link.pose is not None and link.name not in placed_links:
            without.append("pose")
        if link.twist is not None and link.name not in moved_links:
            without.append("twist")
        if without:
            what = " and ".join(without)
            reason = f"its {what} cannot be computed: a joint above the link is unknown"
            log.failed("link", link.name, reason, "unplaced-link")
    if any(link.wrench is not None for link in known_links):
        log.note("wrenches are results and are not set")


def links_behind(robot: RobotModel, joints: Collection[str]) -> frozenset[str]:
    """Return the links whose pose in the model's frame is computed from `joints`."""
    found = {robot.root_link}
    for link, joint in zip(robot.links[1:], robot.joints[1:], strict=True):
        if joint.parent_link in found and (not joint.position_count or joint.name in joints):
            found.add(link.name)
    return frozenset(found)


def _poses(links: Sequence[LinkState], measured: ForwardKinematics, q: FloatArray, log: RestoreLog) -> None:
    if not links:
        return
    given = pose_matrices([link.pose for link in links])
    made = measured.link_poses(q)[[measured.model.link_index[link.name] for link in links]]
    off_m, off_rad = transform_distance(given, made)
    agree = (off_m <= TOLERANCE) & (off_rad <= TOLERANCE)
    if agree.any():
        log.done("links", "", f"{int(agree.sum())} agree with the joints")
    for at in np.flatnonzero(~agree).tolist():
        reason = f"its pose is {off_m[at]:.3g} m and {off_rad[at]:.3g} rad away from the pose that the joints give"
        log.failed("link", links[at].name, reason, "link-pose-disagrees")


def _twists(
    links: Sequence[LinkState], measured: ForwardKinematics, q: FloatArray, v: FloatArray, log: RestoreLog
) -> None:
    if not links:
        return
    rows = [measured.model.link_index[link.name] for link in links]
    made = measured.link_twists(q, np.nan_to_num(v, nan=0.0))[rows]
    off = np.abs(np.array([link.twist for link in links], dtype=np.float64) - made)
    # Fast links differ by more in the last digits.
    allowed = TOLERANCE * np.maximum(1.0, np.abs(made).max(axis=1))
    for at in np.flatnonzero(~(off.max(axis=1) <= allowed)).tolist():
        amount = f"{off[at, :3].max():.3g} m/s and {off[at, 3:].max():.3g} rad/s"
        reason = f"its twist is {amount} away from the twist that the joints give"
        log.failed("link", links[at].name, reason, "link-twist-disagrees")


@record(frozen=True, eq=False)
class AppliedState:
    """The state of a robot after a model_state is applied.

    Attributes:
        base_xyz_quat: (7,) pose of the root link in the base's frame [m], quaternion x y z w; None if the state has no
            pose that the base can take.
        base_twist: (6,) the root link's motion relative to this frame, in its axes [m/s, rad/s], or None.
        base_positions: coordinates of the root joint: (3,) if planar, (7,) if floating, or None.
        base_velocities: rates of the root joint: (3,) if planar, (6,) if floating, or None.
        positions: (size,) in the robot's joint space; joints without a value in the state keep their old values.
        velocities: (velocity_size,) NaN if the state does not give them.
        positions_of: joints whose positions come from the state.
        velocities_of: joints whose velocities do.
        kept_joints: joints that keep their old positions.
        items: the result for each stated value.
        notes: other remarks for the user.
        kept_motion: remarks for a caller that moves the robot: velocities that are not stated and stay unchanged.
    """

    base_xyz_quat: FloatArray | None
    base_twist: FloatArray | None
    base_positions: FloatArray | None
    base_velocities: FloatArray | None
    positions: FloatArray
    velocities: FloatArray
    positions_of: frozenset[str]
    velocities_of: frozenset[str]
    kept_joints: tuple[str, ...]
    items: tuple[RestoreItem, ...]
    notes: tuple[str, ...]
    kept_motion: tuple[str, ...] = ()

    @property
    def refused(self) -> tuple[RestoreItem, ...]:
        """The refused values, with the reasons."""
        return tuple(item for item in self.items if not item.done)


def resolve_with(
    state: WorldState,
    fixed_frames: Sequence[Frame] = (),
    robots: Mapping[str, RobotModel] | None = None,
) -> ResolvedWorld:
    """Return `state` resolved with the known robots.

    Args:
        state: the state.
        fixed_frames: frames that exist outside the state; for a frame in both, the state's pose is used.
        robots: robots by their models' names; they give the pose of a carrying link whose pose is not stated.

    Raises:
        DescriptionError: unknown parents, cycles, or names of two things.
        NotStatedError: the pose of a carrying link is not stated and cannot be computed.
    """
    named = {body.name for body in state.bodies}
    others = tuple(frame for frame in fixed_frames if frame.name not in named)
    models = with_carriers(state, robots or {}).models
    return resolve_frames(WorldState(models=models, frames=(*state.frames, *others)))


def apply_model_state(
    model: ModelState,
    world: ResolvedWorld,
    robot: RobotModel,
    *,
    base: Base | None = None,
    positions: FloatArray | None = None,
    close_loops: bool = True,
) -> AppliedState:
    """Return the state of a robot after a model_state is applied; the arguments do not change.

    Args:
        model: what is stated.
        world: the resolved world around the model.
        robot: the robot.
        base: how its root link is attached; by default as in its SRDF.
        positions: (size,) the present joint positions; by default `JointSpace.neutral`.
        close_loops: whether positions that close the loops replace those of passive joints.
    """
    return _Application(model, world, kinematics_of(robot), base or Base.of(robot), positions, close_loops).run()


@dataclass(eq=False)
class _Application:
    model: ModelState
    world: ResolvedWorld
    kinematics: ForwardKinematics
    base: Base
    present: FloatArray | None
    close_loops: bool
    log: RestoreLog = field(init=False)

    def run(self) -> AppliedState:
        self.log = RestoreLog(self.model.name)
        self.robot: RobotModel = self.kinematics.model
        self.space: JointSpace = self.kinematics.space
        self.q = np.array(self.space.neutral() if self.present is None else self.present)
        self.v = np.full(self.space.velocity_size, np.nan)
        self.positions_of: set[str] = set()
        self.velocities_of: set[str] = set()
        reason = describes_another_robot(self.model, self.robot)
        if reason:
            self.log.failed("description", "", reason)
        placement = RootPlacement(self.model, self.world, self.base, self.log)
        xyz_quat, coordinates = placement.pose()
        twist, rates = placement.twist(xyz_quat)
        for joint in self.model.joints:
            self._joint(joint)
        self._derive_joints(xyz_quat)
        q, v = self._close_loops() if self.close_loops and self.robot.constraints else (self.q, self.v)
        compare_links(self.model, self.kinematics.measured, q, v, self.positions_of, self.velocities_of, self.log)
        root = self.robot.root_joint
        if root.position_count and coordinates is not None:
            self.q[self.space.joint_positions[root.name]] = coordinates
        if root.position_count and rates is not None:
            self.v[self.space.joint_velocities[root.name]] = rates
        kept_joints = tuple(
            joint.name for joint in self.space.joints if not joint.virtual and joint.name not in self.positions_of
        )
        self._note_ages()
        if kept_joints:
            names = ", ".join(kept_joints)
            text = "joints have no stated or derived position, and stay as they are"
            self.log.note(f"{len(kept_joints)} {text}: {names}")
        return AppliedState(
            xyz_quat,
            twist,
            coordinates,
            rates,
            self.q,
            self.v,
            frozenset(self.positions_of),
            frozenset(self.velocities_of),
            kept_joints,
            tuple(self.log.items),
            self.log.notes,
            tuple(self._kept_motion(coordinates is not None)),
        )

    def _kept_motion(self, root_placed: bool) -> Iterator[str]:
        """Yield remarks on moved bodies without a stated velocity: the velocity is kept, in the axes of the parent."""
        name = self.model.name
        if root_placed and self.model.twist is None:
            yield f"model '{name}': its twist is not stated; it is kept in the axes of '{self.base.frame}'"
        kept = [joint for joint in self.robot.joint_names if joint in self.positions_of - self.velocities_of]
        if kept:
            yield f"model '{name}': velocities are not stated and are kept: {', '.join(kept)}"

    def _note_ages(self) -> None:
        """Note the values that were measured before the state's time; they are used too."""
        aged = [("its pose", self.model.age_ns), *((f"'{joint.name}'", joint.age_ns) for joint in self.model.joints)]
        named: dict[int, list[str]] = {}
        for name, age_ns in aged:
            if age_ns:
                named.setdefault(age_ns, []).append(name)
        if named:
            older = "; ".join(
                f"{float_seconds(age_ns):.9g} s: {', '.join(names)}" for age_ns, names in sorted(named.items())
            )
            self.log.note(f"values older than the state, used as if from its time: {older}")

    # --- the joints

    def _joint(self, stated: JointState) -> None:
        reason = self._why_not(stated)
        if reason:
            self.log.failed("joint", stated.name, reason)
            return
        taken = self._take(self.robot.joint(stated.name), stated)
        if taken:
            self.log.done("joint", stated.name, f"{' and '.join(taken)} set")
        if stated.torques is not None:
            self.log.note("torques are results and are not set")

    def _take(self, joint: JointModel, told: JointState) -> list[str]:
        """Store the values of a joint that are not known yet; return their names."""
        kinds = []
        position, velocity = stated_positions(joint, told), stated_velocities(joint, told)
        if position is not None and joint.name not in self.positions_of:
            self.q[self.space.joint_positions[joint.name]] = position
            self.positions_of.add(joint.name)
            kinds.append("position")
        if velocity is not None and joint.name not in self.velocities_of:
            self.v[self.space.joint_velocities[joint.name]] = velocity
            self.velocities_of.add(joint.name)
            kinds.append("velocity")
        return kinds

    def _why_not(self, stated: JointState) -> str | None:
        index = self.robot.joint_index
        if stated.name not in index:
            return f"the robot does not have this joint{self.log.suggestion(stated.name, self.space.joint_positions)}"
        joint = self.robot.joint(stated.name)
        if not joint.virtual and not joint.position_count:
            return "is fixed and has no state"
        return self._fault(joint, stated)

    def _fault(self, joint: JointModel, stated: JointState) -> str | None:
        """Return why the values of a joint cannot be taken; None if they can."""
        for fault in faults(joint, stated, TOLERANCE):
            if fault.code == "virtual-joint-state":
                return "is the model's pose in its parent frame, not a joint state"
            if fault.code == "wrong-count" and fault.what != "torques":
                counts = " or ".join(map(str, fault.allowed))
                return f"{fault.stated} {fault.what}, a {joint.type.value} joint has {counts}"
            if fault.code == "zero-quaternion":
                return "its quaternion is all zeros"
            # A state with a robot's hash was measured, so the limits do not matter.
            if fault.code == "outside-limits" and fault.limits and stated.positions and not self.model.urdf_sha256:
                _, _, lower, upper = fault.limits
                return f"the position {stated.positions[0]:.6g} lies outside the limits {lower:.6g} to {upper:.6g}"
        return None

    def _derive_joints(self, xyz_quat: FloatArray | None) -> None:
        """Compute the joints that are not stated from stated joints, from poses and twists of links, and from the root.

        `xyz_quat` is the root link's pose in the virtual joint's parent frame, if the state has one.
        """
        stated = frozenset(self.positions_of)
        fitting = [joint for joint in self.model.joints if joint.name in self.positions_of | self.velocities_of]
        refused = {joint.name for joint in self.model.joints} - {joint.name for joint in fitting}
        model = ModelState(
            self.model.name,
            parent=self.robot.root_joint.parent_link,
            pose=None if xyz_quat is None else pose_from_matrix(matrix_from_pose(xyz_quat)),
            links=self.model.links,
            joints=tuple(fitting),
        )
        recovered, reasons = recover_joints(model, self.robot)
        followed = []
        beyond = self._beyond_limits(recovered.joints, stated | refused)
        refused |= beyond.keys()
        for told in recovered.joints:
            if told.name not in self.space.joint_positions or told.name in refused:
                continue
            joint = self.robot.joint(told.name)
            found = self._take(joint, told)
            if found and joint.mimic is not None and joint.mimic.joint in stated:
                followed.append(joint.name)
            elif found:
                detail = f"{' and '.join(found)} derived from other stated joints and links"
                self.log.done("joint", joint.name, detail, derived=True)
        if followed:
            self.log.note(f"mimic joints without a value, set from their leaders: {', '.join(followed)}")
        for name, reason in beyond.items():
            self.log.failed("joint", name, f"cannot be derived: {reason}", "underivable-joint")
        for name, reason in reasons.items():
            if name not in self.positions_of | refused and reason != NOT_OBSERVED:
                self.log.failed("joint", name, f"cannot be derived: it {reason}", "underivable-joint")
        self._note_measured_mimics(stated)

    def _close_loops(self) -> tuple[FloatArray, FloatArray]:
        """Close the loops and note what differs; return the stated q and v, which fit the links of a simulator."""
        try:
            loops = self.kinematics.loops
        except LoopError as error:
            self.log.note(f"loops stay open: {error}")
            return self.q, self.v
        joint_values = JointValues(self.q, self.v, frozenset(self.positions_of), frozenset(self.velocities_of))
        closed, found = closed_values(loops, joint_values)
        if found is not None and not found.closed and loops is not None:
            self.log.failed("loop", "", str(OpenLoopError(loops, found)), "loop-open")
        for joint in self.space.joints:
            where = self.space.positions_of(joint)
            if joint.name in self.positions_of:
                off = joint.motion.difference(self.q[where].tolist(), closed.q[where].tolist())
                if off > TOLERANCE:
                    self.log.note(f"'{joint.name}' is {off:.3g} away from where the closed loops need it")
            elif joint.name in closed.positions_of:
                self.log.done("joint", joint.name, "position derived from the closed loops", derived=True)
        compared = with_stated(self.space, closed, joint_values)
        self.q, self.v = closed.q, closed.v
        self.positions_of |= closed.positions_of
        self.velocities_of |= closed.velocities_of
        return compared

    def _beyond_limits(self, derived: Sequence[JointState], other_joints: Collection[str]) -> dict[str, str]:
        """Return the derived joints that are refused, with the reasons, and the joints that follow them."""
        texts = {}
        for joint_state in derived:
            joint = self.robot.joint(joint_state.name) if joint_state.name in self.space.joint_positions else None
            if joint is None or joint_state.positions is None or joint_state.name in other_joints:
                continue
            leader = None if joint.mimic is None else joint.mimic.joint
            reason = None if leader in other_joints else self._fault(joint, joint_state)
            if reason:
                texts[joint_state.name] = reason
        return texts

    def _note_measured_mimics(self, stated: frozenset[str]) -> None:
        """Note the mimic joints whose stated position differs from the position that their leader gives."""
        apart = self.space.leader_differences(self.q)
        for joint in self.space.joints:
            if joint.mimic is None or not {joint.name, joint.mimic.joint} <= stated:
                continue
            off = float(np.abs(apart[self.space.joint_positions[joint.name]]).max())
            if off > TOLERANCE:
                self.log.note(f"'{joint.name}' is {off:.3g} away from where '{joint.mimic.joint}' takes it")
