# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Former words of the command line and what replaced them: an old word gets one line with the new one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

COMMANDS: dict[str, str] = {
    "group": "groups URDF SRDF NAME",
    "find": "groups --link LINK or --joint JOINT, or show --pair, --end-effectors or --passive-joints",
    "usdf check": "check WORLD",
    "usdf diff": "diff WORLD WORLD",
    "usdf from-series": "export SERIES --at T -o OUT.usdf",
    "collisions diff": "diff A.srdf B.srdf",
    "sim example": "example --path",
}
"""Former commands and operations, and the commands that do their work."""

JOINT, STATE = "--joint NAME=NUMBERS", "--state [MODEL/]GROUP/NAME"
ROBOT = "--urdf [NAME=]URDF[,SRDF]"

OPTIONS: tuple[tuple[str, str, str], ...] = (
    ("export", "--from", "--start T"),
    ("export", "--format", "--to KIND"),
    ("fk", "--world", "usdf resolve WORLD --links MODEL"),
    ("fk, states, view", "--positions", JOINT),
    ("check, upgrade", "--diff", "--dry-run"),
    ("collisions generate", "--update", "--in-place"),
    ("usdf split", "--output-folder", "-o DIR"),
    ("snapshot save", "--overwrite", "--force"),
    ("srdf add, srdf remove, srdf rename, collisions enable, collisions disable", "--srdf", "S.srdf"),
    ("compose", "--srdf", "BASE.urdf,BASE.srdf PART.urdf,PART.srdf"),
    ("diff", "--srdf-a", "[NAME=]URDF,SRDF in place of A"),
    ("diff", "--srdf-b", "[NAME=]URDF,SRDF in place of B"),
    ("check, usdf, sim, export, bag, plot, diff", "--srdf", ROBOT),
    ("show, fk, groups, states, collisions, studio", "--srdf", "URDF SRDF"),
    ("view", "--srdf", "FILE"),
    ("sim", "--model", "--urdf NAME=URDF[,SRDF]"),
)
"""Former options: the command or the commands, separated by commas; the old option; the new form."""


def replacement(words: Sequence[str]) -> str | None:
    """Return a message with the new word for a former word of a wrong command line; None if it has none."""
    names = [word for word in words if not word.startswith("-")]
    for count in (3, 2, 1):
        old = " ".join(names[:count])
        if old in COMMANDS:
            return f"'{old}' is now '{COMMANDS[old]}'"
    line = f"{' '.join(names)} "
    for option in _options(words):
        for commands, old, new in OPTIONS:
            if option == old and any(line.startswith(f"{command} ") for command in commands.split(", ")):
                return f"'{old}' is now '{new}'"
    return None


def _options(words: Sequence[str]) -> Iterator[str]:
    for word in words:
        if word == "--":
            return
        if word.startswith("-"):
            yield word.partition("=")[0]
