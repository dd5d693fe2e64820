# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""States made from joints, completed by joints, and held against their robots."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio
import pytest

from robot_semantics import (
    DescriptionError,
    Diagnostics,
    ForwardKinematics,
    RobotModel,
    UnknownNameError,
    WorldState,
    save_world,
    write_world,
)
from robot_semantics.base.errors import ArrayError
from robot_semantics.examples import example
from robot_semantics.model.loading import load_robot, robot_from_text
from robot_semantics.model.robot_model import ASSUMED_ROOT_JOINT
from robot_semantics.transforms.pose import Pose
from robot_semantics.usdf.check import check_world, check_world_file
from robot_semantics.usdf.identity import model_digest
from robot_semantics.usdf.reader import parse_world
from robot_semantics.usdf.robot import complete_model, from_joint_positions, rederive_links
from robot_semantics.usdf.world_state import Frame, JointState, LinkState, ModelState

MIMIC = '<mimic joint="elbow" multiplier="0.5" offset="0.1"/>'
ARM = """
<robot name="arm">
  <link name="base"/><link name="upper"/><link name="fore"/><link name="tool"/><link name="finger"/><link name="ball"/>
  <joint name="shoulder" type="revolute"><parent link="base"/><child link="upper"/>
    <origin xyz="0 0 0.5" rpy="0.1 0.2 0.3"/><axis xyz="0 1 0"/><limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
  <joint name="elbow" type="continuous"><parent link="upper"/><child link="fore"/>
    <origin xyz="0.3 0 0" rpy="0 0.5 0"/><axis xyz="0 0 1"/></joint>
  <joint name="wrist" type="fixed"><parent link="fore"/><child link="tool"/><origin xyz="0.2 0 0"/></joint>
  <joint name="grip" type="prismatic"><parent link="tool"/><child link="finger"/><axis xyz="0 0 1"/>
    <limit lower="0" upper="1" effort="1" velocity="1"/><mimic joint="elbow" multiplier="0.5" offset="0.1"/></joint>
  <joint name="free" type="floating"><parent link="base"/><child link="ball"/><origin xyz="0 1 0" rpy="0 0 1"/></joint>
</robot>
"""  # noqa: E501
VALUES: dict[str, Any] = {"shoulder": 0.4, "elbow": 1.2, "free": [0.1, 0.2, 0.3, 0.5, -0.5, 0.5, 0.5]}


@pytest.fixture(scope="module")
def arm() -> RobotModel:
    return robot_from_text(ARM)


@pytest.fixture(scope="module")
def rover() -> RobotModel:
    return load_robot(example("rover_arm.urdf"), example("rover_arm.srdf"))


def codes(state: ModelState, robot: RobotModel, frames: tuple[Frame, ...] = ()) -> list[str]:
    diagnostics = Diagnostics()
    state = replace(state, pose=state.pose or Pose((0.0,) * 6))
    check_world(WorldState(models=(state,), frames=frames), {state.name: robot}, diagnostics)
    return [item.code for item in diagnostics]


def test_link_poses_and_twists_are_pinocchios(arm: RobotModel) -> None:
    rng = np.random.default_rng(0)
    # pinocchio has no floating joints inside a robot, and would move the mimic joint independently.
    text = ARM.replace('type="floating"', 'type="fixed"').replace(
        '<mimic joint="elbow" multiplier="0.5" offset="0.1"/>', ""
    )
    oracle = pinocchio.buildModelFromXML(text)
    data = oracle.createData()
    for _ in range(20):
        shoulder, elbow = rng.uniform(0, 1, size=2)
        rates = rng.uniform(-1, 1, size=2)
        velocities = {
            "shoulder": rates[0],
            "elbow": rates[1],
            **{f"free/{w}": 0.0 for w in ("vx", "vy", "vz", "wx", "wy", "wz")},
        }
        state = from_joint_positions(arm, {**VALUES, "shoulder": shoulder, "elbow": elbow}, velocities)
        q = np.array([shoulder, np.cos(elbow), np.sin(elbow), 0.5 * elbow + 0.1])
        pinocchio.forwardKinematics(oracle, data, q, np.array([*rates, 0.5 * rates[1]]))
        for name in ("base", "upper", "fore", "tool", "finger"):
            frame = oracle.getFrameId(name)
            pinocchio.updateFramePlacement(oracle, data, frame)
            link = state.link(name)
            assert link.pose is not None
            np.testing.assert_allclose(link.pose.xyz_rpy[:3], data.oMf[frame].translation, atol=1e-12)
            expected = pinocchio.Quaternion(data.oMf[frame].rotation).coeffs()
            assert abs(abs(np.dot(link.pose.quat_xyzw or (), expected)) - 1.0) < 1e-12
            twist = pinocchio.getFrameVelocity(oracle, data, frame, pinocchio.LOCAL).vector
            np.testing.assert_allclose(np.array(link.twist), twist, atol=1e-12)
        assert codes(state, arm) == []


