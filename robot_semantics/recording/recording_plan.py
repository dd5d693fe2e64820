# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Plan of reading: topics, namespaces and descriptions are decided before the messages are read."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from robot_semantics.base.diagnostics import Diagnostics, SourcePlace
from robot_semantics.base.errors import UnknownNameError
from robot_semantics.cdr.message_types import FIELDS, MULTI_DOF, ODOMETRY, TF_MESSAGE
from robot_semantics.recording.bag_metadata import RecordedModel
from robot_semantics.recording.bags import BagInfo
from robot_semantics.recording.message_types import USUAL_TYPES
from robot_semantics.recording.namespaces import TF_KINDS, namespace_of
from robot_semantics.recording.robots import (
    DESCRIPTION,
    SEMANTIC,
    PlannedRobot,
    RobotRequest,
    found_robots,
)
from robot_semantics.recording.stretches import definition_problems, inspect_bag
from robot_semantics.state.settings import Invalid


@dataclass(frozen=True)
class RecordingPlan:
    """The topics and robots to read.

    Attributes:
        bags: facts about each bag.
        topics: each topic's part: ``parse`` or ``stamps``.
        robots: the robots with their known files and topics.
        place: source of problems of the whole recording.
        invalid: treatment of a joint state with a position that is not finite.
    """

    bags: tuple[BagInfo, ...]
    topics: Mapping[str, str]
    robots: tuple[PlannedRobot, ...]
    place: SourcePlace
    invalid: Invalid = Invalid.SKIP

    @cached_property
    def places(self) -> Mapping[str, SourcePlace]:
        """Source of problems of each topic: the bags that have it."""
        bags: dict[str, list[str]] = {}
        for bag in self.bags:
            for topic in bag.topics:
                bags.setdefault(topic, []).append(str(bag.path))
        return {topic: SourcePlace(", ".join(having)) for topic, having in bags.items()}

    @property
    def message_count(self) -> int:
        """Number of messages to read, as the bags state it."""
        return sum(count for bag in self.bags for topic, count in bag.counts().items() if topic in self.topics)


def plan_recording(
    paths: Sequence[Path],
    requests: Sequence[RobotRequest],
    problems: Diagnostics,
    *,
    at_topic: str | None = None,
    invalid: Invalid = Invalid.SKIP,
) -> RecordingPlan:
    """Look at the bags and decide what to read of them.

    Args:
        paths: the bags.
        requests: the robots; one without a name stands for all that the bags tell of.
        problems: takes notes about found and missing topics.
        at_topic: a topic of whose messages the times are wanted.
        invalid: what happens to a joint state with a position that is not finite.

    Raises:
        BagError: nothing can be read of a bag.
        DescriptionError: a description file cannot be read, or gives no robot.
        UnknownNameError: a topic that was named is in none of them.
        RequestError: it is not clear which topic is meant.
    """
    # First: report problems of these files before minutes of reading.
    robots = [request.load() for request in requests]
    bags = tuple(inspect_bag(path, problems) for path in paths)
    types: dict[str, str] = {}
    for bag in bags:
        types |= bag.topics
    place = SourcePlace(", ".join(str(path) for path in paths))
    wanted: dict[str, str] = {}
    recorded = _recorded_models(bags)
    everyone = len(requests) == 1 and requests[0].is_of_all
    if everyone:
        found = found_robots(types, requests[0], recorded, problems, place)
        robots = [robots[0]._replace(request=request) for request in found]
    spaces = [robot.request.namespace for robot in robots]
    for number, robot in enumerate(robots):
        request, own = robot.request, recorded.get(robot.request.namespace)
        joint_topics = request.joint_topics(types, spaces, problems, place, required=own is None or bool(own.joints))
        request.check_odometry(types)
        robots[number] = robot._replace(joint_topics=joint_topics, stated_joints=own and own.joints)
        wanted |= dict.fromkeys((*joint_topics, request.topic(DESCRIPTION), request.topic(SEMANTIC)), "parse")
    tf_spaces = None if everyone else ("", *spaces)
    wanted |= {topic: "parse" for topic, msgtype in types.items() if _is_of_all_robots(topic, msgtype, tf_spaces)}
    topics = {topic: part for topic, part in wanted.items() if types.get(topic) in FIELDS}
    if at_topic is not None:
        if at_topic not in types:
            raise UnknownNameError("topic", at_topic, types)
        topics.setdefault(at_topic, "stamps")
    _warn_of_unusual_types(types, topics, problems, place)
    for bag in bags:
        _leave_out_undefined(bag, topics, problems)
    return RecordingPlan(bags, topics, tuple(robots), place, invalid)


def _leave_out_undefined(bag: BagInfo, topics: dict[str, str], problems: Diagnostics) -> None:
    for topic, problem in definition_problems(bag, topics):
        problems.error("message-definition", f"topic '{topic}' is left out: {problem}", SourcePlace(str(bag.path)))
        topics.pop(topic, None)


def _is_of_all_robots(topic: str, msgtype: str, spaces: Collection[str] | None) -> bool:
    """Return True for topics that are always read: odometry, and TF of one of the namespaces."""
    if msgtype in (ODOMETRY, MULTI_DOF):
        return True
    is_tf = msgtype == TF_MESSAGE and topic.rpartition("/")[2] in TF_KINDS
    return is_tf and (spaces is None or namespace_of(topic) in spaces)


def _warn_of_unusual_types(
    types: Mapping[str, str], topics: Mapping[str, str], problems: Diagnostics, place: SourcePlace
) -> None:
    for topic, msgtype in types.items():
        usual = USUAL_TYPES.get(topic.rpartition("/")[2], msgtype)
        if msgtype != usual and topic not in topics:
            text = f"topic '{topic}' is not read: its messages are {msgtype}, not {usual}"
            problems.warning("unusual-type", text, place)


def _recorded_models(bags: Sequence[BagInfo]) -> dict[str, RecordedModel]:
    """Return the models in the metadata of the bags, by their namespaces."""
    found: dict[str, RecordedModel] = {}
    for model in (model for bag in bags for model in bag.models):
        before = found.setdefault(model.namespace, model)
        if before.name == model.name:
            found[model.namespace] = model._replace(joints=before.joints | model.joints)
    return found
