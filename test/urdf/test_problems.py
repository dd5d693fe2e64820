# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Every problem that a URDF can have: its message, its line and column, its path, and that it comes alone."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

import pytest
from support.marks import unmarked

import robot_semantics
from robot_semantics import DescriptionError, Diagnostic, Diagnostics, Severity
from robot_semantics.model.resolve import resolve_urdf
from robot_semantics.urdf.reader import parse_urdf

SOURCE = "<robot_description>"
INERTIA = '<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/>'
BOX = '<geometry><box size="1 1 1"/></geometry>'


def line_column(problem: Diagnostic) -> tuple[int, int]:
    return problem.place.line, problem.place.column


def robot(body: str, attributes: str = "", links: str = '<link name="base"/>\n  <link name="arm"/>') -> str:
    return f'<?xml version="1.0"?>\n<!-- ö -->\n<robot name="r"{attributes}>\n  {links}\n  {body}\n</robot>\n'


def joint(
    inner: str = "", kind: str = 'type="fixed"', name: str = "j", parent: str = "base", child: str = "arm"
) -> str:
    return f'<joint name="{name}" {kind}><parent link="{parent}"/><child link="{child}"/>{inner}</joint>'


def with_link(inner: str, attributes: str = "") -> str:
    return robot(
        f'{joint()}\n  <link name="tip">\n    {inner}\n  </link>\n  {joint(name="k", child="tip")}', attributes
    )


def revolute(limit: str, attributes: str = "") -> str:
    return robot(joint(limit, 'type="revolute"'), attributes)


LIMIT = '<limit lower="-1" upper="1" effort="1" velocity="1"/>'


BASE = '<link name="base"/>'


class Case(NamedTuple):
    code: str
    message: str
    text: str
    path: str = ""
    suggestion: str | None = None


