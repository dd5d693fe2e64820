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
import os
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from robot_semantics.base.errors import RobotSemanticsError, UnknownNameError
from robot_semantics.base.files import UnknownEndingError, format_of
from robot_semantics.cli.frame.command import UsageError
from robot_semantics.xml.numbers import number, numbers_or_none
from robot_semantics.xml.schema import BadValueError

_Number = TypeVar("_Number", int, float)
Model = TypeVar("Model", str, str | None)


_SEPARATORS = {"/", os.sep}


def readings(text: str) -> Iterator[tuple[str | None, str]]:
    """Yield all readings of ``[NAME=]VALUE``, of which both parts may contain ``=``: first the one without a name."""
    yield None, text
    yield from ((text[:at], text[at + 1 :]) for at, letter in enumerate(text) if letter == "=")


def _plain_reading(text: str) -> tuple[str | None, str]:
    """Return the usual reading of ``[NAME=]VALUE``: the first ``=`` separates, unless a path is before it."""
    name, equals, value = text.partition("=")
    return (name, value) if equals and not _SEPARATORS & set(name) else (None, text)


class NamedArgument(NamedTuple):
    """A value of one robot, ``[NAME=]VALUE``; the name is None if the word has none."""

    name: str | None
    value: str

    def __str__(self) -> str:
        """Return the word."""
        return self.value if self.name is None else f"{self.name}={self.value}"

    @property
    def files(self) -> tuple[str, ...]:
        """The files that the word names, if it is one of files."""
        return (self.value,)

    def with_known_name(self, names: Collection[str]) -> NamedArgument:
        """Return the reading of the word whose name is in `names`; a name may contain ``=``.

        Raises:
            RobotSemanticsError: there are two.
        """
        if self.name is None or self.name in names:
            return self
        ways = [NamedArgument(name, value) for name, value in readings(str(self)) if name in names and value]
        if len(ways) > 1:
            first, second, *_ = ways
            raise RobotSemanticsError(f"'{self}' can be of '{first.name}' or of '{second.name}': rename one")
        return ways[0] if ways else self


class DescriptionArgument(NamedTuple):
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

    @property
    def files(self) -> tuple[str, ...]:
        """The files that the word names."""
        return tuple(filter(None, (self.urdf, self.srdf)))

    def with_known_name(self, _: Collection[str]) -> DescriptionArgument:
        """Return this word: its files have decided its reading."""
        return self


Value = TypeVar("Value", NamedArgument, DescriptionArgument)
FILE_FORM, ROBOT_FORM, JOINT_FORM = "[NAME=]FILE", "[NAME=]URDF[,SRDF]", "NAME=NUMBERS"


def robot_argument(text: str) -> DescriptionArgument:
    """Argparse type: the files of one robot, ``[NAME=]URDF[,SRDF]``.

    A path may contain ``=`` and ``,``: the reading whose files exist is used. If no reading has its files, the first
    ``=`` that is not in a path and the first ``,`` separate.

    Raises:
        UsageError: the text has another form.
        RobotSemanticsError: the files of two readings exist.
    """
    ways = [robot for robot in _robot_readings(text) if all(part is None or part.strip() for part in robot)]
    there = [robot for robot in ways if _is_there(robot.urdf) and (robot.srdf is None or _is_there(robot.srdf))]
    there = there or [robot for robot in ways if _is_there(robot.urdf)]
    return _only_reading(text, there, _in_words) or _plain_robot(text)


def _only_reading(text: str, readings: Sequence[Value], in_words: Callable[[Value], str]) -> Value | None:
    """Return the only reading whose files exist, where a ``/`` is rather of a path than of a name; None without one.

    Raises:
        RobotSemanticsError: there are two.
    """
    if len(readings) > 1:
        readings = [way for way in readings if way.name is None or not _SEPARATORS & set(way.name)] or readings
    if len(readings) > 1:
        first, second = map(in_words, readings[:2])
        raise RobotSemanticsError(f"'{text}' can be {first}, or {second}: these files exist; './' begins a path")
    return readings[0] if readings else None


def _plain_robot(text: str) -> DescriptionArgument:
    """Return the reading of ``[NAME=]URDF[,SRDF]`` that does not look at files."""
    if numbers := unquoted_numbers([text]):
        raise UsageError(numbers)
    name, files = _plain_reading(text)
    urdf, comma, srdf = files.partition(",")
    parts = [urdf, *[name] * (name is not None), *[srdf] * bool(comma)]
    if "," in srdf or not all(part and part.strip() for part in parts):
        raise UsageError(f"a robot must be {ROBOT_FORM}, not '{text}'")
    return DescriptionArgument(name, urdf, srdf if comma else None)


def recorded_robot_argument(text: str) -> DescriptionArgument:
    """Argparse type: the files of one robot, as `robot_argument`; ``[NAME=],SRDF`` for a URDF that is recorded."""
    name, comma, srdf = text.rpartition(",")
    if comma and srdf.strip() and (not name or (name.endswith("=") and len(name) > 1)) and not _is_there(text):
        return DescriptionArgument(name[:-1] or None, "", srdf)
    return robot_argument(text)


def _robot_readings(text: str) -> Iterator[DescriptionArgument]:
    """Yield all readings of ``[NAME=]URDF[,SRDF]``."""
    for name, files in readings(text):
        yield DescriptionArgument(name, files, None)
        for at, letter in enumerate(files):
            if letter == ",":
                yield DescriptionArgument(name, files[:at], files[at + 1 :])


