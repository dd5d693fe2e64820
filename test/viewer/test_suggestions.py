# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Suggestions of the studio, compared with SRDFs that people wrote for the same robots."""

from __future__ import annotations

from pathlib import Path

import pytest

from robot_semantics import Diagnostics, RobotModel
from robot_semantics.examples import example
from robot_semantics.model.loading import load_robot
from robot_semantics.srdf.edit import SrdfText
from robot_semantics.viewer.edit_session import EditSession
from robot_semantics.viewer.suggestions import base_type, named_chains, suggestions, virtual_joint_name

pin = pytest.importorskip("pinocchio")

SHARE = Path(pin.__file__).parents[4] / "share"


def described(urdf: str, srdf: str | None = None) -> RobotModel:
    folder = SHARE / "example-robot-data" / "robots"
    if not (folder / urdf).exists():
        pytest.skip("example-robot-data is not installed")
    return load_robot(folder / urdf, srdf and folder / srdf, strict=False, diagnostics=Diagnostics())


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
    assert set(groups) == {"arm", "hand"}
    assert list(groups["arm"].active_joints) == [f"arm_{number}_joint" for number in range(1, 8)]
    tips = ("index_flex_3", "little_flex_3", "middle_flex_3", "ring_flex_3", "thumb_flex_2")
    assert {f"hand_{tip}_link" for tip in tips} <= set(groups["hand"].links)
