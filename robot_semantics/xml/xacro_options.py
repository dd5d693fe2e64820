# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Whether and how macros are carried out, as a value that every reader of files takes."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field

from robot_semantics.base.errors import RobotSemanticsError
from robot_semantics.xml.numbers import number

SECONDS_VARIABLE = "ROBOT_SEMANTICS_XACRO_SECONDS"
"""Environment variable: time after which an expansion is ended [s]."""
MEMORY_VARIABLE = "ROBOT_SEMANTICS_XACRO_MEMORY_MB"
"""Environment variable: memory that an expansion may take [MB]."""


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
    """Whether and how a file's macros are carried out.

    Attributes:
        expand: True: they are; False: they are not, and a file called ``.xacro`` is refused; None: the name decides.
        arguments: values of its ``<xacro:arg>``.
        seconds: it is ended after this time [s]; by default 60, or what `SECONDS_VARIABLE` states.
        foreign: another file names the file, so only a regular file is read.
        megabytes: memory that it may take beyond what Python itself needs [MB]; by default 1024, or what
            `MEMORY_VARIABLE` states.
        asked: the arguments that the files expanded with this value have declared or used.
    """

    expand: bool | None = None
    arguments: Mapping[str, str] = field(default_factory=dict)
    seconds: float = field(default_factory=_seconds)
    megabytes: int = field(default_factory=_megabytes)
    foreign: bool = False
    asked: set[str] = field(default_factory=set, compare=False)

    @classmethod
    def of(cls, xacro: XacroOptions | bool | None, arguments: Mapping[str, str] | None = None) -> XacroOptions:
        """Return the value for what a caller may give: a value, or only whether to expand, and the arguments."""
        return xacro if isinstance(xacro, XacroOptions) else cls(xacro, arguments or {})


NO_XACRO = XacroOptions(expand=False, seconds=60.0, megabytes=1024, foreign=True)
"""For files that another document names: what is in them must not run."""
