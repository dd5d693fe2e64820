# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Plan of reading: topics, namespaces and descriptions are decided before the messages are read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from robot_semantics.base.diagnostic import Diagnostic, SourcePlace
from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.base.errors import DescriptionError, UnknownNameError
from robot_semantics.base.names import frame_name, quoted
from robot_semantics.base.record import record
from robot_semantics.cdr.message_types import (
    FIELDS,
    JOINT_STATE,
    MULTI_DOF,
    ODOMETRY,
    POSE_STAMPED,
    POSE_WITH_COVARIANCE_STAMPED,
    STRING,
    TF_MESSAGE,
    TRANSFORM_STAMPED,
)
from robot_semantics.model.apply_semantics import apply_semantics
from robot_semantics.model.loading import RobotOptions, robot_from_text
from robot_semantics.model.queries import links_fixed_to_root
from robot_semantics.model.robot_model import RobotModel
from robot_semantics.recording.bags.encodings import is_frame_transforms, unknown_schemas
from robot_semantics.recording.bags.source import (
    JSON,
    PROTOBUF,
    USUAL_TYPES,
    BagInfo,
    Channel,
    RecordedModel,
    RequestError,
    topic_name,
)
from robot_semantics.recording.read.messages import AS_USUAL, ReadOptions, Text
from robot_semantics.recording.read.stretches import OpenBags, definition_problems, inspect_bag
from robot_semantics.recording.tracks.namespaces import TF_KINDS, FrameNames, namespace_of, owner_of
from robot_semantics.srdf.table import parse_srdf, srdf_from_file

# The robots of a recording: their topics, frames and descriptions, from files or from the bag.


DEFAULT_NAME = "robot"
"""Name of a robot without a description."""

POSE_TYPES = (ODOMETRY, POSE_STAMPED, POSE_WITH_COVARIANCE_STAMPED, TRANSFORM_STAMPED)
"""Types of messages that may be the pose of a robot."""

TF_TYPES = (TF_MESSAGE, TRANSFORM_STAMPED)
"""Types of messages that may be part of TF."""

DESCRIPTION, SEMANTIC, JOINT_STATES = "robot_description", "robot_description_semantic", "joint_states"


