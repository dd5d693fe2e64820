"""The managed node `robot_semantics_lifecycle_node`: the same as the plain one, step by step as its manager says."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

from rclpy.lifecycle import LifecycleNode, LifecycleState, TransitionCallbackReturn

from robot_semantics.ros.node.core import Core
from robot_semantics.ros.node.guarded_node import GuardedNode, guarded
from robot_semantics.ros.node.plain_node import NAME, run


class RobotSemanticsLifecycleNode(GuardedNode, LifecycleNode):  # type: ignore[misc]  # rclpy is typed in part
    """Configure parses, activate publishes, deactivate stops, cleanup forgets; parameters are read at configure."""

    def __init__(self, **options: Any) -> None:
        """Wait to be configured; `options` are rclpy's."""
        super().__init__(NAME, **options)
        self.core = Core(self)

    def on_configure(self, _state: LifecycleState) -> TransitionCallbackReturn:
        """Read the parameters and parse the descriptions; a bad one is logged and leaves the node unconfigured."""
        return self._do(self.core.configure)

    def on_activate(self, _state: LifecycleState) -> TransitionCallbackReturn:
        """Publish and listen."""
        return self._do(self.core.activate)

    def on_deactivate(self, _state: LifecycleState) -> TransitionCallbackReturn:
        """Publish nothing and listen to nothing, but keep the robots and answer questions about them."""
        return self._do(self.core.deactivate)

    def on_cleanup(self, _state: LifecycleState) -> TransitionCallbackReturn:
        """Forget the robots."""
        return self._do(self.core.cleanup)

    def on_shutdown(self, _state: LifecycleState) -> TransitionCallbackReturn:
        """Forget everything, from whatever state."""
        return self._do(self.core.cleanup)

    def destroy_node(self) -> None:
        """Stop all threads, then take the node away."""
        self.core.shutdown()
        super().destroy_node()

    def _do(self, step: Callable[[], None]) -> TransitionCallbackReturn:
        def take() -> TransitionCallbackReturn:
            step()
            return TransitionCallbackReturn.SUCCESS

        def fail(error: Exception) -> TransitionCallbackReturn:
            self.get_logger().error(self.explain("transition", error))
            return TransitionCallbackReturn.FAILURE

        return guarded(take, fail)()


def main(args: Sequence[str] | None = None) -> int:
    """Run the node; return the exit code."""
    return run(RobotSemanticsLifecycleNode, args)


if __name__ == "__main__":
    sys.exit(main())
