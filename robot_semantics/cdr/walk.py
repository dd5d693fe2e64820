# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""A walk over the bytes of one message, field by field.

ROS 2 messages are CDR (XCDR1): four bytes of encapsulation, then the fields, each aligned to its size, counted from
after these four bytes. The byte order is little or big endian. ROS 1 messages have no encapsulation and no alignment,
and are little endian.

The way back: a message object as bytes, without the message packages of ROS.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from contextlib import suppress

import numpy as np

from robot_semantics.base.names import frame_name
from robot_semantics.cdr.generated_types import RosMessage
from robot_semantics.cdr.layout import LayoutError, MessageLayout
from robot_semantics.cdr.message_types import FIELDS, ODOMETRY_FRAMES, TF_MESSAGE, MessageField

BIG_ENDIAN, LITTLE_ENDIAN = b"\x00\x00", b"\x00\x01"
CDR_HEADERS = {BIG_ENDIAN: ">", LITTLE_ENDIAN: "<"}
"""Byte order by the first two bytes of a CDR message; other encapsulations have another layout."""

BODY = 4
"""Offset of the first field in CDR: after the encapsulation."""
AFTER_STAMP = BODY + 8
"""Offset of the field after the stamp in a CDR message that begins with a header."""


def aligned(offset: int, size: int) -> int:
    """Return the first offset in a CDR message, from `offset` on, that is aligned to `size` bytes."""
    return offset + (BODY - offset) % size


def message_layout(message: bytes, fields: tuple[MessageField, ...], *, ros1: bool) -> MessageLayout:
    """Return the layout of one message.

    Raises:
        LayoutError: the bytes do not have the layout of the type.
    """
    walk = MessageWalk(message, ros1=ros1)
    walk.fields(fields)
    rest = len(message) - walk.at
    # CDR messages may be padded to a multiple of four.
    if rest > (0 if ros1 else 3):
        raise LayoutError(walk.at, f"{rest} bytes are left over")
    if rest:
        walk.layout.free.append((walk.at, len(message)))
    return walk.layout.prepare(message)


def header_stamp_ns(message: bytes, *, ros1: bool) -> int:
    """Return the stamp of a message that begins with a header [ns]; 0 if the message is too short."""
    if len(message) < AFTER_STAMP:
        return 0
    # After the encapsulation of CDR, or the sequence number of ROS 1, the stamp is the next eight bytes.
    order = "<" if ros1 else CDR_HEADERS.get(message[:2], "<")
    seconds, nanoseconds = struct.unpack_from(f"{order}iI", message, BODY)
    return int(seconds) * 1_000_000_000 + int(nanoseconds)


def transform_children(data: bytes) -> Iterator[str]:
    """Yield the child frames of a TFMessage in CDR; as they are written; of a message with a fault, those before it."""
    with suppress(LayoutError):
        walk = MessageWalk(data, ros1=False)
        (transforms,) = FIELDS[TF_MESSAGE]
        for _ in range(walk.count(1)):
            for field in transforms.fields:
                WALKS[field.kind](walk, field)
                if field.name == "child_frame_id":
                    yield walk.layout.texts[field.name][-1]


def odometry_frames(data: bytes) -> tuple[str, str]:
    """Return the names of the frame and the child frame of an Odometry in CDR; empty for other bytes."""
    with suppress(LayoutError):
        walk = MessageWalk(data, ros1=False)
        walk.fields(ODOMETRY_FRAMES)
        texts = walk.layout.texts
        return frame_name(texts["frame_id"][0]), frame_name(texts["child_frame_id"][0])
    return "", ""


