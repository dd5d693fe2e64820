# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The differences between two world states; each kind has its own distance, unit and tolerance.

Every distance is a metric: zero between equal values, symmetric, and with the triangle inequality. Orientations are
compared as rotations: q and -q are equal, and so are different rpy of one rotation. Angles of a planar joint that
differ by whole turns are equal; those of a continuous joint also, if the robot is known. The distance between a stated
value and no value is infinite.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from robot_semantics.base.json_value import Json, JsonObject
from robot_semantics.base.nanoseconds import float_seconds
from robot_semantics.base.record import record
from robot_semantics.kinematics.joint_space import JointSpace
from robot_semantics.model.robot_model import RobotModel
from robot_semantics.transforms import quat_angle, quat_from_rpy
from robot_semantics.transforms.pose import Pose, Vec6, pose_quaternions
from robot_semantics.usdf.fields import ElementField, ElementList, fields_of, lists_of
from robot_semantics.usdf.table import MODEL, USDF, DifferenceKind, ValueForm
from robot_semantics.usdf.world_state import JointState, WorldState
from robot_semantics.xml.schema import Element
from robot_semantics.xml.schema_writer import to_json

Row = tuple[float, ...]


DEFAULT_TOLERANCE = 1e-9


@record(frozen=True, slots=True)
class StateDifference:
    """One difference.

    Attributes:
        path: the item: ``pr2::torso_lift_link``, ``pr2 joint elbow``, ``odom``; ``""`` for the world itself.
        kind: the kind of difference.
        distance: distance in the unit of the kind; infinite if only one value is stated, or if the values are not
            numbers.
        first: the value in the first state; None if not stated.
        second: the value in the second state; None if not stated.
    """

    path: str
    kind: DifferenceKind
    distance: float
    first: Json
    second: Json

    def as_json(self) -> JsonObject:
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
    tolerances: Mapping[DifferenceKind, float] | None = None,
    tolerance: float = DEFAULT_TOLERANCE,
    ignore: Sequence[DifferenceKind] = (),
) -> list[StateDifference]:
    """Return the differences between two states above the tolerance, in the order of the first state.

    Args:
        first: a state.
        second: the state it is compared with.
        robots: the robots by their models' names; with them, continuous joints are known.
        tolerances: the largest distance that is not reported, by kind; other kinds have `tolerance`. Times are
            compared exactly by default.
        tolerance: the general tolerance; 0 means equality.
        ignore: kinds that are not compared.
    """
    found = _Comparison(robots or {})
    found.values("", USDF.root, first, second)
    limits = {DifferenceKind.TIME: 0.0, **(tolerances or {})}
    return [
        difference
        for difference in found.finished()
        if difference.kind not in ignore and not difference.distance <= limits.get(difference.kind, tolerance)
    ]


@record(frozen=True, slots=True)
class _Orientation:
    """An orientation difference that is measured later, together with all others."""

    path: str
    first: Pose
    second: Pose


