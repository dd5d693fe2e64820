# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""One robot of the node: its parameters, description, topics, and the robot itself after its first description."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from rclpy.callback_groups import CallbackGroup
from rclpy.subscription import Subscription
from std_msgs.msg import String

from robot_semantics.base.errors import UnknownNameError
from robot_semantics.base.names import frame_name, shown
from robot_semantics.base.throttle import Throttle
from robot_semantics.cdr.generated_types import RosMessage
from robot_semantics.live.health import RefusalLog, Traffic
from robot_semantics.live.robot import RunningRobot
from robot_semantics.live.senders import Sender
from robot_semantics.live.settings import (
    JOINT_KINDS,
    Description,
    RobotSettings,
    SenderKind,
    one_line_a_kind,
    read_description,
)
from robot_semantics.model.loading import TEXT_PARAMETERS, DescriptionTexts
from robot_semantics.model.queries import links_fixed_to_root
from robot_semantics.model.robot_model import RobotModel
from robot_semantics.ros.node import parameters
from robot_semantics.ros.node.message_loop import MessageLoop
from robot_semantics.ros.running import qos
from robot_semantics.ros.running.guarded_node import GuardedNode
from robot_semantics.ros.running.node_names import UNKNOWN_NODE, NamePatience, node_name
from robot_semantics.ros.running.parameter_table import ParameterError, Values

LONGEST_LINE = 1000
"""Characters of a line of the log at most."""
DESCRIPTIONS = ("robot_description", "robot_description_semantic")
_LAUNCH_ARGUMENTS = {
    "robot_description": "model",
    "robot_description_semantic": "semantic_model",
    "robot_description_loops": "loops",
}
"""Parameters with texts, and the launch argument that takes the file of each."""


def declare_robot(
    node: GuardedNode, prefix: str, shared: Values | None, *, skip_invalid: bool = False
) -> dict[str, Any]:
    """Declare the parameters of a robot; `shared` are the values without prefix, which are the defaults.

    Returns:
        The values by full name.

    Raises:
        ParameterError: a value is invalid, and `skip_invalid` is False.

    """
    defaults = {name: value for name, value in (shared or {}).items() if not name.startswith("robot_description")}
    return node.declare_table(parameters.ROBOT, prefix, defaults, skip_invalid=skip_invalid)


