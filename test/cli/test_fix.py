# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""`check --fix` changes what has one right answer, shows it first, and leaves everything else byte for byte."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from pathlib import Path

import pytest
import yaml
from support.commands import RunCommand, program_folder
from support.similar_names import MEANT, MISSPELT, similar_names

from robot_semantics.base.names import is_certain

ROOT = Path(__file__).parent.parent.parent
URDF = """<?xml version="1.0"?>
<robot name="r">
  <link name="base_link"/> <!-- the  base -->
  <link name="arm_link"><visul><geometry><sphere radius="1"/></geometry></visul></link>
  <joint name='shoulder' type="revolute">
    <origin xyz="1 0 0"/>
    <origin xyz="1 0 0"/>
    <parent link="base_link"/>
    <child link="arm_lnk"/>
    <limit lower="-1" upper="1" effort="1" velocty="2"/>
  </joint>
</robot>
"""
SRDF = """<robot name="r">
  <group name="arm"><joint name="shoulderr"/></group>
  <disable_collisions link1="base_link" link2="arm_link" reason="Never"/>
  <disable_collisions link1="arm_link" link2="base_link" reason="Never"/>
  <passive_joint name="shoulder"/><passive_joint name="shoulder"/>
</robot>
"""
USDF = (
    "<world><frame name='odom'><pose>0 0 0 0 0 0</pose></frame>"
    "<frame name='cup'><parent>odoom</parent><pose>0 0 0 0 0 0</pose></frame></world>"
)


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    paths = []
    for kind, text in (("urdf", URDF), ("srdf", SRDF), ("usdf", USDF)):
        paths.append(tmp_path / f"robot.{kind}")
        paths[-1].write_text(text)
    return paths


def test_what_has_one_right_answer_is_mended_and_nothing_else(run: RunCommand, files: list[Path]) -> None:
    assert run("check", *files).code == 1
    result = run("check", *files, "--fix")
    urdf, srdf, usdf = files
    lines = URDF.replace("visul", "visual").replace("arm_lnk", "arm_link").replace("velocty", "velocity").splitlines()
    assert urdf.read_text().splitlines() == [line for at, line in enumerate(lines) if at != 6]
    lines = SRDF.replace("shoulderr", "shoulder").replace('<passive_joint name="shoulder"/>', "", 1).splitlines()
    assert [line.strip() for line in srdf.read_text().splitlines()] == [
        line.strip() for at, line in enumerate(lines) if at != 3
    ]
    assert usdf.read_text() == USDF.replace("odoom", "odom").replace("world>", "world_state>")
    assert (result.code, '-    <child link="arm_lnk"/>' in result.out) == (0, True)
    assert run("check", *files, "--fix").out.count("@@") == 0


def test_a_diff_writes_nothing_and_ignored_problems_stay(run: RunCommand, files: list[Path]) -> None:
    result = run("check", *files, "--dry-run", "--ignore", "unknown-element")
    assert result.code == 1
    assert '+    <child link="arm_link"/>' in result.out
    assert "<visual>" not in result.out
    assert [path.read_text() for path in files] == [URDF, SRDF, USDF]


def joined(parent: str, *links: str) -> str:
    """Return a robot whose joint hangs the last link on `parent`."""
    declared = "".join(f'<link name="{link}"/>' for link in links)
    joint = f'<joint name="j" type="fixed"><parent link="{parent}"/><child link="{links[-1]}"/></joint>'
    return f'<robot name="r">{declared}{joint}</robot>'


@pytest.mark.parametrize(
    "text",
    [
        joined("arm_2", "arm_1"),
        joined("l_arm", "r_arm"),
        joined("base", "basa", "bass"),
        '<robot name="r"><link name="base"/><link name="base"><visual/></link></robot>',
        '<robot name="r"><link name="base"><visul/></robot>',
    ],
)
def test_what_could_be_meant_otherwise_stays(text: str, run: RunCommand, tmp_path: Path) -> None:
    path = tmp_path / "robot.urdf"
    path.write_text(text)
    assert run("check", path, "--fix").code == 1
    assert path.read_text() == text


def test_an_older_form_is_upgraded_in_one_go_with_what_is_misspelt(run: RunCommand, tmp_path: Path) -> None:
    path = tmp_path / "robot.urdf"
    path.write_text(
        '<robot name="r"><link name="base"/><link name="arm"><joint name="j" type="fixed">'
        '<parent name="base"><origin xyz="1 0 0"/></parent></joint>'
        '<visul><geometry><sphere radius="1"/></geometry></visul></link></robot>'
    )
    assert run("check", path, "--fix", "--strict").code == 0
    assert re.search(
        '<joint name="j".*<origin xyz="1.?0? 0.?0? 0.?0?".*<parent link="base"/>', path.read_text(), re.DOTALL
    )
    assert "<visual>" in path.read_text()


@pytest.mark.parametrize(
    ("name", "valid", "is_meant"),
    [
        ("left_wrst", ["left_wrist", "left_wrist2"], True),
        ("left_wirst", ["left_wrist"], True),
        ("shulder_lft_joint", ["shoulder_left_joint"], True),
        ("wheeelFL", ["wheelFL"], True),
        ("sholuldrer", ["shoulder"], True),
        ("finger_3", ["finger_1"], False),
        ("finger_3", ["finger_33"], False),
        ("l_arm", ["r_arm"], False),
        ("lwheel", ["rwheel"], False),
        ("jointA", ["jointB"], False),
        ("wheelFL", ["wheelFR"], False),
        ("wheelL", ["wheelFL"], False),
        ("abduction", ["adduction"], False),
        ("lift", ["left"], False),
        ("arm_xz", ["arm_xyz"], False),
        ("joint", ["joints"], False),
        ("baselink", ["base_link"], False),
        ("Elbow", ["elbow"], False),
        ("wrst", ["wrist", "wraist"], True),
        ("wrst", ["wrist", "worst"], False),
        ("elow", ["elbow", "slow", "glow"], False),
        ("ab", ["acb"], False),
    ],
)
def test_a_letter_is_added_removed_or_swapped_inside_a_word_and_no_other_name_is_as_near(
    name: str, valid: list[str], is_meant: bool
) -> None:
    assert is_certain(name, valid[0], valid) is is_meant