@record(frozen=True)
class RobotRequest:
    """Request for one robot.

    Attributes:
        name: the model's name in the world state; None: its URDF's.
        namespace: of its topics, ``""`` or ``"/left"``.
        urdf: file of its URDF; None: from its topic in the bag.
        srdf: file of its SRDF; None: from its topic in the bag.
        joint_states: topics of its joint states; the first one with a joint is used. None: ``joint_states`` in its
            namespace.
        odometry: topic of its odometry; None: by the rule of doc/usdf.md.
        pose_topic: topic with its pose, of odometry, a transform or a pose.
        base_frame: another name of the frame of its root link.
        frame_prefix: prefix of the frames of its links, besides its namespace and its name.
        option_names: the names of it in options; each must be its name or that of its URDF.
        options: how its files, and the texts in the bag, are read.
    """

    name: str | None = None
    namespace: str = ""
    urdf: Path | None = None
    srdf: Path | None = None
    joint_states: tuple[str, ...] = ()
    odometry: str | None = None
    pose_topic: str | None = None
    base_frame: str | None = None
    frame_prefix: str | None = None
    option_names: tuple[str, ...] = ()
    options: RobotOptions = field(default_factory=RobotOptions)

    def __post_init__(self) -> None:
        """Give the topics their leading slash; take the one of frames away, as tf2 does."""
        names: dict[str, object] = {"joint_states": tuple(map(topic_name, self.joint_states))}
        names |= {key: text and topic_name(text) for key in ("odometry", "pose_topic") if (text := getattr(self, key))}
        frames = {key: getattr(self, key) for key in ("base_frame", "frame_prefix")}
        names |= {key: frame_name(text) for key, text in frames.items() if text is not None}
        for key, value in names.items():
            object.__setattr__(self, key, value)

    @property
    def is_of_all(self) -> bool:
        """True if no robot is named, so that every robot of the recording is meant."""
        return self.name is None and not self.namespace

    @property
    def is_described(self) -> bool:
        """True if files, topics or frames of the robot are named."""
        topics = (self.joint_states, self.odometry, self.pose_topic)
        return any((self.urdf, self.srdf, *topics, self.base_frame, self.frame_prefix))

    def refuse_names_of_several(self, robots: Sequence[str]) -> None:
        """Refuse names in options where a recording has several robots.

        Raises:
            RequestError: options name one of several robots.
        """
        if self.option_names and len(robots) > 1:
            text = f"'{self.option_names[0]}=' names one of several robots ({', '.join(robots)})"
            raise RequestError(f"{text}; choose the robots with --model NAME:/NAMESPACE")

    def topic(self, name: str) -> str:
        """Return a topic's full name in the robot's namespace."""
        return f"{self.namespace}/{name}"

    def load(self) -> ResolvedRequest:
        """Return the robot with the descriptions of the files that the request names, read leniently.

        Raises:
            DescriptionError: a file cannot be read, or gives no robot.
        """
        if self.urdf is not None:
            found = Diagnostics()
            model = self.options.load(self.urdf, self.srdf, diagnostics=found)
            return ResolvedRequest(self, model, problems=tuple(found))
        if self.srdf is not None:
            semantics = srdf_from_file(self.srdf, Diagnostics(), xacro=self.options.xacro)
            return ResolvedRequest(self, None, semantics.places.text.decode())
        return ResolvedRequest(self)

    def joint_topics(
        self,
        topics: Mapping[str, str],
        spaces: Sequence[str],
        problems: Diagnostics,
        place: SourcePlace,
        *,
        required: bool = True,
    ) -> tuple[str, ...]:
        """Return the topics of the joint states among a recording's (topic → type).

        Args:
            topics: all topics and their types.
            spaces: the namespaces of all robots.
            problems: takes warnings about missing topics.
            place: place of these problems.
            required: report missing joint states.

        Raises:
            UnknownNameError: a named topic does not exist. RequestError: it has another type, or several topics could
                be meant.
        """
        for topic in self.joint_states:
            check_topic(topic, (JOINT_STATE,), "joint states", topics)
        if self.joint_states:
            return self.joint_states
        candidates = sorted(
            topic
            for topic, msgtype in topics.items()
            if msgtype == JOINT_STATE and owner_of(topic, spaces) == self.namespace
        )
        usual = self.topic(JOINT_STATES)
        if usual in candidates:
            return (usual,)
        if len(candidates) > 1:
            raise RequestError(
                f"several topics have joint states, choose one with --joint-states: {', '.join(candidates)}"
            )
        if candidates:
            problems.note("joint-states-topic", f"joint states are taken from '{candidates[0]}'", place)
        elif self.namespace and required:
            problems.warning(
                "no-joint-states", f"topic '{usual}' does not exist", place, name=usual, valid=list(topics)
            )
        return tuple(candidates)

    def check_names(self, topics: Mapping[str, str], model: RobotModel | None) -> None:
        """Check that the named odometry exists, and that the robot of the named file has the name of the options.

        Raises:
            UnknownNameError: the topic does not exist. RequestError: it has another type, or the robot another name.
        """
        if model is not None:
            check_called(self.option_names, self.name or model.name, model)
        if self.odometry is not None:
            check_topic(self.odometry, (ODOMETRY,), "odometry", topics)
        if self.pose_topic is not None:
            check_topic(self.pose_topic, POSE_TYPES, "poses", topics)


class ResolvedRequest(NamedTuple):
    """A requested robot with the content of its files, before the recording is read.

    Attributes:
        request: the request.
        model: the robot; None if no URDF was named.
        srdf_text: the SRDF if no URDF was named.
        joint_topics: topics of its joint states.
        problems: the problems inside these files.
        stated_joints: the joints with positions in our own recording; None if another program made the recording.
    """

    request: RobotRequest
    model: RobotModel | None = None
    srdf_text: str | None = None
    joint_topics: tuple[str, ...] = ()
    problems: tuple[Diagnostic, ...] = ()
    stated_joints: frozenset[str] | None = None


def check_called(names: Collection[str], name: str, model: RobotModel | None) -> None:
    """Check that names in options are a robot's name, or that of its URDF.

    Raises:
        RequestError: a name is another.
    """
    valid = [name, *([model.name] if model is not None and model.name not in ("", name) else [])]
    for word in names:
        if word not in valid:
            raise RequestError(f"unknown robot '{word}'; did you mean {' or '.join(map(repr, valid))}?")


