# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Sphere approximations go through every format unchanged; each format lists what it cannot hold."""

from __future__ import annotations

import json
import math
import random
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest
import yaml
from support.commands import RunCommand

from robot_semantics import DescriptionError, Diagnostics, RobotModel
from robot_semantics.convert.planner_formats import read_planner, write_planner
from robot_semantics.convert.planner_robot import SphereModel
from robot_semantics.model.loading import load_robot


def joint(name: str, parent: str, child: str, kind: str = "revolute", rest: str = "") -> str:
    limit = "" if kind == "fixed" else '<limit lower="-2" upper="2" effort="1" velocity="1"/>'
    ends = f'<parent link="{parent}"/><child link="{child}"/>'
    return f'<joint name="{name}" type="{kind}">{ends}<axis xyz="0 0 1"/>{limit}{rest}</joint>'


BOX = "<collision><geometry><box size='1 1 1'/></geometry></collision>"
URDF = f"""<?xml version="1.0"?>
<!-- kept -->
<robot name="arm">
  <link name="base">{BOX}</link>
  <link name="upper">
    {BOX}
    <collision>
      <geometry><sphere radius="9"/></geometry>
    </collision>
  </link>
  <link name="fore">{BOX}</link>
  <link name="tool"/>
  <link name="finger">{BOX}</link>
  {joint("shoulder", "base", "upper")}{joint("elbow", "upper", "fore")}{joint("flange", "fore", "tool", "fixed")}
  {joint("grip", "tool", "finger", "prismatic")}
</robot>
"""
SRDF = """<robot name="arm">
  <group name="arm"><chain base_link="base" tip_link="tool"/></group>
  <group_state name="home" group="arm">
    <joint name="shoulder" value="0.1"/><joint name="elbow" value="-0.3"/>
  </group_state>
  <link_sphere_approximation link="base"><sphere center="0 0 0" radius="0"/></link_sphere_approximation>
  {}
  <disable_collisions link1="upper" link2="base" reason="Adjacent"/>
  <disable_collisions link1="upper" link2="fore" reason="User"/>
</robot>
"""
LINKS = ("upper", "fore", "finger")


@pytest.fixture
def robot(tmp_path: Path) -> RobotModel:
    (tmp_path / "arm.urdf").write_text(URDF)
    return load_robot(tmp_path / "arm.urdf")


def rows() -> dict[str, list[tuple[float, float, float, float]]]:
    """Return spheres with numbers of all magnitudes."""
    draw = random.Random(7)

    def number() -> float:
        return draw.choice((-1, 1)) * draw.random() * 10.0 ** draw.randint(-300, 300)

    # MoveIt ignores radii below the resolution of 64-bit floats.
    found = {link: [(number(), number(), number(), 1e-9 + abs(number())) for _ in range(50)] for link in LINKS}
    found["fore"][:3] = [
        (5e-324, -1e-7, 1e22, 1e-5),
        (1.0, 1e16, 123456789012345680.0, 3.0),
        (0.1, 0.2, 0.3, 0.30000000000000004),
    ]
    return found


def srdf_with(spheres: dict[str, list[tuple[float, float, float, float]]]) -> str:
    elements = (
        f'<link_sphere_approximation link="{link}">'
        + "".join(f'<sphere center="{x!r} {y!r} {z!r}" radius="{r!r}"/>' for x, y, z, r in rows)
        + "</link_sphere_approximation>"
        for link, rows in spheres.items()
    )
    return SRDF.format("".join(elements))


def through(robot: RobotModel, planner: SphereModel, path: Path) -> tuple[SphereModel, tuple[str, ...]]:
    """Write a file and read it again; return what it holds and what was lost."""
    written = write_planner(planner, str(path), robot, "arm.urdf")
    path.write_text(written.value)
    if path.suffix == ".srdf":
        robot = load_robot(path.parent / "arm.urdf", path)
    found = Diagnostics()
    read = read_planner(str(path), robot, found)
    assert list(found) == []
    return read.value, (*written.lost, *read.lost)


def values(planner: SphereModel) -> dict[str, list[tuple[float, float, float, float]]]:
    return {link: [(*one.center, one.radius) for one in spheres] for link, spheres in planner.spheres.items()}


