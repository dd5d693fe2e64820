# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""A robot of which a part was left out proves nothing: every operation that proves, simulates or compares refuses it.

Each row of `OMISSIONS` spoils one part; each row of `HARMLESS` spoils one that no proof needs.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from robot_semantics.base.diagnostics import MAX_KEPT, Diagnostics
from robot_semantics.base.errors import DescriptionError
from robot_semantics.cli.main import main
from robot_semantics.comparison.robots import compare_robots
from robot_semantics.model.loading import robot_from_text
from robot_semantics.model.omissions import refuse_omissions
from robot_semantics.simulation.world_spec import ModelSpec, WorldSpec

LIMIT = '<limit lower="-1" upper="1" effort="1" velocity="1"/>'
BALL = '<collision><geometry><sphere radius="0.05"/></geometry></collision>'
INERTIAL = '<inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>'
URDF = f"""<robot name="r" version="1.2">
<link name="base">{BALL}{INERTIAL}</link>
<link name="mid"><visual><geometry><box size="1 1 1"/></geometry></visual>{BALL}{INERTIAL}</link>
<link name="tip">{BALL}{INERTIAL}</link>
<joint name="j" type="prismatic"><origin xyz="0 0 0.5"/><parent link="base"/><child link="mid"/><axis xyz="0 0 1"/>
{LIMIT}<dynamics damping="1"/></joint>
<joint name="k" type="prismatic"><origin xyz="0 0 0.5"/><parent link="mid"/><child link="tip"/><axis xyz="0 0 1"/>
{LIMIT}</joint></robot>"""
SRDF = """<robot name="r"><virtual_joint name="v" type="planar" parent_frame="odom" child_link="base"/>
<group name="g"><joint name="j"/></group><group_state name="s" group="g"><joint name="j" value="0"/></group_state>
<group name="h"><link name="tip"/></group><end_effector name="e" group="h" parent_link="mid"/>
<disable_collisions link1="base" link2="mid" reason="Adjacent"/></robot>"""

OMISSIONS: dict[str, tuple[str, str, str]] = {
    "a number of a collision": ('<link name="mid">', f'<link name="mid">{BALL.replace("0.05", "0,05")}', "collision"),
    "a capsule of length 0": (BALL, BALL.replace("sphere radius", 'capsule length="0" radius'), "capsule"),
    "an unknown shape": (BALL, "<collision><geometry><cone/></geometry></collision>", "cone"),
    "a collision without geometry": (BALL, "<collision/>", "collision"),
    "the origin of a collision": (BALL, BALL.replace("<geom", '<origin xyz="0 0"/><geom'), "origin"),
    "an attribute of a limit": ('upper="1"', 'upper="1,0"', "limit"),
    "crossed limits": ('lower="-1"', 'lower="2"', "limit"),
    "a zero axis": ('xyz="0 0 1"', 'xyz="0 0 0"', "axis"),
    "a damping": ('damping="1"', 'damping="x"', "dynamics"),
    "an unknown leader": (f"{LIMIT}</joint></robot>", f'{LIMIT}<mimic joint="x"/></joint></robot>', "mimic"),
    "a negative mass": ('<mass value="1"/>', '<mass value="-1"/>', "mass"),
    "a number of an inertia": ('ixx="1"', 'ixx="1e"', "inertia"),
    "an inertial without mass": ('<mass value="1"/>', "", "inertial"),
    "a loop constraint": (
        "</robot>",
        '<constraint name="c" type="revolute"><parent link="x"/></constraint></robot>',
        "",
    ),
}
OMISSIONS_OF_SRDF: dict[str, tuple[str, str, str]] = {
    "an unknown link in a pair": ('link2="mid"', 'link2="mit"', "disable_collisions"),
    "a pair without a link": ('link2="mid"', "", "disable_collisions"),
    "an enabled pair": ("</robot>", '<enable_collisions link1="base" link2="x"/></robot>', "enable_collisions"),
    "a link by default": ("</robot>", '<disable_default_collisions link="x"/></robot>', "disable_default_collisions"),
    "a sphere": (
        "</robot>",
        '<link_sphere_approximation link="tip"><sphere center="0 0" radius="1"/></link_sphere_approximation></robot>',
        "sphere",
    ),
    "a virtual joint": ('child_link="base"', 'child_link="tip"', "virtual_joint"),
    "a passive joint": ("</robot>", '<passive_joint name="x"/></robot>', "passive_joint"),
}
HARMLESS: dict[str, tuple[str, str]] = {
    "a visual": ('size="1 1 1"', 'size="1 1"'),
    "a material": ("</robot>", '<material name="m"><color rgba="1 1"/></material></robot>'),
}
HARMLESS_OF_SRDF: dict[str, tuple[str, str]] = {
    "an end effector": ('parent_link="mid"', 'parent_link="x"'),
    "a state": ('<joint name="j" value="0"/>', '<joint name="x" value="0"/>'),
    "a group": ('<group name="g">', '<group name="f"><joint name="x"/></group><group name="g">'),
    "a pair of a link with itself": ('link2="mid"', 'link2="base"'),
}


