"""A USDF file to a simulated world: its models' descriptions found, loaded, and put where the file says."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from robot_semantics.diagnostics import Diagnostics
from robot_semantics.model.loading import load_robot
from robot_semantics.simulation.world_spec import ModelSpec, WorldSpec, WorldSpecError
from robot_semantics.usdf.world_state import ModelState, WorldState

Finder = Callable[[str, Path | None], Path]
"""Gives the file of a URI or path, relative to a folder; raises an error that says what was tried."""


@dataclass(frozen=True, slots=True)
class ModelFiles:
    """Where one model's URDF and SRDF are."""

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
    folder: Path | None,
    find: Finder,
    *,
    overrides: Mapping[str, ModelFiles] | None = None,
    strict: bool = False,
    diagnostics: Diagnostics | None = None,
    timestep: float = 0.002,
    ground: bool = True,
) -> WorldSpec:
    """Return the world of all models of `state`, described by its ``rs:description`` or by `overrides`.

    Args:
        state: the state; models named only in `overrides` are added to the world.
        folder: what relative paths in the state are relative to.
        find: finds files; see `Finder`.
        overrides: other files, by model; relative to the working directory.
        strict: refuse robots with errors; otherwise what is in error is left out and stated in `diagnostics`.
        diagnostics: collects the problems of the descriptions.
        timestep: [s].
        ground: whether there is a floor.

    Raises:
        WorldSpecError: a model without description.
        DescriptionError: a description that gives no robot, or (with `strict`) has errors.
        RobotSemanticsError: a file that cannot be found; the message says what was tried.
    """
    others = dict(overrides or {})
    specs = []
    for model in state.models:
        chosen = others.pop(model.name, None)
        base = Path.cwd() if chosen is not None else folder
        specs.append(_load(model.name, chosen or _stated(model), base, find, strict, diagnostics))
    specs += [_load(name, files, Path.cwd(), find, strict, diagnostics) for name, files in others.items()]
    return WorldSpec(tuple(specs), timestep=timestep, ground=ground)


def _stated(model: ModelState) -> ModelFiles:
    if model.description is None:
        raise WorldSpecError(f"model '{model.name}' has no rs:description: give its files as {model.name}=URDF[,SRDF]")
    return ModelFiles(model.description, model.semantic)


def _load(
    name: str, files: ModelFiles, folder: Path | None, find: Finder, strict: bool, diagnostics: Diagnostics | None
) -> ModelSpec:
    urdf = find(files.urdf, folder)
    srdf = None if files.srdf is None else find(files.srdf, folder)
    robot = load_robot(urdf, srdf, strict=strict, diagnostics=diagnostics)
    return ModelSpec(
        name,
        robot,
        find_mesh=lambda uri: find(uri, urdf.parent),
        description=files.urdf,
        semantic=files.srdf,
    )
