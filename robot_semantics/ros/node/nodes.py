# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The two nodes: the plain one configures and activates itself; the managed one waits for its transitions."""

from __future__ import annotations

from collections.abc import Callable

from rclpy.lifecycle import LifecycleNode, LifecycleState, TransitionCallbackReturn
from rclpy.parameter_service import ParameterService

from robot_semantics.ros.node.core import Core
from robot_semantics.ros.running.guarded_node import GuardedNode, guarded

NAME = "robot_semantics"


class RobotSemanticsNode(GuardedNode):
    """The plain node: configured and active from its start."""

    def __init__(self, **options: object) -> None:
        """Read the parameters and begin to publish; `options` are rclpy's.

        Raises:
            RobotSemanticsError: a parameter is invalid, or a description gives no robot.

        """
        super().__init__(NAME, start_parameter_services=False, **options)
        self.core = Core(self)
        try:
            self.core.configure()
            self.core.activate()
        except BaseException:
            # Destroy the node now: at the end of the interpreter, a message could crash it.
            self.destroy_node()
            raise
        # Offer the parameter services last: clients call a service as soon as they discover it.
        self._parameter_service = ParameterService(self)

    def destroy_node(self) -> None:
        """Stop all threads, then take the node away."""
        self.core.cleanup()
        super().destroy_node()


class RobotSemanticsLifecycleNode(GuardedNode, LifecycleNode):  # type: ignore[misc]  # rclpy is typed in part
    """Configure parses, activate publishes, deactivate stops, cleanup forgets; parameters are read at configure."""

    def __init__(self, **options: object) -> None:
        """Declare the parameters and wait to be configured; `options` are rclpy's."""
        super().__init__(NAME, **options)
        self.core = Core(self)

    def on_configure(self, _state: LifecycleState) -> TransitionCallbackReturn:
        """Read the parameters and parse the descriptions; after an error, log it and stay unconfigured."""
        return self._do(self.core.configure)

    def on_activate(self, _state: LifecycleState) -> TransitionCallbackReturn:
        """Publish and listen."""
        return self._do(self.core.activate)

    def on_deactivate(self, _state: LifecycleState) -> TransitionCallbackReturn:
        """Stop publishing and listening, but keep the robots and their services."""
        return self._do(self.core.deactivate)

    def on_cleanup(self, _state: LifecycleState) -> TransitionCallbackReturn:
        """Forget the robots."""
        return self._do(self.core.cleanup)

    def on_shutdown(self, _state: LifecycleState) -> TransitionCallbackReturn:
        """Forget everything, from any state."""
        return self._do(self.core.cleanup)

    def destroy_node(self) -> None:
        """Stop all threads, then take the node away."""
        self.core.cleanup()
        super().destroy_node()

    def _do(self, step: Callable[[], None]) -> TransitionCallbackReturn:
        def take() -> TransitionCallbackReturn:
            step()
            return TransitionCallbackReturn.SUCCESS

        def fail(error: Exception) -> TransitionCallbackReturn:
            self.get_logger().error(self.explain("transition", error))
            return TransitionCallbackReturn.FAILURE

        return guarded(take, fail)()
