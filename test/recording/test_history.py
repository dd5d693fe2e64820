# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Look-ups in recorded transforms, against what tf2's BufferCore answered and against scipy's slerp."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation, Slerp
from support.transform_samples import history_of

from robot_semantics.recording.tracks.history import Status, TransformHistory

GOLDEN = Path(__file__).parent.parent / "data" / "tf2_lookups.json"
TF2_STATUS = {
    "LookupException": Status.LOOKUP,
    "ConnectivityException": Status.CONNECTIVITY,
    "ExtrapolationException": Status.EXTRAPOLATION,
}


@pytest.fixture(scope="module")
def golden() -> dict[str, Any]:
    with GOLDEN.open(encoding="utf-8") as file:
        document: dict[str, Any] = json.load(file)
    return document


@pytest.fixture(scope="module")
def history(golden: dict[str, Any]) -> TransformHistory:
    return history_of((t[0], t[1], t[2], t[3], tuple(t[4:])) for t in golden["transforms"])


def _same(a: np.ndarray, b: np.ndarray) -> float:
    """Return the largest difference of two poses (n, 7), the quaternions' sign left aside."""
    sign = np.where((a[..., 3:] * b[..., 3:]).sum(axis=-1, keepdims=True) < 0.0, -1.0, 1.0)
    return float(max(np.abs(a[..., :3] - b[..., :3]).max(), np.abs(a[..., 3:] - sign * b[..., 3:]).max()))


def test_every_look_up_equals_tf2s_answer(golden: dict[str, Any], history: TransformHistory) -> None:
    answers: Counter[str] = Counter()
    for target, source, time_ns, expected in golden["queries"]:
        found = history.lookup(target, source, [time_ns])
        if isinstance(expected, str):
            assert found.status[0] == TF2_STATUS[expected], (target, source, time_ns)
            assert np.isnan(found.poses[0]).all()
            answers[expected] += 1
        else:
            assert found.status[0] == Status.OK, (target, source, time_ns)
            assert _same(found.poses[0], np.array(expected)) < 1e-9, (target, source, time_ns)
            answers["OK"] += 1
    assert answers == {"OK": 1050, "ExtrapolationException": 94, "ConnectivityException": 31, "LookupException": 25}


def test_transforms_of_one_stamp_count_as_in_tf2() -> None:
    worlds = json.loads((GOLDEN.parent / "tf2_equal_stamps.json").read_text())["worlds"]
    answered = 0
    for world in worlds:
        history = history_of((t[0], t[1], t[2], t[3], tuple(t[4:])) for t in world["transforms"])
        for target, source, time_ns, expected in world["queries"]:
            found = history.lookup(target, source, [time_ns])
            if isinstance(expected, str):
                assert found.status[0] == TF2_STATUS[expected], (target, source, time_ns)
            else:
                assert found.status[0] == Status.OK, (target, source, time_ns)
                assert _same(found.poses[0], np.array(expected)) < 1e-9, (target, source, time_ns)
                answered += 1
    assert answered == 239


def test_many_times_at_once_give_what_each_gives_alone(golden: dict[str, Any], history: TransformHistory) -> None:
    pairs: dict[tuple[str, str], list[tuple[int, Any]]] = {}
    for target, source, time_ns, expected in golden["queries"]:
        pairs.setdefault((target, source), []).append((time_ns, expected))
    several = 0
    for (target, source), queries in pairs.items():
        found = history.lookup(target, source, [time_ns for time_ns, _ in queries])
        several += len(queries) > 3
        for (_, expected), pose, status in zip(queries, found.poses, found.status, strict=True):
            if isinstance(expected, str):
                assert status == TF2_STATUS[expected]
            else:
                assert status == Status.OK
                assert _same(pose, np.array(expected)) < 1e-9
    assert several > 30


def _jumping(rng: np.random.Generator) -> list[tuple[str, str, bool, int, tuple[float, ...]]]:
    """Return base in odom with jumps and irregular stamps, and a static camera on it."""
    stamps = np.cumsum(rng.integers(1_000_000, 80_000_000, 400))
    position = np.cumsum(rng.normal(scale=0.02, size=(400, 3)), axis=0)
    position[200:] += (5.0, -3.0, 0.4)
    rotation = Rotation.random(400, rng=rng)
    samples: list[tuple[str, str, bool, int, tuple[float, ...]]] = [
        ("base", "camera", True, 0, (0.1, 0.2, 0.3, *Rotation.from_euler("xyz", (0.3, -1.2, 2.0)).as_quat()))
    ]
    samples += [
        ("odom", "base", False, int(stamps[i]), (*position[i], *rotation[i].as_quat())) for i in rng.permutation(400)
    ]
    return samples


def test_a_thousand_random_times_agree_with_scipys_slerp() -> None:
    checked = 0
    for seed in range(3):
        rng = np.random.default_rng(seed)
        samples = _jumping(rng)
        history = history_of(samples)
        moving = sorted((s for s in samples if not s[2]), key=lambda s: s[3])
        stamps = np.array([s[3] for s in moving])
        poses = np.array([s[4] for s in moving])
        times = rng.integers(stamps[0], stamps[-1], 1000)
        camera = np.array(samples[0][4])
        turned = Slerp(stamps - stamps[0], Rotation.from_quat(poses[:, 3:]))(times - stamps[0])
        moved = np.stack([np.interp(times - stamps[0], stamps - stamps[0], poses[:, i]) for i in range(3)], axis=1)
        expected = np.concatenate(
            [moved + turned.apply(camera[:3]), (turned * Rotation.from_quat(camera[3:])).as_quat()], axis=1
        )
        found = history.lookup("odom", "camera", times)
        assert (found.status == Status.OK).all()
        assert _same(found.poses, expected) < 1e-9
        checked += len(times)
    assert checked == 3000


