# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""`robot_semantics check`: report every problem of URDF, SRDF, USDF and configuration files with its place."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from robot_semantics.base.diagnostic import Diagnostic, SourcePlace
from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.base.errors import DescriptionError, RobotSemanticsError, UnknownNameError
from robot_semantics.base.files import STANDARD_INPUT, resolved, save_all, scratch_folder
from robot_semantics.bringup.checking import (
    FileReaders,
    YamlText,
    check_description_files,
    check_texts,
    is_yaml,
    read_sections,
)
from robot_semantics.bringup.package_files import FolderFiles, files_of_folder
from robot_semantics.cli.frame import inputs
from robot_semantics.cli.frame.argument_values import DescriptionArgument
from robot_semantics.cli.frame.command import Command, UsageError
from robot_semantics.cli.frame.node_inputs import AskedNode, add_node_argument, asked_node, texts_of_node
from robot_semantics.cli.frame.printing import counted, print_note
from robot_semantics.cli.frame.problems import (
    add_baseline_arguments,
    add_report_arguments,
    check_baseline_place,
    choose_format,
    policy_of,
    report_problems,
    without_known,
    write_baseline,
)
from robot_semantics.model.loading import RobotOptions, load_urdf
from robot_semantics.model.resources import PackageResolver
from robot_semantics.model.robot_model import RobotModel
from robot_semantics.srdf.table import srdf_from_file
from robot_semantics.srdf.tree import SrdfDocument
from robot_semantics.urdf.tree import UrdfRobot
from robot_semantics.xml.document_kind import DocumentKind, kind_of_file, refuse_wrong_kinds
from robot_semantics.xml.other_formats import other_format
from robot_semantics.xml.reader import read_text, read_xml

# Folders among the files of `check`: their URDF, SRDF and YAML files replace them.


def without_folders(arguments: argparse.Namespace) -> None:
    """Replace each folder in ``files`` by its files, and say which.

    A folder adds a URDF (SRDF) only if none is given. Also set ``found_files``, the xacro arguments of each file that a
    folder has, and ``own_files``, the files that ``--fix`` may change: not a URDF of another package.

    Raises:
        RobotSemanticsError: a folder has no file to check.
    """
    named = [name for name in arguments.files if not Path(name).is_dir()]
    folders = [Path(name) for name in arguments.files if Path(name).is_dir()]
    kinds = {kind_of_file(name) for name in named if not is_yaml(name)} if folders else set()
    named_kinds = {
        "URDF": _of_all(arguments) is not None or DocumentKind.URDF in kinds,
        "SRDF": getattr(_of_all(arguments), "srdf", None) is not None or DocumentKind.SRDF in kinds,
    }
    xacro_arguments: dict[str, Mapping[str, str]] = {}
    own_files = list(named)
    for folder in folders:
        files = files_of_folder(folder, PackageResolver(arguments.package_path), expand=arguments.xacro)
        paths_by_kind = _taken(folder, files, named_kinds)
        checked_paths = {resolved(name) for name in (*named, *xacro_arguments)}
        for path in (path for paths in paths_by_kind.values() for path in paths if resolved(path) not in checked_paths):
            xacro_arguments[str(path)] = files.xacro_arguments if path == files.urdf else {}
            if resolved(folder) in resolved(path).parents:
                own_files.append(str(path))
    arguments.files = [*named, *xacro_arguments]
    arguments.found_files, arguments.own_files = xacro_arguments, own_files


def _taken(folder: Path, files: FolderFiles, named_kinds: Mapping[str, bool]) -> dict[str, list[Path]]:
    """Return the files of a folder to check, by kind; print them, and why others are not checked."""
    paths_by_kind = {
        "URDF": [] if named_kinds["URDF"] or files.urdf is None else [files.urdf],
        "SRDF": [] if named_kinds["SRDF"] or files.srdf is None else [files.srdf],
        "YAML": list(files.yaml),
    }
    if not any(paths_by_kind.values()):
        reason = "; ".join(("it has no URDF, SRDF or YAML file", *files.notes))
        raise RobotSemanticsError(f"'{folder}' cannot be checked: {reason}")
    for kind, paths in paths_by_kind.items():
        if paths:
            names = ", ".join(_name_in(folder, path) for path in paths)
            print_note(f"note: {folder}: {kind}: {names}")
    for note in files.notes if not all(named_kinds.values()) else ():
        print_note(f"note: {folder}: {note}")
    return paths_by_kind


