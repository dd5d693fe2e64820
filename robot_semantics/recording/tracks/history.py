# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Look-up of recorded transforms at thousands of times together, with the answers of tf2.

The rules of tf2's BufferCore apply:

* Samples of a frame are interpolated linearly and by slerp between the two neighbours of the time, never beyond the
  first or last sample.
* A static transform is valid at all times.
* Time 0 means the latest common time of all transforms.
* The parent of a frame may change.

Unlike a live buffer, a history drops no samples.

The history is made from the columns of TF messages.
"""

from __future__ import annotations

import enum
from collections.abc import Collection, Container, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from robot_semantics.base.diagnostic import SourcePlace
from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.base.record import record
from robot_semantics.recording.bags.columns import Array, GroupKey, Part, Pieces, Stream
from robot_semantics.recording.tracks.namespaces import FrameNames, owner_of
from robot_semantics.recording.tracks.timeline import Timeline, blend_straight, bracket, interpolate_bracket
from robot_semantics.transforms import quat_conjugate, quat_multiply, quat_rotate, rotvec_from_quat
from robot_semantics.transforms.arrays import BoolArray, FloatArray, IntArray
from robot_semantics.transforms.rows import IDENTITY_POSE, blend_poses, compose_poses, invert_poses, twist_at


@record(frozen=True)
class Edge:
    """One frame's transforms to its parent.

    Attributes:
        child: index of the frame.
        static: valid at all times; the timeline then has one sample.
        timeline: samples x y z qx qy qz qw of T_parent_child (m, 7); with an `offset`, of the measured frame.
        parents: index of the parent at each sample (m,), or one for all of them.
        offset: (7,) pose of the child in the measured frame; it is applied after the interpolation.
    """

    child: int
    static: bool
    timeline: Timeline
    parents: IntArray | int
    offset: FloatArray | None = None

    def with_offset(self, poses: FloatArray) -> FloatArray:
        """Return the poses (n, 7) of the child from the poses of the measured frame."""
        return poses if self.offset is None else compose_poses(poses, np.broadcast_to(self.offset, poses.shape))

    def parent_at(self, samples: IntArray) -> IntArray:
        """Return the parent (n,) at each of the samples (n,)."""
        if isinstance(self.parents, int):
            return np.full(len(samples), self.parents, dtype=np.int64)
        parents: IntArray = self.parents[samples]
        return parents


class LocalPose(NamedTuple):
    """A frame's transform to its parent at n times.

    Attributes:
        parent: (n,) index of the parent; -1 without a usable sample.
        poses: (n, 7) T_parent_child [m]; NaN without a usable sample.
        age_ns: (n,) distance in time to the nearest used sample; 0 if static, -1 without a sample.
    """

    parent: IntArray
    poses: FloatArray
    age_ns: IntArray


class Status(enum.IntEnum):
    """Result of a look-up, named like the exceptions of tf2."""

    OK = 0
    LOOKUP = 1
    CONNECTIVITY = 2
    EXTRAPOLATION = 3


class Lookup(NamedTuple):
    """Results at n times.

    Attributes:
        poses: (n, 7) x y z qx qy qz qw = T_target_source [m]; NaN without a result.
        status: (n,) a `Status` each.
    """

    poses: FloatArray
    status: npt.NDArray[np.int8]


class TransformHistory:
    """All recorded transforms of one run, indexed by frame and time.

    Attributes:
        frames: names of all frames, parents and children.
        edges: by index of the child frame.
    """

    def __init__(self, frames: Iterable[str], edges: Mapping[int, Edge]) -> None:
        self.frames: tuple[str, ...] = tuple(frames)
        self.index: Mapping[str, int] = {name: i for i, name in enumerate(self.frames)}
        self.edges: Mapping[int, Edge] = dict(edges)

    def lookup(self, target: str, source: str, times_ns: npt.ArrayLike) -> Lookup:
        """Return T_target_source at `times_ns` (n,), with the result that tf2 would give at each time.

        An unknown frame gives `Status.LOOKUP` at every time. Exception: if target and source are equal, tf2 returns the
        identity for any name. Time 0 means the latest common time.
        """
        times = np.atleast_1d(np.asarray(times_ns, dtype=np.int64)).ravel()
        if target == source:
            return Lookup(np.tile(np.array(IDENTITY_POSE), (len(times), 1)), np.zeros(len(times), np.int8))
        if target not in self.index or source not in self.index:
            return Lookup(np.full((len(times), 7), np.nan), np.full(len(times), Status.LOOKUP, np.int8))
        goal, start = self.index[target], self.index[source]
        if (times == 0).any():
            latest = self._latest_common_time(goal, start)
            if latest is None:
                answer = self._walk(goal, start, np.where(times == 0, 1, times))
                answer.poses[times == 0], answer.status[times == 0] = np.nan, Status.CONNECTIVITY
                return answer
            times = np.where(times == 0, latest, times)
        return self._walk(goal, start, times)

    def local(self, frame: int, times_ns: IntArray, mode: str = "linear", *, hold: bool = False) -> LocalPose:
        """Return a frame's transform to its parent at `times_ns` (n,).

        Args:
            frame: the frame's index; it has an edge.
            times_ns: the times.
            mode: ``linear`` (with slerp), ``previous`` or ``nearest``.
            hold: keep the last sample after its time; tf2 gives no result there.
        """
        edge, count = self.edges[frame], len(times_ns)
        if edge.static:
            zeros = np.zeros(count, np.int64)
            poses = edge.with_offset(np.asarray(edge.timeline.take(zeros), np.float64))
            return LocalPose(edge.parent_at(zeros), poses, zeros)
        brackets = bracket(edge.timeline.stamps_ns, times_ns, mode, hold=hold)
        parents = edge.parent_at(brackets.before)
        # A parent that changes between two samples cannot be interpolated: the earlier sample is valid.
        apart = None if isinstance(edge.parents, int) else parents != edge.parent_at(brackets.after)
        poses = edge.with_offset(interpolate_bracket(brackets, edge.timeline.take, blend_poses, apart))
        ages = brackets.at_all_times(count, brackets.age_ns, -1)
        return LocalPose(brackets.at_all_times(count, parents, -1), brackets.at_all_times(count, poses, np.nan), ages)

    def _walk(self, goal: int, start: int, times_ns: IntArray) -> Lookup:
        """Walk like tf2, for all times together: from the source to the top, then from the target until both meet."""
        count = len(times_ns)
        up = _Walk(self, start, times_ns)
        done = up.climb(until=np.full(count, goal))
        down = _Walk(self, goal, times_ns)
        meeting = down.climb(until=up.frame, active=~done, also=start)
        result, status = up.poses, np.zeros(count, np.int8)
        reversed_ = meeting & (down.frame == start) & ~done
        if reversed_.any():
            result[reversed_] = invert_poses(down.poses[reversed_])
        both = meeting & ~reversed_ & ~done
        if both.any():
            result[both] = compose_poses(invert_poses(down.poses[both]), up.poses[both])
        lost = ~done & ~meeting
        # tf2 reports an extrapolation if samples are missing, even if the frames are not connected.
        status[lost] = np.where(up.starved[lost] | down.starved[lost], Status.EXTRAPOLATION, Status.CONNECTIVITY)
        result[lost] = np.nan
        return Lookup(result, status)

    def _latest_common_time(self, goal: int, start: int) -> int | None:
        up = self._rise(start, {goal})
        if up and up[-1][1] == goal:
            return _earliest(up)
        if up and up[-1][1] in self.edges:
            # a cycle
            return None
        met = {start: 0} | {parent: count for count, (_, parent) in enumerate(up, 1)}
        down = self._rise(goal, met)
        return _earliest([*down, *up[: met[down[-1][1]]]]) if down and down[-1][1] in met else None

    def _rise(self, frame: int, until: Container[int]) -> list[tuple[int | None, int]]:
        """Return the newest stamps and parents from a frame upwards, as far as a frame of `until`, a top or a cycle."""
        chain: list[tuple[int | None, int]] = []
        seen = {frame}
        while frame in self.edges:
            latest, frame = self._latest(frame)
            chain.append((latest, frame))
            if frame in until or frame in seen:
                break
            seen.add(frame)
        return chain

    def _latest(self, frame: int) -> tuple[int | None, int]:
        """Return a frame's newest stamp (None if static), and its parent at this time."""
        edge = self.edges[frame]
        parent = int(edge.parent_at(np.array([len(edge.timeline) - 1]))[0])
        return (None if edge.static else int(edge.timeline.stamps_ns[-1])), parent


