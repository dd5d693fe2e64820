# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Robots that are the same in other words, on real robots; and the command.

The changes are made to the text with lxml, numpy and scipy alone.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path

import numpy as np
import pytest
from lxml import etree
from scipy.spatial.transform import Rotation
from support.urdf_trees import (
    ROBOTS,
    SHARE,
    FloatArray,
    axis_of,
    end,
    inverse,
    link_called,
    model_of,
    move_content,
    pose_of,
    set_axis,
    set_pose,
    tree_of,
)

from robot_semantics.base.errors import DescriptionError
from robot_semantics.cli.main import main
from robot_semantics.comparison.robots import RobotComparison, compare_robots
from robot_semantics.examples import example
from robot_semantics.model.loading import robot_from_text

pytestmark = pytest.mark.skipif(not SHARE.is_dir(), reason="example-robot-data is not installed")


def reorder(root: etree._Element, rng: random.Random) -> None:
    parts = list(root)
    rng.shuffle(parts)
    root[:] = parts


def respell(root: etree._Element, _rng: random.Random) -> None:
    for element in root.iter("origin", "axis"):
        for word in ("xyz", "rpy"):
            if word in element.attrib:
                element.set(word, "  ".join(f"{float(part):+.17e}" for part in element.attrib[word].split()))


def rename(root: etree._Element, _rng: random.Random) -> None:
    for element in root.iter("link", "joint"):
        element.set("name", f"left_{element.get('name')}")
    for element in root.iter("parent", "child"):
        element.set("link", f"left_{element.get('link')}")
    for element in root.iter("mimic"):
        element.set("joint", f"left_{element.get('joint')}")


def move_frames(root: etree._Element, rng: random.Random) -> None:
    """Turn the frames of three links, and slide them along the axis of the joint above, with all that they carry."""
    joints = [
        j for j in root.iterchildren("joint") if j.get("type") in ("revolute", "continuous", "prismatic", "fixed")
    ]
    joints = [j for j in joints if link_called(root, end(j, "child")).find("collision") is not None]
    for joint in rng.sample(joints, min(3, len(joints))):
        D = np.eye(4)
        D[:3, :3] = Rotation.from_rotvec([rng.uniform(-1, 1) for _ in range(3)]).as_matrix()
        D[:3, 3] = rng.uniform(0.01, 0.2) * axis_of(joint)
        move_content(root, end(joint, "child"), inverse(D))
        axis = D[:3, :3].T @ axis_of(joint)
        set_pose(joint, pose_of(joint) @ D)
        set_axis(joint, axis)


def reroot(root: etree._Element, rng: random.Random) -> None:
    """Make another link the root: the joints on the way are turned round, and link frames go where these joints are."""
    above = {end(joint, "child"): joint for joint in root.iterchildren("joint")}
    choices = [name for name, j in above.items() if j.get("type") != "floating"]
    link = rng.choice([name for name in choices if link_called(root, name).find("inertial") is not None] or choices)
    T_new_old: FloatArray = np.eye(4)
    while link in above:
        joint = above[link]
        parent, T_parent_joint = end(joint, "parent"), pose_of(joint)
        axis = axis_of(joint)
        # The joint's frame is the old frame of its child.
        next_T = inverse(T_parent_joint)
        move_content(root, parent, next_T, but=joint)
        set_pose(joint, T_new_old)
        set_axis(joint, -axis)
        for tag, name in (("parent", link), ("child", parent)):
            element = joint.find(tag)
            assert element is not None
            element.set("link", name)
        T_new_old, link = next_T, parent


SAME: tuple[Callable[[etree._Element, random.Random], None], ...] = (reorder, respell, rename, move_frames, reroot)


@pytest.mark.parametrize("change", SAME)
def test_the_same_robot_in_other_words_is_the_same(change: Callable[..., None]) -> None:
    for number, name in enumerate(ROBOTS):
        root = tree_of(name)
        changed = deepcopy(root)
        change(changed, random.Random(number))
        found = compare_robots(model_of(root), model_of(changed))
        assert found.same, (name, [difference.text for difference in found.differences][:5])
        assert found.largest_distance_m < 1e-6
        assert bool(found.renamed_links) == (change is rename)
        if change is move_frames:
            assert 1 <= len(found.frames_moved) <= 3, name


