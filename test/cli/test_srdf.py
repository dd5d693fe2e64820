# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""`srdf new|add|remove|rename` check and write the requested change, and keep every other byte."""

from __future__ import annotations

import difflib
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from robot_semantics.model.loading import load_robot

Run = Callable[..., Any]


@pytest.fixture
def urdf(tmp_path: Path, rover: tuple[Path, Path]) -> Path:
    return Path(shutil.copy(rover[0], tmp_path / "robot.urdf"))


@pytest.fixture
def srdf(tmp_path: Path, rover: tuple[Path, Path]) -> Path:
    return Path(shutil.copy(rover[1], tmp_path / "robot.srdf"))


NEW = (
    "--virtual-joint=planar",
    "--chain=arm=lift_link..wrist_link",
    "--joints=hand=left_finger_joint,right_finger_joint",
    "--subgroups=both=arm,hand",
    "--end-effector=grip=hand,wrist_link,arm",
    "--passive-joint=caster_swivel_joint",
)


def test_a_new_file_has_what_was_asked_for(run: Run, urdf: Path, tmp_path: Path) -> None:
    made = tmp_path / "new.srdf"
    state = (
        "--state",
        "arm/home",
        "shoulder_pan_joint=0.1",
        "shoulder_lift_joint=-1",
        "elbow_joint=1e-3",
        "wrist_joint=0",
    )
    links = ("--links", "base=base_footprint", "base_link")
    result = run("srdf", "new", urdf, "-o", made, *NEW, *links, *state, "--state", "base/there", "odom_joint=1,2,-0.5")
    assert result.code == 0, result.err
    assert run("check", urdf, made).code == 0
    groups = json.loads(run("show", urdf, made, "--json").out)
    assert groups
    arm = json.loads(run("groups", urdf, made, "arm", "--json").out)
    assert (arm["is_chain"], arm["base_link"], arm["tip_link"]) == (True, "lift_link", "wrist_link")
    assert arm["end_effectors"] == ["grip"]
    both = json.loads(run("groups", urdf, made, "both", "--json").out)
    assert both["subgroups"] == ["arm", "hand"]
    states = json.loads(run("states", urdf, made, "--json").out)["states"]
    assert states["arm"]["home"]["elbow_joint"] == [0.001]
    assert states["base"]["there"] == {"odom_joint": [1.0, 2.0, -0.5]}
    assert run("show", urdf, made, "--passive-joints").out.split() == ["caster_swivel_joint"]


def test_without_an_output_the_new_text_is_printed(run: Run, urdf: Path) -> None:
    result = run("srdf", "new", urdf)
    assert (result.code, result.out) == (0, '<?xml version="1.0"?>\n<robot name="rover_arm"/>\n')


def test_a_file_that_is_there_is_not_overwritten_unasked(run: Run, urdf: Path, srdf: Path) -> None:
    before = srdf.read_bytes()
    assert run("srdf", "new", urdf, "-o", srdf).code == 1
    assert srdf.read_bytes() == before
    assert run("srdf", "new", urdf, "-o", srdf, "--force").code == 0
    assert srdf.read_bytes() != before


