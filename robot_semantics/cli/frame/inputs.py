# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Shared input arguments of commands: the robot, the strictness, and the output of problems."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from robot_semantics.base.diagnostic import Diagnostic, Severity
from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.base.errors import DescriptionError, RobotSemanticsError, UnknownNameError
from robot_semantics.cli.frame.argument_values import (
    FILE_FORM,
    ROBOT_FORM,
    DescriptionArgument,
    Model,
    add_named,
    add_repeatable,
    one_by_model,
    robot_argument,
)
from robot_semantics.cli.frame.command import UsageError
from robot_semantics.cli.frame.node_inputs import add_node_argument, asked_node, robot_of_node
from robot_semantics.cli.frame.printing import note_at_end, print_error, print_note, print_notes
from robot_semantics.cli.frame.problems import every_line, heard, line_of_each_kind, summary, unignored
from robot_semantics.model.omissions import refuse_omissions
from robot_semantics.model.robot_model import RobotModel

if TYPE_CHECKING:
    from robot_semantics.model.loading import RobotOptions
    from robot_semantics.usdf.restore_report import RestoreItem


from robot_semantics.xml.document_kind import refuse_wrong_kinds
from robot_semantics.xml.xacro import XacroOptions

ALWAYS_SHOWN = frozenset(
    {
        "link-frames-moved",
        "unused-argument",
        "not-shown",
        "unshown-mesh",
        "unshown-texture",
        "far-from-convex",
        "mesh-unit",
        "leading-slash",
    }
)
"""Warnings that every command prints: the result differs from the file, or `check` does not report them."""


def add_robot_arguments(parser: argparse.ArgumentParser, *, srdf_needed: bool = False, live: bool = False) -> None:
    """Add the URDF, the SRDF and the loading options.

    With `live`, a running node can replace the files.
    """
    if live and add_node_argument(parser):
        parser.set_defaults(urdf=None, srdf=None)
    else:
        parser.add_argument("urdf", metavar="URDF", help="URDF, plain or xacro")
        add_srdf_argument(parser, needed=srdf_needed)
    add_loading_arguments(parser)


def add_loops_argument(
    parser: argparse._ActionsContainer,
    text: str = "robot.yaml of Extended URDF with closed loops",
    *,
    several: bool = False,
) -> None:
    """Add ``--loops``; with `several`, one for each robot."""
    if several:
        add_named(parser, "--loops", FILE_FORM, text)
    else:
        parser.add_argument("--loops", metavar="FILE", help=text)


def add_urdf_option(
    parser: argparse._ActionsContainer,
    text: str = "robot of a model",
    *,
    several: bool = True,
    read: Callable[[str], DescriptionArgument] = robot_argument,
    for_loops: bool = True,
) -> None:
    """Add ``--urdf [NAME=]URDF[,SRDF]`` to a command that is not only about one robot.

    Args:
        parser: the parser, or a group of it.
        text: the help.
        several: whether the option is repeatable.
        read: the type of its value.
        for_loops: whether it is the only source of robots with ``--loops``, which then needs it.
    """
    parser.set_defaults(loops_need_urdf=for_loops)
    if several:
        add_repeatable(parser, "--urdf", ROBOT_FORM, text, type=read)
    else:
        parser.add_argument("--urdf", metavar=ROBOT_FORM, type=robot_argument, help=text)


def check_robots(arguments: argparse.Namespace) -> None:
    """Check the options of robots that the command line itself shows to be wrong, before a file is read.

    Raises:
        UsageError: ``--loops`` without the robot, or two values for one name.
    """
    if getattr(arguments, "loops_need_urdf", False):
        require_urdf(arguments.urdf, arguments.loops)
    for option in ("urdf", "loops"):
        values = getattr(arguments, option, None)
        names = [value.name for value in values if value.name is not None] if isinstance(values, list) else []
        if twice := next((name for name in names if names.count(name) > 1), None):
            raise UsageError(f"--{option} is given twice for one robot, '{twice}'")


def require_urdf(urdf: object, loops: object) -> None:
    """Raise `UsageError` if ``--loops`` is given without ``--urdf``, on the whole line or for one robot."""
    if loops and not urdf:
        raise UsageError("--loops needs --urdf: the URDF of the robot with these loops")


def add_srdf_argument(
    parser: argparse.ArgumentParser, *, needed: bool = False, text: str = "SRDF, plain or xacro"
) -> None:
    """Add the SRDF, the word after the URDF."""
    parser.add_argument("srdf", metavar="SRDF", help=text, nargs=None if needed else "?")


