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
from robot_semantics.ros.time_order import NEVER_NS, TimeOrder


class WholePublished:
    """When all joints were last published together; `NEVER_NS` if something else has been published since.

    Attributes:
        stamp_ns: of those transforms.

    """

    __slots__ = ("stamp_ns",)

    def __init__(self) -> None:
        self.stamp_ns = NEVER_NS


class DirectPath:
    """Takes messages that give all moving joints and differ from a first one in their stamp and numbers alone.

    Whatever is unusual about a message it leaves, with nothing changed, to the general way, which knows what to do.

    Attributes:
        count: number of transforms in a message.

    """

    __slots__ = (
        "_buffer",
        "_finite",
        "_interval_ns",
        "_message",
        "_order",
        "_plan",
        "_repeater",
        "_transforms",
        "_whole",
        "count",
    )

    def __init__(
        self,
        model: RobotModel,
        plan: InputPlan,
        first: JointStateData,
        buffer: JointBuffer,
        order: TimeOrder,
        whole: WholePublished,
        joints: Sequence[int],
        frames: Sequence[tuple[str, str]],
        publish_interval_ns: int,
    ) -> None:
        """Prepare for messages like `first`; what comes of them goes to `buffer`, `order` and `whole`."""
        self._plan, self._buffer, self._order, self._whole = plan, buffer, order, whole
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
        whole = self._whole
        # No stamp, or an old one, or joints published apart.
        if not stamp_ns or stamp_ns < self._order.last_ns or whole.stamp_ns == NEVER_NS:
            return None
        finite, positions = self._finite, self._repeater.positions
        np.isfinite(positions, finite)
        # The first that is not, or any: numpy's `all` costs several times as much.
        if not finite.item(finite.argmin()):
            return None
        self._order.accept(stamp_ns)
        self._buffer.put_unread(self._plan, self._repeater, data, stamp_ns)
        if stamp_ns - whole.stamp_ns < self._interval_ns:
            return b""
        whole.stamp_ns = stamp_ns
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
