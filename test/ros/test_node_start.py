# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Descriptions and parameters that mean nothing, at start and at run time: one located error, never a traceback."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from sys import float_info

import pytest
from rcl_interfaces.msg import Parameter as ParameterMessage
from rcl_interfaces.msg import ParameterType, ParameterValue
from rcl_interfaces.srv import DescribeParameters, ListParameters, SetParameters, SetParametersAtomically
from rclpy.parameter import Parameter
from robot_semantics_interfaces.srv import ListGroups
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from support.nodes import Client, NodeProcess, joint_state, text
from tf2_msgs.msg import TFMessage

pytestmark = pytest.mark.ros
NODE = "/robot_semantics"

ARM = """<robot name="arm">
  <link name="base"/>
  <link name="upper"/>
  <link name="{tip}"/>
  <joint name="shoulder" type="revolute">
    <parent link="base"/><child link="upper"/><axis xyz="0 0 1"/><limit lower="-2" upper="2" effort="1" velocity="1"/>
  </joint>
  <joint name="{fixed}" type="fixed"><origin xyz="0 0 {height}"/><parent link="upper"/><child link="{tip}"/></joint>
</robot>"""
URDF = ARM.format(tip="tip", fixed="flange", height=0.5)
OTHER = ARM.format(tip="hook", fixed="hook_joint", height=0.25)
# Parameters that every node of rclpy has.
OF_RCLPY = ("qos_overrides.", "use_sim_time", "start_type_description_service")
NOT_XML = '<robot name="arm">\n  <link name="base"\n</robot>'
CYCLE = URDF.replace('<parent link="base"/>', '<parent link="tip"/>')


@pytest.mark.parametrize(
    ("parameters", "expected"),
    [
        ({"robot_description": NOT_XML}, "<robot_description>:3:1: error: not well-formed XML"),
        ({"robot_description": CYCLE}, "<robot_description>:"),
        ({"robot_description": ""}, "parameter 'robot_description' is empty"),
        ({"robot_description": URDF, "robot_description_semantic": "<robot"}, "<robot_description_semantic>:1:"),
        ({"robot_description": URDF, "publish_frequency": 0.0}, "'publish_frequency' must be greater than 0, not 0.0"),
        (
            {"robot_description": URDF, "default_positions": "arm/home"},
            "parameter 'default_positions': unknown group 'arm'",
        ),
        ({"robot_description": URDF, "invalid_positions": "refuze"}, "did you mean 'refuse'?"),
    ],
    ids=["not_xml", "cycle", "empty", "srdf_not_xml", "frequency", "state", "word"],
)
def test_what_means_nothing_is_one_error_and_exit_code_1(
    start: Callable[..., NodeProcess], parameters: dict[str, object], expected: str
) -> None:
    node = start(**parameters)
    assert node.wait() == 1
    assert expected in node.output
    assert node.output.count("[FATAL]") == 1
    assert "Traceback" not in node.output


def test_an_argument_that_ros_does_not_know_is_one_error(start: Callable[..., NodeProcess]) -> None:
    node = start(robot_description=URDF, ros_args=["--nonsense"], fresh=True)
    assert node.wait() == 1
    assert "Traceback" not in node.output
    assert "--nonsense" in node.output


def test_a_description_on_the_command_line_that_ros_cannot_read_gets_a_short_reason_and_the_remedy(
    start: Callable[..., NodeProcess],
) -> None:
    # A comment with a colon is no YAML.
    text = f"<!-- an arm: not YAML -->\n{URDF}" + " " * 20_000
    node = start(ros_args=["-p", f"robot_description:={text}"])
    assert node.wait() == 1
    (line,) = (line for line in node.output.splitlines() if line.startswith("robot_semantics_node: "))
    assert "robot_semantics.launch.py model:=FILE" in line
    assert len(line) < 600