ERRORS = [
    # By itself: numbers, attributes and elements that must be there.
    Case(
        "wrong-count",
        "attribute 'xyz' of <origin> should be 3 numbers, not 2: '0 0'",
        robot(joint('\n <origin §xyz="0 0"/>')),
        "/robot/joint[@name='j']/origin/@xyz",
    ),
    Case(
        "bad-number",
        "attribute 'rpy' of <origin> should be 3 numbers, but number 2 should be a number, not '1_0'",
        robot(joint('<origin xyz="0 0 0" §rpy="0 1_0 0"/>')),
        "/robot/joint[@name='j']/origin/@rpy",
    ),
    Case(
        "bad-number",
        "attribute 'lower' of <limit> should be a number, not 'nan'",
        revolute('<limit §lower="nan" upper="1" effort="1" velocity="1"/>'),
        "/robot/joint[@name='j']/limit/@lower",
    ),
    Case(
        "bad-number",
        "attribute 'upper' of <limit> is too large for a 64-bit float: '1e999'",
        revolute('<limit lower="0" §upper="1e999" effort="1" velocity="1"/>'),
        "/robot/joint[@name='j']/limit/@upper",
    ),
    Case(
        "bad-number",
        "attribute 'effort' of <limit> should not be negative, but is '-1'",
        revolute('<limit lower="0" upper="1" §effort="-1"/>', ' version="1.2"'),
        "/robot/joint[@name='j']/limit/@effort",
    ),
    Case(
        "wrong-count",
        "attribute 'rgba' of <color> should be 4 numbers, not 3: '1 0 0'",
        robot(joint() + '<material name="red"><color §rgba="1 0 0"/><texture filename="a.png"/></material>'),
        "/robot/material[@name='red']/color/@rgba",
    ),
    Case(
        "bad-number",
        "attribute 'radius' of <capsule> should be above 0, not '0'",
        with_link('<visual><geometry><capsule §radius="0" length="1"/></geometry></visual>', ' version="1.1"'),
        "/robot/link[@name='tip']/visual/geometry/capsule/@radius",
    ),
    Case(
        "bad-number",
        "attribute 'quat_xyzw' of <origin> is not an orientation: all four numbers are zero",
        robot(joint('<origin §quat_xyzw="0 0 0 0"/>'), ' version="1.1"'),
        "/robot/joint[@name='j']/origin/@quat_xyzw",
    ),
    Case(
        "missing-attribute",
        "<robot> has no attribute 'name'",
        '§<robot><link name="a"/></robot>',
        "/robot",
    ),
    Case("missing-attribute", "<link> has no attribute 'name'", robot(joint() + "\n §<link/>"), "/robot/link[3]"),
    Case(
        "missing-attribute",
        "<joint> has no attribute 'name'",
        robot('§<joint type="fixed"><parent link="base"/><child link="arm"/></joint>'),
        "/robot/joint",
    ),
    Case(
        "empty-name",
        "attribute 'name' of <joint> is empty",
        robot(joint(name="").replace("name", "§name")),
        "/robot/joint[@name='']/@name",
    ),
    Case(
        "missing-attribute",
        "<joint> has no attribute 'type'",
        robot("§" + joint(kind="")),
        "/robot/joint[@name='j']",
    ),
    Case(
        "missing-attribute",
        "<parent> has no attribute 'link'",
        robot('<joint name="j" type="fixed">§<parent/><child link="arm"/></joint>'),
        "/robot/joint[@name='j']/parent",
    ),
    Case(
        "missing-attribute",
        "<axis> has no attribute 'xyz'",
        robot(joint("§<axis/>", 'type="continuous"')),
        "/robot/joint[@name='j']/axis",
    ),
    Case(
        "missing-attribute",
        "<limit> has no attribute 'effort'",
        revolute('§<limit lower="0" upper="1" velocity="1"/>'),
        "/robot/joint[@name='j']/limit",
    ),
    Case(
        "missing-attribute",
        "<limit> has no attribute 'lower'",
        revolute('§<limit upper="1"/>', ' version="1.2"'),
        "/robot/joint[@name='j']/limit",
    ),
    Case(
        "missing-attribute",
        "<safety_controller> has no attribute 'k_velocity'",
        revolute(LIMIT + '§<safety_controller k_position="1"/>'),
        "/robot/joint[@name='j']/safety_controller",
    ),
    Case(
        "missing-attribute",
        "<mimic> has no attribute 'joint'",
        revolute(LIMIT + '§<mimic multiplier="1"/>'),
        "/robot/joint[@name='j']/mimic",
    ),
    Case(
        "missing-attribute",
        "<inertia> has no attribute 'iyz'",
        with_link('<inertial><mass value="1"/>§<inertia ixx="1" ixy="0" ixz="0" iyy="1" izz="1"/></inertial>'),
        "/robot/link[@name='tip']/inertial/inertia",
    ),
    Case(
        "missing-attribute",
        "<mesh> has no attribute 'filename'",
        with_link("<visual><geometry>§<mesh/></geometry></visual>"),
        "/robot/link[@name='tip']/visual/geometry/mesh",
    ),
    Case(
        "missing-element",
        "<joint> has no <child>",
        robot('§<joint name="j" type="fixed"><parent link="base"/></joint>'),
        "/robot/joint[@name='j']",
    ),
    Case(
        "missing-element",
        "<inertial> has no <mass>",
        with_link(f"§<inertial>{INERTIA}</inertial>"),
        "/robot/link[@name='tip']/inertial",
    ),
    Case(
        "missing-element",
        "<collision> has no <geometry>",
        with_link(f"<collision>{BOX}</collision>\n§<collision/>"),
        "/robot/link[@name='tip']/collision[2]",
    ),
    Case(
        "missing-element",
        "<geometry> has no shape; known are box, cylinder, capsule, sphere, mesh",
        with_link("<visual>§<geometry/></visual>"),
        "/robot/link[@name='tip']/visual/geometry",
    ),
    Case(
        "unknown-shape",
        "<cilinder> is not a known shape; known are box, cylinder, capsule, sphere, mesh",
        with_link('<visual><geometry>§<cilinder radius="1" length="1"/></geometry></visual>'),
        "/robot/link[@name='tip']/visual/geometry/cilinder",
        "cylinder",
    ),
    Case(
        "newer-version",
        "<capsule> needs version 1.1 of <robot>",
        with_link('<visual><geometry>§<capsule radius="1" length="1"/></geometry></visual>'),
        "/robot/link[@name='tip']/visual/geometry/capsule",
    ),
    Case(
        "two-orientations",
        "<origin> has both 'rpy' and 'quat_xyzw'; remove one of them",
        robot(joint('<origin rpy="0 0 0" §quat_xyzw="0 0 0 1"/>'), ' version="1.2"'),
        "/robot/joint[@name='j']/origin/@quat_xyzw",
    ),
    Case(
        "unknown-version",
        "attribute 'version' of <robot> is '2.0'; known are 1.0, 1.1, 1.2",
        robot(joint(), ' §version="2.0"'),
        "/robot/@version",
    ),
    Case(
        "mixed-dialects",
        "a joint must have either one <origin> or, in the two-origin form, one in <parent> and one in <child>",
        robot(
            '§<joint name="j" type="fixed"><origin/><parent link="base"><origin xyz="1 0 0"/></parent>'
            '<child link="arm"/></joint>'
        ),
        "/robot/joint[@name='j']",
    ),
    # Joints by themselves.
    Case(
        "unknown-joint-type",
        "joint 'j' is of unknown type 'revolut'",
        robot(joint(LIMIT, '§type="revolut"')),
        "/robot/joint[@name='j']/@type",
        "revolute",
    ),
    Case(
        "missing-limit",
        "revolute joint 'j' has no <limit>",
        robot("§" + joint(kind='type="revolute"')),
        "/robot/joint[@name='j']",
    ),
    Case(
        "missing-limit",
        "prismatic joint 'j' has no <limit>",
        robot("§" + joint(kind='type="prismatic"')),
        "/robot/joint[@name='j']",
    ),
    Case(
        "limits-crossed",
        "the lower limit 2 of joint 'j' is above the upper limit 1",
        revolute('<limit effort="1" velocity="1" §lower="2" upper="1"/>'),
        "/robot/joint[@name='j']/limit/@lower",
    ),
    Case(
        "limits-crossed",
        "the lower limit 0 of joint 'j' is above the upper limit -1",
        revolute('<limit effort="1" velocity="1" §upper="-1"/>'),
        "/robot/joint[@name='j']/limit/@upper",
    ),
    Case(
        "zero-axis",
        "the axis of joint 'j' is 0 0 0",
        robot(joint('<axis §xyz="0 0 0"/>', 'type="continuous"')),
        "/robot/joint[@name='j']/axis/@xyz",
    ),
    # Links and joints together.
    Case(
        "duplicate-name",
        "link 'arm' is declared twice, first on line 5",
        robot(joint() + '\n  <link §name="arm"/>'),
        "/robot/link[@name='arm'][2]/@name",
    ),
    Case(
        "duplicate-name",
        "joint 'j' is declared twice, first on line 6",
        robot(joint() + '\n  <link name="c"/>\n  ' + joint(child="c").replace("name", "§name", 1)),
        "/robot/joint[@name='j'][2]/@name",
    ),
    Case(
        "unknown-link",
        "joint 'j': parent link 'bose' does not exist",
        robot(joint(parent="bose").replace("link=", "§link=", 1), links='<link name="base"/>').replace(
            '<child link="arm"/>', '<child link="base"/>'
        ),
        "/robot/joint[@name='j']/parent/@link",
        "base",
    ),
    Case(
        "unknown-link",
        "joint 'k': child link 'naQQQme' does not exist",
        robot(joint() + "\n  " + joint(name="k", child="naQQQme").replace("<child ", "<child §")),
        "/robot/joint[@name='k']/child/@link",
    ),
    Case(
        "two-parents",
        "link 'arm' has two parents: 'base' by joint 'j' and 'c' by joint 'l'",
        robot(
            f'<link name="c"/>{joint()}{joint(name="k", child="c")}\n '
            + joint(name="l", parent="c").replace("<child ", "<child §")
        ),
        "/robot/joint[@name='l']/child/@link",
    ),
    Case(
        "several-roots",
        "the robot is not one tree: it has 2 root links, 'base' and 'alone'",
        robot(joint() + '\n  <link §name="alone"/>'),
        "/robot/link[@name='alone']/@name",
    ),
    Case("no-links", "the robot has no links", '§<robot name="r"/>', "/robot"),
    Case(
        "duplicate-name",
        "material 'red' is declared twice, first on line 6",
        robot(
            f'{joint()}<material name="red"><color rgba="1 0 0 1"/></material>\n'
            '<material §name="red"><color rgba="1 0 0 1"/></material>'
        ),
        "/robot/material[@name='red'][2]/@name",
    ),
    Case(
        "negative-mass",
        "the mass of link 'tip' is negative: -0.5 kg",
        with_link(f'<inertial><mass §value="-0.5"/>{INERTIA}</inertial>'),
        "/robot/link[@name='tip']/inertial/mass/@value",
    ),
    Case(
        "unknown-mimic",
        "joint 'j' mimics an unknown joint, 'finger_lef'",
        robot(
            joint(LIMIT + '<mimic §joint="finger_lef"/>', 'type="revolute"')
            + '<link name="f"/>'
            + joint(name="finger_left", child="f")
        ),
        "/robot/joint[@name='j']/mimic/@joint",
        "finger_left",
    ),
    Case(
        "mimic-cycle",
        "mimic joints follow each other in a circle: j → j",
        revolute(LIMIT + '<mimic §joint="j"/>'),
        "/robot/joint[@name='j']/mimic/@joint",
    ),
    Case(
        "mimic-cycle",
        "mimic joints follow each other in a circle: a → b → a",
        robot(
            '<link name="l2"/>\n'
            + joint(LIMIT + '<mimic §joint="b"/>', 'type="revolute"', name="a")
            + joint(LIMIT + '<mimic joint="a"/>', 'type="prismatic"', name="b", child="l2")
        ),
        "/robot/joint[@name='a']/mimic/@joint",
    ),
    Case(
        "mimic-mismatch",
        "joint 'j' (revolute) cannot mimic 'k' (fixed): their numbers of variables differ",
        robot(
            '<link name="l2"/>' + joint(LIMIT + '<mimic §joint="k"/>', 'type="revolute"') + joint(name="k", child="l2")
        ),
        "/robot/joint[@name='j']/mimic/@joint",
    ),
    Case(
        "mimic-too-large",
        "joint 'c' follows 'a' with multipliers or offsets that are too large for a 64-bit float",
        robot(
            '<link name="l2"/><link name="l3"/>\n'
            + joint(LIMIT, 'type="continuous"', name="a")
            + joint(LIMIT + '<mimic joint="a" multiplier="1e300"/>', 'type="continuous"', name="b", child="l2")
            + joint(LIMIT + '§<mimic joint="b" multiplier="1e300"/>', 'type="continuous"', name="c", child="l3")
        ),
        "/robot/joint[@name='c']/mimic",
    ),
    Case(
        "bad-number",
        "attribute 'xyz' of <origin> should be 3 numbers, but number 1 should be a number, not '1\u00a02\u00a03'",
        robot(joint('<origin §xyz="1\u00a02\u00a03"/>')),
        "/robot/joint[@name='j']/origin/@xyz",
    ),
    # In the original proposal's form the parent is named otherwise, or the child not at all.
    Case(
        "unknown-link",
        "joint 'j': parent link 'bose' does not exist",
        robot('<link name="c"><joint name="j" type="fixed"><parent §name="bose"/></joint></link>', links=BASE),
        "/robot/link[@name='c']/joint[@name='j']/parent[@name='bose']/@name",
        "base",
    ),
    Case(
        "unknown-link",
        "joint 'j': parent link 'bose' does not exist",
        robot('<link name="c"><parent §name="bose"/><joint name="j" type="fixed"/></link>', links=BASE),
        "/robot/link[@name='c']/parent[@name='bose']/@name",
        "base",
    ),
    Case(
        "two-parents",
        "link 'c' has two parents: 'base' by joint 'j' and 'base' by joint 'k'",
        robot(
            '<link name="c"><parent name="base"/><joint name="j" type="fixed"/>§<joint name="k" type="fixed"/></link>',
            links=BASE,
        ),
        "/robot/link[@name='c']/joint[@name='k']",
    ),
]

