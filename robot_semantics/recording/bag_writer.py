"""World states as a recording: a rosbag2 in mcap with the topics that a running robot would have published.

Each model's joints go to ``joint_states`` (planar joints by the names of their variables), floating joints and bases
with a twist to ``multi_dof_joint_states``, poses of models and frames to ``/tf``, what never moves to ``/tf_static``,
the times to ``/clock``, descriptions to ``robot_description`` and ``robot_description_semantic``. A lone model's topics
have no namespace; several models' are under their names.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from robot_semantics.base.diagnostics import Diagnostics, Place
from robot_semantics.base.errors import MissingExtraError
from robot_semantics.kinematics.forward import ForwardKinematics
from robot_semantics.model.joint_types import JointType, variable_names
from robot_semantics.model.robot_model import RobotModel
from robot_semantics.recording.message_types import JOINT_STATE, MULTI_DOF, STRING, TF_MESSAGE
from robot_semantics.recording.outputs import whole_or_nothing
from robot_semantics.recording.robots import RequestError
from robot_semantics.transforms import quat_from_rpy, xyz_quat_from_matrix
from robot_semantics.usdf.world_state import JointState, ModelState, Pose, WorldState
from robot_semantics.usdf.writer import format_time

try:
    from rosbags.interfaces import Connection, Qos, QosDurability, QosHistory, QosLiveliness, QosReliability, QosTime
    from rosbags.rosbag2 import StoragePlugin, Writer
    from rosbags.typesys import Stores, get_typestore
except ImportError as error:
    raise MissingExtraError("rosbags", "bag", "writing recordings") from error

END_OF_TIME_NS = 2**31 * 1_000_000_000
"""ROS counts seconds in 32 bits [ns]."""

CLOCK = "rosgraph_msgs/msg/Clock"

Row = tuple[float, ...]


class Described(NamedTuple):
    """A model's descriptions.

    Attributes:
        model: the robot, None where it has no description or a faulty one.
        urdf: text of its URDF, "" if there is none.
        srdf: text of its SRDF, "" if there is none.
    """

    model: RobotModel | None = None
    urdf: str = ""
    srdf: str = ""


@dataclass
class Written:
    """What was written.

    Attributes:
        messages: how many on each topic.
    """

    messages: dict[str, int] = field(default_factory=dict)


def write_bag(
    states: Sequence[WorldState],
    path: Path,
    described: Mapping[str, Described],
    problems: Diagnostics,
    *,
    links: bool = True,
    force: bool = False,
) -> Written:
    """Write states as a rosbag2.

    Args:
        states: in the order of their times.
        path: the folder to make.
        described: the descriptions of models, by name.
        problems: takes what a recording cannot carry.
        links: publish the robots' links on ``/tf`` too, by forward kinematics, as robot_state_publisher does.
        force: replace a folder that is not empty.

    Raises:
        RequestError: there are no states, or several without or with the same time; or a time that ROS cannot say; or
            the folder is there already.
        OSError: it cannot be written.
    """
    times = [state.time_ns for state in states]
    if not states:
        raise RequestError("there is no state to write")
    if len(states) > 1 and (None in times or len(set(times)) < len(times)):
        raise RequestError("every state needs a time of its own")
    for time_ns in times:
        if time_ns is None:
            text = "the state has no time; its messages are stamped 0, as if it had been true at the start of the clock"
            problems.warning("no-time", text, Place(str(path)))
        elif not 0 <= time_ns < END_OF_TIME_NS:
            last = format_time(END_OF_TIME_NS - 1)
            raise RequestError(f"a recording has times from 0 to {last} s, not {format_time(time_ns)} s")
    with whole_or_nothing(path, folder=True, force=force) as folder:
        # The writer names the data file after the folder and wants to make it itself. Version 8 of the metadata is read
        # by more releases of ROS 2 than 9.
        inner = folder / path.name
        with Writer(inner, version=8, storage_plugin=StoragePlugin.MCAP) as writer:
            bag = _Bag(writer, states, described, problems, links)
            for state in states:
                bag.write(state)
        for file in inner.iterdir():
            shutil.move(file, folder / file.name)
        inner.rmdir()
    return bag.written


class _Bag:
    def __init__(
        self,
        writer: Writer,
        states: Sequence[WorldState],
        described: Mapping[str, Described],
        problems: Diagnostics,
        links: bool,
    ) -> None:
        self.writer, self.described, self.problems = writer, described, problems
        self.store = get_typestore(Stores.ROS2_JAZZY)
        self.types: Any = self.store.types
        self.written = Written()
        self.connections: dict[str, tuple[Connection, str]] = {}
        self.told: set[str] = set()
        names = {model.name for state in states for model in state.models}
        self.alone = len(names) == 1
        self.static = _fixed_frames(states)
        # Who has a twist once has its pose in every such message, so that a reader has one source for it.
        self.moving = {model.name for state in states for model in state.models if model.twist is not None}
        self.fk: dict[str, ForwardKinematics] = {}
        for name in names:
            model = described.get(name, Described()).model
            if links and model is not None:
                self.fk[name] = ForwardKinematics(model)
        self.root = {
            name: model.root_link if (model := described.get(name, Described()).model) is not None else name
            for name in names
        }
        first = states[0].time_ns or 0
        self._descriptions(names, first)
        self._static_transforms(states[0], first)

    def topic(self, model: str, name: str) -> str:
        return f"/{name}" if self.alone else f"/{model}/{name}"

    def frame(self, model: str, link: str) -> str:
        return link if self.alone else f"{model}/{link}"

    def _descriptions(self, names: set[str], time_ns: int) -> None:
        for name in sorted(names):
            texts = self.described.get(name, Described())
            for topic, text in (("robot_description", texts.urdf), ("robot_description_semantic", texts.srdf)):
                if text:
                    self.send(self.topic(name, topic), STRING, time_ns, self.types[STRING](data=text), latched=True)

    def _static_transforms(self, state: WorldState, time_ns: int) -> None:
        transforms = [
            self.transform(time_ns, self.parent(frame.parent), frame.name, _seven(frame.pose))
            for frame in state.frames
            if frame.name in self.static and frame.pose is not None
        ]
        placed = {model.name for model in state.models if model.pose is not None}
        for name, fk in sorted(item for item in self.fk.items() if item[0] in placed):
            poses = self._local(fk, np.asarray(fk.space.neutral()))
            transforms += [
                self.transform(
                    time_ns,
                    self.frame(name, joint.parent_link),
                    self.frame(name, joint.child_link),
                    tuple(poses[joint.index]),
                )
                for joint in fk.model.joints
                if joint.type is JointType.FIXED and not joint.virtual and joint.index
            ]
        if transforms:
            self.send("/tf_static", TF_MESSAGE, time_ns, self.types[TF_MESSAGE](transforms=transforms), latched=True)

    def parent(self, name: str) -> str:
        """Return the tf frame of a parent: a model's is its root link."""
        return self.frame(name, self.root[name]) if name in self.root else name

    def write(self, state: WorldState) -> None:
        time_ns = state.time_ns or 0
        self.send("/clock", CLOCK, time_ns, self.types[CLOCK](clock=self.stamp(time_ns)))
        transforms = []
        for frame in state.frames:
            if frame.twist is not None:
                self.tell(f"the twist of frame '{frame.name}' has no place in a recording", "frame-twist")
            if frame.pose is not None and frame.name not in self.static:
                transforms.append(self.transform(time_ns, self.parent(frame.parent), frame.name, _seven(frame.pose)))
        for model in state.models:
            transforms += self._model(model, time_ns)
        if state.engines or state.foreign:
            self.tell("engine states and foreign elements have no place in a recording", "engine")
        if transforms:
            self.send("/tf", TF_MESSAGE, time_ns, self.types[TF_MESSAGE](transforms=transforms))

    def _model(self, model: ModelState, time_ns: int) -> Iterator[Any]:
        robot = self.described.get(model.name, Described()).model
        pose = None if model.pose is None else _seven(model.pose)
        root = self.frame(model.name, self.root[model.name])
        parent = self.parent(model.parent)
        if pose is not None and parent != root:
            yield self.transform(time_ns, parent, root, pose)
        rows: list[tuple[str, float, float | None, float | None]] = []
        free: list[tuple[str, Row, Row | None]] = []
        if pose is not None and model.name in self.moving:
            virtual = robot is not None and robot.has_virtual_joint
            free.append((robot.root_joint.name if robot is not None and virtual else root, pose, model.twist))
        if model.twist is not None and pose is None:
            self.tell(f"the twist of '{model.name}' without a pose has no place in a recording", "twist")
        by_parent = {parent: free} if free else {}
        for joint in model.joints:
            if joint.positions is not None and len(joint.positions) in (6, 7):
                by_parent.setdefault(root, []).append((joint.name, _floating(joint), joint.velocities))
                if joint.torques is not None:
                    self.tell(f"torques of the floating joint '{joint.name}' have no place in a recording", "torques")
            else:
                rows += _scalar_rows(joint)
        self._joint_states(model.name, time_ns, rows)
        for frame, some in by_parent.items():
            self._multi_dof(model.name, time_ns, frame, some)
        if any(link.wrench is not None for link in model.links):
            self.tell(f"the wrenches on the links of '{model.name}' have no place in a recording", "wrench")
        yield from self._link_transforms(model, time_ns)

    def _joint_states(
        self, name: str, time_ns: int, rows: Sequence[tuple[str, float, float | None, float | None]]
    ) -> None:
        """Send the joints; what is known of them decides which go in one message, so that no zero is made up."""
        kinds: dict[tuple[bool, bool, bool], list[tuple[str, float, float | None, float | None]]] = {}
        for row in rows:
            kinds.setdefault((row[1] == row[1], row[2] is not None, row[3] is not None), []).append(row)
        for (position, velocity, effort), some in kinds.items():
            message = self.types[JOINT_STATE](
                header=self.header(time_ns, ""),
                name=[row[0] for row in some],
                position=np.array([row[1] for row in some if position]),
                velocity=np.array([row[2] for row in some if velocity], dtype=np.float64),
                effort=np.array([row[3] for row in some if effort], dtype=np.float64),
            )
            self.send(self.topic(name, "joint_states"), JOINT_STATE, time_ns, message)

    def _multi_dof(self, name: str, time_ns: int, frame: str, rows: Sequence[tuple[str, Row, Row | None]]) -> None:
        for with_twist in (True, False):
            some = [row for row in rows if (row[2] is not None) is with_twist]
            if some:
                message = self.types[MULTI_DOF](
                    header=self.header(time_ns, frame),
                    joint_names=[row[0] for row in some],
                    transforms=[self.pose(row[1]) for row in some],
                    twist=[self.twist(row[2]) for row in some if row[2] is not None],
                    wrench=[],
                )
                self.send(self.topic(name, "multi_dof_joint_states"), MULTI_DOF, time_ns, message)

    def _link_transforms(self, model: ModelState, time_ns: int) -> Iterator[Any]:
        fk = self.fk.get(model.name)
        if fk is None or model.pose is None:
            return
        q, known = np.array(fk.space.neutral()), set[str]()
        for state in model.joints:
            where = fk.space.joint_positions.get(state.name)
            if where is not None and state.positions is not None:
                values = _filled(state.positions, where)
                if len(values) == where.stop - where.start:
                    q[where] = values
                    known.add(state.name)
        poses = self._local(fk, q)
        for joint in fk.model.joints:
            leader = joint.mimic.joint if joint.mimic is not None else joint.name
            if joint.index and joint.position_count and leader in known:
                parent, child = (self.frame(model.name, link) for link in (joint.parent_link, joint.child_link))
                yield self.transform(time_ns, parent, child, tuple(poses[joint.index]))

    @staticmethod
    def _local(fk: ForwardKinematics, q: np.ndarray[Any, Any]) -> Any:
        T_root_link = np.asarray(fk.link_poses(q))
        result = np.empty((len(T_root_link), 7))
        for link in fk.model.links:
            above = np.eye(4) if link.parent < 0 else T_root_link[link.parent]
            result[link.index] = xyz_quat_from_matrix(np.linalg.inv(above) @ T_root_link[link.index])
        return result

    def tell(self, text: str, key: str) -> None:
        if f"{key} {text}" not in self.told:
            self.told.add(f"{key} {text}")
            self.problems.warning(f"not-recorded-{key}", text, Place(str(self.writer.path.name)))

    def send(self, topic: str, msgtype: str, time_ns: int, message: Any, *, latched: bool = False) -> None:
        if topic not in self.connections:
            qos = [_LATCHED] if latched else []
            added = self.writer.add_connection(topic, msgtype, typestore=self.store, offered_qos_profiles=qos)
            self.connections[topic] = (added, msgtype)
        connection, _ = self.connections[topic]
        self.writer.write(connection, time_ns, self.store.serialize_cdr(message, msgtype))
        self.written.messages[topic] = self.written.messages.get(topic, 0) + 1

    def stamp(self, time_ns: int) -> Any:
        seconds, nanoseconds = divmod(time_ns, 1_000_000_000)
        return self.types["builtin_interfaces/msg/Time"](sec=seconds, nanosec=nanoseconds)

    def header(self, time_ns: int, frame: str) -> Any:
        return self.types["std_msgs/msg/Header"](stamp=self.stamp(time_ns), frame_id=frame)

    def pose(self, row: Row) -> Any:
        vector, quaternion = (self.types[f"geometry_msgs/msg/{name}"] for name in ("Vector3", "Quaternion"))
        values = [float(value) for value in row]
        return self.types["geometry_msgs/msg/Transform"](
            translation=vector(*values[:3]), rotation=quaternion(*values[3:])
        )

    def twist(self, row: Row) -> Any:
        vector = self.types["geometry_msgs/msg/Vector3"]
        return self.types["geometry_msgs/msg/Twist"](linear=vector(*row[:3]), angular=vector(*row[3:]))

    def transform(self, time_ns: int, parent: str, child: str, row: Row) -> Any:
        return self.types["geometry_msgs/msg/TransformStamped"](
            header=self.header(time_ns, parent), child_frame_id=child, transform=self.pose(row)
        )


