# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""`robot_semantics groups`: list the groups of a robot, one line each."""

from __future__ import annotations

import argparse

from robot_semantics.cli.frame import inputs
from robot_semantics.cli.frame.command import Command
from robot_semantics.cli.frame.printing import add_json_argument, console_for_output, print_result, table


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    inputs.add_robot_arguments(parser, srdf_needed=True, live=True)
    add_json_argument(parser)


def run(arguments: argparse.Namespace) -> None:
    """Print the groups."""
    groups = inputs.load(arguments).semantics.groups
    if arguments.json:
        print_result({"groups": list(groups)})
        return
    made = table("group", "joints", "active", "states", "chain")
    for group in groups.values():
        chain = f"{group.base_link} .. {group.tip_link}" if group.is_chain else ""
        counts = (len(group.joints), len(group.active_joints), len(group.states))
        made.add_row(group.name, *map(str, counts), chain)
    console_for_output().print(made)


COMMAND = Command(add_arguments, run, examples=("robot_semantics groups robot.urdf robot.srdf --json",))
