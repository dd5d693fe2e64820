# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Recordings that are whole though they are not as `ros2 bag record` leaves them, and databases cut in half."""

from __future__ import annotations

import json
import shutil
import sqlite3
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from mcap.writer import CompressionType
from mcap.writer import Writer as McapWriter

from robot_semantics.recording.fleet import content_digest


def values(tools: Any, bag: Path, *arguments: object) -> tuple[np.ndarray, int, str]:
    """Return the positions of all joint states of a bag, the exit code and stderr."""
    out = tools.folder / "out.npz"
    code, _, stderr = tools.run("export", bag, "--at-topic", "/joint_states", *arguments, "--force", "-o", out)
    return np.load(out)["rover_arm/positions"], code, stderr


def test_a_folder_may_be_called_as_a_ros_1_bag(tools: Any) -> None:
    tape = tools.rover(1.0)
    found, code, stderr = values(tools, tape.write(tools.folder / "drive.bag", "sqlite3"))
    assert (len(found), code, stderr) == (50, 0, "")


@pytest.mark.parametrize("kind", ["mcap", "sqlite3", "mcap split"])
def test_files_that_were_renamed_after_recording_are_read_with_a_warning(tools: Any, kind: str) -> None:
    tape = tools.rover(1.0)
    bag = tape.write(tools.folder / "drive", kind)
    expected, _, _ = values(tools, bag)
    for number, file in enumerate(sorted([*bag.glob("*.mcap"), *bag.glob("*.db3")])):
        file.rename(file.with_name(f"better_{number}{file.suffix}"))
    found, code, stderr = values(tools, bag)
    assert code == 0
    assert "warning: the bag is complete, but its index cannot be used" in stderr
    np.testing.assert_array_equal(found, expected)


def test_a_split_that_is_gone_is_an_error(tools: Any) -> None:
    bag = tools.rover(1.0).write(tools.folder / "drive", "mcap split")
    (bag / "drive_1.mcap").unlink()
    _, code, stderr = values(tools, bag)
    assert code == 1
    assert "missing files of the bag: 1 of 3: drive_1.mcap" in stderr


def write_mcap(tools: Any, path: Path, profile: str, encoding: str) -> Path:
    """Write the rover's drive as one .mcap file, ROS 1 or CDR, with a topic in JSON beside it."""
    store = tools.STORE1 if encoding == "ros1" else tools.STORE2
    with path.open("wb") as stream:
        writer: Any = McapWriter(stream, chunk_size=4096, compression=CompressionType.NONE)
        writer.start(profile=profile, library="test")
        schema = writer.register_schema("Note", "jsonschema", b"{}")
        note = writer.register_channel("/note", "json", schema)
        channels: dict[str, int] = {}
        for topic, msgtype, log_ns, make in sorted(tools.rover(1.0).events, key=lambda event: event[2]):
            if topic not in channels:
                version = 1 if encoding == "ros1" else 2
                definition, _ = store.generate_msgdef(msgtype, ros_version=version)
                name = msgtype.replace("/msg/", "/") if encoding == "ros1" else msgtype
                schema = writer.register_schema(name, f"ros{version}msg", definition.encode())
                channels[topic] = writer.register_channel(topic, encoding, schema)
            serialize = store.serialize_ros1 if encoding == "ros1" else store.serialize_cdr
            writer.add_message(channels[topic], log_ns, bytes(serialize(make(store), msgtype)), log_ns)
            writer.add_message(note, log_ns, json.dumps({"at": log_ns}).encode(), log_ns)
        writer.finish()
    return path


@pytest.mark.parametrize(("profile", "encoding"), [("ros1", "ros1"), ("", "cdr"), ("ros2", "cdr"), ("x-mine", "cdr")])
def test_mcap_files_of_any_profile_are_read(tools: Any, profile: str, encoding: str) -> None:
    expected, _, _ = values(tools, tools.rover(1.0).write(tools.folder / "usual"))
    found, code, stderr = values(tools, write_mcap(tools, tools.folder / "drive.mcap", profile, encoding))
    assert code == 0, stderr
    np.testing.assert_array_equal(found, expected)


