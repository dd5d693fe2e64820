# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Frame algebra in numpy: rotations, rigid transforms, twists and wrenches, with leading batch axes."""

from robot_semantics.transforms.rigid import (
    compose,
    invert,
    matrix_from_pose,
    matrix_from_rotation,
    matrix_from_xyz_quat,
    matrix_from_xyz_rpy,
    transform_distance,
    transform_points,
    xyz_quat_from_matrix,
    xyz_rpy_from_matrix,
)
from robot_semantics.transforms.rotations import (
    IDENTITY_QUAT,
    cross,
    matrix_from_quat,
    matrix_from_rpy,
    quat_angle,
    quat_canonical,
    quat_conjugate,
    quat_from_matrix,
    quat_from_rotvec,
    quat_from_rpy,
    quat_multiply,
    quat_normalize,
    quat_rotate,
    quat_slerp,
    rotation_about,
    rotation_from_z,
    rotvec_from_quat,
    rpy_from_matrix,
    rpy_from_quat,
    wrapped_angles,
)
from robot_semantics.transforms.twists import (
    compose_twists,
    invert_twist,
    rotate_twist,
    transport_twist,
)

__all__ = [
    "IDENTITY_QUAT",
    "compose",
    "compose_twists",
    "cross",
    "invert",
    "invert_twist",
    "matrix_from_pose",
    "matrix_from_quat",
    "matrix_from_rotation",
    "matrix_from_rpy",
    "matrix_from_xyz_quat",
    "matrix_from_xyz_rpy",
    "quat_angle",
    "quat_canonical",
    "quat_conjugate",
    "quat_from_matrix",
    "quat_from_rotvec",
    "quat_from_rpy",
    "quat_multiply",
    "quat_normalize",
    "quat_rotate",
    "quat_slerp",
    "rotate_twist",
    "rotation_about",
    "rotation_from_z",
    "rotvec_from_quat",
    "rpy_from_matrix",
    "rpy_from_quat",
    "transform_distance",
    "transform_points",
    "transport_twist",
    "wrapped_angles",
    "xyz_quat_from_matrix",
    "xyz_rpy_from_matrix",
]
