# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""All that answers by the messages of `robot_semantics_interfaces`: made where that package is there."""

from __future__ import annotations

from robot_semantics.ros.node.collision_action import CollisionAction
from robot_semantics.ros.node.destroyable import Destroyable
from robot_semantics.ros.node.group_services import GroupServices
from robot_semantics.ros.node.monitor import Monitor
from robot_semantics.ros.node.robot_states import RobotStates
from robot_semantics.ros.node.robots import Robots
from robot_semantics.ros.node.snapshots import Snapshots
from robot_semantics.ros.node.status_service import StatusService
from robot_semantics.ros.node.world import World
from robot_semantics.ros.node.world_frames import WorldFrames
from robot_semantics.ros.node.world_services import WorldServices


class Services:
    """The node's services, actions, snapshots and its world state, which come and go together."""

    def __init__(self, robots: Robots, states: RobotStates, frames: WorldFrames, monitor: Monitor) -> None:
        """Offer them.

        Raises:
            ParameterError: a parameter means nothing.

        """
        self._parts: list[Destroyable] = []
        try:
            world = World(robots, states, frames)
            self._parts.append(world)
            self._world = WorldServices(robots, states, world)
            self._parts += [self._world, StatusService(robots, monitor)]
            self._parts.append(Snapshots(robots, states, world, frames))
            for served in robots.served:
                self._parts.append(CollisionAction(served))
                self._parts.append(GroupServices(served, robots.lock, lambda: robots.settings.state_tolerance))
        except Exception:
            self.destroy()
            raise

    def set_rate(self, frequency_hz: float) -> None:
        """Publish the world state at most so often from now on; 0: not at all."""
        self._world.set_rate(frequency_hz)

    def destroy(self) -> None:
        """Take everything away, each before what it was made with."""
        for part in reversed(self._parts):
            part.destroy()
        self._parts = []
