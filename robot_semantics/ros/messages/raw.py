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
