# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Joint orders of other programs: the engines themselves load every robot and say their order."""

from __future__ import annotations

import random
import sysconfig
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from lxml import etree

from robot_semantics import DescriptionError, RobotModel, UnknownNameError
from robot_semantics.kinematics.joint_orders import (
    ORDERS,
    joint_order,
    ordered_joints,
    permutation,
    position_components,
    velocity_components,
)
from robot_semantics.model.joint_types import JointType
from robot_semantics.model.loading import load_robot, robot_from_text

CORPUS = Path(__file__).parents[2] / "build" / "corpus"
SHARE = Path(sysconfig.get_path("purelib")) / "cmeel.prefix" / "share" / "example-robot-data"
INERTIAL = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'


def bare(text: str) -> str:
    """Return a URDF with its tree and joints alone: no meshes to find, a mass on every link."""
    # Undeclared prefixes, as `drake:`, are refused by XML and accepted by every reader of URDF.
    root = etree.fromstring(text.encode(), etree.XMLParser(recover=True))
    robot = etree.Element("robot", name="bare")
    for element in root.iterchildren("link", "joint"):
        made = etree.SubElement(robot, element.tag, name=str(element.get("name")))
        if element.tag == "link":
            made.append(etree.fromstring(INERTIAL))
            continue
        made.set("type", str(element.get("type")))
        for tag, words in (("parent", ("link",)), ("child", ("link",)), ("axis", ("xyz",))):
            for part in list(element.iterchildren(tag))[:1]:
                etree.SubElement(made, tag, {word: str(part.get(word)) for word in words})
        etree.SubElement(made, "limit", lower="-1", upper="1", effort="1", velocity="1")
    # Bullet breaks a line that is too long within a word.
    return etree.tostring(robot, encoding="unicode", pretty_print=True)


def joint_names(text: str) -> set[str]:
    return {str(joint.get("name")) for joint in etree.fromstring(text.encode()).iterchildren("joint")}


def mujoco_order(text: str, _folder: Path) -> list[str]:
    mujoco = pytest.importorskip("mujoco")
    model = mujoco.MjModel.from_xml_string(text)
    names = [model.joint(number).name for number in range(model.njnt)]
    # MuJoCo makes three joints of a planar one.
    endings = ("_TX", "_TY", "_RZ")
    known = joint_names(text)
    merged = [name if name in known else name[:-3] for name in names if name in known or name.endswith(endings)]
    return list(dict.fromkeys(merged))


def drake_order(text: str, _folder: Path) -> list[str]:
    plants = pytest.importorskip("pydrake.multibody.plant")
    parsing = pytest.importorskip("pydrake.multibody.parsing")
    plant = plants.MultibodyPlant(0.01)
    (instance,) = parsing.Parser(plant).AddModelsFromString(text, "urdf")
    plant.Finalize()
    known = joint_names(text)
    joints = [plant.get_joint(index) for index in plant.GetJointIndices(instance)]
    moving = [joint for joint in joints if joint.num_positions() and joint.name() in known]
    return [joint.name() for joint in sorted(moving, key=lambda joint: int(joint.position_start()))]


def pybullet_order(text: str, folder: Path) -> list[str]:
    pybullet = pytest.importorskip("pybullet")
    path = folder / "bare.urdf"
    path.write_text(text, encoding="utf-8")
    client = pybullet.connect(pybullet.DIRECT)
    try:
        body = pybullet.loadURDF(str(path), physicsClientId=client)
        count = pybullet.getNumJoints(body, physicsClientId=client)
        rows = [pybullet.getJointInfo(body, number, physicsClientId=client) for number in range(count)]
    finally:
        pybullet.disconnect(client)
    return [row[1].decode() for row in rows if row[2] != pybullet.JOINT_FIXED]


def pinocchio_order(text: str, _folder: Path) -> list[str]:
    pinocchio = pytest.importorskip("pinocchio")
    return list(pinocchio.buildModelFromXML(text).names)[1:]


ENGINES: dict[str, Callable[[str, Path], list[str]]] = {
    "mujoco": mujoco_order,
    "drake": drake_order,
    "pybullet": pybullet_order,
    "pinocchio": pinocchio_order,
}
MOST_LINKS = {"pybullet": 127}
"""Bullet's own limit."""


def assert_engine_order(engine: str, model: RobotModel, text: str, folder: Path) -> bool:
    """Compare our order with the engine's; False where the engine does not have one of the joints."""
    order = joint_order(engine)
    joints = ordered_joints(model, order)
    if any(joint.type in order.missing for joint in joints):
        return False
    assert [joint.name for joint in joints] == ENGINES[engine](text, folder)
    return True


def robots() -> list[Path]:
    folders = [folder for folder in (SHARE, CORPUS) if folder.is_dir()]
    found = []
    for path in sorted(path for folder in folders for path in folder.rglob("*.urdf")):
        if b"<joint" in path.read_bytes():
            found.append(path)
    return found


@pytest.mark.corpus
@pytest.mark.parametrize("engine", ENGINES)
def test_every_robot_has_the_order_that_the_engine_gives_it(engine: str, tmp_path: Path) -> None:
    checked = 0
    for path in robots():
        try:
            model = load_robot(path, strict=False)
        except DescriptionError:
            continue  # which files these are, and why, is tested where they are read
        text = bare(model.urdf_text)
        if len(model.links) > MOST_LINKS.get(engine, 10**6) or len(model.links) < 2:
            continue
        try:
            checked += assert_engine_order(engine, model, text, tmp_path)
        except (AssertionError, RuntimeError, ValueError) as error:
            pytest.fail(f"{path}: {error}")
    assert checked >= 60