class _Walk:
    """A walk from one frame towards the root, for many times together."""

    def __init__(self, history: TransformHistory, start: int, times_ns: IntArray) -> None:
        self.history = history
        self.times_ns = times_ns
        self.frame = np.full(len(times_ns), start, dtype=np.int64)
        self.poses = np.tile(np.array(IDENTITY_POSE), (len(times_ns), 1))
        self.starved = np.zeros(len(times_ns), dtype=bool)

    def climb(self, until: IntArray, active: BoolArray | None = None, also: int = -1) -> BoolArray:
        """Walk up to the frame `until` (n,) or the frame `also`; return the rows (n,) that reached it."""
        going = np.ones(len(self.times_ns), dtype=bool) if active is None else active.copy()
        met: BoolArray = going & ((self.frame == until) | (self.frame == also))
        going &= ~met
        for _ in range(len(self.history.frames) + 1):
            rows = np.flatnonzero(going)
            if not len(rows):
                break
            for frame in np.unique(self.frame[rows]):
                rows_here = rows[self.frame[rows] == frame]
                if int(frame) not in self.history.edges:
                    going[rows_here] = False
                    continue
                local = self.history.local(int(frame), self.times_ns[rows_here])
                found = local.parent >= 0
                self.starved[rows_here[~found]] = True
                going[rows_here[~found]] = False
                rows_here = rows_here[found]
                self.poses[rows_here] = compose_poses(local.poses[found], self.poses[rows_here])
                self.frame[rows_here] = local.parent[found]
            arrived = going & ((self.frame == until) | (self.frame == also))
            met |= arrived
            going &= ~arrived
        return met