class _Comparison:
    """Collects the differences of two states by the table of USDF."""

    def __init__(self, robots: Mapping[str, RobotModel]) -> None:
        self._robots = robots
        self._differences: list[StateDifference | _Orientation] = []
        self._wrapping: frozenset[str] = frozenset()
        self._measures: dict[ValueForm, Callable[[str, ElementField, Any, Any, Any], None]] = {
            ValueForm.TIME: self._times,
            ValueForm.POSE: self._poses,
            ValueForm.VECTORS: self._vectors,
            ValueForm.ROW: self._rows,
            ValueForm.JOINT_POSITION: self._positions,
        }

    def finished(self) -> list[StateDifference]:
        """Return the differences, with measured orientations."""
        waiting = [item for item in self._differences if isinstance(item, _Orientation)]
        with np.errstate(all="ignore"):
            quats = [pose_quaternions([getattr(item, side) for item in waiting]) for side in ("first", "second")]
            angles = iter(quat_angle(*quats).tolist() if waiting else [])
        return [
            StateDifference(
                item.path, DifferenceKind.ORIENTATION, next(angles), _angles(item.first), _angles(item.second)
            )
            if isinstance(item, _Orientation)
            else item
            for item in self._differences
        ]

    def values(
        self, path: str, element: Element, first: Any, second: Any, statement: DifferenceKind = DifferenceKind.STATEMENT
    ) -> None:
        """Compare two values of an element with all their content."""
        for field in fields_of(element):
            a, b = getattr(first, field.name), getattr(second, field.name)
            if a == b or not field.quantity.kinds:
                continue
            measure = self._measures.get(field.quantity.form)
            if measure is None:
                self._statement(f"{path} {field.label}", statement, *(_plain(value, field) for value in (a, b)))
            elif a is None or b is None:
                kind = field.quantity.kinds[0]
                self._differences.append(
                    StateDifference(path, kind, math.inf, _if_stated(a, "stated"), _if_stated(b, "stated"))
                )
            else:
                measure(path, field, first, a, b)
        for items in lists_of(element):
            if items.keyed:
                self._entries(path, items, statement, getattr(first, items.field), getattr(second, items.field))
            else:
                self._items(path, items, getattr(first, items.field), getattr(second, items.field))
        if element.keeps and first.foreign != second.foreign:
            self._statement(f"{path} foreign content", statement, sorted(first.foreign), sorted(second.foreign))

    def _items(self, parent: str, items: ElementList, first: Sequence[object], second: Sequence[object]) -> None:
        for name, a, b in _pairs(first, second):
            path = items.quantity.path_of(parent, name)
            if a is None or b is None:
                stated = f"{items.quantity.word} is stated"
                self._statement(path, DifferenceKind.STATEMENT, _if_stated(a, stated), _if_stated(b, stated))
                continue
            if items.element is MODEL:
                self._wrapping = _wrapping_joints(self._robots.get(name))
            self.values(path, items.element, a, b, items.quantity.kind)

    def _entries(
        self, path: str, items: ElementList, kind: DifferenceKind, first: Mapping[str, Json], second: Mapping[str, Json]
    ) -> None:
        for key in _union(first, second):
            a, b = first.get(key), second.get(key)
            if a != b:
                distance = _distance(a, b) if isinstance(a, tuple) and isinstance(b, tuple) else math.inf
                self._differences.append(StateDifference(f"{path} {items.quantity.word} {key}", kind, distance, a, b))

    def _statement(self, path: str, kind: DifferenceKind, first: Any, second: Any) -> None:
        if first != second:
            self._differences.append(StateDifference(path.strip(), kind, math.inf, first, second))

    def _times(self, path: str, field: ElementField, _: object, first: int, second: int) -> None:
        distance, *values = map(float_seconds, (abs(first - second), first, second))
        self._differences.append(StateDifference(path, field.quantity.kinds[0], distance, *values))

    def _poses(self, path: str, field: ElementField, _: object, first: Pose, second: Pose) -> None:
        a, b = first.xyz_rpy[:3], second.xyz_rpy[:3]
        self._differences.append(StateDifference(path, field.quantity.kinds[0], math.dist(a, b), list(a), list(b)))
        self._differences.append(_Orientation(path, first, second))

    def _vectors(self, path: str, field: ElementField, _: object, first: Vec6, second: Vec6) -> None:
        for kind, a, b in zip(field.quantity.kinds, (first[:3], first[3:]), (second[:3], second[3:]), strict=True):
            self._differences.append(StateDifference(path, kind, math.dist(a, b), list(a), list(b)))

    def _rows(self, path: str, field: ElementField, _: object, first: Row, second: Row) -> None:
        kind = field.quantity.kinds[0]
        self._differences.append(StateDifference(path, kind, _distance(first, second), list(first), list(second)))

    def _positions(self, path: str, field: ElementField, joint: JointState, first: Row, second: Row) -> None:
        counts = {len(first), len(second)}
        if counts <= {6, 7}:
            distance = max(math.dist(first[:3], second[:3]), _rotation_distance(first[3:], second[3:]))
        elif counts == {3}:
            distance = max(math.dist(first[:2], second[:2]), _turn(first[2], second[2]))
        elif counts == {1} and joint.name in self._wrapping:
            distance = _turn(first[0], second[0])
        else:
            distance = _distance(first, second)
        self._differences.append(StateDifference(path, field.quantity.kinds[0], distance, list(first), list(second)))


def _pairs(first: Sequence[Any], second: Sequence[Any]) -> Iterator[tuple[str, Any, Any]]:
    """Yield the items of two lists by name: those of the first list in its order, then the others of the second."""
    a, b = {item.name: item for item in first}, {item.name: item for item in second}
    for name in _union(a, b):
        yield name, a.get(name), b.get(name)


def _union(first: Mapping[str, Json], second: Mapping[str, Json]) -> list[str]:
    return list(dict.fromkeys((*first, *second)))


def _wrapping_joints(robot: RobotModel | None) -> frozenset[str]:
    if robot is None:
        return frozenset()
    return frozenset(joint.name for joint in JointSpace.of(robot).joints if joint.motion.wraps)


def _plain(value: Any, field: ElementField) -> Json:
    """Return a value for JSON."""
    element = field.element
    return value if element is None or element.make is None or value is None else to_json(value, element)


def _if_stated(value: object, word: str) -> str | None:
    return None if value is None else word


def _distance(first: Row, second: Row) -> float:
    return math.dist(first, second) if len(first) == len(second) else math.inf


def _turn(first: float, second: float) -> float:
    """Return the angle between two angles [rad], at most π."""
    return abs(math.remainder(first - second, math.tau))


def _rotation_distance(first: Row, second: Row) -> float:
    """Return the angle between rotations given as rpy (3) or quaternion (4) [rad]; infinite if one is not a
    rotation.
    """
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
