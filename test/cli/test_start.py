# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""A command imports only the modules that it needs: imports take most of the time of a short run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from robot_semantics.cli.running import COMMANDS, command_of
from robot_semantics.examples import example

SHOW_MODULES = """import sys
from robot_semantics.cli.main import main
try:
    main(sys.argv[1:])
except SystemExit:
    pass
print(*sys.modules, file=sys.stderr)"""


def modules_of(*words: str) -> set[str]:
    """Return the modules that a process has imported after a command line."""
    command = [sys.executable, "-c", SHOW_MODULES, *words]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    return set(done.stderr.split())


@pytest.mark.parametrize("option", ["--version", "--help"])
def test_the_version_and_the_help_import_two_rooms_and_no_library(option: str) -> None:
    modules = modules_of(option)
    rooms = {name.split(".")[1] for name in modules if name.startswith("robot_semantics.")}
    assert rooms == {"base", "cli"}
    assert not modules & {"numpy", "lxml", "msgspec", "dataclasses", "difflib", "json", "robot_semantics.base.files"}


def test_a_help_looks_for_no_translation() -> None:
    code = "import gettext\ngettext.find = lambda *_, **__: print('searched')\n" + SHOW_MODULES
    command = [sys.executable, "-c", code, "--help"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    assert "usage: robot_semantics" in done.stdout
    assert "searched" not in done.stdout


def test_the_version_needs_no_parser() -> None:
    assert not modules_of("--version") & {"argparse", "robot_semantics.cli.running"}


@pytest.mark.parametrize("line", ["", '<link name="rim" mass="2"/>'], ids=["without problems", "with a problem"])
def test_a_check_imports_no_array_library_and_no_network(line: str, tmp_path: Path) -> None:
    urdf = tmp_path / "robot.urdf"
    urdf.write_text(example("block.urdf").read_text().replace("</robot>", f"{line}</robot>"))
    modules = modules_of("check", str(urdf), str(example("block.srdf")))
    assert "robot_semantics.model.resolve" in modules
    assert not modules & {"numpy", "msgspec", "urllib.request", "robot_semantics.transforms"}


def test_a_query_and_a_robot_enter_few_modules() -> None:
    robot = (str(example("rover_arm.urdf")), str(example("rover_arm.srdf")))
    groups = {name for name in modules_of("groups", *robot) if name.startswith("robot_semantics")}
    assert "robot_semantics.model.groups" in groups
    assert len(groups) <= 61
    code = f"import sys, robot_semantics; robot_semantics.load_robot{robot!r}; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert len([name for name in done.stdout.split() if name.startswith("robot_semantics")]) <= 61


def test_a_change_of_collision_pairs_imports_no_array_library() -> None:
    modules = modules_of("collisions", "disable", str(example("rover_arm.srdf")), "left_wheel", "palm_link")
    assert "robot_semantics.srdf.edit" in modules
    assert not modules & {"numpy", "rich", "mujoco", "trimesh", "scipy"}


@pytest.mark.parametrize(
    ("words", "most"),
    [
        (("--version",), 6),
        (("--help",), 14),
        (("check", "rover_arm.urdf", "rover_arm.srdf"), 77),
        (("groups", "rover_arm.urdf", "rover_arm.srdf"), 60),
        (("usdf", "show", "rover_arm.usdf"), 97),
        (("collisions", "disable", "rover_arm.srdf", "left_wheel", "palm_link"), 66),
    ],
    ids=lambda value: " ".join(value[:2]) if isinstance(value, tuple) else str(value),
)
def test_a_command_imports_no_more_modules_of_the_project_than_it_needs(words: tuple[str, ...], most: int) -> None:
    files = [str(example(word)) if word.startswith("rover_arm.") else word for word in words]
    modules = modules_of(*files)
    assert len([name for name in modules if name.startswith("robot_semantics")]) <= most
    assert not modules & {"mujoco", "trimesh", "scipy", "rosbags", "matplotlib", "rclpy"}


SAMPLING = ("compose", *(f"collisions {name}" for name in ("check", "generate", "spheres", "table", "witness")))
"""Commands whose options are those of the collision checker: they import it."""
SNAPSHOT = ("delete", "list", "restore", "save")
MOST_MODULES = {
    15: ("lsp", "usdf", "collisions", "explain", "help"),
    16: ("example", "schema"),
    36: ("completion", "doctor", "snapshot", "upgrade", *(f"snapshot {name}" for name in SNAPSHOT)),
    60: ("expand", "groups", "info", "show", "states", "studio"),
    70: (
        *("srdf", "view", "collisions disable", "collisions enable"),
        *(f"srdf {name}" for name in ("add", "new", "remove", "rename")),
    ),
    80: ("check",),
    130: SAMPLING,
    110: (
        *("bag", "diff", "export", "fk", "plot", "sim", "sim export", "sim run"),
        *(f"usdf {name}" for name in ("convert", "edit", "interpolate", "merge", "new", "resolve", "show", "split")),
    ),
}
"""Most modules of the project that the parser of a command needs."""

COUNT_MODULES = """import json, os, sys
from robot_semantics.cli.main import main
for words in json.loads(sys.argv[1]):
    read, write = os.pipe()
    if os.fork():
        os.wait()
        os.close(write)
        with os.fdopen(read) as file:
            print(file.read())
        continue
    sys.stdout = sys.stderr = open(os.devnull, "w")
    try:
        main([*words.split(), "--help"])
    except SystemExit:
        pass
    with os.fdopen(write, "w") as file:
        json.dump([words, sorted(sys.modules)], file)
    os._exit(0)"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="one process for all commands needs fork")
def test_the_parser_of_every_command_imports_few_modules_and_no_large_library(tmp_path: Path) -> None:
    operations = [(name, operation) for name in COMMANDS for operation in command_of(name).operations]
    commands = [*COMMANDS, *(" ".join(words) for words in operations)]
    most = {name: count for count, names in MOST_MODULES.items() for name in names}
    assert most.keys() == set(commands)
    command = [sys.executable, "-c", COUNT_MODULES, json.dumps(commands)]
    # A module is compiled once for all commands.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment["PYTHONPYCACHEPREFIX"] = str(tmp_path)
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=300, env=environment)
    modules = dict(map(json.loads, done.stdout.splitlines()))
    assert modules.keys() == set(commands)
    counts = {name: sum(item.startswith("robot_semantics") for item in items) for name, items in modules.items()}
    assert {name: count for name, count in counts.items() if count > most[name]} == {}
    large = {"mujoco", "trimesh", "scipy", "rosbags", "matplotlib", "rclpy", "nicegui", "dask", "PIL", "pyarrow"}
    assert {name for name, items in modules.items() if set(items) & large} <= set(SAMPLING)
    with_rich = {name for name, items in modules.items() if "rich" in items}
    assert with_rich <= {"show"}


def test_a_table_in_a_pipe_needs_no_rich() -> None:
    robot = (str(example("rover_arm.urdf")), str(example("rover_arm.srdf")))
    for words in (("groups", *robot), ("groups", *robot, "arm"), ("usdf", "show", str(example("rover_arm.usdf")))):
        assert "rich" not in modules_of(*words)


def test_a_check_without_pipes_makes_no_folder() -> None:
    assert not modules_of("check", str(example("rover_arm.urdf"))) & {"filelock", "tempfile"}
