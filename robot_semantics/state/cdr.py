# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Joint states from, and transforms to, raw CDR bytes: names are compared as one block, values copied in one call.

The layout is that of the OMG's CDR (XCDR1, little endian) as every ROS 2 middleware sends it: four bytes of
encapsulation, then the fields one after another, each aligned to its size counted from after those four bytes.
Anything else raises `CdrError`, and the caller takes the typed path.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from robot_semantics.base.errors import RobotSemanticsError
from robot_semantics.base.lru_cache import LruCache
from robot_semantics.transforms.arrays import BoolArray, FloatArray

BIG_ENDIAN, LITTLE_ENDIAN = b"\x00\x00", b"\x00\x01"
BODY = 4
"""Offset of the first field: after the encapsulation."""
AFTER_STAMP = BODY + 8
"""Offset of what follows the stamp in a message that begins with a header."""
_MAX_LAYOUTS = 32
_MAX_LAYOUT_BYTES = 4_000_000
_EMPTY = np.empty(0)
_DOUBLE = np.dtype("<f8")

_uint32 = struct.Struct("<I").unpack_from
unpack_stamp = struct.Struct("<iI").unpack_from
pack_stamp = struct.Struct("<iI").pack


class CdrError(RobotSemanticsError, ValueError):
    """The bytes are not laid out as expected."""


class JointStateData(NamedTuple):
    """A joint state's content; arrays are read-only views into the message, each of the length that was sent.

    Attributes:
        names: the same tuple object as long as the sender's names do not change.
        position: [rad or m].
        velocity: [rad/s or m/s].
        effort: [N m or N].
        data: the bytes that this was read from, empty if it was not.
        position_at: the offset of the positions in them.
    """

    stamp_ns: int
    names: tuple[str, ...]
    position: FloatArray
    velocity: FloatArray = _EMPTY
    effort: FloatArray = _EMPTY
    data: bytes = b""
    position_at: int = 0


class _Layout(NamedTuple):
    """What one sender's messages have in common: everything between the stamp and the positions."""

    head: bytes
    names: tuple[str, ...]
    counts_at: int


class JointStateReader:
    """Reads sensor_msgs/JointState from CDR bytes; remembers the layouts it has met."""

    def __init__(self) -> None:
        self._last: _Layout | None = None
        self._layouts: LruCache[bytes, _Layout] = LruCache(_MAX_LAYOUTS, _MAX_LAYOUT_BYTES)

    def read(self, data: bytes) -> JointStateData:
        """Return the content of one message.

        Raises:
            CdrError: the bytes end early, or are not little-endian CDR.

        """
        layout = self._layout(data)
        try:
            position, end = _doubles(data, layout.counts_at)
            velocity, rest = _doubles(data, end)
            effort, _ = _doubles(data, rest)
            seconds, nanoseconds = unpack_stamp(data, BODY)
        except (struct.error, ValueError) as error:
            raise CdrError(str(error)) from None
        stamp_ns = seconds * 1_000_000_000 + nanoseconds
        return JointStateData(stamp_ns, layout.names, position, velocity, effort, data, end - 8 * len(position))

    def _layout(self, data: bytes) -> _Layout:
        last = self._last
        if last is not None and data.startswith(last.head, AFTER_STAMP):
            return last
        for layout in self._layouts:
            if data.startswith(layout.head, AFTER_STAMP):
                break
        else:
            layout = _read_layout(data)
        self._layouts.put(layout.head, layout, len(layout.head))
        self._last = layout
        return layout


