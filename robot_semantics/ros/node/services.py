# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""All that answers by the messages of `robot_semantics_interfaces`: made where that package is there."""

from __future__ import annotations

from collections import Counter
from contextlib import ExitStack

from robot_semantics_interfaces.msg import JointAge, RefusalCount
from robot_semantics_interfaces.srv import GetStatus

from robot_semantics.ros.node.collision_action import CollisionAction
from robot_semantics.ros.node.group_services import GroupServices
from robot_semantics.ros.node.monitor import Monitor
from robot_semantics.ros.node.robot_states import RobotStates
from robot_semantics.ros.node.robots import Robots
from robot_semantics.ros.node.snapshots import Snapshots
from robot_semantics.ros.node.world import World
from robot_semantics.ros.node.world_frames import WorldFrames
from robot_semantics.ros.node.world_services import WorldServices


class Services:
    """The node's services, actions, snapshots and its world state, which come and go together."""

    def __init__(
        self, robots: Robots, states: RobotStates, frames: WorldFrames, monitor: Monitor, closing: ExitStack
    ) -> None:
        """Offer them; what has threads is closed by `closing`.

        Raises:
            ParameterError: a parameter means nothing.

        """
        self._robots, self._monitor = robots, monitor
        robots.node.create_service(GetStatus, "~/get_status", self._get_status)
        world = World(robots, states, frames)
        self.world = WorldServices(robots, states, world)
        Snapshots(robots, states, world, frames)
        for served in robots.served:
            closing.callback(CollisionAction(served).destroy)
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
