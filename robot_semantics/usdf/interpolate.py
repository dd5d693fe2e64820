# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""A world state between two others: positions, velocities and wrenches on straight lines, rotations the short way."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, TypeVar

import numpy as np

from robot_semantics.base.diagnostics import Diagnostics, Place
from robot_semantics.base.errors import ArrayError
from robot_semantics.kinematics.joint_space import JointSpace
from robot_semantics.model.robot_model import RobotModel
from robot_semantics.transforms import quat_from_rpy, quat_slerp, rpy_from_quat
from robot_semantics.usdf.joint_values import RPY_COUNT
from robot_semantics.usdf.poses import pose_from_quaternion, pose_quaternions
from robot_semantics.usdf.recover import recover_joints
from robot_semantics.usdf.robot import rederive_links
from robot_semantics.usdf.table import format_time
from robot_semantics.usdf.validity import SOURCE, path_of
from robot_semantics.usdf.world_state import Frame, JointState, LinkState, ModelState, Pose, WorldState, carrier_of

Row = tuple[float, ...]
_Placed = TypeVar("_Placed", ModelState, Frame)
_Item = TypeVar("_Item", ModelState, Frame, LinkState, JointState)


def interpolate(
    first: WorldState,
    second: WorldState,
    share: float,
    *,
    robots: Mapping[str, RobotModel] | None = None,
    diagnostics: Diagnostics | None = None,
) -> WorldState:
    """Return the state a `share` of the way from `first` (0) to `second` (1).

    What only one of the two states, and engine states, which no line connects, are left out, each with a warning.
    Continuous joints take the short way where their robot is known, and links then go where the joints take them.

    Raises:
        ArrayError: `share` is not within 0 to 1.
        DescriptionError: something stands in different parents, or a joint has different numbers of values; all of it
            is reported.
    """
    if not 0.0 <= share <= 1.0:
        raise ArrayError("share", f"{share} is not within 0 to 1")
    found = Diagnostics()
    state = _Between(share, robots or {}, found).worlds(first, second)
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
        raise ArrayError("time", f"both states are of the same time, {format_time(start)} s")
    if not min(start, end) <= time_ns <= max(start, end):
        between = f"{format_time(start)} and {format_time(end)} s"
        raise ArrayError("time", f"{format_time(time_ns)} s is not between {between}")
    return (time_ns - start) / (end - start)