def rename_everything(root: etree._Element, rng: random.Random) -> None:
    """Give each link and joint a name of its own that says nothing, wherever it occurs."""
    names = sorted({str(item.get("name")) for item in root.iterchildren("link", "joint")})
    new = dict(zip(names, (f"n{number}" for number in rng.sample(range(10**6), len(names))), strict=True))
    for element in root.iter("*"):
        for key, value in element.attrib.items():
            if value in new and element is not root:
                element.set(key, new[str(value)])
        if element.text and element.text.strip() in new:
            element.text = new[element.text.strip()]


@pytest.mark.parametrize("name", sorted(str(path.relative_to(SHARE)) for path in SHARE.rglob("*.urdf")))
def test_the_names_of_a_robot_make_no_difference(name: str) -> None:
    root = tree_of(name)
    try:
        model = model_of(root)
    except DescriptionError:
        pytest.skip("it has no valid tree")
    if model.omissions:
        pytest.skip("a part of it was left out: it is not compared")
    changed = deepcopy(root)
    rename_everything(changed, random.Random(3))
    assert compare_robots(model, model_of(changed)).differences == ()


# Loops.

LOOP = """<robot name="r"><link name="a"/><link name="b"/><link name="c"/>
<joint name="j" type="continuous"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/></joint>
<joint name="k" type="continuous"><origin xyz="1 0 0"/><parent link="a"/><child link="c"/><axis xyz="0 0 1"/></joint>
{}</robot>"""
CONSTRAINT = """<constraint name="l" type="{type}"><parent link="b"/><child link="c"/>
<parent_origin xyz="0 1 0" rpy="0 0 {turn}"/><child_origin xyz="{x} 1 0" rpy="0 0 {turn}"/>
<parent_axis xyz="{axis}"/><child_axis xyz="0 1 0"/></constraint>"""
SWAPPED = """<constraint name="m" type="{type}"><parent link="c"/><child link="b"/>
<parent_origin xyz="-1 1 0"/><child_origin xyz="0 1 0"/>
<parent_axis xyz="{first}"/><child_axis xyz="{second}"/></constraint>"""


def constraint(kind: str = "revolute", x: float = -1.0, turn: float = 0.0, axis: str = "0 0 1") -> str:
    return LOOP.format(CONSTRAINT.format(type=kind, x=x, turn=turn, axis=axis))


def texts(a: str, b: str) -> list[str]:
    return [difference.text for difference in comparison(a, b).differences]


def comparison(a: str, b: str) -> RobotComparison:
    return compare_robots(model_of(etree.fromstring(a)), model_of(etree.fromstring(b)))


@pytest.mark.parametrize(
    ("a", "b", "said"),
    [
        (constraint(), LOOP.format(""), "constraint 'l' removed"),
        (LOOP.format(""), constraint(), "constraint 'l' added"),
        (constraint(), constraint(x=-1.05), "constraint 'l': moved 50 mm"),
        (constraint(), constraint("spherical"), "constraint 'l': type revolute → spherical"),
        (constraint(), constraint(axis="0 0.1 1"), "constraint 'l': turned"),
        (constraint("prismatic"), constraint("prismatic", x=-1.05), "constraint 'l': moved 50 mm"),
        (constraint("prismatic"), constraint("prismatic", axis="0 1 0"), "constraint 'l': turned"),
        (constraint("universal"), constraint("universal", axis="1 0 0"), "constraint 'l': turned"),
        (constraint("link"), constraint("link", x=-1.05), "constraint 'l': moved 50 mm"),
        (constraint(), constraint().replace('child link="c"/>\n<parent_o', 'child link="a"/>\n<parent_o'),
         "constraint 'l': links 'b' and 'c' → 'b' and 'a'"),
    ],
)  # fmt: skip
def test_another_constraint_is_a_difference(a: str, b: str, said: str) -> None:
    assert texts(a, b) == [said]


