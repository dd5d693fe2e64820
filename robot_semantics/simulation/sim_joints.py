# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Joints of a simulated model, the same for every engine. The builders only translate these records."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from robot_semantics.kinematics.joint_space import followings
from robot_semantics.kinematics.motions import ElementaryMotion, elementary_motions
from robot_semantics.model.robot_model import JointModel
from robot_semantics.simulation.world_spec import BuildNote, ModelSpec
from robot_semantics.transforms.arrays import FloatArray


class Tie(NamedTuple):
    """``position[part] = multiplier * position[part] of leader + offset``."""

    leader: JointModel
    part: int
    multiplier: float
    offset: float


@dataclass(frozen=True, slots=True, eq=False)
class SimJoint:
    """One simulated joint.

    Attributes:
        joint: the joint of the description, or the root joint.
        motions: its elementary motions; a fixed joint has none.
        limits: lower and upper position [rad, m] of a joint with one variable, or None without limits.
        damping: viscous damping [N s/m, N m s/rad].
        friction: dry friction [N, N m].
        effort: largest force or torque of its motor [N, N m]; infinite without a limit.
        ties: equations that make its variables follow a leader; empty without a leader.
        driven: whether motors drive it. A motor drives a commandable joint that does not float. The root joint may be
            passive.
    """

    joint: JointModel
    motions: tuple[ElementaryMotion, ...]
    limits: tuple[float, float] | None
    damping: float
    friction: float
    effort: float
    ties: tuple[Tie, ...]
    driven: bool

    @property
    def name(self) -> str:
        """The joint's name."""
        return self.joint.name

    @property
    def axis(self) -> FloatArray:
        """(3,) unit axis in the joint frame; a planar joint's is the normal of its plane."""
        return self.joint.axis


def sim_joints(spec: ModelSpec, notes: list[BuildNote], *, ties_several: bool) -> tuple[SimJoint, ...]:
    """Return the joints of a model in the order of its links, the root joint first.

    Args:
        spec: the model.
        notes: receives a note for each statement that cannot be simulated.
        ties_several: whether the simulator can tie planar joints and the translation of floating ones, because it makes
            them from joints with one variable.
    """
    followed = _ties(spec, notes, several=ties_several)
    joints = []
    root = spec.root_joint
    for joint in (root, *spec.robot.joints[1:]):
        motions = elementary_motions(joint)
        axes_only = all(motion.kind != "ball" for motion in motions)
        # A simulated base can be driven, also if it is passive in the SRDF.
        driven = axes_only and (joint.is_commandable or (joint is root and joint.is_active))
        limits, effort = None, np.inf
        if len(motions) == 1:
            limits = _limits(spec, joint, notes)
            effort = _effort(spec, joint, notes) if driven else np.inf
        ties = followed.get(joint.name, ())
        joints.append(SimJoint(joint, motions, limits, joint.damping, joint.friction, effort, ties, driven))
    return tuple(joints)


def _limits(spec: ModelSpec, joint: JointModel, notes: list[BuildNote]) -> tuple[float, float] | None:
    lower, upper = joint.limits.lower, joint.limits.upper
    if not (np.isfinite(lower) and np.isfinite(upper)):
        return None
    if upper > lower:
        return lower, upper
    notes.append(BuildNote(spec.name, f"joint '{joint.name}'", f"has limits {lower:g} and {upper:g}: not limited"))
    return None


def _effort(spec: ModelSpec, joint: JointModel, notes: list[BuildNote]) -> float:
    effort = joint.limits.effort
    if effort > 0.0:
        return effort
    notes.append(BuildNote(spec.name, f"joint '{joint.name}'", f"has the effort limit {effort:g}: not limited"))
    return np.inf


def _ties(spec: ModelSpec, notes: list[BuildNote], *, several: bool) -> dict[str, tuple[Tie, ...]]:
    """Return the ties of each mimic joint. A note names each joint that does not follow, or follows only in part."""
    ties = {}
    for joint, leader, mimic in followings(spec.robot):
        part = f"joint '{joint.name}'"
        if leader.virtual and not spec.has_planar_base:
            notes.append(BuildNote(spec.name, part, f"does not follow the virtual joint '{leader.name}' here"))
        elif joint.position_count > 1 and not several:
            message = f"does not follow '{leader.name}' here: only joints with one variable do"
            notes.append(BuildNote(spec.name, part, message))
        else:
            if joint.motion.has_quaternion:
                message = f"follows '{leader.name}' here in its translation only; its rotation is free"
                notes.append(BuildNote(spec.name, part, message))
            parts = range(joint.motion.mimicked)
            ties[joint.name] = tuple(Tie(leader, at, mimic.multiplier, mimic.offset) for at in parts)
    return ties
