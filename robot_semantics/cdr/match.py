# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Messages sorted by layout.

Joint states of one robot usually differ only in their numbers: names, counts and lengths are the same. Therefore only
the first message is walked field by field. Every later message is compared with it outside the numbers, thousands
together, and the numbers are copied.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from robot_semantics.cdr.layout import ByteArray, LayoutError, MessageLayout, as_rows
from robot_semantics.cdr.message_types import MessageField
from robot_semantics.cdr.walk import message_layout
from robot_semantics.transforms.arrays import IntArray

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
        self._known: dict[int, list[MessageLayout]] = {}

    def varied(self, messages: Sequence[bytes]) -> bool:
        """Return whether messages have many layouts, judged by their lengths and by the known layouts."""
        seen = sum(len(layouts) for layouts in self._known.values())
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
        known = self._known.setdefault(length, [])
        left = np.arange(len(messages))
        for layout in tuple(known):
            same = layout.matches(rows[left] if len(left) < len(messages) else rows)
            if len(left) == len(messages) and same.all():
                yield LayoutMatch(layout, indices, rows)
                return
            if same.any():
                yield LayoutMatch(layout, indices[left[same]], rows[left[same]])
                left = left[~same]
        while len(left):
            message = messages[int(left[0])]
            try:
                layout = message_layout(message, self.fields, ros1=self.ros1)
            except LayoutError as error:
                refused.append((int(indices[left[0]]), error))
                left = left[1:]
                continue
            known.insert(0, layout)
            del known[MAX_LAYOUTS:]
            # Look ahead only a little: otherwise messages that all differ would cost n² comparisons.
            ahead = left[: max(64, len(left) // 8)] if len(known) > 8 else left
            same = layout.matches(rows[ahead])
            yield LayoutMatch(layout, indices[ahead[same]], rows[ahead[same]])
            left = np.concatenate([ahead[~same], left[len(ahead) :]])
