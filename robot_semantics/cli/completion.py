# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""`robot_semantics completion`: shell completion of commands, options, and names in the given files."""

from __future__ import annotations

import argparse
import os
import re
import shlex
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import argcomplete
from argcomplete.shell_integration import shellcode

from robot_semantics.base.errors import RobotSemanticsError
from robot_semantics.cli.frame.command import Command
from robot_semantics.cli.frame.printing import print_document
from robot_semantics.model.robot_model import RobotModel

PROGRAM = "robot_semantics"
SHELLS = ("bash", "fish", "zsh")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("shell", choices=SHELLS, help="name of the shell")


def run(arguments: argparse.Namespace) -> None:
    """Print the code for the shell."""
    print_document(shellcode([PROGRAM], shell=arguments.shell, use_defaults=True))


def answer_completion(parser: argparse.ArgumentParser) -> None:
    """Answer a completion request, which a shell makes by environment variables, and end the process."""
    for action in _actions(parser):
        metavar = action.metavar[0] if isinstance(action.metavar, tuple) else str(action.metavar)
        names = _NAMES.get(f"{action.dest} {metavar}") or _NAMES.get(metavar) or _NAMES.get(action.dest)
        if names is not None and action.choices is None:
            # argcomplete reads the possible values from this attribute.
            action.completer = _offer(names)  # type: ignore[attr-defined]  # argparse has no such place
    argcomplete.autocomplete(parser)


def words_so_far() -> list[str]:
    """Return the words behind the program name on the line to complete."""
    return os.environ.get("COMP_LINE", "").split()[1:]


def _actions(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    for action in parser._actions:  # argparse has no public list of its actions
        yield action
        if isinstance(action, argparse._SubParsersAction):
            for sub in action.choices.values():
                yield from _actions(sub)


def _offer(names: Callable[[RobotModel], Iterable[str]]) -> Callable[..., list[str]]:
    """Return a completer for names of the robot whose files are on the line."""

    def completer(prefix: str, **_: object) -> list[str]:
        robot = _robot_on_the_line()
        return [] if robot is None else [name for name in names(robot) if name.startswith(prefix)]

    return completer


def _robot_on_the_line() -> RobotModel | None:
    from robot_semantics.model.loading import load_robot

    try:
        line = shlex.split(os.environ.get("COMP_LINE", ""))[1:]
        words = [Path(part) for word in line for part in (word, *re.split("[=,]", word))]
        files = {path.suffix: path for path in words if path.suffix in (".urdf", ".srdf") and path.is_file()}
        return load_robot(files[".urdf"], files.get(".srdf"), strict=False) if ".urdf" in files else None
    except (RobotSemanticsError, OSError, ValueError):
        return None


def _states(robot: RobotModel) -> Iterator[str]:
    yield from (f"{group}/{name}" for group, name in robot.semantics.states)


# Completers by the argument's name, or by its metavar.
_NAMES: dict[str, Callable[[RobotModel], Iterable[str]]] = {
    **dict.fromkeys(("group", "GROUP"), lambda robot: robot.semantics.groups),
    **dict.fromkeys(("GROUP/STATE", "[MODEL/]GROUP/NAME"), _states),
    "GROUP[/STATE]": lambda robot: (*robot.semantics.groups, *_states(robot)),
    "joint NAME=NUMBERS": lambda robot: (f"{name}=" for joint in robot.joints for name in joint.variable_names),
    "JOINT": lambda robot: robot.joint_names[1:],
    **dict.fromkeys(("link1", "link2", "LINK", "LINK1", "LINK2"), lambda robot: robot.link_names),
}


COMMAND = Command(
    add_arguments,
    run,
    examples=("robot_semantics completion bash > ~/.local/share/bash-completion/completions/robot_semantics",),
)