@pytest.mark.parametrize(
    ("a", "b"),
    [
        # Turned about its own axis, with both links.
        (constraint(), constraint(turn=0.7)),
        (constraint("spherical"), constraint("spherical", turn=0.7)),
        # Slid along its axis.
        (constraint("prismatic", axis="1 0 0"), constraint("prismatic", x=-1.3, axis="1 0 0")),
        (constraint(axis="0 0 1"), constraint(axis="0 0 -2")),
        # The ends changed places.
        *((constraint(kind), LOOP.format(SWAPPED.format(type=kind, first="0 0 1", second="0 1 0")))
          for kind in ("revolute", "prismatic", "spherical", "link")),
        (constraint("universal"), LOOP.format(SWAPPED.format(type="universal", first="0 1 0", second="0 0 1"))),
    ],
)  # fmt: skip
def test_the_same_constraint_in_other_words_is_the_same(a: str, b: str) -> None:
    assert texts(a, b) == []


# Extensions.

ARM = """<robot name="r"><link name="a"/><link name="b"/>
<joint name="{joint}" type="continuous"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/></joint>
{more}</robot>"""


def arm(more: str, joint: str = "j") -> str:
    return ARM.format(more=more, joint=joint)


CONTROL = (
    '<ros2_control name="c" type="system"><joint name="j"><command_interface name="position">'
    '<param name="min">-1</param><param name="max">1</param></command_interface></joint></ros2_control>'
)


def test_extensions_are_compared_by_content() -> None:
    other = CONTROL.replace(">-1<", ">-2<")
    assert texts(arm(CONTROL), arm(other)) == ["<ros2_control> 'c' differs"]
    assert texts(arm(CONTROL), arm("")) == ["<ros2_control> 'c' removed"]
    assert texts(arm(""), arm('<gazebo reference="b"><mu1>1</mu1></gazebo>')) == ["<gazebo> 'b' added"]
    spelt = CONTROL.replace(">-1<", "> -1.00 <!-- one --><").replace("<joint", "\n  <joint")
    assert texts(arm(CONTROL), arm(spelt)) == []
    assert texts(arm(CONTROL), arm(CONTROL.replace('"j"', '"k"'), joint="k")) == []


def test_an_extension_of_another_name_was_added_and_not_changed() -> None:
    other = CONTROL.replace('"c"', '"{}"')
    for name in ("b", "d"):
        assert texts(arm(CONTROL), arm(other.format(name))) == [
            "<ros2_control> 'c' removed",
            f"<ros2_control> '{name}' added",
        ]
    # The same element of another link was added as well.
    of_a, of_b = (arm(f'<gazebo reference="{link}"><mu1>1</mu1></gazebo>') for link in "ab")
    assert texts(of_a, of_b) == [
        "<gazebo> 'a' removed",
        "<gazebo> 'b' added",
    ]
    coloured = arm("").replace('<link name="a"/>', '<link name="a" colour="red"/>')
    assert texts(coloured, arm("")) == ["link 'a': attribute 'colour' removed"]
    sensors = "<gazebo><plugin>-x 1 inf</plugin></gazebo>"
    assert texts(arm(sensors), arm(sensors.replace(" 1 inf", " 1.0 +inf"))) == []
    assert texts(arm(sensors), arm(sensors.replace("-x", "-y"))) == ["<gazebo> differs"]


# Joints.

CHAIN = """<robot name="r"><link name="a"/><link name="b"/><link name="c"/>
<joint name="j" type="{type}"><origin xyz="0 0 {z}"/><parent link="a"/><child link="b"/>
<axis xyz="0 0 1"/><limit lower="-1" upper="{upper}" effort="3" velocity="4"/>{more}</joint>
<joint name="k" type="continuous"><origin xyz="0 0 {rest}"/><parent link="b"/><child link="c"/></joint></robot>"""


def chain(kind: str = "revolute", z: float = 1.0, rest: float = 2.0, upper: float = 2.0, more: str = "") -> str:
    return CHAIN.format(type=kind, z=z, rest=rest, upper=upper, more=more)


