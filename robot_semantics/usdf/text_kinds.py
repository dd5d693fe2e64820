# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The kinds of text in USDF, with the conversion of each to a value and back."""

from __future__ import annotations

import re
from functools import partial
from math import isfinite

from robot_semantics.base.json_value import Json
from robot_semantics.base.nanoseconds import MOST_SECONDS, seconds_text
from robot_semantics.usdf.world_state import WORLD
from robot_semantics.xml.numbers import format_row, numbers
from robot_semantics.xml.schema import TEXT, BadValueError, ValueKind, text_from_json

XML_SPACE = " \t\r\n"
_SECONDS = re.compile(r"(-?)([0-9]{1,10})(?:\.([0-9]{1,9}))?")
_WRITTEN_SECONDS = r"(-?)([0-9]{1,10})\.([0-9]{9})"
_SHA256 = re.compile("[0-9a-f]{64}")


def _parse_seconds(text: str) -> int:
    found = _SECONDS.fullmatch(text)
    if found is None:
        form = "seconds, of at most ten digits, with at most nine digits behind the point"
        raise BadValueError("bad-value", f"is '{text[:40]}'; it must be {form}")
    sign, seconds, nanoseconds = found.groups(default="")
    value = int(seconds) * 1_000_000_000 + int(nanoseconds.ljust(9, "0"))
    return -value if sign else value


def _write_time(time_ns: int, what: str) -> str:
    if abs(time_ns) >= MOST_SECONDS * 1_000_000_000:
        raise BadValueError("bad-value", f"{what} is {time_ns} ns; at most ten digits of seconds are written")
    return seconds_text(time_ns)


def _time_kind(name: str, grammar: str) -> ValueKind:
    def from_json(value: Json) -> int:
        try:
            return _parse_seconds(text_from_json(value))
        except BadValueError as error:
            raise BadValueError(error.code, f"it {error}") from None

    return ValueKind(name, _pattern(grammar), _parse_seconds, _write_time, to_json=seconds_text, from_json=from_json)


def _pattern(pattern: str) -> str:
    return f'<data type="string"><param name="pattern">{pattern}</param></data>'


def _sha256(text: str) -> str:
    if not _SHA256.fullmatch(text):
        raise BadValueError("bad-value", f"is '{text[:80]}'; it must be 64 hexadecimal digits in lower case (SHA-256)")
    return text


def _write_sha256(text: str, what: str) -> str:
    try:
        return _sha256(text)
    except BadValueError as error:
        raise BadValueError(error.code, f"{what} {error}") from None


def _sha256_from_json(value: Json) -> str:
    return _write_sha256(text_from_json(value), "it")


def _numbers(name: str, count: int | None) -> ValueKind:
    """Return the kind of rows of `count` finite numbers; None: of any count."""

    def counted(row: tuple[float, ...], what: str) -> tuple[float, ...]:
        if count is not None and len(row) != count:
            raise BadValueError("wrong-count", f"{what} has {len(row)} numbers; it must have {count}")
        return row

    def write(row: tuple[float, ...], what: str) -> str:
        counted(row, what)
        try:
            return format_row(row)
        except ValueError:
            for position, value in enumerate(row, 1):
                try:
                    format_row((value,))
                except ValueError as error:
                    raise BadValueError("bad-number", f"number {position}, {error}") from None
            raise

    def from_json(value: Json) -> tuple[float, ...]:
        if not isinstance(value, list) or not all(_is_number(item) for item in value):
            raise BadValueError("bad-json", "it is not a list of finite numbers")
        return counted(tuple(float(item) for item in value), "it")

    double = '<data type="double"/>'
    grammar = f"<list>{double * count}</list>" if count else f"<list><zeroOrMore>{double}</zeroOrMore></list>"
    return ValueKind(name, grammar, partial(numbers, count=count), write, list, from_json)


def _is_number(value: Json) -> bool:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return False
    try:
        return isfinite(value)
    except OverflowError:
        return False


def _parent(text: str) -> str:
    return text.strip(XML_SPACE) or WORLD


TIME = _time_kind("time", _WRITTEN_SECONDS)
"""The reader also accepts fewer digits, as in an age, with a warning (`robot_semantics.usdf.reader`)."""
AGE = _time_kind("age", _SECONDS.pattern.replace("(?:", "("))
SHA256 = ValueKind("sha256", _pattern(_SHA256.pattern), _sha256, _write_sha256, from_json=_sha256_from_json)
PARENT = ValueKind("parent-name", "<text/>", _parent, TEXT.write)
SIX, FOUR, NUMBERS = _numbers("six-numbers", 6), _numbers("four-numbers", 4), _numbers("numbers", None)
