# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Writing URDF: the read-back tree is the same, bit for bit, with all foreign content in place."""

from __future__ import annotations

import math
import os
import struct
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import etree

from robot_semantics import DescriptionError, Diagnostics, RobotSemanticsError
from robot_semantics.urdf.extras import Extra
from robot_semantics.urdf.reader import parse_urdf, urdf_from_file
from robot_semantics.urdf.tree import (
    Box,
    Calibration,
    Capsule,
    Collision,
    Constraint,
    Cylinder,
    Dynamics,
    Geometry,
    Inertial,
    Joint,
    Limit,
    Link,
    Material,
    Mesh,
    Mimic,
    Origin,
    SafetyController,
    Sphere,
    UrdfRobot,
    Visual,
)
from robot_semantics.urdf.writer import save_urdf, write_urdf
from robot_semantics.xml.numbers import number_text

EVERYTHING = """<?xml version="1.0"?>
<!-- before -->
<?pi before?>
<robot xmlns="urn:default" xmlns:e="urn:e" name="all &amp; &quot;more&quot;" version="1.2" e:own="1" odd="2">
  <!-- first -->
  <material name="red"><!-- in material --><color rgba="1 0 0 0.1"/><texture filename="a &lt; b.png"/></material>
  <gazebo reference="a"   odd='quotes"'>  text &amp; <b/> <![CDATA[<raw>]]> </gazebo>
  <link name="a">
    <!-- before the collision -->
    <collision name="c">
      <geometry><!-- g --><mesh filename="package://p/m.stl" scale="1 2 3"/><!-- h --></geometry>
    </collision>
    <e:foreign xmlns:f="urn:f" f:x="1"><f:y/></e:foreign>
    <visual>
      <geometry><box size="1 2 3" odd="3"/></geometry>
      <origin xyz="0 -0 1" quat_xyzw="0 0 0.6 0.8"/>
      <material name="red"/>
    </visual>
    <inertial>
      <inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1e-300"/>
      <mass value="0.1"><!-- m --></mass>
    </inertial>
    <visual name="v2">
      <origin xyz="1 2 3" rpy="-0 0.1 1e22"/>
      <geometry><capsule radius="1" length="2"/></geometry>
    </visual>
    <!-- last in link -->
  </link>
  <link name="b"/><link name="c"/><link name="d"/><link name="e"/>
  <!-- between -->
  <joint name="j" type="revolute">
    <!-- parent --><parent link="a" odd="4"/>
    <child link="b"/>
    <limit lower="-1" upper="2" effort="3" velocity="4" acceleration="5" deceleration="6" jerk="7"/>
    <dynamics damping="0.1" friction="0.2"/>
    <axis xyz="0 0 3"/>
    <safety_controller k_velocity="1" k_position="2" soft_lower_limit="-0.5" soft_upper_limit="0.5"/>
    <calibration rising="1" falling="2" reference_position="3"/>
    <mimic joint="k" multiplier="-2" offset="0.5"/>
    <mimic joint="second"/>
  </joint>
  <joint type="continuous" name="k"><parent link="a"/><child link="c"/><origin xyz="0 0 0"/></joint>
  <joint type="planar" name="l"><parent link="a"/><child link="d"/><axis xyz="0 0 1"/></joint>
  <joint type="floating" name="m"><parent link="a"/><child link="e"/></joint>
  <!-- last -->
</robot>
<!-- after -->
"""


def read(text: str) -> UrdfRobot:
    return parse_urdf(text, diagnostics=Diagnostics())


def canonical(text: str) -> bytes:
    """The text's elements, attributes, comments and order, without the white space between elements."""
    root = etree.fromstring(text.encode(), etree.XMLParser(remove_blank_text=True))
    return bytes(etree.tostring(root.getroottree(), method="c14n", with_comments=True))


def test_everything_the_format_has_survives_with_comments_and_foreign_parts_in_place() -> None:
    robot = read(EVERYTHING)
    text = write_urdf(robot)
    assert read(text) == robot
    assert write_urdf(read(text)) == text
    assert robot.version == "1.2"
    assert [extra.tag for extra in robot.links[0].extras] == ["", "e:foreign", ""]
    assert robot.namespaces == (("", "urn:default"), ("e", "urn:e"))


