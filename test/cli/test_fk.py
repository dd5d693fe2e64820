# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""`robot_semantics fk` prints the poses that pinocchio computes."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pinocchio
import pytest
from support.commands import RunCommand


def pinocchio_poses(urdf: Path, positions: dict[str, float]) -> dict[str, list[float]]:
    """Return x y z qx qy qz qw of every link in the root link's frame."""
    model = pinocchio.buildModelFromUrdf(str(urdf))
    data = model.createData()
    q = pinocchio.neutral(model)
    for name, value in positions.items():
        joint = model.joints[model.getJointId(name)]
        q[joint.idx_q : joint.idx_q + joint.nq] = value if joint.nq == 1 else [np.cos(value), np.sin(value)]
    pinocchio.framesForwardKinematics(model, data, q)
    return {
        frame.name: pinocchio.SE3ToXYZQUAT(data.oMf[index]).tolist()
        for index, frame in enumerate(model.frames)
        if frame.type == pinocchio.FrameType.BODY
    }


def assert_same_poses(ours: dict[str, list[float]], theirs: dict[str, list[float]]) -> None:
    assert set(ours) == set(theirs)
    for name, pose in theirs.items():
        sign = np.sign(np.dot(ours[name][3:], pose[3:]))
        np.testing.assert_allclose(ours[name], np.concatenate([pose[:3], sign * np.array(pose[3:])]), atol=1e-9)


def test_json_poses_equal_pinocchio(run: RunCommand, rover: tuple[Path, Path]) -> None:
    model = pinocchio.buildModelFromUrdf(str(rover[0]), mimic=True)
    leaders = [
        name for name, joint in zip(model.names, model.joints, strict=True) if joint.nv == 1 and "wheel" not in name
    ]
    assert len(leaders) > 3
    zero = run("fk", *rover, "--json")
    assert zero.code == 0
    assert_same_poses(json.loads(zero.out)["poses"], pinocchio_poses(rover[0], {}))


def test_a_named_state_is_where_its_values_put_the_robot(run: RunCommand, rover: tuple[Path, Path]) -> None:
    shown = json.loads(run("show", rover[0], rover[1], "--json").out)
    state = next(item for item in shown["states"] if len(item["joints"]) > 2)
    words = [f"{joint}={values[0]!r}" for joint, values in state["joints"].items()]
    by_state = run("fk", rover[0], rover[1], "--state", f"{state['group']}/{state['name']}", "--json")
    by_positions = run("fk", rover[0], "--json", *(part for word in words for part in ("--joint", word)))
    assert by_state.code == by_positions.code == 0
    assert json.loads(by_state.out) == json.loads(by_positions.out)
    assert_same_poses(
        json.loads(by_state.out)["poses"],
        pinocchio_poses(rover[0], {joint: values[0] for joint, values in state["joints"].items()}),
    )


@pytest.mark.parametrize(
    ("word", "code", "message"),
    [
        ("no_such_joint=1", 1, "unknown joint variable 'no_such_joint'"),
        ("shoulder", 2, "--joint takes NAME=NUMBERS with finite numbers apart by blanks, not 'shoulder'"),
        ("shoulder=nan", 2, "--joint takes NAME=NUMBERS with finite numbers apart by blanks, not 'shoulder=nan'"),
        ("shoulder=1,5", 2, "--joint takes NAME=NUMBERS with finite numbers apart by blanks, not 'shoulder=1,5'"),
    ],
)
def test_a_wrong_position_is_refused_with_its_reason(
    run: RunCommand, rover: tuple[Path, Path], word: str, code: int, message: str
) -> None:
    result = run("fk", rover[0], "--joint", word)
    assert (result.code, result.out) == (code, "")
    assert message in result.err


def test_the_name_of_a_joint_may_have_an_equals_sign(run: RunCommand, tmp_path: Path) -> None:
    joint = '<joint name="a=b" type="prismatic"><parent link="p"/><child link="c"/><axis xyz="1 0 0"/>{}</joint>'
    limit = '<limit lower="0" upper="1" effort="1" velocity="1"/>'
    (tmp_path / "r.urdf").write_text(f'<robot name="r"><link name="p"/><link name="c"/>{joint.format(limit)}</robot>')
    result = run("fk", tmp_path / "r.urdf", "--joint", "a=b=0.25")
    assert result.code == 0, result.err
    (row,) = [line.split() for line in result.out.splitlines() if line.startswith("c ")]
    assert float(row[1]) == 0.25


