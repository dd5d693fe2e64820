# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""`robot_semantics collisions table`: every pair of a robot, what the SRDF does with it and what sampling shows."""

from __future__ import annotations

import argparse

from robot_semantics.cli import inputs
from robot_semantics.cli.collisions_sampling import add_sampling_arguments, sample
from robot_semantics.cli.command import Command
from robot_semantics.cli.console import console_for_output, table
from robot_semantics.cli.json_output import add_json_argument, print_result
from robot_semantics.collision.report import evidence_words, pair_json
from robot_semantics.collision.table import pair_table
from robot_semantics.kinematics.joint_space import JointSpace


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the operation's arguments."""
    inputs.add_robot_arguments(parser, srdf_needed=True)
    add_sampling_arguments(parser)
    add_json_argument(parser)


def run(arguments: argparse.Namespace) -> int:
    """Print the table, the largest risk first."""
    robot = inputs.load(arguments)
    matrix = sample(robot, arguments)
    rows = pair_table(robot, matrix)
    if arguments.json:
        space = JointSpace.of(robot)
        pairs = [
            {**pair_json(matrix, row.evidence, space), "state": row.state, "stated": row.stated, "risk": row.risk}
            for row in rows
        ]
        print_result(arguments, {"samples": matrix.samples, "seed": matrix.seed, "pairs": pairs})
        return 0
    shown = table("link", "link", "state", "reason", "found", "risk", "evidence")
    for row in rows:
        found = row.found.value if row.found else "to be checked"
        risk = f"{row.risk:.2g}" if row.risk else ""
        shown.add_row(*row.pair, row.state, row.stated or "", found, risk, evidence_words(matrix, row.evidence))
    console_for_output().print(shown)
    return 0


COMMAND = Command(
    "every pair of links: what the SRDF does with it, what sampling shows, and what is at risk",
    add_arguments,
    run,
    examples=("robot_semantics collisions table robot.urdf robot.srdf --samples 500",),
)
