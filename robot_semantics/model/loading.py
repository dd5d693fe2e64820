"""Text or files to a robot model: the front doors of the library."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from robot_semantics.description.urdf_reader import parse_urdf, urdf_from_file
from robot_semantics.description.urdf_tree import Robot
from robot_semantics.diagnostics import Diagnostics
from robot_semantics.errors import DescriptionError
from robot_semantics.model.resolve import resolve_urdf
from robot_semantics.model.robot_model import RobotModel


def load_robot(
    urdf_path: str | Path,
    srdf_path: str | Path | None = None,
    *,
    strict: bool = True,
    implicit_links: bool = False,
    xacro_arguments: Mapping[str, str] | None = None,
    diagnostics: Diagnostics | None = None,
) -> RobotModel:
    """Load a robot from a URDF (or xacro) file and, if given, an SRDF file.

    Problems are added to `diagnostics`, if given. With `strict` any error raises; without, parts in error are left out.

    Raises:
        DescriptionError: with every problem of both documents: any error with `strict`; without, a text that is no XML
            or a URDF that gives no tree.
    """
    own = Diagnostics() if diagnostics is None else diagnostics
    robot = urdf_from_file(urdf_path, own)
    return _finish(robot, None if srdf_path is None else Path(srdf_path), None, "", strict, implicit_links, own)


def robot_from_text(
    urdf_text: str,
    srdf_text: str | None = None,
    *,
    strict: bool = True,
    implicit_links: bool = False,
    urdf_source: str = "<robot_description>",
    srdf_source: str = "<robot_description_semantic>",
    diagnostics: Diagnostics | None = None,
) -> RobotModel:
    """Make a robot from texts; otherwise as `load_robot`.

    Raises:
        DescriptionError: as `load_robot`.
    """
    own = Diagnostics() if diagnostics is None else diagnostics
    robot = parse_urdf(urdf_text, urdf_source, own)
    return _finish(robot, None, srdf_text, srdf_source, strict, implicit_links, own)


def _finish(
    robot: Robot,
    srdf_path: Path | None,
    srdf_text: str | None,
    srdf_source: str,
    strict: bool,
    implicit_links: bool,
    diagnostics: Diagnostics,
) -> RobotModel:
    model = resolve_urdf(robot, diagnostics, implicit_links=implicit_links)
    if srdf_path is not None or srdf_text is not None:
        from robot_semantics.description.srdf_reader import parse_srdf, srdf_from_file

        semantic = (
            srdf_from_file(srdf_path, diagnostics=diagnostics)
            if srdf_path is not None
            else parse_srdf(srdf_text or "", srdf_source, diagnostics)
        )
        if model is not None:
            from robot_semantics.model.apply_semantics import apply_semantics

            model = apply_semantics(model, semantic, diagnostics)
    if model is None or (strict and diagnostics.failed()):
        raise DescriptionError(diagnostics)
    return model
