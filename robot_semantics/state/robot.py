# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""One robot at run time: takes joint values in, keeps the newest, says which transforms are due."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection

import numpy as np

from robot_semantics.base.foreign_text import shown
from robot_semantics.base.recent import Recent
from robot_semantics.kinematics.joint_space import JointSpace
from robot_semantics.model.robot_model import RobotModel
from robot_semantics.state.cdr import JointStateData
from robot_semantics.state.direct_path import DirectPath
from robot_semantics.state.joint_buffer import JointBuffer, default_positions
from robot_semantics.state.joint_input import MovingJoints, Reason, Refusal, wrong_length
from robot_semantics.state.robot_frames import RobotFrames, TransformBlock, TransformRows
from robot_semantics.state.root_motion import joint_motion
from robot_semantics.state.schedule import NEVER_NS, Schedule, TimeOrder
from robot_semantics.state.senders import Sender, Senders
from robot_semantics.state.settings import Invalid, RobotSettings, Source
from robot_semantics.transforms.arrays import BoolArray, FloatArray

_MAX_PATHS, _MAX_BLOCKS = 8, 64
_MAX_DIRECT_BYTES = 250_000
"""Longer messages go the general way: the direct one keeps two copies of each kind."""
_LOST_M, _LOST_RAD = 1e-3, 1e-3
_NOT_FROM_JOINT_STATES = (Source.MULTI_DOF, Source.ODOMETRY, Source.TF, Source.FIXED)
_NOT_ON_TF = (Source.TF, Source.FIXED)


Messages = tuple[bytes | TransformRows, ...]
"""What is to be sent on /tf, in this order: messages as bytes, or as rows where the settings say so."""


