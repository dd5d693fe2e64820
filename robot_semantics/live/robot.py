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
from typing import NamedTuple

import numpy as np

from robot_semantics.base.caches import LruCache
from robot_semantics.base.names import frame_name, shown
from robot_semantics.base.nanoseconds import float_seconds
from robot_semantics.cdr.fill import TransformMessage
from robot_semantics.cdr.joint_states import JointStateData
from robot_semantics.kinematics.in_place import InPlaceTransforms
from robot_semantics.kinematics.joint_space import JointSpace
from robot_semantics.kinematics.root_motion import UnusablePose, joint_motion
from robot_semantics.live.buffer import JointBuffer, LoopCloser, default_positions
from robot_semantics.live.fast_path import FastPath
from robot_semantics.live.joint_state import (
    MovingJoints,
    Reason,
    Refusal,
    TakenJointStates,
    take_joint_state,
    take_quaternions,
)
from robot_semantics.live.order import (
    NEVER_NS,
    TOGETHER_NS,
    Arrival,
    MessageOrder,
    MessageStream,
    MessageStreams,
    PublishSchedule,
)
from robot_semantics.live.samples import base_frames
from robot_semantics.live.settings import RobotSettings, Source
from robot_semantics.model.robot_model import RobotModel
from robot_semantics.transforms import quat_from_rpy
from robot_semantics.transforms.arrays import BoolArray, FloatArray

# The TF frames of one robot: names, static transforms, and the transforms of a configuration.


Frames = Sequence[tuple[str, str]]


class TransformRows(NamedTuple):
    """Transforms of one time: `values` is (n, 7), x y z [m] and quaternion x y z w of each child in its frame."""

    frames: Frames
    values: FloatArray
    stamp_ns: int


class TransformBlock:
    """The transforms of some joints of a robot, always in the same order and under the same frame names."""

    def __init__(self, model: RobotModel, joints: Sequence[int], frames: Frames, *, raw: bool) -> None:
        self.frames = tuple(frames)
        self._raw = TransformMessage(self.frames) if raw else None
        if self._raw is None:
            self._transforms = InPlaceTransforms(model, joints)
        else:
            self._transforms = InPlaceTransforms(
                model, joints, self._raw.slots, self._raw.places, self._raw.staging_array
            )

    def __len__(self) -> int:
        return len(self.frames)

    def message(self, stamp_ns: int, positions: FloatArray) -> bytes | TransformRows:
        """Return the transforms of a configuration, as a message's CDR bytes or as rows."""
        values = self._transforms.update(positions)
        if self._raw is not None:
            return self._raw.write(stamp_ns)
        return TransformRows(self.frames, values.reshape(-1, 7).copy(), stamp_ns)


class StaticTransform(NamedTuple):
    """A transform that does not change: `xyz_quat` is (7,), the child's pose in its frame."""

    frame_id: str
    child_frame_id: str
    xyz_quat: FloatArray


class RobotFrames:
    """The frames of a robot as its settings name them.

    Attributes:
        root_source: the source of the root link's pose.

    """

    def __init__(self, model: RobotModel, settings: RobotSettings) -> None:
        self.model, self.settings = model, settings
        self.root_source = settings.virtual_joint(model.root_joint.name).source

    def frame(self, link: str) -> str:
        """Return the TF name of a link."""
        return frame_name(self.settings.frame_prefix + link)

    @property
    def parent_frame(self) -> str:
        """TF name of the root link's parent frame; empty without a virtual joint."""
        root = self.model.root_joint
        return frame_name(self.settings.virtual_joint(root.name).parent_frame) or root.parent_link

    def frames_of(self, joint: int) -> tuple[str, str]:
        """Return the TF names (frame_id, child_frame_id) of a joint by its index in the model."""
        found = self.model.joints[joint]
        parent = self.parent_frame if joint == 0 else self.frame(found.parent_link)
        return parent, self.frame(found.child_link)

    @property
    def publishes_root(self) -> bool:
        """True if the root link has a transform; False if its parent frame has the same TF name, for example
        ``world``.
        """
        return self.parent_frame not in ("", self.frame(self.model.root_link)) and self.root_source is not Source.TF

    @property
    def child_frames(self) -> frozenset[str]:
        """Every frame whose transform this robot publishes."""
        own = frozenset(self.frames_of(joint.index)[1] for joint in self.model.joints[1:])
        if self.publishes_root:
            own |= {self.frame(self.model.root_link)}
        return own

    @property
    def root_is_fixed(self) -> bool:
        """True if the root link has a constant pose: a parameter, or the identity."""
        fixed = not self.model.root_joint.position_count or self.root_source is Source.FIXED
        return bool(self.parent_frame) and fixed and self.root_source is not Source.TF

    def static_transforms(self) -> list[StaticTransform]:
        """Return the transforms of all fixed joints; the virtual joint is one of them if it is fixed."""
        fixed = [joint.index for joint in self.model.joints[1:] if not joint.position_count]
        values = InPlaceTransforms(self.model, fixed).values.reshape(-1, 7)
        result = [StaticTransform(*self.frames_of(index), row) for index, row in zip(fixed, values, strict=True)]
        if self.root_is_fixed and self.publishes_root:
            result.insert(0, StaticTransform(*self.frames_of(0), self.fixed_root_pose()))
        return result

    def fixed_root_pose(self) -> FloatArray:
        """Return the constant pose (7,) of the root link: a parameter, or the identity."""
        pose = np.array(self.settings.virtual_joint(self.model.root_joint.name).pose, np.float64)
        return np.concatenate([pose[:3], quat_from_rpy(pose[3:])])


