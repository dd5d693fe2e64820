# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""World states as a recording: a rosbag2 in mcap with the topics that a running robot would have published.

Topics of the recording:

* ``joint_states``: joints of each model, planar joints by the names of their variables.
* ``multi_dof_joint_states``: floating joints, and bases with a twist.
* ``/tf``: poses of models and frames. ``/tf_static``: poses that never change.
* ``/clock``: the times.
* ``robot_description`` and ``robot_description_semantic``: descriptions.

Topics of a single model have no namespace. Topics of several models have namespaces made from their names; the
metadata hold the names.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from robot_semantics.base.diagnostic import SourcePlace
from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.base.nanoseconds import seconds_text
from robot_semantics.cdr.generated_types import RosMessage
from robot_semantics.cdr.message_types import JOINT_STATE, MULTI_DOF, STRING, TF_MESSAGE
from robot_semantics.convert.messages import CLOCK, JointRow, MessageMaker, PoseRow, Transform, topic_namespaces
from robot_semantics.kinematics.forward import kinematics_of
from robot_semantics.kinematics.joint_space import JointSpace
from robot_semantics.kinematics.local import LocalTransforms
from robot_semantics.model.joint_types import JointType, variable_names
from robot_semantics.model.robot_model import JointModel, RobotModel
from robot_semantics.recording.bags.libraries import create_bag
from robot_semantics.recording.bags.source import KEY, BagWriter, RecordedModel, RequestError, free_frame, metadata_text
from robot_semantics.recording.target import whole_or_nothing
from robot_semantics.transforms import quat_from_rpy
from robot_semantics.transforms.arrays import FloatArray
from robot_semantics.transforms.pose import xyz_quat_of
from robot_semantics.usdf.apply import AppliedState, apply_model_state
from robot_semantics.usdf.fields import ages_of
from robot_semantics.usdf.frames import resolve_frames, without_parent_links
from robot_semantics.usdf.identity import model_digest
from robot_semantics.usdf.world_state import WORLD, Frame, JointState, ModelState, WorldState, carrier_of

# The TF frames of a written recording: their names, and the parent frame of each pose.


class TfFrames:
    """The TF names of links, of frames and of the world.

    Attributes:
        names: TF name of each frame, and of the world. A frame with the TF name of a link gets another one.
    """

    def __init__(
        self,
        states: Sequence[WorldState],
        robots: Mapping[str, RobotModel],
        roots: Mapping[str, str],
        spaces: Mapping[str, str],
    ) -> None:
        """Name the frames.

        Args:
            states: all states of the recording.
            robots: the known robots, by model.
            roots: the root link of each model.
            spaces: the namespace of each model; none where a model is alone.
        """
        self._roots, self._spaces = roots, spaces
        links = {self.of_link(name, link) for name, robot in robots.items() for link in robot.link_names}
        links |= {self.of_link(name, root) for name, root in roots.items()}
        frames = dict.fromkeys((WORLD, *(frame.name for state in states for frame in state.frames)))
        taken = links | frames.keys()
        self.names: dict[str, str] = {}
        for name in frames:
            self.names[name] = free_frame(name, taken) if name in links else name
            taken.add(self.names[name])

    @property
    def renamed(self) -> dict[str, str]:
        """The names of frames that have another name on TF (TF name → name)."""
        return {tf_name: name for name, tf_name in self.names.items() if tf_name != name}

    def of_link(self, model: str, link: str) -> str:
        """Return the TF name of a model's link."""
        return f"{self._spaces[model]}/{link}" if self._spaces else link

    def parent(self, body: ModelState | Frame) -> str:
        """Return the TF frame that a body's pose is relative to; a model's frame is its root link."""
        if body.parent in self._roots:
            return self.of_link(body.parent, body.parent_link or self._roots[body.parent])
        return self.names[body.parent]


def on_known_links(state: WorldState, robots: Mapping[str, RobotModel]) -> WorldState:
    """Return the state with `parent_link` only for links of known robots; other poses are relative to the model.

    Raises:
        NotStatedError: the pose of a link of an unknown robot is not stated.
    """
    known = {
        body.name
        for body in state.bodies
        if body.parent in robots and body.parent_link in robots[body.parent].link_index
    }
    return without_parent_links(state, but=known)


def fixed_frames(states: Sequence[WorldState]) -> set[str]:
    """Return the frames that are in every state with one parent and one pose."""
    first = {frame.name: (carrier_of(frame), frame.pose) for frame in states[0].frames}
    for state in states[1:]:
        here = {frame.name: (carrier_of(frame), frame.pose) for frame in state.frames}
        first = {name: place for name, place in first.items() if here.get(name) == place}
    return set(first)


