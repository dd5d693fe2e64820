# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The difference between two world states, kind by kind, each with its own distance, unit and tolerance.

Every distance is a metric: zero between equal values, the same both ways, and never longer than by way of a third.
Orientations are compared as rotations, so that q and -q, and rpy that name one rotation, are equal; so are a planar
joint's angles that differ by whole turns, and a continuous joint's where the robot is known. What only one state says
is infinitely far from not being said.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from robot_semantics.kinematics.joint_space import JointSpace
from robot_semantics.model.robot_model import RobotModel
from robot_semantics.transforms import quat_angle, quat_from_rpy
from robot_semantics.usdf.poses import pose_quaternions
from robot_semantics.usdf.world_state import (
    EngineState,
    Frame,
    JointState,
    LinkState,
    ModelState,
    Pose,
    Vec6,
    WorldState,
)

Row = tuple[float, ...]


class Kind(enum.Enum):
    """What a difference is a difference of; the value is its name and its unit."""

    POSITION = ("position", "m")
    ORIENTATION = ("orientation", "rad")
    LINEAR_VELOCITY = ("linear velocity", "m/s")
    ANGULAR_VELOCITY = ("angular velocity", "rad/s")
    FORCE = ("force", "N")
    TORQUE = ("torque", "N m")
    JOINT_POSITION = ("joint position", "rad or m")
    JOINT_VELOCITY = ("joint velocity", "rad/s or m/s")
    JOINT_EFFORT = ("joint effort", "N m or N")
    TIME = ("time", "s")
    ENGINE = ("engine state", "")
    STATEMENT = ("statement", "")

    @property
    def label(self) -> str:
        """The name for people."""
        return self.value[0]

    @property
    def unit(self) -> str:
        """The unit of the distance."""
        return self.value[1]


DEFAULT_TOLERANCE = 1e-9


@dataclass(frozen=True, slots=True)
class Difference:
    """One difference.

    Attributes:
        path: what differs: ``pr2::torso_lift_link``, ``pr2 joint elbow``, ``odom``; ``""`` for the world itself.
        kind: the kind of difference.
        distance: how far apart the two are, in the unit of the kind; infinite where only one is stated, or where the
            statements are not numbers.
        first: what the first state says; None for nothing.
        second: what the second state says.
    """

    path: str
    kind: Kind
    distance: float
    first: Any
    second: Any

    def as_json(self) -> dict[str, Any]:
        """Return the fields as JSON-ready values; an infinite distance is null."""
        distance = self.distance if math.isfinite(self.distance) else None
        return {
            "path": self.path,
            "kind": self.kind.label,
            "unit": self.kind.unit,
            "distance": distance,
            "first": self.first,
            "second": self.second,
        }


def compare(
    first: WorldState,
    second: WorldState,
    *,
    robots: Mapping[str, RobotModel] | None = None,
    tolerances: Mapping[Kind, float] | None = None,
    tolerance: float = DEFAULT_TOLERANCE,
    ignore: Sequence[Kind] = (),
) -> list[Difference]:
    """Return the differences between two states that are beyond tolerance, in the order of the first state.

    Args:
        first: a state.
        second: the state it is compared with.
        robots: the robots by their models' names; they tell which joints are continuous.
        tolerances: the largest distance that is no difference, by kind; for the others it is `tolerance`. A time
            is compared exactly by default.
        tolerance: the general tolerance; 0 asks for equality.
        ignore: kinds that are not looked at.
    """
    found = _Comparison(robots or {})
    found.worlds(first, second)
    limits = {Kind.TIME: 0.0, **(tolerances or {})}
    return [
        difference
        for difference in found.finished()
        if difference.kind not in ignore and not difference.distance <= limits.get(difference.kind, tolerance)
    ]


@dataclass(frozen=True, slots=True)
class _Orientation:
    """An orientation difference still to be measured; all of them are measured together."""

    path: str
    first: Pose
    second: Pose


