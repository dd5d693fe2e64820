# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""`robot_semantics usdf convert`: between USDF, JSON, SDFormat and MuJoCo keyframes."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.base.endings import UnknownEndingError, format_of
from robot_semantics.base.errors import ArrayError, MissingExtraError
from robot_semantics.base.files import save_bytes
from robot_semantics.cli import inputs, usdf_files
from robot_semantics.cli.argument_values import UsageError
from robot_semantics.cli.command import Command
from robot_semantics.cli.outputs import add_output
from robot_semantics.cli.printing import print_document
from robot_semantics.convert.conversion import Converted
from robot_semantics.convert.json_form import json_text, parse_json
from robot_semantics.convert.mujoco_key_text import Keyframe, parse_keyframe
from robot_semantics.convert.sdformat_input import sdformat_from_file
from robot_semantics.convert.sdformat_state import to_sdformat
from robot_semantics.usdf.descriptions import rebased
from robot_semantics.usdf.reader import read_world
from robot_semantics.usdf.world_state import WorldState
from robot_semantics.usdf.writer import write_world
from robot_semantics.xml.decoding import read_text

_ENDINGS = {**usdf_files.FORMATS, ".sdf": "sdformat", ".world": "sdformat", ".mjcf": "mujoco"}


def _convert_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="what to convert")
    add_output(parser, "-o", "--output", dash=None, metavar="FILE", help="file for the result (default: stdout)")
    endings = ", ".join(f"{ending} {name}" for ending, name in _ENDINGS.items())
    parser.add_argument(
        "--from",
        dest="source",
        choices=sorted(_READERS),
        help=f"its format (default by its ending: {endings})",
    )
    parser.add_argument("--to", dest="target", choices=sorted(_WRITERS), help="the result's format (default: likewise)")
    parser.add_argument("--mujoco-model", metavar="XML", help="the MuJoCo model that a keyframe is of")
    parser.add_argument("--key", metavar="NAME", help="the keyframe to read or write (default: the first; no name)")
    usdf_files.add_robot_options(parser)


def _convert(arguments: argparse.Namespace) -> None:
    """Write the converted state; what the conversion could not carry goes to stderr."""
    source = arguments.source or _format_of(arguments.file, "--from")
    if arguments.target is None and arguments.output is None:
        raise UsageError("--to: say which format the result has, or give an --output")
    target = arguments.target or _format_of(arguments.output, "--to")
    read = _READERS[source](arguments)
    written = _WRITERS[target](read.value, arguments)
    usdf_files.print_lost((*read.lost, *written.lost))
    if arguments.output is None:
        print_document(written.value)
    else:
        save_bytes(written.value.encode(), arguments.output)


def _format_of(path: str, option: str) -> str:
    try:
        return format_of(path, _ENDINGS, "usdf")
    except UnknownEndingError as error:
        raise UsageError(f"{error}: say the format with {option}") from None


def _from_usdf(arguments: argparse.Namespace) -> Converted[WorldState]:
    diagnostics = Diagnostics()
    state = read_world(arguments.file, diagnostics)
    inputs.print_diagnostics(diagnostics)
    return Converted(state)


def _from_mujoco(arguments: argparse.Namespace) -> Converted[WorldState]:
    from robot_semantics.convert.mujoco_keyframe_input import from_keyframe

    key = parse_keyframe(read_text(arguments.file), arguments.key, arguments.file)
    return from_keyframe(key, _mujoco_model(arguments))


def _rebased(state: WorldState, arguments: argparse.Namespace) -> WorldState:
    return rebased(state, usdf_files.folder_of(arguments.file), usdf_files.folder_of(arguments.output))


def _to_mujoco(state: WorldState, arguments: argparse.Namespace) -> Converted[str]:
    key = _keyframe(state, arguments, _mujoco_model(arguments))
    return Converted(key.value.as_mjcf(), key.lost)


def _to_mujoco_key(state: WorldState, arguments: argparse.Namespace) -> Converted[str]:
    model = _mujoco_model(arguments)
    found = _keyframe(state, arguments, model)
    key, lost = found.value, found.lost
    if model.nu and not len(key.ctrl):
        lost = (*lost, f"nothing is stated of the {model.nu} controls: they are 0")
    if model.na and not len(key.act):
        lost = (*lost, f"nothing is stated of the {model.na} activations: they are 0")
    return Converted(key.at_full_size(model.nu, model.na).as_key(), lost)


def _keyframe(state: WorldState, arguments: argparse.Namespace, model: Any) -> Converted[Keyframe]:
    from robot_semantics.convert.mujoco_keyframe import to_keyframe

    robots = usdf_files.robots(arguments, state, arguments.file)
    return to_keyframe(state, model, robots=robots, name=arguments.key or "")


def _mujoco_model(arguments: argparse.Namespace) -> Any:
    if arguments.mujoco_model is None:
        raise UsageError("--mujoco-model: a keyframe means something for one MuJoCo model alone: give it")
    try:
        import mujoco
    except ImportError:
        raise MissingExtraError("mujoco", "mujoco", "a MuJoCo keyframe") from None
    try:
        return mujoco.MjModel.from_xml_path(arguments.mujoco_model)
    except ValueError as error:
        raise ArrayError("--mujoco-model", str(error)) from None


_READERS: dict[str, Callable[[argparse.Namespace], Converted[WorldState]]] = {
    "usdf": _from_usdf,
    "json": lambda arguments: Converted(parse_json(read_text(arguments.file), arguments.file)),
    "sdformat": lambda arguments: sdformat_from_file(arguments.file),
    "mujoco": _from_mujoco,
}
_WRITERS: dict[str, Callable[[WorldState, argparse.Namespace], Converted[str]]] = {
    "usdf": lambda state, arguments: Converted(write_world(_rebased(state, arguments))),
    "json": lambda state, arguments: Converted(json_text(_rebased(state, arguments))),
    "sdformat": lambda state, arguments: to_sdformat(state),
    "mujoco": _to_mujoco,
    "mujoco-key": _to_mujoco_key,
}


CONVERT = Command(
    _convert_arguments,
    _convert,
    "convert from and to JSON, SDFormat and MuJoCo keyframes",
    examples=("robot_semantics usdf convert world.usdf -o world.json",),
)
