"""The shortest way of a joint state to TF: from the bytes of one message straight to the bytes of the other."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from robot_semantics.kinematics.in_place import Given, InPlaceTransforms
from robot_semantics.kinematics.joint_space import JointSpace
from robot_semantics.model.robot_model import RobotModel
from robot_semantics.ros.cdr import JointStateData, JointStateRepeater, TransformMessage
from robot_semantics.ros.joint_buffer import JointBuffer
from robot_semantics.ros.joint_input import InputPlan
from robot_semantics.ros.schedule import Together
from robot_semantics.ros.time_order import NEVER_NS, TimeOrder


class DirectPath:
    """Takes messages that differ from ones seen before in their stamp and numbers alone.

    Whatever is unusual about a message it leaves, with nothing changed, to the general way, which knows what to do.

    Attributes:
        count: number of transforms in a message.

    """

    __slots__ = (
        "_buffer",
        "_finite",
        "_group",
        "_interval_ns",
        "_message",
        "_order",
        "_plan",
        "_repeater",
        "_transforms",
        "count",
    )

    def __init__(
        self,
        model: RobotModel,
        plan: InputPlan,
        first: JointStateData,
        buffer: JointBuffer,
        order: TimeOrder,
        group: Together,
        joints: Sequence[int],
        frames: Sequence[tuple[str, str]],
        publish_interval_ns: int,
    ) -> None:
        """Prepare for messages like `first`; what comes of them goes to `buffer`, `order` and `group`."""
        self._plan, self._buffer, self._order, self._group = plan, buffer, order, group
        self._interval_ns, self.count = publish_interval_ns, len(frames)
        self._repeater = JointStateRepeater(first)
        self._finite = np.ones(len(plan.names), np.bool_)
        self._message = TransformMessage(frames)
        given = _given(model, plan)
        raw = self._message
        self._transforms = InPlaceTransforms(model, joints, raw.slots, raw.places, raw.stage, given)

    def learn(self, other: JointStateData) -> None:
        """Take messages like `other` too, which has been read from as many bytes, its positions at the same place."""
        self._repeater.learn(other)

    def take(self, data: bytes) -> bytes | bytearray | None:
        """Take over a message and return the transforms to send, empty if none are due, None if it is not for us.

        They hold until the next call.
        """
        stamp_ns = self._repeater.take(data)
        group = self._group
        if not stamp_ns or stamp_ns < self._order.last_ns:
            return None
        # Some were published apart from the others, or a joint that is in no such message is to be looked after.
        if group.stamp_ns == NEVER_NS or stamp_ns >= group.quiet_until_ns:
            return None
        finite, positions = self._finite, self._repeater.positions
        np.isfinite(positions, finite)
        # The first that is not, or any: numpy's `all` costs several times as much.
        if not finite.item(finite.argmin()):
            return None
        self._order.accept(stamp_ns)
        self._buffer.put_unread(self._plan, self._repeater, data, stamp_ns)
        if stamp_ns - group.stamp_ns < self._interval_ns:
            return b""
        group.stamp_ns = stamp_ns
        self._transforms.update(positions)
        return self._message.stamped_as(data)


def _given(model: RobotModel, plan: InputPlan) -> Given:
    given = Given.straight(JointSpace.of(model))
    given.source[:] = 0
    given.source[plan.target] = plan.source
    given.source[plan.mimic_target] = given.source[plan.mimic_source]
    given.factor[plan.mimic_target] = plan.multiplier
    given.offset[plan.mimic_target] = plan.offset
    return given
