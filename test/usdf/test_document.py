# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The examples in the specification and in doc/usdf.md give the documented results."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import fields
from pathlib import Path

import pytest
from lxml import etree

from robot_semantics import Diagnostics
from robot_semantics.convert.json_form import parse_json
from robot_semantics.usdf import world_state
from robot_semantics.usdf.reader import parse_world
from robot_semantics.usdf.table import SIX, USDF
from robot_semantics.usdf.writer import full_schema

DOCUMENT = (Path(__file__).parents[2] / "doc" / "usdf.md").read_text()
SPECIFICATION = (Path(__file__).parents[2] / "spec" / "usdf-1.0.md").read_text()
PACKAGE = Path(__file__).parents[2] / "robot_semantics"


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", SPECIFICATION, re.DOTALL)


def test_the_example_is_a_world_state() -> None:
    (text,) = blocks("xml")
    diagnostics = Diagnostics()
    state = parse_world(text, diagnostics=diagnostics)
    assert len(diagnostics) == 0
    assert full_schema().validate(etree.fromstring(text.encode()))
    assert (state.name, state.time_ns, state.model("pr2").parent) == ("kitchen", 12_500_000_000, "odom")


def test_the_example_of_the_page_is_a_world_state() -> None:
    (text,) = re.findall(r"```xml\n(.*?)```", DOCUMENT, re.DOTALL)
    assert parse_world(text).model("pr2").description == "package://pr2_description/robots/pr2.urdf"


def test_the_json_example_is_one() -> None:
    (text,) = blocks("json")
    assert parse_json(text).model("pr2").age_ns == 500_000_000


def test_every_code_of_the_table_is_in_the_package() -> None:
    table = DOCUMENT[DOCUMENT.index("## Errors") :]
    codes = {
        code
        for row in table.splitlines()
        if row.startswith("| `")
        for code in re.findall(r"`([a-z-]+)`", row.split("|")[1])
    }
    sources = "\n".join(
        path.read_text()
        for path in (path for room in ("usdf", "state", "xml", "model") for path in PACKAGE.glob(f"{room}/*.py"))
    )
    assert len(codes) > 25
    for code in codes:
        assert f'"{code}"' in sources, code


ELEMENTS = {element.tag: element for element in USDF.root.all()}
HOLDERS = {
    child.tag: holder.tag for holder in ELEMENTS.values() for child in (c.element for c in holder.children.values())
}
VALUES = {"rs:time": "1.000000000", "rs:age": "0.5", "rs:hash": "0" * 64, "rs:quaternion": "0 0 0 1"}


@pytest.mark.parametrize("tag", ELEMENTS)
def test_the_table_of_elements_and_the_schema_agree(tag: str) -> None:
    """An element with all content that its table entry allows is valid; without a required item it is not."""
    spec = ELEMENTS[tag]

    def inside(name: str) -> str:
        text = ELEMENTS[name].text
        return "" if text is None else "0 0 0 0 0 0" if text is SIX else "1"

    def element(name: str, attributes: Iterable[str], inner: str) -> str:
        said = "".join(f' {key}="{VALUES.get(key, "a")}"' for key in sorted(attributes))
        return f"<{name}{said}>{inner}</{name}>"

    def document(attributes: Iterable[str], more: str = "") -> str:
        children = "".join(element(child, ELEMENTS[child].required, inside(child)) for child in spec.children)
        body = element(tag, attributes, (inside(tag) or children) + more)
        holder = HOLDERS.get(tag)
        while holder is not None:
            body = element(holder, ELEMENTS[holder].required, body)
            holder = HOLDERS.get(holder)
        return body.replace("<world_state", '<world_state xmlns:rs="urn:robot-semantics:usdf:1" xmlns:q="urn:q"', 1)

    def valid(text: str) -> bool:
        return bool(full_schema().validate(etree.fromstring(text.encode())))

    assert valid(document(spec.attributes)), full_schema().error_log
    assert valid(document({*spec.required, "q:foreign", "rs:newer"}))
    for missing in spec.required:
        assert not valid(document(set(spec.required) - {missing}))
    assert not valid(document({*spec.required, "unheard_of"}))
    assert not valid(document(spec.required, "<unheard_of/>"))
    if spec.text is None and spec.children:
        assert valid(document(spec.required, "<q:a>b</q:a><rs:newer/>"))

    assert valid(document(spec.required, "<rs:engine/>" if spec.tag != "world_state" and spec.text is None else ""))


def test_an_item_that_is_of_no_document_has_the_number_minus_1() -> None:
    classes = [one for one in vars(world_state).values() if "ordinal" in getattr(one, "__annotations__", {})]
    assert {one.__name__ for one in classes} >= {"WorldState", "ModelState", "Frame", "LinkState", "JointState"}
    for one in classes:
        assert {item.name: item.default for item in fields(one)}["ordinal"] == -1
