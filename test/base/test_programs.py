# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Programs whose parts are missing report this in one line."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest


@pytest.mark.parametrize(
    ("program", "module", "said"),
    [
        ("mujoco_world", "mujoco", "pip install '.[mujoco]'"),
        ("mujoco_world", "rclpy", "source a ROS 2 workspace"),
        ("mujoco_world", "robot_semantics_interfaces", "source a ROS 2 workspace"),
        ("robot_semantics_node", "rclpy", "source a ROS 2 workspace"),
        ("robot_semantics_lifecycle_node", "tf2_msgs", "source a ROS 2 workspace"),
    ],
)
def test_what_is_missing_is_named_with_where_it_comes_from(program: str, module: str, said: str) -> None:
    code = f"""import sys
sys.modules[{module!r}] = None
from robot_semantics.ros.__main__ import {program}
sys.exit({program}())"""
    # In a workspace advice is another one.
    environment = {name: value for name, value in os.environ.items() if name != "AMENT_PREFIX_PATH"}
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 1, done.stderr
    (line,) = done.stderr.splitlines()
    assert module in line
    assert said in line


@pytest.mark.parametrize(
    "program",
    ["ros.__main__", "cli.main"],
)
def test_a_program_imports_hardly_anything_before_it_takes_care_of_signals(program: str) -> None:
    # Imports of every installed program's script, including signal names of the standard library.
    code = f"""import sys, contextlib, os, re, signal
known = set(sys.modules)
import robot_semantics.{program}
print(*sorted(set(sys.modules) - known))"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    own = {f"robot_semantics.{program}".rsplit(".", count)[0] for count in range(len(program.split(".")) + 1)}
    running = {"robot_semantics.ros.running", "robot_semantics.ros.running.program"}
    assert set(done.stdout.split()) <= own | running | {"__future__"}
