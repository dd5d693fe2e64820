# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The page's own JavaScript, run by node.js without a browser."""

from __future__ import annotations

import shutil
import subprocess
import zlib
from pathlib import Path

import pytest

from robot_semantics import RobotModel
from robot_semantics.viewer.scene import Actor, alone
from robot_semantics.viewer.scene_data import MAGIC, scene_bytes

ASSETS = Path(__file__).parents[2] / "robot_semantics/viewer/assets"


def scene_text(name: str, model: RobotModel) -> str:
    """Return the JSON of the scene that the page gets of one robot, without its numbers in bytes."""
    content = zlib.decompress(scene_bytes(alone(Actor(name, model, ()))))
    head = len(MAGIC) + 4
    return content[head : head + int.from_bytes(content[len(MAGIC) : head], "little")].decode().strip()


def run_page_script(program: str, text: str, folder: Path) -> str:
    """Return the output of a program that imports the page's modules ``math.js`` and ``robot.js`` and reads `text`.

    The test is skipped if node.js is not installed.
    """
    if shutil.which("node") is None:
        pytest.skip("no node.js is installed")
    for file in ("math.js", "robot.js"):
        shutil.copy(ASSETS / file, folder)
    (folder / "package.json").write_text('{"type": "module"}')
    (folder / "program.js").write_text(program)
    ran = subprocess.run(["node", "program.js"], cwd=folder, input=text, text=True, capture_output=True, check=True)
    return ran.stdout
