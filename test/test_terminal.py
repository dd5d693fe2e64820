# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Names from files reach the terminal escaped, and no command colours what a user does not want in colours."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.terminal import written_to_a_terminal

import robot_semantics
from robot_semantics.cli.running import all_commands
from robot_semantics.examples import example

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


def shown_on_a_terminal(words: list[str], folder: Path | None = None, **environment: str) -> str:
    """Return what a command writes to a terminal with colours."""
    return written_to_a_terminal(words, folder, **{"TERM": "xterm-256color", **environment})


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
    text = shown_on_a_terminal([name, str(robot), *words], None, **plain)
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


# Of every command, a line that prints much; those that need a node, a page or an editor print their refusal.
LINES = {
    "check": "check bad.urdf",
    "info": "info robot.urdf",
    "explain": "explain cycle",
    "diff": "diff world.usdf other.usdf",
    "show": "show robot.urdf robot.srdf",
    "fk": "fk robot.urdf",
    "groups": "groups robot.urdf robot.srdf",
    "states": "states robot.urdf robot.srdf",
    "srdf new": "srdf new robot.urdf --chain arm=base_link..wrist_link",
    "srdf add": "srdf add robot.srdf --passive-joint elbow_joint",
    "srdf remove": "srdf remove robot.srdf --group nothing",
    "srdf rename": "srdf rename robot.srdf group nothing other",
    "expand": "expand robot.urdf",
    "upgrade": "upgrade robot.urdf --dry-run",
    "compose": "compose robot.urdf block.urdf --at palm_link --prefix b_ --dry-run",
    "collisions generate": "collisions generate robot.urdf robot.srdf --samples 20 --dry-run",
    "collisions check": "collisions check robot.urdf robot.srdf --samples 20",
    "collisions table": "collisions table robot.urdf robot.srdf --samples 20",
    "collisions enable": "collisions enable robot.srdf palm_link base_link",
    "collisions disable": "collisions disable robot.srdf palm_link base_link",
    "collisions witness": "collisions witness robot.urdf base_link palm_link --samples 20",
    "collisions spheres check": "collisions spheres check robot.urdf robot.srdf",
    "collisions spheres generate": "collisions spheres generate nothing.urdf --dry-run",
    "collisions spheres convert": "collisions spheres convert robot.urdf robot.srdf --group arm --to curobo --dry-run",
    "export": "export nothing --dry-run",
    "bag": "bag world.usdf --dry-run",
    "view": "view robot.urdf --png p.png --size 64x64 --force",
    "lsp": "lsp --no-such-option",
    "studio": "studio nothing.urdf -o s.srdf",
    "plot": "plot world.usdf --dry-run",
    "sim run": "sim run world.usdf --steps 1",
    "sim export": "sim export world.usdf --to mjcf --dry-run",
    "snapshot save": "snapshot save --node=2",
    "snapshot restore": "snapshot restore",
    "snapshot list": "snapshot list --node=2",
    "snapshot delete": "snapshot delete",
    "doctor": "doctor --no-ros",
    "example": "example --path",
    "schema": "schema urdf",
    "completion": "completion bash",
    "help": "help check",
    "usdf new": "usdf new robot.urdf",
    "usdf show": "usdf show world.usdf",
    "usdf resolve": "usdf resolve world.usdf",
    "usdf merge": "usdf merge world.usdf",
    "usdf split": "usdf split world.usdf --dry-run",
    "usdf interpolate": "usdf interpolate world.usdf world.usdf --share 0.5",
    "usdf convert": "usdf convert world.usdf --to json",
    "usdf edit": "usdf edit world.usdf --name a",
}


@pytest.mark.parametrize("words", [words for words, command in all_commands() if command.run is not None])
def test_no_command_has_colours_where_they_are_not_wanted(words: str, tmp_path: Path) -> None:
    for kind in ("urdf", "srdf", "usdf"):
        text = example(f"rover_arm.{kind}").read_text()
        (tmp_path / f"rover_arm.{kind}").write_text(text)
        (tmp_path / ("world.usdf" if kind == "usdf" else f"robot.{kind}")).write_text(text)
    for name in ("block.urdf", "block.srdf"):
        (tmp_path / name).write_text(example(name).read_text())
    (tmp_path / "other.usdf").write_text((tmp_path / "world.usdf").read_text().replace("0 0 0", "1 0 0", 1))
    (tmp_path / "bad.urdf").write_text(ROBOT)
    variable = {"NO_COLOR": "1"} if len(words) % 2 else {"TERM": "dumb"}
    text = shown_on_a_terminal(LINES[words].split(), tmp_path, **variable)
    assert text
    assert "Traceback" not in text
    # Progress moves the cursor on a terminal that can, without colours.
    assert not re.search(r"\x1b\[[\d;]*m" if "NO_COLOR" in variable else "\x1b", text)