# The joints whose values stay valid after another description has replaced a robot's.


def common_joints(before: RobotFrames, after: RobotFrames) -> list[str]:
    """Return the moving joints of `after` whose values in `before` have the same meaning.

    These are the joints of the same name with the same quantities, an angle or a distance for example. The root joint
    has the same meaning only if the same link moves in the same frame.
    """
    if before.model is after.model:
        return [joint.name for joint in after.model.joints if joint.position_count]
    quantities = {joint.name: joint.motion.quantities for joint in before.model.joints}
    found = []
    for joint in after.model.joints:
        if joint.position_count and quantities.get(joint.name) == joint.motion.quantities:
            roots = [model.root_joint.name == joint.name for model in (before.model, after.model)]
            if not any(roots) or (all(roots) and _root_frames(before) == _root_frames(after)):
                found.append(joint.name)
    return found


def _root_frames(robot: RobotFrames) -> tuple[str, str]:
    return robot.parent_frame, robot.model.root_link


_MAX_BLOCKS = 64
_LOST_M, _LOST_RAD = 1e-3, 1e-3
_NOT_FROM_JOINT_STATES = (Source.MULTI_DOF, Source.ODOMETRY, Source.TF, Source.FIXED)


Messages = tuple[bytes | TransformRows, ...]
"""Messages for /tf in their order: as bytes, or as rows without the setting `raw`."""