class _Comparison:
    """Collects every difference, zero distances included."""

    def __init__(self, robots: Mapping[str, RobotModel]) -> None:
        self._robots = robots
        self._found: list[Difference | _Orientation] = []

    def finished(self) -> list[Difference]:
        """Return the differences, orientations measured."""
        waiting = [item for item in self._found if isinstance(item, _Orientation)]
        with np.errstate(all="ignore"):
            quats = [pose_quaternions([getattr(item, side) for item in waiting]) for side in ("first", "second")]
            angles = iter(quat_angle(*quats).tolist() if waiting else [])
        return [
            Difference(item.path, Kind.ORIENTATION, next(angles), _angles(item.first), _angles(item.second))
            if isinstance(item, _Orientation)
            else item
            for item in self._found
        ]

    def worlds(self, first: WorldState, second: WorldState) -> None:
        """Compare two worlds."""
        self._statement("", "name", first.name, second.name)
        self._time(first.time_ns, second.time_ns)
        for name, a, b in _pairs(first.models, second.models):
            if self._both("model", name, a, b):
                self._models(name, a, b)
        for name, a, b in _pairs(first.frames, second.frames):
            if self._both("frame", name, a, b):
                self._placed(name, a, b)
        for name, a, b in _pairs(first.engines, second.engines):
            if self._both("engine", name, a, b):
                self._engines(name, a, b)
        self._statement("", "comment", first.comment, second.comment)
        self._statement("", "foreign content", sorted(first.foreign), sorted(second.foreign))

    def _models(self, name: str, first: ModelState, second: ModelState) -> None:
        self._placed(name, first, second)
        for what in ("description", "semantic", "urdf_sha256"):
            self._statement(name, what, getattr(first, what), getattr(second, what))
        for link, a, b in _pairs(first.links, second.links):
            if self._both("link", f"{name}::{link}", a, b):
                self._links(f"{name}::{link}", a, b)
        wrapping = _wrapping_joints(self._robots.get(name))
        for joint, a, b in _pairs(first.joints, second.joints):
            if self._both("joint", f"{name} joint {joint}", a, b):
                self._joints(f"{name} joint {joint}", a, b, wraps=joint in wrapping)

    def _placed(self, path: str, first: ModelState | Frame, second: ModelState | Frame) -> None:
        self._statement(path, "parent", first.parent, second.parent)
        self._statement(path, "parent_link", first.parent_link, second.parent_link)
        self._statement(path, "age", first.age_ns, second.age_ns)
        self._poses(path, first.pose, second.pose)
        self._sixes(path, "twist", first.twist, second.twist, Kind.LINEAR_VELOCITY, Kind.ANGULAR_VELOCITY)
        self._statement(path, "foreign content", sorted(first.foreign), sorted(second.foreign))

    def _links(self, path: str, first: LinkState, second: LinkState) -> None:
        self._poses(path, first.pose, second.pose)
        self._sixes(path, "twist", first.twist, second.twist, Kind.LINEAR_VELOCITY, Kind.ANGULAR_VELOCITY)
        self._sixes(path, "wrench", first.wrench, second.wrench, Kind.FORCE, Kind.TORQUE)
        self._statement(path, "foreign content", sorted(first.foreign), sorted(second.foreign))

    def _poses(self, path: str, first: Pose | None, second: Pose | None) -> None:
        if first is None or second is None:
            self._one_sided(path, Kind.POSITION, first, second)
            return
        if first == second:
            return
        a, b = first.xyz_rpy[:3], second.xyz_rpy[:3]
        self._found.append(Difference(path, Kind.POSITION, math.dist(a, b), list(a), list(b)))
        self._found.append(_Orientation(path, first, second))

    def _sixes(
        self, path: str, what: str, first: Vec6 | None, second: Vec6 | None, linear: Kind, angular: Kind
    ) -> None:
        if first is None or second is None:
            self._one_sided(path, linear, first, second)
            return
        for kind, a, b in ((linear, first[:3], second[:3]), (angular, first[3:], second[3:])):
            self._found.append(Difference(path, kind, math.dist(a, b), list(a), list(b)))

    def _joints(self, path: str, first: JointState, second: JointState, *, wraps: bool) -> None:
        self._statement(path, "age", first.age_ns, second.age_ns)
        self._positions(path, first.positions, second.positions, wraps=wraps)
        for kind, a, b in (
            (Kind.JOINT_VELOCITY, first.velocities, second.velocities),
            (Kind.JOINT_EFFORT, first.torques, second.torques),
        ):
            if a is None or b is None:
                self._one_sided(path, kind, a, b)
            else:
                self._found.append(Difference(path, kind, _distance(a, b), list(a), list(b)))
        self._statement(path, "foreign content", sorted(first.foreign), sorted(second.foreign))

    def _positions(self, path: str, first: Row | None, second: Row | None, *, wraps: bool) -> None:
        if first is None or second is None:
            self._one_sided(path, Kind.JOINT_POSITION, first, second)
            return
        counts = {len(first), len(second)}
        if first == second:
            distance = 0.0
        elif counts <= {6, 7}:
            distance = max(math.dist(first[:3], second[:3]), _rotation_distance(first[3:], second[3:]))
        elif counts == {3}:
            distance = max(math.dist(first[:2], second[:2]), _turn(first[2], second[2]))
        elif counts == {1} and wraps:
            distance = _turn(first[0], second[0])
        else:
            distance = _distance(first, second)
        self._found.append(Difference(path, Kind.JOINT_POSITION, distance, list(first), list(second)))

    def _engines(self, name: str, first: EngineState, second: EngineState) -> None:
        path = f"engine {name}"
        self._statement(path, "version", first.version, second.version, Kind.ENGINE)
        for what, a, b in (("array", first.arrays, second.arrays), ("property", first.attributes, second.attributes)):
            for key in _union(a, b):
                left: Any = a.get(key)
                right: Any = b.get(key)
                if left != right:
                    numbers = what == "array" and left is not None and right is not None
                    distance = _distance(left, right) if numbers else math.inf
                    self._found.append(Difference(f"{path} {what} {key}", Kind.ENGINE, distance, left, right))
        self._statement(path, "foreign content", sorted(first.foreign), sorted(second.foreign), Kind.ENGINE)

    def _time(self, first: int | None, second: int | None) -> None:
        if first is None or second is None:
            self._one_sided("", Kind.TIME, first, second)
        else:
            self._found.append(Difference("", Kind.TIME, abs(first - second) * 1e-9, first * 1e-9, second * 1e-9))

    def _both(self, what: str, path: str, first: Any, second: Any) -> bool:
        if first is None or second is None:
            stated = f"{what} is stated"
            self._found.append(Difference(path, Kind.STATEMENT, math.inf, _if(first, stated), _if(second, stated)))
            return False
        return True

    def _one_sided(self, path: str, kind: Kind, first: Any, second: Any) -> None:
        if first is not None or second is not None:
            self._found.append(Difference(path, kind, math.inf, _if(first, "stated"), _if(second, "stated")))

    def _statement(self, path: str, what: str, first: Any, second: Any, kind: Kind = Kind.STATEMENT) -> None:
        if first != second:
            self._found.append(Difference(f"{path} {what}".strip(), kind, math.inf, first, second))


