# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""A world state between two others: positions, velocities and wrenches are interpolated linearly, rotations the short
way.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from robot_semantics.base.diagnostic import SourcePlace
from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.base.errors import ArrayError
from robot_semantics.base.nanoseconds import seconds_text
from robot_semantics.kinematics.joint_space import JointSpace
from robot_semantics.model.robot_model import RobotModel
from robot_semantics.transforms import quat_from_rpy, quat_slerp, rpy_from_quat
from robot_semantics.transforms.pose import Pose, pose_from_quaternion, pose_quaternions
from robot_semantics.usdf.fields import ROOT_PATH, ElementList, fields_of, fields_with, lists_of
from robot_semantics.usdf.joint_values import RPY_COUNT
from robot_semantics.usdf.recover import recover_joints
from robot_semantics.usdf.robot import rederive_links
from robot_semantics.usdf.table import MODEL, USDF, ValueForm
from robot_semantics.usdf.validity import SOURCE, element_path
from robot_semantics.usdf.world_state import Frame, JointState, ModelState, WorldState, carrier_of
from robot_semantics.xml.schema import Element

Row = tuple[float, ...]


def interpolate_states(
    first: WorldState,
    second: WorldState,
    share: float,
    *,
    robots: Mapping[str, RobotModel] | None = None,
    diagnostics: Diagnostics | None = None,
) -> WorldState:
    """Return the state a `share` of the way from `first` (0) to `second` (1).

    Values that only one state has, and engine states, are omitted, each with a warning. If the robot is known,
    continuous joints move the short way, and the links follow the joints.

    Raises:
        ArrayError: `share` is not within 0 to 1.
        DescriptionError: a body has different parents, or a joint has different numbers of values; all problems are
            reported.
    """
    if not 0.0 <= share <= 1.0:
        raise ArrayError("share", f"{share} is not within 0 to 1")
    found = Diagnostics()
    state: WorldState = _Blend(share, robots or {}, found).values(first, second, USDF.root, ROOT_PATH)
    found.raise_if_failed()
    if diagnostics is not None:
        diagnostics.extend(found)
    return state


def share_at(first: WorldState, second: WorldState, time_ns: int) -> float:
    """Return the share of the way from `first` to `second` at which the time is `time_ns`.

    Raises:
        ArrayError: a state has no time, both have the same, or `time_ns` is not between them.
    """
    start, end = first.time_ns, second.time_ns
    if start is None or end is None:
        raise ArrayError("time", "a state has no time (rs:time)")
    if start == end:
        raise ArrayError("time", f"both states have the same time, {seconds_text(start)} s")
    if not min(start, end) <= time_ns <= max(start, end):
        between = f"{seconds_text(start)} and {seconds_text(end)} s"
        raise ArrayError("time", f"{seconds_text(time_ns)} s is not between {between}")
    return (time_ns - start) / (end - start)


