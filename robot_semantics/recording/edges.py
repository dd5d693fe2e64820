# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""One frame's transforms to its parent over time, at thousands of times at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from robot_semantics.recording.poses import blend_poses
from robot_semantics.recording.timeline import Timeline, bracket, interpolate
from robot_semantics.transforms.arrays import FloatArray, IntArray


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
    count = len(times_ns)
    if edge.static:
        zeros = np.zeros(count, np.int64)
        return LocalPose(edge.parent_at(zeros), np.asarray(edge.timeline.take(zeros), np.float64), zeros)
    where = bracket(edge.timeline.stamps_ns, times_ns, mode, hold=hold)
    parents = edge.parent_at(where.before)
    # Where the parent changes between two samples there is nothing between them: the earlier one holds.
    apart = None if isinstance(edge.parents, int) else parents != edge.parent_at(where.after)
    poses = interpolate(where, edge.timeline.take, blend_poses, apart)
    return LocalPose(
        np.asarray(where.spread(count, parents, -1), dtype=np.int64),
        np.asarray(where.spread(count, poses, np.nan), dtype=np.float64),
        np.asarray(where.spread(count, where.age_ns, -1), dtype=np.int64),
    )
