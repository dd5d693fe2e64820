# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Rotations against scipy, with the singular places sampled on purpose."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pytest
from scipy.spatial.transform import Rotation, Slerp

from robot_semantics import transforms
from robot_semantics.base.errors import ArrayError

FloatArray = npt.NDArray[np.float64]
Quats = Callable[[tuple[int, ...]], FloatArray]
Matrix = Callable[[FloatArray], FloatArray]


def test_matrix_of_a_quaternion_is_scipys_whatever_its_length(
    shape: tuple[int, ...], random_quats: Quats, oracle_matrix: Matrix
) -> None:
    quats = random_quats(shape)
    for scale in (1.0, 1e-200, 1e200, 3.0):
        np.testing.assert_allclose(transforms.matrix_from_quat(scale * quats), oracle_matrix(quats), atol=1e-15)


def test_quaternion_of_a_matrix_is_the_one_it_was_made_of_up_to_sign(
    shape: tuple[int, ...], random_quats: Quats, oracle_matrix: Matrix
) -> None:
    quats = random_quats(shape)
    back = transforms.quat_from_matrix(oracle_matrix(quats))
    assert back.shape == quats.shape
    assert (back[..., 3] >= 0.0).all()
    np.testing.assert_allclose(np.abs((back * quats).sum(axis=-1)), 1.0, atol=1e-15)
    sign = np.sign((back * quats).sum(axis=-1))[..., np.newaxis]
    np.testing.assert_allclose(back * sign, quats, atol=2e-15)


def test_rpy_is_about_fixed_axes_and_gives_the_matrix_back_even_at_gimbal_lock(
    shape: tuple[int, ...], random_quats: Quats, oracle_matrix: Matrix
) -> None:
    matrices = oracle_matrix(random_quats(shape))
    rpy = transforms.rpy_from_matrix(matrices)
    assert rpy.shape == (*shape, 3)
    assert (np.abs(rpy[..., 1]) <= np.pi / 2).all()
    for made in (transforms.matrix_from_rpy(rpy), transforms.matrix_from_quat(transforms.quat_from_rpy(rpy))):
        np.testing.assert_allclose(made, matrices, atol=4e-15)
    flat = rpy.reshape(-1, 3)
    if len(flat):
        oracle = Rotation.from_euler("xyz", flat).as_matrix()
        np.testing.assert_allclose(transforms.matrix_from_rpy(flat), oracle, atol=1e-15)


def test_rpy_away_from_gimbal_lock_is_scipys() -> None:
    rng = np.random.default_rng(0)
    rpy = rng.uniform([-np.pi, -1.55, -np.pi], [np.pi, 1.55, np.pi], size=(200, 3))
    matrices = Rotation.from_euler("xyz", rpy).as_matrix()
    np.testing.assert_allclose(transforms.rpy_from_matrix(matrices), rpy, atol=1e-12)
    np.testing.assert_allclose(transforms.rpy_from_quat(Rotation.from_matrix(matrices).as_quat()), rpy, atol=1e-12)


def test_product_inverse_and_application_are_those_of_the_matrices(
    shape: tuple[int, ...], rng: np.random.Generator, random_quats: Quats, oracle_matrix: Matrix
) -> None:
    a, b, v = random_quats(shape), random_quats(shape), rng.normal(size=(*shape, 3))
    A, B = oracle_matrix(a), oracle_matrix(b)
    np.testing.assert_allclose(transforms.matrix_from_quat(transforms.quat_multiply(a, b)), A @ B, atol=3e-15)
    np.testing.assert_allclose(
        transforms.matrix_from_quat(transforms.quat_conjugate(a)), np.swapaxes(A, -1, -2), atol=2e-15
    )
    np.testing.assert_allclose(transforms.quat_rotate(a, v), (A @ v[..., np.newaxis])[..., 0], atol=1e-14)