class JointStateRepeater:
    """What it takes to read messages that differ from one seen before in their stamp and numbers alone.

    Attributes:
        heads: what stood between stamp and positions in messages that are known; others may be known to `knows`.
        at: offset of the positions.
        velocity_count, effort_count: where in a message the numbers of these stand, and what stands there.
        buffer: to be overwritten with a message, which must be as long as the first.
        positions: (n,) of the message in `buffer` [rad or m].

    """

    __slots__ = ("_head", "_matters", "_names", "at", "buffer", "effort_count", "heads", "positions", "velocity_count")

    def __init__(self, first: JointStateData) -> None:
        """`first` has been read from bytes and has as many positions as names."""
        data, self.at = first.data, first.position_at
        self._names = first.names
        # The body begins eight bytes into the memory, so that its doubles are aligned there as in the message.
        memory = np.zeros(BODY + len(data), np.uint8)
        self.buffer = memory.data[BODY:]
        self.positions: FloatArray = memory[BODY + self.at :][: 8 * len(first.position)].view(_DOUBLE)
        end = self.at + 8 * len(first.position)
        self.velocity_count = slice(end, end + 4), data[end : end + 4]
        _, end = _doubles(data, end)
        self.effort_count = slice(end, end + 4), data[end : end + 4]
        head = data[AFTER_STAMP : self.at]
        self.heads = {head}
        self._head = np.frombuffer(head, np.uint8)
        self._matters = _without_padding(data, len(first.names), self.at)

    def knows(self, head: bytes) -> bool:
        """Tell whether a head differs from the first one in nothing but its padding, and remember it then.

        What a middleware pads with is whatever its buffer held before; one sender has a few buffers, and each its own.
        """
        if len(head) != len(self._head) or (self._head != np.frombuffer(head, np.uint8))[self._matters].any():
            return False
        if len(self.heads) >= _MAX_LAYOUTS:
            self.heads.clear()
        self.heads.add(head)
        return True

    def read(self, data: bytes, stamp_ns: int) -> JointStateData:
        """Return the content of a message whose head is known and whose length is that of the first."""
        count = len(self.positions)
        position = np.frombuffer(data, _DOUBLE, count, self.at)
        velocity, end = _doubles(data, self.at + 8 * count)
        effort, _ = _doubles(data, end)
        return JointStateData(stamp_ns, self._names, position, velocity, effort, data, self.at)


def transform_children(data: bytes) -> Iterator[str]:
    """Yield the child frames of a TFMessage; those before a fault, if it has one."""
    with suppress(struct.error, UnicodeDecodeError, CdrError):
        (count,) = _uint32(data, BODY)
        at = BODY + 4
        for _ in range(min(count, len(data))):
            _, at = _string(data, _align(at, 4) + 8)
            frame, at = _string(data, _align(at, 4))
            yield frame
            at = _align(at, 8) + 56


def odometry_child(data: bytes) -> str:
    """Return the child frame of an Odometry; empty where the bytes are something else."""
    with suppress(struct.error, UnicodeDecodeError, CdrError):
        _, at = _string(data, AFTER_STAMP)
        return _string(data, _align(at, 4))[0].removeprefix("/")
    return ""


def _read_layout(data: bytes) -> _Layout:
    if data[:2] != LITTLE_ENDIAN:
        raise CdrError(f"encapsulation {data[:2].hex()} is not little-endian CDR")
    try:
        _, end = _string(data, AFTER_STAMP)
        end = _align(end, 4)
        (count,) = _uint32(data, end)
        end += 4
        if count > len(data):
            raise CdrError(f"{count} names in {len(data)} bytes")
        names = []
        for _ in range(count):
            name, end = _string(data, _align(end, 4))
            names.append(name)
    except (struct.error, UnicodeDecodeError) as error:
        raise CdrError(str(error)) from None
    # The number of names takes part in the comparison, so no other list of names can begin with the same bytes.
    return _Layout(data[AFTER_STAMP:end], tuple(names), _align(end, 4))


def _without_padding(data: bytes, count: int, positions_at: int) -> BoolArray:
    """Return which bytes between stamp and positions mean something, in a joint state of so many names."""
    matters = np.zeros(positions_at, np.bool_)

    def mark(begin: int, end: int) -> int:
        matters[begin:end] = True
        return _align(end, 4)

    _, end = _string(data, AFTER_STAMP)
    at = mark(AFTER_STAMP, end)
    at = mark(at, at + 4)
    for _ in range(count):
        _, end = _string(data, at)
        at = mark(at, end)
    mark(at, at + 4)
    return matters[AFTER_STAMP:]


def _string(data: bytes, at: int) -> tuple[str, int]:
    (length,) = _uint32(data, at)
    end = at + 4 + length
    if not length or end > len(data):
        raise CdrError("a string runs past the end")
    return data[at + 4 : end - 1].decode(), end