_LATCHED = Qos(
    QosHistory.KEEP_LAST,
    1,
    QosReliability.RELIABLE,
    QosDurability.TRANSIENT_LOCAL,
    QosTime(0, 0),
    QosTime(0, 0),
    QosLiveliness.AUTOMATIC,
    QosTime(0, 0),
    False,
)


def _fixed_frames(states: Sequence[WorldState]) -> set[str]:
    """Return the frames that are in every state with one parent and one pose."""
    first = {frame.name: (frame.parent, frame.pose) for frame in states[0].frames}
    for state in states[1:]:
        here = {frame.name: (frame.parent, frame.pose) for frame in state.frames}
        first = {name: place for name, place in first.items() if here.get(name) == place}
    return set(first)


def _scalar_rows(joint: JointState) -> Iterator[tuple[str, float, float | None, float | None]]:
    """Yield (name, position, velocity, effort) of a joint's variables; a position that is not stated is NaN."""
    given = [values for values in (joint.positions, joint.velocities, joint.torques) if values is not None]
    if not given:
        return
    size = len(given[0])
    names = (joint.name,) if size == 1 else variable_names(joint.name, JointType.PLANAR)
    for i, name in enumerate(names[:size]):
        position = joint.positions[i] if joint.positions is not None else float("nan")
        velocity = joint.velocities[i] if joint.velocities is not None else None
        yield name, position, velocity, joint.torques[i] if joint.torques is not None else None


def _floating(joint: JointState) -> Row:
    positions = joint.positions or ()
    return positions if len(positions) == 7 else (*positions[:3], *quat_from_rpy(positions[3:]).tolist())


def _filled(positions: Row, where: slice) -> Row:
    """Return a floating joint's positions with a quaternion, whichever way they were stated."""
    if len(positions) == 6 and where.stop - where.start == 7:
        return (*positions[:3], *quat_from_rpy(positions[3:]).tolist())
    return positions


def _seven(pose: Pose | None) -> Row:
    if pose is None:
        return (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0)
    return (*pose.xyz_rpy[:3], *(pose.quat_xyzw or quat_from_rpy(pose.xyz_rpy[3:]).tolist()))
