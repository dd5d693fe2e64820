# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Shared by commands that sample a matrix: the sampling arguments, and sampling with a progress bar."""

from __future__ import annotations

import argparse
import os
from collections.abc import Collection
from functools import partial

from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.base.names import LinkPair, quoted
from robot_semantics.cli.frame import inputs
from robot_semantics.cli.frame.argument_values import integer, number_in_range
from robot_semantics.cli.frame.console import Bar
from robot_semantics.cli.frame.joint_arguments import STATE_FORM, named_state, state_word
from robot_semantics.cli.frame.printing import print_note, print_notes
from robot_semantics.collision.matrix import CollisionMatrix, Settings, generate_matrix
from robot_semantics.collision.pieces import READINGS, pieces_of
from robot_semantics.collision.sampling import SAMPLERS
from robot_semantics.collision.shapes import Piece
from robot_semantics.collision.sphere_check import sphere_pieces
from robot_semantics.kinematics.joint_space import JointSpace, with_state
from robot_semantics.model.resources import PackageResolver
from robot_semantics.model.robot_model import RobotModel

SPHERES = "spheres"
"""Geometry of a matrix for planners on spheres: the spheres of the SRDF."""


def add_sampling_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the sampling arguments."""
    parser.add_argument(
        "--samples", type=integer(1), default=10_000, metavar="N", help="number of configurations (10000)"
    )
    parser.add_argument("--seed", type=integer(0, 2**64 - 1), default=0, help="seed of the random configurations (0)")
    parser.add_argument(
        "--jobs", type=integer(1), default=os.cpu_count() or 1, metavar="N", help="number of threads (all cores)"
    )
    parser.add_argument("--sampler", choices=sorted(SAMPLERS), default="uniform", help="sampler (uniform)")
    parser.add_argument(
        "--always-fraction",
        type=number_in_range(0.0, 1.0),
        default=0.95,
        metavar="F",
        help="lowest share of hits that counts as always (0.95)",
    )
    parser.add_argument(
        "--confidence",
        type=number_in_range(1e-7, 0.5),
        metavar="P",
        help="sample until no hit means a probability below P",
    )
    parser.add_argument("--no-search", action="store_true", help="do not search for rare collisions")
    parser.add_argument(
        "--default-state",
        metavar=STATE_FORM,
        type=partial(state_word, option="--default-state"),
        help="default pose (all joints at 0)",
    )
    parser.add_argument(
        "--geometry",
        choices=sorted([*READINGS, SPHERES]),
        default="mesh",
        help="shape of a mesh (mesh: triangles), or the SRDF's spheres",
    )
    parser.add_argument(
        "--adjacent",
        choices=("joint", "moveit"),
        default="joint",
        help="links that count as adjacent (joint)",
    )
    parser.add_argument(
        "--padding", type=number_in_range(0.0), default=0.0, metavar="M", help="padding around links [m]"
    )


def collision_pieces(robot: RobotModel, arguments: argparse.Namespace, reading: str = "mesh") -> tuple[Piece, ...]:
    """Return the collision geometry of `robot`; print its problems to stderr.

    Raises:
        DescriptionError: a geometry cannot be used.
    """
    diagnostics = Diagnostics()
    pieces = pieces_of(robot, PackageResolver(arguments.package_path), diagnostics, reading)
    diagnostics.raise_if_failed()
    inputs.print_diagnostics(diagnostics)
    return pieces


def sample(
    robot: RobotModel, arguments: argparse.Namespace, only: Collection[LinkPair] | None = None
) -> CollisionMatrix:
    """Return the matrix of `robot`, or of some of its pairs; print problems of its geometry to stderr.

    Raises:
        DescriptionError: a geometry cannot be used.
        RobotSemanticsError: the default state does not exist.
    """
    if arguments.geometry == SPHERES:
        pieces = sphere_pieces(robot, collision_pieces(robot, arguments))
    else:
        pieces = collision_pieces(robot, arguments, arguments.geometry)
    space = JointSpace.of(robot)
    default_q = None
    if arguments.default_state:
        _, state = named_state(arguments.default_state, {robot.name: robot}, "--default-state")
        default_q = with_state(space, state.group, state.name)
    settings = Settings(
        samples=arguments.samples,
        seed=arguments.seed,
        sampler=arguments.sampler,
        jobs=arguments.jobs,
        always_fraction=arguments.always_fraction,
        padding=arguments.padding,
        confidence=arguments.confidence,
        geometry="hull" if arguments.geometry == "hull" else "mesh",
        adjacent=arguments.adjacent,
        search=not arguments.no_search,
    )
    ranges = {joint.name: robot.usable_range(joint) for joint in robot.unlimited_joints}
    print_notes(
        f"joint '{name}' is not limited: it is sampled from {low:g} to {high:g}" for name, (low, high) in ranges.items()
    )
    with Bar() as bar:
        bar.phase("sampling", settings.total)
        matrix = generate_matrix(robot, pieces, settings, default_q=default_q, progress=bar.advance, only=only)
    stuck = [
        joint.name
        for joint in robot.joints
        if joint.motion.limited and joint.mimic is None and len(set(robot.usable_range(joint))) == 1
    ]
    if matrix.pairs and stuck and matrix.samples > 1:
        line = f"note: {quoted(stuck, 9)}: no range, so links that nothing else moves are compared in one pose"
        print_note(line)
    if matrix.pairs and matrix.samples == 1:
        print_note("note: the matrix is from one pose: no joint has a range, or one sample is asked for")
    return matrix
