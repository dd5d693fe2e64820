# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Shared by the operations on world states: input and output files, robots, and places of problems."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from robot_semantics.base.diagnostic import Diagnostic, SourcePlace
from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.base.errors import DescriptionError, UnknownNameError, UsageError
from robot_semantics.base.files import STANDARD_INPUT, format_of
from robot_semantics.cli.frame import inputs
from robot_semantics.cli.frame.outputs import WORLD_ENDINGS, add_result, kind_of_result, put_result
from robot_semantics.cli.frame.printing import print_notes
from robot_semantics.cli.frame.problems import print_problems
from robot_semantics.convert.json_form import json_text, parse_json
from robot_semantics.model.resources import PackageResolver
from robot_semantics.model.robot_model import RobotModel
from robot_semantics.usdf.descriptions import FileFinder, RobotSources, rebased, robots_for
from robot_semantics.usdf.identity import describes_another_robot
from robot_semantics.usdf.reader import read_world_document
from robot_semantics.usdf.validity import element_path
from robot_semantics.usdf.world_state import WorldState
from robot_semantics.usdf.writer import write_world
from robot_semantics.xml.reader import read_text
from robot_semantics.xml.source_map import SourceMap

ROOT = "/world_state"


class WorldFile(NamedTuple):
    """A world state and its file; `places` is None if the file has no lines (JSON)."""

    state: WorldState
    source: str
    places: SourceMap | None


@contextmanager
def located_problems(origins: Sequence[WorldFile]) -> Iterator[Diagnostics]:
    """Collect an operation's problems; print them at the end, or add them to its error, each with its place in a file.

    Raises:
        DescriptionError: the operation raised one.
    """
    problems = Diagnostics()
    try:
        yield problems
    except DescriptionError as error:
        # The error may already have the problems found before it.
        raise DescriptionError(_located(dict.fromkeys((*problems, *error.diagnostics)), origins)) from None
    print_problems(_located(problems, origins))


def _located(problems: Iterable[Diagnostic], origins: Sequence[WorldFile]) -> list[Diagnostic]:
    problems = list(problems)
    numbers = [_numbers(origin.state) if problems else {} for origin in origins]
    return [replace(problem, place=_place(problem.place, origins, numbers)) for problem in problems]


def _place(place: SourcePlace, origins: Sequence[WorldFile], numbers: Sequence[dict[str, int]]) -> SourcePlace:
    """Return the file place for `place`: in the file that it names, else in the first file that has its path."""
    if place.line:
        return place
    named = [index for index, origin in enumerate(origins) if origin.source == place.source]
    for index in named or range(len(origins)):
        origin, path = origins[index], place.path or ROOT
        attribute = None
        while path and path not in numbers[index]:
            path, _, last = path.rpartition("/")
            attribute = last[1:] if last.startswith("@") else None
        # If only the root of the path is known here, the place is in another file.
        if not path or (path == ROOT and place.path.count("/") > 1 and attribute is None):
            continue
        if origin.places is None:
            return SourcePlace(origin.source, path=place.path)
        found = origin.places.place(numbers[index][path], attribute)
        return replace(found, path=place.path or found.path)
    return place


def _numbers(state: WorldState) -> dict[str, int]:
    """Return the numbers of a state's elements by path."""
    numbers = {ROOT: state.ordinal}
    numbers.update((element_path(body), body.ordinal) for body in state.bodies)
    numbers.update((element_path(engine), engine.ordinal) for engine in state.engines)
    for model in state.models:
        numbers.update((element_path(link, element_path(model)), link.ordinal) for link in model.links)
        numbers.update((element_path(joint, element_path(model)), joint.ordinal) for joint in model.joints)
    return numbers


FORMATS = WORLD_ENDINGS
"""Format of a world state by the ending of its file; USDF without an ending."""


