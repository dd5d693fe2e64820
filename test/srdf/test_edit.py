# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Edits of an SRDF change their target, and no other byte."""

from __future__ import annotations

import difflib

import pytest

from robot_semantics import DescriptionError, RobotSemanticsError, UnknownNameError
from robot_semantics.base.names import LinkPair
from robot_semantics.srdf.edit import SrdfText
from robot_semantics.srdf.table import parse_srdf
from robot_semantics.xml.edit import NewElement

TEXT = """<?xml version='1.0' encoding="utf-8"?>
<!-- Made by hand; do not touch. -->
<robot name="r"
       xmlns:x="urn:foreign">
    <!--GROUPS: all of them-->
    <group name='arm'>   <!-- the arm -->
        <chain base_link="base"  tip_link="tool" />
    </group>
    <group name="hand"><joint name="f1"/><joint name="f2"/></group>

    <x:note about="arm">keep <b/> this</x:note>
    <group_state group="arm" name="home"><joint name="j1" value="0"/></group_state>
    <group_state group="hand" name="home"><joint name="f1" value="0"/></group_state>
    <end_effector name="e" parent_link="tool" group="hand" parent_group='arm'/>
    <disable_collisions link1="a" link2="b" reason="Adjacent"/>
    <disable_collisions link1="b" link2="c" reason="Never"/>  <!-- measured -->
    <disable_collisions link1="c" link2="a" reason="User"/>
    <!-- why: it touches -->
    <disable_collisions link2="base" link1="tool" reason="User" />
</robot>
<!-- the end -->
"""


def changed_lines(before: str, after: str) -> list[str]:
    return [
        line
        for line in difflib.unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=0)
        if line[:1] in "+-" and line[:3] not in ("+++", "---")
    ]


@pytest.mark.parametrize(
    "original",
    [
        TEXT.encode(),
        TEXT.replace("\n", "\r\n").encode(),
        b"\xef\xbb\xbf" + TEXT.encode(),
        TEXT.replace("utf-8", "utf-16").encode("utf-16"),
        TEXT.replace("utf-8", "latin-1").replace("hand;", "hånd;").encode("latin-1"),
    ],
    ids=["plain", "crlf", "utf-8 mark", "utf-16", "latin-1"],
)
def test_without_an_edit_every_byte_stays_and_with_one_every_other(original: bytes) -> None:
    text = SrdfText(original)
    assert bytes(text) == original
    assert bytes(text.edited([])) == original
    there = text.rename("joint", "j1", "shoulder")
    assert bytes(there) != original
    assert bytes(there.rename("joint", "shoulder", "j1")) == original


def test_a_rename_follows_every_reference_and_keeps_quotes_and_spaces() -> None:
    assert changed_lines(TEXT, str(SrdfText(TEXT).rename("group", "arm", "left & right"))) == [
        "-    <group name='arm'>   <!-- the arm -->",
        "+    <group name='left &amp; right'>   <!-- the arm -->",
        '-    <group_state group="arm" name="home"><joint name="j1" value="0"/></group_state>',
        '+    <group_state group="left &amp; right" name="home"><joint name="j1" value="0"/></group_state>',
        '-    <end_effector name="e" parent_link="tool" group="hand" parent_group=\'arm\'/>',
        '+    <end_effector name="e" parent_link="tool" group="hand" parent_group=\'left &amp; right\'/>',
    ]
    links = str(SrdfText(TEXT).rename("link", "tool", "tcp"))
    assert links == TEXT.replace('tip_link="tool"', 'tip_link="tcp"').replace(
        'parent_link="tool"', 'parent_link="tcp"'
    ).replace('link1="tool"', 'link1="tcp"')
    assert str(SrdfText(TEXT).rename_state("hand", "home", "open")) == TEXT.replace(
        'group="hand" name="home"', 'group="hand" name="open"'
    )


@pytest.mark.parametrize("name", ["", "  "])
def test_an_empty_new_name_is_refused(name: str) -> None:
    with pytest.raises(RobotSemanticsError, match="empty"):
        SrdfText(TEXT).rename("group", "arm", name)


def test_an_added_element_follows_its_kind_in_the_same_indentation() -> None:
    group = NewElement("group", (("name", "both"),), (NewElement("group", (("name", "arm"),)),))
    assert changed_lines(TEXT, str(SrdfText(TEXT).add([group]))) == [
        '+    <group name="both">',
        '+        <group name="arm"/>',
        "+    </group>",
    ]
    assert '</group>\n    <group name="both">' in str(SrdfText(TEXT).add([group]))
    virtual = NewElement("virtual_joint", (("name", "w"),))
    assert '"urn:foreign">\n    <virtual_joint name="w"/>\n    <!--GROUPS' in str(SrdfText(TEXT).add([virtual]))
    passive = NewElement("passive_joint", (("name", "j1"),))
    assert "parent_group='arm'/>\n    <passive_joint name=\"j1\"/>\n" in str(SrdfText(TEXT).add([passive]))


