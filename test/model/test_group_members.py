# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Groups are made in the order of MoveIt's passes, and chains are the paths through the tree."""

from __future__ import annotations

import random

import networkx as nx  # type: ignore[import-untyped]

from robot_semantics import Diagnostics, RobotModel
from robot_semantics.model.groups import chain_members
from robot_semantics.model.loading import robot_from_text

LINKS = 12


def random_urdf(rng: random.Random) -> str:
    joints = "".join(
        f'<joint name="j{at}" type="continuous"><parent link="l{rng.randrange(at)}"/><child link="l{at}"/></joint>'
        for at in range(1, LINKS)
    )
    links = "".join(f'<link name="l{at}"/>' for at in range(LINKS))
    return f'<robot name="r">{links}{joints}</robot>'


def group_text(name: str, joints: set[str], subgroups: list[str]) -> str:
    members = [*(f'<joint name="{joint}"/>' for joint in joints), *(f'<group name="{sub}"/>' for sub in subgroups)]
    return f'<group name="{name}">{"".join(members)}</group>'


def passes(groups: list[tuple[str, set[str], list[str]]]) -> dict[str, set[str]]:
    """Return the groups as MoveIt makes them: pass after pass over those whose sub-groups are all there."""
    made: dict[str, set[str]] = {}
    processed: set[int] = set()
    added = True
    while added:
        added = False
        for number, (name, joints, subgroups) in enumerate(groups):
            if number not in processed and all(subgroup in made for subgroup in subgroups):
                added = True
                processed.add(number)
                members = joints.union(*(made[subgroup] for subgroup in subgroups))
                if members and name not in made:
                    made[name] = members
    return made


def test_groups_are_made_in_the_order_of_moveits_passes() -> None:
    rng = random.Random(11)
    urdf = random_urdf(rng)
    kept = dropped = 0
    for _ in range(400):
        names = [f"g{at}" for at in range(rng.randint(1, 6))]
        groups = []
        for _ in range(rng.randint(1, 9)):
            joints = {f"j{rng.randrange(1, LINKS)}" for _ in range(rng.randrange(3))}
            groups.append((rng.choice(names), joints, [rng.choice(names) for _ in range(rng.choice((0, 0, 1, 2)))]))
        text = "".join(group_text(*group) for group in groups)
        model = robot_from_text(urdf, f'<robot name="r">{text}</robot>', strict=False, diagnostics=Diagnostics())
        found = {name: set(group.joints) for name, group in model.semantics.groups.items()}
        expected = passes(groups)
        assert found == expected, text
        kept += len(expected)
        dropped += len(groups) - len(expected)
    assert kept > 400
    assert dropped > 400


def test_a_chain_is_the_path_between_its_ends_and_the_joint_above_the_bend() -> None:
    rng = random.Random(12)
    bent = 0
    for _ in range(20):
        model = robot_from_text(random_urdf(rng))
        graph = nx.Graph([(model.links[link.parent].name, link.name) for link in model.links if link.parent >= 0])
        for base in model.link_names:
            for tip in model.link_names:
                path = nx.shortest_path(graph, base, tip)
                top = min(path, key=lambda link: nx.shortest_path_length(graph, model.root_link, link))
                expected = {joint_above(model, link) for link in path if link != top}
                if top != base:
                    expected.add(joint_above(model, top))
                    bent += 1
                found = {model.joints[index].name for index in chain_members(model, base, tip)}
                assert found == expected, (base, tip)
    assert bent > 500


def joint_above(model: RobotModel, link: str) -> str:
    return model.joints[model.link(link).index].name