ODD_COMMENT = "a comment should have no '--' in it; it is read with '~' instead of '-'"

WARNINGS = [
    Case(
        "unknown-element",
        "<colision> is not known in <link>; it is kept but not used",
        with_link("§<colision/>"),
        "/robot/link[@name='tip']/colision",
        "collision",
    ),
    Case(
        "unknown-element",
        "<transmision> is not known in <robot>; it is kept but not used",
        robot(joint() + "§<transmision/>"),
        "/robot/transmision",
        "transmission",
    ),
    Case(
        "unknown-element",
        "<lonk> is not known in <robot>; it is kept but not used",
        robot(joint() + '§<lonk name="x"/>'),
        "/robot/lonk[@name='x']",
        "link",
    ),
    Case(
        "unknown-element",
        "<extra> is not known in <box>; it is kept but not used",
        with_link('<visual><geometry><box size="1 1 1">§<extra/></box></geometry></visual>'),
        "/robot/link[@name='tip']/visual/geometry/box/extra",
    ),
    Case(
        "unknown-attribute",
        "attribute 'multiplyer' is not known in <mimic>; it is kept but not used",
        robot(
            '<link name="l2"/>'
            + joint(LIMIT + '<mimic joint="k" §multiplyer="2"/>', 'type="revolute"')
            + joint(LIMIT, 'type="revolute"', name="k", child="l2")
        ),
        "/robot/joint[@name='j']/mimic/@multiplyer",
        "multiplier",
    ),
    Case(
        "duplicate-element",
        "<joint> has more than one <origin>; the first is used, this one is kept but not used",
        robot(joint('<origin xyz="1 0 0"/>§<origin xyz="x"/>')),
        "/robot/joint[@name='j']/origin[2]",
    ),
    Case(
        "newer-version",
        "attribute 'quat_xyzw' of <origin> needs version 1.1 of <robot>; it is kept but not used",
        robot(joint('<origin §quat_xyzw="0 0 0 1"/>')),
        "/robot/joint[@name='j']/origin/@quat_xyzw",
    ),
    Case(
        "newer-version",
        "attribute 'jerk' of <limit> needs version 1.2 of <robot>; it is kept but not used",
        revolute('<limit lower="0" upper="1" effort="1" velocity="1" §jerk="1"/>', ' version="1.1"'),
        "/robot/joint[@name='j']/limit/@jerk",
    ),
    Case(
        "empty-element",
        "<dynamics> has no attribute, so it has no effect",
        robot(joint("§<dynamics/>")),
        "/robot/joint[@name='j']/dynamics",
    ),
    Case(
        "empty-element",
        "<texture> has no attribute 'filename'; it is not used",
        robot(joint() + '<material name="m"><color rgba="1 1 1 1"/>§<texture/></material>'),
        "/robot/material[@name='m']/texture",
    ),
    Case(
        "unnamed-material",
        "<material> has no 'name'; most programs ignore a material without a name",
        with_link(f'<visual>{BOX}§<material><color rgba="1 1 1 1"/></material></visual>'),
        "/robot/link[@name='tip']/visual/material",
    ),
    Case(
        "stray-text",
        "the text '10' in <mass> is not used",
        with_link(f'<inertial>§<mass value="1">10</mass>{INERTIA}</inertial>'),
        "/robot/link[@name='tip']/inertial/mass",
    ),
    Case(
        "undeclared-prefix",
        "the namespace prefix 'gazebo' is not declared",
        robot(joint() + "§<gazebo:map/>"),
        "/robot/gazebo:map",
    ),
    Case(
        "odd-declaration",
        "the XML declaration should be '<?xml version=\"1.0\"?>' at the very start; it is ignored",
        "\n §" + robot(joint()),
    ),
    Case(
        "odd-declaration",
        "the XML declaration should be '<?xml version=\"1.0\"?>' at the very start; it is ignored",
        "§" + robot(joint()).replace("1.0", "0.0", 1),
    ),
    Case("odd-comment", ODD_COMMENT, robot(joint() + "\n  §<!-- ---- a ---- -->")),
    Case(
        "xacro-not-expanded",
        "<xacro:leg> is a macro that was not expanded; it is kept but not used",
        robot(joint() + "§<xacro:leg/>", ' xmlns:xacro="http://www.ros.org/wiki/xacro"'),
        "/robot/xacro:leg",
    ),
    Case(
        "older-dialect",
        "this joint has the form of the two-origin proposal, which other programs misread; "
        "'robot_semantics upgrade' writes the current form",
        robot(
            '§<joint name="j" type="fixed"><parent link="base"><origin xyz="1 0 0"/></parent>'
            '<child link="arm"/></joint>'
        ),
        "/robot/joint[@name='j']",
    ),
    Case(
        "older-dialect",
        "this joint has the form of the original proposal, which other programs misread; "
        "'robot_semantics upgrade' writes the current form",
        '<robot name="r"><link name="p"/><link name="c">§<joint name="j" type="fixed"><parent name="p"/></joint></link>'
        "</robot>",
        "/robot/link[@name='c']/joint[@name='j']",
    ),
    Case(
        "older-dialect",
        "<texture> in <visual> is an older form of <material>",
        with_link(f'<visual>{BOX}§<texture name="red"/></visual>').replace(
            "</robot>", '<material name="red"><color rgba="1 0 0 1"/></material></robot>'
        ),
        "/robot/link[@name='tip']/visual/texture[@name='red']",
    ),
    Case(
        "large-angle",
        "<origin> has the angle 90, more than a full turn: angles are in radians",
        robot(joint('<origin §rpy="0 0 90"/>')),
        "/robot/joint[@name='j']/origin/@rpy",
    ),
    Case(
        "large-angle",
        "the upper limit 180 of joint 'j' is beyond two turns: angles are in radians",
        revolute('<limit lower="-12.5" §upper="180" effort="1" velocity="1"/>'),
        "/robot/joint[@name='j']/limit/@upper",
    ),
    Case(
        "unlimited-range",
        "the range -1e+16 to 1e+16 rad of joint 'j' means that it is not limited; sampling and default positions use a "
        "part of it",
        revolute('§<limit lower="-1e16" upper="1e16" effort="1" velocity="1"/>'),
        "/robot/joint[@name='j']/limit",
    ),
    *[
        Case(
            "no-range",
            f"joint 'j' has {reason}, so it cannot move",
            revolute(f"§<limit {limit}/>{more}"),
            "/robot/joint[@name='j']/limit",
        )
        for reason, limit, more in (
            (
                "the limits 0 to 0 and has the effort and velocity limit 0",
                'lower="0" upper="0" effort="0" velocity="0"',
                "",
            ),
            ("the limits 0 to 0", 'upper="0" effort="1" velocity="1"', ""),
            ("the velocity limit 0", 'lower="-1" upper="1" effort="1" velocity="0"', ""),
            ("the effort limit 0", 'lower="-1" upper="1" effort="0" velocity="1"', ""),
            (
                "the soft limits 0 to 0",
                'lower="-1" upper="1" effort="1" velocity="1"',
                '<safety_controller soft_lower_limit="0" soft_upper_limit="0" k_velocity="1"/>',
            ),
        )
    ],
    Case(
        "no-range",
        "joint 'j' has neither lower nor upper limit; both are 0 by default, so it cannot move",
        revolute('§<limit effort="1" velocity="1"/>'),
        "/robot/joint[@name='j']/limit",
    ),
    *[
        Case(
            "soft-limit-outside",
            f"{name} {value} of joint 'j' is outside its limits -1 to 1",
            revolute(f'{LIMIT}<safety_controller k_velocity="1" §{name}="{value}"/>'),
            f"/robot/joint[@name='j']/safety_controller/@{name}",
        )
        for name, value in (("soft_lower_limit", "-1.5"), ("soft_upper_limit", "2"))
    ],
    Case(
        "soft-limits-crossed",
        "the soft lower limit 0.5 of joint 'j' is above the soft upper limit -0.5",
        revolute(f'{LIMIT}<safety_controller k_velocity="1" §soft_lower_limit="0.5" soft_upper_limit="-0.5"/>'),
        "/robot/joint[@name='j']/safety_controller/@soft_lower_limit",
    ),
    *[
        Case(
            "calibration-outside-limits",
            "the calibration position 1.2 of joint 'j' is outside its limits -1 to 1",
            revolute(f'{LIMIT}<calibration §{name}="1.2"/>'),
            f"/robot/joint[@name='j']/calibration/@{name}",
        )
        for name in ("rising", "falling", "reference_position")
    ],
    Case(
        "negative-limit",
        "the velocity limit of joint 'j' must not be negative, but is -3",
        revolute('<limit lower="-1" upper="1" effort="1" §velocity="-3"/>'),
        "/robot/joint[@name='j']/limit/@velocity",
    ),
    *[
        Case(
            "negative-dynamics",
            f"the {name} of joint 'j' should not be negative, but is -0.5",
            robot(joint(f'<dynamics §{name}="-0.5"/>', 'type="continuous"')),
            f"/robot/joint[@name='j']/dynamics/@{name}",
        )
        for name in ("damping", "friction")
    ],
    Case(
        "colour-range",
        "the colour 255 128 0 1 of material 'm' is not within 0 to 1",
        robot(joint() + '§<material name="m"><color rgba="255 128 0 1"/></material>'),
        "/robot/material[@name='m']",
    ),
    Case(
        "colour-range",
        "the colour 0 0 0 -1 of material 'm' is not within 0 to 1",
        with_link(f'<visual>{BOX}§<material name="m"><color rgba="0 0 0 -1"/></material></visual>'),
        "/robot/link[@name='tip']/visual/material[@name='m']",
    ),
    Case(
        "older-dialect",
        "<color rgb> is an older form of <color rgba>; its numbers are read as 0 to 255",
        robot(joint() + '<material name="m">§<color rgb="255 255 255"/></material>'),
        "/robot/material[@name='m']/color",
    ),
    Case(
        "planar-axis-missing",
        "planar joint 'j' has no <axis>; 0 0 1 is used, not the general default 1 0 0",
        robot("§" + joint(kind='type="planar"')),
        "/robot/joint[@name='j']",
    ),
    Case(
        "planar-axis",
        "planar joint 'j' moves in the plane normal to 0 1 0; MoveIt and pinocchio ignore the axis and use 0 0 1",
        robot(joint('<axis §xyz="0 1 0"/>', 'type="planar"')),
        "/robot/joint[@name='j']/axis/@xyz",
    ),
    Case(
        "mimic-of-fixed",
        "joint 'j' is fixed, so its <mimic> does nothing",
        robot(
            '<link name="l2"/>' + joint('<mimic §joint="k"/>') + joint(LIMIT, 'type="revolute"', name="k", child="l2")
        ),
        "/robot/joint[@name='j']/mimic/@joint",
    ),
    Case(
        "mimic-outside-limits",
        "joint 'j' follows 'k' and reaches -0.5 to 1.5, outside its limits -1 to 1",
        robot(
            '<link name="l2"/>'
            + joint(LIMIT + '§<mimic joint="k" offset="0.5"/>', 'type="revolute"')
            + joint(LIMIT, 'type="prismatic"', name="k", child="l2")
        ),
        "/robot/joint[@name='j']/mimic",
    ),
    Case(
        "mimic-outside-limits",
        "joint 'j' follows 'k' and reaches -2 to 0, outside its limits 0 to 2; "
        "with the other sign of the multiplier it would stay inside",
        robot(
            '<link name="l2"/>'
            + joint(
                LIMIT.replace("-1", "0").replace('upper="1"', 'upper="2"') + '§<mimic joint="k" multiplier="-2"/>',
                'type="revolute"',
            )
            + joint(LIMIT.replace("-1", "0"), 'type="revolute"', name="k", child="l2")
        ),
        "/robot/joint[@name='j']/mimic",
    ),
    Case(
        "inertia-not-physical",
        "the inertia of link 'tip' is not positive semi-definite, which is impossible for a body",
        with_link(
            '<inertial><mass value="1"/>§<inertia ixx="1" ixy="1.1" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>'
        ),
        "/robot/link[@name='tip']/inertial/inertia",
    ),
    *[
        Case(
            "negative-size",
            f"attribute '{name}' of <{tag}> should not be negative, but is {value}",
            with_link(f"<{part}><geometry><{tag} {others}§{name}={text}/></geometry></{part}>"),
            f"/robot/link[@name='tip']/{part}/geometry/{tag}/@{name}",
        )
        for part, tag, others, name, text, value in (
            ("visual", "box", "", "size", '"1 -2 1"', "-2"),
            ("collision", "sphere", "", "radius", '"-0.1"', "-0.1"),
            ("visual", "cylinder", 'radius="1" ', "length", '"-1e-3"', "-0.001"),
            ("collision", "cylinder", 'length="1" ', "radius", '"-1"', "-1"),
        )
    ],
    Case(
        "unused-parent",
        "<parent> in <link> has no effect: the link has no <joint>; it is kept but not used",
        with_link('§<parent name="base"/>'),
        "/robot/link[@name='tip']/parent[@name='base']",
    ),
    Case(
        "empty-material",
        "material 'm' has neither a colour nor a texture",
        robot(joint() + '§<material name="m"/>'),
        "/robot/material[@name='m']",
    ),
    Case(
        "unknown-material",
        "material 'rde' is not defined",
        with_link(f'<visual>{BOX}<material §name="rde"/></visual>').replace(
            "</robot>", '<material name="red"><color rgba="1 0 0 1"/></material></robot>'
        ),
        "/robot/link[@name='tip']/visual/material[@name='rde']/@name",
        "red",
    ),
    Case(
        "material-redefined",
        "material 'red' looks different on line 11, and other programs use that one",
        with_link(f'<visual>{BOX}§<material name="red"><color rgba="1 0 1 1"/></material></visual>').replace(
            "</robot>", '<material name="red"><color rgba="1 0 0 1"/></material></robot>'
        ),
        "/robot/link[@name='tip']/visual/material[@name='red']",
    ),
]


