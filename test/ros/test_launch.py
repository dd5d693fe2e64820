# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The launch files under the real `ros2 launch`; skipped where it is not installed."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

pytest.importorskip(
    "launch_ros", reason="launch_ros is not installed: it comes with a ROS 2 installation, not from PyPI"
)
if shutil.which("ros2") is None:
    pytest.skip("there is no ros2 command on the PATH", allow_module_level=True)

from launch.launch_context import LaunchContext
from lifecycle_msgs.srv import GetState
from lxml import etree
from rcl_interfaces.srv import GetParameters
from robot_semantics_interfaces.srv import ListGroups
from sensor_msgs.msg import JointState
from support.nodes import Client
from tf2_msgs.msg import TFMessage

from robot_semantics.examples import example
from robot_semantics.ros import launch_arguments

pytestmark = pytest.mark.ros
LAUNCH = Path(__file__).parents[2] / "launch"
URDF, SRDF = example("rover_arm.urdf"), example("rover_arm.srdf")


@pytest.fixture
def launch(domain: int, tmp_path: Path) -> Iterator[Callable[..., Path]]:
    """Return a function that launches a file and returns its log; its processes must end cleanly on SIGINT."""
    processes: list[subprocess.Popen[bytes]] = []
    log = tmp_path / "log"

    def launch(name: str, *arguments: str, **variables: str) -> Path:
        environment = {**os.environ, "ROS_DOMAIN_ID": str(domain), "ROS_LOG_DIR": str(tmp_path), **variables}
        with log.open("wb") as output:
            processes.append(
                subprocess.Popen(
                    ["ros2", "launch", str(LAUNCH / name), *arguments],
                    env=environment,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                )
            )
        return log

    yield launch
    for process in processes:
        process.send_signal(signal.SIGINT)
        assert process.wait(30.0) == 0, log.read_text()
    assert "Traceback" not in log.read_text()


def test_robot_semantics_brings_up_one_robot(client: Client, launch: Callable[..., None]) -> None:
    launch(
        "robot_semantics.launch.py",
        f"model:={URDF}",
        f"semantic_model:={SRDF}",
        "namespace:=one",
        "frame_prefix:=left/",
    )
    assert "arm" in client.call(ListGroups, "/one/robot_semantics/list_groups").groups
    client.until(lambda: "left/base_link" in client.static_frames(), "the prefixed frames")
    request = GetParameters.Request(names=["robot_description"])
    (value,) = client.call(GetParameters, "/one/robot_semantics/get_parameters", request).values
    assert value.string_value == URDF.read_text()


def test_robot_semantics_needs_no_srdf_and_expands_xacro(
    client: Client, launch: Callable[..., None], tmp_path: Path
) -> None:
    xacro = tmp_path / "my robot.urdf.xacro"
    xacro.write_text(
        '<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro"><xacro:arg name="tip" default="none"/>'
        '<link name="base"/><link name="$(arg tip)"/><joint name="j" type="fixed"><parent link="base"/>'
        '<child link="$(arg tip)"/></joint></robot>'
    )
    client.static_messages.clear()
    launch("robot_semantics.launch.py", f"model:={xacro} tip:=hook", "namespace:=macro")
    assert client.call(ListGroups, "/macro/robot_semantics/list_groups").groups == []
    client.until(lambda: "hook" in client.static_frames(), "the frame that the xacro argument names")


@pytest.mark.parametrize(
    ("given", "path", "assignments"),
    [
        ("/a/my robot.xacro", "/a/my robot.xacro", []),
        ("/a/my robot.xacro tip:=hook  side:=", "/a/my robot.xacro", ["tip:=hook", "side:="]),
        ("/a/b.xacro a:='b c' d:=\"e: f\" g:='h'", "/a/b.xacro", ["a:=b c", "d:=e: f", "g:=h"]),
        ("/a/b.xacro a:='b c:=d' e:=it's", "/a/b.xacro", ["a:=b c:=d", "e:=it's"]),
        ("/a/'b c' & d.xacro e:=''", "/a/'b c' & d.xacro", ["e:="]),
    ],
)
def test_xacro_arguments_follow_the_path(given: str, path: str, assignments: list[str]) -> None:
    assert launch_arguments.split_path(given) == (path, assignments)


