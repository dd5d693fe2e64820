# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Files that the commands write are opened by the programs that they are for; SDFormat is in `simulation`."""

from __future__ import annotations

import csv
import shutil
import subprocess
import sysconfig
from pathlib import Path

import numpy as np
import pytest

from robot_semantics.cli.main import main
from robot_semantics.examples import FOLDER, example

CHECK_URDF = Path(sysconfig.get_path("scripts")) / "check_urdf"
"""Of urdfdom 6, which the package cmeel-urdfdom brings."""

XACRO = """<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro"><xacro:property name="z" value="1"/>
<link name="base"/><link name="arm"/><joint name="j" type="fixed"><origin xyz="0 0 ${z}"/>
<parent link="base"/><child link="arm"/></joint></robot>"""
BALLS = """<robot name="rover_arm"><link_sphere_approximation link="palm_link"><sphere center="0 0 0.1" radius="0.05"/>
</link_sphere_approximation></robot>"""
OLDER = """<robot name="r"><link name="base"/><link name="arm"/><joint name="j" type="fixed">
<parent link="base"><origin xyz="0 0 1"/></parent><child link="arm"><origin xyz="1 0 0"/></child></joint></robot>"""
NEWER = """<robot name="r" version="1.2"><link name="arm"/>
<link name="base"><collision><geometry><capsule radius="0.1" length="1"/></geometry></collision></link>
<joint name="j" type="revolute"><origin quat_xyzw="0 0 0 1"/><parent link="base"/><child link="arm"/>
<limit lower="0" upper="1" effort="1" velocity="1" acceleration="2"/></joint></robot>"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the working folder, with the example files."""
    for file in FOLDER.glob("*.?[rs]df"):
        shutil.copy(file, tmp_path)
    monkeypatch.chdir(tmp_path)
    for name, text in (("balls.srdf", BALLS), ("x.urdf.xacro", XACRO), ("older.urdf", OLDER), ("newer.urdf", NEWER)):
        (tmp_path / name).write_text(text)
    return tmp_path


WRITING_A_URDF = {
    "expand": "expand x.urdf.xacro",
    "upgrade": "upgrade older.urdf -o out.urdf",
    "upgrade of 1.2": "upgrade newer.urdf -o out.urdf",
    "compose": "compose rover_arm.urdf gripper.urdf --at wrist_link --prefix g_ -o out.urdf",
    "spheres": "collisions spheres convert rover_arm.urdf balls.srdf -o out.urdf",
    "usdf new of a xacro": "usdf new r=x.urdf.xacro -o new.usdf",
    "compose with 1.2": "compose newer.urdf gripper.urdf --at arm --prefix g_ -o out.urdf",
}


