# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""`robot_semantics usdf edit`: change poses, joints, named states and the time of a world state."""

from __future__ import annotations

import argparse
import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from robot_semantics.base.diagnostic import Diagnostic
from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.base.errors import ArrayError
from robot_semantics.base.files import STANDARD_INPUT
from robot_semantics.cli.frame import inputs
from robot_semantics.cli.frame.argument_values import (
    JOINT_FORM,
    ROBOT_FORM,
    add_joint_option,
    add_repeatable,
    assignment,
    nanoseconds,
    robot_argument,
)
from robot_semantics.cli.frame.command import Command, UsageError
from robot_semantics.cli.frame.joint_arguments import (
    STATE_FORM,
    JointNames,
    JointReading,
    named_state,
    named_value,
    names_of,
    parent_word,
    read_assignments,
    state_word,
)
from robot_semantics.cli.usdf import files as usdf_files
from robot_semantics.cli.usdf.files import WorldFile, located_problems
from robot_semantics.kinematics.forward import kinematics_of
from robot_semantics.kinematics.joint_space import JointSpace
from robot_semantics.kinematics.loops import close_loops
from robot_semantics.model.joint_types import JointQuantity
from robot_semantics.model.robot_model import RobotModel
from robot_semantics.model.semantics import NamedState
from robot_semantics.transforms.pose import Pose, Vec6, pose_from_quaternion, six
from robot_semantics.usdf.apply import apply_model_state, resolve_with
from robot_semantics.usdf.check import check_world
from robot_semantics.usdf.combine import renamed
from robot_semantics.usdf.descriptions import with_relative_paths
from robot_semantics.usdf.edit import (
    pose_refusal,
    removed,
    reparented,
    set_joints,
    set_named_state,
    set_pose,
    without_engines,
)
from robot_semantics.usdf.frames import root_frame
from robot_semantics.usdf.identity import model_digest
from robot_semantics.usdf.robot import from_joint_positions
from robot_semantics.usdf.saved_descriptions import Texts, described_beside
from robot_semantics.usdf.validity import element_path
from robot_semantics.usdf.world_state import WORLD, ModelState, WorldState
from robot_semantics.xml.xacro import is_xacro, read_expanded

PARENT_FORM = "NAME=PARENT"


def _edit_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="USDF or JSON file")
    add_change_arguments(parser)
    add_repeatable(parser, "--remove", "NAME", "remove a model or frame")
    add_repeatable(parser, "--rename", ("OLD", "NEW"), "rename a model or frame", nargs=2)
    usdf_files.add_robot_options(parser)
    usdf_files.add_output_option(parser, in_place=True)