def test_rsp_takes_robot_state_publishers_place(client: Client, launch: Callable[..., None]) -> None:
    launch("rsp.launch.py", f"robot_description:={URDF.read_text()}", "publish_frequency:=30.0", "frame_prefix:=rsp/")
    request = GetParameters.Request(names=["publish_frequency", "ignore_timestamp"])
    values = client.call(GetParameters, "/robot_state_publisher/get_parameters", request).values
    assert (values[0].double_value, values[1].bool_value) == (30.0, False)
    client.until(lambda: "rsp/base_link" in client.static_frames(), "the frames")


def test_rsp_takes_a_path_where_a_text_is_too_long(client: Client, launch: Callable[..., None]) -> None:
    launch("rsp.launch.py", f"model:={URDF}", "frame_prefix:=path/")
    client.until(lambda: "path/base_link" in client.static_frames(), "the frames")


def test_rsp_takes_a_parameter_file_and_an_argument_counts_more(
    client: Client, launch: Callable[..., None], tmp_path: Path
) -> None:
    parameters = tmp_path / "my parameters.yaml"
    parameters.write_text("/**:\n  ros__parameters: {publish_frequency: 40, frame_prefix: file/, stale_timeout: 7.0}\n")
    launch("rsp.launch.py", f"model:={URDF}", f"params_file:={parameters}", "frame_prefix:=word/", "namespace:=filed")
    request = GetParameters.Request(names=["publish_frequency", "frame_prefix", "stale_timeout"])
    values = client.call(GetParameters, "/filed/robot_state_publisher/get_parameters", request).values
    assert (values[0].double_value, values[1].string_value, values[2].double_value) == (40.0, "word/", 7.0)


def test_the_files_of_one_launch_are_read_side_by_side_and_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    events: list[str] = []

    class Recorded(subprocess.Popen[str]):
        def __init__(self, command: list[str], **options: Any) -> None:
            self.name = Path(command[4]).stem
            events.append(f"start {self.name}")
            super().__init__(command, **options)

        def communicate(self, *arguments: Any, **options: Any) -> tuple[str, str]:
            events.append(f"wait {self.name}")
            return super().communicate(*arguments, **options)

    monkeypatch.setattr(subprocess, "Popen", Recorded)
    context = LaunchContext()
    parameters = tmp_path / "parameters.yaml"
    parameters.write_text("")
    context.launch_configurations.update(params_file=str(parameters), semantic_model="", loops=str(tmp_path / "r.yaml"))
    with pytest.raises(launch_arguments.LaunchArgumentError, match=r"loops:=.*r\.yaml: the file cannot be read"):
        launch_arguments.parameter_sources(context, {}, texts={"closed": "loops"})
    (tmp_path / "r.yaml").write_text("name_mot: [crank]")
    for number in (1, 2):
        path = tmp_path / f"r{number}.urdf.xacro"
        path.write_text(f'<robot name="r{number}"><link name="base"/></robot>')
        context.launch_configurations[f"model_{number}"] = str(path)
    file, given = launch_arguments.parameter_sources(
        context, {"one": "model_1", "semantic": "semantic_model", "two": "model_2"}, {"fixed": 1}, {"closed": "loops"}
    )
    assert (file, given["fixed"], list(given)) == (str(parameters), 1, ["fixed", "closed", "one", "two"])
    assert given["closed"].evaluate(context) == "name_mot: [crank]"
    for _ in range(2):
        assert ['name="r1"' in given["one"].evaluate(context), 'name="r2"' in given["two"].evaluate(context)] == [
            True
        ] * 2
    # `launch` asks more than once.
    assert events == ["start r1.urdf", "start r2.urdf", "wait r1.urdf", "wait r2.urdf"]


@pytest.mark.parametrize("file", ["robot_semantics.launch.py", "lifecycle.launch.py", "rsp.launch.py"])
def test_an_omitted_argument_keeps_the_value_of_the_parameter_file(
    client: Client, launch: Callable[..., None], tmp_path: Path, file: str
) -> None:
    values = {
        "robot_description": URDF.read_text(),
        "robot_description_semantic": SRDF.read_text(),
        "frame_prefix": "kept/",
        "publish_frequency": 40.0,
    }
    parameters = tmp_path / "parameters.yaml"
    parameters.write_text(yaml.safe_dump({"/**": {"ros__parameters": values}}))
    namespace = f"/kept_{file.partition('.')[0]}"
    launch(file, f"params_file:={parameters}", f"namespace:={namespace}")
    node = f"{namespace}/{'robot_state_publisher' if file.startswith('rsp') else 'robot_semantics'}"
    assert "arm" in client.call(ListGroups, f"{node}/list_groups").groups
    request = GetParameters.Request(names=["frame_prefix", "publish_frequency"])
    prefix, frequency = client.call(GetParameters, f"{node}/get_parameters", request).values
    assert (prefix.string_value, frequency.double_value) == ("kept/", 40.0)