# Joint states of a world state as rows of messages.


def scalar_rows(joint: JointState, size: int) -> Iterator[JointRow]:
    """Yield the rows of the variables of a joint whose positions are stated."""
    names = (joint.name,) if size == 1 else variable_names(joint.name, JointType.PLANAR)
    for i, (name, position) in enumerate(zip(names[:size], joint.positions or (), strict=True)):
        velocity = joint.velocities[i] if joint.velocities is not None else None
        yield JointRow(name, position, velocity, joint.torques[i] if joint.torques is not None else None)


def floating_pose(joint: JointState) -> tuple[float, ...]:
    """Return the positions of a floating joint as x y z qx qy qz qw; rpy is converted."""
    positions = joint.positions or ()
    return positions if len(positions) == 7 else (*positions[:3], *quat_from_rpy(positions[3:]).tolist())


END_OF_TIME_NS = 2**31 * 1_000_000_000
"""ROS counts seconds in 32 bits [ns]."""


class ModelDescription(NamedTuple):
    """A model's descriptions.

    Attributes:
        model: the robot; None if it has no description or an invalid one.
        urdf: text of its URDF; "" if there is none.
        srdf: text of its SRDF; "" if there is none.
    """

    model: RobotModel | None = None
    urdf: str = ""
    srdf: str = ""


def write_bag(
    states: Sequence[WorldState],
    path: Path,
    described: Mapping[str, ModelDescription],
    problems: Diagnostics,
    *,
    links: bool = True,
    force: bool = False,
) -> dict[str, int]:
    """Write states as a rosbag2.

    Args:
        states: in the order of their times.
        path: the folder to make.
        described: the descriptions of models, by name.
        problems: takes warnings about values that a recording cannot hold.
        links: publish the robots' links on ``/tf`` too, by forward kinematics, as robot_state_publisher does.
        force: replace a folder that is not empty.

    Returns:
        The number of messages on each topic.

    Raises:
        RequestError: the list of states is empty, several states have no time or the same time, a time is outside the
            range of ROS, or the folder exists.
        OSError: it cannot be written.
    """
    robots = {name: texts.model for name, texts in described.items() if texts.model is not None}
    states = [on_known_links(state, robots) for state in states]
    times = [state.time_ns for state in states]
    if not states:
        raise RequestError("there is no state to write")
    if len(states) > 1 and (None in times or len(set(times)) < len(times)):
        raise RequestError("every state needs a time of its own")
    for time_ns in times:
        if time_ns is None:
            text = "the state has no time, so its messages have the stamp 0; set it with 'usdf edit --time'"
            problems.warning("no-time", text, SourcePlace(str(path)))
        elif not 0 <= time_ns < END_OF_TIME_NS:
            last = seconds_text(END_OF_TIME_NS - 1)
            raise RequestError(f"a recording has times from 0 to {last} s, not {seconds_text(time_ns)} s")
    with whole_or_nothing(path, folder=True, force=force) as folder:
        # The library creates the folder, and names the data file after it.
        inner = folder / path.name
        writer = create_bag(inner)
        bag = _Bag(writer, path.name, states, described, problems, links)
        for state in states:
            bag.write(state)
        writer.close({KEY: metadata_text(bag.recorded_models(), bag.frames.renamed)})
        for file in inner.iterdir():
            shutil.move(file, folder / file.name)
        inner.rmdir()
    return bag.counts


