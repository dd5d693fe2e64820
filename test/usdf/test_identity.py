"""A robot's hash is that of its URDF's content, not of how the text is laid out."""

from __future__ import annotations

import hashlib
from io import BytesIO

import pytest
from lxml import etree

from robot_semantics.examples import example
from robot_semantics.model.loading import load_robot, robot_from_text
from robot_semantics.usdf.identity import urdf_digest

PLAIN = (
    '<robot name="r"><link name="a"><visual name="v"><geometry><sphere radius="1"/></geometry></visual></link></robot>'
)


def digest(text: str) -> str | None:
    return urdf_digest(robot_from_text(text))


def test_it_is_the_sha_256_of_the_canonical_xml() -> None:
    written = BytesIO()
    etree.parse(str(example("rover_arm.urdf"))).write_c14n(written, with_comments=False)
    expected = hashlib.sha256(written.getvalue()).hexdigest()
    assert urdf_digest(load_robot(example("rover_arm.urdf"))) == expected


@pytest.mark.parametrize(
    "same",
    [
        "<?xml version='1.0'?>" + PLAIN,
        PLAIN.replace('"', "'"),
        PLAIN.replace("<link", "<!-- a comment --><link"),
        PLAIN.replace('<sphere radius="1"/>', '<sphere   radius="1" ></sphere>'),
    ],
)
def test_layout_does_not_matter(same: str) -> None:
    assert digest(same) == digest(PLAIN)


@pytest.mark.parametrize("change", [('radius="1"', 'radius="1.5"'), ('name="v"', 'name="w"'), ('name="r"', 'name="q"')])
def test_content_does(change: tuple[str, str]) -> None:
    assert digest(PLAIN.replace(*change)) != digest(PLAIN)