def test_a_side_a_number_an_axis_or_a_word_is_never_changed(run: RunCommand, tmp_path: Path) -> None:
    pairs = similar_names()
    assert len({pair[1:3] for pair in pairs}) >= 200
    for number, pair in enumerate(pairs):
        files = [tmp_path / f"{number}.{kind}" for kind in ("urdf", "srdf", "yaml")]
        texts = [pair.urdf(), pair.srdf(), pair.yaml()]
        for file, text in zip(files, texts, strict=True):
            file.write_text(text)
        result = run("check", *files, "--fix", "--all")
        assert [file.read_text() for file in files] == [text.replace(MISSPELT, MEANT) for text in texts], pair
        assert result.code == 1, pair
        assert f"'{pair.written}'" in result.out, pair


def test_the_hooks_run_on_the_files_that_they_name(files: list[Path]) -> None:
    hooks = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    assert [hook["id"] for hook in hooks] == ["robot-semantics-check", "robot-semantics-fix"]
    path = f"{program_folder()}{os.pathsep}{os.environ['PATH']}"
    codes = []
    for hook in hooks:
        assert all(re.search(hook["files"], str(file)) for file in files)
        command = [*shlex.split(hook["entry"]), *map(str, files)]
        codes.append(
            subprocess.run(command, env={**os.environ, "PATH": path}, capture_output=True, check=False).returncode
        )
    assert codes == [1, 0]


def test_the_action_checks_every_file_that_a_pattern_names(files: list[Path], tmp_path: Path) -> None:
    action = yaml.safe_load((ROOT / "action.yml").read_text())
    (step,) = [step for step in action["runs"]["steps"] if step["name"] == "Check"]
    (tmp_path / "bin").symlink_to(program_folder())
    environment = {
        **os.environ,
        "FOLDER": str(tmp_path),
        "FILES": "*.urdf *.srdf",
        "ARGUMENTS": "--ignore duplicate-pair",
    }
    result = subprocess.run(
        ["bash", "-c", step["run"]],
        cwd=tmp_path,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 1
    assert "::error file=robot.urdf,title=unknown-link,line=9,col=12::" in result.stdout
    assert "duplicate-pair" not in result.stdout


def test_the_action_takes_no_file_name_for_an_option(tmp_path: Path) -> None:
    action = yaml.safe_load((ROOT / "action.yml").read_text())
    (step,) = [step for step in action["runs"]["steps"] if step["name"] == "Check"]
    program = tmp_path / "bin" / "robot_semantics"
    program.parent.mkdir()
    program.write_text('#!/bin/sh\nprintf "%s\\n" "$@"\n')
    program.chmod(0o755)
    folder = tmp_path / "files"
    folder.mkdir()
    for name in ("--xacro", "a b.urdf", "x:=y.urdf", "r.urdf"):
        (folder / name).touch()
    environment = {**os.environ, "FOLDER": str(tmp_path), "FILES": "*", "ARGUMENTS": "--strict --all"}
    command = ["bash", "-e", "-o", "pipefail", "-c", step["run"]]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=True)
    words = done.stdout.splitlines()
    assert sorted(words[1:5]) == sorted(["./--xacro", "a b.urdf", "./x:=y.urdf", "r.urdf"])
    assert (words[0], words[5:]) == ("check", ["--format", "github", "--strict", "--all"])


def test_what_stands_where_it_means_nothing_is_moved_to_its_one_place(run: RunCommand, tmp_path: Path) -> None:
    urdf, srdf = tmp_path / "r.urdf", tmp_path / "r.srdf"
    urdf.write_text(
        '\n<!-- made by hand --><?xml version="1.0"?>\n<robot name="r"><link name="a"/><link name="b"/><joint name="j" '
        'type="continuous"><parent link="a"/><child link="b"/></joint></robot>\n'
    )
    srdf.write_text(
        '<robot name="r">\n  <group name="g">\n    <passive_joint name="j"/>\n    <joint name="j"/> <!-- one -->\n'
        '    <disable_collisions link1="a" link2="b" reason="Adjacent"/>\n  </group>\n'
        '  <chain base_link="a" tip_link="b"/>\n</robot>\n'
    )
    result = run("check", urdf, srdf, "--fix")
    assert urdf.read_text().startswith('<?xml version="1.0"?>\n<!-- made by hand -->\n<robot name="r">')
    assert srdf.read_text() == (
        '<robot name="r">\n  <group name="g">\n    <joint name="j"/> <!-- one -->\n  </group>\n'
        '  <passive_joint name="j"/>\n  <disable_collisions link1="a" link2="b" reason="Adjacent"/>\n'
        '  <chain base_link="a" tip_link="b"/>\n</robot>\n'
    )
    # The group of the chain is unknown.
    assert result.code == 1
    assert "misplaced-element" in result.out
    assert "odd-declaration" not in result.out
