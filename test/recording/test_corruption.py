# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Two hundred damaged bags: each gives an error with a place, or its complete parts with a list of the others."""

from __future__ import annotations

import random
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from robot_semantics.recording.bags.salvage_sqlite import scan_sqlite

Damage = Callable[[random.Random, Path], bool]
"""Damages a bag; returns whether that must be noticed."""


def _data_file(bag: Path, rng: random.Random) -> Path:
    if bag.is_file():
        return bag
    return rng.choice(sorted(file for file in bag.iterdir() if file.suffix in (".mcap", ".db3", ".zstd")))


def _truncate(rng: random.Random, bag: Path) -> bool:
    file = _data_file(bag, rng)
    size = file.stat().st_size
    with file.open("r+b") as stream:
        stream.truncate(rng.randrange(size))
    return True


def _flip(rng: random.Random, bag: Path) -> bool:
    file = _data_file(bag, rng)
    data = bytearray(file.read_bytes())
    for _ in range(rng.randrange(1, 30)):
        data[rng.randrange(len(data))] ^= rng.randrange(1, 256)
    file.write_bytes(data)
    # A bit of a position or of an unused page looks as good as any other.
    return False


def _overwrite(rng: random.Random, bag: Path) -> bool:
    file = _data_file(bag, rng)
    data = bytearray(file.read_bytes())
    size = rng.randrange(1, max(2, len(data) // 3))
    at = rng.randrange(len(data) - size)
    data[at : at + size] = rng.choice([bytes(size), b"\xff" * size, rng.randbytes(size)])
    file.write_bytes(data)
    return False


def _remove_metadata(rng: random.Random, bag: Path) -> bool:
    (bag / "metadata.yaml").unlink()
    return True


def _spoil_metadata(rng: random.Random, bag: Path) -> bool:
    file = bag / "metadata.yaml"
    text = file.read_text()
    choices = (
        "",
        "rosbag2_bagfile_information: 5",
        text.replace("version:", "verzion:"),
        text.replace("mcap", "tape").replace("sqlite3", "tape"),
        text[: len(text) // 2],
        "{" + text,
        text.replace("nanoseconds_since_epoch:", "nanoseconds_since_epoch: x"),
    )
    file.write_text(rng.choice(choices))
    return True


def _wrong_definition(rng: random.Random, bag: Path) -> bool:
    """Change the text of the type definitions, in place and of the same length."""
    file = _data_file(bag, rng)
    data = file.read_bytes()
    old, new = rng.choice(
        [(b"float64[] position", b"float32[] position"), (b"string child_frame_id", b"string child_frame_xx")]
    )
    file.write_bytes(data.replace(old, new))
    return True


DAMAGES: list[tuple[str, Damage]] = [
    ("mcap", _truncate),
    ("mcap", _flip),
    ("mcap", _overwrite),
    ("mcap", _remove_metadata),
    ("mcap", _spoil_metadata),
    ("mcap", _wrong_definition),
    ("mcap split", _truncate),
    ("mcap split", _flip),
    ("bare mcap", _truncate),
    ("bare mcap", _flip),
    ("bare mcap", _overwrite),
    ("bare mcap zstd", _truncate),
    ("bare mcap zstd", _overwrite),
    ("bare mcap lz4", _flip),
    ("bare mcap unindexed", _truncate),
    ("bare mcap unindexed", _overwrite),
    ("sqlite3", _truncate),
    ("sqlite3", _flip),
    ("sqlite3", _overwrite),
    ("sqlite3", _spoil_metadata),
    ("sqlite3", _wrong_definition),
    ("sqlite3 zstd by file", _truncate),
    ("mcap zstd by message", _flip),
    ("ros1", _truncate),
    ("ros1", _overwrite),
]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory, rover: Callable[[float], Any]) -> dict[str, Path]:
    """One whole bag of each kind that is damaged."""
    folder = tmp_path_factory.mktemp("whole")
    kinds = {kind for kind, _ in DAMAGES}
    return {kind: rover(2.0).write(folder / kind.replace(" ", "_"), kind) for kind in sorted(kinds)}


def test_a_database_that_ends_in_its_last_page_is_told_of(tools: Any, whole: dict[str, Path]) -> None:
    bag = tools.folder / "cut"
    shutil.copytree(whole["sqlite3"], bag)
    (file,) = bag.glob("*.db3")
    with file.open("r+b") as stream:
        stream.truncate(file.stat().st_size - 1)
    _, _, stderr = tools.run("export", bag, "--every", "0.1", "-o", tools.folder / "cut.npz", "--world-frame", "map")
    assert "is cut off in its last pages" in stderr


def test_two_hundred_damaged_bags_give_what_is_whole_and_say_what_is_not(tools: Any, whole: dict[str, Path]) -> None:
    rng = random.Random(20)
    outcomes: Counter[str] = Counter()
    out = tools.folder / "out.npz"
    for number in range(200):
        kind, damage = DAMAGES[number % len(DAMAGES)]
        source = whole[kind]
        bag = tools.folder / f"bag{''.join(source.suffixes)}"
        (shutil.copytree if source.is_dir() else shutil.copy)(source, bag)
        must_be_noticed = damage(rng, bag)
        out.unlink(missing_ok=True)
        label = f"{number} {kind} {damage.__name__}"
        code, stdout, stderr = tools.run("export", bag, "--every", "0.1", "-o", out, "--world-frame", "map")
        if code == 1 and not stdout:
            # Nothing came out, so an error says why, and nothing lies about.
            assert "error: " in stderr, label
            assert not out.exists(), label
            outcomes["refused"] += 1
        else:
            assert out.exists(), label
            assert np.load(out)["time_ns"].size > 0, label
            lines = [line for line in stderr.splitlines() if "error: " in line or "warning: " in line]
            assert code == (1 if any("error: " in line for line in lines) else 0), label
            outcomes["partial" if lines else "unnoticed"] += 1
            if must_be_noticed:
                assert lines, label
        assert {path.name for path in tools.folder.iterdir()} <= {bag.name, out.name}, label
        shutil.rmtree(bag) if bag.is_dir() else bag.unlink()
    assert sum(outcomes.values()) == 200
    assert outcomes["partial"] > 80
    assert outcomes["refused"] > 20


@pytest.mark.parametrize(
    ("kind", "share"),
    [
        ("mcap", 0.1),
        ("mcap", 0.65),
        ("mcap zstd by storage", 0.65),
        ("sqlite3", 0.4),
        ("sqlite3", 0.7),
        ("ros1", 0.1),
        ("ros1", 0.65),
    ],
)
def test_what_stands_before_the_cut_is_read_as_from_the_whole_bag(tools: Any, kind: str, share: float) -> None:
    """Bags of this size are one chunk, or one database: even without its end, the rest must be read."""
    whole = tools.rover(20.0).write(tools.folder / "whole", kind)
    cut = tools.folder / f"cut{whole.suffix}"
    (shutil.copytree if whole.is_dir() else shutil.copy)(whole, cut)
    file = _data_file(cut, random.Random(1))
    with file.open("r+b") as stream:
        stream.truncate(int(file.stat().st_size * share))
    arrays = []
    for bag in (whole, cut):
        out = tools.folder / f"{bag.name}.npz"
        code, _, stderr = tools.run("export", bag, "--every", "0.1", "-o", out, "--world-frame", "map")
        assert code == (1 if bag == cut else 0), stderr
        arrays.append(dict(np.load(out)))
    expected, found = arrays
    # States near the cut lack the message after them.
    count = len(found["time_ns"]) - 4
    assert count > 0.5 * share * len(expected["time_ns"])
    for name in ("time_ns", "rover_arm/positions", "rover_arm/velocities", "rover_arm/pose"):
        np.testing.assert_array_equal(found[name][:count], expected[name][:count])
    # Frames on links come from forward kinematics, whose last bit depends on the number of states in a batch.
    np.testing.assert_allclose(found["frame_pose"][:count], expected["frame_pose"][:count], rtol=0.0, atol=1e-12)


def test_a_database_that_is_cut_off_while_it_is_read_gives_what_is_left(tools: Any) -> None:
    path = _a_database(tools)
    found = scan_sqlite(path, lambda _: None)
    first = next(found)
    with path.open("r+b") as stream:
        stream.truncate(5000)
    assert len([first, *found]) < 200


def test_a_row_that_states_to_be_longer_than_its_file_is_left_out(tmp_path: Path) -> None:
    # One row of 2 ** 40 bytes, and an overflow page that leads to itself.
    size = 4096
    pages = bytearray(b"SQLite format 3\0" + size.to_bytes(2, "big") + bytes(2 * size - 18))
    pages[28:32] = (2).to_bytes(4, "big")
    pages[100:108] = b"\x0d" + bytes(2) + (1).to_bytes(2, "big") + bytes(3)
    pages[108:110] = (200).to_bytes(2, "big")
    here = 489 + (2**40 - 489) % (size - 4)
    cell = bytes([0xA0, 0x80, 0x80, 0x80, 0x80, 0x00, 1]) + bytes(here if here <= size - 35 else 489)
    pages[200 : 200 + len(cell) + 4] = cell + (2).to_bytes(4, "big")
    pages[size : size + 4] = (2).to_bytes(4, "big")
    path = tmp_path / "odd.db3"
    path.write_bytes(pages[: 2 * size])
    assert list(scan_sqlite(path, lambda _: None)) == []


def _a_database(tools: Any) -> Path:
    tape = tools.Tape()
    for i in range(200):
        tape.joints(tools.START + i * tools.S, tools.ARM, [0.01 * i] * len(tools.ARM))
    bag: Path = tape.write(tools.folder / "bag", "sqlite3")
    return next(file for file in bag.iterdir() if file.suffix == ".db3")
