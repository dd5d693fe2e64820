# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Inertias that MuJoCo does not take are changed as little as possible, and each change is stated."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from robot_semantics.simulation.sim_models import SMALLEST_MASS, body_inertia
from robot_semantics.transforms import matrix_from_quat
from robot_semantics.urdf.tree import Inertial, Origin


def as_matrix(values: tuple[float, ...]) -> np.ndarray:
    xx, xy, xz, yy, yz, zz = values
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def test_principal_axes_and_moments_give_back_the_matrix() -> None:
    rng = np.random.default_rng(0)
    for _ in range(50):
        points = rng.normal(size=(8, 3))
        matrix = np.eye(3) * (points**2).sum() - points.T @ points
        values = tuple(matrix[np.triu_indices(3)])
        found = body_inertia(Inertial(3.0, values, Origin((1.0, 2.0, 3.0))), moves=True)
        R = matrix_from_quat(found.quat_xyzw)
        np.testing.assert_allclose(R @ np.diag(found.moments) @ R.T, matrix, atol=1e-10)
        assert found.xyz.tolist() == [1.0, 2.0, 3.0]
        assert not found.changes


def test_a_moving_link_without_mass_gets_a_little() -> None:
    found = body_inertia(None, moves=True)
    assert found.mass == SMALLEST_MASS
    assert found.changes == ("moves but has no mass: 0.001 kg assumed",)


def test_a_link_that_does_not_move_may_be_without_mass() -> None:
    found = body_inertia(None, moves=False)
    assert found.mass == 0.0
    assert not found.changes


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ((1.0, 0.0, 0.0, -0.5, 0.0, 1.0), "negative principal moment of inertia (-0.5 kg m²)"),
        ((0.1, 0.0, 0.0, 0.1, 0.0, 0.5), "that no rigid body has (by 0.3 kg m²)"),
        ((0.0, 0.0, 0.0, 0.0, 0.0, 0.0), "principal moment of inertia of zero"),
    ],
)
def test_impossible_moments_are_raised_and_that_is_said(values: Any, message: str) -> None:
    found = body_inertia(Inertial(1.0, values), moves=True)
    small, middle, large = np.sort(found.moments)
    assert small > 0.0
    assert small + middle >= large
    assert any(message in change for change in found.changes)


def test_rounding_below_zero_is_no_news() -> None:
    found = body_inertia(Inertial(1.0, (1e-3, 0.0, 0.0, 1e-3, 0.0, -4e-22)), moves=False)
    assert not [change for change in found.changes if "negative" in change]
