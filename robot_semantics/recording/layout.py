# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Where the numbers lie in a serialised message, found once and used for every message of the same shape.

A robot's joint states hardly ever differ but in their numbers: names, counts and lengths stay. So the first message is
walked field by field, every later one only compared with it outside the numbers, thousands at a time, and the numbers
copied out.
ROS 2 messages are CDR (aligned, little or big endian), ROS 1 messages are packed and little endian.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from robot_semantics.base.errors import RobotSemanticsError
from robot_semantics.transforms.arrays import BoolArray, FloatArray, IntArray

ByteArray = npt.NDArray[np.uint8]

CDR_HEADERS = {b"\x00\x00": ">", b"\x00\x01": "<"}
"""Byte order by the first two bytes of a CDR message; what other encapsulations hold is laid out otherwise."""

FRONT = 4
"""Bytes before each message in a row; CDR counts its alignment from behind a header of four bytes."""

MAX_LAYOUTS = 64
"""How many shapes are remembered for each message length."""


MANY_LAYOUTS = 8
"""A topic with more shapes than this has hardly two messages of one."""


class LayoutError(RobotSemanticsError):
    """A message does not have the form of its type, as is found at one of its bytes."""

    def __init__(self, offset: int, reason: str) -> None:
        super().__init__(f"byte {offset}: {reason}")


class Field(NamedTuple):
    """A field of a message type: its name, its kind (a key of `_WALK`), and what the kind needs.

    Attributes:
        size: how many numbers, for ``doubles``.
        fields: of one element, for ``repeat``.
    """

    name: str
    kind: str
    size: int = 0
    fields: tuple[Field, ...] = ()


