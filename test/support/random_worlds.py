# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Random worlds of random robots, with all poses in them: plain matrices and scipy, without the package.

The true values are made first: pose and motion of every frame and robot in the world. States are made from them in many
ways: in any parent, by joints, by links, by both, in part.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.spatial.transform import Rotation

from robot_semantics import WorldState
from robot_semantics.transforms.pose import Pose
from robot_semantics.usdf.world_state import Frame, JointState, LinkState, ModelState

FloatArray = npt.NDArray[np.float64]
Files = tuple[str, str | None]

TYPES = ("revolute", "continuous", "prismatic", "fixed", "planar", "floating")
BASES = (None, "fixed", "planar", "floating")


@dataclass(frozen=True, eq=False)
class Joint:
    """A joint as its URDF has it, and where it really is."""

    name: str
    type: str
    parent: str
    child: str
    T_origin: FloatArray
    axis: FloatArray
    q: FloatArray
    v: FloatArray
    mimic: tuple[str, float, float] | None = None
    slipped: bool = False
    """Whether it is elsewhere than its leader takes it."""

    def motion(self) -> FloatArray:
        return motion(self.type, self.axis, self.q)


@dataclass(frozen=True, eq=False)
class Robot:
    """A robot, and where its root link really is in the frame of its virtual joint."""

    name: str
    joints: tuple[Joint, ...]
    base: str | None
    frame: str
    T_frame_root: FloatArray
    twist_frame_root: FloatArray

    @property
    def files(self) -> Files:
        links = "".join(f'<link name="{name}"/>' for name in self.links)
        joints = "".join(_joint_xml(joint) for joint in self.joints)
        srdf = None
        if self.base is not None:
            joint = f'<virtual_joint name="{self.name}_base" type="{self.base}" parent_frame="{self.frame}"'
            srdf = f'<robot name="{self.name}">{joint} child_link="{self.links[0]}"/></robot>'
        return f'<robot name="{self.name}">{links}{joints}</robot>', srdf

    @property
    def links(self) -> tuple[str, ...]:
        return ("base", *(joint.child for joint in self.joints))

    @property
    def T_root_link(self) -> dict[str, FloatArray]:
        found = {"base": np.eye(4)}
        for joint in self.joints:
            found[joint.child] = found[joint.parent] @ joint.T_origin @ joint.motion()
        return found


@dataclass(frozen=True, eq=False)
class RandomWorld:
    """A state and the expected results.

    Attributes:
        state: the state.
        robots: each model's URDF and SRDF.
        T_world_link: poses that follow from the state, by model and link.
        positions: joint positions that follow, by model and joint; as URDF has them, quaternions x y z w.
        velocities: joint velocities that are stated.
        base_twist: motion of the root link in its virtual joint's frame, in that frame's axes, if it follows.
        must: subjects that every consumer must refuse: ``model 'm': joint 'j'``.
        may: subjects that some consumers cannot use, such as a fixed base elsewhere, or the motion of a frame.
    """

    state: WorldState
    robots: dict[str, Files]
    T_world_link: dict[str, dict[str, FloatArray]]
    positions: dict[str, dict[str, FloatArray]]
    velocities: dict[str, dict[str, FloatArray]]
    base_twist: dict[str, FloatArray]
    must: frozenset[str]
    may: frozenset[str]


def motion(kind: str, axis: FloatArray, q: FloatArray) -> FloatArray:
    """Return the (4, 4) motion of a joint."""
    T = np.eye(4)
    if kind in ("revolute", "continuous"):
        T[:3, :3] = Rotation.from_rotvec(axis * q[0]).as_matrix()
    elif kind == "prismatic":
        T[:3, 3] = axis * q[0]
    elif kind == "planar":
        T[:3, 3] = plane(axis) @ q[:2]
        T[:3, :3] = Rotation.from_rotvec(axis * q[2]).as_matrix()
    elif kind == "floating":
        T[:3, 3] = q[:3]
        T[:3, :3] = Rotation.from_quat(q[3:]).as_matrix()
    return T


def plane(axis: FloatArray) -> FloatArray:
    """Return (3, 2) the axes of a plane: X and Y carried along by the smallest rotation that takes Z to `axis`."""
    turn = np.cross((0.0, 0.0, 1.0), axis)
    length = np.linalg.norm(turn)
    angle = np.arctan2(length, axis[2])
    R = np.eye(3) if length == 0.0 else Rotation.from_rotvec(turn / length * angle).as_matrix()
    return np.asarray(R[:, :2])


def random_pose(rng: np.random.Generator, reach: float = 2.0) -> FloatArray:
    T = np.eye(4)
    T[:3, :3] = Rotation.random(random_state=rng).as_matrix()
    T[:3, 3] = rng.uniform(-reach, reach, 3)
    return T


