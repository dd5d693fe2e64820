# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""`robot_semantics bag`: write world states as a recording for `ros2 bag play`, RViz or Foxglove."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.base.errors import DescriptionError
from robot_semantics.cli.frame.argument_values import one_by_model, recorded_robot_argument
from robot_semantics.cli.frame.command import Command
from robot_semantics.cli.frame.inputs import (
    add_reader_options,
    add_urdf_option,
    exit_code,
    options_by_model,
    print_diagnostics,
    read_robot_files,
    require_urdf,
)
from robot_semantics.cli.frame.outputs import add_result, place_of_result
from robot_semantics.cli.frame.printing import add_json_argument, counted, print_output
from robot_semantics.cli.frame.problems import print_problems

if TYPE_CHECKING:
    from robot_semantics.recording.bag_writer import ModelDescription
    from robot_semantics.recording.series.input import LoadedSeries


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    from robot_semantics.recording.series.formats import SERIES_WORDS

    parser.add_argument("states", metavar="STATES", nargs="+", help=f"USDF files, or a series ({SERIES_WORDS})")
    add_result(parser, None, metavar="DIR", text="folder to write")
    add_urdf_option(parser, read=recorded_robot_argument)
    add_reader_options(parser, several=True)
    parser.add_argument("--no-links", action="store_true", help="do not write the robots' links to /tf")
    parser.add_argument("--force", action="store_true", help="replace a folder that is not empty")
    parser.add_argument("--strict", action="store_true", help="exit with 1 on warnings")
    add_json_argument(parser)


def run(arguments: argparse.Namespace) -> int:
    """Write the bag.

    Returns:
        0: done; 1: some states cannot be recorded, or with ``--strict`` a description has problems.
    """
    from robot_semantics.recording.bag_writer import write_bag
    from robot_semantics.recording.series.input import load_states
    from robot_semantics.recording.target import check_target

    problems, descriptions = Diagnostics(), Diagnostics()
    states = [Path(path) for path in arguments.states]
    try:
        if arguments.output is not None:
            check_target(Path(arguments.output), folder=True, force=arguments.force, inputs=states)
        loaded = load_states(states, problems)
        described = _described(loaded, arguments, problems, descriptions)
        with place_of_result(arguments, "bag") as place:
            written = write_bag(
                loaded.states,
                place,
                described,
                problems,
                links=not arguments.no_links,
                force=arguments.force,
            )
    finally:
        print_diagnostics(descriptions)
        print_problems(problems)
    verb = "would write" if arguments.dry_run else "wrote"
    target = "" if arguments.output is None else f" to {arguments.output}"
    value = {
        "states": len(loaded.states),
        "topics": dict(sorted(written.items())),
        "written": None if arguments.dry_run else arguments.output,
    }
    lines = (f"  {topic}  {messages}" for topic, messages in sorted(written.items()))
    print_output(arguments, value, [f"{verb} {counted(len(loaded.states), 'state')}{target}", *lines])
    return exit_code(problems, descriptions, strict=arguments.strict)


def _described(
    loaded: LoadedSeries, arguments: argparse.Namespace, problems: Diagnostics, inside: Diagnostics
) -> dict[str, ModelDescription]:
    """Return the descriptions of every model.

    `problems` receives the reasons why a model has none, `inside` the problems of leniently read descriptions.

    Raises:
        UsageError: the options name an unknown model.
    """
    from robot_semantics.model.apply_semantics import apply_semantics
    from robot_semantics.model.loading import robot_from_text
    from robot_semantics.recording.bag_writer import ModelDescription
    from robot_semantics.recording.read.plan import check_called
    from robot_semantics.srdf.table import parse_srdf, srdf_from_file

    names = list(dict.fromkeys(model.name for state in loaded.states for model in state.models))
    used_names: set[str] = set()
    robots = one_by_model("urdf", arguments.urdf, names, used_names, "the states")
    options = options_by_model(arguments, names, used_names, "the states")
    result: dict[str, ModelDescription] = {}
    for name in names:
        urdf, srdf = loaded.urdf.get(name, ""), loaded.srdf.get(name, "")
        files = robots.get(name)
        require_urdf(files and files.urdf, options[name].loops)
        if files is not None and files.srdf is not None:
            srdf = srdf_from_file(Path(files.srdf), Diagnostics(), xacro=options[name].xacro).places.text.decode()
        model = None
        if files is not None and files.urdf:
            model = read_robot_files(arguments, files.urdf, diagnostics=inside, options=options[name])
            urdf = model.urdf_text
            if srdf:
                model = apply_semantics(model, parse_srdf(srdf, f"<{name} semantic>", inside), inside)
        elif urdf:
            diagnostics = Diagnostics()
            try:
                model = robot_from_text(
                    urdf,
                    srdf or None,
                    strict=False,
                    implicit_links=options[name].implicit_links,
                    urdf_source=f"<{name}>",
                    srdf_source=f"<{name} semantic>",
                    diagnostics=diagnostics,
                )
                inside.extend(diagnostics)
            except DescriptionError as error:
                problems.extend(error.diagnostics)
        check_called(used_names, name, model)
        result[name] = ModelDescription(model, urdf, srdf)
    return result


COMMAND = Command(
    add_arguments, run, reads_input=False, examples=("robot_semantics bag world.usdf -o recording --force",)
)
