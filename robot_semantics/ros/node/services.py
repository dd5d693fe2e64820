# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""All services and actions with types of `robot_semantics_interfaces`; created only if that package is installed."""

from __future__ import annotations

from collections import Counter
from contextlib import ExitStack

from rclpy.exceptions import InvalidHandle
from rclpy.publisher import Publisher
from rclpy.timer import Timer
from robot_semantics_interfaces.msg import JointAge, RefusalCount
from robot_semantics_interfaces.msg import WorldState as WorldStateMessage
from robot_semantics_interfaces.srv import GetStatus, GetWorldState

from robot_semantics.model.robot_model import RobotModel
from robot_semantics.ros.messages.world_messages import world_to_message
from robot_semantics.ros.node.collision_action import CollisionAction
from robot_semantics.ros.node.description_service import DescriptionService
from robot_semantics.ros.node.group_services import GroupServices
from robot_semantics.ros.node.live_parameters import LiveParameters
from robot_semantics.ros.node.monitor import Monitor
from robot_semantics.ros.node.robot_states import RobotStates
from robot_semantics.ros.node.robots import Robots
from robot_semantics.ros.node.snapshots import Snapshots
from robot_semantics.ros.node.world import World, WorldCapture
from robot_semantics.ros.node.world_frames import WorldFrames
from robot_semantics.ros.running import qos
from robot_semantics.usdf.writer import write_world


class Services:
    """The node's services, actions, snapshots and world state, made and removed together."""

    def __init__(
        self,
        robots: Robots,
        states: RobotStates,
        frames: WorldFrames,
        monitor: Monitor,
        live: LiveParameters,
        closing: ExitStack,
    ) -> None:
        """Make them; `closing` stops those with threads.

        Raises:
            ParameterError: a parameter is invalid.

        """
        self._robots, self._monitor = robots, monitor
        robots.node.create_service(GetStatus, "~/get_status", self._get_status)
        world = World(robots, states, frames)
        self.world = WorldServices(robots, states, world)
        monitor.watch(self.world.subscribers_changed, self.world.follow_subscribers)
        Snapshots(robots, states, world, frames)
        for served in robots.served:
            closing.callback(CollisionAction(served).destroy)
            DescriptionService(served, live)
            GroupServices(served, robots.lock, lambda: robots.settings.state_tolerance)

    def _get_status(self, _request: GetStatus.Request, response: GetStatus.Response) -> GetStatus.Response:
        robots = self._robots
        response.success = True
        response.state = robots.state
        refused: Counter[str] = Counter()
        models: list[str] = []
        joints: list[JointAge] = []
        errors: list[str] = []
        with robots.lock:
            for served in robots.served:
                traffic = served.traffic
                response.joint_states_received += traffic.received
                response.joint_states_used += traffic.used
                response.joint_states_refused += traffic.refused_joint_states
                response.transforms_sent += traffic.transforms
                refused.update({reason.value: count for reason, count in traffic.refused.items()})
                errors += traffic.last_errors
                if served.robot is not None:
                    models.append(served.name)
                    ages = self._monitor.ages(served, served.robot)
                    joints += [JointAge(model=served.name, joint=name, age=age) for name, age in ages.items()]
        response.models, response.joints, response.last_errors = models, joints, errors
        response.refusals = [RefusalCount(reason=reason, count=count) for reason, count in refused.items()]
        return response


class WorldServices:
    """Publishes the world state when it has changed, at most at the rate of `world_state_frequency`.

    The state is made only for subscribers; without them the executor sleeps.
    """

    def __init__(self, robots: Robots, states: RobotStates, world: World) -> None:
        self._robots, self._states, self._world = robots, states, world
        self._publisher = self._new_publisher()
        robots.node.create_service(
            GetWorldState, "~/get_world_state", self._get_world_state, callback_group=world.group
        )
        self._frequency_hz = 0.0
        self._timer: Timer | None = None
        self._busy = False
        self._seen: tuple[object, ...] = ()
        self._last: WorldCapture | None = None

    def set_rate(self, frequency_hz: float) -> None:
        """Publish at most at this rate [Hz]; 0: not at all."""
        self._frequency_hz = frequency_hz
        if self._timer is not None:
            self._robots.node.destroy_timer(self._timer)
            self._timer = self._new_timer() if frequency_hz > 0.0 else None

    def subscribers_changed(self) -> bool:
        """Return True if the first subscriber came or the last one left; any thread may call it."""
        return self._is_wanted() != (self._timer is not None)

    def follow_subscribers(self) -> None:
        """Start publishing for the first subscriber; stop after the last one."""
        if not self.subscribers_changed():
            return
        node = self._robots.node
        if self._timer is None:
            self._timer = self._new_timer()
            # The first message does not wait for the timer.
            if node.executor is not None:
                node.executor.create_task(node.guarded(self._publish, "world state"))
            return
        node.destroy_timer(self._timer)
        self._timer, self._seen, self._last = None, (), None
        # A later subscriber must not get the last message of this time.
        old, self._publisher = self._publisher, self._new_publisher()
        node.destroy_publisher(old)

    def _new_publisher(self) -> Publisher:
        return self._robots.node.create_publisher(WorldStateMessage, "~/world_state", qos.fresh(qos.LATCHED))

    def _new_timer(self) -> Timer:
        return self._robots.node.create_timer(
            1.0 / self._frequency_hz, self._publish, self._world.group, what="world state"
        )

    def _is_wanted(self) -> bool:
        try:
            return self._frequency_hz > 0.0 and self._publisher.get_subscription_count() > 0
        except InvalidHandle:
            # The executor replaced the publisher a moment ago.
            return False

    async def _publish(self) -> None:
        if not self._robots.active or self._busy:
            return
        seen = self._states.fingerprint()
        # Skip if no new value has arrived; simulators do not tell.
        if not self._robots.settings.simulators and (seen == self._seen or not self._states.knows_anything):
            return
        self._seen, self._busy = seen, True
        try:
            taken = await self._world.take(hold=False)
        finally:
            self._busy = False
        if taken != self._last and self._timer is not None:
            self._last = taken
            self._publisher.publish(world_to_message(taken.state, taken.missing, self._models(taken)))

    def _models(self, taken: WorldCapture) -> dict[str, RobotModel]:
        """Return the robots of the models that the node has."""
        known = {robot.name: robot.model for robot in self._robots.present}
        return {model: known[robot] for model, robot in taken.robots.items() if robot in known}

    async def _get_world_state(
        self, request: GetWorldState.Request, response: GetWorldState.Response
    ) -> GetWorldState.Response:
        taken = await self._world.take(request.models)
        response.state = world_to_message(taken.state, taken.missing, self._models(taken))
        if request.with_text:
            response.text = write_world(taken.state)
        response.success = True
        return response
