# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""A small file that unpacks to more than the memory is refused with the limit, and an option raises it."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from rosbags.rosbag1 import Writer as Writer1
from rosbags.rosbag2 import CompressionFormat, CompressionMode
from rosbags.rosbag2 import Writer as Writer2
from rosbags.typesys import Stores, get_typestore
from support.zstd import compress

from robot_semantics.base import unpack_limit
from robot_semantics.base.unpack_limit import UnpackedTooLargeError
from robot_semantics.cli import main as command_line
from robot_semantics.recording.bags import compression
from robot_semantics.recording.bags.salvage import scan

MB = 2**20


def memory_of(*words: str) -> tuple[subprocess.CompletedProcess[str], int]:
    """Run a command; return its output and its peak memory [bytes]."""
    # Not ru_maxrss: a process inherits that from the one that starts it, which is as large as its tests made it.
    code = (
        "import sys; from robot_semantics.cli.main import main; code = main(sys.argv[1:]);"
        "print(*(line for line in open('/proc/self/status') if line.startswith('VmHWM'))); sys.exit(code)"
    )
    done = subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True, check=False)
    return done, int(done.stdout.split()[-2]) * 1024


def test_an_npz_that_would_fill_the_memory_is_refused_by_the_size_that_it_states(tmp_path: Path) -> None:
    path = tmp_path / "bomb.npz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive, archive.open("time_ns.npy", "w") as file:
        np.lib.format.write_array_header_1_0(file, {"descr": "|u1", "fortran_order": False, "shape": (1100 * MB,)})
        for _ in range(1100):
            file.write(bytes(MB))
    assert path.stat().st_size < 3 * MB
    done, memory = memory_of("plot", str(path), "-o", str(tmp_path / "out.png"))
    assert done.returncode == 1
    assert "unpacks to more than 1024 MB; ROBOT_SEMANTICS_MAX_UNPACKED_MB=MB raises the limit" in done.stderr
    assert "Traceback" not in done.stderr
    assert memory < 700 * MB


def test_an_npz_that_states_an_array_beyond_all_memory_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "huge.npz"
    with zipfile.ZipFile(path, "w") as archive, archive.open("time_ns.npy", "w") as file:
        np.lib.format.write_array_header_1_0(file, {"descr": "<f8", "fortran_order": False, "shape": (10**12,)})
    done, _ = memory_of("plot", str(path), "-o", str(tmp_path / "out.png"))
    assert done.returncode == 1
    assert "it is not a series" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_packed_recording_is_refused_before_it_fills_the_disk(tmp_path: Path) -> None:
    path = tmp_path / "x.mcap.zstd"
    path.write_bytes(compress(bytes(300 * MB)) * 8)
    assert path.stat().st_size < MB
    done, memory = memory_of("export", str(path), "-o", str(tmp_path / "out.usdf"))
    assert done.returncode == 1
    assert "x.mcap.zstd unpacks to more than 1024 MB" in done.stderr
    assert memory < 700 * MB
    assert [entry.name for entry in tmp_path.iterdir()] == ["x.mcap.zstd"]


def test_the_environment_variable_raises_the_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ROBOT_SEMANTICS_MAX_UNPACKED_MB", "")
    path = tmp_path / "x.mcap.zstd"
    path.write_bytes(compress(bytes(1100 * MB)))
    words = ["export", str(path), "-o", str(tmp_path / "out.usdf")]
    assert command_line.main(words) == 1
    assert "unpacks to more than" in capsys.readouterr().err
    monkeypatch.setenv("ROBOT_SEMANTICS_MAX_UNPACKED_MB", "1200")
    assert command_line.main(words) == 1
    text = capsys.readouterr().err
    assert "unpacks to more than" not in text
    assert "no message can be read" in text


ROS1_CHUNK = b"\x1e\0\0\0" + b"\x04\0\0\0op=\x05" + b"\x12\0\0\0compression=none\0\0" + b"\0\xff\xff\xff"


@pytest.mark.parametrize(
    ("file", "head"),
    [
        ("empty.bag", b""),
        ("zeros.bag", b"#ROSBAG V2.0\n"),
        ("header.bag", b"#ROSBAG V2.0\n\0\xff\xff\xff"),
        ("chunk.bag", b"#ROSBAG V2.0\n" + ROS1_CHUNK),
        ("header.mcap", b"\x89MCAP0\r\n\x01" + (2**32 - 100).to_bytes(8, "little")),
    ],
)
def test_a_sparse_recording_takes_no_memory(tmp_path: Path, file: str, head: bytes) -> None:
    path = tmp_path / file
    path.write_bytes(head)
    os.truncate(path, 4 * 2**30)
    done, memory = memory_of("export", str(path), "-o", str(tmp_path / "out.usdf"))
    assert done.returncode == 1
    assert "no message can be read" in done.stderr
    assert "Traceback" not in done.stderr
    assert memory < 700 * MB