def _earliest(chain: Iterable[tuple[int | None, int]]) -> int:
    return min((stamp for stamp, _ in chain if stamp is not None), default=0)


# Poses and, if known, twists of one frame or joint over time: from odometry or multi-DOF joint states.


@record(frozen=True)
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
    kind: Stream = Stream.JOINTS
    offset: FloatArray | None = None
    owner: str = ""

    def moved(self, T_thing_other: FloatArray) -> PoseTrack:
        """Return the track of another frame that is fixed to this one; `T_thing_other` (7,) is its pose [m].

        Between two messages the measured frame is interpolated; then the offset is applied.
        """
        twists = None
        if self.twists is not None:
            rates = np.asarray(self.twists.take(np.arange(len(self.twists))), dtype=np.float64)
            lever = np.broadcast_to(T_thing_other[:3], rates[:, :3].shape)
            if not self.in_own_axes:
                own, _ = self.poses.sample(self.twists.stamps_ns, "linear", blend_poses)
                lever = quat_rotate(own[:, 3:], lever)
            rates = twist_at(rates, lever)
            if self.in_own_axes:
                rates = _turned(np.broadcast_to(quat_conjugate(T_thing_other[3:]), (len(rates), 4)), rates)
            twists = Timeline(self.twists.stamps_ns, (rates,))
        return replace(self, twists=twists, offset=T_thing_other)

    def sample_poses(self, times_ns: IntArray, mode: str) -> tuple[FloatArray, IntArray]:
        """Return the poses (n, 7), constant after the last one, and their ages (n,); NaN and -1 without a pose."""
        poses, ages = self.poses.sample(times_ns, mode, blend_poses)
        return (poses if self.offset is None else compose_poses(poses, np.broadcast_to(self.offset, poses.shape))), ages

    def sample_twists(self, times_ns: IntArray, mode: str, poses: FloatArray) -> FloatArray:
        """Return the twists (n, 6) in the parent's axes, constant after the last; NaN before the first.

        Args:
            times_ns: (n,) the times.
            mode: as for `bracket`.
            poses: (n, 7) poses in the parent at these times.
        """
        if self.twists is None:
            return np.full((len(times_ns), 6), np.nan)
        twists, _ = self.twists.sample(times_ns, mode, blend_straight)
        return _turned(poses[:, 3:], twists) if self.in_own_axes else twists


