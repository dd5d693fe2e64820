# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Conversion between texts and finite floats; number forms that only Python knows are errors."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from functools import lru_cache

from robot_semantics.base.pattern import pattern
from robot_semantics.xml.schema import BadValueError

_NUMBER = pattern(r"\s*[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?\s*", re.ASCII)
_SPACE = pattern("[ \t\r\n]+")
_MINUS_ZERO = pattern(r"-0(?:\s|$)")
# Descriptions repeat short texts ("0 0 0", "0 0 1") thousands of times; a look-up costs a tenth of a conversion.
_SHORT = 8
_LOAD_AFTER = 1_000_000
"""Characters of rows before msgspec is imported: the import takes 45 ms, and a million characters save 30 ms."""
_CHARACTERS = 10
"""Usual length of a number in a row."""
Row = tuple[float, ...]


class _FastRows:
    """Rows of numbers by msgspec, if it is installed and there are many of them.

    The numbers and texts are the same without it.

    Attributes:
        decoders: from a JSON array to its numbers, by their count; empty until `load`.
        errors: what a decoder raises.
        encode: from numbers to a JSON array; None until `load`.
    """

    def __init__(self) -> None:
        self.decoders: dict[int | None, Callable[[str], Row]] = {}
        self.errors: tuple[type[Exception], ...] = ()
        self.encode: Callable[[Row], bytes] | None = None
        self._characters = 0

    def count(self, characters: int) -> None:
        """Note a row that was read or written without msgspec."""
        self._characters += characters
        if self._characters - characters < _LOAD_AFTER <= self._characters:
            self.load()

    def load(self) -> None:
        """Import msgspec if it is installed."""
        try:
            import msgspec
        except ImportError:
            return
        self.errors = (msgspec.DecodeError, UnicodeEncodeError)
        self.decoders = {
            None: msgspec.json.Decoder(tuple[float, ...]).decode,
            3: msgspec.json.Decoder(tuple[float, float, float]).decode,
            4: msgspec.json.Decoder(tuple[float, float, float, float]).decode,
            6: msgspec.json.Decoder(tuple[float, float, float, float, float, float]).decode,
        }
        self.encode = msgspec.json.Encoder().encode


FAST_ROWS = _FastRows()


def number(text: str) -> float:
    """Return the only finite number in `text`.

    Raises:
        BadValueError: with the reason, worded to follow the text's name.
    """
    if text.isascii() and "_" not in text:
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if math.isfinite(value):
            return value
    if not _NUMBER.fullmatch(text):
        raise BadValueError("bad-number", f"should be a number, not '{one_line(text)}'")
    value = float(text)
    if not math.isfinite(value):
        raise BadValueError("bad-number", f"is too large for a 64-bit float: '{one_line(text)}'")
    return value


def numbers(text: str, count: int | None = None) -> tuple[float, ...]:
    """Return the finite numbers in `text`, separated by white space; with `count`, exactly this many.

    Raises:
        BadValueError: as `number`; ``wrong-count`` if the texts are numbers but their count is wrong.
    """
    # With commas nearly every row is valid JSON, which reads three times as fast.
    decode = FAST_ROWS.decoders.get(count)
    if decode is None:
        FAST_ROWS.count(len(text))
    elif "," not in text:
        try:
            row = decode(f"[{text.replace(' ', ',')}]")
        except FAST_ROWS.errors:
            pass
        else:
            # JSON's -0 is an integer and has no sign.
            if 0.0 not in row or not _MINUS_ZERO.search(text):
                return row
    # Python also accepts underscores, infinities and digits of every script; for the rest it agrees with C.
    if text.isascii() and "_" not in text:
        try:
            row = tuple(map(float, text.split()))
        except ValueError:
            row = (math.nan,)
        # An infinity or NaN makes the sum infinite or NaN. A large finite sum may overflow; the slow path then checks
        # again.
        if math.isfinite(sum(row)) and count in (None, len(row)):
            return row
    pieces = split_at_space(text)
    what = "numbers" if count is None else f"{count} numbers"
    values = []
    for position, piece in enumerate(pieces, 1):
        try:
            values.append(number(piece))
        except BadValueError as error:
            raise BadValueError("bad-number", f"should be {what}, but number {position} {error}") from None
    if count not in (None, len(values)):
        raise BadValueError("wrong-count", f"should be {what}, not {len(values)}: '{one_line(text)}'")
    return tuple(values)