@pytest.mark.parametrize("ending", ["yml", "xrdf", "urdf", "srdf"])
def test_spheres_come_back_from_every_format_to_the_last_bit(robot: RobotModel, tmp_path: Path, ending: str) -> None:
    (tmp_path / "arm.srdf").write_text(srdf_with(rows()))
    with_spheres = load_robot(tmp_path / "arm.urdf", tmp_path / "arm.srdf")
    planner = read_planner("arm.srdf", with_spheres, Diagnostics()).value
    assert values(planner) == rows()
    back, _ = through(with_spheres, planner, tmp_path / f"b.{ending}")
    assert values(back) == rows()
    if ending != "urdf":
        assert set(back.ignored) == set(planner.ignored)
        assert (back.joints, back.positions) == (("shoulder", "elbow"), {"shoulder": 0.1, "elbow": -0.3})
        assert back.tool_frames == ("tool",)
    again, _ = through(robot, back, tmp_path / "c.srdf")
    assert values(again) == rows()


@pytest.mark.parametrize("ending", ["yml", "xrdf"])
def test_readers_of_yaml_1_1_read_the_same_numbers(robot: RobotModel, tmp_path: Path, ending: str) -> None:
    (tmp_path / "arm.srdf").write_text(srdf_with(rows()))
    with_spheres = load_robot(tmp_path / "arm.urdf", tmp_path / "arm.srdf")
    planner = read_planner("arm.srdf", with_spheres, Diagnostics()).value
    document = yaml.safe_load(write_planner(planner, f"b.{ending}", robot, "arm.urdf").value)
    if ending == "yml":
        kinematics = document["robot_cfg"]["kinematics"]
        spheres, ignored = kinematics["collision_spheres"], kinematics["self_collision_ignore"]
        assert kinematics["cspace"]["default_joint_position"] == [0.1, -0.3]
    else:
        spheres, ignored = (
            document["geometry"][document["collision"]["geometry"]]["spheres"],
            document["self_collision"]["ignore"],
        )
        assert (document["format"], document["format_version"]) == ("xrdf", 1.0)
        assert document["default_joint_positions"] == {"shoulder": 0.1, "elbow": -0.3}
        assert document["cspace"]["joint_names"] == ["shoulder", "elbow"]
        assert document["tool_frames"] == ["tool"]
    assert {link: [(*one["center"], one["radius"]) for one in given] for link, given in spheres.items()} == rows()
    assert ignored == {"base": ["upper"], "fore": ["upper"]}


XRDF: dict[str, Any] = {
    "format": "xrdf",
    "format_version": 1.0,
    "modifiers": [{"set_base_frame": "base"}, {"add_frame": {"frame_name": "held", "parent_frame_name": "tool"}}],
    "default_joint_positions": {"shoulder": 0.5, "elbow": 0.25, "grip": 0.01},
    "cspace": {
        "joint_names": ["shoulder", "elbow"],
        "acceleration_limits": [10.0, 12.0],
        "jerk_limits": [100.0, 100.0],
    },
    "tool_frames": ["tool"],
    "collision": {"geometry": "balls", "buffer_distance": {"upper": 0.01}},
    "self_collision": {"geometry": "balls", "ignore": {"upper": ["fore", "held"], "base": ["upper"]}},
    "geometry": {
        "balls": {
            "spheres": {
                "upper": [{"center": [0, 0, 0.5], "radius": 0.25}, {"center": [0, 0, 0], "radius": -1.0}],
                "held": [{"center": [0, 0, 0], "radius": 0.1}],
            }
        }
    },
}


