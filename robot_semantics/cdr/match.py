# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Many messages read together: sorted by layout, or transform by transform.

Joint states of one robot usually differ only in their numbers: names, counts and lengths are the same. Therefore only
the first message is walked field by field. Every later message is compared with it outside the numbers, thousands
together, and the numbers are copied.

TF messages with many layouts are read transform by transform instead: several broadcasters on one topic that send only
moved frames make messages of hundreds of layouts. Sorting such messages by layout would cost more than reading them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from robot_semantics.cdr.layout import ByteArray, LayoutError, MessageLayout, as_rows
from robot_semantics.cdr.message_types import MessageField
from robot_semantics.cdr.walk import message_layout
from robot_semantics.transforms.arrays import FloatArray, IntArray

MAX_LAYOUTS = 64
"""Limit of known layouts for each message length."""

MANY_LAYOUTS = 8
"""A topic with more layouts than this has rarely two messages of one layout."""


class LayoutMatch(NamedTuple):
    """Messages of one layout.

    Attributes:
        layout: the layout.
        indices: (n,) their indices among the given messages.
        rows: their bytes (n, stride).
    """

    layout: MessageLayout
    indices: IntArray
    rows: ByteArray


class LayoutTable:
    """The known layouts of one message type in one serialisation."""

    def __init__(self, fields: tuple[MessageField, ...], *, ros1: bool) -> None:
        self.fields = fields
        self.ros1 = ros1
        self._layouts: dict[int, list[MessageLayout]] = {}

    def varied(self, messages: Sequence[bytes]) -> bool:
        """Return whether messages have many layouts, judged by their lengths and by the known layouts."""
        seen = sum(len(layouts) for layouts in self._layouts.values())
        return seen > MANY_LAYOUTS or len(set(map(len, messages))) > MANY_LAYOUTS

    def sort(self, messages: Sequence[bytes], refused: list[tuple[int, LayoutError]]) -> Iterator[LayoutMatch]:
        """Yield the messages by layout. Incomplete messages are added to `refused` with their index."""
        lengths = np.fromiter(map(len, messages), dtype=np.int64, count=len(messages))
        for length in np.unique(lengths).tolist():
            indices = np.flatnonzero(lengths == length)
            yield from self._sort_equal(length, indices, [messages[i] for i in indices.tolist()], refused)

    def _sort_equal(
        self, length: int, indices: IntArray, messages: list[bytes], refused: list[tuple[int, LayoutError]]
    ) -> Iterator[LayoutMatch]:
        rows = as_rows(messages)
        known_layouts = self._layouts.setdefault(length, [])
        unmatched = np.arange(len(messages))
        for layout in tuple(known_layouts):
            same = layout.matches(rows[unmatched] if len(unmatched) < len(messages) else rows)
            if len(unmatched) == len(messages) and same.all():
                yield LayoutMatch(layout, indices, rows)
                return
            if same.any():
                yield LayoutMatch(layout, indices[unmatched[same]], rows[unmatched[same]])
                unmatched = unmatched[~same]
        while len(unmatched):
            message = messages[int(unmatched[0])]
            try:
                layout = message_layout(message, self.fields, ros1=self.ros1)
            except LayoutError as error:
                refused.append((int(indices[unmatched[0]]), error))
                unmatched = unmatched[1:]
                continue
            known_layouts.insert(0, layout)
            del known_layouts[MAX_LAYOUTS:]
            # Look ahead only a little: otherwise messages that all differ would cost n² comparisons.
            ahead = unmatched[: max(64, len(unmatched) // 8)] if len(known_layouts) > 8 else unmatched
            same = layout.matches(rows[ahead])
            yield LayoutMatch(layout, indices[ahead[same]], rows[ahead[same]])
            unmatched = np.concatenate([ahead[~same], unmatched[len(ahead) :]])


LONGEST_NAME = 128
"""Messages with longer frame names are left to the general reader."""

SMALLEST = 64
"""Smallest size of a transform in bytes."""


class TransformColumns(NamedTuple):
    """The transforms between two frames.

    Attributes:
        parent, child: the frames.
        message: (n,) index of the message of each transform.
        stamps_ns: (n,) [ns].
        poses: (n, 7) T_parent_child.
    """

    parent: str
    child: str
    message: IntArray
    stamps_ns: IntArray
    poses: FloatArray


def transform_columns(messages: Sequence[bytes], *, ros1: bool) -> tuple[list[TransformColumns], IntArray]:
    """Return the transforms of TF messages by their frames, and (n,) indices of messages for the general reader."""
    sizes = np.fromiter(map(len, messages), dtype=np.int64, count=len(messages))
    # Reads past the end of a message are detected afterwards; the zeros are for the last message.
    data = np.frombuffer(b"".join(messages) + bytes(2 * LONGEST_NAME + SMALLEST), dtype=np.uint8)
    ends = np.cumsum(sizes)
    origins = ends - sizes + (0 if ros1 else 4)
    good = sizes >= (4 if ros1 else 8)
    if not ros1:
        good &= (_bytes(data, ends - sizes, 2) == (0, 1)).all(axis=1)
    counts = np.where(good, _bytes(data, origins, 4).view("<u4")[:, 0], 0).astype(np.int64)
    good &= counts * SMALLEST <= sizes
    offsets = origins + 4
    parts: list[tuple[IntArray, ...]] = []
    for number in range(int(counts[good].max(initial=0))):
        of = np.flatnonzero(good & (counts > number))
        begin = offsets[of] + (4 if ros1 else 0)
        stamps = _aligned(begin, origins[of], 1 if ros1 else 4)
        parents, parent_sizes = _text(data, stamps + 8)
        children, child_sizes = _text(data, _aligned(parents + parent_sizes, origins[of], 1 if ros1 else 4))
        poses = _aligned(children + child_sizes, origins[of], 1 if ros1 else 8)
        whole = (poses + 56 <= ends[of]) & (np.maximum(parent_sizes, child_sizes) <= LONGEST_NAME)
        good[of[~whole]] = False
        offsets[of] = poses + 56
        parts.append(tuple(part[whole] for part in (of, stamps, parents, parent_sizes, children, child_sizes, poses)))
    rest = ends - offsets
    good &= (rest == 0) if ros1 else (rest >= 0) & (rest <= 3)
    if not parts:
        return [], np.flatnonzero(~good)
    columns = [np.concatenate(parts) for parts in zip(*parts, strict=True)]
    # Order: by message, then by transform in the message.
    order = np.argsort(columns[0], kind="stable")
    order = order[good[columns[0][order]]]
    try:
        result = list(_by_frames(data, [column[order] for column in columns], b"" if ros1 else b"\0"))
    except UnicodeDecodeError:
        return [], np.arange(len(messages))
    return result, np.flatnonzero(~good)


def _by_frames(data: ByteArray, columns: Sequence[IntArray], end: bytes) -> Iterator[TransformColumns]:
    of, stamps, parents, parent_sizes, children, child_sizes, poses = columns
    names = np.concatenate([_names(data, parents, parent_sizes), _names(data, children, child_sizes)], axis=1)
    first, kind = _distinct(names)
    when = np.ascontiguousarray(_bytes(data, stamps, 8))
    stamps_ns = when.view("<i4")[:, 0].astype(np.int64) * 1_000_000_000 + when.view("<u4")[:, 1]
    numbers = _bytes(data, poses, 56).view("<f8").astype(np.float64)
    for index, row in enumerate(first.tolist()):
        mine = np.flatnonzero(kind == index)
        parent, child = (
            data[start : start + size].tobytes().removesuffix(end).decode()
            for start, size in ((parents[row], parent_sizes[row]), (children[row], child_sizes[row]))
        )
        yield TransformColumns(parent, child, of[mine], stamps_ns[mine], numbers[mine])


def _distinct(rows: ByteArray) -> tuple[IntArray, IntArray]:
    """Return the index of the first of each distinct row, and (n,) the number of the distinct row of each row."""
    as_one = np.ascontiguousarray(rows).view(np.dtype((np.void, rows.shape[1]))).ravel()
    _, first, kind = np.unique(as_one, return_index=True, return_inverse=True)
    return first, kind.ravel()


def _bytes(data: ByteArray, at: IntArray, count: int) -> ByteArray:
    """Return `count` bytes (n, count) from each offset; beyond the end, the last byte is repeated."""
    return np.asarray(data[np.minimum(at[:, np.newaxis] + np.arange(count), len(data) - 1)])


def _text(data: ByteArray, at: IntArray) -> tuple[IntArray, IntArray]:
    """Return the offsets of texts and their sizes in bytes."""
    return at + 4, _bytes(data, at, 4).view("<u4")[:, 0].astype(np.int64)


def _aligned(at: IntArray, origins: IntArray, size: int) -> IntArray:
    return at + (origins - at) % size


def _names(data: ByteArray, at: IntArray, sizes: IntArray) -> npt.NDArray[np.uint8]:
    """Return texts (n, longest), padded with zeros."""
    longest = max(int(sizes.max(initial=0)), 1)
    return np.where(np.arange(longest) < sizes[:, np.newaxis], _bytes(data, at, longest), 0).astype(np.uint8)
