# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""A running robot gets another description in one act: values, transforms, groups and parameters, over real DDS.

Expected poses are rotations about Z in closed form.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState
from rcl_interfaces.srv import SetParametersAtomically
from rclpy.parameter import Parameter
from robot_semantics_interfaces.srv import GetCurrentState, GetWorldState, ListGroups, ReplaceDescription
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from support.nodes import Client, NodeProcess, joint_state, matrix_of, said

pytestmark = pytest.mark.ros
NODE = "/robot_semantics"


def joint(name: str, kind: str, parent: str, child: str, more: str = "") -> str:
    return (
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/><axis xyz="0 0 1"/>'
        f'<limit lower="-3" upper="3" effort="1" velocity="1"/>{more}</joint>'
    )


def urdf(name: str, links: str, *joints: str) -> str:
    return (
        f'<robot name="{name}">{"".join(f"<link name={link!r}/>" for link in links.split())}{"".join(joints)}</robot>'
    )


FIRST = urdf(
    "first",
    "base upper fore finger tool",
    joint("shoulder", "revolute", "base", "upper"),
    joint("elbow", "revolute", "upper", "fore"),
    joint("grip", "revolute", "fore", "finger", '<mimic joint="shoulder" multiplier="2"/>'),
    joint("tool_joint", "fixed", "fore", "tool"),
)
SECOND = urdf(
    "second",
    "base upper fore finger hook camera",
    joint("shoulder", "continuous", "base", "upper"),
    joint("elbow", "prismatic", "upper", "fore"),
    joint("grip", "revolute", "fore", "finger", '<mimic joint="shoulder" multiplier="-0.5" offset="0.1"/>'),
    joint("hook_joint", "fixed", "fore", "hook"),
    joint("pan", "revolute", "base", "camera"),
)
SRDF = """<robot name="{name}"><virtual_joint name="root" type="planar" parent_frame="{frame}" child_link="base"/>
<group name="{group}"><joint name="shoulder"/></group></robot>"""
FIRST_SRDF = SRDF.format(name="first", frame="odom", group="arm")
SECOND_SRDF = SRDF.format(name="second", frame="odom", group="hand")
BAD = SECOND.replace("<link name='hook'/>", "").replace('lower="-3"', 'lower="x"', 1)
BAD_PARTS = SECOND_SRDF.replace('<joint name="shoulder"/>', '<joint name="shoulder"/><joint name="sholder"/>')


PARAMETERS: dict[str, Any] = {"robot_description": FIRST, "robot_description_semantic": FIRST_SRDF}


def replace(client: Client, name: str = NODE, **fields: Any) -> Any:
    return client.call(ReplaceDescription, f"{name}/replace_description", ReplaceDescription.Request(**fields))


def groups(client: Client) -> list[str]:
    return list(client.call(ListGroups, f"{NODE}/list_groups").groups)


def first_robot_at(client: Client, shoulder: float, elbow: float) -> None:
    """Give the node the first robot, and positions."""
    assert replace(client, urdf=FIRST, srdf=FIRST_SRDF).success
    publisher = client.publisher(JointState, "joint_states")
    values = {"shoulder": shoulder, "elbow": elbow, "root/x": 1.0, "root/y": 2.0, "root/theta": 0.5}

    def arrived() -> bool:
        # The shoulder may have kept its value from an earlier robot; the elbow then has none yet.
        models = client.call(GetWorldState, f"{NODE}/get_world_state").state.model_states
        found = {joint.name: list(joint.positions) for model in models for joint in model.joint_states}
        return (found.get("shoulder"), found.get("elbow")) == ([shoulder], [elbow])

    client.publish_until(publisher, lambda: joint_state(values), arrived, "the positions")
    client.node.destroy_publisher(publisher)


def angle_of(transform: Any) -> float:
    matrix = matrix_of(transform)
    return math.atan2(matrix[1, 0], matrix[0, 0])


