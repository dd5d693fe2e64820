# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""`robot_semantics usdf show` and `usdf resolve`: the content of a world state, derived values, and differences."""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from robot_semantics.base.errors import ArrayError, UnknownNameError
from robot_semantics.base.names import shown
from robot_semantics.base.nanoseconds import seconds_text
from robot_semantics.cli.frame.argument_values import add_repeatable, number_in_range
from robot_semantics.cli.frame.command import Command, UsageError
from robot_semantics.cli.frame.console import Table, console_for_output, empty_table
from robot_semantics.cli.frame.node_inputs import add_node_argument, asked_node, world_of_node
from robot_semantics.cli.frame.printing import add_json_argument, counted, print_json, print_line, print_result
from robot_semantics.cli.usdf import files as usdf_files
from robot_semantics.convert.json_form import world_to_json
from robot_semantics.transforms.pose import Pose, poses_from_matrices
from robot_semantics.usdf.compare import DEFAULT_TOLERANCE, StateDifference, compare
from robot_semantics.usdf.descriptions import rebased
from robot_semantics.usdf.frames import ResolvedWorld, resolve_frames
from robot_semantics.usdf.robot import complete_models
from robot_semantics.usdf.table import DifferenceKind
from robot_semantics.usdf.world_state import WORLD, ModelState, WorldState, carrier_of
from robot_semantics.xml.numbers import shortest


def _show_arguments(parser: argparse.ArgumentParser) -> None:
    if not add_node_argument(parser):
        parser.add_argument("file", metavar="FILE", help="USDF or JSON file")
    add_json_argument(parser)


def _show(arguments: argparse.Namespace) -> None:
    """Print the values of the file or of the running node, without derived values."""
    node = asked_node(arguments)
    if node is None:
        (state,) = usdf_files.read_states([arguments.file])
    else:
        state = world_of_node(node)
    if arguments.json:
        print_json(world_to_json(state))
        return
    console = console_for_output()
    console.print(_headline(state))
    for part in _tables(state):
        if part.row_count:
            console.print()
            console.print(part)


def _headline(state: WorldState) -> str:
    name = "a world without a name" if state.name is None else f"world '{shown(state.name)}'"
    time = "no time stated" if state.time_ns is None else f"at {seconds_text(state.time_ns)} s"
    engines = "".join(f", engine state of {shown(engine.name)} {shown(engine.version)}" for engine in state.engines)
    return f"{name}, {time}, {counted(len(state.models), 'model')}, {counted(len(state.frames), 'frame')}{engines}"


def _tables(state: WorldState) -> list[Table]:
    columns: tuple[str, ...] = ("name", "kind", "parent", "x y z [m]", "roll pitch yaw [rad]", "twist [m/s rad/s]")
    bodies = empty_table(*columns, title="models and frames")
    for body in state.bodies:
        kind = "model" if isinstance(body, ModelState) else "frame"
        bodies.add_row(shown(body.name), kind, shown(carrier_of(body)), *_pose(body.pose), numbers_text(body.twist))
    tables = [bodies]
    for model in state.models:
        columns = ("name", "x y z [m]", "roll pitch yaw [rad]", "twist", "wrench [N N m]")
        links = empty_table(*columns, title=f"links of {shown(model.name)}")
        for link in model.links:
            links.add_row(shown(link.name), *_pose(link.pose), numbers_text(link.twist), numbers_text(link.wrench))
        joints = empty_table("name", "positions", "velocities", "torques", title=f"joints of {shown(model.name)}")
        for joint in model.joints:
            joints.add_row(
                shown(joint.name),
                numbers_text(joint.positions),
                numbers_text(joint.velocities),
                numbers_text(joint.torques),
            )
        tables += [links, joints]
    return tables


def _pose(pose: Pose | None) -> tuple[str, str]:
    return ("-", "-") if pose is None else (numbers_text(pose.xyz_rpy[:3]), numbers_text(pose.xyz_rpy[3:]))


DUST = 1e-12
"""Numbers below this print as 0 [m, rad, m/s, rad/s, N, N m]; JSON has all digits."""


