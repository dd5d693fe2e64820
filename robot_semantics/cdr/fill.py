# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Serialised messages whose numbers are filled in again and again."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from robot_semantics.cdr.layout import LayoutError
from robot_semantics.cdr.message_types import FIELDS, TF_MESSAGE, MessageField
from robot_semantics.cdr.walk import BODY, LITTLE_ENDIAN, aligned, message_layout
from robot_semantics.transforms.arrays import FloatArray

pack_stamp = struct.Struct("<iI").pack
unpack_stamp = struct.Struct("<iI").unpack_from


class TransformMessage:
    """A serialised tf2_msgs/TFMessage with fixed frames; only stamps and values are written for each message.

    Attributes:
        frames: (frame_id, child_frame_id) of each transform.
        slots: the message as doubles, writable.
        places: (n, 7) indices in `slots` of the numbers of each transform.
    """

    def __init__(self, frames: Sequence[tuple[str, str]]) -> None:
        self.frames = tuple(frames)
        rows = [{"frame_id": parent, "child_frame_id": child} for parent, child in self.frames]
        text = filled_message(FIELDS[TF_MESSAGE], {"transforms": rows})
        layout = message_layout(bytes(text), FIELDS[TF_MESSAGE], ros1=False)
        values = [offset for offset, _ in layout.numbers.get("pose", [])]
        self._message = text
        self._words: npt.NDArray[np.uint32] = np.frombuffer(text, "<u4", (len(text) - BODY) // 4, BODY)
        self.slots: FloatArray = np.frombuffer(text, "<f8", (len(text) - BODY) // 8, BODY)
        self._stamps_at = (np.array(layout.stamps, np.intp) - BODY) // 4
        self.places: npt.NDArray[np.intp] = (np.array(values, np.intp) - BODY)[:, None] // 8 + np.arange(7)
        self.staging_array(np.zeros(0, np.intp))

    def staging_array(self, places: npt.NDArray[np.intp]) -> FloatArray:
        """Return a (k,) array; `write` copies its numbers to these k places of `slots`, together with the stamps.

        This takes one numpy call less than writing to `slots`. A later staging array replaces this one.
        """
        count = len(self.frames)
        staged = np.zeros(count + len(places))
        # A stamp has two words like a double, but not the alignment of one.
        to = np.concatenate([self._stamps_at, 2 * places])
        self._to = np.stack([to, to + 1], axis=1).ravel()
        self._from: npt.NDArray[np.uint32] = staged.view("<u4")
        self._stamps = staged[:count].data.cast("B") if count else memoryview(bytearray())
        return staged[count:]

    def write(self, stamp_ns: int, transforms: FloatArray | None = None) -> bytes:
        """Return the message with this stamp in every transform.

        Args:
            stamp_ns: the stamp [ns].
            transforms: (n, 7) x y z [m] and quaternion x y z w of each child in its frame. Without them, the message
                has the values in `slots` at `places`, and in the staging array.
        """
        if transforms is not None:
            self.slots[self.places] = transforms
        return bytes(self.stamped(pack_stamp(*divmod(stamp_ns, 1_000_000_000))))

    def stamped(self, stamp: bytes) -> bytearray:
        """Return the message with these eight bytes as the stamp of every transform.

        The result is always the same object; the next call overwrites it.
        """
        self._stamps[:] = stamp * len(self.frames)
        self._words[self._to] = self._from
        return self._message


def filled_message(fields: Sequence[MessageField], content: Mapping[str, Any]) -> bytearray:
    """Return a little-endian CDR message.

    Args:
        fields: of its type.
        content: by field name, the text of each ``text``, the texts of each ``texts``, the numbers of each ``doubles``
            and ``double_list``, the contents of the elements of each ``repeat``, and the ``stamp`` [ns]. Stamps and
            ``doubles`` without a content are zero.

    Raises:
        LayoutError: a content does not fit into its field.
    """
    message = bytearray(LITTLE_ENDIAN + b"\0\0")
    _append(message, fields, content)
    return message


def _append(message: bytearray, fields: Sequence[MessageField], content: Mapping[str, Any]) -> None:
    def pad(size: int) -> None:
        message.extend(bytes(aligned(len(message), size) - len(message)))

    for field in fields:
        if field.kind == "stamp":
            pad(4)
            try:
                message.extend(pack_stamp(*divmod(content.get("stamp", 0), 1_000_000_000)))
            except struct.error:
                raise LayoutError(len(message), f"a stamp of {content['stamp']} ns does not fit") from None
        elif field.kind == "doubles":
            numbers = content.get(field.name, (0.0,) * field.size)
            if len(numbers) != field.size:
                raise LayoutError(len(message), f"{field.name} has {len(numbers)} numbers, not {field.size}")
            pad(8)
            message.extend(struct.pack(f"<{field.size}d", *numbers))
        elif field.kind == "double_list":
            numbers = content[field.name]
            pad(4)
            message.extend(struct.pack("<I", len(numbers)))
            if numbers:
                pad(8)
                message.extend(struct.pack(f"<{len(numbers)}d", *numbers))
        elif field.kind in ("text", "texts"):
            texts = content[field.name] if field.kind == "texts" else (content[field.name],)
            if field.kind == "texts":
                pad(4)
                message.extend(struct.pack("<I", len(texts)))
            for text in texts:
                pad(4)
                encoded = text.encode() + b"\0"
                message.extend(struct.pack("<I", len(encoded)) + encoded)
        elif field.kind == "repeat":
            pad(4)
            message.extend(struct.pack("<I", len(content[field.name])))
            for element in content[field.name]:
                _append(message, field.fields, element)
