# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""`robot_semantics collisions spheres`: check, generate and convert the sphere approximations of links."""

from __future__ import annotations

import argparse
import os
from collections.abc import Collection, Mapping

from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.base.errors import RobotSemanticsError
from robot_semantics.base.files import UnknownEndingError, format_of
from robot_semantics.base.json_value import JsonObject
from robot_semantics.base.names import shown
from robot_semantics.cli.frame import inputs
from robot_semantics.cli.frame.argument_values import add_repeatable, integer, number_in_range, pair_of
from robot_semantics.cli.frame.command import Command, UsageError
from robot_semantics.cli.frame.console import Bar
from robot_semantics.cli.frame.outputs import SRDF_ENDINGS, add_result, kind_of_result, put_result
from robot_semantics.cli.frame.printing import (
    add_json_argument,
    counted,
    print_json,
    print_line,
    print_note,
    print_notes,
)
from robot_semantics.cli.frame.problems import print_problems
from robot_semantics.cli.frame.sampling import collision_pieces
from robot_semantics.cli.usdf.files import print_lost
from robot_semantics.collision.sphere_check import NO_GEOMETRY, LinkCheck, check_spheres, refuse_large_spheres
from robot_semantics.collision.sphere_fit import MOST_SPHERES, FitTask, fit_link
from robot_semantics.convert.planner_formats import ENDINGS, SRDF, read_planner, write_planner
from robot_semantics.model.robot_model import RobotModel
from robot_semantics.recording.parallel import Processes, Workers
from robot_semantics.srdf.edit import SrdfText
from robot_semantics.srdf.new import link_spheres
from robot_semantics.srdf.tree import SrdfSphere

VERSION = 1
"""Version of the JSON; increased when a key changes its meaning."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the operation's arguments."""
    inputs.add_robot_arguments(parser)
    endings = ", ".join(ENDINGS)
    parser.add_argument("--spheres", metavar="FILE", help=f"file with the spheres, instead of SRDF ({endings})")
    parser.add_argument(
        "--tolerance", type=number_in_range(0.0), default=0.0, metavar="M", help="accepted protrusion [m] (0)"
    )
    add_json_argument(parser)


def check_sphere_coverage(arguments: argparse.Namespace) -> int:
    """Print the check of every link; return 1 if a link is not covered within the tolerance."""
    robot, spheres, lacking = _robot_and_spheres(arguments)
    pieces = collision_pieces(robot, arguments)
    if not pieces:
        raise RobotSemanticsError(f"'{shown(robot.name)}' has {NO_GEOMETRY}")
    results = [
        LinkCheck(result.link, 0, covered=False) if result.link in lacking else result
        for result in check_spheres(robot, pieces, spheres, arguments.tolerance)
    ]
    holes = sum(result.covered is False for result in results)
    if arguments.json:
        print_json({"version": VERSION, "links": [_as_json(result) for result in results]})
    else:
        for result in results:
            print_line(_as_line(result, arguments.spheres))
        print_line(f"{counted(len(results), 'link')}, {holes} not covered")
    return int(holes > 0)


def _robot_and_spheres(
    arguments: argparse.Namespace,
) -> tuple[RobotModel, Mapping[str, tuple[SrdfSphere, ...]], Collection[str]]:
    """Return the robot, its spheres by the rules of MoveIt, from the SRDF or from ``--spheres``, and the links that the
    file of a planner leaves out.
    """
    file = arguments.spheres
    if file is None or _format_of(file, "--spheres") == SRDF:
        arguments.srdf = file or arguments.srdf
        robot = inputs.load(arguments, whole=True)
        return robot, robot.semantics.link_spheres, ()
    robot = inputs.load(arguments, whole=True)
    diagnostics = Diagnostics()
    planner = read_planner(file, robot, diagnostics).value
    print_problems(diagnostics)
    return robot, planner.for_moveit(robot), robot.link_index.keys() - planner.spheres.keys()


def _convert_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("urdf", metavar="URDF", help="URDF, plain or xacro")
    parser.add_argument("source", metavar="FROM", help=f"file to convert ({', '.join(ENDINGS)})")
    add_result(parser, ENDINGS, text="file to write")
    kinds = list(dict.fromkeys(ENDINGS.values()))
    parser.add_argument("--from", dest="kind", choices=kinds, help="kind of FROM (by the ending)")
    parser.add_argument("--group", metavar="NAME", help="group that the planner moves")
    parser.add_argument("--state", metavar="GROUP/NAME", help="state with the default positions")
    inputs.add_loading_arguments(parser)


def convert(arguments: argparse.Namespace) -> None:
    """Write the converted file; list lost content on stderr."""
    kind = arguments.kind or _format_of(arguments.source, "--from")
    if arguments.output is None and arguments.to is None:
        raise UsageError("--dry-run needs the kind of the result: give -o or --to")
    group, name = _group_and_state(arguments)
    arguments.srdf = arguments.source if kind == SRDF else None
    robot = inputs.load(arguments, whole=True)
    diagnostics = Diagnostics()
    read = read_planner(arguments.source, robot, diagnostics, group, name, kind=kind)
    diagnostics.raise_if_failed(strict=arguments.strict)
    print_problems(diagnostics)
    target, names = kind_of_result(arguments), (group, name)
    written = write_planner(read.value, arguments.output or "", robot, arguments.urdf, *names, kind=target)
    print_notes(written.notes)
    print_lost((*read.lost, *written.lost))
    put_result(arguments, written.value)


