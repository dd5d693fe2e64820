# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""A robot at run time without ROS: a root that a parameter places, and clocks that are reset."""

from __future__ import annotations

import math
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest
from rclpy.serialization import serialize_message
from sensor_msgs.msg import JointState

from robot_semantics import Diagnostics
from robot_semantics.base.diagnostic import Severity, SourcePlace
from robot_semantics.base.errors import RobotSemanticsError, UnknownNameError
from robot_semantics.cdr.joint_states import JointStateData, JointStateReader
from robot_semantics.live.joint_state import Reason, Refusal
from robot_semantics.live.robot import RunningRobot
from robot_semantics.live.samples import possible_robots
from robot_semantics.live.settings import (
    Invalid,
    RefusedDescriptionError,
    RobotSettings,
    SenderKind,
    Source,
    VirtualJointSettings,
    one_line_a_kind,
    read_description,
)
from robot_semantics.model.loading import DescriptionTexts, robot_from_text

SECOND_NS = 1_000_000_000
URDF = """<robot name="r"><link name="base"/><link name="one"/><link name="two"/>
<joint name="left" type="continuous"><parent link="base"/><child link="one"/></joint>
<joint name="right" type="continuous"><parent link="base"/><child link="two"/></joint></robot>"""


@pytest.mark.parametrize(
    ("kind", "positions"),
    [("planar", [1.0, 2.0, 0.5]), ("floating", [1.0, 2.0, 0.0, 0.0, 0.0, math.sin(0.25), math.cos(0.25)])],
)
def test_a_parameter_gives_a_fixed_root_its_position_and_its_yaw(kind: str, positions: list[float]) -> None:
    joint = f'<virtual_joint name="w" type="{kind}" parent_frame="odom" child_link="base"/>'
    settings = VirtualJointSettings(source=Source.FIXED, pose=(1.0, 2.0, 0.0, 0.0, 0.0, 0.5))
    model = robot_from_text(URDF, f'<robot name="r">{joint}</robot>')
    robot = RunningRobot("r", model, RobotSettings(virtual_joints=MappingProxyType({"w": settings})))
    np.testing.assert_allclose(robot.values.positions[: len(positions)], positions, atol=1e-15)
    assert robot.values.is_known[0]


def test_a_reset_that_a_second_publisher_shows_later_keeps_the_values_of_the_first() -> None:
    robot, reader = RunningRobot("r", robot_from_text(URDF), RobotSettings()), JointStateReader()

    def give(joint: str, seconds: int) -> None:
        message = JointState(name=[joint], position=[float(seconds)])
        message.header.stamp.sec = seconds
        robot.joint_state(reader.read(serialize_message(message)), lambda: SECOND_NS)

    for second in (100, 101):
        give("left", second)
        give("right", second)
    assert robot.values.measured.all()
    # The second stamp in order shows that the clock was reset: older values are from another time.
    give("left", 5)
    give("left", 6)
    assert robot.values.measured.tolist() == [True, False]
    # A late message of the old clock; then the other publisher shows the same reset.
    for second in (102, 6, 7):
        give("right", second)
    assert robot.values.measured.tolist() == [True, True]
    assert robot.values.positions.tolist() == [6.0, 7.0]
    (notice,) = robot.notices
    assert "the clock was reset, and earlier values are not used any more" in notice


@pytest.mark.parametrize("count", [1, 2, 5])
def test_problems_of_a_kind_are_one_line_with_the_number_of_the_others(count: int) -> None:
    found = Diagnostics()
    for number in range(count):
        found.warning("unknown-link", f"link {number}", SourcePlace("a.srdf"))
    found.error("unknown-link", "another severity", SourcePlace("a.srdf"))
    first, second = one_line_a_kind(found)
    assert first.partition(" (and ")[2] == ("" if count == 1 else f"{count - 1} more of this kind)")
    assert "link 0" in first
    assert "another severity" in second
    assert "more of this kind" not in second


CHAIN = """<robot name="r"><link name="base"/><link name="plate"/><link name="hand"/><link name="tool"/>
<joint name="mount" type="fixed"><parent link="base"/><child link="plate"/><origin xyz="1 2 3" rpy="0 0 0.5"/></joint>
<joint name="turn" type="continuous"><parent link="plate"/><child link="hand"/></joint>
<joint name="grip" type="fixed"><parent link="hand"/><child link="tool"/><origin xyz="0 0 -1"/></joint></robot>"""


def virtual(kind: str) -> str:
    return f'<robot name="r"><virtual_joint name="w" type="{kind}" parent_frame="odom" child_link="base"/></robot>'


