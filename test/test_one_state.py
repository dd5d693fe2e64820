# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""One state, one meaning: every consumer of a state gives the same answer, or names the items that it does not use.

Random worlds go through every consumer in `test.support.state_consumers`; the expected results are known in advance.
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from support.random_worlds import RandomWorld, motion, pose_of, random_world
from support.state_consumers import CONSUMERS, Answer, RefusedError

from robot_semantics import WorldState
from robot_semantics.usdf.world_state import JointState, ModelState

TOLERANCE = 1e-9
ALL = float(os.environ.get("LONGER", "1")) > 1.0
CASES = [
    pytest.param(name, seed, marks=consumer.marks, id=f"{name}-{seed}")
    for name, consumer in CONSUMERS.items()
    for seed in range(consumer.worlds if ALL else max(consumer.worlds // 2, min(consumer.worlds, 14)))
]
"""At least two worlds with each fault; all worlds in `make soak`."""


@pytest.mark.parametrize(("name", "seed"), CASES)
def test_every_consumer_answers_what_the_state_says_or_names_what_it_refuses(
    name: str, seed: int, tmp_path: Path
) -> None:
    world, consumer = random_world(seed), CONSUMERS[name]
    try:
        answer = consumer.run(world.state, world.robots, tmp_path)
    except RefusedError as refusal:
        assert_names_what_is_wrong(world, refusal)
        return
    if consumer.puts:
        assert not world.must, f"taken, though it cannot be: {sorted(world.must)}"
    assert_agrees(world, answer)
    if consumer.says_ages:
        assert_says_ages(world, answer)


def assert_names_what_is_wrong(world: RandomWorld, refusal: RefusedError) -> None:
    wrong = world.must | world.may
    for item in refusal.items:
        assert any(item.startswith(f"{subject}: ") for subject in wrong), f"refused for no reason: {item}"
    for subject in world.must:
        assert any(item.startswith(f"{subject}: ") for item in refusal.items), f"not named: {subject}"
    assert refusal.items


def assert_agrees(world: RandomWorld, answer: Answer) -> None:
    spoiled = {subject for subject in world.must | world.may if ": joint" in subject or ": link" in subject}
    for model, links in world.T_world_link.items():
        found = answer[model]["T_world_link"]
        for link, T in links.items():
            if not any(subject.startswith(f"model '{model}':") for subject in spoiled):
                np.testing.assert_allclose(found[link], T, rtol=0, atol=TOLERANCE, err_msg=f"{model}::{link}")
    for key in ("positions", "velocities"):
        expected = getattr(world, key)
        for model, rows in expected.items():
            found = answer[model].get(key, {})
            for joint, row in rows.items() if found else ():
                if f"model '{model}': joint '{joint}'" in spoiled:
                    # It is stated to be elsewhere: who only looks may say so too.
                    continue
                assert_same_row(found[joint], row, f"{model}/{joint} {key}")
    for model, twist in world.base_twist.items():
        if "base_twist" in answer[model]:
            np.testing.assert_allclose(answer[model]["base_twist"], twist, rtol=0, atol=TOLERANCE, err_msg=model)


def assert_says_ages(world: RandomWorld, answer: Answer) -> None:
    for model in world.state.models:
        aged = {joint.name: joint.age_ns for joint in model.joints} | {"pose": model.age_ns}
        lines = [line for line in answer[model.name]["said"] if "older than" in line or "the age of" in line]
        said = [line for line in lines if f"'{model.name}'" in line]
        for name, age_ns in aged.items():
            if age_ns:
                # A recording names old values; commands that restore a state also state the age.
                amount = (f"{age_ns * 1e-9:.9g} s", "cannot be stored in a recording")
                named = [line for line in said if f"'{name}'" in line or name == "pose"]
                assert any(word in line for line in named for word in amount), f"{model.name}: {name} {age_ns}: {said}"


def assert_same_row(found: object, expected: np.ndarray, what: str) -> None:
    row = np.ravel(np.asarray(found, dtype=np.float64))
    if len(expected) == 7:
        # Two quaternions are one rotation.
        row, expected = (motion("floating", np.zeros(3), np.asarray(q)) for q in (row, expected))
    np.testing.assert_allclose(row, expected, rtol=0, atol=TOLERANCE, err_msg=what)


@pytest.mark.parametrize("name", [pytest.param(name, marks=consumer.marks) for name, consumer in CONSUMERS.items()])
def test_what_a_link_carries_is_where_the_joints_put_the_link(name: str, tmp_path: Path) -> None:
    cup = '<virtual_joint name="free" type="floating" parent_frame="world" child_link="cup"/>'
    robots: dict[str, tuple[str, str | None]] = {
        "cart": (CART, None),
        "cup": ('<robot name="cup"><link name="cup"/></robot>', f'<robot name="cup">{cup}</robot>'),
    }
    x, z = np.array((1.0, 0.0, 0.0)), np.array((0.0, 0.0, 1.0))
    T_world_cart = motion("planar", z, np.array((5.0, 1.0, 0.5)))
    T_hand_cup = motion("planar", z, np.array((0.1, 0.0, 1.0)))
    cart = ModelState("cart", "world", pose_of(T_world_cart), joints=(JointState("slide", (0.5,)),))
    held = ModelState("cup", "cart", pose_of(T_hand_cup), parent_link="hand")
    answer = CONSUMERS[name].run(WorldState("w", (cart, held), time_ns=1_000_000_000), robots, tmp_path)
    T_cart_hand = motion("prismatic", z, np.array((1.0,))) @ motion("prismatic", x, np.array((0.5,)))
    expected = T_world_cart @ T_cart_hand @ T_hand_cup
    np.testing.assert_allclose(answer["cup"]["T_world_link"]["cup"], expected, rtol=0, atol=TOLERANCE)


CART = """<robot name="cart"><link name="base"/><link name="hand"/>
<joint name="slide" type="prismatic"><parent link="base"/><child link="hand"/><origin xyz="0 0 1"/>
 <axis xyz="1 0 0"/><limit lower="0" upper="1" effort="1" velocity="1"/></joint></robot>"""


def test_the_random_worlds_are_of_every_kind() -> None:
    worlds = [random_world(seed) for seed in range(140)]
    parents = {model.parent.rstrip("0123456789") for world in worlds for model in world.state.models}
    assert parents == {"world", "frame_", "m"}
    assert sum(bool(world.must) for world in worlds) > 30
    assert sum(not world.must and not world.may for world in worlds) > 30
    models = [model for world in worlds for model in world.state.models]
    for joints, links in ((False, False), (True, False), (False, True), (True, True)):
        assert any((bool(model.joints), bool(model.links)) == (joints, links) for model in models)
    assert any(model.pose is None for model in models)
    assert any(model.age_ns for model in models)
    assert any(joint.age_ns for model in models for joint in model.joints)
    assert sum(text.count("<mimic") for world in worlds for text, _ in world.robots.values()) > 20
    assert any(model.twist is None for model in models)
    bases = {text for world in worlds for _, srdf in world.robots.values() for text in (srdf or "none",)}
    assert all(any(kind in text for text in bases) for kind in ("none", "fixed", "planar", "floating"))
