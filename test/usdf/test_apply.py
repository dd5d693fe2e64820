# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""A model_state on a robot: taken, derived or refused with the amount; expected values by scipy and plain matrices."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pytest
from scipy.spatial.transform import Rotation

from robot_semantics import RobotModel, WorldState
from robot_semantics.model.loading import robot_from_text
from robot_semantics.transforms.pose import Pose, Vec6
from robot_semantics.usdf.apply import AppliedState, Base, apply_model_state, resolve_with
from robot_semantics.usdf.frames import resolve_frames
from robot_semantics.usdf.identity import model_digest
from robot_semantics.usdf.joint_values import stated_positions
from robot_semantics.usdf.restore_report import RestoreItem, RestoreReport
from robot_semantics.usdf.world_state import Frame, JointState, LinkState, ModelState

FloatArray = npt.NDArray[np.float64]

URDF = """<robot name="arm"><link name="base"/>
<link name="upper"/><link name="lower"/><link name="finger"/><link name="thumb"/>
<joint name="shoulder" type="revolute"><parent link="base"/><child link="upper"/><origin xyz="0 0 1"/>
 <axis xyz="0 0 1"/><limit lower="-2" upper="2" effort="1" velocity="1"/></joint>
<joint name="elbow" type="prismatic"><parent link="upper"/><child link="lower"/><origin xyz="1 0 0"/>
 <axis xyz="1 0 0"/><limit lower="0" upper="1" effort="1" velocity="1"/></joint>
<joint name="grip" type="prismatic"><parent link="lower"/><child link="finger"/>
 <axis xyz="0 1 0"/><limit lower="0" upper="1" effort="1" velocity="1"/></joint>
<joint name="follow" type="prismatic"><parent link="lower"/><child link="thumb"/>
 <axis xyz="0 1 0"/><limit lower="-1" upper="0" effort="1" velocity="1"/><mimic joint="grip" multiplier="-1"/></joint>
</robot>"""


def robot(kind: str = "") -> RobotModel:
    srdf = None
    if kind:
        joint = f'<virtual_joint name="wj" type="{kind}" parent_frame="odom" child_link="base"/>'
        srdf = f'<robot name="arm">{joint}</robot>'
    return robot_from_text(URDF, srdf)


def matrix(xyz_rpy: tuple[float, ...]) -> FloatArray:
    T = np.eye(4)
    T[:3, :3] = Rotation.from_euler("xyz", xyz_rpy[3:]).as_matrix()
    T[:3, 3] = xyz_rpy[:3]
    return T


def applied(model: ModelState, of: RobotModel, *frames: Frame, base: Base | None = None) -> AppliedState:
    return apply_model_state(model, resolve_frames(WorldState(models=(model,), frames=frames)), of, base=base)


def item(result: AppliedState, kind: str, name: str = "") -> str:
    (found,) = [item for item in result.items if (item.kind, item.name) == (kind, name)]
    return ("" if found.done else "refused: ") + found.detail


ODOM = Frame("odom", "world", Pose((0.0,) * 6), (0.0,) * 6)


def test_a_pose_in_another_frame_is_brought_into_the_virtual_joints() -> None:
    map_frame = Frame("map", "world", Pose((7.0, 7.0, 0.0, 0.0, 0.0, 0.5)))
    odom = Frame("odom", "world", Pose((1.0, 2.0, 0.0, 0.0, 0.0, -0.25)))
    model = ModelState("arm", "map", Pose((1.0, 1.0, 0.0, 0.0, 0.0, 0.1)))
    result = applied(model, robot("planar"), map_frame, odom)
    expected = np.linalg.inv(matrix((1.0, 2.0, 0.0, 0.0, 0.0, -0.25))) @ (
        matrix((7.0, 7.0, 0.0, 0.0, 0.0, 0.5)) @ matrix((1.0, 1.0, 0.0, 0.0, 0.0, 0.1))
    )
    assert result.base_positions is not None
    np.testing.assert_allclose(result.base_positions[:2], expected[:2, 3], atol=1e-12)
    assert result.base_positions[2] == pytest.approx(0.85, abs=1e-12)
    np.testing.assert_allclose(result.positions[:3], result.base_positions)


