# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Conversion of structured command-line values: numbers in a range, ``NAME=VALUE``, ``GROUP/STATE``."""

from __future__ import annotations

import argparse
import math
import re
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Any, TypeVar

from robot_semantics.base.endings import UnknownEndingError, format_of
from robot_semantics.base.errors import RobotSemanticsError, UnknownNameError
from robot_semantics.cli.frame.command import UsageError
from robot_semantics.model.semantics import NamedState, Semantics
from robot_semantics.xml.numbers import number
from robot_semantics.xml.schema import BadValueError

_Number = TypeVar("_Number", int, float)
Model = TypeVar("Model", str, str | None)


def on_disk(text: str) -> str:
    """Argparse type: the name of a file or folder that is created, so not standard output."""
    if text == "-":
        raise argparse.ArgumentTypeError("'-' is standard output; give a file or folder")
    return text


def output_file(*endings: str) -> Callable[[str], str]:
    """Return the argparse type of an output file: any name with one of `endings`, or without ending."""

    def checked(text: str) -> str:
        try:
            format_of(text, {ending: ending for ending in endings}, endings[0])
        except UnknownEndingError as error:
            raise argparse.ArgumentTypeError(str(error)) from None
        return text

    return checked


def number_in_range(
    least: float = -math.inf, most: float = math.inf, *, above: float = -math.inf
) -> Callable[[str], float]:
    """Return the argparse type of finite numbers from `least` to `most`, and larger than `above`.

    As in the files, number forms that only Python accepts (1_0, nan) are invalid.
    """

    def checked(text: str) -> float:
        try:
            value = number(text)
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from None
        if not value > above:
            raise argparse.ArgumentTypeError(f"{text} is not larger than {above:g}")
        return _bounded(value, least, most)

    return checked


def integer(least: int, most: float = 10**18) -> Callable[[str], int]:
    """Return the argparse type of integers from `least` to `most`."""

    def checked(text: str) -> int:
        if not re.fullmatch(r"\s*[+-]?\d{1,20}\s*", text, re.ASCII):
            raise argparse.ArgumentTypeError(f"should be a whole number, not '{text}'")
        return _bounded(int(text), least, most)

    return checked


def _bounded(value: _Number, least: float, most: float) -> _Number:
    if value < least:
        raise argparse.ArgumentTypeError(f"{value} is less than {least:g}")
    if value > most:
        raise argparse.ArgumentTypeError(f"{value} is more than {most:g}")
    return value


wait = number_in_range(0.0, 86_400.0)
"""Argparse type: time that a command waits for a running robot [s]; at most a day."""
port = integer(0, 65_535)


def add_repeatable(
    parser: argparse._ActionsContainer, option: str, metavar: str | tuple[str, ...] | None, text: str, **options: Any
) -> None:
    """Add an option whose values are a list; `options` are passed to `add_argument`."""
    text = f"{text} (repeatable)"
    parser.add_argument(option, metavar=metavar, action="append", default=[], help=text, **options)


def unquoted_numbers(words: Sequence[str]) -> str | None:
    """Return a message if unused words are the numbers of one value, which needs quotes; else None."""
    try:
        for word in words:
            number(word)
    except BadValueError:
        return None
    return f"unexpected '{' '.join(words)}': quote the numbers of one value, as in \"1 2 0\""


def pair_of(word: str, separator: str, option: str, form: str) -> tuple[str, str]:
    """Return the two parts of a word.

    Raises:
        UsageError: the word has no `separator`, or one side of it is empty.

    """
    first, found, second = word.partition(separator)
    if not found or not first or not second:
        raise UsageError(f"{option} takes {form}, not '{word}'")
    return first, second


def named_state(semantics: Semantics, word: str, option: str) -> NamedState:
    """Return the state for ``GROUP/STATE``.

    Raises:
        UsageError: the word does not have this form.
        UnknownNameError: the group, or the state in it, does not exist.
    """
    pair_of(word, "/", option, "GROUP/STATE")
    return semantics.state_from_path(word)


def numbers_by_name(words: Sequence[str], valid: Collection[str]) -> dict[str, float]:
    """Return the numbers in the ``NAME=VALUE`` words of ``--positions``; all wrong words are reported together.

    Raises:
        UsageError: a word does not have this form, or no finite number.
        RobotSemanticsError: a name is not in `valid`.

    """
    found: dict[str, float] = {}
    problems: list[str] = []
    kind: type[RobotSemanticsError] = RobotSemanticsError
    for word in words:
        # A name may have "=", a number has none.
        name, equals, text = word.rpartition("=")
        try:
            # As in the files, number forms that only Python accepts, such as 1_0, are invalid.
            value = number(text)
        except ValueError:
            value = math.nan
        if not equals or math.isnan(value):
            kind = UsageError
            problems.append(f"--positions takes NAME=VALUE with a finite number, not '{word}'")
        elif name not in valid:
            problems.append(str(UnknownNameError("joint variable", name, valid)))
        else:
            found[name] = value
    if problems:
        raise kind("\nerror: ".join(problems))
    return found


def by_model(
    option: str, texts: Sequence[str], models: Collection[Model], called: set[str] | None = None
) -> dict[Model, list[str]]:
    """Return the values of ``[NAME=]VALUE`` by model; a value without a name is for the only model.

    Args:
        option: the option's name.
        texts: its values.
        models: the names of the models; None for a model whose name is not known yet.
        called: takes other names of the only model, such as that of its URDF, for the caller to check.

    Raises:
        UsageError: there are several models, and a value does not name one; or the name is not that of the only model.
    """
    result: dict[Model, list[str]] = {model: [] for model in models}
    names = {model or "": model for model in models}
    words = f"--{option.replace('_', '-')}"
    for text in texts:
        name, equals, value = text.partition("=")
        if equals and name and name in names:
            result[names[name]].append(value)
        elif len(models) != 1:
            raise UsageError(f"{words} '{text}': name the robot as in NAME=..., one of {', '.join(names)}")
        elif not equals or _is_path(option, text, name, value):
            result[next(iter(models))].append(text)
        elif not name or called is None:
            near = UnknownNameError("robot", name, names)
            raise UsageError(f"{words} '{text}': {near}")
        else:
            called.add(name)
            result[next(iter(models))].append(value)
    return result


_FILE_OPTIONS = ("urdf", "srdf", "loops")


def _is_path(option: str, text: str, name: str, value: str) -> bool:
    """Return True for the path of a file with "=" in it.

    Raises:
        UsageError: the file exists, and so does the one after the "=".
    """
    if option not in _FILE_OPTIONS:
        return False
    if not Path(text).exists():
        return "/" in name
    if Path(value).exists() and "/" not in name:
        raise UsageError(f"both '{text}' and '{value}' exist; write './{text}' for the first")
    return True


def single_value(option: str, values: Sequence[str]) -> str | None:
    """Return the only value of an option for a model; None if it was not given.

    Raises:
        UsageError: the option has several values.
    """
    if len(values) > 1:
        raise UsageError(f"--{option.replace('_', '-')} is given twice for one robot")
    return values[0] if values else None


def nanoseconds(text: str) -> int:
    """Return the exact nanoseconds of a decimal number of seconds, as a type for argparse."""
    # Import here what only some options need.
    from robot_semantics.base.nanoseconds import parse_seconds

    try:
        return parse_seconds(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"'{text}' is not a time in seconds") from None
