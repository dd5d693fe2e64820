# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Every format of series goes through every command that reads or writes one."""

from __future__ import annotations

import random
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from robot_semantics import Diagnostics, WorldState, read_world
from robot_semantics.examples import FOLDER
from robot_semantics.recording.series.formats import FORMATS
from robot_semantics.viewer.opening import Opening, open_files

READABLE = [name for name, entry in FORMATS.items() if entry.readable]
FILES = {name: "folder" if name == "usdf" else f"series{entry.suffixes[0]}" for name, entry in FORMATS.items()}


@pytest.fixture
def world(tools: Any) -> Path:
    """Two states of the example world, a second apart; the lift moves by 0.05 m."""
    for file in FOLDER.glob("*.?[rs]df"):
        shutil.copy(file, tools.folder)
    text = (tools.folder / "rover_arm.usdf").read_text()
    later = text.replace('rs:time="0.000000000"', 'rs:time="1.000000000"').replace(
        "<positions>0.1</positions>", "<positions>0.15</positions>"
    )
    assert later.count("<positions>0.15</positions>") == 1
    (tools.folder / "later.usdf").write_text(later)
    assert (
        tools.run("bag", tools.folder / "rover_arm.usdf", tools.folder / "later.usdf", "-o", tools.folder / "rec")[0]
        == 0
    )
    return Path(tools.folder)


def export(tools: Any, name: str) -> Path:
    out = Path(tools.folder) / "out" / FILES[name]
    out.parent.mkdir(exist_ok=True)
    code, _, stderr = tools.run("export", tools.folder / "rec", "--every", "1", "-o", out)
    assert code == 0, stderr
    return out


def values(state: WorldState) -> dict[str, Any]:
    """Return the numbers of a state by their meaning."""
    found: dict[str, Any] = {}
    for model in state.models:
        assert model.pose is not None
        found[model.name] = (model.parent, model.pose.xyz_rpy[:3])
        found |= {f"{model.name}/{joint.name}": joint.positions for joint in model.joints}
    return found


def test_the_table_has_every_format_that_export_writes(tools: Any, world: Path) -> None:
    assert list(FORMATS) == ["usdf", "jsonl", "npz", "csv", "parquet"]
    for name in FORMATS:
        assert export(tools, name).exists()
    # A file of an earlier export may be replaced without --force.
    assert tools.run("export", world / "rec", "--every", "1", "-o", world / "out" / "series.csv")[0] == 0


@pytest.mark.parametrize("name", READABLE)
@pytest.mark.parametrize("capitals", [False, True])
def test_view_shows_all_robots_at_all_times(name: str, capitals: bool, tools: Any, world: Path) -> None:
    path = export(tools, name)
    if capitals and path.suffix:
        path = path.rename(path.with_suffix(path.suffix.upper()))
    problems = Diagnostics()
    scene = open_files([path], Opening(), problems)
    assert not problems.errors
    assert {actor.name for actor in scene.actors} == {"rover_arm", "block_1", "block_2", "block_3"}
    rover = scene.actor("rover_arm")
    lift = rover.kinematics.space.index["lift_joint"]
    assert [moment.stances["rover_arm"].q[lift] for moment in scene.moments] == [0.1, 0.15]


def test_view_shows_the_recording_as_it_shows_its_series(tools: Any, world: Path) -> None:
    scene = open_files([world / "rec"], Opening(), Diagnostics())
    lift = scene.actor("rover_arm").kinematics.space.index["lift_joint"]
    assert {actor.name for actor in scene.actors} == {"rover_arm", "block_1", "block_2", "block_3"}
    heights = [moment.stances["rover_arm"].q[lift] for moment in scene.moments]
    assert (heights[0], heights[-1]) == (0.1, pytest.approx(0.15, abs=2e-4))


@pytest.mark.parametrize("name", READABLE)
def test_plot_bag_and_export_read_it(name: str, tools: Any, world: Path) -> None:
    path = export(tools, name)
    code, stdout, stderr = tools.run("plot", path, "-o", world / "plot.svg")
    assert code == 0, stderr
    assert "at 2 times" in stdout
    code, _, stderr = tools.run("bag", path, "-o", world / "again")
    assert code == 0, stderr
    code, _, stderr = tools.run("export", world / "again", "--at", "1", "--strict", "-o", world / "back.usdf")
    assert code == 0, stderr
    code, _, stderr = tools.run("export", path, "--at", "1", "-o", world / "then.usdf")
    assert code == 0, stderr
    expected = values(read_world(world / "later.usdf"))
    for file in ("back.usdf", "then.usdf"):
        state = read_world(world / file)
        assert values(state) == expected, file
        assert state.model("rover_arm").twist == (0.4, 0.0, 0.0, 0.0, 0.0, 0.2)
        for model in state.models:
            assert model.description is not None
            assert (world / model.description).is_file()


@pytest.mark.parametrize("command", ["view --html x.html", "plot -o x.svg", "bag -o x", "export -o x.usdf"])
def test_a_format_that_is_only_written_is_refused_alike(command: str, tools: Any, world: Path) -> None:
    path = export(tools, "csv")
    words = [str(world / word) if word.startswith("x") else word for word in command.split()]
    code, _, stderr = tools.run(*words, path)
    assert code == 1
    assert "csv is only written, not read" in stderr


def refusal(tools: Any, path: Path) -> str:
    """Read a series and return its error; it must be one line with the name of the file."""
    code, out, stderr = tools.run("export", path, "--at", "1", "-o", path.with_suffix(".usdf"), "--force")
    if code == 0:
        return ""
    assert (code, out) == (1, "")
    assert stderr.count("\n") == 1, stderr
    assert stderr.startswith(f"error: {path}: "), stderr
    assert stderr.rstrip("\n").isprintable(), stderr
    return str(stderr)


def test_a_number_that_is_no_character_is_refused_in_every_text_of_an_npz(tools: Any, world: Path) -> None:
    path = export(tools, "npz")
    with np.load(path) as archive:
        arrays = {name: archive[name] for name in archive.files}
    texts = [name for name, array in arrays.items() if array.dtype.kind == "U" and array.size]
    assert {"names", "text/rover_arm.urdf", "rover_arm/joints"} <= set(texts)
    for name in texts:
        damaged = bytearray(arrays[name].tobytes())
        damaged[2] = 0x11
        text = np.frombuffer(bytes(damaged), arrays[name].dtype).reshape(arrays[name].shape)
        np.savez(path, **{**arrays, name: text})
        assert f"array '{name}' has a text with the number " in refusal(tools, path)


@pytest.mark.parametrize("name", ["npz", "parquet"])
def test_a_damaged_file_gives_one_line_with_its_name(name: str, tools: Any, world: Path) -> None:
    path = export(tools, name)
    whole, rng = path.read_bytes(), random.Random(11)
    refused = 0
    for _ in range(60):
        damaged = bytearray(whole)
        for _ in range(rng.choice((1, 3, 20))):
            # The end has the index of both formats.
            damaged[rng.randrange(max(len(whole) - rng.choice((4096, len(whole))), 0), len(whole))] = rng.randrange(256)
        path.write_bytes(bytes(damaged))
        refused += bool(refusal(tools, path))
    assert refused > 20
