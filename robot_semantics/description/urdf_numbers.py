"""The numbers of a URDF: texts to finite floats, and nothing that only Python would take for a number."""

from __future__ import annotations

import math
import re
from functools import lru_cache

_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)
# Descriptions repeat a few texts ("0 0 0", "1.0") thousands of times; a look-up costs a tenth of a conversion.
_CACHED = 1 << 14


@lru_cache(_CACHED)
def number(text: str) -> float:
    """Return the one finite number that `text` holds.

    Raises:
        ValueError: with the reason, fit to stand after the attribute's name.
    """
    stripped = text.strip()
    if not _NUMBER.fullmatch(stripped):
        raise ValueError(f"should be a number, not '{shown(text)}'")
    value = float(stripped)
    if not math.isfinite(value):
        raise ValueError(f"is too large for a 64-bit float: '{shown(text)}'")
    return value


@lru_cache(_CACHED)
def numbers(text: str, count: int) -> tuple[float, ...]:
    """Return the `count` finite numbers that `text` holds, separated by white space.

    Raises:
        ValueError: with the reason, fit to stand after the attribute's name.
    """
    pieces = text.split()
    if len(pieces) != count:
        raise ValueError(f"should be {count} numbers, not {len(pieces)}: '{shown(text)}'")
    try:
        return tuple(map(number, pieces))
    except ValueError:
        bad = next(piece for piece in pieces if not _readable(piece))
        raise ValueError(f"should be {count} finite numbers; '{shown(bad)}' is none") from None


def shown(text: str, limit: int = 60) -> str:
    """Return `text` on one line and cut to a length that fits a message."""
    line = " ".join(text.split())
    return line if len(line) <= limit else f"{line[: limit - 1]}…"


def _readable(text: str) -> bool:
    try:
        number(text)
    except ValueError:
        return False
    return True
