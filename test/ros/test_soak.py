# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""A short cut of `make soak`: good messages come out, malformed ones are counted, nothing grows, nothing fails."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("rclpy", reason="rclpy is not installed (make setup, or a ROS 2 environment)")
pytestmark = [pytest.mark.ros, pytest.mark.slow]

ROOT = Path(__file__).parents[2]


def test_the_node_stands_twenty_seconds_of_good_and_malformed_messages(ros_domain: int) -> None:
    command = [sys.executable, "-m", "benchmark.soak", "--seconds", "20", "--times", "none"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=90, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.endswith("soak: ok\n")
    good = int(done.stdout.partition(" good messages")[0].rpartition("\n")[2].replace(",", ""))
    assert good > 5000