def check_topic(topic: str, msgtypes: Collection[str], what: str, topics: Mapping[str, str]) -> None:
    """Check that a named topic exists and has messages of one of some types.

    Raises:
        UnknownNameError: the topic does not exist. RequestError: it has another type.
    """
    if topic not in topics:
        raise UnknownNameError("topic", topic, topics)
    if topics[topic] not in msgtypes:
        raise RequestError(f"topic '{topic}' has messages of the type {topics[topic]}, not {what}")


def found_robots(
    topics: Mapping[str, str],
    only: RobotRequest,
    recorded: Mapping[str, RecordedModel],
    problems: Diagnostics,
    place: SourcePlace,
) -> Iterator[RobotRequest]:
    """Yield the robots of a recording's topics (topic → type): one for each description, else one for each namespace.

    Args:
        topics: all topics and their types.
        only: files and topics of a single robot.
        recorded: the models that our own recordings name, by their namespaces.
        problems: takes a note about the robots that were found.
        place: place of these problems.

    Raises:
        RequestError: the files or topics name one robot of several.
    """
    named = only.is_described

    def spaces(name: str, msgtype: str) -> list[str]:
        ends = (topic for topic, other in topics.items() if other == msgtype and topic.rpartition("/")[2] == name)
        return sorted({namespace_of(topic) for topic in ends})

    def name_of(namespace: str) -> str | None:
        return recorded[namespace].name if namespace in recorded else namespace.strip("/") or None

    namespaces = sorted({*spaces(DESCRIPTION, STRING), *recorded})
    if not namespaces:
        namespaces = spaces(JOINT_STATES, JOINT_STATE) if not named else [""]
    if named and len(namespaces) == 1:
        yield replace(only, namespace=namespaces[0], name=name_of(namespaces[0]))
        return
    only.refuse_names_of_several([name_of(namespace) or DEFAULT_NAME for namespace in namespaces])
    if named:
        yield only
        return
    if not namespaces and any(msgtype == JOINT_STATE for msgtype in topics.values()):
        namespaces = [""]
    for namespace in namespaces:
        if namespace and namespace not in recorded:
            what = DESCRIPTION if f"{namespace}/{DESCRIPTION}" in topics else JOINT_STATES
            text = f"robot '{namespace.strip('/')}' is found by its topic '{namespace}/{what}'"
            problems.note("robot-found", text, place)
        yield replace(only, name=name_of(namespace), namespace=namespace)


@record(frozen=True)
class RecordedRobot:
    """A robot of a recording.

    Attributes:
        name: its name in the world state.
        model: None without a description; the joints are then those in the messages.
        namespace: of its topics.
        joint_topics: topics of its joint states, preferred ones first.
        odometry: the requested topic of its pose.
        base_frame: another name of the frame of its root link.
        frame_prefix: a requested prefix of the frames of its links.
        prefix: prefix of the link frames in the messages.
        parent_frame: name of its virtual joint's parent frame in the recording; ``""`` without a virtual joint.
        frame_of_link: the names of its links' frames.
        description: the file of its URDF; None if it is from the bag.
        semantic: the file of its SRDF; None if there is none or if it is from the bag.
        urdf_text: its URDF.
        srdf_text: its SRDF; None if there is none.
        problems: the problems inside its descriptions, which were read leniently.
        stated_joints: as of `ResolvedRequest`.
    """

    name: str
    model: RobotModel | None
    namespace: str = ""
    joint_topics: tuple[str, ...] = ()
    odometry: str | None = None
    prefix: str = ""
    parent_frame: str = ""
    frame_of_link: Mapping[str, str] = field(default_factory=dict)
    description: Path | None = None
    semantic: Path | None = None
    urdf_text: str | None = None
    srdf_text: str | None = None
    problems: tuple[Diagnostic, ...] = ()
    stated_joints: frozenset[str] | None = None
    base_frame: str | None = None
    frame_prefix: str | None = None

    @property
    def root_link(self) -> str:
        """Its root link; without a description, a link with the robot's name."""
        return self.name if self.model is None else self.model.root_link

    @property
    def links(self) -> tuple[str, ...]:
        """The names of its links."""
        return (self.name,) if self.model is None else self.model.link_names

    @property
    def root_frame(self) -> str:
        """The frame of its root link."""
        return self.frame_of_link[self.root_link]

    @property
    def moving_joints(self) -> set[str]:
        """The joints of its URDF with one position that do not follow another joint."""
        joints = () if self.model is None else self.model.joints
        moving = (joint for joint in joints if joint.position_count == 1 and not joint.virtual)
        return {joint.name for joint in moving if joint.mimic is None}

    @cached_property
    def link_frames(self) -> dict[str, str]:
        """Its links by the names of their frames."""
        return {frame: link for link, frame in self.frame_of_link.items()}

    def in_frames(self, names: FrameNames, frames: Collection[str]) -> RecordedRobot:
        """Return the robot with its link frames among the frame names of the recording."""
        known, own = set(frames), self.namespace.strip("/")
        topic = f"{self.namespace}/tf"
        requested = (self.frame_prefix,) if self.frame_prefix else ()
        for prefix in (*requested, *((f"{own}/", f"{own}_") if own else ())):
            if any(names.of(topic, f"{prefix}{link}") in known for link in self.links):
                break
        else:
            prefix = ""
        frame_of_link = {link: names.of(topic, frame_name(f"{prefix}{link}")) for link in self.links}
        return replace(self, prefix=prefix, frame_of_link=frame_of_link)


