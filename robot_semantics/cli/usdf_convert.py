# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""`robot_semantics usdf convert`: convert between USDF, JSON, SDFormat and MuJoCo."""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace

from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.base.endings import UnknownEndingError, format_of
from robot_semantics.base.files import save_bytes
from robot_semantics.cli import inputs, usdf_files
from robot_semantics.cli.command import Command
from robot_semantics.cli.outputs import add_output
from robot_semantics.cli.printing import print_document, print_line
from robot_semantics.cli.usage import UsageError
from robot_semantics.convert.sdformat_input import POSES_IN
from robot_semantics.convert.state_vectors import npz_bytes, state_vectors
from robot_semantics.convert.world_formats import ENDINGS, READERS, WRITERS, FormatOptions, read_as, write_as
from robot_semantics.kinematics.joint_orders import ORDERS
from robot_semantics.usdf.descriptions import rebased


def _convert_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="file to convert")
    add_output(parser, "-o", "--output", dash=None, metavar="FILE", help="file for the result (default: stdout)")
    endings = ", ".join(f"{ending} {name}" for ending, name in ENDINGS.items())
    parser.add_argument(
        "--from",
        dest="source",
        choices=sorted(READERS),
        help=f"its format (default by its ending: {endings})",
    )
    parser.add_argument(
        "--to", dest="target", choices=sorted(WRITERS), help="format of the result (default: by the ending)"
    )
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
    source = arguments.source or _format_of(arguments.file, "--from")
    if arguments.order is not None:
        _write_vectors(arguments, source)
        return
    if arguments.target is None and arguments.output is None:
        raise UsageError("--to: give the format of the result, or a file with --output")
    target = arguments.target or _format_of(arguments.output, "--to")
    options = FormatOptions(arguments.mujoco_model, arguments.key or "", state_poses=arguments.state_poses)
    if arguments.mujoco_model is None and "mujoco" in (source, target.removesuffix("-key")):
        raise UsageError("--mujoco-model: a keyframe belongs to one MuJoCo model: give its file")
    diagnostics = Diagnostics()
    read = read_as(arguments.file, source, options, diagnostics)
    inputs.print_diagnostics(diagnostics)
    state = read.value
    carrying = any(body.parent_link for body in state.bodies)
    if target.startswith("mujoco") or (target == "sdformat" and carrying):
        options = replace(
            options,
            robots=usdf_files.robots(arguments, usdf_files.WorldFile(state, arguments.file, None), arguments.file),
        )
    if not target.startswith("mujoco"):
        state = rebased(state, usdf_files.folder_of(arguments.file), usdf_files.folder_of(arguments.output))
    written = write_as(state, target, options)
    for note in read.notes:
        print_line(f"note: {note}; --state-poses chooses another frame", file=sys.stderr)
    usdf_files.print_lost((*read.lost, *written.lost))
    if arguments.output is None:
        print_document(written.value)
    else:
        save_bytes(written.value.encode(), arguments.output)


def _write_vectors(arguments: argparse.Namespace, source: str) -> None:
    """Write the state vector of each model; list missing values on stderr."""
    if arguments.output is None or not arguments.output.endswith(".npz"):
        raise UsageError("--order: state vectors go into an .npz file: name it with --output")
    diagnostics = Diagnostics()
    options = FormatOptions(arguments.mujoco_model, arguments.key or "", state_poses=arguments.state_poses)
    read = read_as(arguments.file, source, options, diagnostics)
    inputs.print_diagnostics(diagnostics)
    robots = usdf_files.robots(arguments, usdf_files.WorldFile(read.value, arguments.file, None), arguments.file)
    vectors = state_vectors(read.value, robots, arguments.order)
    usdf_files.print_lost((*read.lost, *vectors.lost))
    save_bytes(npz_bytes(vectors.value, arguments.order, read.value.time_ns), arguments.output)


def _format_of(path: str, option: str) -> str:
    try:
        return format_of(path, ENDINGS, "usdf")
    except UnknownEndingError as error:
        raise UsageError(f"{error}: give the format with {option}") from None


CONVERT = Command(
    _convert_arguments,
    _convert,
    "convert from and to JSON, SDFormat and MuJoCo options",
    examples=("robot_semantics usdf convert world.usdf -o world.json",),
)
