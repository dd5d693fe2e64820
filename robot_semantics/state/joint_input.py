# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Plan that maps a list of joint names to the variables of one robot; it is made once, then only values are copied."""

from __future__ import annotations

import enum
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from robot_semantics.base.foreign_text import quoted
from robot_semantics.kinematics.joint_space import JointSpace
from robot_semantics.kinematics.mimics import MimicMap
from robot_semantics.model.robot_model import RobotModel
from robot_semantics.transforms.arrays import BoolArray, FloatArray

IndexArray = npt.NDArray[np.intp]


class Reason(enum.Enum):
    """Why a message is refused; the values are the words of `~/get_status` and `/diagnostics`."""

    EMPTY = "empty"
    NO_POSITIONS = "no_positions"
    WRONG_LENGTH = "wrong_length"
    DUPLICATE_NAME = "duplicate_name"
    UNKNOWN_JOINTS = "unknown_joints_only"
    NOT_FINITE = "not_finite"
    BAD_QUATERNION = "bad_quaternion"
    TIME_BACKWARDS = "time_backwards"
    MALFORMED = "malformed"
    NO_MODEL = "no_model"
    WRONG_FRAME = "wrong_frame"


class Refusal(NamedTuple):
    """A refused message: the kind of fault, and a sentence with the joint or field in question."""

    reason: Reason
    message: str


class MovingJoints:
    """The joints of a robot that move, numbered from 0 in model order, and which variables each has.

    Attributes:
        indices: their places in `RobotModel.joints`.
        of_variable: (n,) number of the moving joint of each position variable.
        of_velocity: (nv,) number of the moving joint of each velocity component.
        number: joint name → number.

    """

    def __init__(self, model: RobotModel, space: JointSpace) -> None:
        self.joints = tuple(joint for joint in model.joints if joint.position_count)
        self.indices: tuple[int, ...] = tuple(joint.index for joint in self.joints)
        self.names = tuple(joint.name for joint in self.joints)
        self.number: Mapping[str, int] = {name: number for number, name in enumerate(self.names)}
        self.of_variable = np.zeros(space.size, np.intp)
        self.of_velocity = np.zeros(space.velocity_size, np.intp)
        for number, joint in enumerate(self.joints):
            self.of_variable[space.joint_positions[joint.name]] = number
            self.of_velocity[space.joint_velocities[joint.name]] = number
        self.followers = tuple(joint for joint in self.joints if joint.mimic is not None)

    def __len__(self) -> int:
        return len(self.joints)


class FloatingEntries(NamedTuple):
    """Entries of a message that belong to one floating joint; all of them, and its quaternion x y z w."""

    joint: str
    entries: tuple[int, ...]
    quaternion: tuple[int, int, int, int]


class Followers(NamedTuple):
    """Variables that follow others: ``x[target] = factor * x[source] + offset``.

    Attributes:
        target, source: (m,) position or velocity variables.
        factor, offset: (m,).

    """

    target: IndexArray
    source: IndexArray
    factor: FloatArray
    offset: FloatArray

    def chosen(self, which: BoolArray) -> Followers:
        """Return the followers that `which` (m,) bool selects."""
        return Followers(self.target[which], self.source[which], self.factor[which], self.offset[which])


class InputPlan(NamedTuple):
    """How the values of messages with one list of names get to a robot's variables.

    Attributes:
        source, target: entries of the message → position variables.
        velocity_source, velocity_target: entries of the message → velocity components.
        joints: (m,) bool, the moving joints that get new values, mimic joints of a named leader included.
        complete: whether `joints` is all of them.
        followers: positions of mimic joints that the message does not name, and whose leader it names.
        velocity_followers: their velocities.
        straight: the variables, if the message names them all in the model's order and nothing else.
        floating: floating joints whose quaternion the message states.
        unknown: names that the robot does not have.
        ignored: names of joints with another source.
        incomplete: names of quaternion components that are not used, because the message does not name all four.

    """

    names: tuple[str, ...]
    source: IndexArray
    target: IndexArray
    velocity_source: IndexArray
    velocity_target: IndexArray
    joints: BoolArray
    complete: bool
    followers: Followers
    velocity_followers: Followers
    straight: slice | None
    floating: tuple[FloatingEntries, ...]
    unknown: tuple[str, ...]
    ignored: tuple[str, ...]
    incomplete: tuple[str, ...]


