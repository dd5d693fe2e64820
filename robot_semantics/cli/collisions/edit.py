# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""`robot_semantics collisions enable`, `disable` and `diff`: edit single pairs of an SRDF in place, and compare."""

from __future__ import annotations

import argparse

from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.base.names import LinkPair
from robot_semantics.cli.frame import inputs
from robot_semantics.cli.frame.command import Command
from robot_semantics.cli.frame.printing import add_json_argument, print_output
from robot_semantics.cli.srdf import add_file_arguments, finish, known_robot
from robot_semantics.srdf.edit import SrdfText
from robot_semantics.srdf.reader import srdf_from_file


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `enable` and `disable`."""
    add_file_arguments(parser)
    parser.add_argument("link1", metavar="LINK1", help="first link")
    parser.add_argument("link2", metavar="LINK2", help="second link")
    parser.add_argument("--reason", metavar="TEXT", help="reason to write into the file")


def disable(arguments: argparse.Namespace) -> None:
    """Disable the check of the pair; an existing reason stays unless a new one is given."""
    before, robot = SrdfText.from_file(arguments.srdf), known_robot(arguments)
    pair = LinkPair.of(arguments.link1, arguments.link2)
    finish(arguments, before, before.disable_collisions({pair: arguments.reason}), robot)


def enable(arguments: argparse.Namespace) -> None:
    """Enable the check of the pair; a regenerated matrix keeps it enabled."""
    before, robot = SrdfText.from_file(arguments.srdf), known_robot(arguments)
    pair = LinkPair.of(arguments.link1, arguments.link2)
    finish(arguments, before, before.enable_collisions({pair: arguments.reason}), robot)


def add_diff_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `diff`."""
    parser.add_argument("a", metavar="A.srdf", help="first SRDF")
    parser.add_argument("b", metavar="B.srdf", help="second SRDF")
    inputs.add_xacro_arguments(parser)
    add_json_argument(parser)


def diff(arguments: argparse.Namespace) -> int:
    """Print the differences; return 1 if there are any."""
    a, b = _pairs(arguments.a, arguments), _pairs(arguments.b, arguments)
    only_a, only_b = sorted(a.keys() - b.keys()), sorted(b.keys() - a.keys())
    changed = sorted(pair for pair in a.keys() & b.keys() if a[pair] != b[pair])
    lines = [f"- {' - '.join(pair)}: {a[pair]}" for pair in only_a]
    lines += [f"+ {' - '.join(pair)}: {b[pair]}" for pair in only_b]
    lines += [f"~ {' - '.join(pair)}: {a[pair]} -> {b[pair]}" for pair in changed]
    result = {
        "only_a": [{"link1": pair.first, "link2": pair.second, "reason": a[pair]} for pair in only_a],
        "only_b": [{"link1": pair.first, "link2": pair.second, "reason": b[pair]} for pair in only_b],
        "changed": [{"link1": pair.first, "link2": pair.second, "a": a[pair], "b": b[pair]} for pair in changed],
    }
    print_output(arguments, result, lines or [f"{len(a)} pairs, no difference"])
    return int(bool(only_a or only_b or changed))


def _pairs(file: str, arguments: argparse.Namespace) -> dict[LinkPair, str]:
    diagnostics = Diagnostics()
    semantic = srdf_from_file(file, diagnostics, xacro=inputs.xacro_of(arguments))
    inputs.print_diagnostics(diagnostics)
    return {item.pair: item.reason for item in semantic.disabled_collisions}


DISABLE = Command(
    add_arguments,
    disable,
    examples=("robot_semantics collisions disable robot.srdf palm_link base_link --urdf robot.urdf -o less.srdf",),
)
ENABLE = Command(
    add_arguments,
    enable,
    examples=("robot_semantics collisions enable robot.srdf palm_link base_link --urdf robot.urdf -o more.srdf",),
)
DIFF = Command(
    add_diff_arguments,
    diff,
    examples=("robot_semantics collisions diff robot.srdf robot.srdf",),
)
