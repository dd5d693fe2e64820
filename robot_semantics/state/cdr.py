"""Joint states from, and transforms to, raw CDR bytes: names are compared as one block, values copied in one call.

The layout is that of the OMG's CDR (XCDR1, little endian) as every ROS 2 middleware sends it: four bytes of
encapsulation, then the fields one after another, each aligned to its size counted from after those four bytes.
Anything else raises `CdrError`, and the caller takes the typed path.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]

LITTLE_ENDIAN = b"\x00\x01"
BODY = 4
"""Offset of the first field: after the encapsulation."""
AFTER_STAMP = BODY + 8
"""Offset of what follows the stamp in a message that begins with a header."""
_MAX_LAYOUTS = 32
_EMPTY = np.empty(0)
_DOUBLE = np.dtype("<f8")

_uint32 = struct.Struct("<I").unpack_from
unpack_stamp = struct.Struct("<iI").unpack_from
_pack_stamp = struct.Struct("<iI").pack


class CdrError(ValueError):
    """The bytes are not laid out as expected."""


class JointStateData:
    """A joint state's content; arrays are read-only views into the message, velocity and effort read when asked for.

    Attributes:
        names: the same tuple object as long as the sender's names do not change.
        position: [rad or m]; its length is as sent, not necessarily that of `names`.
    """

    __slots__ = ("_data", "_rest", "_rest_at", "names", "position", "stamp_ns")

    def __init__(
        self,
        stamp_ns: int,
        names: tuple[str, ...],
        position: FloatArray,
        rest: tuple[FloatArray, FloatArray] | None = None,
        data: bytes = b"",
        rest_at: int = 0,
    ) -> None:
        """Give `rest`, velocity and effort, or the message's `data` and where in it they begin."""
        self.stamp_ns, self.names, self.position = stamp_ns, names, position
        self._rest, self._data, self._rest_at = rest, data, rest_at

    @property
    def rest(self) -> tuple[FloatArray, FloatArray]:
        """Velocity [rad/s or m/s] and effort [N m or N], each of the length that was sent.

        Raises:
            CdrError: the message ends early.
        """
        if self._rest is None:
            try:
                velocity, end = _doubles(self._data, self._rest_at)
                effort, _ = _doubles(self._data, end)
            except (struct.error, ValueError) as error:
                raise CdrError(str(error)) from None
            self._rest = velocity, effort
        return self._rest

    @property
    def message(self) -> tuple[bytes, int]:
        """The bytes that this was read from, empty if it was not, and the offset of the positions in them."""
        return self._data, self._rest_at - 8 * len(self.position)


class _Layout(NamedTuple):
    """What one sender's messages have in common: everything between the stamp and the positions."""

    head: bytes
    names: tuple[str, ...]
    counts_at: int


class JointStateReader:
    """Reads sensor_msgs/JointState from CDR bytes; remembers the layouts it has met, the last one first."""

    def __init__(self) -> None:
        self._layouts: list[_Layout] = []

    def read(self, data: bytes) -> JointStateData:
        """Return the content of one message.

        Raises:
            CdrError: the bytes end early, or are not little-endian CDR.

        """
        layout = self._layout(data)
        at = layout.counts_at
        try:
            (count,) = _uint32(data, at)
            if count:
                start = _align(at + 4, 8)
                position, at = np.frombuffer(data, _DOUBLE, count, start), start + 8 * count
            else:
                position, at = _EMPTY, at + 4
            seconds, nanoseconds = unpack_stamp(data, BODY)
        except (struct.error, ValueError) as error:
            raise CdrError(str(error)) from None
        return JointStateData(seconds * 1_000_000_000 + nanoseconds, layout.names, position, None, data, at)

    def _layout(self, data: bytes) -> _Layout:
        layouts = self._layouts
        if layouts and data.startswith(layouts[0].head, AFTER_STAMP):
            return layouts[0]
        for number, layout in enumerate(layouts):
            if data.startswith(layout.head, AFTER_STAMP):
                if number:
                    layouts.insert(0, layouts.pop(number))
                return layout
        layout = _read_layout(data)
        layouts.insert(0, layout)
        del layouts[_MAX_LAYOUTS:]
        return layout


class JointStateRepeater:
    """What it takes to read messages that differ from ones seen before in their stamp and numbers alone.

    Attributes:
        heads: all that stood between stamp and positions.
        at: offset of the positions.
        buffer: to be overwritten with a message, which must be as long as the first.
        positions: (n,) of the message in `buffer` [rad or m].

    """

    __slots__ = ("_names", "at", "buffer", "heads", "positions")

    def __init__(self, first: JointStateData) -> None:
        """`first` has been read from bytes and has as many positions as names."""
        data, self.at = first.message
        self._names = first.names
        # The body begins eight bytes into the memory, so that its doubles are aligned there as in the message.
        memory = np.zeros(BODY + len(data), np.uint8)
        self.buffer = memory.data[BODY:]
        self.positions: FloatArray = memory[BODY + self.at :][: 8 * len(first.position)].view(_DOUBLE)
        self.heads: set[bytes] = set()
        self.learn(first)

    def learn(self, other: JointStateData) -> None:
        """Know `other` too: with the same names at the same places, but different padding between them.

        What a middleware pads with is whatever its buffer held before; one sender has a few buffers, and each its own.
        """
        if len(self.heads) < _MAX_LAYOUTS:
            self.heads.add(other.message[0][AFTER_STAMP : self.at])

    def read(self, data: bytes, stamp_ns: int) -> JointStateData:
        """Return the content of a message whose head is known and whose length is that of the first."""
        count = len(self.positions)
        position = np.frombuffer(data, _DOUBLE, count, self.at)
        return JointStateData(stamp_ns, self._names, position, None, data, self.at + 8 * count)


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
        self.stage(np.zeros(0, np.intp))

    def stage(self, places: npt.NDArray[np.intp]) -> FloatArray:
        """Return (k,) an array whose numbers `write` puts at these k places of `slots`, all together with the stamps.

        That takes one call of numpy less than writing them to `slots`; a later stage replaces this one.
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
        has been written to `slots` at `places`, and to the stage.
        """
        if transforms is not None:
            self.slots[self.places] = transforms
        return bytes(self.stamped(_pack_stamp(*divmod(stamp_ns, 1_000_000_000))))

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
