"""Forward kinematics: where every link is, and how it moves, from joint positions and velocities."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from robot_semantics.kinematics.joint_space import JointSpace
from robot_semantics.kinematics.local import LocalTransforms
from robot_semantics.model.robot_model import RobotModel
from robot_semantics.transforms import rotate_twist, transport_twist
from robot_semantics.transforms.arrays import FloatArray


class ForwardKinematics:
    """Makes ``T_root_link`` of every link, and the links' velocities, from joint positions and velocities.

    The virtual root joint takes no part in poses relative to the root link; `T_parent_root` has it. Mimic joints go
    where their leaders take them, whatever is said of them.

    Attributes:
        space: the joint space that ``q`` and ``v`` belong to.
        model: the robot.
    """

    def __init__(self, model: RobotModel) -> None:
        self.model = model
        self.space = JointSpace.of(model)
        self._local = LocalTransforms(model)
        self._root = LocalTransforms(model, (model.root_joint.name,))

    def link_poses(self, q: npt.ArrayLike) -> FloatArray:
        """Return (..., n_links, 4, 4) poses ``T_root_link`` of all links in the root link, in model order, read-only.

        Args:
            q: (..., size) joint positions [rad, m].

        Raises:
            ArrayError: `q` has the wrong shape, is not finite, or has a quaternion of zeros.
        """
        poses = np.array(self._local.matrices(q))
        poses[..., 0, :, :] = np.eye(4)
        for link in self.model.links[1:]:
            poses[..., link.index, :, :] = poses[..., link.parent, :, :] @ poses[..., link.index, :, :]
        poses.setflags(write=False)
        return poses

    def T_parent_root(self, q: npt.ArrayLike) -> FloatArray:  # noqa: N802 - the frame notation
        """Return (..., 4, 4) poses of the root link in the virtual joint's parent frame, read-only.

        Args:
            q: (..., size) joint positions [rad, m].

        Raises:
            ArrayError: `q` has the wrong shape, is not finite, or has a quaternion of zeros.
        """
        pose: FloatArray = self._root.matrices(q)[..., 0, :, :]
        return pose

    def twist_parent_root(self, q: npt.ArrayLike, v: npt.ArrayLike) -> FloatArray:
        """Return (..., 6) velocities of the root link in the virtual joint's parent frame, in the parent's axes.

        Each is vx vy vz wx wy wz [m/s, rad/s], linear that of the root link's origin: the twist of a USDF model state.

        Args:
            q: (..., size) joint positions [rad, m].
            v: (..., velocity_size) joint velocities [rad/s, m/s].

        Raises:
            ArrayError: `q` or `v` has the wrong shape or is not finite, or `q` has a quaternion of zeros.
        """
        twist = rotate_twist(self.T_parent_root(q)[..., :3, :3], self._root.twists(q, v)[..., 0, :])
        twist.setflags(write=False)
        return twist

    def link_twists(self, q: npt.ArrayLike, v: npt.ArrayLike, *, with_virtual_joint: bool = False) -> FloatArray:
        """Return (..., n_links, 6) velocities of all links relative to the root link, read-only.

        Each is vx vy vz wx wy wz [m/s, rad/s]: of the link's origin, in the link's own axes.

        Args:
            q: (..., size) joint positions [rad, m].
            v: (..., velocity_size) joint velocities [rad/s, m/s].
            with_virtual_joint: relative to the virtual joint's parent frame instead, so the root link moves as well.

        Raises:
            ArrayError: `q` or `v` has the wrong shape or is not finite, or `q` has a quaternion of zeros.
        """
        twists = np.array(self._local.twists(q, v))
        T_parent_child = self._local.matrices(q)
        if not with_virtual_joint:
            twists[..., 0, :] = 0.0
        for link in self.model.links[1:]:
            twists[..., link.index, :] += transport_twist(
                T_parent_child[..., link.index, :, :], twists[..., link.parent, :]
            )
        twists.setflags(write=False)
        return twists
