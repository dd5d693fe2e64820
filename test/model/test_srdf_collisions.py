# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Spheres, pairs and properties of an SRDF come out as srdfdom reads them."""

from __future__ import annotations

from robot_semantics import Diagnostics
from robot_semantics.base.names import LinkPair
from robot_semantics.model.loading import robot_from_text
from robot_semantics.model.semantics import Semantics

URDF = """<robot name="r"><link name="a"/><link name="b"/><link name="c"/><link name="d"/>
  <joint name="j" type="fixed"><parent link="a"/><child link="b"/></joint>
  <joint name="k" type="fixed"><parent link="a"/><child link="c"/></joint>
  <joint name="l" type="fixed"><parent link="a"/><child link="d"/></joint></robot>"""


def semantics_of(body: str) -> Semantics:
    return robot_from_text(URDF, f'<robot name="r">{body}</robot>', strict=False, diagnostics=Diagnostics()).semantics


def test_spheres_without_a_radius_count_only_where_there_is_no_other() -> None:
    spheres = semantics_of(
        """<link_sphere_approximation link="a"><sphere center="1 2 3" radius="0"/><sphere center="4 5 6" radius="7"/>
             <sphere center="1 1 1" radius="0"/></link_sphere_approximation>
           <link_sphere_approximation link="b"><sphere center="1 2 3" radius="0"/><sphere center="1 2 4" radius="0"/>
             </link_sphere_approximation>
           <link_sphere_approximation link="c"/>
           <link_sphere_approximation link="nope"><sphere center="1 2 3" radius="1"/></link_sphere_approximation>
           <link_sphere_approximation link="d"><sphere center="x" radius="1"/><sphere center="0 0 1" radius="2"/>
             </link_sphere_approximation>"""
    ).link_spheres
    found = {link: [(*sphere.center, sphere.radius) for sphere in listed] for link, listed in spheres.items()}
    assert found == {"a": [(4, 5, 6, 7)], "b": [(0, 0, 0, 0)], "d": [(0, 0, 1, 2)]}


def test_pairs_have_no_direction_and_keep_their_first_reason() -> None:
    semantics = semantics_of(
        """<disable_collisions link1="b" link2="a" reason="Adjacent"/>
           <disable_collisions link1="a" link2="b" reason="Never"/>
           <disable_collisions link1="a" link2="nope" reason="Never"/>
           <disable_collisions link1="c" link2="a"/>
           <enable_collisions link1="d" link2="c"/>
           <disable_default_collisions link="d"/><disable_default_collisions link="nope"/>"""
    )
    assert semantics.disabled_collisions == {LinkPair("a", "b"): "Adjacent", LinkPair("a", "c"): ""}
    assert semantics.enabled_collisions == {LinkPair("c", "d")}
    assert semantics.default_disabled_links == ("d",)


def test_properties_of_a_joint_are_kept_as_text_and_the_last_one_counts() -> None:
    properties = semantics_of(
        """<joint_property joint_name="j" property_name="weight" value="0.5"/>
           <joint_property joint_name="j" property_name="weight" value=" 1 "/>
           <joint_property joint_name="nope" property_name="weight" value="1"/>
           <joint_property joint_name="k" property_name="motion_model" value="diff_drive"/>"""
    ).joint_properties
    assert {joint: dict(values) for joint, values in properties.items()} == {
        "j": {"weight": " 1 "},
        "k": {"motion_model": "diff_drive"},
    }