@pytest.mark.parametrize(
    ("words", "message", "code"),
    [
        (("--chain", "arm=lift_link..tol"), "unknown link 'tol'", 1),
        (("--joints", "g=elbow"), "unknown joint 'elbow' in group 'g'; did you mean 'elbow_joint'", 1),
        (("--subgroups", "g=nope"), "unknown group 'nope'", 1),
        (("--end-effector", "e=g,base_link"), "unknown group 'g'", 1),
        (("--state", "g/s", "elbow_joint=0"), "unknown group 'g'", 1),
        (("--joints", "g=elbow_joint", "--state", "g/s", "elbow_joint=0,1"), "takes 1 value", 1),
        (("--passive-joint", "nope"), "unknown joint 'nope'", 1),
        (("--disable-collisions", "base_link", "nope"), "unknown link 'nope'", 1),
        (("--disable-collisions", "base_link"), "takes LINK1 LINK2", 2),
        (("--chain", "arm=lift_link-tool"), "takes NAME=BASE..TIP, not 'lift_link-tool'", 2),
        (("--joints", "elbow_joint"), "takes NAME=J1,J2, not 'elbow_joint'", 2),
        (("--joints", "g=elbow_joint,,x"), "takes NAME=J1,J2", 2),
        (("--state", "gs", "x=0"), "takes GROUP/NAME", 2),
        (("--state", "g/s", "elbow_joint=zero"), "takes finite numbers, not 'zero'", 2),
        (("--state", "g/s", "elbow_joint=0", "elbow_joint=1"), "is given twice", 2),
        (("--end-effector", "e=g"), "takes NAME=GROUP,PARENT_LINK", 2),
        (("--parent-frame", "map"), "need --virtual-joint", 2),
        (("--virtual-joint", "fixed", "--virtual-joint-name", "elbow_joint"), "has the name of a joint", 1),
    ],
)
def test_nothing_wrong_is_ever_written(
    run: Run, urdf: Path, tmp_path: Path, words: tuple[str, ...], message: str, code: int
) -> None:
    result = run("srdf", "new", urdf, "-o", tmp_path / "new.srdf", *words)
    assert result.code == code
    assert message in result.err
    assert not (tmp_path / "new.srdf").exists()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["robot.urdf"]


def test_add_extends_groups_and_keeps_every_line(run: Run, urdf: Path, srdf: Path) -> None:
    before = srdf.read_text().splitlines()
    result = run(
        "srdf", "add", "--in-place", srdf, "--urdf", urdf, "--joints=wheels=caster_wheel_joint",
        "--joints=lonely=elbow_joint",
        "--disable-collisions", "base_link", "palm_link",
    )  # fmt: skip
    assert result.code == 0, result.err
    after = srdf.read_text().splitlines()
    pair = '  <disable_collisions link1="base_link" link2="palm_link" reason="User"/>'
    lonely = ['  <group name="lonely">', '    <joint name="elbow_joint"/>', "  </group>"]
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
    changes = [(tag, after[start:end]) for tag, _, _, start, end in matcher.get_opcodes() if tag != "equal"]
    assert [tag for tag, _ in changes] == ["insert"] * 3
    assert sorted(line for _, lines in changes for line in lines) == sorted(
        ['    <joint name="caster_wheel_joint"/>', *lonely, pair]
    )
    wheels = json.loads(run("groups", urdf, srdf, "wheels", "--json").out)
    assert "caster_wheel_joint" in wheels["joints"]


def test_an_error_that_was_there_before_does_not_forbid_a_change(run: Run, urdf: Path, srdf: Path) -> None:
    srdf.write_text(srdf.read_text().replace("</robot>", '  <passive_joint name="naQQQme"/>\n</robot>'))
    result = run("srdf", "add", "--in-place", srdf, "--urdf", urdf, "--joints=lonely=elbow_joint")
    assert result.code == 0
    assert "naQQQme" in result.err
    assert run("srdf", "add", "--in-place", srdf, "--urdf", urdf, "--passive-joint=naQQQme2").code == 1
    assert "naQQQme2" not in srdf.read_text()


@pytest.mark.parametrize(
    "words", [("group", "arm", "limb"), ("link", "naQQQme", "other"), ("state", "arm/reach", "stretched")]
)
def test_an_error_that_was_there_before_does_not_forbid_a_rename(
    run: Run, urdf: Path, srdf: Path, words: tuple[str, ...]
) -> None:
    wrong = '<group name="arm"><link name="naQQQme"/></group><group_state name="reach" group="arm"/>'
    srdf.write_text(srdf.read_text().replace("</robot>", f"{wrong}</robot>"))
    result = run("srdf", "rename", "--in-place", srdf, *words, "--urdf", urdf)
    assert result.code == 0, result.err
    assert words[2] in srdf.read_text()


def test_rename_follows_every_reference_in_both_files(run: Run, urdf: Path, srdf: Path) -> None:
    texts = urdf.read_text(), srdf.read_text()
    assert (
        run("srdf", "rename", "--in-place", srdf, "joint", "elbow_joint", "elbow", "--urdf", urdf, "--in-urdf").code
        == 0
    )
    assert urdf.read_text() == texts[0].replace('"elbow_joint"', '"elbow"')
    assert srdf.read_text() == texts[1].replace('"elbow_joint"', '"elbow"')
    assert (
        run("srdf", "rename", "--in-place", srdf, "link", "wrist_link", "wrist", "--urdf", urdf, "--in-urdf").code == 0
    )
    assert run("check", urdf, srdf).code == 0
    assert "wrist_link" not in urdf.read_text() + srdf.read_text()


