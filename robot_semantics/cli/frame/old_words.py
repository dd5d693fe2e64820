# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Former words of the command line and what replaced them: an old word gets one line with the new one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from robot_semantics.cli.frame.command import UsageError

COMMANDS: dict[str, str] = {}
"""Former commands and operations, and the commands that do their work."""

JOINT, STATE = "--joint NAME=NUMBERS", "--state [MODEL/]GROUP/NAME"
ROBOT = "--urdf [NAME=]URDF[,SRDF]"

OPTIONS: tuple[tuple[str, str, str], ...] = ()
"""Former options: the command or the commands, separated by commas ("" for all); the old option; the new form."""


def refuse_old_words(words: Sequence[str]) -> None:
    """Refuse a command line with a former word.

    Raises:
        UsageError: it has one; the error has the new word.
    """
    names = [word for word in words if not word.startswith("-")]
    for count in (3, 2, 1):
        old = " ".join(names[:count])
        if old in COMMANDS:
            raise UsageError(f"'{old}' is now '{COMMANDS[old]}'")
    line = f"{' '.join(names)} "
    for option in _options(words):
        for commands, old, new in OPTIONS:
            if option == old and any(line.startswith(f"{command.strip()} ") for command in commands.split(",")):
                raise UsageError(f"'{old}' is now '{new}'")


def _options(words: Sequence[str]) -> Iterator[str]:
    for word in words:
        if word == "--":
            return
        if word.startswith("-"):
            yield word.partition("=")[0]
