# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Each extra alone is enough for its commands; a command without its extra says which module it lacks.

Every block of README.md and doc/ marked ``bash`` or ``python`` is run here, with no more than it needs. The pages in
`IN_ORDER` are run by test/packaging/test_pages_in_order.py.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from support.documents import DOCUMENTS, IN_ORDER, Block, blocks, missing_lines, name, put_examples
from support.one_extra import NAME, brought_by, distributions_of_modules, launcher

from robot_semantics.cli.doctor import EXTRAS as EXTRAS_OF_DOCTOR

pytestmark = [pytest.mark.slow, pytest.mark.timeout(400)]

# Extras that a documented line needs; a line without a match needs none.
NEEDS = {
    r"collisions (generate|witness)|robot_semantics\.collision\.": {"collision"},
    r"collisions generate .*--plot|robot_semantics plot": {"plot"},
    r"robot_semantics view|viewer\.(picture|page)": {"view"},
    r"robot_semantics sim|robot_semantics\.simulation\.": {"mujoco"},
    r"robot_semantics (export|bag) ": {"bag"},
}
EXTRAS = (set[str](), {"view"}, {"mujoco"}, {"bag"}, {"plot"}, {"collision"}, {"collision", "plot"})

# Documented lines that cannot run, because they need the reader's own files or do not end.
FURTHER = {
    "": ["show robot.urdf robot.srdf --svg robot.svg"],
    "view": [
        "view world.usdf --html world.html",
        "view world.usdf --png world.png",
        "view robot.urdf robot.srdf --group arm --png arm.png",
    ],
    "bag": ["bag world.usdf -o recording", "export recording -o states"],
    "plot": ["plot world.usdf -o world.svg"],
    "collision": ["collisions generate robot.urdf robot.srdf --in-place --sampler sobol"],
}

PAGES = [page for page in DOCUMENTS if name(page) not in IN_ORDER]


def needs(block: Block) -> set[str]:
    if block.language not in ("bash", "python"):
        return {"a reader"}
    return {extra for pattern, extras in NEEDS.items() if re.search(pattern, block.text) for extra in extras}


def called(extras: set[str]) -> str:
    return "+".join(sorted(extras)) or "none"


def runs(own: list[Block]) -> list[list[Block]]:
    """Return the blocks of a page by the process that runs them: one for Python blocks without another between them."""
    found: list[list[Block]] = []
    for block in own:
        if block.language == "python" and found and found[-1][0].language == "python":
            found[-1].append(block)
        else:
            found.append([block])
    return found


