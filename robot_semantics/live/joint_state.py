# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The rule for the content of joint-state messages, the same for the node and for recordings."""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from robot_semantics.base.names import duplicates, quoted, shown
from robot_semantics.kinematics.joint_space import Affine, JointSpace, MimicMap
from robot_semantics.kinematics.motions import SMALLEST_QUATERNION
from robot_semantics.live.settings import Invalid
from robot_semantics.model.robot_model import RobotModel
from robot_semantics.transforms.arrays import BoolArray, FloatArray, IntArray

# Plan that maps a list of joint names to the variables of one robot; it is made once, then only values are copied.


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
    NEGATIVE_STAMP = "negative_stamp"
    TIME_AHEAD = "time_ahead"
    MALFORMED = "malformed"
    NO_MODEL = "no_model"
    WRONG_FRAME = "wrong_frame"


class Refusal(NamedTuple):
    """A refused message: the kind of fault, and a sentence with the joint or field in question."""

    reason: Reason
    message: str


class MovingJoints:
    """Which variables each joint that moves has; the numbers of joints are their places in `JointSpace.joints`.

    Attributes:
        indices: their places in `RobotModel.joints`.
        of_variable: (n,) number of the moving joint of each position variable.
        of_velocity: (nv,) number of the moving joint of each velocity component.
        number: joint name → number.

    """

    def __init__(self, space: JointSpace) -> None:
        self.indices: tuple[int, ...] = tuple(joint.index for joint in space.joints)
        self.names = tuple(joint.name for joint in space.joints)
        self.number: Mapping[str, int] = {name: number for number, name in enumerate(self.names)}
        self.of_variable = np.zeros(space.size, np.intp)
        self.of_velocity = np.zeros(space.velocity_size, np.intp)
        for number, joint in enumerate(space.joints):
            self.of_variable[space.joint_positions[joint.name]] = number
            self.of_velocity[space.joint_velocities[joint.name]] = number
        self.followers = tuple(joint for joint in space.joints if joint.mimic is not None)

    def __len__(self) -> int:
        return len(self.names)


class FloatingEntries(NamedTuple):
    """Entries of a message that belong to one floating joint; all of them, and its quaternion x y z w."""

    joint: str
    entries: tuple[int, ...]
    quaternion: tuple[int, int, int, int]


class Followers(NamedTuple):
    """Variables that follow others: ``x[target] = values(x)``.

    Attributes:
        target: (m,) position or velocity variables.
        values: their values as they follow.

    """

    target: IndexArray
    values: Affine


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
        joint = space.joints[moving.of_variable[variable]]
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


def _following(moving: MovingJoints, space: JointSpace, given_joints: set[int]) -> list[str]:
    """Return the mimic joints that follow a leader with a value in `given_joints`, and have none themselves.

    A measured value of a mimic joint is kept, as robot_state_publisher does.
    """
    result = []
    for joint in moving.followers:
        at = space.joint_positions[joint.name]
        leaders = set(space.mimics.source[at].tolist())
        if given_joints & leaders and not given_joints & set(range(at.start, at.stop)):
            result.append(joint.name)
    return result


def _followers(spans: Sequence[slice], mimics: MimicMap, given: set[int]) -> Followers:
    """Return the variables of `spans` whose leaders are given."""
    at = np.array([i for span in spans for i in range(span.start, span.stop) if mimics.source[i] in given], np.intp)
    return Followers(at, mimics[at])


def _floating_entries(
    entries: Mapping[str, list[int]], target: list[int], source: list[int], moving: MovingJoints, space: JointSpace
) -> Iterator[FloatingEntries]:
    entry_of = dict(zip(target, source, strict=True))
    for joint in space.joints:
        if joint.motion.has_quaternion and joint.name in entries:
            first = space.joint_positions[joint.name].start + 3
            if first in entry_of:
                x, y, z, w = (entry_of[first + i] for i in range(4))
                yield FloatingEntries(joint.name, tuple(entries[joint.name]), (x, y, z, w))


def _straight(source: list[int], target: list[int], count: int) -> slice | None:
    if source and source == list(range(count)) and target == list(range(target[0], target[0] + count)):
        return slice(target[0], target[0] + count)
    return None


_MOST_SENTENCES = 8
"""If more joints of one message are not finite, one sentence names the first of them."""


class MessageJointValues(NamedTuple):
    """Usable values of messages with one list of names.

    Attributes:
        messages: (n,) indices of the messages.
        names: (k,) joints of the columns, or variables of planar and floating joints.
        position: (n, k) finite [rad or m].
        velocity: (n, k) [rad/s or m/s], NaN where unknown; (n, 0) if the messages state none.
        effort: (n, k) [N m or N], likewise.
    """

    messages: IntArray
    names: tuple[str, ...]
    position: FloatArray
    velocity: FloatArray
    effort: FloatArray

    def chosen(self, rows: IntArray, columns: BoolArray) -> MessageJointValues:
        """Return some rows and columns."""
        if len(rows) == len(self.messages) and columns.all():
            return self
        position, velocity, effort = (
            part[rows][:, columns] if part.shape[1] else part[rows]
            for part in (self.position, self.velocity, self.effort)
        )
        names = tuple(name for name, wanted in zip(self.names, columns, strict=True) if wanted)
        return MessageJointValues(self.messages[rows], names, position, velocity, effort)


class Fault(NamedTuple):
    """A fault of some messages, and their indices (n,)."""

    refusal: Refusal
    messages: IntArray


