# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""`robot_semantics usdf resolve`: poses, motions and wrenches of everything, seen from any frame."""

from __future__ import annotations

import argparse
from dataclasses import replace
from typing import Any

import numpy as np

from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.cli import inputs, usdf_files, usdf_views
from robot_semantics.cli.console import console_for_output, table
from robot_semantics.cli.json_output import add_json_argument, print_result
from robot_semantics.usdf.frames import resolve
from robot_semantics.usdf.poses import poses_from_matrices
from robot_semantics.usdf.resolved_world import ResolvedWorld
from robot_semantics.usdf.robot import complete
from robot_semantics.usdf.world_state import WORLD


def add_resolve_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `resolve`."""
    parser.add_argument("file", metavar="FILE", help="world state")
    parser.add_argument("names", nargs="*", metavar="NAME", help="models, frames, links as MODEL::LINK (default: all)")
    parser.add_argument("--relative-to", metavar="NAME", default=WORLD, help="the frame to see them from")
    parser.add_argument("--axes", metavar="NAME", help="the axes of twists and wrenches (default: --relative-to)")
    usdf_files.add_robot_options(parser)
    add_json_argument(parser)


def run_resolve(arguments: argparse.Namespace) -> int:
    """Print the poses, twists and wrenches; links that no pose states follow from the joints of known robots."""
    (state,) = usdf_files.read_states([arguments.file])
    robots = usdf_files.robots(arguments, state, arguments.file)
    models = [complete(model, robots[model.name]) if model.name in robots else model for model in state.models]
    diagnostics = Diagnostics()
    resolved = resolve(replace(state, models=tuple(models)), diagnostics=diagnostics)
    inputs.print_diagnostics(diagnostics)
    names = arguments.names or [name for name in resolved.names if name != WORLD]
    rows = _rows(resolved, names, arguments.relative_to, arguments.axes)
    if arguments.json:
        print_result(arguments, {"relative_to": arguments.relative_to, "bodies": rows})
        return 0
    title = f"seen from {arguments.relative_to}"
    made = table("name", "x y z [m]", "qx qy qz qw", "v w [m/s rad/s]", "f t [N N m]", title=title)
    for row in rows:
        made.add_row(
            row["name"],
            usdf_views.numbers(row["xyz"]),
            usdf_views.numbers(row["quat_xyzw"]),
            usdf_views.numbers(row["twist"]),
            usdf_views.numbers(row["wrench"]),
        )
    console_for_output().print(made)
    return 0


def _rows(resolved: ResolvedWorld, names: list[str], relative_to: str, axes: str | None) -> list[dict[str, Any]]:
    """Return name, position, rpy, quaternion, twist and wrench (None where not stated) of each name."""
    poses = poses_from_matrices(resolved.poses(names, relative_to))
    twists = resolved.relative_twists(names, relative_to, axes)
    rows = []
    for name, pose, twist in zip(names, poses, twists, strict=True):
        stated = not np.isnan(resolved.wrenches[resolved.at(name)]).any()
        rows.append(
            {
                "name": name,
                "xyz": list(pose.xyz_rpy[:3]),
                "rpy": list(pose.xyz_rpy[3:]),
                "quat_xyzw": list(pose.quat_xyzw or ()),
                "twist": None if np.isnan(twist).any() else twist.tolist(),
                "wrench": list(resolved.wrench(name, axes=axes or relative_to)) if stated else None,
            }
        )
    return rows
