"""One TF message's worth of joints: which frames, their transforms for a configuration, and the bytes to send."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt
from geometry_msgs.msg import TransformStamped
from rclpy.serialization import deserialize_message
from tf2_msgs.msg import TFMessage

from robot_semantics.kinematics.in_place import InPlaceTransforms
from robot_semantics.model.robot_model import RobotModel
from robot_semantics.state.cdr import TransformMessage

FloatArray = npt.NDArray[np.float64]
Frames = Sequence[tuple[str, str]]

_MAX_BLOCKS = 64


class TransformBlock:
    """The transforms of some joints of a robot, always in the same order and under the same frame names."""

    def __init__(self, model: RobotModel, joints: Sequence[int], frames: Frames, *, raw: bool) -> None:
        self.frames = tuple(frames)
        self._raw = TransformMessage(self.frames) if raw else None
        if self._raw is None:
            self._transforms = InPlaceTransforms(model, joints)
        else:
            self._transforms = InPlaceTransforms(model, joints, self._raw.slots, self._raw.places, self._raw.stage)

    def __len__(self) -> int:
        return len(self.frames)

    def message(self, stamp_ns: int, positions: FloatArray) -> bytes | TFMessage:
        """Return the message for a configuration: CDR bytes, or a typed message where raw ones are switched off."""
        values = self._transforms.update(positions)
        if self._raw is not None:
            return self._raw.write(stamp_ns)
        return transform_message(self.frames, values.reshape(-1, 7), stamp_ns)


class TransformBlocks:
    """The blocks of one robot, each made when its joints are first published together; the least recently used goes."""

    def __init__(self, make: Callable[[npt.NDArray[np.bool_]], TransformBlock]) -> None:
        self._make = make
        self._blocks: OrderedDict[bytes, TransformBlock] = OrderedDict()

    def get(self, chosen: npt.NDArray[np.bool_]) -> TransformBlock:
        """Return the block of the moving joints that `chosen`, (m,) bool, names."""
        key = chosen.tobytes()
        block = self._blocks.get(key)
        if block is None:
            block = self._blocks[key] = self._make(chosen)
            if len(self._blocks) > _MAX_BLOCKS:
                self._blocks.popitem(last=False)
        else:
            self._blocks.move_to_end(key)
        return block


def transform_message(frames: Frames, values: FloatArray, stamp_ns: int) -> TFMessage:
    """Return a typed TFMessage; `values` is (n, 7): x y z [m] and quaternion x y z w."""
    message = TFMessage()
    seconds, nanoseconds = divmod(stamp_ns, 1_000_000_000)
    for (frame_id, child_frame_id), row in zip(frames, values.tolist(), strict=True):
        stamped = TransformStamped()
        stamped.header.stamp.sec, stamped.header.stamp.nanosec = seconds, nanoseconds
        stamped.header.frame_id, stamped.child_frame_id = frame_id, child_frame_id
        translation, rotation = stamped.transform.translation, stamped.transform.rotation
        translation.x, translation.y, translation.z = row[:3]
        rotation.x, rotation.y, rotation.z, rotation.w = row[3:]
        message.transforms.append(stamped)
    return message


def raw_transforms_agree() -> bool:
    """Tell whether the middleware reads our raw transform message as we mean it."""
    frames = [("a", "bc"), ("def", "ghij"), ("klmno", "p")]
    values = np.arange(21, dtype=np.float64).reshape(3, 7) / 7.0
    stamp_ns = 1_234_567_890_123_456_789
    raw = TransformMessage(frames).write(stamp_ns, values)
    try:
        read = deserialize_message(raw, TFMessage)
    except Exception:  # noqa: BLE001
        # Whatever a middleware does with bytes it does not understand, the answer is the same.
        return False
    return bool(read == transform_message(frames, values, stamp_ns))
