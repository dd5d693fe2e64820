"""Reading without a tree: the same events as with one, and nothing passes that the tree's parser refuses."""

from __future__ import annotations

import gc
from collections.abc import Callable

import pytest

from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.base.errors import DescriptionError
from robot_semantics.urdf.reader import parse_urdf
from robot_semantics.xml.events import MAX_PLAIN_BYTES, Remark, Stray
from robot_semantics.xml.no_collection import no_collection
from robot_semantics.xml.reader import parse_xml, scan_xml

PLAIN = {
    "nested": "<a x='1' y='2'><b/><c><d z=''/></c></a>",
    "white space": "<a>\n <b/>\n\t<c> </c>\n</a>\n",
    "text": "<a>one<b>two</b> three <c/>four\n</a>",
    "character data": "<a><![CDATA[<b> & ]]>more<![CDATA[!]]><b/></a>",
    "text that a comment parts": "<a>one<!-- x -->two</a>",
    "remarks": "<?xml version='1.0'?><!-- 1 --><?p q  r?><?e?><a><!-- 2 --><b><?x y?></b></a><!-- 3 --><?z?>",
    "prefixes": "<a xmlns:p='urn:p'><p:b p:c='1' d='2'/><e xmlns='urn:e'><f/></e></a>",
    "white space in an attribute": "<a x='1\n2\t3'/>",
    "other letters": "<é x='ü'>ñ</é>",
    "a > in an attribute": "<a x='1>2'/>",
}


@pytest.mark.parametrize("text", PLAIN.values(), ids=PLAIN)
def test_the_events_are_those_of_the_tree(text: str) -> None:
    assert scan_xml(text, "x").events == parse_xml(text, "x").events


def test_a_plain_text_makes_no_tree_before_it_is_asked_for() -> None:
    document = scan_xml("<a><b c='1'/></a>", "x")
    assert document._root is None
    assert [element.tag for element in document.elements] == ["a", "b"]
    assert document.at(document.root[0]) == 1


def test_text_and_remarks_are_told_apart() -> None:
    marks = scan_xml("<a>one<!-- x --><b/></a>", "x").events.marks
    assert marks == ["a", Stray("one"), Remark("<!-- x -->"), "b", None, None]


MORE_THAN_TAGS = {
    "a reference in an attribute": ("<a x='1&amp;2'>&lt;</a>", ["1&2"]),
    "a reference by number": ("<a x='&#38;#38;'/>", ["&#38;"]),
    "a default namespace": ("<a xmlns='urn:a' x='1'><b x='2'/></a>", ["1", "2"]),
    "a prefix without declaration": ("<a x='1'><p:b x='2'/></a>", ["1", "2"]),
    "an odd comment": ("<a x='1'><!-- -- --></a>", ["1"]),
    "a document type": ("<!DOCTYPE a><a x='1'/>", ["1"]),
}


@pytest.mark.parametrize(("text", "values"), MORE_THAN_TAGS.values(), ids=MORE_THAN_TAGS)
def test_where_there_is_more_than_tags_the_tree_is_read(text: str, values: list[str]) -> None:
    events = scan_xml(text, "x").events
    assert [attributes.get("x") for attributes in events.attributes if "x" in attributes] == values
    assert events == parse_xml(text, "x", forgiving=True).events


def test_a_default_namespace_is_not_in_the_tags() -> None:
    assert scan_xml("<a xmlns='urn:a'><b/></a>", "x").events.marks == ["a", "b", None, None]


REFUSED = {
    "not closed": "<a><b></a>",
    "two roots": "<a/><b/>",
    "a repeated attribute": "<a x='1' x='2'/>",
    "a repeated attribute under two prefixes": "<a xmlns:p='u' xmlns:q='u' p:x='1' q:x='2'/>",
    "two colons": "<a:b:c xmlns:a='u'/>",
    "a wrong name for xml": "<a xmlns:xml='u'/>",
    "a prefix for nothing": "<a xmlns:p=''/>",
    "an identifier that is none": "<a xml:id='1 2'/>",
    "an unknown entity": "<a>&b;</a>",
    "a declared entity": "<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>",
    "a character that XML has not": "<a>\x01</a>",
    "a < in an attribute": "<a x='<'/>",
    "a text that is too long": f"<a>{'x' * (MAX_PLAIN_BYTES + 10_000)}</a>",
}


def refusal(text: str, *, scan: bool) -> list[str]:
    with pytest.raises(DescriptionError) as caught:
        _ = scan_xml(text, "x") if scan else parse_xml(text, "x", forgiving=True)
    return [f"{problem.code} {problem}" for problem in caught.value.diagnostics]


@pytest.mark.parametrize("text", REFUSED.values(), ids=REFUSED)
def test_what_the_tree_s_parser_refuses_is_refused_in_the_same_words(text: str) -> None:
    assert refusal(text, scan=True) == refusal(text, scan=False)


@pytest.mark.parametrize("depth", [240, 254, 255, 256, 257, 300])
def test_a_robot_may_be_nested_as_deep_as_a_tree(depth: int) -> None:
    text = f"<robot name='r'>{'<x>' * depth}{'</x>' * depth}</robot>"

    def outcome(read: Callable[[], object]) -> str:
        try:
            read()
        except DescriptionError as error:
            return str(error)
        return "read"

    expected = outcome(lambda: parse_xml(text, "x", forgiving=True))
    assert outcome(lambda: parse_urdf(text, "x", Diagnostics())) == expected
    assert (expected == "read") == (depth < 256)


def test_character_data_between_tags_is_text_as_any_other() -> None:
    found = Diagnostics()
    parse_urdf("<robot name='r'><![CDATA[hello]]></robot>", "x", found)
    assert [(problem.code, problem.place.column) for problem in found] == [("stray-text", 1)]


@pytest.mark.parametrize("enabled", [True, False])
def test_the_garbage_collector_is_left_as_it_was(*, enabled: bool) -> None:
    before = gc.isenabled()
    try:
        (gc.enable if enabled else gc.disable)()
        with no_collection(), no_collection():
            assert not gc.isenabled()
        assert gc.isenabled() is enabled
        with pytest.raises(DescriptionError):
            parse_urdf("<robot")
        assert gc.isenabled() is enabled
    finally:
        (gc.enable if before else gc.disable)()