def _name_in(folder: Path, path: Path) -> str:
    """Return the name of a file for a note: relative to the folder, and the file that a symbolic link names."""
    name, file = str(path.relative_to(folder) if path.is_relative_to(folder) else path), resolved(path)
    return name if file == resolved(path.parent) / path.name else f"{name} (a link to {file})"


PURPOSES = ("simulation", "moveit", "gazebo")
"""Programs of `--for`."""

MOST_ROUNDS = 5
"""Largest number of rounds of ``--fix``: a fix may show new problems."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    if add_node_argument(parser):
        parser.set_defaults(files=[])
    else:
        text = "URDF, xacro, SRDF, USDF or YAML file, or a folder"
        parser.add_argument("files", nargs="+", metavar="FILE", help=text)
    inputs.add_urdf_option(parser, "robot of the other files, or of a model", for_loops=False)
    parser.add_argument(
        "--by-name",
        action="store_true",
        help="check each SRDF with the URDF of its name",
    )
    parser.add_argument("--no-robots", action="store_true", help="do not read the robots that worlds name")
    inputs.add_loading_arguments(parser, several=True)
    parser.add_argument(
        "--for", dest="purpose", choices=PURPOSES, metavar="USE", help="warn of what these would say: %(choices)s"
    )
    add_report_arguments(parser)
    add_baseline_arguments(parser)
    mending = parser.add_mutually_exclusive_group()
    mending.add_argument(
        "--fix",
        action="store_true",
        help="fix problems with one solution; print a diff",
    )
    mending.add_argument("--dry-run", action="store_true", help="print the changes of --fix; write nothing")


def run(arguments: argparse.Namespace) -> int:
    """Check the files and print the problems; 1 if there is an error (with ``--strict``: a warning)."""
    if arguments.force and not arguments.write_baseline:
        raise UsageError("--force needs --write-baseline: it overwrites this file")
    choose_format(arguments)
    node = asked_node(arguments)
    if node is not None:
        return _check_node(node, arguments)
    without_folders(arguments)
    problems = _diagnosed(arguments)
    if arguments.fix or arguments.dry_run:
        # A fix may show problems that were hidden before.
        rounds = 0
        while rounds < MOST_ROUNDS and _fixed(arguments, problems):
            problems = _diagnosed(arguments)
            rounds += 1
    return report_problems(_new(problems, arguments), arguments, len(arguments.files))


def _of_all(arguments: argparse.Namespace) -> DescriptionArgument | None:
    """Return the robot of all other files: that of ``--urdf`` without a name.

    Raises:
        UsageError: there are several.
    """
    unnamed = [robot for robot in arguments.urdf if robot.name is None]
    if len(unnamed) > 1:
        raise UsageError(f"--urdf '{unnamed[1]}': name the models, as in NAME=...")
    return unnamed[0] if unnamed else None


def _check_node(node: AskedNode, arguments: argparse.Namespace) -> int:
    """Check the descriptions of a running node, as texts with the names of the node's parameters."""
    for option in ("urdf", "loops", "fix", "dry_run", "purpose", "by_name"):
        if getattr(arguments, option):
            name = "for" if option == "purpose" else option.replace("_", "-")
            raise UsageError(f"--{name} is for files: do not give it with --node")
    texts = texts_of_node(node)
    named = {"robot_description": texts.urdf, "robot_description_semantic": texts.srdf}
    options = RobotOptions(implicit_links=texts.implicit_links)
    found = check_texts({name: text for name, text in named.items() if text}, options=options)
    return report_problems(_new(found, arguments), arguments, sum(map(bool, named.values())))


def _new(problems: list[Diagnostic], arguments: argparse.Namespace) -> list[Diagnostic]:
    """Write the baseline, and return the problems that are not in one."""
    if arguments.write_baseline:
        check_baseline_place(arguments.write_baseline, force=arguments.force)
    if arguments.write_baseline and arguments.dry_run:
        print_note(f"note: {counted(len(problems), 'problem')} would be written to {arguments.write_baseline}")
        return []
    if arguments.write_baseline:
        count = write_baseline(problems, arguments.write_baseline)
        print_note(f"note: {counted(count, 'problem')} written to {arguments.write_baseline}")
        return []
    if not arguments.baseline:
        return problems
    new, gone = without_known(problems, arguments.baseline)
    if gone:
        print_note(f"note: {counted(gone, 'problem')} of the baseline not found; write it again")
    return new


