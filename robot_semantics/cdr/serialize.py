# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Message objects in CDR, without the message packages of ROS."""

from __future__ import annotations

import struct

import numpy as np

from robot_semantics.cdr.generated_types import RosMessage
from robot_semantics.cdr.walk import LITTLE_ENDIAN, aligned


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
