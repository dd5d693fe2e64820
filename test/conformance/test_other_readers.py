"""The wrappers of other readers answer with what their libraries compute."""

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