def test_an_xrdf_becomes_an_srdf_with_group_state_pairs_and_spheres(run: RunCommand, tmp_path: Path) -> None:
    (tmp_path / "arm.urdf").write_text(URDF)
    (tmp_path / "arm.xrdf").write_text(yaml.safe_dump(XRDF, sort_keys=False))
    names = ("--group", "arm", "--state", "arm/home")
    files = (tmp_path / "arm.urdf", tmp_path / "arm.xrdf", "-o", tmp_path / "arm.srdf")
    done = run("collisions", "spheres", "convert", *files, *names)
    assert done.code == 0
    root = ET.parse(tmp_path / "arm.srdf").getroot()
    chain = root.find("group[@name='arm']/chain")
    assert chain is not None
    assert chain.attrib == {"base_link": "base", "tip_link": "tool"}
    state = {item.get("name"): item.get("value") for item in root.iterfind("group_state[@name='home']/joint")}
    assert state == {"shoulder": "0.5", "elbow": "0.25"}
    spheres = {
        item.get("link"): [(one.get("center"), one.get("radius")) for one in item]
        for item in root.iterfind("link_sphere_approximation")
    }
    none = [("0 0 0", "0")]
    assert spheres == {"upper": [("0 0 0.5", "0.25")], "base": none, "fore": none, "finger": none}
    pairs = {(item.get("link1"), item.get("link2")) for item in root.iterfind("disable_collisions")}
    assert pairs == {("fore", "upper"), ("base", "upper")}
    for lost in (
        "sphere 1 of link 'upper': its radius -1 m means no sphere",
        "spheres with the added frame 'held'",
        "an ignored pair with the added frame 'held'",
        "acceleration limits: shoulder 10, elbow 12",
        "jerk limits: shoulder 100, elbow 100",
        "buffer distance [m]: upper 0.01",
        "default position of 'grip', which is not in the group",
    ):
        assert f"not carried: {lost}\n" in done.err


XRDF_2: dict[str, Any] = {
    "format": "xrdf",
    "format_version": 2.0,
    "cspace": XRDF["cspace"],
    "world_collision": {"geometry": "all"},
    "self_collision": {"geometry": "all", "ignore": {"base": ["upper"]}},
    "geometry": {
        "arm": {"spheres": {"upper": [{"center": [0, 0, 0.5], "radius": 0.25}]}},
        "hand": {"spheres": {"upper": [{"center": [0, 0, 1], "radius": 0.5}]}, "clone": None},
        "all": {"clone": ["arm", "hand"], "spheres": {"fore": [{"center": [1, 0, 0], "radius": 0.125}]}},
    },
}
"""As cuMotion's own robots: `world_collision` for `collision`, and groups of spheres that clone others."""


@pytest.mark.parametrize("version", [2.0, 2, "2.0"])
def test_xrdf_2_has_the_spheres_of_cloned_groups(robot: RobotModel, tmp_path: Path, version: object) -> None:
    (tmp_path / "arm.xrdf").write_text(yaml.safe_dump({**XRDF_2, "format_version": version}))
    read = read_planner(str(tmp_path / "arm.xrdf"), robot, Diagnostics())
    assert values(read.value) == {"upper": [(0, 0, 0.5, 0.25), (0, 0, 1, 0.5)], "fore": [(1, 0, 0, 0.125)]}
    assert {tuple(pair) for pair in read.value.ignored} == {("base", "upper")}
    assert read.lost == ()


def test_xrdf_2_may_state_no_collision_with_the_world_or_none_at_all(robot: RobotModel, tmp_path: Path) -> None:
    text = {key: value for key, value in XRDF_2.items() if key != "world_collision"}
    (tmp_path / "arm.xrdf").write_text(yaml.safe_dump(text))
    read = read_planner(str(tmp_path / "arm.xrdf"), robot, Diagnostics())
    assert len(values(read.value)["upper"]) == 2
    (tmp_path / "arm.xrdf").write_text(
        yaml.safe_dump({key: XRDF_2[key] for key in ("format", "format_version", "cspace")})
    )
    assert values(read_planner(str(tmp_path / "arm.xrdf"), robot, Diagnostics()).value) == {}


def _with_groups(**groups: Any) -> dict[str, Any]:
    return {**XRDF_2, "geometry": {**XRDF_2["geometry"], **groups}}


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ({**XRDF_2, "format_version": 3.0}, "the format_version should be 1.0 or 2.0, not '3.0'"),
        ({**XRDF_2, "collision": {"geometry": "all"}}, "in XRDF 2.0, the key 'collision' is called 'world_collision'"),
        ({**XRDF_2, "format_version": 1.0}, "the key 'collision' is missing"),
        (_with_groups(arm={"clone": ["all"]}), "the group 'all' clones itself"),
        (_with_groups(arm={"clone": ["leg"]}), "the key 'leg' is missing"),
        (_with_groups(arm={"clone": "hand"}), "should be a list"),
        (
            _with_groups(all={"clone": ["g0"]}, **{f"g{n}": {"clone": [f"g{n + 1}"]} for n in range(2000)}),
            "is one of more than 100 clones in a chain",
        ),
    ],
)
def test_what_cumotion_refuses_in_xrdf_is_refused(
    robot: RobotModel, tmp_path: Path, document: dict[str, Any], message: str
) -> None:
    (tmp_path / "arm.xrdf").write_text(yaml.safe_dump(document))
    with pytest.raises(DescriptionError) as caught:
        read_planner(str(tmp_path / "arm.xrdf"), robot, Diagnostics())
    assert [message in str(problem) for problem in caught.value.diagnostics].count(True) >= 1
    assert all(problem.place.line for problem in caught.value.diagnostics)


