# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""`robot_semantics compose`: one checked robot from a base and a part."""

from __future__ import annotations

import argparse
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.base.errors import DescriptionError, UsageError
from robot_semantics.base.names import LinkPair
from robot_semantics.base.yaml_reader import read_yaml
from robot_semantics.cli.frame import inputs
from robot_semantics.cli.frame.argument_values import (
    ROBOT_FORM,
    number_in_range,
    one_by_model,
    output_file,
    robot_argument,
)
from robot_semantics.cli.frame.command import Command
from robot_semantics.cli.frame.outputs import SRDF_ENDINGS, URDF_ENDINGS, add_output, add_result, write_files
from robot_semantics.cli.frame.printing import add_json_argument, counted, print_note, print_output
from robot_semantics.cli.frame.problems import print_problems
from robot_semantics.cli.frame.sampling import add_sampling_arguments, sample
from robot_semantics.collision.merging import undecided
from robot_semantics.model.composing import ComposedText, compose_srdf, compose_urdf
from robot_semantics.model.extended_urdf import add_prefix, with_loops
from robot_semantics.model.loading import robot_from_text
from robot_semantics.model.resources import PackageResolver, ResourceNotFoundError
from robot_semantics.model.robot_model import RobotModel
from robot_semantics.srdf.edit import SrdfText
from robot_semantics.xml.edit import XmlText
from robot_semantics.xml.numbers import number_text
from robot_semantics.xml.reader import read_text


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("base", metavar="BASE", type=robot_argument, help=f"base: {ROBOT_FORM}")
    parser.add_argument("part", metavar="PART", type=robot_argument, help="part, as the base")
    parser.add_argument("--at", required=True, metavar="LINK", help="link of the base that carries the part")
    parser.add_argument("--prefix", default="", metavar="P", help="prefix of the names of the part")
    parser.add_argument(
        "--origin",
        nargs=6,
        type=number_in_range(),
        metavar=("X", "Y", "Z", "ROLL", "PITCH", "YAW"),
        default=[0.0] * 6,
        help="pose of the part on that link [m, rad]",
    )
    add_result(parser, URDF_ENDINGS, text="URDF to write")
    add_output(
        parser,
        "--srdf-output",
        type=output_file(*SRDF_ENDINGS),
        metavar="OUT.srdf",
        help="SRDF to write (OUT.urdf with .srdf)",
    )
    inputs.add_loops_argument(parser, "closed loops of the base: Extended URDF", several=True)
    inputs.add_package_argument(parser)
    add_sampling_arguments(parser)
    add_json_argument(parser)


