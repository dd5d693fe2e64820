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

from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.cli.frame.argument_values import add_repeatable
from robot_semantics.cli.frame.command import Command
from robot_semantics.cli.frame.console import print_all
from robot_semantics.cli.frame.inputs import add_reading_arguments, exit_code, print_diagnostics, read_robot
from robot_semantics.cli.frame.outputs import add_output
from robot_semantics.cli.frame.printing import print_line


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    from robot_semantics.recording.series.formats import SERIES_WORDS

    parser.add_argument("series", metavar="SERIES", nargs="+", help=f"USDF files, or a series ({SERIES_WORDS})")
    add_output(parser, "-o", "--output", metavar="OUT", required=True, help="picture: .png, .svg or .pdf")
    add_repeatable(parser, "--joint", "NAME", "draw only this joint")
    parser.add_argument("--model", metavar="NAME", help="draw only this model")
    parser.add_argument("--urdf", metavar="FILE", help="URDF with the joint limits")
    add_reading_arguments(parser)
    parser.add_argument("--title", default="", help="title of the picture")


def run(arguments: argparse.Namespace) -> int:
    """Draw; return 0 if done, 1 for problems in the series."""
    from robot_semantics.recording.target import whole_or_nothing
    from robot_semantics.viewer.plotting import PlotData, draw, load_plot_data

    problems, inside = Diagnostics(), Diagnostics()
    try:
        data = load_plot_data([Path(path) for path in arguments.series], problems)
        if arguments.urdf:
            robot = read_robot(arguments, arguments.urdf, diagnostics=inside)
            limits = {joint.name: (joint.limits.lower, joint.limits.upper) for joint in robot.joints}
            data = PlotData(data.series, data.old, {model.name: limits for model in data.series.models})
        out = Path(arguments.output)
        with whole_or_nothing(out, folder=False, force=arguments.force) as path:
            # The temporary name keeps the ending, which selects the picture format.
            picture = path.with_name(f"{path.name}{out.suffix}")
            try:
                count = draw(data, picture, joints=arguments.joint, model=arguments.model, title=arguments.title)
                picture.replace(path)
            finally:
                picture.unlink(missing_ok=True)
    finally:
        print_diagnostics(inside)
        print_all(problems)
    print_line(f"drew {count} joints at {len(data.series)} times to {arguments.output}")
    return exit_code(problems, inside)


COMMAND = Command(add_arguments, run, examples=("robot_semantics plot states/ --joint elbow_joint -o elbow.png",))