def problems_of(text: str) -> Diagnostics:
    diagnostics = Diagnostics()
    resolve_urdf(parse_urdf(text, SOURCE, diagnostics), diagnostics)
    return diagnostics


def name_of(case: Case) -> str:
    return f"{case.code}: {case.message[:40]}"


@pytest.mark.parametrize("case", ERRORS, ids=name_of)
def test_an_error_is_reported_alone_with_its_place(case: Case) -> None:
    check(case, Severity.ERROR)


@pytest.mark.parametrize("case", WARNINGS, ids=name_of)
def test_a_warning_is_reported_alone_with_its_place(case: Case) -> None:
    check(case, Severity.WARNING)


def without_the_dialect(problems: Diagnostics) -> list[Diagnostic]:
    return [problem for problem in problems if problem.code != "older-dialect" or len(problems) == 1]


def check(case: Case, severity: Severity) -> None:
    text, place = unmarked(case.text)
    (problem,) = without_the_dialect(problems_of(text))
    assert problem.severity is severity
    assert problem.code == case.code
    assert problem.message == case.message
    assert line_column(problem) == place
    assert problem.place.source == SOURCE
    assert problem.place.path == case.path
    assert problem.suggestion == case.suggestion


def test_every_kind_of_problem_in_the_sources_has_a_case() -> None:
    folder = Path(robot_semantics.__file__).parent
    sources = [
        *(path for path in folder.glob("urdf/*.py") if not path.name.startswith("control_")),
        *folder.glob("xml/schema_[ru]*.py"),
        folder / "xml/numbers.py",
        folder / "model/element_checks.py",
        folder / "model/resolve.py",
    ]
    codes = {
        code
        for path in sources
        for code in re.findall(
            r'(?:\.error|\.warning|\._report|BadValueError)\(\s*(?:[\w.]+, )?"([a-z-]+)"',
            path.read_text(encoding="utf-8"),
        )
    }
    assert len(codes) > 35
    elsewhere = {"wrong-root", "frame-moved", "link-frames-moved", "implicit-link", "cycle", "no-root"}
    # Codes that do not exist for URDF: extensions of its own, and elements that are wrong only by their place.
    elsewhere |= {"foreign-content", "relative-namespace", "misplaced-element"}
    assert codes - {case.code for case in (*ERRORS, *WARNINGS)} == elsewhere