def _generate_arguments(parser: argparse.ArgumentParser) -> None:
    inputs.add_robot_arguments(parser)
    size = parser.add_mutually_exclusive_group(required=True)
    size.add_argument("--count", type=integer(1, MOST_SPHERES), metavar="N", help="largest number of spheres of a link")
    size.add_argument("--overshoot", type=number_in_range(1e-5), metavar="M", help="largest overshoot of a sphere [m]")
    add_repeatable(parser, "--link", "LINK", "link to fit (default: every link with collision geometry)")
    add_result(parser, SRDF_ENDINGS, in_place=True, changed="srdf", text="SRDF to write")
    parser.add_argument("--seed", type=integer(0, 2**32 - 1), default=0, help="seed of the fit (0)")
    parser.add_argument(
        "--jobs", type=integer(1), default=os.cpu_count() or 1, metavar="N", help="number of processes (all cores)"
    )


def generate(arguments: argparse.Namespace) -> None:
    """Fit spheres, print each link, and write an SRDF at the end; an interrupted run leaves no file."""
    robot = inputs.load(arguments, whole=True)
    link_names = {robot.link(name).name for name in arguments.link}
    pieces = collision_pieces(robot, arguments)
    if not pieces:
        raise RobotSemanticsError(f"'{shown(robot.name)}' has {NO_GEOMETRY}")
    tasks = []
    for link in robot.links:
        link_pieces = tuple(piece for piece in pieces if piece.link == link.index)
        given = robot.semantics.link_spheres.get(link.name)
        if not link_names and given is not None and given[0].radius == 0.0:
            print_note(f"note: {link.name}: radius 0 in the SRDF; --link {link.name} fits it")
        elif link_pieces and (not link_names or link.name in link_names):
            tasks.append(FitTask(link.name, link_pieces, arguments.count, arguments.overshoot, arguments.seed))
        elif link.name in link_names:
            raise RobotSemanticsError(f"link '{link.name}' has no collision geometry")
    text = SrdfText.from_file(arguments.srdf) if arguments.srdf else SrdfText.empty(robot.name)
    stated = {spheres.link for spheres in text.semantic.link_spheres}
    with Bar() as bar, Processes(arguments.jobs) if arguments.jobs > 1 else Workers() as workers:
        bar.phase("fitting", len(tasks))
        for fit in workers.map(fit_link, tasks):
            bar.advance(1)
            if fit.link in stated:
                text = text.remove("link with spheres", fit.link)
            refuse_large_spheres(fit.link, fit.spheres)
            rows = [(*center, radius) for center, radius in zip(fit.spheres.centers, fit.spheres.radii, strict=True)]
            text = text.add([link_spheres(fit.link, rows)])
            print_line(f"{fit.link}: {counted(len(rows), 'sphere')}, overshoot {fit.overshoot:.6f} m")
    put_result(arguments, bytes(text), arguments.srdf)


def _group_and_state(arguments: argparse.Namespace) -> tuple[str | None, str | None]:
    """Return the group and the name of the state; ``--state GROUP/NAME`` also gives the group.

    Raises:
        UsageError: the word has another form, or another group than ``--group``.
    """
    if arguments.state is None:
        return arguments.group, None
    group, name = pair_of(arguments.state, "/", "--state", "GROUP/NAME")
    if arguments.group is not None and arguments.state.startswith(f"{arguments.group}/"):
        group, name = arguments.group, arguments.state.removeprefix(f"{arguments.group}/")
    if arguments.group not in (None, group):
        raise UsageError(f"--state '{arguments.state}' is not of the group '{arguments.group}'")
    return group, name


def _format_of(path: str, option: str) -> str:
    try:
        return format_of(path, ENDINGS)
    except UnknownEndingError as error:
        hint = ": give the kind with --from" if option == "--from" else ""
        raise UsageError(f"{error}{hint}") from None


def _as_json(result: LinkCheck) -> JsonObject:
    witness = result.witness
    return {
        "link": result.link,
        "spheres": result.spheres,
        "covered": result.covered,
        "protrusion_m": result.protrusion,
        "witness": witness
        and {"point": witness.point.tolist(), "element": witness.element, "triangle": witness.triangle},
        "overshoot_m": result.overshoot,
        "volume_ratio": result.volume_ratio,
    }


def _as_line(result: LinkCheck, file: str | None) -> str:
    if result.covered is False and not result.spheres:
        return f"{result.link}: error: no spheres in {file}"
    if result.covered is None:
        return f"{result.link}: not considered (radius 0)"
    verdict = "covered" if result.covered else "error: not covered"
    words = f"{result.link}: {verdict}, {counted(result.spheres, 'sphere')}"
    if result.witness is not None:
        x, y, z = result.witness.point
        place = f"element {result.witness.element}"
        if result.witness.triangle is not None:
            place += f", triangle {result.witness.triangle}"
        words += f", protrusion {result.protrusion:.6f} m at ({x:.6f}, {y:.6f}, {z:.6f}) of {place}"
    return f"{words}, overshoot {result.overshoot:.6f} m, volume ratio {result.volume_ratio:.3f}"


COMMAND = Command(
    operations={
        "check": Command(
            add_arguments,
            check_sphere_coverage,
            "prove that spheres cover the collision geometry",
            examples=("robot_semantics collisions spheres check robot.urdf robot.srdf --tolerance 0.002",),
        ),
        "generate": Command(
            _generate_arguments,
            generate,
            "fit spheres that are proven to cover the links",
            examples=("robot_semantics collisions spheres generate robot.urdf robot.srdf --count 4 -o new.srdf",),
        ),
        "convert": Command(
            _convert_arguments,
            convert,
            "convert spheres between SRDF, cuRobo, XRDF and URDF",
            examples=(
                "robot_semantics collisions spheres convert robot.urdf robot.srdf --group arm -o robot.xrdf",
                "robot_semantics collisions spheres convert robot.urdf robot.srdf --group arm -o robot.yml",
            ),
        ),
    },
    examples=("robot_semantics collisions spheres check robot.urdf robot.srdf",),
)