def add_change_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options that edit a world; `apply_edits` applies them."""
    for option, text in (("--pose", 'pose: "x y z roll pitch yaw"'), ("--twist", 'twist: "vx vy vz wx wy wz"')):
        add_repeatable(parser, option, JOINT_FORM, text, type=partial(assignment, option))
    add_repeatable(parser, "--parent", PARENT_FORM, "parent: a frame, MODEL or MODEL::LINK", type=parent_word)
    add_joint_option(parser, "position of a joint or variable [rad, m]")
    add_repeatable(parser, "--state", STATE_FORM, "named state of the SRDF", type=state_word)
    parser.add_argument("--degrees", action="store_true", help="angles of these options are in degrees")
    parser.add_argument("--keep-place", action="store_true", help="with --parent: keep the pose in the world")
    parser.add_argument("--name", metavar="NAME", help="name of the world")
    parser.add_argument("--time", type=nanoseconds, metavar="T", help="time of the world [s]")


def _edit(arguments: argparse.Namespace) -> None:
    """Write the edited state."""
    _check_words(arguments)
    origins = usdf_files.read_world_files([arguments.file])
    state = origins[0].state
    wanted = arguments.joint or arguments.state or arguments.parent or arguments.pose
    wanted = wanted or usdf_files.names_robots(arguments)
    robots = usdf_files.robots(arguments, origins[0], arguments.file) if wanted else {}
    with located_problems(origins) as diagnostics:
        edits = edits_of(arguments, state, robots)
        edited = apply_edits(state, edits, robots, diagnostics)
        moved = (
            {model for model, _ in edits.states} | {reading.model for reading in edits.joints} | set(arguments.remove)
        )
        commanded = {model.name for model in edited.models} - moved
        edited = without_engines(edited, diagnostics, commanded=commanded)
        refuse_poses(edited, edits, robots, state)
        # Objects are removed in this order, so that an object can be removed together with the objects on it.
        for name in arguments.remove:
            edited = removed(edited, name)
        left = {name: robot for name, robot in robots.items() if name in {model.name for model in edited.models}}
        diagnostics.extend(_edit_problems(state, edited, left, {name for name, _ in edits.poses}, diagnostics))
        edited = renamed(edited, dict(arguments.rename))
        diagnostics.raise_if_failed()
    usdf_files.put_edited_state(arguments, edited, arguments.file)


def refuse_poses(
    state: WorldState, edits: Edits, robots: Mapping[str, RobotModel], before: WorldState | None = None
) -> None:
    """Refuse the poses of ``--pose`` that a robot's virtual joint cannot take; `before` is the state before an edit.

    Raises:
        ArrayError: there is one; the error has its distance.
    """
    for name in [name for name, _ in edits.poses if name in robots]:
        reason = pose_refusal(state, name, robots[name], before)
        if reason is not None:
            raise ArrayError("--pose", reason)


def _edit_problems(
    before: WorldState,
    after: WorldState,
    robots: Mapping[str, RobotModel],
    posed: Collection[str],
    reported: Iterable[Diagnostic],
) -> tuple[Diagnostic, ...]:
    """Return the unreported problems of the edited state that the old state did not have.

    The note about the virtual joint's frame of a model that gets a pose (`posed`) is returned even if it is not new.
    """
    before_edit, after_edit = Diagnostics(), Diagnostics()
    check_world(before, robots, before_edit)
    check_world(after, robots, after_edit)
    paths = {element_path(model) for model in after.models if model.name in posed}
    seen = {problem for problem in before_edit if problem.code != "unplaced-frame" or problem.place.path not in paths}
    seen.update(reported)
    return tuple(problem for problem in after_edit if problem not in seen)


class Edits(NamedTuple):
    """Changes of a world state, in the order in which they are applied.

    Attributes:
        parents: the new parent of models and frames.
        poses: the new pose of models and frames.
        twists: the new twist of models and frames.
        states: the named state of models.
        joints: the new positions of joints and variables.
        keep_place: keep the place in the world with a new parent.
        time_ns: the new time [ns].
        name: the new name of the world.
    """

    parents: tuple[tuple[str, str], ...]
    poses: tuple[tuple[str, Pose], ...]
    twists: tuple[tuple[str, Vec6], ...]
    states: tuple[tuple[str, NamedState], ...]
    joints: Mapping[JointReading, tuple[float, ...]]
    keep_place: bool = False
    time_ns: int | None = None
    name: str | None = None


def edits_of(arguments: argparse.Namespace, state: WorldState, robots: Mapping[str, RobotModel]) -> Edits:
    """Return the changes in the arguments.

    Raises:
        UnknownNameError: a joint, group or state does not exist.
        RobotSemanticsError: a name has two readings.
        ArrayError: a robot is missing.
    """
    bodies = [body.name for body in state.bodies]
    parents = (named_value("--parent", word, bodies, PARENT_FORM) for word in arguments.parent)
    return Edits(
        parents=tuple(parents),
        poses=tuple((name, _pose(_turned(row, arguments.degrees))) for name, row in arguments.pose),
        twists=tuple((name, six(_turned(row, arguments.degrees))) for name, row in arguments.twist),
        states=tuple(_state(word, state, robots) for word in arguments.state),
        joints={
            reading: _in_radians(reading, row, robots) if arguments.degrees else row
            for reading, row in read_assignments(arguments.joint, _joint_names(state, robots)).items()
        },
        keep_place=arguments.keep_place,
        time_ns=arguments.time,
        name=arguments.name,
    )


def apply_edits(
    state: WorldState, edits: Edits, robots: Mapping[str, RobotModel], diagnostics: Diagnostics
) -> WorldState:
    """Return a state with all changes; named states need the robots.

    Raises:
        UnknownNameError: a model, frame or joint does not exist.
        ArrayError: a value does not fit.
    """
    for name, parent in edits.parents:
        if edits.keep_place:
            state = reparented(state, name, parent, robots)
        else:
            state = set_pose(state, name, parent=parent)
    for name, pose in edits.poses:
        state = set_pose(state, name, pose)
    for name, twist in edits.twists:
        state = set_pose(state, name, twist=twist)
    for model, named in edits.states:
        state = set_named_state(state, model, named.group, named.name, robots[model], diagnostics=diagnostics)
    for model, positions in _joints(state, edits.joints, robots).items():
        state = set_joints(state, model, positions, robots.get(model), diagnostics=diagnostics)
    if edits.time_ns is not None:
        state = replace(state, time_ns=edits.time_ns)
    return state if edits.name is None else replace(state, name=edits.name)


def _state(word: str, state: WorldState, robots: Mapping[str, RobotModel]) -> tuple[str, NamedState]:
    unknown = [model.name for model in state.models if model.name not in robots]
    for name in unknown if robots else ():
        if word.startswith(f"{name}/"):
            raise ArrayError("--state", f"the robot of '{name}' is unknown: give --urdf URDF,SRDF")
    if not robots:
        names = ", ".join(f"'{name}'" for name in unknown)
        raise ArrayError("--state", f"the robot of {names or 'a model'} is unknown: give --urdf URDF,SRDF")
    return named_state(word, robots)


def _joint_names(state: WorldState, robots: Mapping[str, RobotModel]) -> JointNames:
    """Return the joints of the models with their variables; without a robot, the joints that the state has."""
    return {
        model.name: names_of(JointSpace.of(robots[model.name]))
        if model.name in robots
        else {joint.name: () for joint in model.joints}
        for model in state.models
    }


def _joints(
    state: WorldState, rows: Mapping[JointReading, tuple[float, ...]], robots: Mapping[str, RobotModel]
) -> dict[str, dict[str, tuple[float, ...]]]:
    """Return positions by model and joint; a variable changes one number of its joint."""
    positions: dict[str, dict[str, tuple[float, ...]]] = {}
    for reading, row in rows.items():
        joints = positions.setdefault(reading.model, {})
        if reading.variable is None:
            joints[reading.joint] = row
            continue
        if len(row) != 1:
            raise ArrayError(reading.variable, f"a variable has 1 position, not {len(row)}")
        values = list(joints.get(reading.joint) or _present(state, reading, robots))
        names = robots[reading.model].joint(reading.joint).variable_names
        values[names.index(reading.variable)] = row[0]
        joints[reading.joint] = tuple(values)
    return positions


def _present(state: WorldState, reading: JointReading, robots: Mapping[str, RobotModel]) -> tuple[float, ...]:
    """Return the positions of a joint in a world state, or those of a virtual joint from the model's pose.

    Raises:
        ArrayError: they are not known.
    """
    kinematics = kinematics_of(robots[reading.model])
    model = state.model(reading.model)
    applied = apply_model_state(model, resolve_with(state, robots=robots), kinematics.model)
    if reading.joint == kinematics.model.root_joint.name and applied.base_positions is not None:
        return tuple(applied.base_positions.tolist())
    if reading.joint not in applied.positions_of:
        message = f"the other values of joint '{reading.joint}' are not known: give all of its numbers"
        raise ArrayError(str(reading.variable), message)
    return tuple(applied.positions[kinematics.space.joint_positions[reading.joint]].tolist())


def _turned(row: tuple[float, ...], degrees: bool) -> tuple[float, ...]:
    """Return a pose or twist with its last three of six numbers in radians; a quaternion has no unit."""
    return (*row[:3], *map(math.radians, row[3:])) if degrees and len(row) == 6 else row


def _in_radians(reading: JointReading, row: tuple[float, ...], robots: Mapping[str, RobotModel]) -> tuple[float, ...]:
    """Return positions of a joint or variable, given in degrees, with its angles in radians.

    Raises:
        ArrayError: the type of the joint is not known.
    """
    if reading.model not in robots:
        message = f"the robot of '{reading.model}' is unknown, and so the unit of '{reading.joint}': give --urdf"
        raise ArrayError("--degrees", message)
    joint = robots[reading.model].joint(reading.joint)
    quantities = joint.motion.quantities
    if reading.variable is not None:
        quantities = (quantities[joint.variable_names.index(reading.variable)],)
    elif len(row) == 6 and joint.motion.has_quaternion:
        return _turned(row, degrees=True)
    if len(row) != len(quantities):
        return row
    return tuple(
        math.radians(value) if quantity is JointQuantity.ANGLE else value
        for value, quantity in zip(row, quantities, strict=True)
    )


def _pose(row: tuple[float, ...]) -> Pose:
    return Pose(six(row)) if len(row) == 6 else pose_from_quaternion(row[:3], row[3:])


def _check_words(arguments: argparse.Namespace) -> None:
    """Check the options that change a world, before a file is read.

    Raises:
        UsageError: an option needs another one, or a pose or twist has too few or too many numbers.
    """
    if arguments.keep_place and not arguments.parent:
        raise UsageError("--keep-place needs --parent")
    if arguments.degrees and not (arguments.pose or arguments.twist or arguments.joint):
        raise UsageError("--degrees needs --pose, --twist or --joint")
    for option, values, counts in (("--pose", arguments.pose, (6, 7)), ("--twist", arguments.twist, (6,))):
        names = [name for name, _ in values]
        for name, row in values:
            if names.count(name) > 1:
                raise UsageError(f"{option} {name} is given twice")
            if len(row) not in counts:
                known = " or ".join(map(str, counts))
                raise UsageError(f"{option} {name}=...: {len(row)} numbers are given; it must have {known}")


EDIT = Command(
    _edit_arguments,
    _edit,
    examples=(
        "robot_semantics usdf edit world.usdf --joint rover_arm/elbow_joint=1.2 -o bent.usdf",
        "robot_semantics usdf edit world.usdf --pose 'rover_arm=1 0 0 0 0 1.57' -o moved.usdf",
        "robot_semantics usdf edit world.usdf --state rover_arm/arm/reach -o reaching.usdf",
    ),
)


# `robot_semantics usdf new`: create a world state from robots.


class DescribedModel(NamedTuple):
    """A robot for the new world; `texts` is given if other programs cannot read its files."""

    robot: RobotModel
    state: ModelState
    texts: Texts | None


def _new_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "robots", metavar=ROBOT_FORM, nargs="+", type=robot_argument, help="robot (default name: from its URDF)"
    )
    add_change_arguments(parser)
    inputs.add_loading_arguments(parser, several=True)
    usdf_files.add_output_option(parser)


def _new(arguments: argparse.Namespace) -> None:
    """Write the world, and beside it the texts of robots from xacro files."""
    _check_words(arguments)
    models = _described(arguments)
    robots = {item.state.name: item.robot for item in models}
    if len(robots) < len(models):
        names = [item.state.name for item in models]
        twice = next(name for name in names if names.count(name) > 1)
        raise UsageError(f"two robots are called '{twice}': give them names, as in {twice}_2={arguments.robots[-1]}")
    state = WorldState(name=arguments.name or "world", models=tuple(item.state for item in models))
    parents = dict.fromkeys(model.parent for model in state.models if model.parent not in (WORLD, *robots))
    state = replace(state, frames=tuple(root_frame(name) for name in parents))
    with located_problems([WorldFile(state, arguments.output or "<stdout>", None)]) as diagnostics:
        edits = edits_of(arguments, state, robots)
        state = apply_edits(state, edits, robots, diagnostics)
        refuse_poses(state, edits, robots)
        check_world(state, robots, diagnostics)
        diagnostics.raise_if_failed(strict=arguments.strict)
    texts = {item.state.name: item.texts for item in models if item.texts is not None}
    if texts and arguments.output is None:
        raise UsageError("a robot from a xacro or standard input is saved beside the world: give its file with -o")
    folder = usdf_files.folder_of(arguments.output)
    state, files = described_beside(with_relative_paths(state, folder), texts)
    usdf_files.put_state(arguments, state, files)


def _described(arguments: argparse.Namespace) -> list[DescribedModel]:
    """Return the robots of the command line, and their states at their default positions.

    Raises:
        DescriptionError: a URDF has no valid tree, or with ``--strict`` there is any problem.
    """
    diagnostics = Diagnostics()
    models = []
    for robot, model in zip(arguments.robots, inputs.read_given(arguments, arguments.robots, diagnostics), strict=True):
        kinematics = kinematics_of(model)
        q = close_loops(kinematics.loops, kinematics.space.neutral())
        state = from_joint_positions(model, q, T_parent_root=np.eye(4), name=robot.name)
        state = replace(state, links=(), urdf_sha256=model_digest(model))
        paths = [robot.urdf] if robot.srdf is None else [robot.urdf, robot.srdf]
        texts = _texts(paths, model, arguments)
        if texts is None:
            description, semantic = (*(str(Path(path).resolve()) for path in paths), None)[:2]
            state = replace(state, description=description, semantic=semantic)
        models.append(DescribedModel(model, state, texts))
    if arguments.strict:
        diagnostics.raise_if_failed(strict=True)
    inputs.print_diagnostics(diagnostics)
    return models


def _texts(paths: Sequence[str], robot: RobotModel, arguments: argparse.Namespace) -> Texts | None:
    """Return expanded texts if other programs could not read the files the same way; None if the files are enough."""
    how = inputs.xacro_of(arguments)
    if not (how.expand or arguments.implicit_links or STANDARD_INPUT in paths or any(map(is_xacro, paths))):
        return None
    if len(paths) == 1:
        return Texts(robot.urdf_text, "")
    srdf = read_expanded(paths[1], how, inputs.package_finder(arguments, paths[1]))
    return Texts(robot.urdf_text, srdf.places.text.decode())


NEW = Command(
    _new_arguments,
    _new,
    examples=(
        "robot_semantics usdf new robot.urdf,robot.srdf --state arm/reach -o new.usdf",
        "robot_semantics usdf new a=robot.urdf b=robot.urdf --pose 'b=2 0 0 0 0 0' -o two.usdf",
    ),
)
