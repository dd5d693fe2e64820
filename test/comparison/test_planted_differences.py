# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Real robots with one planted difference each: it is found, it has the right kind and name, and nothing else is found.

`make soak` plants ten times as many.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from copy import deepcopy
from functools import cache
from typing import NamedTuple

import numpy as np
import pytest
from lxml import etree
from scipy.spatial.transform import Rotation
from support.urdf_trees import (
    ROBOTS,
    SHARE,
    axis_of,
    end,
    joints_of,
    link_called,
    model_of,
    pose_of,
    set_axis,
    set_pose,
    tree_of,
)

from robot_semantics import RobotModel
from robot_semantics.comparison.robots import compare_robots

pytestmark = pytest.mark.skipif(not SHARE.is_dir(), reason="example-robot-data is not installed")
SEEDS = int(float(os.environ.get("LONGER", "1")))


class Planted(NamedTuple):
    """A planted difference: its kind, the joint or link, and further names that it may be reported with."""

    kind: str
    name: str
    also: frozenset[str] = frozenset()


def move_origin(root: etree._Element, rng: random.Random) -> Planted:
    joint = rng.choice(joints_of(root, "revolute", "continuous", "prismatic", "fixed"))
    T = pose_of(joint)
    T[:3, 3] += rng.choice((-1, 1)) * 0.04 * np.eye(3)[rng.randrange(3)]
    set_pose(joint, T)
    return Planted("joint_origin", str(joint.get("name")))


def turn_origin(root: etree._Element, rng: random.Random) -> Planted:
    joint = rng.choice(joints_of(root, "revolute", "continuous", "prismatic", "fixed"))
    T = pose_of(joint)
    T[:3, :3] = T[:3, :3] @ Rotation.from_rotvec([0.1, 0.2, 0.3]).as_matrix()
    set_pose(joint, T)
    return Planted("joint_origin", str(joint.get("name")))


def turn_axis(root: etree._Element, rng: random.Random) -> Planted:
    joint = rng.choice(joints_of(root, "revolute", "continuous", "prismatic"))
    set_axis(joint, np.roll(axis_of(joint), 1) if rng.random() < 0.5 else -axis_of(joint))
    return Planted("joint_axis", str(joint.get("name")))


def change_limit(root: etree._Element, rng: random.Random) -> Planted:
    joint = rng.choice([joint for joint in joints_of(root, "revolute", "prismatic") if joint.find("limit") is not None])
    limit = joint.find("limit")
    assert limit is not None
    word = rng.choice(("upper", "velocity", "effort"))
    limit.set(word, repr(float(limit.get(word, "0")) + 0.5))
    return Planted("limit", str(joint.get("name")))


def change_type(root: etree._Element, rng: random.Random) -> Planted:
    joint = rng.choice(joints_of(root, "revolute"))
    joint.set("type", "prismatic")
    return Planted("joint_type", str(joint.get("name")))


def heavy_link(root: etree._Element, rng: random.Random) -> etree._Element:
    return rng.choice([link for link in root.iterchildren("link") if link.find("inertial/mass") is not None])


def change_mass(root: etree._Element, rng: random.Random) -> Planted:
    link = heavy_link(root, rng)
    mass = link.find("inertial/mass")
    assert mass is not None
    mass.set("value", repr(1.1 * float(mass.get("value", "0")) + 0.1))
    return Planted("mass", str(link.get("name")))


def move_mass(root: etree._Element, rng: random.Random) -> Planted:
    link = heavy_link(root, rng)
    inertial = link.find("inertial")
    assert inertial is not None
    T = pose_of(inertial)
    T[1, 3] += 0.01
    set_pose(inertial, T)
    return Planted("centre_of_mass", str(link.get("name")))


def change_inertia(root: etree._Element, rng: random.Random) -> Planted:
    link = heavy_link(root, rng)
    inertia = link.find("inertial/inertia")
    assert inertia is not None
    inertia.set("iyy", repr(2.0 * float(inertia.get("iyy", "0")) + 0.1))
    return Planted("inertia", str(link.get("name")))


def move_geometry(root: etree._Element, rng: random.Random) -> Planted:
    link = rng.choice([link for link in root.iterchildren("link") if link.find("collision") is not None])
    collision = rng.choice(link.findall("collision"))
    T = pose_of(collision)
    T[2, 3] += 0.02
    set_pose(collision, T)
    return Planted("geometry", str(link.get("name")))


def change_dynamics(root: etree._Element, rng: random.Random) -> Planted:
    joint = rng.choice(joints_of(root, "revolute", "continuous", "prismatic"))
    dynamics = joint.find("dynamics")
    if dynamics is None:
        dynamics = etree.SubElement(joint, "dynamics")
    word = rng.choice(("damping", "friction"))
    dynamics.set(word, repr(float(dynamics.get(word, "0")) + 0.25))
    return Planted("dynamics", str(joint.get("name")))


