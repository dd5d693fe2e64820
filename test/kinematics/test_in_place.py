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
        np.testing.assert_allclose(matrix_from_pose(values), general.matrices(q), atol=1e-14)
        np.testing.assert_allclose((values[:, 3:] ** 2).sum(axis=-1), 1.0, atol=1e-14)
