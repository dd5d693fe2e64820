# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Joints from links: positions and velocities computed from the poses and twists of a state's links.

A joint is observable if the poses of its two links are known. A pose is known if it is stated, if it is the root
link's, or if known joints connect it to another known pose. The number of whole turns follows from the
joint's followers and leader. Otherwise the angle inside the limits is used, or else the angle nearest to zero.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from robot_semantics.base.errors import RobotSemanticsError
from robot_semantics.kinematics.joint_space import JointSpace, followings
from robot_semantics.kinematics.local import LocalTransforms
from robot_semantics.kinematics.motions import turns
from robot_semantics.kinematics.observe import JointObserver
from robot_semantics.model.robot_model import JointModel, RobotModel
from robot_semantics.transforms import invert, transport_twist
from robot_semantics.transforms.arrays import FloatArray
from robot_semantics.transforms.pose import pose_matrices, pose_matrix
from robot_semantics.usdf.joint_values import JointValues, joint_values, with_mimic_values
from robot_semantics.usdf.world_state import JointState, ModelState

# Position of a leader from its own link and its mimic joints, which determine its number of turns.


TURN = 2.0 * math.pi
_WIDEST = 100
"""How many periods of the sighting that repeats least often are tried in each direction."""


class Sighting(NamedTuple):
    """Equation of one joint for a variable of its leader: ``value = factor * leader + offset``.

    Attributes:
        joint: the joint, which may be the leader itself.
        value: of the joint's own variable [rad, m].
        factor: 1 for the leader itself.
        offset: 0 for the leader itself [rad, m].
        repeats: True if the number of whole turns of `value` is unknown.
        lower: the joint's lower limit.
        upper: the joint's upper limit.
    """

    joint: str
    value: float
    factor: float
    offset: float
    repeats: bool
    lower: float
    upper: float

    def there(self, leader: float) -> float:
        """Return the joint's variable for the leader's position `leader`, with whole turns."""
        return self.factor * leader + self.offset

    def residual(self, leader: float) -> float:
        """Return the difference between the observed joint and its position for `leader`."""
        off = self.there(leader) - self.value
        return abs(math.remainder(off, TURN) if self.repeats else off)

    def allows(self, leader: float, tolerance: float) -> bool:
        """Return True if the joint is inside its limits."""
        return self.lower - tolerance <= self.there(leader) <= self.upper + tolerance


def sighting(
    space: JointSpace, joint: JointModel, leader: JointModel, position: int, q: FloatArray, *, observed: bool
) -> Sighting:
    """Return the equation of a joint, or of the leader itself, for variable number `position` of the leader.

    Args:
        space: the joint space of the robot.
        joint: the joint.
        leader: its leader.
        position: number of the variable.
        q: (size,) positions.
        observed: True if the position is from links, so that its whole turns may be unknown.
    """
    place = space.positions_of(joint).start + position
    mimics = space.mimics
    rule = (1.0, 0.0) if joint is leader else (float(mimics.factor[place]), float(mimics.offset[place]))
    limits = (joint.limits.lower, joint.limits.upper) if joint.position_count == 1 else (-np.inf, np.inf)
    return Sighting(joint.name, float(q[place]), *rule, observed and turns(joint, position), *limits)


class LeaderPosition(NamedTuple):
    """A leader's variable, and the joint with the largest difference from it [rad, m]."""

    value: float
    worst: str
    residual: float


def leader_position(sightings: Sequence[Sighting], tolerance: float) -> LeaderPosition:
    """Return the position of a leader that agrees with the sightings; the leader's own sighting, if any, is the first.

    Candidates inside all limits are preferred, then the nearest to zero. If no candidate fits within `tolerance`, the
    result is the best one.
    """
    telling = [item for item in sightings if item.factor != 0.0]
    firm = [item for item in telling if not item.repeats]
    if firm:
        candidates = [(firm[0].value - firm[0].offset) / firm[0].factor]
    else:
        widest = min(telling, key=lambda item: abs(item.factor))
        start, period = (widest.value - widest.offset) / widest.factor, TURN / abs(widest.factor)
        middle = round(-start / period)
        steps = (middle + step * sign for step in range(_WIDEST) for sign in (1, -1))
        candidates = sorted({start + period * step for step in steps}, key=abs)
    own = telling[0]
    if own.repeats and own.factor == 1.0 and own.offset == 0.0:
        # The leader's own link gives the best angle, the other links give the number of turns.
        candidates = [own.value + TURN * round((candidate - own.value) / TURN) for candidate in candidates]

    def judged(candidate: float) -> tuple[float, str]:
        return max((item.residual(candidate), item.joint) for item in sightings)

    fitting = [candidate for candidate in candidates if judged(candidate)[0] <= tolerance]
    allowed = [candidate for candidate in fitting if all(item.allows(candidate, tolerance) for item in sightings)]
    best = (allowed or fitting or [min(candidates, key=judged)])[0]
    residual, worst = judged(best)
    return LeaderPosition(best, worst, residual)


RESIDUAL_TOLERANCE = 1e-6
"""Tolerance of a joint position against the poses of its links and its mimic joints [m, rad]."""

