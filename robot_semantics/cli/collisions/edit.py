# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""`robot_semantics collisions enable` and `disable`: edit single pairs of an SRDF."""

from __future__ import annotations

import argparse

from robot_semantics.base.names import LinkPair
from robot_semantics.cli.frame.command import Command
from robot_semantics.cli.srdf import add_file_arguments, finish, known_robot
from robot_semantics.srdf.edit import SrdfText


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `enable` and `disable`."""
    add_file_arguments(parser)
    parser.add_argument("link1", metavar="LINK1", help="first link")
    parser.add_argument("link2", metavar="LINK2", help="second link")
    parser.add_argument("--reason", metavar="TEXT", help="reason to write into the file")


def disable(arguments: argparse.Namespace) -> None:
    """Disable the check of the pair; an existing reason stays unless a new one is given."""
    before, robot = SrdfText.from_file(arguments.srdf), known_robot(arguments)
    pair = LinkPair.of(arguments.link1, arguments.link2)
    finish(arguments, before, before.disable_collisions({pair: arguments.reason}), robot)


def enable(arguments: argparse.Namespace) -> None:
    """Enable the check of the pair; a regenerated matrix keeps it enabled."""
    before, robot = SrdfText.from_file(arguments.srdf), known_robot(arguments)
    pair = LinkPair.of(arguments.link1, arguments.link2)
    finish(arguments, before, before.enable_collisions({pair: arguments.reason}), robot)


DISABLE = Command(
    add_arguments,
    disable,
    examples=("robot_semantics collisions disable robot.srdf palm_link base_link --urdf robot.urdf -o less.srdf",),
)
ENABLE = Command(
    add_arguments,
    enable,
    examples=("robot_semantics collisions enable robot.srdf palm_link base_link --urdf robot.urdf -o more.srdf",),
)