@pytest.mark.parametrize("engine", ENGINES)
def test_random_trees_with_shuffled_names_have_the_order_of_the_engine(engine: str, tmp_path: Path) -> None:
    for seed in range(15):
        text = random_urdf(random.Random(seed))
        assert assert_engine_order(engine, robot_from_text(text, strict=False), text, tmp_path)


def random_urdf(rng: random.Random) -> str:
    """Return a tree of which names, links and joints come in random order."""
    count = rng.randrange(3, 14)
    links = [f"l{number}" for number in rng.sample(range(100, 1000), count)]
    names = [f"j{number}" for number in rng.sample(range(100, 1000), count)]
    joints = []
    for at in range(1, count):
        kind = rng.choice(("revolute", "continuous", "prismatic", "fixed"))
        limit = "" if kind in ("fixed", "continuous") else '<limit lower="-1" upper="1" effort="1" velocity="1"/>'
        joints.append(
            f'<joint name="{names[at]}" type="{kind}"><parent link="{links[rng.randrange(at)]}"/>'
            f'<child link="{links[at]}"/><axis xyz="1 0 0"/>{limit}</joint>'
        )
    parts = [f'<link name="{link}">{INERTIAL}</link>' for link in links]
    rng.shuffle(parts)
    rng.shuffle(joints)
    return f'<robot name="r">{"".join(parts)}{"".join(joints)}</robot>'


LEGGED = """<robot name="r">
  <link name="base"/><link name="b1"/><link name="b2"/><link name="a1"/><link name="a2"/><link name="w"/>
  <joint name="b_knee" type="continuous"><parent link="b1"/><child link="b2"/></joint>
  <joint name="b_hip" type="continuous"><parent link="base"/><child link="b1"/></joint>
  <joint name="a_hip" type="continuous"><parent link="base"/><child link="a1"/></joint>
  <joint name="a_knee" type="continuous"><parent link="a1"/><child link="a2"/></joint>
  <joint name="weld" type="fixed"><parent link="a2"/><child link="w"/></joint>
</robot>"""


@pytest.mark.parametrize(
    ("order", "expected"),
    [
        ("urdf", "b_knee b_hip a_hip a_knee"),
        ("depth-first", "b_hip b_knee a_hip a_knee"),
        ("breadth-first", "b_hip a_hip b_knee a_knee"),
        # IsaacLab#270: legs LF, RF, LH, RH of a URDF come as LF, LH, RF, RH, in Isaac Sim level by level.
        ("isaacsim", "a_hip b_hip a_knee b_knee"),
        ("isaacgym", "a_hip a_knee b_hip b_knee"),
    ],
)
def test_each_rule_on_two_legs(order: str, expected: str) -> None:
    model = robot_from_text(LEGGED, strict=False)
    assert " ".join(joint.name for joint in ordered_joints(model, joint_order(order))) == expected


def test_a_permutation_takes_values_from_one_order_to_the_other() -> None:
    model = robot_from_text(LEGGED, strict=False)
    for source in ORDERS.values():
        names = [joint.name for joint in ordered_joints(model, source)]
        for target in ORDERS.values():
            taken = [names[number] for number in permutation(model, source, target)]
            assert taken == [joint.name for joint in ordered_joints(model, target)]


def test_an_unknown_order_names_the_nearest() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'mujoco'"):
        joint_order("mujoko")


@pytest.mark.parametrize("kind", [JointType.CONTINUOUS, JointType.PLANAR, JointType.FLOATING, JointType.PRISMATIC])
def test_pinocchio_has_as_many_numbers_of_each_joint(kind: JointType) -> None:
    pinocchio = pytest.importorskip("pinocchio")
    text = f"""<robot name="r"><link name="a">{INERTIAL}</link><link name="b">{INERTIAL}</link>
      <joint name="j" type="{kind.value}"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/>
      <limit lower="-1" upper="1" effort="1" velocity="1"/></joint></robot>"""
    joint = robot_from_text(text, strict=False).joint("j")
    other: Any = pinocchio.buildModelFromXML(text)
    order = joint_order("pinocchio")
    assert (len(position_components(joint, order)), len(velocity_components(joint, order))) == (other.nq, other.nv)


@pytest.mark.parametrize("order", ORDERS)
def test_only_pinocchio_has_cosine_and_sine_of_an_angle_without_limits(order: str) -> None:
    text = """<robot name="r"><link name="a"/><link name="b"/>
    <joint name="j" type="continuous"><parent link="a"/><child link="b"/></joint></robot>"""
    (joint,) = ordered_joints(robot_from_text(text), ORDERS[order])
    expected = [("j/cos", "1"), ("j/sin", "1")] if order == "pinocchio" else [("j", "rad")]
    assert position_components(joint, ORDERS[order]) == expected
    assert velocity_components(joint, ORDERS[order]) == [("j", "rad/s")]


def test_a_chain_deeper_than_pythons_recursion_has_an_order() -> None:
    count = 3000
    links = "".join(f'<link name="l{at}"/>' for at in range(count))
    joints = "".join(
        f'<joint name="j{at}" type="continuous"><parent link="l{at}"/><child link="l{at + 1}"/></joint>'
        for at in range(count - 1)
    )
    model = robot_from_text(f'<robot name="r">{links}{joints}</robot>')
    for order in ORDERS.values():
        assert len(ordered_joints(model, order)) == count - 1
    np.testing.assert_array_equal(permutation(model, ORDERS["urdf"], ORDERS["isaacsim"]), np.arange(count - 1))