class _Blend:
    """Computes the values between two states by the table of USDF."""

    def __init__(self, share: float, robots: Mapping[str, RobotModel], found: Diagnostics) -> None:
        self._share = share
        self._robots = robots
        self._diagnostics = found
        self._wrapping: frozenset[str] = frozenset()
        self._blends: dict[ValueForm, Callable[[Any, Any, str, Any], Any]] = {
            ValueForm.STATEMENT: lambda first, second, path, _: first if first == second else None,
            ValueForm.MOMENT: lambda first, second, path, _: None,
            ValueForm.TIME: self._time,
            ValueForm.POSE: self._pose,
            ValueForm.VECTORS: self._row,
            ValueForm.ROW: self._row,
            ValueForm.JOINT_POSITION: self._positions,
        }

    def values(self, first: Any, second: Any, element: Element, path: str) -> Any:
        """Return the value of an element between two, with all its content."""
        blended: dict[str, Any] = {"ordinal": -1} if path == ROOT_PATH else {}
        if fields_with(element, ValueForm.CARRIER):
            self._check_carriers(first, second, path)
        for field in fields_of(element):
            blend = self._blends.get(field.quantity.form)
            if blend is not None:
                a, b = getattr(first, field.name), getattr(second, field.name)
                blended[field.name] = blend(a, b, f"{path}/{field.tag}", first)
        for items in lists_of(element):
            a, b = getattr(first, items.field), getattr(second, items.field)
            blended[items.field] = tuple(self._items(a, b, items, path)) if items.quantity.blends else ()
            if not items.quantity.blends:
                for item in (*a, *b):
                    what = items.quantity.lost.format(name=item.name)
                    self._left_out(path, f"{what} cannot be interpolated")
        if element.keeps:
            blended["foreign"] = self._common(first.foreign, second.foreign, path)
        return replace(first, **blended)

    def _items(self, first: Sequence[Any], second: Sequence[Any], items: ElementList, parent: str) -> Iterator[Any]:
        """Yield the items that both lists have by name, in the order of the first; others are reported."""
        second_items = {item.name: item for item in second}
        names = {item.name for item in first}
        for item in (*first, *second):
            if (item.name in names) != (item.name in second_items):
                self._left_out(element_path(item, parent), f"'{item.name}' is in only one of the two states")
        for item in first:
            if item.name in second_items:
                blend = self._model if items.element is MODEL else self.values
                yield blend(item, second_items[item.name], items.element, element_path(item, parent))

    def _model(self, first: ModelState, second: ModelState, element: Element, path: str) -> ModelState:
        robot = self._robots.get(first.name)
        if robot is None:
            self._wrapping = frozenset()
            state: ModelState = self.values(first, second, element, path)
            return state
        stated = {joint.name for joint in first.joints} & {joint.name for joint in second.joints}
        self._wrapping = frozenset(joint.name for joint in JointSpace.of(robot).joints if joint.motion.wraps)
        # Links follow the joints, including joints that are known only from links.
        first, second = (recover_joints(model, robot)[0] for model in (first, second))
        state = rederive_links(self.values(first, second, element, path), robot, self._diagnostics)
        return replace(state, joints=tuple(joint for joint in state.joints if joint.name in stated))

    def _check_carriers(self, first: ModelState | Frame, second: ModelState | Frame, path: str) -> None:
        here, there = carrier_of(first), carrier_of(second)
        if here != there:
            message = f"'{first.name}' has the parent '{here}' in one state and '{there}' in the other"
            self._diagnostics.error("parents-differ", message, SourcePlace(SOURCE, path=path))

    def _pose(self, first: Pose | None, second: Pose | None, path: str, _: object) -> Pose | None:
        if first is None or second is None:
            if first is not second:
                self._left_out(path, "it is in only one of the two states")
            return None
        if first == second or self._share == 0.0:
            return first
        if self._share == 1.0:
            return second
        a, b = pose_quaternions([first, second])
        xyz = self._line(first.xyz_rpy[:3], second.xyz_rpy[:3])
        return pose_from_quaternion(xyz, quat_slerp(a, b, self._share).tolist())

    def _positions(self, first: Row | None, second: Row | None, path: str, joint: JointState) -> Row | None:
        row: Row | None = self._row(first, second, path)
        if row is None or first is None or second is None or first == second or self._share in (0.0, 1.0):
            return row
        if len(row) == 1 and joint.name in self._wrapping:
            return (self._angle(first[0], second[0]),)
        if len(row) == 3:
            return (*row[:2], self._angle(first[2], second[2]))
        if len(row) >= RPY_COUNT:
            a, b = (np.array(r[3:]) if len(r) > RPY_COUNT else quat_from_rpy(np.array(r[3:])) for r in (first, second))
            if not (a.any() and b.any()):
                self._diagnostics.error("zero-quaternion", "a quaternion is all zeros", SourcePlace(SOURCE, path=path))
                return row
            turned = quat_slerp(a, b, self._share)
            return (*row[:3], *(turned if len(row) > RPY_COUNT else rpy_from_quat(turned)).tolist())
        return row

    def _row(
        self, first: tuple[float, ...] | None, second: tuple[float, ...] | None, path: str, _: object = None
    ) -> tuple[float, ...] | None:
        """Return the row on the line between two; None if one of them is not stated."""
        if first is None or second is None:
            if first is not second:
                self._left_out(path, "it is in only one of the two states")
            return None
        if len(first) != len(second):
            message = f"there are {len(first)} numbers in one state, {len(second)} in the other"
            self._diagnostics.error("counts-differ", message, SourcePlace(SOURCE, path=path))
            return None
        return self._line(first, second)

    def _line(self, first: Row, second: Row) -> Row:
        t, s = self._share, 1.0 - self._share
        return tuple(a if a == b else s * a + t * b for a, b in zip(first, second, strict=True))

    def _angle(self, first: float, second: float) -> float:
        return first + self._share * math.remainder(second - first, math.tau)

    def _time(self, first: int | None, second: int | None, _: str, __: object) -> int | None:
        if first is None or second is None:
            return None
        # Use a fraction of integers, because a 64-bit float has too few digits for the nanoseconds of a date. Round it,
        # because a float such as 1/3 is a little too small.
        return first + round((second - first) * Fraction(self._share))

    def _common(self, first: tuple[str, ...], second: tuple[str, ...], path: str) -> tuple[str, ...]:
        if first == second:
            return first
        self._left_out(path, "the two states carry different foreign content")
        return ()

    def _left_out(self, path: str, message: str) -> None:
        self._diagnostics.warning("left-out", f"{message}; it is left out", SourcePlace(SOURCE, path=path))
