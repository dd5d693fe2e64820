# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Look-up of recorded joint states at thousands of times together.

Messages may be partial and come from several publishers: every joint has its own history from all messages that name
it. Joints that always come in the same messages share one timeline, so most robots need a single search.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from robot_semantics.base.record import record
from robot_semantics.kinematics.joint_space import JointSpace
from robot_semantics.kinematics.motions import PositionBlend
from robot_semantics.live.joint_state import (
    Fault,
    Followers,
    InputPlan,
    MessageJointValues,
    MovingJoints,
    Refusal,
    make_plan,
    take_quaternions,
)
from robot_semantics.live.settings import Invalid
from robot_semantics.model.robot_model import RobotModel
from robot_semantics.recording.bags.columns import Array, GroupKey, Part, Pieces, Stream, take_rows
from robot_semantics.recording.tracks.timeline import Bracket, Timeline, blend_straight, bracket, interpolate_bracket
from robot_semantics.transforms import wrapped_angles
from robot_semantics.transforms.arrays import FloatArray, IntArray

_ONE_TURN = 2.0 * np.pi * (1.0 + 1e-9)
QUANTITIES = ("position", "velocity", "effort")


class JointSamples(NamedTuple):
    """Joint values at n times; NaN if unknown.

    Attributes:
        position: (n, joints) [rad, m].
        velocity: (n, joints) [rad/s, m/s].
        effort: (n, joints) [N m, N].
        age_ns: (n, joints) distance in time to the nearest message with the position; -1 without one.
    """

    position: FloatArray
    velocity: FloatArray
    effort: FloatArray
    age_ns: IntArray


class _MessageBlock(NamedTuple):
    topic: str
    names: tuple[str, ...]
    arrays: dict[str, Array]


@record(frozen=True)
class _JointSet:
    """Joints whose values of one quantity always come together.

    Attributes:
        places: indices of their blocks, in the order of the timeline.
        columns: the joints' columns in each of these blocks.
    """

    joints: tuple[str, ...]
    places: tuple[int, ...]
    columns: tuple[IntArray, ...]
    timeline: Timeline