def test_joints_of_the_same_kind_keep_their_values_and_everything_else_is_new(
    client: Client, node: NodeProcess
) -> None:
    texts = {name: client.collect(String, name) for name in ("robot_description", "robot_description_semantic")}
    first_robot_at(client, 0.7, -0.4)
    answer = replace(client, urdf=SECOND, srdf=SECOND_SRDF)
    assert answer.success
    assert set(answer.kept) == {"root", "shoulder", "grip"}
    assert list(answer.lost) == ["elbow"]
    assert "robot 'second' is replaced: 6 links, 5 joints; 3 joints keep their values, 1 lose them" in answer.message

    # Moving transforms come without another joint state, stamped as the values that they show.
    expected = -0.5 * 0.7 + 0.1
    client.until(lambda: abs(angle_of(client.newest()["finger"]) - expected) < 1e-12, "the mimic joint's new rule")
    newest = client.newest()
    assert newest["finger"].header.stamp == newest["upper"].header.stamp == newest["base"].header.stamp
    assert angle_of(newest["upper"]) == pytest.approx(0.7, abs=1e-12)
    np.testing.assert_allclose(matrix_of(newest["base"])[:2, 3], [1.0, 2.0], atol=1e-12)
    assert "camera" not in newest
    fore = [item for item in client.transforms if item.child_frame_id == "fore"]
    assert all(abs(angle_of(item) + 0.4) < 1e-12 for item in fore), "'fore' has no value any more"

    # Late joiners get the static transforms of the new robot alone.
    late = Client(client.domain, "late")
    try:
        late.until(late.static_frames, "the static frames")
        late.spin_for(0.3)
        assert [_frames(message) for message in late.static_messages] == [{"hook"}]
    finally:
        late.close()

    assert groups(client) == ["hand"]
    for name, text in (("robot_description", SECOND), ("robot_description_semantic", SECOND_SRDF)):
        assert client.get_parameter(NODE, name).string_value == text
    client.until(
        lambda: [items[-1].data for items in texts.values() if items] == [SECOND, SECOND_SRDF],
        "the texts on the topics",
    )
    world = client.call(GetWorldState, f"{NODE}/get_world_state", GetWorldState.Request(with_text=True))
    assert 'model_state name="second"' in world.text
    missing = said(world.state.missing)
    assert all(any(name in item for item in missing) for name in ("elbow", "pan")), missing


def test_the_pose_in_another_frame_is_not_kept(client: Client, node: NodeProcess) -> None:
    first_robot_at(client, 0.3, 0.1)
    answer = replace(client, urdf=FIRST, srdf=FIRST_SRDF.replace("odom", "map"))
    assert answer.success
    assert "root" in answer.lost
    assert {"shoulder", "elbow", "grip"} == set(answer.kept)


def test_a_bad_description_is_refused_with_all_problems_and_the_robot_stays(client: Client, node: NodeProcess) -> None:
    first_robot_at(client, 0.2, 0.1)
    client.until(lambda: set(client.static_frames()) == {"tool"}, "the static frames of the first robot")
    answer = replace(client, urdf=BAD, srdf=SECOND_SRDF)
    assert not answer.success
    assert "the robot stays as it is" in answer.message
    assert any("'hook'" in problem and "<robot_description>:1:" in problem for problem in answer.problems)
    assert any("'x'" in problem for problem in answer.problems)
    assert not replace(client, urdf="<robot", srdf="").success
    assert not replace(client, urdf="", srdf=SECOND_SRDF).success
    both = replace(client, urdf=SECOND, srdf=SECOND_SRDF, keep_srdf=True)
    assert "not both" in both.message
    assert groups(client) == ["arm"]
    assert client.get_parameter(NODE, "robot_description").string_value == FIRST
    state = client.call(GetCurrentState, f"{NODE}/get_current_state", GetCurrentState.Request(group="arm"))
    assert list(state.state.values) == [0.2]
    assert set(client.static_frames()) == {"tool"}


def test_strict_refuses_what_is_otherwise_left_out_with_a_report(client: Client, node: NodeProcess) -> None:
    first_robot_at(client, 0.2, 0.1)
    refused = replace(client, urdf=SECOND, srdf=BAD_PARTS, strict=True)
    assert not refused.success
    assert any("'sholder'" in problem for problem in refused.problems)
    assert groups(client) == ["arm"]
    taken = replace(client, urdf=SECOND, srdf=BAD_PARTS)
    assert taken.success
    assert any("'sholder'" in problem for problem in taken.problems)
    assert groups(client) == ["hand"]


def test_a_dry_run_changes_nothing(client: Client, node: NodeProcess) -> None:
    # Another position than in the tests before: the node still has theirs.
    first_robot_at(client, 0.3, 0.1)
    answer = replace(client, urdf=SECOND, srdf=SECOND_SRDF, dry_run=True)
    assert answer.success
    assert "would be replaced" in answer.message
    assert list(answer.lost) == ["elbow"]
    assert groups(client) == ["arm"]
    assert client.get_parameter(NODE, "robot_description").string_value == FIRST