@pytest.fixture(scope="module")
def node(start: Callable[..., NodeProcess], client: Client) -> Iterator[NodeProcess]:
    node = start(robot_description=URDF, publish_frequency=1000)
    client.call(ListGroups, f"{NODE}/list_groups")
    yield node
    assert node.stop() == 0


def test_joints_without_links_take_a_parameter_and_are_published_with_them(
    client: Client, start: Callable[..., NodeProcess]
) -> None:
    urdf = URDF.replace('<link name="tip"/>', "")
    node = start(robot_description=urdf)
    node.wait_for_output("joint 'flange': child link 'tip' does not exist")
    assert node.wait() == 1
    node = start(
        robot_description=urdf, implicit_links=True, ros_args=["-r", "__ns:=/bare", "-r", "/tf_static:=tf_static"]
    )
    fixed, texts = client.collect(TFMessage, "/bare/tf_static"), client.collect(String, "/bare/robot_description")
    client.until(lambda: fixed and texts, "the frames and the description")
    assert [transform.child_frame_id for transform in fixed[-1].transforms] == ["tip"]
    assert '<link name="tip"/>' in texts[-1].data
    assert node.stop() == 0


def test_a_rejected_description_says_why_and_the_last_good_one_goes_on(client: Client, node: NodeProcess) -> None:
    (result,) = client.set_parameters(NODE, robot_description=NOT_XML)
    assert not result.successful
    assert result.reason.startswith("<robot_description>:3:1: error: not well-formed XML")
    joints = client.publisher(JointState, "joint_states")
    client.transforms.clear()
    client.publish_until(
        joints, lambda: joint_state({"shoulder": 0.5}), lambda: "upper" in client.newest(), "the good model's transform"
    )
    assert client.get_parameter(NODE, "robot_description").string_value == URDF


@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [
        ("publish_frequency", float("nan"), "must be a finite number, not nan"),
        ("publish_frequency", "fast", "must be a finite number, not 'fast'"),
        ("publish_frequency", -1, "must be greater than 0, not -1"),
        ("frame_prefix", 3, "must be a text, not 3"),
        ("default_positions", "middle", "must be none, zero, mid or GROUP/STATE, not 'middle'"),
        ("strict", "yes", "must be true or false, not 'yes'"),
        ("models", ["a"], "read-only"),
    ],
)
def test_values_that_mean_nothing_are_rejected_with_the_reason(
    client: Client, node: NodeProcess, name: str, value: object, reason: str
) -> None:
    (result,) = client.set_parameters(NODE, **{name: value})
    assert not result.successful
    assert reason in result.reason


def test_each_parameter_of_an_unknown_type_gets_a_reason(client: Client, node: NodeProcess) -> None:
    strange = ParameterMessage(name="strict", value=ParameterValue(type=42))
    good = Parameter("stale_timeout", value=4.0).to_parameter_msg()
    unknown = Parameter("stale_timeot", value=1.0).to_parameter_msg()
    request = SetParameters.Request(parameters=[strange, good, unknown])
    results = client.call(SetParameters, f"{NODE}/set_parameters", request).results
    assert [result.successful for result in results] == [False, True, False]
    assert results[0].reason == "parameter 'strict' has an unknown type, 42"
    assert results[2].reason == "parameter 'stale_timeot' does not exist; did you mean 'stale_timeout'?"
    assert client.get_parameter(NODE, "stale_timeout").double_value == 4.0
    together = SetParametersAtomically.Request(
        parameters=[Parameter("stale_timeout", value=6.0).to_parameter_msg(), strange]
    )
    result = client.call(SetParametersAtomically, f"{NODE}/set_parameters_atomically", together).result
    assert (result.successful, result.reason) == (False, "parameter 'strict' has an unknown type, 42")
    assert client.get_parameter(NODE, "stale_timeout").double_value == 4.0


