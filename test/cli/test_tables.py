# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Tables on narrow terminals and in pipes, dust in numbers and plots, the scale of pictures."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from support.commands import RunCommand
from support.terminal import on_a_terminal

from robot_semantics.cli.usdf.views import numbers_text

LONG = "a_name_of_thirty_characters"
TABLES = [
    ["usdf", "resolve", "world.usdf"],
    ["usdf", "resolve", "world.usdf", "--links", "rover_arm"],
    ["usdf", "show", "world.usdf"],
    ["groups", "robot.urdf", "robot.srdf"],
    ["groups", "robot.urdf", "robot.srdf", "arm"],
    ["fk", "robot.urdf"],
    ["diff", "world.usdf", "other.usdf"],
]


@pytest.fixture
def named(folder: Path) -> Path:
    """Return the folder, in which names are long."""
    for name in ("robot.urdf", "robot.srdf", "world.usdf"):
        text = (folder / name).read_text()
        for word in ("upper_arm_link", "elbow_joint", "block_1"):
            text = text.replace(f'"{word}"', f'"{LONG}_{word[0]}"')
        (folder / name).write_text(text.replace("rover_arm.urdf", "robot.urdf").replace("rover_arm.srdf", "robot.srdf"))
    (folder / "other.usdf").write_text((folder / "world.usdf").read_text().replace("<pose>0 0 0", "<pose>1 0 0"))
    return folder


@pytest.mark.parametrize("words", TABLES, ids=" ".join)
def test_a_table_fits_a_narrow_terminal_without_a_cut_inside_a_name(words: list[str], named: Path) -> None:
    text = on_a_terminal([*words, "--quiet"], 60)
    assert max(len(line.rstrip()) for line in text.splitlines()) <= 60, text
    wide = on_a_terminal([*words, "--quiet"], 240)
    names = [word for word in wide.split() if LONG in word]
    assert names or words[0] in ("diff", "groups")
    for name in names:
        assert name in text, name


@pytest.mark.parametrize("words", TABLES, ids=" ".join)
def test_a_table_in_a_pipe_has_no_blanks_at_the_end_of_its_lines(
    words: list[str], named: Path, run: RunCommand
) -> None:
    lines = run(*words).out.splitlines()
    assert lines
    assert [line for line in lines if line != line.rstrip()] == []
    assert max(map(len, lines)) < 240


def test_dust_prints_as_0_and_json_has_all_digits(folder: Path, run: RunCommand) -> None:
    assert numbers_text((-1.90808e-20, 1e-11, 0.5)) == "0 1e-11 0.5"
    (folder / "dust.usdf").write_text(
        '<world_state><model_state name="m"><pose>1e-18 0 -1e-18 0 0 0</pose></model_state></world_state>'
    )
    text = run("usdf", "resolve", "dust.usdf").out
    assert "0 0 0" in text
    assert "e-" not in text
    assert "1e-18" in run("usdf", "resolve", "dust.usdf", "--json").out
    assert "-0.000000" not in run("fk", "robot.urdf").out


def test_a_plot_does_not_scale_dust_to_its_full_height(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    figure = pytest.importorskip("matplotlib.figure")
    from robot_semantics.viewer.plotting import LEAST_RANGE, _widen

    axis = figure.Figure().subplots()
    axis.plot([0.0, 1.0, 2.0], [1e-18, -1e-18, 1e-18])
    _widen(axis)
    low, high = axis.get_ylim()
    assert high - low == pytest.approx(LEAST_RANGE)
    axis.plot([0.0, 1.0], [0.0, 1.0])
    axis.relim()
    axis.autoscale(True)
    _widen(axis)
    low, high = axis.get_ylim()
    assert high - low > 1.0


def test_the_scale_bar_has_the_length_that_the_camera_projects() -> None:
    from robot_semantics.viewer.picture import fit_camera, scale_bar

    points = np.array([[x, y, z] for x in (0.0, 2.0) for y in (0.0, 1.0) for z in (0.0, 3.0)])
    for factor in (1e-3, 1.0, 250.0):
        camera = fit_camera(points * factor, (800, 600), 0.4, 0.3)
        length, pixels = scale_bar(points * factor, camera)
        depth = float(camera.project(points * factor)[:, 2].mean())
        ends = np.array([[0.0, 0.0, depth], [length, 0.0, depth]])
        R, t = camera.T_camera_world[:3, :3], camera.T_camera_world[:3, 3]
        projected = camera.project((ends - t) @ R)
        assert pixels == pytest.approx(projected[1, 0] - projected[0, 0])
        assert 0.09 * 800 < pixels <= 0.2501 * 800
        assert length / 10.0 ** np.floor(np.log10(length) + 1e-12) == pytest.approx(
            min((1.0, 2.0, 5.0), key=lambda step: abs(length / 10.0 ** np.floor(np.log10(length) + 1e-12) - step))
        )