class RunningRobot(RobotFrames):
    """A robot model with its newest joint values and what of them has been published.

    Attributes:
        notices: sentences for the log, each said once; whoever logs them clears the list.
        made_ns: when this robot came to be, on the monotonic clock.
        heard: whether any message has moved a joint.
        direct: take messages like the last ones, where there is nothing unusual about them; the newest first.
        sent: number of transforms in the messages last given out.
        lost: for each planar joint fed with poses in space, the most that was dropped of one [m, rad].

    """

    def __init__(self, name: str, model: RobotModel, settings: RobotSettings) -> None:
        super().__init__(model, settings)
        self.name = name
        self.space = JointSpace.of(model)
        self.moving = MovingJoints(model, self.space)
        self.buffer = JointBuffer(
            model, self.space, self.moving, default_positions(model, self.space, settings.default_positions)
        )
        self.notices: list[str] = []
        self.sent = 0
        self.made_ns = time.monotonic_ns()
        self.heard = False
        self.lost: dict[str, tuple[float, float]] = {}
        self._motion_orders: dict[str, TimeOrder] = {}
        self.direct: tuple[DirectPath, ...] = ()
        self._said: Recent[str, bool] = Recent(1000)
        # Where stamps are ignored everything is due always: no difference of two is as far below zero as this.
        self._interval_ns = NEVER_NS if settings.ignore_timestamp else settings.publish_interval_ns
        self._schedule = Schedule(len(self.moving), self._interval_ns, settings.complete_after_ns)
        root = model.root_joint
        fed_elsewhere = frozenset({root.name}) if self.root_source in _NOT_FROM_JOINT_STATES else frozenset[str]()
        self._senders = Senders(model, self.space, self.moving, fed_elsewhere, self._schedule, self.say_once)
        self.publishable = np.array(
            [not (joint.index == 0 and self.root_source in _NOT_ON_TF) for joint in self.moving.joints], np.bool_
        )
        self._all = np.ones(len(self.moving), np.bool_)
        self._blocks: Recent[bytes, TransformBlock] = Recent(_MAX_BLOCKS)
        self._whole = self._make_block(self._all)
        if self.root_source is Source.FIXED and root.position_count:
            self._fix_root()

    @property
    def root_is_awaited(self) -> bool:
        """Whether this robot would publish its root link's transform, but does not know it yet."""
        moving = self.model.root_joint.position_count and self.publishable[0]
        return bool(moving) and not self.buffer.known[0]

    def _fix_root(self) -> None:
        root = self.model.root_joint
        pose = self.fixed_root_pose()
        if root.position_count == 3:
            yaw = self.settings.virtual_joint(root.name).pose[5]
            pose = np.array([pose[0], pose[1], yaw])
        self.buffer.put_joint(root.name, pose, np.zeros(root.velocity_count), None, 0)

    def _block(self, chosen: BoolArray) -> TransformBlock:
        """Return the transforms of the moving joints that `chosen`, (m,) bool, names; kept for the next time."""
        if chosen.all():
            return self._whole
        key = chosen.tobytes()
        block = self._blocks.get(key)
        if block is None:
            block = self._make_block(chosen)
            self._blocks.put(key, block)
        return block

    def _make_block(self, chosen: BoolArray) -> TransformBlock:
        joints = self._indices(chosen)
        frames = [self.frames_of(index) for index in joints]
        return TransformBlock(self.model, joints, frames, raw=self.settings.raw)

    # -- joint states in, transforms out --------------------------------------------------------------------------

    def joint_state(self, data: JointStateData, now: Callable[[], int]) -> Messages | Refusal:
        """Take over a joint state; `now` gives the node's time [ns], asked only for messages without a stamp.

        Returns:
            The transforms to publish, if any are due; or why the message is refused.

        """
        sender = self._senders.find(data.names)
        if isinstance(sender, Refusal):
            return sender
        plan = sender.plan
        if len(data.position) != len(plan.names):
            return wrong_length(data)
        stamp_ns = data.stamp_ns or now()
        order = sender.order
        if stamp_ns < order.last_ns:
            late = self._time_backwards(order, stamp_ns, plan.names[0])
            if late is not None:
                return late
        refusal = self.buffer.put_joint_state(plan, data, stamp_ns)
        if refusal is not None:
            if refusal.reason is Reason.NOT_FINITE and self.settings.invalid is Invalid.SKIP:
                return self._without_invalid(data, now, refusal)
            return refusal
        order.accept(stamp_ns)
        if not sender.known:
            self.buffer.mark_known(plan)
            sender.known = self.heard = True
            self._schedule.separate()
        messages = self._publish(plan.joints, plan.complete, stamp_ns)
        self._go_direct(sender, data)
        return messages

    def _go_direct(self, sender: Sender, data: JointStateData) -> None:
        """Have messages like this one go the direct way from now on, if they can."""
        message, at = data.data, data.position_at
        if not 0 < len(message) <= _MAX_DIRECT_BYTES or sender.plan.floating or not self.settings.raw:
            return
        self._schedule.unite(sender.group, self.buffer.known & self.publishable, self.buffer.stamps_ns)
        if sender.group.stamp_ns == NEVER_NS:
            return
        path = sender.paths.get((at, len(message)))
        if path is None:
            if len(sender.paths) == _MAX_PATHS:
                sender.paths.clear()
            joints = self._indices(sender.plan.joints)
            frames = [self.frames_of(index) for index in joints]
            path = DirectPath(
                self.model,
                sender.plan,
                data,
                self.buffer,
                sender.order,
                sender.group,
                joints,
                frames,
                self._interval_ns,
            )
            sender.paths[at, len(message)] = path
        others = [other for other in self.direct if other is not path]
        self.direct = (path, *others[: _MAX_PATHS - 1])

    def _indices(self, chosen: BoolArray) -> list[int]:
        return [index for index, wanted in zip(self.moving.indices, chosen, strict=True) if wanted]

    def motion(self, name: str, xyz_quat: FloatArray, twist: FloatArray | None, stamp_ns: int) -> Messages | Refusal:
        """Take over the pose (7,) and twist (6,), in the parent's axes, of a planar or floating joint's child.

        Returns:
            The transforms to publish, if any are due; or why the pose is refused.

        """
        joint = self.model.joint(name)
        order = self._motion_orders.setdefault(name, TimeOrder())
        if stamp_ns < order.last_ns:
            late = self._time_backwards(order, stamp_ns, name)
            if late is not None:
                return late
        motion = joint_motion(joint, xyz_quat, twist)
        if isinstance(motion, Refusal):
            return motion
        order.accept(stamp_ns)
        self.heard = True
        if motion.lost_m > _LOST_M or motion.lost_rad > _LOST_RAD:
            self._say_lost(name, motion.lost_m, motion.lost_rad)
        number = self.moving.number[name]
        known = self.buffer.known[number]
        self.buffer.put_joint(name, motion.positions, motion.velocities, None, stamp_ns)
        if not known:
            self._schedule.separate()
        chosen = np.zeros(len(self.moving), np.bool_)
        chosen[number] = True
        return self._publish(chosen, bool(chosen.all()), stamp_ns)

    def _say_lost(self, name: str, lost_m: float, lost_rad: float) -> None:
        worst_m, worst_rad = self.lost.get(name, (0.0, 0.0))
        self.lost[name] = (max(worst_m, lost_m), max(worst_rad, lost_rad))
        # Said again only when it has become ten times worse.
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
        """Take over a snapshot's values of some joints and return all transforms, whatever was published before."""
        self.buffer.restore(positions, velocities, positions_of, velocities_of, stamp_ns)
        messages = self.everything(stamp_ns)
        # The restored world's clock may be set back too.
        self.forget_times()
        return messages

    def adopt(self, other: RunningRobot) -> None:
        """Take over the values of another robot of the same model, after a change of settings."""
        self.heard, self.made_ns, self.lost, self._said = other.heard, other.made_ns, other.lost, other._said
        for number, stamp_ns in enumerate(other.buffer.stamps_ns.tolist()):
            joint = self.moving.joints[number]
            if stamp_ns == NEVER_NS or (joint.index == 0 and self.root_source is Source.FIXED):
                continue
            velocity = self.space.joint_velocities[joint.name]
            self.buffer.put_joint(
                joint.name,
                other.buffer.positions[self.space.joint_positions[joint.name]],
                other.buffer.velocities[velocity],
                other.buffer.efforts[velocity],
                stamp_ns,
            )
        # A change of settings is no news of any joint.
        self.buffer.received_ns[:] = other.buffer.received_ns

    def everything(self, stamp_ns: int) -> Messages:
        """Return the transforms of all joints that have values, as of a time, whatever was published before."""
        self.forget_times()
        return self._publish(self._all, True, stamp_ns)

    def renewed(self) -> Messages:
        """Return the transforms of all joints that have values, as of the newest of them: after a change of frames.

        Not as of the node's time: where the joint states' stamps are far behind it, as in a recording, all that follow
        would come too late for the listeners.
        """
        newest_ns = int(self.buffer.stamps_ns.max(initial=NEVER_NS))
        return self.everything(newest_ns) if self.heard and newest_ns != NEVER_NS else ()

    def unmoved(self, now_ns: int) -> Messages:
        """Return the transforms of a robot that no message has moved yet: where default or restored positions put it.

        They are stamped a little before `now_ns`, as silent joints are, and hold up nothing that comes later.
        """
        able = self.buffer.known & self.publishable
        then_ns = now_ns - self.settings.complete_after_ns
        if self.heard or then_ns <= 0 or not able.any():
            return ()
        block = self._block(able)
        self.sent = len(block)
        return (block.message(then_ns, self.buffer.positions),)

    def forget_times(self) -> None:
        """Start anew after the clock has jumped: no stamp counts as older than what was there before."""
        self._schedule.forget()
        self._senders.forget_times()
        for order in self._motion_orders.values():
            order.forget()

    def _publish(self, joints: BoolArray, complete: bool, stamp_ns: int) -> Messages:
        self.sent = 0
        able = self.buffer.known & self.publishable
        messages = self._send(joints & able, stamp_ns)
        if not complete:
            # A silent joint is repeated as of the time since when it has been silent long enough. Had it the message's
            # own stamp, its real value of that time, coming a moment later, would come too late for the listeners.
            then_ns = max(0, stamp_ns - self.settings.complete_after_ns)
            messages += self._send(~joints & able & (self.buffer.stamps_ns <= then_ns), then_ns)
        return messages

    def _send(self, joints: BoolArray, stamp_ns: int) -> Messages:
        """Return the transforms of those `joints` that are due at a time."""
        due = self._schedule.due(joints, stamp_ns)
        if not due.any():
            return ()
        block = self._block(due)
        self.sent += len(block)
        return (block.message(stamp_ns, self.buffer.positions),)

    # -- the unusual ------------------------------------------------------------------------------------------------

    def say_once(self, sentence: str) -> None:
        """Put a sentence into `notices`, but not again while it is remembered that it was said."""
        if self._said.is_new(sentence, True):
            self.notices.append(sentence)

    def _time_backwards(self, order: TimeOrder, stamp_ns: int, joint: str) -> Refusal | None:
        if self.settings.ignore_timestamp:
            return None
        back = (order.last_ns - stamp_ns) / 1e9
        if order.is_late(stamp_ns):
            return Refusal(
                Reason.TIME_BACKWARDS, f"its stamp is {back:.6f} s before the last one's of '{shown(joint)}'"
            )
        self.notices.append(
            f"the stamps of '{shown(joint)}' went back by {back:.3f} s and go on from there; so do all others"
        )
        self.forget_times()
        return None

    def _without_invalid(self, data: JointStateData, now: Callable[[], int], refusal: Refusal) -> Messages | Refusal:
        finite = np.isfinite(data.position)
        if not finite.any():
            return refusal
        self.say_once(f"joint_states: {refusal.message}; the message's other joints are used")
        count = len(data.names)
        velocity, effort = (part[finite] if len(part) == count else part[:0] for part in (data.velocity, data.effort))
        names = tuple(name for name, good in zip(data.names, finite, strict=True) if good)
        return self.joint_state(JointStateData(data.stamp_ns, names, data.position[finite], velocity, effort), now)