def of_chain(kind: str = "", source: Source = Source.AUTO, **settings: Any) -> RunningRobot:
    """Return a robot whose transforms are rows: a chain with the joint turn, and a virtual joint of a type."""
    root = VirtualJointSettings(source=source, pose=(4.0, 5.0, 6.0, 0.0, 0.0, 0.25))
    chosen = RobotSettings("p/", raw=False, virtual_joints=MappingProxyType({"w": root}), **settings)
    return RunningRobot("r", robot_from_text(CHAIN, virtual(kind) if kind else None), chosen)


def rows(messages: Any) -> dict[str, tuple[str, list[float], int]]:
    """Return parent, pose and stamp of each child in messages."""
    return {
        child: (parent, values.tolist(), message.stamp_ns)
        for message in messages
        for (parent, child), values in zip(message.frames, message.values, strict=True)
    }


ORIGIN = [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]


@pytest.mark.parametrize(
    ("kind", "source", "root", "moving"),
    [
        ("", Source.AUTO, None, set()),
        ("fixed", Source.AUTO, [4.0, 5.0, 6.0, 0.0, 0.0, math.sin(0.125), math.cos(0.125)], set()),
        ("planar", Source.FIXED, [4.0, 5.0, 6.0, 0.0, 0.0, math.sin(0.125), math.cos(0.125)], set()),
        ("planar", Source.AUTO, None, {"p/base"}),
        ("planar", Source.TF, None, set()),
    ],
)
def test_fixed_joints_have_static_transforms_and_the_others_are_awaited(
    kind: str, source: Source, root: list[float] | None, moving: set[str]
) -> None:
    robot = of_chain(kind, source)
    static = {item.child_frame_id: (item.frame_id, item.xyz_quat) for item in robot.static_transforms()}
    expected = {
        "p/plate": ("p/base", [1.0, 2.0, 3.0, 0.0, 0.0, math.sin(0.25), math.cos(0.25)]),
        "p/tool": ("p/hand", [0.0, 0.0, -1.0, *ORIGIN[3:]]),
    } | ({} if root is None else {"p/base": ("odom", root)})
    assert {child: parent for child, (parent, _) in static.items()} == {
        child: parent for child, (parent, _) in expected.items()
    }
    for child, (_, pose) in expected.items():
        np.testing.assert_allclose(static[child][1], pose, atol=1e-12)
    assert robot.awaited_frames == {"p/hand", *moving}
    assert robot.child_frames == {"p/plate", "p/hand", "p/tool", *moving, *([] if root is None else ["p/base"])}
    assert robot.root_is_awaited == bool(moving)


def test_a_robot_without_a_message_shows_its_default_positions_a_little_before_now() -> None:
    robot = of_chain("planar", default_positions="zero")
    after_ns = robot.settings.complete_after_ns
    assert robot.unmoved(after_ns) == ()
    assert rows(robot.unmoved(after_ns + 7)) == {"p/base": ("odom", ORIGIN, 7), "p/hand": ("p/plate", ORIGIN, 7)}
    assert robot.sent == 2
    assert robot.awaited_frames == frozenset()
    assert not robot.root_is_awaited
    # The first message ends this; a robot without default positions shows nothing.
    robot.joint_state(JointStateData(SECOND_NS, ("turn",), np.array([0.0])), lambda: 1)
    assert robot.unmoved(after_ns + 7) == ()
    assert of_chain("planar").unmoved(after_ns + 7) == ()


def test_joints_have_the_default_positions_of_a_named_state() -> None:
    state = '<group name="g"><joint name="turn"/></group><group_state name="s" group="g"><joint name="turn" value="2"/>'
    model = robot_from_text(CHAIN, f'<robot name="r">{state}</group_state></robot>')
    robot = RunningRobot("r", model, RobotSettings(default_positions="g/s"))
    assert robot.values.positions.tolist() == [2.0]
    with pytest.raises(UnknownNameError):
        RunningRobot("r", model, RobotSettings(default_positions="g/t"))
    limited = CHAIN.replace("continuous", "revolute").replace(
        '<child link="hand"/>', '<child link="hand"/><limit lower="-1" upper="4" effort="1" velocity="1"/>'
    )
    for choice, position in (("none", 0.0), ("zero", 0.0), ("mid", 1.5)):
        robot = RunningRobot("r", robot_from_text(limited), RobotSettings(default_positions=choice))
        assert robot.values.positions.tolist() == [position]
        assert robot.values.is_known.tolist() == [choice != "none"]