class Environment:
    """A folder of examples where only what some extras bring can be imported."""

    def __init__(self, extras: set[str], folder: Path) -> None:
        self.bin = launcher(folder / "bin", *extras)
        self.folder = folder / "files"
        self.folder.mkdir()
        put_examples(self.folder)

    def run(self, *command: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command,
            cwd=self.folder,
            env={**os.environ, "PATH": f"{self.bin}{os.pathsep}{os.defpath}", "COLUMNS": "120"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=100,
            check=False,
        )


@pytest.mark.parametrize("extras", EXTRAS, ids=called)
def test_what_the_documents_run_runs_with_the_extra_alone(extras: set[str], tmp_path: Path) -> None:
    failed = []
    for number, document in enumerate(PAGES):
        own = [block for block in blocks(document) if needs(block) == extras]
        if not own:
            continue
        environment = Environment(extras, tmp_path / str(number))
        python = ""
        for run in runs(own):
            text = "".join(block.text for block in run)
            if run[0].language == "python":
                # A block may use the names of those above it.
                python += text
                done = environment.run("python", "-c", python)
            else:
                done = environment.run("bash", "-euo", "pipefail", "-c", text)
            missing = [line for block in run for line in missing_lines(block.output, done.stdout)]
            if done.returncode or missing:
                failed.append(f"{name(document)}:{run[0].line}:\n{text}\n{done.stdout[-2000:]}\nmissing: {missing}")
    assert not failed, "\n".join(failed)


def test_every_documented_block_is_tried_with_some_extra() -> None:
    every = [(name(document), block) for document in PAGES for block in blocks(document)]
    runnable = [(where, block) for where, block in every if block.language in ("bash", "python")]
    assert len(runnable) > 20
    assert [f"{where}:{block.line}" for where, block in runnable if needs(block) not in EXTRAS] == []


@pytest.mark.parametrize("extra", FURTHER)
def test_what_the_documents_only_show_runs_with_the_extra_alone(extra: str, tmp_path: Path) -> None:
    environment = Environment({extra} - {""}, tmp_path)
    for command in FURTHER[extra]:
        done = environment.run("robot_semantics", *command.split())
        assert done.returncode == 0, f"{command}\n{done.stdout}"


@pytest.mark.parametrize(
    ("command", "module", "extra"),
    [
        ("view world.usdf --png world.png", "PIL", "view"),
        ("view recording --html recording.html", "rosbags", "bag"),
        ("view robot.urdf --html robot.html", "nicegui", "view"),
        ("view robot.urdf --no-browser", "nicegui", "view"),
        ("view mesh.urdf --html mesh.html", "trimesh", "view"),
        ("sim run world.usdf --steps 1 -o out.usdf", "mujoco", "mujoco"),
        ("sim run world.usdf --engine drake --steps 1 -o out.usdf", "drake", "drake"),
        ("collisions generate robot.urdf -o out.srdf", "mujoco", "collision"),
        ("plot world.usdf -o world.svg", "matplotlib", "plot"),
        ("bag world.usdf -o out", "rosbags", "bag"),
        ("export recording -o states", "rosbags", "bag"),
        ("lsp", "pygls", "lsp"),
        ("snapshot list", "rclpy", "ros"),
        ("view --live", "rclpy", "ros"),
    ],
)
def test_what_is_missing_is_named_with_its_extra(command: str, module: str, extra: str, tmp_path: Path) -> None:
    environment = Environment(set(), tmp_path)
    (environment.folder / "recording").mkdir()
    (environment.folder / "recording" / "metadata.yaml").touch()
    mesh = '<visual><geometry><mesh filename="a.stl"/></geometry></visual>'
    (environment.folder / "mesh.urdf").write_text(f'<robot name="m"><link name="a">{mesh}</link></robot>')
    (environment.folder / "a.stl").touch()
    done = environment.run("robot_semantics", *command.split())
    assert done.returncode == 1, done.stdout
    assert f"needs the Python module '{module}'" in done.stdout
    assert f".[{extra}]" in done.stdout
    assert "Traceback" not in done.stdout


@pytest.mark.parametrize("extras", EXTRAS, ids=called)
def test_the_doctor_calls_whole_just_the_extras_that_are_there(extras: set[str], tmp_path: Path) -> None:
    done = Environment(extras, tmp_path).run("robot_semantics", "doctor", "--no-ros", "--json")
    assert done.returncode == 0, done.stdout
    levels = {row["text"].partition(":")[0]: row["level"] for row in json.loads(done.stdout)["findings"]}
    whole = {extra for extra in EXTRAS_OF_DOCTOR if levels[extra] == "ok"}
    there = brought_by(*extras)
    # An extra may be whole because others bring all that it needs.
    assert whole == {extra for extra in EXTRAS_OF_DOCTOR if brought_by(extra) <= there}


@pytest.mark.parametrize("extra", EXTRAS_OF_DOCTOR)
def test_the_doctor_looks_for_every_module_that_an_extra_brings(extra: str) -> None:
    owners = distributions_of_modules()
    modules, _ = EXTRAS_OF_DOCTOR[extra]
    if missing := [module for module in modules if module not in owners]:
        pytest.skip(f"not installed: {', '.join(missing)}")
    named = {
        canonicalize_name(item.name)
        for item in map(Requirement, importlib.metadata.requires(NAME) or [])
        if item.marker is not None and item.marker.evaluate({"extra": extra})
    }
    brings = {canonicalize_name(owner) for module in modules for owner in owners[module]}
    assert named <= brings <= brought_by(extra)


def test_an_import_that_no_extra_brings_is_not_found(tmp_path: Path) -> None:
    environment = Environment({"view"}, tmp_path)
    assert environment.run("python", "-c", "import trimesh, PIL, numpy, lxml, robot_semantics").returncode == 0
    for hidden in ("rosbags", "mujoco", "pytest", "matplotlib", "rclpy", "tf2_msgs", "robot_semantics_interfaces"):
        found = importlib.util.find_spec(hidden)
        if found is not None and not str(found.origin).startswith(sys.prefix):
            continue  # in a workspace it is in a folder of its own
        done = environment.run("python", "-c", f"import {hidden}")
        assert "ModuleNotFoundError" in done.stdout, hidden