def test_a_look_up_at_a_sample_gives_that_sample_bit_for_bit() -> None:
    samples = _jumping(np.random.default_rng(7))
    history = history_of(samples)
    moving = [s for s in samples if not s[2]]
    found = history.local(history.index["base"], np.array([s[3] for s in moving]))
    assert (found.poses == np.array([s[4] for s in moving])).all()
    assert (found.age_ns == 0).all()


def test_of_transforms_with_one_stamp_the_last_holds_from_then_on_and_the_first_until_then() -> None:
    x = [(float(value), 0.0, 0.0, 0.0, 0.0, 0.0, 1.0) for value in range(5)]
    history = history_of(
        [
            ("odom", "base", False, 10, x[0]),
            ("odom", "base", False, 20, x[1]),
            ("odom", "base", False, 20, x[3]),
            ("odom", "base", False, 20, x[1]),  # the same once more says nothing new
            ("odom", "base", False, 30, x[4]),
        ]
    )
    found = history.lookup("odom", "base", [15, 20, 25]).poses[:, 0]
    np.testing.assert_array_equal(found, [0.5, 3.0, 3.5])
    assert history.edges[history.index["base"]].timeline.duplicates == 2


def test_repeated_stamps_are_answered_as_the_live_buffer_answers_them() -> None:
    tf2_ros = pytest.importorskip("tf2_ros")
    from rclpy.duration import Duration
    from rclpy.time import Time
    from support.tf_messages import numbers, stamped

    rng = np.random.default_rng(5)
    different = checked = 0
    for _ in range(40):
        buffer = tf2_ros.Buffer(cache_time=Duration(seconds=1000))
        samples = []
        for child, parents in (("odom", ("map",)), ("base", ("odom", "map")), ("tool", ("base",))):
            for _ in range(int(rng.integers(1, 9))):
                pose = (*rng.integers(0, 3, 3).astype(float), *Rotation.random(rng=rng).as_quat())
                parent, stamp_ns = str(rng.choice(parents)), int(rng.integers(1, 6)) * 1_000_000_000
                samples.append((parent, child, False, stamp_ns, tuple(map(float, pose))))
        samples = [samples[i] for i in rng.permutation([*range(len(samples)), *range(0, len(samples), 3)])]
        for parent, child, _, stamp_ns, pose in samples:
            buffer.set_transform(stamped(parent, child, stamp_ns, pose), "test")
        history = history_of(samples)
        different += any(edge.timeline.duplicates for edge in history.edges.values())
        for _ in range(50):
            target, source = rng.choice(["map", "odom", "base", "tool"], 2)
            time_ns = int(rng.integers(0, 13)) * 500_000_000
            found = history.lookup(target, source, [time_ns])
            try:
                answer = buffer.lookup_transform(target, source, Time(nanoseconds=time_ns))
            except tf2_ros.TransformException as error:
                outcome = TF2_STATUS[type(error).__name__]
            else:
                outcome = Status.OK
                assert _same(found.poses[0], np.array(numbers(answer))) < 1e-9, (target, source, time_ns)
                checked += 1
            assert found.status[0] == outcome, (target, source, time_ns)
    assert different > 30
    assert checked > 500


def test_a_parent_that_changes_is_followed_from_its_first_sample_on() -> None:
    a, b = (1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0), (2.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0)
    history = history_of(
        [
            ("left", "cup", False, 10, a),
            ("left", "cup", False, 20, a),
            ("right", "cup", False, 30, b),
            ("right", "cup", False, 40, b),
        ]
    )
    assert list(history.lookup("left", "cup", [15, 25, 35]).status) == [Status.OK, Status.OK, Status.CONNECTIVITY]
    assert history.lookup("right", "cup", [35]).poses[0, 0] == 2.0


def test_a_cycle_of_frames_ends_without_an_answer() -> None:
    a = (1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0)
    history = history_of([("x", "y", True, 0, a), ("y", "x", True, 0, a), ("z", "w", True, 0, a)])
    assert history.lookup("w", "x", [1]).status[0] == Status.CONNECTIVITY
    assert history.lookup("w", "x", [0]).status[0] == Status.CONNECTIVITY


@pytest.mark.parametrize(
    ("mode", "hold", "expected"),
    [
        ("linear", False, [np.nan, 1.0, 1.5, 2.0, np.nan]),
        ("linear", True, [np.nan, 1.0, 1.5, 2.0, 2.0]),
        ("previous", False, [np.nan, 1.0, 1.0, 2.0, np.nan]),
        ("previous", True, [np.nan, 1.0, 1.0, 2.0, 2.0]),
        ("nearest", False, [np.nan, 1.0, 1.0, 2.0, np.nan]),
        ("nearest", True, [1.0, 1.0, 1.0, 2.0, 2.0]),
    ],
)
def test_each_mode_takes_the_samples_it_says(mode: str, hold: bool, expected: list[float]) -> None:
    a, b = (1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0), (2.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0)
    history = history_of([("odom", "base", False, 10, a), ("odom", "base", False, 20, b)])
    found = history.local(history.index["base"], np.array([5, 10, 15, 20, 26]), mode, hold=hold)
    np.testing.assert_array_equal(found.poses[:, 0], expected)
    assert found.age_ns[2] == 5
    assert found.age_ns[4] == (6 if hold else -1)