def numbers_text(row: Sequence[float] | None) -> str:
    """Return numbers for people: six digits, or fewer if these are exact; a dash for None.

    All units are of SI without prefix, so a number below `DUST` is what rounding leaves of 0.
    """
    if row is None:
        return "-"
    return " ".join("0" if abs(value) < DUST else min(f"{value:.6g}", shortest(value), key=len) for value in row)


def _resolve_arguments(parser: argparse.ArgumentParser) -> None:
    if not add_node_argument(parser):
        parser.add_argument("file", metavar="FILE", help="USDF or JSON file")
    parser.add_argument("--links", metavar="MODEL", help="poses of all links of a model, by its joints")
    parser.add_argument("names", nargs="*", metavar="NAME", help="model, frame or MODEL::LINK (default: all)")
    parser.add_argument("--relative-to", metavar="NAME", help="reference frame (world)")
    parser.add_argument("--axes", metavar="NAME", help="axes of twists and wrenches (reference frame)")
    usdf_files.add_robot_options(parser)
    add_json_argument(parser)


def _resolve(arguments: argparse.Namespace) -> None:
    """Print the poses, twists and wrenches; links without a pose follow from the joints of known robots."""
    if arguments.links is not None and (arguments.names or arguments.relative_to or arguments.axes):
        raise UsageError("--links prints one model in the world: give it without NAME, --relative-to and --axes")
    node = asked_node(arguments)
    if node is None:
        (file,), path = usdf_files.read_world_files([arguments.file]), arguments.file
    else:
        file, path = usdf_files.WorldFile(world_of_node(node), node.name, None), "-"
    if arguments.links is not None:
        _resolve_links(arguments, file, path)
        return
    robots = usdf_files.robots(arguments, file, path)
    with usdf_files.located_problems([file]) as diagnostics:
        resolved = resolve_frames(complete_models(file.state, robots), diagnostics=diagnostics)
    names = arguments.names or [name for name in resolved.names if name != WORLD]
    relative_to = arguments.relative_to or WORLD
    rows = _rows(resolved, names, relative_to, arguments.axes)
    if arguments.json:
        print_result({"relative_to": relative_to, "bodies": rows})
        return
    body_table = empty_table(
        "name", "x y z [m]", "qx qy qz qw", "v w [m/s rad/s]", "f t [N N m]", title=f"seen from {relative_to}"
    )
    for row in rows:
        body_table.add_row(row["name"], *(numbers_text(row[key]) for key in ("xyz", "quat_xyzw", "twist", "wrench")))
    console_for_output().print(body_table)


def _resolve_links(arguments: argparse.Namespace, file: usdf_files.WorldFile, path: str) -> None:
    """Print the poses of all links of one model, and the values that its robot cannot have."""
    # Import here: the poses of bodies need no robot.
    from robot_semantics.cli.usdf.links import links_in_world, print_links

    name = file.state.model(arguments.links).name
    given = usdf_files.given_robots(arguments, [file.state])
    # A single robot without a name is the robot of the model that is asked for.
    only = given.robots[0] if len(given.robots) == 1 and not given.named else None
    robot = only or usdf_files.robots(arguments, file, path, given).get(name)
    if robot is None:
        raise ArrayError("--links", f"the robot of '{name}' is unknown: give --urdf")
    find = None if arguments.no_robots else usdf_files.file_finder(arguments, path)
    print_links(arguments, robot, links_in_world(file.state, name, robot, find))


def _rows(resolved: ResolvedWorld, names: list[str], relative_to: str, axes: str | None) -> list[dict[str, Any]]:
    """Return name, position, rpy, quaternion, twist and wrench (None if not stated) of each name."""
    poses = poses_from_matrices(resolved.poses(names, relative_to))
    twists = resolved.relative_twists(names, relative_to, axes)
    rows = []
    for name, pose, twist in zip(names, poses, twists, strict=True):
        stated = not np.isnan(resolved.wrenches[resolved.at(name)]).any()
        rows.append(
            {
                "name": name,
                "xyz": list(pose.xyz_rpy[:3]),
                "rpy": list(pose.xyz_rpy[3:]),
                "quat_xyzw": list(pose.quat_xyzw or ()),
                "twist": None if np.isnan(twist).any() else twist.tolist(),
                "wrench": list(resolved.wrench(name, axes=axes or relative_to)) if stated else None,
            }
        )
    return rows