@pytest.mark.parametrize(
    ("a", "b", "said"),
    [
        (chain(), chain(z=1.999), ["joint 'j': origin moved 999 mm"]),
        (chain(), chain(z=1.04).replace('"j"', '"i"'), ["joint 'j': origin moved 40 mm"]),
        (chain("floating"), chain("floating"), []),
        (chain("floating"), chain("floating", z=1.04), ["joint 'j': origin moved 40 mm"]),
        (chain(), chain().replace('"0 0 1"', '"0 0 -1"'), ["joint 'j': axis reversed"]),
        (chain(), chain().replace('"0 0 1"', '"0 1 0"'), ["joint 'j': axis turned 90°"]),
        (chain(more='<mimic joint="k"/>'), chain(),
         ["joint 'j': mimic 1 * 'k' +0 → no mimic"]),
        (chain(more='<mimic joint="k" multiplier="-2" offset="0.5"/>'), chain(more='<mimic joint="k"/>'),
         ["joint 'j': mimic -2 * 'k' +0.5 → 1 * 'k' +0"]),
        (chain(), chain(upper=2.5), ["joint 'j': limit upper 2 → 2.5"]),
        (chain(), chain(upper=2.0000001), ["joint 'j': limit upper 2.0 → 2.0000001"]),
        (chain(), chain(more='<safety_controller k_velocity="10"/>'),
         ["joint 'j': k_velocity none → 10.0"]),
        (chain(more='<calibration rising="0.5"/>'), chain(), ["joint 'j': rising 0.5 → none"]),
        # The frame of a link without content moved, and the next joint did not.
        (chain(), chain(z=1.5, rest=1.5), []),
        (chain("fixed"), chain("fixed", z=1.5, rest=1.5), []),
    ],
)  # fmt: skip
def test_a_difference_of_a_joint_is_said(a: str, b: str, said: list[str]) -> None:
    assert texts(a, b) == said
    # In the other order of the robots, the values are exchanged.
    there, back = ([item for item in comparison(*order).differences if "→" in item.text] for order in ((a, b), (b, a)))
    assert [(item.kind, item.a, item.b) for item in there] == [(item.kind, item.b, item.a) for item in back]
    assert all(item.a != item.b for item in there)


def test_the_largest_distance_is_that_of_a_link_which_is_named() -> None:
    same, moved = comparison(chain(), chain()), comparison(chain(), chain(rest=2.25))
    assert (same.largest_distance_m, same.furthest_link) == (0.0, "")
    assert (moved.largest_distance_m, moved.furthest_link) == (0.25, "c")


def test_another_root_of_links_without_content_is_found() -> None:
    def turned(axis: str) -> str:
        text = chain(z=-1.0).replace('parent link="a"/><child link="b"', 'parent link="b"/><child link="a"')
        return text.replace('"0 0 1"', axis, 1)

    assert texts(chain(), turned('"0 0 -1"')) == []
    # About x, link b turns round link a: q is at most 2, so that its origin moves by up to 2 m * sin(1).
    (said,) = texts(chain().replace('"0 0 1"', '"-1 0 0"', 1), turned('"1 0 0"'))
    assert said == f"link 'b': up to {2e3 * np.sin(1.0):.3g} mm elsewhere in 1000 configurations"


# SRDFs.


def srdf_texts(a: str, b: str, urdf_a: str = "", urdf_b: str = "") -> list[str]:
    """Return the differences of two robots with these contents of their SRDFs."""
    first, second = (
        robot_from_text(urdf or chain(), f'<robot name="r">{srdf}</robot>')
        for urdf, srdf in ((urdf_a, a), (urdf_b or urdf_a, b))
    )
    return [difference.text for difference in compare_robots(first, second).differences]


SPHERES = """<link_sphere_approximation link="b"><sphere center="1 2 3" radius="0.5"/>
<sphere center="1 2 4" radius="0.25"/></link_sphere_approximation>"""
ONE_SPHERE = SPHERES.replace('<sphere center="1 2 4" radius="0.25"/>', "")
STATE = '<group name="g"><joint name="j"/><joint name="k"/></group><group_state name="s" group="g">{}</group_state>'
J_FIRST, K_FIRST = (
    STATE.format("".join(f'<joint name="{name}" value="0.5"/>' for name in names)) for names in ("jk", "kj")
)
NOT_B = '<disable_default_collisions link="b"/>'
DISABLED = '<disable_collisions link1="{}" link2="{}" reason="Never"/>'
NO_PAIR_OF_B = DISABLED.format("a", "b") + DISABLED.format("c", "b")


