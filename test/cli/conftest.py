# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Shared by the tests of the command line: runs in this process, and real robots."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from support.commands import Result, RunCommand

from robot_semantics.cli.main import main
from robot_semantics.examples import example


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> RunCommand:
    """Return a function that runs `robot_semantics WORDS...`; wrong usage ends with the code argparse exits with."""

    def call(*words: str | Path) -> Result:
        capsys.readouterr()
        try:
            code = main([str(word) for word in words])
        except SystemExit as stop:
            code = stop.code if isinstance(stop.code, int) else 1
        captured = capsys.readouterr()
        return Result(code, captured.out, captured.err)

    return call


@pytest.fixture
def rover() -> tuple[Path, Path]:
    """Return the URDF and SRDF of the package's own example robot."""
    return Path(example("rover_arm.urdf")), Path(example("rover_arm.srdf"))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder in which commands run, with the example's files, also as robot.urdf, robot.srdf, world.usdf."""
    for kind, other in (("urdf", "robot.urdf"), ("srdf", "robot.srdf"), ("usdf", "world.usdf")):
        shutil.copy(example(f"rover_arm.{kind}"), tmp_path)
        shutil.copy(example(f"rover_arm.{kind}"), tmp_path / other)
    for kind in ("urdf", "srdf"):
        shutil.copy(example(f"block.{kind}"), tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path
