# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""`robot_semantics collisions enable`, `disable` and `diff`: edit single pairs of an SRDF, and compare."""

from __future__ import annotations

import argparse

from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.base.errors import DescriptionError
from robot_semantics.base.names import LinkPair
from robot_semantics.cli.frame import inputs
from robot_semantics.cli.frame.command import Command
from robot_semantics.cli.frame.printing import add_json_argument, print_output
from robot_semantics.cli.srdf import add_file_arguments, finish, known_robot
from robot_semantics.model.omissions import omitted_parts
from robot_semantics.srdf.edit import SrdfText
from robot_semantics.srdf.reader import srdf_from_file


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `enable` and `disable`."""
    add_file_arguments(parser)
    parser.add_argument("link1", metavar="LINK1", help="first link")
    parser.add_argument("link2", metavar="LINK2", help="second link")
    parser.add_argument("--reason", metavar="TEXT", help="reason to write into the file")


def disable(arguments: argparse.Namespace) -> None:
    """Disable the check of the pair; an existing reason stays unless a new one is given."""
    before, robot = SrdfText.from_file(arguments.srdf), known_robot(arguments)
    pair = LinkPair.of(arguments.link1, arguments.link2)
    finish(arguments, before, before.disable_collisions({pair: arguments.reason}), robot)


def enable(arguments: argparse.Namespace) -> None:
    """Enable the check of the pair; a regenerated matrix keeps it enabled."""
    before, robot = SrdfText.from_file(arguments.srdf), known_robot(arguments)
    pair = LinkPair.of(arguments.link1, arguments.link2)
    finish(arguments, before, before.enable_collisions({pair: arguments.reason}), robot)


def add_diff_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `diff`."""
    parser.add_argument("a", metavar="A.srdf", help="first SRDF")
    parser.add_argument("b", metavar="B.srdf", help="second SRDF")
    inputs.add_xacro_arguments(parser)
    add_json_argument(parser)


def diff(arguments: argparse.Namespace) -> int:
    """Print the differences; return 1 if there are any."""
    first, second = (_statements(file, arguments) for file in (arguments.a, arguments.b))
    lines: list[str] = []
    results: dict[str, dict[str, object]] = {}
    for kind, a in first.items():
        b = second[kind]
        only_a, only_b = sorted(a.keys() - b.keys()), sorted(b.keys() - a.keys())
        changed = sorted(names for names in a.keys() & b.keys() if a[names] != b[names])
        word = "" if kind == "disabled" else f"{kind.replace('_', ' ')} "
        lines += [f"- {word}{_text(names, a[names])}" for names in only_a]
        lines += [f"+ {word}{_text(names, b[names])}" for names in only_b]
        lines += [f"~ {word}{' - '.join(names)}: {a[names]} -> {b[names]}" for names in changed]
        results[kind] = {
            "only_a": [_json(names, reason=a[names]) for names in only_a],
            "only_b": [_json(names, reason=b[names]) for names in only_b],
            "changed": [_json(names, a=a[names], b=b[names]) for names in changed],
        }
    result = {**results.pop("disabled"), **results}
    print_output(arguments, result, lines or [f"{len(first['disabled'])} pairs, no difference"])
    return int(bool(lines))


def _text(names: tuple[str, ...], value: str) -> str:
    return " - ".join(names) + (f": {value}" if value else "")


def _json(names: tuple[str, ...], **values: str) -> dict[str, str]:
    if len(names) > 1:
        return {"link1": names[0], "link2": names[1], **values}
    spheres = {"spheres" if key == "reason" else key: text for key, text in values.items() if text}
    return {"link": names[0], **spheres}


def _statements(file: str, arguments: argparse.Namespace) -> dict[str, dict[tuple[str, ...], str]]:
    """Return what an SRDF states about collisions of links, by kind: pairs with their reasons, and links."""
    diagnostics = Diagnostics()
    semantic = srdf_from_file(file, diagnostics, xacro=inputs.xacro_of(arguments))
    if parts := omitted_parts(diagnostics):
        raise DescriptionError(parts)
    inputs.print_diagnostics(diagnostics)
    return {
        "disabled": {item.pair: item.reason for item in semantic.disabled_collisions},
        "enabled": {item.pair: item.reason for item in semantic.enabled_collisions},
        "disabled_by_default": {(link.name,): "" for link in semantic.default_disabled_links},
        "spheres": {
            (item.link,): ", ".join(" ".join(map(repr, (*sphere.center, sphere.radius))) for sphere in item.spheres)
            for item in semantic.link_spheres
        },
    }


DISABLE = Command(
    add_arguments,
    disable,
    examples=("robot_semantics collisions disable robot.srdf palm_link base_link --urdf robot.urdf -o less.srdf",),
)
ENABLE = Command(
    add_arguments,
    enable,
    examples=("robot_semantics collisions enable robot.srdf palm_link base_link --urdf robot.urdf -o more.srdf",),
)
DIFF = Command(
    add_diff_arguments,
    diff,
    examples=("robot_semantics collisions diff robot.srdf robot.srdf",),
)