NOT_OBSERVED = "is neither stated nor between two links whose poses are known"
"""Why a joint's position is not known of which nothing is stated; all other reasons are disagreements."""


class UnobservableError(RobotSemanticsError):
    """Joint positions do not follow from a state.

    Attributes:
        reasons: the reason for each joint.
    """

    def __init__(self, model: str, reasons: dict[str, str]) -> None:
        self.reasons = reasons
        listed = "; ".join(f"'{joint}' {reason}" for joint, reason in reasons.items())
        super().__init__(f"the joint positions of '{model}' do not follow from its state: {listed}")


def to_joint_positions(state: ModelState, robot: RobotModel) -> FloatArray:
    """Return (size,) the joint-space positions of a robot from its state [rad, m].

    Joint states have priority. Other joints are recovered from the poses of their links, a moving virtual joint from
    the pose of
    the model. Mimic joints without a state follow their leaders.

    Raises:
        UnobservableError: a joint's position is neither stated nor observable, or no position agrees with the stated
            poses; all such joints are named.
    """
    recovery = _Recovery(state, robot)
    reasons = recovery.run()
    root = robot.root_joint
    if root.position_count:
        if state.pose is None:
            reasons[root.name] = "has no pose of the model to be seen from"
        else:
            recovery.observe([root], np.array([pose_matrix(state.pose)]), reasons)
    if reasons:
        raise UnobservableError(state.name, reasons)
    return recovery.q


def recover_joints(state: ModelState, robot: RobotModel) -> tuple[ModelState, dict[str, str]]:
    """Return `state`, completed with positions and velocities of joints that follow from its links.

    Also return the reasons for the joints that are still unknown.
    """
    recovery = _Recovery(state, robot)
    reasons = recovery.run()
    v, moving = recovery.velocities()
    space = recovery.space
    stated = {joint.name: joint for joint in state.joints}
    joints: list[JointState] = []
    for joint in space.joints:
        if joint.virtual:
            continue
        joint_state = stated.pop(joint.name, JointState(joint.name))
        if joint_state.positions is None and joint.name in recovery.known:
            joint_state = replace(joint_state, positions=tuple(recovery.q[space.joint_positions[joint.name]].tolist()))
        if joint_state.velocities is None and joint.name in moving:
            joint_state = replace(joint_state, velocities=tuple(v[space.joint_velocities[joint.name]].tolist()))
        if joint_state != JointState(joint.name):
            joints.append(joint_state)
    return replace(state, joints=(*joints, *stated.values())), reasons


@lru_cache(maxsize=16)
def _local(robot: RobotModel) -> LocalTransforms:
    return LocalTransforms(robot, follow_mimics=False)