def test_a_pose_on_a_link_of_the_model_that_is_the_frame_is_not_one_in_the_frame() -> None:
    on_link = Pose((0.5, 0.0, 0.0, 0.0, 0.0, 0.0))
    hand = LinkState("hand", Pose((1.0, 2.0, 0.0, 0.0, 0.0, np.pi / 2)), (0.0, 0.0, 0.0, 0.0, 0.0, 2.0))
    carrier = ModelState("odom", "world", Pose((7.0, 0.0, 0.0, 0.0, 0.0, 0.0)), links=(hand,))
    model = ModelState("arm", "odom", on_link, (0.0,) * 6, parent_link="hand")
    result = apply_model_state(model, resolve_frames(WorldState(models=(carrier, model))), robot("planar"))
    assert result.base_positions == pytest.approx((1.0, 2.5, np.pi / 2))
    assert result.base_twist == pytest.approx((-1.0, 0.0, 0.0, 0.0, 0.0, 2.0))


@pytest.mark.parametrize(
    ("pose", "amount"), [((0.0, 0.0, 0.3, 0.0, 0.0, 0.0), "0.3 m"), ((0.0, 0.0, 0.0, 0.2, 0.0, 0.0), "0.2 rad")]
)
def test_a_planar_joint_refuses_what_leaves_its_plane_and_says_by_how_much(pose: Vec6, amount: str) -> None:
    result = applied(ModelState("arm", "odom", Pose(pose)), robot("planar"), ODOM)
    assert item(result, "pose").startswith("refused: ")
    assert amount in item(result, "pose")
    assert result.base_positions is None


def test_a_fixed_base_refuses_another_place_and_a_motion() -> None:
    model = ModelState("arm", "odom", Pose((9.0, 9.0, 9.0, 0.0, 0.0, 0.0)), (0.1,) * 6)
    result = applied(model, robot("fixed"), ODOM)
    assert f"{np.sqrt(3 * 81):.3g} m" in item(result, "pose")
    assert item(result, "twist").startswith("refused: ")
    here = applied(replace(model, pose=Pose((0.0,) * 6), twist=(0.0,) * 6), robot("fixed"), ODOM)
    assert not here.refused


AT = Pose((1.0, 2.0, 3.0, 0.0, 0.0, 0.0))
AT_XYZ_QUAT = np.array([1.0, 2.0, 3.0, 0.0, 0.0, 0.0, 1.0])
FIXED, FLOATING = robot("fixed").root_joint, robot("floating").root_joint


@pytest.mark.parametrize(
    ("base", "is_taken"),
    [
        (Base(FIXED, "odom", placeable=True), True),
        (Base(FIXED, "odom", placeable=True, held_by="tf moves it"), False),
        (Base(FIXED, "odom", placeable=True, xyz_quat=AT_XYZ_QUAT, held_by="tf moves it"), True),
        (Base(FIXED, "odom"), False),
        (Base(FIXED, "odom", xyz_quat=AT_XYZ_QUAT), True),
        (Base(FIXED, "odom", xyz_quat=AT_XYZ_QUAT + 1e-3), False),
        (Base(FLOATING, "odom"), True),
        (Base(FLOATING, "odom", held_by="tf moves it"), False),
        (Base(FLOATING, "odom", xyz_quat=AT_XYZ_QUAT, held_by="tf moves it"), True),
        (Base(FLOATING, "odom", xyz_quat=-AT_XYZ_QUAT, held_by="tf moves it"), False),
    ],
)
def test_a_pose_that_is_refused_is_not_in_the_result(base: Base, is_taken: bool) -> None:
    result = applied(ModelState("arm", "odom", AT), robot("fixed"), ODOM, base=base)
    assert item(result, "pose").startswith("refused: ") is not is_taken
    assert (base.held_by in item(result, "pose")) or is_taken
    if is_taken:
        np.testing.assert_array_equal(result.base_xyz_quat, AT_XYZ_QUAT)
    else:
        assert result.base_xyz_quat is None
        assert result.base_positions is None