class MessageWalk:
    """A walk over one message.

    Attributes:
        at: offset of the next field.
        layout: of the fields until there.
    """

    def __init__(self, message: bytes, *, ros1: bool) -> None:
        """Begin at the first field.

        Raises:
            LayoutError: the message is not CDR in one of the known encapsulations.
        """
        order, self.at = "<", 0
        if not ros1:
            if message[:2] not in CDR_HEADERS or len(message) < BODY:
                raise LayoutError(0, f"not plain CDR: the message starts with {message[:4].hex() or 'nothing'}")
            order, self.at = CDR_HEADERS[message[:2]], BODY
        self._message, self._ros1 = message, ros1
        self.layout = MessageLayout(len(message), order)
        if not ros1:
            self.layout.free.append((2, BODY))
        self._u4 = struct.Struct(f"{order}I")

    def fields(self, fields: tuple[MessageField, ...]) -> None:
        """Walk over fields.

        Raises:
            LayoutError: the bytes are not these fields.
        """
        for field in fields:
            WALKS[field.kind](self, field)

    def count(self, smallest: int) -> int:
        """Return a count of elements with at least `smallest` bytes each, and walk over it.

        Raises:
            LayoutError: the elements do not fit into the message.
        """
        begin = self._skip(4, 4, free=False)
        value: int = self._u4.unpack_from(self._message, begin)[0]
        left = len(self._message) - self.at
        if value * smallest > left:
            raise LayoutError(begin, f"a count of {value} does not fit into the {left} bytes left")
        return value

    def _skip(self, size: int, align: int, *, free: bool) -> int:
        """Walk over bytes; `free` bytes, like padding, may differ between messages of one layout."""
        start = self.at
        if not self._ros1:
            self.at = aligned(start, align)
        if free or self.at > start:
            self.layout.free.append((start, self.at + (size if free else 0)))
        begin = self.at
        if begin + size > len(self._message):
            raise LayoutError(begin, f"{size} bytes are needed, {max(len(self._message) - begin, 0)} are left")
        self.at += size
        return begin

    def _text(self, field: MessageField) -> None:
        size = self.count(1)
        begin = self._skip(size, 1, free=False)
        raw = self._message[begin : begin + size]
        try:
            value = (raw if self._ros1 else raw.removesuffix(b"\0")).decode()
        except UnicodeDecodeError:
            raise LayoutError(begin, f"{field.name} is not UTF-8") from None
        self.layout.texts.setdefault(field.name, []).append(value)

    def _texts(self, field: MessageField) -> None:
        self.layout.texts.setdefault(field.name, [])
        for _ in range(self.count(4)):
            self._text(field)

    def _stamp(self, field: MessageField) -> None:
        self.layout.stamps.append(self._skip(8, 4, free=True))

    def _sequence_number(self, field: MessageField) -> None:
        if self._ros1:
            self._skip(4, 4, free=True)

    def _doubles(self, field: MessageField) -> None:
        run = self._skip(8 * field.size, 8, free=True), field.size
        self.layout.numbers.setdefault(field.name, []).append(run)

    def _double_list(self, field: MessageField) -> None:
        count = self.count(8)
        # An empty list has no element to align.
        begin = self._skip(8 * count, 8, free=True) if count else self.at
        self.layout.numbers.setdefault(field.name, []).append((begin, count))

    def _repeat(self, field: MessageField) -> None:
        for _ in range(self.count(1)):
            self.fields(field.fields)


WALKS: dict[str, Callable[[MessageWalk, MessageField], None]] = {
    "stamp": MessageWalk._stamp,
    "seq": MessageWalk._sequence_number,
    "text": MessageWalk._text,
    "texts": MessageWalk._texts,
    "doubles": MessageWalk._doubles,
    "double_list": MessageWalk._double_list,
    "repeat": MessageWalk._repeat,
}
"""The step of each kind of field."""


def cdr_bytes(message: RosMessage) -> bytes:
    """Return a message in little-endian CDR; its fields are in the order of the definition, integers have 32 bits."""
    out = bytearray(LITTLE_ENDIAN + b"\0\0")
    _append(out, message)
    return bytes(out)


def _append(out: bytearray, value: object) -> None:
    if isinstance(value, str):
        data = value.encode() + b"\x00"
        _append(out, len(data))
        out += data
    elif isinstance(value, int):
        _align(out, 4)
        out += struct.pack("<I", value % 2**32)
    elif isinstance(value, float):
        _align(out, 8)
        out += struct.pack("<d", value)
    elif isinstance(value, np.ndarray):
        _append(out, len(value))
        if len(value):
            _align(out, 8)
            out += value.astype("<f8").tobytes()
    elif isinstance(value, list):
        _append(out, len(value))
        for item in value:
            _append(out, item)
    else:
        for item in vars(value).values():
            _append(out, item)


def _align(out: bytearray, size: int) -> None:
    out.extend(bytes(aligned(len(out), size) - len(out)))
