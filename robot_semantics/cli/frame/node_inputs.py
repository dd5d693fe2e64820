# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Input of commands from a running node in place of files: ``--node[=NAME]``."""

from __future__ import annotations

import argparse
import importlib.util
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from robot_semantics.base.errors import MissingExtraError, RobotSemanticsError
from robot_semantics.base.pattern import pattern
from robot_semantics.cli.frame.argument_values import wait
from robot_semantics.cli.frame.command import NODE, UsageError
from robot_semantics.cli.frame.printing import print_note

if TYPE_CHECKING:
    from robot_semantics.base.diagnostics import Diagnostics
    from robot_semantics.model.loading import DescriptionTexts
    from robot_semantics.model.robot_model import RobotModel
    from robot_semantics.usdf.world_state import WorldState


PURPOSE = "--node"
WAIT_S = 10.0
"""Longest time to wait for a node [s]."""
_NAME = pattern(r"/?[A-Za-z_]\w*(/[A-Za-z_]\w*)*/?", re.ASCII)
"""Name of a node, or ``NODE/ROBOT``."""


class AskedNode(NamedTuple):
    """A running node to ask: its name, and the longest time to wait for it [s]."""

    name: str
    timeout_s: float


def add_node_argument(parser: argparse._ActionsContainer, text: str = "ask a running node, not files") -> bool:
    """Declare ``--node`` and ``--timeout``; return True if the command line has ``--node``, and so no files."""
    # `running` gives the option without a name its name: argparse would take the next word for it.
    parser.add_argument("--node", type=_node_name, metavar="[=NAME]", help=f"{text} ({NODE})")
    parser.add_argument("--timeout", type=wait, metavar="S", help=f"longest wait for the node [s] ({WAIT_S:g})")
    return getattr(parser, "names_node", False)


def _node_name(word: str) -> str:
    """Check the name of a node.

    Raises:
        argparse.ArgumentTypeError: the word cannot be the name of a node.
    """
    if not _NAME.fullmatch(word):
        raise argparse.ArgumentTypeError(f"'{word}' is not the name of a node")
    return word


def asked_node(arguments: argparse.Namespace, *, default: str | None = None) -> AskedNode | None:
    """Return the node of ``--node``, or of the name `default`; None without one.

    Raises:
        UsageError: ``--timeout`` without a node.
    """
    name = default if arguments.node is None else arguments.node
    if name is None:
        if arguments.timeout is not None:
            raise UsageError("--timeout needs --node")
        return None
    return AskedNode(name, WAIT_S if arguments.timeout is None else arguments.timeout)


def texts_of_node(node: AskedNode) -> DescriptionTexts:
    """Return the descriptions of a robot of a running node.

    Raises:
        RobotSemanticsError: ROS 2 is not installed, or the node does not answer.
    """
    with ros_needed(PURPOSE):
        from robot_semantics.ros.tools.running_node import read_robot_texts
    return read_robot_texts(*node)


def robot_of_node(node: AskedNode, diagnostics: Diagnostics) -> RobotModel:
    """Return the robot of a running node, read leniently.

    Raises:
        RobotSemanticsError: ROS 2 is not installed, or the node does not answer.
        DescriptionError: the description has no robot.
    """
    return texts_of_node(node).load(diagnostics=diagnostics)


def world_of_node(node: AskedNode) -> WorldState:
    """Return the state of the world of a running node; missing items go to stderr.

    Raises:
        RobotSemanticsError: ROS 2 is not installed, or the node does not answer.
    """
    with ros_needed(PURPOSE):
        from robot_semantics.ros.tools.running_node import read_world_text
    from robot_semantics.usdf.reader import parse_document

    world = read_world_text(*node)
    for item in world.missing:
        print_note(f"missing: {item}")
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
