# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Show a robot: the node, and the live page with sliders that publish joint_states; RViz on request."""

import json
import sys
from pathlib import Path

from launch.action import Action
from launch.actions import ExecuteProcess, LogInfo, OpaqueFunction
from launch.launch_context import LaunchContext
from launch.logging import launch_config
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node
from launch_ros.substitutions import FindPackagePrefix, FindPackageShare

from launch import LaunchDescription
from robot_semantics.base.names import frame_name
from robot_semantics.model.loading import robot_from_text
from robot_semantics.ros.launch_arguments import (
    ONE_ROBOT,
    LaunchArgumentError,
    argument_value,
    declare_arguments,
    is_true,
    one_robot,
)

ARGUMENTS = (
    *ONE_ROBOT,
    ("sliders", "true", "Publish joint_states by the sliders of the page; false: the page only shows the robot."),
    ("sources", "", "Topics with joint states that move the sliders, separated by spaces."),
    ("browser", "true", "Open the page in a browser; false: print its address only, as on a robot without a screen."),
    ("port", "0", "Port of the page; 0: any free port."),
    ("package_path", "", "Folders with the packages of package:// meshes, separated by spaces."),
    ("rviz", "false", "Also start RViz, if it is installed."),
    ("rviz_config", "", "Configuration of RViz; empty: the robot, its frames and a grid."),
)
NODE = "robot_semantics"
TIMEOUT_S = 60
"""Time that the page waits for the node on a busy machine [s]."""


def start(context: LaunchContext) -> list[Action]:
    """Return the node, the page and RViz."""
    sources, given = one_robot(context)
    node = Node(
        package="robot_semantics",
        executable="robot_semantics_node",
        namespace=LaunchConfiguration("namespace"),
        parameters=[sources, given],
        output="screen",
    )
    texts = {name: value.evaluate(context) for name, value in given.items()}
    actions = [node, page(context)]
    if is_true(context, "rviz"):
        actions.append(rviz(context, texts))
    return actions


def page(context: LaunchContext) -> Action:
    """Return the process that serves the page and publishes joint states."""
    namespace = argument_value(context, "namespace").strip("/")
    command = [sys.executable, "-m", "robot_semantics.cli.main", "view", "--live", "--timeout", str(TIMEOUT_S)]
    command.append(f"--node=/{namespace}/{NODE}" if namespace else f"--node=/{NODE}")
    command += ["--port", argument_value(context, "port")]
    for folder in argument_value(context, "package_path").split():
        command += ["--package-path", folder]
    topics = argument_value(context, "sources").split()
    if is_true(context, "sliders"):
        command += ["--sliders", *(f"--sliders={topic}" for topic in topics)]
    elif topics:
        raise LaunchArgumentError("sources: needs sliders:=true")
    if not is_true(context, "browser"):
        command.append("--no-browser")
    return ExecuteProcess(cmd=command, name="view", output="screen")


def rviz(context: LaunchContext, texts: dict[str, str]) -> Action:
    """Return RViz with a configuration for the robot, or a message if RViz is not installed."""
    try:
        FindPackagePrefix("rviz2").perform(context)
    except KeyError:
        return LogInfo(msg="rviz:=true: RViz is not installed (package rviz2); the page shows the robot")
    path = argument_value(context, "rviz_config") or str(write_configuration(context, texts))
    return Node(package="rviz2", executable="rviz2", arguments=["-d", path], output="screen")


def write_configuration(context: LaunchContext, texts: dict[str, str]) -> Path:
    """Write RViz's configuration for the robot into the log folder of this launch; return its path."""
    namespace, prefix = argument_value(context, "namespace").strip("/"), frame_name(texts.get("frame_prefix", ""))
    values = {
        "Value: /robot_description": f"/{namespace}/robot_description" if namespace else "/robot_description",
        # RViz puts a slash between the prefix and the name of a link.
        'TF Prefix: ""': prefix.removesuffix("/"),
    }
    if "robot_description" in texts:
        robot = robot_from_text(
            texts["robot_description"], texts.get("robot_description_semantic") or None, strict=False
        )
        frame = robot.root_joint.parent_link if is_true(context, "sliders") else ""
        values["Fixed Frame: base_link"] = frame or prefix + robot.root_link
    share = FindPackageShare("robot_semantics").perform(context)
    content = Path(share, "config", "display.rviz").read_text(encoding="utf-8")
    for line, value in values.items():
        # A JSON string is a YAML string, whatever is in it.
        content = content.replace(f"{line}\n", f"{line.partition(':')[0]}: {json.dumps(value)}\n")
    path = Path(launch_config.log_dir) / "display.rviz"
    path.write_text(content, encoding="utf-8")
    return path


def generate_launch_description() -> LaunchDescription:
    """Return the description of the launch."""
    return LaunchDescription([*declare_arguments(ARGUMENTS), OpaqueFunction(function=start)])