def _fixed(arguments: argparse.Namespace, found: Sequence[Diagnostic]) -> bool:
    """Print the fixes as a diff, and with ``--fix`` write them; return True if a file was written."""
    from robot_semantics.cli.frame.fixing import fixed_text, print_difference

    counted = policy_of(arguments).of(found)
    fixed: dict[Path, bytes] = {}
    for name in dict.fromkeys(arguments.own_files):
        change = fixed_text(Path(name), counted) if Path(name).is_file() else None
        if change is None:
            continue
        old, new = (data.decode("utf-8", "replace") for data in change)
        output = sys.stdout if arguments.format == "text" else sys.stderr
        print_difference(old, new, name, f"{name} (fixed)", file=output)
        if arguments.fix:
            fixed[Path(name)] = change[1]
    save_all(fixed)
    return bool(fixed)


def _diagnosed(arguments: argparse.Namespace) -> list[Diagnostic]:
    """Return all problems of the files."""
    diagnostics = Diagnostics()
    arguments = argparse.Namespace(**vars(arguments))
    with ExitStack() as stack:
        spooled = _pipes_as_files(arguments, stack)
        _Check(arguments, diagnostics).files(arguments.files)
    return [_named(diagnostic, spooled) for diagnostic in diagnostics]


def _pipes_as_files(arguments: argparse.Namespace, stack: ExitStack) -> dict[str, str]:
    """Copy pipes, which can be read only once, to files until the end of `stack`; return the pipes' names by file."""
    spooled: dict[str, str] = {}
    folder: Path | None = None

    def spool(name: str) -> str:
        nonlocal folder
        path = Path(name)
        if name == STANDARD_INPUT:
            # XML keeps its name, to which the names of meshes are relative; the ending of a file tells YAML.
            content, ending = read_text(path), ".yaml"
            if content.lstrip(b"\xef\xbb\xbf\xfe\xff \t\r\n\0")[:1] in (b"<", b"{", b""):
                return name
        elif path.is_fifo():
            content, ending = read_text(path), path.suffix
        else:
            return name
        if folder is None:
            folder = stack.enter_context(scratch_folder())
        target = folder / f"{len(spooled)}{ending}"
        target.write_bytes(content)
        spooled[str(target)] = name
        return str(target)

    arguments.files = [spool(name) for name in arguments.files]
    arguments.urdf = [
        robot._replace(urdf=spool(robot.urdf), srdf=None if robot.srdf is None else spool(robot.srdf))
        for robot in arguments.urdf
    ]
    return spooled


def _named(diagnostic: Diagnostic, spooled: Mapping[str, str]) -> Diagnostic:
    place = diagnostic.place
    return replace(diagnostic, place=replace(place, source=spooled.get(place.source, place.source)))


