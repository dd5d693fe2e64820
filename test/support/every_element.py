# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Documents with every element and attribute of the three tables and of the YAML sections, and a second value of each.

A row is an attribute or a text at its path, such as ``robot/joint/limit@lower``. Rows come from the tables, so that a
new attribute has no row in its document until it is added here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from lxml import etree

from robot_semantics.srdf.table import SRDF
from robot_semantics.urdf.table import URDF
from robot_semantics.usdf.table import NAMESPACE, USDF
from robot_semantics.xml.schema import Element, FormatTable

_INERTIAL = (
    '<inertial><origin xyz="0.01 0 0" rpy="0.1 0 0"/><mass value="{}"/>'
    '<inertia ixx="0.02" ixy="0.001" ixz="0.001" iyy="0.03" iyz="0.001" izz="0.04"/></inertial>'
)
_SHAPES = (
    '<box size="0.1 0.1 0.1"/>',
    '<cylinder radius="0.05" length="0.1"/>',
    '<capsule radius="0.05" length="0.1"/>',
    '<sphere radius="0.05"/>',
    '<mesh filename="one.stl" scale="1 1 1"/>',
)
_PLACE = '<origin xyz="{} 0 0" rpy="0 0.1 0"/>'


def _link(name: str, shapes: str = "") -> str:
    return f'<link name="{name}">{_INERTIAL.format(1.0)}{shapes}</link>'


_VISUALS = "".join(
    f'<visual name="v{at}">{_PLACE.format(0.1 * at)}<geometry>{shape}</geometry>'
    '<material name="red"><color rgba="1 0 0 1"/><texture filename="one.png"/></material></visual>'
    f'<collision name="c{at}">{_PLACE.format(0.1 * at)}<geometry>{shape}</geometry></collision>'
    for at, shape in enumerate(_SHAPES)
)
_BALL = (
    '<visual><geometry><sphere radius="0.02"/></geometry><material name="red"/></visual>'
    '<collision><geometry><sphere radius="0.02"/></geometry></collision>'
)
_QUATERNION = '<origin xyz="0 0 0.1" quat_xyzw="0 0 0.6 0.8"/>'
_TURNED = (
    f'<link name="e">{_INERTIAL.format(0.5)}<visual name="v">{_QUATERNION}<geometry>{_SHAPES[0]}</geometry></visual>'
    f'<collision name="c">{_QUATERNION}<geometry>{_SHAPES[0]}</geometry></collision></link>'
).replace('<origin xyz="0.01 0 0" rpy="0.1 0 0"/>', _QUATERNION)
_LIMIT = (
    '<limit lower="-1" upper="1.5" effort="20" velocity="3" acceleration="4" deceleration="5" jerk="6"/>'
    '<dynamics damping="0.5" friction="0.2"/>'
    '<safety_controller k_velocity="10" k_position="11" soft_lower_limit="-0.8" soft_upper_limit="1.2"/>'
    '<calibration rising="0.1" falling="0.2" reference_position="0.3"/>'
)
URDF_TEXT = f"""<robot name="r" version="1.2">
<material name="red"><color rgba="1 0 0 1"/><texture filename="one.png"/></material>
{_link("a", _VISUALS)}{_link("b", _BALL)}{_link("c", _BALL)}{_link("d", _BALL)}{_TURNED}
<joint name="j" type="revolute"><origin xyz="0 0 0.5" rpy="0.1 0 0"/><parent link="a"/><child link="b"/>
<axis xyz="0 0.6 0.8"/>{_LIMIT}</joint>
<joint name="k" type="revolute"><origin xyz="0.5 0 0" quat_xyzw="0 0 0.6 0.8"/><parent link="b"/><child link="c"/>
<axis xyz="0 1 0"/>{_LIMIT}<mimic joint="j" multiplier="0.5" offset="0.1"/></joint>
<joint name="l" type="floating"><origin xyz="0 1 0"/><parent link="a"/><child link="d"/></joint>
<joint name="m" type="floating"><origin xyz="0 2 0"/><parent link="a"/><child link="e"/></joint>
<constraint name="n" type="link"><parent link="c"/><parent_origin xyz="0.2 0 0" rpy="0.1 0 0"/>
<child link="d"/><child_origin xyz="0.1 0 0" quat_xyzw="0 0 0.6 0.8"/>
<parent_axis xyz="0 0 1"/><child_axis xyz="0 1 0"/></constraint>
<constraint name="o" type="link"><parent link="b"/><parent_origin xyz="0.2 0 0" quat_xyzw="0 0 0.6 0.8"/>
<child link="e"/><child_origin xyz="0.1 0 0" rpy="0.1 0 0"/>
<parent_axis xyz="0 1 0"/><child_axis xyz="0 0 1"/></constraint>
</robot>"""

