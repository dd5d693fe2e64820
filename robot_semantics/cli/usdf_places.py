# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Where the problems of an operation stand: it knows the paths in world states, their files know lines and columns."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import NamedTuple

from robot_semantics.base.diagnostics import Diagnostic, Diagnostics, Place
from robot_semantics.base.errors import DescriptionError
from robot_semantics.cli.lines import say
from robot_semantics.usdf.validity import path_of
from robot_semantics.usdf.world_state import WorldState
from robot_semantics.xml.reader import SourceMap

ROOT = "/world_state"


class Origin(NamedTuple):
    """A world state and the file it was read from; `places` is None where that has no lines (JSON)."""

    state: WorldState
    source: str
    places: SourceMap | None


@contextmanager
def placed(origins: Sequence[Origin]) -> Iterator[Diagnostics]:
    """Collect an operation's problems; they go to stderr at the end, or into its error, each with its place in a file.

    Raises:
        DescriptionError: the operation raised one.
    """
    found = Diagnostics()
    try:
        yield found
    except DescriptionError as error:
        # The error may carry what was found before it.
        raise DescriptionError(_located(dict.fromkeys((*found, *error.diagnostics)), origins)) from None
    for problem in _located(found, origins):
        say(problem, file=sys.stderr)


def _located(problems: Iterable[Diagnostic], origins: Sequence[Origin]) -> list[Diagnostic]:
    problems = list(problems)
    numbers = [_numbers(origin.state) if problems else {} for origin in origins]
    return [replace(problem, place=_place(problem.place, origins, numbers)) for problem in problems]


def _place(place: Place, origins: Sequence[Origin], numbers: Sequence[dict[str, int]]) -> Place:
    """Return where `place` is: in the file that it names, else in the first that has what its path names."""
    if place.line:
        return place
    named = [at for at, origin in enumerate(origins) if origin.source == place.source]
    for at in named or range(len(origins)):
        origin, path = origins[at], place.path or ROOT
        attribute = None
        while path and path not in numbers[at]:
            path, _, last = path.rpartition("/")
            attribute = last[1:] if last.startswith("@") else None
        # A path of which only the root is known here is another file's.
        if not path or (path == ROOT and place.path.count("/") > 1 and attribute is None):
            continue
        if origin.places is None:
            return Place(origin.source, path=place.path)
        found = origin.places.place(numbers[at][path], attribute)
        return replace(found, path=place.path or found.path)
    return place


def _numbers(state: WorldState) -> dict[str, int]:
    """Return the numbers of a state's elements by their paths."""
    numbers = {ROOT: state.at}
    numbers.update((path_of(body), body.at) for body in state.bodies)
    numbers.update((path_of(engine), engine.at) for engine in state.engines)
    for model in state.models:
        numbers.update((path_of(link, path_of(model)), link.at) for link in model.links)
        numbers.update((path_of(joint, path_of(model)), joint.at) for joint in model.joints)
    return numbers