def test_an_argument_overrides_a_parameter_file_that_names_the_node(
    client: Client, launch: Callable[..., None], tmp_path: Path
) -> None:
    parameters = tmp_path / "parameters.yaml"
    parameters.write_text("/named/robot_semantics:\n  ros__parameters: {frame_prefix: file/, stale_timeout: 7.0}\n")
    arguments = (f"model:={URDF}", f"params_file:={parameters}", "frame_prefix:=word/", "namespace:=named")
    launch("robot_semantics.launch.py", *arguments)
    request = GetParameters.Request(names=["frame_prefix", "stale_timeout"])
    prefix, timeout = client.call(GetParameters, "/named/robot_semantics/get_parameters", request).values
    assert (prefix.string_value, timeout.double_value) == ("word/", 7.0)


@pytest.mark.parametrize("file", sorted(path.name for path in LAUNCH.glob("*.launch.py")))
def test_a_bad_argument_is_an_error(file: str, tmp_path: Path) -> None:
    model = "model_1" if file.startswith("multi") else "model"
    command = ["ros2", "launch", str(LAUNCH / file)]
    for argument, path, message in (
        ("params_file", "no.yaml", "params_file:=no.yaml: the file does not exist"),
        (model, "no.urdf", f"{model}:=no.urdf: the file has no valid description"),
        ("use_sim_time", "maybe", "use_sim_time:=maybe: expected a value of type bool"),
    ):
        ended = subprocess.run(
            [*command, f"{argument}:={path}"],
            env={**os.environ, "ROS_LOG_DIR": str(tmp_path)},
            capture_output=True,
            text=True,
            timeout=60.0,
            check=False,
        )
        assert ended.returncode == 1
        assert message in ended.stdout + ended.stderr
        assert "process started" not in ended.stdout + ended.stderr


def test_multi_robot_brings_up_two_with_a_parameter_file(
    client: Client, launch: Callable[..., None], tmp_path: Path
) -> None:
    parameters = tmp_path / "parameters.yaml"
    parameters.write_text("/robot_semantics:\n  ros__parameters:\n    state_tolerance: 0.5\n")
    models = (f"model_1:={URDF}", f"semantic_model_1:={SRDF}", f"model_2:={URDF}")
    launch("multi_robot.launch.py", *models, f"params_file:={parameters}")
    request = GetParameters.Request(names=["state_tolerance"])
    (value,) = client.call(GetParameters, "/robot_semantics/get_parameters", request).values
    assert value.double_value == 0.5
    assert "arm" in client.call(ListGroups, "/robot_semantics/robot_1/list_groups").groups
    assert client.call(ListGroups, "/robot_semantics/robot_2/list_groups").groups == []
    client.until(
        lambda: {"robot_1/base_link", "robot_2/base_link"} <= set(client.static_frames()), "the frames of both robots"
    )


def test_lifecycle_brings_the_managed_node_up(client: Client, launch: Callable[..., None]) -> None:
    fixed = client.collect(TFMessage, "/tf_static")
    launch("lifecycle.launch.py", f"model:={URDF}", f"semantic_model:={SRDF}", "namespace:=managed")
    name = "/managed/robot_semantics/get_state"
    client.until(lambda: client.call(GetState, name).current_state.label == "active", "the node to be active")
    client.until(lambda: fixed, "the frames")


def joints_of(messages: list[JointState]) -> set[str]:
    return {name for message in messages for name in message.name}


