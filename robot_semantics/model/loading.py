# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Loading of robot models from texts or files: the main entry points of the library."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.base.errors import DescriptionError
from robot_semantics.model.omissions import omitted_parts
from robot_semantics.model.resolve import resolve_urdf
from robot_semantics.model.resources import PackageResolver
from robot_semantics.model.robot_model import RobotModel
from robot_semantics.srdf.tree import SrdfDocument
from robot_semantics.urdf.reader import parse_urdf, read_robot
from robot_semantics.urdf.tree import UrdfRobot
from robot_semantics.xml.xacro import FindPackage, XacroOptions, read_document


def load_robot(
    urdf_path: str | Path,
    srdf_path: str | Path | None = None,
    *,
    strict: bool = True,
    implicit_links: bool = False,
    xacro: XacroOptions | bool | None = None,
    xacro_arguments: Mapping[str, str] | None = None,
    resolver: PackageResolver | None = None,
    loops: str | Path | None = None,
    diagnostics: Diagnostics | None = None,
) -> RobotModel:
    """Load a robot from a URDF file and, if given, an SRDF file; each may be a xacro.

    Expansion runs the code in a xacro: never expand a file that another party names. By default, only a file with the
    ending ``.xacro`` is expanded; ``xacro=True`` expands any file, ``xacro=False`` none.

    Args:
        urdf_path: the URDF file.
        srdf_path: the SRDF file.
        strict: raise on any error. Otherwise leave out the invalid parts.
        implicit_links: allow joints to name links that have no ``<link>``.
        xacro: whether to expand; or a `XacroOptions` with arguments and limits.
        xacro_arguments: arguments of the xacro by name.
        resolver: finds the packages that a xacro names; by default in the usual places.
        loops: ``robot.yaml`` of Extended URDF with closed loops.
        diagnostics: receives all problems with their places.

    Raises:
        DescriptionError: it has every problem of the files. With `strict`: for any error; otherwise: if a file is not
            XML, a URDF has no valid tree, or the file of loops has an error.
        OSError: the file of loops cannot be read.
    """
    own_diagnostics, packages = Diagnostics(), resolver or PackageResolver()
    how = XacroOptions.of(xacro, xacro_arguments)

    def read() -> RobotModel:
        model = resolve_urdf(
            load_urdf(urdf_path, how, packages, own_diagnostics), own_diagnostics, implicit_links=implicit_links
        )
        semantic = None
        if srdf_path is not None:
            from robot_semantics.srdf.table import read_semantic

            semantic = read_semantic(read_document(srdf_path, how, _finder(packages, srdf_path)), own_diagnostics)
        complete = _with_semantics(model, semantic, strict, own_diagnostics)
        if loops is None:
            return complete
        from robot_semantics.base.yaml_reader import read_yaml
        from robot_semantics.model.extended_urdf import with_loops

        return with_loops(complete, read_yaml(loops), own_diagnostics)

    return _with_omissions(read, own_diagnostics, diagnostics)


def load_urdf(path: str | Path, xacro: XacroOptions, resolver: PackageResolver, diagnostics: Diagnostics) -> UrdfRobot:
    """Load the content of a URDF file, which may be a xacro; names are not resolved.

    Raises:
        DescriptionError: the file is not a URDF.
    """
    # Keep no reference to the document: the tree of an expanded one needs as much memory as the robot.
    return read_robot(read_document(path, xacro, _finder(resolver, path), streamed=True), diagnostics)


def _finder(resolver: PackageResolver, asked_by: str | Path) -> FindPackage:
    return lambda name: str(resolver.package(name, asked_by))


def robot_from_text(
    urdf_text: str,
    srdf_text: str | None = None,
    loops_text: str | None = None,
    *,
    strict: bool = True,
    implicit_links: bool = False,
    urdf_source: str = "<robot_description>",
    srdf_source: str = "<robot_description_semantic>",
    loops_source: str = "<robot_description_loops>",
    diagnostics: Diagnostics | None = None,
) -> RobotModel:
    """Make a robot from the texts of a URDF, an SRDF and a ``robot.yaml`` of Extended URDF, as `load_robot` does.

    Raises:
        DescriptionError: as `load_robot`.
    """
    own_diagnostics = Diagnostics()

    def read() -> RobotModel:
        model = resolve_urdf(
            parse_urdf(urdf_text, urdf_source, own_diagnostics), own_diagnostics, implicit_links=implicit_links
        )
        semantic = None
        if srdf_text is not None:
            from robot_semantics.srdf.table import parse_srdf

            semantic = parse_srdf(srdf_text, srdf_source, own_diagnostics)
        complete = _with_semantics(model, semantic, strict, own_diagnostics)
        if loops_text is None:
            return complete
        from robot_semantics.base.yaml_reader import parse_yaml
        from robot_semantics.model.extended_urdf import with_loops

        return with_loops(complete, parse_yaml(loops_text, loops_source), own_diagnostics)

    return _with_omissions(read, own_diagnostics, diagnostics)


def _with_omissions(
    read: Callable[[], RobotModel], own_diagnostics: Diagnostics, diagnostics: Diagnostics | None
) -> RobotModel:
    """Return the robot of `read` with the errors by which parts of it were left out; all problems go to
    `diagnostics`.
    """
    try:
        model = read()
        if own_diagnostics.failed():
            model = replace(model, omissions=omitted_parts(own_diagnostics))
    finally:
        if diagnostics is not None:
            diagnostics.extend(own_diagnostics)
    return model


def _with_semantics(
    model: RobotModel | None, semantic: SrdfDocument | None, strict: bool, diagnostics: Diagnostics
) -> RobotModel:
    if semantic is not None:
        from robot_semantics.model.apply_semantics import apply_semantics, check_alone

        if model is None:
            check_alone(semantic, diagnostics)
        else:
            model = apply_semantics(model, semantic, diagnostics)
    if model is None or (strict and diagnostics.failed()):
        raise DescriptionError(diagnostics)
    return model
