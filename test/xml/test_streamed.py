# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""A robot read child by child of its root equals the robot of the whole tree, with the same problems and places."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.base.errors import DescriptionError
from robot_semantics.urdf.reader import read_urdf_robot
from robot_semantics.urdf.writer import write_urdf
from robot_semantics.xml import document, reader
from robot_semantics.xml.document import StreamedDocument, XmlDocument
from robot_semantics.xml.reader import parse_xml

ROOT = Path(__file__).resolve().parents[2]
FILES = sorted({*ROOT.glob("conformance/**/*.urdf"), *ROOT.glob("robot_semantics/examples/*.urdf")})

MANY = "".join(f"<link name='l{n}'/>\n" for n in range(5_000))
TEXTS = {
    "only a root": "<robot name='r'/>",
    "only a text": "<robot name='r'> a </robot>",
    "texts between": "<robot name='r'>a<link name='l'/>b<!-- c -->d<link name='m'/>e</robot>",
    "around the root": "<!-- 1 --><?p?><robot name='r'><link name='l'/></robot><!-- 2 --><?q?>",
    "a prefix": "<a:robot xmlns:a='urn:a' name='r'><link name='l'/></a:robot>",
    "a default namespace": "<robot xmlns='urn:a' name='r'><link name='l'/></robot>",
    "a root within the root": "<robot name='r'><robot name='s'/><link name='l'/></robot>",
    "another root": "<sdf><link name='l'/></sdf>",
    "an undeclared prefix": "<robot name='r'><a:b/></robot>",
    "an odd comment": "<robot name='r'><!-- -- --></robot>",
    "an odd declaration": "<?xml version='1.0' ?> <robot name='r'/>",
    "a doctype": "<!DOCTYPE robot><robot name='r'><link name='l'/></robot>",
    "an identity": "<robot name='r' xml:id='1'><link name='l' xml:id='1'/></robot>",
    "an expression": "<robot name='r'><link name='${l}'/></robot>",
    "an older form at the end": f"<robot name='r'>{MANY}<joint name='j' type='fixed'>"
    "<parent link='l1'><origin/></parent><child link='l2'/></joint></robot>",
    "a fault at the end": f"<robot name='r'>{MANY}<link></robot>",
    "too deep at the end": f"<robot name='r'>{MANY}{'<x>' * 300}{'</x>' * 300}</robot>",
    "in another encoding": "<?xml version='1.0' encoding='latin-1'?><robot name='é'/>".encode("latin-1"),
    "nothing": " ",
}


@pytest.fixture(autouse=True)
def _short_texts_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "_SMALL", 0)


def outcome(parse: Callable[[str | bytes, str], XmlDocument], text: str | bytes) -> object:
    """Return what is read and reported."""
    found = Diagnostics()
    try:
        robot = read_urdf_robot(parse(text, "r.urdf"), found)
    except DescriptionError as error:
        return str(error), list(map(str, found))
    kept = (robot.prolog, robot.epilog, robot.complete, robot.rewritten)
    return repr(robot), kept, write_urdf(robot), list(map(str, found))


def parse_streamed(text: str | bytes, source: str) -> XmlDocument:
    return parse_xml(text, source, forgiving=True, streamed=True)


def in_tree(text: str | bytes, source: str) -> XmlDocument:
    return parse_xml(text, source, forgiving=True)


@pytest.mark.parametrize("piece", [1 << 16, 61])
def test_every_robot_of_the_conformance_suite_is_the_same(piece: int, monkeypatch: pytest.MonkeyPatch) -> None:
    assert len(FILES) > 100
    monkeypatch.setattr(document, "_PIECE", piece)
    for file in FILES:
        text = file.read_bytes()
        assert outcome(parse_streamed, text) == outcome(in_tree, text), file


@pytest.mark.parametrize("piece", [1 << 16, 17])
@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_rare_texts_are_the_same(text: str | bytes, piece: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(document, "_PIECE", piece)
    assert outcome(parse_streamed, text) == outcome(in_tree, text)


def test_a_text_over_the_limit_is_refused_in_the_middle_of_reading() -> None:
    text = f"<robot name='r'>{MANY}<x>{'1' * 10_100_000}</x></robot>"
    with pytest.raises(DescriptionError, match="longer than 10,000,000 bytes"):
        read_urdf_robot(parse_streamed(text, "r.urdf"), Diagnostics())


def test_a_document_can_be_read_again_and_has_its_tree() -> None:
    document = parse_streamed(f"<robot name='r'>{MANY}</robot>", "r.urdf")
    assert isinstance(document, StreamedDocument)
    first = read_urdf_robot(document)
    assert len(first.links) == 5_000
    assert read_urdf_robot(document) == first
    assert len(document.root) == len(document.elements) - 1 == 5_000