def test_the_present_srdf_stays_if_asked_and_is_gone_otherwise(client: Client, node: NodeProcess) -> None:
    first_robot_at(client, 0.2, 0.1)
    assert replace(client, urdf=SECOND, keep_srdf=True).success
    assert groups(client) == ["arm"]
    assert replace(client, urdf=SECOND).success
    assert groups(client) == []
    assert client.get_parameter(NODE, "robot_description_semantic").string_value == ""


def test_the_last_request_wins_as_a_whole_from_the_first_moment(
    client: Client, start: Callable[..., NodeProcess]
) -> None:
    """Requests that come at once, from the service and by parameters, are answered one after the other."""
    name = "/racing/robot_semantics"
    texts = {part: client.collect(String, f"/racing/{part}") for part in ("robot_description",)}
    node = start(robot_description=FIRST, robot_description_semantic=FIRST_SRDF, ros_args=["-r", "__ns:=/racing"])
    service = client.node.create_client(ReplaceDescription, f"{name}/replace_description")
    parameters = client.node.create_client(SetParametersAtomically, f"{name}/set_parameters_atomically")
    # The service exists only when the parameters of the launch file are in force: it cannot be overtaken by them.
    client.until(service.service_is_ready, "the service")
    client.until(parameters.service_is_ready, "the parameters")
    futures = []
    for turn in range(10):
        pair = (FIRST, FIRST_SRDF) if turn % 2 else (SECOND, SECOND_SRDF)
        values = dict(zip(("robot_description", "robot_description_semantic"), pair, strict=True))
        changes = [Parameter(key, value=value).to_parameter_msg() for key, value in values.items()]
        futures.append(parameters.call_async(SetParametersAtomically.Request(parameters=changes)))
        other = (SECOND, SECOND_SRDF) if turn % 2 else (FIRST, FIRST_SRDF)
        futures.append(service.call_async(ReplaceDescription.Request(urdf=other[0], srdf=other[1])))
    client.until(lambda: all(future.done() for future in futures), "all answers")
    assert all(future.result().success for future in futures[1::2])
    assert all(future.result().result.successful for future in futures[::2])
    urdf_now, srdf_now = (
        client.get_parameter(name, part).string_value for part in ("robot_description", "robot_description_semantic")
    )
    assert (urdf_now, srdf_now) in ((FIRST, FIRST_SRDF), (SECOND, SECOND_SRDF))
    client.until(lambda: texts["robot_description"][-1].data == urdf_now, "the text of the last request")
    found = client.call(ListGroups, f"{name}/list_groups").groups
    assert list(found) == (["arm"] if urdf_now == FIRST else ["hand"])
    late = Client(client.domain, "late_racing")
    try:
        expected = "tool" if urdf_now == FIRST else "hook"
        late.until(lambda: any(expected in _frames(item) for item in late.static_messages), "the static frames")
    finally:
        late.close()
    assert node.stop() == 0


def _frames(message: Any) -> set[str]:
    return {item.child_frame_id for item in message.transforms}


def test_one_robot_of_several_is_replaced_and_the_others_stay(
    client: Client, start: Callable[..., NodeProcess]
) -> None:
    node = start(
        models=["left", "right"],
        left__robot_description=FIRST,
        left__frame_prefix="left/",
        right__robot_description=FIRST,
        right__frame_prefix="right/",
        ros_args=["-r", "__ns:=/pair"],
    )
    client.until(lambda: set(client.static_frames()) == {"left/tool", "right/tool"}, "the static frames")
    assert replace(client, "/pair/robot_semantics/left", urdf=SECOND).success
    client.until(lambda: set(client.static_frames()) == {"left/hook", "right/tool"}, "the other static frames")
    assert node.stop() == 0


def test_an_inactive_managed_node_takes_a_description_and_publishes_it_when_active(
    client: Client, start: Callable[..., NodeProcess]
) -> None:
    name = "/managed/robot_semantics"
    node = start(program="robot_semantics_lifecycle_node", robot_description=FIRST, ros_args=["-r", "__ns:=/managed"])
    change = f"{name}/change_state"
    configure, activate = (
        ChangeState.Request(transition=Transition(id=number))
        for number in (Transition.TRANSITION_CONFIGURE, Transition.TRANSITION_ACTIVATE)
    )
    assert client.call(ChangeState, change, configure).success
    descriptions = client.collect(String, "/managed/robot_description")
    assert replace(client, name, urdf=SECOND).success
    assert not descriptions
    assert client.call(ChangeState, change, activate).success
    client.until(lambda: [item.data for item in descriptions] == [SECOND], "the new description alone")
    assert node.stop() == 0
