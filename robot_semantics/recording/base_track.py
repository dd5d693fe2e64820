"""Where a robot's root link is and how it moves, from what a recording has: tf, odometry, multi-DOF joint states."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from robot_semantics.recording.columns import Array
from robot_semantics.recording.edges import Edge
from robot_semantics.recording.history import TransformHistory
from robot_semantics.recording.robots import Robot
from robot_semantics.recording.runs import Pieces
from robot_semantics.recording.timeline import FloatArray, IntArray, Timeline, bracket
from robot_semantics.transforms import quat_conjugate, quat_multiply, quat_rotate, rotvec_from_quat


class BaseSamples(NamedTuple):
    """The root link at n times.

    Attributes:
        parent: name of the parent frame at each time, "" where nothing is known.
        pose: (n, 7) T_parent_root [m].
        twist: (n, 6) relative to the parent, in the parent's axes; NaN where it is not known.
        age_ns: (n,) distance to the nearest message, -1 where there is none.
    """

    parent: tuple[str, ...]
    pose: FloatArray
    twist: FloatArray
    age_ns: IntArray


@dataclass(frozen=True)
class _Track:
    """Poses, and twists where messages give them, from odometry or multi-DOF joint states with one parent frame."""

    parent: str
    history: TransformHistory
    twists: Timeline | None
    in_child_axes: bool


class BaseTrack:
    """The best that a recording has on a robot's root link.

    Poses come from tf; where it has none, from multi-DOF joint states, else from odometry. Twists come from
    messages about the same two frames; where there are none, from the differences of the poses.
    """

    def __init__(self, robot: Robot, pieces: Pieces, history: TransformHistory) -> None:
        self._history = history
        root = robot.root_frame
        self._frame = history.index.get(root, -1)
        self._in_tf = self._frame in history.edges
        self._tracks = list(_tracks(robot, pieces))

    @property
    def known(self) -> bool:
        """Whether anything was recorded at all."""
        return self._in_tf or bool(self._tracks)

    @property
    def parents(self) -> tuple[str, ...]:
        """Frames that the poses may be given in, beyond those of tf."""
        return () if self._in_tf else tuple(track.parent for track in self._tracks[:1])

    def sample(self, times_ns: IntArray, mode: str, max_gap_ns: int) -> BaseSamples:
        """Return where the root link is at `times_ns` (n,); differences are not taken over more than `max_gap_ns`."""
        if self._in_tf:
            history, frame, names = self._history, self._frame, self._history.frames
        elif self._tracks:
            history = self._tracks[0].history
            frame, names = 1, history.frames
        else:
            nothing = np.full((len(times_ns), 7), np.nan)
            age = np.full(len(times_ns), -1, np.int64)
            return BaseSamples(("",) * len(times_ns), nothing, nothing[:, :6], age)
        local = history.local(frame, times_ns, mode, hold=True)
        parents = tuple(names[i] if i >= 0 else "" for i in local.parent.tolist())
        twist = np.full((len(times_ns), 6), np.nan)
        same = next((t for t in self._tracks if t.twists is not None and set(parents) <= {t.parent, ""}), None)
        if same is not None and same.twists is not None:
            twist = _message_twists(same.twists, times_ns, mode)
            if same.in_child_axes:
                twist = _turned(local.poses, twist)
        elif not history.edges[frame].static:
            twist = difference_twists(history.edges[frame], times_ns, max_gap_ns)
        return BaseSamples(parents, local.poses, twist, local.age_ns)


def difference_twists(edge: Edge, times_ns: IntArray, max_gap_ns: int) -> FloatArray:
    """Return velocities (n, 6) in the parent's axes by the difference of the poses before and after each time.

    NaN beyond the first and last sample, over a change of parent, and where the two lie further apart than twice
    `max_gap_ns`.
    """
    result = np.full((len(times_ns), 6), np.nan)
    stamps, last = edge.timeline.stamps_ns, len(edge.timeline) - 1
    if last < 1:
        return result
    where = bracket(stamps, times_ns)
    exact = where.before == where.after
    before = np.where(exact, np.maximum(where.before - 1, 0), where.before)
    after = np.where(exact, np.minimum(where.after + 1, last), where.after)
    usable = np.flatnonzero((before >= 0) & (after <= last))
    before, after = before[usable], after[usable]
    apart = stamps[after] - stamps[before]
    good = (apart > 0) & (apart <= 2 * max_gap_ns) & (edge.parent_at(before) == edge.parent_at(after))
    usable, before, after, seconds = usable[good], before[good], after[good], apart[good, np.newaxis] / 1e9
    first = np.asarray(edge.timeline.take(before), dtype=np.float64)
    second = np.asarray(edge.timeline.take(after), dtype=np.float64)
    result[usable, :3] = (second[:, :3] - first[:, :3]) / seconds
    result[usable, 3:] = rotvec_from_quat(quat_multiply(second[:, 3:], quat_conjugate(first[:, 3:]))) / seconds
    return result


def _tracks(robot: Robot, pieces: Pieces) -> Iterator[_Track]:
    """Yield the robot's tracks, the ones to prefer first."""
    joint = None if robot.model is None or not robot.model.has_virtual_joint else robot.model.root_joint.name
    own = {joint, robot.root_frame, robot.name}
    found: dict[tuple[str, str], list[tuple[dict[str, Array], int]]] = {}
    for key, parts in pieces.items():
        if key.kind not in ("multi_dof", "odometry"):
            continue
        names = own if key.kind == "multi_dof" else {robot.root_frame}
        for column, name in enumerate(key.names):
            if name in names:
                found.setdefault((key.kind, key.parents[0]), []).extend((part, column) for part in parts)
                break
    for (kind, parent), some in sorted(found.items(), key=lambda item: item[0][0] != "multi_dof"):
        stamps = [part["stamp"] for part, _ in some]
        logs = [part["log"] for part, _ in some]
        several = kind == "multi_dof"
        poses = [part["pose"][:, column] if several else part["pose"] for part, column in some]
        timeline = Timeline.merge(stamps, logs, poses)
        history = TransformHistory((parent, robot.root_frame), {1: Edge(1, False, timeline, 0)})
        twists = None
        if all("twist" in part for part, _ in some):
            values = [part["twist"][:, column] if several else part["twist"] for part, column in some]
            twists = Timeline.merge(stamps, logs, values)
        yield _Track(parent, history, twists, in_child_axes=kind == "odometry")


def _message_twists(timeline: Timeline, times_ns: IntArray, mode: str) -> FloatArray:
    """Return the twists that the messages gave around each time; none before the first and after the last."""
    result = np.full((len(times_ns), 6), np.nan)
    where = bracket(timeline.stamps_ns, times_ns)
    usable = np.flatnonzero((where.before >= 0) & (where.after < len(timeline)))
    share = where.share[usable, np.newaxis]
    if mode != "linear":
        share = (share > 0.5).astype(np.float64) if mode == "nearest" else np.zeros_like(share)
    first = np.asarray(timeline.take(where.before[usable]), dtype=np.float64)
    second = np.asarray(timeline.take(where.after[usable]), dtype=np.float64)
    # On a sample the two are one, and x + 0 * 0 is x to the last bit.
    result[usable] = first + share * (second - first)
    return result


def _turned(pose: FloatArray, twist: FloatArray) -> FloatArray:
    result = np.full(twist.shape, np.nan)
    good = np.isfinite(pose).all(axis=1) & np.isfinite(twist).all(axis=1)
    result[good, :3] = quat_rotate(pose[good, 3:], twist[good, :3])
    result[good, 3:] = quat_rotate(pose[good, 3:], twist[good, 3:])
    return result
