# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""`robot_semantics diff`: compare two robots by motion and not by text, two world states, or two SRDFs."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from pathlib import Path

from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.base.errors import DescriptionError
from robot_semantics.cli.frame import inputs
from robot_semantics.cli.frame.argument_values import ROBOT_FORM, DescriptionArgument, robot_argument
from robot_semantics.cli.frame.command import Command, UsageError
from robot_semantics.cli.frame.printing import add_json_argument, counted, print_line, print_output, print_result
from robot_semantics.cli.usdf.files import is_json
from robot_semantics.cli.usdf.views import add_world_diff_arguments, diff_worlds
from robot_semantics.comparison.robots import RobotComparison, compare_robots
from robot_semantics.model.omissions import omitted_parts, refuse_omissions
from robot_semantics.model.resources import PackageResolver
from robot_semantics.srdf.table import srdf_from_file
from robot_semantics.xml.document_kind import ARTICLES, DocumentKind, kind_of_file

_ENDINGS = {".usdf": DocumentKind.USDF, ".srdf": DocumentKind.SRDF}
_NOUNS = {DocumentKind.URDF: "robots", DocumentKind.SRDF: "SRDFs", DocumentKind.USDF: "world states"}
_OPTIONS = {
    DocumentKind.URDF: ("strict",),
    DocumentKind.USDF: ("tolerance", "ignore", "urdf", "no_robots"),
}
"""Options that only one kind of document has."""


def _arguments(parser: argparse.ArgumentParser) -> None:
    forms = f"{ROBOT_FORM}, SRDF or world state (USDF, JSON)"
    parser.add_argument("a", metavar="A", type=robot_argument, help=forms)
    parser.add_argument("b", metavar="B", type=robot_argument, help="another of the same kind to compare with A")
    parser.add_argument("--strict", action="store_true", help="refuse descriptions with warnings")
    add_world_diff_arguments(parser)
    parser.set_defaults(loops_need_urdf=False)
    add_json_argument(parser)


def _run(arguments: argparse.Namespace) -> int:
    """Print the differences; return 1 if there are any.

    Raises:
        UsageError: the files are of two kinds, or an option is for another kind.
    """
    kind = _kind(arguments.a, arguments.b)
    arguments.first, arguments.second = arguments.a.urdf, arguments.b.urdf
    for option in (option for other, options in _OPTIONS.items() if other is not kind for option in options):
        if getattr(arguments, option):
            raise UsageError(f"--{option.replace('_', '-')} is not for two {_NOUNS[kind]}")
    return _COMPARE[kind](arguments)


def _kind(first: DescriptionArgument, second: DescriptionArgument) -> DocumentKind:
    """Return the kind of two files; a file that cannot be read is taken for one of the other's kind.

    Raises:
        UsageError: they are of two kinds.
    """
    kinds = {robot.urdf: _kind_of_file(robot.urdf) for robot in (first, second)}
    known = [(file, kind) for file, kind in kinds.items() if kind is not None]
    if len({kind for _, kind in known}) > 1:
        texts = " and ".join(f"'{file}' is {ARTICLES[kind]}" for file, kind in known)
        raise UsageError(f"{texts}: give two files of one kind")
    kind = known[0][1] if known else DocumentKind.URDF
    for robot in (first, second):
        if kind is not DocumentKind.URDF and (robot.name is not None or robot.srdf is not None):
            raise UsageError(f"'{robot}' has the form of a robot, but the files are {_NOUNS[kind]}")
    return kind


def _kind_of_file(file: str) -> DocumentKind | None:
    return DocumentKind.USDF if is_json(file) else kind_of_file(file) or _ENDINGS.get(Path(file).suffix.lower())