class RobotInterface:
    """The parameters and topics of one robot; the robot itself may change, and is None before its first description.

    Attributes:
        prefix: of its parameters, topics and services: its `models` entry, or empty for a single robot.
        values: its parameters by full name.
        description: its texts and model; None until they are known.
        robot: the robot; None before the first description.
        loops: the message loops of its topics, by the kind of senders.

    """

    def __init__(self, node: GuardedNode, prefix: str, raw: bool, shared: Values | None) -> None:
        """Declare the parameters; their defaults are `shared`, the values of the parameters without prefix.

        Raises:
            ParameterError: a parameter has an invalid value.

        """
        self.node, self.prefix, self._raw = node, prefix, raw
        self.values = declare_robot(node, prefix, shared)
        self.description: Description | None = None
        self.robot: RunningRobot | None = None
        self.traffic = Traffic()
        self.loops: dict[SenderKind, MessageLoop] = {}
        self._names = NamePatience()
        self._full_topics: dict[tuple[str, str], str] = {}
        self._notices = Throttle(burst=50)
        self.refusals = RefusalLog(self.traffic, self.report, self.publishers_of)
        profile, options = qos.fresh(qos.LATCHED), qos.overridable()
        self._sent_texts: set[str] = set()
        self._latched = {
            name: node.create_publisher(String, self.topic(name), profile, qos_overriding_options=options)
            for name in DESCRIPTIONS
            if not self.description_topic(name)
        }

    @property
    def name(self) -> str:
        """The robot's name in the node: its `models` entry, or the name in the URDF."""
        return self.prefix or (self.robot.name if self.robot is not None else "")

    def topic(self, name: str) -> str:
        """Return a topic or service name of this robot."""
        return f"{self.prefix}/{name}" if self.prefix else name

    def parameter(self, name: str) -> str:
        """Return the full name of a parameter of this robot."""
        return f"{self.prefix}.{name}" if self.prefix else name

    def description_topic(self, name: str) -> str:
        """Return the topic from which one of `DESCRIPTIONS` is read; empty if its parameter has the text."""
        topic: str = self.values[self.parameter(f"{name}_topic")]
        if name == "robot_description" and self.values[self.parameter("use_robot_description_topic")]:
            return topic or self.topic(name)
        return topic

    def listen(
        self, kind: type[RosMessage], topic: str, take: Callable[..., None], group: CallbackGroup, *, raw: bool
    ) -> Subscription:
        """Subscribe to a topic of a sensor or driver, in a callback group that the executor ignores; as bytes if
        `raw`.
        """
        options = {"callback_group": group, "raw": raw, "qos_overriding_options": qos.overridable()}
        return self.node.create_subscription(kind, topic, take, qos.fresh(qos.SENSOR), **options)

    def publishers_of(self, topic: str) -> list[str]:
        """Return the full names of the known nodes that publish on a topic."""
        found = self.node.get_publishers_info_by_topic(self.node.resolve_topic_name(topic))
        return [node_name(info) for info in found]

    def remedy_of_silence(self, is_root: bool) -> str | None:
        """Return the end of a sentence about joints, or about the root joint, whose values have never come.

        None while the names of their publishers are not known yet.
        """
        topic = self.node.resolve_topic_name(self.topic("joint_states"))
        if is_root:
            assert self.robot is not None
            root = self.robot.model.root_joint
            parameter = self.parameter(f"{parameters.VIRTUAL_JOINTS}.{root.name}.source")
            return (
                f": nothing moves '{root.child_link}' in '{self.robot.parent_frame}'; publish its transform, odometry,"
                f" or the joint's values on {topic}, or set the parameter '{parameter}' ('fixed' if it never moves)"
            )
        # A message may arrive before discovery tells its publisher.
        names = sorted(set(self.publishers_of(topic))) or [UNKNOWN_NODE] * bool(self.traffic.received)
        if not self._names.is_over("silence", names):
            return None
        publishers = " and ".join(names)
        if not publishers:
            return (
                f": {topic} has no publisher; start the driver, joint_state_broadcaster or joint_state_publisher, or"
                f" remap joint_states to the topic that has them"
            )
        if not self.traffic.received:
            return f": no message has come on {topic} from {publishers}"
        return f": the messages on {topic} from {publishers} do not have them; check the joint names of this publisher"

    def topic_of(self, sender: Sender) -> str:
        """Return the full name of a sender's topic."""
        key = sender.kind, sender.topic
        if key not in self._full_topics:
            own = sender.kind in JOINT_KINDS
            self._full_topics[key] = self.node.resolve_topic_name(self.topic(sender.topic) if own else sender.topic)
        return self._full_topics[key]

    def publisher_count(self, topic: str) -> int:
        """Return the number of known publishers on a topic."""
        return int(self.node.count_publishers(self.node.resolve_topic_name(topic)))

    def report(self, sentence: str) -> None:
        """Log a warning and keep it for `~/get_status` and `/diagnostics`."""
        line = shown(sentence, LONGEST_LINE)
        self.traffic.last_errors.appendleft(line)
        self.node.get_logger().warning(line)

    def report_notices(self, notices: Iterable[str]) -> None:
        """Log a robot's notices, at a limited rate."""
        for notice in notices:
            admitted = self._notices.admit_sentence("notice", notice)
            if admitted is not None:
                self.report(admitted)

    # -- the description ------------------------------------------------------------------------------------------

    def concerned(self, changed: Values) -> dict[str, Any]:
        """Return the changed parameters of this robot."""
        below = self.parameter(f"{parameters.VIRTUAL_JOINTS}.")
        return {name: value for name, value in changed.items() if name in self.values or name.startswith(below)}

    def read(self, changed: Values) -> Description:
        """Parse the description with some changed parameter values; the robot does not change.

        Raises:
            RobotSemanticsError: the texts give no robot.

        """
        values = {**self.values, **changed}
        for name, argument in _LAUNCH_ARGUMENTS.items():
            _check_is_text(self.parameter(name), values[self.parameter(name)], argument)
        texts = DescriptionTexts(*(values[self.parameter(name)] for name in TEXT_PARAMETERS))
        known, strict = self.description, values[self.parameter("strict")]
        if known is not None and known.texts == texts and not strict:
            return known
        return read_description(texts, strict=strict, prefix=self.prefix)

    def urdf_is_missing(self, changed: Values) -> bool:
        """Return True if there would be no URDF with some changed parameter values."""
        name = self.parameter("robot_description")
        return not changed.get(name, self.values[name])

    def make_robot(self, description: Description, changed: Values) -> RunningRobot:
        """Return a robot without values for a description, with some changed parameter values.

        Raises:
            ParameterError: `default_positions` is not a state of the SRDF, or `base_frame` is a link that moves.

        """
        settings = self._settings(description.model, {**self.values, **changed})
        self._check_base_frame(description.model, settings)
        if self.lacking_state(description, changed) is not None:
            settings = replace(settings, default_positions="none")
        try:
            robot = RunningRobot(self.prefix or description.model.name, description.model, settings)
        except UnknownNameError as error:
            raise ParameterError(f"parameter '{self.parameter('default_positions')}': {error}") from None
        robot.publishers, robot.is_drained = self._publishers_of_sender, self._is_drained
        return robot

    def _is_drained(self, kind: SenderKind) -> bool:
        loop = self.loops.get(kind)
        return loop is None or loop.is_waiting

    def _publishers_of_sender(self, sender: Sender) -> int:
        return int(self.node.count_publishers(self.topic_of(sender)))

    def _check_base_frame(self, model: RobotModel, settings: RobotSettings) -> None:
        """Refuse a base frame that is a link which moves against the root link."""
        root = model.root_joint.name
        base_frame = frame_name(settings.virtual_joint(root).base_frame)
        moving = set(model.link_names) - set(links_fixed_to_root(model))
        if base_frame in {name for link in moving for name in (link, frame_name(settings.frame_prefix + link))}:
            name = self.parameter(f"{parameters.VIRTUAL_JOINTS}.{root}.base_frame")
            raise ParameterError(
                f"parameter '{name}': the link '{base_frame}' moves; it must be fixed to the root link"
                f" '{model.root_link}'"
            )

    def lacking_state(self, description: Description, changed: Values) -> str | None:
        """Return a warning if `default_positions` names a state that another description lacks.

        If the first description or a changed parameter lacks the state, that is an error instead.
        """
        name = self.parameter("default_positions")
        is_first = self.description is None and not self.description_topic("robot_description")
        choice = self.values[name]
        if is_first or name in changed or "/" not in choice:
            return None
        try:
            description.model.semantics.state_from_path(choice)
        except UnknownNameError as error:
            return f"parameter '{name}': there is no '{choice}' ({error}), so no joint has a default position"
        return None

    def undeclare_unused(self) -> None:
        """Undeclare the parameters of virtual joints that the present description does not have."""
        if self.description is None:
            return
        used = {joint.name for joint in self.description.model.semantics.virtual_joints}
        below = self.parameter(f"{parameters.VIRTUAL_JOINTS}.")
        for name in self.node.list_parameters([], 0).names:
            if name.startswith(below) and name.removeprefix(below).rpartition(".")[0] not in used:
                self.node.undeclare_parameter(name)
                self.values.pop(name, None)

    def put(self, description: Description, robot: RunningRobot, changed: Values) -> None:
        """Replace the description and the robot."""
        self.values.update(changed)
        self.description, self.robot = description, robot

    def log_description(self) -> None:
        """Log the problems of the description and a summary of the robot."""
        if self.description is None or self.robot is None:
            return
        for line in one_line_a_kind(self.description.problems):
            self.node.get_logger().warning(line)
        warning = self.lacking_state(self.description, {})
        if warning is not None:
            self.node.get_logger().warning(shown(warning, LONGEST_LINE))
        self.node.get_logger().info(shown(_summary(self.robot), LONGEST_LINE))

    def publish_description(self) -> None:
        """Send the texts to their latched topics.

        An empty text replaces a text that was sent before, and is not sent otherwise: another node may have sent one.
        """
        if self.description is None:
            return
        texts = {
            "robot_description": self.description.model.urdf_text,
            "robot_description_semantic": self.description.texts.srdf,
        }
        for name, publisher in self._latched.items():
            if texts[name] or name in self._sent_texts:
                self._sent_texts.add(name)
                publisher.publish(String(data=texts[name]))

    def _settings(self, model: RobotModel, values: Values) -> RobotSettings:
        stated = [joint.name for joint in model.semantics.virtual_joints]
        merged = dict(values)
        for name in stated:
            merged |= self._declare_virtual_joint(name, values)
        return parameters.robot_settings(merged, self.prefix, stated, self._raw)

    def _declare_virtual_joint(self, name: str, values: Values) -> dict[str, Any]:
        below = self.parameter(f"{parameters.VIRTUAL_JOINTS}.{name}")
        declared = self.node.declare_table(parameters.VIRTUAL_JOINT, below)
        return {key: values.get(key, value) for key, value in declared.items()}


