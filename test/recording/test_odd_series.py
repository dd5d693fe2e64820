# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Files of arrays that do not fit together: each is refused with the file's name, or its states can be made."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from robot_semantics import DescriptionError, Diagnostics
from robot_semantics.recording.series.input import load_arrays, load_states
from robot_semantics.recording.series.series import SeriesError

Array = np.ndarray[Any, np.dtype[Any]]

WRONG: dict[str, Callable[[Array], Array]] = {
    "a single number": lambda array: np.array(3.0),
    "nothing": lambda array: array[:0],
    "one too few": lambda array: array[:-1],
    "one too many": lambda array: np.concatenate([array, array[:1]]),
    "one more dimension": lambda array: np.stack([array, array], -1),
    "turned round": lambda array: np.moveaxis(array, 0, -1) if array.ndim > 1 else array[:-1],
    "texts": lambda array: np.full(array.shape, "x"),
    "not a number": lambda array: np.full(array.shape, np.nan),
    "infinite": lambda array: np.full(array.shape, np.inf),
    "large": lambda array: np.full(array.shape, 10**15),
    "below zero": lambda array: np.full(array.shape, -7),
    "complex": lambda array: np.full(array.shape, 1j),
    "truths": lambda array: np.full(array.shape, fill_value=True),
    "dates": lambda array: np.full(array.shape, np.datetime64("2020-01-01")),
}


@pytest.fixture(name="arrays")
def _arrays(tools: Any, drive: Path) -> dict[str, Array]:
    path = tools.folder / "good.npz"
    assert tools.run("export", drive, "--every", "0.5", "--links", "-o", path)[0] == 0
    return dict(np.load(path))


def save(path: Path, **arrays: Any) -> None:
    np.savez(path, **arrays)


def outcome(path: Path) -> str:
    """Return why a file is refused, or "" where its states can be made."""
    try:
        series = load_arrays(path).series()
    except SeriesError as error:
        return str(error)
    for _ in series.states():
        pass
    for _ in series.gaps(10**9):
        pass
    return ""


def test_arrays_that_do_not_fit_together_are_refused(arrays: dict[str, Array], tmp_path: Path) -> None:
    path = tmp_path / "odd.npz"
    taken = []
    for key in arrays:
        for kind, wrong in WRONG.items():
            if arrays[key].ndim or kind in ("texts", "not a number", "complex", "dates", "a single number"):
                save(path, **{**arrays, key: wrong(arrays[key])})
                if outcome(path) == "":
                    taken.append((key, kind))
        save(path, **{other: array for other, array in arrays.items() if other != key})
        outcome(path)
    # Cells that are not numbers may be unknown or anything; texts stay texts.
    for key, kind in taken:
        free = {"not a number", "large", "below zero"} if "/" in key or key.startswith("frame_") else set()
        free |= {"infinite"} if key.endswith(("/lower", "/upper")) else set()
        free |= {"large"} if key == "time_ns" else {"nothing"} if key.endswith("/links") else set()
        same = np.array_equal(WRONG[kind](arrays[key]), arrays[key])
        assert kind in free or arrays[key].ndim == 0 or same, (key, kind)
    for key in ("frame_parent", "names", "rover_arm/joints", "rover_arm/widths"):
        assert not [kind for name, kind in taken if name == key], key


def test_names_that_stand_twice_or_say_nothing_are_refused(arrays: dict[str, Array], tmp_path: Path) -> None:
    path = tmp_path / "odd.npz"
    for key in ("rover_arm/joints", "rover_arm/links", "frames", "names"):
        for name in (arrays[key][0], " "):
            names = arrays[key].copy()
            names[1] = name
            save(path, **{**arrays, key: names})
            assert "names" in outcome(path), key


@pytest.mark.parametrize("key", ["names", "frames", "models", "texts", "max_gap_ns"])
def test_a_parquet_file_whose_notes_are_nonsense_is_refused(tools: Any, drive: Path, key: str) -> None:
    pq = pytest.importorskip("pyarrow.parquet")
    path = tools.folder / "good.parquet"
    assert tools.run("export", drive, "--every", "0.5", "-o", path)[0] == 0
    table = pq.read_table(path)
    about = json.loads(table.schema.metadata[b"robot_semantics"])
    assert outcome(path) == ""
    values: tuple[Any, ...] = (None, 7, [], ["x", "x"], [7], {"x": 7}, [{}], "", [["y"]])
    for value in values:
        notes = json.dumps({**about, key: value}).encode()
        odd = tools.folder / "odd.parquet"
        pq.write_table(table.replace_schema_metadata({b"robot_semantics": notes}), odd)
        if key in ("names", "frames"):
            assert outcome(odd), (key, value)
        elif key == "models":
            assert value == [] or outcome(odd), value
        else:
            outcome(odd)


def test_lines_that_are_no_text_are_an_error_with_their_file(tmp_path: Path) -> None:
    path = tmp_path / "odd.jsonl"
    path.write_bytes(b'{"time": "0.000000000"}\n\xff\xfe\n')
    with pytest.raises(SeriesError, match="line 2 is not a state"):
        load_states([path], Diagnostics())


@pytest.mark.parametrize("name", ["series.jsonl", "index.json"])
def test_a_line_or_an_index_without_end_is_refused_before_it_fills_the_memory(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    with path.open("wb") as file:
        file.write(b'{"a": ["')
        # A hole in the file: it takes no room on the disk.
        file.truncate(2**40)
    with pytest.raises((SeriesError, DescriptionError), match=r"longer than (64 MB|67,108,864 bytes)"):
        load_states([path if name == "series.jsonl" else tmp_path], Diagnostics())


def test_a_line_that_is_only_half_there_yet_is_named(tools: Any, drive: Path) -> None:
    path = tools.folder / "series.jsonl"
    assert tools.run("export", drive, "--every", "1", "-o", path)[0] == 0
    whole = path.read_bytes()
    lines = whole.count(b"\n")
    assert len(load_states([path], Diagnostics()).states) == lines > 2
    path.write_bytes(whole[:-9])
    with pytest.raises(SeriesError, match=f"line {lines} is not a state"):
        load_states([path], Diagnostics())
