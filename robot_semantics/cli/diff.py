# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""`robot_semantics diff`: whether two descriptions are of the same robot, by motion and not by text."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.cli.frame import inputs
from robot_semantics.cli.frame.command import Command, UsageError
from robot_semantics.cli.frame.printing import add_json_argument, counted, print_line, print_result
from robot_semantics.cli.usdf.views import DIFF, diff_worlds
from robot_semantics.comparison.robots import RobotComparison, compare_robots
from robot_semantics.model.omissions import refuse_omissions
from robot_semantics.model.resources import PackageResolver

WORLD_ENDINGS = (".usdf", ".json")


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("first", metavar="A", help="URDF, plain or xacro; or a USDF file")
    parser.add_argument("second", metavar="B", help="URDF or USDF file to compare with A")
    parser.add_argument("--srdf-a", metavar="SRDF", help="SRDF of A")
    parser.add_argument("--srdf-b", metavar="SRDF", help="SRDF of B")
    inputs.add_loading_arguments(parser)
    add_json_argument(parser)


def _run(arguments: argparse.Namespace) -> int:
    """Print the differences; return 1 if there are any."""
    if any(Path(file).suffix in WORLD_ENDINGS for file in (arguments.first, arguments.second)):
        return _diff_worlds(arguments)
    if (arguments.srdf_a is None) is not (arguments.srdf_b is None):
        raise UsageError("--srdf-a and --srdf-b: give both SRDFs, or none")
    diagnostics = Diagnostics()
    a = inputs.read_robot(arguments, arguments.first, arguments.srdf_a, diagnostics)
    b = inputs.read_robot(arguments, arguments.second, arguments.srdf_b, diagnostics)
    if arguments.strict:
        diagnostics.raise_if_failed(strict=True)
    refuse_omissions(a, b)
    inputs.print_diagnostics(diagnostics)
    resolver = PackageResolver(arguments.package_path)

    def finder(urdf: str) -> Callable[[str], Path]:
        return lambda uri: resolver.resolve(uri, urdf)

    found = compare_robots(a, b, finder(arguments.first), finder(arguments.second))
    if arguments.json:
        print_result(as_json(found))
    else:
        for line in lines(found):
            print_line(line)
    return int(not found.same)


def _diff_worlds(arguments: argparse.Namespace) -> int:
    """Compare two world states, as `usdf diff` does."""
    parser = argparse.ArgumentParser()
    DIFF.declare(parser)
    given = {key: value for key, value in vars(arguments).items() if key != "perform"}
    words = [arguments.first, arguments.second, *["--json"] * arguments.json]
    return diff_worlds(argparse.Namespace(**{**vars(parser.parse_args(words)), **given}))


def as_json(found: RobotComparison) -> dict[str, object]:
    """Return a comparison as JSON-ready values."""
    return {
        "same": found.same,
        "differences": [difference._asdict() for difference in found.differences],
        "frames_moved": list(found.frames_moved),
        "renamed_links": found.renamed_links,
        "renamed_joints": found.renamed_joints,
        "largest_distance_m": found.largest_distance_m,
        "furthest_link": found.furthest_link,
    }


def lines(found: RobotComparison) -> list[str]:
    """Return a comparison as lines for people."""
    said = [f"link '{old}' renamed '{new}'" for old, new in found.renamed_links.items()]
    said += [f"joint '{old}' renamed '{new}'" for old, new in found.renamed_joints.items()]
    if found.same:
        moved = f"; {counted(len(found.frames_moved), 'link frame')} moved" if found.frames_moved else ""
        return [*said, f"same motion{moved}"]
    said += [difference.text for difference in found.differences]
    if found.furthest_link:
        said.append(f"largest distance: {1e3 * found.largest_distance_m:.3g} mm at link '{found.furthest_link}'")
    return [*said, counted(len(found.differences), "difference")]


COMMAND = Command(
    _arguments,
    _run,
    examples=("robot_semantics diff robot.urdf robot.urdf --srdf-a robot.srdf --srdf-b robot.srdf",),
)
