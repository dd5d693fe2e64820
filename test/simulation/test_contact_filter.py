# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Pairs of links that are never tested against each other, for each rule separately."""

from __future__ import annotations

from robot_semantics import RobotModel
from robot_semantics.base.names import LinkPair
from robot_semantics.model.loading import robot_from_text
from robot_semantics.model.rigid_bodies import rigid_bodies
from robot_semantics.simulation.sim_models import excluded_pairs

LIMIT = '<limit lower="-1" upper="1" effort="1" velocity="1"/>'

BOX = '<collision><geometry><box size="1 1 1"/></geometry></collision>'


def chain(srdf: str | None) -> RobotModel:
    """Return a - b = c - d - e, where = is a fixed joint."""
    joints = (("ab", "revolute", LIMIT), ("bc", "fixed", ""), ("cd", "revolute", LIMIT), ("de", "revolute", LIMIT))
    text = '<robot name="r">' + "".join(f'<link name="{name}">{BOX}</link>' for name in "abcde")
    for name, kind, limit in joints:
        ends = f'<parent link="{name[0]}"/><child link="{name[1]}"/>'
        text += f'<joint name="{name}" type="{kind}">{ends}{limit}</joint>'
    semantic = None if srdf is None else f'<robot name="r">{srdf}</robot>'
    return robot_from_text(text + "</robot>", semantic, strict=False)


def excluded(srdf: str | None) -> set[str]:
    return {"".join(pair) for pair in excluded_pairs(chain(srdf), range(5))}


ADJACENT = {"ab", "ac", "bc", "bd", "cd", "de"}


def test_links_on_fixed_joints_are_one_body() -> None:
    assert rigid_bodies(chain("")) == (0, 1, 1, 3, 4)


def test_one_body_and_bodies_that_a_joint_connects() -> None:
    assert excluded("") == ADJACENT


def test_a_pair_that_the_srdf_disables() -> None:
    assert excluded('<disable_collisions link1="e" link2="a" reason="Never"/>') == ADJACENT | {"ae"}


def test_a_link_that_is_disabled_by_default_but_for_what_is_enabled() -> None:
    srdf = '<disable_default_collisions link="e"/><enable_collisions link1="a" link2="e"/>'
    assert excluded(srdf) == ADJACENT | {"be", "ce"}


def test_without_an_srdf_all() -> None:
    assert len(excluded(None)) == 10


def test_only_the_links_that_are_asked_for() -> None:
    assert excluded_pairs(chain(""), (0, 1, 4)) == (LinkPair("a", "b"),)
