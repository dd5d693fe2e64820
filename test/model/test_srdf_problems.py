# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Every kind of problem in an SRDF: its code, its severity, its words, and the very line and column.

A mark ``§`` in the text stands right before the place that the problem must name; a text with several marks must give
several problems, in that order, and no other.
"""
# ruff: noqa: E501  # one problem a line: a table

from __future__ import annotations

import re
from pathlib import Path

import pytest

import robot_semantics
from robot_semantics import DescriptionError, Diagnostic, Diagnostics, Severity
from robot_semantics.model.apply_semantics import check_alone
from robot_semantics.model.loading import robot_from_text
from robot_semantics.srdf.table import parse_srdf

URDF = """<robot name="r">
  <link name="base"/><link name="a"/><link name="b"/><link name="c"/><link name="tool"/><link name="f"/><link name="p"/>
  <link name="m"/><link name="n"/>
  <joint name="j1" type="revolute"><parent link="base"/><child link="a"/><axis xyz="0 0 1"/>
    <limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
  <joint name="j2" type="continuous"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/></joint>
  <joint name="tool_j" type="fixed"><parent link="b"/><child link="tool"/></joint>
  <joint name="jf" type="floating"><parent link="base"/><child link="f"/></joint>
  <joint name="jp" type="planar"><parent link="base"/><child link="p"/><axis xyz="0 0 1"/></joint>
  <joint name="jc" type="prismatic"><parent link="base"/><child link="c"/><axis xyz="0 0 1"/>
    <limit lower="0" upper="1" effort="1" velocity="1"/></joint>
  <joint name="m1" type="continuous"><parent link="base"/><child link="m"/><mimic joint="j1" multiplier="2"/></joint>
  <joint name="m0" type="continuous"><parent link="base"/><child link="n"/><mimic joint="j1" multiplier="0"/></joint>
