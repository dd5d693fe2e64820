# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Every kind of bag gives the same world; faults and unusual content are reported with their place."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rosbags.rosbag2 import StoragePlugin, Writer
from rosbags.typesys import Stores, get_typestore

from robot_semantics import read_world
from robot_semantics.cdr.message_types import DEFINITIONS, FIELDS, JOINT_STATE
from robot_semantics.examples import example
from robot_semantics.recording.bags.libraries import open_source
from robot_semantics.recording.bags.rosbags import _flat, definition_problem
from robot_semantics.recording.bags.source import BagSource, Channel, DefinitionFormat, MessageDefinition
from robot_semantics.recording.read import stretches


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory, drive: Path) -> dict[str, np.ndarray]:
    from robot_semantics.cli.main import main

    out = tmp_path_factory.mktemp("reference") / "states.npz"
    assert main(["export", str(drive), "--every", "0.013", "-o", str(out)]) == 0
    return dict(np.load(out))


KINDS = [
    "mcap",
    "sqlite3",
    "mcap zstd by storage",
    "mcap zstd by message",
    "sqlite3 zstd by message",
    "sqlite3 zstd by file",
    "mcap split",
    "sqlite3 split",
    "bare mcap",
    "bare mcap lz4",
    "bare mcap zstd",
    "bare mcap unindexed",
    "ros1",
    "ros1 lz4",
    "ros1 bz2",
]


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_bag_gives_the_same_states(tools: Any, reference: dict[str, np.ndarray], kind: str) -> None:
    assert set(KINDS) == set(tools.KINDS)
    bag = tools.rover().write(tools.folder / "drive", kind)
    out = tools.folder / "states.npz"
    code, stdout, stderr = tools.run("export", bag, "--every", "0.013", "-o", out)
    assert (code, stderr) == (0, ""), stderr
    assert "wrote 307 states as npz" in stdout
    found = dict(np.load(out))
    assert set(found) == set(reference)
    for name, array in reference.items():
        if not name.startswith("text/"):
            np.testing.assert_array_equal(found[name], array, err_msg=name)
    assert found["frames"].tolist() == ["camera", "map", "odom"]
    assert np.isfinite(found["frame_pose"]).all()


def test_several_bags_are_one_recording(tools: Any, reference: dict[str, np.ndarray]) -> None:
    whole = tools.rover()
    for number, wanted in enumerate(("joint", "tf", "robot")):
        part = tools.Tape()
        part.events = [event for event in whole.events if wanted in event[0]]
        part.write(tools.folder / f"part{number}", ("mcap", "sqlite3", "bare mcap")[number])
    bags = [tools.folder / "part0", tools.folder / "part1", tools.folder / "part2.mcap"]
    code, _, stderr = tools.run("export", *bags, "--every", "0.013", "-o", tools.folder / "out.npz")
    assert (code, stderr) == (0, "")
    found = np.load(tools.folder / "out.npz")
    np.testing.assert_array_equal(found["rover_arm/positions"], reference["rover_arm/positions"])
    np.testing.assert_array_equal(found["frame_pose"], reference["frame_pose"])


@pytest.mark.parametrize(
    "kind", ["mcap", "sqlite3", "mcap split", "sqlite3 split", "mcap zstd by message", "sqlite3 zstd by file"]
)
def test_a_folder_without_metadata_is_read_and_said(tools: Any, reference: dict[str, np.ndarray], kind: str) -> None:
    bag = tools.rover().write(tools.folder / "drive", kind)
    (bag / "metadata.yaml").unlink()
    out = tools.folder / "out.npz"
    code, _, stderr = tools.run("export", bag, "--every", "0.013", "-o", out)
    assert f"{bag}: warning: metadata.yaml is missing; the files are read one by one" in stderr
    assert code == 0
    assert tools.run("export", bag, "-o", tools.folder / "end.usdf", "--strict")[0] == 1
    np.testing.assert_array_equal(np.load(out)["rover_arm/positions"], reference["rover_arm/positions"])
    np.testing.assert_array_equal(np.load(out)["frame_pose"], reference["frame_pose"])


