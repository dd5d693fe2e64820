# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Bytes of any message to the typed one, and what can be told of a TF message without it."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any

from rclpy.serialization import deserialize_message

from robot_semantics.state.cdr import CdrError


def deserialized(data: bytes, kind: Any) -> Any:
    """Return the message of the type `kind` that the bytes hold, as the middleware reads them.

    Raises:
        CdrError: they hold none.
    """
    try:
        return deserialize_message(data, kind)
    except Exception as error:
        # What a middleware raises is its own affair.
        raise CdrError(f"{len(data)} bytes are no {kind.__name__}: {error}") from error


def child_frames(data: bytes) -> Iterator[str]:
    """Yield the child frames of a TFMessage in little-endian CDR bytes; those before a fault, if it has one."""
    try:
        (count,) = struct.unpack_from("<I", data, 4)
        at = 8
        for _ in range(min(count, len(data))):
            (length,) = struct.unpack_from("<I", data, at + (4 - at) % 4 + 8)
            at += (4 - at) % 4 + 12 + length
            at += (4 - at) % 4
            (length,) = struct.unpack_from("<I", data, at)
            yield data[at + 4 : at + 3 + length].decode()
            at += 4 + length
            at += (4 - at) % 8 + 56
    except (struct.error, UnicodeDecodeError):
        return
