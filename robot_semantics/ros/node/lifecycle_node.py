"""The managed node `robot_semantics_lifecycle_node`: the same as the plain one, step by step as its manager says."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.lifecycle import LifecycleNode, LifecycleState, TransitionCallbackReturn

from robot_semantics.base.errors import RobotSemanticsError
from robot_semantics.ros.node.core import Core
from robot_semantics.ros.node.plain_node import NAME, run


class RobotSemanticsLifecycleNode(LifecycleNode):  # type: ignore[misc]  # rclpy is typed in part
    """Configure parses, activate publishes, deactivate stops, cleanup forgets; parameters are read at configure."""

    def __init__(self) -> None:
        """Wait to be configured."""
        super().__init__(NAME)
        self.core = Core(self)
        # rclpy lets a request for a transition that the state does not have end the whole node.
        service = self._service_change_state
        service.callback = self._refusing_impossible(service.callback)

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

    def _refusing_impossible(self, change_state: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
        def callback(request: Any, response: Any) -> Any:
            try:
                return change_state(request, response)
            except rclpy_implementation.RCLError:
                self.get_logger().error(f"there is no transition {request.transition.id} from the present state")
                response.success = False
                return response

        return callback

    def _do(self, step: Callable[[], None]) -> TransitionCallbackReturn:
        try:
            step()
        except RobotSemanticsError as error:
            self.get_logger().error(str(error))
            return TransitionCallbackReturn.FAILURE
        return TransitionCallbackReturn.SUCCESS


def main(args: Sequence[str] | None = None) -> int:
    """Run the node; return the exit code."""
    return run(RobotSemanticsLifecycleNode, args)


if __name__ == "__main__":
    sys.exit(main())
