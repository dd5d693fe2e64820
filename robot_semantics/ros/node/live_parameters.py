# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Parameters at run time: a change is checked and prepared as a whole, and applied as a whole or not at all."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

from rcl_interfaces.msg import SetParametersResult
from rclpy.parameter import Parameter
from std_msgs.msg import String

from robot_semantics.base.errors import RobotSemanticsError
from robot_semantics.live.robot import RunningRobot
from robot_semantics.live.settings import Description
from robot_semantics.ros.node import parameters
from robot_semantics.ros.node.robots import RobotRegistry
from robot_semantics.ros.node.served_robot import DESCRIPTIONS, RobotInterface
from robot_semantics.ros.running import qos
from robot_semantics.ros.running.parameter_table import ParameterError, Values

Pending = tuple[RobotInterface, Description, RunningRobot, Values]


class Replacement(NamedTuple):
    """A description that replaced another one, or would replace it.

    Attributes:
        kept: joints that keep their values.
        lost: joints that had values and have none now.

    """

    description: Description
    kept: tuple[str, ...]
    lost: tuple[str, ...]


class LiveParameters:
    """Watches the node's parameters; a refused value changes nothing."""

    def __init__(
        self,
        robots: RobotRegistry,
        replace: Callable[[RobotInterface, Description, RunningRobot, Values], None],
        read_settings: Callable[[], None],
    ) -> None:
        """`replace` replaces a robot, `read_settings` applies the node's own parameters."""
        self._robots, self._replace, self._read_settings = robots, replace, read_settings
        self._busy = False
        self._pending: list[Pending] = []

    def start(self) -> None:
        """Watch the parameters from now on."""
        robots = self._robots
        robots.node.add_on_set_parameters_callback(self._check)
        robots.node.add_post_set_parameters_callback(self._take_effect)

    def stop(self) -> None:
        """Stop watching."""
        self._robots.node.remove_on_set_parameters_callback(self._check)
        self._robots.node.remove_post_set_parameters_callback(self._take_effect)

    def listen(self, served: RobotInterface) -> None:
        """Replace the description of a robot by each text on its description topics."""
        profile, options = qos.fresh(qos.LATCHED), qos.overridable()
        for name in DESCRIPTIONS:
            topic = served.description_topic(name)
            if topic:
                take = partial(self._take, served, served.parameter(name))
                served.node.create_subscription(String, topic, take, profile, qos_overriding_options=options)

    def _take(self, served: RobotInterface, name: str, message: String) -> None:
        """Apply a description from a topic; an invalid one is logged, and the last valid one stays."""
        text = {name: message.data}
        if served.urdf_is_missing(text):
            # The semantic description came before the robot's own; it is read together with that one.
            served.values.update(text)
            return
        try:
            self.replace(served, text)
        except RobotSemanticsError as error:
            self._robots.node.get_logger().error(f"the description from the topic is ignored: {error}")

    def replace(
        self, served: RobotInterface, text: Values, *, strict: bool = False, dry_run: bool = False
    ) -> Replacement:
        """Replace the description of a robot; the parameters then have the new texts.

        Args:
            served: the robot.
            text: the new texts by the full names of their parameters.
            strict: refuse a description with any error; otherwise the parameter decides.
            dry_run: change nothing.

        Raises:
            RobotSemanticsError: the texts give no robot; the last one stays.

        """
        before = served.robot
        self._busy = True
        try:
            description = served.read({**text, served.parameter("strict"): True} if strict else text)
            robot = served.make_robot(description, text)
            if not dry_run:
                changes = [Parameter(name, value=value) for name, value in text.items()]
                result = self._robots.node.set_parameters_atomically(changes)
                if not result.successful:
                    raise ParameterError(result.reason)
        except RobotSemanticsError:
            served.undeclare_unused()
            raise
        finally:
            self._busy = False
        if not dry_run:
            self._replace(served, description, robot, text)
        elif before is not None:
            with self._robots.lock:
                robot.adopt(before)
            served.undeclare_unused()
        measured = set(_measured(robot))
        had = [] if before is None else _measured(before)
        return Replacement(
            description,
            tuple(name for name in had if name in measured),
            tuple(name for name in had if name not in measured),
        )

    def _check(self, changes: Sequence[Parameter]) -> SetParametersResult:
        # A new description declares the parameters of its virtual joints, which calls this again.
        if self._busy:
            return SetParametersResult(successful=True)
        changed = {change.name: change.value for change in changes}
        self._pending = []
        self._busy = True
        try:
            node = self._robots.node
            if self._of_the_node() & changed.keys():
                parameters.node_settings(
                    {name: node.get_parameter(name).value for name in self._of_the_node()} | changed
                )
            for served in self._robots.served:
                own_values = served.concerned(changed)
                if own_values and not served.urdf_is_missing(own_values):
                    description = served.read(own_values)
                    self._pending.append((served, description, served.make_robot(description, own_values), own_values))
                elif own_values and served.robot is not None:
                    served.read(own_values)
        except RobotSemanticsError as error:
            for served in self._robots.served:
                served.undeclare_unused()
            self._robots.node.get_logger().error(f"parameters are not changed: {error}")
            return SetParametersResult(successful=False, reason=str(error))
        finally:
            self._busy = False
        return SetParametersResult(successful=True)

    def _take_effect(self, changes: Sequence[Parameter]) -> None:
        if self._busy:
            return
        pending, self._pending = self._pending, []
        for served, description, robot, own in pending:
            self._replace(served, description, robot, own)
        if any(change.name in self._of_the_node() for change in changes):
            self._read_settings()

    def _of_the_node(self) -> set[str]:
        return {parameter.name for parameter in parameters.node_table(self._robots.node.overrides)}


def _measured(robot: RunningRobot) -> list[str]:
    """Return the joints of a robot that have measured values."""
    return [name for name, known in zip(robot.moving.names, robot.values.measured, strict=True) if known]
