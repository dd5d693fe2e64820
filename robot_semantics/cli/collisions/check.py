# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""`robot_semantics collisions check` and `table`: compare the pairs of an SRDF with sampling."""

from __future__ import annotations

import argparse

from robot_semantics.base.errors import RobotSemanticsError
from robot_semantics.base.names import shown
from robot_semantics.cli.frame import inputs
from robot_semantics.cli.frame.command import Command
from robot_semantics.cli.frame.console import console_for_output, empty_table
from robot_semantics.cli.frame.printing import add_json_argument, counted, print_line, print_result
from robot_semantics.cli.frame.sampling import add_sampling_arguments, sample
from robot_semantics.collision.audit import AuditFinding, AuditRow, audit, pair_table
from robot_semantics.collision.matrix import NO_PAIRS, CollisionMatrix
from robot_semantics.collision.report import evidence_words, pair_json, witness_json
from robot_semantics.kinematics.joint_space import JointSpace
from robot_semantics.model.robot_model import RobotModel


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the operations' arguments."""
    inputs.add_robot_arguments(parser, srdf_needed=True, live=True)
    add_sampling_arguments(parser)
    add_json_argument(parser)


def check_matrix(arguments: argparse.Namespace) -> int:
    """Print the findings; return 1 if a pair collides although it is disabled with the reason Never."""
    robot = inputs.load(arguments, whole=True)
    matrix = _sampled(robot, arguments)
    rows = audit(robot, matrix)
    dangerous = sum(row.finding.is_dangerous for row in rows)
    space = JointSpace.of(robot)
    if arguments.json:
        print_result(
            {
                "samples": matrix.samples,
                "seed": matrix.seed,
                "dangerous": dangerous,
                "findings": [
                    {
                        "finding": row.finding.name.lower(),
                        "dangerous": row.finding.is_dangerous,
                        "link1": row.pair.first,
                        "link2": row.pair.second,
                        "stated": row.stated,
                        "hits": row.evidence.hits if row.evidence else None,
                        "witness": witness_json(row.evidence.deepest if row.evidence else None, space),
                    }
                    for row in rows
                ],
            },
        )
        return int(dangerous > 0)
    # The worst finding is last and stays on the screen.
    for row in reversed(rows):
        evidence = f" ({evidence_words(matrix, row.evidence)})" if row.evidence else ""
        severity = "error" if row.finding.is_dangerous else "warning"
        stated = f" [{row.stated}]" if row.finding is AuditFinding.REASON_DOES_NOT_HOLD else ""
        print_line(f"{severity}: {' - '.join(row.pair)}: {row.finding.value}{stated}{evidence}")
        if row.finding.is_dangerous:
            print_line(f"  collides at {_configuration(row, space)}")
    print_line(f"{counted(len(rows), 'finding')}, {dangerous} dangerous" if rows else "no findings")
    return int(dangerous > 0)


def _sampled(robot: RobotModel, arguments: argparse.Namespace) -> CollisionMatrix:
    """Return the matrix.

    Raises:
        RobotSemanticsError: the robot has no pairs of links with collision geometry.
    """
    matrix = sample(robot, arguments)
    if not matrix.pairs:
        raise RobotSemanticsError(f"'{shown(robot.name)}' has {NO_PAIRS}")
    return matrix


def _configuration(row: AuditRow, space: JointSpace) -> str:
    witness = witness_json(row.evidence.deepest if row.evidence else None, space)
    positions = witness["positions"].items() if witness else ()
    return " ".join(f"{name}={value:.4g}" for name, value in positions)


def print_table(arguments: argparse.Namespace) -> None:
    """Print the table, the highest risk first."""
    robot = inputs.load(arguments, whole=True)
    matrix = _sampled(robot, arguments)
    rows = pair_table(robot, matrix)
    if arguments.json:
        space = JointSpace.of(robot)
        pairs = [
            {
                **pair_json(matrix, row.evidence, space),
                "state": row.state,
                "stated": row.status.reason or None,
                "risk": row.risk.share,
            }
            for row in rows
        ]
        print_result({"samples": matrix.samples, "seed": matrix.seed, "pairs": pairs})
        return
    shown = empty_table("link", "link", "state", "reason", "found", "risk", "evidence")
    for row in rows:
        found = row.reason.value if row.reason else "to be checked"
        risk = f"{row.risk.share:.2g}" if row.risk.share else ""
        words = evidence_words(matrix, row.evidence)
        shown.add_row(*row.status.pair, row.state, row.status.reason, found, risk, words)
    console_for_output().print(shown)


CHECK = Command(
    add_arguments,
    check_matrix,
    examples=("robot_semantics collisions check robot.urdf robot.srdf --samples 500",),
)
TABLE = Command(
    add_arguments,
    print_table,
    examples=("robot_semantics collisions table robot.urdf robot.srdf --samples 500",),
)