def recorded_tracks(pieces: Pieces, namespaces: Collection[str]) -> list[PoseTrack]:
    """Return the tracks of all multi-DOF joint states, then of all odometry, by topic, child and parent.

    `namespaces` are the namespaces of the robots.
    """
    parts_of: dict[tuple[Stream, str, str, str], list[tuple[Part, int]]] = {}
    for key, parts in pieces.items():
        if key.kind in (Stream.MULTI_DOF, Stream.ODOMETRY):
            for column, name in enumerate(key.names):
                about = (key.kind, key.topic, name, key.parents[0])
                parts_of.setdefault(about, []).extend((part, column) for part in parts)
    tracks = [_track(*about, some) for about, some in sorted(parts_of.items())]
    return [replace(track, owner=owner_of(track.topic, namespaces)) for track in tracks]


def _track(kind: Stream, topic: str, name: str, parent: str, parts: Sequence[tuple[Part, int]]) -> PoseTrack:
    stamps, logs = [part["stamp"] for part, _ in parts], [part["log"] for part, _ in parts]

    def values(quantity: str, width: int) -> list[Array]:
        """Return the numbers of every part; without numbers in a message they are unknown at its time."""
        return [
            np.full((len(part["log"]), width), np.nan)
            if quantity not in part
            else part[quantity]
            if kind == Stream.ODOMETRY
            else part[quantity][:, column]
            for part, column in parts
        ]

    poses = Timeline.merge(stamps, logs, values("pose", 7))
    twists = None
    if any("twist" in part for part, _ in parts):
        twists = Timeline.merge(stamps, logs, values("twist", 6))
    return PoseTrack(topic, name, parent, poses, twists, kind == Stream.ODOMETRY, kind)


def difference_twists(edge: Edge, times_ns: IntArray, max_gap_ns: int) -> FloatArray:
    """Return velocities (n, 6) in the parent's axes from the difference of the poses before and after each time.

    After the last sample they are those of the last two. NaN before the first, across a change of parent, and if the
    two samples are more than twice `max_gap_ns` apart.
    """
    result = np.full((len(times_ns), 6), np.nan)
    stamps, last = edge.timeline.stamps_ns, len(edge.timeline) - 1
    if last < 1:
        return result
    times_ns = np.minimum(times_ns, stamps[last])
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


class _Samples(NamedTuple):
    """Samples of one child frame in one part of the recording."""

    key: GroupKey
    parent: int
    logs: IntArray
    stamps: IntArray
    poses: Array


