# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Messages in, columns out: parsers for each message type that a recording uses."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from robot_semantics.base.names import frame_name, shown
from robot_semantics.base.record import record
from robot_semantics.cdr.layout import CdrError, LayoutError
from robot_semantics.cdr.match import LayoutMatch, LayoutTable, transform_columns
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
from robot_semantics.live.joint_state import take_joint_state
from robot_semantics.live.settings import Invalid
from robot_semantics.recording.bags.columns import Array, Columns, GroupKey, Stream
from robot_semantics.recording.read.clocks import ALIGN_NS
from robot_semantics.transforms.arrays import BoolArray, IntArray
from robot_semantics.transforms.rows import usable_poses
from robot_semantics.usdf.validity import name_fault

REFUSED = "malformed, "
"""Start of a reason why whole messages are refused."""
_NO_POSE = "not finite or not a rotation"


@dataclass
class Refusals:
    """Messages that could not be used: their number, and the reason for the first of each kind.

    Attributes:
        counts: by (topic, reason).
        first_ns: log time of the first, by (topic, reason).
        partly: the (topic, reason) of messages that are used in part.
    """

    counts: Counter[tuple[str, str]] = field(default_factory=Counter)
    first_ns: dict[tuple[str, str], int] = field(default_factory=dict)
    partly: set[tuple[str, str]] = field(default_factory=set)

    def add(self, topic: str, reason: str, log_ns: int, count: int = 1, *, partly: bool = False) -> None:
        """Count messages that are refused, or used only `partly`, for one reason."""
        if partly:
            self.partly.add((topic, reason))
        self.counts[topic, reason] += count
        self.first_ns[topic, reason] = min(log_ns, self.first_ns.get((topic, reason), log_ns))

    def extend(self, other: Refusals) -> None:
        """Add another's counts."""
        for (topic, reason), count in other.counts.items():
            partly = (topic, reason) in other.partly
            self.add(topic, reason, other.first_ns[topic, reason], count, partly=partly)


@record(frozen=True)
class Text:
    """A published text, such as a robot description."""

    topic: str
    log_ns: int
    text: str


class ReadOptions(NamedTuple):
    """How recordings are read.

    Attributes:
        invalid: treatment of a joint state with a position that is not finite.
        tf_topics: other topics with transforms.
        align_ns: clocks that are further than this from the reference are shifted.
    """

    invalid: Invalid = Invalid.SKIP
    tf_topics: tuple[str, ...] = ()
    align_ns: int = ALIGN_NS


AS_USUAL = ReadOptions()


