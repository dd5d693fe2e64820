# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""20,000 mutated robots: only the package's own error is raised, and every result can be written again."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from robot_semantics import DescriptionError, Diagnostics, RobotModel, Severity
from robot_semantics.model.loading import robot_from_text
from robot_semantics.urdf.reader import parse_urdf
from robot_semantics.urdf.tree import UrdfRobot
from robot_semantics.urdf.writer import write_urdf

DOCUMENTS = 8_000
WORKERS = 4

ARM = """<?xml version="1.0"?>
<robot name="arm" version="1.2">
  <!-- a robot with one of everything -->
  <material name="red"><color rgba="1 0 0 1"/></material>
  <link name="base"><visual><geometry><mesh filename="package://arm/b.stl" scale="1 1 1"/></geometry>
    <material name="red"/></visual></link>
  <link name="upper"><inertial><origin xyz="0 0 0.1" rpy="0 0 0"/><mass value="1.5"/>
    <inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/></inertial>
    <collision name="c"><origin quat_xyzw="0 0 0 1"/><geometry><capsule radius="0.1" length="1"/></geometry></collision>
  </link>
  <link name="hand"/><link name="finger"/><link name="thumb"/><link name="puck"/><link name="ball"/>
  <joint name="shoulder" type="revolute"><parent link="base"/><child link="upper"/><axis xyz="0 0 1"/>
    <limit lower="-1" upper="1" effort="10" velocity="2" jerk="3"/><dynamics damping="0.1"/>
    <safety_controller k_velocity="1" soft_lower_limit="-0.9"/><calibration rising="0.1"/></joint>
  <joint name="wrist" type="continuous"><parent link="upper"/><child link="hand"/><axis xyz="1 1 0"/></joint>
  <joint name="f" type="prismatic"><parent link="hand"/><child link="finger"/><limit lower="0" upper="1"/></joint>
  <joint name="t" type="prismatic"><parent link="hand"/><child link="thumb"/><limit lower="0" upper="1"/>
    <mimic joint="f" multiplier="-1" offset="0.2"/></joint>
  <joint name="p" type="planar"><parent link="base"/><child link="puck"/><axis xyz="0 0 1"/></joint>
  <joint name="b" type="floating"><parent link="base"/><child link="ball"/></joint>
  <gazebo reference="hand"><mu1>0.2</mu1></gazebo>
</robot>
"""
OLD = """<robot name="old"><link name="P"><visual><geometry><box size="1 1 1"/></geometry></visual></link>
<link name="C"><joint name="J" type="revolute"><origin xyz="0 0 1" rpy="0.1 0.2 0.3"/><axis xyz="0 1 0"/>
<parent name="P"><origin xyz="1 0 0"/></parent><joint_properties damping="1" friction="0"/>
<limit lower="0.9" upper="2.1" effort="1000" velocity="1"/></joint>
<visual><geometry><sphere radius="1"/></geometry><texture name="Green"/></visual></link>
<link name="D"/><joint name="K" type="fixed"><parent link="C"><origin xyz="0 1 0"/></parent>
<child link="D"><origin rpy="0 0 1"/></child></joint>
<material name="Green"><texture filename="g.png"/></material></robot>
"""
PIECES = [
    *("<", ">", "/>", "</", '"', "'", "=", "&", "&amp;", "&#0;", "&#x1F600;", "&x;", "<!--", "-->", "<![CDATA[", "]]>"),
    *("<?", "?>", "<!DOCTYPE robot [", '<!ENTITY a "b">', "<robot>", "</robot>", "<link/>", "<joint/>"),
    "<origin/>",
    *("<visual/>", "<inertial/>", "<mimic/>", "<limit/>", "<x:y/>", 'xmlns="u"', 'xmlns:x=""'),
    *('name=""', 'link="base"'),
    *('version="1.1"', 'version="9"', "nan", "inf", "-1e400", "1e-400", "0x1", "", " ", "\t\n", "\x00", "\ufeff"),
    *("\ud800", "é", "𝔘", "0 0 0", "1 2", "-", "1_0", "revolute", "planar", "floating", "fixed", "${x}", "$(find x)"),
    "x" * 300,
]


