# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""What a joint-state message means for one robot: worked out once per list of names, then only values are copied."""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from robot_semantics.base.foreign_text import quoted, shown
from robot_semantics.base.names import repeated
from robot_semantics.kinematics.joint_space import JointSpace
from robot_semantics.model.joint_types import JointType
from robot_semantics.model.robot_model import RobotModel
from robot_semantics.state.cdr import JointStateData
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
    """A refused message: the kind of fault and a sentence that names what is at fault."""

    reason: Reason
    message: str


class MovingJoints:
    """The joints of a robot that move, numbered from 0 in model order, and which variables each has.

    Attributes:
        indices: their places in `RobotModel.joints`.
        of_variable: (n,) number of the moving joint of each position variable.
        number: joint name → number.

    """

    def __init__(self, model: RobotModel, space: JointSpace) -> None:
        self.joints = tuple(joint for joint in model.joints if joint.position_count)
        self.indices: tuple[int, ...] = tuple(joint.index for joint in self.joints)
        self.names = tuple(joint.name for joint in self.joints)
        self.number: Mapping[str, int] = {name: number for number, name in enumerate(self.names)}
        self.of_variable = np.zeros(space.size, np.intp)
        for number, joint in enumerate(self.joints):
            self.of_variable[space.joint_positions[joint.name]] = number
        self.followers = tuple(joint for joint in self.joints if joint.mimic is not None)

    def __len__(self) -> int:
        return len(self.joints)


class InputPlan(NamedTuple):
    """How messages with one list of names are taken over.

    Attributes:
        source, target: entries of the message → position variables.
        velocity_source, velocity_target: entries of the message → velocity components.
        joints: (m,) bool, the moving joints that get new values, mimic joints of a named leader included.
        complete: whether that is all of them.
        mimic_target, mimic_source, multiplier, offset: position variables that follow others.
        straight: the variables, where the message names them all in the model's order and nothing else.
        floating: slices of quaternions x y z w in the positions that the message touches.
        unknown: names that the robot does not have.
        ignored: names of joints that are fed from elsewhere.

    """

    names: tuple[str, ...]
    source: IndexArray
    target: IndexArray
    velocity_source: IndexArray
    velocity_target: IndexArray
    joints: BoolArray
    complete: bool
    mimic_target: IndexArray
    mimic_source: IndexArray
    multiplier: FloatArray
    offset: FloatArray
    floating: tuple[slice, ...]
    straight: slice | None
    unknown: tuple[str, ...]
    ignored: tuple[str, ...]


def make_plan(
    names: Sequence[str], model: RobotModel, space: JointSpace, moving: MovingJoints, fed_elsewhere: frozenset[str]
) -> InputPlan | Refusal:
    """Work out what a list of names means; joints in `fed_elsewhere` are not taken from joint states.

    Returns:
        The plan, or why every message with these names is refused.

    """
    if not names:
        return Refusal(Reason.EMPTY, "it names no joint")
    if len(set(names)) < len(names):
        return Refusal(Reason.DUPLICATE_NAME, f"it names {quoted(repeated(names), 5)} more than once")
    source, target, velocity_source, velocity_target = [], [], [], []
    unknown, ignored = [], []
    joints = np.zeros(len(moving), np.bool_)
    for entry, name in enumerate(names):
        variable = space.index.get(name)
        if variable is None:
            # A fixed joint in a message is odd but harmless, and says nothing that we do not know.
            if name not in model.joint_index:
                unknown.append(name)
            continue
        joint = moving.joints[moving.of_variable[variable]]
        if joint.name in fed_elsewhere:
            ignored.append(name)
            continue
        joints[moving.number[joint.name]] = True
        source.append(entry)
        target.append(variable)
        component = variable - space.joint_positions[joint.name].start
        if component < joint.velocity_count:
            velocity_source.append(entry)
            velocity_target.append(space.joint_velocities[joint.name].start + component)
    if not source and unknown and not ignored:
        return Refusal(Reason.UNKNOWN_JOINTS, f"the robot has none of its joints ({quoted(unknown, 5)})")
    given = set(target)
    mimics = []
    for joint in moving.followers:
        assert joint.mimic is not None
        own, leader = space.joint_positions[joint.name], space.joint_positions[joint.mimic.joint]
        # A measured value of a mimic joint is kept, as robot_state_publisher does.
        if leader.start in given and own.start not in given:
            joints[moving.number[joint.name]] = True
            for component in range(joint.position_count):
                # The quaternion of a floating joint is taken over as it is: scaling it would mean nothing.
                scaled = joint.type is not JointType.FLOATING or component < 3
                factors = (joint.mimic.multiplier, joint.mimic.offset) if scaled else (1.0, 0.0)
                mimics.append((own.start + component, leader.start + component, *factors))
    floating = tuple(
        slice(space.joint_positions[joint.name].start + 3, space.joint_positions[joint.name].stop)
        for number, joint in enumerate(moving.joints)
        if joint.type is JointType.FLOATING and joints[number]
    )
    return InputPlan(
        tuple(names),
        np.array(source, np.intp),
        np.array(target, np.intp),
        np.array(velocity_source, np.intp),
        np.array(velocity_target, np.intp),
        joints,
        bool(joints.all()),
        np.array([own for own, _, _, _ in mimics], np.intp),
        np.array([leader for _, leader, _, _ in mimics], np.intp),
        np.array([multiplier for _, _, multiplier, _ in mimics], np.float64),
        np.array([offset for _, _, _, offset in mimics], np.float64),
        floating,
        _straight(source, target, len(names)),
        tuple(unknown),
        tuple(ignored),
    )


def wrong_length(data: JointStateData) -> Refusal:
    """Return why a message is refused that has not as many positions as names."""
    names, count = len(data.names), len(data.position)
    if not count:
        return Refusal(Reason.NO_POSITIONS, f"it has no position for '{shown(data.names[0])}' nor for any other joint")
    odd = data.names[min(count, names - 1)]
    return Refusal(
        Reason.WRONG_LENGTH, f"it has {names} names but {count} positions, from '{shown(odd)}' on they do not match"
    )


def _straight(source: list[int], target: list[int], count: int) -> slice | None:
    if source and source == list(range(count)) and target == list(range(target[0], target[0] + count)):
        return slice(target[0], target[0] + count)
    return None