def test_messages_in_an_encoding_that_is_not_known_are_named_as_such(tools: Any) -> None:
    path = tools.folder / "drive.mcap"
    with path.open("wb") as stream:
        writer: Any = McapWriter(stream)
        writer.start(profile="ros2", library="test")
        schema = writer.register_schema(tools.JOINT_STATE, "", b"")
        channel = writer.register_channel("/joint_states", "cbor", schema)
        writer.add_message(channel, tools.START, b"\xa0", tools.START)
        writer.finish()
    code, _, stderr = tools.run("export", path, "-o", tools.folder / "state.usdf")
    assert code == 1
    assert "topic '/joint_states' is left out: its messages are in cbor, which is not read" in stderr


def test_a_ros_1_bag_without_an_index_is_read_as_whole(tools: Any) -> None:
    bag = tools.rover(1.0).write(tools.folder / "drive", "ros1")
    expected, _, _ = values(tools, bag)
    data = bag.read_bytes()
    # The head says where the index is, in a field of eight bytes; a recorder that runs has a zero there, and no index.
    at = data.index(b"index_pos=") + len(b"index_pos=")
    (index,) = struct.unpack("<Q", data[at : at + 8])
    active = tools.folder / "drive.bag.active"
    active.write_bytes(data[:at] + bytes(8) + data[at + 8 : index])
    for path in (active, Path(shutil.copy(active, tools.folder / "unindexed.bag"))):
        found, code, stderr = values(tools, path)
        assert code == 0, stderr
        assert "it is read record by record" in stderr
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("share", [0.3, 0.5, 0.9])
def test_a_database_that_is_cut_gives_the_rows_of_its_whole_pages(tools: Any, share: float) -> None:
    tape = tools.rover(20.0)
    bag = tape.write(tools.folder / "drive", "sqlite3")
    expected, _, _ = values(tools, bag)
    file = next(bag.glob("*.db3"))
    data = file.read_bytes()
    file.write_bytes(data[: int(len(data) * share) // 4096 * 4096])
    found, code, stderr = values(tools, bag)
    assert code == 1
    assert "the file ends after" in stderr
    # Rows are in the order of arrival, so about this share of them exists, and the existing ones are right.
    assert len(found) > 0.8 * share * len(expected)
    np.testing.assert_array_equal(found[:100], expected[: len(found)][:100])


@pytest.mark.parametrize("given", ["folder", "file", "without metadata"])
def test_what_a_killed_recorder_left_in_the_write_ahead_log_is_read(tools: Any, given: str) -> None:
    bag = tools.rover(1.0).write(tools.folder / "drive", "sqlite3")
    expected, _, _ = values(tools, bag)
    # The last messages are only in the log, as while the recorder ran.
    (file,) = bag.glob("*.db3")
    database = sqlite3.connect(file)
    rows = database.execute("select * from messages order by timestamp").fetchall()
    database.execute("delete from messages where id in (select id from messages order by timestamp desc limit 60)")
    database.commit()
    database.execute("pragma journal_mode=wal")
    database.execute("pragma wal_autocheckpoint=0")
    database.executemany("insert or ignore into messages values (?, ?, ?, ?)", rows)
    database.commit()
    killed = tools.folder / "killed"
    shutil.copytree(bag, killed)
    database.close()
    (killed / "drive.db3-shm").unlink()
    if given == "without metadata":
        (killed / "metadata.yaml").unlink()
    before = {path.name: path.read_bytes() for path in killed.iterdir()}
    found, code, stderr = values(tools, killed / "drive.db3" if given == "file" else killed)
    assert code == 0
    assert "write-ahead log" in stderr or given == "without metadata"
    np.testing.assert_array_equal(found, expected)
    assert {path.name: path.read_bytes() for path in killed.iterdir()} == before


def test_a_write_ahead_log_is_part_of_a_bags_content(tools: Any) -> None:
    bag = tools.rover(1.0).write(tools.folder / "drive", "sqlite3")
    before = content_digest(bag)
    (bag / "drive.db3-wal").write_bytes(b"more")
    assert content_digest(bag) != before