def test_the_chunks_of_a_sparse_bag_are_read_in_place(tmp_path: Path) -> None:
    path, size = tmp_path / "chunks.bag", 200 * MB
    fields = b"\x04\0\0\0op=\x05" + b"\x10\0\0\0compression=none"
    head = len(fields).to_bytes(4, "little") + fields + size.to_bytes(4, "little")
    with path.open("wb") as file:
        file.write(b"#ROSBAG V2.0\n")
        for _ in range(20):
            file.write(head)
            file.seek(size, os.SEEK_CUR)
        file.truncate()
    done, memory = memory_of("export", str(path), "-o", str(tmp_path / "out.usdf"))
    assert done.returncode == 1
    assert "no message can be read" in done.stderr
    assert memory < 120 * MB


def test_the_place_of_a_damaged_record_in_a_chunk_is_its_place_in_the_bag(tmp_path: Path) -> None:
    path = tmp_path / "s.bag"
    types = get_typestore(Stores.ROS1_NOETIC)
    with Writer1(path) as writer:
        connection = writer.add_connection("/s", "std_msgs/msg/String", typestore=types)
        for word in ("one", "two", "six"):
            text = types.types["std_msgs/msg/String"](word)
            writer.write(connection, 1, types.serialize_ros1(text, "std_msgs/msg/String"))
    data = path.read_bytes()
    fields = data.rindex(b"time=", 0, data.index(b"two"))
    path.write_bytes(data[:fields] + b"t1me" + data[fields + 4 :])
    # A record begins with the lengths of its header and of its first field, op.
    start = data.rindex(b"op=\x02", 0, fields) - 8
    said: list[str] = []
    words = [message[4:].decode() for _, _, message in scan(path, said.append)]
    assert words == ["one", "six"]
    assert any(text.startswith(f"byte {start}: a record of 7 bytes is left out") for text in said), (start, said)


def ros1_bag(path: Path, compression: Writer1.CompressionFormat) -> None:
    types = get_typestore(Stores.ROS1_NOETIC)
    writer = Writer1(path)
    writer.set_compression(compression)
    with writer:
        connection = writer.add_connection("/robot_description", "std_msgs/msg/String", typestore=types)
        text = types.types["std_msgs/msg/String"]("0" * (8 * MB))
        writer.write(connection, 1, types.serialize_ros1(text, "std_msgs/msg/String"))


def message_by_message(path: Path) -> None:
    types = get_typestore(Stores.ROS2_JAZZY)
    writer = Writer2(path, version=9)
    writer.set_compression(CompressionMode.MESSAGE, CompressionFormat.ZSTD)
    with writer:
        connection = writer.add_connection("/robot_description", "std_msgs/msg/String", typestore=types)
        text = types.types["std_msgs/msg/String"]("0" * (8 * MB))
        writer.write(connection, 1, types.serialize_cdr(text, "std_msgs/msg/String"))


@pytest.mark.parametrize(
    "make",
    [
        lambda path: ros1_bag(path.with_suffix(".bag"), Writer1.CompressionFormat.LZ4),
        lambda path: ros1_bag(path.with_suffix(".bag"), Writer1.CompressionFormat.BZ2),
        message_by_message,
    ],
    ids=["ROS 1, lz4", "ROS 1, bz2", "each message by itself"],
)
def test_what_the_library_unpacks_by_itself_is_bounded_too(
    make: Callable[[Path], None],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    make(tmp_path / "x")
    (path,) = tmp_path.iterdir()
    monkeypatch.setenv("ROBOT_SEMANTICS_MAX_UNPACKED_MB", "1")
    monkeypatch.setattr(unpack_limit, "RATIO", 1)
    words = ["export", str(path), "-o", str(tmp_path / "out.usdf")]
    assert command_line.main(words) == 1
    assert "unpacks to more than 1 MB; ROBOT_SEMANTICS_MAX_UNPACKED_MB=MB raises the limit" in capsys.readouterr().err
    monkeypatch.setenv("ROBOT_SEMANTICS_MAX_UNPACKED_MB", "20")
    assert command_line.main(words) == 1
    assert "unpacks to more than" not in capsys.readouterr().err


@pytest.mark.parametrize("kind", ["zstd", "lz4", "bz2"])
def test_a_chunk_unpacks_whole_or_not_at_all(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    data = bytes(range(256)) * 16 * 1024
    packed = {"zstd": compress, "lz4": __import__("lz4.frame").frame.compress, "bz2": __import__("bz2").compress}[kind](
        data
    )
    assert compression.unpack(kind, packed) == data
    with pytest.raises((EOFError, RuntimeError, OSError)):
        compression.unpack(kind, packed[: len(packed) // 2])
    monkeypatch.setenv("ROBOT_SEMANTICS_MAX_UNPACKED_MB", "1")
    monkeypatch.setattr(unpack_limit, "RATIO", 1)
    with pytest.raises(UnpackedTooLargeError, match="more than 1 MB"):
        compression.unpack(kind, packed)


def test_deeply_nested_json_lines_are_an_error_with_their_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text("[" * 100_000 + "\n")
    assert command_line.main(["plot", str(path), "-o", str(tmp_path / "out.png")]) == 1
    assert "line 1 is not a state" in capsys.readouterr().err