def numbers_or_none(text: str) -> tuple[float, ...] | None:
    """Return the finite numbers in `text`; None if there are none or anything else."""
    try:
        return numbers(text) or None
    except BadValueError:
        return None


def vec3(text: str) -> tuple[float, ...]:
    """Return the three finite numbers in `text`, separated by white space.

    Raises:
        BadValueError: as `numbers`.
    """
    return _repeated_vec3(text) if len(text) <= _SHORT else numbers(text, 3)


@lru_cache(1024)
def _repeated_vec3(text: str) -> tuple[float, ...]:
    return numbers(text, 3)


def quaternion(text: str) -> tuple[float, ...]:
    """Return four numbers that are not all zero, so a quaternion that can be normalised.

    Raises:
        BadValueError: as `numbers`.
    """
    value = numbers(text, 4)
    if not any(value):
        raise BadValueError("bad-number", "is not an orientation: all four numbers are zero")
    return value


def positive(text: str) -> float:
    """Return a number above zero.

    Raises:
        BadValueError: as `number`.
    """
    value = number(text)
    if value <= 0:
        raise BadValueError("bad-number", f"should be above 0, not '{one_line(text)}'")
    return value


def not_negative(text: str) -> float:
    """Return a number of at least zero.

    Raises:
        BadValueError: as `number`.
    """
    value = number(text)
    if value < 0:
        raise BadValueError("bad-number", f"should not be negative, but is '{one_line(text)}'")
    return value


def number_text(value: float) -> str:
    """Return the shortest text that reads back to the same 64-bit float; whole numbers have no point."""
    return repr(float(value)).removesuffix(".0")


def finite_text(value: float, what: str) -> str:
    """Return the shortest text that reads back to the same 64-bit float; `what` names the value in the message.

    Raises:
        BadValueError: the value is not finite.
    """
    if not math.isfinite(value):
        raise BadValueError("bad-number", f"{what} cannot have the number {value}")
    return number_text(value)


def finite_texts(values: tuple[float, ...], what: str) -> str:
    """Return the texts of finite numbers, separated by one space.

    Raises:
        BadValueError: as `finite_text`.
    """
    return " ".join([finite_text(value, what) for value in values])


def format_row(row: tuple[float, ...]) -> str:
    """Return the `shortest` texts of a row's numbers, separated by one space.

    Raises:
        ValueError: a value is NaN, infinite, or not a number.
    """
    encode = FAST_ROWS.encode
    if encode is None:
        FAST_ROWS.count(_CHARACTERS * len(row))
    else:
        try:
            text = encode(row).decode()
        except (TypeError, ValueError):
            # Other number types, for example numpy's.
            pass
        else:
            # Letters of null, true and false, and the quote of a string: the row has something other than finite
            # numbers.
            if not ("u" in text or "l" in text or '"' in text):
                return text[1:-1].replace(",", " ")
    return " ".join(map(shortest, row))


def shortest(value: float) -> str:
    """Return the shortest text that reads back to `value`, in the same form as msgspec.

    Raises:
        ValueError: the value is NaN or infinite.
    """
    try:
        value = float(value)
    except TypeError as error:
        raise ValueError(f"{value!r}, is not a number") from error
    if not math.isfinite(value):
        raise ValueError(f"{value}, is not finite")
    text = repr(value)
    mantissa, mark, exponent = text.partition("e")
    if not mark:
        return text
    if int(exponent) != -5:
        return f"{mantissa}e{int(exponent)}"
    sign, digits = ("-", mantissa[1:]) if mantissa.startswith("-") else ("", mantissa)
    return f"{sign}0.0000{digits.replace('.', '')}"


def one_line(text: str, limit: int = 60) -> str:
    """Return `text` on one line, cut to a length that fits a message."""
    line = " ".join(split_at_space(text))
    return line if len(line) <= limit else f"{line[: limit - 1]}…"


def split_at_space(text: str) -> list[str]:
    """Split a text at XML's white space; other spaces, such as a no-break space, do not separate."""
    # In ASCII, Python's split also knows other separators, but no XML text can contain these.
    return text.split() if text.isascii() else [word for word in _SPACE.split(text) if word]
