# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""`--loops FILE` means the same in every command that reads a robot with closed loops."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
from support.loops import FOUR_BAR, four_bar_positions, four_bar_text

from robot_semantics import Diagnostics, read_world
from robot_semantics.cli.main import main
from robot_semantics.kinematics.loops import ClosedLoops
from robot_semantics.model.loading import RobotOptions
from robot_semantics.recording.read.plan import RobotRequest
from robot_semantics.viewer.opening import Opening, open_files

ENDS = "".join(
    f'<link name="{end}"/><joint name="{end}_mount" type="fixed"><origin xyz="{x} 0 0"/>'
    f'<parent link="{link}"/><child link="{end}"/></joint>'
    for end, link, x in (("A", "coupler_link", FOUR_BAR[2]), ("B", "rocker_link", FOUR_BAR[3]))
)
THETA = 0.7


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str]:
    """A four-bar linkage cut open, and the file that closes it."""
    urdf, loops = tmp_path / "robot.urdf", tmp_path / "robot.yaml"
    urdf.write_text(re.sub(r"<constraint.*?</constraint>", ENDS, four_bar_text(), flags=re.DOTALL))
    loops.write_text("closed_loop: [[A, B]]\ntype: ['3d']\nname_mot: [crank]\n")
    return str(urdf), str(loops)


def joints(path: Path) -> dict[str, float]:
    (model,) = read_world(path).models
    return {joint.name: joint.positions[0] for joint in model.joints if joint.positions is not None}


def is_closed(found: dict[str, float], atol: float = 1e-9) -> bool:
    """Return True if coupler and rocker follow from the crank, by the closed form."""
    q = np.array([found[name] for name in ("crank", "coupler", "rocker")])
    sides = (four_bar_positions(FOUR_BAR, q[:1], side)[0] for side in (1.0, -1.0))
    return any(np.abs(np.angle(np.exp(1j * (q - each)))).max() < atol for each in sides)