@pytest.mark.parametrize(
    ("a", "b", "said"),
    [
        (SPHERES, SPHERES, []),
        (SPHERES, ONE_SPHERE.replace("<sphere", '<sphere center="1 2 4" radius="0.25"/><sphere', 1), []),
        (SPHERES, SPHERES.replace("3", "3.0000005"), []),
        (SPHERES, SPHERES.replace("3", "3.999"), ["spheres of link 'b': up to 999 mm elsewhere, or of another size"]),
        (SPHERES, SPHERES.replace("0.5", "0.53"), ["spheres of link 'b': up to 30 mm elsewhere, or of another size"]),
        (SPHERES, ONE_SPHERE, ["spheres of link 'b': 2 → 1"]),
        (ONE_SPHERE, SPHERES, ["spheres of link 'b': 1 → 2"]),
        (SPHERES, "", ["spheres of link 'b' removed"]),
        ("", SPHERES, ["spheres of link 'b' added"]),
        (J_FIRST, K_FIRST, []),
        (J_FIRST, K_FIRST.replace("0.5", "0.25", 1), ["state 'g/s': j=0.5, k=0.5 → j=0.5, k=0.25"]),
        ("", J_FIRST, ["group 'g' added", "state 'g/s' added"]),
        (NOT_B, NO_PAIR_OF_B, []),
        (NOT_B, "", ["link disabled by default 'b' removed"]),
        (NO_PAIR_OF_B, "", ["disabled pair 'a - b' removed", "disabled pair 'b - c' removed"]),
        (NOT_B, DISABLED.format("a", "b"), ["link disabled by default 'b' removed"]),
        (f'{NOT_B}<enable_collisions link1="b" link2="a"/>', DISABLED.format("b", "c"), []),
        (NOT_B, f'{NOT_B}<enable_collisions link1="b" link2="a"/>', ["enabled pair 'a - b' added"]),
    ],
)  # fmt: skip
def test_a_difference_of_two_srdfs_is_said(a: str, b: str, said: list[str]) -> None:
    assert srdf_texts(a, b) == said


def test_spheres_move_with_the_frame_of_their_link_and_have_its_new_name() -> None:
    def ball(z: float, at: float) -> str:
        shape = f'<collision><origin xyz="0 0 {at}"/><geometry><sphere radius="1"/></geometry></collision>'
        return chain(z=z, rest=3.0 - z).replace('<link name="b"/>', f'<link name="b">{shape}</link>')

    here, there = ball(1.0, 0.0), ball(1.5, -0.5)
    moved = SPHERES.replace("1 2 3", "1 2 2.5").replace("1 2 4", "1 2 3.5")
    assert srdf_texts(SPHERES, moved, here, there) == []
    assert srdf_texts(SPHERES, SPHERES, here, there) == [
        "spheres of link 'b': up to 500 mm elsewhere, or of another size"
    ]
    assert srdf_texts(SPHERES, moved.replace('"b"', '"new"'), here, there.replace('"b"', '"new"')) == []


# The command.


@pytest.fixture
def files(tmp_path: Path) -> Path:
    for name in ("rover_arm.urdf", "rover_arm.srdf"):
        text = example(name).read_text(encoding="utf-8")
        (tmp_path / name).write_text(text, encoding="utf-8")
    moved = (tmp_path / "rover_arm.urdf").read_text(encoding="utf-8")
    root = etree.fromstring(moved.encode())
    joint = next(joint for joint in root.iter("joint") if joint.get("name") == "elbow_joint")
    T = pose_of(joint)
    T[0, 3] += 0.04
    set_pose(joint, T)
    (tmp_path / "moved.urdf").write_bytes(etree.tostring(root))
    return tmp_path