def add_loading_arguments(parser: argparse.ArgumentParser, *, several: bool = False) -> None:
    """Add ``--strict`` and the options of every reader of robots."""
    parser.add_argument("--strict", action="store_true", help="refuse descriptions with warnings")
    add_reader_options(parser, several=several)


def add_reader_options(
    parser: argparse.ArgumentParser, *, several: bool = False, robot_group: argparse._ActionsContainer | None = None
) -> None:
    """Add the options of every reader of robots, `RobotOptions`; `robot_options` and `options_by_model` return them.

    Args:
        parser: the parser.
        several: there may be several robots; some options are given for each.
        robot_group: the group for the options of one robot.
    """
    add_loops_argument(robot_group or parser, several=several)
    add_package_argument(parser)
    add_reading_arguments(parser)


def robot_options(arguments: argparse.Namespace) -> RobotOptions:
    """Return the options of the command line for the readers of robots, without those for one of several robots."""
    # Import here: a command that only prints its help does not need the readers.
    from robot_semantics.model.loading import RobotOptions

    loops = getattr(arguments, "loops", None)
    return RobotOptions(
        arguments.implicit_links,
        xacro_of(arguments),
        tuple(getattr(arguments, "package_path", ())),
        loops if isinstance(loops, str) else None,
    )


def options_by_model(
    arguments: argparse.Namespace,
    models: Collection[Model],
    used_names: set[str] | None = None,
    source: str | None = None,
) -> dict[Model, RobotOptions]:
    """Return the options for the readers of several robots by model; the arguments are as in `by_model`.

    Raises:
        UsageError, UnknownNameError: as `one_by_model`.
    """
    usual = robot_options(arguments)
    loops = one_by_model("loops", arguments.loops, models, used_names, source)
    return {model: replace(usual, loops=loops[model].value) if model in loops else usual for model in models}


def add_reading_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the reading options of every command that reads robots: implicit links, xacro."""
    parser.add_argument("--implicit-links", action="store_true", help="accept joints that name undeclared links")
    add_xacro_arguments(parser)


def add_xacro_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the xacro options. xacro arguments, ``name:=value``, may be anywhere on the line; `running` reads them."""
    parser.add_argument("--xacro", action="store_true", help="expand any file as xacro; this runs its code")


def xacro_of(arguments: argparse.Namespace) -> XacroOptions:
    """Return the xacro options of the command line."""
    expand = True if arguments.xacro else None
    return XacroOptions(expand, arguments.xacro_arguments, argument_names=arguments.xacro_asked)


def add_package_argument(parser: argparse.ArgumentParser) -> None:
    """Add ``--package-path``."""
    add_repeatable(parser, "--package-path", "DIR", "package, or folder with packages")


def package_finder(arguments: argparse.Namespace, file: str | Path) -> Callable[[str], str]:
    """Return a function that finds the folders of packages in an xacro (``$(find NAME)``)."""
    from robot_semantics.model.resources import PackageResolver

    resolver = PackageResolver(getattr(arguments, "package_path", ()))
    return lambda name: str(resolver.package(name, file))


def read_robot_files(
    arguments: argparse.Namespace,
    urdf: str,
    srdf: str | None = None,
    diagnostics: Diagnostics | None = None,
    options: RobotOptions | None = None,
) -> RobotModel:
    """Return the robot of two files, read leniently with the given arguments; add problems to `diagnostics`.

    `options` are its own, for a command that reads several robots.

    Raises:
        DescriptionError: the URDF has no valid tree, or a file cannot be read.
    """
    return (options or robot_options(arguments)).load(urdf, srdf or None, diagnostics=diagnostics)


def read_given(
    arguments: argparse.Namespace, robots: Sequence[DescriptionArgument], diagnostics: Diagnostics
) -> list[RobotModel]:
    """Return the robots of the words ``[NAME=]URDF[,SRDF]``, read leniently, each with its file of ``--loops``.

    Raises:
        UsageError: a file of ``--loops`` does not name one of several robots.
        UnknownNameError: ``--loops`` names neither the only robot nor its URDF.
        DescriptionError: a URDF has no valid tree, or a file cannot be read.
    """
    used_names: set[str] = set()
    names = [robot.name or str(robot) for robot in robots]
    options = options_by_model(arguments, names, used_names) if robots else {}
    models = []
    for robot, name in zip(robots, names, strict=True):
        try:
            model = read_robot_files(arguments, robot.urdf, robot.srdf, diagnostics, options[name])
        except DescriptionError:
            refuse_wrong_kinds(robot.urdf, robot.srdf)
            raise
        for other in used_names - {name, model.name}:
            raise UnknownNameError("robot", other, (name, model.name))
        if robot.srdf is None:
            offer_srdf(robot.urdf, f"{robot},")
        models.append(model)
    return models