def test_foreign_elements_in_a_link_whose_frame_moves_are_pointed_out() -> None:
    text, place = unmarked(
        '<robot name="r"><link name="p"/><link name="c">\n<!-- c -->§<sensor><origin xyz="1 0 0"/></sensor></link>'
        '<joint name="j" type="fixed"><parent link="p"/><child link="c"><origin xyz="1 0 0"/></child></joint></robot>'
    )
    moved, *_ = sorted(problems_of(text), key=lambda problem: problem.code)
    assert (moved.severity, moved.code, line_column(moved)) == (Severity.WARNING, "frame-moved", place)
    assert moved.message == "the frame of link 'c' moves, but <sensor> in it is not changed"


def test_foreign_elements_about_a_link_whose_frame_moves_are_pointed_out() -> None:
    text, place = unmarked(
        '<robot name="r"><link name="p"/><link name="c"/><gazebo reference="p"/><gazebo §reference="c"><a/></gazebo>'
        '<joint name="j" type="fixed"><parent link="p"/><child link="c"><origin xyz="1 0 0"/></child></joint></robot>'
    )
    moved, *_ = sorted(problems_of(text), key=lambda problem: problem.code)
    assert (moved.code, line_column(moved)) == ("frame-moved", place)
    assert moved.message == "the frame of link 'c' moves, but <gazebo> with its name is not changed"