def mutated(rng: random.Random, text: str) -> str:
    """Return the text with a few changes: mostly of attributes' values, else cuts, copies and insertions at markup."""
    for _ in range(rng.choice([1, 1, 2, 3])):
        if rng.random() < 0.7:
            words = text.split('"')
            values = range(1, len(words), 2)
            if len(values) > 1:
                words[rng.choice(values)] = rng.choice([words[rng.choice(values)], rng.choice(PIECES)])
            text = '"'.join(words)
            continue
        places = [index for index, character in enumerate(text) if character in '<>"= /'] or [0]
        start = rng.choice(places)
        end = min(len(text), start + rng.choice([0, 1, 1, 2, 5, 20, 100]))
        piece = rng.choice(PIECES)
        other = rng.choice(places)
        text = rng.choice(
            [
                text[:start] + text[end:],
                text[:start] + piece + text[start:],
                text[:start] + piece + text[end:],
                text[:other] + text[start:end] + text[other:],
            ]
        )
    return text


@pytest.mark.parametrize("worker", range(WORKERS))
def test_a_mutated_robot_raises_nothing_but_the_package_s_own_error(worker: int) -> None:
    rng = random.Random(worker)
    outcomes: Counter[str] = Counter()
    for number in range(DOCUMENTS // WORKERS):
        text = mutated(rng, rng.choice([ARM, ARM, OLD]))
        outcomes[outcome(text, again=number % 4 == 0)] += 1
    assert sum(outcomes.values()) == DOCUMENTS // WORKERS
    # Enough of them must get far, or this would test the XML parser alone.
    floors = {"no XML": 200, "no tree": 280, "read with errors": 120, "read": 160}
    assert all(outcomes[kind] > floor for kind, floor in floors.items()), outcomes


def outcome(text: str, *, again: bool) -> str:
    diagnostics = Diagnostics()
    try:
        model = robot_from_text(text, strict=False, diagnostics=diagnostics)
    except DescriptionError as error:
        problems = error.diagnostics
    else:
        return read_outcome(model, diagnostics, again=again)
    assert all(problem.message for problem in problems)
    assert any(problem.severity is Severity.ERROR for problem in problems)
    return "no tree" if len(diagnostics) else "no XML"


def read_outcome(model: RobotModel, diagnostics: Diagnostics, *, again: bool) -> str:
    for problem in diagnostics:
        assert problem.place.line > 0
    assert len(model.joints) == len(model.links)
    if again:
        check_written(model.urdf)
    return "read with errors" if diagnostics.errors else "read"


def check_written(robot: UrdfRobot) -> None:
    written = write_urdf(robot)
    read = parse_urdf(written, diagnostics=Diagnostics())
    # Stray attributes of parts that were left out for an error have nowhere to stand; all else comes back.
    assert [type(item) for item in read.content] == [type(item) for item in robot.content]
    assert write_urdf(read) == written


def test_bytes_of_any_kind_raise_nothing_but_the_package_s_own_error() -> None:
    rng = random.Random(1)
    refused = 0
    for _ in range(2_000):
        text = bytearray(ARM.encode(rng.choice(["utf-8", "utf-16", "latin-1"])))
        for _ in range(rng.randint(1, 5)):
            text[rng.randrange(len(text))] = rng.randrange(256)
        try:
            parse_urdf(bytes(text), diagnostics=Diagnostics())
        except DescriptionError:
            refused += 1
    assert 200 < refused < 2_000


def test_ten_thousand_deep_nesting_and_huge_attributes_are_errors_or_read() -> None:
    deep = '<robot name="r"><link name="a">' + "<x>" * 10_000 + "</x>" * 10_000 + "</link></robot>"
    with pytest.raises(DescriptionError, match="nested too deep"):
        parse_urdf(deep)
    wide = f'<robot name="r"><link name="{"a" * 5_000_000}"/></robot>'
    assert len(parse_urdf(wide).links[0].name) == 5_000_000
    with pytest.raises(DescriptionError):
        parse_urdf(
            '<robot name="r"><link name="a"><visual><geometry><box size="'
            + "1 " * 1_000_000
            + '"/></geometry></visual></link></robot>'
        )
