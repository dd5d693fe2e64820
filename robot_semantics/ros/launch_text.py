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


class DescriptionText(Substitution):  # type: ignore[misc]  # launch is not typed
    """The text of the file that an argument names, its macros expanded; spaces may be in its path."""

    def __init__(self, argument: str, otherwise: str | None = None) -> None:
        """With no path in `argument` the text is that of the argument `otherwise`, or empty."""
        super().__init__()
        self._argument, self._otherwise = argument, otherwise
        self._made: dict[str, str] = {}

    def describe(self) -> str:
        """Return what stands for this in launch's own messages."""
        return f"DescriptionText({self._argument})"

    def perform(self, context: LaunchContext) -> str:
        """Return the text.

        Raises:
            SubstitutionFailure: the file gives none; why not is on standard error.
        """
        given = str(LaunchConfiguration(self._argument).perform(context)).strip()
        if not given:
            return "" if self._otherwise is None else str(LaunchConfiguration(self._otherwise).perform(context))
        if given in self._made:
            # launch asks more than once, and a xacro takes its time.
            return self._made[given]
        path, assignments = split_path(given)
        command = [sys.executable, "-m", "robot_semantics.cli.main", "expand", path, *assignments]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
        if done.returncode:
            raise SubstitutionFailure(f"{self._argument}:={given} gives no robot")
        self._made[given] = done.stdout
        return done.stdout


def split_path(given: str) -> tuple[str, list[str]]:
    """Return a path, which may have spaces in it, and the xacro arguments ``name:=value`` behind it."""
    if Path(given).exists():
        return given, []
    found = re.fullmatch(r"(.*?)((?:\s+[A-Za-z_]\w*:=\S*)*)", given, re.DOTALL)
    assert found is not None
    return found[1], found[2].split()


def description(argument: str, otherwise: str | None = None) -> ParameterValue:
    """Return a node's parameter: as text, or it would be read as YAML, and with the lines that messages name."""
    return ParameterValue(DescriptionText(argument, otherwise), value_type=str)


def declared(arguments: Iterable[tuple[str, Any, str]]) -> list[DeclareLaunchArgument]:
    """Return arguments from their names, defaults (None: it must be given) and descriptions."""
    return [
        DeclareLaunchArgument(name, description=about, **({} if default is None else {"default_value": default}))
        for name, default, about in arguments
    ]
