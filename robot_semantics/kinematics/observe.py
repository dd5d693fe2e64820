# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Joint positions from transforms: the position of a joint from the pose of its child link in its parent link."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from robot_semantics.base.errors import ArrayError
from robot_semantics.kinematics.joint_space import JointSpace
from robot_semantics.kinematics.local import LocalTransforms
from robot_semantics.kinematics.motions import SUBSPACE, origins_of, plane_axes
from robot_semantics.model.joint_types import JointType
from robot_semantics.model.robot_model import JointModel, RobotModel
from robot_semantics.transforms import invert, quat_from_matrix, rotvec_from_quat
from robot_semantics.transforms.arrays import FloatArray, checked_array

_TURN = 2.0 * np.pi


class Observation(NamedTuple):
    """Joint positions from transforms, and the residuals; all read-only.

    Attributes:
        q: (..., size) positions; mimic joints as observed, joints that were not observed as in `near`.
        distance: (..., n) distance of each child link's origin from its position by `q` [m].
        angle: (..., n) angle between each child link and its orientation by `q` [rad], 0 to π.
    """

    q: FloatArray
    distance: FloatArray
    angle: FloatArray


class JointObserver:
    """Positions from ``T_parent_child`` of all joints, or of chosen ones: the inverse of `LocalTransforms`.

    The result is the angle with the nearest rotation, or the distance with the nearest translation. Among angles that
    differ by whole turns, it is the one nearest to the expected angle, moved inside the limits by whole turns if
    possible. Motion that the joint cannot make is a residual. A half turn about an axis perpendicular to a revolute
    joint's axis does not determine the angle; the angle is then 0.

    Attributes:
        space: the joint space of the positions; in it mimic joints are independent joints.
        joints: the observed joints, in the order of the transforms.
    """

    def __init__(self, model: RobotModel, joints: Iterable[str] | None = None) -> None:
        """Prepare for the joints named, in this order; by default for all joints of the model, index = joint index.

        Raises:
            UnknownNameError: `model` does not have a joint.
        """
        self._local = LocalTransforms(model, joints, follow_mimics=False)
        self.space = self._local.space
        self.joints = self._local.joints
        self._neutral = JointSpace.of(model).neutral()
        self._T_joint_parent = invert(origins_of(self.joints))

    def observe(self, T_parent_child: npt.ArrayLike, near: npt.ArrayLike | None = None) -> Observation:
        """Return positions and residuals of (..., n, 4, 4) transforms.

        Args:
            T_parent_child: (..., n, 4, 4) poses of the child links in their parent links; index 0, the root joint, is
                the pose of the root link in the virtual joint's parent frame.
            near: (..., size) expected positions; joints that are not observed keep them; by default
                `JointSpace.neutral`.

        Raises:
            ArrayError: an argument has the wrong shape or is not finite.
        """
        poses = checked_array("T_parent_child", T_parent_child, len(self.joints), 4, 4)
        base = self._neutral if near is None else checked_array("near", near, self.space.size)
        shape = np.broadcast_shapes(poses.shape[:-3], base.shape[:-1])
        q = np.array(np.broadcast_to(base, (*shape, self.space.size)))
        motions = self._T_joint_parent @ poses
        for row, joint in enumerate(self.joints):
            if joint.position_count:
                where = self.space.positions_of(joint)
                q[..., where] = _POSITIONS[joint.type](joint, motions[..., row, :, :], q[..., where])
        made = self._local.matrices(q)
        distance = np.sqrt(((poses[..., :3, 3] - made[..., :3, 3]) ** 2).sum(axis=-1))
        apart = np.swapaxes(made[..., :3, :3], -1, -2) @ poses[..., :3, :3]
        angle = np.sqrt((rotvec_from_quat(quat_from_matrix(apart)) ** 2).sum(axis=-1))
        for array in (q, distance, angle):
            array.setflags(write=False)
        return Observation(q, distance, angle)

    def positions(
        self, T_parent_child: npt.ArrayLike, near: npt.ArrayLike | None = None, *, tolerance: float = 1e-6
    ) -> FloatArray:
        """Return the positions of `observe`, (..., size) and read-only, if they explain the transforms.

        Args:
            T_parent_child: as for `observe`.
            near: as for `observe`.
            tolerance: the largest accepted residual [m, rad].

        Raises:
            ArrayError: an argument has the wrong shape or is not finite, or a joint cannot make its transform; the
                error names the joint with the largest residual.
        """
        q, distance, angle = self.observe(T_parent_child, near)
        off = np.maximum(distance, angle)
        if off.size and not off.max() <= tolerance:
            worst = np.unravel_index(int(off.argmax()), off.shape)
            joint = self.joints[worst[-1]]
            raise ArrayError(
                "T_parent_child",
                f"{joint.type.value} joint '{joint.name}' cannot have this transform: "
                f"the nearest one differs by {distance[worst]:.3g} m and {angle[worst]:.3g} rad",
            )
        return q

    def velocities(self, q: npt.ArrayLike, twists: npt.ArrayLike) -> FloatArray:
        """Return (..., velocity_size) joint velocities [rad/s, m/s] of relative twists; the inverse of `twists`.

        The result has the nearest velocities; motion that a joint cannot make is ignored.

        Args:
            q: (..., size) joint positions; only planar and floating joints need them.
            twists: (..., n, 6) velocities of the child links relative to their parents, at their own origins and in
                their own axes; joints that are not observed get 0.

        Raises:
            ArrayError: an argument has the wrong shape or is not finite.
        """
        positions, given = self.space.checked_positions(q), checked_array("twists", twists, len(self.joints), 6)
        shape = np.broadcast_shapes(positions.shape[:-1], given.shape[:-2])
        R_joint_child = self._T_joint_parent[:, :3, :3] @ self._local.matrices(positions)[..., :3, :3]
        linear = (R_joint_child @ given[..., :3, np.newaxis])[..., 0]
        angular = (R_joint_child @ given[..., 3:, np.newaxis])[..., 0]
        v = np.zeros((*shape, self.space.velocity_size))
        for row, joint in enumerate(self.joints):
            if joint.position_count:
                along, about = SUBSPACE[joint.type](joint)  # the columns are orthonormal or zero
                v[..., self.space.velocities_of(joint)] = linear[..., row, :] @ along + angular[..., row, :] @ about
        v.setflags(write=False)
        return v