def pose_of(T: FloatArray) -> Pose:
    """Return a pose with its exact quaternion."""
    turn = Rotation.from_matrix(T[:3, :3])
    x, y, z = T[:3, 3].tolist()
    roll, pitch, yaw = turn.as_euler("xyz").tolist()
    qx, qy, qz, qw = turn.as_quat().tolist()
    return Pose((x, y, z, roll, pitch, yaw), (qx, qy, qz, qw))


def _joint_xml(joint: Joint) -> str:
    pose = pose_of(joint.T_origin).xyz_rpy
    numbers = [" ".join(map(repr, row)) for row in (pose[:3], pose[3:], joint.axis.tolist())]
    limit = '<limit lower="-2" upper="2" effort="10" velocity="10"/>' if joint.type in ("revolute", "prismatic") else ""
    mimic = ""
    if joint.mimic is not None:
        leader, multiplier, offset = joint.mimic
        mimic = f'<mimic joint="{leader}" multiplier="{multiplier!r}" offset="{offset!r}"/>'
    axis = "" if joint.type in ("fixed", "floating") else f'<axis xyz="{numbers[2]}"/>'
    return (
        f'<joint name="{joint.name}" type="{joint.type}"><parent link="{joint.parent}"/><child link="{joint.child}"/>'
        f'<origin xyz="{numbers[0]}" rpy="{numbers[1]}"/>{axis}{limit}{mimic}</joint>'
    )


def random_robot(rng: np.random.Generator, name: str, frames: list[str]) -> Robot:
    """Return a robot of a few joints, wherever it may be."""
    joints: list[Joint] = []
    for number in range(int(rng.integers(1, 7))):
        kind = str(rng.choice(TYPES, p=(0.35, 0.15, 0.2, 0.14, 0.08, 0.08)))
        axis = rng.normal(size=3)
        axis /= np.linalg.norm(axis)
        q, v = _random_motion(rng, kind)
        parent = str(rng.choice(["base", *(joint.child for joint in joints)]))
        leaders = [joint for joint in joints if joint.type == kind and joint.mimic is None and len(joint.q) == 1]
        mimic, slipped = None, False
        if leaders and rng.random() < 0.5:
            leader = leaders[0]
            multiplier, offset = float(rng.choice((-1.0, 0.5))), float(rng.uniform(-0.2, 0.2))
            mimic, slipped = (leader.name, multiplier, offset), bool(rng.random() < 0.3)
            q = multiplier * leader.q + offset + (0.15 if slipped else 0.0)
            v = multiplier * leader.v
        T = random_pose(rng, 0.5)
        joints.append(Joint(f"j{number}", kind, parent, f"l{number}", T, axis, q, v, mimic, slipped))
    base = BASES[int(rng.integers(len(BASES)))]
    frame = "world" if base is None else str(rng.choice(frames))
    T, twist = np.eye(4), np.zeros(6)
    if base == "planar":
        x, y, theta = rng.uniform(-2.0, 2.0, 3)
        T = motion("planar", np.array([0.0, 0.0, 1.0]), np.array([x, y, theta]))
        twist[[0, 1, 5]] = rng.uniform(-1.0, 1.0, 3)
    elif base == "floating":
        T, twist = random_pose(rng), rng.uniform(-1.0, 1.0, 6)
    elif base is None:
        T = random_pose(rng)
    return Robot(name, tuple(joints), base, frame, T, twist)


def _random_motion(rng: np.random.Generator, kind: str) -> tuple[FloatArray, FloatArray]:
    if kind == "fixed":
        return np.zeros(0), np.zeros(0)
    if kind == "planar":
        return rng.uniform(-1.5, 1.5, 3), rng.uniform(-1.0, 1.0, 3)
    if kind == "floating":
        quat = Rotation.random(random_state=rng).as_quat()
        return np.concatenate((rng.uniform(-1.0, 1.0, 3), quat)), rng.uniform(-1.0, 1.0, 6)
    return rng.uniform(-1.4, 1.4, 1), rng.uniform(-1.0, 1.0, 1)


@dataclass(eq=False)
class _Body:
    """A frame or model in the world: pose, twist in the world's axes, and whether its state says how it moves."""

    T: FloatArray
    twist: FloatArray
    parent: str
    moves: bool
    """Whether its state says how it moves against its parent."""