def test_the_command_says_same_or_names_each_difference(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first, moved, srdf = (str(files / name) for name in ("rover_arm.urdf", "moved.urdf", "rover_arm.srdf"))
    assert main(["diff", f"{first},{srdf}", f"{first},{srdf}"]) == 0
    assert "same motion" in capsys.readouterr().out
    assert main(["diff", first, moved, "--json"]) == 1
    value = json.loads(capsys.readouterr().out)
    assert [item["text"] for item in value["differences"]] == ["joint 'elbow_joint': origin moved 40 mm"]
    assert value["largest_distance_m"] == pytest.approx(0.04)
    assert not value["same"]


def test_one_srdf_alone_is_a_mistake_and_small_differences_have_all_digits(
    files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first, second, srdf = (str(files / name) for name in ("rover_arm.urdf", "second.urdf", "rover_arm.srdf"))
    assert main(["diff", f"{first},{srdf}", first]) == 2
    assert "give both SRDFs, or none" in capsys.readouterr().err
    root = etree.fromstring((files / "rover_arm.urdf").read_bytes())
    mass = root.find("link/inertial/mass")
    assert mass is not None
    changed = float(mass.get("value", "")) * (1.0 + 1e-12)
    mass.set("value", repr(changed))
    Path(second).write_bytes(etree.tostring(root))
    assert main(["diff", first, second]) == 1
    assert f"→ {changed!r} kg" in capsys.readouterr().out


def test_groups_states_and_pairs_are_compared_too(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    srdf = (files / "rover_arm.srdf").read_text(encoding="utf-8")
    root = etree.fromstring(srdf.encode())
    pair = root.find("disable_collisions")
    state = root.find("group_state/joint")
    assert pair is not None
    assert state is not None
    root.remove(pair)
    state.set("value", "0.123")
    (files / "other.srdf").write_bytes(etree.tostring(root))
    words = [f"{files / 'rover_arm.urdf'},{files / name}" for name in ("rover_arm.srdf", "other.srdf")]
    assert main(["diff", *words]) == 1
    out = capsys.readouterr().out
    assert f"disabled pair '{' - '.join(sorted((str(pair.get('link1')), str(pair.get('link2')))))}' removed" in out
    assert f"{state.get('name')}=0.123" in out
    assert "2 differences" in out


def test_world_states_are_compared_as_by_usdf_diff(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    world = str(example("rover_arm.usdf"))
    assert main(["diff", world, world]) == 0
    assert "no difference" in capsys.readouterr().out


def test_a_check_of_a_saved_state_names_what_changed_in_the_robot(
    files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    world = str(files / "w.usdf")
    robot = f"{files / 'rover_arm.urdf'},{files / 'rover_arm.srdf'}"
    assert main(["usdf", "new", robot, "--pose", "rover_arm=0 0 0 0 0 0", "-o", world]) == 0
    capsys.readouterr()
    main(["check", world, "--urdf", f"{files / 'moved.urdf'},{files / 'rover_arm.srdf'}", "--all"])
    found = capsys.readouterr()
    assert "since the state was saved: joint 'elbow_joint': origin moved 40 mm" in found.out + found.err


def test_each_joint_that_got_another_parent_is_named() -> None:
    links = "".join(
        f'<link name="{name}"><visual><geometry><sphere radius="{radius}"/></geometry></visual></link>'
        for name, radius in (("a", 1), ("b", 2), ("c", 3))
    )
    joint = (
        '<joint name="{}" type="continuous"><parent link="{}"/><child link="{}"/><origin xyz="{} 0 0"/>'
        '<axis xyz="0 0 1"/></joint>'
    )
    before = f'<robot name="r">{links}{joint.format("j", "a", "b", 1)}{joint.format("k", "a", "c", 2)}</robot>'
    for first, parents, said in (("j", ("c", "a"), "joint 'j': parent link 'a' → 'c'"),
                                 ("k", ("a", "b"), "joint 'k': parent link 'a' → 'b'")):  # fmt: skip
        joints = joint.format("j", parents[0], "b", 1 + 4 * (first == "j"))
        joints += joint.format("k", parents[1], "c", 2 + 4 * (first == "k"))
        assert said in texts(before, f'<robot name="r">{links}{joints}</robot>')


def test_a_changed_mass_is_given_as_it_was_and_as_it_is() -> None:
    text = (
        '<robot name="r"><link name="a"><inertial><mass value="{}"/>'
        '<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link></robot>'
    )
    (difference,) = comparison(text.format("1.5"), text.format("2.25")).differences
    assert (difference.kind, difference.name, difference.a, difference.b) == ("mass", "a", 1.5, 2.25)
    assert "1.5 → 2.25 kg" in difference.text
