"""One frame's transforms to its parent over time, at thousands of times at once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from robot_semantics.recording.poses import slerp_rows
from robot_semantics.recording.timeline import FloatArray, IntArray, Timeline, bracket

BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Edge:
    """One frame's transforms to its parent.

    Attributes:
        child: index of the frame.
        static: holds at every time; then the timeline has the one sample that counts.
        timeline: samples x y z qx qy qz qw of T_parent_child (m, 7).
        parents: index of the parent at each sample (m,), or one for all of them.
    """

    child: int
    static: bool
    timeline: Timeline
    parents: IntArray | int

    def parent_at(self, samples: IntArray) -> IntArray:
        """Return the parent (n,) at each of the samples (n,)."""
        if isinstance(self.parents, int):
            return np.full(len(samples), self.parents, dtype=np.int64)
        parents: IntArray = self.parents[samples]
        return parents


class LocalPose(NamedTuple):
    """A frame's transform to its parent at n times.

    Attributes:
        parent: (n,) index of the parent; -1 where no sample can be used.
        poses: (n, 7) T_parent_child [m]; NaN where no sample can be used.
        age_ns: (n,) distance in time to the nearest sample that was used; 0 for a static one, -1 where there is none.
    """

    parent: IntArray
    poses: FloatArray
    age_ns: IntArray


def local_poses(edge: Edge, times_ns: IntArray, mode: str = "linear", *, hold: bool = False) -> LocalPose:
    """Return a frame's transform to its parent at `times_ns` (n,).

    Args:
        edge: the frame's transforms.
        times_ns: the times.
        mode: ``linear`` (with slerp), ``previous`` or ``nearest``.
        hold: after the last sample keep it, instead of giving nothing as tf2 does.
    """
    if edge.static:
        zeros = np.zeros(len(times_ns), np.int64)
        return LocalPose(edge.parent_at(zeros), np.asarray(edge.timeline.take(zeros), np.float64), zeros)
    return _MODES[mode](edge, times_ns, hold)


def _linear(edge: Edge, times_ns: IntArray, hold: bool) -> LocalPose:
    where = bracket(edge.timeline.stamps_ns, times_ns)
    size = len(edge.timeline)
    usable = np.flatnonzero((where.before >= 0) & ((where.after < size) | hold))
    everywhere = len(usable) == len(times_ns)
    before, after, shares = where.at(usable)
    after = np.minimum(after, size - 1)
    first = np.array(edge.timeline.take(before), dtype=np.float64)
    parents = edge.parent_at(before)
    # Where the parent changes between two samples there is nothing between them: the earlier one holds.
    between = shares > 0.0
    if not isinstance(edge.parents, int):
        between &= parents == edge.parent_at(after)
    if between.any():
        rows = slice(None) if between.all() else np.flatnonzero(between)
        share, a = shares[rows], first[rows]
        b = np.asarray(edge.timeline.take(after[rows]), dtype=np.float64)
        turned = slerp_rows(a[:, 3:], b[:, 3:], share)
        first[rows, :3] = a[:, :3] * (1.0 - share[:, np.newaxis]) + b[:, :3] * share[:, np.newaxis]
        first[rows, 3:] = turned
    now, stamps = (times_ns if everywhere else times_ns[usable]), edge.timeline.stamps_ns
    age = np.minimum(np.abs(now - stamps[before]), np.abs(now - stamps[after]))
    if everywhere:
        return LocalPose(parents, first, age)
    result = LocalPose(np.full(len(times_ns), -1), np.full((len(times_ns), 7), np.nan), np.full(len(times_ns), -1))
    result.parent[usable], result.poses[usable], result.age_ns[usable] = parents, first, age
    return result


def _previous(edge: Edge, times_ns: IntArray, hold: bool) -> LocalPose:
    where = bracket(edge.timeline.stamps_ns, times_ns)
    usable = (where.before >= 0) & ((where.after < len(edge.timeline)) | hold)
    return _stepped(edge, times_ns, usable, where.before)


def _nearest(edge: Edge, times_ns: IntArray, hold: bool) -> LocalPose:
    where = bracket(edge.timeline.stamps_ns, times_ns)
    last = len(edge.timeline) - 1
    chosen = np.clip(np.where(where.share > 0.5, where.after, where.before), 0, max(last, 0))
    usable = np.ones(len(times_ns), bool) if hold else (where.before >= 0) & (where.after <= last)
    return _stepped(edge, times_ns, usable & (last >= 0), chosen)


def _stepped(edge: Edge, times_ns: IntArray, usable: BoolArray, chosen: IntArray) -> LocalPose:
    poses = np.full((len(times_ns), 7), np.nan)
    parents = np.full(len(times_ns), -1, dtype=np.int64)
    poses[usable] = edge.timeline.take(chosen[usable])
    parents[usable] = edge.parent_at(chosen[usable])
    age = np.full(len(times_ns), -1, dtype=np.int64)
    age[usable] = np.abs(times_ns[usable] - edge.timeline.stamps_ns[chosen[usable]])
    return LocalPose(parents, poses, age)


_MODES: dict[str, Callable[[Edge, IntArray, bool], LocalPose]] = {
    "linear": _linear,
    "previous": _previous,
    "nearest": _nearest,
}
