# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Commands with `--node` print the same for a running robot as for its files."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from robot_semantics_interfaces.srv import ListGroups
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from support.nodes import Client, NodeProcess, joint_state, text

from robot_semantics.cli.main import main
from robot_semantics.examples import example

pytestmark = pytest.mark.ros
URDF, SRDF = example("rover_arm.urdf"), example("rover_arm.srdf")
TEXTS = {"robot_description": URDF.read_text(), "robot_description_semantic": SRDF.read_text()}
BLOCK = Path(example("block.urdf")).read_text()
Run = Callable[..., str]


@pytest.fixture(scope="module")
def node(start: Callable[..., NodeProcess], client: Client) -> NodeProcess:
    node = start(**TEXTS)
    node.wait_for_output("robot 'rover_arm'")
    return node


@pytest.fixture
def run(domain: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Return a function that runs a command in the domain of the nodes, and returns its output."""
    monkeypatch.setenv("ROS_DOMAIN_ID", str(domain))

    def run(*words: object, code: int = 0) -> str:
        capsys.readouterr()
        assert main([str(word) for word in words]) == code
        captured = capsys.readouterr()
        return captured.err if code else captured.out

    return run


@pytest.mark.parametrize(
    "words",
    [
        ["groups"],
        ["groups", "arm"],
        ["groups", "--link", "palm_link"],
        ["show", "--pair", "palm_link", "base_link"],
        ["states", "arm/reach"],
        ["states", "gripper", "--joint", "left_finger_joint=0.04"],
        ["fk", "--state", "arm/reach"],
    ],
    ids=" ".join,
)
def test_the_output_is_the_same_as_for_files(node: NodeProcess, run: Run, words: list[str]) -> None:
    command, *rest = words
    for json_option in ([], ["--json"]):
        of_node = run(command, *rest, *json_option, "--node")
        assert of_node == run(command, URDF, SRDF, *rest, *json_option)


def test_the_world_and_the_links_are_those_of_the_running_robot(
    node: NodeProcess, client: Client, run: Run, tmp_path: Path
) -> None:
    publisher = client.publisher(JointState, "joint_states")
    joints = {"shoulder_lift_joint": 0.5, "elbow_joint": 0.25}
    client.publish_until(
        publisher, lambda: joint_state(joints, time.time_ns()), lambda: "forearm_link" in client.newest(), "transforms"
    )
    world = json.loads(run("usdf", "show", "--node=/robot_semantics", "--json"))
    path = tmp_path / "world.json"
    path.write_text(json.dumps(world))
    again = json.loads(run("usdf", "show", path, "--json"))
    assert {**again, "time": None} == {**world, "time": None}
    values = {joint["name"]: joint["positions"] for joint in world["models"][0]["joints"] if "positions" in joint}
    assert {name: values[name] for name in joints} == {name: [value] for name, value in joints.items()}
    positions = [f"{name}={value}" for name, value in joints.items()]
    assert run("fk", "--json", "--node") == run(
        "fk", URDF, SRDF, *(part for word in positions for part in ("--joint", word)), "--json"
    )
    assert run("fk", "--node") == run("usdf", "resolve", path, "--links", "rover_arm", "--urdf", f"{URDF},{SRDF}")


def test_a_name_chooses_among_nodes_and_robots(
    node: NodeProcess,
    start: Callable[..., NodeProcess],
    client: Client,
    run: Run,
) -> None:
    pair = start(
        models=["left", "right"],
        left__robot_description=BLOCK,
        right__robot_description_topic="described",
        right__robot_description_semantic=TEXTS["robot_description_semantic"],
        ros_args=["-r", "__ns:=/pair", "-r", "/tf:=tf", "-r", "/tf_static:=tf_static"],
    )
    topic = client.node.create_publisher(String, "/pair/described", client.latched)
    topic.publish(text(TEXTS["robot_description"]))
    client.until(
        lambda: client.call(ListGroups, "/pair/robot_semantics/right/list_groups").groups,
        "the groups of the right robot",
    )
    assert run("groups", "--node") == run("groups", URDF, SRDF)
    message = run("groups", "--node=/pair/robot_semantics", code=1)
    assert "choose one with --node=/pair/robot_semantics/left, --node=/pair/robot_semantics/right" in message
    message = run("groups", "--node=/pair/robot_semantics/rigth", code=1)
    assert "unknown robot 'rigth' of node '/pair/robot_semantics'; did you mean 'right'?" in message
    assert run("groups", "--node=pair/robot_semantics/right") == run("groups", URDF, SRDF)
    assert (
        run("groups", "--node=/pair/robot_semantics/left", "--json")
        == json.dumps({"version": 2, "groups": []}, indent=2) + "\n"
    )
    assert pair.stop() == 0


def test_a_node_that_does_not_run_is_an_error(node: NodeProcess, run: Run) -> None:
    message = run("groups", "--node=/nobody", "--timeout", "5", code=1)
    assert message.startswith(
        "error: the node /nobody does not run (waited 5 s); give one with --node=/robot_semantics"
    )
