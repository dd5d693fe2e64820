# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The robots of a node, with the settings and the lock that all parts share."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterable

from robot_semantics.base.errors import UnknownNameError
from robot_semantics.live.robot import RunningRobot
from robot_semantics.ros.node.parameters import NodeSettings
from robot_semantics.ros.node.served_robot import RobotInterface
from robot_semantics.ros.running.guarded_node import GuardedNode


class RobotRegistry:
    """The robots of the node; some may have no description yet.

    Attributes:
        lock: held while a robot's state is read or changed, because messages arrive in another thread.
        settings: the parameters of the node as a whole.
        served: the robots, in the order of the `models` parameter.
        state: the node's state in words, for `~/get_status` and `/diagnostics`: ``inactive`` or ``active``.

    """

    def __init__(self, node: GuardedNode, settings: NodeSettings) -> None:
        self.node, self.settings = node, settings
        self.lock = threading.RLock()
        self.served: list[RobotInterface] = []
        self.state = "inactive"

    @property
    def active(self) -> bool:
        """True while the node publishes."""
        return self.state == "active"

    @property
    def present(self) -> list[RunningRobot]:
        """The robots that have a description."""
        return [served.robot for served in self.served if served.robot is not None]

    def name_base_frames(self) -> None:
        """Let ``NAME/LINK`` be a link of the robot whose URDF has this name, if it is the only one."""
        count = Counter(name for robot in self.present for name in {robot.name, robot.model.name})
        for robot in self.present:
            robot.name_base_frames(robot.model.name if count[robot.model.name] == 1 else "")

    def now_ns(self) -> int:
        """Return the node's time."""
        return int(self.node.get_clock().now().nanoseconds)

    def named(self, names: Iterable[str] = ()) -> list[RobotInterface]:
        """Return the named robots, by default all with a description.

        Raises:
            UnknownNameError: the node has no such robot.

        """
        present = {served.name: served for served in self.served if served.robot is not None}
        chosen = list(names) or list(present)
        for name in chosen:
            if name not in present:
                raise UnknownNameError("model", name, present)
        return [present[name] for name in chosen]