@pytest.mark.parametrize(
    "program",
    ["ros robot_semantics_node", "ros robot_semantics_lifecycle_node", "ros mujoco_world", "cli.main", "cli.export"],
)
def test_every_program_prints_its_help_and_ends(program: str) -> None:
    ended = subprocess.run(
        [sys.executable, "-m", *f"robot_semantics.{program}".split(), "--help"],
        capture_output=True,
        text=True,
        timeout=60.0,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.startswith("usage: ")


def test_whoever_asks_learns_the_type_of_a_parameter_its_bounds_and_whether_it_stays(
    client: Client, node: NodeProcess
) -> None:
    names = [
        name
        for name in client.call(ListParameters, f"{NODE}/list_parameters").result.names
        if not name.startswith(OF_RCLPY)
    ]
    request = DescribeParameters.Request(names=names)
    described = {
        item.name: item for item in client.call(DescribeParameters, f"{NODE}/describe_parameters", request).descriptors
    }
    assert len(described) == len(names) > 25
    assert [name for name in names if described[name].dynamic_typing or not described[name].description] == []
    kinds = {
        "publish_frequency": ParameterType.PARAMETER_DOUBLE,
        "strict": ParameterType.PARAMETER_BOOL,
        "models": ParameterType.PARAMETER_STRING_ARRAY,
        "snapshots.autosave_keep": ParameterType.PARAMETER_INTEGER,
        "robot_description": ParameterType.PARAMETER_STRING,
    }
    assert {name: described[name].type for name in kinds} == kinds
    (bounds,) = described["world_state_frequency"].floating_point_range
    assert (bounds.from_value, bounds.to_value, bounds.step) == (0.0, 100.0, 0.0)
    (bounds,) = described["stale_timeout"].floating_point_range
    assert (bounds.from_value, bounds.to_value) == (0.0, float_info.max)
    (count,) = described["snapshots.autosave_keep"].integer_range
    assert (count.from_value, count.to_value) == (1, 2**63 - 1)
    stay = {name for name in names if described[name].read_only}
    assert {"models", "raw_messages", "snapshots.directory", "robot_description_topic"} <= stay
    assert not stay & {"robot_description", "publish_frequency", "simulators"}


def test_a_whole_number_is_a_frequency_too(client: Client, node: NodeProcess) -> None:
    (result,) = client.set_parameters(NODE, publish_frequency=500)
    assert result.successful
    assert client.get_parameter(NODE, "publish_frequency").double_value == 500.0


def test_a_change_of_prefix_sends_the_whole_static_set_again(client: Client, node: NodeProcess) -> None:
    assert client.set_parameters(NODE, frame_prefix="left/")[0].successful
    client.until(lambda: "left/tip" in client.static_frames(), "the prefixed frames")
    assert client.static_frames()["left/tip"].header.frame_id == "left/upper"
    assert set(client.static_frames()) == {"left/tip"}
    assert client.set_parameters(NODE, frame_prefix="")[0].successful
    client.until(lambda: set(client.static_frames()) == {"tip"}, "the frames without prefix")


def test_another_description_replaces_the_robot_for_those_who_come_late_too(client: Client, node: NodeProcess) -> None:
    descriptions = client.collect(String, "robot_description")
    assert client.set_parameters(NODE, robot_description=OTHER)[0].successful
    client.until(lambda: set(client.static_frames()) == {"hook"}, "the other robot's frames")
    client.until(lambda: descriptions and descriptions[-1].data == OTHER, "the other robot's description")
    late = Client(client.domain)
    try:
        late.until(late.static_frames, "the static frames")
        late.spin_for(0.3)
        assert set(late.static_frames()) == {"hook"}
        assert len(late.static_messages) == 1
    finally:
        late.close()


def test_descriptions_may_come_from_topics(client: Client, start: Callable[..., NodeProcess]) -> None:
    topic = client.node.create_publisher(String, "/described/urdf", client.latched)
    node = start(robot_description_topic="/described/urdf", ros_args=["-r", "__node:=reader", "-r", "__ns:=/described"])
    client.call(ListGroups, "/described/reader/list_groups")
    topic.publish(text(URDF))
    client.until(lambda: set(client.static_frames()) == {"tip"}, "the frames of the description")
    topic.publish(text(NOT_XML))
    node.wait_for_output("the description from the topic is ignored: <robot_description>:3:1: error")
    topic.publish(text(OTHER))
    client.until(lambda: set(client.static_frames()) == {"hook"}, "the frames of the other description")
    assert node.stop() == 0


def test_use_robot_description_topic_reads_the_topic_and_does_not_publish_it(
    client: Client, start: Callable[..., NodeProcess]
) -> None:
    topic = client.node.create_publisher(String, "/shared/robot_description", client.latched)
    topic.publish(text(OTHER))
    names = ["-r", "__node:=reader", "-r", "__ns:=/shared"]
    node = start(use_robot_description_topic=True, robot_description=URDF, frame_prefix="s/", ros_args=names)
    client.until(lambda: "s/hook" in client.static_frames(), "the frames of the description")
    assert client.node.count_publishers("/shared/robot_description") == 1
    (value,) = client.set_parameters("/shared/reader", use_robot_description_topic=False)
    assert not value.successful
    topic.publish(text(URDF))
    client.until(lambda: "s/tip" in client.static_frames(), "the frames of the next description")
    assert node.stop() == 0


def test_what_a_file_sets_wrongly_is_warned_about_and_what_is_there_is_on_the_page(
    start: Callable[..., NodeProcess], client: Client
) -> None:
    srdf = """<robot name="arm">
      <virtual_joint name="world_joint" type="planar" parent_frame="map" child_link="base"/></robot>"""
    node = start(
        robot_description=URDF,
        robot_description_semantic=srdf,
        publish_frequncy=10.0,
        virtual_joints__wrld_joint__source="odometry",
        virtual_joints__world_joint__topic="odometry",
        snapshots__frames=False,
        ros_args=["-r", "__ns:=/page"],
    )
    node.wait_for_output("robot 'arm': 3 links")
    node.wait_for_output("did you mean 'publish_frequency'?")
    node.wait_for_output("did you mean 'virtual_joints.world_joint.source'?")
    assert node.output.count("has no effect") == 2
    answer = client.call(ListParameters, f"/page{NODE}/list_parameters")
    names = [name.replace(".world_joint.", ".NAME.") for name in answer.result.names]
    page = (Path(__file__).parents[2] / "doc" / "reference.md").read_text()
    assert {"publish_frequency", "virtual_joints.NAME.source"} <= set(names)
    assert [name for name in names if not name.startswith(OF_RCLPY) and f"| `{name}` |" not in page] == []


def test_without_the_interfaces_one_sentence_says_so_and_transforms_are_published(
    start: Callable[..., NodeProcess], client: Client, tmp_path: Path
) -> None:
    package = tmp_path / "robot_semantics_interfaces"
    package.mkdir()
    (package / "__init__.py").write_text(
        "raise ModuleNotFoundError('No module named robot_semantics_interfaces', name='robot_semantics_interfaces')"
    )
    path = os.pathsep.join(filter(None, (str(tmp_path), os.environ.get("PYTHONPATH"))))
    node = start(robot_description=OTHER, frame_prefix="bare/", environment={"PYTHONPATH": path})
    node.wait_for_output("the ROS package robot_semantics_interfaces is missing")
    client.until(lambda: "bare/hook" in client.static_frames(), "the fixed joint's transform")
    assert "Traceback" not in node.output


@pytest.mark.parametrize("program", ["robot_semantics_node", "robot_semantics_lifecycle_node"])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_node_ends_without_a_warning_of_python(
    client: Client, start: Callable[..., NodeProcess], program: str, number: int
) -> None:
    name = f"quiet_{program}_{number}"
    one = start(robot_description=URDF, program=program, ros_args=["-r", f"__node:={name}"], fresh=True)
    client.call(ListParameters, f"/{name}/list_parameters")
    assert one.stop(number) == 0
    assert not [line for line in one.output.splitlines() if "Warning" in line or "Traceback" in line]