def test_xrdf_and_curobo_keep_limits_buffers_and_locked_joints(robot: RobotModel, tmp_path: Path) -> None:
    (tmp_path / "arm.xrdf").write_text(yaml.safe_dump(XRDF))
    first = read_planner(str(tmp_path / "arm.xrdf"), robot, Diagnostics()).value
    curobo, lost = through(robot, first, tmp_path / "b.yml")
    assert lost == ()
    back, lost = through(robot, curobo, tmp_path / "c.xrdf")
    assert lost == ()
    # A locked joint has a limit in cuRobo, which has no effect.
    assert {name: back.acceleration[name] for name in first.joints} == first.acceleration
    assert (back.buffer, back.self_buffer, back.positions) == (first.buffer, first.self_buffer, first.positions)
    assert (back.joints, back.tool_frames, back.ignored) == (first.joints, first.tool_frames, first.ignored)
    written = yaml.safe_load((tmp_path / "b.yml").read_text())["robot_cfg"]["kinematics"]
    assert written["lock_joints"] == {"grip": 0.01}
    assert written["cspace"]["max_acceleration"] == [10.0, 12.0, 12.0]


def test_a_urdf_of_spheres_keeps_all_but_the_collision_geometry(robot: RobotModel, tmp_path: Path) -> None:
    (tmp_path / "arm.srdf").write_text(srdf_with({"upper": [(0.0, 0.0, 0.5, 0.25)], "fore": [(1.0, 2.0, 3.0, 4.0)]}))
    with_spheres = load_robot(tmp_path / "arm.urdf", tmp_path / "arm.srdf")
    planner = read_planner("arm.srdf", with_spheres, Diagnostics()).value
    written = write_planner(planner, "b.urdf", with_spheres, "arm.urdf")
    assert written.lost == ("2 ignored pairs", "2 joints of the planner", "2 default positions", "1 tool frames")
    root, old = ET.fromstring(written.value), ET.fromstring(URDF)
    for link in root.iterfind("link"):
        given = [
            (str(one.find("origin").get("xyz")), one.find("geometry/sphere").get("radius"))  # type: ignore[union-attr]
            for one in link.iterfind("collision")
        ]
        assert given == {"upper": [("0 0 0.5", "0.25")], "fore": [("1 2 3", "4")]}.get(str(link.get("name")), [])
    assert [ET.tostring(item).split() for item in root.iterfind("joint")] == [
        ET.tostring(item).split() for item in old.iterfind("joint")
    ]
    assert "<!-- kept -->" in written.value


def test_links_without_spheres_are_listed_because_moveit_encloses_them(run: RunCommand, tmp_path: Path) -> None:
    (tmp_path / "arm.urdf").write_text(URDF)
    (tmp_path / "arm.srdf").write_text(srdf_with({"upper": [(0.0, 0.0, 0.5, 0.25)]}))
    done = run(
        "collisions", "spheres", "convert", tmp_path / "arm.urdf", tmp_path / "arm.srdf", "-o", tmp_path / "a.yml"
    )
    assert done.code == 0
    assert "the enclosing sphere of link 'fore'" in done.err
    assert "link 'upper'" not in done.err
    assert "link 'base'" not in done.err
    assert "not carried: the reasons of 1 disabled pairs\n" in done.err


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("robot_cfg: {kinematics: {}}", "f.yml:1:25: error: the key 'collision_spheres' is missing"),
        (
            "collision_spheres: {upper: [{center: [0, 0], radius: 1}]}",
            "f.yml:1:38: error: a center has 3 numbers, not 2",
        ),
        (
            "collision_spheres: {upper: [{center: [0, 0, x], radius: 1}]}",
            "f.yml:1:45: error: should be a number, not 'x'",
        ),
        ("collision_spheres: {upper: [{center: [0, 0, 0]}]}", "f.yml:1:29: error: the key 'radius' is missing"),
        ("collision_spheres: {upper: [{center: [0, 0, .nan], radius: 1}]}", "error: should be a number, not '.nan'"),
        (
            f"collision_spheres: {{upper: [{{center: [0, 0, 0], radius: {'9' * 400}}}]}}",
            "f.yml:1:57: error: should be a number",
        ),
        ("collision_spheres: {upper: [1]}", "f.yml:1:29: error: should be a map"),
        ("collision_spheres: {upper: 1}", "f.yml:1:28: error: should be a list"),
        ("collision_spheres: spheres/arm.yml", "the spheres are in another file, 'spheres/arm.yml'"),
        ("collision_spheres: {}\ncspace: {joint_names: [elbow], max_jerk: [1, 2]}", "should have 1 numbers"),
        ("collision_spheres: {", "f.yml:1:21: error: is not YAML"),
    ],
)
def test_bad_values_are_errors_with_their_places(robot: RobotModel, tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "f.yml").write_text(text)
    with pytest.raises(DescriptionError) as refused:
        read_planner(str(tmp_path / "f.yml"), robot, Diagnostics())
    assert message in str(refused.value)