class JointHistory:
    """All recorded joint states of one run and one set of topics.

    Attributes:
        names: all joints, in the order of their first messages.
        rivals: joints that are also on a later topic, with these topics; the later topics are not used for them.
        duplicates: messages with the stamp of an earlier message.
        late: messages after one with a later stamp.
    """

    def __init__(self, pieces: Pieces, topics: Sequence[str]) -> None:
        """Collect the messages of `topics`; if several topics have a joint, the first topic is used."""
        self._places = [
            _MessageBlock(key.topic, key.names, part)
            for topic in topics
            for key, parts in pieces.items()
            if key.kind == Stream.JOINTS and key.topic == topic
            for part in parts
        ]
        self._topic: dict[str, str] = {}
        self.rivals: dict[str, list[str]] = {}
        for place in self._places:
            for name in place.names:
                if self._topic.setdefault(name, place.topic) != place.topic:
                    self.rivals.setdefault(name, [])
                    if place.topic not in self.rivals[name]:
                        self.rivals[name].append(place.topic)
        self._timelines: dict[tuple[int, ...], Timeline] = {}
        self._families = {quantity: list(self._grouped(quantity)) for quantity in QUANTITIES}
        self.names = tuple(self._topic)
        self.duplicates = max((timeline.duplicates for timeline in self._timelines.values()), default=0)
        self.late = max((timeline.late for timeline in self._timelines.values()), default=0)

    def topic_of(self, name: str) -> str:
        """Return the topic whose messages give a joint."""
        return self._topic[name]

    def stamps_of(self, name: str) -> IntArray:
        """Return every stamp (n,) at which there is a position of a joint [ns]."""
        mine = (family for family in self._families["position"] if name in family.joints)
        return next((family.timeline.stamps_ns for family in mine), np.zeros(0, np.int64))

    def counts_turns(self, name: str) -> bool:
        """Return True if the positions of a joint leave one turn, or if its velocities tell that they count turns.

        An angle that stays within one turn goes the short way between two messages.
        """
        positions = next((joints for joints in self._families["position"] if name in joints.joints), None)
        if positions is None or len(positions.timeline) < 2:
            return False
        samples = np.arange(len(positions.timeline))
        angles = self._taker(positions, "position", np.array([positions.joints.index(name)]))(samples)[:, 0]
        if float(np.nanmax(angles) - np.nanmin(angles)) > _ONE_TURN:
            return True
        rates = next((joints for joints in self._families["velocity"] if name in joints.joints), None)
        if rates is None or rates.places != positions.places:
            return False
        velocities = self._taker(rates, "velocity", np.array([rates.joints.index(name)]))(samples)[:, 0]
        step = np.diff(angles)
        expected = 0.5 * (velocities[1:] + velocities[:-1]) * np.diff(positions.timeline.stamps_ns) / 1e9
        doubtful = (np.abs(step) > np.pi) & np.isfinite(expected)
        straight = np.abs(step - expected) < np.abs(wrapped_angles(step) - expected)
        return bool(np.count_nonzero(straight[doubtful]) > 0.5 * np.count_nonzero(doubtful))

    def _grouped(self, quantity: str) -> Iterator[_JointSet]:
        places_of: dict[str, list[int]] = {}
        having = {name for place in self._places if quantity in place.arrays for name in place.names}
        for number, place in enumerate(self._places):
            for name in place.names:
                # A message without the quantity makes it unknown.
                if name in having and self._topic[name] == place.topic:
                    places_of.setdefault(name, []).append(number)
        families: dict[tuple[int, ...], list[str]] = {}
        for name, places in places_of.items():
            families.setdefault(tuple(places), []).append(name)
        for numbers, joints in families.items():
            columns = tuple(
                np.array([self._places[number].names.index(joint) for joint in joints], dtype=np.int64)
                for number in numbers
            )
            yield _JointSet(tuple(joints), numbers, columns, self._timeline(numbers))

    def _timeline(self, numbers: tuple[int, ...]) -> Timeline:
        if numbers not in self._timelines:
            arrays = [self._places[number].arrays for number in numbers]
            stamps = [part["stamp"] for part in arrays]
            self._timelines[numbers] = Timeline.merge(stamps, [part["log"] for part in arrays], stamps)
        return self._timelines[numbers]

    def stamps_ns(self) -> IntArray:
        """Return every stamp of these messages once, sorted [ns]."""
        stamps = [np.asarray(place.arrays["stamp"]) for place in self._places]
        return np.unique(np.concatenate(stamps)) if stamps else np.zeros(0, np.int64)

    def sample(
        self,
        joints: Sequence[str],
        times_ns: IntArray,
        mode: str = "linear",
        blend: PositionBlend | None = None,
    ) -> JointSamples:
        """Return the values of `joints` at `times_ns` (n,).

        Args:
            joints: names; unknown joints get NaN.
            times_ns: the times.
            mode: ``linear``, ``previous`` or ``nearest``. A joint keeps its value after its last message. Before its
                first message it has a value only with ``nearest``.
            blend: interpolates the positions of `joints`; by default straight.
        """
        count = len(times_ns)
        index = {name: i for i, name in enumerate(joints)}
        sampled = {quantity: np.full((count, len(joints)), np.nan) for quantity in QUANTITIES}
        age = np.full((count, len(joints)), -1, dtype=np.int64)
        brackets: dict[tuple[int, ...], Bracket] = {}
        for quantity, values in sampled.items():
            for family in self._families[quantity]:
                asked = [(column, index[name]) for column, name in enumerate(family.joints) if name in index]
                if not asked:
                    continue
                mine, out = (np.array(part, dtype=np.int64) for part in zip(*asked, strict=True))
                if family.places not in brackets:
                    brackets[family.places] = bracket(family.timeline.stamps_ns, times_ns, mode)
                where = brackets[family.places]
                between = blend.of_columns(out) if blend is not None and quantity == "position" else blend_straight
                some = interpolate_bracket(where, self._taker(family, quantity, mine), between)
                values[:, out] = where.at_all_times(count, some, np.nan)
                if quantity == "position":
                    age[:, out] = where.at_all_times(count, where.age_ns, -1)[:, np.newaxis]
        return JointSamples(**sampled, age_ns=age)

    def _taker(self, family: _JointSet, quantity: str, sample_rows: IntArray) -> Callable[[IntArray], FloatArray]:
        """Return a function that gives the values (n, mine) of some of the joints at some of the samples."""

        def take(samples: IntArray) -> FloatArray:
            result = np.empty((len(samples), len(sample_rows)))
            for place, mask, rows in family.timeline.locate(samples):
                arrays = self._places[family.places[place]].arrays
                if quantity in arrays:
                    values = np.asarray(take_rows(arrays[quantity], rows), dtype=np.float64)
                    columns = family.columns[place][sample_rows]
                    some = values if _whole(columns, values.shape[1]) else values[:, columns]
                else:
                    some = np.full((len(rows), len(sample_rows)), np.nan)
                if isinstance(mask, slice):
                    return some
                result[mask] = some
            return result

        return take


def _whole(columns: IntArray, width: int) -> bool:
    return len(columns) == width and bool((columns == np.arange(width)).all())


# Recorded joint states of one robot: the input plan of the running node, for whole columns.


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
    moving = MovingJoints(space)
    mine = {key: parts for key, parts in pieces.items() if key.kind == Stream.JOINTS and key.topic in topics}
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
    own = GroupKey(Stream.JOINTS, key.topic, tuple(names[i] for i in chosen), (), tuple(arrays))
    yield own, {"log": part["log"], "stamp": part["stamp"], **arrays}


def _followed(values: FloatArray, followers: Followers, entry: dict[int, int]) -> FloatArray:
    columns = [entry[variable] for variable in followers.values.source.tolist()]
    return replace(followers.values, source=np.array(columns, np.intp))(values)


def _position_name(space: JointSpace, velocity: int) -> str:
    """Return the name of the position variable of a velocity component."""
    for name, rates in space.joint_velocities.items():
        if rates.start <= velocity < rates.stop:
            return str(space.names[space.joint_positions[name].start + velocity - rates.start])
    return ""
