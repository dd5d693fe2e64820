# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""`robot_semantics group`: show one group with all derived properties."""

from __future__ import annotations

import argparse

from rich.console import RenderableType
from rich.text import Text

from robot_semantics.base.foreign_text import shown
from robot_semantics.cli.frame import inputs
from robot_semantics.cli.frame.command import Command
from robot_semantics.cli.frame.printing import add_json_argument, console_for_output, print_result, table


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    inputs.add_robot_arguments(parser, srdf_needed=True, live=True)
    parser.add_argument("name", metavar="GROUP", help="name of the group")
    add_json_argument(parser)


def run(arguments: argparse.Namespace) -> None:
    """Print the group."""
    model = inputs.load(arguments)
    group = model.semantics.group(arguments.name)
    members = {name: value for name, value in group.as_dict().items() if name != "name"}
    if arguments.json:
        print_result(members)
        return
    members_table = table(title=f"group {group.name}")
    for name, value in members.items():
        if isinstance(value, tuple):
            # One name per line.
            cell: RenderableType = Text("\n".join(map(shown, value)))
        else:
            cell = {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value or "")
        members_table.add_row(name.replace("_", " "), cell or "-")
    console_for_output().print(members_table)


COMMAND = Command(add_arguments, run, examples=("robot_semantics group robot.urdf robot.srdf arm",))
