# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""One robot at run time: reads joint values, keeps the newest ones, and makes the transforms that are due."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Sequence

import numpy as np

from robot_semantics.base.caches import LruCache
from robot_semantics.base.names import shown
from robot_semantics.base.nanoseconds import float_seconds
from robot_semantics.cdr.joint_states import JointStateData
from robot_semantics.kinematics.joint_space import JointSpace
from robot_semantics.kinematics.motions import UnusablePose, joint_motion
from robot_semantics.live.buffer import JointBuffer, LoopCloser, default_positions
from robot_semantics.live.fast_path import FastPath
from robot_semantics.live.frames import RobotFrames, TransformBlock, TransformRows, common_joints
from robot_semantics.live.joint_state import (
    InputPlan,
    MessageJointValues,
    MovingJoints,
    Reason,
    Refusal,
    TakenJointStates,
    make_plan,
    take_joint_state,
    take_quaternions,
)
from robot_semantics.live.samples import base_frames
from robot_semantics.live.senders import (
    FAR,
    NEAR,
    NEVER_NS,
    RESET_NS,
    Arrival,
    MessageStream,
    PublisherWatch,
    Sender,
    Senders,
)
from robot_semantics.live.settings import JOINT_KINDS, RobotSettings, SenderKind, Source, VirtualJointSettings
from robot_semantics.model.robot_model import RobotModel
from robot_semantics.transforms.arrays import BoolArray, FloatArray

_MAX_BLOCKS = 64
_MAX_STREAMS = 64
_MAX_NAMES = 2_000_000
"""Limit for the characters in all names that are kept."""
_LOOK_NS = 250_000_000
"""Time between two looks for silent senders, where `complete_after` is shorter [ns]."""
_TOGETHER_NS = 2_000_000_000
"""A sender whose clock was reset with another's may show this itself so much later [ns]."""
_LOST_M, _LOST_RAD = 1e-3, 1e-3
_NOT_FROM_JOINT_STATES = (Source.MULTI_DOF, Source.ODOMETRY, Source.TF, Source.FIXED)


Messages = tuple[bytes | TransformRows, ...]
"""Messages for /tf in their order: as bytes, or as rows without the setting `raw`."""


