# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Samples: random rotations of which a third is near the identity, a third where parametrisations are singular."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pytest
from scipy.spatial.transform import Rotation

FloatArray = npt.NDArray[np.float64]


@pytest.fixture(params=[(), (0,), (1,), (60,), (3, 20)], ids=str)
def shape(request: pytest.FixtureRequest) -> tuple[int, ...]:
    """Batch shapes, the empty ones included."""
    return request.param  # type: ignore[no-any-return]


@pytest.fixture(params=range(3))
def rng(request: pytest.FixtureRequest) -> np.random.Generator:
    """Three reproducible sources of chance."""
    return np.random.default_rng(request.param)


@pytest.fixture
def random_quats(rng: np.random.Generator) -> Callable[[tuple[int, ...]], FloatArray]:
    """Return the maker of (*shape, 4) quaternions; see `singular_quats`."""
    return lambda shape: singular_quats(rng, shape)


@pytest.fixture
def oracle_matrix() -> Callable[[FloatArray], FloatArray]:
    """Return scipy's (..., 3, 3) matrices of (..., 4) quaternions."""
    return scipy_matrix


def singular_quats(rng: np.random.Generator, shape: tuple[int, ...]) -> FloatArray:
    """Return (*shape, 4) unit quaternions: near identity, at half turns and gimbal lock, anywhere; of either sign."""
    count = int(np.prod(shape))
    quats = rng.normal(size=(count, 4))
    quats /= np.linalg.norm(quats, axis=-1, keepdims=True)
    for i in range(count):
        if i % 3 == 0:
            vector = rng.normal(size=3) * 10.0 ** rng.uniform(-12.0, -2.0)
            quats[i] = Rotation.from_rotvec(vector).as_quat()
        elif i % 6 == 1:
            axis = rng.normal(size=3)
            turn = np.pi - rng.choice([0.0, 1e-15, 1e-9, 1e-4])
            quats[i] = Rotation.from_rotvec(turn * axis / np.linalg.norm(axis)).as_quat()
        elif i % 6 == 4:
            pitch = rng.choice([-1.0, 1.0]) * (np.pi / 2 - rng.choice([0.0, 1e-15, 1e-9, 1e-5]))
            roll, yaw = rng.uniform(-np.pi, np.pi, 2)
            quats[i] = Rotation.from_euler("xyz", [roll, pitch, yaw]).as_quat()
    quats *= rng.choice([-1.0, 1.0], size=(count, 1))
    return quats.reshape(*shape, 4)


def scipy_matrix(quats: FloatArray) -> FloatArray:
    """Return (..., 3, 3) matrices of (..., 4) quaternions as scipy computes them."""
    flat = quats.reshape(-1, 4)
    matrices = Rotation.from_quat(flat).as_matrix() if len(flat) else np.empty((0, 3, 3))
    return matrices.reshape(*quats.shape[:-1], 3, 3)
