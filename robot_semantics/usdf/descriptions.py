# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The robot of each model of a world state: a given one, or the one in the files that the state names."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from robot_semantics.base.diagnostic import SourcePlace
from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.base.errors import DescriptionError, RobotSemanticsError
from robot_semantics.base.files import relative_path, resolved
from robot_semantics.base.pattern import pattern
from robot_semantics.model.loading import NAMED_FILES, RobotOptions
from robot_semantics.model.resources import PackageResolver
from robot_semantics.model.robot_model import RobotModel
from robot_semantics.usdf.identity import is_of
from robot_semantics.usdf.saved_descriptions import DamagedDescriptionError, check_content
from robot_semantics.usdf.validity import SOURCE, element_path
from robot_semantics.usdf.world_state import Frame, JointState, LinkState, ModelState, WorldState
from robot_semantics.xml.source_map import SourceMap

_SCHEME = pattern(r"[A-Za-z][A-Za-z0-9+.-]*:")

_MAX_BYTES = 64_000_000
"""Longest description that is compared with the hash in its name."""

FileFinder = Callable[[str], Path]
"""Returns the file of a description's URI; raises an error of this package with the searched places."""


class RobotSources(NamedTuple):
    """The sources of the robots of a world state's models.

    Attributes:
        robots: given robots, whose models are found by their names.
        find: finds the file of a description; None: descriptions are not read.
        options: how the files of descriptions are read; their expressions never run.
        robots_of_models: robots by the names of their models, for models without another source.
        named: robots by the names of their models, before any other source.
    """

    robots: tuple[RobotModel, ...] = ()
    find: FileFinder | None = None
    options: RobotOptions = NAMED_FILES
    robots_of_models: Mapping[str, RobotModel] = MappingProxyType({})
    named: Mapping[str, RobotModel] = MappingProxyType({})


def robots_for(
    state: WorldState,
    files: RobotSources,
    *,
    diagnostics: Diagnostics | None = None,
    places: SourceMap | None = None,
) -> dict[str, RobotModel]:
    """Return the robot of each model of `state`, by the model's name. Models without a known robot are omitted.

    The first source that has a robot for a model is used:

    1. The named robots, for the models with their names.
       The given robots, each for the models with its name; if there are none, for those with its ``rs:hash``; if there
       are none, and one robot is given, for the only model.
    2. The files of ``rs:description`` and ``rs:semantic``.
    3. The known robots.

    A description that cannot be read is a warning in `diagnostics`. A description with another content than the hash in
    its name is an error there. A given robot without a model is an error there.
    """
    files_of = {model.name: files.named[model.name] for model in state.models if model.name in files.named}
    for given in files.robots:
        files_of |= _given_robot(state, given, diagnostics, places, alone=len(files.robots) == 1)
    loaded: dict[tuple[str, str | None], RobotModel | None] = {}
    for model in state.models:
        if model.name in files_of:
            continue
        described = None
        if model.description is not None and files.find is not None:
            key = (model.description, model.semantic)
            if key not in loaded:
                place = place_of(places, model, element_path(model))
                loaded[key] = _load(model, files.find, diagnostics, place, files.options)
            described = loaded[key]
        robot = described or files.robots_of_models.get(model.name)
        if robot is not None:
            files_of[model.name] = robot
    return files_of


def _given_robot(
    state: WorldState, robot: RobotModel, diagnostics: Diagnostics | None, places: SourceMap | None, *, alone: bool
) -> dict[str, RobotModel]:
    """Return the models that match the given robot."""
    chosen = [model for model in state.models if model.name == robot.name]
    if not chosen:
        chosen = [model for model in state.models if is_of(model.urdf_sha256, robot)]
    if not chosen and alone and len(state.models) == 1:
        chosen = list(state.models)
    if not chosen and state.models and diagnostics is not None:
        valid = tuple(model.name for model in state.models)
        message = f"no model has the name of the robot, '{robot.name}'; the models are: {', '.join(valid)}"
        place = place_of(places, state, "/world_state")
        diagnostics.error("unknown-model", message, place, name=robot.name, valid=valid)
    return {model.name: robot for model in chosen}


def _load(
    model: ModelState, find: FileFinder, diagnostics: Diagnostics | None, place: SourcePlace, options: RobotOptions
) -> RobotModel | None:
    """Return the robot that a model names; problems inside its files are not reported."""
    try:
        urdf = find(model.description or "")
        srdf = None if model.semantic is None else find(model.semantic)
        for path in (urdf, srdf):
            if path is not None:
                check_content(path, _MAX_BYTES)
        return options.of_named_files().load(urdf, srdf)
    except DamagedDescriptionError as error:
        if diagnostics is not None:
            diagnostics.error("damaged-description", str(error), place)
        return None
    except DescriptionError as error:
        reason = f"it has errors, the first: {error.diagnostics[0]}" if error.diagnostics else "it has errors"
    except (RobotSemanticsError, OSError) as error:
        reason = str(error)
    if diagnostics is not None:
        message = f"the description of '{model.name}' cannot be read, so its state is not checked against it: {reason}"
        diagnostics.warning("unread-description", message, place)
    return None


def beside(path: Path) -> FileFinder:
    """Return a finder for paths relative to the file `path`, and for packages of ROS."""
    resolver = PackageResolver()
    return lambda uri: resolver.resolve(uri, path)


def rebased(state: WorldState, old: Path, new: Path) -> WorldState:
    """Return `state` with its relative paths of robot files converted from folder `old` to folder `new`."""
    start, end = resolved(old), resolved(new)
    if start == end:
        return state

    def moved(uri: str | None) -> str | None:
        if uri is None or _SCHEME.match(uri) or Path(uri).is_absolute():
            return uri
        return relative_path(start / uri, end)

    return replace(
        state,
        models=tuple(
            replace(model, description=moved(model.description), semantic=moved(model.semantic))
            for model in state.models
        ),
    )


def place_of(
    places: SourceMap | None, item: WorldState | ModelState | Frame | JointState | LinkState, path: str
) -> SourcePlace:
    """Return the place of a part of a state: in its document, or its path if there is no document."""
    return SourcePlace(SOURCE, path=path) if places is None else places.place(item.ordinal)


def with_relative_paths(state: WorldState, folder: Path) -> WorldState:
    """Return the state with the file paths of its descriptions relative to `folder`, the folder of its file.

    Captured states name files by absolute paths; relative paths stay valid if the folder is moved.
    """
    models = tuple(
        replace(model, description=_relative(model.description, folder), semantic=_relative(model.semantic, folder))
        for model in state.models
    )
    return replace(state, models=models)


def _relative(uri: str | None, folder: Path) -> str | None:
    if uri is None or "://" in uri or not Path(uri).is_absolute():
        return uri
    return relative_path(uri, folder)