def test_a_state_from_joints_round_trips_and_agrees_with_itself(rover: RobotModel) -> None:
    rng = np.random.default_rng(1)
    kinematics = ForwardKinematics(rover)
    for _ in range(50):
        q = kinematics.space.random(rng)
        v = rng.normal(size=kinematics.space.velocity_size)
        model = from_joint_positions(kinematics.model, q, v)
        assert model.parent == "odom"
        assert not any(joint.name == rover.root_joint.name for joint in model.joints)
        odom = Frame("odom", pose=Pose((0.0,) * 6), twist=(0.0,) * 6)
        state = WorldState(models=(model,), frames=(odom,))
        assert parse_world(write_world(state)) == state
        assert codes(model, rover, (odom,)) == []


def test_the_virtual_joint_is_the_models_pose_and_twist(rover: RobotModel) -> None:
    space = ForwardKinematics(rover).space
    root = rover.root_joint.name
    others = {joint.name: 0.0 for joint in space.joints if not joint.virtual and joint.is_active}
    model = from_joint_positions(rover, {**others, f"{root}/x": 1.0, f"{root}/y": 2.0, f"{root}/theta": 0.5})
    assert model.pose is not None
    np.testing.assert_allclose(model.pose.xyz_rpy, (1.0, 2.0, 0.0, 0.0, 0.0, 0.5), atol=1e-12)
    assert model.twist is None
    rates = dict.fromkeys(space.velocity_names, 0.0)
    assert from_joint_positions(rover, np.array(space.neutral()), {**rates, f"{root}/x": 2.0}).twist == (
        2.0,
        *(0.0,) * 5,
    )
    resting = {name: rate for name, rate in rates.items() if not name.startswith(f"{root}/")}
    assert from_joint_positions(rover, np.array(space.neutral()), resting).twist is None
    assert from_joint_positions(rover, others).pose is None
    stated = from_joint_positions(
        rover, others, T_parent_root=np.eye(4), twist_parent_root=(1, 2, 3, 4, 5, 6), parent="map"
    )
    assert stated.pose == Pose((0.0,) * 6, (0.0, 0.0, 0.0, 1.0))
    assert (stated.parent, stated.twist) == ("map", (1.0, 2.0, 3.0, 4.0, 5.0, 6.0))


def test_missing_and_unknown_values_are_named(arm: RobotModel) -> None:
    with pytest.raises(ArrayError, match="no value for free, elbow"):
        from_joint_positions(arm, {"shoulder": 0.0})
    with pytest.raises(UnknownNameError, match="elbow"):
        from_joint_positions(arm, {**VALUES, "elbwo": 0.0})
    with pytest.raises(ArrayError, match="velocities: no value for free/vx, free/vy"):
        from_joint_positions(arm, VALUES, {"shoulder": 0.0})
    with pytest.raises(ArrayError, match="velocities: no velocity variable"):
        from_joint_positions(arm, VALUES, {"sholder": 0.0})
    with pytest.raises(ArrayError, match="shape"):
        from_joint_positions(arm, np.zeros((2, 10)))


def test_links_are_completed_as_far_as_the_joints_say(arm: RobotModel) -> None:
    full = from_joint_positions(arm, VALUES)
    bare = ModelState("arm", joints=(JointState("elbow", (1.2,)), JointState("free", (*VALUES["free"],))))
    assert [link.name for link in complete_model(bare, arm).links] == ["base", "ball"]
    more = replace(bare, joints=(*bare.joints, JointState("shoulder", (0.4,), (0.0,))))
    completed = complete_model(more, arm)
    assert completed.links == tuple(
        replace(link, twist=(0.0,) * 6 if link.name in ("base", "upper") else None) for link in full.links
    )
    own = LinkState("fore", Pose((9.0,) * 6), wrench=(1.0,) * 6)
    strange = LinkState("strange", Pose((8.0,) * 6))
    stated = replace(more, links=(own, strange))
    kept = complete_model(stated, arm)
    assert kept.link("fore").pose == own.pose
    assert kept.links[-1] == strange
    replaced = rederive_links(stated, arm)
    assert replaced.links == (replace(own, pose=full.link("fore").pose), strange)


