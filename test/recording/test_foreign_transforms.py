# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Recorded transforms that no file can hold: each is left out and named, and the rest is exported."""

from __future__ import annotations

import math
from typing import Any

import pytest

from robot_semantics.usdf.reader import read_world

UNIT = (0.0, 0.0, 0.0, 1.0)
BAD = {
    "unset": ("", "", (0.0, 0.0, 0.0), UNIT),
    "empty child": ("map", "", (1.0, 0.0, 0.0), UNIT),
    "empty parent": ("", "no_parent", (1.0, 0.0, 0.0), UNIT),
    "slash as child": ("map", "/", (1.0, 0.0, 0.0), UNIT),
    "blank child": ("map", " ", (1.0, 0.0, 0.0), UNIT),
    "blank at the end": ("map", "camera ", (1.0, 0.0, 0.0), UNIT),
    "control character": ("map", "a\x01b", (1.0, 0.0, 0.0), UNIT),
    "line end": ("map", "a\nb", (1.0, 0.0, 0.0), UNIT),
    "control character in the parent": ("a\x1bb", "below_control", (1.0, 0.0, 0.0), UNIT),
    "tiny quaternion": ("map", "q_tiny", (1.0, 0.0, 0.0), (0.0, 0.0, 0.0, 1e-200)),
    "short quaternion": ("map", "q_short", (1.0, 0.0, 0.0), (0.0, 0.0, 0.0, 0.99)),
    "NaN": ("map", "t_nan", (math.nan, 0.0, 0.0), UNIT),
    "too far": ("map", "t_far", (1e30, 0.0, 0.0), UNIT),
    "name of a link": ("map", "rover_arm::base_link", (1.0, 0.0, 0.0), UNIT),
    "parent is the name of a link": ("rover_arm::base_link", "cup", (1.0, 0.0, 0.0), UNIT),
}


@pytest.mark.parametrize("together", [True, False], ids=["in one message", "in a message of its own"])
@pytest.mark.parametrize("kind", BAD)
def test_a_bad_transform_is_left_out_and_the_rest_is_exported(tools: Any, kind: str, together: bool) -> None:
    parent, child, xyz, quat = BAD[kind]
    tape = tools.rover(1.0)
    for number in range(3):
        stamp = tools.START + number * tools.S // 4
        rows = [(stamp, "map", "good", (1.0, 2.0, 3.0, *UNIT)), (stamp, parent, child, (*xyz, *quat))]
        for message in [rows] if together else [[row] for row in rows]:
            tape.tf(message, log=stamp)
    bag = tape.write(tools.folder / "bag")
    out = tools.folder / "state.usdf"
    code, _, stderr = tools.run("export", bag, "-o", out)
    assert code == 0, stderr
    state = read_world(out)
    good = state.frame("good").pose
    assert good is not None
    assert good.xyz_rpy[:3] == (1.0, 2.0, 3.0)
    assert all(frame.pose is None for frame in state.frames if frame.name == child)
    assert "frame '" in stderr or "is left out" in stderr
    assert "Traceback" not in stderr


def test_a_joint_state_with_a_negative_stamp_is_refused_as_in_the_node(tools: Any) -> None:
    tape = tools.rover(1.0)
    for number in range(3):
        tape.joints(-5 * tools.S + number, ["lift_joint"], [0.3], log=tools.START + number)
    bag = tape.write(tools.folder / "bag")
    out = tools.folder / "state.usdf"
    code, _, stderr = tools.run("export", bag, "-o", out)
    assert code == 0, stderr
    assert "3 messages refused" in stderr
    assert "its stamp is negative" in stderr
    assert read_world(out).time_ns >= tools.START


@pytest.mark.parametrize("quat", [(0.0, 0.0, 0.0, 1e-200), (0.0, 0.0, 0.0, 1.0)])
def test_odometry_that_no_file_can_hold_is_refused(tools: Any, quat: tuple[float, ...]) -> None:
    tape = tools.rover(1.0)
    frame = "od\x01om" if quat == UNIT else "odom"
    for number in range(3):
        tape.odometry(tools.START + number, frame, "base_footprint", (1.0, 0.0, 0.0, *quat), [0.0] * 6)
    out = tools.folder / "state.usdf"
    code, _, stderr = tools.run("export", tape.write(tools.folder / "bag"), "-o", out)
    assert code == 0, stderr
    assert "3 messages refused" in stderr
    assert read_world(out).models
