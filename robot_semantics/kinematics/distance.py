"""How far configurations are apart, joint by joint: whole turns and a quaternion's sign make no difference."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from robot_semantics.kinematics.joint_space import JointSpace
from robot_semantics.model.joint_types import JointType
from robot_semantics.model.robot_model import JointModel
from robot_semantics.transforms import quat_angle
from robot_semantics.transforms.arrays import FloatArray

_WRAPPED = frozenset({JointType.CONTINUOUS, JointType.PLANAR})


class JointDistance:
    """Compares configurations in some of a robot's joints, for example those of a group or of a named state.

    A joint's distance is an angle [rad] or a length [m], whichever is larger where a joint has both. A continuous joint
    and a planar one are compared within a turn; a revolute joint is not, for it cannot pass through.

    Attributes:
        space: the joint space of the configurations.
        joints: the joints compared, in the order of the results.
    """

    def __init__(self, space: JointSpace, joints: Iterable[str] | None = None) -> None:
        """Prepare for the joints named, in that order; by default for all that move. Fixed joints are never apart.

        Raises:
            UnknownNameError: the robot has no joint of such a name.
        """
        self.space = space
        self.joints: tuple[JointModel, ...] = (
            space.joints if joints is None else tuple(space.model.joint(name) for name in joints)
        )

    def by_joint(self, q0: npt.ArrayLike, q1: npt.ArrayLike) -> FloatArray:
        """Return (..., n) how far each joint is apart in configurations (..., size) [rad or m].

        Raises:
            ArrayError: a configuration has the wrong shape, is not finite, or has a quaternion of zeros.
        """
        a, b = self.space.checked(q0), self.space.checked(q1)
        result = np.zeros((*np.broadcast_shapes(a.shape[:-1], b.shape[:-1]), len(self.joints)))
        for row, joint in enumerate(self.joints):
            if joint.position_count:
                where = self.space.positions_of(joint)
                result[..., row] = _apart(joint.type, a[..., where], b[..., where])
        return result

    def __call__(self, q0: npt.ArrayLike, q1: npt.ArrayLike) -> FloatArray:
        """Return (...) the largest distance of any joint, 0 where there is none [rad or m].

        Raises:
            ArrayError: a configuration has the wrong shape, is not finite, or has a quaternion of zeros.
        """
        largest: FloatArray = self.by_joint(q0, q1).max(axis=-1, initial=0.0)
        return largest


def _apart(kind: JointType, a: FloatArray, b: FloatArray) -> FloatArray:
    if kind is JointType.FLOATING:
        return _larger(a[..., :3] - b[..., :3], quat_angle(a[..., 3:], b[..., 3:]))
    difference = np.abs(a - b)
    if kind in _WRAPPED:
        turn = np.remainder(difference[..., -1], 2.0 * np.pi)
        return _larger(difference[..., :-1], np.minimum(turn, 2.0 * np.pi - turn))
    single: FloatArray = difference[..., 0]
    return single


def _larger(way: FloatArray, angle: FloatArray) -> FloatArray:
    larger: FloatArray = np.maximum(np.sqrt((way * way).sum(axis=-1)), angle)
    return larger