class RunningRobot(RobotFrames):
    """A robot model with its newest joint values, its senders and their transforms.

    Attributes:
        base_frames: the links that are fixed to the root link, by their names in odometry and on TF.
        notices: sentences for the log, each once; the code that logs them clears the list.
        made_ns: time of this robot's creation, on the monotonic clock.
        has_moved: True after the first message that moved a joint.
        loops: closes the loops of the robot; None if there are none.
        fast_path: reads messages like the last ones; use `values` to read the buffer, because it parses them first.
        sent: number of transforms in the last messages.
        dropped_parts: for each planar joint that gets poses in space, the largest part that was dropped [m, rad].
        senders: the senders of its joint states, multi-DOF joint states and odometry.
        check_ns: time on the steady clock at which a sender may be silent: `held` must be called then.
        clock_resets: clocks that were reset; the code that forgets other values of these clocks clears the list.
        publishers: gives the number of publishers on the topic of a sender.
        is_drained: tells whether no message of a kind of senders waits to be handled.
        compares_values: True while values are watched for two publishers, as the middleware tells no sequence numbers.
        tells_sequence: False after a message without a publication sequence number.
    """

    def __init__(self, name: str, model: RobotModel, settings: RobotSettings) -> None:
        super().__init__(model, settings)
        self.name = name
        self.name_base_frames()
        self.space = JointSpace.of(model)
        self.moving = MovingJoints(self.space)
        defaults = default_positions(model, self.space, settings.default_positions)
        self._buffer = JointBuffer(model, self.space, self.moving, defaults)
        self.notices: list[str] = []
        self.loops = LoopCloser.of(model, self._buffer, self.notices)
        self.sent = 0
        self.made_ns = time.monotonic_ns()
        self.has_moved = False
        self.dropped_parts: dict[str, tuple[float, float]] = {}
        self.senders = Senders()
        self.check_ns = 0
        self.clock_resets: list[int] = []
        self.publishers: Callable[[Sender], int] = _one_publisher
        self.is_drained: Callable[[SenderKind], bool] = _is_drained
        self.compares_values, self.tells_sequence = False, True
        self._reset_ns: dict[Sender, int] = {}
        # The sender with whose messages joints without a sender go out, and the stamp of these.
        self._carrier: Sender | None = None
        self._carried_ns = NEVER_NS
        # The positions of the last two messages, for the comparison of values.
        self._before = np.full((2, self.space.size), np.nan)
        self._streams: LruCache[tuple[str, ...], MessageStream | Refusal] = LruCache(_MAX_STREAMS, _MAX_NAMES)
        self._reported: LruCache[str, bool] = LruCache(1000)
        # If stamps are ignored, every joint is always due: every difference of stamps is above this number.
        self._interval_ns = NEVER_NS if settings.ignore_timestamp else settings.publish_interval_ns
        self.fast_path = FastPath(model, self._buffer, self.senders, self._interval_ns)
        root = model.root_joint
        fed_elsewhere = self.root_source in _NOT_FROM_JOINT_STATES
        self._fed_elsewhere = frozenset({root.name}) if fed_elsewhere else frozenset[str]()
        self.publishable = np.array(
            [joint.index != 0 or (self.publishes_root and not self.root_is_fixed) for joint in self.space.joints],
            np.bool_,
        )
        if root.position_count and self.root_source is not Source.TF and not self.publishes_root:
            self.notices.append(
                f"virtual joint '{root.name}': its parent frame and its child link have one TF name "
                f"'{self.parent_frame}', so nothing is published of it; set its parameter parent_frame"
            )
        self._all = np.ones(len(self.moving), np.bool_)
        self._blocks: LruCache[bytes, TransformBlock] = LruCache(_MAX_BLOCKS)
        if self.root_source is Source.FIXED and root.position_count:
            self._fix_root()

    def name_base_frames(self, urdf_name: str = "") -> None:
        """Name the links that are fixed to the root link, also with the URDF's name if only this robot has it."""
        base_frame = self.root_settings.base_frame
        self.base_frames = base_frames(self.model, self.name, self.settings.frame_prefix, base_frame, urdf_name)

    @property
    def values(self) -> JointBuffer:
        """The newest values of the joints."""
        self.fast_path.parse()
        if self.loops is not None:
            self.loops.refresh_velocities()
        return self._buffer

    @property
    def root_settings(self) -> VirtualJointSettings:
        """The settings of the root joint."""
        return self.settings.virtual_joint(self.model.root_joint.name)

    @property
    def root_is_awaited(self) -> bool:
        """True if this robot should publish its root link's transform, but does not know it yet."""
        moving = self.model.root_joint.position_count and self.publishable[0]
        # Without `values`, which parses messages: any thread may ask.
        return bool(moving) and not self._buffer.is_known[0]

    @property
    def awaited_frames(self) -> frozenset[str]:
        """The frames that this robot will publish as soon as it knows the positions of their joints."""
        awaited = self.publishable & ~self._buffer.is_known
        if not awaited.any():
            return frozenset()
        return frozenset(child for _, child in self._frames_of(awaited)[1])

    def _fix_root(self) -> None:
        root = self.model.root_joint
        pose = self.fixed_root_pose()
        if root.position_count == 3:
            yaw = self.settings.virtual_joint(root.name).pose[5]
            pose = np.array([pose[0], pose[1], yaw])
        self._buffer.put_joint(root.name, pose, np.zeros(root.velocity_count), None, 0)

    def _block(self, chosen: BoolArray) -> TransformBlock:
        """Return the transforms of the moving joints that `chosen` (m,) bool selects; cached."""
        key = chosen.tobytes()
        block = self._blocks.get(key)
        if block is None:
            block = TransformBlock(self.model, *self._frames_of(chosen), raw=self.settings.raw)
            self._blocks.put(key, block)
        return block

    def joint_state(
        self,
        data: JointStateData,
        now: Callable[[], int],
        sequence: int | None = None,
        received_ns: int | None = None,
    ) -> Messages | Refusal:
        """Store a joint state.

        Args:
            data: the message.
            now: gives the node's time [ns], called only for messages without a stamp.
            sequence: publication sequence number, if the middleware tells it.
            received_ns: time of arrival on the steady clock; by default now.

        Returns:
            The transforms to publish, if any are due; or why the message is refused.
        """
        self.fast_path.parse()
        invalid = self.settings.invalid
        numbers = data.position, data.velocity, data.effort
        joint_values = self._report(take_joint_state(data.names, *numbers, invalid=invalid))
        if not joint_values.values:
            return joint_values.refused[0].refusal
        (values,) = joint_values.values
        stream = self._stream(values.names)
        if isinstance(stream, MessageStream) and stream.plan.floating:
            joint_values = self._report(take_quaternions(stream.plan, values, invalid=invalid))
            if not joint_values.values:
                return joint_values.refused[0].refusal
            (values,) = joint_values.values
            stream = self._stream(values.names)
        if isinstance(stream, Refusal):
            return stream
        plan, sender = stream.plan, stream.sender
        self.tells_sequence = bool(sequence)
        stamp_ns = data.stamp_ns or now()
        alternates = self._alternates(plan, values)
        refusal = self._refuse_stamp(sender, stamp_ns, plan.names[0], sequence, received_ns, alternates=alternates)
        if refusal is not None:
            return refusal
        known = self._buffer.is_known.copy()
        joints = self._buffer.put_joint_state(plan, values, stamp_ns, sender.arrived_ns)
        self.has_moved = True
        self._closed(joints)
        stream.joints = sender.joints = self._stamped_now(stream.joints)
        if (known != self._buffer.is_known).any():
            self.fast_path.epoch += 1
        messages = self._publish(sender, stamp_ns)
        if values.names is data.names and self.settings.raw and not sender.needs_care and not self.compares_values:
            self.fast_path.enter(stream, data, self._buffer.is_known & self.publishable, self._frames_of, self.loops)
        return messages

    def _alternates(self, plan: InputPlan, values: MessageJointValues) -> bool:
        """Return True if a position of a message returns to the one before the last; only for `compares_values`."""
        if not self.compares_values:
            return False
        row, (last, before) = values.position[0][plan.source], self._before[:, plan.target]
        jump = np.abs(row - last)
        self._before[1, plan.target], self._before[0, plan.target] = last, row
        return bool(((jump > FAR) & (np.abs(row - before) < NEAR * jump)).any())

    def compare_values(self, on: bool) -> None:
        """Begin or end to watch the values of messages for two publishers."""
        if on != self.compares_values:
            self.compares_values = on
            self._before[:] = np.nan
            self.fast_path.epoch += 1

    def contested(self) -> dict[str, tuple[str, ...]]:
        """Return the joints that several publishers state, by topic."""
        frames: dict[str, dict[str, None]] = {}
        for sender in self.senders:
            if sender.watch.several:
                frames.setdefault(sender.topic, {}).update(dict.fromkeys(sender.names))
            elif sender.shared is not None and sender.shared.several:
                other_senders = {
                    name
                    for other in self.senders
                    if other.shared is sender.shared and other is not sender
                    for name in other.names
                }
                frames.setdefault(sender.topic, {}).update(
                    (name, None) for name in sender.names if name in other_senders
                )
        return {topic: tuple(names) for topic, names in frames.items() if names}

    def _stream(self, names: tuple[str, ...]) -> MessageStream | Refusal:
        """Return the stream of joint states with these names, or the reason why such messages are refused."""
        stream = self._streams.get(names)
        if stream is None:
            plan = make_plan(names, self.model, self.space, self.moving, self._fed_elsewhere)
            if isinstance(plan, Refusal):
                stream = plan
            else:
                self._report_plan(plan)
                stream = MessageStream(
                    plan, self._stamped(plan), self._sender(SenderKind.JOINT_STATES, "joint_states", names)
                )
            self._streams.put(names, stream, sum(map(len, names)))
        if isinstance(stream, MessageStream):
            stream.sender = self._sender(SenderKind.JOINT_STATES, "joint_states", names)
            stream.sender.joints = stream.joints
        return stream

    def _stamped(self, plan: InputPlan) -> BoolArray:
        """Return the joints (m,) that have the stamps of messages of a plan: their first variable is in the plan."""
        joints = np.zeros(len(self.moving), np.bool_)
        named = np.zeros(self.space.size, np.bool_)
        named[plan.target] = named[plan.followers.target] = True
        for number, name in enumerate(self.moving.names):
            joints[number] = named[self.space.joint_positions[name].start]
        return joints

    def _sender(self, kind: SenderKind, topic: str, names: Sequence[str], *, ordered: bool = False) -> Sender:
        """Return a sender; a new one may be silent, and may have joints of other senders."""
        sender, is_new = self.senders.find(kind, topic, names, ordered=ordered)
        if is_new:
            sender.joints = np.zeros(len(self.moving), np.bool_)
            self.check_ns = 0
            self.fast_path.epoch += 1
            sharing = [
                other for other in self.senders if other is not sender and not set(other.names).isdisjoint(names)
            ]
            if sharing and kind is SenderKind.JOINT_STATES:
                watch = next((other.shared for other in sharing if other.shared is not None), PublisherWatch())
                for other in (sender, *sharing):
                    other.shared = watch
        return sender

    def _report_plan(self, plan: InputPlan) -> None:
        for name in plan.unknown:
            self.report_once(f"joint_states: the robot has no joint '{shown(name)}'; its values are not used")
        for name in plan.incomplete:
            self.report_once(f"joint_states: '{shown(name)}' is not used: a part of its quaternion is missing")
        for name in plan.names:
            if name in self.moving.number and name not in self.space.index:
                variables = " ".join(self.space.names[self.space.joint_positions[name]])
                self.report_once(f"joint_states: '{name}' has several values ({variables}); one alone is not used")

    def _closed(self, joints: BoolArray, *, anew: bool = False) -> BoolArray:
        """Close the loops after new values of `joints` (m,); return the joints with new positions."""
        return joints if self.loops is None else self.loops.update(joints, anew=anew)

    def _report(self, taken: TakenJointStates) -> TakenJointStates:
        """Report the unused parts of a message."""
        for fault in taken.notices:
            self.report_once(f"joint_states: {fault.refusal.message}")
        return taken

    def _frames_of(self, chosen: BoolArray) -> tuple[list[int], list[tuple[str, str]]]:
        """Return the indices and frames of the moving joints that `chosen` (m,) bool selects."""
        joints = [index for index, wanted in zip(self.moving.indices, chosen, strict=True) if wanted]
        return joints, [self.frames_of(index) for index in joints]

    def motion(self, name: str, xyz_quat: FloatArray, twist: FloatArray | None, stamp_ns: int) -> Messages | Refusal:
        """Store the pose (7,) and twist (6,), in the parent's axes, of a planar or floating joint's child.

        Returns:
            The transforms to publish, if any are due; or why the pose is refused.
        """
        (outcome,) = self.motions(
            [(name, xyz_quat, twist)], stamp_ns, (SenderKind.MULTI_DOF, "multi_dof_joint_states", (name,))
        )
        return outcome

    def motions(
        self,
        motions: Sequence[tuple[str, FloatArray, FloatArray | None]],
        stamp_ns: int,
        sent_by: tuple[SenderKind, str, Sequence[str]],
        sequence: int | None = None,
        received_ns: int | None = None,
    ) -> list[Messages | Refusal]:
        """Store the motions of one message.

        Args:
            motions: of each joint: its name, the pose (7,) and the twist (6,) in the parent's axes.
            stamp_ns: the stamp of the message.
            sent_by: kind, topic and names of the sender.
            sequence: publication sequence number, if the middleware tells it.
            received_ns: time of arrival on the steady clock; by default now.

        Returns:
            The transforms to publish, if any are due, and why poses are refused.
        """
        self.fast_path.parse()
        outcomes: list[Messages | Refusal] = []
        usable = []
        for name, xyz_quat, twist in motions:
            motion = joint_motion(self.model.joint(name), xyz_quat, twist)
            if isinstance(motion, UnusablePose):
                reason = Reason.BAD_QUATERNION if motion.is_finite else Reason.NOT_FINITE
                outcomes.append(Refusal(reason, motion.message))
            else:
                usable.append((name, motion))
        if not usable:
            return outcomes
        kind, topic, names = sent_by
        sender = self._sender(kind, topic, names, ordered=kind not in JOINT_KINDS)
        refusal = self._refuse_stamp(sender, stamp_ns, usable[0][0], sequence, received_ns)
        if refusal is not None:
            return [*outcomes, refusal]
        self.has_moved = True
        is_known = self._buffer.is_known.copy()
        joints = np.zeros(len(self.moving), np.bool_)
        for name, motion in usable:
            if motion.lost_m > _LOST_M or motion.lost_rad > _LOST_RAD:
                self._report_lost(name, motion.lost_m, motion.lost_rad)
            self._buffer.put_joint(name, motion.positions, motion.velocities, None, stamp_ns, sender.arrived_ns)
            joints[self.moving.number[name]] = True
            for follower in self.moving.followers:
                # A root link with its own source gets its pose from this source.
                led = follower.mimic is not None and follower.mimic.joint == name
                if led and not self._has_own_source(follower.name):
                    self._buffer.put_follower(follower, stamp_ns)
                    joints[self.moving.number[follower.name]] = True
        self._closed(joints)
        sender.joints = self._stamped_now(joints | sender.joints)
        if (is_known != self._buffer.is_known).any():
            self.fast_path.epoch += 1
        return [*outcomes, self._publish(sender, stamp_ns)]

    def _has_own_source(self, joint: str) -> bool:
        return joint in self._fed_elsewhere or any(
            joint in sender.names for sender in self.senders if sender.kind is SenderKind.MULTI_DOF
        )

    def _stamped_now(self, joints: BoolArray) -> BoolArray:
        """Return the joints (m,) with the stamps of a sender of `joints`: others of them may follow in closed loops."""
        return self.loops.stamped_joints(joints) if self.loops is not None and self.loops.is_following else joints

    def _report_lost(self, name: str, lost_m: float, lost_rad: float) -> None:
        worst_m, worst_rad = self.dropped_parts.get(name, (0.0, 0.0))
        self.dropped_parts[name] = (max(worst_m, lost_m), max(worst_rad, lost_rad))
        # Report it again only if it is ten times larger.
        if lost_m > 10.0 * max(worst_m, _LOST_M / 10.0) or lost_rad > 10.0 * max(worst_rad, _LOST_RAD / 10.0):
            self.notices.append(
                f"'{name}' is planar: of its source's pose, {lost_m:.6g} m off the plane and a tilt of"
                f" {lost_rad:.6g} rad are dropped"
            )

    def restore(
        self,
        positions: FloatArray,
        velocities: FloatArray,
        positions_of: Collection[str],
        velocities_of: Collection[str],
        stamp_ns: int,
    ) -> Messages:
        """Store a snapshot's values of some joints and return all transforms, also those that were published before."""
        self.values.restore(positions, velocities, positions_of, velocities_of, stamp_ns)
        self._closed(self._all, anew=True)
        messages = self.everything(stamp_ns)
        # The clock of the restored world may also be set back.
        self.accept_any_stamp()
        return messages

    def adopt(self, other: RunningRobot) -> None:
        """Take over the values of the joints that another robot has in common, after a change of settings or model."""
        same = other.model is self.model
        if same:
            self.made_ns, self.dropped_parts, self._reported = other.made_ns, other.dropped_parts, other._reported
        self.tells_sequence = other.tells_sequence
        self.compares_values = other.compares_values
        fixed = {self.model.root_joint.name} if self.root_source is Source.FIXED else set[str]()
        self._buffer.copy_measured(other.values, [name for name in common_joints(other, self) if name not in fixed])
        self.has_moved = other.has_moved and (same or bool(self._buffer.measured.any()))
        self._closed(self._all)
        self._adopt_senders(other)

    def _adopt_senders(self, other: RunningRobot) -> None:
        """Continue with the clocks of the other robot's senders; those of a removed source are left behind."""
        sources = [(robot.root_source, robot.root_settings) for robot in (self, other)]
        for before in other.senders:
            if before.kind is SenderKind.JOINT_STATES:
                stream = self._stream(before.names)
                if isinstance(stream, MessageStream):
                    stream.sender.copy_clock(before)
            elif sources[0] == sources[1]:
                sender = self._sender(before.kind, before.topic, before.names, ordered=before.kind not in JOINT_KINDS)
                sender.copy_clock(before)
                names = (other.moving.names[number] for number in np.flatnonzero(before.joints).tolist())
                joints = np.zeros(len(self.moving), np.bool_)
                joints[[self.moving.number[name] for name in names if name in self.moving.number]] = True
                sender.joints = joints

    def everything(self, stamp_ns: int | None) -> Messages:
        """Return the transforms of all joints with values, also those that were published before.

        Each joint has the newest stamp of its sender; the joints of a silent sender have the stamp of a held value.
        `stamp_ns` is for joints without a sender, before any message; None sends none of these.
        """
        self.sent = 0
        self.fast_path.parse()
        now_ns, after_ns = time.monotonic_ns(), self.settings.complete_after_ns
        remaining = self._buffer.is_known & self.publishable
        newest: Sender | None = None
        messages: Messages = ()
        # A joint of several senders belongs to the one that was heard last.
        for sender in self.senders.latest_first():
            newest = newest or sender
            clock_ns = sender.last_ns
            if sender.is_silent(now_ns, after_ns):
                clock_ns = max(clock_ns, self.senders.clock_ns(sender, now_ns) - after_ns)
            messages += self._send(remaining & sender.joints, clock_ns)
            remaining = remaining & ~sender.joints
        if newest is not None:
            stamp_ns = newest.last_ns - after_ns
        return messages if stamp_ns is None else messages + self._send(remaining, max(0, stamp_ns))

    def renewed(self) -> Messages:
        """Return the transforms of all joints with values, for a change of frames.

        The node's time would be wrong: if the joint states are old, as in a recording, listeners would ignore all later
        transforms.
        """
        return self.everything(None) if self.has_moved else ()

    def unmoved(self, now_ns: int) -> Messages:
        """Return the transforms of a robot before its first message, from default or restored positions.

        Their stamp is a little before `now_ns`, as for silent joints, so that no later transform is too old.
        """
        able = self.values.is_known & self.publishable
        then_ns = now_ns - self.settings.complete_after_ns
        if self.has_moved or then_ns <= 0 or not able.any():
            return ()
        block = self._block(able)
        self.sent = len(block)
        return (block.message(then_ns, self._buffer.positions),)

    def accept_any_stamp(self) -> None:
        """Accept any next stamp, after the clock has jumped."""
        self.fast_path.parse()
        self.senders.accept_any_stamp()
        self._carried_ns = NEVER_NS
        self.fast_path.epoch += 1

    def _publish(self, sender: Sender, stamp_ns: int) -> Messages:
        """Return the transforms of a sender's message, if they are due, and those of silent senders."""
        self.sent = 0
        messages: Messages = ()
        joints = sender.joints & self._buffer.is_known & self.publishable
        # A sender that speaks again after held values is published in any case.
        is_due = sender.held_ns != NEVER_NS or abs(stamp_ns - sender.published_ns) >= self._interval_ns
        if is_due and joints.any():
            sender.published_ns, sender.held_ns = stamp_ns, NEVER_NS
            messages = self._send(joints, stamp_ns)
        return messages + self._held(sender) if sender.arrived_ns >= self.check_ns else messages

    def held(self, sender: Sender) -> Messages:
        """Return the transforms of silent senders that go out with a message of another sender."""
        self.sent = 0
        return self._held(sender)

    def _held(self, sender: Sender) -> Messages:
        now_ns, after_ns = sender.arrived_ns, self.settings.complete_after_ns
        remaining = self._buffer.is_known & self.publishable
        messages: Messages = ()
        self.check_ns = 1 << 62
        # Until when all messages of each topic have been handled.
        handled_ns = {sender.kind: now_ns}
        # A joint of several senders belongs to the one that was heard last.
        for other in self.senders.latest_first():
            joints = remaining & other.joints
            remaining = remaining & ~other.joints
            if other is sender:
                continue
            if other.kind not in handled_ns:
                # On a busy machine, the messages of another topic may wait: they have arrived.
                handled_ns[other.kind] = now_ns if self.is_drained(other.kind) else other.arrived_ns
            due_ns = other.arrived_ns + other.silent_after_ns(after_ns)
            # A sender whose interval becomes shorter may be silent earlier.
            self.check_ns = min(self.check_ns, max(due_ns, now_ns), now_ns + max(after_ns, _LOOK_NS))
            if due_ns >= handled_ns[other.kind] or not other.may_be_held or not joints.any():
                continue
            stamp_ns = self.senders.clock_ns(other, now_ns, sender) - after_ns
            newest_ns = max(other.published_ns, other.held_ns)
            if stamp_ns > other.last_ns and stamp_ns - newest_ns >= self._interval_ns:
                other.held_ns = stamp_ns
                self.fast_path.epoch += 1
                messages += self._send(joints, stamp_ns)
        return messages + (self._carried(sender, remaining) if remaining.any() else ())

    def _carried(self, sender: Sender, able: BoolArray) -> Messages:
        """Return the transforms of joints without a sender: default or restored positions."""
        self.check_ns = sender.arrived_ns
        carrier = self._carrier
        if carrier is None or carrier.is_silent(sender.arrived_ns, self.settings.complete_after_ns):
            self._carrier, self._carried_ns = sender, NEVER_NS
        stamp_ns = max(0, sender.last_ns - self.settings.complete_after_ns)
        if self._carrier is not sender or stamp_ns - self._carried_ns < self._interval_ns:
            return ()
        self._carried_ns = stamp_ns
        return self._send(able, stamp_ns)

    def _send(self, joints: BoolArray, stamp_ns: int) -> Messages:
        """Return the transforms of `joints` (m,) with one stamp."""
        if not joints.any():
            return ()
        self.fast_path.parse()
        block = self._block(joints)
        self.sent += len(block)
        return (block.message(stamp_ns, self._buffer.positions),)

    def report_once(self, sentence: str) -> None:
        """Add a sentence to `notices`, unless it was added recently."""
        if self._reported.add(sentence, True):
            self.notices.append(sentence)

    def reset_clock(self, clock_ns: int, *, stood: bool = False) -> None:
        """Make the values unknown of all senders whose clock stands at a time, after a reset of this clock.

        `stood`: the clock may have stood still since their messages.
        """
        self.fast_path.parse()
        self._forget(self.senders.reset(clock_ns, time.monotonic_ns(), stood=stood))

    def _forget(self, senders: Sequence[Sender]) -> None:
        now_ns = time.monotonic_ns()
        for sender in senders:
            self._reset_ns[sender] = now_ns
            self._buffer.forget_measured(sender.joints)
        self._carried_ns = NEVER_NS
        self.fast_path.epoch += 1

    def _refuse_stamp(
        self,
        sender: Sender,
        stamp_ns: int,
        joint: str,
        sequence: int | None,
        received_ns: int | None,
        *,
        alternates: bool = False,
    ) -> Refusal | None:
        """Return why a message is late or too far ahead, or None; after a reset of the clock, forget older values."""
        if stamp_ns < 0:
            return Refusal(Reason.NEGATIVE_STAMP, f"its stamp is negative: {float_seconds(stamp_ns):g} s")
        now_ns = time.monotonic_ns() if received_ns is None else received_ns
        if self.settings.ignore_timestamp and not 0 <= stamp_ns - sender.last_ns <= RESET_NS:
            sender.is_free = True
        back_s = float_seconds(sender.last_ns - stamp_ns)
        arrival = self.senders.take(
            sender, stamp_ns, now_ns, sequence, lambda: self.publishers(sender), alternates=alternates
        )
        if arrival is not Arrival.IN_ORDER or sender.needs_care:
            self.fast_path.epoch += 1
        if arrival is Arrival.IN_ORDER:
            return None
        if arrival is Arrival.LATE:
            return Refusal(
                Reason.TIME_BACKWARDS, f"its stamp is {back_s:.6f} s before the last stamp of '{shown(joint)}'"
            )
        if arrival is Arrival.STRAY:
            ahead = f"its stamp is {-back_s:.6f} s after the last stamp of '{shown(joint)}'"
            return Refusal(Reason.TIME_AHEAD, f"{ahead}; the next message may confirm it")
        sender.published_ns = sender.held_ns = NEVER_NS
        what = f"the stamps of '{shown(joint)}' went back by {back_s:.3f} s"
        if arrival is Arrival.RETURN:
            self.notices.append(f"{what}, to the time before a stamp that was ahead")
        elif now_ns - self._reset_ns.pop(sender, NEVER_NS) > _TOGETHER_NS:
            self.notices.append(f"{what}: the clock was reset, and earlier values are not used any more")
            clock_ns = self.senders.clock_before_ns
            self.clock_resets.append(clock_ns)
            self._forget(self.senders.reset(clock_ns, now_ns, but=sender))
            self._buffer.forget_measured(sender.joints)
        return None


def _is_drained(_kind: str) -> bool:
    return True


def _one_publisher(_sender: Sender) -> int:
    return 1
