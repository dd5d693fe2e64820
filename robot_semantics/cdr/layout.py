# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The layout of one message and of all messages that differ from it only in stamps and numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from robot_semantics.base.errors import RobotSemanticsError
from robot_semantics.transforms.arrays import BoolArray, FloatArray, IntArray

# Errors of serialised messages.


class CdrError(RobotSemanticsError, ValueError):
    """Bytes do not have the layout of their message type."""


class LayoutError(CdrError):
    """A message does not have the layout of its type; the message says at which byte."""

    def __init__(self, offset: int, reason: str) -> None:
        super().__init__(f"byte {offset}: {reason}")


ByteArray = npt.NDArray[np.uint8]

FRONT = 4
"""Bytes before each message in a row; CDR counts its alignment from after its four bytes of encapsulation."""


@dataclass
class MessageLayout:
    """The layout of one message: its texts, and the places of its stamps and numbers.

    Attributes:
        length: bytes of the whole message.
        order: the byte order, ``<`` or ``>``.
        texts: all texts of each field, in order.
        stamps: offsets of the stamps, in order.
        numbers: (offset, count) of each run of doubles of each field, in order.
        free: (start, stop) of the bytes that may differ between messages of this layout.
    """

    length: int
    order: str
    texts: dict[str, list[str]] = field(default_factory=dict)
    stamps: list[int] = field(default_factory=list)
    numbers: dict[str, list[tuple[int, int]]] = field(default_factory=dict)
    free: list[tuple[int, int]] = field(default_factory=list)
    _words: list[tuple[slice, npt.NDArray[np.uint64], npt.NDArray[np.uint64] | None]] = field(default_factory=list)

    def prepare(self, message: bytes) -> MessageLayout:
        """Store the bytes that all messages of this layout share; call once, with the message of the walk."""
        mask = np.full(self.length, 255, dtype=np.uint8)
        for start, stop in self.free:
            mask[start:stop] = 0
        masks, words = (
            as_rows([part.tobytes()]).view(np.uint64)[0] for part in (mask, np.frombuffer(message, np.uint8))
        )
        full = masks == np.uint64(2**64 - 1)
        for kind in (full, (masks != 0) & ~full):
            used = np.flatnonzero(kind)
            for run in np.split(used, np.flatnonzero(np.diff(used) > 1) + 1) if len(used) else []:
                where = slice(int(run[0]), int(run[-1]) + 1)
                self._words.append((where, words[where] & masks[where], None if kind is full else masks[where]))
        return self

    def matches(self, rows: ByteArray) -> BoolArray:
        """Return which of the messages `rows` (n, stride) have this layout."""
        same = np.ones(len(rows), dtype=bool)
        words = rows.view(np.uint64)
        for where, expected, mask in self._words:
            equal = words[:, where] == expected if mask is None else (words[:, where] & mask) == expected
            # Compare all rows together first: usually they are equal, and this is much faster than row by row.
            if not equal.all():
                same &= equal.all(axis=1)
        return same

    def stamps_ns(self, rows: ByteArray) -> IntArray:
        """Return the stamps (n, number of stamps) of messages of this layout [ns]."""
        result = np.empty((len(rows), len(self.stamps)), dtype=np.int64)
        for i, offset in enumerate(self.stamps):
            parts = np.ascontiguousarray(rows[:, FRONT + offset : FRONT + offset + 8])
            seconds = parts.view(f"{self.order}i4")[:, 0].astype(np.int64)
            result[:, i] = seconds * 1_000_000_000 + parts.view(f"{self.order}u4")[:, 1]
        return result

    def doubles(self, rows: ByteArray, name: str) -> FloatArray:
        """Return a field's numbers (n, runs, count) of messages of this layout.

        Raises:
            CdrError: the runs have different counts.
        """
        runs = self.numbers.get(name, [])
        counts = {count for _, count in runs}
        if len(counts) > 1:
            raise CdrError(f"byte {runs[0][0]}: the runs of {name} differ in length")
        count = counts.pop() if counts else 0
        shape = (len(rows), len(runs), count)
        if not count:
            return np.empty(shape)
        starts = np.array([FRONT + offset for offset, _ in runs])
        if not (starts % 8).any():
            # In CDR, every double is a whole word of the rows.
            columns = (starts[:, np.newaxis] // 8 + np.arange(count)).ravel()
            words = rows.view(f"{self.order}f8")
            picked = words[:, columns[0] : columns[0] + count] if len(runs) == 1 else np.take(words, columns, axis=1)
        else:
            columns = (starts[:, np.newaxis] + np.arange(8 * count)).ravel()
            picked = rows[:, columns[0] : columns[0] + 8 * count] if len(runs) == 1 else np.take(rows, columns, axis=1)
            picked = np.ascontiguousarray(picked).view(f"{self.order}f8")
        # Copy: a view would keep the whole block of messages in memory.
        return np.array(picked, dtype=np.float64).reshape(shape)


def as_rows(messages: Sequence[bytes]) -> ByteArray:
    """Return messages of equal length as (n, stride) bytes: `FRONT` bytes, the message, and zeros up to whole words.

    Messages are compared in words of eight bytes, and everything that CDR aligns to eight bytes is a whole word.
    """
    length = len(messages[0])
    stride = -(-(FRONT + length) // 8) * 8
    front, back = bytes(FRONT), bytes(stride - FRONT - length)
    return np.frombuffer(front + (back + front).join(messages) + back, dtype=np.uint8).reshape(len(messages), stride)