@pytest.mark.parametrize("kind", ["planar", "floating"])
def test_a_virtual_joints_frame_that_nothing_places_is_treated_as_the_world(kind: str) -> None:
    model = ModelState("arm", "map", Pose((0.5, 0.0, 0.0, 0.0, 0.0, 0.25)), (0.1, 0.2, 0.0, 0.0, 0.0, 0.3))
    map_frame = Frame("map", "world", Pose((1.0, 2.0, 0.0, 0.0, 0.0, 0.5)), (0.0,) * 6)
    result = applied(model, robot(kind), map_frame)
    assert not result.refused
    assert result.base_xyz_quat is not None
    assert result.base_twist is not None
    expected = matrix((1.0, 2.0, 0.0, 0.0, 0.0, 0.5)) @ matrix((0.5, 0.0, 0.0, 0.0, 0.0, 0.25))
    np.testing.assert_allclose(result.base_xyz_quat[:3], expected[:3, 3], atol=1e-15)
    turned = Rotation.from_quat(result.base_xyz_quat[3:]).as_matrix()
    np.testing.assert_allclose(turned, expected[:3, :3], atol=1e-15)
    twist = np.concatenate(
        [matrix((0.0, 0.0, 0.0, 0.0, 0.0, 0.5))[:3, :3] @ row for row in ((0.1, 0.2, 0), (0, 0, 0.3))]
    )
    np.testing.assert_allclose(result.base_twist, twist, atol=1e-15)
    (note,) = [note for note in result.notes if "odom" in note]
    assert "'odom' is treated as the world" in note


def test_a_fixed_base_in_a_frame_that_nothing_places_stands_at_the_worlds_origin() -> None:
    there = applied(ModelState("arm", "world", Pose((0.0,) * 6)), robot("fixed"))
    assert not there.refused
    away = applied(ModelState("arm", "world", Pose((3.0, 4.0, 0.0, 0.0, 0.0, 0.0))), robot("fixed"))
    assert "5 m" in item(away, "pose")


def test_a_frame_that_stands_there_places_the_virtual_joints_frame() -> None:
    model = ModelState("arm", "map", Pose((0.0,) * 6))
    standing = resolve_with(WorldState(models=(model,), frames=(Frame("map"),)), (ODOM,))
    assert not apply_model_state(model, standing, robot("planar")).refused


def test_a_motion_relative_to_a_frame_that_moves_in_an_unknown_way_is_refused() -> None:
    twist = (0.1, 0.2, 0.0, 0.0, 0.0, 0.3)
    model = ModelState("arm", "map", Pose((0.0,) * 6), twist)
    frames = (Frame("map", "odom", Pose((0.0,) * 6)), ODOM)
    assert "is not stated" in item(applied(model, robot("planar"), *frames), "twist")
    still = (replace(frames[0], twist=(0.0,) * 6), ODOM)
    moving = applied(model, robot("planar"), *still)
    assert moving.base_velocities is not None
    np.testing.assert_allclose(moving.base_velocities, (0.1, 0.2, 0.3), atol=1e-15)
    # Relative to the virtual joint's own frame it is known however that frame moves.
    own = applied(replace(model, parent="odom"), robot("planar"), Frame("odom", "world", Pose((0.0,) * 6)))
    assert own.base_velocities is not None


def test_a_motion_in_the_frame_of_the_virtual_joint_needs_no_pose() -> None:
    model = ModelState("arm", "odom", None, (0.1, 0.2, 0.0, 0.0, 0.0, 0.3))
    moving = applied(model, robot("planar"), ODOM)
    assert item(moving, "twist") == "set"
    assert moving.base_velocities is not None
    np.testing.assert_allclose(moving.base_velocities, (0.1, 0.2, 0.3), atol=1e-15)


def links_of(shoulder: float, elbow: float, grip: float) -> tuple[LinkState, ...]:
    upper = matrix((0.0, 0.0, 1.0, 0.0, 0.0, shoulder))
    lower = upper @ matrix((1.0 + elbow, 0.0, 0.0, 0.0, 0.0, 0.0))
    finger = lower @ matrix((0.0, grip, 0.0, 0.0, 0.0, 0.0))

    def state(name: str, T: FloatArray) -> LinkState:
        rpy = Rotation.from_matrix(T[:3, :3]).as_euler("xyz")
        x, y, z = T[:3, 3].tolist()
        roll, pitch, yaw = rpy.tolist()
        return LinkState(name, Pose((x, y, z, roll, pitch, yaw)))

    return state("upper", upper), state("lower", lower), state("finger", finger)


