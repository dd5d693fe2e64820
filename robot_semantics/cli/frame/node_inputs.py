# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Input of commands from a running node in place of files: ``--node [NAME]``."""

from __future__ import annotations

import argparse
import importlib.util
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING

from robot_semantics.base.errors import MissingExtraError, RobotSemanticsError
from robot_semantics.cli.frame.printing import print_line

if TYPE_CHECKING:
    from robot_semantics.base.diagnostics import Diagnostics
    from robot_semantics.model.robot_model import RobotModel
    from robot_semantics.usdf.world_state import WorldState


PURPOSE = "--node"
_NAME = re.compile(r"/?[A-Za-z_]\w*(/[A-Za-z_]\w*)*/?", re.ASCII)
"""Name of a node, or ``NODE/ROBOT``."""


def add_node_argument(parser: argparse.ArgumentParser) -> bool:
    """Declare ``--node``; return True if the command line has it, and has therefore no files."""
    parser.add_argument(
        "--node",
        nargs="?",
        const="",
        type=partial(_node_name, parser),
        metavar="NAME",
        help="ask a running node instead of reading files",
    )
    return getattr(parser, "names_node", False)


def _node_name(parser: argparse.ArgumentParser, word: str) -> str:
    """Return the word after ``--node``, which argparse takes as the name also if it is not meant as one.

    Raises:
        argparse.ArgumentTypeError: the word cannot be the name of a node.
    """
    if not word or _NAME.fullmatch(word):
        return word
    remedy = "write it before --node"
    if "=" in word and "--positions" in parser._option_string_actions:
        remedy = f"write --positions {word}"
    elif "." in word:
        remedy = "--node replaces the files"
    raise argparse.ArgumentTypeError(f"'{word}' is not the name of a node: {remedy}")


def robot_of_node(name: str, diagnostics: Diagnostics) -> RobotModel:
    """Return the robot of a running node, read leniently.

    Raises:
        RobotSemanticsError: ROS 2 is not installed, or the node does not answer.
        DescriptionError: the description has no robot.
    """
    with ros_needed(PURPOSE):
        from robot_semantics.ros.tools.running_node import read_robot_texts
    from robot_semantics.model.loading import robot_from_text

    texts = read_robot_texts(name)
    return robot_from_text(
        texts.urdf,
        texts.srdf or None,
        texts.loops or None,
        strict=False,
        implicit_links=texts.implicit_links,
        diagnostics=diagnostics,
    )


def world_of_node(name: str) -> WorldState:
    """Return the state of the world of a running node; missing items go to stderr.

    Raises:
        RobotSemanticsError: ROS 2 is not installed, or the node does not answer.
    """
    with ros_needed(PURPOSE):
        from robot_semantics.ros.tools.running_node import read_world_text
    from robot_semantics.usdf.reader import parse_document

    world = read_world_text(name)
    for item in world.missing:
        print_line(f"missing: {item}", file=sys.stderr)
    return parse_document(world.text).state


@contextmanager
def ros_needed(purpose: str) -> Iterator[None]:
    """Convert a failed import of ROS 2 to a message about the missing part: ROS 2, or a package of the workspace.

    Raises:
        MissingExtraError: ROS 2 is missing.
        RobotSemanticsError: only our interfaces are missing.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        if importlib.util.find_spec("rclpy") is None:
            raise MissingExtraError("rclpy", "ros", purpose) from error
        raise RobotSemanticsError(
            f"{purpose} needs the Python module '{error.name}': build the workspace, and source its setup file"
        ) from error
