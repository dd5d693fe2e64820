# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The root link's pose and twist by a model_state, converted through the world's frames, or refused.

Part of `state.apply`; call that module. Rules: doc/usdf.md, "A state on a robot".
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from robot_semantics.model.robot_model import JointModel, RobotModel
from robot_semantics.state.joint_input import Refusal
from robot_semantics.state.report import TOLERANCE, RestoreLog
from robot_semantics.state.root_motion import joint_motion, pose_of, twist_of
from robot_semantics.transforms import matrix_from_pose, transform_distance, xyz_quat_from_matrix
from robot_semantics.transforms.arrays import FloatArray
from robot_semantics.transforms.pose import xyz_quat_of
from robot_semantics.usdf.resolved_world import ResolvedWorld, taken_as_world
from robot_semantics.usdf.world_state import SEPARATOR, WORLD, ModelState, carrier_of


@dataclass(frozen=True, eq=False)
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


@dataclass(frozen=True, eq=False)
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
        if isinstance(motion, Refusal):
            return self._refused("pose", motion.message)
        lost_m, lost_rad = _apart(xyz_quat, pose_of(joint, motion.positions))
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
        if isinstance(motion, Refusal) or motion.velocities is None:
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