class _Check:
    """One run: reads the files with the options of the command."""

    def __init__(self, arguments: argparse.Namespace, diagnostics: Diagnostics) -> None:
        self.arguments = arguments
        self.diagnostics = diagnostics
        # The robots have no names yet: None is every robot without options of its own.
        names = dict.fromkeys((None, *(value.name for value in arguments.loops)))
        self._options = inputs.options_by_model(arguments, names)
        self._usual = inputs.robot_options(arguments)
        self._resolver = self._usual.resolver()
        self._robots: set[str] = set()
        self._has_urdf = False
        self._models: set[str] = set()

    def files(self, files: Sequence[str]) -> None:
        """Check every file."""
        of_all, by_name = _of_all(self.arguments), self.arguments.by_name
        urdf, srdf = (None, None) if of_all is None else (of_all.urdf, of_all.srdf)
        refuse_wrong_kinds(urdf, srdf)
        # Forgiving like the URDF reader; the other readers check again.
        read = FileReaders(partial(read_xml, forgiving=True), self._urdf, self._robot, self._semantic, self._yaml)
        checked = check_description_files(
            files,
            read,
            self.diagnostics,
            urdf=urdf,
            srdf=srdf,
            by_name=by_name,
            resolver=self._resolver,
            options=self._usual,
        )
        if not checked.is_complete:
            print_note("note: without --urdf, names of links and joints are not checked")
        named_robots = [robot for robot in self.arguments.urdf if robot.name is not None]
        is_alone = len(named_robots) == 1 and not self._has_urdf
        named = {str(robot.name): self._named(robot, is_alone=is_alone) for robot in named_robots}
        if self.arguments.purpose is not None and checked.robot is not None:
            # Import here what only this option needs.
            from robot_semantics.bringup.purposes import check_for
            from robot_semantics.convert.sdformat_state import is_reserved

            check_for(self.arguments.purpose, checked.robot, self.diagnostics, self._resolver, is_reserved)
        for file in checked.worlds:
            self._world(file, checked.robot, named)
        for robot in named_robots:
            if robot.name not in self._models:
                message = str(UnknownNameError("model", str(robot.name), self._models))
                self.diagnostics.error("unknown-model", message, SourcePlace(robot.urdf))
        if self.arguments.loops and not (self._has_urdf or named):
            raise UsageError("--loops needs the URDF of the robot with these loops")
        for name in self._options.keys() - {None, *named, *self._robots}:
            raise UnknownNameError("robot", str(name), (*named, *self._robots))

    def _yaml(self, file: str) -> YamlText:
        content = read_text(Path(file))
        text = read_sections(content, file)
        if not text.sections and not text.problems and file not in self.arguments.found_files:
            what = other_format(content, file)
            message = f"this file has no section that is known, so it is not checked{f'; {what}' if what else ''}"
            self.diagnostics.note("unknown-configuration", message, SourcePlace(file))
        return text

    def _urdf(self, file: str) -> UrdfRobot:
        self._has_urdf = True
        arguments = {**self.arguments.found_files.get(file, {}), **self.arguments.xacro_arguments}
        xacro = replace(self._usual.xacro, arguments=arguments)
        return load_urdf(file, xacro, self._resolver, self.diagnostics)

    def _robot(self, urdf: UrdfRobot) -> RobotModel | None:
        robot = self._usual.resolve(urdf, self.diagnostics)
        if robot is None:
            return None
        self._robots.add(robot.name)
        return self._options.get(robot.name, self._options[None]).close_loops(robot, self.diagnostics)

    def _semantic(self, file: str) -> SrdfDocument:
        find = inputs.package_finder(self.arguments, file)
        return srdf_from_file(file, self.diagnostics, xacro=self._usual.xacro, find_package=find)

    def _named(self, given: DescriptionArgument, *, is_alone: bool) -> RobotModel:
        """Return the robot of a model that ``--urdf`` names; options without a name are of the only robot."""
        options = self._options.get(given.name, self._options[None] if is_alone else self._usual)
        return options.load(given.urdf, given.srdf, resolver=self._resolver, diagnostics=self.diagnostics)

    def _world(self, file: str, robot: RobotModel | None, named: Mapping[str, RobotModel]) -> None:
        from robot_semantics.usdf.check import check_world_file

        try:
            look = not self.arguments.no_robots
            find = partial(self._resolver.resolve, relative_to=Path(file))
            how: dict[str, Any] = {"find": find, "look": look, "options": self._usual}
            state = check_world_file(Path(file), self.diagnostics, robot=robot, named=named, **how)
            self._models.update(model.name for model in state.models)
            if robot is not None and look and any(problem.code == "other-robot" for problem in self.diagnostics):
                # Import here what only some files need: it takes longer than a check.
                from robot_semantics.cli.saved_robots import compare_with_saved

                compare_with_saved(file, robot, self._resolver, self.diagnostics)
        except DescriptionError as error:
            self.diagnostics.extend_new(error.diagnostics)


COMMAND = Command(
    add_arguments,
    run,
    examples=(
        "robot_semantics check robot.urdf robot.srdf config/",
        "robot_semantics check robot.urdf --for simulation",
        "robot_semantics check world.usdf --urdf robot.urdf,robot.srdf",
        "robot_semantics check robot.urdf --all --ignore missing-mesh --error unknown-element",
    ),
)