def test_a_cycle_is_an_unsupported_feature_with_its_path() -> None:
    text, place = unmarked(
        '<robot name="r">\n<link name="root"/><link name="a"/><link name="b"/><link name="c"/>\n'
        + joint(name="ab", parent="a", child="b")
        + "\n"
        + joint(name="bc", parent="b", child="c")
        + "\n"
        + joint(name="ca", parent="c", child="a").replace("<child ", "<child §")
        + "\n</robot>"
    )
    (problem,) = problems_of(text)
    assert problem.code == "cycle"
    assert problem.message == "links and joints form a loop: a → b → c → a; use a <constraint> instead of a joint"
    assert line_column(problem) == place


def test_a_link_that_is_its_own_parent_is_a_cycle() -> None:
    codes = [
        (problem.code, problem.message)
        for problem in problems_of(robot(joint(parent="arm"), links='<link name="arm"/>'))
    ]
    assert ("cycle", "links and joints form a loop: arm → arm; use a <constraint> instead of a joint") in codes
    assert ("no-root", "there is no root link: each link is the child of a joint") in codes


def test_a_robot_all_in_a_circle_has_no_root() -> None:
    text = robot(joint() + joint(name="k", parent="arm", child="base"))
    problems = list(problems_of(text))
    assert [(problem.code, line_column(problem)) for problem in problems] == [
        ("no-root", (3, 1)),
        ("cycle", (6, text.splitlines()[5].rfind("<child") + len("<child ") + 1)),
    ]


