# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Joints that no recorded message has: their positions follow from the recorded transforms of their links."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

import numpy as np

from robot_semantics.base.diagnostics import Diagnostics, SourcePlace
from robot_semantics.base.names import quoted
from robot_semantics.kinematics.joint_space import followings
from robot_semantics.kinematics.loops import ClosedLoops
from robot_semantics.kinematics.observe import JointObserver
from robot_semantics.live.model_series import ModelSeries
from robot_semantics.recording.read.plan import RecordedRobot
from robot_semantics.recording.tracks.history import TransformHistory
from robot_semantics.transforms import matrix_from_pose
from robot_semantics.transforms.arrays import FloatArray, IntArray
from robot_semantics.transforms.rows import IDENTITY_POSE, compose_poses, invert_poses
from robot_semantics.usdf.recover import RESIDUAL_TOLERANCE


class _Chain(NamedTuple):
    """Poses (n, 7) of a frame in one above it, and their ages (n,)."""

    top: int
    poses: FloatArray
    age_ns: IntArray


class LinkJoints:
    """The joints of one robot whose positions follow from the transforms of their links.

    A joint that a message names at any time is not among them. A mimic joint whose leader is named, and a passive
    joint of a loop whose motors are named, follow from these.
    """

    def __init__(
        self,
        robot: RecordedRobot,
        history: TransformHistory,
        named: Collection[str],
        problems: Diagnostics,
        place: SourcePlace,
    ) -> None:
        """`named` are the joints with messages."""
        self._robot, self._history, self._problems, self._place = robot, history, problems, place
        self._names = tuple(self._chosen(named))
        self._observer = None if robot.model is None else JointObserver(robot.model, self._names)
        self._told = False
        self._refused: set[str] = set()

    def _chosen(self, named: Collection[str]) -> list[str]:
        model, index = self._robot.model, self._history.index
        if model is None:
            return []
        without = {joint.name for joint, leader, _ in followings(model) if leader.name in named}
        if model.constraints:
            freedoms = ClosedLoops(model).freedoms
            without.update(
                name for freedom in freedoms if set(freedom.driven) & set(named) for name in freedom.dependent
            )
        frame = self._robot.frame_of_link
        return [
            joint.name
            for joint in model.joints[1:]
            if joint.position_count
            and joint.name not in named
            and joint.name not in without
            and index.get(frame[joint.child_link], -1) in self._history.edges
            and frame[joint.parent_link] in index
        ]

    def fill(self, series: ModelSeries, times_ns: IntArray, mode: str) -> None:
        """Fill the positions and ages of these joints in `series`, where their links are measured."""
        model, frame, index = self._robot.model, self._robot.frame_of_link, self._history.index
        if model is None or self._observer is None or not self._names:
            return
        spans = {name: (where, number) for number, (name, where, _) in enumerate(series.spans)}
        T = np.tile(np.eye(4), (len(times_ns), len(self._names), 1, 1))
        ages = np.zeros((len(times_ns), len(self._names)), np.int64)
        for column, joint in enumerate(self._observer.joints):
            poses, ages[:, column] = self._between(
                index[frame[joint.parent_link]], index[frame[joint.child_link]], times_ns, mode
            )
            known = np.isfinite(poses).all(axis=1)
            T[known, column] = matrix_from_pose(poses[known])
            ages[~known, column] = -1
        found = self._observer.observe(T)
        off = np.maximum(found.distance, found.angle)
        taken = []
        for column, joint in enumerate(self._observer.joints):
            where, number = spans[joint.name]
            measured = ages[:, column] >= 0
            fits = measured & (off[:, column] <= RESIDUAL_TOLERANCE)
            series.positions[fits, where] = found.q[fits, self._observer.space.positions_of(joint)]
            series.joint_age_ns[fits, number] = ages[fits, column]
            if fits.any():
                taken.append(joint.name)
            if (measured & ~fits).any():
                self._refuse(joint.name, float(off[measured, column].max()))
        if taken and not self._told:
            self._told = True
            text = f"'{self._robot.name}': no message has {quoted(taken, 9)}; the positions follow from the links in tf"
            self._problems.note("derived-joints", text, self._place)

    def _refuse(self, name: str, off: float) -> None:
        if name not in self._refused:
            self._refused.add(name)
            text = f"joint '{name}' cannot bring its links to their transforms: they are up to {off:.3g} m or rad off"
            self._problems.warning("underivable-joint", text, self._place)

    def _between(self, parent: int, child: int, times_ns: IntArray, mode: str) -> tuple[FloatArray, IntArray]:
        """Return T_parent_child (n, 7), NaN where it is unknown, and ages (n,)."""
        down = self._climb(child, parent, times_ns, mode)
        if down.top == parent:
            return down.poses, down.age_ns
        up = self._climb(parent, -1, times_ns, mode)
        if up.top != down.top:
            return np.full((len(times_ns), 7), np.nan), down.age_ns
        return compose_poses(invert_poses(up.poses), down.poses), np.maximum(up.age_ns, down.age_ns)

    def _climb(self, frame: int, until: int, times_ns: IntArray, mode: str) -> _Chain:
        """Return a frame in the frame `until`, or in the top of its tree; a parent that changes ends the way."""
        poses = np.tile(np.array(IDENTITY_POSE), (len(times_ns), 1))
        age_ns, seen = np.zeros(len(times_ns), np.int64), set[int]()
        while frame != until and frame in self._history.edges and frame not in seen:
            seen.add(frame)
            parents = self._history.edges[frame].parents
            if not isinstance(parents, int):
                break
            local = self._history.local(frame, times_ns, mode, hold=True)
            poses = compose_poses(local.poses, poses)
            age_ns = np.maximum(age_ns, np.where(local.parent >= 0, local.age_ns, 0))
            frame = parents
        return _Chain(frame, poses, age_ns)