def test_what_is_written_differs_in_number_texts_and_white_space_only() -> None:
    # The numbers of this text are already the shortest ones.
    numbers = EVERYTHING.replace("1e22", "1e+22")
    assert canonical(write_urdf(read(numbers))) == canonical(numbers)


def test_a_foreign_element_is_kept_to_the_character() -> None:
    foreign = """<gazebo reference="a"   odd='quotes"'>  text &amp; <b/> <![CDATA[<raw>]]> </gazebo>"""
    assert foreign in EVERYTHING
    assert foreign in write_urdf(read(EVERYTHING))


def test_a_prefix_declared_below_the_root_moves_to_the_root() -> None:
    text = '<robot name="r"><link name="a" xmlns:g="urn:g"><g:x g:y="1"/></link></robot>'
    robot = read(text)
    written = write_urdf(robot)
    assert '<robot xmlns:g="urn:g" name="r">' in written
    assert read(written) == robot


def test_one_prefix_with_two_meanings_keeps_both() -> None:
    links = [f'<link name="l{n}" xmlns:g="urn:{n}"><g:x/></link>' for n in (1, 2)]
    tree = etree.fromstring(write_urdf(read(f'<robot name="r">{"".join(links)}</robot>')).encode())
    assert [str(element.tag) for element in tree.iter("{*}x")] == ["{urn:1}x", "{urn:2}x"]


def test_an_undeclared_prefix_gets_no_declaration_where_another_has_one_further_down() -> None:
    text = '<robot name="r"><link name="a"/><gz:x/><k:y xmlns:k="u"/></robot>'
    written = write_urdf(parse_urdf(text, diagnostics=Diagnostics()))
    assert "<gz:x/>" in written
    assert "xmlns:gz" not in written


def test_an_undeclared_prefix_is_written_as_it_was() -> None:
    robot = read('<robot name="r"><link name="a"><gz:x/></link></robot>')
    assert "<gz:x/>" in write_urdf(robot)
    assert read(write_urdf(robot)) == robot


@pytest.mark.parametrize("version", ["1.0", "1.1", "1.2"])
def test_every_version_is_written_as_itself(version: str) -> None:
    robot = read(f'<robot name="r" version="{version}"><link name="a"/></robot>')
    assert read(write_urdf(robot)).version == version


names = st.text(st.characters(exclude_categories=("Cs", "Cc")), min_size=1, max_size=8)
numbers = st.floats(allow_nan=False, allow_infinity=False)
sizes = st.floats(min_value=1e-300, allow_nan=False, allow_infinity=False)
vec3 = st.tuples(numbers, numbers, numbers)
optional_number = st.none() | numbers
magnitudes = st.none() | st.floats(min_value=0, allow_nan=False, allow_infinity=False)
origins = st.builds(Origin, vec3, st.none() | vec3) | st.builds(
    Origin, vec3, st.none(), st.tuples(numbers, numbers, numbers, sizes)
)
geometries: st.SearchStrategy[Geometry] = st.one_of(
    st.builds(Box, vec3),
    st.builds(Cylinder, numbers, numbers),
    st.builds(Capsule, sizes, sizes),
    st.builds(Sphere, numbers),
    st.builds(Mesh, names, st.none() | vec3),
)
materials = st.builds(Material, names, st.none() | st.tuples(numbers, numbers, numbers, numbers), st.none() | names)
inertials = st.builds(
    Inertial, numbers, st.tuples(numbers, numbers, numbers, numbers, numbers, numbers), st.none() | origins
)
visuals = st.builds(Visual, geometries, st.none() | origins, st.none() | materials, st.none() | names)
collisions = st.builds(Collision, geometries, st.none() | origins, st.none() | names)
comments = st.builds(Extra, st.integers(0, 1), st.just("<!-- c -->"))
links = st.builds(
    Link,
    names,
    st.none() | inertials,
    st.lists(visuals, max_size=2).map(tuple),
    st.lists(collisions, max_size=2).map(tuple),
)
limits = st.builds(Limit, numbers, numbers, magnitudes, magnitudes, magnitudes, magnitudes, magnitudes)
joints = st.builds(
    Joint,
    names,
    st.sampled_from(["revolute", "continuous", "prismatic", "fixed", "floating", "planar"]),
    names,
    names,
    st.none() | origins,
    st.none() | vec3,
    st.none() | limits,
    st.none() | st.builds(Dynamics, numbers, optional_number),
    st.none() | st.builds(SafetyController, numbers, optional_number, optional_number, optional_number),
    st.none() | st.builds(Calibration, numbers, optional_number, optional_number),
    st.none() | st.builds(Mimic, names, optional_number, optional_number),
)
constraints = st.builds(
    Constraint, names, names, names, names, st.none() | origins, st.none() | origins, st.none() | vec3, st.none() | vec3
)
contents = st.lists(links | joints | materials | constraints, max_size=4).map(tuple)
robots = st.builds(UrdfRobot, names, st.just("1.2"), contents)


