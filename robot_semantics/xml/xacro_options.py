# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Whether and how macros are carried out, as a value that every reader of files takes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Xacro:
    """Whether and how a file's macros are carried out.

    Attributes:
        expand: True: they are; False: they are not, and a file called ``.xacro`` is refused; None: the name decides.
        arguments: values of its ``<xacro:arg>``.
        seconds: it is ended after this time [s].
        megabytes: memory that it may take beyond what Python itself needs [MB].
        asked: the arguments that the files expanded with this value have declared or used.
    """

    expand: bool | None = None
    arguments: Mapping[str, str] = field(default_factory=dict)
    seconds: float = 60.0
    megabytes: int = 1024
    asked: set[str] = field(default_factory=set, compare=False)

    @classmethod
    def of(cls, xacro: Xacro | bool | None, arguments: Mapping[str, str] | None = None) -> Xacro:
        """Return the value for what a caller may give: a value, or only whether to expand, and the arguments."""
        return xacro if isinstance(xacro, Xacro) else cls(xacro, arguments or {})


NO_XACRO = Xacro(expand=False)
"""For files that another document names: what is in them must not run."""
