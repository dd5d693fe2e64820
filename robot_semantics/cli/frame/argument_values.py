# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Conversion of structured command-line values: robots, numbers in a range, ``NAME=VALUE``, ``GROUP/STATE``."""

from __future__ import annotations

import argparse
import math
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from robot_semantics.base.errors import RobotSemanticsError, UnknownNameError
from robot_semantics.base.files import UnknownEndingError, format_of
from robot_semantics.cli.frame.command import UsageError
from robot_semantics.xml.numbers import number
from robot_semantics.xml.schema import BadValueError

_Number = TypeVar("_Number", int, float)
Model = TypeVar("Model", str, str | None)


class RobotArgument(NamedTuple):
    """The files of one robot, ``[NAME=]URDF[,SRDF]``.

    Attributes:
        name: the model that is this robot; None if the word has no name.
        urdf: its URDF; empty if a recording has it.
        srdf: its SRDF; None if the word has only a URDF.
    """

    name: str | None
    urdf: str
    srdf: str | None

    def __str__(self) -> str:
        """Return the word."""
        name = "" if self.name is None else f"{self.name}="
        return name + self.urdf + ("" if self.srdf is None else f",{self.srdf}")


ROBOT_FORM = "[NAME=]URDF[,SRDF]"


def robot_argument(text: str) -> RobotArgument:
    """Argparse type: the files of one robot, ``[NAME=]URDF[,SRDF]``.

    A path may contain ``=`` and ``,``: the reading whose files exist is used. If no reading has its files, the first
    ``=`` and the first ``,`` separate.

    Raises:
        UsageError: the text has another form.
        RobotSemanticsError: the files of two readings exist.
    """
    readings = [robot for robot in _robot_readings(text) if all(part is None or part.strip() for part in robot)]
    there = [robot for robot in readings if _is_there(robot.urdf) and (robot.srdf is None or _is_there(robot.srdf))]
    there = there or [robot for robot in readings if _is_there(robot.urdf)]
    if len(there) > 1:
        first, second = map(_in_words, there[:2])
        raise RobotSemanticsError(f"'{text}' can be {first}, or {second}: these files exist; rename one")
    return there[0] if there else _plain_robot(text)


def _plain_robot(text: str) -> RobotArgument:
    """Return the reading of ``[NAME=]URDF[,SRDF]`` that does not look at files."""
    if numbers := unquoted_numbers([text]):
        raise UsageError(numbers)
    name, equals, rest = text.partition("=")
    urdf, comma, srdf = (rest if equals else text).partition(",")
    parts = [urdf, *[name] * bool(equals), *[srdf] * bool(comma)]
    if "," in srdf or not all(part.strip() for part in parts):
        raise UsageError(f"a robot must be {ROBOT_FORM}, not '{text}'")
    return RobotArgument(name if equals else None, urdf, srdf if comma else None)


def recorded_robot_argument(text: str) -> RobotArgument:
    """Argparse type: the files of one robot, as `robot_argument`; ``[NAME=],SRDF`` for a URDF that is recorded."""
    name, comma, srdf = text.rpartition(",")
    if comma and srdf.strip() and (not name or (name.endswith("=") and len(name) > 1)) and not _is_there(text):
        return RobotArgument(name[:-1] or None, "", srdf)
    return robot_argument(text)


def _robot_readings(text: str) -> Iterator[RobotArgument]:
    """Yield all readings of ``[NAME=]URDF[,SRDF]``."""
    named = [(text[:at], text[at + 1 :]) for at, letter in enumerate(text) if letter == "="]
    for name, files in ((None, text), *named):
        yield RobotArgument(name, files, None)
        for at, letter in enumerate(files):
            if letter == ",":
                yield RobotArgument(name, files[:at], files[at + 1 :])


def _in_words(robot: RobotArgument) -> str:
    name = "" if robot.name is None else f"model '{robot.name}' with "
    return f"{name}the URDF '{robot.urdf}'" + ("" if robot.srdf is None else f" and the SRDF '{robot.srdf}'")


def _is_there(file: str) -> bool:
    """Return True for a file or a pipe, for standard input, and for a URI, whose file is searched elsewhere."""
    return file == "-" or bool(re.match(r"[a-z]+://", file)) or (Path(file).exists() and not Path(file).is_dir())


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
        if equals and not value:
            raise UsageError(f"{words} '{text}': there is no value after the '='")
        if equals and name and name in names:
            result[names[name]].append(value)
        elif len(models) != 1:
            raise UsageError(f"{words} '{text}': name the robot as in NAME=..., one of {', '.join(names)}")
        elif not equals or _is_path(option, text, name, value):
            result[next(iter(models))].append(text)
        elif not name:
            raise UsageError(f"{words} '{text}': there is no name before the '='")
        elif called is None:
            raise UsageError(f"{words} '{text}': {UnknownNameError('robot', name, names)}")
        else:
            called.add(name)
            result[next(iter(models))].append(value)
    return result


def robots_by_model(
    given: Sequence[RobotArgument], models: Collection[Model], source: str, called: set[str] | None = None
) -> dict[Model, RobotArgument]:
    """Return the robots of ``--urdf`` by model; a robot without a name is of the only model.

    Args:
        given: the values of the option.
        models: the names of the models; None for a model whose name is not known yet.
        source: what has the models, for errors.
        called: takes other names of the only model, such as that of its URDF, for the caller to check.

    Raises:
        UsageError: a model has two robots, or a robot without a name is given for one of several models.
        UnknownNameError: `source` has no model of a robot's name.
    """
    result: dict[Model, RobotArgument] = {}
    names = {model or "": model for model in models}
    for robot in given:
        if robot.name is None and len(models) != 1:
            raise UsageError(f"--urdf '{robot}': name the robot as in NAME=..., one of {', '.join(names) or 'none'}")
        if robot.name is not None and robot.name not in names:
            if called is None or len(models) != 1:
                raise UnknownNameError("model", robot.name, names, source)
            called.add(robot.name)
        model = names.get(robot.name or "", next(iter(models)))
        if model in result:
            raise UsageError(f"--urdf '{robot}': the robot has other files already: '{result[model]}'")
        result[model] = robot
    return result


def _is_path(option: str, text: str, name: str, value: str) -> bool:
    """Return True for the path of a file with "=" in it.

    Raises:
        UsageError: the file exists, and so does the one after the "=".
    """
    if option != "loops":
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


def time_word(text: str) -> str:
    """Argparse type: a time: seconds from the start, ``@`` seconds since 1970, or ``end``."""
    if text != "end":
        try:
            nanoseconds(text.removeprefix("@"))
        except argparse.ArgumentTypeError:
            message = f"'{text}' is not a time: give seconds from the start, @seconds since 1970, or end"
            raise argparse.ArgumentTypeError(message) from None
    return text


def time_step(text: str) -> str:
    """Argparse type: a distance between times, a positive decimal number of seconds."""
    if nanoseconds(text) <= 0:
        problem = (
            "is too small; the smallest is 1e-9 s" if number(text) > 0.0 else "is not a positive number of seconds"
        )
        raise argparse.ArgumentTypeError(f"'{text}' {problem}")
    return text