def frame_aliases(
    robots: Sequence[RecordedRobot],
    names: FrameNames,
    frames: Collection[str],
    problems: Diagnostics,
    place: SourcePlace,
) -> dict[str, str]:
    """Return the other names of link frames in a recording (name → frame of the link).

    ``ROBOT/LINK`` is the link, where ROBOT is the name of the robot, or of its URDF where only one robot has it.

    Args:
        robots: the robots with the frames of their links.
        names: names of frames.
        frames: all frames that TF and odometry name.
        problems: takes a warning about a prefix that no frame has.
        place: place of this problem.

    Raises:
        UnknownNameError: there is no frame of the name of a base frame.
        RequestError: a base frame is a link that moves.
    """
    link_frames = {frame for robot in robots for frame in robot.link_frames}
    urdf_names = Counter(robot.model.name for robot in robots if robot.model is not None)
    own_names = {robot.name for robot in robots}
    aliases: dict[str, str] = {}
    for robot in robots:
        topic = f"{robot.namespace}/tf"
        prefixes = [f"{robot.name}/", *([robot.frame_prefix] if robot.frame_prefix else [])]
        urdf_name = "" if robot.model is None else robot.model.name
        if urdf_name not in own_names and urdf_names[urdf_name] == 1:
            prefixes.append(f"{urdf_name}/")
        spelled = {
            names.of(topic, f"{prefix}{link}"): frame
            for prefix in prefixes
            for link, frame in robot.frame_of_link.items()
        }
        if robot.base_frame is not None:
            spelled |= _base_alias(robot, names.of(topic, robot.base_frame), frames)
        aliases |= {name: frame for name, frame in spelled.items() if name in frames and name not in link_frames}
        if robot.frame_prefix and not any(
            names.of(topic, f"{robot.frame_prefix}{link}") in frames for link in robot.frame_of_link
        ):
            text = f"no frame of '{robot.name}' has the prefix '{robot.frame_prefix}'"
            problems.warning("frame-prefix", text, place)
    return aliases


def _base_alias(robot: RecordedRobot, base_frame: str, frames: Collection[str]) -> dict[str, str]:
    link = robot.link_frames.get(base_frame)
    if link is not None:
        if robot.model is not None and link not in links_fixed_to_root(robot.model):
            raise RequestError(f"'{base_frame}' is a link that moves; the base frame must be fixed to the root link")
        return {}
    if base_frame not in frames:
        raise UnknownNameError("frame", base_frame, frames)
    return {base_frame: robot.root_frame}