SHOW = Command(
    _show_arguments,
    _show,
    examples=("robot_semantics usdf show world.usdf --json",),
)
RESOLVE = Command(
    _resolve_arguments,
    _resolve,
    examples=(
        "robot_semantics usdf resolve world.usdf rover_arm::tool_frame",
        "robot_semantics usdf resolve world.usdf rover_arm::tool_frame --relative-to block_1",
        "robot_semantics usdf resolve world.usdf --links rover_arm",
    ),
)


# `robot_semantics diff` of two world states: print the differences, and their size.


_MOST_NUMBERS = 10
"""Longest row of numbers that is shown in the table."""

_KINDS = {kind.label.replace(" ", "-"): kind for kind in DifferenceKind}


def add_world_diff_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `diff` for two world states."""
    add_repeatable(
        parser,
        "--tolerance",
        "[KIND=]X",
        f"largest accepted difference, of all kinds or one ({DEFAULT_TOLERANCE:g})",
        type=_tolerance,
    )
    add_repeatable(parser, "--ignore", "KIND", "ignore this kind", type=_kind)
    usdf_files.add_robot_options(parser)


def diff_worlds(arguments: argparse.Namespace) -> int:
    """Print the differences; return 1 if there are any."""
    tolerances: dict[DifferenceKind | None, float] = {None: DEFAULT_TOLERANCE, **dict(arguments.tolerance)}
    files = usdf_files.read_world_files([arguments.first, arguments.second])
    given = usdf_files.given_robots(arguments, [file.state for file in files])
    robots = {
        **usdf_files.robots(arguments, files[1], arguments.second, given),
        **usdf_files.robots(arguments, files[0], arguments.first, given),
    }
    first, second = (file.state for file in files)
    second = rebased(second, usdf_files.folder_of(arguments.second), usdf_files.folder_of(arguments.first))
    differences = compare(
        first,
        second,
        robots=robots,
        tolerances={kind: value for kind, value in tolerances.items() if kind is not None},
        tolerance=tolerances[None],
        ignore=arguments.ignore,
    )
    if arguments.json:
        print_result({"equal": not differences, "differences": [difference.as_json() for difference in differences]})
        return int(bool(differences))
    if not differences:
        print_line("no difference")
        return 0
    columns = ("what", "kind", "distance", arguments.first, arguments.second)
    made = empty_table(*columns, title=counted(len(differences), "difference"))
    for difference in differences:
        made.add_row(*_cells(difference))
    console_for_output().print(made)
    return 1


def _cells(difference: StateDifference) -> tuple[str, ...]:
    distance = "-" if math.isinf(difference.distance) else f"{difference.distance:.3g} {difference.kind.unit}".strip()
    values = (_shown(difference.first), _shown(difference.second))
    return (difference.path or "world", difference.kind.label, distance, *values)


def _shown(value: object) -> str:
    if isinstance(value, dict):
        return numbers_text(value["rpy"])
    if isinstance(value, (list, tuple)) and all(isinstance(item, float) for item in value):
        # An engine's array may have thousands of numbers: `--json` shows them all.
        return numbers_text(value) if len(value) <= _MOST_NUMBERS else f"{len(value)} numbers"
    return "-" if value is None else str(value)


def _tolerance(word: str) -> tuple[DifferenceKind | None, float]:
    """Return the kind and the value of a tolerance; the kind is None if the word names no kind."""
    kind, equals, value = word.rpartition("=")
    return (_kind(kind) if equals else None), number_in_range(0.0)(value)


def _kind(word: str) -> DifferenceKind:
    if word not in _KINDS:
        raise argparse.ArgumentTypeError(str(UnknownNameError("kind of difference", word, _KINDS)))
    return _KINDS[word]
