# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Export of an hour of a robot: one state, 3,600 states, and all 360,000, compared with a plain script and with bare
reading.

The recording has 100 Hz joint states of 40 joints and 50 Hz tf of 10 transforms. The plain script is typical user code
with `rosbags`: it decodes every message to dictionaries and lists, and for each state it does a bisection and an
interpolation for each frame. Both results are compared before anything is printed.

Run: python -m benchmark.bench_recording [--minutes 60] [--storage mcap|sqlite3]
"""

from __future__ import annotations

import argparse
import math
import tempfile
import time
from bisect import bisect_right
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from rosbags.highlevel import AnyReader
from rosbags.rosbag2 import StoragePlugin, Writer
from rosbags.typesys import Stores, get_typestore

from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.recording.export import ExportRequest, export
from robot_semantics.recording.read.times import TimeRequest

JOINTS, FRAMES = 40, 10
START_NS = 1_700_000_000 * 10**9
JOINT_STEP_NS, TF_STEP_NS = 10_000_000, 20_000_000
NAMES = tuple(f"arm_{number // 7}_joint_{number % 7}" for number in range(JOINTS))


def record(path: Path, minutes: float, storage: str, *, subsets: bool = False) -> None:
    """Write the recording; `rosbags` makes each message once, then only its numbers change.

    With `subsets` each tf message has the other half of the transforms, like a robot in which only some frames move.
    """
    store = get_typestore(Stores.ROS2_JAZZY)
    types: Any = store.types
    stamp = types["builtin_interfaces/msg/Time"](sec=0x11111111, nanosec=0x22222222)
    vector, quaternion = types["geometry_msgs/msg/Vector3"], types["geometry_msgs/msg/Quaternion"]

    def header(frame: str) -> Any:
        return types["std_msgs/msg/Header"](stamp=stamp, frame_id=frame)

    numbers = np.full(JOINTS, math.pi)
    joints = types["sensor_msgs/msg/JointState"](
        header=header(""), name=list(NAMES), position=numbers, velocity=numbers, effort=numbers
    )
    transforms = [
        types["geometry_msgs/msg/TransformStamped"](
            header=header("map" if number == 0 else f"frame_{number - 1}"),
            child_frame_id=f"frame_{number}",
            transform=types["geometry_msgs/msg/Transform"](
                translation=vector(math.pi, math.pi, math.pi), rotation=quaternion(math.pi, math.pi, math.pi, math.pi)
            ),
        )
        for number in range(FRAMES)
    ]
    joint_message = _Template(bytes(store.serialize_cdr(joints, joints.__msgtype__)))
    tf_type = types["tf2_msgs/msg/TFMessage"]

    @cache
    def tf_template(which: tuple[int, ...]) -> _Template:
        some = tf_type(transforms=[transforms[index] for index in which])
        return _Template(bytes(store.serialize_cdr(some, tf_type.__msgtype__)))

    everything = tuple(range(FRAMES))
    rng = np.random.default_rng(1)
    plugin = StoragePlugin.MCAP if storage == "mcap" else StoragePlugin.SQLITE3
    with Writer(path, version=9, storage_plugin=plugin) as writer:
        joint_topic = writer.add_connection("/joint_states", joints.__msgtype__, typestore=store)
        tf_topic = writer.add_connection("/tf", tf_type.__msgtype__, typestore=store)
        angle = rng.normal(size=FRAMES)
        for i in range(int(minutes * 60e9 / JOINT_STEP_NS)):
            now = START_NS + i * JOINT_STEP_NS
            writer.write(joint_topic, now, joint_message.filled(now, rng.normal(size=3 * JOINTS)))
            if i * JOINT_STEP_NS % TF_STEP_NS == 0:
                angle += 0.01
                poses = np.zeros((FRAMES, 7))
                poses[:, :3] = rng.normal(size=(FRAMES, 3))
                poses[:, 5], poses[:, 6] = np.sin(angle / 2), np.cos(angle / 2)
                # Half a step later, so that almost every state is between two transforms.
                which = tuple(np.flatnonzero(rng.random(FRAMES) < 0.5).tolist()) if subsets else everything
                message = tf_template(which).filled(now - TF_STEP_NS // 4, poses[list(which)].ravel())
                writer.write(tf_topic, now, message)


class _Template:
    def __init__(self, message: bytes) -> None:
        self.message = bytearray(message)
        self.stamps = list(_places(message, b"\x11\x11\x11\x11\x22\x22\x22\x22"))
        self.numbers = np.array(list(_places(message, np.float64(math.pi).tobytes())), dtype=np.int64)
        self.view = np.frombuffer(self.message, dtype=np.uint8)
        self.slots = (self.numbers[:, None] + np.arange(8)).ravel()

    def filled(self, now: int, values: np.ndarray[Any, Any]) -> bytes:
        seconds, nanoseconds = divmod(now, 10**9)
        stamp = seconds.to_bytes(4, "little") + nanoseconds.to_bytes(4, "little")
        for at in self.stamps:
            self.message[at : at + 8] = stamp
        self.view[self.slots] = values.view(np.uint8)
        return bytes(self.message)


def _places(message: bytes, pattern: bytes) -> Iterator[int]:
    at = message.find(pattern)
    while at >= 0:
        yield at
        at = message.find(pattern, at + 8)


def plain_script(bag: Path, out: Path, times: Callable[[list[int]], list[int]]) -> None:
    """Export with a typical user script for `rosbags`."""
    joint_stamps: list[int] = []
    joint_values: list[tuple[dict[str, float], dict[str, float], dict[str, float]]] = []
    frame_stamps: dict[str, list[int]] = {}
    frame_poses: dict[str, list[tuple[float, ...]]] = {}
    with AnyReader([bag]) as reader:
        for connection, _, raw in reader.messages():
            message: Any = reader.deserialize(raw, connection.msgtype)
            if connection.topic == "/joint_states":
                joint_stamps.append(message.header.stamp.sec * 10**9 + message.header.stamp.nanosec)
                values = (message.position, message.velocity, message.effort)
                q, v, effort = (dict(zip(message.name, some.tolist(), strict=True)) for some in values)
                joint_values.append((q, v, effort))
            else:
                for item in message.transforms:
                    stamp = item.header.stamp.sec * 10**9 + item.header.stamp.nanosec
                    t, r = item.transform.translation, item.transform.rotation
                    frame_stamps.setdefault(item.child_frame_id, []).append(stamp)
                    frame_poses.setdefault(item.child_frame_id, []).append((t.x, t.y, t.z, r.x, r.y, r.z, r.w))
    chosen = times(joint_stamps)
    positions, poses = [], []
    for now in chosen:
        at = bisect_right(joint_stamps, now) - 1
        after = min(at + 1, len(joint_stamps) - 1)
        span = joint_stamps[after] - joint_stamps[at]
        share = (now - joint_stamps[at]) / span if span else 0.0
        low, high = joint_values[at], joint_values[after]
        rows = [[a[n] + share * (b[n] - a[n]) for n in NAMES] for a, b in zip(low, high, strict=True)]
        positions.append(rows)
        poses.append([_interpolated(frame_stamps[name], frame_poses[name], now) for name in sorted(frame_stamps)])
    np.savez(out, time_ns=np.array(chosen), values=np.array(positions), frame_pose=np.array(poses))


def _interpolated(stamps: list[int], poses: list[tuple[float, ...]], now: int) -> tuple[float, ...]:
    at = bisect_right(stamps, now) - 1
    if at < 0:
        return (math.nan,) * 7
    if at + 1 >= len(stamps) or stamps[at] == now:
        return poses[at]
    share = (now - stamps[at]) / (stamps[at + 1] - stamps[at])
    a, b = poses[at], poses[at + 1]
    dot = a[3] * b[3] + a[4] * b[4] + a[5] * b[5] + a[6] * b[6]
    sign = -1.0 if dot < 0.0 else 1.0
    theta = math.acos(min(1.0, abs(dot)))
    if theta < 1e-9:
        first, second = 1.0 - share, share
    else:
        first, second = math.sin((1 - share) * theta) / math.sin(theta), math.sin(share * theta) / math.sin(theta)
    moved = tuple(a[i] * (1 - share) + b[i] * share for i in range(3))
    return moved + tuple(first * a[i] + sign * second * b[i] for i in range(3, 7))


def bare_reading(bag: Path) -> int:
    """Read every message's bytes and ignore them."""
    count = 0
    with AnyReader([bag]) as reader:
        for _ in reader.messages():
            count += 1
    return count