def test_angle_between_rotations_is_right_to_rounding_when_tiny_and_ignores_the_sign(
    rng: np.random.Generator, random_quats: Quats
) -> None:
    q0 = random_quats((60,))
    angles = rng.choice([0.0, 1e-12, 1e-8, 1e-3, 1.0, np.pi - 1e-9, np.pi], size=60)
    axes = rng.normal(size=(60, 3))
    vectors = angles[:, np.newaxis] * axes / np.linalg.norm(axes, axis=1, keepdims=True)
    q1 = (Rotation.from_quat(q0) * Rotation.from_rotvec(vectors)).as_quat()
    for other in (q1, -q1):
        np.testing.assert_allclose(transforms.quat_angle(q0, other), angles, rtol=1e-12, atol=2e-15)


def test_slerp_is_scipys_and_takes_the_short_way(rng: np.random.Generator, random_quats: Quats) -> None:
    q0, q1, shares = random_quats((60,)), random_quats((60,)), rng.uniform(size=60)
    q1[::5] = -q0[::5]
    q1[1::5] = (Rotation.from_quat(q0[1::5]) * Rotation.from_rotvec(rng.normal(size=(12, 3)) * 1e-9)).as_quat()
    for a, b, t in zip(q0, q1, shares, strict=True):
        if transforms.quat_angle(a, b) > np.pi - 1e-3:
            continue  # the short way is not unique, and its choice not scipy's
        oracle = Slerp([0.0, 1.0], Rotation.from_quat([a, b]))(t).as_matrix()
        np.testing.assert_allclose(transforms.matrix_from_quat(transforms.quat_slerp(a, b, t)), oracle, atol=2e-15)
    np.testing.assert_allclose(transforms.quat_angle(transforms.quat_slerp(q0, q1, 0.0), q0), 0.0, atol=1e-14)
    np.testing.assert_allclose(transforms.quat_angle(transforms.quat_slerp(q0, q1, 1.0), q1), 0.0, atol=1e-14)


def test_slerp_over_a_half_turn_keeps_its_speed() -> None:
    a, b = np.array([0.0, 0.0, 0.0, 1.0]), np.array([0.0, 0.0, 1.0, 0.0])
    half = transforms.quat_slerp(a, b, 0.5)
    assert transforms.quat_angle(a, half) == pytest.approx(np.pi / 2)
    assert transforms.quat_angle(half, b) == pytest.approx(np.pi / 2)


def test_rotation_about_an_axis_is_scipys(shape: tuple[int, ...], rng: np.random.Generator) -> None:
    axis = rng.normal(size=(*shape, 3)) * 10.0 ** rng.uniform(-200, 200, size=(*shape, 1))
    angle = np.where(rng.uniform(size=shape) < 0.3, 1e-9, 4.0) * rng.uniform(-1, 1, size=shape)
    made = transforms.rotation_about(axis, angle)
    assert made.shape == (*shape, 3, 3)
    direction = (axis / np.abs(axis).max(axis=-1, keepdims=True)).reshape(-1, 3)
    if len(direction):
        direction /= np.linalg.norm(direction, axis=1, keepdims=True)
        oracle = Rotation.from_rotvec(direction * angle.reshape(-1, 1)).as_matrix()
        np.testing.assert_allclose(made.reshape(-1, 3, 3), oracle, atol=2e-15)


def test_rotation_vectors_go_there_and_back(random_quats: Quats, oracle_matrix: Matrix) -> None:
    quats = random_quats((60,))
    vectors = transforms.rotvec_from_quat(quats)
    np.testing.assert_allclose(Rotation.from_rotvec(vectors).as_matrix(), oracle_matrix(quats), atol=3e-15)
    np.testing.assert_allclose(transforms.quat_angle(transforms.quat_from_rotvec(vectors), quats), 0.0, atol=4e-15)


