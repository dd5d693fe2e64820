# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Bytes of any message to the typed one."""

from __future__ import annotations

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
