# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""`robot_semantics collisions enable` and `disable`: one pair of an SRDF by hand, in place."""

from __future__ import annotations

import argparse

from robot_semantics.base.names import LinkPair
from robot_semantics.cli.command import Command
from robot_semantics.cli.srdf import add_file_arguments, finish, known_robot
from robot_semantics.srdf.edit import SrdfText


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the operation's arguments."""
    add_file_arguments(parser)
    parser.add_argument("link1", metavar="LINK1", help="one link")
    parser.add_argument("link2", metavar="LINK2", help="the other link")
    parser.add_argument("--reason", metavar="TEXT", help="why; it stands in the file")


def disable(arguments: argparse.Namespace) -> int:
    """Have the pair not checked; a reason that it has already stays unless another one is given."""
    before, robot = SrdfText.from_file(arguments.srdf), known_robot(arguments)
    pair = LinkPair.of(arguments.link1, arguments.link2)
    enabled = {LinkPair.of(item.link1, item.link2) for item in before.semantic.enabled_collisions}
    text = before.remove_pairs("enable_collisions", enabled & {pair})
    return finish(arguments, before, text.disable_collisions({pair: arguments.reason}), robot)


def enable(arguments: argparse.Namespace) -> int:
    """Have the pair checked, also after the matrix is generated anew."""
    before, robot = SrdfText.from_file(arguments.srdf), known_robot(arguments)
    pair = LinkPair.of(arguments.link1, arguments.link2)
    return finish(arguments, before, before.enable_collisions({pair: arguments.reason}), robot)


DISABLE = Command(
    "do not check a pair of links, in place",
    add_arguments,
    disable,
    examples=("robot_semantics collisions disable robot.srdf palm_link base_link --urdf robot.urdf -o less.srdf",),
)
ENABLE = Command(
    "check a pair of links, in place, whatever a generated matrix says",
    add_arguments,
    enable,
    examples=("robot_semantics collisions enable robot.srdf palm_link base_link --urdf robot.urdf -o more.srdf",),
)
