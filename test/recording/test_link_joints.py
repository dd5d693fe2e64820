# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Recordings with a description and the transforms of the links, but without joint states."""

from __future__ import annotations

import csv
import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from support.bags import START, S, Tape

from robot_semantics.cli.main import main
from robot_semantics.usdf.reader import read_world

LIMIT = '<limit lower="-3" upper="3" effort="1" velocity="1"/>'
URDF = f"""<robot name="r"><link name="base"/><link name="upper"/><link name="fore"/><link name="hand"/>
<link name="tip"/>
<joint name="shoulder" type="revolute"><origin xyz="0 0 0.5" rpy="0 0 0.3"/><parent link="base"/><child link="upper"/>
 <axis xyz="0 1 0"/>{LIMIT}</joint>
<joint name="slide" type="prismatic"><origin xyz="0.4 0 0"/><parent link="upper"/><child link="fore"/>
 <axis xyz="1 0 0"/>{LIMIT}</joint>
<joint name="grip" type="prismatic"><parent link="fore"/><child link="hand"/><axis xyz="0 1 0"/>{LIMIT}
 <mimic joint="slide" multiplier="-2" offset="0.1"/></joint>
<joint name="end" type="fixed"><origin xyz="0.1 0 0"/><parent link="hand"/><child link="tip"/></joint></robot>"""


def shoulder(t: float) -> float:
    return 0.8 * math.sin(t)


def slide(t: float) -> float:
    return 0.1 + 0.05 * t


def pose(rotation: Rotation, *xyz: float) -> list[float]:
    return [*xyz, *rotation.as_quat()]


def local(t: float) -> list[tuple[str, str, list[float]]]:
    """Return the transforms of robot_state_publisher, from the definition of the joints."""
    none = Rotation.identity()
    turned = Rotation.from_euler("z", 0.3) * Rotation.from_rotvec([0.0, shoulder(t), 0.0])
    return [
        ("base", "upper", pose(turned, 0.0, 0.0, 0.5)),
        ("upper", "fore", pose(none, 0.4 + slide(t), 0.0, 0.0)),
        ("fore", "hand", pose(none, 0.0, -2.0 * slide(t) + 0.1, 0.0)),
    ]


def in_the_world(t: float) -> list[tuple[str, str, list[float]]]:
    """Return the same links as a motion capture sees them: each in the room, which the base stands in at x = 2."""
    T, result = {"base": np.eye(4)}, []
    T["base"][0, 3] = 2.0
    for parent, child, (x, y, z, *quat) in local(t):
        step = np.eye(4)
        step[:3, :3], step[:3, 3] = Rotation.from_quat(quat).as_matrix(), (x, y, z)
        T[child] = T[parent] @ step
    for name, matrix in T.items():
        result.append(("room", name, pose(Rotation.from_matrix(matrix[:3, :3]), *matrix[:3, 3])))
    return result


Transforms = Callable[[float], list[tuple[str, str, list[float]]]]


def bag(folder: Path, transforms: Transforms, *, joints: dict[str, float] | None = None, off: float = 0.0) -> Path:
    tape = Tape()
    tape.text("/robot_description", URDF)
    tape.tf([(START, "hand", "tip", [0.1, 0, 0, 0, 0, 0, 1])], topic="/tf_static")
    for k in range(50):
        stamp, t = START + k * S // 10, 0.1 * k
        rows = [(stamp, parent, child, values) for parent, child, values in transforms(t)]
        if off:
            rows[1][3][1] += off
        tape.tf(rows)
        if joints:
            tape.joints(stamp, tuple(joints), tuple(joints.values()))
    return tape.write(folder / "bag")


def table(source: Path, out: Path, capsys: pytest.CaptureFixture[str], *words: str) -> tuple[list[dict[str, str]], str]:
    assert main(["export", str(source), "-o", str(out), "--every", "0.1", *words]) == 0
    return list(csv.DictReader(out.read_text().splitlines())), capsys.readouterr().err


@pytest.mark.parametrize("transforms", [local, in_the_world], ids=["as robot_state_publisher", "as motion capture"])
def test_joints_without_messages_follow_from_their_links(
    transforms: Transforms, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows, said = table(bag(tmp_path, transforms), tmp_path / "o.csv", capsys)
    assert len(rows) == 50
    for k, row in enumerate(rows):
        for joint, value in {"shoulder": shoulder(0.1 * k), "slide": slide(0.1 * k)}.items():
            assert float(row[f"r/{joint}/position"]) == pytest.approx(value, abs=1e-9)
        assert float(row["r/grip/position"]) == pytest.approx(-2.0 * slide(0.1 * k) + 0.1, abs=1e-9)
    assert "no message has" in said, said


def test_a_joint_that_a_message_has_is_not_taken_from_its_links(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The topic says 0.25, the links say something else; the follower of a stated leader follows it."""
    rows, said = table(bag(tmp_path, local, joints={"slide": 0.25}), tmp_path / "o.csv", capsys)
    for k, row in enumerate(rows):
        assert float(row["r/slide/position"]) == 0.25
        assert float(row["r/grip/position"]) == pytest.approx(-0.4, abs=1e-12)
        assert float(row["r/shoulder/position"]) == pytest.approx(shoulder(0.1 * k), abs=1e-9)
    assert "no message has 'shoulder'; the positions follow from the links in tf" in said


def test_links_where_a_joint_cannot_bring_them_give_no_position(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The fore arm is 3 mm beside the way of its slide."""
    rows, said = table(bag(tmp_path, local, off=0.003), tmp_path / "o.csv", capsys)
    assert all(row["r/slide/position"] in ("", "nan") for row in rows)
    assert float(rows[7]["r/shoulder/position"]) == pytest.approx(shoulder(0.7), abs=1e-9)
    assert "joint 'slide' cannot bring its links to their transforms: they are up to 0.003 m or rad off" in said


def test_the_state_at_the_end_has_joints_and_links_and_no_invented_velocity(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source, out = bag(tmp_path, local), tmp_path / "end.usdf"
    assert main(["export", str(source), "-o", str(out)]) == 0
    capsys.readouterr()
    model = read_world(out).model("r")
    assert model.joint("shoulder").positions == pytest.approx((shoulder(4.9),), abs=1e-9)
    assert model.joint("shoulder").velocities is None