def test_joints_may_name_undeclared_links_when_asked() -> None:
    text, place = unmarked(
        '<robot name="r">\n'
        + joint().replace("<parent ", "<parent §")
        + '<link name="tip"/>'
        + joint(name="k", parent="arm", child="tip")
        + "</robot>"
    )
    diagnostics = Diagnostics()
    model = resolve_urdf(parse_urdf(text, SOURCE, diagnostics), diagnostics, implicit_links=True)
    assert model is not None
    assert model.link_names == ("base", "arm", "tip")
    assert model.link("base").urdf.inertial is None
    first, second = diagnostics
    assert (first.severity, first.code, line_column(first)) == (Severity.WARNING, "implicit-link", place)
    assert first.message == "no <link> declares 'base'; it is added without mass and shape"
    assert second.message == "no <link> declares 'arm'; it is added without mass and shape"


def test_a_message_is_one_line_whatever_the_names() -> None:
    text = robot(joint(parent="x&#10;a.urdf:1:1: error: \u009b31m&#13;\u2028é→"))
    (problem,) = (problem for problem in problems_of(text) if problem.code == "unknown-link")
    assert len(str(problem).splitlines()) == 1
    assert "link 'x\\na.urdf:1:1: error: \\x9b31m\\r\\u2028é→' does not exist" in str(problem)
    assert "x\na.urdf" in problem.message


