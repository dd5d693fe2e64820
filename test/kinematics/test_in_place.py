"""The transforms of the hot path are those of the general form."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from robot_semantics.kinematics.in_place import InPlaceTransforms
from robot_semantics.kinematics.local import LocalTransforms
from robot_semantics.model.robot_model import RobotModel
from robot_semantics.transforms import matrix_from_pose

MIXED = ("revolute", "continuous", "prismatic", "planar", "floating", "fixed")


@pytest.mark.parametrize("types", [MIXED, ("revolute",), ("prismatic",), ("planar",), ("floating",), ("fixed",)])
def test_updated_values_are_the_general_transforms_without_following(
    random_robot: Callable[..., RobotModel], rng: np.random.Generator, types: tuple[str, ...]
) -> None:
    model = random_robot(25, types)
    chosen = [int(row) for row in rng.permutation(25)[:15]]
    general = LocalTransforms(model, [model.joints[row].name for row in chosen], follow_mimics=False)
    in_place = InPlaceTransforms(model, chosen)
    for _ in range(5):
        q = general.space.random(rng)
        values = in_place.update(q)
        assert values is in_place.values
        poses = values.reshape(-1, 7)
        np.testing.assert_allclose(matrix_from_pose(poses), general.matrices(q), atol=1e-14)
        np.testing.assert_allclose((poses[:, 3:] ** 2).sum(axis=-1), 1.0, atol=1e-14)


def test_values_go_where_they_are_told_to_and_nowhere_else(
    random_robot: Callable[..., RobotModel], rng: np.random.Generator
) -> None:
    model = random_robot(25)
    chosen = [int(row) for row in rng.permutation(25)[:15]]
    own = InPlaceTransforms(model, chosen)
    target = np.full(200, 7.5)
    places = rng.permutation(200)[: 15 * 7].reshape(15, 7)
    told = InPlaceTransforms(model, chosen, target, places)
    for _ in range(3):
        q = LocalTransforms(model).space.random(rng)
        assert told.update(q) is target
        np.testing.assert_array_equal(target[places].ravel(), own.update(q))
        np.testing.assert_array_equal(np.delete(target, places.ravel()), 7.5)
