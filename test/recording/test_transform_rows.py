# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""TF messages with many different layouts have the same content as read by `rosbags`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from rosbags.highlevel import AnyReader
from rosbags.typesys import Stores, get_typestore

FRAMES = [f"/frame_{'x' * i}" for i in range(12)]


def varied(tools: Any, *, wrong: bool = False) -> Any:
    """Return a tape whose tf messages have any of twelve transforms, in any order."""
    tape, random = tools.Tape(), np.random.default_rng(3)
    for i in range(600):
        stamp = tools.START + i * tools.S // 50
        rows = []
        for frame in random.permutation(12)[: random.integers(1, 12)].tolist():
            pose = [*random.normal(size=3), *tools.turned(random.normal())]
            if wrong and frame == 7 and i % 10 == 0:
                pose[1] = np.nan
            rows.append((stamp + frame, "map", FRAMES[frame], pose))
        tape.tf(rows, log=stamp)
    return tape


@pytest.mark.parametrize("kind", ["mcap", "sqlite3", "ros1"])
def test_every_transform_is_that_of_the_message(tools: Any, kind: str) -> None:
    bag = varied(tools).write(tools.folder / "drive", kind)
    code, _, stderr = tools.run(
        "export", bag, "--interpolate", "previous", "--at-topic", "/tf", "-o", tools.folder / "x.npz"
    )
    assert (code, "refused" in stderr) == (0, False)
    found = dict(np.load(tools.folder / "x.npz"))
    names, times = found["frames"].tolist(), found["time_ns"].tolist()
    count = 0
    with AnyReader([bag], default_typestore=get_typestore(Stores.ROS2_JAZZY)) as reader:
        for connection, _, data in reader.messages():
            message: Any = reader.deserialize(data, connection.msgtype)
            for transform in message.transforms:
                place, turn = transform.transform.translation, transform.transform.rotation
                stamp = transform.header.stamp.sec * tools.S + transform.header.stamp.nanosec
                if stamp in times:
                    row = found["frame_pose"][times.index(stamp), names.index(transform.child_frame_id.lstrip("/"))]
                    assert row.tolist() == [place.x, place.y, place.z, turn.x, turn.y, turn.z, turn.w]
                    count += 1
    # A message's time is the time of its first transform.
    assert count >= 600


def test_what_is_no_transform_and_what_is_no_message_is_refused(tools: Any) -> None:
    tape = varied(tools, wrong=True)
    whole = tools.cdr(tape.events[5])
    for number, data in enumerate((whole[:-8], whole + bytes(9), whole.replace(b"map", b"\xff\xfe\xfd"))):
        tape.add("/tf", tools.TF, tools.START + number, data)
    stderr = tools.run("export", tape.write(tools.folder / "drive"), "-o", tools.folder / "x.usdf")[2]
    assert f"frame '{FRAMES[7][1:]}': a transform that is not finite or not a rotation" in stderr
    assert "8 bytes are needed" in stderr or "are needed, " in stderr
    assert "9 bytes are left over" in stderr
    assert "frame_id is not UTF-8" in stderr
