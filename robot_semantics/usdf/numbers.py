# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Rows of numbers between text and 64-bit floats, exact both ways; written in C where msgspec is there.

A number is an XML Schema double without NaN and infinities. It is written as the shortest decimal text that reads back
to the same float, in one canonical form; msgspec writes exactly this form, and without it the same text is made here.
"""

from __future__ import annotations

import re
from math import isfinite
from typing import NamedTuple

try:
    import msgspec
except ImportError:  # the pure Python paths below give the same results, more slowly
    msgspec = None  # type: ignore[assignment, unused-ignore]  # as an extra

Row = tuple[float, ...]

_DOUBLE = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_WORD = re.compile(r"[^ \t\r\n]+")


class BadNumber(NamedTuple):
    """Why a row is no row of numbers: the offending word, its position from 1, and what is wrong with it."""

    word: str
    position: int
    reason: str


def parse_row(text: str) -> Row | BadNumber:
    """Return the numbers of one text, or what is wrong with the first faulty word of it."""
    values: list[float] = []
    for position, word in enumerate(_WORD.findall(text), 1):
        if not _DOUBLE.fullmatch(word):
            special = word.lstrip("+-").lower() in ("nan", "inf", "infinity")
            return BadNumber(word, position, "is not finite" if special else "is not a number")
        value = float(word)
        if not isfinite(value):
            return BadNumber(word, position, "is beyond the range of a 64-bit float")
        values.append(value)
    return tuple(values)


def format_row(row: Row) -> str:
    """Return a row's text, numbers separated by one space.

    Raises:
        ValueError: a value is NaN or infinite, or no number.
    """
    if msgspec is not None:
        try:
            text: str = _ENCODER.encode(row).decode()
        except (TypeError, ValueError):
            # Numbers of other kinds, numpy's for example.
            pass
        else:
            # Letters of null, true and false, and the quote of a string: anything but a finite number.
            if not ("u" in text or "l" in text or '"' in text):
                return text[1:-1].replace(",", " ")
    return " ".join(map(shortest, row))


def shortest(value: float) -> str:
    """Return the shortest text that reads back to `value`, in the canonical form.

    Raises:
        ValueError: the value is NaN or infinite.
    """
    try:
        value = float(value)
    except TypeError as error:
        raise ValueError(f"{value!r}, is not a number") from error
    if not isfinite(value):
        raise ValueError(f"{value}, is not finite")
    text = repr(value)
    mantissa, mark, exponent = text.partition("e")
    if not mark:
        return text
    if int(exponent) != -5:
        return f"{mantissa}e{int(exponent)}"
    sign, digits = ("-", mantissa[1:]) if mantissa.startswith("-") else ("", mantissa)
    return f"{sign}0.0000{digits.replace('.', '')}"


if msgspec is not None:
    _ENCODER = msgspec.json.Encoder()