def _check_is_text(name: str, text: str, argument: str) -> None:
    """Refuse the name of a file in place of its text.

    Raises:
        ParameterError: the value of the parameter `name` is a file name; `argument` is the launch argument for it.
    """
    if re.fullmatch(r"[^<\n{}]+\.(urdf|srdf|xacro|xml|ya?ml|sdf)|[^<\n:{}]*/[^<\n:{}]*", text.strip(), re.IGNORECASE):
        file = shown(text.strip())
        raise ParameterError(
            f"parameter '{name}' must be the text of a file, but '{file}' is a file name; start the node with"
            f" 'ros2 launch robot_semantics robot_semantics.launch.py {argument}:={file}', or give the text:"
            f' -p {name}:="$({"xacro" if file.endswith(".xacro") else "cat"} {file})"'
        )


def _summary(robot: RunningRobot) -> str:
    """Return a robot in one line: its links, joints, groups, and the source of its root link."""
    model, root = robot.model, robot.model.root_joint
    parts = [
        f"{len(model.links)} links",
        f"{len(model.joints) - 1} joints, {sum(not joint.virtual for joint in robot.space.joints)} of which move",
        f"{len(model.semantics.groups)} groups",
    ]
    if model.has_virtual_joint:
        parts.append(
            f"{root.type.value} virtual joint '{root.name}' in '{robot.parent_frame}' by {robot.root_source.value}"
        )
    else:
        parts.append("no virtual joint")
    return f"robot '{robot.name}': {'; '.join(parts)}"
