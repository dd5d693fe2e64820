# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Poses and axes of the joints of a robot, as arrays."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from robot_semantics.model.joint_types import JointType
from robot_semantics.urdf.tree import Joint, Origin, Vec3

if TYPE_CHECKING:
    from robot_semantics.transforms.arrays import FloatArray

X_AXIS: Vec3 = (1.0, 0.0, 0.0)
Z_AXIS: Vec3 = (0.0, 0.0, 1.0)


class JointFrames:
    """Poses and axes of n joints, by index.

    The arrays are computed at their first use, for all joints together. A check of a small robot needs no array, and
    the import of numpy takes 0.2 s, more than the rest of the check.
    """

    def __init__(self, origins: Sequence[Origin | None], axes: Sequence[Vec3]) -> None:
        self._origins = tuple(origins)
        self._axes = tuple(axes)

    @cached_property
    def T_parent_joint(self) -> FloatArray:
        """(n, 4, 4) pose of each joint in its parent link [m]; the identity without an origin; read-only."""
        import numpy as np

        from robot_semantics.transforms import matrix_from_rpy, matrix_from_xyz_quat

        frames = np.zeros((len(self._origins), 4, 4))
        frames[:, 3, 3] = 1.0
        none = (0.0, 0.0, 0.0)
        frames[:, :3, 3] = [none if origin is None else origin.xyz for origin in self._origins]
        rpy = np.array([(origin and origin.rpy) or none for origin in self._origins])
        frames[:, :3, :3] = matrix_from_rpy(rpy)
        for index, origin in enumerate(self._origins):
            if origin is not None and origin.quat_xyzw is not None:
                frames[index] = matrix_from_xyz_quat(origin.xyz, origin.quat_xyzw)
        frames.setflags(write=False)
        return frames

    @cached_property
    def axes(self) -> FloatArray:
        """(n, 3) unit axis of each joint in its frame; read-only."""
        import numpy as np

        axes = np.array(self._axes)
        axes.setflags(write=False)
        return axes


def default_axis(kind: JointType | None) -> Vec3:
    """Return the axis of a joint without ``<axis>``; None is an unknown type."""
    return Z_AXIS if kind is JointType.PLANAR else X_AXIS


def unit_axis(joint: Joint, kind: JointType) -> Vec3:
    """Return the joint's axis with length 1; the default of its type if the axis is missing or zero."""
    default = default_axis(kind)
    axis = joint.axis or default
    largest = max(map(abs, axis))
    if largest == 0.0:
        return default
    x, y, z = (value / largest for value in axis)
    length = math.sqrt(x * x + y * y + z * z)
    return (x / length, y / length, z / length)


def frames_of_root(axis: Vec3) -> JointFrames:
    """Return the frames of a root joint alone: the identity, and its unit axis."""
    return JointFrames((None,), (axis,))
