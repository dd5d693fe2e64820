# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Real robots of example-robot-data through every command, each with and without its SRDF.

Each step gives the values computed from the URDF alone, to 1e-9. By default some robots are tested; `ROBOT_SWEEP=all`
tests all of them, also with Drake (about ten minutes).
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from support.commands import Result, RunCommand
from support.robot_sweep import MORE_ENGINES, STEPS_OF_ALL, Sweep
from support.worlds import ROBOTS

from robot_semantics.cli.main import main
from tools.srdf_corpus import entries

ALL = os.environ.get("ROBOT_SWEEP") == "all"
CHOSEN = {
    *("a1_description/a1", "allegro_hand_description/allegro_left_hand", "anymal_c_simple_description/anymal"),
    *("asr_twodof_description/TwoDofs", "baxter_description/baxter", "bolt_description/bolt", "go2_description/go2"),
    *("iris_description/iris", "panda_description/panda", "pr2_description/pr2", "tiago_description/tiago_no_hand"),
    *("romeo_description/romeo_small", "ur_description/ur5_robot", "xarm_description/xarm7"),
}
"""Floating, planar and fixed bases; a link called world; mimic joints; bad states; rounded inertias."""

pytestmark = [
    pytest.mark.corpus,
    pytest.mark.skipif(not ROBOTS.is_dir(), reason="example-robot-data is not installed"),
]


def cases() -> list[tuple[Path, Path | None]]:
    """Return every URDF without an SRDF, and every one with its own."""
    alone: list[tuple[Path, Path | None]] = [(path, None) for path in sorted(ROBOTS.rglob("*.urdf"))]
    paired = [(each.urdf, each.srdf) for each in entries() if each.urdf and each.srdf.is_relative_to(ROBOTS)]
    return [
        (urdf, srdf)
        for urdf, srdf in (*alone, *paired)
        if (ALL or name_of(urdf) in CHOSEN) and name_of(urdf) != "ur_description/ur3"  # a xacro, whatever its name says
    ]


def name_of(urdf: Path) -> str:
    return f"{urdf.relative_to(ROBOTS).parts[0]}/{urdf.stem}"


@pytest.mark.parametrize(
    ("urdf", "srdf"),
    cases() if ROBOTS.is_dir() else [],
    ids=lambda path: path.name if isinstance(path, Path) else "no SRDF",
)
def test_a_real_robot_is_everywhere_where_its_urdf_has_it(
    urdf: Path, srdf: Path | None, tmp_path: Path, run: RunCommand
) -> None:
    sweep = Sweep(urdf, srdf, tmp_path, run)
    for step in (*STEPS_OF_ALL, *(MORE_ENGINES if ALL else ())):
        step(sweep)


def test_the_chosen_robots_are_there() -> None:
    assert {name_of(urdf) for urdf, _ in cases()} >= CHOSEN


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> RunCommand:
    """Return a function that runs a command in this process."""

    def call(*words: str | Path) -> Result:
        capsys.readouterr()
        code = main([str(word) for word in words])
        captured = capsys.readouterr()
        return Result(code, captured.out, captured.err)

    return call
