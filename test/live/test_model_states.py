# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Rows of numbers of poses and of models."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.spatial.transform import Rotation

from robot_semantics.live.model_series import ModelSeries, model_rows, model_state
from robot_semantics.transforms.pose import Pose, xyz_quat_of
from robot_semantics.usdf.world_state import JointState


def test_a_pose_is_seven_numbers_and_a_missing_pose_seven_that_are_not() -> None:
    missing = xyz_quat_of(None)
    assert len(missing) == 7
    assert np.isnan(missing).all()
    rpy = (0.1, 0.2, 0.3)
    row = xyz_quat_of(Pose((1.0, 2.0, 3.0, *rpy)))
    np.testing.assert_allclose(row, [1.0, 2.0, 3.0, *Rotation.from_euler("xyz", rpy).as_quat()], atol=1e-15)
    assert xyz_quat_of(Pose((1.0, 2.0, 3.0, *rpy), (0.0, 0.6, 0.0, 0.8))) == (1.0, 2.0, 3.0, 0.0, 0.6, 0.0, 0.8)


def test_each_joint_has_its_own_numbers_of_a_row() -> None:
    names, widths, speeds = ("free", "turn", "ball", "slide"), (7, 1, 4, 1), (6, 1, 3, 1)
    half = np.sqrt(0.5)
    series = replace(
        ModelSeries.unknown("r", names, widths, speeds, 1),
        positions=np.arange(13.0)[np.newaxis],
        velocities=np.arange(11.0)[np.newaxis] + 100.0,
        efforts=np.arange(11.0)[np.newaxis] + 200.0,
        pose=np.array([[1.0, 2.0, 3.0, 0.0, 0.0, half, half]]),
        twist=np.arange(6.0)[np.newaxis] + 300.0,
        links=("near", "far"),
        link_poses=np.array([[[4.0, 5.0, 6.0, 0.0, 0.0, 0.0, 1.0], [7.0, 8.0, 9.0, half, 0.0, 0.0, half]]]),
        link_twists=np.arange(12.0).reshape(1, 2, 6) + 400.0,
    )
    assert series.variables == (*(f"free[{i}]" for i in range(7)), "turn", *(f"ball[{i}]" for i in range(4)), "slide")
    assert series.velocity_variables == (
        *(f"free[{i}]" for i in range(6)), "turn", "ball[0]", "ball[1]", "ball[2]", "slide"
    )  # fmt: skip
    rows = model_rows(series)
    assert rows.shape == (1, series.row_size) == (1, 13 + 11 + 11 + 16 + 2 * 16)
    state = model_state(series, rows[0].tolist(), "map")
    assert state.joints == (
        JointState("free", (0, 1, 2, 3, 4, 5, 6), (100, 101, 102, 103, 104, 105), (200, 201, 202, 203, 204, 205)),
        JointState("turn", (7,), (106,), (206,)),
        JointState("ball", (8, 9, 10, 11), (107, 108, 109), (207, 208, 209)),
        JointState("slide", (12,), (110,), (210,)),
    )
    assert (state.name, state.parent, state.twist) == ("r", "map", (300, 301, 302, 303, 304, 305))
    assert state.pose is not None
    np.testing.assert_allclose(state.pose.xyz_rpy, [1, 2, 3, 0, 0, np.pi / 2], atol=1e-15)
    assert [link.name for link in state.links] == ["near", "far"]
    assert [link.twist for link in state.links] == [(400, 401, 402, 403, 404, 405), (406, 407, 408, 409, 410, 411)]
    poses = np.array([link.pose.xyz_rpy for link in state.links if link.pose is not None])
    np.testing.assert_allclose(poses, np.array([[4, 5, 6, 0, 0, 0], [7, 8, 9, np.pi / 2, 0, 0]]), atol=1e-15)


def test_a_joint_without_any_known_number_has_no_state() -> None:
    series = ModelSeries.unknown("r", ("a", "b", "c"), (1, 1, 1), (1, 1, 1), 1)
    series.velocities[0, 1], series.efforts[0, 2] = 2.0, 3.0
    links = replace(series, links=("l",), link_poses=np.full((1, 1, 7), np.nan), link_twists=np.full((1, 1, 6), np.nan))
    assert model_state(links, model_rows(links)[0].tolist(), "map").links == ()
    state = model_state(series, model_rows(series)[0].tolist(), "map")
    assert state.joints == (JointState("b", None, (2.0,), None), JointState("c", None, None, (3.0,)))
    assert (state.pose, state.twist, state.links) == (None, None, ())
