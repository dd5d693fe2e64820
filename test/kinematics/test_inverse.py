# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Inverse kinematics: solutions are right by pinocchio and within the limits; reachable targets are reached."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from robot_semantics import ForwardKinematics, JointSpace, RobotModel, UnknownNameError
from robot_semantics.base.errors import ArrayError
from robot_semantics.examples import example
from robot_semantics.kinematics.inverse import InverseKinematics
from robot_semantics.model.loading import load_robot, robot_from_text

pin: Any = pytest.importorskip("pinocchio")
SHARE = Path(pin.__file__).parents[4] / "share"

# Robot, and the ends of the chain that is solved for.
CHAINS = (
    ("pr2_description", "torso_lift_link", "r_wrist_roll_link"),
    ("talos_data", "torso_2_link", "arm_left_7_link"),
    ("panda_description", "panda_link0", "panda_link8"),
    ("ur_description", "base_link", "ee_link"),
    ("tiago_description", "torso_fixed_link", "arm_tool_link"),
)


def robot(folder: str, base: str, tip: str) -> tuple[RobotModel, Path]:
    found = sorted((SHARE / "example-robot-data" / "robots" / folder).glob("**/*.urdf"))
    if not found:
        pytest.skip(f"{folder} is not installed")
    path = next(file for file in found if f'name="{tip}"' in file.read_text())
    srdf = f'<robot name="r"><group name="chain"><chain base_link="{base}" tip_link="{tip}"/></group></robot>'
    return robot_from_text(path.read_text(), srdf, strict=False), path


def pose_by_pinocchio(path: Path, model: RobotModel, kinematics: ForwardKinematics, q: Any, tip: str) -> Any:
    """Return T_root_tip as pinocchio computes it."""
    other = pin.buildModelFromUrdf(str(path))
    data = other.createData()
    theirs = pin.neutral(other)
    for joint in kinematics.space.joints:
        if joint.virtual or not other.existJointName(joint.name):
            continue
        index = other.joints[other.getJointId(joint.name)]
        value = q[kinematics.space.positions_of(joint)][0]
        theirs[index.idx_q : index.idx_q + index.nq] = [value] if index.nq == 1 else [np.cos(value), np.sin(value)]
    pin.framesForwardKinematics(other, data, theirs)
    frames = [data.oMf[other.getFrameId(name, pin.FrameType.BODY)] for name in (model.root_link, tip)]
    return (frames[0].inverse() * frames[1]).homogeneous


@pytest.mark.parametrize(("folder", "base", "tip"), CHAINS, ids=[chain[0] for chain in CHAINS])
def test_a_pose_that_is_known_to_be_reached_is_reached_within_the_limits(folder: str, base: str, tip: str) -> None:
    model, path = robot(folder, base, tip)
    solver = InverseKinematics(model, "chain")
    kinematics = ForwardKinematics(model)
    space = kinematics.space
    rng = np.random.default_rng(5)
    there = np.array(np.broadcast_to(space.neutral(), (40, space.size)))
    at = [space.index[name] for name in solver.variables]
    there[:, at] = space.random(rng, (40,))[:, at]
    targets = kinematics.link_poses(space.with_mimics(there))[:, model.link_index[tip]]
    found = solver.solve(targets, space.neutral(), restarts=20, iterations=200)
    reached = (found.position_error < 1e-6) & (found.rotation_error < 1e-6)
    assert reached.mean() >= 0.95
    assert (found.q >= space.lower - 1e-12).all()
    assert (found.q <= space.upper + 1e-12).all()
    others = [place for place in range(space.size) if place not in at and space.mimics.source[place] == place]
    np.testing.assert_array_equal(found.q[:, others], np.broadcast_to(space.neutral()[others], (40, len(others))))
    for index in np.flatnonzero(reached)[:5]:
        theirs = pose_by_pinocchio(path, model, kinematics, found.q[index], tip)
        np.testing.assert_allclose(theirs, targets[index], atol=1e-5)