OFF = LinkState("ball", Pose((0.0, 1.000002, 0.0, 0.0, 0.0, 1.0)))
ITS_STATE = "<parent>, <pose> and <twist>"
FAULTS = {
    "unknown link": (replace(ModelState("arm"), links=(LinkState("uper"),)), "unknown-link"),
    "unknown joint": (ModelState("arm", joints=(JointState("elbwo"),)), "unknown-joint"),
    "positions": (ModelState("arm", joints=(JointState("elbow", (1.0, 2.0)),)), "wrong-count"),
    "velocities": (ModelState("arm", joints=(JointState("free", None, (1.0,) * 7),)), "wrong-count"),
    "torques": (ModelState("arm", joints=(JointState("wrist", None, None, (1.0,)),)), "wrong-count"),
    "limits": (ModelState("arm", joints=(JointState("shoulder", (1.1,)),)), "outside-limits"),
    "mimic": (ModelState("arm", joints=(JointState("elbow", (0.2,)), JointState("grip", (0.3,)))), "mimic-disagrees"),
    "quaternion": (ModelState("arm", joints=(JointState("free", (0.0,) * 6 + (1.1,)),)), "quaternion-length"),
    "no quaternion": (ModelState("arm", joints=(JointState("free", (0.0,) * 7),)), "zero-quaternion"),
    "link pose": (ModelState("arm", links=(OFF,), joints=(JointState("free", (0.0,) * 6),)), "link-pose-disagrees"),
    "hash": (ModelState("arm", urdf_sha256="0" * 64), "other-robot"),
}  # fmt: skip


@pytest.mark.parametrize(("state", "code"), FAULTS.values(), ids=FAULTS)
def test_a_state_that_does_not_fit_its_robot_is_reported(arm: RobotModel, state: ModelState, code: str) -> None:
    found = [item for item in codes(state, arm) if item != "missing-joint-state"]
    assert found == [code]


ODOM = Frame("odom", pose=Pose((0.0,) * 6), twist=(0.0,) * 6)
BASES = {
    "on its plane": (ModelState("rover", "odom", Pose((1.0, 2.0, 0.0, 0.0, 0.0, 0.5)), twist=(1.0, 0, 0, 0, 0, 1)), []),
    "above it": (ModelState("rover", "odom", Pose((1.0, 2.0, 0.5, 0.0, 0.0, 0.0))), ["pose-refused"]),
    "out of it": (ModelState("rover", "odom", twist=(0.0, 0.0, 0.5, 0.0, 0.0, 0.0)), ["twist-refused"]),
    "beside its frame": (ModelState("rover"), ["other-parent"]),
}  # fmt: skip


@pytest.mark.parametrize(("state", "expected"), BASES.values(), ids=BASES)
def test_a_base_that_its_virtual_joint_cannot_take_is_reported(
    rover: RobotModel, state: ModelState, expected: list[str]
) -> None:
    found = codes(replace(state, name=rover.name), rover, (ODOM,))
    assert [code for code in found if code != "missing-joint-state"] == expected


def test_a_virtual_joints_frame_that_nothing_places_is_noted(rover: RobotModel) -> None:
    found = codes(ModelState(rover.name, "world"), rover)
    assert "unplaced-frame" in found
    assert "pose-refused" not in found


def test_a_fixed_base_that_moves_is_reported(arm: RobotModel) -> None:
    semantics = (
        '<robot name="arm"><virtual_joint name="v" type="fixed" parent_frame="world" child_link="base"/></robot>'
    )
    fixed = robot_from_text(ARM, semantics)
    assert "twist-refused" in codes(ModelState("arm", twist=(0.1, 0.0, 0.0, 0.0, 0.0, 0.0)), fixed)
    assert "twist-refused" not in codes(ModelState("arm", twist=(0.0,) * 6), fixed)


