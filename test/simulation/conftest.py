# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Robots and worlds that the tests of this room share."""

from __future__ import annotations

from pathlib import Path

import pytest

from robot_semantics import RobotModel
from robot_semantics.examples import example
from robot_semantics.model.loading import load_robot


@pytest.fixture(scope="session")
def robots() -> Path:
    """The folder of the robots of example-robot-data."""
    from support.worlds import ROBOTS

    if not ROBOTS.is_dir():
        pytest.skip("example-robot-data is not installed (pip install '.[test]')")
    return ROBOTS


@pytest.fixture(scope="session")
def rover_robot() -> RobotModel:
    """The example's rover."""
    return load_robot(example("rover_arm.urdf"), example("rover_arm.srdf"))
