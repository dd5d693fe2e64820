# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""`robot_semantics collisions diff`: the collision pairs of two SRDFs."""

from __future__ import annotations

import argparse

from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.base.names import LinkPair
from robot_semantics.cli import inputs
from robot_semantics.cli.command import Command
from robot_semantics.cli.json_output import add_json_argument, print_result
from robot_semantics.cli.lines import say
from robot_semantics.srdf.reader import srdf_from_file


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the action's arguments."""
    parser.add_argument("a", metavar="A.srdf", help="one SRDF")
    parser.add_argument("b", metavar="B.srdf", help="the other")
    inputs.add_xacro_arguments(parser)
    add_json_argument(parser)


def run(arguments: argparse.Namespace) -> int:
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


COMMAND = Command(
    "compare the pairs of two SRDFs",
    add_arguments,
    run,
    examples=("robot_semantics collisions diff robot.srdf robot.srdf",),
)
