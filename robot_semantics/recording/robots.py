"""The robots of a recording: which topics and frames are theirs, and their descriptions from files or from the bag."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from robot_semantics.base.diagnostics import Diagnostics, Place
from robot_semantics.base.errors import DescriptionError, RobotSemanticsError, UnknownNameError
from robot_semantics.model.loading import load_robot, robot_from_text
from robot_semantics.model.robot_model import RobotModel
from robot_semantics.recording.message_types import JOINT_STATE
from robot_semantics.recording.reading import Text
from robot_semantics.srdf.reader import srdf_from_file
from robot_semantics.xml.xacro_options import Xacro

DEFAULT_NAME = "robot"
"""What a robot without a description is called."""


class RequestError(RobotSemanticsError):
    """What was asked for does not fit the recording."""


@dataclass(frozen=True)
class RobotRequest:
    """A robot that is looked for.

    Attributes:
        name: the model's name in the world state; None: its URDF's.
        namespace: of its topics, ``""`` or ``"/left"``.
        urdf: file of its URDF; None: from its topic in the bag.
        srdf: file of its SRDF; None: from its topic in the bag.
        joint_states: topic of its joint states; None: ``joint_states`` in its namespace.
        xacro: how the files are expanded, if they are xacros.
        implicit_links: whether joints may name links that no ``<link>`` declares.
    """

    name: str | None = None
    namespace: str = ""
    urdf: Path | None = None
    srdf: Path | None = None
    joint_states: str | None = None
    xacro: Xacro = field(default_factory=Xacro)
    implicit_links: bool = False

    def urdf_text(self) -> str:
        """Return the text of its URDF file in the current form, of a xacro what it expands to.

        Raises:
            DescriptionError: it cannot be read, or gives no robot.
        """
        assert self.urdf is not None
        return description_text(self.urdf, self.xacro, implicit_links=self.implicit_links)

    def topic(self, name: str) -> str:
        """Return a topic's full name in the robot's namespace."""
        return f"{self.namespace}/{name}"

    def joint_topic(self, topics: Mapping[str, str], problems: Diagnostics, place: Place) -> str | None:
        """Return the topic of the joint states among a recording's (topic → type); None if it has none.

        Raises:
            UnknownNameError: the topic that was named is not there.
            RequestError: it is of another type, or it is not clear which topic is meant.
        """
        candidates = sorted(topic for topic, msgtype in topics.items() if msgtype == JOINT_STATE)
        if self.joint_states is not None:
            if self.joint_states not in topics:
                raise UnknownNameError("topic", self.joint_states, topics)
            if self.joint_states not in candidates:
                raise RequestError(f"topic '{self.joint_states}' has no joint states but {topics[self.joint_states]}")
            return self.joint_states
        usual = self.topic("joint_states")
        if usual in candidates:
            return usual
        if self.namespace:
            problems.warning("no-joint-states", f"there is no topic '{usual}'", place, name=usual, valid=list(topics))
            return None
        if len(candidates) > 1:
            raise RequestError(
                f"several topics have joint states, choose one with --joint-states: {', '.join(candidates)}"
            )
        if candidates:
            problems.note("joint-states-topic", f"joint states are taken from '{candidates[0]}'", place)
            return candidates[0]
        return None


@dataclass(frozen=True)
class Robot:
    """A robot of a recording.

    Attributes:
        name: its name in the world state.
        model: None where no description was found; then joints are what the messages call joints.
        joint_topic: where its joint states are, None if nowhere.
        prefix: what its links' frames start with.
        description: the file of its URDF, None if it came from the bag.
        semantic: the file of its SRDF, None if there is none or it came from the bag.
        urdf_text: its URDF.
        srdf_text: its SRDF, None if there is none.
    """

    name: str
    model: RobotModel | None
    joint_topic: str | None
    prefix: str = ""
    description: Path | None = None
    semantic: Path | None = None
    urdf_text: str | None = None
    srdf_text: str | None = None

    @property
    def root_frame(self) -> str:
        """The frame of its root link; of a robot without a description the frame that has its name."""
        return f"{self.prefix}{self.name if self.model is None else self.model.root_link}"

    @property
    def link_frames(self) -> dict[str, str]:
        """Its links by the names of their frames."""
        names = (self.name,) if self.model is None else self.model.link_names
        return {f"{self.prefix}{name}": name for name in names}


def find_robot(
    request: RobotRequest,
    texts: Sequence[Text],
    joint_topic: str | None,
    frames: Sequence[str],
    problems: Diagnostics,
) -> Robot:
    """Return a robot with its description: from files, else from the last one that its topic has.

    Raises:
        DescriptionError: a file that was named gives no robot.
        OSError: a file cannot be read.
    """
    urdf = _last_text(texts, request.topic("robot_description"), problems)
    srdf = _last_text(texts, request.topic("robot_description_semantic"), problems)
    model: RobotModel | None = None
    srdf_text = semantic_text(request.srdf, request.xacro) if request.srdf else srdf.text if srdf else None
    srdf_source = str(request.srdf) if request.srdf else f"<{request.topic('robot_description_semantic')}>"
    if request.urdf is not None:
        text = request.urdf_text()
        model = robot_from_text(
            text, srdf_text, strict=False, urdf_source=str(request.urdf), srdf_source=srdf_source, diagnostics=problems
        )
    elif urdf is not None:
        source = f"<{urdf.topic}>"
        try:
            model = robot_from_text(
                urdf.text,
                srdf_text,
                strict=False,
                implicit_links=request.implicit_links,
                urdf_source=source,
                srdf_source=srdf_source,
                diagnostics=problems,
            )
        except DescriptionError as error:
            problems.extend(tuple(item for item in error.diagnostics if item not in tuple(problems)))
    if model is None:
        place = Place(f"<{request.topic('robot_description')}>")
        problems.warning(
            "no-description", "no robot description; joints and frames are taken as the messages name them", place
        )
    name = request.name or (model.name if model is not None and model.name else DEFAULT_NAME)
    return Robot(
        name,
        model,
        joint_topic,
        _prefix(request, (name,) if model is None else model.link_names, frames),
        request.urdf if model is not None else None,
        request.srdf,
        None if model is None else model.urdf_text,
        None if model is None or model.semantics.srdf is None else model.semantics.srdf.places.text.decode(),
    )


def description_text(path: Path, xacro: Xacro | None = None, *, implicit_links: bool = False) -> str:
    """Return a URDF file's text in the current form, links that only joints name written out, a xacro expanded.

    Raises:
        DescriptionError: it cannot be read, or gives no robot.
    """
    return load_robot(path, strict=False, implicit_links=implicit_links, xacro=xacro).urdf_text


def semantic_text(path: Path, xacro: Xacro | None = None) -> str:
    """Return an SRDF file's text, of a xacro what it expands to.

    Raises:
        DescriptionError: it cannot be read, or is no SRDF.
    """
    return srdf_from_file(path, Diagnostics(), xacro=xacro).places.text.decode()


def _last_text(texts: Sequence[Text], topic: str, problems: Diagnostics) -> Text | None:
    mine = sorted((text for text in texts if text.topic == topic), key=lambda text: text.log_ns)
    if len({text.text for text in mine}) > 1:
        problems.warning("description-changes", f"'{topic}' changes; the last text is taken", Place(f"<{topic}>"))
    return mine[-1] if mine else None


def _prefix(request: RobotRequest, links: Sequence[str], frames: Sequence[str]) -> str:
    """Return what the frames of the robot's links start with: its namespace, if frames with it were recorded."""
    name = request.namespace.strip("/")
    known = set(frames)
    for prefix in (f"{name}/", f"{name}_") if name else ():
        if any(f"{prefix}{link}" in known for link in links):
            return prefix
    return ""