_SHAFTS = "".join(
    f"""<joint name="{joint}" type="continuous"><origin xyz="0 0 0.5" rpy="{tilt} 0 0"/><parent link="a"/>
<child link="{link}"/><axis xyz="0 0.6 0.8"/></joint>
<constraint name="{name}" type="universal"><parent link="b"/><child link="{link}"/>
<parent_axis xyz="1 0 0"/><child_axis xyz="0 0.8 -0.6"/></constraint>"""
    for joint, link, name, tilt in (("l", "d", "n", 0.4), ("m", "e", "o", -0.3))
)
AXES_TEXT = re.sub(r'<joint name="l".*</constraint>', _SHAFTS, URDF_TEXT, flags=re.DOTALL)
"""The robot with two shafts that universal joints turn with its first: only these constraints have two axes."""

SRDF_TEXT = """<robot name="r" version="1">
<virtual_joint name="v" type="planar" parent_frame="odom" child_link="a"/>
<passive_joint name="l"/><passive_joint name="m"/>
<group name="arm"><joint name="j"/><link name="c"/><chain base_link="a" tip_link="b"/><group name="extra"/></group>
<group name="extra"><joint name="l"/><link name="c"/></group>
<group name="hand"><link name="e"/></group>
<group name="base"><joint name="v"/></group>
<group_state name="home" group="arm"><joint name="j" value="0.5"/></group_state>
<end_effector name="tool" group="hand" parent_link="c" parent_group="arm"/>
<disable_collisions link1="c" link2="e" reason="User"/>
<enable_collisions link1="d" link2="b" reason="User"/>
<disable_default_collisions link="d"/>
<link_sphere_approximation link="a"><sphere center="0 0 0.1" radius="0.2"/></link_sphere_approximation>
<joint_property joint_name="j" property_name="p" value="1"/>
</robot>"""

USDF_TEXT = f"""<world_state name="w" xmlns:rs="{NAMESPACE}" rs:version="1" rs:time="1.500000000">
<rs:comment>one</rs:comment>
<model_state name="r" rs:description="r.urdf" rs:semantic="r.srdf" rs:hash="{"0" * 64}" rs:age="0.000000000">
<parent>odom</parent><pose rs:quaternion="0.0 0.0 0.6 0.8">1.0 2.0 0.0 0.0 0.0 1.2870022175866867</pose>
<twist>0.1 0.0 0.0 0.0 0.0 0.2</twist>
<link_state name="b"><pose rs:quaternion="0.0 0.0 0.0 1.0">0.0 0.0 0.5 0.0 0.0 0.0</pose>
<twist>0.1 0 0 0 0 0</twist><wrench>1 2 3 4 5 6</wrench></link_state>
<joint_state name="j" rs:age="0.000000000">
<positions>0.3</positions>
<velocities>0.2</velocities><torques>0.1</torques></joint_state>
</model_state>
<model_state name="cup" rs:description="cup.urdf" rs:parent_link="b">
<parent>r</parent><pose>0.1 0.0 0.0 0.0 0.0 0.0</pose>
<twist>0 0 0 0 0 0</twist></model_state>
<frame name="odom" rs:age="0.000000000"><parent>map</parent>
<pose rs:quaternion="0.0 0.0 0.0 1.0">1.0 0.0 0.0 0.0 0.0 0.0</pose>
<twist>0 0 0 0 0 0</twist></frame>
<frame name="spot" rs:parent_link="b"><parent>r</parent><pose>0.0 0.0 0.1 0.0 0.0 0.0</pose></frame>
<frame name="map"><pose>0.0 0.0 1.0 0.0 0.0 0.0</pose><twist>0 0 0 0 0 0</twist></frame>
<rs:engine name="other" version="1"><rs:array name="x">1.0 2.0</rs:array><rs:property name="p" value="q"/></rs:engine>
</world_state>"""

CUP_TEXT = f'<robot name="cup">{_link("cup")}</robot>'

TEXTS: dict[str, tuple[FormatTable[Any], str]] = {
    "urdf": (URDF, URDF_TEXT),
    "srdf": (SRDF, SRDF_TEXT),
    "usdf": (USDF, USDF_TEXT),
}

