# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The formats that a world state is read from and written to: one table for the command line and the library."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.base.errors import ArrayError, MissingExtraError, UnknownNameError
from robot_semantics.base.files import format_of
from robot_semantics.base.record import record
from robot_semantics.convert.conversion import Converted
from robot_semantics.convert.json_form import json_text, parse_json
from robot_semantics.convert.mujoco_key_text import Keyframe, parse_keyframe
from robot_semantics.convert.sdformat_input import sdformat_from_file
from robot_semantics.convert.sdformat_state import to_sdformat
from robot_semantics.model.robot_model import RobotModel
from robot_semantics.usdf.reader import read_world
from robot_semantics.usdf.world_state import WorldState
from robot_semantics.usdf.writer import write_world
from robot_semantics.xml.document import name_of_root
from robot_semantics.xml.reader import parse_xml, read_text, utf8_of

if TYPE_CHECKING:
    import mujoco

ENDINGS: Mapping[str, str] = {
    ".usdf": "usdf",
    ".xml": "usdf",
    ".json": "json",
    ".sdf": "sdformat",
    ".world": "sdformat",
    ".mjcf": "mujoco",
}
"""Format by the ending of a file."""

_ROOTS: Mapping[str, str] = {"mujoco": "mujoco", "key": "mujoco", "sdf": "sdformat"}
"""Format of an `.xml` file by its root element; others are USDF."""


@record(frozen=True)
class FormatOptions:
    """Additional inputs of some formats.

    Attributes:
        mujoco_model: file of the MuJoCo model that a keyframe belongs to; by default the file that is read, if it has
            a model.
        key: name of a MuJoCo keyframe; empty: the first one is read, and one without a name is written.
        robots: the robots of the models by name, as far as known; for a keyframe.
        state_poses: frame of link poses in an SDFormat ``<state>``: ``model`` or ``world``; None: world if it has a
            ``<wall_time>``.
    """

    mujoco_model: str | Path | None = None
    key: str = ""
    robots: Mapping[str, RobotModel] = field(default_factory=dict)
    state_poses: str | None = None


def format_by_ending(path: str | Path) -> str:
    """Return the format that the ending of a file's name states; USDF without an ending.

    Raises:
        UnknownEndingError: the ending belongs to no format.
    """
    return format_of(path, ENDINGS, "usdf")


def format_of_file(path: str | Path) -> str:
    """Return the format of a file by its ending; `.xml` files of MuJoCo and SDFormat are known by their root element.

    Raises:
        UnknownEndingError: the ending belongs to no format.
        DescriptionError: an `.xml` file cannot be read.
    """
    found = format_by_ending(path)
    if Path(path).suffix.lower() != ".xml":
        return found
    return _ROOTS.get(name_of_root(utf8_of(read_text(path), str(path))), found)


def has_mujoco_model(path: str | Path) -> bool:
    """Return whether an MJCF file has a model, and not only the keyframes of another file's model.

    Raises:
        DescriptionError: the file cannot be read.
    """
    root = parse_xml(read_text(path), str(path)).root
    return root.tag == "mujoco" and any(child.tag != "keyframe" for child in root.iterchildren("*"))


def read_as(
    path: str | Path, source: str, options: FormatOptions = FormatOptions(), diagnostics: Diagnostics | None = None
) -> Converted[WorldState]:
    """Return the world state in a file, and the data of the file that a world state cannot hold.

    Args:
        path: the file.
        source: its format, one of `READERS`.
        options: additional inputs of the format.
        diagnostics: takes warnings.

    Raises:
        UnknownNameError: the format does not exist.
        DescriptionError: the file has errors.
        ArrayError: a MuJoCo model is not given or cannot be loaded.
        OSError: the file cannot be read.
    """
    if source not in READERS:
        raise UnknownNameError("format", source, READERS)
    return READERS[source](str(path), options, diagnostics)


def write_as(state: WorldState, target: str, options: FormatOptions = FormatOptions()) -> Converted[str]:
    """Return a world state as a text of a format, one of `WRITERS`, and the data that this format cannot hold.

    Raises:
        UnknownNameError: the format does not exist.
        ArrayError: a MuJoCo model is not given or cannot be loaded.
        RobotSemanticsError: the state cannot be written in this format.
    """
    if target not in WRITERS:
        raise UnknownNameError("format", target, WRITERS)
    return WRITERS[target](state, options)


def _from_keyframe(path: str, options: FormatOptions, diagnostics: Diagnostics | None) -> Converted[WorldState]:
    from robot_semantics.convert.mujoco_keyframe import from_keyframe

    key = parse_keyframe(read_text(path), options.key or None, path)
    if options.mujoco_model is None and has_mujoco_model(path):
        options = replace(options, mujoco_model=path)
    return from_keyframe(key, _mujoco_model(options))


def _to_model(state: WorldState, options: FormatOptions) -> Converted[str]:
    key = _keyframe(state, options, _mujoco_model(options))
    return Converted(key.value.as_mjcf(), key.lost)


def _to_key(state: WorldState, options: FormatOptions) -> Converted[str]:
    model = _mujoco_model(options)
    found = _keyframe(state, options, model)
    key, lost = found.value, found.lost
    if model.nu and not len(key.ctrl):
        lost = (*lost, f"nothing is stated of the {model.nu} controls: they are 0")
    if model.na and not len(key.act):
        lost = (*lost, f"nothing is stated of the {model.na} activations: they are 0")
    return Converted(key.at_full_size(model.nu, model.na).as_key(), lost)


def _keyframe(state: WorldState, options: FormatOptions, model: mujoco.MjModel) -> Converted[Keyframe]:
    from robot_semantics.convert.mujoco_keyframe import to_keyframe

    return to_keyframe(state, model, robots=options.robots, name=options.key)


def _mujoco_model(options: FormatOptions) -> mujoco.MjModel:
    if options.mujoco_model is None:
        raise ArrayError("mujoco model", "a keyframe belongs to one MuJoCo model: give its file")
    try:
        import mujoco
    except ImportError:
        raise MissingExtraError("mujoco", "mujoco", "a MuJoCo keyframe") from None
    try:
        return mujoco.MjModel.from_xml_path(str(options.mujoco_model))
    except ValueError as error:
        raise ArrayError("mujoco model", str(error)) from None


Reader = Callable[[str, FormatOptions, Diagnostics | None], Converted[WorldState]]

READERS: Mapping[str, Reader] = {
    "usdf": lambda path, options, diagnostics: Converted(read_world(path, diagnostics)),
    "json": lambda path, options, diagnostics: Converted(parse_json(read_text(path), path, diagnostics)),
    "sdformat": lambda path, options, diagnostics: sdformat_from_file(path, options.state_poses),
    "mujoco": _from_keyframe,
}

WRITERS: Mapping[str, Callable[[WorldState, FormatOptions], Converted[str]]] = {
    "usdf": lambda state, options: Converted(write_world(state)),
    "json": lambda state, options: Converted(json_text(state)),
    "sdformat": lambda state, options: to_sdformat(state, options.robots),
    "mujoco": _to_model,
    "mujoco-key": _to_key,
}
