"""The outline of a document: tags, text and remarks in the order in which they are written."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.base.errors import DescriptionError
from robot_semantics.urdf.outline import Outline, Remark, Stray, outline_of
from robot_semantics.urdf.reader import parse_urdf
from robot_semantics.xml.reader import parse_xml


def outline(text: str) -> Outline:
    return outline_of(parse_xml(text, "x", forgiving=True).root)


def test_text_and_remarks_are_told_apart() -> None:
    marks = outline("<a>one<!-- x --><b/></a>").marks
    assert marks == ["a", Stray("one"), Remark("<!-- x -->"), "b", None, None]


def test_what_stands_before_and_behind_the_root_is_kept_in_order() -> None:
    found = outline("<!-- 1 --><?p q  r?><?e?><a/><!-- 2 --><?z?>")
    assert found.prolog == ("<!-- 1 -->", "<?p q  r?>", "<?e?>")
    assert found.epilog == ("<!-- 2 -->", "<?z?>")


MORE_THAN_TAGS = {
    "a reference in an attribute": ("<a x='1&amp;2'>&lt;</a>", ["1&2"]),
    "a reference by number": ("<a x='&#38;#38;'/>", ["&#38;"]),
    "a default namespace": ("<a xmlns='urn:a' x='1'><b x='2'/></a>", ["1", "2"]),
    "a prefix without declaration": ("<a x='1'><p:b x='2'/></a>", ["1", "2"]),
    "an odd comment": ("<a x='1'><!-- -- --></a>", ["1"]),
    "a document type": ("<!DOCTYPE a><a x='1'/>", ["1"]),
    "many attributes": (f"<a {' '.join(f'y{n}={chr(39)}{n}{chr(39)}' for n in range(200))} x='1&lt;'/>", ["1<"]),
}


@pytest.mark.parametrize(("text", "values"), MORE_THAN_TAGS.values(), ids=MORE_THAN_TAGS)
def test_attributes_are_what_they_stand_for(text: str, values: list[str]) -> None:
    assert [attributes["x"] for attributes in outline(text).attributes if "x" in attributes] == values


def test_a_default_namespace_is_not_in_the_tags() -> None:
    assert outline("<a xmlns='urn:a'><b/></a>").marks == ["a", "b", None, None]


@pytest.mark.parametrize("depth", [240, 254, 255, 256, 257, 300])
def test_a_robot_may_be_nested_255_deep(depth: int) -> None:
    text = f"<robot name='r'>{'<x>' * depth}{'</x>' * depth}</robot>"

    def outcome(read: Callable[[], object]) -> str:
        try:
            read()
        except DescriptionError as error:
            return str(error)
        return "read"

    result = outcome(lambda: parse_urdf(text, "x", Diagnostics()))
    assert result == "read" if depth < 256 else "nested too deep" in result


def test_character_data_between_tags_is_text_as_any_other() -> None:
    found = Diagnostics()
    parse_urdf("<robot name='r'><![CDATA[hello]]></robot>", "x", found)
    assert [(problem.code, problem.place.column) for problem in found] == [("stray-text", 1)]