def test_an_empty_robot_is_opened_for_its_first_element() -> None:
    text = SrdfText.empty('a "robot"').add([NewElement("passive_joint", (("name", "<j>"),))])
    assert str(text) == (
        '<?xml version="1.0"?>\n<robot name="a &quot;robot&quot;">\n  <passive_joint name="&lt;j>"/>\n</robot>\n'
    )
    assert text.semantic.passive_joints[0].name == "<j>"
    assert str(SrdfText('<robot name="r"></robot>').add([NewElement("x")])) == '<robot name="r">\n  <x/>\n</robot>'
    assert str(SrdfText('<robot name="r"><!-- c -->\n</robot>').add([NewElement("x")])) == (
        '<robot name="r"><!-- c -->\n  <x/>\n</robot>'
    )


def test_a_text_in_one_line_stays_in_one_line() -> None:
    text = SrdfText('<robot name="r"><passive_joint name="a"/><passive_joint name="b"/></robot>')
    assert str(text.add([NewElement("passive_joint", (("name", "c"),))])) == (
        '<robot name="r"><passive_joint name="a"/><passive_joint name="b"/><passive_joint name="c"/></robot>'
    )
    assert str(text.remove("passive joint", "a")) == '<robot name="r"><passive_joint name="b"/></robot>'


def test_what_is_removed_takes_its_line_along_and_leaves_remarks() -> None:
    text = SrdfText(TEXT)
    assert changed_lines(TEXT, str(text.remove("end effector", "e"))) == [
        '-    <end_effector name="e" parent_link="tool" group="hand" parent_group=\'arm\'/>'
    ]
    assert changed_lines(TEXT, str(text.remove("state", "hand", "home"))) == [
        '-    <group_state group="hand" name="home"><joint name="f1" value="0"/></group_state>'
    ]
    assert changed_lines(TEXT, str(text.remove("group", "arm"))) == [
        "-    <group name='arm'>   <!-- the arm -->",
        '-        <chain base_link="base"  tip_link="tool" />',
        "-    </group>",
    ]
    assert changed_lines(TEXT, str(text.remove_pairs("disable_collisions", [LinkPair.of("c", "b")]))) == [
        '-    <disable_collisions link1="b" link2="c" reason="Never"/>  <!-- measured -->',
        "+    <!-- measured -->",
    ]


@pytest.mark.parametrize(
    "remove",
    [
        lambda text: text.remove("group", "arn"),
        lambda text: text.remove("end effector", "arm"),
        lambda text: text.remove("virtual joint", "w"),
        lambda text: text.remove("passive joint", "j1"),
        lambda text: text.remove("state", "arm", "hone"),
        lambda text: text.rename_state("arm", "hone", "x"),
        lambda text: text.remove_pairs("disable_collisions", [LinkPair.of("a", "tool")]),
    ],
)
def test_what_is_not_there_cannot_be_removed(remove: object) -> None:
    assert callable(remove)
    with pytest.raises(UnknownNameError):
        remove(SrdfText(TEXT))


def test_generated_pairs_are_replaced_and_what_a_person_wrote_stays() -> None:
    pairs = {LinkPair.of("b", "c"): "Never", LinkPair.of("a", "c"): "Never", LinkPair.of("x", "y"): "Default"}
    replaced = SrdfText(TEXT).replace_disabled(pairs)
    assert changed_lines(TEXT, str(replaced)) == [
        '-    <disable_collisions link1="a" link2="b" reason="Adjacent"/>',
        '+    <disable_collisions link1="x" link2="y" reason="Default"/>',
    ]
    assert str(replaced.replace_disabled(pairs)) == str(replaced)
    assert 'link1="b" link2="c" reason="Always"/>  <!-- measured -->' in str(
        SrdfText(TEXT).replace_disabled({LinkPair.of("b", "c"): "Always"})
    )


def test_a_generated_pair_that_is_stated_twice_stays_once() -> None:
    text = SrdfText(
        '<robot name="r">\n <disable_collisions link1="a" link2="b" reason="Never"/>\n'
        ' <disable_collisions link1="b" link2="a" reason="Never"/>\n</robot>'
    )
    assert str(text.replace_disabled({LinkPair.of("a", "b"): "Never"})) == (
        '<robot name="r">\n <disable_collisions link1="a" link2="b" reason="Never"/>\n</robot>'
    )


def test_a_pair_is_enabled_or_disabled_and_never_both() -> None:
    pair = LinkPair.of("a", "b")
    enabled = SrdfText('<robot name="r"/>').enable_collisions({pair: None})
    disabled = enabled.disable_collisions({pair: "Never"})
    assert [item.pair for item in disabled.semantic.disabled_collisions] == [pair]
    assert disabled.semantic.enabled_collisions == ()
    again = disabled.enable_collisions({pair: None})
    assert (again.semantic.disabled_collisions, len(again.semantic.enabled_collisions)) == ((), 1)


def test_single_pairs_are_disabled_in_place_or_added() -> None:
    text = SrdfText(TEXT).disable_collisions({LinkPair.of("c", "b"): "User", LinkPair.of("q", "p"): "User"})
    assert changed_lines(TEXT, str(text)) == [
        '-    <disable_collisions link1="b" link2="c" reason="Never"/>  <!-- measured -->',
        '+    <disable_collisions link1="b" link2="c" reason="User"/>  <!-- measured -->',
        '+    <disable_collisions link1="p" link2="q" reason="User"/>',
    ]


