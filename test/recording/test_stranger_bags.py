# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Bags as other programs write them: without optional records, with incomplete metadata, with other names."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from mcap.writer import CompressionType, IndexType
from mcap.writer import Writer as McapWriter
from ruamel.yaml import YAML
from support.bags import STORE2, Tape, cdr

NO_INDEX = IndexType.ATTACHMENT | IndexType.METADATA | IndexType.CHUNK


def write_mcap(tape: Tape, path: Path, *, profile: str = "ros2", types: Any = str, **options: Any) -> Path:
    """Write one .mcap file with the `mcap` library; `types` changes the names of the schemas."""
    with path.open("wb") as stream:
        writer: Any = McapWriter(stream, chunk_size=2048, compression=CompressionType.NONE, **options)
        writer.start(profile=profile, library="test")
        channels: dict[str, int] = {}
        for event in sorted(tape.events, key=lambda event: event[2]):
            if event[0] not in channels:
                definition, _ = STORE2.generate_msgdef(event[1], ros_version=2)
                schema = writer.register_schema(types(event[1]), "ros2msg", definition.encode())
                channels[event[0]] = writer.register_channel(event[0], "cdr", schema)
            writer.add_message(channels[event[0]], event[2], cdr(event), event[2])
        writer.finish()
    return path


def states(tools: Any, bag: Path, *words: object) -> tuple[dict[str, Any], str]:
    """Export a bag every 0.5 s as arrays; return them and the messages."""
    out = tools.folder / "states.npz"
    code, stdout, stderr = tools.run("export", bag, "--every", "0.5", "-o", out, "--force", *words)
    assert code == 0, stdout + stderr
    with np.load(out) as arrays:
        return {name: arrays[name] for name in arrays.files if not name.startswith("text/")}, stderr


def same(first: dict[str, Any], second: dict[str, Any]) -> bool:
    return first.keys() == second.keys() and all(
        np.array_equal(first[name], second[name], equal_nan=first[name].dtype.kind == "f") for name in first
    )


# Optional records of MCAP.

OPTIONS = {
    "repeat_channels": (True, False),
    "repeat_schemas": (True, False),
    "use_statistics": (True, False),
    "use_summary_offsets": (True, False),
    "index_types": (IndexType.ALL, NO_INDEX, IndexType.NONE),
    "use_chunking": (True, False),
}


@pytest.mark.parametrize(
    "options", [dict(zip(OPTIONS, some, strict=True)) for some in itertools.product(*OPTIONS.values())]
)
def test_mcap_needs_none_of_its_optional_records(tools: Any, options: dict[str, Any]) -> None:
    tape = tools.rover(1.0)
    expected, _ = states(tools, write_mcap(tape, tools.folder / "whole.mcap"))
    found, _ = states(tools, write_mcap(tape, tools.folder / "some.mcap", **options))
    assert same(found, expected)


def test_a_folder_with_such_a_file_is_read(tools: Any) -> None:
    tape = tools.rover(1.0)
    bag = tape.write(tools.folder / "bag", "mcap")
    expected, _ = states(tools, bag)
    for options in ({"index_types": NO_INDEX}, {"repeat_channels": False, "repeat_schemas": False}):
        write_mcap(tape, bag / "bag.mcap", **options)
        found, _ = states(tools, bag)
        assert same(found, expected)


# metadata.yaml that lacks what the database has.


def without_topics(bag: Path, *topics: str) -> None:
    content = YAML(typ="safe").load((bag / "metadata.yaml").read_text())
    entries = content["rosbag2_bagfile_information"]["topics_with_message_count"]
    entries[:] = [entry for entry in entries if entry["topic_metadata"]["name"] not in topics]
    with (bag / "metadata.yaml").open("w") as file:
        YAML().dump(content, file)


@pytest.mark.parametrize("kind", ["mcap", "sqlite3", "mcap split", "sqlite3 split", "sqlite3 zstd by message"])
@pytest.mark.parametrize("topics", [("/tf_static",), ("/joint_states",), ("/robot_description", "/tf")])
def test_a_topic_that_metadata_lacks_is_read_with_a_warning(tools: Any, kind: str, topics: tuple[str, ...]) -> None:
    bag = tools.rover(1.0).write(tools.folder / "bag", kind)
    expected, _ = states(tools, bag)
    without_topics(bag, *topics)
    found, stderr = states(tools, bag)
    assert same(found, expected)
    assert "metadata.yaml" in stderr
    for topic in topics:
        assert f"'{topic}'" in stderr


def test_a_file_that_metadata_lacks_is_named(tools: Any) -> None:
    bag = tools.rover(1.0).write(tools.folder / "bag", "mcap split")
    tools.rover(1.0).write(tools.folder / "other", "bare mcap").rename(bag / "bag_9.mcap")
    _, stderr = states(tools, bag)
    assert "'bag_9.mcap'" in stderr
    assert "metadata.yaml" in stderr


# Empty descriptions.


