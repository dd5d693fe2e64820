"""Robots and worlds that the tests of this room share."""

from __future__ import annotations

from pathlib import Path

import pytest

from robot_semantics.examples import example
from robot_semantics.model.loading import load_robot
from robot_semantics.model.robot_model import RobotModel


@pytest.fixture(scope="session")
def robots() -> Path:
    """The folder of the robots of example-robot-data."""
    from support.worlds import ROBOTS

    if not ROBOTS.is_dir():
        pytest.skip("example-robot-data is not installed (pip install 'robot_semantics[test]')")
    return ROBOTS


@pytest.fixture(scope="session")
def rover_robot() -> RobotModel:
    """The example's rover."""
    return load_robot(example("rover_arm.urdf"), example("rover_arm.srdf"))