def transform_history(
    pieces: Pieces,
    frames: FrameNames,
    problems: Diagnostics,
    place: SourcePlace,
    link_names: Collection[str] = (),
) -> TransformHistory:
    """Return the history of all transforms; add the problems that tf2 would report to `problems`.

    Frames with one of the `link_names`, ``model::link``, are left out: in a world state this is a link.
    """
    index: dict[str, int] = {}
    samples_of: dict[int, list[_Samples]] = {}
    for key, parts in pieces.items():
        if key.kind not in (Stream.TF, Stream.TF_STATIC):
            continue
        for column, (child, parent) in enumerate(zip(key.names, key.parents, strict=True)):
            odd = next((name for name in (child, parent) if name in link_names), None)
            if odd is not None:
                text = f"the transform from '{parent}' to '{child}' is left out: '{odd}' is a link of a model"
                problems.warning("value-refused", f"{text}, so no frame can have this name", place)
                continue
            above = index.setdefault(frames.of(key.topic, parent), len(index))
            below = index.setdefault(frames.of(key.topic, child), len(index))
            if above == below or not child or not parent:
                problems.warning(
                    "tf-self", f"a transform from '{parent}' to '{child}' has no meaning; it is left out", place
                )
                continue
            samples_of.setdefault(below, []).extend(_column(key, above, part, column) for part in parts)
    names = tuple(index)
    edges = {}
    for child_index, samples in samples_of.items():
        edge = _edge(child_index, names, samples, problems, place)
        if len(edge.timeline):
            edges[child_index] = edge
    return TransformHistory(names, edges)


def _column(key: GroupKey, parent: int, part: Part, column: int) -> _Samples:
    logs, stamps, poses = (
        np.asarray(part["log"]),
        np.ascontiguousarray(part["stamp"][:, column]),
        part["pose"][:, column],
    )
    if key.has:
        whole = ~np.isnan(poses[:, 0])
        logs, stamps, poses = logs[whole], stamps[whole], poses[whole]
    return _Samples(key, parent, logs, stamps, poses)


def _edge(
    child: int, names: tuple[str, ...], samples: list[_Samples], problems: Diagnostics, place: SourcePlace
) -> Edge:
    there = [sample for sample in samples if len(sample.logs)]
    moving = [sample for sample in there if sample.key.kind == Stream.TF]
    static = [sample for sample in there if sample.key.kind == Stream.TF_STATIC]
    if not moving and static:
        return _static_edge(child, names, static, problems, place)
    if static:
        text = f"frame '{names[child]}' is both static and moving; it is read as moving"
        problems.warning("tf-static-and-moving", text, place)
    timeline = Timeline.merge(
        [sample.stamps for sample in moving],
        [sample.logs for sample in moving],
        [sample.poses for sample in moving],
        keep_equal=[sample.parent for sample in moving],
    )
    parents = np.array([sample.parent for sample in moving], dtype=np.int64)
    several = np.unique(parents)
    if len(several) > 1:
        listed = ", ".join(sorted(f"'{names[parent]}'" for parent in several))
        problems.warning(
            "tf-parent-changes", f"frame '{names[child]}' has several parents at different times: {listed}", place
        )
    if len(several) <= 1 or timeline.place is None:
        return Edge(child, False, timeline, int(several[0]) if len(several) else -1)
    return Edge(child, False, timeline, parents[timeline.place])


def _static_edge(
    child: int, names: tuple[str, ...], static: list[_Samples], problems: Diagnostics, place: SourcePlace
) -> Edge:
    """Return the edge of the last static transform; it replaces earlier ones, as in tf2."""
    last = max(static, key=lambda some: int(some.logs.max()))
    row = int(np.flatnonzero(last.logs == last.logs.max())[-1])
    pose = np.array(last.poses[row : row + 1])
    others = np.concatenate([np.asarray(some.poses) for some in static])
    if (np.abs(others - pose) > 0.0).any() or len({some.parent for some in static}) > 1:
        problems.warning(
            "tf-static-changes", f"the static transform of frame '{names[child]}' changes; the last one is used", place
        )
    stamp = np.zeros(1, dtype=np.int64)
    return Edge(child, True, Timeline.merge([stamp], [stamp], [pose]), last.parent)
