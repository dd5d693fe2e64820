# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Recordings of robots with closed loops: passive joints follow along the series, on their branch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.loops import FOUR_BAR, four_bar_positions, four_bar_text, joint, srdf

from robot_semantics.cli.main import main


@pytest.mark.parametrize("side", [1.0, -1.0])
def test_an_export_closes_the_loops_at_every_time(tools: Any, side: float, capsys: pytest.CaptureFixture[str]) -> None:
    tape = tools.Tape()
    step, count = 10_000_000, 700
    theta = 0.03 * np.arange(count, dtype=np.float64)
    expected = four_bar_positions(FOUR_BAR, theta, side)
    # The passive joints are measured with noise in the first message only.
    tape.joints(tools.START, ["crank", "coupler", "rocker"], expected[0] + (0.0, 0.01, -0.01), (3.0, 0.0, 0.0))
    for k in range(1, count):
        tape.joints(tools.START + k * step, ["crank"], [theta[k]], (3.0,))
    bag = tape.write(tools.folder / "bag", "mcap")
    urdf, semantic = tools.folder / "robot.urdf", tools.folder / "robot.srdf"
    urdf.write_text(four_bar_text())
    semantic.write_text(srdf("coupler", "rocker"))
    out = tools.folder / "out.npz"
    files = ["--urdf", f"{urdf},{semantic}", "-o", str(out)]
    assert main(["export", str(bag), *files, "--at-topic", "/joint_states"]) == 0
    data = np.load(out)
    names = [key for key in data if key.endswith("positions")]
    positions = data[names[0]]
    assert len(positions) == count
    off = np.remainder(positions - expected[: len(positions)] + np.pi, 2.0 * np.pi) - np.pi
    assert np.abs(off).max() < 1e-9
    assert "measured up to 0.01" in capsys.readouterr().err


def test_a_mimic_joint_follows_a_passive_joint(tools: Any) -> None:
    """A flap mimics the rocker, which no message has; its place is the closed form of the rocker, times 2, plus 0.1."""
    tape = tools.Tape()
    step, count = 10_000_000, 300
    theta = 0.3 + 0.01 * np.arange(count, dtype=np.float64)
    expected = four_bar_positions(FOUR_BAR, theta, 1.0)
    tape.joints(tools.START, ["crank", "coupler", "rocker"], expected[0], (1.0, 0.0, 0.0))
    for k in range(1, count):
        tape.joints(tools.START + k * step, ["crank"], [theta[k]], (1.0,))
    bag = tape.write(tools.folder / "bag", "mcap")
    urdf, semantic = tools.folder / "robot.urdf", tools.folder / "robot.srdf"
    mimic = '<mimic joint="rocker" multiplier="2" offset="0.1"/>'
    flap = joint("flap", "continuous", "rocker_link", "flap_link", (0.1, 0.0, 0.0), (0.0, 0.0, 1.0), mimic)
    urdf.write_text(four_bar_text().replace("</robot>", f'<link name="flap_link"/>{flap}</robot>'))
    semantic.write_text(srdf("coupler", "rocker"))
    out = tools.folder / "out.npz"
    files = ["--urdf", f"{urdf},{semantic}", "-o", str(out)]
    assert main(["export", str(bag), *files, "--at-topic", "/joint_states"]) == 0
    data = np.load(out)
    (key,) = [key for key in data if key.endswith("positions")]
    (rates,) = [key for key in data if key.endswith("velocities")]
    (joints,) = [key for key in data if key.endswith("/joints")]
    column = data[joints].tolist().index("flap")
    off = data[key][:, column] - (2.0 * expected[:, 2] + 0.1)
    assert np.abs(np.remainder(off + np.pi, 2.0 * np.pi) - np.pi).max() < 1e-9
    # The crank turns by 1 rad/s: the rate of the closed form, by central differences.
    rate = 2.0 * np.gradient(np.unwrap(expected[:, 2]), theta)
    assert np.abs(data[rates][1:-1, column] - rate[1:-1]).max() < 1e-3
