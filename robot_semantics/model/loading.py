# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Loading of robot models from texts or files: the main entry points of the library."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field, replace
from pathlib import Path
from typing import NamedTuple

from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.base.errors import DescriptionError
from robot_semantics.base.record import record
from robot_semantics.model.omissions import omitted_parts
from robot_semantics.model.resolve import resolve_urdf
from robot_semantics.model.resources import PackageResolver
from robot_semantics.model.robot_model import RobotModel
from robot_semantics.srdf.tree import SrdfDocument
from robot_semantics.urdf.reader import parse_urdf, read_urdf_robot
from robot_semantics.urdf.tree import UrdfRobot
from robot_semantics.xml.xacro import NO_XACRO, FindPackage, XacroOptions, read_expanded


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
    options = RobotOptions(implicit_links, XacroOptions.of(xacro, xacro_arguments), loops=loops)
    return options.load(urdf_path, srdf_path, strict=strict, resolver=resolver, diagnostics=diagnostics)


@record(frozen=True)
class RobotOptions:
    """How a robot is read: the options of every reader of robots. They are handed on whole.

    Attributes:
        implicit_links: let joints name links that no ``<link>`` declares.
        xacro: whether and how xacro files are expanded.
        package_paths: folders of packages, before the usual places.
        loops: the file with the closed loops of this robot: ``robot.yaml`` of Extended URDF.
    """

    implicit_links: bool = False
    xacro: XacroOptions = field(default_factory=XacroOptions)
    package_paths: tuple[str, ...] = ()
    loops: str | Path | None = None

    def resolver(self) -> PackageResolver:
        """Return a new finder of the packages."""
        return PackageResolver(self.package_paths)

    def of_named_files(self) -> RobotOptions:
        """Return the options for files that another document names: their expressions must not run."""
        return replace(self, xacro=NO_XACRO, loops=None)

    def load(
        self,
        urdf_path: str | Path,
        srdf_path: str | Path | None = None,
        *,
        strict: bool = False,
        resolver: PackageResolver | None = None,
        diagnostics: Diagnostics | None = None,
    ) -> RobotModel:
        """Load a robot from its files, as `load_robot`."""
        packages = resolver or self.resolver()

        def read_urdf(problems: Diagnostics) -> RobotModel | None:
            return self.resolve(load_urdf(urdf_path, self.xacro, packages, problems), problems)

        def read_srdf(problems: Diagnostics) -> SrdfDocument | None:
            if srdf_path is None:
                return None
            from robot_semantics.srdf.table import read_semantic

            return read_semantic(read_expanded(srdf_path, self.xacro, _finder(packages, srdf_path)), problems)

        return _load(read_urdf, read_srdf, self.close_loops, strict, diagnostics)

    def resolve(self, urdf: UrdfRobot, diagnostics: Diagnostics) -> RobotModel | None:
        """Return the robot of a URDF, without semantics and loops, as `resolve_urdf`."""
        return resolve_urdf(urdf, diagnostics, implicit_links=self.implicit_links)

    def close_loops(self, model: RobotModel, diagnostics: Diagnostics) -> RobotModel:
        """Return a robot with the closed loops of the file of these options.

        Raises:
            DescriptionError: the file has an error.
            OSError: it cannot be read.
        """
        if self.loops is None:
            return model
        # Import here: few robots have such a file.
        from robot_semantics.base.yaml_reader import read_yaml
        from robot_semantics.model.extended_urdf import with_loops

        return with_loops(model, read_yaml(self.loops), diagnostics)


NAMED_FILES = RobotOptions(xacro=NO_XACRO)
"""The usual options for files that another document names."""


class DescriptionTexts(NamedTuple):
    """The description of a robot as the parameters of a node have it.

    Attributes:
        urdf: text of the URDF.
        srdf: text of the SRDF; empty without one.
        loops: text of the ``robot.yaml`` of Extended URDF; empty without one.
        implicit_links: as in `RobotOptions`.
    """

    urdf: str
    srdf: str = ""
    loops: str = ""
    implicit_links: bool = False

    def load(self, *, strict: bool = False, diagnostics: Diagnostics | None = None, prefix: str = "") -> RobotModel:
        """Load the robot, as `robot_from_text`; `prefix` is before the names of the parameters in problems."""
        urdf, srdf, loops, *_ = (f"<{prefix}{name}>" for name in TEXT_PARAMETERS)
        return robot_from_text(
            self.urdf,
            self.srdf if self.srdf.strip() else None,
            self.loops if self.loops.strip() else None,
            strict=strict,
            implicit_links=self.implicit_links,
            urdf_source=urdf,
            srdf_source=srdf,
            loops_source=loops,
            diagnostics=diagnostics,
        )


TEXT_PARAMETERS: dict[str, type[str | bool]] = {
    "robot_description": str,
    "robot_description_semantic": str,
    "robot_description_loops": str,
    "implicit_links": bool,
}
"""The parameters of a node for the fields of `DescriptionTexts`, in their order, with their types."""


def load_urdf(path: str | Path, xacro: XacroOptions, resolver: PackageResolver, diagnostics: Diagnostics) -> UrdfRobot:
    """Load the content of a URDF file, which may be a xacro; names are not resolved.

    Raises:
        DescriptionError: the file is not a URDF.
    """
    # Keep no reference to the document: the tree of an expanded one needs as much memory as the robot.
    return read_urdf_robot(read_expanded(path, xacro, _finder(resolver, path), streamed=True), diagnostics)


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

    def read_urdf(problems: Diagnostics) -> RobotModel | None:
        return resolve_urdf(parse_urdf(urdf_text, urdf_source, problems), problems, implicit_links=implicit_links)

    def read_srdf(problems: Diagnostics) -> SrdfDocument | None:
        if srdf_text is None:
            return None
        from robot_semantics.srdf.table import parse_srdf

        return parse_srdf(srdf_text, srdf_source, problems)

    def close_loops(model: RobotModel, problems: Diagnostics) -> RobotModel:
        if loops_text is None:
            return model
        from robot_semantics.base.yaml_reader import parse_yaml
        from robot_semantics.model.extended_urdf import with_loops

        return with_loops(model, parse_yaml(loops_text, loops_source), problems)

    return _load(read_urdf, read_srdf, close_loops, strict, diagnostics)


def _load(
    read_urdf: Callable[[Diagnostics], RobotModel | None],
    read_srdf: Callable[[Diagnostics], SrdfDocument | None],
    close_loops: Callable[[RobotModel, Diagnostics], RobotModel],
    strict: bool,
    diagnostics: Diagnostics | None,
) -> RobotModel:
    """Return a robot from its URDF, its SRDF and its loops, with the errors by which parts of it were left out.

    All problems go to `diagnostics`.
    """
    problems = Diagnostics()
    try:
        model = close_loops(_with_semantics(read_urdf(problems), read_srdf(problems), strict, problems), problems)
        if problems.failed():
            model = replace(model, omissions=omitted_parts(problems))
    finally:
        if diagnostics is not None:
            diagnostics.extend(problems)
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
