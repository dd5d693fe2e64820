# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Joint states from CDR bytes: names are compared as one block, numbers are views into the message."""

from __future__ import annotations

import struct
from typing import NamedTuple

import numpy as np

from robot_semantics.base.caches import LruCache
from robot_semantics.cdr.fill import unpack_stamp
from robot_semantics.cdr.layout import CdrError
from robot_semantics.cdr.message_types import FIELDS, JOINT_STATE, JOINT_STATE_NAMES
from robot_semantics.cdr.walk import AFTER_STAMP, BODY, LITTLE_ENDIAN, MessageWalk, aligned
from robot_semantics.transforms.arrays import BoolArray, FloatArray

_MAX_HEADS = 32
_MAX_HEAD_BYTES = 4_000_000
_EMPTY = np.empty(0)
_DOUBLE = np.dtype("<f8")

_uint32 = struct.Struct("<I").unpack_from


class JointStateData(NamedTuple):
    """The content of a joint state; arrays are read-only views into the message, each with the published length.

    Attributes:
        stamp_ns: the stamp [ns].
        names: the same tuple object as long as the publisher's names do not change.
        position: [rad or m].
        velocity: [rad/s or m/s].
        effort: [N m or N].
        data: the bytes of the message; empty if it was not read from bytes.
        position_at: offset of the positions in them.
    """

    stamp_ns: int
    names: tuple[str, ...]
    position: FloatArray
    velocity: FloatArray = _EMPTY
    effort: FloatArray = _EMPTY
    data: bytes = b""
    position_at: int = 0


class _Head(NamedTuple):
    """The bytes between the stamp and the positions, which all messages of one publisher share."""

    head: bytes
    names: tuple[str, ...]
    counts_at: int


class JointStateReader:
    """Reads sensor_msgs/JointState from CDR bytes; caches the heads of publishers."""

    def __init__(self) -> None:
        self._last: _Head | None = None
        self._heads: LruCache[bytes, _Head] = LruCache(_MAX_HEADS, _MAX_HEAD_BYTES)

    def read(self, data: bytes) -> JointStateData:
        """Return the content of one message.

        Raises:
            CdrError: the bytes end early, or are not little-endian CDR.
        """
        head = self._head_of(data)
        try:
            position, end = _doubles(data, head.counts_at)
            velocity, rest = _doubles(data, end)
            effort, _ = _doubles(data, rest)
            seconds, nanoseconds = unpack_stamp(data, BODY)
        except (struct.error, ValueError) as error:
            raise CdrError(str(error)) from None
        stamp_ns = seconds * 1_000_000_000 + nanoseconds
        return JointStateData(stamp_ns, head.names, position, velocity, effort, data, end - 8 * len(position))

    def _head_of(self, data: bytes) -> _Head:
        last = self._last
        if last is not None and data.startswith(last.head, AFTER_STAMP):
            return last
        for head in self._heads:
            if data.startswith(head.head, AFTER_STAMP):
                break
        else:
            head = _read_head(data)
        self._heads.put(head.head, head, len(head.head))
        self._last = head
        return head


class JointStateRepeater:
    """Reads messages that differ from a first message only in their stamp and numbers.

    Attributes:
        heads: known bytes between stamp and positions; `knows` may accept others.
        offset: offset of the positions.
        velocity_count, effort_count: places and bytes of these counts in a message.
        buffer: memory for a message of the length of the first.
        positions: (n,) of the message in `buffer` [rad or m].
    """

    __slots__ = (
        "_head",
        "_matters",
        "_names",
        "buffer",
        "effort_count",
        "heads",
        "offset",
        "positions",
        "velocity_count",
    )

    def __init__(self, first: JointStateData) -> None:
        """`first` was read from bytes and has as many positions as names."""
        data, self.offset = first.data, first.position_at
        self._names = first.names
        # The body begins eight bytes into the memory: its doubles are aligned there as in the message.
        memory = np.zeros(BODY + len(data), np.uint8)
        self.buffer = memory.data[BODY:]
        self.positions: FloatArray = memory[BODY + self.offset :][: 8 * len(first.position)].view(_DOUBLE)
        end = self.offset + 8 * len(first.position)
        self.velocity_count = slice(end, end + 4), data[end : end + 4]
        _, end = _doubles(data, end)
        self.effort_count = slice(end, end + 4), data[end : end + 4]
        head = data[AFTER_STAMP : self.offset]
        self.heads = {head}
        self._head = np.frombuffer(head, np.uint8)
        self._matters = _not_padding(data, self.offset)

    def knows(self, head: bytes) -> bool:
        """Return whether a head differs from the first one only in its padding; if so, store it.

        A middleware pads with old bytes of its buffer; a publisher has a few buffers, each with other bytes.
        """
        if len(head) != len(self._head) or (self._head != np.frombuffer(head, np.uint8))[self._matters].any():
            return False
        if len(self.heads) >= _MAX_HEADS:
            self.heads.clear()
        self.heads.add(head)
        return True

    def read(self, data: bytes, stamp_ns: int) -> JointStateData:
        """Return the content of a message with a known head and the length of the first."""
        count = len(self.positions)
        position = np.frombuffer(data, _DOUBLE, count, self.offset)
        velocity, end = _doubles(data, self.offset + 8 * count)
        effort, _ = _doubles(data, end)
        return JointStateData(stamp_ns, self._names, position, velocity, effort, data, self.offset)


def _read_head(data: bytes) -> _Head:
    if data[:2] != LITTLE_ENDIAN:
        raise CdrError(f"encapsulation {data[:2].hex()} is not little-endian CDR")
    walk = MessageWalk(data, ros1=False)
    walk.fields(JOINT_STATE_NAMES)
    # The number of names is part of the comparison: no other list of names can begin with the same bytes.
    return _Head(data[AFTER_STAMP : walk.at], tuple(walk.layout.texts["name"]), aligned(walk.at, 4))


def _not_padding(data: bytes, positions_at: int) -> BoolArray:
    """Return which bytes between stamp and positions are not padding."""
    walk = MessageWalk(data, ros1=False)
    walk.fields(FIELDS[JOINT_STATE])
    matters = np.ones(positions_at, np.bool_)
    for start, stop in walk.layout.free:
        matters[start:stop] = False
    return matters[AFTER_STAMP:]


def _doubles(data: bytes, at: int) -> tuple[FloatArray, int]:
    """Return the sequence of doubles with its count at `at`, and the offset of the next count."""
    (count,) = _uint32(data, at)
    if not count:
        return _EMPTY, at + 4
    start = aligned(at + 4, 8)
    return np.frombuffer(data, _DOUBLE, count, start), start + 8 * count
