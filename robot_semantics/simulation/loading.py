# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Load the simulated world of a USDF state: find and read the descriptions of its models."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

from robot_semantics.base.diagnostic import SourcePlace
from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.base.errors import UnknownNameError
from robot_semantics.base.files import resolved
from robot_semantics.base.names import suggestion
from robot_semantics.base.record import record
from robot_semantics.model.loading import RobotOptions
from robot_semantics.model.resources import PackageResolver
from robot_semantics.simulation.simulator import Simulator
from robot_semantics.simulation.world_spec import ModelSpec, WorldSpec, WorldSpecError
from robot_semantics.usdf.world_state import ModelState, WorldState
from robot_semantics.xml.xacro import NO_XACRO


@record(frozen=True, slots=True)
class ModelFiles:
    """Paths or package:// URIs of one model's URDF and SRDF."""

    urdf: str
    srdf: str | None = None

    @classmethod
    def parse(cls, text: str) -> tuple[str, ModelFiles]:
        """Read ``NAME=URDF[,SRDF]``.

        Raises:
            WorldSpecError: the text has another form.

        """
        name, equals, files = text.partition("=")
        urdf, _, srdf = files.partition(",")
        if not name or not equals or not urdf:
            raise WorldSpecError(f"'{text}' is not of the form NAME=URDF[,SRDF]")
        return name, cls(urdf, srdf or None)


def world_from_state(
    state: WorldState,
    source: Path | None = None,
    resolver: PackageResolver | None = None,
    *,
    overrides: Mapping[str, ModelFiles] | None = None,
    options: RobotOptions | None = None,
    options_of: Mapping[str, RobotOptions] = MappingProxyType({}),
    more_models: bool = False,
    strict: bool = False,
    diagnostics: Diagnostics | None = None,
    timestep: float = 0.002,
    ground: bool = True,
) -> WorldSpec:
    """Return the world of all models of `state`, described by its ``rs:description`` or by `overrides`.

    Args:
        state: the state.
        source: the state's file; relative paths in the state start from its folder.
        resolver: finds files; by default in the usual places.
        overrides: other files, by model; relative to the working directory.
        options: how the files are read.
        options_of: other options, by model. Files that the state names are never expanded as xacro.
        more_models: `overrides` may name models that the state does not have; they are added to the world.
        strict: refuse robots with errors. Otherwise parts in error are left out, and `diagnostics` has the errors.
        diagnostics: collects the problems of the descriptions.
        timestep: [s].
        ground: whether there is a floor.

    Raises:
        WorldSpecError: a model without description; files for a model that the state does not have.
        DescriptionError: a description that gives no robot, or (with `strict`) has errors.
        ResourceNotFoundError: a file that does not exist; the message lists the tried places.

    """
    usual = options or RobotOptions()
    package_resolver = resolver or usual.resolver()

    def load(name: str, files: ModelFiles, relative_to: Path | None, *, is_named: bool = False) -> ModelSpec:
        how = options_of.get(name, usual)
        how = replace(how, xacro=NO_XACRO) if is_named else how
        urdf = package_resolver.resolve(files.urdf, relative_to)
        srdf = None if files.srdf is None else package_resolver.resolve(files.srdf, relative_to)
        robot = how.load(urdf, srdf, strict=strict, resolver=package_resolver, diagnostics=diagnostics)
        return ModelSpec(
            name,
            robot,
            find_mesh=lambda uri: package_resolver.resolve(uri, urdf),
            description=_captured_name(files.urdf, urdf),
            semantic=None if files.srdf is None or srdf is None else _captured_name(files.srdf, srdf),
        )

    parameters = dict(overrides or {})
    stated = [model.name for model in state.models]
    for name in parameters:
        if name in stated:
            continue
        message = f"files are given for '{name}', but the world has no such model"
        near = suggestion(name, stated)
        if not more_models:
            raise WorldSpecError(f"{message}{near}")
        if near and diagnostics is not None:
            diagnostics.warning("unknown-model", message, SourcePlace(str(source)), name=name, valid=stated)
    specs = []
    for model in state.models:
        chosen = parameters.pop(model.name, None)
        if chosen is None:
            specs.append(load(model.name, _files_of_state(model), source, is_named=True))
        else:
            specs.append(load(model.name, chosen, None))
    specs += [load(name, files, None) for name, files in parameters.items()]
    return WorldSpec(tuple(specs), timestep=timestep, ground=ground)


def _files_of_state(model: ModelState) -> ModelFiles:
    if model.description is None:
        raise WorldSpecError(f"model '{model.name}' has no rs:description: give its files as {model.name}=URDF[,SRDF]")
    return ModelFiles(model.description, model.semantic)


def _captured_name(uri: str, path: Path) -> str:
    """Return the name of a file in captured states: its package URI if it was named so, else its absolute path."""
    return uri if uri.startswith(("package://", "model://")) else str(resolved(path))


# Table of the simulators: one line for each. Its module has ``start``.


ENGINES = {
    "mujoco": "robot_semantics.simulation.mujoco",
    "drake": "robot_semantics.simulation.drake",
}
"""Module of each engine. Its ``start(spec, warn)`` returns a `Simulator`, which passes its warnings to ``warn``."""


def start_simulator(engine: str, spec: WorldSpec, warn: Callable[[str], None]) -> Simulator:
    """Return a world in an engine, at time 0.

    Raises:
        UnknownNameError: the engine is unknown.
        MissingExtraError: the engine is not installed.
        WorldSpecError: the engine cannot build the world.
    """
    if engine not in ENGINES:
        raise UnknownNameError("engine", engine, ENGINES)
    simulator: Simulator = importlib.import_module(ENGINES[engine]).start(spec, warn)
    return simulator