@pytest.mark.parametrize("empty", ["", " \n"])
def test_a_later_empty_description_does_not_win(tools: Any, empty: str) -> None:
    tape = tools.rover(1.0)
    expected, _ = states(tools, tape.write(tools.folder / "one", "mcap"))
    tape.text("/robot_description", empty, tools.START + tools.S // 2)
    found, _ = states(tools, tape.write(tools.folder / "two", "mcap"))
    assert same(found, expected)


# Names of topics and types.


def renamed(tape: Tape, change: Any) -> Tape:
    tape.events = [(change(topic), *rest) for topic, *rest in tape.events]
    return tape


@pytest.mark.parametrize("kind", ["mcap", "sqlite3", "bare mcap", "bare mcap unindexed", "ros1"])
def test_the_leading_slash_of_every_topic_may_be_missing(tools: Any, kind: str) -> None:
    expected, _ = states(tools, tools.rover(1.0).write(tools.folder / "with", kind))
    plain = renamed(tools.rover(1.0), lambda topic: topic.removeprefix("/"))
    bag = plain.write(tools.folder / "without", kind)
    found, _ = states(tools, bag)
    assert same(found, expected)
    for topic in ("joint_states", "/joint_states"):
        assert same(states(tools, bag, "--joint-states", topic)[0], expected)
    code, _, stderr = tools.run("export", bag, "--at-topic", "joint_states", "-o", tools.folder / "x.npz")
    assert code == 0, stderr


def test_the_leading_slash_may_be_missing_in_namespaces(tools: Any) -> None:
    def spaced(slash: str) -> Path:
        tape = renamed(tools.rover(1.0), lambda topic: f"{slash}left{topic}")
        return Path(tape.write(tools.folder / f"bag{len(slash)}", "mcap"))

    assert same(states(tools, spaced(""))[0], states(tools, spaced("/"))[0])


def mangled(name: str) -> str:
    package, _, kind = name.partition("/msg/")
    return f"{package}::msg::dds_::{kind}_"


@pytest.mark.parametrize("prefix", ["", "rt"])
def test_types_and_topics_as_dds_names_them(tools: Any, prefix: str) -> None:
    expected, _ = states(tools, tools.rover(1.0).write(tools.folder / "with", "bare mcap"))
    tape = renamed(tools.rover(1.0), lambda topic: f"{prefix}{topic}")
    with (tools.folder / "dds.mcap").open("wb") as stream:
        writer: Any = McapWriter(stream)
        writer.start(profile="", library="test")
        channels: dict[str, int] = {}
        for event in sorted(tape.events, key=lambda event: event[2]):
            if event[0] not in channels:
                schema = writer.register_schema(mangled(event[1]), "omgidl", b"")
                channels[event[0]] = writer.register_channel(event[0], "cdr", schema)
            writer.add_message(channels[event[0]], event[2], cdr(event), event[2])
        writer.finish()
    found, _ = states(tools, tools.folder / "dds.mcap")
    assert same(found, expected)


def test_an_idl_with_dds_names_is_compared_without_them(tools: Any) -> None:
    idl = b"""module std_msgs { module msg { module dds_ { struct String_ { string data_; }; }; }; };"""
    other = b"""module std_msgs { module msg { module dds_ { struct String_ { long data_; }; }; }; };"""
    for text, expected in ((idl, 0), (other, 1)):
        tape = Tape()
        tape.text("/robot_description", '<robot name="r"><link name="base"/></robot>')
        path = tools.folder / "one.mcap"
        with path.open("wb") as stream:
            writer: Any = McapWriter(stream)
            writer.start(profile="ros2", library="test")
            schema = writer.register_schema("std_msgs::msg::dds_::String_", "omgidl", text)
            channel = writer.register_channel("rt/robot_description", "cdr", schema)
            writer.add_message(channel, tools.START, cdr(tape.events[0]), tools.START)
            tape.joints(tools.START, ["j"], [1.0])
            definition, _ = STORE2.generate_msgdef(tools.JOINT_STATE, ros_version=2)
            schema = writer.register_schema(tools.JOINT_STATE, "ros2msg", definition.encode())
            channel = writer.register_channel("/joint_states", "cdr", schema)
            writer.add_message(channel, tools.START, cdr(tape.events[1]), tools.START)
            writer.finish()
        code, _, stderr = tools.run("export", path, "-o", tools.folder / "x.npz", "--force")
        assert code == expected, stderr


def test_an_empty_definition_is_no_definition(tools: Any) -> None:
    expected, _ = states(tools, write_mcap(tools.rover(1.0), tools.folder / "whole.mcap"))
    tape = tools.rover(1.0)
    with (tools.folder / "empty.mcap").open("wb") as stream:
        writer: Any = McapWriter(stream)
        writer.start(profile="ros2", library="test")
        channels: dict[str, int] = {}
        for event in sorted(tape.events, key=lambda event: event[2]):
            if event[0] not in channels:
                schema = writer.register_schema(event[1], "ros2msg", b"")
                channels[event[0]] = writer.register_channel(event[0], "cdr", schema)
            writer.add_message(channels[event[0]], event[2], cdr(event), event[2])
        writer.finish()
    assert same(states(tools, tools.folder / "empty.mcap")[0], expected)


# A file that grows while it is read.


def test_a_growing_mcap_is_read_to_its_last_whole_message_with_a_note(tools: Any) -> None:
    whole = tools.rover(2.0).write(tools.folder / "whole", "bare mcap").read_bytes()
    path = tools.folder / "growing.mcap"
    with path.open("wb") as file:
        for size in range(len(whole) // 2, len(whole) // 2 + 3000, 501):
            file.seek(0)
            file.write(whole[:size])
            file.flush()
            code, _, stderr = tools.run("export", path, "-o", tools.folder / "x.usdf", "--force")
            assert (code, "error" in stderr) == (0, False), (size, stderr)
            assert "note" in stderr
            assert "still written" in stderr
    code, _, stderr = tools.run("export", path, "-o", tools.folder / "x.usdf", "--force")
    assert (code, "the bag is damaged" in stderr) == (1, True)