class TakenJointStates(NamedTuple):
    """Result of reading joint-state messages.

    Attributes:
        values: the usable values; each message is in at most one item.
        refused: messages that are not used at all.
        notices: messages that are used in part.
    """

    values: tuple[MessageJointValues, ...]
    refused: tuple[Fault, ...] = ()
    notices: tuple[Fault, ...] = ()


def take_joint_state(
    names: Sequence[str],
    position: FloatArray,
    velocity: FloatArray,
    effort: FloatArray,
    *,
    invalid: Invalid = Invalid.SKIP,
) -> TakenJointStates:
    """Return the usable values of joint-state messages; the node and recordings both use this function.

    A message is refused if it has another number of positions than of names, or if it names a joint twice. Velocities
    or efforts are unknown if their number differs from the number of names, or if they are not finite.

    Args:
        names: (k,) the names of all these messages.
        position: (p,) of one message, or (n, p) of several with the same names and lengths [rad or m].
        velocity: (v,) or (n, v) [rad/s or m/s].
        effort: (e,) or (n, e) [N m or N].
        invalid: whether a joint whose position is not finite is skipped, or makes the message refused.
    """
    names = tuple(names)
    rows = np.atleast_2d(position)
    rates, efforts = (np.atleast_2d(part) if part.size else rows[:, :0] for part in (velocity, effort))
    messages = np.arange(len(rows))
    refusal = _refusal(names, rows.shape[1])
    if refusal is not None:
        return TakenJointStates((), (Fault(refusal, messages),))
    notices = []
    for what, part in (("velocities", rates), ("efforts", efforts)):
        if part.shape[1] not in (0, len(names)):
            text = f"it has {len(names)} names but {part.shape[1]} {what}; these are not used"
            notices.append(Fault(Refusal(Reason.WRONG_LENGTH, text), messages))
    values = MessageJointValues(
        messages, names, rows, *(_finite_or_unknown(part, len(names)) for part in (rates, efforts))
    )
    bad = ~np.isfinite(rows)
    if not bad.any():
        return TakenJointStates((values,), (), tuple(notices))

    def describe(row: int, columns: list[int]) -> list[str]:
        if len(columns) > _MOST_SENTENCES:
            return [f"the positions of {quoted((names[column] for column in columns), 5)} are not finite"]
        return [f"the position of '{shown(names[column])}' is {rows[row, column]}" for column in columns]

    return _without(values, bad, Reason.NOT_FINITE, describe, invalid, notices)


def take_quaternions(
    plan: InputPlan, values: MessageJointValues, *, invalid: Invalid = Invalid.SKIP
) -> TakenJointStates:
    """Return values with the quaternions of floating joints at length one.

    A joint whose quaternion is zero is skipped, or makes the message refused.
    """
    position, bad = np.array(values.position), np.zeros(values.position.shape, np.bool_)
    joint_of: dict[int, str] = {}
    for floating in plan.floating:
        at = list(floating.quaternion)
        length = np.linalg.norm(position[:, at], axis=1)
        zero = length < SMALLEST_QUATERNION
        bad[np.ix_(zero, list(floating.entries))] = True
        joint_of.update(dict.fromkeys(floating.entries, floating.joint))
        position[:, at] /= np.where(zero, 1.0, length)[:, np.newaxis]
    values = values._replace(position=position)

    def describe(_row: int, columns: list[int]) -> list[str]:
        joints = dict.fromkeys(joint_of[column] for column in columns)
        return [f"the quaternion of '{shown(name)}' is zero" for name in joints]

    if not bad.any():
        return TakenJointStates((values,))
    return _without(values, bad, Reason.BAD_QUATERNION, describe, invalid, [])


def _refusal(names: tuple[str, ...], count: int) -> Refusal | None:
    if not names:
        return Refusal(Reason.EMPTY, "it names no joint")
    if len(set(names)) < len(names):
        return Refusal(Reason.DUPLICATE_NAME, f"it names {quoted(duplicates(names), 5)} more than once")
    if not count:
        return Refusal(Reason.NO_POSITIONS, f"it has no position for '{shown(names[0])}' nor for any other joint")
    if count != len(names):
        odd = shown(names[min(count, len(names) - 1)])
        text = f"it has {len(names)} names but {count} positions, from '{odd}' on they do not match"
        return Refusal(Reason.WRONG_LENGTH, text)
    return None


def _finite_or_unknown(values: FloatArray, count: int) -> FloatArray:
    if values.shape[1] != count:
        return values[:, :0]
    finite = np.isfinite(values)
    return values if finite.all() else np.where(finite, values, np.nan)


def _without(
    values: MessageJointValues,
    bad: BoolArray,
    reason: Reason,
    describe: Callable[[int, list[int]], list[str]],
    invalid: Invalid,
    notices: list[Fault],
) -> TakenJointStates:
    """Return `values` without the `bad` (n, k) ones; `describe` gives the sentences for some columns of a row."""
    kept_values, refused = [], []
    patterns, which = np.unique(bad, axis=0, return_inverse=True)
    for number, pattern in enumerate(patterns):
        rows, columns = np.flatnonzero(which.ravel() == number), np.flatnonzero(pattern).tolist()
        messages = values.messages[rows]
        if columns and (pattern.all() or invalid is Invalid.REFUSE):
            (sentence,) = describe(int(rows[0]), [columns[0]])
            refused.append(Fault(Refusal(reason, sentence), messages))
            continue
        kept_values.append(values.chosen(rows, ~pattern))
        for sentence in describe(int(rows[0]), columns) if columns else ():
            notices.append(Fault(Refusal(reason, f"{sentence}; the message's other joints are used"), messages))
    return TakenJointStates(tuple(kept_values), tuple(refused), tuple(notices))
