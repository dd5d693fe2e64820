# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""A command that uses a description leniently ends with 0 if its result is whole; with --strict it ends with 1."""

from __future__ import annotations

import sysconfig
from pathlib import Path

import pytest
from support.commands import RunCommand

from robot_semantics import read_world

SHARE = Path(sysconfig.get_path("purelib")) / "cmeel.prefix" / "share"
ROBOTS = SHARE / "example-robot-data" / "robots"

LENIENT = {
    "icub": ("icub_description/robots/icub.urdf", "icub_description/srdf/icub.srdf"),
    "talos": ("talos_data/robots/talos_full_v2.urdf", "talos_data/srdf/talos.srdf"),
    "baxter": ("baxter_description/urdf/baxter.urdf", "baxter_description/srdf/baxter_manipulation.srdf"),
    "bolt": ("bolt_description/robots/bolt.urdf", "bolt_description/srdf/bolt.srdf"),
    "hyq": ("hyq_description/robots/hyq_no_sensors.urdf", "hyq_description/srdf/hyq.srdf"),
    "romeo": ("romeo_description/urdf/romeo_laas_small.urdf", "romeo_description/srdf/romeo_small.srdf"),
    "kinova": ("kinova_description/robots/kinova.urdf", "kinova_description/srdf/kinova.srdf"),
}
"""Robots whose SRDF has at least one error."""

HINGE = """<robot name="box"><link name="base"/><link name="lid"/>
<joint name="hinge" type="continuous"><parent link="base"/><child link="lid"/><axis xyz="0 0 1"/></joint></robot>"""
BAD_STATE = """<robot name="box"><group name="all"><joint name="hinge"/></group>
<group_state name="up" group="all"><joint name="hinge" value="0.5"/></group_state>
<group_state name="odd" group="all"><joint name="wheel" value="0.5"/></group_state></robot>"""


def robot_of(name: str) -> tuple[Path, Path]:
    urdf, srdf = (ROBOTS / file for file in LENIENT[name])
    if not urdf.is_file():
        pytest.skip("example-robot-data is not installed")
    return urdf, srdf


@pytest.fixture
def box(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "box.urdf").write_text(HINGE)
    (tmp_path / "box.srdf").write_text(BAD_STATE)
    monkeypatch.chdir(tmp_path)
    return tmp_path


WAYS = (
    "show box.urdf box.srdf",
    "fk box.urdf box.srdf",
    "usdf new box.urdf,box.srdf -o other.usdf",
    "usdf resolve w.usdf --urdf box.urdf,box.srdf",
    "usdf edit w.usdf --joint box/hinge=0.1 --urdf box.urdf,box.srdf -o edited.usdf",
    "bag w.usdf -o again",
    "bag w.usdf -o again --urdf box.urdf,box.srdf",
    "export rec -o s.npz",
    "export rec -o s.usdf --urdf box.urdf,box.srdf",
    "sim run w.usdf --steps 1 -o later.usdf",
)
STRICT = tuple(words for words in WAYS if words.split()[0] != "usdf" or words.startswith("usdf new"))


def made(run: RunCommand) -> None:
    assert run("usdf", "new", "box.urdf,box.srdf", "--time", "1", "-o", "w.usdf").code == 0
    assert run("bag", "w.usdf", "-o", "rec").code == 0


@pytest.mark.parametrize("words", WAYS)
def test_an_error_inside_a_description_is_one_line_and_exit_0(words: str, box: Path, run: RunCommand) -> None:
    made(run)
    found = run(*words.split())
    assert found.code == 0, found.err
    (line,) = (line for line in found.err.splitlines() if "'wheel'" in line)
    assert "error: unknown joint 'wheel'" in line
    assert line.endswith("see 'robot_semantics check'")


@pytest.mark.parametrize("words", STRICT)
def test_strict_makes_it_1(words: str, box: Path, run: RunCommand) -> None:
    made(run)
    found = run(*words.split(), "--strict")
    assert found.code == 1
    assert "'wheel'" in found.err


def test_each_of_a_fleet_ends_with_0_too(box: Path, run: RunCommand) -> None:
    made(run)
    assert run("export", "--each", "rec", "-o", "out").code == 0
    assert run("export", "--each", "rec", "-o", "out2", "--strict").code == 1


def test_a_part_that_cannot_be_recorded_is_1(box: Path, run: RunCommand) -> None:
    (box / "wrong.usdf").write_text(
        '<world_state xmlns:rs="urn:robot-semantics:usdf:1" rs:time="1.000000000">'
        '<model_state name="box" rs:description="box.urdf">'
        '<joint_state name="wheel"><positions>1</positions></joint_state></model_state></world_state>'
    )
    found = run("bag", "wrong.usdf", "-o", "rec")
    assert found.code == 1
    assert "not recorded" in found.err


PAIRS_LEFT_OUT = ("romeo",)


@pytest.mark.corpus
@pytest.mark.parametrize("name", LENIENT)
def test_real_robots_with_errors_in_their_srdf_go_the_whole_way(
    name: str, run: RunCommand, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    urdf, srdf = robot_of(name)
    monkeypatch.chdir(tmp_path)
    assert run("check", urdf, srdf).code == 1
    assert run("usdf", "new", f"r={urdf},{srdf}", "--time", "1", "-o", "w.usdf").code == 0
    # The panels of other joints take seconds.
    joint = read_world("w.usdf").models[0].joints[0].name
    for words in (
        ("fk", urdf, srdf),
        ("usdf", "resolve", "w.usdf", "--urdf", f"{urdf},{srdf}"),
        ("bag", "w.usdf", "-o", "rec"),
        ("export", "rec", "-o", "s.npz"),
        ("plot", "s.npz", "-o", "s.png", "--urdf", urdf, "--joint", joint),
        ("sim", "run", "w.usdf", "--steps", "1", "-o", "later.usdf", "--package-path", SHARE),
    ):
        found = run(*words)
        # A robot of which collision pairs were left out is not simulated.
        assert found.code == (words[0] == "sim" and name in PAIRS_LEFT_OUT), (words, found.err)
        assert sum("error:" in line for line in found.err.splitlines()) <= 1
