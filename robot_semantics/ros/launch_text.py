# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""What launch files share: the text of a description from its path, and arguments with their defaults."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from launch.actions import DeclareLaunchArgument
from launch.launch_context import LaunchContext
from launch.substitution import Substitution
from launch.substitutions import LaunchConfiguration, PathJoinSubstitution
from launch.substitutions.substitution_failure import SubstitutionFailure
from launch_ros.parameter_descriptions import ParameterValue
from launch_ros.substitutions import FindPackageShare

PARAMS_FILE = (
    "params_file",
    PathJoinSubstitution([FindPackageShare("robot_semantics"), "config", "robot_semantics.yaml"]),
    "Parameter file of the node.",
)
"""The argument of every launch file that names the node's parameters."""

USE_SIM_TIME = ("use_sim_time", "", "Take the time from /clock; empty: as in params_file.")


class DescriptionText(Substitution):  # type: ignore[misc]  # launch is not typed
    """The text of the file that an argument names, its macros expanded; spaces may be in its path.

    Attributes:
        together: the texts of one launch file; when the first is asked for, all are read, side by side.
    """

    def __init__(self, argument: str, otherwise: str | None = None) -> None:
        """With no path in `argument` the text is that of the argument `otherwise`, or empty."""
        super().__init__()
        self._argument, self._otherwise = argument, otherwise
        self._reading: dict[str, subprocess.Popen[str]] = {}
        self._made: dict[str, str] = {}
        self.together: list[DescriptionText] = [self]

    def describe(self) -> str:
        """Return what stands for this in launch's own messages."""
        return f"DescriptionText({self._argument})"

    def perform(self, context: LaunchContext) -> str:
        """Return the text.

        Raises:
            SubstitutionFailure: the file gives none; why not is on standard error.
        """
        for other in self.together:
            other.start(context)
        given = self._given(context)
        if not given:
            return "" if self._otherwise is None else str(LaunchConfiguration(self._otherwise).perform(context))
        if given not in self._made:
            process = self._reading.pop(given)
            text, _ = process.communicate()
            if process.returncode:
                raise SubstitutionFailure(f"{self._argument}:={given} gives no robot")
            self._made[given] = text
        # launch asks more than once, and a xacro takes its time.
        return self._made[given]

    def start(self, context: LaunchContext) -> None:
        """Begin to read the file, unless that was done."""
        given = self._given(context)
        if given and given not in self._made and given not in self._reading:
            path, assignments = split_path(given)
            command = [sys.executable, "-m", "robot_semantics.cli.main", "expand", path, *assignments]
            self._reading[given] = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)

    def _given(self, context: LaunchContext) -> str:
        return str(LaunchConfiguration(self._argument).perform(context)).strip()


def split_path(given: str) -> tuple[str, list[str]]:
    """Return a path, which may have spaces in it, and the xacro arguments ``name:=value`` behind it."""
    if Path(given).exists():
        return given, []
    found = re.fullmatch(r"(.*?)((?:\s+[A-Za-z_]\w*:=\S*)*)", given, re.DOTALL)
    assert found is not None
    return found[1], found[2].split()


def descriptions(*arguments: str, otherwise: str | None = None) -> list[ParameterValue]:
    """Return a node's parameters: texts, or they would be read as YAML, with the lines that messages name."""
    texts = [DescriptionText(argument, otherwise) for argument in arguments]
    for text in texts:
        text.together = texts
    return [ParameterValue(text, value_type=str) for text in texts]


def stated(context: LaunchContext, **kinds: type) -> dict[str, ParameterValue]:
    """Return the parameters whose arguments were given; for the others the parameter file holds."""
    return {
        name: ParameterValue(LaunchConfiguration(name), value_type=kind)
        for name, kind in kinds.items()
        if LaunchConfiguration(name).perform(context)
    }


def declared(arguments: Iterable[tuple[str, Any, str]]) -> list[DeclareLaunchArgument]:
    """Return arguments from their names, defaults (None: it must be given) and descriptions."""
    return [
        DeclareLaunchArgument(name, description=about, **({} if default is None else {"default_value": default}))
        for name, default, about in arguments
    ]
