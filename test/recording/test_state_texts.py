# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""States of a series as text: filling in numbers gives the same texts as writing every state separately."""

from __future__ import annotations

import numpy as np
import pytest

import robot_semantics.recording.series.outputs as module
from robot_semantics import DescriptionError, WorldState, write_world
from robot_semantics.live.model_series import ABSENT, ModelSeries
from robot_semantics.recording.series.outputs import aged_states, state_texts
from robot_semantics.recording.series.series import Series
from robot_semantics.usdf.reader import parse_world

GAP_NS = 10**9
NUMBERS = (0.0, -0.0, 1.0, 1e-5, -1.5e-7, 1e22, 5e-324, 1.7976931348623157e308, 123456700000003.5, 0.1)


def turned(rng: np.random.Generator, *shape: int) -> np.ndarray:
    pose: np.ndarray = np.empty((*shape, 7))
    pose[:] = rng.normal(size=(*shape, 7)) * 10.0 ** rng.integers(-6, 6, size=(*shape, 1))
    pose[..., 3:] /= np.linalg.norm(pose[..., 3:], axis=-1, keepdims=True)
    return pose


def model(rng: np.random.Generator, which: np.ndarray, name: str, joints: tuple[str, ...], links: int) -> ModelSeries:
    """Return a model whose state at a time states what that one of three kinds does."""
    count = len(which)
    widths = tuple(int(width) for width in rng.choice([1, 3, 7], size=len(joints)))
    speeds = tuple({1: 1, 3: 3, 7: 6}[width] for width in widths)

    def numbers(width: int) -> np.ndarray:
        values: np.ndarray = rng.normal(size=(count, width))
        odd = rng.random(values.shape) < 0.1
        values[odd] = rng.choice(NUMBERS, size=odd.sum())
        values[(rng.random((3, width)) < 0.2)[which]] = np.nan
        return values

    def ages(*width: int) -> np.ndarray:
        age = rng.choice([-1, 0, 5 * GAP_NS], size=(3, *width))[which]
        return np.asarray(np.where(age > 0, age + rng.integers(2**60, size=age.shape), age))

    return ModelSeries(
        name,
        joints,
        widths,
        speeds,
        numbers(sum(widths)),
        numbers(sum(speeds)),
        numbers(sum(speeds)),
        ages(len(joints)),
        rng.choice([ABSENT, 0], size=3)[which],
        turned(rng, count),
        numbers(6),
        ages(),
        np.full(sum(widths), -np.inf),
        np.full(sum(widths), np.inf),
        tuple(f"link_{number}" for number in range(links)),
        turned(rng, count, links) if links else None,
        rng.normal(size=(count, links, 6)) if links else None,
        description="a&b.urdf",
    )


def series_at_random(seed: int, count: int = 40) -> Series:
    rng = np.random.default_rng(seed)
    which = rng.integers(3, size=count)
    frames = ("odom", "größer <&>\"'", "123456700000001.5", "1234567890.000000002")[: rng.integers(5)]
    models = tuple(
        model(rng, which, name, ("a", "b/c", "123456700000000.5")[: rng.integers(4)], int(rng.integers(3)))
        for name in ("robot", "1234567890.000000001")[: rng.integers(3)]
    )
    frame_pose = turned(rng, count, len(frames))
    frame_pose[(rng.random((3, len(frames))) < 0.2)[which]] = np.nan
    return Series(
        rng.integers(-(10**12), 2**62, size=count),
        ("world", *frames, *(some.name for some in models)),
        models,
        frames,
        rng.choice([ABSENT, 0, 0, 0], size=(3, len(frames)))[which],
        frame_pose,
        rng.normal(size=(count, len(frames), 6)),
        rng.choice([-1, 0, 2**40], size=(3, len(frames)))[which],
        world_name='rs:time="1"' if seed % 2 else None,
    )


@pytest.mark.parametrize("seed", range(40))
def test_filled_texts_are_what_writing_each_state_gives(seed: int) -> None:
    series = series_at_random(seed)
    assert list(state_texts(series, GAP_NS)) == [write_world(state) for state in aged_states(series, GAP_NS)]


def test_of_the_states_of_one_shape_two_are_written(monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[WorldState] = []

    def write(state: WorldState) -> str:
        written.append(state)
        return write_world(state)

    monkeypatch.setattr(module, "write_world", write)
    for seed in range(12):
        series = series_at_random(seed)
        if not any(
            name.startswith("1234567") for name in (*series.names, *(n for m in series.models for n in m.joints))
        ):
            assert len(list(state_texts(series, GAP_NS))) == 40
            assert 3 <= len(written) <= 6
            written.clear()


def test_what_is_filled_in_reads_back_to_the_numbers_of_the_series() -> None:
    rng = np.random.default_rng(3)
    plain = model(rng, np.zeros(50, dtype=int), "robot", ("a",), 0)
    values = rng.normal(size=(50, sum(plain.widths)))
    values[::7, 0] = NUMBERS[:8]
    none = np.zeros((50, 0))
    moving = ModelSeries(
        "robot",
        ("a",),
        plain.widths,
        plain.speeds,
        values,
        np.full_like(plain.velocities, np.nan),
        np.full_like(plain.efforts, np.nan),
        np.arange(50)[:, np.newaxis] + GAP_NS,
        np.zeros(50, dtype=np.int64),
        np.full((50, 7), np.nan),
        np.full((50, 6), np.nan),
        np.zeros(50, dtype=np.int64),
        plain.lower,
        plain.upper,
    )
    times = 10**18 + np.arange(50)
    series = Series(
        times,
        ("world", "robot"),
        (moving,),
        (),
        none.astype(np.int64),
        none[..., None],
        none[..., None],
        none.astype(np.int64),
    )
    states = [parse_world(text, "text") for text in state_texts(series, GAP_NS)]
    assert [state.time_ns for state in states] == times.tolist()
    joints = [state.model("robot").joint("a") for state in states]
    assert [repr(joint.positions) for joint in joints] == [repr(tuple(row)) for row in values.tolist()]
    assert [joint.age_ns for joint in joints] == [None, *range(GAP_NS + 1, GAP_NS + 50)]


def test_a_number_that_cannot_be_written_is_an_error_in_the_middle_of_a_stretch_too() -> None:
    series = next(some for some in map(series_at_random, range(20)) if some.models and some.models[0].joints)
    series.models[0].positions[:] = 1.0
    series.models[0].positions[-1] = np.inf
    with pytest.raises(DescriptionError, match="is not finite"):
        list(state_texts(series, GAP_NS))