class RunningRobot(RobotFrames):
    """A robot model with its newest joint values and its publish schedule.

    Attributes:
        base_frames: the links that are fixed to the root link, by their names in odometry and on TF.
        notices: sentences for the log, each once; the code that logs them clears the list.
        made_ns: time of this robot's creation, on the monotonic clock.
        has_moved: True after the first message that moved a joint.
        loops: closes the loops of the robot; None if there are none.
        fast_path: reads messages like the last ones; use `values` to read the buffer, because it parses them first.
        sent: number of transforms in the last messages.
        lost: for each planar joint that gets poses in space, the largest part that was dropped [m, rad].
    """

    def __init__(self, name: str, model: RobotModel, settings: RobotSettings) -> None:
        super().__init__(model, settings)
        self.name = name
        base_frame = settings.virtual_joint(model.root_joint.name).base_frame
        self.base_frames = base_frames(model, name, settings.frame_prefix, base_frame)
        self.space = JointSpace.of(model)
        self.moving = MovingJoints(model, self.space)
        defaults = default_positions(model, self.space, settings.default_positions)
        self._buffer = JointBuffer(model, self.space, self.moving, defaults, ordered=not settings.ignore_timestamp)
        self.notices: list[str] = []
        self.loops = LoopCloser.of(model, self._buffer, self.notices)
        self.sent = 0
        self.made_ns = time.monotonic_ns()
        self.has_moved = False
        self.lost: dict[str, tuple[float, float]] = {}
        self._motion_orders: dict[str, MessageOrder] = {}
        self._reset_ns, self._reset_by = NEVER_NS, set[MessageOrder]()
        self._reported: LruCache[str, bool] = LruCache(1000)
        # If stamps are ignored, every joint is always due: every difference of stamps is above this number.
        interval_ns = NEVER_NS if settings.ignore_timestamp else settings.publish_interval_ns
        self._schedule = PublishSchedule(len(self.moving), interval_ns, settings.complete_after_ns)
        self.fast_path = FastPath(model, self._buffer, self._schedule)
        root = model.root_joint
        fed_elsewhere = frozenset({root.name}) if self.root_source in _NOT_FROM_JOINT_STATES else frozenset[str]()
        self._streams = MessageStreams(model, self.space, self.moving, fed_elsewhere, self.report_once)
        self.publishable = np.array(
            [joint.index != 0 or (self.publishes_root and not self.root_is_fixed) for joint in self.moving.joints],
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

    @property
    def values(self) -> JointBuffer:
        """The newest values of the joints."""
        self.fast_path.parse()
        if self.loops is not None:
            self.loops.refresh_velocities()
        return self._buffer

    @property
    def root_is_awaited(self) -> bool:
        """True if this robot should publish its root link's transform, but does not know it yet."""
        moving = self.model.root_joint.position_count and self.publishable[0]
        # Without `values`, which parses messages: any thread may ask.
        return bool(moving) and not self._buffer.known[0]

    @property
    def awaited_frames(self) -> frozenset[str]:
        """The frames that this robot will publish as soon as it knows the positions of their joints."""
        awaited = self.publishable & ~self._buffer.known
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

    def joint_state(self, data: JointStateData, now: Callable[[], int]) -> Messages | Refusal:
        """Store a joint state; `now` gives the node's time [ns], called only for messages without a stamp.

        Returns:
            The transforms to publish, if any are due; or why the message is refused.
        """
        self.fast_path.parse()
        invalid = self.settings.invalid
        taken = self._report(take_joint_state(data.names, data.position, data.velocity, data.effort, invalid=invalid))
        if not taken.values:
            return taken.refused[0].refusal
        (values,) = taken.values
        stream = self._streams.find(values.names)
        if isinstance(stream, MessageStream) and stream.plan.floating:
            taken = self._report(take_quaternions(stream.plan, values, invalid=invalid))
            if not taken.values:
                return taken.refused[0].refusal
            (values,) = taken.values
            stream = self._streams.find(values.names)
        if isinstance(stream, Refusal):
            return stream
        plan = stream.plan
        stamp_ns = data.stamp_ns or now()
        late = self._late(stream.order, stamp_ns, plan.names[0])
        if late is not None:
            return late
        known = self._buffer.known.copy()
        joints = self._buffer.put_joint_state(plan, values, stamp_ns)
        if joints is None:
            return Refusal(Reason.TIME_BACKWARDS, f"newer values arrived for '{shown(plan.names[0])}' and all others")
        self.has_moved = True
        joints = self._closed(joints)
        if (known != self._buffer.known).any():
            self._streams.leave_fast_path()
        messages = self._publish(joints, bool(joints.all()), stamp_ns)
        if values.names is data.names and self.settings.raw:
            # A joint must not be in two streams with separate publish times.
            self._streams.leave_fast_path(joints)
            self.fast_path.enter(stream, data, self._buffer.known & self.publishable, self._frames_of, self.loops)
        return messages

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
        joint = self.model.joint(name)
        motion = joint_motion(joint, xyz_quat, twist)
        if isinstance(motion, UnusablePose):
            return Refusal(Reason.BAD_QUATERNION if motion.is_finite else Reason.NOT_FINITE, motion.message)
        self.fast_path.parse()
        late = self._late(self._motion_orders.setdefault(name, MessageOrder()), stamp_ns, name)
        if late is not None:
            return late
        self.has_moved = True
        if motion.lost_m > _LOST_M or motion.lost_rad > _LOST_RAD:
            self._report_lost(name, motion.lost_m, motion.lost_rad)
        number = self.moving.number[name]
        known = self._buffer.known[number]
        self._buffer.put_joint(name, motion.positions, motion.velocities, None, stamp_ns)
        chosen = np.zeros(len(self.moving), np.bool_)
        chosen[number] = True
        for follower in self.moving.followers:
            # A root link with its own source gets its pose from this source.
            if follower.mimic is not None and follower.mimic.joint == name and follower.name not in self._motion_orders:
                self._buffer.put_follower(follower, stamp_ns)
                chosen[self.moving.number[follower.name]] = True
        chosen = self._closed(chosen)
        if not known:
            self._streams.leave_fast_path()
        return self._publish(chosen, bool(chosen.all()), stamp_ns)

    def _report_lost(self, name: str, lost_m: float, lost_rad: float) -> None:
        worst_m, worst_rad = self.lost.get(name, (0.0, 0.0))
        self.lost[name] = (max(worst_m, lost_m), max(worst_rad, lost_rad))
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
            self.made_ns, self.lost, self._reported = other.made_ns, other.lost, other._reported
        fixed = {self.model.root_joint.name} if self.root_source is Source.FIXED else set[str]()
        self._buffer.copy_measured(other.values, [name for name in common_joints(other, self) if name not in fixed])
        self.has_moved = other.has_moved and (same or bool(self._buffer.measured.any()))
        self._closed(self._all)

    def everything(self, stamp_ns: int) -> Messages:
        """Return the transforms of all joints with values, with one stamp, also those that were published before."""
        self.accept_any_stamp()
        return self._publish(self._all, True, stamp_ns)

    def renewed(self) -> Messages:
        """Return the transforms of all joints with values, with the stamp of the newest value; for a change of frames.

        The node's time would be wrong: if the joint states are old, as in a recording, listeners would ignore all later
        transforms.
        """
        newest_ns = int(self.values.stamps_ns.max(initial=NEVER_NS))
        return self.everything(newest_ns) if self.has_moved and newest_ns != NEVER_NS else ()

    def unmoved(self, now_ns: int) -> Messages:
        """Return the transforms of a robot before its first message, from default or restored positions.

        Their stamp is a little before `now_ns`, as for silent joints, so that no later transform is too old.
        """
        able = self.values.known & self.publishable
        then_ns = now_ns - self.settings.complete_after_ns
        if self.has_moved or then_ns <= 0 or not able.any():
            return ()
        block = self._block(able)
        self.sent = len(block)
        return (block.message(then_ns, self._buffer.positions),)

    def accept_any_stamp(self) -> None:
        """Accept any next stamp, after the clock has jumped."""
        self.values.accept_any_stamp()
        self._schedule.forget()
        self._streams.leave_fast_path()
        self._streams.accept_any_stamp()
        for order in self._motion_orders.values():
            order.forget()

    def _publish(self, joints: BoolArray, complete: bool, stamp_ns: int) -> Messages:
        self.sent = 0
        able = self._buffer.known & self.publishable
        messages = self._send(joints & able, stamp_ns)
        if not complete:
            # A silent joint is repeated with an earlier stamp: the time at which it counted as silent. With the
            # message's own stamp, listeners would ignore a real value that arrives a moment later.
            then_ns = max(0, stamp_ns - self.settings.complete_after_ns)
            messages += self._send(~joints & able & (self._buffer.stamps_ns <= then_ns), then_ns)
        return messages

    def _send(self, joints: BoolArray, stamp_ns: int) -> Messages:
        """Return the transforms of those `joints` that are due at a time."""
        due = self._schedule.due(joints, stamp_ns)
        if not due.any():
            return ()
        block = self._block(due)
        self.sent += len(block)
        # The fast path must not publish these joints by its own times.
        self._streams.leave_fast_path(due)
        return (block.message(stamp_ns, self._buffer.positions),)

    def report_once(self, sentence: str) -> None:
        """Add a sentence to `notices`, unless it was added recently."""
        if self._reported.add(sentence, True):
            self.notices.append(sentence)

    def forget_values(self) -> None:
        """Make all values unknown, after a reset of the clock."""
        self.accept_any_stamp()
        self._buffer.forget_measured()

    def _late(self, order: MessageOrder, stamp_ns: int, joint: str) -> Refusal | None:
        """Return why a message is late, or None; after a reset of the clock, make all values unknown."""
        if stamp_ns < 0:
            return Refusal(Reason.NEGATIVE_STAMP, f"its stamp is negative: {float_seconds(stamp_ns):g} s")
        if self.settings.ignore_timestamp:
            order.last_ns = stamp_ns
            return None
        back_s = float_seconds(order.last_ns - stamp_ns)
        arrival = order.take(stamp_ns)
        if arrival is Arrival.LATE:
            return Refusal(
                Reason.TIME_BACKWARDS, f"its stamp is {back_s:.6f} s before the last stamp of '{shown(joint)}'"
            )
        if arrival in (Arrival.RESET, Arrival.RETURN):
            self._go_back(order, arrival, f"the stamps of '{shown(joint)}' went back by {back_s:.3f} s")
            order.last_ns = stamp_ns
        return None

    def _go_back(self, order: MessageOrder, arrival: Arrival, what: str) -> None:
        """Continue from an earlier time; after a reset of the clock, make the old values unknown."""
        now_ns = time.monotonic_ns()
        # Other publishers show the same reset a little later.
        known = now_ns - self._reset_ns <= TOGETHER_NS and order not in self._reset_by
        if arrival is Arrival.RETURN:
            self.notices.append(f"{what}, to the time before a stamp that was ahead")
        elif not known:
            self.notices.append(f"{what}: the clock was reset, and earlier values are not used any more")
            self._reset_ns, self._reset_by = now_ns, {order}
            self.forget_values()
            return
        if arrival is Arrival.RESET:
            self._reset_by.add(order)
        self.accept_any_stamp()
