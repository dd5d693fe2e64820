# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""`robot_semantics collisions generate`: generate an SRDF with evidence for each disabled pair."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from pathlib import Path

from robot_semantics.base.errors import RobotSemanticsError
from robot_semantics.base.names import LinkPair, shown
from robot_semantics.cli.frame import inputs
from robot_semantics.cli.frame.argument_values import output_file
from robot_semantics.cli.frame.command import Command
from robot_semantics.cli.frame.outputs import SRDF_ENDINGS, add_output, add_result, put_result
from robot_semantics.cli.frame.printing import JSON_VERSION, add_json_argument, print_json, print_line, print_note
from robot_semantics.cli.frame.sampling import add_sampling_arguments, sample
from robot_semantics.collision.matrix import NO_PAIRS, CollisionMatrix, PairReason
from robot_semantics.collision.merging import KEEP, MergedMatrix, merge_matrix
from robot_semantics.collision.report import evidence_words, matrix_json, reason_counts, save_heat_map
from robot_semantics.collision.statistics import never_bound, rounded_up
from robot_semantics.kinematics.joint_space import JointSpace
from robot_semantics.model.robot_model import RobotModel
from robot_semantics.srdf.edit import SrdfText

SHOWN = 12
"""Number of printed pairs of each kind."""

CHANCE = 0.5
"""A pair that collides in a smaller share of the samples collides in the default pose by chance."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    inputs.add_robot_arguments(parser)
    add_result(parser, SRDF_ENDINGS, in_place=True, changed="srdf", text="SRDF to write")
    parser.add_argument(
        "--keep",
        choices=sorted(KEEP),
        default="user",
        help="pairs of the given SRDF to keep (user)",
    )
    add_sampling_arguments(parser)
    add_json_argument(parser)
    add_output(parser, "--report", metavar="R.json", type=output_file(".json"), help="write the evidence as JSON")
    add_output(
        parser,
        "--plot",
        metavar="R.png",
        type=output_file(".png", ".svg", ".pdf"),
        help="draw the matrix as a heat map",
    )


def run(arguments: argparse.Namespace) -> None:
    """Sample, and write all results at the end: an interrupted run leaves no file.

    Raises:
        RobotSemanticsError: there are no pairs, or an existing file would be overwritten without permission.
    """
    robot = inputs.load(arguments, whole=True)
    text = SrdfText.from_file(arguments.srdf) if arguments.srdf else SrdfText.empty(robot.name)
    matrix = sample(robot, arguments)
    if not matrix.pairs:
        raise RobotSemanticsError(f"'{shown(robot.name)}' has {NO_PAIRS}")
    merged = merge_matrix(text, {pair: reason.value for pair, reason in matrix.disabled().items()}, arguments.keep)
    if arguments.plot and arguments.dry_run:
        print_note(f"note: would draw {arguments.plot}")
    elif arguments.plot:
        save_heat_map(matrix, robot, Path(arguments.plot))
    report = {"version": JSON_VERSION, **matrix_json(matrix, JointSpace.of(robot))}
    beside = {}
    if arguments.report:
        beside[Path(arguments.report)] = f"{json.dumps(report, indent=1, allow_nan=False)}\n".encode()
    put_result(arguments, bytes(merged.text), arguments.srdf, beside)
    if arguments.json:
        print_json(report)
    else:
        _print(matrix, merged, robot)
    if not arguments.dry_run:
        print_note(f"written: {arguments.srdf if arguments.in_place else arguments.output}")


def _print(matrix: CollisionMatrix, merged: MergedMatrix, robot: RobotModel) -> None:
    counts = reason_counts(matrix)
    print_line(
        f"{robot.name}: {len(matrix.pairs)} pairs of links, {matrix.samples:,} configurations, seed {matrix.seed}"
    )
    print_line("  " + ", ".join(f"{count} {name}" for name, count in counts.items()))
    bound = rounded_up(never_bound(matrix.samples))
    print_line(f"  Never: a collision probability below {bound:g}, at 95 % confidence")
    evidence = matrix.pairs
    contradicted = matrix.contradicted()
    by_chance = [
        pair
        for pair, reason in matrix.disabled().items()
        if reason is PairReason.DEFAULT and (evidence[pair].hits or 0) < CHANCE * evidence[pair].samples
    ]
    searched = [pair for pair in evidence if evidence[pair].found_by_search]
    neighbours = [pair for pair in evidence if evidence[pair].adjacency and evidence[pair].hits]
    for title, pairs in (
        ("pairs about which the triangles say otherwise:", contradicted),
        ("disabled for the default pose, although free in most others:", by_chance),
        ("joined only by links without geometry, and they collide:", neighbours),
        ("rare pairs, about which another seed might decide otherwise:", matrix.rare()),
        ("no sample collided, but a search found a collision:", searched),
        ("left enabled, as the SRDF says:", merged.enabled),
        ("left enabled, as they were removed by hand:", merged.removed),
    ):
        _print_pairs(title, [(pair, _words(matrix, pair, contradicted)) for pair in pairs])


def _words(matrix: CollisionMatrix, pair: LinkPair, contradicted: Mapping[LinkPair, PairReason | None]) -> str:
    words = evidence_words(matrix, matrix.pairs[pair])
    if pair not in contradicted:
        return words
    hull, mesh = (reason.value if reason else "to be checked" for reason in (matrix.reason(pair), contradicted[pair]))
    return f"{hull} ({words}); triangles: {mesh} ({evidence_words(matrix, matrix.by_triangles[pair])})"


def _print_pairs(title: str, pairs: list[tuple[LinkPair, str]]) -> None:
    if pairs:
        print_line(title)
    for pair, words in pairs[:SHOWN]:
        print_line(f"  {pair.first} - {pair.second}: {words}")
    if len(pairs) > SHOWN:
        print_line(f"  and {len(pairs) - SHOWN} more")


COMMAND = Command(
    add_arguments,
    run,
    examples=("robot_semantics collisions generate robot.urdf robot.srdf -o new.srdf --samples 500",),
)