def test_an_unknown_name_is_a_warning_with_the_nearest_one(run: RunCommand, tmp_path: Path) -> None:
    (tmp_path / "arm.urdf").write_text(URDF)
    (tmp_path / "f.yml").write_text("collision_spheres: {}\nself_collision_ignore:\n  uper: [fore]\n")
    words = ("collisions", "spheres", "convert", tmp_path / "arm.urdf", tmp_path / "f.yml", "-o", tmp_path / "a.srdf")
    done = run(*words, "--strict")
    assert done.code == 1
    assert "f.yml:3:3: warning: unknown link 'uper' in an ignored pair; left out; did you mean 'upper'?" in done.err
    assert not (tmp_path / "a.srdf").exists()
    assert run(*words).code == 0


def test_several_groups_need_a_choice(run: RunCommand, tmp_path: Path) -> None:
    (tmp_path / "arm.urdf").write_text(URDF)
    more = srdf_with({}).replace("<group_state", '<group name="g"><joint name="grip"/></group><group_state', 1)
    (tmp_path / "arm.srdf").write_text(more)
    words = (
        "collisions",
        "spheres",
        "convert",
        tmp_path / "arm.urdf",
        tmp_path / "arm.srdf",
        "-o",
        tmp_path / "a.xrdf",
    )
    done = run(*words)
    assert (done.code, done.err) == (1, "error: the SRDF has 2 groups: choose one with --group: arm, g\n")
    assert run(*words, "--group", "g").code == 0
    assert yaml.safe_load((tmp_path / "a.xrdf").read_text())["cspace"]["joint_names"] == ["grip"]


def test_an_unknown_ending_is_wrong_usage(run: RunCommand, tmp_path: Path) -> None:
    (tmp_path / "arm.urdf").write_text(URDF)
    done = run(
        "collisions", "spheres", "convert", tmp_path / "arm.urdf", tmp_path / "arm.txt", "-o", tmp_path / "a.xrdf"
    )
    assert done.code == 2


def test_check_reads_the_spheres_of_every_format(run: RunCommand, tmp_path: Path) -> None:
    pytest.importorskip("mujoco")
    (tmp_path / "arm.urdf").write_text(
        URDF.replace('<geometry><sphere radius="9"/></geometry>', "").replace(
            "<collision>\n      \n    </collision>", ""
        )
    )
    half = math.sqrt(3) / 2 + 1e-9
    spheres = {"upper": [(0.0, 0.0, 0.0, half)], "fore": [(0.0, 0.0, 0.0, half)], "finger": [(0.0, 0.0, 0.0, 0.5)]}
    (tmp_path / "a.srdf").write_text(srdf_with(spheres))
    answers: dict[str, list[str]] = {}
    for ending in ("srdf", "yml", "xrdf", "urdf"):
        file = tmp_path / f"a.{ending}"
        if ending != "srdf":
            run("collisions", "spheres", "convert", tmp_path / "arm.urdf", tmp_path / "a.srdf", "-o", file)
        done = run("collisions", "spheres", "check", tmp_path / "arm.urdf", "--spheres", file)
        assert done.code == 1
        answers[ending] = done.out.splitlines()
    lines = answers["srdf"]
    assert lines[0] == "base: not considered (radius 0)"
    assert lines[-1] == "4 links, 1 not covered"
    # The other formats have no radius 0: there the link is left out, and counts.
    for ending in ("yml", "xrdf", "urdf"):
        first, *others, last = answers[ending]
        assert first == f"base: error: no spheres in {tmp_path}/a.{ending}"
        assert (others, last) == (lines[1:-1], "4 links, 2 not covered")
    assert [line.split(",")[0] for line in lines[1:4]] == [
        "upper: covered",
        "fore: covered",
        "finger: error: not covered",
    ]
    # From the corner of the cube to the sphere.
    assert f"protrusion {math.sqrt(3) / 2 - 0.5:.6f} m" in lines[3]


