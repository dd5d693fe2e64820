"""The numbers of a URDF: texts to finite floats, and nothing that only Python would take for a number."""

from __future__ import annotations

import math
import re
from functools import lru_cache

_NUMBER = re.compile(r"\s*[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?\s*", re.ASCII)
_SPACE = re.compile("[ \t\r\n]+")
# Descriptions repeat a few short texts ("0 0 0", "0 0 1") thousands of times; a look-up costs a tenth of a conversion.
_SHORT = 8


def number(text: str) -> float:
    """Return the one finite number that `text` holds.

    Raises:
        ValueError: with the reason, fit to stand after the attribute's name.
    """
    if text.isascii() and "_" not in text:
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if math.isfinite(value):
            return value
    if not _NUMBER.fullmatch(text):
        raise ValueError(f"should be a number, not '{shown(text)}'")
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"is too large for a 64-bit float: '{shown(text)}'")
    return value


def vec3(text: str) -> tuple[float, ...]:
    """Return the three finite numbers that `text` holds, separated by white space.

    Raises:
        ValueError: as `number`.
    """
    return _repeated_vec3(text) if len(text) <= _SHORT else _vec3(text)


def _vec3(text: str) -> tuple[float, ...]:
    # Python's own conversion takes underscores, infinities and digits of every script; the rest it takes as C does.
    if text.isascii() and "_" not in text:
        try:
            x, y, z = text.split()
            value = (float(x), float(y), float(z))
        except ValueError:
            return _numbers(text, 3)
        # An infinity or NaN makes the sum one. So may a sum that is too large: then one more look does no harm.
        if math.isfinite(value[0] + value[1] + value[2]):
            return value
    return _numbers(text, 3)


_repeated_vec3 = lru_cache(1024)(_vec3)


def vec4(text: str) -> tuple[float, ...]:
    """Return the four finite numbers that `text` holds, separated by white space.

    Raises:
        ValueError: as `number`.
    """
    return _numbers(text, 4)


def quaternion(text: str) -> tuple[float, ...]:
    """Return four numbers that are not all zero, so that they can be normalised.

    Raises:
        ValueError: as `number`.
    """
    value = vec4(text)
    if not any(value):
        raise ValueError("is no orientation: all four numbers are zero")
    return value


def positive(text: str) -> float:
    """Return a number above zero.

    Raises:
        ValueError: as `number`.
    """
    value = number(text)
    if value <= 0:
        raise ValueError(f"should be above 0, not '{shown(text)}'")
    return value


def not_negative(text: str) -> float:
    """Return a number of at least zero.

    Raises:
        ValueError: as `number`.
    """
    value = number(text)
    if value < 0:
        raise ValueError(f"should not be negative, but is '{shown(text)}'")
    return value


def shown(text: str, limit: int = 60) -> str:
    """Return `text` on one line and cut to a length that fits a message."""
    line = " ".join(words(text))
    return line if len(line) <= limit else f"{line[: limit - 1]}…"


def words(text: str) -> list[str]:
    """Return what XML's white space parts; other kinds of space, as a no-break one, part nothing for any peer."""
    # In ASCII, Python's split knows the same white space and others that no XML can hold.
    return text.split() if text.isascii() else [word for word in _SPACE.split(text) if word]


def _numbers(text: str, count: int) -> tuple[float, ...]:
    pieces = words(text)
    if len(pieces) != count:
        raise ValueError(f"should be {count} numbers, not {len(pieces)}: '{shown(text)}'")
    values = []
    for piece in pieces:
        try:
            values.append(number(piece))
        except ValueError as error:
            raise ValueError(f"should be {count} numbers, but one {error}") from None
    return tuple(values)