def test_rename_in_the_srdf_alone_is_checked_against_the_robot(run: Run, urdf: Path, srdf: Path) -> None:
    before = srdf.read_text()
    result = run("srdf", "rename", "--in-place", srdf, "joint", "elbow_joint", "elbow", "--urdf", urdf)
    assert result.code == 1
    assert "unknown joint 'elbow'" in result.err
    assert srdf.read_text() == before
    assert run("srdf", "rename", "--in-place", srdf, "group", "arm", "upper_arm", "--urdf", urdf).code == 0
    assert srdf.read_text() == before.replace('"arm"', '"upper_arm"')


@pytest.mark.parametrize("kind", ["link", "joint", "group", "end-effector", "frame"])
def test_rename_of_what_is_not_there_says_what_is_near(run: Run, urdf: Path, srdf: Path, kind: str) -> None:
    result = run("srdf", "rename", "--in-place", srdf, kind, "naQQQme", "x", "--urdf", urdf)
    assert result.code == 1
    assert "unknown" in result.err


def test_a_name_that_is_taken_is_refused(run: Run, urdf: Path, srdf: Path) -> None:
    before = urdf.read_bytes(), srdf.read_bytes()
    result = run(
        "srdf", "rename", "--in-place", srdf, "joint", "elbow_joint", "wrist_joint", "--urdf", urdf, "--in-urdf"
    )
    assert result.code == 1
    assert (urdf.read_bytes(), srdf.read_bytes()) == before


def test_an_expanded_robot_with_traces_of_its_xacro_is_renamed(run: Run, urdf: Path, srdf: Path) -> None:
    text = urdf.read_text()
    traces = '<!-- $(find pr2)/${name} --><robot xmlns:xacro="http://www.ros.org/wiki/xacro" name='
    urdf.write_text(text.replace("<robot name=", traces))
    assert (
        run("srdf", "rename", "--in-place", srdf, "joint", "elbow_joint", "elbow", "--urdf", urdf, "--in-urdf").code
        == 0
    )
    assert urdf.read_text().count('"elbow_joint"') == 0 < text.count('"elbow_joint"')


@pytest.mark.parametrize("macro", ['<xacro:property name="part" value="arm"/>', '<gazebo reference="${part}_link"/>'])
def test_names_in_a_xacro_are_not_renamed(run: Run, urdf: Path, srdf: Path, macro: str) -> None:
    declared = '<robot xmlns:xacro="http://www.ros.org/wiki/xacro" '
    urdf.write_text(urdf.read_text().replace("<robot ", declared, 1).replace("</robot>", f"{macro}</robot>"))
    result = run("srdf", "rename", "--in-place", srdf, "joint", "elbow_joint", "elbow", "--urdf", urdf, "--in-urdf")
    assert result.code == 1
    assert "xacro" in result.err


def test_a_plugins_parameter_that_keeps_the_old_name_is_pointed_out(run: Run, urdf: Path, srdf: Path) -> None:
    names = "<frameName>wrist_link</frameName><topic>wrist_link</topic><text>wrist_link</text>"
    plugin = f"<gazebo><plugin>{names}</plugin></gazebo>\n</robot>"
    urdf.write_text(urdf.read_text().replace("</robot>", plugin))
    result = run("srdf", "rename", "--in-place", srdf, "link", "wrist_link", "wrist", "--urdf", urdf, "--in-urdf")
    assert result.code == 0
    # Each place is reported, because it cannot be found afterwards.
    for tag in ("topic", "text"):
        kept = "'wrist_link' is not renamed in this element, because it may not mean the link"
        assert f"{kept} [/robot/gazebo/plugin/{tag}]" in result.err
    assert plugin.replace("<frameName>wrist_link", "<frameName>wrist") in urdf.read_text()


