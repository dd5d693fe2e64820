# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""`robot_semantics usdf diff`: print the differences between two world states, and their size."""

from __future__ import annotations

import argparse
import math

from robot_semantics.base.errors import UnknownNameError
from robot_semantics.cli import usdf_files, usdf_views
from robot_semantics.cli.argument_values import add_repeatable, number_in_range
from robot_semantics.cli.command import Command
from robot_semantics.cli.console import console_for_output, table
from robot_semantics.cli.printing import add_json_argument, counted, print_result
from robot_semantics.usdf.compare import DEFAULT_TOLERANCE, StateDifference, compare
from robot_semantics.usdf.descriptions import rebased
from robot_semantics.usdf.table import DifferenceKind

_MOST_NUMBERS = 10
"""Longest row of numbers that is shown in the table."""

_KINDS = {kind.label.replace(" ", "-"): kind for kind in DifferenceKind}


def _diff_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("first", metavar="FIRST", help="USDF or JSON file")
    parser.add_argument("second", metavar="SECOND", help="USDF or JSON file")
    add_repeatable(
        parser,
        "--tolerance",
        "[KIND=]X",
        f"largest accepted difference, of all kinds or one ({DEFAULT_TOLERANCE:g})",
        type=_tolerance,
    )
    add_repeatable(parser, "--ignore", "KIND", "ignore this kind", type=_kind)
    usdf_files.add_robot_options(parser)
    add_json_argument(parser)


def diff_worlds(arguments: argparse.Namespace) -> int:
    """Print the differences; return 1 if there are any."""
    tolerances: dict[DifferenceKind | None, float] = {None: DEFAULT_TOLERANCE, **dict(arguments.tolerance)}
    files = usdf_files.read_world_files([arguments.first, arguments.second])
    robots = {
        **usdf_files.robots(arguments, files[1], arguments.second),
        **usdf_files.robots(arguments, files[0], arguments.first),
    }
    first, second = (file.state for file in files)
    second = rebased(second, usdf_files.folder_of(arguments.second), usdf_files.folder_of(arguments.first))
    found = compare(
        first,
        second,
        robots=robots,
        tolerances={kind: value for kind, value in tolerances.items() if kind is not None},
        tolerance=tolerances[None],
        ignore=arguments.ignore,
    )
    if arguments.json:
        print_result({"equal": not found, "differences": [difference.as_json() for difference in found]})
        return int(bool(found))
    if not found:
        print("no difference")
        return 0
    columns = ("what", "kind", "distance", arguments.first, arguments.second)
    made = table(*columns, title=counted(len(found), "difference"))
    for difference in found:
        made.add_row(*_cells(difference))
    console_for_output().print(made)
    return 1


def _cells(difference: StateDifference) -> tuple[str, ...]:
    distance = "-" if math.isinf(difference.distance) else f"{difference.distance:.3g} {difference.kind.unit}".strip()
    values = (_shown(difference.first), _shown(difference.second))
    return (difference.path or "world", difference.kind.label, distance, *values)


def _shown(value: object) -> str:
    if isinstance(value, dict):
        return usdf_views.numbers(value["rpy"])
    if isinstance(value, (list, tuple)) and all(isinstance(item, float) for item in value):
        # An engine's array may have thousands of numbers: `--json` shows them all.
        return usdf_views.numbers(value) if len(value) <= _MOST_NUMBERS else f"{len(value)} numbers"
    return "-" if value is None else str(value)


def _tolerance(word: str) -> tuple[DifferenceKind | None, float]:
    """Return the kind and the value of a tolerance; the kind is None if the word names no kind."""
    kind, equals, value = word.rpartition("=")
    return (_kind(kind) if equals else None), number_in_range(0.0)(value)


def _kind(word: str) -> DifferenceKind:
    if word not in _KINDS:
        raise argparse.ArgumentTypeError(str(UnknownNameError("kind of difference", word, _KINDS)))
    return _KINDS[word]


DIFF = Command(
    _diff_arguments,
    diff_worlds,
    "compare two world states; exit code 1 where they differ",
    examples=("robot_semantics usdf diff world.usdf world.usdf --tolerance 1e-6",),
)