def test_a_root_element_that_is_no_robot_is_refused() -> None:
    with pytest.raises(DescriptionError) as caught:
        parse_urdf("<?xml version='1.0'?>\n <sdf/>", "x.urdf")
    assert str(caught.value) == (
        "x.urdf:2:2: error: the root element should be <robot>, not <sdf>; the file is an SDFormat file: "
        "'robot_semantics usdf convert' makes a world state of its <state> [/sdf]"
    )


def test_all_problems_come_together_in_document_order() -> None:
    text = robot(
        joint('<limit lower="a"/>', 'type="naQQQme"', parent="nobody")
        + '\n<link name="arm"/>\n<material name="m"/>\n<link name="x"><inertial/></link>'
    )
    problems = list(problems_of(text))
    places = [line_column(problem) for problem in problems]
    assert places == sorted(places)
    assert [problem.code for problem in problems] == [
        "unknown-joint-type",
        "unknown-link",
        "missing-attribute",
        "missing-attribute",
        "bad-number",
        "duplicate-name",
        "empty-material",
        "several-roots",
        "missing-element",
        "missing-element",
    ]


def test_without_a_collector_all_errors_are_raised_at_once() -> None:
    with pytest.raises(DescriptionError) as caught:
        parse_urdf('<robot><link/><joint type="fixed"/></robot>')
    assert [problem.code for problem in caught.value.diagnostics] == ["missing-attribute"] * 3 + [
        "missing-element",
        "missing-element",
    ]


@pytest.mark.parametrize("tag", ["gazebo", "transmission", "sensor", "ros2_control"])
def test_elements_that_other_programs_read_pass_without_a_word(tag: str) -> None:
    assert not list(problems_of(robot(f"{joint()}<{tag}><a b='c'/>text</{tag}>")))


def test_numbers_may_be_written_in_every_way_a_c_program_reads() -> None:
    text = robot(joint('<origin xyz=" +1. .5\t-2e-3 " rpy="0 -0.0 1E2"/>'))
    (read,) = parse_urdf(text).joints
    assert read.origin is not None
    assert read.origin.xyz == (1.0, 0.5, -0.002)
    assert read.origin.rpy == (0.0, 0.0, 100.0)


@pytest.mark.parametrize("text", ["1_0", "0x10", "inf", "-nan", "1e", "١", "1,5", "", "5f", "--1", "1 2"])
def test_what_only_python_or_nobody_takes_for_a_number_is_none(text: str) -> None:
    (problem,) = problems_of(revolute(f'<limit lower="0" upper="{text}" effort="1" velocity="1"/>'))
    assert problem.code == "bad-number"