def test_remove_takes_away_what_nothing_refers_to(run: Run, urdf: Path, srdf: Path, tmp_path: Path) -> None:
    made = tmp_path / "new.srdf"
    assert run("srdf", "new", urdf, "-o", made, *NEW, "--state", "arm/home", "elbow_joint=0").code == 0
    before = made.read_text()
    result = run("srdf", "remove", "--in-place", made, "--urdf", urdf, "--group=arm")
    assert result.code == 1
    assert "unknown group 'arm' in state 'home'" in result.err
    assert "unknown group 'arm' in group 'both'" in result.err
    assert made.read_text() == before
    words = ("--group=arm", "--group=both", "--state=arm/home", "--end-effector=grip", "--virtual-joint=odom_joint")
    assert (
        run("srdf", "remove", "--in-place", made, "--urdf", urdf, *words, "--passive-joint=caster_swivel_joint").code
        == 0
    )
    assert made.read_text() == (
        '<?xml version="1.0"?>\n<robot name="rover_arm">\n  <group name="hand">\n'
        '    <joint name="left_finger_joint"/>\n    <joint name="right_finger_joint"/>\n  </group>\n</robot>\n'
    )


def test_an_output_file_leaves_the_original_alone(run: Run, urdf: Path, srdf: Path, tmp_path: Path) -> None:
    before = srdf.read_bytes()
    made = tmp_path / "other.srdf"
    assert run("srdf", "rename", srdf, "group", "arm", "upper_arm", "--urdf", urdf, "-o", made).code == 0
    assert srdf.read_bytes() == before
    assert '"upper_arm"' in made.read_text()


def test_without_a_robot_a_note_says_what_was_not_checked(run: Run, srdf: Path) -> None:
    result = run("srdf", "rename", "--in-place", srdf, "group", "arm", "upper_arm")
    assert result.code == 0
    assert "not checked" in result.err


def test_collision_marks_properties_and_spheres_are_added_and_removed(run: Run, tmp_path: Path) -> None:
    urdf, srdf = tmp_path / "r.urdf", tmp_path / "r.srdf"
    urdf.write_text(
        '<robot name="r"><link name="a"/><link name="b"/><joint name="j" type="continuous"><parent link="a"/>'
        '<child link="b"/></joint></robot>'
    )
    srdf.write_text('<robot name="r">\n</robot>\n')
    before = srdf.read_text()
    words = (
        "srdf",
        "add",
        "--in-place",
        srdf,
        "--urdf",
        urdf,
        "--enable-collisions",
        "b",
        "a",
        "--disable-default-collisions",
        "b",
    )
    parts = ("--joint-property", "j", "gear", "3", "--spheres", "b", "0,0,1,0.5", "1,0,0,0.25")
    assert run(*words, *parts).code == 0
    semantics = load_robot(urdf, srdf).semantics
    assert semantics.enabled_collisions == {("a", "b")}
    assert semantics.default_disabled_links == ("b",)
    assert semantics.joint_properties["j"] == {"gear": "3"}
    assert [(sphere.center, sphere.radius) for sphere in semantics.link_spheres["b"]] == [
        ((0.0, 0.0, 1.0), 0.5), ((1.0, 0.0, 0.0), 0.25),
    ]  # fmt: skip
    again = ("--joint-property", "j", "gear", "4", "--spheres", "b", "0,0,0,1")
    assert run("srdf", "add", "--in-place", srdf, "--urdf", urdf, *again).code == 0
    semantics = load_robot(urdf, srdf).semantics
    assert semantics.joint_properties["j"] == {"gear": "4"}
    assert [sphere.radius for sphere in semantics.link_spheres["b"]] == [1.0]
    removed = ("--enable-collisions", "a", "b", "--disable-default-collisions", "b", "--joint-property", "j", "gear")
    assert run("srdf", "remove", "--in-place", srdf, "--urdf", urdf, *removed, "--spheres", "b").code == 0
    assert srdf.read_text() == before
    for wrong in (("--spheres", "b", "0,0,1"), ("--enable-collisions", "a")):
        assert run("srdf", "add", "--in-place", srdf, "--urdf", urdf, *wrong).code == 2
    assert run("srdf", "remove", "--in-place", srdf, "--urdf", urdf, "--spheres", "b").code == 1
