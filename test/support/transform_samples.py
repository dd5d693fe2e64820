# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Transforms one by one as a history."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from robot_semantics.recording.tracks.history import Edge, TransformHistory
from robot_semantics.recording.tracks.timeline import Timeline


def history_of(samples: Iterable[tuple[str, str, bool, int, tuple[float, ...]]]) -> TransformHistory:
    """Make a history of transforms (parent, child, static, stamp_ns, x y z qx qy qz qw), in order of arrival."""
    index: dict[str, int] = {}
    rows: dict[int, list[tuple[int, int, bool, tuple[float, ...]]]] = {}
    for parent, child, static, stamp_ns, pose in samples:
        at = index.setdefault(parent.lstrip("/"), len(index))
        rows.setdefault(index.setdefault(child.lstrip("/"), len(index)), []).append((stamp_ns, at, static, pose))
    edges = {}
    for frame, some in rows.items():
        # As in tf2 a frame stays what its first transform made it; of static ones the newest counts.
        static = some[0][2]
        kept = some[-1:] if static else some
        above = tuple(dict.fromkeys(row[1] for row in kept))
        mine = [[i for i, row in enumerate(kept) if row[1] == parent] for parent in above]
        timeline = Timeline.merge(
            [np.array([kept[i][0] for i in rows], dtype=np.int64) for rows in mine],
            [np.array(rows) for rows in mine],
            [np.array([kept[i][3] for i in rows], dtype=np.float64) for rows in mine],
            keep_equal=above,
        )
        changing = len(above) > 1 and timeline.place is not None
        edges[frame] = Edge(frame, static, timeline, np.array(above)[timeline.place] if changing else above[0])
    return TransformHistory(index, edges)
