# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Names from files reach the terminal escaped, and no command colours what a user does not want in colours."""

from __future__ import annotations

import ast
import contextlib
import os
import pty
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import robot_semantics

PACKAGE = Path(robot_semantics.__file__).parent
WAYS = {
    "base/names.py": "print_line",
    "cli/frame/printing.py": "documents, JSON and coloured lines",
    "cli/frame/console.py": "tables, whose cells are escaped",
    "cli/main.py": "words of its own, before anything else is imported",
    "cli/running.py": "help of argparse",
    "ros/running/program.py": "help of a node",
}
"""Modules that may write to the terminal by themselves; every other module calls them."""


def ways_to_the_terminal(text: str) -> Iterator[int]:
    """Yield the lines of calls that write a computed text to the terminal."""
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.Call) or all(isinstance(argument, ast.Constant) for argument in node.args):
            continue
        called = ast.unparse(node.func)
        if called in ("print", "Console") or called.endswith(
            tuple(f"{stream}.{way}" for stream in ("stdout", "stderr") for way in ("write", "writelines"))
        ):
            yield node.lineno


def test_one_function_prints() -> None:
    modules = {str(path.relative_to(PACKAGE)): path.read_text() for path in PACKAGE.rglob("*.py")}
    printing = {name for name, text in modules.items() if list(ways_to_the_terminal(text))}
    assert printing - WAYS.keys() == set()
    assert list(ways_to_the_terminal("print(f'{name}')\nsys.stderr.write(name)\nprint('x')")) == [1, 2]


def shown_on_a_terminal(words: list[str], **environment: str) -> str:
    """Return what a command writes to a terminal."""
    master, slave = pty.openpty()
    variables = {**os.environ, "TERM": "xterm-256color", **environment}
    command = [sys.executable, "-m", "robot_semantics.cli.main", *words]
    with subprocess.Popen(command, stdin=slave, stdout=slave, stderr=slave, env=variables) as process:
        os.close(slave)
        parts = []
        with contextlib.suppress(OSError):
            while part := os.read(master, 65536):
                parts.append(part)
        process.wait()
    os.close(master)
    return b"".join(parts).decode()


EVIL = "x&#x9b;2J&#x202e;\u202egpj"
ROBOT = f'<robot name="{EVIL}"><link name="{EVIL}"/><link name="b"/><linkk/></robot>'.replace("</robot>", "")
ROBOT += f'<joint name="j{EVIL}" type="fixed"><parent link="{EVIL}"/><child link="b"/></joint></robot>'
COMMANDS = [
    "check",
    "check --all",
    "check --format github",
    "fk",
    "show",
    "groups",
    "groups --link b",
    "check nothere.urdf",
]


@pytest.fixture(scope="module")
def robot(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("evil") / "r\x1b[2J\u202e.urdf"
    path.write_text(ROBOT)
    return path


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("variable", ["NO_COLOR", "TERM"])
def test_no_command_writes_a_control_character(robot: Path, command: str, variable: str) -> None:
    name, *words = command.split()
    plain = {"NO_COLOR": "1"} if variable == "NO_COLOR" else {"TERM": "dumb"}
    text = shown_on_a_terminal([name, str(robot), *words], **plain)
    assert text
    assert [mark for mark in text if not mark.isprintable() and mark not in "\r\n"] == []


def test_a_terminal_gets_colours(robot: Path) -> None:
    assert "\x1b[1;" in shown_on_a_terminal(["check", str(robot)])


@pytest.mark.parametrize("command", ["show", "fk", "groups --link b"])
def test_json_has_no_mark_that_turns_the_text(robot: Path, command: str) -> None:
    name, *words = command.split()
    text = shown_on_a_terminal([name, str(robot), *words, "--json"])
    assert "{" in text
    assert [mark for mark in text if not mark.isprintable() and mark not in "\r\n"] == []