def test_a_missing_reason_is_added_inside_the_tag() -> None:
    text = SrdfText('<robot name="r"><disable_collisions link1="a" link2="b" /></robot>')
    assert str(text.disable_collisions({LinkPair.of("a", "b"): "User"})) == (
        '<robot name="r"><disable_collisions link1="a" link2="b" reason="User" /></robot>'
    )


def test_ten_thousand_pairs_are_written_and_read_back() -> None:
    pairs = {LinkPair.of(f"l{i}", f"m{j}"): "Never" for i in range(100) for j in range(100)}
    text = SrdfText.empty("r").replace_disabled(pairs)
    read = {LinkPair.of(item.link1, item.link2): item.reason for item in parse_srdf(str(text)).disabled_collisions}
    assert read == pairs
    half = dict(list(pairs.items())[::2])
    assert len(text.replace_disabled(half).semantic.disabled_collisions) == len(half)


@pytest.mark.parametrize(
    "text",
    [
        "\n<?xml version='1.0'?>\n<robot name='r'><group name='a'/></robot>",
        "<?xml version='1.0'?><robot name='r'><x:y/><group name='a'/></robot>",
        "<robot name='r'><!-- a -- b ---><group name='a'/><!----------></robot>",
        "<robot name='r' x:y='1'><group name='a'/></robot>",
        "\ufeff<robot name='r'><group name='a'/></robot>",
    ],
)
def test_what_the_peers_xml_readers_let_pass_is_kept_in_an_edit(text: str) -> None:
    assert str(SrdfText(text).rename("group", "a", "é")) == text.replace("'a'", "'é'").removeprefix("\ufeff")
    there_and_back = SrdfText(text.encode()).rename("group", "a", "é").rename("group", "é", "a")
    assert bytes(there_and_back) == text.encode()


def test_a_text_that_is_no_srdf_is_refused() -> None:
    for text in ("", "<robot name='r'>", "<sdf/>"):
        with pytest.raises(DescriptionError):
            SrdfText(text)


USED = """<robot name="r">
  <group name="a"><joint name="v"/></group>
  <group name="b"><group name="a"/><group name="b"/></group>
  <group_state name="s" group="a"><joint name="v" value="1"/></group_state>
  <end_effector name="e" group="b" parent_link="l" parent_group="a"/>
  <virtual_joint name="v" type="fixed" parent_frame="world" child_link="l"/>
  <passive_joint name="v"/>
</robot>
"""


def test_a_used_part_goes_with_all_that_names_it() -> None:
    text = SrdfText(USED)
    assert [use.words for use in text.uses("group", "a")] == ["group b", "state a/s", "end effector e"]
    after = str(text.remove("group", "a").remove_uses("group", "a"))
    assert '"a"' not in after
    assert '<end_effector name="e" group="b" parent_link="l"/>' in after
    after = str(text.remove("group", "b").remove_uses("group", "b"))
    assert "end_effector" not in after
    assert '"b"' not in after
    assert [use.words for use in text.uses("virtual joint", "v")] == ["group a", "state a/s", "passive joint v"]
    after = str(text.remove_uses("virtual joint", "v"))
    assert after.count('"v"') == 1
    assert '<group name="a"></group>' in after


def test_attributes_members_and_values_are_set_alone() -> None:
    text = SrdfText(USED)
    assert changed_lines(USED, str(text.set_attribute("end effector", ("e",), "parent_group", None))) == [
        '-  <end_effector name="e" group="b" parent_link="l" parent_group="a"/>',
        '+  <end_effector name="e" group="b" parent_link="l"/>',
    ]
    assert 'type="planar"' in str(text.set_attribute("virtual joint", ("v",), "type", "planar"))
    assert 'value="0.5"' in str(text.set_state_value("a", "s", "v", [0.5]))
    assert '<group name="b"><group name="b"/></group>' in str(text.remove_member("b", "group", "a"))
    with pytest.raises(UnknownNameError):
        text.remove_member("b", "joint", "a")
    with pytest.raises(UnknownNameError):
        text.remove_member("c", "joint", "a")
    with pytest.raises(UnknownNameError):
        text.set_attribute("end effector", ("f",), "group", "a")
    with pytest.raises(UnknownNameError):
        text.set_state_value("a", "s", "w", [0.5])


def test_one_value_of_a_state_is_set_and_the_others_stay() -> None:
    joints = "".join(f'<joint name="{name}" value="{number}"/>' for number, name in enumerate(("a", "b", "c")))
    before = f'<robot name="r"><group_state name="s" group="g">{joints}</group_state></robot>'
    for number, name in enumerate(("a", "b", "c")):
        after = str(SrdfText(before).set_state_value("g", "s", name, [0.5]))
        assert after == before.replace(f'name="{name}" value="{number}"', f'name="{name}" value="0.5"')
