# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Suggestions of the studio, compared with SRDFs that people wrote for the same robots."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from support.shipped_srdf import MOST_ACTIONS, SHIPPED_SRDF, described, missing_parts

from robot_semantics import ForwardKinematics, RobotModel
from robot_semantics.base.diagnostic import Severity
from robot_semantics.examples import example
from robot_semantics.kinematics.joint_space import with_state
from robot_semantics.model.loading import load_robot
from robot_semantics.srdf import new
from robot_semantics.srdf.edit import SrdfText
from robot_semantics.viewer.edit_session import EditSession
from robot_semantics.viewer.suggestions import (
    accept_all,
    base_type,
    mirrored_name,
    named_chains,
    suggestions,
    virtual_joint_name,
)


def accepted(robot: RobotModel) -> EditSession:
    """Accept suggestions until the list is empty."""
    session = EditSession(robot, SrdfText.empty(robot.name, "new.srdf"), Path("/does/not/exist.srdf"))
    for _ in range(5):
        for suggestion in suggestions(session.robot, session.text.semantic):
            assert session.change(suggestion.title, suggestion.edit)
    assert suggestions(session.robot, session.text.semantic) == []
    assert session.problems == []
    return session


def test_the_panda_s_suggestions_are_its_shipped_groups() -> None:
    shipped = described("panda_description/urdf/panda.urdf", "panda_description/srdf/panda.srdf").semantics
    made = accepted(described("panda_description/urdf/panda.urdf")).robot.semantics
    assert made.group("arm").active_joints == shipped.group("arm").active_joints
    assert set(shipped.group("hand").active_joints) <= set(made.group("hand").active_joints)
    assert made.end_effectors["hand"].parent_link == "panda_link8"
    assert made.end_effectors["hand"].parent_group == "arm"
    # The default of joint 4, whose bounds exclude 0, is the middle of these.
    (value,) = made.state("arm", "home").joints["panda_joint4"]
    assert value == pytest.approx((-3.0718 - 0.0698) / 2)


def test_two_arms_are_named_by_their_sides() -> None:
    files = ("pr2_description/urdf/pr2.urdf", "pr2_description/srdf/pr2.srdf")
    shipped, made = described(*files).semantics, accepted(described(files[0])).robot.semantics
    for side in ("left", "right"):
        assert made.group(f"{side}_arm").active_joints == shipped.group(f"{side}_arm").active_joints
        assert made.end_effectors[f"{side}_hand"].parent_group == f"{side}_arm"


@pytest.mark.parametrize(
    ("urdf", "kind", "groups"),
    [
        ("solo_description/robots/solo12.urdf", "floating", {"FL_leg", "FR_leg", "HL_leg", "HR_leg"}),
        ("anymal_b_simple_description/robots/anymal.urdf", "floating", {"LF_leg", "RF_leg", "LH_leg", "RH_leg"}),
        ("panda_description/urdf/panda.urdf", "fixed", {"arm"}),
        ("ur_description/urdf/ur5_robot.urdf", "fixed", {"arm"}),
    ],
)
def test_the_base_and_the_limbs_of_real_robots(urdf: str, kind: str, groups: set[str]) -> None:
    robot = described(urdf)
    assert base_type(robot) == kind
    assert {name for name, _, _ in named_chains(robot)} == groups


def test_the_rover_moves_on_a_plane_and_its_casters_are_passive() -> None:
    session = accepted(load_robot(example("rover_arm.urdf")))
    assert session.text.semantic.virtual_joints[0].type == "planar"
    # As the example's own SRDF has it.
    shipped = load_robot(example("rover_arm.urdf"), example("rover_arm.srdf")).semantics
    assert set(session.robot.semantics.passive_joints) == set(shipped.passive_joints)


@pytest.mark.parametrize(
    ("urdf", "base", "tip"),
    [
        ("ur_description/urdf/ur5_robot.urdf", "base_link", "wrist_3_link"),
        ("xarm_description/urdf/xarm7.urdf", "link_base", "link_eef"),
    ],
)
def test_a_robot_whose_root_is_the_world_needs_no_virtual_joint(urdf: str, base: str, tip: str) -> None:
    session = accepted(described(urdf))
    assert session.text.semantic.virtual_joints == ()
    (group,) = session.text.semantic.groups
    assert [(chain.base_link, chain.tip_link) for chain in group.chains] == [(base, tip)]