class TopicReader:
    """Parses one topic's messages, block by block."""

    def __init__(
        self,
        topic: str,
        msgtype: str,
        columns: Columns,
        refusals: Refusals,
        texts: list[Text],
        *,
        ros1: bool,
        options: ReadOptions,
        is_pose: bool = False,
        decode: Callable[[bytes], bytes] | None = None,
    ) -> None:
        """Prepare to read.

        Args:
            topic: the topic.
            msgtype: its message type.
            columns: takes the numbers.
            refusals: takes the refused messages.
            texts: takes the texts.
            ros1: True for the serialisation of ROS 1.
            options: how recordings are read.
            is_pose: True if single transforms are the pose of a robot, not part of TF.
            decode: converts a message to CDR; it raises `CdrError` for a bad one.
        """
        self._decode = decode
        self.topic, self._options, self._is_pose = topic, options, is_pose
        self._msgtype, self._parse = msgtype, _PARSERS[msgtype]
        self._table = LayoutTable(FIELDS[msgtype], ros1=ros1)
        self._columns, self._refusals, self._texts = columns, refusals, texts
        self._tf_kind = Stream.TF_STATIC if topic.endswith("tf_static") else Stream.TF

    def take(self, logs: Sequence[int], messages: Sequence[bytes]) -> None:
        """Parse messages, in their order of arrival."""
        if self._decode is not None:
            logs, messages = self._decoded(self._decode, logs, messages)
        when = np.array(logs, dtype=np.int64)
        if self._msgtype == TF_MESSAGE and self._table.varied(messages):
            left = self._single_transforms(messages, when)
            messages, when = [messages[index] for index in left.tolist()], when[left]
        refused: list[tuple[int, LayoutError]] = []
        for match in self._table.sort(messages, refused):
            self._parse(self, match, when[match.indices])
        for index, error in refused:
            self._refusals.add(self.topic, f"{REFUSED}{error}", int(when[index]))

    def _decoded(
        self, decode: Callable[[bytes], bytes], logs: Sequence[int], messages: Sequence[bytes]
    ) -> tuple[Sequence[int], Sequence[bytes]]:
        """Return the messages as CDR, with their log times; bad messages are refused."""
        good: list[int] = []
        converted: list[bytes] = []
        for log_ns, message in zip(logs, messages, strict=True):
            try:
                converted.append(decode(message))
                good.append(log_ns)
            except CdrError as error:
                self._refusals.add(self.topic, f"{REFUSED}{error}", log_ns)
        return good, converted

    def joint_states(self, match: LayoutMatch, logs: IntArray) -> None:
        """Add joint states, by the rule of `take_joint_state`."""
        arrays = (match.layout.doubles(match.rows, name)[:, 0] for name in ("position", "velocity", "effort"))
        joint_values = take_joint_state(match.layout.texts["name"], *arrays, invalid=self._options.invalid)
        for fault in joint_values.refused:
            self._refusals.add(self.topic, f"{REFUSED}{fault.refusal.message}", *_first_and_count(logs[fault.messages]))
        for fault in joint_values.notices:
            self._refusals.add(self.topic, fault.refusal.message, *_first_and_count(logs[fault.messages]), partly=True)
        stamps = match.layout.stamps_ns(match.rows)[:, 0]
        for values in joint_values.values:
            some = {name: getattr(values, name) for name in ("position", "velocity", "effort")}
            some = {name: array for name, array in some.items() if array.shape[1]}
            rows = values.messages
            self._append(Stream.JOINTS, values.names, (), tuple(some), stamps[rows], logs[rows], some)

    def transforms(self, match: LayoutMatch, logs: IntArray) -> None:
        """Add the transforms of TF messages."""
        layout = match.layout
        children = tuple(frame_name(name) for name in layout.texts.get("child_frame_id", ()))
        parents = tuple(frame_name(name) for name in layout.texts.get("frame_id", ()))
        stamps, poses = layout.stamps_ns(match.rows), layout.doubles(match.rows, "pose")
        named = [index for index in range(len(children)) if self._can_be_named(parents[index], children[index], logs)]
        if not named:
            return
        if len(named) < len(children):
            children, parents = (tuple(names[index] for index in named) for names in (children, parents))
            stamps, poses = stamps[:, named], poses[:, named]
        stamps = np.where(stamps == 0, logs[:, np.newaxis], stamps)
        bad = self._bad_poses(poses, logs, children, "frame ", "transform")
        holes: tuple[str, ...] = ()
        if bad is not None:
            holes, poses = ("holes",), np.where(bad[..., np.newaxis], np.nan, poses)
        key = GroupKey(self._tf_kind, self.topic, children, parents, holes)
        self._columns.add_rows(key, {"log": logs, "stamp": stamps, "pose": poses})

    def _can_be_named(self, parent: str, child: str, logs: IntArray) -> bool:
        """Return whether a file can hold the names of a transform's frames; refuse the transform otherwise."""
        for name, what in ((child, "its name"), (parent, "the name of its parent")):
            fault = name_fault(name)
            if fault is not None:
                self._refusals.add(self.topic, f"frame '{shown(child)}': {what} {fault}", *_first_and_count(logs))
                return False
        return True

    def _single_transforms(self, messages: Sequence[bytes], logs: IntArray) -> IntArray:
        """Add transforms one by one; return the indices (n,) of messages for the general reader."""
        found, remaining = transform_columns(messages, ros1=self._table.ros1)
        for columns in found:
            arrays = {"pose": columns.poses[:, np.newaxis]}
            parent, child = frame_name(columns.parent), frame_name(columns.child)
            if not self._can_be_named(parent, child, logs[columns.message]):
                continue
            stamps, order, arrays = self._with_valid_poses(
                columns.stamps_ns, logs[columns.message], arrays, (child,), "frame ", "transform"
            )
            if not len(stamps):
                continue
            stamps = np.where(stamps == 0, order, stamps)[:, np.newaxis]
            self._columns.add_rows(
                GroupKey(self._tf_kind, self.topic, (child,), (parent,)), {"log": order, "stamp": stamps, **arrays}
            )
        return remaining

    def single_transform(self, match: LayoutMatch, logs: IntArray) -> None:
        """Add transforms that have no message around them."""
        if self._is_pose:
            self.odometry(match, logs)
        else:
            self.transforms(match, logs)

    def odometry(self, match: LayoutMatch, logs: IntArray) -> None:
        """Add odometry: pose of the child frame in the frame, twist in the child frame's axes.

        A pose without a child frame or without a twist is odometry without them.
        """
        texts = match.layout.texts
        has = tuple(name for name in ("twist",) if name in match.layout.numbers)
        arrays = {name: match.layout.doubles(match.rows, name) for name in ("pose", *has)}
        child, frame = frame_name(texts.get("child_frame_id", [""])[0]), frame_name(texts["frame_id"][0])
        # An empty name has a meaning here.
        if not self._can_be_named(frame or "frame", child or "child", logs):
            return
        stamps, logs, arrays = self._with_valid_poses(match.layout.stamps_ns(match.rows)[:, 0], logs, arrays, (child,))
        arrays = {name: values[:, 0] for name, values in arrays.items()}
        self._append(Stream.ODOMETRY, (child,), (frame,), has, stamps, logs, arrays)

    def multi_dof(self, match: LayoutMatch, logs: IntArray) -> None:
        """Add multi-DOF joint states: poses in the header's frame, twists in that frame's axes."""
        texts, layout = match.layout.texts, match.layout
        names = tuple(texts["joint_names"])
        poses, twists = layout.doubles(match.rows, "pose"), layout.doubles(match.rows, "twist")
        if poses.shape[1] != len(names) or twists.shape[1] not in (0, len(names)):
            reason = f"{REFUSED}{len(names)} names, {poses.shape[1]} transforms and {twists.shape[1]} twists"
            self._refusals.add(self.topic, reason, *_first_and_count(logs))
            return
        arrays: dict[str, Array] = {"pose": poses} | ({"twist": twists} if twists.shape[1] else {})
        if names:
            parent = frame_name(texts["frame_id"][0])
            stamps, logs, arrays = self._with_valid_poses(layout.stamps_ns(match.rows)[:, 0], logs, arrays, names)
            self._append(Stream.MULTI_DOF, names, (parent,), tuple(arrays), stamps, logs, arrays)

    def _with_valid_poses(
        self,
        stamps: IntArray,
        logs: IntArray,
        arrays: dict[str, Array],
        names: tuple[str, ...],
        what: str = "",
        noun: str = "pose",
    ) -> tuple[IntArray, IntArray, dict[str, Array]]:
        """Return the messages with valid poses."""
        bad = self._bad_poses(arrays["pose"], logs, names, what, noun)
        if bad is None:
            return stamps, logs, arrays
        good = ~bad.any(axis=1)
        return stamps[good], logs[good], {name: values[good] for name, values in arrays.items()}

    def _bad_poses(
        self, poses: Array, logs: IntArray, names: tuple[str, ...], what: str, noun: str
    ) -> BoolArray | None:
        """Return (n, k) the poses (n, k, 7) that cannot be used; None if all can."""
        good = usable_poses(poses)
        if good.all():
            return None
        bad = ~good
        for index in np.flatnonzero(bad.any(axis=0)).tolist():
            rotations = usable_poses(np.concatenate([np.zeros((len(poses), 3)), poses[:, index, 3:]], axis=1))
            is_far = bool(rotations[bad[:, index]].all() and np.isfinite(poses[bad[:, index], index]).all())
            reason = f"{what}'{names[index]}': a {noun} that is {'too far away' if is_far else _NO_POSE}"
            self._refusals.add(self.topic, reason, int(logs[bad[:, index]].min()), int(bad[:, index].sum()))
        return bad

    def strings(self, match: LayoutMatch, logs: IntArray) -> None:
        """Keep texts."""
        self._texts += [Text(self.topic, int(log), match.layout.texts["data"][0]) for log in logs]

    def _append(
        self,
        kind: Stream,
        names: tuple[str, ...],
        parents: tuple[str, ...],
        has: tuple[str, ...],
        stamps: IntArray,
        logs: IntArray,
        arrays: Mapping[str, Array],
    ) -> None:
        valid = stamps >= 0
        if not valid.all():
            self._refusals.add(self.topic, f"{REFUSED}its stamp is negative", *_first_and_count(logs[~valid]))
            stamps, logs = stamps[valid], logs[valid]
            arrays = {name: values[valid] for name, values in arrays.items()}
        if not len(stamps):
            return
        # Stamp 0 means no stamp; then the time of recording is used.
        stamps = np.where(stamps == 0, logs, stamps)
        key = GroupKey(kind, self.topic, names, parents, has)
        self._columns.add_rows(key, {"log": logs, "stamp": stamps, **arrays})


