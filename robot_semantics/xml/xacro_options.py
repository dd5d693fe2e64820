# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Options of xacro expansion, as a value that every file reader takes."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field

from robot_semantics.base.errors import RobotSemanticsError
from robot_semantics.xml.numbers import number

SECONDS_VARIABLE = "ROBOT_SEMANTICS_XACRO_SECONDS"
"""Environment variable: time limit of an expansion [s]."""
MEMORY_VARIABLE = "ROBOT_SEMANTICS_XACRO_MEMORY_MB"
"""Environment variable: memory limit of an expansion [MB]."""


def _seconds() -> float:
    return _positive(SECONDS_VARIABLE, 60.0)


def _megabytes() -> int:
    return int(_positive(MEMORY_VARIABLE, 1024.0))


def _positive(variable: str, default: float) -> float:
    text = os.environ.get(variable, "")
    try:
        value = number(text) if text else default
    except ValueError:
        value = 0.0
    if value <= 0.0:
        raise RobotSemanticsError(f"the environment variable {variable} must be a positive number, not '{text}'")
    return value


@dataclass(frozen=True, slots=True)
class XacroOptions:
    """Options of xacro expansion.

    Attributes:
        expand: True: expand; False: do not expand, and refuse a file called ``.xacro``; None: the file name decides.
        arguments: values of ``<xacro:arg>``.
        seconds: time limit [s]; by default 60, or the value of `SECONDS_VARIABLE`.
        foreign: True if another file names the file; then only a regular file is read.
        megabytes: memory limit beyond the needs of Python itself [MB]; by default 1024, or the value of
            `MEMORY_VARIABLE`.
        asked: the arguments that the expanded files have declared or used.
    """

    expand: bool | None = None
    arguments: Mapping[str, str] = field(default_factory=dict)
    seconds: float = field(default_factory=_seconds)
    megabytes: int = field(default_factory=_megabytes)
    foreign: bool = False
    asked: set[str] = field(default_factory=set, compare=False)

    @classmethod
    def of(cls, xacro: XacroOptions | bool | None, arguments: Mapping[str, str] | None = None) -> XacroOptions:
        """Return the options from a caller's value: options, or only a flag, with arguments."""
        return xacro if isinstance(xacro, XacroOptions) else cls(xacro, arguments or {})


NO_XACRO = XacroOptions(expand=False, seconds=60.0, megabytes=1024, foreign=True)
"""For files that another document names: their expressions must not run."""
