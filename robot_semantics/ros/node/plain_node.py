"""The node `robot_semantics_node`: publishes a robot's transforms and answers what its parts mean."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Sequence
from typing import Any

import rclpy
from rclpy.exceptions import ParameterException
from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.logging import get_logger
from rclpy.node import Node

from robot_semantics.base.errors import RobotSemanticsError
from robot_semantics.ros.node.guarded_node import GuardedNode
from robot_semantics.ros.node.spinning import Interrupts, spin

NAME = "robot_semantics"

_ROS_ERRORS = (
    rclpy_implementation.RCLError,
    rclpy_implementation.RCLInvalidROSArgsError,
    rclpy_implementation.UnknownROSArgsError,
    ParameterException,
)


class RobotSemanticsNode(GuardedNode):
    """The plain node: configured and active from its start."""

    def __init__(self, **options: Any) -> None:
        """Read the parameters and begin to publish; `options` are rclpy's.

        Raises:
            RobotSemanticsError: a parameter means nothing, or a description gives no robot.

        """
        super().__init__(NAME, **options)
        self.core: Core | None = None
        try:
            # Imported here, where `run` handles a signal that comes meanwhile: the larger part of the start is imports.
            from robot_semantics.ros.node.core import Core

            self.core = Core(self)
            self.core.configure()
            self.core.activate()
        except BaseException:
            # A node that is left to the interpreter's end may go down with it while messages come in.
            self.destroy_node()
            raise

    def destroy_node(self) -> None:
        """Stop all threads, then take the node away."""
        if self.core is not None:
            self.core.shutdown()
        super().destroy_node()


def run(make_node: Callable[[], Node], args: Sequence[str] | None = None) -> int:
    """Spin a node until it is told to stop by SIGINT, SIGTERM or a shutdown of the context.

    Returns:
        The exit code: 1 if the node could not be made, for which one error is logged.

    """
    interrupts = Interrupts()
    try:
        rclpy.init(args=None if args is None else list(args))
    except _ROS_ERRORS as error:
        print(f"{NAME}: {error}", file=sys.stderr)
        return 1
    node = None
    try:
        if interrupts.come:
            return 0
        node = make_node()
        # What exists by now stays: the collector need not look at it again, and its pauses stay short.
        gc.collect()
        gc.freeze()
        spin(node)
    except Exception as error:
        if not rclpy.ok():
            # Told to stop in the middle of its start: whatever failed then, failed because of that.
            return 0
        if not isinstance(error, (RobotSemanticsError, *_ROS_ERRORS)):
            raise
        get_logger(NAME).fatal(str(error))
        return 1
    finally:
        with interrupts.ending():
            if node is not None:
                node.destroy_node()
            rclpy.try_shutdown()
    return 0


def main(args: Sequence[str] | None = None) -> int:
    """Run the node; return the exit code."""
    return run(RobotSemanticsNode, args)


if __name__ == "__main__":
    sys.exit(main())