def test_a_world_is_made_edited_and_checked_with_closed_loops(
    files: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    urdf, loops = files
    world, edited = tmp_path / "world.usdf", tmp_path / "edited.usdf"
    assert main(["usdf", "new", urdf, "--loops", loops, "--joint", f"crank={THETA}", "-o", str(world)]) == 0
    assert joints(world)["crank"] == THETA
    assert is_closed(joints(world))
    named = ["--urdf", urdf, "--loops", loops]
    assert main(["usdf", "edit", str(world), "--joint", "crank=1.1", *named, "-o", str(edited)]) == 0
    assert joints(edited)["crank"] == 1.1
    assert is_closed(joints(edited))
    assert main(["check", str(edited), "--strict", *named]) == 0
    rocker = re.compile(r'(name="rocker">\s*<positions>)[^<]*')
    text, count = rocker.subn(r"\g<1>0.123", edited.read_text())
    assert count == 1
    edited.write_text(text)
    assert main(["check", str(edited), "--urdf", urdf]) == 0
    assert "loop-disagrees" not in capsys.readouterr().out
    assert main(["check", str(edited), *named]) == 0
    assert "'rocker' is in a closed loop" in capsys.readouterr().out


def test_resolve_computes_the_passive_joints(
    files: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    urdf, loops = files
    world = tmp_path / "world.usdf"
    world.write_text(
        '<world_state name="w"><model_state name="loop"><pose>0 0 0 0 0 0</pose>'
        f'<joint_state name="crank"><positions>{THETA}</positions></joint_state></model_state></world_state>'
    )
    words = ["usdf", "resolve", str(world), "loop::A", "--json", "--urdf", urdf]
    assert main(words) == 1
    capsys.readouterr()
    assert main([*words, "--loops", loops]) == 0
    text = capsys.readouterr().out
    pins = [
        FOUR_BAR[1] * np.exp(1j * THETA) + FOUR_BAR[2] * np.exp(1j * (q[0] + q[1]))
        for q in (four_bar_positions(FOUR_BAR, np.array([THETA]), side)[0] for side in (1.0, -1.0))
    ]
    (xyz,) = [body["xyz"] for body in json.loads(text)["bodies"]]
    assert min(abs(complex(xyz[0], xyz[1]) - pin) for pin in pins) < 1e-9


@pytest.mark.parametrize(
    "words",
    [
        ["check", "w.usdf"],
        ["usdf", "edit", "w.usdf", "--name", "other"],
        ["export", "bag", "-o", "w.usdf"],
        ["view", "w.usdf"],
    ],
)
def test_loops_without_their_urdf_are_refused(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "w.usdf").write_text('<world_state name="w"/>')
    assert main([*words, "--loops", "robot.yaml"]) in (1, 2)
    assert "--loops needs" in capsys.readouterr().err


def test_a_simulation_keeps_the_loops_of_the_file(files: tuple[str, str], tmp_path: Path) -> None:
    pytest.importorskip("mujoco")
    urdf, loops = files
    world, later = tmp_path / "world.usdf", tmp_path / "later.usdf"
    assert main(["usdf", "new", urdf, "--loops", loops, "--joint", f"crank={THETA}", "-o", str(world)]) == 0
    for given in (loops, f"loop={loops}"):
        words = [
            "sim",
            "run",
            str(world),
            "--steps",
            "200",
            "--no-ground",
            "--loops",
            given,
            "-o",
            str(later),
            "--force",
        ]
        assert main(words) == 0
        assert abs(joints(later)["crank"] - THETA) < 1e-3
        assert is_closed(joints(later), 5e-3)
    assert main(["sim", "export", str(world), "--loops", loops, "-o", str(tmp_path / "world.xml")]) == 0
    assert (tmp_path / "world.xml").read_text().count("<connect ") == 1


def test_export_and_view_read_the_loops_of_their_robot(files: tuple[str, str], tmp_path: Path) -> None:
    urdf, loops = files
    exported = RobotRequest(urdf=Path(urdf), options=RobotOptions(loops=loops)).load().model
    viewed = open_files([Path(urdf)], Opening(options=RobotOptions(loops=loops)), Diagnostics()).actors[0].model
    for robot in (exported, viewed):
        assert robot is not None
        closed = ClosedLoops.of(robot)
        assert closed is not None
        assert closed.dependent == ("coupler", "rocker")
    page = tmp_path / "page.html"
    assert main(["view", urdf, "--loops", loops, "--joint", f"crank={THETA}", "--html", str(page)]) == 0
    assert (
        main(["view", urdf, "--loops", loops, "--joint", "crank=0.7", "--joint", "rocker=0", "--html", str(page)]) == 1
    )


def test_compose_reads_the_loops_of_the_base(
    files: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    urdf, loops = files
    part, wrong = tmp_path / "part.urdf", tmp_path / "wrong.yaml"
    part.write_text('<robot name="tool"><link name="tool"/></robot>')
    wrong.write_text("closed_loop: [[A, nowhere]]\ntype: ['3d']\nname_mot: [crank]\n")
    words = ["--at", "A", "--force", "-o", str(tmp_path / "both.urdf")]
    for base, value in ((urdf, ""), (f"bar={urdf}", ""), (f"bar={urdf}", "bar=")):
        assert main(["compose", base, str(part), *words, "--loops", f"{value}{loops}"]) == 0
        assert main(["compose", base, str(part), *words, "--loops", f"{value}{wrong}"]) == 1
        err = capsys.readouterr().err
        assert f"{wrong}:" in err
        assert "nowhere" in err
    for name in ("bar", "tool"):
        assert main(["compose", f"base={urdf}", str(part), *words, "--loops", f"{name}={loops}"]) == 2
        assert f"unknown robot '{name}'" in capsys.readouterr().err
    assert main(["compose", urdf, str(part), *words, "--loops", loops, "--loops", loops]) == 2
    assert "--loops is given twice for one robot" in capsys.readouterr().err


def test_compose_reads_the_loops_of_a_part_with_a_name(
    files: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    urdf, loops = files
    wrong = tmp_path / "wrong.yaml"
    wrong.write_text("closed_loop: [[A, nowhere]]\ntype: ['3d']\nname_mot: [crank]\n")
    words = ["--at", "A", "--prefix", "t_", "--force", "-o", str(tmp_path / "both.urdf")]
    for base in (urdf, f"bar={urdf}"):
        assert main(["compose", base, f"tool={urdf}", *words, "--loops", f"tool={loops}"]) == 0
        assert main(["compose", base, f"tool={urdf}", *words, "--loops", f"tool={wrong}"]) == 1
        assert (
            f"{wrong}:1:19: error: closed_loop: no link and no joint is called 't_nowhere'" in capsys.readouterr().err
        )
    both = ["--loops", f"bar={loops}", "--loops", f"tool={loops}"]
    assert main(["compose", f"bar={urdf}", f"tool={urdf}", *words, *both]) == 0
    assert main(["compose", f"bar={urdf}", f"bar={urdf}", *words]) == 2
    assert "the base has the name 'bar' already" in capsys.readouterr().err