def test_smallest_rotation_from_z_takes_z_to_the_axis_by_the_angle_between_them(rng: np.random.Generator) -> None:
    axes = rng.normal(size=(90, 3))
    axes[::3] = [0.0, 0.0, 1.0] + rng.normal(size=(30, 3)) * 10.0 ** rng.uniform(-12, -2, size=(30, 1))
    axes[1::3] = [0.0, 0.0, -1.0] + rng.normal(size=(30, 3)) * 10.0 ** rng.uniform(-12, -2, size=(30, 1))
    axes /= np.linalg.norm(axes, axis=1, keepdims=True)
    made = transforms.rotation_from_z(axes)
    np.testing.assert_allclose(made @ [0.0, 0.0, 1.0], axes, atol=1e-15)
    np.testing.assert_allclose(made @ np.swapaxes(made, 1, 2), np.broadcast_to(np.eye(3), made.shape), atol=1e-14)
    between = np.arctan2(np.hypot(axes[:, 0], axes[:, 1]), axes[:, 2])
    np.testing.assert_allclose(Rotation.from_matrix(made).magnitude(), between, atol=1e-7)


def test_smallest_rotation_to_z_and_minus_z_is_none_and_the_half_turn_about_x() -> None:
    made = transforms.rotation_from_z([[0.0, 0.0, 5.0], [0.0, 0.0, -1.0]])
    np.testing.assert_array_equal(made[0], np.eye(3))
    np.testing.assert_array_equal(made[1], np.diag([1.0, -1.0, -1.0]))


def test_q_and_minus_q_have_one_canonical_form() -> None:
    quats = np.array([[0.0, 0.0, 1.0, 0.0], [1.0, 0.0, 0.0, 0.0], [0.6, -0.8, 0.0, 0.0], [0.5, 0.5, -0.5, -0.5]])
    np.testing.assert_array_equal(transforms.quat_canonical(quats), transforms.quat_canonical(-quats))
    np.testing.assert_array_equal(transforms.quat_canonical(quats)[1], [1.0, 0.0, 0.0, 0.0])


def test_leading_axes_broadcast(random_quats: Quats) -> None:
    rng = np.random.default_rng(0)
    a, b = random_quats((5, 1)), random_quats((7,))
    assert transforms.quat_multiply(a, b).shape == (5, 7, 4)
    assert transforms.quat_angle(a, b).shape == (5, 7)
    assert transforms.quat_slerp(a, b, rng.uniform(size=(2, 1, 1))).shape == (2, 5, 7, 4)
    assert transforms.rotation_about([0.0, 0.0, 1.0], rng.uniform(size=(2, 3))).shape == (2, 3, 3, 3)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: transforms.matrix_from_quat([0.0, 0.0, np.nan, 1.0]), r"quat_xyzw: not finite: nan at index \(2,\)"),
        (lambda: transforms.matrix_from_quat(np.zeros((3, 4))), r"quat_xyzw: all components are zero at index \(0,\)"),
        (
            lambda: transforms.matrix_from_quat([0.0, 0.0, 1.0]),
            r"quat_xyzw: expected shape \(\.\.\., 4\), got \(3,\)",
        ),
        (lambda: transforms.matrix_from_quat("abcd"), "quat_xyzw: not an array of numbers"),
        (lambda: transforms.matrix_from_quat([1j, 0, 0, 1]), "quat_xyzw: not an array of numbers"),
        (lambda: transforms.matrix_from_quat([[1, 2], [3]]), "quat_xyzw: not an array of numbers"),
        (lambda: transforms.rotation_about([0, 0, 0], 1.0), "axis: all components are zero"),
        (lambda: transforms.rotation_about([0, 0, 1], np.inf), "angle: not finite: inf"),
        (lambda: transforms.rpy_from_matrix(np.eye(4)), r"R: expected shape \(\.\.\., 3, 3\), got \(4, 4\)"),
        (lambda: transforms.quat_from_rpy([0.0, np.nan, 0.0]), r"rpy: not finite: nan at index \(1,\)"),
    ],
)
def test_an_argument_that_cannot_be_used_is_named(call: Callable[[], object], message: str) -> None:
    with pytest.raises(ArrayError, match=message):
        call()
