# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Which robot each model of a world state is: the one at hand, or the one whose files the state names."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from robot_semantics.base.diagnostics import Diagnostics, SourcePlace
from robot_semantics.base.errors import DescriptionError, RobotSemanticsError
from robot_semantics.base.files import resolved
from robot_semantics.model.loading import load_robot
from robot_semantics.model.resources import PackageResolver
from robot_semantics.model.robot_model import RobotModel
from robot_semantics.usdf.identity import is_of
from robot_semantics.usdf.saved_descriptions import DamagedDescriptionError, check_content
from robot_semantics.usdf.validity import SOURCE, path_of
from robot_semantics.usdf.world_state import Frame, JointState, LinkState, ModelState, WorldState
from robot_semantics.xml.reader import SourceMap
from robot_semantics.xml.xacro_options import NO_XACRO

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")

_MAX_BYTES = 64_000_000
"""Longest description that is compared with the hash in its name."""

FileFinder = Callable[[str], Path]
"""Gives the file that a description's URI names; raises an error of this package that says what was tried."""


def robots_of(
    state: WorldState,
    *,
    robot: RobotModel | None = None,
    find: FileFinder | None = None,
    diagnostics: Diagnostics | None = None,
    places: SourceMap | None = None,
    implicit_links: bool = False,
) -> dict[str, RobotModel]:
    """Return the robot of each model of `state`, by the model's name, as far as they are known.

    That is `robot` for the model of its name or of its ``rs:hash``, or for the only model; for the others what their
    ``rs:description`` names, where joints may name links that are not declared if
    `implicit_links`. A description that cannot be read is a warning in `diagnostics`; one whose content is not what the
    hash in its name states is an error there.
    """
    found: dict[str, RobotModel] = {}
    if robot is not None:
        chosen = _models_of(state, robot)
        found.update((model.name, robot) for model in chosen)
        if not chosen and state.models and diagnostics is not None:
            names = ", ".join(model.name for model in state.models)
            message = f"no model has the name of the robot, '{robot.name}'; the models are: {names}"
            valid = tuple(model.name for model in state.models)
            diagnostics.error(
                "unknown-model", message, place_of(places, state, "/world_state"), name=robot.name, valid=valid
            )
    loaded: dict[tuple[str, str | None], RobotModel | None] = {}
    for model in state.models:
        if model.name in found or model.description is None or find is None:
            continue
        key = (model.description, model.semantic)
        if key not in loaded:
            loaded[key] = _load(model, find, diagnostics, place_of(places, model, path_of(model)), implicit_links)
        described = loaded[key]
        if described is not None:
            found[model.name] = described
    return found


def _models_of(state: WorldState, robot: RobotModel) -> Sequence[ModelState]:
    """Return the models that are a robot: by its name, else by its hash, else the only model."""
    by_name = [model for model in state.models if model.name == robot.name]
    by_hash = by_name or [model for model in state.models if is_of(model.urdf_sha256, robot)]
    return by_hash or (state.models if len(state.models) == 1 else ())


def _load(
    model: ModelState, find: FileFinder, diagnostics: Diagnostics | None, place: SourcePlace, implicit_links: bool
) -> RobotModel | None:
    """Return the robot that a model names; problems inside its files are its own business."""
    try:
        urdf = find(model.description or "")
        srdf = None if model.semantic is None else find(model.semantic)
        for path in (urdf, srdf):
            if path is not None:
                check_content(path, _MAX_BYTES)
        return load_robot(urdf, srdf, strict=False, implicit_links=implicit_links, xacro=NO_XACRO)
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
    """Return a finder that takes paths relative to the file `path`, and packages from where ROS finds them."""
    resolver = PackageResolver()
    return lambda uri: resolver.resolve(uri, path)


def rebased(state: WorldState, old: Path, new: Path) -> WorldState:
    """Return `state` with its relative paths of robot files, relative to folder `old` so far, relative to `new`."""
    start, end = resolved(old), resolved(new)
    if start == end:
        return state

    def moved(uri: str | None) -> str | None:
        if uri is None or _SCHEME.match(uri) or Path(uri).is_absolute():
            return uri
        return Path(os.path.relpath(start / uri, end)).as_posix()

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
    """Return the place of a part of a state: in its document, or by its path where it comes from none."""
    return SourcePlace(SOURCE, path=path) if places is None else places.place(item.at)


def with_relative_paths(state: WorldState, folder: Path) -> WorldState:
    """Return the state with its descriptions' file paths relative to `folder`, in which it is to be saved.

    Captured states name files by absolute paths; relative to the state's own file they stay true when both are moved.
    """
    models = tuple(
        replace(model, description=_relative(model.description, folder), semantic=_relative(model.semantic, folder))
        for model in state.models
    )
    return replace(state, models=models)


def _relative(uri: str | None, folder: Path) -> str | None:
    if uri is None or "://" in uri or not Path(uri).is_absolute():
        return uri
    return Path(os.path.relpath(uri, resolved(folder))).as_posix()
