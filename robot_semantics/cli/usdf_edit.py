# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""`robot_semantics usdf edit`: poses, joints, named states and the time of a world state changed."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import replace

from robot_semantics.base.diagnostics import Diagnostic, Diagnostics
from robot_semantics.base.errors import ArrayError
from robot_semantics.cli import usdf_files
from robot_semantics.cli.argument_values import UsageError, add_repeatable, named_state, nanoseconds, output_file
from robot_semantics.cli.command import Command
from robot_semantics.cli.outputs import add_output
from robot_semantics.cli.usdf_files import placed
from robot_semantics.model.robot_model import RobotModel
from robot_semantics.state.check import check_world
from robot_semantics.usdf.commands import model_and_variable
from robot_semantics.usdf.edit import set_joints, set_named_state, set_pose, without_engines
from robot_semantics.usdf.poses import pose_from_quaternion, six
from robot_semantics.usdf.world_state import Pose, WorldState
from robot_semantics.xml.numbers import numbers
from robot_semantics.xml.schema import BadValueError


def _edit_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="world state")
    add_change_arguments(parser)
    usdf_files.add_robot_options(parser)
    place = parser.add_mutually_exclusive_group()
    add_output(
        place,
        "-o",
        "--output",
        dash=None,
        metavar="FILE",
        type=output_file(*usdf_files.FORMATS),
        help="file for the result: .usdf, or .json for JSON (default: stdout)",
    )
    place.add_argument("--in-place", action="store_true", help="write to FILE itself")


def add_change_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what of a world is put where, which `changed` carries out."""
    for option, words, text in (
        ("--pose", "NAME NUMBERS", "put a model or frame: x y z roll pitch yaw, or x y z qx qy qz qw, in one word"),
        ("--twist", "NAME NUMBERS", "set how a model or frame moves: vx vy vz wx wy wz"),
        ("--parent", "NAME PARENT", "put a model or frame into another, or on a link: MODEL::LINK; its numbers stay"),
        ("--joint", "MODEL/JOINT NUMBERS", "put a joint"),
        ("--state", "MODEL GROUP/STATE", "put a model's joints as a named state of its SRDF has them"),
    ):
        add_repeatable(parser, option, tuple(words.split(" ")), text, nargs=2)
    parser.add_argument("--name", metavar="NAME", help="name the world")
    parser.add_argument("--time", metavar="T", help="set the time [s]")


def _edit(arguments: argparse.Namespace) -> None:
    """Write the edited state."""
    if arguments.in_place and arguments.file == "-":
        raise ArrayError("--in-place", "there is no file to write to")
    origins = usdf_files.read_origins([arguments.file])
    state = origins[0].state
    wanted = arguments.joint or arguments.state or arguments.parent
    robots = usdf_files.robots(arguments, state, arguments.file) if wanted else {}
    with placed(origins) as diagnostics:
        edited = changed(state, arguments, robots, diagnostics)
        edited = without_engines(edited, diagnostics)
        diagnostics.extend(_new_problems(state, edited, robots))
        diagnostics.raise_if_failed()
    output = arguments.file if arguments.in_place else arguments.output
    usdf_files.write_state(edited, output, arguments.file)


def _new_problems(before: WorldState, after: WorldState, robots: Mapping[str, RobotModel]) -> tuple[Diagnostic, ...]:
    """Return what the robots find wrong with the edited state, and not with the state before."""
    known, found = Diagnostics(), Diagnostics()
    check_world(before, robots, known)
    check_world(after, robots, found)
    seen = set(known)
    return tuple(problem for problem in found if problem not in seen)


def changed(
    state: WorldState, arguments: argparse.Namespace, robots: Mapping[str, RobotModel], diagnostics: Diagnostics
) -> WorldState:
    """Return a state with all changes that the arguments name; the robots are needed for named states.

    Raises:
        UsageError: a word of the arguments has no meaning.
        UnknownNameError: a model, frame, joint, group or state does not exist.
        ArrayError: a value does not fit, or a robot is missing.
    """
    for name, parent in arguments.parent:
        state = set_pose(state, name, parent=parent)
    for name, text in arguments.pose:
        state = set_pose(state, name, _pose(text))
    for name, text in arguments.twist:
        state = set_pose(state, name, twist=six(_row("--twist", text, (6,))))
    for model, word in arguments.state:
        state.model(model)
        if model not in robots:
            raise ArrayError("--state", f"the robot of '{model}' is needed: --urdf and --srdf")
        named = named_state(robots[model].semantics, word, "--state")
        state = set_named_state(state, model, named.group, named.name, robots[model], diagnostics=diagnostics)
    for word, text in arguments.joint:
        model, joint = model_and_variable(word, [item.name for item in state.models])
        if not joint:
            raise UsageError(f"--joint: '{word}' is not of the form MODEL/JOINT")
        row = _row("--joint", text, None)
        state = set_joints(state, model, {joint: row}, robots.get(model), diagnostics=diagnostics)
    if arguments.time is not None:
        state = replace(state, time_ns=nanoseconds(arguments.time, "--time"))
    return state if arguments.name is None else replace(state, name=arguments.name)


def _pose(text: str) -> Pose:
    row = _row("--pose", text, (6, 7))
    return Pose(six(row)) if len(row) == 6 else pose_from_quaternion(row[:3], row[3:])


def _row(option: str, text: str, counts: tuple[int, ...] | None) -> tuple[float, ...]:
    try:
        row = numbers(text.replace(",", " "))
    except BadValueError as error:
        raise UsageError(f"{option} {error}") from None
    if counts is not None and len(row) not in counts:
        raise UsageError(f"{option}: '{text}' has {len(row)} numbers; it must have {' or '.join(map(str, counts))}")
    return row


EDIT = Command(
    _edit_arguments,
    _edit,
    "set poses, joints or named states; the links follow",
    examples=(
        "robot_semantics usdf edit world.usdf --joint rover_arm/elbow_joint 1.2 -o bent.usdf",
        "robot_semantics usdf edit world.usdf --pose rover_arm '1 0 0 0 0 1.57' -o moved.usdf",
        "robot_semantics usdf edit world.usdf --state rover_arm arm/reach -o reaching.usdf",
    ),
)
