"""The program `robot_semantics_node`: publishes a robot's transforms and answers what its parts mean."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from robot_semantics.ros.program import run

if TYPE_CHECKING:
    from rclpy.node import Node


def main(args: Sequence[str] | None = None) -> int:
    """Run the node; return the exit code."""
    return run("robot_semantics", _load, args=args)


def _load() -> Callable[[], Node]:
    from robot_semantics.ros.node.nodes import RobotSemanticsNode

    return RobotSemanticsNode


if __name__ == "__main__":
    sys.exit(main())
