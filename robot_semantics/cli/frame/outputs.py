# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Output files of commands; an existing file is overwritten only on request."""

from __future__ import annotations

import argparse
import stat
from typing import TYPE_CHECKING, Any

from robot_semantics.base.errors import RobotSemanticsError

if TYPE_CHECKING:
    from pathlib import Path


class _OutputFile(argparse.Action):
    """Action that stores the path of an output file."""

    def __init__(self, *words: Any, dash: str | None, **options: Any) -> None:
        super().__init__(*words, **options)
        self._dash = dash

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: object,
        option_string: str | None = None,
    ) -> None:
        if values == "-" and self._dash == "":
            parser.error(f"argument {option_string}: '-' is standard output; give a file")
        setattr(namespace, self.dest, self._dash if values == "-" else values)


def add_output(parser: argparse._ActionsContainer, *flags: str, dash: str | None = "", **options: Any) -> None:
    """Add an option that names an output file; `options` are passed to `add_argument`.

    The command also gets ``--force``, and refuses at its start to overwrite an existing file. A ``-`` is refused,
    unless `dash` is given: the value that means standard output for the command.
    """
    parser.add_argument(*flags, action=_OutputFile, dash=dash, **options)


def declare_force(parser: argparse.ArgumentParser) -> None:
    """Add ``--force`` to a command that makes files, unless it has its own."""
    outputs = [action.dest for action in parser._actions if isinstance(action, _OutputFile)]
    if outputs:
        if "--force" not in parser._option_string_actions:
            parser.add_argument("--force", action="store_true", help="overwrite a file")
        parser.set_defaults(made_files=outputs)


def check_outputs(arguments: argparse.Namespace) -> None:
    """Check that the command's output files do not exist yet.

    Raises:
        RobotSemanticsError: one exists and ``--force`` was not given; a device or a pipe does not count.
        OSError: the path is invalid.
    """
    # Import here: the start needs no paths.
    from pathlib import Path

    for name in getattr(arguments, "made_files", ()):
        path = getattr(arguments, name)
        if path and path != "-":
            check_not_there(Path(path), arguments.force)


def check_not_there(path: Path, force: bool) -> None:
    """Check that a file does not exist yet; raises the same errors as `check_outputs`."""
    try:
        is_file = stat.S_ISREG(path.stat().st_mode)
    except FileNotFoundError:
        return
    if is_file and not force:
        raise RobotSemanticsError(f"{path} exists already; --force overwrites it")
