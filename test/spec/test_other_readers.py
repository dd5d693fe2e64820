# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The wrappers of other readers return the results of their libraries."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pytest

CONFORMANCE = Path(__file__).parent.parent.parent / "conformance"


@pytest.mark.parametrize(
    ("reader", "library"),
    [
        ("urdf_parser_py", "urdf_parser_py"),
        ("yourdfpy_reader", "yourdfpy"),
        ("urchin_reader", "urchin"),
        ("pinocchio_reader", "pinocchio"),
        ("mujoco_reader", "mujoco"),
        ("drake_reader", "pydrake"),
        # Not in the test environment: run where somebody has them.
        ("linkforge_reader", "linkforge"),
        ("scikit_robot", "skrobot"),
    ],
)
def test_a_wrapper_tells_the_poses_and_refusals_of_its_library(reader: str, library: str) -> None:
    if importlib.util.find_spec(library) is None:
        pytest.skip(f"{library} is not installed")
    chain = CONFORMANCE / "urdf" / "R3.2-accepts-a-chain-of-origins.urdf"
    faulty = CONFORMANCE / "urdf" / "R1.6-rejects-two-numbers.urdf"
    answers = subprocess.run(
        [sys.executable, CONFORMANCE / "readers" / f"{reader}.py"],
        input=f"urdf\t{chain}\t\t\nusdf\t{chain}\t\t\nurdf\t{faulty}\t\t\n",
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    read, other, refused = map(json.loads, answers)
    assert read["robot"]["name"] == "r"
    expected = json.loads(chain.with_suffix(".json").read_text())["answer"]["poses"]
    for link in read.get("poses", {}).keys() & expected.keys():
        assert read["poses"][link][:3] == pytest.approx(expected[link][:3], abs=1e-9)
    assert other == {"unsupported": True}
    assert refused.get("refused")
