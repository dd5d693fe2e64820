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
from dataclasses import replace
from pathlib import Path

from robot_semantics.base.errors import ArrayError
from robot_semantics.cli import usdf_files
from robot_semantics.cli.argument_values import add_repeatable, nanoseconds, number_in_range, on_disk
from robot_semantics.cli.command import Command
from robot_semantics.cli.outputs import check_not_there
from robot_semantics.cli.printing import print_line
from robot_semantics.cli.usage import UsageError
from robot_semantics.cli.usdf_files import located_problems
from robot_semantics.model.robot_model import RobotModel
from robot_semantics.usdf.combine import merge, prefixed, split
from robot_semantics.usdf.descriptions import rebased
from robot_semantics.usdf.interpolate import interpolate, share_at
from robot_semantics.usdf.world_state import SEPARATOR


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
    origins = usdf_files.read_world_files(arguments.files)
    states = [origin.state for origin in origins]
    first = usdf_files.folder_of(arguments.files[0])
    folders = [usdf_files.folder_of(file) for file in arguments.files]
    states = [rebased(state, folder, first) for state, folder in zip(states, folders, strict=True)]
    if arguments.prefix:
        if len(arguments.prefix) != len(states):
            raise UsageError(f"--prefix: {len(arguments.prefix)} are given for {len(states)} files")
        states = [prefixed(state, prefix) for state, prefix in zip(states, arguments.prefix, strict=True)]
    renamed = [origin._replace(state=state) for origin, state in zip(origins, states, strict=True)]
    robots: dict[str, RobotModel] = {}
    if any(SEPARATOR in frame.name for state in states for frame in state.frames):
        for file, origin, prefix in zip(arguments.files, origins, arguments.prefix or [""] * len(origins), strict=True):
            found = usdf_files.robots(arguments, origin, file)
            robots.update((prefix + name, robot) for name, robot in found.items())
    with located_problems(renamed) as diagnostics:
        merged = merge(
            states,
            sources=[origin.source for origin in origins],
            any_time=arguments.any_time,
            diagnostics=diagnostics,
            robots=robots,
        )
    usdf_files.write_state(merged, arguments.output, arguments.files[0])


def _split_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="USDF or JSON file")
    parser.add_argument(
        "-o", "--output-folder", type=on_disk, metavar="DIR", default=".", help="folder for the MODEL.usdf files"
    )
    parser.add_argument("--force", action="store_true", help="overwrite files")
    usdf_files.add_robot_options(parser)


def _split(arguments: argparse.Namespace) -> None:
    """Write one file for each model and print their names."""
    origins = usdf_files.read_world_files([arguments.file])
    state = origins[0].state
    carrying = any(body.parent_link for body in state.bodies)
    robots = usdf_files.robots(arguments, origins[0], arguments.file) if carrying else {}
    with located_problems(origins) as diagnostics:
        parts = split(state, diagnostics, robots=robots)
    folder = Path(arguments.output_folder)
    paths: dict[Path, str] = {}
    for name in parts:
        path = folder / f"{re.sub(r'[^A-Za-z0-9._-]', '_', name).lstrip('.') or '_'}.usdf"
        if path in paths:
            raise ArrayError(arguments.file, f"models '{paths[path]}' and '{name}' would both be written to {path}")
        paths[path] = name
        check_not_there(path, arguments.force)
    folder.mkdir(parents=True, exist_ok=True)
    for path, name in paths.items():
        usdf_files.write_state(parts[name], str(path), arguments.file)
        print_line(path)


def _interpolate_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("first", metavar="FIRST", help="USDF or JSON file")
    parser.add_argument("second", metavar="SECOND", help="USDF or JSON file")
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument("--share", type=number_in_range(), metavar="S", help="share of the way to SECOND, from 0 to 1")
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
        between = interpolate(first, second, share, robots=robots, diagnostics=diagnostics)
    if arguments.time is not None:
        between = replace(between, time_ns=arguments.time)
    usdf_files.write_state(between, arguments.output, arguments.first)


MERGE = Command(
    _merge_arguments,
    _merge,
    "put several world states into one",
    examples=("robot_semantics usdf merge world.usdf world.usdf --prefix a_ --prefix b_ -o both.usdf",),
)
SPLIT = Command(
    _split_arguments,
    _split,
    "write one world state for each model",
    examples=("robot_semantics usdf split world.usdf -o models",),
)
INTERPOLATE = Command(
    _interpolate_arguments,
    _interpolate,
    "make the world state between two others",
    examples=("robot_semantics usdf interpolate world.usdf world.usdf --share 0.5 -o between.usdf",),
)