class _Between:
    """What is a share of the way between two things."""

    def __init__(self, share: float, robots: Mapping[str, RobotModel], found: Diagnostics) -> None:
        self._share = share
        self._robots = robots
        self._found = found

    def worlds(self, first: WorldState, second: WorldState) -> WorldState:
        """Return the world between two."""
        for engine in (*first.engines, *second.engines):
            self._left_out("/world_state", f"the engine state of '{engine.name}' cannot be interpolated")
        return WorldState(
            name=first.name if first.name == second.name else None,
            models=tuple(self._model(a, b) for a, b in self._pairs(first.models, second.models, "/world_state")),
            frames=tuple(self._placed(a, b) for a, b in self._pairs(first.frames, second.frames, "/world_state")),
            time_ns=self._time(first.time_ns, second.time_ns),
            foreign=self._common(first.foreign, second.foreign, "/world_state"),
        )

    def _model(self, first: ModelState, second: ModelState) -> ModelState:
        path = path_of(first)
        stated = {joint.name for joint in first.joints} & {joint.name for joint in second.joints}
        robot = self._robots.get(first.name)
        wrapping: frozenset[str] = frozenset()
        if robot is not None:
            joints = JointSpace.of(robot).joints
            wrapping = frozenset(joint.name for joint in joints if joint.motion.wraps)
            # Links go where the joints take them, also those joints that only the links tell.
            first, second = (recover_joints(model, robot)[0] for model in (first, second))
        state = replace(
            self._placed(first, second),
            links=tuple(self._link(a, b, path) for a, b in self._pairs(first.links, second.links, path)),
            joints=tuple(
                self._joint(a, b, path, wraps=a.name in wrapping)
                for a, b in self._pairs(first.joints, second.joints, path)
            ),
            description=first.description if first.description == second.description else None,
            semantic=first.semantic if first.semantic == second.semantic else None,
            urdf_sha256=first.urdf_sha256 if first.urdf_sha256 == second.urdf_sha256 else None,
        )
        if robot is None:
            return state
        state = rederive_links(state, robot, self._found)
        return replace(state, joints=tuple(joint for joint in state.joints if joint.name in stated))

    def _placed(self, first: _Placed, second: _Placed) -> _Placed:
        path = path_of(first)
        here, there = carrier_of(first), carrier_of(second)
        if here != there:
            message = f"'{first.name}' stands in '{here}' in one state, in '{there}' in the other"
            self._found.error("parents-differ", message, Place(SOURCE, path=path))
        return replace(
            first,
            pose=self._pose(first.pose, second.pose, path),
            twist=self._row(first.twist, second.twist, f"{path}/twist"),
            foreign=self._common(first.foreign, second.foreign, path),
            age_ns=None,
        )

    def _link(self, first: LinkState, second: LinkState, model: str) -> LinkState:
        path = path_of(first, model)
        return replace(
            first,
            pose=self._pose(first.pose, second.pose, path),
            twist=self._row(first.twist, second.twist, f"{path}/twist"),
            wrench=self._row(first.wrench, second.wrench, f"{path}/wrench"),
            foreign=self._common(first.foreign, second.foreign, path),
        )

    def _joint(self, first: JointState, second: JointState, model: str, *, wraps: bool) -> JointState:
        path = path_of(first, model)
        return replace(
            first,
            positions=self._positions(first.positions, second.positions, f"{path}/positions", wraps=wraps),
            velocities=self._row(first.velocities, second.velocities, f"{path}/velocities"),
            torques=self._row(first.torques, second.torques, f"{path}/torques"),
            foreign=self._common(first.foreign, second.foreign, path),
            age_ns=None,
        )

    def _pose(self, first: Pose | None, second: Pose | None, path: str) -> Pose | None:
        if first is None or second is None:
            if first is not second:
                self._left_out(path, "the pose is stated in one state alone")
            return None
        if first == second or self._share == 0.0:
            return first
        if self._share == 1.0:
            return second
        a, b = pose_quaternions([first, second])
        xyz = self._line(first.xyz_rpy[:3], second.xyz_rpy[:3])
        return pose_from_quaternion(xyz, quat_slerp(a, b, self._share).tolist())

    def _positions(self, first: Row | None, second: Row | None, path: str, *, wraps: bool) -> Row | None:
        row: Row | None = self._row(first, second, path)
        if row is None or first is None or second is None or first == second or self._share in (0.0, 1.0):
            return row
        if len(row) == 1 and wraps:
            return (self._angle(first[0], second[0]),)
        if len(row) == 3:
            return (*row[:2], self._angle(first[2], second[2]))
        if len(row) >= RPY_COUNT:
            a, b = (np.array(r[3:]) if len(r) > RPY_COUNT else quat_from_rpy(np.array(r[3:])) for r in (first, second))
            if not (a.any() and b.any()):
                self._found.error("zero-quaternion", "a quaternion is all zeros", Place(SOURCE, path=path))
                return row
            turned = quat_slerp(a, b, self._share)
            return (*row[:3], *(turned if len(row) > RPY_COUNT else rpy_from_quat(turned)).tolist())
        return row

    def _row(self, first: Any, second: Any, path: str) -> Any:
        """Return the row on the line between two, None where one of them is not stated."""
        if first is None or second is None:
            if first is not second:
                self._left_out(path, "it is stated in one state alone")
            return None
        if len(first) != len(second):
            message = f"there are {len(first)} numbers in one state, {len(second)} in the other"
            self._found.error("counts-differ", message, Place(SOURCE, path=path))
            return None
        return self._line(first, second)

    def _line(self, first: Row, second: Row) -> Row:
        t, s = self._share, 1.0 - self._share
        return tuple(a if a == b else s * a + t * b for a, b in zip(first, second, strict=True))

    def _angle(self, first: float, second: float) -> float:
        return first + self._share * math.remainder(second - first, math.tau)

    def _time(self, first: int | None, second: int | None) -> int | None:
        if first is None or second is None:
            return None
        # Through a fraction of integers: a 64-bit float cannot tell the nanoseconds of a date apart. Rounded, because a
        # share such as a third is a little less than a third.
        return first + round((second - first) * Fraction(self._share))

    def _pairs(self, first: Sequence[_Item], second: Sequence[_Item], parent: str) -> list[tuple[_Item, _Item]]:
        """Return the items of two lists by name, in the order of the first; others are reported."""
        others = {item.name: item for item in second}
        names = {item.name for item in first}
        for item in (*first, *second):
            if (item.name in names) != (item.name in others):
                self._left_out(path_of(item, parent), f"'{item.name}' is stated in one state alone")
        return [(item, others[item.name]) for item in first if item.name in others]

    def _common(self, first: tuple[str, ...], second: tuple[str, ...], path: str) -> tuple[str, ...]:
        if first == second:
            return first
        self._left_out(path, "the two states carry different foreign content")
        return ()

    def _left_out(self, path: str, message: str) -> None:
        self._found.warning("left-out", f"{message}; it is left out", Place(SOURCE, path=path))