def make_plan(
    names: Sequence[str], model: RobotModel, space: JointSpace, moving: MovingJoints, fed_elsewhere: frozenset[str]
) -> InputPlan | Refusal:
    """Return how messages with these names are used; joints in `fed_elsewhere` are not taken from joint states.

    Returns:
        The plan, or why every message with these names is refused.

    """
    incomplete = _incomplete_quaternions(names, space)
    source, target, velocity_source, velocity_target = [], [], [], []
    unknown, ignored = [], []
    joints = np.zeros(len(moving), np.bool_)
    entries: dict[str, list[int]] = {}
    for entry, name in enumerate(names):
        variable = space.index.get(name)
        if variable is None:
            # A fixed joint in a message has no information; ignore it.
            if name not in model.joint_index:
                unknown.append(name)
            continue
        joint = moving.joints[moving.of_variable[variable]]
        if joint.name in fed_elsewhere:
            ignored.append(name)
            continue
        if name in incomplete:
            continue
        joints[moving.number[joint.name]] = True
        entries.setdefault(joint.name, []).append(entry)
        source.append(entry)
        target.append(variable)
        component = variable - space.joint_positions[joint.name].start
        if component < joint.velocity_count:
            velocity_source.append(entry)
            velocity_target.append(space.joint_velocities[joint.name].start + component)
    if not source and unknown and not ignored:
        return Refusal(Reason.UNKNOWN_JOINTS, f"the robot has none of its joints ({quoted(unknown, 5)})")
    following = _following(moving, space, set(target))
    for name in following:
        joints[moving.number[name]] = True
    positions = [space.joint_positions[name] for name in following]
    velocities = [space.joint_velocities[name] for name in following]
    return InputPlan(
        tuple(names),
        np.array(source, np.intp),
        np.array(target, np.intp),
        np.array(velocity_source, np.intp),
        np.array(velocity_target, np.intp),
        joints,
        bool(joints.all()),
        _followers(positions, space.mimics, set(target)),
        _followers(velocities, space.velocity_mimics, set(velocity_target)),
        _straight(source, target, len(names)),
        tuple(_floating_entries(entries, target, source, moving, space)),
        tuple(unknown),
        tuple(ignored),
        tuple(name for name in names if name in incomplete),
    )


def _incomplete_quaternions(names: Sequence[str], space: JointSpace) -> set[str]:
    """Return the names of quaternion components without the other three components."""
    found = set(names)
    parts = [set(space.names[part]) for part in space.quaternions]
    return {name for part in parts if not part <= found for name in part & found}


def _following(moving: MovingJoints, space: JointSpace, given: set[int]) -> list[str]:
    """Return the mimic joints that follow a leader with a value in `given`, and have none themselves.

    A measured value of a mimic joint is kept, as robot_state_publisher does.
    """
    result = []
    for joint in moving.followers:
        at = space.joint_positions[joint.name]
        leaders = set(space.mimics.source[at].tolist())
        if given & leaders and not given & set(range(at.start, at.stop)):
            result.append(joint.name)
    return result


def _followers(spans: Sequence[slice], mimics: MimicMap, given: set[int]) -> Followers:
    """Return the variables of `spans` whose leaders are given."""
    at = np.array([i for span in spans for i in range(span.start, span.stop) if mimics.source[i] in given], np.intp)
    return Followers(at, mimics.source[at], mimics.factor[at], mimics.offset[at])


def _floating_entries(
    entries: Mapping[str, list[int]], target: list[int], source: list[int], moving: MovingJoints, space: JointSpace
) -> Iterator[FloatingEntries]:
    entry_of = dict(zip(target, source, strict=True))
    for joint in moving.joints:
        if joint.motion.has_quaternion and joint.name in entries:
            first = space.joint_positions[joint.name].start + 3
            if first in entry_of:
                x, y, z, w = (entry_of[first + i] for i in range(4))
                yield FloatingEntries(joint.name, tuple(entries[joint.name]), (x, y, z, w))


def _straight(source: list[int], target: list[int], count: int) -> slice | None:
    if source and source == list(range(count)) and target == list(range(target[0], target[0] + count)):
        return slice(target[0], target[0] + count)
    return None