@pytest.mark.parametrize("command", WRITING_A_URDF.values(), ids=WRITING_A_URDF)
def test_urdfdom_reads_every_written_urdf(command: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = set(folder.glob("*.urdf"))
    assert main(command.split()) == 0, capsys.readouterr().err
    if "-o" not in command:
        Path("out.urdf").write_text(capsys.readouterr().out)
    (written,) = set(folder.glob("*.urdf")) - before
    assert_read_by_urdfdom(written)


def assert_read_by_urdfdom(path: Path) -> None:
    read = subprocess.run([CHECK_URDF, path], check=False, capture_output=True, text=True)
    assert read.returncode == 0, read.stdout + read.stderr


def test_mujoco_reads_an_exported_mjcf_and_so_does_convert(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    mujoco = pytest.importorskip("mujoco")
    assert main(["sim", "export", "rover_arm.usdf", "-o", "out.xml"]) == 0
    model = mujoco.MjModel.from_xml_path("out.xml")
    data = mujoco.MjData(model)
    mujoco.mj_resetDataKeyframe(model, data, 0)
    assert main(["usdf", "convert", "out.xml", "-o", "back.usdf"]) == 0
    from robot_semantics import read_world

    joints = {joint.name: joint.positions for item in read_world("back.usdf").models for joint in item.joints}
    at = model.joint("rover_arm/lift_joint").qposadr[0]
    assert joints["lift_joint"] == (data.qpos[at],)
    # A keyframe without its model still needs one.
    Path("key.xml").write_text('<mujoco><keyframe><key qpos="0"/></keyframe></mujoco>')
    assert main(["usdf", "convert", "key.xml", "-o", "b.usdf"]) == 2
    assert "--mujoco-model: a keyframe belongs to one MuJoCo model" in capsys.readouterr().err


def test_an_sdf_called_xml_is_converted_too(folder: Path) -> None:
    Path("w.xml").write_text('<sdf version="1.12"><world name="w"><state world_name="w"/></world></sdf>')
    assert main(["usdf", "convert", "w.xml", "-o", "w.usdf"]) == 0


def test_plain_readers_read_every_series_and_recording(folder: Path) -> None:
    """The lift moves from 0.1 m to 0.15 m; only the readers that everybody has look at the files."""
    pytest.importorskip("rosbags")
    parquet = pytest.importorskip("pyarrow.parquet")
    reader = pytest.importorskip("mcap.reader")
    text = example("rover_arm.usdf").read_text()
    later = text.replace('rs:time="0.000000000"', 'rs:time="1.000000000"')
    Path("later.usdf").write_text(later.replace("<positions>0.1</positions>", "<positions>0.15</positions>"))
    assert main(["bag", "rover_arm.usdf", "later.usdf", "-o", "rec"]) == 0
    (recording,) = Path("rec").glob("*.mcap")
    with recording.open("rb") as file:
        messages = list(reader.make_reader(file, validate_crcs=True).iter_messages())
    assert {channel.topic for _, channel, _ in messages} >= {"/rover_arm/joint_states", "/tf"}
    assert all(schema.data for schema, _, _ in messages)
    assert main(["export", "rec", "-o", "end/state.usdf"]) == 0
    descriptions = list(Path("end").glob("*.urdf"))
    assert len(descriptions) == 2
    for path in descriptions:
        assert_read_by_urdfdom(path)
    for ending in ("npz", "csv", "parquet"):
        assert main(f"export rec --every 1 -o out.{ending}".split()) == 0
    table = parquet.read_table("out.parquet")
    assert table["rover_arm/lift_joint/position"].to_pylist() == [0.1, 0.15]
    with Path("out.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [float(row["rover_arm/lift_joint/position"]) for row in rows] == [0.1, 0.15]
    with np.load("out.npz", allow_pickle=False) as arrays:
        names = arrays["rover_arm/joints"].tolist()
        positions = arrays["rover_arm/positions"]
    assert positions[:, names.index("lift_joint")].tolist() == [0.1, 0.15]


@pytest.mark.parametrize(("text", "kind"), [("<mujoco/>", "an MJCF"), ('<sdf version="1.9"/>', "an SDFormat file")])
@pytest.mark.parametrize("command", ["sim run {} --steps 1", "usdf show {}", "usdf resolve {}"])
def test_a_file_of_a_simulator_instead_of_a_usdf_is_called_so(
    command: str, text: str, kind: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("w.xml").write_text(text)
    assert main(command.format("w.xml").split()) == 1
    assert f"the file is {kind}: 'robot_semantics usdf convert'" in capsys.readouterr().err


def test_a_bag_has_a_description_with_odd_bytes_as_utf_8(folder: Path) -> None:
    reader = pytest.importorskip("mcap.reader")
    Path("odd.urdf").write_bytes(b'<robot name="r"><!-- 90\xb0 --><link name="base"/></robot>\n\0\0')
    assert main(["usdf", "new", "r=odd.urdf", "-o", "odd.usdf"]) == 0
    assert main(["bag", "odd.usdf", "-o", "rec"]) == 0
    (recording,) = Path("rec").glob("*.mcap")
    with recording.open("rb") as file:
        texts = [
            message.data[8:].rstrip(b"\0").decode()
            for _, channel, message in reader.make_reader(file).iter_messages()
            if channel.topic.endswith("robot_description")
        ]
    assert texts == ['<robot name="r"><!-- 90\u00b0 --><link name="base"/></robot>\n']