def srdf_beside(urdf: str) -> Path | None:
    """Return the SRDF that lies beside a URDF under the same name; None if there is none."""
    path = Path(urdf)
    if not path.is_file():
        return None
    stem = path.name.partition(".")[0]
    files = (path.with_name(f"{stem}{ending}") for ending in (".srdf", ".srdf.xacro"))
    return next((file for file in files if file.is_file() and file != path), None)


def offer_srdf(urdf: str, start: str) -> None:
    """Print a note about an SRDF that lies beside a URDF: it is not read unless the command line names it.

    Args:
        urdf: the URDF.
        start: how the command line gives both, without the SRDF at the end.
    """
    if (file := srdf_beside(urdf)) is not None:
        note_at_end(f"note: {file} lies beside {urdf} and is not read; give it as in {start}{file}")


def load(arguments: argparse.Namespace, *, whole: bool = False) -> RobotModel:
    """Load the robot of the files or of ``--node``, tolerating errors unless ``--strict``; print problems to stderr.

    Raises:
        DescriptionError: the URDF has no valid tree, with `whole` a part that proofs need was left out, or with
            ``--strict`` there is any problem.
        RobotSemanticsError: the node does not answer.
    """
    diagnostics = Diagnostics()
    node = asked_node(arguments) if "node" in arguments else None
    try:
        if node is not None:
            if getattr(arguments, "loops", None) is not None:
                raise RobotSemanticsError("--loops needs the URDF: the running node has its own loops")
            model = robot_of_node(node, diagnostics)
        else:
            model = read_robot_files(arguments, arguments.urdf, arguments.srdf, diagnostics)
            if arguments.srdf is None:
                offer_srdf(arguments.urdf, f"{arguments.urdf} ")
    except DescriptionError:
        refuse_wrong_kinds(arguments.urdf, arguments.srdf)
        raise
    if diagnostics.failed():
        refuse_wrong_kinds(arguments.urdf, arguments.srdf)
    if arguments.strict:
        refuse_warnings(diagnostics)
    if whole:
        refuse_omissions(model)
    print_diagnostics(diagnostics)
    return model


def print_diagnostics(diagnostics: Diagnostics) -> None:
    """Print one line to stderr for the problems of leniently used files; it points to `check`.

    Kinds that `check` cannot find, and notes, have their own lines.
    """
    problems = heard(diagnostics)
    for line in line_of_each_kind([item for item in problems if item.code in ALWAYS_SHOWN]):
        print_note(line)
    others = [item for item in problems if item.severity is not Severity.NOTE and item.code not in ALWAYS_SHOWN]
    if others:
        tell = print_error if any(item.severity is Severity.ERROR for item in others) else print_note
        tell(_one_line(others))
    for line in line_of_each_kind([item for item in problems if item.severity is Severity.NOTE]):
        print_note(line)


def _one_line(found: Sequence[Diagnostic]) -> str:
    errors = [item for item in found if item.severity is Severity.ERROR]
    if not errors and sum(item.count for item in found) > 1:
        return f"{summary(found)}: see 'robot_semantics check'"
    first, *rest = [*errors, *(item for item in found if item.severity is Severity.WARNING)]
    others = f", and {summary(rest)} more" if rest else ""
    return f"{every_line([first])[0]}{others}: see 'robot_semantics check'"


def exit_code(problems: Diagnostics, descriptions: Diagnostics, *, strict: bool = False) -> int:
    """Return the exit code of a command that used descriptions leniently.

    Args:
        problems: of the command's data: an error means that the result is incomplete.
        descriptions: problems inside the descriptions; they matter only with `strict`.
        strict: True if any error or warning is a failure.
    """
    return int(problems.failed(strict=strict) or (strict and descriptions.failed(strict=True)))


def refuse_warnings(diagnostics: Diagnostics) -> None:
    """Refuse descriptions with errors, or with warnings that the project does not ignore, as ``--strict`` asks.

    Raises:
        DescriptionError: there is one.
    """
    counted = Diagnostics()
    counted.extend(tuple(unignored(diagnostics)))
    counted.raise_if_failed(strict=True)


def print_report(items: Iterable[RestoreItem], notes: Iterable[str], *, refused: bool = False) -> None:
    """Print the parts of a state that a robot does not use, with reasons, and further notes to stderr.

    With `refused`, these parts are the reason of an error.
    """
    for item in items:
        if not item.done:
            (print_error if refused else print_note)(f"not restored: {item}")
    print_notes(notes)