class _Recovery:
    """The known links and joints; they grow until nothing more can be computed."""

    def __init__(self, state: ModelState, robot: RobotModel) -> None:
        self._state = state
        self._robot = robot
        self.space = JointSpace.of(robot)
        values: JointValues = joint_values(state, self.space)
        self.q = np.array(values.q)
        self._v, self._moving = values.v, values.velocities_of
        self.known = set(values.positions_of)
        self._observed = set[str]()
        self._placed: dict[int, FloatArray] = {0: np.eye(4)}
        posed = [link for link in state.links if link.pose is not None and link.name in robot.link_index]
        matrices = pose_matrices([link.pose for link in posed])
        self._placed.update((robot.link_index[link.name], T) for link, T in zip(posed, matrices, strict=True))

    def run(self) -> dict[str, str]:
        """Compute all possible positions; return the reasons for the others."""
        reasons: dict[str, str] = {}
        self._observe_root()
        while True:
            before = (len(self.known), len(self._placed))
            self._place_links()
            joints = [joint for joint in self._missing() if self._has_known_links(joint) and joint.name not in reasons]
            if joints:
                self.observe(joints, np.array([self._motion(joint) for joint in joints]), reasons)
            elif (len(self.known), len(self._placed)) == before:
                # Observed values have priority over derived ones: derive only after all observations.
                self._lead(reasons)
                self.q = with_mimic_values(self.space.mimics, self.q, self.space.joint_positions, self.known)
                if (len(self.known), len(self._placed)) == before:
                    break
        for joint in self._missing():
            reasons.setdefault(joint.name, NOT_OBSERVED)
        return reasons

    def _observe_root(self) -> None:
        """Compute a virtual joint's position from the model's pose in its parent frame, if other joints follow it."""
        root, state = self._robot.root_joint, self._state
        leads = any(leader is root for _, leader, _ in followings(self._robot))
        if leads and state.pose is not None and state.parent == root.parent_link:
            self.observe([root], np.array([pose_matrix(state.pose)]), {})

    def _lead(self, reasons: dict[str, str]) -> None:
        """Set leaders from their observed followers; remove joints that disagree."""
        followers: dict[str, list[JointModel]] = {}
        determined = set(self._observed)
        for joint, leader, source in followings(self._robot):
            if joint.name in self.known and not joint.motion.has_quaternion:
                followers.setdefault(leader.name, []).append(joint)
                if source.multiplier != 0.0 and leader.name not in self.known:
                    determined.add(leader.name)
        for name, seen in followers.items():
            if name not in determined:
                continue
            leader = self._robot.joint(name)
            group = [leader, *seen] if name in self.known else seen
            observed = self._observed & {joint.name for joint in group}
            found = [self._led(leader, group, at) for at in range(leader.position_count)]
            worst = max(found, key=lambda item: item.residual)
            if worst.residual <= RESIDUAL_TOLERANCE:
                self.q[self.space.positions_of(leader)] = [item.value for item in found]
                self.known.add(name)
                self._observed -= observed
                continue
            reason = (
                f"disagrees with the joints that follow '{name}': '{worst.worst}' is {worst.residual:.3g} away from "
                "where its leader takes it"
            )
            reasons |= dict.fromkeys(observed, reason)
            self.known -= observed
            self._observed -= observed

    def _led(self, leader: JointModel, group: list[JointModel], at: int) -> LeaderPosition:
        """Return variable number `at` of a leader from the joints in `group`; the leader is first, if known."""
        sightings = [
            sighting(self.space, joint, leader, at, self.q, observed=joint.name in self._observed) for joint in group
        ]
        return leader_position(sightings, RESIDUAL_TOLERANCE)

    def observe(self, joints: list[JointModel], T_parent_child: FloatArray, reasons: dict[str, str]) -> None:
        """Compute the positions of `joints` from their transforms (n, 4, 4)."""
        observer = JointObserver(self._robot, [joint.name for joint in joints])
        near = with_mimic_values(self.space.mimics, self.q, self.space.joint_positions, set(self.known))
        observation = observer.observe(T_parent_child, near)
        for row, joint in enumerate(joints):
            off, turned = float(observation.distance[row]), float(observation.angle[row])
            if not max(off, turned) <= RESIDUAL_TOLERANCE:
                reasons[joint.name] = f"comes no nearer to the poses of its links than {off:.3g} m and {turned:.3g} rad"
                continue
            where = self.space.joint_positions[joint.name]
            self.q[where] = observation.q[where]
            self.known.add(joint.name)
            self._observed.add(joint.name)

    def velocities(self) -> tuple[FloatArray, frozenset[str]]:
        """Return (velocity_size,) velocities, and the joints with known velocities: stated, or from twists of links."""
        robot = self._robot
        twists: dict[int, FloatArray] = {0: np.zeros(6)}
        for said in self._state.links:
            if said.twist is not None and said.name in robot.link_index:
                twists[robot.link_index[said.name]] = np.array(said.twist)
        if len(twists) == 1:
            return np.array(self._v), self._moving
        local = _local(robot).matrices(self.q)
        # A link that is fixed to one that is known moves with it.
        for link in robot.links[1:]:
            if link.index not in twists and link.parent in twists and not robot.joints[link.index].position_count:
                twists[link.index] = transport_twist(local[link.index], twists[link.parent])
        joints = [
            joint
            for joint in self.space.joints
            if not joint.virtual
            and joint.name in self.known
            and joint.name not in self._moving
            and joint.index in twists
            and robot.links[joint.index].parent in twists
        ]
        v, moving = np.array(self._v), set(self._moving)
        if not joints:
            return v, frozenset(moving)
        relative = np.array(
            [
                twists[joint.index] - transport_twist(local[joint.index], twists[robot.links[joint.index].parent])
                for joint in joints
            ]
        )
        names = [joint.name for joint in joints]
        observed = JointObserver(robot, names).velocities(self.q, relative)
        for name in names:
            v[self.space.joint_velocities[name]] = observed[self.space.joint_velocities[name]]
        moving |= set(names)
        v = with_mimic_values(self.space.velocity_mimics, v, self.space.joint_velocities, moving)
        return v, frozenset(moving)

    def _missing(self) -> list[JointModel]:
        return [joint for joint in self.space.joints if not joint.virtual and joint.name not in self.known]

    def _has_known_links(self, joint: JointModel) -> bool:
        return joint.index in self._placed and self._robot.links[joint.index].parent in self._placed

    def _motion(self, joint: JointModel) -> FloatArray:
        T: FloatArray = invert(self._placed[self._robot.links[joint.index].parent]) @ self._placed[joint.index]
        return T

    def _place_links(self) -> None:
        """Compute the poses of links that fixed and known joints connect to known links, down and up the tree."""
        if len(self._placed) == 1:
            # Only the root link has a pose: no joint follows from links.
            return
        local = _local(self._robot).matrices(self.q)
        tied = [
            link
            for link, joint in zip(self._robot.links[1:], self._robot.joints[1:], strict=True)
            if not joint.position_count or joint.name in self.known
        ]
        for link in tied:
            if link.parent in self._placed and link.index not in self._placed:
                self._placed[link.index] = self._placed[link.parent] @ local[link.index]
        for link in reversed(tied):
            if link.index in self._placed and link.parent not in self._placed:
                self._placed[link.parent] = self._placed[link.index] @ invert(local[link.index])