def test_problems_have_messages_lines_and_columns(arm: RobotModel, tmp_path: Path) -> None:
    path = tmp_path / "w.usdf"
    path.write_text(
        "<world_state>\n"
        " <model_state name='arm'>\n"
        "  <pose>0 0 0 0 0 0</pose>\n"
        "  <link_state name='uper'/>\n"
        "  <joint_state name='shoulder'><positions>1.5</positions></joint_state>\n"
        "  <joint_state name='elbow'><positions>1 2</positions></joint_state>\n"
        f"  <joint_state name='{ASSUMED_ROOT_JOINT}'/>\n"
        " </model_state>\n"
        "</world_state>\n"
    )
    diagnostics = Diagnostics()
    check_world_file(path, diagnostics, robot=arm)
    assert [str(item).replace(str(path), "w").rpartition(" [")[0] for item in diagnostics] == [
        "w:2:2: warning: 1 of 3 joints of 'arm' have no position: free",
        "w:4:3: error: robot 'arm' has no link 'uper'; did you mean 'upper'?",
        "w:5:3: warning: joint 'shoulder' is at 1.5, outside its limits -1 to 1",
        "w:6:3: error: continuous joint 'elbow' has 2 positions; it must have 1",
        f"w:7:3: error: '{ASSUMED_ROOT_JOINT}' is a virtual joint: its state is the model's {ITS_STATE}",
    ]


def test_a_link_pose_that_disagrees_says_by_how_much(arm: RobotModel) -> None:
    state = from_joint_positions(arm, VALUES, T_parent_root=np.eye(4))
    links = tuple(
        replace(link, pose=Pose((link.pose.xyz_rpy[0] + 0.25, *link.pose.xyz_rpy[1:]), link.pose.quat_xyzw))
        if link.name == "tool" and link.pose is not None
        else link
        for link in state.links
    )
    diagnostics = Diagnostics()
    check_world(WorldState(models=(replace(state, links=links),)), {"arm": arm}, diagnostics)
    (problem,) = diagnostics
    assert re.search(r"link 'tool': its pose is 0\.25 m and [\d.e-]+ rad away", problem.message)


def test_the_robot_of_a_model_is_found_by_name_by_hash_and_by_its_file(arm: RobotModel, tmp_path: Path) -> None:
    (tmp_path / "arm.urdf").write_text(ARM)
    bad = (JointState("nothing"),)

    def found(*models: ModelState, robot: RobotModel | None = None) -> list[str]:
        path = tmp_path / "w.usdf"
        save_world(WorldState(models=tuple(replace(model, pose=Pose((0.0,) * 6)) for model in models)), path)
        diagnostics = Diagnostics()
        check_world_file(path, diagnostics, robot=robot)
        return [item.code for item in diagnostics if item.code != "missing-joint-state"]

    assert found(ModelState("other", joints=bad), robot=arm) == ["unknown-joint"]
    assert found(ModelState("arm", joints=bad), ModelState("b", joints=bad), robot=arm) == ["unknown-joint"]
    hashed = ModelState("a", joints=bad, urdf_sha256=model_digest(arm))
    assert found(hashed, ModelState("b", joints=bad), robot=arm) == ["unknown-joint"]
    assert found(ModelState("a"), ModelState("b"), robot=arm) == ["unknown-model"]
    described = ModelState("a", joints=bad, description="arm.urdf")
    assert found(described, ModelState("b", description="none.urdf")) == ["unknown-joint", "unread-description"]
    with pytest.raises(DescriptionError):
        check_world_file(tmp_path / "nothing.usdf", Diagnostics())


def test_errors_of_the_document_do_not_hide_those_that_the_robot_knows(tmp_path: Path, arm: RobotModel) -> None:
    joint = arm.joints[1].name
    path = tmp_path / "w.usdf"
    path.write_text(
        f'<world_state>\n<model_state name="{arm.name}"><pose>0 0 0</pose>\n'
        '<link_state name="no_such_link"/>\n'
        f'<joint_state name="{joint}"><positions>0 0 0 0</positions></joint_state>\n'
        "</model_state>\n</world_state>\n"
    )
    with pytest.raises(DescriptionError) as caught:
        check_world_file(path, Diagnostics(), robot=arm)
    assert [(problem.code, problem.place.line) for problem in caught.value.diagnostics] == [
        ("wrong-count", 2),
        ("unknown-link", 3),
        ("wrong-count", 4),
    ]
