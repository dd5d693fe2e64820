# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""`robot_semantics usdf new` and `usdf from-series`: create a world state from robots, or from a recording."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.cli import inputs, usdf_files
from robot_semantics.cli.argument_values import unquoted_numbers
from robot_semantics.cli.command import Command
from robot_semantics.cli.outputs import add_output
from robot_semantics.cli.printing import print_line
from robot_semantics.cli.usage import UsageError
from robot_semantics.cli.usdf_edit import add_change_arguments, apply_edits, refuse_poses
from robot_semantics.cli.usdf_files import WorldFile, located_problems
from robot_semantics.kinematics.forward import ForwardKinematics
from robot_semantics.kinematics.loops import close_loops
from robot_semantics.model.robot_model import RobotModel
from robot_semantics.state.check import check_world
from robot_semantics.usdf.descriptions import with_relative_paths
from robot_semantics.usdf.frames import root_frame
from robot_semantics.usdf.identity import model_digest
from robot_semantics.usdf.robot import from_joint_positions
from robot_semantics.usdf.saved_descriptions import Texts, described_beside
from robot_semantics.usdf.world_state import WORLD, ModelState, WorldState
from robot_semantics.xml.xacro import is_xacro, read_document


class NewRobot(NamedTuple):
    """A robot for the new world; `texts` is given if other programs cannot read its files."""

    robot: RobotModel
    state: ModelState
    texts: Texts | None


def _new_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "robots",
        metavar="[NAME=]URDF[,SRDF]",
        nargs="+",
        help="robot (default name: from its URDF)",
    )
    add_change_arguments(parser)
    inputs.add_loading_arguments(parser)
    inputs.add_loops_argument(parser)
    usdf_files.add_output_option(parser)


def _new(arguments: argparse.Namespace) -> None:
    """Write the world, and beside it the texts of robots from xacro files."""
    if arguments.loops is not None and len(arguments.robots) > 1:
        raise UsageError("--loops needs exactly one robot")
    found = [_described(word, arguments) for word in arguments.robots]
    robots = {item.state.name: item.robot for item in found}
    if len(robots) < len(found):
        names = [item.state.name for item in found]
        twice = next(name for name in names if names.count(name) > 1)
        raise UsageError(f"two robots are called '{twice}': give them names, as in {twice}_2={arguments.robots[-1]}")
    state = WorldState(name=arguments.name or "world", models=tuple(item.state for item in found))
    parents = dict.fromkeys(model.parent for model in state.models if model.parent not in (WORLD, *robots))
    state = replace(state, frames=tuple(root_frame(name) for name in parents))
    with located_problems([WorldFile(state, arguments.output or "<stdout>", None)]) as diagnostics:
        state = apply_edits(state, arguments, robots, diagnostics)
        refuse_poses(state, arguments, robots)
        check_world(state, robots, diagnostics)
        diagnostics.raise_if_failed(strict=arguments.strict)
    texts = {item.state.name: item.texts for item in found if item.texts is not None}
    if texts and arguments.output is None:
        raise UsageError("a robot from a xacro is saved beside the world: give the file of the world with -o")
    folder = usdf_files.folder_of(arguments.output)
    state, files = described_beside(with_relative_paths(state, folder), texts)
    usdf_files.save_state(state, arguments.output, files)


def _described(word: str, arguments: argparse.Namespace) -> NewRobot:
    name, files = word.split("=", 1) if "=" in word else (None, word)
    if numbers := unquoted_numbers([word]):
        raise UsageError(numbers)
    paths = files.split(",")
    if name == "" or len(paths) > 2 or not all(path.strip() for path in paths):
        raise UsageError(f"a robot must be [NAME=]URDF[,SRDF], not '{word}'")
    urdf, srdf = (*paths, None)[:2]
    robot = inputs.load(argparse.Namespace(**{**vars(arguments), "urdf": urdf, "srdf": srdf}))
    kinematics = ForwardKinematics(robot)
    q = close_loops(kinematics.loops, kinematics.space.neutral())
    state = from_joint_positions(kinematics, q, T_parent_root=np.eye(4), name=name)
    state = replace(state, links=(), urdf_sha256=model_digest(robot))
    texts = _texts(paths, robot, arguments)
    if texts is None:
        description, semantic = (*(str(Path(path).resolve()) for path in paths), None)[:2]
        state = replace(state, description=description, semantic=semantic)
    return NewRobot(robot, state, texts)


def _texts(paths: Sequence[str], robot: RobotModel, arguments: argparse.Namespace) -> Texts | None:
    """Return expanded texts if other programs could not read the files the same way; None if the files are enough."""
    how = inputs.xacro_of(arguments)
    if not (how.expand or arguments.implicit_links or any(map(is_xacro, paths))):
        return None
    if len(paths) == 1:
        return Texts(robot.urdf_text, "")
    srdf = read_document(paths[1], how, inputs.package_finder(arguments, paths[1]))
    return Texts(robot.urdf_text, srdf.places.text.decode())


def _from_series_arguments(parser: argparse.ArgumentParser) -> None:
    from robot_semantics.recording.series_formats import SERIES_WORDS

    parser.add_argument("series", metavar="SERIES", help=f"series ({SERIES_WORDS})")
    parser.add_argument("--at", metavar="T", default="end", help="seconds from the start, @T since 1970, or end")
    add_output(parser, "-o", "--output", metavar="OUT", required=True, help="USDF file to write")


def _from_series(arguments: argparse.Namespace) -> None:
    """Write the state and, beside it, its robots' descriptions."""
    from robot_semantics.recording.from_series import save_state, state_at

    problems = Diagnostics()
    state, texts = state_at(Path(arguments.series), arguments.at, problems)
    inputs.print_diagnostics(problems)
    save_state(state, texts, Path(arguments.output))
    print_line(f"wrote the state at {arguments.at} with {len(state.models)} models to {arguments.output}")


NEW = Command(
    _new_arguments,
    _new,
    "make a world state of robots: which, where and in which named states",
    examples=(
        "robot_semantics usdf new robot.urdf,robot.srdf --state rover_arm arm/reach -o new.usdf",
        "robot_semantics usdf new a=robot.urdf b=robot.urdf --pose b '2 0 0 0 0 0' -o two.usdf",
    ),
)
FROM_SERIES = Command(
    _from_series_arguments,
    _from_series,
    "write one state of a series that export made, with its robots, to start from",
    examples=("robot_semantics usdf from-series states/ --at 2.5 -o then.usdf",),
)
