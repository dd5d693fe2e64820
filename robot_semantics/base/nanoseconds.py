# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Times as people write them [s], converted to integer nanoseconds exactly, without a float in between."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation
from typing import Protocol

MOST_SECONDS = 10**10
"""Limit of a time [s]: a longer one is a mistake, and its nanoseconds do not fit into 64 bits."""


def parse_seconds(text: str) -> int:
    """Return the nanoseconds of a decimal number of seconds, rounded at the tenth digit behind the point.

    Raises:
        ValueError: the text is not a finite number, or its absolute value is `MOST_SECONDS` or more.
    """
    try:
        seconds = Decimal(text.strip())
    except InvalidOperation:
        raise ValueError(f"'{text}' is not a number of seconds") from None
    if not seconds.is_finite() or abs(seconds) >= MOST_SECONDS:
        raise ValueError(f"'{text}' is not a time in seconds")
    return int((seconds * 10**9).to_integral_value())


def seconds_text(time_ns: int) -> str:
    """Return nanoseconds as ``seconds.nanoseconds``, nine digits after the point."""
    seconds, nanoseconds = divmod(abs(time_ns), 1_000_000_000)
    return f"{'-' if time_ns < 0 else ''}{seconds}.{nanoseconds:09d}"


def short_seconds(time_ns: int) -> str:
    """Return nanoseconds as seconds with three digits after the point, for messages and labels."""
    return f"{float_seconds(time_ns):.3f} s"


def float_seconds(time_ns: int) -> float:
    """Return the float that is nearest to a time [s]."""
    return time_ns / 1_000_000_000


def whole_nanoseconds(seconds: float) -> int:
    """Return the whole nanoseconds that are nearest to a time [s]."""
    return round(seconds * 1e9)


class Stamp(Protocol):
    """A builtin_interfaces/Time of any library."""

    sec: int
    nanosec: int


def stamp_ns(stamp: Stamp) -> int:
    """Return a builtin_interfaces/Time as integer nanoseconds."""
    return int(stamp.sec) * 1_000_000_000 + int(stamp.nanosec)
