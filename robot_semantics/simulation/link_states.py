# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Where an engine has the links of a robot, as the links' states of a world state."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from robot_semantics.transforms import matrix_from_rotation, quat_from_matrix, xyz_rpy_from_matrix
from robot_semantics.transforms.arrays import FloatArray
from robot_semantics.usdf.poses import poses_from_matrices, six
from robot_semantics.usdf.world_state import LinkState, Pose


def link_states(
    names: Sequence[str],
    xyz: FloatArray,
    R: FloatArray,
    linear: FloatArray,
    angular: FloatArray,
    wrench: FloatArray | None = None,
) -> tuple[LinkState, ...]:
    """Return the states of links, the root link first, relative to it.

    Args:
        names: of the links (n).
        xyz: (n, 3) origins in the world [m].
        R: (n, 3, 3) orientations in the world.
        linear: (n, 3) velocities of the origins in the world [m/s].
        angular: (n, 3) angular velocities in the world [rad/s].
        wrench: (n, 6) forces [N] and torques about the origins [N m], in the world's axes; None where not known.

    """
    offset = xyz - xyz[0]
    T_root_link = matrix_from_rotation(R[0].T @ R, offset @ R[0])
    poses = poses_from_matrices(T_root_link)
    twists = np.concatenate(
        (_into(R, linear - linear[0] - np.cross(angular[0], offset)), _into(R, angular - angular[0])), axis=1
    )
    wrenches = None if wrench is None else np.concatenate((_into(R, wrench[:, :3]), _into(R, wrench[:, 3:])), axis=1)
    return tuple(
        LinkState(
            name,
            poses[at],
            six(twists[at]),
            None if wrenches is None else six(wrenches[at]),
        )
        for at, name in enumerate(names)
    )


def pose_of(T: FloatArray, quat: FloatArray | None = None) -> Pose:
    """Return the pose of a (4, 4) transform; `quat` (4,) is its exact orientation, where one is known."""
    exact = quat_from_matrix(T[:3, :3]) if quat is None else quat
    return Pose(six(xyz_rpy_from_matrix(T)), tuple(exact.tolist()))


def _into(R: FloatArray, vectors: FloatArray) -> FloatArray:
    """Return (n, 3) world vectors in the axes of (n, 3, 3) orientations."""
    result: FloatArray = np.einsum("nij,ni->nj", R, vectors)
    return result