def bits(value: object) -> object:
    """Return `value` with each float as its 64 bits, so that 0.0 and -0.0 differ."""
    if isinstance(value, float):
        return struct.pack("d", value)
    if isinstance(value, tuple):
        return tuple(bits(item) for item in value)
    fields = getattr(value, "__dataclass_fields__", None)
    if fields is None:
        return value
    return tuple(bits(getattr(value, name)) for name, field in fields.items() if field.compare)


@settings(deadline=None, max_examples=150)
@given(robots)
def test_any_tree_is_read_back_bit_for_bit(robot: UrdfRobot) -> None:
    again = parse_urdf(write_urdf(robot), diagnostics=Diagnostics())
    assert bits(again) == bits(robot)


@settings(deadline=None)
@given(numbers)
def test_numbers_are_the_shortest_texts_of_their_64_bits(value: float) -> None:
    text = number_text(value)
    assert struct.pack("d", float(text)) == struct.pack("d", value)
    assert len(text) <= len(repr(value))


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_a_number_that_is_not_finite_is_not_written(value: float) -> None:
    with pytest.raises(RobotSemanticsError, match="cannot have"):
        write_urdf(UrdfRobot("r", content=(Link("a", collisions=(Collision(Sphere(value)),)),)))


@pytest.mark.parametrize("name", ["\x00", "a\ud800", "\x1f"])
def test_a_name_that_xml_cannot_hold_is_not_written(name: str) -> None:
    with pytest.raises(RobotSemanticsError, match="XML does not allow"):
        write_urdf(UrdfRobot(name))


def test_all_problems_of_a_tree_are_reported_together_each_with_its_path() -> None:
    shape, extra = Collision(Box((1.0, math.nan, 2.0))), Extra(-1, "\x01", "@odd")
    with pytest.raises(DescriptionError) as error:
        write_urdf(UrdfRobot("r", content=(Link("a", collisions=(shape,)), Link("b", extras=(extra,)))))
    assert [(problem.code, problem.place.path) for problem in error.value.diagnostics] == [
        ("bad-number", "/robot/link[@name='a']/collision/geometry/box/@size"),
        ("not-xml", "/robot/link[@name='b']"),
    ]


@pytest.mark.parametrize("name", ["a\nb", "a\tb", "a\rb", "<&>\"'", " padded "])
def test_names_survive_the_white_space_rules_of_xml(name: str) -> None:
    assert read(write_urdf(UrdfRobot(name, content=(Link(name),)))).links[0].name == name


def test_a_changed_tree_is_written_with_its_new_parts() -> None:
    link = Link("a", visuals=(Visual(Sphere(1.0)),), extras=(Extra(5, "<!-- far -->"),), order=("collision",))
    text = write_urdf(UrdfRobot("r", content=(link,)))
    assert read(text).links[0].visuals == link.visuals
    assert text.index("<visual>") < text.index("<!-- far -->")


def test_a_link_stays_a_link_and_a_device_a_device(tmp_path: Path) -> None:
    path, link = tmp_path / "r.urdf", tmp_path / "link.urdf"
    link.symlink_to(path)
    save_urdf(UrdfRobot("one", content=(Link("a"),)), link)
    assert link.is_symlink()
    assert urdf_from_file(path).name == "one"
    device = tmp_path / "null"
    device.symlink_to(os.devnull)
    save_urdf(UrdfRobot("one"), device)
    assert Path(os.devnull).is_char_device()


def test_a_file_appears_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "r.urdf"
    save_urdf(UrdfRobot("one", content=(Link("a"),)), path)
    assert urdf_from_file(path).name == "one"
    with pytest.raises(RobotSemanticsError):
        save_urdf(UrdfRobot("\x00"), path)
    assert urdf_from_file(path).name == "one"
    assert [entry.name for entry in tmp_path.iterdir()] == ["r.urdf"]
