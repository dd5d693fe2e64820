# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The demo shows the documented result, or fails with a reason and exit code 1."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("mujoco", reason="MuJoCo is not installed (pip install '.[mujoco]')")

from support.nodes import SHARE

from robot_semantics import read_world

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.ros


def run_demo(domain: int, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=ROOT,
        env={**os.environ, "DEMO_ROS_DOMAIN_ID": str(domain)},
        capture_output=True,
        text=True,
        timeout=110,
        check=False,
    )


@pytest.mark.slow
def test_it_ends_well(domain: int) -> None:
    if not (SHARE / "example-robot-data").is_dir():
        pytest.skip("example-robot-data is not installed (pip install '.[test]')")
    done = run_demo(domain, "-m", "demo")
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines()[-1] == "demo: ok"
    assert "process" in done.stdout
    state = read_world(ROOT / "build" / "demo" / "snapshot.usdf")
    assert {model.name for model in state.models} == {"pr2", "block"}
    assert state.engines
    tree = (ROOT / "build" / "demo" / "tf_tree.txt").read_text()
    assert tree.splitlines()[0].startswith("odom_combined")
    assert "not on TF" not in tree


# The simulator gets a time step that it refuses, so its process ends immediately.
BROKEN = """
import sys
from demo import __main__ as demo, processes
start = processes.Processes.start
processes.Processes.start = lambda self, program, parameters, name: start(
    self, program, {**parameters, "timestep": -1.0} if name == "simulator-1" else parameters, name
)
sys.exit(demo.main())
"""


def test_it_fails_with_a_reason(domain: int) -> None:
    done = run_demo(domain, "-c", BROKEN)
    assert done.returncode == 1
    assert "demo: ok" not in done.stdout
    assert "demo: failed: simulator-1 has ended with exit code 1: " in done.stderr
    assert "parameter 'timestep' must be greater than 0" in done.stderr
    assert "Traceback" not in done.stderr
