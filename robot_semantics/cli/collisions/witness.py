# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""`robot_semantics collisions witness`: find a configuration in which two links collide, as a group state or a USDF."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path
from xml.sax.saxutils import quoteattr

import numpy as np

from robot_semantics.base.errors import RobotSemanticsError, UnknownNameError
from robot_semantics.base.files import resolved
from robot_semantics.base.names import LinkPair
from robot_semantics.cli.frame import inputs
from robot_semantics.cli.frame.argument_values import output_file
from robot_semantics.cli.frame.command import Command
from robot_semantics.cli.frame.outputs import add_output, write_files
from robot_semantics.cli.frame.printing import add_json_argument, print_line, print_note, print_result
from robot_semantics.cli.frame.sampling import add_sampling_arguments, sample
from robot_semantics.cli.usdf.files import FORMATS, state_text
from robot_semantics.collision.matrix import Witness
from robot_semantics.collision.report import evidence_words, witness_json
from robot_semantics.kinematics.joint_space import JointSpace
from robot_semantics.model.robot_model import RobotModel
from robot_semantics.transforms.arrays import FloatArray
from robot_semantics.usdf.descriptions import with_relative_paths
from robot_semantics.usdf.identity import model_digest
from robot_semantics.usdf.robot import from_joint_positions
from robot_semantics.usdf.world_state import WORLD, WorldState
from robot_semantics.xml.xacro import is_xacro


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    inputs.add_robot_arguments(parser, live=True)
    parser.add_argument("link1", metavar="LINK1", help="first link")
    parser.add_argument("link2", metavar="LINK2", help="second link")
    parser.add_argument(
        "--which", choices=("first", "deepest"), default="deepest", help="which configuration (deepest)"
    )
    parser.add_argument("--group", metavar="GROUP", help="print a <group_state> of this group")
    form = output_file(*FORMATS)
    add_output(parser, "--usdf", metavar="OUT.usdf", type=form, help="write the robot's state to .usdf or .json")
    add_sampling_arguments(parser)
    add_json_argument(parser)


def run(arguments: argparse.Namespace) -> None:
    """Print the configuration.

    Raises:
        RobotSemanticsError: no collision of the pair is known.
        UnknownNameError: a link does not exist, or has no collision geometry.
    """
    robot = inputs.load(arguments, whole=True)
    robot.link(arguments.link1), robot.link(arguments.link2)
    matrix = sample(robot, arguments)
    pair = LinkPair.of(arguments.link1, arguments.link2)
    if pair not in matrix.pairs:
        solid = sorted({link for known in matrix.pairs for link in known})
        bare = next((link for link in pair if link not in solid), pair.first)
        raise UnknownNameError("link with collision geometry", bare, solid)
    evidence = matrix.pairs[pair]
    witness: Witness | None = getattr(evidence, arguments.which)
    if witness is None:
        words = evidence_words(matrix, evidence)
        raise RobotSemanticsError(f"no collision of '{pair.first}' and '{pair.second}' is known: {words}")
    space = JointSpace.of(robot)
    q = space.with_mimics(witness.q)
    if arguments.usdf:
        # The pose of the robot in the world is irrelevant and is left out.
        state = from_joint_positions(robot, q, T_parent_root=np.eye(4), parent=WORLD)
        files = [
            None if path is None or arguments.xacro or is_xacro(path) else str(resolved(path))
            for path in (arguments.urdf, arguments.srdf)
        ]
        state = replace(
            state,
            pose=None,
            description=files[0],
            semantic=files[1] if files[0] else None,
            urdf_sha256=model_digest(robot),
        )
        world = WorldState(name=f"{pair.first} against {pair.second}", models=(state,))
        text = state_text(with_relative_paths(world, resolved(arguments.usdf).parent), arguments.usdf)
        if write_files(arguments, {Path(arguments.usdf): text}):
            print_note(f"written: {arguments.usdf}")
    if arguments.json:
        print_result({"link1": pair.first, "link2": pair.second, **(witness_json(witness, space) or {})})
    elif arguments.group:
        _print_group_state(robot, space, q, arguments.group, f"{pair.first}_hits_{pair.second}")
    elif not arguments.usdf:
        for name, value in zip(space.names, q, strict=True):
            print_line(f"{name}={float(value)!r}")


def _print_group_state(robot: RobotModel, space: JointSpace, q: FloatArray, group: str, name: str) -> None:
    print_line(f"<group_state name={quoteattr(name)} group={quoteattr(group)}>")
    for joint in robot.semantics.group(group).active_joints:
        values = " ".join(repr(float(value)) for value in q[space.joint_positions[joint]])
        print_line(f"  <joint name={quoteattr(joint)} value={quoteattr(values)}/>")
    print_line("</group_state>")


COMMAND = Command(
    add_arguments,
    run,
    examples=("robot_semantics collisions witness robot.urdf base_link palm_link",),
)