</robot>"""

ARM = '<group name="arm"><joint name="j1"/><joint name="j2"/></group>'
HAND = '<group name="hand"><joint name="tool_j"/></group>'

# Code, severity, words of the message, and the content of <robot name="r"> … </robot>.
KINDS: list[tuple[str, str, str, str]] = [
    ("missing-attribute", "error", "<group> has no attribute 'name'", '§<group><joint name="j1"/></group>'),
    ("missing-attribute", "error", "no attribute 'child_link'", '§<virtual_joint name="v" type="fixed" parent_frame="w"/>'),
    ("missing-attribute", "error", "no attribute 'value'", ARM + '<joint_property joint_name="j1" property_name="x" value="1"/>§<joint_property joint_name="j1" property_name="x"/>'),
    ("empty-name", "error", "attribute 'name' of <group> is empty", '<group §name=" "><joint name="j1"/></group>'),
    ("unknown-attribute", "warning", "'nmae'", '<passive_joint name="j1" §nmae="x"/>'),
    ("unknown-element", "warning", "<grup> is not known in <robot>", '§<grup name="g"/>'),
    ("misplaced-element", "error", "<passive_joint> has no meaning in <group>; move it into <robot>", '<group name="g"><joint name="j1"/>§<passive_joint name="j1"/></group>'),
    ("xacro-not-expanded", "warning", "<xacro:arm> is a macro that was not expanded", '§<xacro:arm xmlns:xacro="http://www.ros.org/wiki/xacro"/>'),
    ("odd-comment", "warning", "a comment should have no '--' in it", '§<!-- a -- b --><passive_joint name="j1"/>'),
    ("stray-text", "warning", "the text 'oops' in <passive_joint> is not used", '§<passive_joint name="j1">oops</passive_joint>'),
    ("unknown-joint-type", "error", "'flaoting', not a type of virtual joint", '<virtual_joint name="v" §type="flaoting" parent_frame="w" child_link="base"/>'),
    ("bad-number", "error", "should be numbers, but number 1 should be a number, not 'abc'", f'{ARM}<group_state name="s" group="arm"><joint name="j1" §value="abc"/><joint name="j2" value="0"/></group_state>'),
    ("bad-number", "error", "not 'nan'", f'{ARM}<group_state name="s" group="arm"><joint name="j1" §value="nan"/><joint name="j2" value="0"/></group_state>'),
    ("bad-number", "error", "too large for a 64-bit float: '1e400'", f'{ARM}<group_state name="s" group="arm"><joint name="j1" §value="1e400"/><joint name="j2" value="0"/></group_state>'),
    ("bad-number", "error", "not '0,25'", f'{ARM}<group_state name="s" group="arm"><joint name="j1" §value="0,25"/><joint name="j2" value="0"/></group_state>'),
    ("bad-number", "error", "not '1\u00a0'", f'{ARM}<group_state name="s" group="arm"><joint name="j1" §value="1\u00a0"/><joint name="j2" value="0"/></group_state>'),
    ("wrong-count", "error", "attribute 'center' of <sphere> should be 3 numbers, not 2: '1 2'", '<link_sphere_approximation link="a"><sphere §center="1 2" radius="1"/></link_sphere_approximation>'),
    ("bad-number", "error", "attribute 'radius' of <sphere> should not be negative, but is '-1'", '<link_sphere_approximation link="a"><sphere center="1 2 3" §radius="-1"/></link_sphere_approximation>'),
    ("mimic-disagrees", "error", "joint 'm1' is at 0.5, but its leader 'j1' at 0.1 gives 0.2, in state 's'", '<group name="g"><joint name="j1"/><joint name="m1"/></group><group_state name="s" group="g"><joint name="j1" value="0.1"/><joint name="m1" §value="0.5"/></group_state>'),
    ("mimic-multiplier-zero", "error", "joint 'm0' follows 'j1' with multiplier 0, so 'j1' has no known position, in state 's'", '<group name="g"><joint name="m0"/></group><group_state name="s" group="g"><joint name="m0" §value="0.5"/></group_state>'),
    ("zero-quaternion", "error", "the quaternion of joint 'jf' in state 's' is all zeros", '<group name="g"><joint name="jf"/></group><group_state name="s" group="g"><joint name="jf" §value="0 0 0 0 0 0 0"/></group_state>'),
    ("unknown-link", "error", "unknown link 'bsae' in a chain of group 'g'", '<group name="g"><chain §base_link="bsae" tip_link="a"/><joint name="j1"/></group>'),
    ("unknown-link", "error", "unknown link 'tol' in a chain of group 'g'", '<group name="g"><chain base_link="base" §tip_link="tol"/><joint name="j1"/></group>'),
    ("unknown-link", "error", "unknown link 'nowhere' in group 'g'", '<group name="g"><link §name="nowhere"/><joint name="j1"/></group>'),
    ("unknown-link", "error", "unknown link 'q' in virtual joint 'v'", '<virtual_joint name="v" type="fixed" parent_frame="w" §child_link="q"/>'),
    ("unknown-link", "error", "unknown link 'q' in end effector 'e'", f'{HAND}<end_effector name="e" group="hand" §parent_link="q"/>'),
    ("unknown-link", "error", "unknown link 'q' in <disable_collisions>", '<disable_collisions §link1="q" link2="a"/>'),
    ("unknown-link", "error", "unknown link 'q' in <enable_collisions>", '<enable_collisions link1="a" §link2="q"/>'),
    ("unknown-link", "error", "unknown link 'q' in <disable_default_collisions>", '<disable_default_collisions §link="q"/>'),
    ("unknown-link", "error", "unknown link 'q' in <link_sphere_approximation>", '<link_sphere_approximation §link="q"><sphere center="0 0 0" radius="1"/></link_sphere_approximation>'),
    ("unknown-joint", "error", "unknown joint 'j9' in group 'g'", '<group name="g"><joint name="j1"/><joint §name="j9"/></group>'),
    ("unknown-joint", "error", "unknown joint 'j9' in <passive_joint>", '<passive_joint §name="j9"/>'),
    ("unknown-joint", "error", "unknown joint 'j9' in state 's'", f'{ARM}<group_state name="s" group="arm"><joint name="j1" value="0"/><joint name="j2" value="0"/><joint §name="j9" value="0"/></group_state>'),
    ("unknown-joint", "error", "unknown joint 'j9' in property 'p'", '<joint_property §joint_name="j9" property_name="p" value="1"/>'),
    ("unknown-group", "error", "unknown group 'amr' in group 'g'", f'{ARM}<group name="g"><group §name="amr"/></group>'),
    ("unknown-group", "error", "unknown group 'amr' in state 's'", f'{ARM}<group_state name="s" §group="amr"/>'),
    ("unknown-group", "error", "unknown group 'hnd' in end effector 'e'", f'{HAND}<end_effector name="e" §group="hnd" parent_link="b"/>'),
    ("unknown-group", "error", "unknown group 'amr' in end effector 'e'", f'{ARM}{HAND}<end_effector name="e" group="hand" parent_link="b" §parent_group="amr"/>'),
    ("duplicate-name", "error", "group 'arm' is already stated in line 1", f'{ARM}\n<group §name="arm"><joint name="j1"/></group>'),
    ("duplicate-name", "error", "end effector 'e' is already stated", f'{ARM}{HAND}<end_effector name="e" group="hand" parent_link="b"/><end_effector §name="e" group="hand" parent_link="b"/>'),
    ("duplicate-name", "error", "state 's' of group 'arm' is already stated", f'{ARM}<group_state name="s" group="arm"><joint name="j1" value="0"/><joint name="j2" value="0"/></group_state><group_state §name="s" group="arm"><joint name="j1" value="0"/><joint name="j2" value="0"/></group_state>'),
    ("duplicate-name", "error", "virtual joint 'j1' has the name of a joint of the robot", '<virtual_joint §name="j1" type="fixed" parent_frame="w" child_link="base"/>'),
    ("duplicate-name", "error", "joint 'j1' has several values in state 's'", f'{ARM}<group_state name="s" group="arm"><joint name="j1" value="0"/><joint name="j2" value="0"/><joint §name="j1" value="1"/></group_state>'),
    ("duplicate-name", "error", "the spheres of link 'a' are already stated", '<link_sphere_approximation link="a"/><link_sphere_approximation §link="a"/>'),
    ("duplicate-name", "error", "property 'p' of joint 'j1' is already stated", '<joint_property joint_name="j1" property_name="p" value="1"/><joint_property joint_name="j1" §property_name="p" value="2"/>'),
    ("listed-twice", "warning", "joint 'j1' is already stated to be passive", '<passive_joint name="j1"/><passive_joint §name="j1"/>'),
    ("listed-twice", "warning", "collisions of link 'a' are already disabled", '<disable_default_collisions link="a"/><disable_default_collisions §link="a"/>'),
    ("subgroup-cycle", "error", "cycle: g -> h -> k -> g", '<group name="g"><group §name="h"/></group><group name="h"><group name="k"/></group><group name="k"><group name="g"/></group>'),
    ("subgroup-cycle", "error", "cycle: g -> g", '<group name="g"><group §name="g"/></group>'),
    ("empty-group", "warning", "group 'g' has no joint", '<group §name="g"/>'),
    ("chain-without-joints", "warning", "has the same base and tip link", '<group name="g"><joint name="j1"/>§<chain base_link="a" tip_link="a"/></group>'),
    ("virtual-joint-not-root", "error", "its child 'a' is not the root 'base'", '<virtual_joint name="v" type="fixed" parent_frame="w" §child_link="a"/>'),
    ("second-virtual-joint", "error", "the root link already has virtual joint 'v'", '<virtual_joint name="v" type="fixed" parent_frame="w" child_link="base"/>§<virtual_joint name="w" type="planar" parent_frame="w" child_link="base"/>'),
    ("empty-parent-frame", "error", "its parent frame is empty", '<virtual_joint name="v" type="fixed" §parent_frame="" child_link="base"/>'),
    ("leading-slash", "warning", "has the parent frame '/odom'; tf2 drops the slash, so it is 'odom'", '<virtual_joint name="v" type="fixed" §parent_frame="/odom" child_link="base"/>'),
    ("parent-frame-is-link", "warning", "'a', as its parent frame", '<virtual_joint name="v" type="fixed" §parent_frame="a" child_link="base"/>'),
    ("joint-not-in-group", "error", "joint 'jc' of state 's' is not in group 'arm'", f'{ARM}<group_state name="s" group="arm"><joint name="j1" value="0"/><joint name="j2" value="0"/><joint §name="jc" value="0"/></group_state>'),
    ("wrong-count", "error", "joint 'j1' takes 1 value, but state 's' gives 2", f'{ARM}<group_state name="s" group="arm"><joint name="j1" §value="0 1"/><joint name="j2" value="0"/></group_state>'),
    ("wrong-count", "error", "joint 'jp' takes 3 values (jp/x jp/y jp/theta), but state 's' gives 1", '<group name="g"><joint name="jp"/></group><group_state name="s" group="g"><joint name="jp" §value="0"/></group_state>'),
    ("wrong-count", "error", "joint 'tool_j' is fixed and takes no value", f'{HAND}<group_state name="s" group="hand"><joint name="tool_j" §value="0"/></group_state>'),
    ("outside-limits", "warning", "1.5 is outside the limits of joint 'j1', -1 to 1", f'{ARM}<group_state name="s" group="arm"><joint name="j1" §value="1.5"/><joint name="j2" value="99"/></group_state>'),
    ("not-a-unit-quaternion", "warning", "has length 2, not 1", '<group name="g"><joint name="jf"/></group><group_state name="s" group="g"><joint name="jf" §value="0 0 0 0 0 0 2"/></group_state>'),
    ("incomplete-state", "warning", "has no value for 'j2' of group 'arm'", f'{ARM}<group_state §name="s" group="arm"><joint name="j1" value="0"/></group_state>'),
    ("parent-link-not-in-group", "error", "parent group 'arm' of end effector 'e' has no link 'c'", f'{ARM}{HAND}<group name="x"><joint name="jc"/></group><end_effector name="e" group="hand" parent_link="c" §parent_group="arm"/>'),
    ("own-parent", "error", "names its own group as its parent group", f'{ARM}{HAND}<end_effector name="e" group="hand" parent_link="b" §parent_group="hand"/>'),
    ("shares-links", "error", "shares links 'a' with its parent group 'arm'", f'{ARM}<group name="h"><joint name="j1"/></group><end_effector name="e" group="h" parent_link="b" §parent_group="arm"/>'),
    ("shares-links", "warning", "shares links 'a' with group 'arm', which is used as its parent", f'{ARM}<group name="h"><joint name="j1"/></group>§<end_effector name="e" group="h" parent_link="b"/>'),
    ("no-parent-group", "warning", "the parent link 'tool' of end effector 'e' is in no group except its own", f'{HAND}<end_effector name="e" group="hand" §parent_link="tool"/>'),
    ("end-effector-overruled", "warning", "group 'hand' is already used by end effector 'e'", f'{ARM}{HAND}<end_effector name="e" group="hand" parent_link="b"/><end_effector name="e2" §group="hand" parent_link="b"/>'),
    ("duplicate-pair", "warning", "<disable_collisions> of 'b' and 'a' is already stated in line 1", '<disable_collisions link1="a" link2="b"/>\n§<disable_collisions link1="b" link2="a"/>'),
    ("duplicate-pair", "warning", "<enable_collisions> of 'a' and 'b' is already stated", '<enable_collisions link1="a" link2="b"/>§<enable_collisions link1="a" link2="b"/>'),
    ("pair-with-itself", "error", "pairs link 'a' with itself", '<disable_collisions link1="a" §link2="a"/>'),
    ("enabled-and-disabled", "warning", "both enabled and disabled", '<disable_collisions link1="a" link2="b"/>§<enable_collisions link1="b" link2="a"/>'),
]  # fmt: skip


def problems(text: str) -> list[Diagnostic]:
    diagnostics = Diagnostics()
    robot_from_text(URDF, text, strict=False, srdf_source="s.srdf", diagnostics=diagnostics)
    return [item for item in diagnostics if item.place.source == "s.srdf"]


def place_of_mark(text: str) -> tuple[str, list[tuple[int, int]]]:
    """Return the text without its marks, and the line and column of each."""
    places: list[tuple[int, int]] = []
    for number, line in enumerate(text.split("\n"), 1):
        parts = line.split("§")[:-1]
        places += [(number, sum(map(len, parts[: count + 1])) + 1) for count in range(len(parts))]
    return text.replace("§", ""), places


@pytest.mark.parametrize(("code", "severity", "words", "body"), KINDS, ids=[f"{k[0]}: {k[2]}"[:60] for k in KINDS])
def test_problem_is_found_at_its_place(code: str, severity: str, words: str, body: str) -> None:
    text, places = place_of_mark(f'<robot name="r">{body}</robot>')
    found = problems(text)
    assert [(item.place.line, item.place.column) for item in found] == places, "\n".join(map(str, found))
    assert [item.code for item in found] == [code]
    assert found[0].severity.value == severity
    assert words in found[0].message


def test_every_kind_that_the_code_reports_is_tested() -> None:
    package = Path(robot_semantics.__file__).parent
    modules = "semantic_names groups apply_semantics"
    files = [package / "srdf" / "table.py", *(package / "xml").glob("schema_[ru]*.py"), package / "xml" / "numbers.py"]
    files += [package / "model" / f"{module}.py" for module in modules.split()]
    known: set[str] = set()
    for file in files:
        known.update(
            re.findall(r'(?:error|warning|_report|BadValueError)\(\s*(?:[\w.]+, )?"([a-z-]+)"', file.read_text())
        )
    elsewhere = {
        "robot-name-differs",
        "wrong-root",
        "srdf-of-another-robot",
        "group-left-out",
        "odd-declaration",
        "undeclared-prefix",
    }
    # Codes that do not exist for SRDF: required and single children, versions, content kept by other formats.
    elsewhere |= {"missing-element", "duplicate-element", "newer-version", "foreign-content", "relative-namespace"}
    tested = {kind[0] for kind in KINDS} | elsewhere
    assert len(known) >= 30
    assert known <= tested


@pytest.mark.parametrize(
    ("wrong", "suggestion"),
    [
        ('<group name="g"><joint name="j1"/><joint name="tol_j"/></group>', "tool_j"),
        ('<virtual_joint name="v" type="plannar" parent_frame="w" child_link="base"/>', "planar"),
        ('<grop name="g"/>', "group"),
        (f'{ARM}<group_state name="s" group="amr"/>', "arm"),
        ('<disable_collisions link1="toool" link2="a"/>', "tool"),
    ],
)
def test_a_misspelt_name_gets_the_nearest_one_as_a_suggestion(wrong: str, suggestion: str) -> None:
    assert suggestion in [item.suggestion for item in problems(f'<robot name="r">{wrong}</robot>')]


def test_another_robots_name_is_a_warning_at_the_name() -> None:
    (found,) = problems('<?xml version="1.0"?>\n<robot\n  name="pr2"/>')
    assert (found.severity, found.code) == (Severity.WARNING, "robot-name-differs")
    assert (found.place.line, found.place.column) == (3, 3)
    assert "'pr2'" in found.message
    assert "'r'" in found.message


def test_what_the_peers_xml_readers_let_pass_is_a_warning() -> None:
    text, places = place_of_mark('\n §<?xml version="1.0"?>\n<robot name="r">§<x:note/></robot>')
    found = problems(text)
    assert [item.code for item in found] == ["odd-declaration", "undeclared-prefix"]
    assert [(item.place.line, item.place.column) for item in found] == places
    assert "at the very start" in found[0].message
    assert "prefix 'x' is not declared" in found[1].message


@pytest.mark.parametrize(
    ("text", "code", "line", "column"),
    [
        ('<!-- x -->\n<sdf version="1.7"/>', "wrong-root", 2, 1),
        ('<robot name="r">\n  <group name="g">\n</robot>', "not-well-formed", 3, 8),
        ("", "empty-document", 1, 1),
    ],
)
def test_what_is_no_srdf_is_refused_even_leniently(text: str, code: str, line: int, column: int) -> None:
    with pytest.raises(DescriptionError) as caught:
        robot_from_text(URDF, text, strict=False, srdf_source="s.srdf")
    found = [item for item in caught.value.diagnostics if item.place.source == "s.srdf"]
    assert [item.code for item in found] == [code]
    assert (found[0].place.line, abs(found[0].place.column - column) <= 2) == (line, True)


def test_what_depends_on_a_group_that_is_left_out_is_reported_at_its_reference() -> None:
    text, places = place_of_mark(
        '<robot name="r">\n<group §name="g"/>\n<group name="h"><group §name="g"/></group>\n'
        '<group_state name="s" §group="g"/>\n<end_effector name="e" §group="h" parent_link="a"/>\n</robot>'
    )
    found = problems(text)
    assert [item.code for item in found] == ["empty-group", *["group-left-out"] * 3]
    assert [(item.place.line, item.place.column) for item in found] == places


def test_all_problems_of_a_document_are_reported_together_in_its_order() -> None:
    bodies = [body for code, _, _, body in KINDS if code in ("unknown-joint", "unknown-link", "misplaced-element")]
    text, places = place_of_mark('<robot name="r">\n' + "\n".join(bodies) + "\n</robot>")
    found = problems(text)
    assert len(bodies) >= 13
    assert set(places) <= {(item.place.line, item.place.column) for item in found}
    assert found == sorted(found, key=lambda item: (item.place.line, item.place.column))
    with pytest.raises(DescriptionError) as caught:
        robot_from_text(URDF, text)
    assert len([item for item in caught.value.diagnostics if "semantic" in item.place.source]) == len(found)


ALONE = [
    "missing-attribute",
    "empty-name",
    "unknown-attribute",
    "unknown-element",
    "misplaced-element",
    "stray-text",
    "unknown-joint-type",
    "bad-number",
    "unknown-group",
    "subgroup-cycle",
    "own-parent",
    "end-effector-overruled",
    "duplicate-pair",
    "pair-with-itself",
    "enabled-and-disabled",
    "listed-twice",
    "empty-group",
]


@pytest.mark.parametrize(("code", "severity", "words", "body"), [kind for kind in KINDS if kind[0] in ALONE])
def test_what_is_wrong_whatever_the_robot_is_found_without_one(code: str, severity: str, words: str, body: str) -> None:
    text, places = place_of_mark(f'<robot name="r">{body}</robot>')
    diagnostics = Diagnostics()
    check_alone(parse_srdf(text, "s.srdf", diagnostics), diagnostics)
    assert [(item.code, item.severity.value, item.place.line, item.place.column) for item in diagnostics] == [
        (code, severity, *places[0])
    ]


def test_a_sound_document_has_no_problem() -> None:
    text = f"""<robot name="r" xmlns:x="urn:x">
      <!-- comments and foreign elements are no problem -->
      <x:note>any text</x:note>
      <virtual_joint name="v" type="Floating" parent_frame="odom" child_link="base"/>
      {ARM}{HAND}
      <group name="all"><group name="arm"/><chain base_link="base" tip_link="tool"/><link name="c"/></group>
      <group_state name="s" group="arm"><joint name="j1" value="0.5"/><joint name="j2" value="-7"/></group_state>
      <end_effector name="e" group="hand" parent_link="b" parent_group="arm"/>
      <passive_joint name="jc"/>
      <disable_default_collisions link="a"/>
      <enable_collisions link1="a" link2="c"/>
      <disable_collisions link1="a" link2="b" reason="Adjacent"/>
      <link_sphere_approximation link="a"><sphere center="0 0 0" radius="0"/></link_sphere_approximation>
      <joint_property joint_name="v" property_name="angular_distance_weight" value="0.5"/>
    </robot>"""
    assert problems(text) == []


def test_thousands_of_unknown_names_are_reported_without_looking_for_thousands_of_neighbours() -> None:
    links = "".join(f'<link name="l{number}"/>' for number in range(3_001))
    joints = "".join(
        f'<joint name="j{number}" type="fixed"><parent link="l0"/><child link="l{number + 1}"/></joint>'
        for number in range(3_000)
    )
    # With a third of its names known the SRDF is out of date; with none it would be another robot's.
    pairs = "".join(f'<disable_collisions link1="k{number}" link2="m{number}"/>' for number in range(3_000))
    pairs += "".join(f'<disable_collisions link1="l0" link2="l{number + 1}"/>' for number in range(3_000))
    diagnostics = Diagnostics()
    robot_from_text(
        f'<robot name="r">{links}{joints}</robot>',
        f'<robot name="r">{pairs}</robot>',
        strict=False,
        diagnostics=diagnostics,
    )
    assert [problem.code for problem in diagnostics] == ["unknown-link"] * 1_000 + ["more-problems"]
    assert (len(diagnostics), diagnostics.count(Severity.ERROR), len(diagnostics.errors)) == (6_000, 6_000, 1_001)
    place = "[/robot/disable_collisions[501]/@link1]"
    assert str(diagnostics.errors[-1]).endswith(f"error: and 5,000 more errors from here on {place}")