def _diff_robots(arguments: argparse.Namespace) -> int:
    """Print the differences of two robots; return 1 if there are any."""
    diagnostics = Diagnostics()
    a, b = inputs.read_given(arguments, [arguments.a, arguments.b], diagnostics)
    # A file that cannot be read may be another kind of document, so this comes later.
    if (arguments.a.srdf is None) is not (arguments.b.srdf is None):
        raise UsageError(f"'{arguments.a}' and '{arguments.b}': give both SRDFs, or none")
    if arguments.strict:
        diagnostics.raise_if_failed(strict=True)
    refuse_omissions(a, b)
    inputs.print_diagnostics(diagnostics)
    resolver = PackageResolver(arguments.package_path)

    def finder(urdf: str) -> Callable[[str], Path]:
        return lambda uri: resolver.resolve(uri, urdf)

    comparison = compare_robots(a, b, finder(arguments.first), finder(arguments.second))
    if arguments.json:
        print_result(comparison_json(comparison))
    else:
        for line in lines(comparison):
            print_line(line)
    return int(not comparison.same)


def _diff_srdfs(arguments: argparse.Namespace) -> int:
    """Print the statements about collisions that only one SRDF has, or that differ; return 1 if there are any."""
    first, second = (_statements(file, arguments) for file in (arguments.first, arguments.second))
    rows: list[str] = []
    results: dict[str, dict[str, object]] = {}
    for kind, a in first.items():
        b = second[kind]
        only_a, only_b = sorted(a.keys() - b.keys()), sorted(b.keys() - a.keys())
        changed = sorted(names for names in a.keys() & b.keys() if a[names] != b[names])
        word = "" if kind == "disabled" else f"{kind.replace('_', ' ')} "
        rows += [f"- {word}{_text(names, a[names])}" for names in only_a]
        rows += [f"+ {word}{_text(names, b[names])}" for names in only_b]
        rows += [f"~ {word}{' - '.join(names)}: {a[names]} -> {b[names]}" for names in changed]
        results[kind] = {
            "only_a": [_json(names, reason=a[names]) for names in only_a],
            "only_b": [_json(names, reason=b[names]) for names in only_b],
            "changed": [_json(names, a=a[names], b=b[names]) for names in changed],
        }
    result = {**results.pop("disabled"), **results}
    print_output(arguments, result, rows or [f"{len(first['disabled'])} pairs, no difference"])
    return int(bool(rows))


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


def comparison_json(comparison: RobotComparison) -> dict[str, object]:
    """Return a comparison as JSON-ready values."""
    return {
        "same": comparison.same,
        "differences": [difference._asdict() for difference in comparison.differences],
        "frames_moved": list(comparison.frames_moved),
        "renamed_links": comparison.renamed_links,
        "renamed_joints": comparison.renamed_joints,
        "largest_distance_m": comparison.largest_distance_m,
        "furthest_link": comparison.furthest_link,
    }


def lines(comparison: RobotComparison) -> list[str]:
    """Return a comparison as lines for people."""
    texts = [f"link '{old}' renamed '{new}'" for old, new in comparison.renamed_links.items()]
    texts += [f"joint '{old}' renamed '{new}'" for old, new in comparison.renamed_joints.items()]
    if comparison.same:
        moved = f"; {counted(len(comparison.frames_moved), 'link frame')} moved" if comparison.frames_moved else ""
        return [*texts, f"same motion{moved}"]
    texts += [difference.text for difference in comparison.differences]
    if comparison.furthest_link:
        texts.append(
            f"largest distance: {1e3 * comparison.largest_distance_m:.3g} mm at link '{comparison.furthest_link}'"
        )
    return [*texts, counted(len(comparison.differences), "difference")]


_COMPARE: Mapping[DocumentKind, Callable[[argparse.Namespace], int]] = {
    DocumentKind.URDF: _diff_robots,
    DocumentKind.SRDF: _diff_srdfs,
    DocumentKind.USDF: diff_worlds,
}

COMMAND = Command(
    _arguments,
    _run,
    examples=(
        "robot_semantics diff robot.urdf,robot.srdf robot.urdf,robot.srdf",
        "robot_semantics diff robot.srdf robot.srdf",
        "robot_semantics diff world.usdf world.usdf --tolerance 1e-6",
    ),
)
