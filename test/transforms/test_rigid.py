# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Rigid transforms, twists and wrenches against pinocchio's SE3."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pytest

from robot_semantics import transforms
from robot_semantics.base.errors import ArrayError

pinocchio = pytest.importorskip("pinocchio")
FloatArray = npt.NDArray[np.float64]

Transforms = Callable[[tuple[int, ...]], FloatArray]


@pytest.fixture
def random_transforms(
    rng: np.random.Generator, random_quats: Transforms, oracle_matrix: Callable[[FloatArray], FloatArray]
) -> Transforms:
    """Return the maker of (*shape, 4, 4) transforms."""

    def make(shape: tuple[int, ...]) -> FloatArray:
        T = np.zeros((*shape, 4, 4))
        T[..., :3, :3] = oracle_matrix(random_quats(shape))
        T[..., :3, 3] = rng.normal(size=(*shape, 3)) * 10.0 ** rng.uniform(-6, 2, size=(*shape, 1))
        T[..., 3, 3] = 1.0
        return T

    return make


def test_inverse_and_product_are_pinocchios(shape: tuple[int, ...], random_transforms: Transforms) -> None:
    A, B = random_transforms(shape), random_transforms(shape)
    inverse, product = transforms.invert(A), transforms.compose(A, B)
    assert inverse.shape == product.shape == (*shape, 4, 4)
    for index in np.ndindex(*shape):
        a, b = pinocchio.SE3(A[index]), pinocchio.SE3(B[index])
        np.testing.assert_allclose(inverse[index], a.inverse().homogeneous, atol=1e-13)
        np.testing.assert_allclose(product[index], (a * b).homogeneous, atol=1e-13)


def test_pose_vectors_go_there_and_back_as_pinocchio_writes_them(
    shape: tuple[int, ...], random_transforms: Transforms
) -> None:
    T = random_transforms(shape)
    pose = transforms.xyz_quat_from_matrix(T)
    assert pose.shape == (*shape, 7)
    for index in np.ndindex(*shape):
        oracle = pinocchio.SE3ToXYZQUAT(pinocchio.SE3(T[index]))
        np.testing.assert_array_equal(pose[index][:3], oracle[:3])
        assert abs(pose[index][3:] @ oracle[3:]) == pytest.approx(1.0, abs=1e-15)
    np.testing.assert_allclose(transforms.matrix_from_pose(pose), T, atol=2e-15)
    xyz_rpy = transforms.xyz_rpy_from_matrix(T)
    np.testing.assert_allclose(transforms.matrix_from_xyz_rpy(xyz_rpy[..., :3], xyz_rpy[..., 3:]), T, atol=4e-15)


def test_points_map_as_the_matrix_says(
    shape: tuple[int, ...], rng: np.random.Generator, random_transforms: Transforms
) -> None:
    T, points = random_transforms(shape), rng.normal(size=(*shape, 3))
    mapped = transforms.transform_points(T, points)
    for index in np.ndindex(*shape):
        np.testing.assert_allclose(mapped[index], pinocchio.SE3(T[index]).act(points[index]), atol=1e-13)


def test_twists_move_between_frames_as_pinocchios(
    shape: tuple[int, ...], rng: np.random.Generator, random_transforms: Transforms
) -> None:
    T, twist = random_transforms(shape), rng.normal(size=(*shape, 6))
    moved = transforms.transport_twist(T, twist)
    for index in np.ndindex(*shape):
        a = pinocchio.SE3(T[index])
        np.testing.assert_allclose(moved[index], a.actInv(pinocchio.Motion(twist[index])).vector, atol=1e-11)


def moved_by(T: FloatArray, twist: FloatArray, time: float) -> FloatArray:
    """Return `T` after `time` at constant `twist` of its origin, in the parent's axes."""
    after: FloatArray = T.copy()
    after[:3, :3] = pinocchio.exp3(twist[3:] * time) @ T[:3, :3]
    after[:3, 3] += twist[:3] * time
    return after


def inverse(T: FloatArray) -> FloatArray:
    inverted: FloatArray = pinocchio.SE3(T).inverse().homogeneous
    return inverted


def rate(before: FloatArray, after: FloatArray, span: float) -> FloatArray:
    """Return the twist (6,) in the parent's axes that leads from one pose to the other."""
    angular = pinocchio.log3(after[:3, :3] @ before[:3, :3].T) / span
    twist: FloatArray = np.concatenate(((after[:3, 3] - before[:3, 3]) / span, angular))
    return twist


def test_composed_and_inverted_twists_are_the_rates_of_composed_and_inverted_poses(
    rng: np.random.Generator, random_transforms: Transforms
) -> None:
    step = 1e-6
    for _ in range(30):
        A, B = random_transforms((1,))[0], random_transforms((1,))[0]
        A[:3, 3], B[:3, 3] = rng.normal(size=3), rng.normal(size=3)
        a, b = rng.normal(size=6), rng.normal(size=6)
        composed = rate(
            moved_by(A, a, -step) @ moved_by(B, b, -step), moved_by(A, a, step) @ moved_by(B, b, step), 2 * step
        )
        np.testing.assert_allclose(transforms.compose_twists(A, a, B, b), composed, atol=1e-7)
        inverted = rate(inverse(moved_by(A, a, -step)), inverse(moved_by(A, a, step)), 2 * step)
        np.testing.assert_allclose(transforms.invert_twist(A, a), inverted, atol=1e-7)


def test_a_twist_in_other_axes_keeps_its_point() -> None:
    R = transforms.rotation_about([0, 0, 1], np.pi / 2)
    np.testing.assert_allclose(transforms.rotate_twist(R, [1, 0, 0, 0, 2, 0]), [0, 1, 0, -2, 0, 0], atol=1e-15)


def test_a_transform_of_the_wrong_shape_or_with_nan_is_refused() -> None:
    with pytest.raises(ArrayError, match=r"T: expected shape \(\.\.\., 4, 4\), got \(3, 3\)"):
        transforms.invert(np.eye(3))
    T = np.eye(4)
    T[1, 3] = np.nan
    with pytest.raises(ArrayError, match=r"B: not finite: nan at index \(1, 3\)"):
        transforms.compose(np.eye(4), T)
    with pytest.raises(ArrayError, match=r"twist_a: expected shape \(\.\.\., 6\), got \(3,\)"):
        transforms.transport_twist(np.eye(4), [0, 0, 0])


def test_the_distance_of_transforms_is_that_of_their_origins_and_the_angle_between_them(
    random_transforms: Transforms,
) -> None:
    A, B = random_transforms((50,)), random_transforms((50,))
    off, angle = transforms.transform_distance(A, B)
    for one, other, metres, radians in zip(A, B, off, angle, strict=True):
        motion = pinocchio.log3(one[:3, :3].T @ other[:3, :3])
        assert metres == pytest.approx(np.linalg.norm(other[:3, 3] - one[:3, 3]))
        assert radians == pytest.approx(np.linalg.norm(motion), abs=1e-7)