def _doubles(data: bytes, at: int) -> tuple[FloatArray, int]:
    """Return the sequence of doubles whose count stands at `at`, and the offset of the count that follows."""
    (count,) = _uint32(data, at)
    if not count:
        return _EMPTY, at + 4
    start = _align(at + 4, 8)
    return np.frombuffer(data, _DOUBLE, count, start), start + 8 * count


def _align(offset: int, size: int) -> int:
    return offset + (BODY - offset) % size


class TransformMessage:
    """A tf2_msgs/TFMessage whose frames are fixed: only stamps and values are written anew.

    Attributes:
        frames: (frame_id, child_frame_id) of each transform.
        slots: the message as doubles, to be written to.
        places: (n, 7) where in `slots` the numbers of each transform are.

    """

    def __init__(self, frames: Sequence[tuple[str, str]]) -> None:
        self.frames = tuple(frames)
        text, stamps, values = _transform_text(self.frames)
        self._message = text
        self._words: npt.NDArray[np.uint32] = np.frombuffer(text, "<u4", (len(text) - BODY) // 4, BODY)
        self.slots: FloatArray = np.frombuffer(text, _DOUBLE, (len(text) - BODY) // 8, BODY)
        self._stamps_at = (np.array(stamps, np.intp) - BODY) // 4
        self.places: npt.NDArray[np.intp] = (np.array(values, np.intp) - BODY)[:, None] // 8 + np.arange(7)
        self.staging_array(np.zeros(0, np.intp))

    def staging_array(self, places: npt.NDArray[np.intp]) -> FloatArray:
        """Return (k,) an array whose numbers `write` puts at these k places of `slots`, all together with the stamps.

        That takes one call of numpy less than writing them to `slots`; a later staging array replaces this one.
        """
        count = len(self.frames)
        staged = np.zeros(count + len(places))
        # A stamp is two words as a double is, but stands where a double could not.
        to = np.concatenate([self._stamps_at, 2 * places])
        self._to = np.stack([to, to + 1], axis=1).ravel()
        self._from: npt.NDArray[np.uint32] = staged.view("<u4")
        self._stamps = staged[:count].data.cast("B") if count else memoryview(bytearray())
        return staged[count:]

    def write(self, stamp_ns: int, transforms: FloatArray | None = None) -> bytes:
        """Return the message with every transform stamped so.

        `transforms` is (n, 7): x y z [m] and quaternion x y z w of each child in its frame; without it they are what
        has been written to `slots` at `places`, and to the staging array.
        """
        if transforms is not None:
            self.slots[self.places] = transforms
        return bytes(self.stamped(pack_stamp(*divmod(stamp_ns, 1_000_000_000))))

    def stamped(self, stamp: bytes) -> bytearray:
        """Return the message with every transform stamped so, with a stamp's eight bytes.

        It is always the same object, and holds until the next call.
        """
        self._stamps[:] = stamp * len(self.frames)
        self._words[self._to] = self._from
        return self._message


def _transform_text(frames: Sequence[tuple[str, str]]) -> tuple[bytearray, list[int], list[int]]:
    """Return the message with zeros for stamps and values, and the offsets of both in it."""
    text = bytearray(LITTLE_ENDIAN + b"\0\0" + struct.pack("<I", len(frames)))
    stamps: list[int] = []
    values: list[int] = []

    def pad(size: int) -> None:
        text.extend(bytes(_align(len(text), size) - len(text)))

    for frame_id, child_frame_id in frames:
        pad(4)
        stamps.append(len(text))
        text.extend(bytes(8))
        for name in (frame_id, child_frame_id):
            pad(4)
            encoded = name.encode() + b"\0"
            text.extend(struct.pack("<I", len(encoded)) + encoded)
        pad(8)
        values.append(len(text))
        text.extend(bytes(56))
    return text, stamps, values


def stamp_ns(stamp: Any) -> int:
    """Return a builtin_interfaces/Time as integer nanoseconds."""
    return int(stamp.sec) * 1_000_000_000 + int(stamp.nanosec)