class _Bag:
    def __init__(
        self,
        writer: BagWriter,
        source: str,
        states: Sequence[WorldState],
        described: Mapping[str, ModelDescription],
        problems: Diagnostics,
        links: bool,
    ) -> None:
        self.writer, self.described, self.problems, self.links = writer, described, problems, links
        self.place = SourcePlace(source)
        self.counts: dict[str, int] = {}
        self.maker = MessageMaker(writer.types)
        self.warned: set[str] = set()
        names = {model.name for state in states for model in state.models}
        self.alone = len(names) == 1
        self.spaces = dict.fromkeys(names, "") if self.alone else topic_namespaces(sorted(names))
        self.stated: dict[str, set[str]] = {name: set() for name in names}
        self.static = fixed_frames(states)
        # A base with at least one twist has its pose in every such message: readers have one source of the pose.
        self.moving = {model.name for state in states for model in state.models if model.twist is not None}
        self.robots = {
            name: model for name in names if (model := described.get(name, ModelDescription()).model) is not None
        }
        self.fk = {name: kinematics_of(model) for name, model in self.robots.items()}
        self.digests = {name: model_digest(model) for name, model in self.robots.items()}
        self.local = {name: LocalTransforms(model, follow_mimics=False) for name, model in self.robots.items() if links}
        self.root = {name: self.robots[name].root_link if name in self.robots else name for name in names}
        self.frames = TfFrames(states, self.robots, self.root, {} if self.alone else self.spaces)
        first = states[0].time_ns or 0
        self._descriptions(names, first)
        self._static_transforms(states, first)

    def send(self, topic: str, msgtype: str, time_ns: int, message: RosMessage, *, latched: bool = False) -> None:
        """Write a message with a time of recording. Late subscribers also get the message of a latched topic."""
        self.writer.write(topic, msgtype, time_ns, message, latched=latched)
        self.counts[topic] = self.counts.get(topic, 0) + 1

    def topic(self, model: str, name: str) -> str:
        return f"/{name}" if self.alone else f"/{self.spaces[model]}/{name}"

    def recorded_models(self) -> Iterator[RecordedModel]:
        """Yield the models for the metadata."""
        for name, joints in sorted(self.stated.items()):
            yield RecordedModel(name, "" if self.alone else f"/{self.spaces[name]}", frozenset(joints))

    def _descriptions(self, names: set[str], time_ns: int) -> None:
        for name in sorted(names):
            texts = self.described.get(name, ModelDescription())
            for topic, text in (("robot_description", texts.urdf), ("robot_description_semantic", texts.srdf)):
                if text:
                    self.send(self.topic(name, topic), STRING, time_ns, self.maker.text(text), latched=True)

    def _static_transforms(self, states: Sequence[WorldState], time_ns: int) -> None:
        transforms = [
            Transform(self.frames.parent(frame), self.frames.names[frame.name], xyz_quat_of(frame.pose))
            for frame in states[0].frames
            if frame.name in self.static and frame.pose is not None
        ]
        placed = {model.name for state in states for model in state.models if model.pose is not None}
        for name, local in sorted(item for item in self.local.items() if item[0] in placed):
            fixed = (joint for joint in local.joints if not joint.position_count and not joint.virtual)
            transforms += self._of_joints(name, fixed, local.transforms(local.space.neutral()))
        if transforms:
            message = self.maker.transforms(time_ns, transforms)
            self.send("/tf_static", TF_MESSAGE, time_ns, message, latched=True)

    def write(self, state: WorldState) -> None:
        time_ns = state.time_ns or 0
        self.send("/clock", CLOCK, time_ns, self.maker.clock(time_ns))
        transforms = []
        for age in ages_of(state):
            if age.age_ns:
                owner = f"joint '{age.name}' of '{age.model}'" if age.model else f"'{age.name}'"
                self.warn_once(f"the age of {owner} cannot be stored in a recording", "age")
        for frame in state.frames:
            if frame.twist is not None:
                self.warn_once(f"the twist of frame '{frame.name}' cannot be stored in a recording", "frame-twist")
            if frame.pose is not None and frame.name not in self.static:
                transforms.append(
                    Transform(self.frames.parent(frame), self.frames.names[frame.name], xyz_quat_of(frame.pose))
                )
        for model in state.models:
            transforms += self._model(model, time_ns)
        if state.engines or state.foreign:
            self.warn_once("engine states and foreign elements cannot be stored in a recording", "engine")
        if transforms:
            self.send("/tf", TF_MESSAGE, time_ns, self.maker.transforms(time_ns, transforms))

    def _model(self, model: ModelState, time_ns: int) -> list[Transform]:
        joints, positions = self._joints(model)
        robot = self.robots.get(model.name)
        root, parent = self.frames.of_link(model.name, self.root[model.name]), self.frames.parent(model)
        transforms: list[Transform] = []
        by_frame: dict[str, list[PoseRow]] = {}
        if model.pose is not None:
            pose = xyz_quat_of(model.pose)
            if parent != root:
                transforms.append(Transform(parent, root, pose))
            if model.name in self.moving:
                name = robot.root_joint.name if robot is not None and robot.has_virtual_joint else root
                by_frame[parent] = [PoseRow(name, pose, model.twist)]
        elif model.twist is not None:
            self.warn_once(f"the twist of '{model.name}' without a pose cannot be stored in a recording", "twist")
        self.stated[model.name].update(joint.name for joint in joints if joint.positions is not None)
        rows, floating = self._rows(joints)
        if floating:
            by_frame.setdefault(root, []).extend(floating)
        for message in self.maker.joint_states(time_ns, rows):
            self.send(self.topic(model.name, "joint_states"), JOINT_STATE, time_ns, message)
        for frame, some in by_frame.items():
            for message in self.maker.multi_dof(time_ns, frame, some):
                self.send(self.topic(model.name, "multi_dof_joint_states"), MULTI_DOF, time_ns, message)
        if any(link.wrench is not None for link in model.links):
            self.warn_once(f"the wrenches on the links of '{model.name}' cannot be stored in a recording", "wrench")
        return transforms + self._link_transforms(model, positions)

    def _rows(self, joints: Iterable[JointState]) -> tuple[list[JointRow], list[PoseRow]]:
        """Return the rows of joint states, and the poses of floating joints."""
        rows: list[JointRow] = []
        floating: list[PoseRow] = []
        for joint in joints:
            stated_values = [
                values for values in (joint.positions, joint.velocities, joint.torques) if values is not None
            ]
            if stated_values and joint.positions is None:
                self.warn_once(
                    f"the motion of '{joint.name}' without a position cannot be stored in a recording", "motion"
                )
            elif stated_values and len(stated_values[0]) in (6, 7):
                floating.append(PoseRow(joint.name, floating_pose(joint), joint.velocities))
                if joint.torques is not None:
                    self.warn_once(
                        f"torques of the floating joint '{joint.name}' cannot be stored in a recording", "torques"
                    )
            elif stated_values:
                rows += scalar_rows(joint, len(stated_values[0]))
        return rows, floating

    def _joints(self, model: ModelState) -> tuple[list[JointState], dict[str, FloatArray]]:
        """Return the joint states to record, and the known positions by joint.

        Positions that only the link poses imply are derived. Values that do not fit the robot are omitted and reported.
        """
        kinematics = self.fk.get(model.name)
        if kinematics is None:
            if any(link.pose is not None or link.twist is not None for link in model.links):
                text = f"the links of '{model.name}', whose robot is not known, cannot be stored in a recording"
                self.warn_once(text, "links")
            return list(model.joints), {}
        # The pose of the root link is on TF, so it is not needed here. Limits do not matter, because recorded values
        # are measured values.
        digest = model.urdf_sha256 or self.digests[model.name]
        alone = replace(model, parent=WORLD, parent_link=None, pose=None, twist=None, urdf_sha256=digest)
        applied = apply_model_state(alone, resolve_frames(WorldState(models=(alone,))), kinematics.model)
        for item in applied.refused:
            if f"refused {item.subject}" not in self.warned:
                self.warned.add(f"refused {item.subject}")
                self.problems.error("not-recorded", f"not recorded: {item}", self.place)
        positions = {name: applied.positions[kinematics.space.joint_positions[name]] for name in applied.positions_of}
        return _with_derived(model.joints, applied, kinematics.space), positions

    def _link_transforms(self, model: ModelState, positions: Mapping[str, FloatArray]) -> list[Transform]:
        local = self.local.get(model.name)
        if local is None or model.pose is None:
            return []
        q = np.array(local.space.neutral())
        for name, values in positions.items():
            q[local.space.joint_positions[name]] = values
        moving = (joint for joint in local.joints if joint.position_count and joint.name in positions)
        return self._of_joints(model.name, moving, local.transforms(q))

    def _of_joints(self, model: str, joints: Iterable[JointModel], poses: FloatArray) -> list[Transform]:
        rows = poses.tolist()
        return [
            Transform(
                self.frames.of_link(model, joint.parent_link),
                self.frames.of_link(model, joint.child_link),
                rows[joint.index],
            )
            for joint in joints
            if joint.index
        ]

    def warn_once(self, text: str, key: str) -> None:
        if f"{key} {text}" not in self.warned:
            self.warned.add(f"{key} {text}")
            self.problems.warning(f"not-recorded-{key}", text, self.place)


def _with_derived(joints: Sequence[JointState], applied: AppliedState, space: JointSpace) -> list[JointState]:
    """Return the joints that the robot accepts, and the joints whose values follow from the poses of links."""
    refused = {item.name for item in applied.refused if item.kind == "joint"}
    derived = {item.name for item in applied.items if item.kind == "joint" and item.derived}
    stated = {joint.name: joint for joint in joints if joint.name not in refused}
    for name in sorted(derived):
        joint = stated.get(name, JointState(name))
        position, velocity = joint.positions, joint.velocities
        if position is None and name in applied.positions_of:
            position = tuple(applied.positions[space.joint_positions[name]].tolist())
        if velocity is None and name in applied.velocities_of:
            velocity = tuple(applied.velocities[space.joint_velocities[name]].tolist())
        stated[name] = JointState(name, position, velocity, joint.torques)
    return list(stated.values())