def local_from_link_poses(
    model: RobotModel, T_root_link: npt.ArrayLike, T_parent_root: npt.ArrayLike | None = None
) -> FloatArray:
    """Return (..., n, 4, 4) ``T_parent_child`` of all joints from the poses of all links.

    Args:
        model: the robot.
        T_root_link: (..., n, 4, 4) poses of all links in the root link, or in any common frame.
        T_parent_root: (..., 4, 4) pose of the root link in the virtual joint's parent frame; by default the identity.

    Raises:
        ArrayError: an argument has the wrong shape or is not finite.
    """
    poses = checked_array("T_root_link", T_root_link, len(model.links), 4, 4)
    root = checked_array("T_parent_root", np.eye(4) if T_parent_root is None else T_parent_root, 4, 4)
    shape = np.broadcast_shapes(poses.shape[:-3], root.shape[:-2])
    local = np.empty((*shape, len(model.links), 4, 4))
    local[..., 0, :, :] = root
    parents = [link.parent for link in model.links[1:]]
    local[..., 1:, :, :] = invert(poses[..., parents, :, :]) @ poses[..., 1:, :, :]
    return local


def _angle(joint: JointModel, motion: FloatArray, reference: FloatArray) -> FloatArray:
    """Return (..., 1) the angle [rad] about the joint's axis with the rotation nearest to `motion`."""
    x, y, z = joint.axis
    R = motion[..., :3, :3]
    sine = x * (R[..., 2, 1] - R[..., 1, 2]) + y * (R[..., 0, 2] - R[..., 2, 0]) + z * (R[..., 1, 0] - R[..., 0, 1])
    cosine = np.trace(R, axis1=-2, axis2=-1) - (R @ joint.axis) @ joint.axis
    angle: FloatArray = np.arctan2(sine, cosine)[..., np.newaxis]
    angle = angle + _TURN * np.round((reference - angle) / _TURN)
    low, high = joint.limits.lower, joint.limits.upper
    if joint.motion.limited:
        # Add or subtract as few whole turns as needed to get inside the limits. A value slightly outside stays.
        for turned in (
            angle + _TURN * np.ceil(np.maximum(0.0, low - 1e-6 - angle) / _TURN),
            angle - _TURN * np.ceil(np.maximum(0.0, angle - high - 1e-6) / _TURN),
        ):
            angle = np.where((turned >= low - 1e-6) & (turned <= high + 1e-6), turned, angle)
    return angle


def _distance(joint: JointModel, motion: FloatArray, near: FloatArray) -> FloatArray:
    del near
    return (motion[..., :3, 3] @ joint.axis)[..., np.newaxis]


def _plane(joint: JointModel, motion: FloatArray, near: FloatArray) -> FloatArray:
    xy = motion[..., :3, 3] @ plane_axes(joint.axis)
    return np.concatenate((xy, _angle(joint, motion, near[..., 2:])), axis=-1)


def _pose(joint: JointModel, motion: FloatArray, near: FloatArray) -> FloatArray:
    del joint
    quat = quat_from_matrix(motion[..., :3, :3])
    quat = np.where((quat * near[..., 3:]).sum(axis=-1, keepdims=True) < 0.0, -quat, quat)
    xyz = np.broadcast_to(motion[..., :3, 3], (*quat.shape[:-1], 3))
    return np.concatenate((xyz, quat), axis=-1)


_POSITIONS: dict[JointType, Callable[[JointModel, FloatArray, FloatArray], FloatArray]] = {
    JointType.REVOLUTE: _angle,
    JointType.CONTINUOUS: _angle,
    JointType.PRISMATIC: _distance,
    JointType.PLANAR: _plane,
    JointType.FLOATING: _pose,
}
