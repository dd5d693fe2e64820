# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""One state of a series with the descriptions of its robots, for example to restart a simulation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.base.files import save_all
from robot_semantics.base.nanoseconds import seconds_text
from robot_semantics.recording.robots import RequestError
from robot_semantics.recording.series_formats import readable_format
from robot_semantics.recording.series_input import load_arrays, load_states
from robot_semantics.recording.times import time_of
from robot_semantics.transforms.arrays import IntArray
from robot_semantics.usdf.saved_descriptions import Texts, described_beside
from robot_semantics.usdf.world_state import WorldState
from robot_semantics.usdf.writer import write_world


def state_at(path: Path, at: str, problems: Diagnostics) -> tuple[WorldState, dict[str, Texts]]:
    """Return the state of a series at a time, and its robots' descriptions by model.

    Args:
        path: the series: a folder, ``.npz``, ``.parquet`` or ``.jsonl``.
        at: ``end``, seconds since the first state, or since 1970 (``@`` forces the latter); the series must have a
            state at this time.
        problems: takes the problems of descriptions.

    Raises:
        RequestError: the series has no state at that time; the message has the nearest times.
        SeriesError: the file is not a series.
        OSError: it cannot be read.
    """
    if readable_format(path).arrays is not None:
        file = load_arrays(path)
        # Read only the row group with that time from a Parquet file.
        state = next(file.row(_index(file.times_ns, at)).states())
        texts = {
            model.name: Texts(file.texts[model.description], file.texts.get(model.semantic or "", ""))
            for model in state.models
            if model.description in file.texts
        }
    else:
        loaded = load_states([path], problems)
        state = loaded.states[_index(np.array([state.time_ns or 0 for state in loaded.states], dtype=np.int64), at)]
        texts = {name: Texts(text, loaded.srdf.get(name, "")) for name, text in loaded.urdf.items() if text}
    # Descriptions in the series get new names in the folder of the state.
    bare = (replace(m, description=None, semantic=None) if m.name in texts else m for m in state.models)
    return replace(state, models=tuple(bare)), {m.name: texts[m.name] for m in state.models if m.name in texts}


def save_state(state: WorldState, texts: Mapping[str, Texts], path: Path) -> None:
    """Write a state, and beside it its robots' descriptions in files named by their digests.

    Raises:
        DescriptionError: the state cannot be written.
        OSError: a file cannot be written.
    """
    named, files = described_beside(state, texts)
    beside = {path.parent / name: content for name, content in files.items()}
    save_all({**beside, path: write_world(named).encode()})


def _index(times_ns: IntArray, at: str) -> int:
    if not len(times_ns):
        raise RequestError("the series has no state")
    time_ns = time_of(at, int(times_ns[0]), int(times_ns[-1]))
    index = int(np.searchsorted(times_ns, time_ns))
    if index < len(times_ns) and times_ns[index] == time_ns:
        return index
    nearest = [seconds_text(int(times_ns[i])) for i in (index - 1, index) if 0 <= i < len(times_ns)]
    raise RequestError(f"the series has no state at {seconds_text(time_ns)} s; nearest: {', '.join(nearest)} s")