def test_unused_names_of_a_message_are_reported_once() -> None:
    robot = of_chain("floating")
    for number in (1, 2):
        names = ("turn", "w/trans_x", "w/rot_x", "nothing", "w")
        robot.joint_state(JointStateData(number, names, np.arange(5.0)), lambda: 1)
    variables = "w/trans_x w/trans_y w/trans_z w/rot_x w/rot_y w/rot_z w/rot_w"
    assert robot.notices == [
        "joint_states: the robot has no joint 'nothing'; its values are not used",
        "joint_states: 'w/rot_x' is not used: a part of its quaternion is missing",
        f"joint_states: 'w' has several values ({variables}); one alone is not used",
    ]


def test_a_message_with_a_zero_quaternion_is_refused_if_invalid_values_are() -> None:
    names = [*(f"w/trans_{axis}" for axis in "xyz"), *(f"w/rot_{axis}" for axis in "xyzw")]
    data = JointStateData(1, ("turn", *names), np.array([0.5, 1.0, 2.0, 3.0, 0.0, 0.0, 0.0, 0.0]))
    refusing, skipping = (of_chain("floating", invalid=invalid) for invalid in (Invalid.REFUSE, Invalid.SKIP))
    found = refusing.joint_state(data, lambda: 1)
    assert found == Refusal(Reason.BAD_QUATERNION, "the quaternion of 'w' is zero")
    assert not refusing.values.measured.any()
    skipping.joint_state(data, lambda: 1)
    assert skipping.values.measured.tolist() == [False, True]


def test_a_late_message_is_refused_with_its_distance_from_the_last_stamp() -> None:
    robot = of_chain()

    def give(stamp_ns: int) -> Any:
        return robot.joint_state(JointStateData(stamp_ns, ("turn",), np.array([0.5])), lambda: 1, received_ns=SECOND_NS)

    give(100 * SECOND_NS)
    late, ahead = give(100 * SECOND_NS - 250_000), give(4000 * SECOND_NS)
    assert late == Refusal(Reason.TIME_BACKWARDS, "its stamp is 0.000250 s before the last stamp of 'turn'")
    assert ahead == Refusal(
        Reason.TIME_AHEAD, "its stamp is 3900.000000 s after the last stamp of 'turn'; the next message may confirm it"
    )
    assert give(-1) == Refusal(Reason.NEGATIVE_STAMP, "its stamp is negative: -1e-09 s")


def test_a_robot_knows_whether_messages_have_sequence_numbers() -> None:
    robot = of_chain()
    assert robot.tells_sequence
    for sequence in (None, 7, 0):
        robot.joint_state(JointStateData(SECOND_NS, ("turn",), np.array([0.5])), lambda: 1, sequence)
        assert robot.tells_sequence == bool(sequence)


@pytest.mark.parametrize(("source", "kept"), [(Source.AUTO, 1), (Source.FIXED, 0)])
def test_the_sender_of_a_root_link_is_kept_while_its_source_is_the_same(source: Source, kept: int) -> None:
    before, after = of_chain("planar"), of_chain("planar", source)
    before.motion("w", np.array(ORIGIN), None, SECOND_NS)
    after.adopt(before)
    assert [sender.names for sender in after.senders] == [("w",)] * kept


def test_a_follower_with_messages_of_its_own_does_not_follow() -> None:
    planar = '<joint name="{}" type="planar"><parent link="base"/><child link="{}"/><axis xyz="0 0 1"/>{}</joint>'
    joints = planar.format("lead", "one", "") + planar.format("follow", "two", '<mimic joint="lead" multiplier="2"/>')
    links = "".join(f'<link name="{link}"/>' for link in ("base", "one", "two"))
    robot = RunningRobot("r", robot_from_text(f'<robot name="r">{links}{joints}</robot>'), RobotSettings(raw=False))
    for second, x, joint, follower in ((1, 1.0, "lead", 2.0), (2, 7.0, "follow", 7.0), (3, 3.0, "lead", 7.0)):
        robot.motion(joint, np.array([x, 2.0 * x, 0.0, *ORIGIN[3:]]), None, second * SECOND_NS)
        where = robot.space.joint_positions["follow"]
        np.testing.assert_allclose(robot.values.positions[where], [follower, 2.0 * follower, 0.0], atol=1e-12)


@pytest.mark.parametrize("raw", [[math.nan, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0], [0.0] * 7])
def test_a_pose_that_cannot_be_used_is_refused(raw: list[float]) -> None:
    robot = of_chain("planar")
    found = robot.motion("w", np.array(raw), None, SECOND_NS)
    assert isinstance(found, Refusal)
    assert found.reason is (Reason.NOT_FINITE if math.isnan(raw[0]) else Reason.BAD_QUATERNION)
    assert not robot.values.is_known.any()
    assert not robot.has_moved
    # The motions of the other joints of the message are used.
    usable = np.array([1.0, 2.0, 0.0, 0.0, 0.0, 0.0, 1.0])
    sent_by = (SenderKind.MULTI_DOF, "topic", ("w",))
    refusal, messages = robot.motions([("w", np.array(raw), None), ("w", usable, None)], SECOND_NS, sent_by)
    assert isinstance(refusal, Refusal)
    assert rows(messages) == {"p/base": ("odom", usable.tolist(), SECOND_NS)}