def _first_and_count(logs: IntArray) -> tuple[int, int]:
    """Return the time of the first message, and the number of messages."""
    return int(logs.min()), len(logs)


class StampReader:
    """Reads only the stamps of a topic whose content is not used.

    `stamp_of` returns the stamp of a message [ns]; for 0, the time of recording is used.
    """

    def __init__(self, topic: str, columns: Columns, stamp_of: Callable[[bytes], int]) -> None:
        self._key = GroupKey(Stream.TIMES, topic, ())
        self._columns, self._stamp_of = columns, stamp_of

    def take(self, logs: Sequence[int], messages: Sequence[bytes]) -> None:
        """Store the times of messages."""
        stamps = [self._stamp_of(message) or log_ns for log_ns, message in zip(logs, messages, strict=True)]
        self._columns.add_rows(self._key, {"log": np.array(logs, np.int64), "stamp": np.array(stamps, np.int64)})


_PARSERS: dict[str, Callable[[TopicReader, LayoutMatch, IntArray], None]] = {
    JOINT_STATE: TopicReader.joint_states,
    TF_MESSAGE: TopicReader.transforms,
    ODOMETRY: TopicReader.odometry,
    MULTI_DOF: TopicReader.multi_dof,
    POSE_STAMPED: TopicReader.odometry,
    POSE_WITH_COVARIANCE_STAMPED: TopicReader.odometry,
    TRANSFORM_STAMPED: TopicReader.single_transform,
    STRING: TopicReader.strings,
}
