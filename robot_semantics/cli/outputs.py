# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The files that commands write: none is written over another without being told to."""

from __future__ import annotations

import argparse
import stat
from pathlib import Path
from typing import Any

from robot_semantics.base.errors import RobotSemanticsError


class _OutputFile(argparse.Action):
    """Keeps the path of a file that the command makes."""

    def __init__(self, *words: Any, dash: str | None, **options: Any) -> None:
        super().__init__(*words, **options)
        self._dash = dash

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: Any, option_string: Any = None
    ) -> None:
        if values == "-" and self._dash == "":
            parser.error(f"argument {option_string}: '-' is standard output, and a file is needed")
        setattr(namespace, self.dest, self._dash if values == "-" else values)


def add_output(parser: Any, *flags: str, dash: str | None = "", **options: Any) -> None:
    """Declare an option that names a file to write; `options` are those of `add_argument`.

    The command then has ``--force`` as well, and refuses, before it does anything, to write over what is there. A
    ``-`` is refused, unless `dash` says by which value the command knows that standard output is meant.
    """
    parser.add_argument(*flags, action=_OutputFile, dash=dash, **options)


def declare_force(parser: argparse.ArgumentParser) -> None:
    """Give a command that makes files its ``--force``, unless it has declared one with a meaning of its own."""
    outputs = [action.dest for action in parser._actions if isinstance(action, _OutputFile)]
    if outputs:
        if "--force" not in parser._option_string_actions:
            parser.add_argument("--force", action="store_true", help="overwrite a file")
        parser.set_defaults(made_files=outputs)


def check_outputs(arguments: argparse.Namespace) -> None:
    """Look whether a file that the command would make is there already.

    Raises:
        RobotSemanticsError: it is, and ``--force`` was not given; a device or a pipe is no such file.
        OSError: its name leads nowhere.
    """
    for name in getattr(arguments, "made_files", ()):
        path = getattr(arguments, name)
        if path and path != "-":
            check_not_there(Path(path), arguments.force)


def check_not_there(path: Path, force: bool) -> None:
    """Look whether a file is there already; raises as `check_outputs`."""
    try:
        is_file = stat.S_ISREG(path.stat().st_mode)
    except FileNotFoundError:
        return
    if is_file and not force:
        raise RobotSemanticsError(f"{path} is there already; --force writes over it")