FINGERS = """<robot name="gripper"><link name="palm"/><link name="left"/><link name="right"/><link name="stop"/>
<joint name="l" type="prismatic"><parent link="palm"/><child link="left"/><axis xyz="1 0 0"/>
 <limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
<joint name="r" type="prismatic"><parent link="palm"/><child link="right"/><axis xyz="1 0 0"/>
 <limit lower="-1.5" upper="2.5" effort="1" velocity="1"/><mimic joint="l" multiplier="2" offset="0.5"/></joint>
<joint name="s" type="prismatic"><parent link="palm"/><child link="stop"/><axis xyz="1 0 0"/>
 <limit lower="0.5" upper="1" effort="1" velocity="1"/><mimic joint="l" multiplier="0" offset="0.75"/></joint>
</robot>"""


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["r=1"], (0.25, 1.0)),
        (["l=0.25", "r=1"], (0.25, 1.0)),
        (["l=0.25", "r=1.5"], "r: is given as 1.5, but its leader 'l' at 0.25 gives 1"),
        (["s=0.75"], "s: it follows 'l' with multiplier 0, so 'l' has no known position"),
    ],
)
def test_a_mimic_joint_that_is_given_leads_its_leader(
    run: RunCommand, tmp_path: Path, words: list[str], said: str | tuple[float, float]
) -> None:
    file = tmp_path / "gripper.urdf"
    file.write_text(FINGERS)
    result = run("fk", file, *(part for word in words for part in ("--joint", word)), "--json")
    if isinstance(said, str):
        assert (result.code, result.err) == (1, f"error: {said}\n")
        return
    poses = json.loads(result.out)["poses"]
    assert [poses[link][0] for link in ("left", "right", "stop")] == pytest.approx([*said, 0.75])


def test_poses_and_factors_beyond_64_bit_floats_are_one_error(run: RunCommand, tmp_path: Path) -> None:
    def joint(name: str, parent: str, child: str) -> str:
        origin = '<origin xyz="1.7e308 0 0"/>'
        return f'<joint name="{name}" type="fixed">{origin}<parent link="{parent}"/><child link="{child}"/></joint>'

    file = tmp_path / "far.urdf"
    links = "".join(f'<link name="{name}"/>' for name in "abc")
    file.write_text(f'<robot name="r">{links}{joint("1", "a", "b")}{joint("2", "b", "c")}</robot>')
    for words in ((), ("--json",)):
        result = run("fk", file, *words)
        assert (result.code, result.err) == (1, "error: the pose of link 'c' is too large for 64-bit floats\n")
        assert ("error" in json.loads(result.out)) if words else (result.out == "")


def test_an_unknown_state_is_refused_with_the_nearest_name(run: RunCommand, rover: tuple[Path, Path]) -> None:
    shown = json.loads(run("show", rover[0], rover[1], "--json").out)
    state = shown["states"][0]
    result = run("fk", rover[0], rover[1], "--state", f"{state['group']}/{state['name']}x")
    assert result.code == 1
    assert f"did you mean '{state['name']}'" in result.err


def test_states_are_matched_by_a_mimic_joint_or_its_leader_alone(run: RunCommand, tmp_path: Path) -> None:
    urdf, srdf = tmp_path / "gripper.urdf", tmp_path / "gripper.srdf"
    urdf.write_text(FINGERS)
    srdf.write_text(
        '<robot name="gripper"><group name="right"><joint name="r"/></group>'
        '<group_state name="open" group="right"><joint name="r" value="0.875"/></group_state></robot>'
    )
    for words in (["r=0.875"], ["l=0.1875"], ["l=0.1875", "r=0.875"]):
        found = json.loads(
            run("states", urdf, srdf, "right", *(part for word in words for part in ("--joint", word)), "--json").out
        )
        assert [match["state"] for match in found["matches"]["right"]] == ["open"], words
    assert json.loads(run("states", urdf, srdf, "--json").out)["states"] == {
        "right": {"open": {"r": [0.875], "l": [0.1875]}}
    }
    away = run("states", urdf, srdf, "right", "--joint", "l=0.5", "--joint", "r=0.875")
    assert (away.code, away.err) == (1, "error: r: is given as 0.875, but its leader 'l' at 0.5 gives 1.5\n")