def test_the_part_of_a_pose_off_the_plane_is_reported_again_if_it_is_ten_times_larger() -> None:
    robot = of_chain("planar")

    def move(second: int, z: float, tilt: float) -> list[str]:
        robot.notices.clear()
        robot.motion("w", np.array([1.0, 2.0, z, math.sin(tilt / 2.0), 0.0, 0.0, math.cos(tilt / 2.0)]), None, second)
        return list(robot.notices)

    assert move(1, 0.9e-3, 0.9e-3) == []
    assert robot.dropped_parts == {}
    assert move(2, -0.25, 0.0) == [
        "'w' is planar: of its source's pose, 0.25 m off the plane and a tilt of 0 rad are dropped"
    ]
    assert move(3, 2.0, 0.0) == []
    assert robot.dropped_parts["w"] == pytest.approx((2.0, 0.0))
    assert move(4, 0.0, 0.125) == [
        "'w' is planar: of its source's pose, 0 m off the plane and a tilt of 0.125 rad are dropped"
    ]
    assert move(5, 19.0, 1.2) == []
    assert move(6, 1.0, 0.5) == []
    assert robot.dropped_parts["w"] == pytest.approx((19.0, 1.2))
    assert len(move(7, 200.0, 0.0)) == 1
    np.testing.assert_allclose(robot.values.positions[:3], [1.0, 2.0, 0.0], atol=1e-12)


def test_a_root_link_with_the_name_of_its_parent_frame_is_not_published_and_this_is_said() -> None:
    kind = virtual("planar").replace('"odom"', '"base"')
    robot = RunningRobot("r", robot_from_text(CHAIN, kind), RobotSettings(raw=False))
    (notice,) = robot.notices
    assert "its parent frame and its child link have one TF name 'base', so nothing is published of it" in notice
    assert robot.child_frames == {"plate", "hand", "tool"}
    assert not robot.root_is_awaited


def test_base_frames_are_the_links_that_are_fixed_to_the_root_link_under_all_their_names() -> None:
    root = VirtualJointSettings(base_frame="/body")
    settings = RobotSettings("p/", virtual_joints=MappingProxyType({"w": root}))
    robot = RunningRobot("one", robot_from_text(CHAIN, virtual("planar")), settings)
    own = {"one/base": "base", "one/plate": "plate", "p/base": "base", "p/plate": "plate", "body": "base"}
    assert robot.base_frames == own
    robot.name_base_frames("r")
    assert robot.base_frames == own | {"r/base": "base", "r/plate": "plate"}


def test_odometry_without_a_child_frame_may_be_of_the_robots_with_its_parent_frame_or_of_all() -> None:
    assert possible_robots("odom", ["map", "odom", "odom"]) == [1, 2]
    assert possible_robots("", ["map", "odom"]) == [0, 1]


def test_a_description_without_a_robot_is_refused_with_its_errors_alone() -> None:
    for text in ("", " \n"):
        with pytest.raises(RobotSemanticsError) as empty:
            read_description(DescriptionTexts(text), strict=False, prefix="arm")
        assert str(empty.value) == "parameter 'arm.robot_description' is empty: it must hold the robot's URDF"
    with pytest.raises(RobotSemanticsError, match=r"^parameter 'robot_description' is empty"):
        read_description(DescriptionTexts(""), strict=False)
    two_roots = '<robot name="r"><link name="a" colour="red"/><link name="b"/></robot>'
    with pytest.raises(RefusedDescriptionError) as refused:
        read_description(DescriptionTexts(two_roots), strict=False, prefix="arm")
    assert {problem.severity for problem in refused.value.diagnostics} == {Severity.ERROR, Severity.WARNING}
    (line,) = str(refused.value).splitlines()
    assert line.startswith("<arm.robot_description>:1:")
    assert "error" in line
    good = read_description(DescriptionTexts(CHAIN, virtual("planer")), strict=False)
    assert good.model.link_names == ("base", "plate", "hand", "tool")
    assert [problem.severity for problem in good.problems] == [Severity.ERROR]
    with pytest.raises(RefusedDescriptionError):
        read_description(DescriptionTexts(CHAIN, virtual("planer")), strict=True)