def test_a_lost_split_leaves_the_others_and_is_said(tools: Any) -> None:
    bag = tools.rover().write(tools.folder / "drive", "mcap split")
    (bag / "drive_1.mcap").unlink()
    code, _, stderr = tools.run("export", bag, "--every", "0.1", "-o", tools.folder / "out.npz")
    assert code == 1
    assert "the bag is damaged (Some database files are missing" in stderr
    assert "note: " in stderr
    found = np.load(tools.folder / "out.npz")
    ages = found["rover_arm/joint_age"]
    assert np.nanmax(ages) > 0.5
    assert "'rover_arm/elbow_joint'" not in stderr  # the hole is shorter than the second that is allowed
    _, _, stderr = tools.run("export", bag, "--every", "0.1", "-o", tools.folder / "out.npz", "--max-gap", "0.3")
    (told,) = (line for line in stderr.splitlines() if "'rover_arm/elbow_joint'" in line)
    assert " joints, " in told
    assert " are older than 0.3 s in 7 of 40 states, up to 0." in told


def test_a_truncated_file_gives_what_came_before_the_end(tools: Any) -> None:
    bag = tools.rover().write(tools.folder / "drive", "bare mcap zstd")
    size = bag.stat().st_size
    with bag.open("r+b") as file:
        file.truncate(size // 2)
    code, _, stderr = tools.run("export", bag, "--at-topic", "/joint_states", "-o", tools.folder / "out.npz")
    assert code == 1
    assert (
        f"{bag}: error: the bag is damaged (it does not end as an MCAP file does); the undamaged parts are read"
        in stderr
    )
    assert f"{bag}: error: byte " in stderr
    assert "the file ends in the middle of a record" in stderr
    times = np.load(tools.folder / "out.npz")["time_ns"]
    assert 20 < len(times) < 180
    np.testing.assert_array_equal(np.diff(times), tools.S // 50)


def test_a_chunk_that_fails_its_checksum_is_left_out_and_named(tools: Any) -> None:
    bag = tools.rover().write(tools.folder / "drive", "bare mcap")
    data = bytearray(bag.read_bytes())
    at = data.index(b"elbow_joint", len(data) // 2)
    data[at] ^= 1
    bag.write_bytes(data)
    code, _, stderr = tools.run("export", bag, "--at-topic", "/joint_states", "-o", tools.folder / "out.npz")
    assert code == 1
    assert "the bag is damaged (Chunk checksum mismatch.); the undamaged parts are read" in stderr
    assert "bytes fails its checksum and is left out" in stderr
    found = np.load(tools.folder / "out.npz")
    assert 150 < len(found["time_ns"]) < 200
    assert found["rover_arm/joints"].tolist().count("elbow_joint") == 1


def test_a_definition_that_is_not_the_real_one_is_said_and_its_topic_left_out(tools: Any) -> None:
    path = tools.folder / "odd"
    with Writer(path, version=9, storage_plugin=StoragePlugin.MCAP) as writer:
        wrong = "std_msgs/Header header\nstring[] name\nfloat32[] position\n" + "=" * 80
        definition, _ = tools.STORE2.generate_msgdef("std_msgs/msg/Header", ros_version=2)
        text = f"{wrong}\nMSG: std_msgs/Header\n{definition}"
        odd = writer.add_connection("/joint_states", tools.JOINT_STATE, msgdef=text, rihs01="RIHS01_0")
        tf = writer.add_connection("/tf", tools.TF, typestore=tools.STORE2)
        tape = tools.rover(1.0)
        for event in tape.events:
            if event[0] in ("/joint_states", "/tf"):
                writer.write(odd if event[0] == "/joint_states" else tf, event[2], tools.cdr(event))
    code, _, stderr = tools.run("export", path, "-o", tools.folder / "end.usdf")
    assert code == 1
    assert (
        f"{path}: error: topic '/joint_states' is left out: its definition of sensor_msgs/msg/JointState "
        "is another than the real one, from position float32[] on" in stderr
    )
    assert len(read_world(tools.folder / "end.usdf").frames) == 3


@pytest.mark.parametrize("msgtype", DEFINITIONS)
def test_the_table_of_definitions_is_that_of_a_release(msgtype: str) -> None:
    assert DEFINITIONS.keys() == FIELDS.keys()
    assert DEFINITIONS[msgtype] == tuple(_flat(get_typestore(Stores.ROS2_JAZZY).fielddefs, msgtype))


@pytest.mark.parametrize(
    "line", ["float64 [] more", "float64[<=3] more", "string<=4 more", "byte more # x", "int8 more 3"]
)
def test_a_further_field_in_any_notation_leaves_the_topic_out(line: str) -> None:
    definition, _ = get_typestore(Stores.ROS2_JAZZY).generate_msgdef("sensor_msgs/msg/JointState", ros_version=2)
    main, *others = definition.split("=" * 80)
    for text, is_right in ((definition, True), (("=" * 80).join([f"{main}{line}\n", *others]), False)):
        channel = Channel("/j", JOINT_STATE, MessageDefinition(DefinitionFormat.MSG, text), False, 1)
        assert (definition_problem(channel) is None) == is_right


def test_a_bag_is_opened_once(tools: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    tools.run("bag", example("rover_arm.usdf"), "-o", tools.folder / "own")
    opened: list[Path] = []

    def counted(path: Path) -> BagSource:
        opened.append(path)
        return open_source(path)

    monkeypatch.setattr(stretches, "open_source", counted)
    tools.run("export", tools.folder / "own", "-o", tools.folder / "own.usdf")
    assert opened == [tools.folder / "own"]


def test_open_bags_have_a_limit(tools: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stretches, "MOST_OPEN", 2)
    tools.run("bag", example("rover_arm.usdf"), "-o", tools.folder / "own")
    paths = [Path(shutil.copytree(tools.folder / "own", tools.folder / f"own{number}")) for number in range(4)]
    with stretches.OpenBags() as bags:
        counts = [len(bags.source(path).channels) for path in (*paths, *paths)]
        assert len(set(counts)) == 1
        assert len(bags._sources) == 2
    assert not bags._sources


def test_a_definition_that_cannot_be_parsed_is_said(tools: Any) -> None:
    path = tools.folder / "odd"
    with Writer(path, version=9, storage_plugin=StoragePlugin.MCAP) as writer:
        odd = writer.add_connection("/tf", tools.TF, msgdef="float64[ x =", rihs01="RIHS01_0")
        for event in tools.rover(1.0).events:
            if event[0] == "/tf":
                writer.write(odd, event[2], tools.cdr(event))
    code, _, stderr = tools.run("export", path, "-o", tools.folder / "end.usdf")
    assert code == 1
    assert "topic '/tf' is left out: its definition of tf2_msgs/msg/TFMessage cannot be read (" in stderr


@pytest.mark.parametrize(
    ("prepare", "message"),
    [
        (lambda path: path / "nothing", "no such bag"),
        (lambda path: path, "no bag: the folder holds neither .mcap nor .db3 files"),
        (lambda path: _file(path / "x.mcap", b""), "no message can be read"),
        (lambda path: _file(path / "x.mcap", b"\x89MCAP0\r\n"), "no message can be read"),
        (lambda path: _file(path / "x.bag", b"#ROSBAG V1.2\n"), "no message can be read"),
        (lambda path: _file(path / "x.db3", b"SQLite format 3\x00"), "no message can be read"),
        (lambda path: _file(path / "x.txt", b"hello"), "a bag ends in .mcap, .db3 or .bag, not in '.txt'"),
    ],
)
def test_what_is_no_bag_gives_one_error_and_no_file(tools: Any, prepare: Any, message: str) -> None:
    folder = tools.folder / "in"
    folder.mkdir()
    bag = prepare(folder)
    code, stdout, stderr = tools.run("export", bag, "-o", tools.folder / "out.usdf")
    assert code == 1
    assert stdout == ""
    assert message in stderr
    assert str(bag) in stderr
    assert sorted(path.name for path in tools.folder.iterdir()) == ["in"]


def _file(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    return path


def test_malformed_messages_are_refused_counted_and_the_rest_is_read(tools: Any) -> None:
    tape = tools.rover()
    good = tools.cdr(next(event for event in tape.events if event[0] == "/joint_states"))
    for i in range(7):
        tape.add("/joint_states", tools.JOINT_STATE, tools.START + i + 1, good[:-5])
    tape.joints(tools.START + tools.S // 100, ["elbow_joint", "wrist_joint"], [9.0])
    bag = tape.write(tools.folder / "drive")
    code, _, stderr = tools.run("export", bag, "--every", "0.1", "-o", tools.folder / "out.npz")
    assert code == 0
    assert (
        "warning: topic '/joint_states': 7 messages refused, the first at log time 1700000000.000 s: malformed, byte "
        in stderr
    )
    assert "1 message refused, the first at log time 1700000000.010 s: malformed, it has 2 names but 1 pos" in stderr
    positions = np.load(tools.folder / "out.npz")["rover_arm/positions"]
    assert np.nanmax(positions) < 1.0


def test_a_position_that_is_not_a_number_is_refused_for_its_joint_alone(tools: Any) -> None:
    tape = tools.Tape()
    for i in range(10):
        bad = float("nan") if i == 5 else float(i)
        tape.joints(tools.START + i * tools.S, ["a", "b"], [bad, float(i * i)])
    bag = tape.write(tools.folder / "bag")
    code, _, stderr = tools.run("export", bag, "--at", "5", "-o", tools.folder / "state.usdf")
    assert code == 0
    expected = "the position of 'a' is nan; the message's other joints are used"
    assert (
        f"topic '/joint_states': 1 message used in part, the first at log time 1700000005.000 s: {expected}" in stderr
    )
    model = read_world(tools.folder / "state.usdf").models[0]
    assert model.joint("a").positions == (5.0,)  # halfway between 4 and 6
    assert model.joint("b").positions == (25.0,)
    out = tools.folder / "whole.usdf"
    _, _, stderr = tools.run("export", bag, "--at", "5", "--invalid-positions", "refuse", "-o", out)
    assert "1 message refused, the first at log time 1700000005.000 s: malformed, the position of 'a' is nan" in stderr
    model = read_world(out).models[0]
    assert model.joint("b").positions == (26.0,)  # halfway between 16 and 36


def test_transforms_that_are_none_are_refused_as_tf2_does(tools: Any) -> None:
    tape = tools.rover(1.0)
    inf = float("inf")
    for i, pose in enumerate([(inf, 0, 0, 0, 0, 0, 1), (0, 0, 0, 0, 0, 0, 0), (0, 0, 0, 0, 0, 0, 1.5)]):
        stamp = tools.START + tools.S // 3 + i
        tape.tf([(stamp, "map", "odom", pose), (stamp, "odom", "base_footprint", (0.2, 0, 0, 0, 0, 0, 1))])
    bag = tape.write(tools.folder / "bag")
    code, _, stderr = tools.run("export", bag, "--at", "0.333333333", "-o", tools.folder / "state.usdf")
    assert code == 0
    assert "3 messages refused" in stderr
    assert "frame 'odom': a transform that is not finite or not a rotation" in stderr
    state = read_world(tools.folder / "state.usdf")
    odom = state.frame("odom").pose
    assert odom is not None
    assert odom.xyz_rpy[:2] == pytest.approx((1.0, 2.0))
    assert state.models[0].pose is not None
    assert state.models[0].pose.xyz_rpy[0] == 0.2


def test_a_copy_of_the_drive_is_left_as_it_was(tools: Any, drive: Path) -> None:
    copy = tools.folder / "copy"
    shutil.copytree(drive, copy)
    tools.run("export", copy, "-o", tools.folder / "end.usdf")
    for file in drive.iterdir():
        assert (copy / file.name).read_bytes() == file.read_bytes()
    # Beside the state stand the descriptions that the recording carries, named by their content.
    names = {path.name for path in tools.folder.iterdir() if path.suffix not in (".urdf", ".srdf")}
    assert names == {"copy", "end.usdf"}
