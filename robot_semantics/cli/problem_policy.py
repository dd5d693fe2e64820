# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Severity of problems by the options of the command line and the settings of a project.

A project's settings are the table ``[tool.robot_semantics]`` of the nearest ``pyproject.toml``, or the file
``.robot_semantics.toml`` beside it or further up; the command line adds to them.
"""

from __future__ import annotations

import argparse
import importlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from robot_semantics.base.diagnostics import MORE, Diagnostic, Severity
from robot_semantics.base.files import resolved
from robot_semantics.base.names import did_you_mean
from robot_semantics.cli.argument_values import add_repeatable
from robot_semantics.cli.explain import explanations
from robot_semantics.cli.usage import UsageError

OWN_FILE, PROJECT_FILE = ".robot_semantics.toml", "pyproject.toml"
KEYS = ("ignore", "error", "strict")


@dataclass(frozen=True)
class ProblemPolicy:
    """Rules for the severity of problems.

    Attributes:
        ignore: codes that are left out.
        error: codes that are always errors.
        strict: True if warnings make the files fail.
    """

    ignore: frozenset[str] = frozenset()
    error: frozenset[str] = frozenset()
    strict: bool = False

    def of(self, found: Iterable[Diagnostic]) -> list[Diagnostic]:
        """Return the problems that are not ignored, each once, with the severity of this policy."""
        kept = (item for item in dict.fromkeys(found) if item.code not in self.ignore)
        return [replace(item, severity=Severity.ERROR) if item.code in self.error else item for item in kept]

    def failed(self, counted: Iterable[Diagnostic]) -> bool:
        """Return True if files with these problems fail."""
        bad = (Severity.ERROR, Severity.WARNING) if self.strict else (Severity.ERROR,)
        return any(item.severity in bad for item in counted)


def add_policy_arguments(parser: argparse.ArgumentParser) -> None:
    """Add ``--ignore`` and ``--error``."""
    for option, text in (
        ("--ignore", "ignore problems with this code"),
        ("--error", "report problems with this code as errors"),
    ):
        add_repeatable(parser, option, "CODE", text)


def policy_of(arguments: argparse.Namespace) -> ProblemPolicy:
    """Return the policy of the project's settings and the command line.

    Raises:
        UsageError: a code or setting that does not exist, or a settings file that cannot be read.
    """
    project = policy_of_folder(Path())
    ignore, error = (
        _codes([code for text in getattr(arguments, key) for code in text.split(",")], f"--{key}")
        for key in ("ignore", "error")
    )
    # The command line has priority over the project's settings.
    return ProblemPolicy(project.ignore - error | ignore, error | project.error, arguments.strict or project.strict)


def policy_of_folder(folder: Path) -> ProblemPolicy:
    """Return the policy of the settings of a folder's project.

    Raises:
        UsageError: as `project_settings`.
    """
    settings = project_settings(folder)
    ignore, error = (frozenset(settings.get(key, ())) for key in ("ignore", "error"))
    return ProblemPolicy(ignore, error, settings.get("strict", False))


def _codes(codes: object, where: str) -> frozenset[str]:
    if not isinstance(codes, list) or not all(isinstance(code, str) for code in codes):
        raise UsageError(f"{where} must be a list of codes, not {codes!r}")
    for code in codes:
        if code not in explanations() and code != MORE:
            nearest = did_you_mean(code, explanations())
            raise UsageError(
                f"{where}: unknown problem code '{code}'" + (f"; did you mean '{nearest}'?" if nearest else "")
            )
    return frozenset(codes)


def project_settings(folder: Path) -> Mapping[str, Any]:
    """Return the settings of the nearest folder at or above `folder` that has settings.

    Raises:
        UsageError: a file that cannot be read, or a setting that does not exist.
    """
    here = resolved(folder)
    for place in (here, *here.parents):
        for name in (OWN_FILE, PROJECT_FILE):
            path = place / name
            if not path.is_file():
                continue
            settings = _read(path)
            if name == PROJECT_FILE:
                tools = settings.get("tool", {})
                settings = tools.get("robot_semantics") if isinstance(tools, dict) else None
            if settings is not None:
                return _checked(settings, path)
    return {}


def _checked(settings: object, path: Path) -> Mapping[str, Any]:
    if not isinstance(settings, dict):
        raise UsageError(f"{path}: robot_semantics must be a table, not {settings!r}")
    for key in settings:
        if key not in KEYS:
            nearest = did_you_mean(key, KEYS)
            hint = f"; did you mean '{nearest}'?" if nearest else f"; there are {', '.join(KEYS)}"
            raise UsageError(f"{path}: unknown setting '{key}'{hint}")
    for key in ("ignore", "error"):
        _codes(settings.get(key, []), f"{path}: {key}")
    if not isinstance(settings.get("strict", False), bool):
        raise UsageError(f"{path}: strict must be true or false, not {settings['strict']!r}")
    return settings


def _read(path: Path) -> Any:
    try:
        toml = importlib.import_module("tomllib")
    except ModuleNotFoundError:
        # Before Python 3.11, without tomllib. A project file is probably about other tools.
        if path.name == PROJECT_FILE:
            return {}
        raise UsageError(f"{path}: settings need Python 3.11 or later") from None
    text = ""
    try:
        text = path.read_text(encoding="utf-8")
        return toml.loads(text)
    except (OSError, UnicodeDecodeError, toml.TOMLDecodeError) as error:
        if path.name == PROJECT_FILE and "tool.robot_semantics" not in text:
            return {}
        raise UsageError(f"{path}: cannot be read: {error}") from None