def test_from_nearby_a_hand_follows_without_jumping() -> None:
    model, _ = robot(*CHAINS[0])
    solver, kinematics = InverseKinematics(model, "chain"), ForwardKinematics(model)
    space = kinematics.space
    q = space.pack({"r_shoulder_lift_joint": 0.4, "r_elbow_flex_joint": -1.2, "r_wrist_flex_joint": -0.8})
    T = np.array(kinematics.link_poses(q)[model.link_index["r_wrist_roll_link"]])
    for _ in range(20):
        T[2, 3] += 0.005
        found = solver.solve(T, q)
        assert found.position_error < 1e-6
        assert np.abs(found.q - q).max() < 0.1
        q = found.q


def test_what_is_out_of_reach_is_approached() -> None:
    urdf = (
        '<robot name="r"><link name="a"/><link name="b"/><link name="c"/>'
        '<joint name="turn" type="revolute"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/>'
        '<limit lower="-1" upper="1" effort="1" velocity="1"/></joint>'
        '<joint name="slide" type="prismatic"><parent link="b"/><child link="c"/><axis xyz="1 0 0"/>'
        '<limit lower="0.5" upper="2" effort="1" velocity="1"/></joint></robot>'
    )
    srdf = '<robot name="r"><group name="g"><chain base_link="a" tip_link="c"/></group></robot>'
    solver = InverseKinematics(robot_from_text(urdf, srdf), "g")
    target = np.eye(4)
    target[0, 3] = 5.0
    found = solver.solve(target, [0.3, 0.7])
    np.testing.assert_allclose(found.q, [0.0, 2.0], atol=1e-3)
    assert found.position_error == pytest.approx(3.0, abs=1e-3)


def test_a_mimic_joint_moves_with_its_leader() -> None:
    joints = "".join(
        f'<joint name="j{i}" type="revolute"><origin xyz="1 0 0"/><parent link="l{i}"/><child link="l{i + 1}"/>'
        f'<axis xyz="0 0 1"/><limit lower="-1" upper="1" effort="1" velocity="1"/>{mimic}</joint>'
        for i, mimic in enumerate(("", '<mimic joint="j0" multiplier="-0.5" offset="0.1"/>'))
    )
    links = "".join(f'<link name="l{i}"/>' for i in range(3))
    srdf = '<robot name="r"><group name="g"><chain base_link="l0" tip_link="l2"/></group></robot>'
    model = robot_from_text(f'<robot name="r">{links}{joints}</robot>', srdf)
    kinematics = ForwardKinematics(model)
    wanted = kinematics.link_poses(kinematics.space.pack({"j0": 0.6}))[2]
    found = InverseKinematics(model, "g").solve(wanted, [0.0, 0.1])
    np.testing.assert_allclose(found.q, [0.6, -0.2], atol=1e-6)


def test_what_cannot_be_solved_is_refused() -> None:
    model = load_robot(example("rover_arm.urdf"), example("rover_arm.srdf"), strict=False)
    solver = InverseKinematics(model, "arm")
    with pytest.raises(ArrayError, match="T_root_tip"):
        solver.solve(np.eye(3), solver.space.neutral())
    with pytest.raises(UnknownNameError):
        InverseKinematics(model, "army")
    with pytest.raises(UnknownNameError):
        InverseKinematics(model, "wheels")
    with pytest.raises(ArrayError, match="none of its joints moves 'base_link'"):
        InverseKinematics(model, "arm", "base_link")


def test_the_jacobian_is_the_derivative_of_the_pose_of_the_tip() -> None:
    model = load_robot(example("rover_arm.urdf"), example("rover_arm.srdf"))
    inverse = InverseKinematics(model, "arm")
    q = JointSpace.of(model).random(np.random.default_rng(1), (5,))
    J = inverse._jacobian(inverse._kinematics.link_poses(q))
    assert J.shape[2] == len(inverse._solved) >= 4
    for column, at in enumerate(inverse._solved.tolist()):
        ends = []
        for step in (1e-6, -1e-6):
            moved = q.copy()
            moved[:, at] += step
            ends.append(inverse._kinematics.link_poses(moved)[:, -1])
        linear = (ends[0][:, :3, 3] - ends[1][:, :3, 3]) / 2e-6
        turned = Rotation.from_matrix(ends[0][:, :3, :3]) * Rotation.from_matrix(ends[1][:, :3, :3]).inv()
        np.testing.assert_allclose(J[:, :3, column], linear, atol=1e-8)
        np.testing.assert_allclose(J[:, 3:, column], turned.as_rotvec() / 2e-6, atol=1e-8)