def test_joints_follow_from_links_alone_and_are_said_to() -> None:
    result = applied(ModelState("arm", links=links_of(0.7, 0.25, 0.1)), robot())
    space = {"shoulder": 0.7, "elbow": 0.25, "grip": 0.1, "follow": -0.1}
    names = result.positions_of
    assert names == set(space)
    by_name = dict(zip(("shoulder", "elbow", "follow", "grip"), result.positions, strict=False))
    assert sorted(result.positions.round(9).tolist()) == sorted(space.values()), by_name
    assert not result.refused
    assert all(entry.derived for entry in result.items if entry.kind == "joint")
    assert result.kept_joints == ()


def test_links_that_no_joint_explains_are_refused_with_the_distance() -> None:
    upper, lower, finger = links_of(0.7, 0.25, 0.1)
    assert lower.pose is not None
    off = replace(lower, pose=replace(lower.pose, xyz_rpy=(*lower.pose.xyz_rpy[:2], 1.5, *lower.pose.xyz_rpy[3:])))
    result = applied(ModelState("arm", links=(upper, off, finger)), robot())
    assert "0.5 m" in item(result, "joint", "elbow")
    assert "elbow" in result.kept_joints
    assert any(entry.kind == "link" and entry.name == "lower" for entry in result.refused)


def test_a_stated_joint_goes_before_links_that_disagree_and_these_are_refused() -> None:
    model = ModelState("arm", links=links_of(0.7, 0.25, 0.1), joints=(JointState("elbow", (0.5,)),))
    result = applied(model, robot())
    assert item(result, "joint", "elbow") == "position set"
    assert "0.25 m" in item(result, "link", "lower")


def test_what_is_neither_stated_nor_follows_stays_and_is_listed() -> None:
    model = ModelState("arm", joints=(JointState("shoulder", (0.3,), (0.1,)),))
    present = np.array([0.0, 0.4, 0.0, 0.0])
    result = apply_model_state(model, resolve_frames(WorldState(models=(model,))), robot(), positions=present)
    assert result.positions[1] == 0.4
    assert set(result.kept_joints) == {"elbow", "grip", "follow"}
    assert np.isnan(result.velocities[1:]).all()
    assert result.velocities[0] == 0.1
    assert not result.refused


@pytest.mark.parametrize(
    ("joint", "words"),
    [
        (JointState("elbbow", (0.1,)), "did you mean 'elbow'?"),
        (JointState("elbow", (0.1, 0.2)), "2 positions"),
        (JointState("elbow", (1.5,)), "outside the limits 0 to 1"),
        (JointState("elbow", velocities=(0.1, 0.2)), "2 velocities"),
    ],
)
def test_a_joint_state_that_does_not_fit_is_refused_by_name(joint: JointState, words: str) -> None:
    assert words in item(applied(ModelState("arm", joints=(joint,)), robot()), "joint", joint.name)


def test_link_twists_without_the_joints_behind_them_are_refused() -> None:
    model = ModelState("arm", links=(LinkState("finger", twist=(0.1,) * 6),))
    result = applied(model, robot())
    assert "twist cannot be computed" in item(result, "link", "finger")


def test_the_twist_of_a_link_may_differ_in_the_last_digits_of_its_own_speed() -> None:
    joints = (JointState("shoulder", (0.0,), (0.0,)), JointState("elbow", (0.0,), (10_000.0,)))
    slow = LinkState("upper", twist=(0.0, 0.0, 0.0, 0.0, 0.0, 1e-3))
    fast = LinkState("lower", twist=(10_000.0 + 1e-3, 0.0, 0.0, 0.0, 0.0, 0.0))
    result = applied(ModelState("arm", joints=joints, links=(slow, fast)), robot())
    assert [(entry.kind, entry.name) for entry in result.refused] == [("link", "upper")]
    assert "0.001 rad/s" in item(result, "link", "upper")


