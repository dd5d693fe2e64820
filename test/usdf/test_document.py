"""What doc/usdf.md shows is what happens."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from lxml import etree

from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.convert.json_form import parse_json
from robot_semantics.usdf.reader import parse_world
from robot_semantics.usdf.schema import full_schema
from robot_semantics.usdf.vocabulary import ELEMENTS, SIX_NUMBERS, written

DOCUMENT = (Path(__file__).parents[2] / "doc" / "usdf.md").read_text()
PACKAGE = Path(__file__).parents[2] / "robot_semantics"


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", DOCUMENT, re.DOTALL)


def test_the_example_is_a_world_state() -> None:
    (text,) = blocks("xml")
    diagnostics = Diagnostics()
    state = parse_world(text, diagnostics=diagnostics)
    assert len(diagnostics) == 0
    assert full_schema().validate(etree.fromstring(text.encode()))
    assert (state.name, state.time_ns, state.model("pr2").parent) == ("kitchen", 12_500_000_000, "odom")


def test_the_json_example_is_one() -> None:
    (text,) = blocks("json")
    assert parse_json(text).model("pr2").urdf_sha256 == "…"


def test_every_code_of_the_table_is_in_the_package() -> None:
    table = DOCUMENT[DOCUMENT.index("## Errors") : DOCUMENT.index("## How each")]
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


@pytest.mark.parametrize("tag", [tag for tag, spec in ELEMENTS.items() if tag != "world"])
def test_the_table_of_elements_and_the_schema_agree(tag: str) -> None:
    """An element with everything its table entry allows is valid; without what it requires it is not."""
    spec = ELEMENTS[tag]
    values = {"rs:time": "1.000000000", "rs:hash": "0" * 64, "rs:quaternion": "0 0 0 1"}
    holders = {"parent": "frame", "positions": "joint_state", "velocities": "joint_state", "torques": "joint_state"}
    holders |= {"wrench": "link_state", "link_state": "model_state", "joint_state": "model_state"}
    holders |= {"rs:array": "rs:engine", "rs:property": "rs:engine", "pose": "frame", "twist": "frame"}

    def element(name: str, attributes: frozenset[str], inner: str) -> str:
        said = "".join(f' {written(key)}="{values.get(written(key), "a")}"' for key in sorted(attributes))
        return f"<{name}{said}>{inner}</{name}>"

    def document(attributes: frozenset[str]) -> str:
        name = written(tag)
        inner = "0 0 0 0 0 0" if name in SIX_NUMBERS else "1" if spec.text else ""
        children = "".join(
            element(
                written(child),
                ELEMENTS[child].required,
                "0 0 0 0 0 0" if child in SIX_NUMBERS else "1" if ELEMENTS[child].text else "",
            )
            for child in sorted(spec.once | spec.many)
        )
        body = element(name, attributes, inner or children)
        holder = holders.get(name)
        while holder is not None:
            key = next(key for key in ELEMENTS if written(key) == holder)
            body = element(holder, ELEMENTS[key].required, body)
            holder = holders.get(holder)
        if name != "world_state":
            body = f"<world_state>{body}</world_state>"
        return body.replace("<world_state", '<world_state xmlns:rs="urn:robot-semantics:usdf:1"', 1)

    assert full_schema().validate(etree.fromstring(document(spec.required | spec.optional))), full_schema().error_log
    for missing in spec.required:
        assert not full_schema().validate(etree.fromstring(document(spec.required - {missing})))
    assert not full_schema().validate(etree.fromstring(document(spec.required | {"unheard_of"})))
