# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Content around the elements of a document, and the depth of elements."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from robot_semantics import DescriptionError, Diagnostics
from robot_semantics.urdf.reader import parse_urdf


def test_what_stands_before_and_behind_the_root_is_kept_in_order() -> None:
    found = parse_urdf("<!-- 1 --><?p q  r?><?e?><robot name='r'/><!-- 2 --><?z?>")
    assert found.prolog == ("<!-- 1 -->", "<?p q  r?>", "<?e?>")
    assert found.epilog == ("<!-- 2 -->", "<?z?>")


MORE_THAN_TAGS = {
    "a reference in an attribute": ("<robot name='1&amp;2'>&lt;</robot>", "1&2"),
    "a reference by number": ("<robot name='&#38;#38;'/>", "&#38;"),
    "a default namespace": ("<robot xmlns='urn:a' name='1'><link name='2'/></robot>", "1"),
    "a prefix without declaration": ("<robot name='1'><p:b x='2'/></robot>", "1"),
    "an odd comment": ("<robot name='1'><!-- -- --></robot>", "1"),
    "a document type": ("<!DOCTYPE a><robot name='1'/>", "1"),
    "many attributes": (f"<robot {' '.join(f'y{n}={chr(39)}{n}{chr(39)}' for n in range(200))} name='1&lt;'/>", "1<"),
}


@pytest.mark.parametrize(("text", "name"), MORE_THAN_TAGS.values(), ids=MORE_THAN_TAGS)
def test_attributes_are_what_they_stand_for(text: str, name: str) -> None:
    assert parse_urdf(text).name == name


def test_a_default_namespace_is_not_in_the_tags() -> None:
    found = parse_urdf("<robot name='r' xmlns='urn:a'><link name='a'/></robot>")
    assert [link.name for link in found.links] == ["a"]
    assert found.namespaces == (("", "urn:a"),)


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