@pytest.mark.parametrize(
    ("sphere", "message"),
    [
        ('center="0 0 0" radius="0,1"', "attribute 'radius' of <sphere> should be a number, not '0,1'"),
        ('center="0 0 0" radius="1e300"', "error: link 'upper': a sphere is larger than 1000 m, or farther away"),
    ],
)
def test_a_bad_sphere_is_not_replaced_by_the_enclosing_one(
    run: RunCommand, tmp_path: Path, sphere: str, message: str
) -> None:
    pytest.importorskip("mujoco")
    (tmp_path / "arm.urdf").write_text(URDF)
    element = f'<link_sphere_approximation link="upper"><sphere {sphere}/></link_sphere_approximation>'
    (tmp_path / "arm.srdf").write_text(f'<robot name="arm">{element}</robot>')
    done = run("collisions", "spheres", "check", tmp_path / "arm.urdf", tmp_path / "arm.srdf")
    assert done.code == 1
    assert message in done.err
    assert "covered" not in done.out


def test_a_sphere_of_a_urdf_with_a_negative_radius_is_listed(robot: RobotModel, tmp_path: Path) -> None:
    shapes = "".join(
        f'<collision><geometry><sphere radius="{radius}"/></geometry></collision>' for radius in ("0.5", "-1")
    )
    (tmp_path / "s.urdf").write_text(f'<robot name="arm"><link name="upper">{shapes}</link></robot>')
    read = read_planner(str(tmp_path / "s.urdf"), robot, Diagnostics())
    assert [sphere.radius for sphere in read.value.spheres["upper"]] == [0.5]
    assert read.lost == ("sphere 1 of link 'upper': its radius -1 m means no sphere",)


TURNING = """<robot name="r"><link name="root"/>{}{}
<joint name="f" type="fixed"><parent link="root"/><child link="a"/></joint>
<joint name="t" type="revolute"><parent link="root"/><child link="b"/><axis xyz="0 0 1"/>
<limit lower="-3.141592653589793" upper="3.141592653589793" effort="1" velocity="1"/></joint></robot>"""
BEAD = '<link name="{}"><collision><origin xyz="1 0 0"/><geometry><box size=".1 .1 .1"/></geometry></collision></link>'


def test_a_matrix_of_spheres_counts_collisions_of_the_spheres(run: RunCommand, tmp_path: Path) -> None:
    pytest.importorskip("mujoco")
    (tmp_path / "r.urdf").write_text(TURNING.format(BEAD.format("a"), BEAD.format("b")))
    ball = '<link_sphere_approximation link="{}"><sphere center="1 0 0" radius="{}"/></link_sphere_approximation>'
    files = (tmp_path / "r.urdf", tmp_path / "r.srdf")
    words = ("collisions", "generate", *files, "--geometry", "spheres", "--samples", "3000", "--no-search", "--json")
    (tmp_path / "r.srdf").write_text(f'<robot name="r">{ball.format("a", 0.7)}{ball.format("b", 0.3)}</robot>')
    (pair,) = json.loads(run(*words, "-o", tmp_path / "new.srdf").out)["pairs"]
    # The centres are 2 sin(angle / 2) apart: nearer than 0.7 + 0.3 in a third of the angles.
    assert pair["samples"] >= 1000
    assert abs(pair["hits"] / pair["samples"] - 1 / 3) < 5 * math.sqrt(2 / 9 / pair["samples"])
    # A radius of 0 means that the link is not considered.
    (tmp_path / "r.srdf").write_text(f'<robot name="r">{ball.format("a", 0.7)}{ball.format("b", 0)}</robot>')
    done = run(*words, "-o", tmp_path / "other.srdf")
    assert done.code == 1
    assert "fewer than two links with collision geometry" in done.err
