# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The transforms of a recording as a history, from the columns of its TF messages."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

import numpy as np

from robot_semantics.base.diagnostic import SourcePlace
from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.recording.bags.columns import Array, GroupKey, Part, Pieces
from robot_semantics.recording.tracks.history import Edge, TransformHistory
from robot_semantics.recording.tracks.namespaces import FrameNames
from robot_semantics.recording.tracks.timeline import Timeline
from robot_semantics.transforms.arrays import IntArray


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
    found: dict[int, list[_Samples]] = {}
    for key, parts in pieces.items():
        if key.kind not in ("tf", "tf_static"):
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
            found.setdefault(below, []).extend(_column(key, above, part, column) for part in parts)
    names = tuple(index)
    edges = {}
    for child_index, samples in found.items():
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
    there = [some for some in samples if len(some.logs)]
    moving = [some for some in there if some.key.kind == "tf"]
    static = [some for some in there if some.key.kind == "tf_static"]
    if not moving and static:
        return _static_edge(child, names, static, problems, place)
    if static:
        text = f"frame '{names[child]}' is both static and moving; it is read as moving"
        problems.warning("tf-static-and-moving", text, place)
    timeline = Timeline.merge(
        [some.stamps for some in moving],
        [some.logs for some in moving],
        [some.poses for some in moving],
        keep_equal=[some.parent for some in moving],
    )
    parents = np.array([some.parent for some in moving], dtype=np.int64)
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