def _in_words(robot: DescriptionArgument) -> str:
    name = "" if robot.name is None else f"model '{robot.name}' with "
    return f"{name}the URDF '{robot.urdf}'" + ("" if robot.srdf is None else f" and the SRDF '{robot.srdf}'")


def add_named(parser: argparse._ActionsContainer, option: str, form: str, text: str) -> None:
    """Add an option for ``[NAME=]FILE`` or ``[NAME=]`` and another value, one for each robot."""
    read = _named_file if form == FILE_FORM else _named_word
    add_repeatable(parser, option, form, text, type=partial(read, option, form))


def _named_file(option: str, form: str, text: str) -> NamedArgument:
    """Argparse type: a file of one robot, ``[NAME=]FILE``; the path may contain ``=``, as in `robot_argument`.

    Raises:
        UsageError: the text has another form.
        RobotSemanticsError: the files of two readings exist.
    """
    ways = [NamedArgument(*way) for way in readings(text) if all(part is None or part.strip() for part in way)]
    existing = [way for way in ways if _is_there(way.value)]

    def in_words(way: NamedArgument) -> str:
        return f"the file '{way.value}'" + ("" if way.name is None else f" of robot '{way.name}'")

    only = _only_reading(text, existing, in_words)
    return _complete(option, form, text, *_plain_reading(text)) if only is None else only


def _named_word(option: str, form: str, text: str) -> NamedArgument:
    """Argparse type: a topic or frame of one robot, ``[NAME=]VALUE``; the first ``=`` separates.

    Raises:
        UsageError: the text has another form.
    """
    name, equals, value = text.partition("=")
    return _complete(option, form, text, *((name, value) if equals else (None, text)))


def _complete(option: str, form: str, text: str, name: str | None, value: str) -> NamedArgument:
    """Return a reading whose parts are not empty.

    Raises:
        UsageError: a part is empty.
    """
    if name is not None and not value.strip():
        raise UsageError(f"{option} '{text}': there is no value after the '='")
    if not value.strip():
        raise UsageError(f"{option} takes {form}, not '{text}'")
    if name is not None and not name.strip():
        raise UsageError(f"{option} '{text}': there is no name before the '='")
    return NamedArgument(name, value)


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
    option: str,
    values: Sequence[Value],
    models: Collection[Model],
    used_names: set[str] | None = None,
    source: str | None = None,
) -> dict[Model, list[Value]]:
    """Return the values of ``[NAME=]VALUE`` by model; a value without a name is for the only model.

    Args:
        option: the option's name.
        values: its values.
        models: the names of the models; None for a model whose name is not known yet.
        used_names: takes other names of the only model, or of that without a name, such as the name of its URDF, for
            the caller to check.
        source: the data that have the models; None: the command line has them.

    Raises:
        UsageError: there are several models, and a value does not name one; or the command line has no such model.
        UnknownNameError: `source` has no model of a value's name.
    """
    result: dict[Model, list[Value]] = {model: [] for model in models}
    names = {model or "": model for model in models}
    for word in values:
        value = word.with_known_name(names)
        words = f"--{option.replace('_', '-')} '{value}'"
        if value.name is not None and value.name in names:
            model = names[value.name]
        elif value.name is None and (len(models) == 1 or "" in names):
            model = names.get("", next(iter(models)))
        elif value.name is None:
            first = next(iter(names), None)
            hint = "" if first is None else f"; for example '{first}={value}'"
            raise UsageError(f"{words}: name the robot as in NAME=..., one of {', '.join(names) or 'none'}{hint}")
        elif used_names is not None and (len(models) == 1 or "" in names):
            used_names.add(value.name)
            model = names.get("", next(iter(models)))
        elif source is None:
            raise UsageError(f"{words}: {UnknownNameError('robot', value.name, names)}")
        else:
            raise UnknownNameError("model", value.name, names, source)
        result[model].append(value)
    return result


def one_by_model(
    option: str,
    values: Sequence[Value],
    models: Collection[Model],
    used_names: set[str] | None = None,
    source: str | None = None,
) -> dict[Model, Value]:
    """Return the value of each model that has one; the arguments are as in `by_model`.

    Raises:
        UsageError, UnknownNameError: as `by_model`; also UsageError for two values of one model.
    """
    values_by_model = by_model(option, values, models, used_names, source)
    for rows in values_by_model.values():
        if len(rows) > 1:
            words = f"--{option.replace('_', '-')}"
            raise UsageError(f"{words} is given twice for one robot: '{rows[0]}' and '{rows[1]}'")
    return {model: rows[0] for model, rows in values_by_model.items() if rows}


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


def assignment(option: str, word: str) -> tuple[str, tuple[float, ...]]:
    """Return the name and the numbers of ``NAME=NUMBERS``; a name may contain ``=``, numbers do not.

    Raises:
        UsageError: the word has another form, or a number is not finite.
    """
    name, equals, text = word.rpartition("=")
    numbers = numbers_or_none(text)
    if not equals or not name or not numbers:
        raise UsageError(f"{option} takes {JOINT_FORM} with finite numbers apart by blanks, not '{word}'")
    return name, numbers


def joint_word(word: str) -> str:
    """Argparse type: ``NAME=NUMBERS``; the name is found later.

    Raises:
        UsageError: the word has another form.
    """
    assignment("--joint", word)
    return word


def add_joint_option(parser: argparse._ActionsContainer, text: str = "set a joint [rad, m]") -> None:
    """Add ``--joint NAME=NUMBERS``."""
    add_repeatable(parser, "--joint", JOINT_FORM, text, type=joint_word)