@dataclass(eq=False)
class _Maker:
    rng: np.random.Generator
    fault: str | None
    calm: bool
    """Whether everything is stated that puts a robot somewhere, so that nothing need be refused."""
    bodies: dict[str, _Body] = field(default_factory=dict)
    models: list[ModelState] = field(default_factory=list)
    must: set[str] = field(default_factory=set)
    may: set[str] = field(default_factory=set)

    def make(self) -> RandomWorld:
        rng, found = self.rng, RandomWorld(WorldState(), {}, {}, {}, {}, {}, frozenset(), frozenset())
        self.bodies["world"] = _Body(np.eye(4), np.zeros(6), "world", True)
        frames, any_moves = [], not self.calm and rng.random() < 0.3
        for number in range(int(rng.integers(1, 4))):
            name = f"frame_{number}"
            parent = str(rng.choice(list(self.bodies)))
            above = self.bodies[parent]
            T_parent, moves = random_pose(rng), self.calm or bool(rng.random() < 0.7)
            relative = rng.uniform(-0.5, 0.5, 6) * (any_moves and rng.random() < 0.7)
            if moves and relative.any():
                self.may.add(f"frame '{name}'")
            self.bodies[name] = _Body(above.T @ T_parent, carried(above, T_parent, relative), parent, moves)
            stated = tuple(relative.tolist()) if moves else None
            frames.append(Frame(name, parent, pose_of(T_parent), stated, age_ns=self._age()))
        for number in range(int(rng.integers(1, 4))):
            robot = random_robot(rng, f"m{number}", [frame.name for frame in frames] + ["world"])
            self._add(robot, found)
        order = rng.permutation(len(self.models))
        state = WorldState("random", tuple(self.models[at] for at in order), tuple(frames), 12_500_000_000)
        return replace(found, state=state, must=frozenset(self.must), may=frozenset(self.may))

    def _add(self, robot: Robot, found: RandomWorld) -> None:
        rng, name = self.rng, robot.name
        frame = self.bodies[robot.frame]
        T_frame_root = robot.T_frame_root.copy()
        placed, moving = self.calm or rng.random() < 0.9, self.calm or rng.random() < 0.6
        if self.fault == "plane" and robot.base == "planar" and placed:
            T_frame_root[2, 3] += 0.25
            self.must.add(f"model '{name}': pose")
        if robot.base == "fixed" and not self.calm and rng.random() < 0.3:
            T_frame_root = random_pose(rng)
            self.may.add(f"model '{name}': pose")
        T = frame.T @ T_frame_root
        parent = robot.frame if rng.random() < 0.3 else str(rng.choice(list(self.bodies)))
        above = self.bodies[parent]
        body = _Body(T, carried(frame, T_frame_root, robot.twist_frame_root), parent, True)
        twist = None
        if moving:
            twist = tuple(relative_twist(above, body).tolist())
            # A rotating joint also moves the root link, faster at a larger distance.
            known = self._known(robot.frame, parent) and (placed or parent == robot.frame)
            # A floating joint may move in the world, independent of its virtual joint's frame.
            in_world = self._known("world", parent) and (placed or parent == "world")
            if known:
                found.base_twist[name] = robot.twist_frame_root
            if not (known and in_world):
                either = robot.base == "floating" and (known or in_world)
                (self.may if either or known else self.must).add(f"model '{name}': twist")
        pose = pose_of(np.linalg.inv(above.T) @ T) if placed else None
        links, joints = self._statements(robot, found)
        self.models.append(ModelState(name, parent, pose, twist, links, joints, age_ns=self._age()))
        found.robots[name] = robot.files
        if placed:
            body.moves = moving
            self.bodies[name] = body
            here = found.T_world_link[name]
            found.T_world_link[name] = {link: T @ T_root_link for link, T_root_link in here.items()}
        else:
            del found.T_world_link[name]

    def _age(self) -> int | None:
        """Return how much older than the state's time a value is [ns], where that is said."""
        return int(self.rng.integers(1, 3_000_000_000)) if self.rng.random() < 0.3 else None

    def _known(self, one: str, other: str) -> bool:
        """Tell whether the state says how one body moves against another."""

        def path(name: str) -> list[str]:
            above = [name]
            while name != "world":
                name = self.bodies[name].parent
                above.append(name)
            return above

        ours, theirs = path(one), path(other)
        return all(self.bodies[name].moves for name in (*ours, *theirs) if (name in ours) != (name in theirs))

    def _statements(self, robot: Robot, found: RandomWorld) -> tuple[tuple[LinkState, ...], tuple[JointState, ...]]:
        """Return the stated values of links and joints, and store the derived ones."""
        rng, name, T_root_link = self.rng, robot.name, robot.T_root_link
        by_joints, by_links = rng.choice((0.0, 0.7, 1.0)), rng.choice((0.0, 0.7, 1.0))
        by_joints = max(by_joints, float(self.calm and by_links < 1.0))
        moving = [joint for joint in robot.joints if len(joint.q)]
        # A follower that differs from its leader is only known if both are stated.
        apart = {name for joint in moving if joint.slipped and joint.mimic for name in (joint.name, joint.mimic[0])}
        stated = [joint for joint in moving if rng.random() < by_joints or joint.name in apart]
        with_rates = bool(rng.random() < 0.6)
        posed = [link for link in robot.links if rng.random() < by_links]
        joints = [
            JointState(
                joint.name,
                tuple(joint.q.tolist()),
                tuple(joint.v.tolist()) if with_rates else None,
                age_ns=self._age(),
            )
            for joint in stated
        ]
        poses = {link: T_root_link[link] for link in posed}
        single = [joint for joint in stated if joint.type in ("revolute", "prismatic")]
        if self.fault == "limit" and single:
            bad = single[0].name
            joints = [replace(joint, positions=(2.5,)) if joint.name == bad else joint for joint in joints]
            self.must.add(f"model '{name}': joint '{bad}'")
            self._spoil(robot, bad, posed)
        if self.fault == "unknown":
            joints.append(JointState("elbwo", (0.1,)))
            self.must.add(f"model '{name}': joint 'elbwo'")
        known, placed = follows(robot, {joint.name for joint in stated}, set(posed))
        if self.fault == "link" and stated and stated[0].child in poses:
            bent = {joint.child for joint in stated if joint.name in known}
            wrong = next(iter(sorted(bent & set(posed))))
            poses[wrong] = poses[wrong] @ motion("prismatic", np.array([0.0, 0.0, 1.0]), np.array([0.2]))
            self.must.add(f"model '{name}': link '{wrong}'")
            self._spoil(robot, "", posed)
        self.must |= {f"model '{name}': link '{link}'" for link in posed if link not in placed}
        links = tuple(LinkState(link, pose_of(T)) for link, T in poses.items())
        found.T_world_link[name] = {link: T_root_link[link] for link in placed}
        found.positions[name] = {joint.name: joint.q for joint in moving if joint.name in known}
        found.velocities[name] = {joint.name: joint.v for joint in stated if with_rates}
        return links, tuple(joints[at] for at in rng.permutation(len(joints)))

    def _spoil(self, robot: Robot, joint: str, posed: list[str]) -> None:
        """Store that items depending on a fault may also be refused."""
        self.may |= {f"model '{robot.name}': link '{link}'" for link in posed}
        self.may |= {f"model '{robot.name}': joint '{other.name}'" for other in robot.joints if other.name != joint}


