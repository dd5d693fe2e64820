# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""`robot_semantics usdf merge`, `usdf split` and `usdf interpolate`."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.base.errors import ArrayError
from robot_semantics.base.files import STANDARD_INPUT, UnknownEndingError, make_folder
from robot_semantics.cli.frame import inputs
from robot_semantics.cli.frame.argument_values import add_repeatable, nanoseconds, number_in_range
from robot_semantics.cli.frame.command import Command, UsageError
from robot_semantics.cli.frame.outputs import add_output, add_result, check_not_there, put_result, write_files
from robot_semantics.cli.frame.printing import add_json_argument, print_note, print_output
from robot_semantics.cli.usdf import files as usdf_files
from robot_semantics.cli.usdf.files import located_problems
from robot_semantics.convert.sdformat_input import POSES_IN
from robot_semantics.convert.state_vectors import npz_bytes, state_vectors
from robot_semantics.convert.world_formats import (
    ENDINGS,
    READERS,
    WRITERS,
    FormatOptions,
    format_by_ending,
    format_of_file,
    has_mujoco_model,
    read_as,
    write_as,
)
from robot_semantics.kinematics.joint_orders import ORDERS
from robot_semantics.model.robot_model import RobotModel
from robot_semantics.usdf.combine import merge_states, prefixed, split_state
from robot_semantics.usdf.descriptions import rebased
from robot_semantics.usdf.interpolate import interpolate_states, share_at
from robot_semantics.usdf.world_state import SEPARATOR
from robot_semantics.usdf.writer import write_world


def _merge_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("files", nargs="+", metavar="FILE", help="USDF or JSON files")
    add_repeatable(
        parser,
        "--prefix",
        "P",
        "prefix for one FILE's names, in their order",
    )
    parser.add_argument("--any-time", action="store_true", help="accept different times; keep the first")
    usdf_files.add_robot_options(parser)
    usdf_files.add_output_option(parser)


def _merge(arguments: argparse.Namespace) -> None:
    """Write the merged state."""
    if arguments.prefix and len(arguments.prefix) != len(arguments.files):
        raise UsageError(f"--prefix: {len(arguments.prefix)} are given for {len(arguments.files)} files")
    origins = usdf_files.read_world_files(arguments.files)
    states = [origin.state for origin in origins]
    first = usdf_files.folder_of(arguments.files[0])
    folders = [usdf_files.folder_of(file) for file in arguments.files]
    states = [rebased(state, folder, first) for state, folder in zip(states, folders, strict=True)]
    if arguments.prefix:
        states = [prefixed(state, prefix) for state, prefix in zip(states, arguments.prefix, strict=True)]
    renamed = [origin._replace(state=state) for origin, state in zip(origins, states, strict=True)]
    robots: dict[str, RobotModel] = {}
    is_carrying = any(SEPARATOR in frame.name for state in states for frame in state.frames)
    if is_carrying or usdf_files.names_robots(arguments):
        given = usdf_files.given_robots(arguments, [origin.state for origin in origins])
        for file, origin, prefix in zip(arguments.files, origins, arguments.prefix or [""] * len(origins), strict=True):
            found = usdf_files.robots(arguments, origin, file, given)
            robots.update((prefix + name, robot) for name, robot in found.items())
    with located_problems(renamed) as diagnostics:
        merged = merge_states(
            states,
            sources=[origin.source for origin in origins],
            any_time=arguments.any_time,
            diagnostics=diagnostics,
            robots=robots,
        )
    merged = rebased(merged, first, usdf_files.folder_of(arguments.output))
    usdf_files.put_state(arguments, merged)


def _split_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="USDF or JSON file")
    add_result(parser, None, metavar="DIR", text="folder for the MODEL.usdf files")
    usdf_files.add_robot_options(parser)
    add_json_argument(parser)


def _split(arguments: argparse.Namespace) -> None:
    """Write one file for each model and print their names."""
    origins = usdf_files.read_world_files([arguments.file])
    state = origins[0].state
    is_needed = any(body.parent_link for body in state.bodies) or usdf_files.names_robots(arguments)
    robots = usdf_files.robots(arguments, origins[0], arguments.file) if is_needed else {}
    with located_problems(origins) as diagnostics:
        parts = split_state(state, diagnostics, robots=robots)
    folder = Path(arguments.output or "")
    paths: dict[Path, str] = {}
    for name in parts:
        path = folder / f"{re.sub(r'[^A-Za-z0-9._-]', '_', name).lstrip('.') or '_'}.usdf"
        if path in paths:
            raise ArrayError(arguments.file, f"models '{paths[path]}' and '{name}' would both be written to {path}")
        paths[path] = name
        if arguments.output is not None:
            check_not_there(path, arguments.force)
    if not arguments.dry_run:
        make_folder(folder)
    own = usdf_files.folder_of(arguments.file)
    texts = {path: write_world(rebased(parts[name], own, folder)).encode() for path, name in paths.items()}
    written = list(paths) if write_files(arguments, texts) else []
    print_output(arguments, {"files": [*map(str, written)]}, written)


def _interpolate_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("first", metavar="FIRST", help="USDF or JSON file")
    parser.add_argument("second", metavar="SECOND", help="USDF or JSON file")
    where = parser.add_mutually_exclusive_group(required=True)
    share = number_in_range(0.0, 1.0)
    where.add_argument("--share", type=share, metavar="S", help="share of the way to SECOND, from 0 to 1")
    where.add_argument("--time", type=nanoseconds, metavar="T", help="time between the two [s]")
    usdf_files.add_robot_options(parser)
    usdf_files.add_output_option(parser)


