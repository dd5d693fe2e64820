# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Forward kinematics: poses and velocities of all links from joint positions and velocities."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from robot_semantics.kinematics.chain_products import doublings
from robot_semantics.kinematics.joint_space import JointSpace
from robot_semantics.kinematics.local import LocalTransforms
from robot_semantics.kinematics.sweep import Sweep
from robot_semantics.model.robot_model import LinkModel, RobotModel
from robot_semantics.transforms import cross, rotate_twist
from robot_semantics.transforms.arrays import FloatArray

if TYPE_CHECKING:
    from robot_semantics.kinematics.loops import ClosedLoops

_FEW = 20


class ForwardKinematics:
    """Poses ``T_root_link`` of all links, or of chosen ones, and the velocities of all links.

    The virtual root joint has no effect on poses relative to the root link; its pose is `T_parent_root`. Mimic joints
    follow their leaders; their own values in ``q`` are ignored.

    Attributes:
        model: the robot.
        space: the joint space of ``q`` and ``v``.
        links: the chosen links, in the order of the results.
    """

    def __init__(self, model: RobotModel, links: Iterable[str] | None = None, *, follow_mimics: bool = True) -> None:
        """Prepare for the links named, in this order; by default for all links of the model, index = link index.

        Without `follow_mimics`, mimic joints use their own values in `q`.

        Raises:
            UnknownNameError: `model` does not have a link.
        """
        self.model = model
        self.space = JointSpace(model, follow_mimics=follow_mimics)
        self.links: tuple[LinkModel, ...] = model.links if links is None else tuple(model.link(name) for name in links)
        self._follows = follow_mimics
        self._local = LocalTransforms(model, space=self.space)
        self._root = LocalTransforms(model, (model.root_joint.name,), space=self.space)
        self._chosen = np.array([link.index for link in self.links], dtype=np.intp)
        self._doublings = doublings([link.parent for link in model.links])

    def link_poses(self, q: npt.ArrayLike) -> FloatArray:
        """Return (..., n_links, 4, 4) poses ``T_root_link`` of the links in the root link, read-only.

        For many configurations, the memory order is number by number, not matrix by matrix. When the result and all its
        views are deleted, the next call reuses the memory.

        Args:
            q: (..., size) joint positions [rad, m].

        Raises:
            ArrayError: `q` has the wrong shape, is not finite, or has a quaternion of zeros.
        """
        positions = self.space.checked_positions(q)
        shape = positions.shape[:-1]
        count = int(np.prod(shape, dtype=np.intp))
        if count < _FEW:
            return self._few(positions)
        poses = self._sweep.run(positions.reshape(count, self.space.size)).reshape(*shape, len(self.links), 4, 4)
        poses.setflags(write=False)
        return poses

    def T_parent_root(self, q: npt.ArrayLike) -> FloatArray:
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

        Each is vx vy vz wx wy wz [m/s, rad/s], linear for the root link's origin: the twist of a USDF model state.

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
        """Return (..., n_links, 6) velocities of the links relative to the root link, read-only.

        Each is vx vy vz wx wy wz [m/s, rad/s]: at the link's origin, in the link's own axes.

        Args:
            q: (..., size) joint positions [rad, m].
            v: (..., velocity_size) joint velocities [rad/s, m/s].
            with_virtual_joint: relative to the virtual joint's parent frame instead, so the root link also moves.

        Raises:
            ArrayError: `q` or `v` has the wrong shape or is not finite, or `q` has a quaternion of zeros.
        """
        poses = self._whole.link_poses(q)
        twists = _number_by_number(self._local.twists(q, v))
        R, origin = poses[..., :3, :3], poses[..., :3, 3]
        # Velocities of the point at the root link's origin, in the root link's axes: there the joints' motions simply
        # add up.
        turning = _rotated(R, twists[..., 3:])
        moving = _rotated(R, twists[..., :3]) + cross(origin, turning)
        for links, above in self._doublings:
            moving[..., links, :] += moving[..., above, :]
            turning[..., links, :] += turning[..., above, :]
        moving[..., 0, :] = turning[..., 0, :] = 0.0
        if with_virtual_joint:
            moving += twists[..., :1, :3]
            turning += twists[..., :1, 3:]
        inverse = np.swapaxes(R, -1, -2)
        result = np.concatenate(
            (_rotated(inverse, moving - cross(origin, turning)), _rotated(inverse, turning)), axis=-1
        )
        if self.links is not self.model.links:
            result = result[..., self._chosen, :]
        result.setflags(write=False)
        return result

    @cached_property
    def loops(self) -> ClosedLoops | None:
        """The closed loops of the robot; None if it has no constraints.

        Raises:
            LoopError: the passive joints of the robot do not follow from its other joints.
        """
        if not self.model.constraints:
            return None
        # Import here: few robots have loops.
        from robot_semantics.kinematics.loops import ClosedLoops

        return ClosedLoops.of(self.model)

    @cached_property
    def solvable_loops(self) -> ClosedLoops | None:
        """The closed loops of the robot; None without loops, or if the passive joints do not follow from the others."""
        from robot_semantics.kinematics.loop_freedom import LoopError

        try:
            return self.loops
        except LoopError:
            return None

    @cached_property
    def measured(self) -> ForwardKinematics:
        """The kinematics of all links with the own position of every mimic joint, for measured positions."""
        return ForwardKinematics(self.model, follow_mimics=False)

    @cached_property
    def _whole(self) -> ForwardKinematics:
        """The forward kinematics of all links."""
        if self.links is self.model.links:
            return self
        return ForwardKinematics(self.model, follow_mimics=self._follows)

    @cached_property
    def _sweep(self) -> Sweep:
        """The steps for many configurations."""
        return Sweep(self.model, self._chosen.tolist(), self.space)

    def _few(self, q: FloatArray) -> FloatArray:
        """Return (..., n_links, 4, 4) poses by doubling the length of all products: the fewest numpy calls."""
        poses = np.array(self._local.matrices(q))
        poses[..., 0, :, :] = np.eye(4)
        for links, above in self._doublings:
            poses[..., links, :, :] = poses[..., above, :, :] @ poses[..., links, :, :]
        if self.links is not self.model.links:
            poses = poses[..., self._chosen, :, :]
        poses.setflags(write=False)
        return poses


def _rotated(R: FloatArray, vectors: FloatArray) -> FloatArray:
    """Return (..., 3) `vectors` rotated by (..., 3, 3) matrices."""
    result: FloatArray = R[..., 0] * vectors[..., :1]
    result += R[..., 1] * vectors[..., 1:2]
    result += R[..., 2] * vectors[..., 2:]
    return result


def _number_by_number(array: FloatArray) -> FloatArray:
    """Return `array` (..., n, k) in the memory order of large batches of poses."""
    return np.moveaxis(np.ascontiguousarray(np.moveaxis(array, (-2, -1), (0, 1))), (0, 1), (-2, -1))