def ours(bag: Path, out: Path, times: TimeRequest) -> None:
    """Export with this package."""
    export(ExportRequest((bag,), out, times=times), Diagnostics())


def compare(mine: Path, plain: Path) -> int:
    """Return the number of states that are equal in both; stop if one differs."""
    a, b = np.load(mine), np.load(plain)
    assert (a["time_ns"] == b["time_ns"]).all()
    names: list[str] = a["robot/joints"].tolist()
    assert sorted(names) == sorted(NAMES)
    order = [names.index(name) for name in NAMES]
    for row, key in enumerate(("positions", "velocities", "efforts")):
        np.testing.assert_allclose(a[f"robot/{key}"][:, order], b["values"][:, row], rtol=0, atol=1e-12)
    frames = [f"frame_{number}" for number in range(FRAMES)]
    columns = [a["frames"].tolist().index(name) for name in frames]
    mine_poses, poses = a["frame_pose"][:, columns], b["frame_pose"]
    sign = np.sign((mine_poses[..., 3:] * poses[..., 3:]).sum(axis=-1, keepdims=True))
    np.testing.assert_allclose(mine_poses[..., :3], poses[..., :3], rtol=0, atol=1e-9)
    np.testing.assert_allclose(mine_poses[..., 3:] * sign, poses[..., 3:], rtol=0, atol=1e-9)
    return len(a["time_ns"])