def _pairs(first: Sequence[Any], second: Sequence[Any]) -> Iterator[tuple[str, Any, Any]]:
    """Yield the items of two lists by name, those of the first in its order, then those only the second has."""
    a, b = {item.name: item for item in first}, {item.name: item for item in second}
    for name in _union(a, b):
        yield name, a.get(name), b.get(name)


def _union(first: Mapping[str, Any], second: Mapping[str, Any]) -> list[str]:
    return list(dict.fromkeys((*first, *second)))


def _wrapping_joints(robot: RobotModel | None) -> frozenset[str]:
    if robot is None:
        return frozenset()
    return frozenset(joint.name for joint in JointSpace.of(robot).joints if joint.motion.wraps)


def _if(value: Any, word: str) -> str | None:
    return None if value is None else word


def _distance(first: Row, second: Row) -> float:
    return math.dist(first, second) if len(first) == len(second) else math.inf


def _turn(first: float, second: float) -> float:
    """Return the angle between two angles [rad], at most π."""
    return abs(math.remainder(first - second, math.tau))


def _rotation_distance(first: Row, second: Row) -> float:
    """Return the angle between rotations given as rpy (3) or quaternion (4) [rad]; of no rotation it is infinite."""
    quats = []
    for row in (first, second):
        if len(row) == 4 and not any(row):
            return math.inf
        quats.append(np.array(row) if len(row) == 4 else quat_from_rpy(np.array(row)))
    return float(quat_angle(*quats))


def _angles(pose: Pose) -> dict[str, list[float]]:
    values = {"rpy": list(pose.xyz_rpy[3:])}
    if pose.quat_xyzw is not None:
        values["quat_xyzw"] = list(pose.quat_xyzw)
    return values
