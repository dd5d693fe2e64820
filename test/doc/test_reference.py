# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The generated reference of parameters, topics, services and interfaces is current."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("rclpy")
pytest.importorskip("mujoco")

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.ros
def test_the_reference_is_current(ros_domain: int) -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "tools" / "reference.py"), "--check"],
        capture_output=True,
        text=True,
        env={**os.environ, "ROS_DOMAIN_ID": str(ros_domain)},
        timeout=110,
        check=False,
    )
    assert done.returncode == 0, f"run tools/reference.py:\n{done.stdout}{done.stderr}"


@pytest.mark.ros
def test_it_names_every_parameter_and_interface() -> None:
    from robot_semantics.ros.node import parameters

    text = (ROOT / "doc" / "reference.md").read_text()
    names = [item.name for item in (*parameters.NODE, *parameters.ROBOT)]
    names += [f"virtual_joints.NAME.{item.name}" for item in parameters.VIRTUAL_JOINT]
    assert [name for name in names if f"| `{name}` |" not in text] == []
    for kind in ("msg", "srv", "action"):
        for path in (ROOT / "interfaces" / kind).iterdir():
            assert path.stem in text