def describe_robot(planned: ResolvedRequest, texts: Sequence[Text], problems: Diagnostics) -> RecordedRobot:
    """Return a robot with its description: from the named files, else the last one on its topic.

    Args:
        planned: the request, and the content of its files.
        texts: the texts of description topics.
        problems: takes the reasons why the robot has no description; `RecordedRobot.problems` has the others.
    """
    request, model = planned.request, planned.model
    inside = Diagnostics()
    inside.extend(planned.problems)
    urdf = _last_text(texts, request.topic(DESCRIPTION), problems)
    srdf = None if request.srdf is not None else _last_text(texts, request.topic(SEMANTIC), problems)
    if model is not None and srdf is not None:
        model = apply_semantics(model, parse_srdf(srdf.text, f"<{srdf.topic}>", inside), inside)
    elif model is None and urdf is not None:
        try:
            model = robot_from_text(
                urdf.text,
                planned.srdf_text if srdf is None else srdf.text,
                strict=False,
                implicit_links=request.options.implicit_links,
                urdf_source=f"<{urdf.topic}>",
                srdf_source=str(request.srdf) if srdf is None else f"<{srdf.topic}>",
                diagnostics=inside,
            )
        except DescriptionError as error:
            problems.extend(error.diagnostics)
            inside = Diagnostics()
    if model is None:
        place = SourcePlace(f"<{request.topic(DESCRIPTION)}>")
        text = "there is no robot description; joints and frames have the names of the messages; give --urdf"
        # Our own recordings are complete: their states name no description.
        report = problems.warning if planned.stated_joints is None else problems.note
        report("no-description", text, place)
    name = request.name or (model.name if model is not None and model.name else DEFAULT_NAME)
    check_called(request.option_names, name, model)
    return RecordedRobot(
        name,
        model,
        request.namespace,
        planned.joint_topics,
        request.odometry or request.pose_topic,
        base_frame=request.base_frame,
        frame_prefix=request.frame_prefix,
        description=request.urdf if model is not None else None,
        semantic=request.srdf,
        urdf_text=None if model is None else model.urdf_text,
        srdf_text=None if model is None or model.semantics.srdf is None else model.semantics.srdf.places.text.decode(),
        problems=tuple(inside),
        stated_joints=planned.stated_joints,
    )


def _last_text(texts: Sequence[Text], topic: str, problems: Diagnostics) -> Text | None:
    texts_on_topic = sorted((text for text in texts if text.topic == topic), key=lambda text: text.log_ns)
    if any(text.text.strip() for text in texts_on_topic) and topic.rpartition("/")[2] == DESCRIPTION:
        # A robot is never empty: a publisher that starts late or ends has nothing to say.
        texts_on_topic = [text for text in texts_on_topic if text.text.strip()]
    if len({text.text for text in texts_on_topic}) > 1:
        problems.warning("description-changes", f"'{topic}' changes; the last text is used", SourcePlace(f"<{topic}>"))
    return (
        texts_on_topic[-1]
        if texts_on_topic and (texts_on_topic[-1].text.strip() or topic.rpartition("/")[2] == DESCRIPTION)
        else None
    )


