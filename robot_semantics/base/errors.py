# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The error types of the package: one root class, and subclasses with their facts as attributes."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING

from robot_semantics.base.names import nearest_names, shown

if TYPE_CHECKING:
    from robot_semantics.base.diagnostic import Diagnostic


class RobotSemanticsError(Exception):
    """Base class of every error that this package raises on bad input."""


class DescriptionError(RobotSemanticsError):
    """A document has problems; the error has all of them, in document order.

    Attributes:
        diagnostics: every problem, errors and warnings.
    """

    def __init__(self, diagnostics: Iterable[Diagnostic]) -> None:
        self.diagnostics: tuple[Diagnostic, ...] = tuple(diagnostics)
        super().__init__("\n".join(str(diagnostic) for diagnostic in self.diagnostics))


class UsageError(RobotSemanticsError):
    """Meaningless words on a command line, independent of the input; the exit code is 2."""


class UnknownNameError(RobotSemanticsError, KeyError):
    """An unknown name: the model does not have it.

    Attributes:
        kind: the kind of the name, for example ``"joint"``.
        name: the unknown name.
        owner: the thing that should have it, for example ``"group 'arm'"``; empty for the robot.
        nearest: similar known names, best first.
    """

    def __init__(self, kind: str, name: str, valid: Iterable[str], owner: str = "") -> None:
        self.kind = kind
        self.name = name
        self.owner = owner
        self.nearest: tuple[str, ...] = nearest_names(name, valid)
        super().__init__(kind, name)

    def __str__(self) -> str:
        nearest = " or ".join(f"'{shown(name)}'" for name in self.nearest)
        hint = f"; did you mean {nearest}?" if nearest else ""
        owner = f" of {shown(self.owner)}" if self.owner else ""
        return f"unknown {self.kind} '{shown(self.name)}'{owner}{hint}"


def install_hint(extra: str) -> str:
    """Return how to install an extra in this installation."""
    in_workspace = "AMENT_PREFIX_PATH" in os.environ and sys.prefix == sys.base_prefix
    if not in_workspace:
        return f"pip install '.[{extra}]'"
    return (
        "ROBOT_SEMANTICS_EXTRAS=all rosdep install --from-paths src --ignore-src, or pip in a virtual environment that"
        f" is made with --system-site-packages (extra {extra} in setup.py lists the packages)"
    )


class MissingExtraError(RobotSemanticsError, ImportError):
    """An optional dependency is not installed.

    Attributes:
        extra: the name of the extra that installs it, as in ``pip install .[extra]``.
    """

    def __init__(self, module: str, extra: str, purpose: str) -> None:
        self.extra = extra
        super().__init__(f"{purpose} needs the Python module '{module}': {install_hint(extra)}")


class ArrayError(RobotSemanticsError, ValueError):
    """An array argument has a wrong shape or unusable numbers.

    Attributes:
        argument: the argument's name.
        reason: the problem.
    """

    def __init__(self, argument: str, reason: str) -> None:
        self.argument = argument
        self.reason = reason
        super().__init__(f"{argument}: {reason}")