def spoilt(text: str, old: str, new: str) -> str:
    assert old in text
    return text.replace(old, new, 1)


def spoilt_texts(table: str, name: str) -> tuple[str, str, str]:
    rows = {"urdf": {**OMISSIONS, **HARMLESS}, "srdf": {**OMISSIONS_OF_SRDF, **HARMLESS_OF_SRDF}}[table]
    old, new, *tag = rows[name]
    urdf = spoilt(URDF, old, new) if table == "urdf" else URDF
    srdf = spoilt(SRDF, old, new) if table == "srdf" else SRDF
    return urdf, srdf, tag[0] if tag else ""


BAD = [("urdf", name) for name in OMISSIONS] + [("srdf", name) for name in OMISSIONS_OF_SRDF]
FINE = [("urdf", name) for name in HARMLESS] + [("srdf", name) for name in HARMLESS_OF_SRDF]


@pytest.mark.parametrize(("table", "name"), BAD, ids=[name for _, name in BAD])
def test_a_robot_without_a_part_is_refused_with_the_element(table: str, name: str) -> None:
    urdf, srdf, tag = spoilt_texts(table, name)
    robot = robot_from_text(urdf, srdf, strict=False)
    for use in (
        lambda: refuse_omissions(robot),
        lambda: compare_robots(robot, robot),
        lambda: compare_robots(robot_from_text(URDF, SRDF), robot),
        lambda: WorldSpec((ModelSpec("r", robot),)),
    ):
        with pytest.raises(DescriptionError) as caught:
            use()
        assert any(tag in item.place.path for item in caught.value.diagnostics), str(caught.value)


@pytest.mark.parametrize(("table", "name"), FINE, ids=[name for _, name in FINE])
def test_a_part_that_no_proof_needs_is_only_a_message(table: str, name: str) -> None:
    urdf, srdf, _ = spoilt_texts(table, name)
    problems = Diagnostics()
    robot = robot_from_text(urdf, srdf, strict=False, diagnostics=problems)
    assert problems.failed()
    refuse_omissions(robot)
    assert compare_robots(robot, robot).same
    WorldSpec((ModelSpec("r", robot),))