def add_robot_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that name the robots of the states; robots in ``rs:description`` are found without them."""
    inputs.add_urdf_option(parser)
    parser.add_argument("--no-robots", action="store_true", help="do not read the named robot files")
    inputs.add_reader_options(parser, several=True)


def add_output_option(parser: argparse.ArgumentParser, *, in_place: bool = False) -> None:
    """Add the options of a result: a world state as USDF or JSON."""
    add_result(parser, WORLD_ENDINGS, on_stdout=True, in_place=in_place)


def file_finder(arguments: argparse.Namespace, path: str) -> FileFinder:
    """Return a finder for the robot files that the world state in `path` names."""
    resolver = PackageResolver(arguments.package_path)
    return lambda uri: resolver.resolve(uri, Path(path))


def given_robots(arguments: argparse.Namespace, states: Sequence[WorldState]) -> RobotSources:
    """Return the robots of ``--urdf``, read leniently; problems go to stderr.

    Raises:
        UsageError: ``--loops`` without its robot, or two robots for one model.
        UnknownNameError: a robot has the name of a model that none of the states has.
    """
    diagnostics = Diagnostics()
    models = inputs.read_given(arguments, arguments.urdf, diagnostics)
    inputs.print_diagnostics(diagnostics)
    named: dict[str, RobotModel] = {}
    unnamed: list[RobotModel] = []
    model_names = [model.name for state in states for model in state.models]
    for robot, model in zip(arguments.urdf, models, strict=True):
        if robot.name is None and model.name in (other.name for other in unnamed):
            raise UsageError(f"--urdf '{robot}': two robots are called '{model.name}': name the models, as in NAME=...")
        if robot.name is None:
            unnamed.append(model)
        elif robot.name not in model_names:
            raise UnknownNameError("model", robot.name, model_names)
        else:
            named[robot.name] = model
    return RobotSources(tuple(unnamed), None, inputs.robot_options(arguments), named=named)


def names_robots(arguments: argparse.Namespace) -> bool:
    """Return True if the command line names robots, or something of them: then they are read, also if not needed."""
    return bool(arguments.urdf or arguments.loops)


def robots(
    arguments: argparse.Namespace, file: WorldFile, path: str, sources: RobotSources | None = None
) -> dict[str, RobotModel]:
    """Return the known robots of a world state's models; print problems to stderr.

    Args:
        arguments: the command line.
        file: the world state.
        path: the file as the user names it: robot files are relative to it.
        sources: the robots of the command line, if the command has several files.
    """
    sources = given_robots(arguments, [file.state]) if sources is None else sources
    find = None if arguments.no_robots else file_finder(arguments, path)
    with located_problems([file]) as diagnostics:
        robot_of = robots_for(file.state, sources._replace(find=find), diagnostics=diagnostics)
        for model in file.state.models:
            reason = describes_another_robot(model, robot_of[model.name]) if model.name in robot_of else None
            if reason is not None:
                place = SourcePlace(file.source, path=element_path(model))
                diagnostics.warning("other-robot", f"model '{model.name}': {reason}", place)
        diagnostics.raise_if_failed()
    return robot_of


def read_states(paths: Sequence[str]) -> list[WorldState]:
    """Read several world states; report every problem of every file, notes and warnings on stderr.

    Raises:
        DescriptionError: a file has errors.
    """
    return [origin.state for origin in read_world_files(paths)]


def read_world_files(paths: Sequence[str]) -> list[WorldFile]:
    """Read several world states with the places of their elements, as `read_states`."""
    diagnostics = Diagnostics()
    origins: list[WorldFile] = []
    for path in paths:
        try:
            origins.append(read_world_file(path, diagnostics))
        except DescriptionError as error:
            diagnostics.extend(error.diagnostics)
    if len(origins) < len(paths):
        raise DescriptionError(diagnostics)
    inputs.print_diagnostics(diagnostics)
    return origins


def read_world_file(path: str, diagnostics: Diagnostics | None = None) -> WorldFile:
    """Read a world state: JSON for a file with this ending and for ``-`` with a JSON object, else USDF.

    Raises:
        DescriptionError: the file cannot be read or has errors.
    """
    if is_json(path):
        return WorldFile(parse_json(read_text(path), path, diagnostics), path, None)
    document = read_world_document(path, diagnostics)
    return WorldFile(document.state, document.places.source, document.places)


def is_json(path: str) -> bool:
    """Return True for the name of a JSON file, and for ``-`` if standard input has a JSON object.

    Raises:
        DescriptionError: standard input cannot be read.
    """
    if path == STANDARD_INPUT:
        return read_text(path).lstrip().startswith(b"{")
    return FORMATS.get(Path(path).suffix.lower()) == "json"


def folder_of(path: str | None) -> Path:
    """Return the folder for relative paths in the world state `path`; for a stream the working folder."""
    return Path() if path is None or path == "-" else Path(path).parent


def put_edited_state(arguments: argparse.Namespace, state: WorldState, source: str) -> None:
    """Write or print a world state that was read from `source`; keep its robot files."""
    target = source if getattr(arguments, "in_place", False) else arguments.output
    before = None if source == "-" else source
    put_state(arguments, rebased(state, folder_of(source), folder_of(target)), source=before)


def put_state(
    arguments: argparse.Namespace,
    state: WorldState,
    beside: Mapping[str, bytes] = MappingProxyType({}),
    source: str | None = None,
) -> None:
    """Write or print a world state, the result of a command, as USDF or JSON; see `put_result`.

    The files `beside` it, by name, and its own are written together: all or none.
    """
    kind = kind_of_result(arguments)
    if getattr(arguments, "in_place", False) and arguments.to is None and source is not None:
        kind = FORMATS.get(Path(source).suffix.lower(), "usdf")
    text = json_text(state) if kind == "json" else write_world(state)
    folder = folder_of(arguments.output)
    put_result(arguments, text, source, {folder / name: content for name, content in beside.items()})


def state_text(state: WorldState, path: str) -> bytes:
    """Return a world state in the format that the ending of a file names."""
    return (json_text(state) if format_of(path, FORMATS, "usdf") == "json" else write_world(state)).encode()


def print_lost(lost: Sequence[str]) -> None:
    """Print the content that a conversion lost to stderr."""
    print_notes(lost, "not carried: ", exact=True)
