"""The world state for other nodes: latched on ``~/world_state``, and on demand by ``~/get_world_state``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from robot_semantics_interfaces.msg import WorldState as WorldStateMessage
from robot_semantics_interfaces.srv import GetWorldState

from robot_semantics.ros.messages.world_messages import world_to_message
from robot_semantics.ros.node import qos
from robot_semantics.ros.node.world_of_robots import world_state
from robot_semantics.state.samples import RobotSample
from robot_semantics.usdf.writer import write_world

if TYPE_CHECKING:
    from robot_semantics.ros.node.core import Core


class WorldServices:
    """Publishes the world state when it has changed, at most at the rate of `world_state_frequency`."""

    def __init__(self, core: Core) -> None:
        self._core = core
        node = core.node
        self._publisher = node.create_publisher(WorldStateMessage, "~/world_state", qos.fresh(qos.LATCHED))
        self._service = node.create_service(GetWorldState, "~/get_world_state", self._get_world_state)
        self._timer: Any = None
        self._last: list[tuple[object, ...]] = []

    def set_rate(self, frequency_hz: float) -> None:
        """Publish at most so often from now on; 0: not at all."""
        if self._timer is not None:
            self._core.node.destroy_timer(self._timer)
            self._timer = None
        if frequency_hz > 0.0:
            self._timer = self._core.node.create_timer(1.0 / frequency_hz, self._publish, what="world state")

    def destroy(self) -> None:
        """Take topic and service away."""
        self.set_rate(0.0)
        self._core.node.destroy_publisher(self._publisher)
        self._core.node.destroy_service(self._service)

    def _publish(self) -> None:
        if not self._core.active:
            return
        sample = self._core.coherent_state()
        # Made anew only when something has come in: a standing node costs nothing.
        present = [_fingerprint(robot) for robot in sample.robots]
        if present != self._last and any(robot.known.any() or not robot.known.size for robot in sample.robots):
            self._last = present
            self._publisher.publish(world_to_message(world_state(sample)))

    def _get_world_state(self, request: Any, response: Any) -> Any:
        state = world_state(self._core.coherent_state(request.models))
        response.state = world_to_message(state)
        response.text = write_world(state)
        response.success = True
        return response


def _fingerprint(robot: RobotSample) -> tuple[object, ...]:
    """Return what differs whenever a robot has got new values, or is another one."""
    return id(robot.model), robot.parent_frame, robot.stamps_ns.tobytes(), robot.positions.tobytes()