def _interpolate(arguments: argparse.Namespace) -> None:
    """Write the state between the two."""
    origins = usdf_files.read_world_files([arguments.first, arguments.second])
    first, second = (origin.state for origin in origins)
    share = arguments.share if arguments.time is None else share_at(first, second, arguments.time)
    robots = usdf_files.robots(arguments, origins[0], arguments.first)
    with located_problems(origins) as diagnostics:
        between = interpolate_states(first, second, share, robots=robots, diagnostics=diagnostics)
    if arguments.time is not None:
        between = replace(between, time_ns=arguments.time)
    between = rebased(between, usdf_files.folder_of(arguments.first), usdf_files.folder_of(arguments.output))
    usdf_files.put_state(arguments, between)


MERGE = Command(
    _merge_arguments,
    _merge,
    examples=("robot_semantics usdf merge world.usdf world.usdf --prefix a_ --prefix b_ -o both.usdf",),
)
SPLIT = Command(
    _split_arguments,
    _split,
    examples=("robot_semantics usdf split world.usdf -o models",),
)
INTERPOLATE = Command(
    _interpolate_arguments,
    _interpolate,
    examples=("robot_semantics usdf interpolate world.usdf world.usdf --share 0.5 -o between.usdf",),
)


# `robot_semantics usdf convert`: convert between USDF, JSON, SDFormat and MuJoCo.


def _convert_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="file to convert")
    endings = ", ".join(f"{ending} {name}" for ending, name in ENDINGS.items())
    parser.add_argument(
        "--from",
        dest="source",
        choices=sorted(READERS),
        help=f"kind of FILE (by the ending: {endings})",
    )
    add_output(parser, "-o", "--output", dash=None, metavar="FILE", help="file for the result (stdout)")
    parser.add_argument("--to", choices=sorted(WRITERS), help="its kind (by the ending; stdout: USDF)")
    parser.add_argument("--mujoco-model", metavar="XML", help="MuJoCo model of a keyframe")
    parser.add_argument("--key", metavar="NAME", help="name of the keyframe (default: the first)")
    parser.add_argument(
        "--state-poses",
        choices=POSES_IN,
        help="frame of link poses in an SDFormat state",
    )
    parser.add_argument(
        "--order", choices=ORDERS, metavar="ORDER", help="write state vectors (.npz) of another program"
    )
    usdf_files.add_robot_options(parser)


def _convert(arguments: argparse.Namespace) -> None:
    """Write the converted state; list lost content on stderr."""
    source = arguments.source or _kind_of_input(arguments.file)
    if arguments.order is not None:
        _write_vectors(arguments, source)
        return
    target = arguments.to or _kind_of_result(arguments.output, source)
    model = arguments.mujoco_model
    if model is None and source == "mujoco" and has_mujoco_model(arguments.file):
        model = arguments.file
    if model is None and "mujoco" in (source, target.removesuffix("-key")):
        raise UsageError("--mujoco-model: a keyframe belongs to one MuJoCo model: give its file")
    options = FormatOptions(model, arguments.key or "", state_poses=arguments.state_poses)
    diagnostics = Diagnostics()
    read = read_as(arguments.file, source, options, diagnostics)
    inputs.print_diagnostics(diagnostics)
    state = read.value
    # Robots place the links that carry something; an SDF has names that no other part of its robots has.
    if target.startswith("mujoco") or target == "sdformat" or usdf_files.names_robots(arguments):
        options = replace(
            options,
            robots=usdf_files.robots(arguments, usdf_files.WorldFile(state, arguments.file, None), arguments.file),
        )
    if not target.startswith("mujoco"):
        state = rebased(state, usdf_files.folder_of(arguments.file), usdf_files.folder_of(arguments.output))
    written = write_as(state, target, options)
    for note in read.notes:
        print_note(f"note: {note}; --state-poses chooses another frame")
    usdf_files.print_lost((*read.lost, *written.lost))
    put_result(arguments, written.value)


def _kind_of_input(path: str) -> str:
    if path == STANDARD_INPUT:
        return "json" if usdf_files.is_json(path) else "usdf"
    return _format_of(path, "--from", format_of_file)


def _kind_of_result(output: str | None, source: str) -> str:
    """Return the kind of the result without ``--to``: by the ending of its file; on standard output USDF.

    Raises:
        UsageError: the source is USDF already, which several kinds can follow; or the ending is unknown.
    """
    if output is None and source == "usdf":
        raise UsageError("--to: give the kind of the result, or a file with -o")
    if output is None:
        return "usdf"
    return _format_of(output, "--to", format_by_ending)


def _write_vectors(arguments: argparse.Namespace, source: str) -> None:
    """Write the state vector of each model; list missing values on stderr."""
    if arguments.output is None or not arguments.output.endswith(".npz"):
        raise UsageError("--order: state vectors go into an .npz file: name it with -o")
    diagnostics = Diagnostics()
    options = FormatOptions(arguments.mujoco_model, arguments.key or "", state_poses=arguments.state_poses)
    read = read_as(arguments.file, source, options, diagnostics)
    inputs.print_diagnostics(diagnostics)
    robots = usdf_files.robots(arguments, usdf_files.WorldFile(read.value, arguments.file, None), arguments.file)
    vectors = state_vectors(read.value, robots, arguments.order)
    usdf_files.print_lost((*read.lost, *vectors.lost))
    put_result(arguments, npz_bytes(vectors.value, arguments.order, read.value.time_ns))


def _format_of(path: str, option: str, format_by: Callable[[str], str]) -> str:
    try:
        return format_by(path)
    except UnknownEndingError as error:
        raise UsageError(f"{error}: give the format with {option}") from None


CONVERT = Command(
    _convert_arguments,
    _convert,
    examples=("robot_semantics usdf convert world.usdf -o world.json",),
)
