# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Words of the command line that carry more than themselves: numbers in bounds, ``NAME=VALUE``, ``GROUP/STATE``."""

from __future__ import annotations

import argparse
import math
import re
from collections.abc import Callable, Collection, Sequence
from typing import Any, TypeVar

from robot_semantics.base.endings import UnknownEndingError, format_of
from robot_semantics.base.errors import RobotSemanticsError, UnknownNameError
from robot_semantics.base.nanoseconds import parse_seconds
from robot_semantics.cli.usage import UsageError
from robot_semantics.model.semantics import NamedState, Semantics
from robot_semantics.xml.numbers import number
from robot_semantics.xml.schema import BadValueError

_Number = TypeVar("_Number", int, float)
Model = TypeVar("Model", str, str | None)


def on_disk(text: str) -> str:
    """Return the name of a file or folder to make: the argparse type of what cannot go to standard output."""
    if text == "-":
        raise argparse.ArgumentTypeError("'-' is standard output, and a file or folder is needed")
    return text


def output_file(*endings: str) -> Callable[[str], str]:
    """Return the argparse type of a file to write: any name with one of `endings`, or with none."""

    def checked(text: str) -> str:
        try:
            format_of(text, {ending: ending for ending in endings}, endings[0])
        except UnknownEndingError as error:
            raise argparse.ArgumentTypeError(str(error)) from None
        return text

    return checked


def real(least: float = -math.inf, most: float = math.inf, *, above: float = -math.inf) -> Callable[[str], float]:
    """Return the argparse type of finite numbers from `least` to `most`, and larger than `above`.

    As in the files: what only Python takes for a number (1_0, nan) is none.
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


def whole(least: int, most: float = 10**18) -> Callable[[str], int]:
    """Return the argparse type of whole numbers from `least` to `most`."""

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


wait = real(0.0, 86_400.0)
"""The argparse type of the seconds that a command waits for a running robot: a day at the most."""
port = whole(0, 65_535)


def add_repeatable(
    parser: argparse._ActionsContainer, option: str, metavar: str | tuple[str, ...] | None, text: str, **options: Any
) -> None:
    """Declare an option whose values are a list; `options` are those of `add_argument`."""
    text = f"{text} (repeatable)"
    parser.add_argument(option, metavar=metavar, action="append", default=[], help=text, **options)


def unquoted_numbers(words: Sequence[str]) -> str | None:
    """Return what is wrong if words that nothing takes are numbers of one value: they need quotes."""
    try:
        for word in words:
            number(word)
    except BadValueError:
        return None
    return f"unexpected '{' '.join(words)}': quote the numbers of one value, as in \"1 2 0\""


def pair_of(word: str, separator: str, option: str, form: str) -> tuple[str, str]:
    """Return the two parts of a word.

    Raises:
        UsageError: the word has no `separator`, or nothing on one side of it.

    """
    first, found, second = word.partition(separator)
    if not found or not first or not second:
        raise UsageError(f"{option} takes {form}, not '{word}'")
    return first, second


def named_state(semantics: Semantics, word: str, option: str) -> NamedState:
    """Return the state that ``GROUP/STATE`` means.

    Raises:
        UsageError: the word is not of this form.
        UnknownNameError: the group, or the state in it, does not exist.
    """
    pair_of(word, "/", option, "GROUP/STATE")
    return semantics.state_from_path(word)


def numbers_by_name(words: Sequence[str], valid: Collection[str]) -> dict[str, float]:
    """Return the numbers that the ``NAME=VALUE`` words of ``--positions`` give; every wrong word is reported at once.

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
            problems.append(f"--positions takes NAME=VALUE with a finite number, not '{word}'")
        elif name not in valid:
            problems.append(str(UnknownNameError("joint variable", name, valid)))
        else:
            found[name] = value
    if problems:
        raise kind("\nerror: ".join(problems))
    return found


def by_model(option: str, texts: Sequence[str], models: Collection[Model]) -> dict[Model, list[str]]:
    """Return the values of ``[NAME=]VALUE`` by model; without a name the value is the only model's.

    Raises:
        UsageError: a value does not say whose it is of several.
    """
    result: dict[Model, list[str]] = {model: [] for model in models}
    names = {str(model): model for model in models}
    for text in texts:
        name, equals, value = text.partition("=")
        if equals and name in names:
            result[names[name]].append(value)
        elif len(names) == 1:
            result[next(iter(models))].append(text)
        else:
            raise UsageError(f"--{option.replace('_', '-')} '{text}': say whose, as in NAME=..., of {', '.join(names)}")
    return result


def only(option: str, values: Sequence[str]) -> str | None:
    """Return the one value of an option for a model, None where it was not given.

    Raises:
        UsageError: there are several.
    """
    if len(values) > 1:
        raise UsageError(f"--{option.replace('_', '-')} is given twice for one robot")
    return values[0] if values else None


def nanoseconds(text: str, option: str) -> int:
    """Return the nanoseconds of seconds in decimals, exactly.

    Raises:
        UsageError: the text is no number, or one of more than ten digits of seconds.
    """
    try:
        return parse_seconds(text)
    except ValueError:
        raise UsageError(f"{option}: '{text}' is not a time in seconds") from None