def test_display_shows_the_whole_robot_without_a_screen(client: Client, launch: Callable[..., Path]) -> None:
    client.static_messages.clear()
    states = client.collect(JointState, "/shown/joint_states", 10)
    arguments = (f"model:={URDF}", f"semantic_model:={SRDF}", "namespace:=shown", "frame_prefix:=d/", "browser:=false")
    log = launch("display.launch.py", *arguments, BROWSER="/bin/false")
    client.until(lambda: "elbow_joint" in joints_of(states), "joint states", 120.0)
    assert {"world_joint/theta", "right_finger_joint"} <= joints_of(states)
    links = {f"d/{link.get('name')}" for link in etree.parse(URDF).getroot().iterfind("link")}
    client.until(lambda: links <= client.newest().keys() | client.static_frames().keys(), "all frames")
    client.until(lambda: "http://127.0.0.1:" in log.read_text(), "the address of the page")


def test_display_without_sliders_publishes_no_joint_states(client: Client, launch: Callable[..., Path]) -> None:
    log = launch("display.launch.py", f"model:={URDF}", "namespace:=still", "sliders:=false", "browser:=false")
    client.until(lambda: "http://127.0.0.1:" in log.read_text(), "the address of the page", 120.0)
    assert client.node.count_publishers("/still/joint_states") == 0


def test_display_opens_the_browser_and_follows_sources(
    client: Client, launch: Callable[..., Path], tmp_path: Path
) -> None:
    browser, opened = tmp_path / "browser", tmp_path / "opened"
    browser.write_text(f'#!/bin/sh\necho "$@" > {opened}\n')
    browser.chmod(0o755)
    launch("display.launch.py", f"model:={URDF}", "namespace:=fed", "sources:=/fed/wanted", BROWSER=str(browser))
    client.until(opened.exists, "the browser", 120.0)
    states = client.collect(JointState, "/fed/joint_states", 10)
    publisher = client.publisher(JointState, "/fed/wanted")

    def is_there() -> bool:
        values = [dict(zip(state.name, state.position, strict=True)) for state in states]
        return any(value.get("elbow_joint") == 0.25 for value in values)

    client.publish_until(publisher, lambda: JointState(name=["elbow_joint"], position=[0.25]), is_there, "the source")


RVIZ = """#!/bin/sh
echo "rviz got $1"
cat "$2"
sleep 100
"""


@pytest.mark.parametrize(("sliders", "frame"), [("true", "odom"), ("false", "d/base_footprint")])
def test_display_starts_rviz_with_a_configuration_for_the_robot(
    client: Client, launch: Callable[..., Path], tmp_path: Path, sliders: str, frame: str
) -> None:
    prefix = tmp_path / "ros"
    program, marker = prefix / "lib/rviz2/rviz2", prefix / "share/ament_index/resource_index/packages/rviz2"
    for path, text in ((program, RVIZ), (marker, "")):
        path.parent.mkdir(parents=True)
        path.write_text(text)
    program.chmod(0o755)
    arguments = (f"model:={URDF}", f"semantic_model:={SRDF}", "namespace:=seen", "frame_prefix:=d/", "browser:=false")
    paths = f"{prefix}{os.pathsep}{os.environ.get('AMENT_PREFIX_PATH', '')}"
    log = launch("display.launch.py", *arguments, "rviz:=true", f"sliders:={sliders}", AMENT_PREFIX_PATH=paths)
    client.until(lambda: "Window Geometry" in log.read_text(), "RViz", 120.0)
    assert "arm" in client.call(ListGroups, "/seen/robot_semantics/list_groups").groups
    assert "rviz got -d" in log.read_text()
    said = [line.partition("] ")[2] for line in log.read_text().splitlines() if line.startswith("[rviz2")]
    configuration = yaml.safe_load("\n".join(said[said.index("Panels:") :]))
    manager = configuration["Visualization Manager"]
    assert manager["Global Options"]["Fixed Frame"] == frame
    (model,) = [item for item in manager["Displays"] if item["Class"] == "rviz_default_plugins/RobotModel"]
    assert model["Description Topic"]["Value"] == "/seen/robot_description"
    assert model["Description Topic"]["Durability Policy"] == "Transient Local"
    assert model["TF Prefix"] == "d"  # RViz adds the slash.


def test_display_says_that_rviz_is_not_installed(client: Client, launch: Callable[..., Path]) -> None:
    if shutil.which("rviz2"):
        pytest.skip("RViz is installed")
    log = launch("display.launch.py", f"model:={URDF}", "namespace:=plain", "rviz:=true", "browser:=false")
    client.until(lambda: "RViz is not installed" in log.read_text(), "the message", 120.0)
    assert client.call(ListGroups, "/plain/robot_semantics/list_groups").groups == []
