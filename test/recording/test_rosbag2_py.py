# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Recordings by `rosbag2_py`: the same states as by `rosbags`, bit for bit, and the same messages."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rosbags.highlevel import AnyReader
from ruamel.yaml import YAML
from support import rosbag2_stand_in
from support.bags import KINDS

from robot_semantics.cdr.message_types import FIELDS
from robot_semantics.examples import example
from robot_semantics.recording.bags import encodings
from robot_semantics.recording.bags import libraries as bag_libraries
from robot_semantics.recording.bags.source import Channel, DefinitionFormat, MessageDefinition
from robot_semantics.recording.read import stretches


@pytest.fixture
def with_rosbag2_py(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Read and write with rosbag2_py, as where rosbags is not installed."""
    for name, module in rosbag2_stand_in.modules().items():
        monkeypatch.setitem(sys.modules, name, module)
    from robot_semantics.recording.bags.rosbag2_py import Rosbag2Source, Rosbag2Writer

    monkeypatch.setattr(bag_libraries, "Rosbag2Source", Rosbag2Source, raising=False)
    monkeypatch.setattr(bag_libraries, "Rosbag2Writer", Rosbag2Writer, raising=False)
    monkeypatch.setattr(bag_libraries, "_LIBRARY_ERRORS", (RuntimeError,))
    for module in (bag_libraries, stretches):
        monkeypatch.setattr(module, "HAS_ROSBAGS", False)
        monkeypatch.setattr(module, "definition_problem", encodings.definition_problem)
        monkeypatch.setattr(module, "starts_with_header", encodings.starts_with_header)
    encodings._installed.cache_clear()
    yield
    encodings._installed.cache_clear()


@pytest.mark.parametrize("kind", [kind for kind in KINDS if not kind.startswith("ros1")])
def test_every_kind_of_bag_gives_the_same_states_bit_for_bit(
    tools: Any, kind: str, request: pytest.FixtureRequest
) -> None:
    bag = tools.rover().write(tools.folder / "drive", kind)
    whole = ("export", bag, "--every", "0.013", "-o")
    part = ("export", bag, "--start", "1.03", "--stop", "2.07", "--every", "0.07", "-o")
    outputs = []
    for library in ("rosbags", "rosbag2_py"):
        if library == "rosbag2_py":
            request.getfixturevalue("with_rosbag2_py")
        for name, command in (("whole", whole), ("part", part)):
            out = tools.folder / f"{library}_{name}.npz"
            code, _, stderr = tools.run(*command, out)
            assert (code, stderr) == (0, ""), stderr
            outputs.append(dict(np.load(out)))
    for of_rosbags, of_rosbag2_py in zip(outputs[:2], outputs[2:], strict=True):
        assert set(of_rosbags) == set(of_rosbag2_py)
        for name, array in of_rosbags.items():
            assert array.tobytes() == of_rosbag2_py[name].tobytes(), name


def messages(bag: Path) -> list[tuple[str, str, int, bytes]]:
    with AnyReader([bag]) as reader:
        return [(item.topic, item.msgtype, log, bytes(data)) for item, log, data in reader.messages()]


def test_a_written_recording_has_the_same_messages(tools: Any, request: pytest.FixtureRequest) -> None:
    worlds = tools.folder / "worlds"
    drive = tools.rover().write(tools.folder / "drive", "mcap")
    assert tools.run("export", drive, "--every", "0.5", "-o", worlds)[0] == 0
    sources = {"many": worlds, "one": example("rover_arm.usdf")}
    for name, source in sources.items():
        assert tools.run("bag", source, "-o", tools.folder / name / "bag")[0] == 0
    request.getfixturevalue("with_rosbag2_py")
    for name, source in sources.items():
        first, second = tools.folder / name / "bag", tools.folder / f"{name}_again" / "bag"
        assert tools.run("bag", source, "-o", second)[0] == 0
        assert sorted(messages(first)) == sorted(messages(second))
        metadata = [YAML(typ="safe").load((bag / "metadata.yaml").read_text()) for bag in (first, second)]
        assert len({item["rosbag2_bagfile_information"]["custom_data"]["robot_semantics"] for item in metadata}) == 1


def test_a_bag_of_ros_1_names_the_extra(tools: Any, with_rosbag2_py: None) -> None:
    old = tools.rover().write(tools.folder / "old", "ros1")
    code, _, stderr = tools.run("export", old, "-o", tools.folder / "out.usdf")
    assert (code, stderr) == (
        1,
        f"error: {old}: rosbag2 does not read bags of ROS 1: pip install '.[bag]'\n",
    )


def cut_off(data: bytes) -> bytes:
    return data[: len(data) // 2]


def turned_bit(data: bytes) -> bytes:
    return data[: len(data) // 2] + bytes([data[len(data) // 2] ^ 1]) + data[len(data) // 2 + 1 :]


def left_out(data: bytes) -> bytes:
    return data[:8] + data[72:]


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (cut_off, "the file was not closed: its end is missing"),
        (turned_bit, "fails its checksum"),
        (left_out, "no record starts here"),
    ],
)
def test_a_damaged_mcap_names_the_extra(
    tools: Any, with_rosbag2_py: None, damage: Callable[[bytes], bytes], words: str
) -> None:
    """rosbag2 itself reads the rest of such a file without an error."""
    file = tools.rover().write(tools.folder / "drive", "bare mcap")
    file.write_bytes(damage(file.read_bytes()))
    code, _, stderr = tools.run("export", file, "-o", tools.folder / "out.usdf")
    assert code == 1
    assert "the bag is damaged (" in stderr
    assert words in stderr
    assert "to read the rest: pip install '.[bag]'" in stderr


@pytest.mark.parametrize("msgtype", FIELDS)
def test_a_definition_is_compared_with_the_installed_one(with_rosbag2_py: None, msgtype: str) -> None:
    text = rosbag2_stand_in.LocalMessageDefinitionSource().get_full_text(msgtype).encoded_message_definition

    def channel(data: str) -> Channel:
        return Channel("/topic", msgtype, MessageDefinition(DefinitionFormat.MSG, data), False, 1)

    commented = "# a comment with float64 x = 1\nint32 MOST=7 # a constant\n" + text
    assert encodings.definition_problem(channel(commented)) is None
    assert encodings.starts_with_header(channel(commented)) == text.startswith("std_msgs/Header")
    main, *others = text.split("=" * 80)
    longer = ("=" * 80).join([f"{main}float64 more\n", *others])
    other = encodings.definition_problem(channel(longer))
    assert other == f"its definition of {msgtype} is another than the real one, from more float64 on"


_WITHOUT_ROSBAGS = """
import sys
from support import rosbag2_stand_in
sys.modules.update(rosbag2_stand_in.modules())
HIDDEN = ("rosbags", "apsw", "lz4", "backports", "mcap")
class Hide:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in HIDDEN and not name.startswith("backports.tarfile"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
for name in [name for name in sys.modules if name.partition(".")[0] in HIDDEN]:
    del sys.modules[name]
sys.meta_path.insert(0, Hide())
from robot_semantics.cli.main import main
sys.exit(main(sys.argv[1:]))
"""


def test_commands_run_where_only_rosbag2_py_is_installed(tools: Any) -> None:
    drive = tools.rover().write(tools.folder / "drive", "mcap")

    def run(*words: object) -> None:
        command = [sys.executable, "-c", _WITHOUT_ROSBAGS, *map(str, words)]
        paths = [str(Path(__file__).parents[1]), str(Path(__file__).parents[2])]
        ended = subprocess.run(
            [command[0], "-c", f"import sys; sys.path[:0] = {paths!r}\n{command[2]}", *command[3:]],
            capture_output=True,
            text=True,
            timeout=120.0,
            check=False,
        )
        assert ended.returncode == 0, ended.stderr

    state, again, bag = (tools.folder / name for name in ("state.usdf", "again.usdf", "bag"))
    run("export", drive, "-o", state)
    run("bag", state, "-o", bag)
    run("export", bag, "-o", again)
    assert tools.run("export", drive, "-o", tools.folder / "expected.usdf")[0] == 0
    assert state.read_bytes() == (tools.folder / "expected.usdf").read_bytes()
    assert tools.run("diff", state, again)[0] == 0
