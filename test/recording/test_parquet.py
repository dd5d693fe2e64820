# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Series as Parquet tables, single states out of them, and the front door for notebooks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import robot_semantics
from robot_semantics import read_world
from robot_semantics.examples import example

pq = pytest.importorskip("pyarrow.parquet")


def test_a_parquet_table_has_a_row_a_time_and_columns_with_units(tools: Any, drive: Path) -> None:
    arrays = tools.folder / "run.npz"
    for out in (tools.folder / "run.parquet", arrays):
        assert tools.run("export", drive, "--every", "0.01", "--links", "-o", out)[0] == 0
    table = pq.read_table(tools.folder / "run.parquet")
    expected = np.load(arrays)
    np.testing.assert_array_equal(table["time_ns"].to_numpy(), expected["time_ns"])
    joints = expected["rover_arm/joints"].tolist()
    for column, values in (("position", "positions"), ("velocity", "velocities"), ("effort", "efforts")):
        for i, joint in enumerate(joints):
            found = table[f"rover_arm/{joint}/{column}"].to_numpy()
            np.testing.assert_array_equal(found, expected[f"rover_arm/{values}"][:, i])
    np.testing.assert_array_equal(table["odom/x"].to_numpy(), expected["frame_pose"][:, 2, 0])
    assert table["rover_arm/parent"].to_pylist() == ["odom"] * len(table)
    units = {
        "x": b"m",
        "wz": b"rad/s",
        "elbow_joint/position": b"rad",
        "lift_joint/velocity": b"m/s",
        "lift_joint/effort": b"N",
    }
    for name, unit in units.items():
        assert table.schema.field(f"rover_arm/{name}").metadata[b"unit"] == unit


@pytest.mark.parametrize("name", ["run.parquet", "run.npz", "run.jsonl", "run"])
def test_a_state_of_a_series_is_the_state_that_export_writes_then(tools: Any, drive: Path, name: str) -> None:
    assert tools.run("export", drive, "--every", "0.25", "--links", "-o", tools.folder / name)[0] == 0
    assert tools.run("export", drive, "--at", "1.25", "--links", "-o", tools.folder / "then.usdf")[0] == 0
    out = tools.folder / "again" / "state.usdf"
    out.parent.mkdir()
    code, _, stderr = tools.run("export", tools.folder / name, "--at", "1.25", "-o", out)
    assert (code, stderr) == (0, "")
    found, expected = read_world(out), read_world(tools.folder / "then.usdf")
    assert found.frames == expected.frames
    (a,), (b,) = found.models, expected.models
    assert (a.pose, a.twist, a.joints, a.links, a.urdf_sha256) == (b.pose, b.twist, b.joints, b.links, b.urdf_sha256)
    if name != "run.jsonl":
        assert a.description is not None
        assert (out.parent / a.description).read_text() == example("rover_arm.urdf").read_text()
        assert tools.run("check", out)[0] == 0
    code, _, stderr = tools.run("export", tools.folder / name, "--at", "1.3", "-o", tools.folder / "no.usdf")
    assert code == 1
    assert "no state at 1700000001.300000000 s; nearest: 1700000001.250000000, 1700000001.500000000 s" in stderr


def test_parquet_goes_back_to_a_bag_and_to_a_plot(tools: Any, drive: Path) -> None:
    assert tools.run("export", drive, "--every", "0.25", "-o", tools.folder / "run.parquet")[0] == 0
    code, stdout, _ = tools.run("bag", tools.folder / "run.parquet", "-o", tools.folder / "bag")
    assert code == 0
    assert "/clock  16" in stdout
    assert tools.run("plot", tools.folder / "run.parquet", "-o", tools.folder / "run.svg")[0] == 0


def test_a_recording_is_read_by_one_call(tools: Any, drive: Path) -> None:
    recording = robot_semantics.read_recording(drive)
    assert tools.run("export", drive, "--at", "1.25", "-o", tools.folder / "then.usdf")[0] == 0
    expected = read_world(tools.folder / "then.usdf")
    for time in (1.25, "1.25", "@1700000001.25", tools.START + 1_250_000_000):
        assert recording.at(time).models[0].joints == expected.models[0].joints
    assert (recording.models, recording.frames) == (("rover_arm",), ("camera", "map", "odom"))
    assert recording.table(every=0.5).num_rows == 8
    assert len(recording.series()) == 200
    assert recording.gaps == {}
    assert "robot rover_arm: 15 links, joint states on /joint_states" in repr(recording)
    with pytest.raises(robot_semantics.RobotSemanticsError, match="outside the recording"):
        recording.at(99)
