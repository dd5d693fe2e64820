# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Poses and, if known, twists of one frame or joint over time: from odometry or multi-DOF joint states."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np

from robot_semantics.recording.columns import Array, Part, Pieces
from robot_semantics.recording.history import Edge
from robot_semantics.recording.namespaces import owner_of
from robot_semantics.recording.timeline import Timeline, blend_straight
from robot_semantics.transforms import quat_conjugate, quat_multiply, quat_rotate, rotvec_from_quat
from robot_semantics.transforms.arrays import FloatArray, IntArray
from robot_semantics.transforms.rows import blend_poses, compose_poses, twist_at


@dataclass(frozen=True)
class PoseTrack:
    """Poses of one frame or joint over time.

    Attributes:
        topic: the topic of the messages.
        name: name of the child frame or joint.
        parent: the parent frame, by its name in the messages.
        poses: (m, 7) T_parent_child [m]; with an `offset`, of the measured frame.
        twists: (m, 6) [m/s, rad/s] in the axes of the parent or of the child; None without twists.
        in_own_axes: True if the twists are in the child's axes.
        kind: ``odometry``, ``multi_dof`` or ``joints``.
        offset: (7,) pose of the child in the measured frame; None if the child itself was measured.
        owner: the innermost namespace of a robot that contains the topic.
    """

    topic: str
    name: str
    parent: str
    poses: Timeline
    twists: Timeline | None
    in_own_axes: bool = False
    kind: str = "joints"
    offset: FloatArray | None = None
    owner: str = ""

    def moved(self, T_thing_other: FloatArray) -> PoseTrack:
        """Return the track of another frame that is fixed to this one; `T_thing_other` (7,) is its pose [m].

        Between two messages the measured frame is interpolated; then the offset is applied.
        """
        twists = None
        if self.twists is not None:
            given = np.asarray(self.twists.take(np.arange(len(self.twists))), dtype=np.float64)
            lever = np.broadcast_to(T_thing_other[:3], given[:, :3].shape)
            if not self.in_own_axes:
                own, _ = self.poses.sample(self.twists.stamps_ns, "linear", blend_poses)
                lever = quat_rotate(own[:, 3:], lever)
            given = twist_at(given, lever)
            if self.in_own_axes:
                given = _turned(np.broadcast_to(quat_conjugate(T_thing_other[3:]), (len(given), 4)), given)
            twists = Timeline(self.twists.stamps_ns, (given,))
        return replace(self, twists=twists, offset=T_thing_other)

    def sample_poses(self, times_ns: IntArray, mode: str) -> tuple[FloatArray, IntArray]:
        """Return the poses (n, 7), constant after the last one, and their ages (n,); NaN and -1 without a pose."""
        poses, ages = self.poses.sample(times_ns, mode, blend_poses)
        return (poses if self.offset is None else compose_poses(poses, np.broadcast_to(self.offset, poses.shape))), ages

    def sample_twists(self, times_ns: IntArray, mode: str, poses: FloatArray) -> FloatArray:
        """Return the twists (n, 6) in the parent's axes; NaN before the first and after the last.

        Args:
            times_ns: (n,) the times.
            mode: as for `bracket`.
            poses: (n, 7) poses in the parent at these times.
        """
        if self.twists is None:
            return np.full((len(times_ns), 6), np.nan)
        twists, _ = self.twists.sample(times_ns, mode, blend_straight, hold=False)
        return _turned(poses[:, 3:], twists) if self.in_own_axes else twists


def recorded_tracks(pieces: Pieces, namespaces: Collection[str]) -> list[PoseTrack]:
    """Return the tracks of all multi-DOF joint states, then of all odometry, by topic, child and parent.

    `namespaces` are the namespaces of the robots.
    """
    found: dict[tuple[str, str, str, str], list[tuple[Part, int]]] = {}
    for key, parts in pieces.items():
        if key.kind in ("multi_dof", "odometry"):
            for column, name in enumerate(key.names):
                about = (key.kind, key.topic, name, key.parents[0])
                found.setdefault(about, []).extend((part, column) for part in parts)
    tracks = [_track(*about, some) for about, some in sorted(found.items())]
    return [replace(track, owner=owner_of(track.topic, namespaces)) for track in tracks]


def _track(kind: str, topic: str, name: str, parent: str, some: Sequence[tuple[Part, int]]) -> PoseTrack:
    stamps, logs = [part["stamp"] for part, _ in some], [part["log"] for part, _ in some]

    def values(quantity: str, width: int) -> list[Array]:
        """Return the numbers of every part; without numbers in a message they are unknown at its time."""
        return [
            np.full((len(part["log"]), width), np.nan)
            if quantity not in part
            else part[quantity]
            if kind == "odometry"
            else part[quantity][:, column]
            for part, column in some
        ]

    poses = Timeline.merge(stamps, logs, values("pose", 7))
    twists = None
    if any("twist" in part for part, _ in some):
        twists = Timeline.merge(stamps, logs, values("twist", 6))
    return PoseTrack(topic, name, parent, poses, twists, kind == "odometry", kind)


def difference_twists(edge: Edge, times_ns: IntArray, max_gap_ns: int) -> FloatArray:
    """Return velocities (n, 6) in the parent's axes from the difference of the poses before and after each time.

    NaN outside of the samples, across a change of parent, and if the two samples are more than twice `max_gap_ns`
    apart.
    """
    result = np.full((len(times_ns), 6), np.nan)
    stamps, last = edge.timeline.stamps_ns, len(edge.timeline) - 1
    if last < 1:
        return result
    # Use the outer samples of those with one stamp: a rate between them does not exist.
    before = np.searchsorted(stamps, times_ns, side="right") - 1
    on_one = (before >= 0) & (stamps[np.maximum(before, 0)] == times_ns)
    after = np.where(on_one, np.minimum(before + 1, last), before + 1)
    earlier = np.searchsorted(stamps, times_ns, side="left") - 1
    before = np.where(on_one, np.where(earlier >= 0, earlier, before), before)
    usable = np.flatnonzero((before >= 0) & (after <= last))
    before, after = before[usable], after[usable]
    apart = stamps[after] - stamps[before]
    good = (apart > 0) & (apart <= 2 * max_gap_ns) & (edge.parent_at(before) == edge.parent_at(after))
    usable, before, after, seconds = usable[good], before[good], after[good], apart[good, np.newaxis] / 1e9
    first, second = (edge.with_offset(np.asarray(edge.timeline.take(at), np.float64)) for at in (before, after))
    result[usable, :3] = (second[:, :3] - first[:, :3]) / seconds
    result[usable, 3:] = rotvec_from_quat(quat_multiply(second[:, 3:], quat_conjugate(first[:, 3:]))) / seconds
    return result


def _turned(quat: FloatArray, twist: FloatArray) -> FloatArray:
    """Return twists (n, 6) with both vectors rotated by quaternions (n, 4); NaN if either is unknown."""
    result = np.full(twist.shape, np.nan)
    good = np.isfinite(quat).all(axis=1) & np.isfinite(twist).all(axis=1)
    result[good, :3] = quat_rotate(quat[good], twist[good, :3])
    result[good, 3:] = quat_rotate(quat[good], twist[good, 3:])
    return result
