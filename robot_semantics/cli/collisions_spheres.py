# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""`robot_semantics collisions spheres`: check the sphere approximations of links."""

from __future__ import annotations

import argparse
from typing import Any

from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.cli import inputs
from robot_semantics.cli.argument_values import number_in_range
from robot_semantics.cli.command import Command
from robot_semantics.cli.printing import add_json_argument, counted, print_json, print_line
from robot_semantics.collision.pieces import pieces_of
from robot_semantics.collision.sphere_check import LinkCheck, check_spheres
from robot_semantics.model.resources import PackageResolver

VERSION = 1
"""Version of the JSON; increased when a key changes its meaning."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the operation's arguments."""
    inputs.add_robot_arguments(parser)
    parser.add_argument("--spheres", metavar="FILE.srdf", help="SRDF with the spheres, instead of SRDF")
    parser.add_argument(
        "--tolerance", type=number_in_range(0.0), default=0.0, metavar="M", help="accepted protrusion [m] (0)"
    )
    add_json_argument(parser)


def check(arguments: argparse.Namespace) -> int:
    """Print the check of every link; return 1 if a link is not covered within the tolerance."""
    arguments.srdf = arguments.spheres or arguments.srdf
    robot = inputs.load(arguments)
    diagnostics = Diagnostics()
    pieces = pieces_of(robot, PackageResolver(arguments.package_path), diagnostics)
    diagnostics.raise_if_failed()
    inputs.print_diagnostics(diagnostics)
    results = list(check_spheres(robot, pieces, arguments.tolerance))
    holes = sum(result.covered is False for result in results)
    if arguments.json:
        print_json({"version": VERSION, "links": [_as_json(result) for result in results]})
    else:
        for result in results:
            print_line(_as_line(result))
        print_line(f"{counted(len(results), 'link')}, {holes} not covered")
    return int(holes > 0)


def _as_json(result: LinkCheck) -> dict[str, Any]:
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


def _as_line(result: LinkCheck) -> str:
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
    help="check the spheres of links",
    operations={
        "check": Command(
            add_arguments,
            check,
            "prove that spheres cover the collision geometry",
            examples=("robot_semantics collisions spheres check robot.urdf robot.srdf --tolerance 0.002",),
        )
    },
    examples=("robot_semantics collisions spheres check robot.urdf robot.srdf",),
)
