# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.


"""Recorded joint states of one robot: the input plan of the running node, for whole columns."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator

import numpy as np

from robot_semantics.kinematics.joint_space import JointSpace
from robot_semantics.model.robot_model import RobotModel
from robot_semantics.recording.columns import GroupKey, Part, Pieces
from robot_semantics.state.joint_input import Followers, InputPlan, MovingJoints, Refusal, make_plan
from robot_semantics.state.joint_state import Fault, MessageJointValues, take_quaternions
from robot_semantics.state.settings import Invalid
from robot_semantics.transforms.arrays import FloatArray

QUANTITIES = ("position", "velocity", "effort")


def robot_joint_states(
    pieces: Pieces, topics: Collection[str], model: RobotModel, invalid: Invalid, report: Callable[[str, Fault], None]
) -> Pieces:
    """Return the joint states of `topics` with quaternions of length one, and with the mimic joints they do not name.

    A mimic joint follows the messages that name only its leader. If another topic names it, it does not follow.

    Args:
        pieces: the columns of a recording.
        topics: the topics of the robot's joint states.
        model: the robot.
        invalid: what happens to a message with a quaternion of zeros.
        report: takes the topic and the problem of messages.
    """
    space = JointSpace.of(model)
    moving = MovingJoints(model, space)
    mine = {key: parts for key, parts in pieces.items() if key.kind == "joints" and key.topic in topics}
    named = {topic: {name for key in mine if key.topic == topic for name in key.names} for topic in topics}
    result: Pieces = {}
    for key, parts in mine.items():
        plan = make_plan(key.names, model, space, moving, frozenset())
        if isinstance(plan, Refusal):
            result.setdefault(key, []).extend(parts)
            continue
        elsewhere = {name for topic, names in named.items() if topic != key.topic for name in names}
        for part in parts:
            for own_key, own in _with_quaternions(plan, key, part, invalid, report):
                result.setdefault(own_key, []).append(own)
            for own_key, own in _followers(plan, space, key, part, elsewhere - named[key.topic]):
                result.setdefault(own_key, []).append(own)
    return result


def _with_quaternions(
    plan: InputPlan, key: GroupKey, part: Part, invalid: Invalid, report: Callable[[str, Fault], None]
) -> Iterator[tuple[GroupKey, Part]]:
    if not plan.floating and not plan.incomplete:
        yield key, part
        return
    count = len(part["log"])
    position, velocity, effort = (np.asarray(part.get(name, np.empty((count, 0)))) for name in QUANTITIES)
    values = MessageJointValues(np.arange(count), key.names, position, velocity, effort)
    taken = take_quaternions(plan, values, invalid=invalid)
    for fault in (*taken.refused, *taken.notices):
        report(key.topic, fault)
    for some in taken.values:
        whole = np.array([name not in plan.incomplete for name in some.names], np.bool_)
        kept = some.chosen(np.arange(len(some.messages)), whole)
        arrays = {name: getattr(kept, name) for name in QUANTITIES if name in part}
        rows = kept.messages
        if kept.names:
            yield key._replace(names=kept.names), {"log": part["log"][rows], "stamp": part["stamp"][rows], **arrays}


def _followers(
    plan: InputPlan, space: JointSpace, key: GroupKey, part: Part, elsewhere: Collection[str]
) -> Iterator[tuple[GroupKey, Part]]:
    """Yield the columns of the mimic joints of a message's joints, except those named `elsewhere`."""
    names = [space.names[variable] for variable in plan.followers.target.tolist()]
    chosen = [i for i, name in enumerate(names) if name not in elsewhere]
    if not chosen:
        return
    entry = dict(zip(plan.target.tolist(), plan.source.tolist(), strict=True))
    arrays = {"position": _followed(part["position"], plan.followers, entry)[:, chosen]}
    if "velocity" in part:
        rates = dict(zip(plan.velocity_target.tolist(), plan.velocity_source.tolist(), strict=True))
        moving = _followed(part["velocity"], plan.velocity_followers, rates)
        velocity = np.full((len(moving), len(names)), np.nan)
        at = {name: i for i, name in enumerate(names)}
        for column, variable in enumerate(plan.velocity_followers.target.tolist()):
            # Only joints with one velocity for each position have velocities in joint states.
            position = at.get(_position_name(space, variable))
            if position is not None:
                velocity[:, position] = moving[:, column]
        arrays["velocity"] = velocity[:, chosen]
    own = GroupKey("joints", key.topic, tuple(names[i] for i in chosen), (), tuple(arrays))
    yield own, {"log": part["log"], "stamp": part["stamp"], **arrays}


def _followed(values: FloatArray, followers: Followers, entry: dict[int, int]) -> FloatArray:
    columns = [entry[variable] for variable in followers.source.tolist()]
    return np.asarray(followers.factor * values[:, columns] + followers.offset)


def _position_name(space: JointSpace, velocity: int) -> str:
    """Return the name of the position variable of a velocity component."""
    for name, rates in space.joint_velocities.items():
        if rates.start <= velocity < rates.stop:
            return str(space.names[space.joint_positions[name].start + velocity - rates.start])
    return ""
