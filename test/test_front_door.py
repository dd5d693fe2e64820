# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The package's own namespace: every name is there, and nothing heavy is loaded before it is asked for."""

from __future__ import annotations

import subprocess
import sys

import pytest

import robot_semantics


def test_every_name_can_be_imported() -> None:
    for name in robot_semantics.__all__:
        assert getattr(robot_semantics, name).__name__ == name


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'naQQQme'"):
        _ = robot_semantics.naQQQme
    with pytest.raises(AttributeError, match="no attribute 'load_robo'; did you mean 'load_robot'"):
        _ = robot_semantics.load_robo


def test_importing_the_package_loads_no_heavy_module() -> None:
    heavy = ("numpy", "lxml", "rclpy", "mujoco", "rich")
    code = f"import sys, robot_semantics; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