COMMANDS = [
    ["collisions", "generate", "{urdf}", "{srdf}", "-o", "{out}.srdf", "--samples", "100"],
    ["collisions", "check", "{urdf}", "{srdf}", "--samples", "100"],
    ["collisions", "table", "{urdf}", "{srdf}", "--samples", "100"],
    ["collisions", "witness", "{urdf}", "{srdf}", "base", "tip", "--samples", "100"],
    ["collisions", "spheres", "generate", "{urdf}", "{srdf}", "--count", "1", "-o", "{out}.srdf"],
    ["collisions", "spheres", "check", "{urdf}", "{srdf}"],
    ["collisions", "spheres", "convert", "{urdf}", "{srdf}", "--group", "g", "-o", "{out}.yml"],
    ["diff", "{urdf},{srdf}", "{urdf},{srdf}"],
    ["sim", "run", "{world}", "-o", "{out}.usdf", "--steps", "1"],
    ["sim", "export", "{world}", "-o", "{out}.xml"],
]


@pytest.mark.parametrize(("table", "name"), [BAD[0], BAD[5], BAD[10], BAD[14], *FINE[::3]])
@pytest.mark.parametrize("command", COMMANDS, ids=[" ".join(words[:3]).partition(" {")[0] for words in COMMANDS])
def test_every_command(
    command: list[str], table: str, name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    urdf, srdf, tag = spoilt_texts(table, name)
    (tmp_path / "r.urdf").write_text(urdf)
    (tmp_path / "r.srdf").write_text(srdf)
    assert main(["usdf", "new", f"{tmp_path}/r.urdf,{tmp_path}/r.srdf", "-o", str(tmp_path / "w.usdf")]) == 0
    capsys.readouterr()
    before = sorted(tmp_path.iterdir())
    files = {"urdf": tmp_path / "r.urdf", "srdf": tmp_path / "r.srdf", "world": tmp_path / "w.usdf"}
    code = main([word.format(**files, out=tmp_path / "out") for word in command])
    said = capsys.readouterr()
    if (table, name) in FINE:
        # `witness` may find nothing: exit code 1, but not for the part.
        assert code == 0 or tag not in said.err.splitlines()[-1], said.err
        return
    assert code == 1
    assert tag in said.err
    assert "[/robot/" in said.err
    assert sorted(tmp_path.iterdir()) == before


def test_two_srdfs_are_not_alike_where_a_pair_of_one_was_left_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, text in (("a.srdf", SRDF), ("b.srdf", SRDF.replace(' link2="mid"', ""))):
        (tmp_path / name).write_text(text)
    assert main(["diff", f"{tmp_path}/a.srdf", f"{tmp_path}/b.srdf"]) == 1
    assert "<disable_collisions> has no attribute 'link2'" in capsys.readouterr().err


def test_a_saved_state_is_not_called_alike_where_a_part_was_left_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    old, new, world = tmp_path / "old.urdf", tmp_path / "new.urdf", tmp_path / "w.usdf"
    old.write_text(spoilt(URDF, *OMISSIONS["a number of a collision"][:2]))
    new.write_text(URDF.replace('damping="1"', 'damping="2"'))
    assert main(["usdf", "new", str(old), "-o", str(world)]) == 0
    main(["check", str(world), "--urdf", str(new)])
    said = capsys.readouterr()
    assert "moves and collides alike" not in said.out + said.err
    assert "the robots cannot be compared, because a part was left out" in said.out + said.err


def test_an_error_behind_a_thousand_harmless_ones_still_counts() -> None:
    visual = '<visual><geometry><box size="1 1"/></geometry></visual>'
    text = URDF.replace('<link name="base">', f'<link name="base">{visual * (MAX_KEPT + 1)}')
    text = spoilt(text, *OMISSIONS["a number of a collision"][:2])
    with pytest.raises(DescriptionError):
        refuse_omissions(robot_from_text(text, strict=False))


def test_names_in_paths_are_no_tags() -> None:
    name = "a/visual[@name='x']/visual"
    text = URDF.replace('"tip"', f'"{name}"').replace("tip", "tip")
    bad = text.replace(f'<link name="{name}">{BALL}', f'<link name="{name}">{BALL.replace("0.05", "x")}')
    assert bad != text
    with pytest.raises(DescriptionError):
        refuse_omissions(robot_from_text(bad, strict=False))