def test_a_name_for_the_virtual_joint_is_not_that_of_a_joint() -> None:
    robot = described("ur_description/urdf/ur5_robot.urdf")
    assert "world_joint" in {joint.name for joint in robot.joints}
    assert virtual_joint_name(robot, "world") == "virtual_world_joint"
    assert virtual_joint_name(robot, "odom") == "odom_joint"


def test_five_fingers_of_many_joints_are_one_hand() -> None:
    session = accepted(described("tiago_description/robots/tiago.urdf"))
    groups = session.robot.semantics.groups
    assert {"arm", "hand", "torso", "head", "arm_and_hand", "arm_and_torso"} <= set(groups)
    assert list(groups["arm"].active_joints) == [f"arm_{number}_joint" for number in range(1, 8)]
    tips = ("index_flex_3", "little_flex_3", "middle_flex_3", "ring_flex_3", "thumb_flex_2")
    assert {f"hand_{tip}_link" for tip in tips} <= set(groups["hand"].links)


@pytest.mark.parametrize("name", sorted(SHIPPED_SRDF))
def test_every_group_and_end_effector_of_a_shipped_srdf_is_suggested(name: str) -> None:
    shipped = described(*SHIPPED_SRDF[name])
    session = EditSession(
        described(SHIPPED_SRDF[name][0]), SrdfText.empty(name, "new.srdf"), Path("/does/not/exist.srdf")
    )
    actions = 0
    while missing := [part for kind in missing_parts(session.robot, shipped) for part in kind]:
        # One press of *accept all*.
        text, added, failed = accept_all(session.bare, session.text)
        assert failed == ()
        session.change(f"{len(added)} suggestions", lambda _, text=text: text)  # type: ignore[misc]  # bound at once
        actions += 1
        assert actions <= MOST_ACTIONS, missing
    assert not any(problem.severity is Severity.ERROR for problem in session.problems)
    assert actions == 1


def test_the_other_side_is_suggested_mirrored() -> None:
    session = EditSession(
        described(SHIPPED_SRDF["pr2"][0]), SrdfText.empty("pr2", "n.srdf"), Path("/does/not/exist.srdf")
    )
    left = {"l_shoulder_pan_joint": 0.5, "l_shoulder_lift_joint": 0.25, "l_upper_arm_roll_joint": 1.0}
    members = new.group_members(chains=[("l_shoulder_pan_link", "l_forearm_link")])
    session.change("group", lambda text: text.add([new.group("left_part", members)]))
    state = new.group_state("up", "left_part", {name: [value] for name, value in left.items()})
    session.change("state", lambda text: text.add([state]))
    for _ in range(2):
        for item in suggestions(session.robot, session.text.semantic):
            if "other side" in item.title:
                session.change(item.title, item.edit)
    semantics = session.robot.semantics
    assert [joint.replace("r_", "l_", 1) for joint in semantics.group("right_part").active_joints] == list(
        semantics.group("left_part").active_joints
    )
    # The tips of both forearms mirror each other at the plane y = 0.
    kinematics = ForwardKinematics(session.robot)
    q = with_state(kinematics.space, "left_part", "up")
    q = with_state(kinematics.space, "right_part", "up", q)
    poses = kinematics.link_poses(np.array(q))
    at = {side: poses[session.robot.link_index[f"{side}_wrist_flex_link"]][:3, 3] for side in "lr"}
    np.testing.assert_allclose(at["l"] * (1.0, -1.0, 1.0), at["r"], atol=1e-9)


@pytest.mark.parametrize(
    ("name", "other"),
    [
        *(("left_arm", "right_arm"), ("r_elbow", "l_elbow"), ("FL_hip_joint", "FR_hip_joint"), ("LH_KFE", "RH_KFE")),
        *(("arm_Left_1", "arm_Right_1"), ("torso", None), ("roll_joint", None), ("RR_calf", "RL_calf")),
    ],
)
def test_names_of_the_other_side(name: str, other: str | None) -> None:
    assert mirrored_name(name) == other
    assert other is None or mirrored_name(other) == name
