# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""`robot_semantics plot`: draw a series of world states."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.base.system import replace_file
from robot_semantics.cli.frame.argument_values import add_repeatable, one_by_model
from robot_semantics.cli.frame.command import Command, UsageError
from robot_semantics.cli.frame.inputs import (
    add_reader_options,
    add_urdf_option,
    exit_code,
    options_by_model,
    print_diagnostics,
    read_robot_files,
)
from robot_semantics.cli.frame.outputs import add_result, kind_of_result, place_of_result
from robot_semantics.cli.frame.printing import add_json_argument, counted, print_output
from robot_semantics.cli.frame.problems import print_problems

if TYPE_CHECKING:
    from robot_semantics.viewer.plotting import Limits, PlotData


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    from robot_semantics.recording.series.formats import SERIES_WORDS

    parser.add_argument("series", metavar="SERIES", nargs="+", help=f"USDF files, or a series ({SERIES_WORDS})")
    add_result(parser, {".png": "png", ".svg": "svg", ".pdf": "pdf"}, text="picture")
    add_repeatable(parser, "--joint", "NAME", "draw only this joint")
    parser.add_argument("--model", metavar="NAME", help="draw only this model")
    add_urdf_option(parser, "robot with the joint limits")
    add_reader_options(parser, several=True)
    parser.add_argument("--title", metavar="TEXT", default="", help="title of the picture")
    add_json_argument(parser)


def run(arguments: argparse.Namespace) -> int:
    """Draw; return 0 if done, 1 for problems in the series."""
    from robot_semantics.recording.target import whole_or_nothing
    from robot_semantics.viewer.plotting import PlotData, draw, load_plot_data

    unnamed = [robot for robot in arguments.urdf if robot.name is None]
    if len(unnamed) > 1:
        raise UsageError(f"--urdf {unnamed[1]}: name the model as in NAME=...")
    problems, inside = Diagnostics(), Diagnostics()
    try:
        data = load_plot_data([Path(path) for path in arguments.series], problems)
        if arguments.urdf:
            data = PlotData(data.series, data.old, _limits(arguments, data, inside))
        kind = kind_of_result(arguments)
        with (
            place_of_result(arguments, "plot") as out,
            whole_or_nothing(out, folder=False, force=arguments.force) as path,
        ):
            # The temporary name gets the ending of its kind, which selects the picture format.
            picture = path.with_name(f"{path.name}.{kind}")
            try:
                count = draw(data, picture, joints=arguments.joint, model=arguments.model, title=arguments.title)
                replace_file(picture, path)
            finally:
                picture.unlink(missing_ok=True)
    finally:
        print_diagnostics(inside)
        print_problems(problems)
    verb = "would draw" if arguments.dry_run else "drew"
    target = "" if arguments.output is None else f" to {arguments.output}"
    times = len(data.series)
    written = None if arguments.dry_run else arguments.output
    line = f"{verb} {counted(count, 'joint')} at {counted(times, 'time')}{target}"
    print_output(arguments, {"joints": count, "times": times, "written": written}, [line])
    return exit_code(problems, inside)


def _limits(arguments: argparse.Namespace, data: PlotData, inside: Diagnostics) -> dict[str, Limits]:
    """Return the joint limits by model; a robot without a name is of every model that no other robot names."""
    names = [model.name for model in data.series.models]
    unnamed = [robot for robot in arguments.urdf if robot.name is None]
    named = [robot for robot in arguments.urdf if robot.name is not None]
    robots = one_by_model("urdf", named, names, source="the series")
    options = options_by_model(arguments, names, source="the series")
    limits = dict(data.limits)
    for name in names:
        robot = robots.get(name) or next(iter(unnamed), None)
        if robot is not None:
            model = read_robot_files(arguments, robot.urdf, robot.srdf, inside, options[name])
            limits[name] = {joint.name: (joint.limits.lower, joint.limits.upper) for joint in model.joints}
    return limits


COMMAND = Command(
    add_arguments, run, reads_input=False, examples=("robot_semantics plot states/ --joint elbow_joint -o elbow.png",)
)
