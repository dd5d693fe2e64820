# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""`robot_semantics collisions enable`, `disable` and `diff`: pairs of an SRDF by hand, in place, and compared."""

from __future__ import annotations

import argparse

from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.base.names import LinkPair
from robot_semantics.cli import inputs
from robot_semantics.cli.command import Command
from robot_semantics.cli.printing import add_json_argument, print_result, say
from robot_semantics.cli.srdf import add_file_arguments, finish, known_robot
from robot_semantics.srdf.edit import SrdfText
from robot_semantics.srdf.reader import srdf_from_file


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `enable` and `disable`."""
    add_file_arguments(parser)
    parser.add_argument("link1", metavar="LINK1", help="one link")
    parser.add_argument("link2", metavar="LINK2", help="the other link")
    parser.add_argument("--reason", metavar="TEXT", help="why; it stands in the file")


def disable(arguments: argparse.Namespace) -> None:
    """Have the pair not checked; a reason that it has already stays unless another one is given."""
    before, robot = SrdfText.from_file(arguments.srdf), known_robot(arguments)
    pair = LinkPair.of(arguments.link1, arguments.link2)
    enabled = {LinkPair.of(item.link1, item.link2) for item in before.semantic.enabled_collisions}
    text = before.remove_pairs("enable_collisions", enabled & {pair})
    finish(arguments, before, text.disable_collisions({pair: arguments.reason}), robot)


def enable(arguments: argparse.Namespace) -> None:
    """Have the pair checked, also after the matrix is generated anew."""
    before, robot = SrdfText.from_file(arguments.srdf), known_robot(arguments)
    pair = LinkPair.of(arguments.link1, arguments.link2)
    finish(arguments, before, before.enable_collisions({pair: arguments.reason}), robot)


def add_diff_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `diff`."""
    parser.add_argument("a", metavar="A.srdf", help="one SRDF")
    parser.add_argument("b", metavar="B.srdf", help="the other")
    inputs.add_xacro_arguments(parser)
    add_json_argument(parser)


def diff(arguments: argparse.Namespace) -> int:
    """Print the differences; 1 if there are any."""
    a, b = _pairs(arguments.a, arguments), _pairs(arguments.b, arguments)
    only_a = {pair: reason for pair, reason in a.items() if pair not in b}
    only_b = {pair: reason for pair, reason in b.items() if pair not in a}
    changed = {pair: (reason, b[pair]) for pair, reason in a.items() if pair in b and b[pair] != reason}
    if arguments.json:
        print_result(
            arguments,
            {
                "only_a": [{"link1": p.first, "link2": p.second, "reason": r} for p, r in sorted(only_a.items())],
                "only_b": [{"link1": p.first, "link2": p.second, "reason": r} for p, r in sorted(only_b.items())],
                "changed": [
                    {"link1": p.first, "link2": p.second, "a": r[0], "b": r[1]} for p, r in sorted(changed.items())
                ],
            },
        )
    else:
        for sign, pairs in (("-", only_a), ("+", only_b)):
            for pair, reason in sorted(pairs.items()):
                say(f"{sign} {pair.first} - {pair.second}: {reason}")
        for pair, (old, new) in sorted(changed.items()):
            say(f"~ {pair.first} - {pair.second}: {old} -> {new}")
        if not (only_a or only_b or changed):
            say(f"{len(a)} pairs, no difference")
    return int(bool(only_a or only_b or changed))


def _pairs(file: str, arguments: argparse.Namespace) -> dict[LinkPair, str]:
    diagnostics = Diagnostics()
    semantic = srdf_from_file(file, diagnostics, xacro=inputs.xacro_of(arguments))
    inputs.print_diagnostics(diagnostics)
    return {LinkPair.of(item.link1, item.link2): item.reason for item in semantic.disabled_collisions}


DISABLE = Command(
    "do not check a pair of links, in place",
    add_arguments,
    disable,
    examples=("robot_semantics collisions disable robot.srdf palm_link base_link --urdf robot.urdf -o less.srdf",),
)
ENABLE = Command(
    "check a pair of links, in place, whatever a generated matrix says",
    add_arguments,
    enable,
    examples=("robot_semantics collisions enable robot.srdf palm_link base_link --urdf robot.urdf -o more.srdf",),
)
DIFF = Command(
    "compare the pairs of two SRDFs",
    add_diff_arguments,
    diff,
    examples=("robot_semantics collisions diff robot.srdf robot.srdf",),
)