def timed(work: Callable[[], object]) -> float:
    """Return the processor time of a call [s]; it depends less on other programs than the elapsed time."""
    start = time.process_time()
    work()
    return time.process_time() - start


def main() -> None:
    """Record, compare, measure, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--storage", choices=("mcap", "sqlite3"), default="mcap")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        bag = folder / "bag"
        record(bag, arguments.minutes, arguments.storage)
        size = sum(file.stat().st_size for file in bag.iterdir())
        end_ns = START_NS + int(arguments.minutes * 60e9) - JOINT_STEP_NS
        middle = f"{arguments.minutes * 30:.0f}"
        cases: list[tuple[str, TimeRequest, Callable[[list[int]], list[int]]]] = [
            (
                "1 state",
                TimeRequest(at=(f"@{START_NS // 10**9 + int(middle)}",)),
                lambda _: [START_NS + int(middle) * 10**9],
            ),
            (
                "1 state a second",
                TimeRequest(every="1", start=f"@{START_NS // 10**9}"),
                lambda _: list(range(START_NS, end_ns + 1, 10**9)),
            ),
            ("all states", TimeRequest(at_topic="/joint_states"), lambda stamps: stamps),
        ]
        # Warm-up: on the second run everything is read from the file cache.
        messages = bare_reading(bag)
        floor = timed(lambda: bare_reading(bag))
        print(f"{arguments.minutes:g} minutes, {messages} messages, {size / 1e6:.0f} MB of {arguments.storage}")
        print("seconds of processor time, one process, the files in the file cache")
        print(f"bare reading of the same bytes: {floor:.2f} s ({messages / floor / 1e3:.0f} k messages/s)\n")
        print(f"{'':18}{'states':>9}{'ours [s]':>10}{'plain [s]':>11}{'plain/ours':>12}{'ours/bare':>11}")
        for label, request, times in cases:
            mine, plain = folder / "mine.npz", folder / "plain.npz"
            seconds = timed(partial(ours, bag, mine, request))
            slow = timed(partial(plain_script, bag, plain, times))
            count = compare(mine, plain)
            print(f"{label:18}{count:9}{seconds:10.2f}{slow:11.2f}{slow / seconds:12.1f}{seconds / floor:11.2f}")


if __name__ == "__main__":
    main()