@dataclass
class Layout:
    """The shape of one message: its texts, and where its stamps and numbers lie.

    Attributes:
        length: bytes of the whole message.
        order: ``<`` or ``>``, the byte order.
        texts: by field name every string found there, in order.
        stamps: offsets of the stamps, in order.
        numbers: by field name the (offset, count) of each run of doubles, in order.
        free: (start, stop) of the bytes that may differ from message to message.
    """

    length: int
    order: str
    texts: dict[str, list[str]] = field(default_factory=dict)
    stamps: list[int] = field(default_factory=list)
    numbers: dict[str, list[tuple[int, int]]] = field(default_factory=dict)
    free: list[tuple[int, int]] = field(default_factory=list)
    _words: list[tuple[slice, npt.NDArray[np.uint64], npt.NDArray[np.uint64] | None]] = field(default_factory=list)

    def prepare(self, message: bytes) -> Layout:
        """Remember what every message of this shape has in common; call once, with the message that was walked."""
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
        """Return which of the messages `rows` (n, stride) have this shape."""
        same = np.ones(len(rows), dtype=bool)
        words = rows.view(np.uint64)
        for where, expected, mask in self._words:
            equal = words[:, where] == expected if mask is None else (words[:, where] & mask) == expected
            # All at once first: that is the rule, and far quicker than row by row.
            if not equal.all():
                same &= equal.all(axis=1)
        return same

    def stamps_ns(self, rows: ByteArray) -> IntArray:
        """Return the stamps (n, number of stamps) of messages of this shape [ns]."""
        result = np.empty((len(rows), len(self.stamps)), dtype=np.int64)
        for i, offset in enumerate(self.stamps):
            parts = np.ascontiguousarray(rows[:, FRONT + offset : FRONT + offset + 8])
            seconds = parts.view(f"{self.order}i4")[:, 0].astype(np.int64)
            result[:, i] = seconds * 1_000_000_000 + parts.view(f"{self.order}u4")[:, 1]
        return result

    def doubles(self, rows: ByteArray, name: str) -> FloatArray:
        """Return a field's numbers (n, runs, count) of messages of this shape; every run must have the same count."""
        runs = self.numbers.get(name, [])
        counts = {count for _, count in runs}
        if len(counts) > 1:
            raise LayoutError(runs[0][0], f"the runs of {name} differ in length")
        count = counts.pop() if counts else 0
        shape = (len(rows), len(runs), count)
        if not count:
            return np.empty(shape)
        starts = np.array([FRONT + offset for offset, _ in runs])
        if not (starts % 8).any():
            # In CDR every double lies on a whole word, once the rows are laid out for it.
            columns = (starts[:, np.newaxis] // 8 + np.arange(count)).ravel()
            words = rows.view(f"{self.order}f8")
            picked = words[:, columns[0] : columns[0] + count] if len(runs) == 1 else np.take(words, columns, axis=1)
        else:
            columns = (starts[:, np.newaxis] + np.arange(8 * count)).ravel()
            picked = rows[:, columns[0] : columns[0] + 8 * count] if len(runs) == 1 else np.take(rows, columns, axis=1)
            picked = np.ascontiguousarray(picked).view(f"{self.order}f8")
        # A copy: a view would keep the whole block of messages in memory.
        return np.array(picked, dtype=np.float64).reshape(shape)


class Match(NamedTuple):
    """Messages of one shape.

    Attributes:
        indices: which of the given messages (n,).
        rows: their bytes (n, stride).
    """

    layout: Layout
    indices: IntArray
    rows: ByteArray


class LayoutTable:
    """The shapes seen so far of one message type in one serialisation."""

    def __init__(self, fields: tuple[Field, ...], *, ros1: bool) -> None:
        self.fields = fields
        self.ros1 = ros1
        self._known: dict[int, list[Layout]] = {}

    def varied(self, messages: Sequence[bytes]) -> bool:
        """Tell whether messages have many shapes, by their lengths and by those that were seen."""
        seen = sum(len(layouts) for layouts in self._known.values())
        return seen > MANY_LAYOUTS or len(set(map(len, messages))) > MANY_LAYOUTS

    def sort(self, messages: Sequence[bytes], refused: list[tuple[int, LayoutError]]) -> Iterator[Match]:
        """Yield the messages by shape; those that are not whole are added to `refused` with their index."""
        lengths = np.fromiter(map(len, messages), dtype=np.int64, count=len(messages))
        for length in np.unique(lengths).tolist():
            indices = np.flatnonzero(lengths == length)
            yield from self._sort_equal(length, indices, [messages[i] for i in indices.tolist()], refused)

    def _sort_equal(
        self, length: int, indices: IntArray, messages: list[bytes], refused: list[tuple[int, LayoutError]]
    ) -> Iterator[Match]:
        rows = as_rows(messages)
        known = self._known.setdefault(length, [])
        left = np.arange(len(messages))
        for layout in tuple(known):
            same = layout.matches(rows[left] if len(left) < len(messages) else rows)
            if len(left) == len(messages) and same.all():
                yield Match(layout, indices, rows)
                return
            if same.any():
                yield Match(layout, indices[left[same]], rows[left[same]])
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
            # Looking only a little ahead keeps messages that all differ from costing n² compares.
            ahead = left[: max(64, len(left) // 8)] if len(known) > 8 else left
            same = layout.matches(rows[ahead])
            yield Match(layout, indices[ahead[same]], rows[ahead[same]])
            left = np.concatenate([ahead[~same], left[len(ahead) :]])


def message_layout(message: bytes, fields: tuple[Field, ...], *, ros1: bool) -> Layout:
    """Return the shape of one message.

    Raises:
        LayoutError: the bytes do not have the form that the type demands.
    """
    order, origin = "<", 0
    if not ros1:
        if message[:2] not in CDR_HEADERS or len(message) < 4:
            raise LayoutError(0, f"not plain CDR: the message starts with {message[:4].hex() or 'nothing'}")
        order, origin = CDR_HEADERS[message[:2]], 4
    walker = _Walker(message, order, origin, ros1)
    if not ros1:
        walker.layout.free.append((2, 4))
    walker.fields(fields)
    rest = len(message) - walker.at
    # CDR messages may be filled up to a multiple of four.
    if rest > (0 if ros1 else 3):
        raise LayoutError(walker.at, f"{rest} bytes are left over")
    if rest:
        walker.layout.free.append((walker.at, len(message)))
    return walker.layout.prepare(message)


class _Walker:
    def __init__(self, message: bytes, order: str, origin: int, ros1: bool) -> None:
        self.message, self.origin, self.ros1 = message, origin, ros1
        self.at = origin
        self.layout = Layout(len(message), order)
        self._u4 = struct.Struct(f"{order}I")

    def fields(self, fields: tuple[Field, ...]) -> None:
        for item in fields:
            _WALK[item.kind](self, item)

    def skip(self, size: int, align: int, *, free: bool) -> int:
        start = self.at
        if not self.ros1:
            self.at += -(self.at - self.origin) % align
        if free or self.at > start:
            self.layout.free.append((start, self.at + (size if free else 0)))
        begin = self.at
        if begin + size > len(self.message):
            raise LayoutError(begin, f"{size} bytes are needed, {max(len(self.message) - begin, 0)} are left")
        self.at += size
        return begin

    def count(self, smallest: int) -> int:
        """Read a count of things that take at least `smallest` bytes each."""
        begin = self.skip(4, 4, free=False)
        value: int = self._u4.unpack_from(self.message, begin)[0]
        if value * smallest > len(self.message) - self.at:
            raise LayoutError(
                begin, f"a count of {value} does not fit into the {len(self.message) - self.at} bytes left"
            )
        return value

    def text(self, item: Field) -> None:
        size = self.count(1)
        begin = self.skip(size, 1, free=False)
        raw = self.message[begin : begin + size]
        try:
            value = (raw if self.ros1 else raw.removesuffix(b"\0")).decode()
        except UnicodeDecodeError:
            raise LayoutError(begin, f"{item.name} is not UTF-8") from None
        self.layout.texts.setdefault(item.name, []).append(value)

    def texts(self, item: Field) -> None:
        self.layout.texts.setdefault(item.name, [])
        for _ in range(self.count(4)):
            self.text(item)

    def stamp(self, item: Field) -> None:
        self.layout.stamps.append(self.skip(8, 4, free=True))

    def sequence_number(self, item: Field) -> None:
        if self.ros1:
            self.skip(4, 4, free=True)

    def doubles(self, item: Field) -> None:
        self.layout.numbers.setdefault(item.name, []).append((self.skip(8 * item.size, 8, free=True), item.size))

    def double_list(self, item: Field) -> None:
        count = self.count(8)
        # An empty list has no element that could want alignment.
        begin = self.skip(8 * count, 8, free=True) if count else self.at
        self.layout.numbers.setdefault(item.name, []).append((begin, count))

    def repeat(self, item: Field) -> None:
        for _ in range(self.count(1)):
            self.fields(item.fields)


_WALK: dict[str, Callable[[_Walker, Field], None]] = {
    "stamp": _Walker.stamp,
    "seq": _Walker.sequence_number,
    "text": _Walker.text,
    "texts": _Walker.texts,
    "doubles": _Walker.doubles,
    "double_list": _Walker.double_list,
    "repeat": _Walker.repeat,
}


def as_rows(messages: Sequence[bytes]) -> ByteArray:
    """Return messages of one length as (n, stride) bytes: `FRONT` bytes, the message, and zeros up to whole words.

    So messages compare eight bytes at a time, and what CDR aligns to eight bytes lies on whole words.
    """
    length = len(messages[0])
    stride = -(-(FRONT + length) // 8) * 8
    front, back = bytes(FRONT), bytes(stride - FRONT - length)
    return np.frombuffer(front + (back + front).join(messages) + back, dtype=np.uint8).reshape(len(messages), stride)