def follows(robot: Robot, joints: set[str], links: set[str]) -> tuple[set[str], set[str]]:
    """Return the joints that follow from stated joints and links, and the links that they place in the root link."""
    known, posed = set(joints), {"base", *links}
    while True:
        before = len(known), len(posed)
        for joint in robot.joints:
            rigid = joint.type == "fixed" or joint.name in known
            ends = {joint.parent, joint.child}
            if rigid and ends & posed:
                posed |= ends
            elif ends <= posed:
                known.add(joint.name)
            if joint.mimic is not None and {joint.name, joint.mimic[0]} & known:
                known |= {joint.name, joint.mimic[0]}
        if before == (len(known), len(posed)):
            break
    placed = {"base"}
    for joint in robot.joints:
        if joint.parent in placed and (joint.type == "fixed" or joint.name in known):
            placed.add(joint.child)
    return known, placed


def carried(above: _Body, T_above_body: FloatArray, relative: FloatArray) -> FloatArray:
    """Return (6,) the world twist of an object that moves relative to a body, in that body's axes."""
    R, lever = above.T[:3, :3], above.T[:3, :3] @ T_above_body[:3, 3]
    linear = above.twist[:3] + np.cross(above.twist[3:], lever) + R @ relative[:3]
    return np.concatenate((linear, above.twist[3:] + R @ relative[3:]))


def relative_twist(above: _Body, body: _Body) -> FloatArray:
    """Return (6,) the twist of a body relative to another, in the other's axes."""
    R, lever = above.T[:3, :3], body.T[:3, 3] - above.T[:3, 3]
    linear = body.twist[:3] - above.twist[:3] - np.cross(above.twist[3:], lever)
    return np.concatenate((R.T @ linear, R.T @ (body.twist[3:] - above.twist[3:])))


FAULTS = (None, None, None, "plane", "limit", "unknown", "link")


def random_world(seed: int) -> RandomWorld:
    """Return the world of a number, always the same."""
    rng = np.random.default_rng((14, seed))
    fault = FAULTS[seed % len(FAULTS)]
    return _Maker(rng, fault, fault is None and seed % 2 == 0).make()


def as_list(value: Any) -> list[float]:
    """Return numbers as a list of Python floats."""
    return [float(number) for number in np.ravel(value)]
