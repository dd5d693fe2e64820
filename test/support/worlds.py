# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Robots and worlds that the tests of this room share."""

from __future__ import annotations

import sysconfig
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("mujoco", reason="MuJoCo is not installed (pip install '.[mujoco]')")

from robot_semantics import read_world
from robot_semantics.examples import example
from robot_semantics.model.joint_types import JointType
from robot_semantics.model.loading import load_robot, robot_from_text
from robot_semantics.model.resources import PackageResolver
from robot_semantics.simulation.loading import world_from_state
from robot_semantics.simulation.mujoco import MujocoSimulator
from robot_semantics.simulation.world_spec import ModelSpec, WorldSpec
from robot_semantics.transforms.pose import Pose, pose_from_quaternion

SHARE = Path(sysconfig.get_path("purelib")) / "cmeel.prefix" / "share"
ROBOTS = SHARE / "example-robot-data" / "robots"
RESOLVER = PackageResolver([SHARE])


def find_mesh_beside(urdf: Path) -> Callable[[str], Path]:
    """Return the finder of a robot's meshes."""
    return lambda uri: RESOLVER.resolve(uri, urdf)


def model_from_files(name: str, urdf: Path, srdf: Path | None = None, base: JointType = JointType.FIXED) -> ModelSpec:
    """Return a robot of a file as part of a world."""
    robot = load_robot(urdf, srdf, strict=False)
    return ModelSpec(name, robot, find_mesh_beside(urdf), base, str(urdf), None if srdf is None else str(srdf))


def model_from_text(name: str, urdf: str, srdf: str | None = None, base: JointType = JointType.FIXED) -> ModelSpec:
    """Return a robot of a text as part of a world."""
    return ModelSpec(name, robot_from_text(urdf, srdf, strict=False), base=base)


def example_world() -> MujocoSimulator:
    """Return a simulator of the example world, in its initial state."""
    path = example("rover_arm.usdf")
    state = read_world(path)
    simulator = MujocoSimulator(world_from_state(state, path))
    assert simulator.restore(state).applied
    return simulator


def block(name: str = "block") -> ModelSpec:
    """Return the example's free block."""
    return model_from_files(name, example("block.urdf"), example("block.srdf"))


def rover(name: str = "rover") -> ModelSpec:
    """Return the example's rover."""
    return model_from_files(name, example("rover_arm.urdf"), example("rover_arm.srdf"))


def world(*models: ModelSpec, **options: Any) -> MujocoSimulator:
    """Return a simulator of some models."""
    return MujocoSimulator(WorldSpec(models, **options))


def pose_at(xyz: Any, quat_xyzw: Any = (0.0, 0.0, 0.0, 1.0)) -> Pose:
    """Return a pose, by default upright."""
    return pose_from_quaternion([float(value) for value in xyz], [float(value) for value in quat_xyzw])


def close(actual: Any, expected: Any, atol: float = 1e-12) -> None:
    """Assert that all values are within an absolute tolerance."""
    np.testing.assert_allclose(np.asarray(actual, dtype=float), np.asarray(expected, dtype=float), atol=atol, rtol=0.0)