@record(frozen=True)
class RecordingPlan:
    """The topics and robots to read.

    Attributes:
        bags: facts about each bag.
        topics: each topic's part: ``parse``, ``pose`` or ``stamps``.
        robots: the robots with their known files and topics.
        place: source of problems of the whole recording.
        options: how it is read.
    """

    bags: tuple[BagInfo, ...]
    topics: Mapping[str, str]
    robots: tuple[ResolvedRequest, ...]
    place: SourcePlace
    options: ReadOptions = AS_USUAL

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
    options: ReadOptions = AS_USUAL,
    open_bags: OpenBags | None = None,
) -> RecordingPlan:
    """Look at the bags and decide what to read of them.

    Args:
        paths: the bags.
        requests: the robots; one without a name stands for all that the bags tell of.
        problems: takes notes about found and missing topics.
        at_topic: a topic of whose messages the times are wanted.
        options: how it is read.
        open_bags: keeps the bags open to be read; None: they are closed.

    Raises:
        BagError: nothing can be read of a bag.
        DescriptionError: a description file cannot be read, or gives no robot.
        UnknownNameError: a topic that was named is in none of them.
        RequestError: it is not clear which topic is meant.
    """
    # First: report problems of these files before minutes of reading.
    robots = [request.load() for request in requests]
    bags = tuple(inspect_bag(path, problems, open_bags) for path in paths)
    types: dict[str, str] = {}
    for bag in bags:
        types |= bag.topics
    place = SourcePlace(", ".join(str(path) for path in paths))
    file_of: dict[str, str] = {}
    recorded = _recorded_models(bags)
    everyone = len(requests) == 1 and requests[0].is_of_all
    if everyone:
        found = found_robots(types, requests[0], recorded, problems, place)
        robots = [robots[0]._replace(request=request) for request in found]
    spaces = [robot.request.namespace for robot in robots]
    for number, robot in enumerate(robots):
        request, own = robot.request, recorded.get(robot.request.namespace)
        joint_topics = request.joint_topics(types, spaces, problems, place, required=own is None or bool(own.joints))
        request.check_names(types, robot.model)
        robots[number] = robot._replace(joint_topics=joint_topics, stated_joints=own and own.joints)
        if request.pose_topic is not None:
            file_of[request.pose_topic] = "pose"
        file_of |= dict.fromkeys((*joint_topics, request.topic(DESCRIPTION), request.topic(SEMANTIC)), "parse")
    tf_spaces = None if everyone else ("", *spaces)
    file_of |= dict.fromkeys(_topics_of_all_robots(bags, tf_spaces, options.tf_topics), "parse")
    _report_unknown_schemas(bags, problems, place)
    topics = {topic: part for topic, part in file_of.items() if types.get(topic) in FIELDS}
    if at_topic is not None:
        at_topic = topic_name(at_topic)
        if at_topic not in types:
            raise UnknownNameError("topic", at_topic, types)
        topics.setdefault(at_topic, "stamps")
    _warn_of_unusual_types(bags, topics, problems, place)
    for bag in bags:
        _leave_out_undefined(bag, topics, problems)
    return RecordingPlan(bags, topics, tuple(robots), place, options)


def _topics_of_all_robots(
    bags: Sequence[BagInfo], spaces: Collection[str] | None, tf_topics: Sequence[str]
) -> Iterator[str]:
    """Yield the topics of TF and of odometry; `tf_topics` are the requested ones.

    Raises:
        UnknownNameError, RequestError: as of `check_topic`, for a requested one.
    """
    types = {topic: msgtype for bag in bags for topic, msgtype in bag.topics.items()}
    for topic in map(topic_name, tf_topics):
        check_topic(topic, TF_TYPES, "transforms", types)
        yield topic
    yield from (topic for topic, msgtype in types.items() if _is_of_all_robots(topic, msgtype, spaces))
    yield from (channel.topic for bag in bags for channel in bag.channels if is_frame_transforms(channel.schema))


def _report_unknown_schemas(bags: Sequence[BagInfo], problems: Diagnostics, place: SourcePlace) -> None:
    unknown = unknown_schemas(channel for bag in bags for channel in bag.channels)
    if unknown:
        named = quoted((f"{topic} ({schema})" for topic, schema in unknown.items()), 9)
        problems.note("schema-unknown", f"not read, because their schemas are not known: {named}", place)


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
    bags: Sequence[BagInfo], topics: Mapping[str, str], problems: Diagnostics, place: SourcePlace
) -> None:
    for topic, channel in {channel.topic: channel for bag in bags for channel in bag.channels}.items():
        usual = USUAL_TYPES.get(topic.rpartition("/")[2], channel.msgtype)
        if channel.msgtype != usual and topic not in topics:
            text = f"topic '{topic}' is not read: its messages {_form_of(channel)}, not {usual}"
            problems.warning("unusual-type", text, place)


def _form_of(channel: Channel) -> str:
    if channel.encoding not in ("", JSON, PROTOBUF):
        return f"are in the encoding '{channel.encoding}'"
    return f"are {channel.msgtype}" if channel.msgtype else "are without a schema"


def _recorded_models(bags: Sequence[BagInfo]) -> dict[str, RecordedModel]:
    """Return the models in the metadata of the bags, by their namespaces."""
    found: dict[str, RecordedModel] = {}
    for model in (model for bag in bags for model in bag.models):
        before = found.setdefault(model.namespace, model)
        if before.name == model.name:
            found[model.namespace] = model._replace(joints=before.joints | model.joints)
    return found