SECOND: dict[str, str] = {
    # URDF.
    "robot@name": "s",
    "robot@version": "1.1",
    "link@name": "zz",
    "visual@name": "other",
    "collision@name": "other",
    "mesh@filename": "two.stl",
    "mesh@scale": "2 2 2",
    "material@name": "blue",
    "visual/material@name": "green",
    "color@rgba": "0 1 0 1",
    "texture@filename": "two.png",
    "joint@name": "zz",
    "joint@type": "prismatic",
    "constraint@name": "zz",
    "constraint@type": "spherical",
    "joint/parent@link": "c",
    "constraint/parent@link": "a",
    "constraint/child@link": "b",
    "joint/child@link": "zz",
    "origin@quat_xyzw": "0 0 0.8 0.6",
    "parent_origin@quat_xyzw": "0 0 0.8 0.6",
    "child_origin@quat_xyzw": "0 0 0.8 0.6",
    "axis@xyz": "0 0 1",
    "parent_axis@xyz": "1 0.1 0",
    "child_axis@xyz": "0.1 0.8 -0.6",
    "mimic@joint": "zz",
    # SRDF.
    "robot/virtual_joint@type": "floating",
    "robot/virtual_joint@name": "w",
    "virtual_joint@parent_frame": "map",
    "virtual_joint@child_link": "b",
    "passive_joint@name": "k",
    "group@name": "zz",
    "group/joint@name": "m",
    "group/link@name": "d",
    "chain@base_link": "d",
    "chain@tip_link": "e",
    "group/group@name": "base",
    "group_state@name": "zz",
    "group_state@group": "base",
    "group_state/joint@name": "k",
    "group_state/joint@value": "0.6",
    "end_effector@name": "zz",
    "end_effector@group": "base",
    "end_effector@parent_link": "b",
    "end_effector@parent_group": "extra",
    "disable_collisions@link1": "d",
    "disable_collisions@link2": "a",
    "enable_collisions@link1": "c",
    "enable_collisions@link2": "e",
    "disable_collisions@reason": "Never",
    "enable_collisions@reason": "Never",
    "disable_default_collisions@link": "a",
    "link_sphere_approximation@link": "b",
    "sphere@center": "0 0 0.3",
    "joint_property@joint_name": "k",
    "joint_property@property_name": "q",
    "joint_property@value": "2",
    # USDF.
    "world_state@name": "v",
    "world_state@rs:version": "1.1",
    "world_state@rs:time": "2.500000000",
    "model_state@name": "zz",
    "model_state@rs:description": "other.urdf",
    "model_state@rs:semantic": "other.srdf",
    "model_state@rs:hash": "1" * 64,
    "@rs:age": "3.000000000",
    "@rs:parent_link": "c",
    "parent/text()": "world",
    "pose@rs:quaternion": "0.0 0.0 0.60000000000004 0.79999999999997",
    "link_state/pose@rs:quaternion": "0.0 0.0 1e-10 1.0",
    "frame/pose@rs:quaternion": "0.0 0.0 1e-10 1.0",
    "link_state@name": "c",
    "joint_state@name": "k",
    "frame@name": "zz",
    "rs:engine@name": "zz",
    "rs:engine@version": "2",
    "rs:array@name": "zz",
    "rs:property@name": "zz",
    "rs:property@value": "zz",
    "rs:comment/text()": "two",
    "model_state/pose/text()": "1.5 2.0 0.0 0.0 0.0 1.2870022175866867",
}
"""Second values, by the end of a row's path; the longest that fits is used. Other numbers are changed by a rule."""


class Row(NamedTuple):
    """One attribute, or the text, of an element at a path; `at` is its place in the table."""

    path: str
    name: str

    def __str__(self) -> str:
        return f"{self.path}/text()" if self.name == "text()" else f"{self.path}@{self.name}"


def rows(kind: str) -> Iterator[Row]:
    """Yield every attribute and text of a table."""

    def below(element: Element, path: str) -> Iterator[Row]:
        yield from (Row(path, name) for name in element.attributes if (element.tag, name) != ("color", "rgb"))
        if element.text is not None:
            yield Row(path, "text()")
        for tag, child in element.children.items():
            yield from below(child.element, f"{path}/{tag}")

    table = TEXTS[kind][0]
    yield from below(table.root, table.root.tag)


def text_of(kind: str, row: Row) -> str:
    """Return the document in which a row is changed."""
    return AXES_TEXT if kind == "urdf" and "_axis" in row.path else TEXTS[kind][1]


def changed(kind: str, row: Row, value: str | None = None) -> str:
    """Return the document with a second value at a row, or with `value`."""
    table, root = TEXTS[kind][0], etree.fromstring(text_of(kind, row).encode())
    spaces = {"rs": NAMESPACE}
    key = table.key(row.name)
    path = row.path.partition("/")[2]
    elements = root.findall(path, spaces) if path else [root]
    for element in elements:
        old = element.text if row.name == "text()" else element.get(key)
        if old is None:
            continue
        new = second(str(row), old) if value is None else value
        if row.name == "text()":
            element.text = new
        else:
            element.set(key, new)
        return etree.tostring(root).decode()
    raise AssertionError(f"the document of {kind} in test/support/every_element.py has no {row}")


def second(row: str, old: str) -> str:
    """Return another valid value of a row."""
    ends = [end for end in SECOND if row.endswith(end)]
    if ends:
        return SECOND[max(ends, key=len)]
    numbers = old.split()
    assert all(re.fullmatch(r"[-+]?[\d.]+", word) for word in numbers), f"{row} needs a second value"
    return " ".join((repr(1.1 * float(numbers[0]) + 0.01), *numbers[1:]))
