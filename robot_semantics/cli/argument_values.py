# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Words of the command line that carry more than themselves: ``NAME=VALUE``, ``GROUP/STATE``."""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Collection, Sequence

from robot_semantics.base.endings import UnknownEndingError, format_of
from robot_semantics.base.errors import RobotSemanticsError, UnknownNameError
from robot_semantics.base.nanoseconds import parse_seconds
from robot_semantics.xml.numbers import number


class UsageError(RobotSemanticsError):
    """Words of the command line that have no meaning, whatever the input: the exit code is 2."""


def output_file(*endings: str) -> Callable[[str], str]:
    """Return the argparse type of a file to write: any name with one of `endings`, or with none."""

    def checked(text: str) -> str:
        try:
            format_of(text, {ending: ending for ending in endings}, endings[0])
        except UnknownEndingError as error:
            raise argparse.ArgumentTypeError(str(error)) from None
        return text

    return checked


def pair_of(word: str, separator: str, option: str, form: str) -> tuple[str, str]:
    """Return the two parts of a word.

    Raises:
        UsageError: the word has no `separator`, or nothing on one side of it.

    """
    first, found, second = word.partition(separator)
    if not found or not first or not second:
        raise UsageError(f"{option} takes {form}, not '{word}'")
    return first, second


def numbers_by_name(words: Sequence[str], option: str, valid: Collection[str]) -> dict[str, float]:
    """Return the numbers that ``NAME=VALUE`` words give; every wrong word is reported at once.

    Raises:
        UsageError: words that are no such pair, or have no finite number.
        RobotSemanticsError: a name is not among `valid`.

    """
    found: dict[str, float] = {}
    problems: list[str] = []
    kind: type[RobotSemanticsError] = RobotSemanticsError
    for word in words:
        name, equals, text = word.partition("=")
        try:
            # As in the files: what only Python takes for a number, 1_0, is none.
            value = number(text)
        except ValueError:
            value = math.nan
        if not equals or math.isnan(value):
            kind = UsageError
            problems.append(f"{option} takes NAME=VALUE with a finite number, not '{word}'")
        elif name not in valid:
            problems.append(str(UnknownNameError("joint variable", name, valid)))
        else:
            found[name] = value
    if problems:
        raise kind("\nerror: ".join(problems))
    return found


def nanoseconds(text: str, option: str) -> int:
    """Return the nanoseconds of seconds in decimals, exactly.

    Raises:
        UsageError: the text is no number, or one of more than ten digits of seconds.
    """
    try:
        return parse_seconds(text)
    except ValueError:
        raise UsageError(f"{option}: '{text}' is not a time in seconds") from None
