# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Launch arguments and the node parameters that they set; shared by the launch files."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

from launch.actions import DeclareLaunchArgument
from launch.launch_context import LaunchContext
from launch.launch_description_entity import LaunchDescriptionEntity
from launch.substitutions import LaunchConfiguration, PathJoinSubstitution
from launch_ros.parameter_descriptions import ParameterValue
from launch_ros.substitutions import FindPackageShare

from robot_semantics.base.errors import RobotSemanticsError

PARAMS_FILE = (
    "params_file",
    PathJoinSubstitution([FindPackageShare("robot_semantics"), "config", "robot_semantics.yaml"]),
    "Parameter file of the node.",
)
"""The argument for the parameter file; every launch file has it."""

USE_SIM_TIME = ("use_sim_time", "", "Take the time from /clock; empty: as in params_file.")

_FILES = (
    (
        "robot_description",
        "model",
        "Path of {}'s URDF, plain or xacro, then xacro arguments name:=value; empty: as in params_file.",
    ),
    ("robot_description_semantic", "semantic_model", "Path of {}'s SRDF, plain or xacro; empty: as in params_file."),
    ("robot_description_loops", "loops", "Path of {}'s robot.yaml of Extended URDF; empty: as in params_file."),
)
"""For each text parameter of a robot: the launch argument that takes its file, and the description."""
_PLAIN_TEXTS = ("robot_description_loops",)
"""Text parameters whose files are no descriptions with macros."""


def robot_arguments(ending: str = "", robot: str = "the robot") -> tuple[tuple[str, str, str], ...]:
    """Return the arguments for the files of a robot; `ending` distinguishes those of several robots."""
    return tuple((f"{argument}{ending}", "", text.format(robot)) for _, argument, text in _FILES)


ONE_ROBOT = (
    *robot_arguments(),
    ("namespace", "", "Namespace of the node and its topics."),
    ("frame_prefix", "", "Prefix of every link name on TF, for example 'robot1/'; empty: as in params_file."),
    USE_SIM_TIME,
    PARAMS_FILE,
)
"""The arguments for a node with one robot; `one_robot` reads them."""


class LaunchArgumentError(RobotSemanticsError, ValueError):
    """A launch argument has a value of another type, or its file does not exist or has no valid description."""


def declare_arguments(arguments: Iterable[tuple[str, object, str]]) -> list[DeclareLaunchArgument]:
    """Return launch arguments from their names, defaults and descriptions."""
    return [DeclareLaunchArgument(name, default_value=default, description=about) for name, default, about in arguments]


def parameter_sources(
    context: LaunchContext,
    files: Mapping[str, str],
    fixed: Mapping[str, object] | None = None,
    texts: Mapping[str, str] | None = None,
    **types: type,
) -> list[LaunchDescriptionEntity]:
    """Return the parameter sources of a node: its parameter file, then the non-empty arguments, which have priority.

    Args:
        context: the launch context with the values of the arguments.
        files: parameters that get the text of a description file, each with the argument that has its path.
        fixed: parameters that no argument sets.
        texts: parameters that get the text of another file, each with the argument that has its path.
        types: parameters that get the value of the argument of the same name, with their types.

    Raises:
        LaunchArgumentError: a file does not exist, a value has another type, or a description file is not valid.
    """
    path = argument_value(context, "params_file")
    if not Path(path).is_file():
        raise LaunchArgumentError(f"params_file:={path}: the file does not exist")
    values = {}
    for name, type_ in types.items():
        if argument_value(context, name):
            values[name] = _typed(context, name, type_)
    for parameter, argument in (texts or {}).items():
        if text := argument_value(context, argument):
            try:
                values[parameter] = ParameterValue(Path(text).read_text(encoding="utf-8"), value_type=str)
            except (OSError, UnicodeDecodeError) as error:
                raise LaunchArgumentError(f"{argument}:={text}: the file cannot be read: {error}") from error
    return [path, {**(fixed or {}), **values, **_descriptions(context, files)}]


def robot_parameters(
    context: LaunchContext, robots: Mapping[str, str], fixed: Mapping[str, object] | None = None, **types: type
) -> list[LaunchDescriptionEntity]:
    """Return the parameter sources of a node with robots, as `parameter_sources`, from the arguments `robot_arguments`.

    Args:
        context: the launch context with the values of the arguments.
        robots: for each robot the ending of its arguments, by the prefix of its parameters.
        fixed: parameters that no argument sets.
        types: as in `parameter_sources`.

    Raises:
        LaunchArgumentError: as `parameter_sources`.
    """
    files, texts = (
        {
            f"{prefix}{parameter}": f"{argument}{ending}"
            for prefix, ending in robots.items()
            for parameter, argument, _ in _FILES
            if (parameter in _PLAIN_TEXTS) is is_plain
        }
        for is_plain in (False, True)
    )
    return parameter_sources(context, files, fixed, texts, **types)


def one_robot(context: LaunchContext) -> list[LaunchDescriptionEntity]:
    """Return the parameter sources of a node with one robot, from the arguments `ONE_ROBOT`.

    Raises:
        LaunchArgumentError: as `parameter_sources`.
    """
    return robot_parameters(context, {"": ""}, frame_prefix=str, use_sim_time=bool)


def is_true(context: LaunchContext, name: str) -> bool:
    """Return the value of an argument that is true or false.

    Raises:
        LaunchArgumentError: the value is neither.
    """
    return bool(_typed(context, name, bool).evaluate(context))


def _typed(context: LaunchContext, name: str, kind: type) -> ParameterValue:
    value = ParameterValue(LaunchConfiguration(name), value_type=kind)
    try:
        value.evaluate(context)
    except ValueError:
        raise LaunchArgumentError(
            f"{name}:={argument_value(context, name)}: expected a value of type {kind.__name__}"
        ) from None
    return value


def _descriptions(context: LaunchContext, files: Mapping[str, str]) -> dict[str, ParameterValue]:
    """Return the texts of description files with their macros expanded; all files are expanded in parallel."""
    running = {}
    for parameter, argument in files.items():
        if given := argument_value(context, argument):
            path, assignments = split_path(given)
            command = [sys.executable, "-m", "robot_semantics.cli.main", "expand", path, *assignments]
            running[parameter] = (
                f"{argument}:={given}",
                subprocess.Popen(command, stdout=subprocess.PIPE, text=True),
            )
    texts = {parameter: process.communicate()[0] for parameter, (_, process) in running.items()}
    for origin, process in running.values():
        if process.returncode:
            # `expand` has written the reason to standard error.
            raise LaunchArgumentError(f"{origin}: the file has no valid description")
    # Without the type, launch would read the text as YAML.
    return {parameter: ParameterValue(text, value_type=str) for parameter, text in texts.items()}


def split_path(argument: str) -> tuple[str, list[str]]:
    """Return a path, which may contain spaces, and the xacro arguments ``name:=value`` after it.

    A value with spaces is in quotes: ``name:="a b"``.
    """
    if Path(argument).exists():
        return argument, []
    assignments: list[str] = []
    while found := re.fullmatch(r"""(.*?)\s+([A-Za-z_]\w*:=)("[^"]*"|'[^']*'|\S*)""", argument, re.DOTALL):
        argument, name, value = found.groups()
        assignments.insert(0, name + (value[1:-1] if re.fullmatch(r"""(["']).*\1""", value, re.DOTALL) else value))
    return argument, assignments


def argument_value(context: LaunchContext, argument: str) -> str:
    """Return the value of an argument as text."""
    return str(LaunchConfiguration(argument).perform(context)).strip()
