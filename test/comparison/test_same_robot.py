# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Robots that are the same in other words, and robots with one planted difference, on real robots.

The changes are made to the text with lxml, numpy and scipy alone.
"""

from __future__ import annotations

import json
import random
import sysconfig
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from lxml import etree
from scipy.spatial.transform import Rotation

from robot_semantics.cli.main import main
from robot_semantics.comparison.robots import RobotComparison, compare_robots
from robot_semantics.examples import example
from robot_semantics.model.loading import robot_from_text

FloatArray = npt.NDArray[np.float64]
SHARE = Path(sysconfig.get_path("purelib")) / "cmeel.prefix" / "share" / "example-robot-data" / "robots"
ROBOTS = (
    *("panda_description/urdf/panda.urdf", "pr2_description/urdf/pr2.urdf", "ur_description/urdf/ur5_robot.urdf"),
    *("go2_description/urdf/go2.urdf", "anymal_c_simple_description/urdf/anymal.urdf", "a1_description/urdf/a1.urdf"),
    *("talos_data/robots/talos_reduced.urdf", "icub_description/robots/icub.urdf", "z1_description/urdf/z1.urdf"),
    *("solo_description/robots/solo12.urdf", "bolt_description/robots/bolt.urdf", "b1_description/urdf/b1.urdf"),
    *("hyq_description/robots/hyq_no_sensors.urdf", "kinova_description/robots/kinova.urdf"),
    *("baxter_description/urdf/baxter.urdf", "tiago_description/robots/tiago.urdf", "go1_description/urdf/go1.urdf"),
    *("romeo_description/urdf/romeo.urdf", "laikago_description/urdf/laikago.urdf"),
    *("xarm_description/urdf/xarm7.urdf", "double_pendulum_description/urdf/double_pendulum.urdf"),
)
pytestmark = pytest.mark.skipif(not SHARE.is_dir(), reason="example-robot-data is not installed")


def tree_of(name: str) -> etree._Element:
    """Return a robot without visual geometry and extensions: joints, collision geometry and mass."""
    root = etree.fromstring((SHARE / name).read_bytes(), etree.XMLParser(remove_comments=True))
    for element in list(root):
        if element.tag not in ("link", "joint"):
            root.remove(element)
    for visual in list(root.iter("visual")):
        link = visual.getparent()
        assert link is not None
        link.remove(visual)
    return root


def compare(a: etree._Element, b: etree._Element) -> RobotComparison:
    models = [robot_from_text(etree.tostring(root, encoding="unicode"), strict=False) for root in (a, b)]
    return compare_robots(models[0], models[1])


def numbers(element: etree._Element | None, word: str, default: str) -> FloatArray:
    text = default if element is None else element.get(word, default)
    return np.array([float(part) for part in text.split()])


def pose_of(element: etree._Element) -> FloatArray:
    origin = element.find("origin")
    T = np.eye(4)
    T[:3, 3] = numbers(origin, "xyz", "0 0 0")
    T[:3, :3] = Rotation.from_euler("xyz", numbers(origin, "rpy", "0 0 0")).as_matrix()
    return T


def inverse(T: FloatArray) -> FloatArray:
    return np.asarray(np.linalg.inv(T), dtype=np.float64)


def words(row: FloatArray) -> str:
    return " ".join(repr(float(value)) for value in row)


def set_pose(element: etree._Element, T: FloatArray) -> None:
    for origin in element.findall("origin"):
        element.remove(origin)
    rpy = Rotation.from_matrix(T[:3, :3]).as_euler("xyz")
    element.insert(0, etree.Element("origin", xyz=words(T[:3, 3]), rpy=words(rpy)))


def axis_of(joint: etree._Element) -> FloatArray:
    axis = numbers(joint.find("axis"), "xyz", "1 0 0")
    return np.asarray(axis / (np.linalg.norm(axis) or 1.0))


def set_axis(joint: etree._Element, axis: FloatArray) -> None:
    for old in joint.findall("axis"):
        joint.remove(old)
    etree.SubElement(joint, "axis", xyz=words(axis))


def end(joint: etree._Element, tag: str) -> str:
    found = joint.find(tag)
    assert found is not None
    return str(found.get("link"))


def link_called(root: etree._Element, name: str) -> etree._Element:
    return next(link for link in root.iterchildren("link") if link.get("name") == name)


def move_content(root: etree._Element, link: str, T_new_old: FloatArray, but: etree._Element | None = None) -> None:
    """Re-express all that a link carries, and the joints on it, in a new frame of the link."""
    element = link_called(root, link)
    carried = [*element.iterchildren("collision", "inertial")]
    carried += [joint for joint in root.iterchildren("joint") if end(joint, "parent") == link and joint is not but]
    for part in carried:
        set_pose(part, T_new_old @ pose_of(part))


# Changes that make no difference.


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
        found = compare(root, changed)
        assert found.same, (name, [difference.text for difference in found.differences][:5])
        assert found.largest_distance_m < 1e-6
        assert bool(found.renamed_links) == (change is rename)
        if change is move_frames:
            assert 1 <= len(found.frames_moved) <= 3, name


# Mutations: each returns the kind and the name of the difference that must be found.


def joints_of(root: etree._Element, *types: str) -> list[etree._Element]:
    return [joint for joint in root.iterchildren("joint") if joint.get("type") in types]


def move_origin(root: etree._Element, rng: random.Random) -> tuple[str, str]:
    joint = rng.choice(joints_of(root, "revolute", "continuous", "prismatic", "fixed"))
    T = pose_of(joint)
    T[:3, 3] += rng.choice((-1, 1)) * 0.04 * np.eye(3)[rng.randrange(3)]
    set_pose(joint, T)
    return "joint_origin", str(joint.get("name"))


def turn_origin(root: etree._Element, rng: random.Random) -> tuple[str, str]:
    joint = rng.choice(joints_of(root, "revolute", "continuous", "prismatic", "fixed"))
    T = pose_of(joint)
    T[:3, :3] = T[:3, :3] @ Rotation.from_rotvec([0.1, 0.2, 0.3]).as_matrix()
    set_pose(joint, T)
    return "joint_origin", str(joint.get("name"))


def turn_axis(root: etree._Element, rng: random.Random) -> tuple[str, str]:
    joint = rng.choice(joints_of(root, "revolute", "continuous", "prismatic"))
    set_axis(joint, np.roll(axis_of(joint), 1) if rng.random() < 0.5 else -axis_of(joint))
    return "joint_axis", str(joint.get("name"))


def change_limit(root: etree._Element, rng: random.Random) -> tuple[str, str]:
    joint = rng.choice([joint for joint in joints_of(root, "revolute", "prismatic") if joint.find("limit") is not None])
    limit = joint.find("limit")
    assert limit is not None
    word = rng.choice(("upper", "velocity", "effort"))
    limit.set(word, repr(float(limit.get(word, "0")) + 0.5))
    return "limit", str(joint.get("name"))


def change_type(root: etree._Element, rng: random.Random) -> tuple[str, str]:
    joint = rng.choice(joints_of(root, "revolute"))
    joint.set("type", "prismatic")
    return "joint_type", str(joint.get("name"))


def heavy_link(root: etree._Element, rng: random.Random) -> etree._Element:
    return rng.choice([link for link in root.iterchildren("link") if link.find("inertial/mass") is not None])


def change_mass(root: etree._Element, rng: random.Random) -> tuple[str, str]:
    link = heavy_link(root, rng)
    mass = link.find("inertial/mass")
    assert mass is not None
    mass.set("value", repr(1.1 * float(mass.get("value", "0")) + 0.1))
    return "mass", str(link.get("name"))


def move_mass(root: etree._Element, rng: random.Random) -> tuple[str, str]:
    link = heavy_link(root, rng)
    inertial = link.find("inertial")
    assert inertial is not None
    T = pose_of(inertial)
    T[1, 3] += 0.01
    set_pose(inertial, T)
    return "centre_of_mass", str(link.get("name"))


def change_inertia(root: etree._Element, rng: random.Random) -> tuple[str, str]:
    link = heavy_link(root, rng)
    inertia = link.find("inertial/inertia")
    assert inertia is not None
    inertia.set("iyy", repr(2.0 * float(inertia.get("iyy", "0")) + 0.1))
    return "inertia", str(link.get("name"))


def move_geometry(root: etree._Element, rng: random.Random) -> tuple[str, str]:
    link = rng.choice([link for link in root.iterchildren("link") if link.find("collision") is not None])
    collision = rng.choice(link.findall("collision"))
    T = pose_of(collision)
    T[2, 3] += 0.02
    set_pose(collision, T)
    return "geometry", str(link.get("name"))


MUTATIONS = (
    *(move_origin, turn_origin, turn_axis, change_limit, change_type),
    *(change_mass, move_mass, change_inertia, move_geometry),
)


@pytest.mark.parametrize("mutate", MUTATIONS)
def test_every_planted_difference_is_found_and_named(mutate: Callable[..., tuple[str, str]]) -> None:
    for number, name in enumerate(ROBOTS):
        root = tree_of(name)
        for seed in range(2):
            changed = deepcopy(root)
            try:
                kind, where = mutate(changed, random.Random(100 * number + seed))
            except IndexError:
                continue  # the robot has no such part
            found = compare(root, changed)
            assert (kind, where) in {(item.kind, item.name) for item in found.differences}, (name, seed, found)
            assert {item.name for item in found.differences} == {where}, (name, seed, found.differences)


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
    assert main(["diff", first, first, "--srdf-a", srdf, "--srdf-b", srdf]) == 0
    assert "same motion" in capsys.readouterr().out
    assert main(["diff", first, moved, "--json"]) == 1
    value = json.loads(capsys.readouterr().out)
    assert [item["text"] for item in value["differences"]] == ["joint 'elbow_joint': origin moved 40 mm"]
    assert value["largest_distance_m"] == pytest.approx(0.04)
    assert not value["same"]


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
    words = [str(files / "rover_arm.urdf")] * 2 + ["--srdf-a", str(files / "rover_arm.srdf")]
    assert main(["diff", *words, "--srdf-b", str(files / "other.srdf")]) == 1
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
    assert main(["usdf", "new", robot, "--pose", "rover_arm", "0 0 0 0 0 0", "-o", world]) == 0
    capsys.readouterr()
    main(["check", world, "--urdf", str(files / "moved.urdf"), "--srdf", str(files / "rover_arm.srdf"), "--all"])
    found = capsys.readouterr()
    assert "since the state was saved: joint 'elbow_joint': origin moved 40 mm" in found.out + found.err
