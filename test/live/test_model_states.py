# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Rows of numbers of poses."""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation

from robot_semantics.transforms.pose import Pose, xyz_quat_of


def test_a_pose_is_seven_numbers_and_a_missing_pose_seven_that_are_not() -> None:
    missing = xyz_quat_of(None)
    assert len(missing) == 7
    assert np.isnan(missing).all()
    rpy = (0.1, 0.2, 0.3)
    row = xyz_quat_of(Pose((1.0, 2.0, 3.0, *rpy)))
    np.testing.assert_allclose(row, [1.0, 2.0, 3.0, *Rotation.from_euler("xyz", rpy).as_quat()], atol=1e-15)
    assert xyz_quat_of(Pose((1.0, 2.0, 3.0, *rpy), (0.0, 0.6, 0.0, 0.8))) == (1.0, 2.0, 3.0, 0.0, 0.6, 0.0, 0.8)