def _run(arguments: argparse.Namespace) -> None:
    """Write the composed URDF and SRDF; nothing is written if the robot has errors.

    Raises:
        UsageError: both robots have one name, or a file of ``--loops`` is not of one of them.
    """
    loops = _loops(arguments)
    output = Path(arguments.output or "composed.urdf")
    base, part = (XmlText(read_text(robot.urdf), robot.urdf) for robot in (arguments.base, arguments.part))
    xyz, rpy = (" ".join(map(number_text, half)) for half in (arguments.origin[:3], arguments.origin[3:]))
    conflicts = Diagnostics()
    urdf = compose_urdf(base, part, arguments.at, arguments.prefix, (xyz, rpy), output.parent, conflicts)
    arguments.package_path = [*arguments.package_path, *_packages(arguments, base, part)]
    files = {output: urdf.xml.original}
    composed, semantic, srdf_output = {str(output): urdf}, None, output
    texts = [
        None if robot.srdf is None else SrdfText.from_file(robot.srdf) for robot in (arguments.base, arguments.part)
    ]
    if any(texts):
        srdf_output = Path(arguments.srdf_output or output.with_suffix(".srdf"))
        of_base = texts[0] or SrdfText.empty(base.root.get("name") or "", str(srdf_output))
        composed[str(srdf_output)] = compose_srdf(of_base, texts[1], arguments.prefix)
        semantic = SrdfText.of(composed[str(srdf_output)].xml)
    problems = Diagnostics()
    try:
        robot = robot_from_text(
            urdf.xml.utf8.decode(),
            None if semantic is None else str(semantic),
            strict=False,
            urdf_source=str(output),
            srdf_source=str(srdf_output),
            diagnostics=problems,
        )
        for prefix, file in loops:
            root = read_yaml(file)
            add_prefix(root, prefix)
            robot = with_loops(robot, root, problems)
    except DescriptionError as error:
        problems.extend_new(error.diagnostics)
    diagnostics = _in_inputs(problems, composed)
    diagnostics.raise_if_failed()
    sampled = disabled = 0
    if semantic is not None:
        try:
            decided, sampled, disabled = _with_cross_pairs(robot, semantic, base, arguments)
            files[srdf_output] = bytes(decided)
        except DescriptionError as error:
            problems = Diagnostics()
            problems.extend(error.diagnostics)
            raise DescriptionError(_in_inputs(problems, composed)) from None
    inputs.print_diagnostics(diagnostics)
    print_problems(conflicts)
    written = write_files(arguments, files)
    links, joints = len(robot.links), len(robot.joints) - 1
    result = {
        "robot": robot.name,
        "links": links,
        "joints": joints,
        "pairs_sampled": sampled,
        "pairs_disabled": disabled,
        "written": [*map(str, files)] if written else [],
    }
    lines = [f"{robot.name}: {counted(links, 'link')}, {counted(joints, 'joint')}"]
    if semantic is not None:
        lines.insert(0, f"{counted(sampled, 'pair')} of base and part sampled, {disabled} disabled")
    print_output(arguments, result, lines)
    if written:
        print_note(f"written: {', '.join(map(str, files))}")


def _loops(arguments: argparse.Namespace) -> list[tuple[str, str]]:
    """Return the files of ``--loops`` of base and part, each with the prefix of the names of its robot.

    Raises:
        UsageError: both robots have one name, or a file of ``--loops`` is not of one of them.
    """
    base, part = arguments.base.name, arguments.part.name
    if base is not None and base == part:
        raise UsageError(f"'{arguments.part}': the base has the name '{base}' already")
    # A part without a name has no loops: those without a name are of the base.
    prefixes = {base: ""} if part is None else {base: "", part: arguments.prefix}
    loops = one_by_model("loops", arguments.loops, prefixes)
    return [(prefix, loops[name].value) for name, prefix in prefixes.items() if name in loops]


def _in_inputs(found: Diagnostics, composed: Mapping[str, ComposedText]) -> Diagnostics:
    """Return the problems of composed texts with their places in the texts of base and part."""
    moved = Diagnostics()
    for problem in found:
        text = composed.get(problem.place.source)
        moved.extend((problem if text is None else replace(problem, place=text.place(problem.place)),))
    return moved


def _with_cross_pairs(
    robot: RobotModel, srdf: SrdfText, base: XmlText, arguments: argparse.Namespace
) -> tuple[SrdfText, int, int]:
    """Return the SRDF with the pairs of base and part that need no check, and how many were sampled and disabled."""
    base_links = {(link.get("name") or "").strip() for link in base.root.iterchildren("link")}
    cross = {
        LinkPair.of(first, second)
        for first in robot.link_names
        for second in robot.link_names
        if first in base_links and second not in base_links
    }
    matrix = sample(robot, arguments, only=cross)
    found = undecided(srdf, {pair: reason.value for pair, reason in matrix.disabled().items()})
    return srdf.disable_collisions(found), len(matrix.pairs), len(found)


def _packages(arguments: argparse.Namespace, *texts: XmlText) -> list[str]:
    """Return the folders of the packages that two URDFs name, as each finds them."""
    resolver = PackageResolver(arguments.package_path)
    packages = []
    for text in texts:
        for name in sorted(set(re.findall(rb"package://([^/\"'<>]+)/", text.utf8))):
            with suppress(ResourceNotFoundError):
                packages.append(str(resolver.package(name.decode(), text.source)))
    return packages


COMMAND = Command(
    _arguments,
    _run,
    examples=("robot_semantics compose robot.urdf robot.urdf --at palm_link --prefix left_ -o two.urdf",),
)