def follow(root: etree._Element, rng: random.Random) -> Planted:
    """Give a joint a leader, or its mimic another multiplier."""
    joint, leader = rng.sample([joint for joint in joints_of(root, "revolute") if joint.find("mimic") is None], 2)
    followers = [joint for joint in joints_of(root, "revolute", "prismatic") if joint.find("mimic") is not None]
    if followers and rng.random() < 0.5:
        joint = rng.choice(followers)
        mimic = joint.find("mimic")
        assert mimic is not None
        mimic.set("multiplier", repr(float(mimic.get("multiplier", "1")) + 0.5))
    else:
        # A leader that follows would have its own leader as the final one.
        if any(mimic.get("joint") == joint.get("name") for mimic in root.iter("mimic")):
            raise IndexError
        etree.SubElement(joint, "mimic", joint=str(leader.get("name")))
    return Planted("mimic", str(joint.get("name")))


def below(root: etree._Element, link: str) -> set[str]:
    """Return a link and all links that it carries."""
    found = {link}
    for joint in root.iterchildren("joint"):
        if end(joint, "parent") == link:
            found |= below(root, end(joint, "child"))
    return found


def reparent(root: etree._Element, rng: random.Random) -> Planted:
    joint = rng.choice(joints_of(root, "revolute", "continuous", "prismatic", "fixed"))
    own = below(root, end(joint, "child")) | {end(joint, "parent")}
    links = [str(link.get("name")) for link in root.iterchildren("link") if link.get("name") not in own]
    parent = joint.find("parent")
    assert parent is not None
    parent.set("link", rng.choice(links))
    return Planted("joint_parent", str(joint.get("name")))


def remove_leaf(root: etree._Element, rng: random.Random) -> Planted:
    followed = {mimic.get("joint") for mimic in root.iter("mimic")}
    parents = {end(joint, "parent") for joint in root.iterchildren("joint")}
    joint = rng.choice(
        [j for j in root.iterchildren("joint") if end(j, "child") not in parents and j.get("name") not in followed]
    )
    link = end(joint, "child")
    root.remove(joint)
    root.remove(link_called(root, link))
    return Planted("link_removed", link, frozenset({str(joint.get("name"))}))


def add_leaf(root: etree._Element, rng: random.Random) -> Planted:
    parent = str(rng.choice(list(root.iterchildren("link"))).get("name"))
    etree.SubElement(root, "link", name="planted_link")
    joint = etree.SubElement(root, "joint", name="planted_joint", type="fixed")
    etree.SubElement(joint, "parent", link=parent)
    etree.SubElement(joint, "child", link="planted_link")
    return Planted("link_added", "planted_link", frozenset({"planted_joint"}))


def solid_link(root: etree._Element, rng: random.Random) -> etree._Element:
    return rng.choice([link for link in root.iterchildren("link") if link.find("collision") is not None])


def change_size(root: etree._Element, rng: random.Random) -> Planted:
    link = solid_link(root, rng)
    shape = rng.choice(list(link.iterfind("collision/geometry/*")))
    word = {"box": "size", "sphere": "radius", "cylinder": "length", "mesh": "scale"}[str(shape.tag)]
    shape.set(word, " ".join(repr(1.1 * float(number)) for number in shape.get(word, "1 1 1").split()))
    return Planted("geometry", str(link.get("name")))


def remove_geometry(root: etree._Element, rng: random.Random) -> Planted:
    link = solid_link(root, rng)
    link.remove(rng.choice(link.findall("collision")))
    return Planted("geometry", str(link.get("name")))


MUTATIONS = (
    *(move_origin, turn_origin, turn_axis, change_limit, change_type, change_dynamics, follow, reparent),
    *(change_mass, move_mass, change_inertia, move_geometry, change_size, remove_geometry, remove_leaf, add_leaf),
)


@pytest.fixture(scope="module")
def planted() -> dict[str, int]:
    """Numbers of planted differences by kind of mutation."""
    return {}


@cache
def original(name: str) -> tuple[etree._Element, RobotModel]:
    """Return a robot without a difference; its tree is copied before a change."""
    root = tree_of(name)
    return root, model_of(root)


@pytest.mark.parametrize("mutate", MUTATIONS)
def test_every_planted_difference_is_found_and_named(
    mutate: Callable[[etree._Element, random.Random], Planted], planted: dict[str, int]
) -> None:
    for number, name in enumerate(ROBOTS):
        root, model = original(name)
        for seed in range(SEEDS):
            changed = deepcopy(root)
            try:
                difference = mutate(changed, random.Random(100 * number + seed))
            except (IndexError, ValueError):
                continue  # the robot has no such part
            found = compare_robots(model, model_of(changed)).differences
            assert difference[:2] in {(item.kind, item.name) for item in found}, (name, seed, found)
            assert {item.name for item in found} <= {difference.name, *difference.also}, (name, seed, found)
            planted[mutate.__name__] = planted.get(mutate.__name__, 0) + 1


def test_enough_differences_were_planted(planted: dict[str, int]) -> None:
    if len(planted) == len(MUTATIONS):
        assert sum(planted.values()) > 300 * SEEDS, planted