def test_a_base_takes_a_motion_without_a_pose() -> None:
    model = ModelState("arm", "odom", None, (0.1, 0.2, 0.0, 0.0, 0.0, 0.3))
    result = applied(model, robot("planar"), ODOM)
    assert not result.refused
    assert result.base_velocities is not None
    np.testing.assert_allclose(result.base_velocities, (0.1, 0.2, 0.3), atol=1e-15)


def test_a_measured_mimic_joint_stays_where_it_was_measured() -> None:
    joints = (JointState("grip", (0.2,)), JointState("follow", (-0.25,)))
    result = applied(ModelState("arm", joints=joints), robot())
    assert not result.refused
    assert {0.2, -0.25} <= set(result.positions.tolist())
    assert any("-0.05" in note for note in result.notes) or any("0.05" in note for note in result.notes)


def test_a_joint_that_links_put_beyond_its_limits_is_refused_as_if_it_were_stated() -> None:
    link = LinkState("upper", Pose((0.0, 0.0, 1.0, 0.0, 0.0, 2.5)))
    model = ModelState("arm", links=(link,))
    result = applied(model, robot())
    assert item(result, "joint", "shoulder").endswith("the position 2.5 lies outside the limits -2 to 2")
    assert "shoulder" in result.kept_joints
    assert item(result, "link", "upper").startswith("refused")
    # A state that says which robot it was taken of was there.
    taken = applied(replace(model, urdf_sha256=model_digest(robot())), robot())
    assert not taken.refused
    assert taken.positions_of == {"shoulder"}
    assert taken.positions[0] == pytest.approx(2.5)


def test_a_quaternion_of_length_one_within_rounding_keeps_every_bit() -> None:
    text = (
        '<robot name="r"><link name="a"/><link name="b"/>'
        '<joint name="free" type="floating"><parent link="a"/><child link="b"/></joint></robot>'
    )
    free = robot_from_text(text).joint("free")

    def stated(*quat: float) -> list[float]:
        position = stated_positions(free, JointState("free", (1.0, 2.0, 3.0, *quat)))
        assert position is not None
        return [float(number) for number in position]

    kept = (0.6 + 4e-13, 0.0, 0.8, 0.0)
    assert stated(*kept) == [1.0, 2.0, 3.0, *kept]
    assert stated(0.6 + 4e-3, 0.0, 0.8, 0.0)[3:] == pytest.approx(np.array((0.604, 0, 0.8, 0)) / np.hypot(0.604, 0.8))
    assert stated(0.0, 0.0, 0.0, 2.0)[3:] == [0.0, 0.0, 0.0, 1.0]


DONE, ELBOW, WRIST = (
    RestoreItem("pose", "rover", "", True, "set"),
    RestoreItem("joint", "rover", "elbow", False, "locked"),
    RestoreItem("joint", "rover", "wrist", False, "unknown", by="mujoco"),
)


@pytest.mark.parametrize(
    ("items", "applied", "message"),
    [
        ((), True, "everything that is stated was restored"),
        ((DONE,), True, "everything that is stated was restored"),
        ((DONE,), False, "everything that is stated can be"),
        (
            (DONE, ELBOW),
            True,
            "restored in part; not restored: model 'rover': joint 'elbow': locked",
        ),
        (
            (WRIST, DONE, ELBOW),
            True,
            "restored in part; not restored: simulator 'mujoco': model 'rover': joint 'wrist': unknown (and 1 more)",
        ),
        (
            (ELBOW, DONE, WRIST, ELBOW),
            False,
            "nothing restored, because not everything could be: model 'rover': joint 'elbow': locked (and 2 more)",
        ),
    ],
)
def test_the_message_of_a_report_names_the_first_failure(
    items: tuple[RestoreItem, ...], applied: bool, message: str
) -> None:
    report = RestoreReport(items, applied=applied)
    assert report.message == message
    assert report.complete == all(item.done for item in items)
    assert (*report.restored, *report.not_restored) == tuple(sorted(items, key=lambda item: not item.done))
