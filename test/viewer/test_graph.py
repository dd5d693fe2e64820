# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Graphs of links, joints and groups."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from lxml import etree

from robot_semantics.cli.main import main
from robot_semantics.examples import example
from robot_semantics.viewer.graph import svg_graph
from robot_semantics.viewer.scene import Scene

NAMESPACE = {"s": "http://www.w3.org/2000/svg"}


def found(node: Any, path: str) -> list[str]:
    return [str(text) for text in node.xpath(f"{path}/text()", namespaces=NAMESPACE)]


def test_the_picture_has_every_link_and_joint_and_no_two_boxes_overlap(rover: Scene) -> None:
    model = rover.actors[0].model
    root = etree.fromstring(svg_graph(model).encode())
    texts = found(root, "//s:g/s:text[@class='link']")
    assert sorted(texts) == sorted(model.link_names)
    captions = " ".join(found(root, "//s:g/s:text[@class='joint']"))
    assert all(joint.name in captions for joint in model.joints)
    boxes = [
        [float(box.attrib[key]) for key in ("x", "y", "width", "height")] for box in root.iterfind(".//{*}g/{*}rect")
    ]
    assert len(boxes) == len(model.links)
    for i, (x, y, w, h) in enumerate(boxes):
        assert x + w <= float(root.attrib["width"])
        assert y + h <= float(root.attrib["height"])
        for u, v, a, b in boxes[:i]:
            assert x >= u + a or u >= x + w or y >= v + b or v >= y + h
    assert len(root.findall(".//{*}path")) == len(model.links) - 1


def test_dots_say_which_groups_a_link_is_in(rover: Scene) -> None:
    model = rover.actors[0].model
    root = etree.fromstring(svg_graph(model).encode())
    for node in root.iterfind(".//{*}g"):
        name = node.findtext("{*}text")
        groups = sorted(found(node, "s:circle/s:title"))
        assert groups == sorted(group.name for group in model.semantics.groups.values() if name in group.links)


def test_names_are_escaped(rover: Scene) -> None:
    name = 'a"<&\\'
    model = replace(rover.actors[0].model, name=name)
    assert etree.fromstring(svg_graph(model).encode()).get("aria-label") == name


def test_show_writes_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    robot = ["show", str(example("rover_arm.urdf")), str(example("rover_arm.srdf"))]
    assert main([*robot, "--svg", str(tmp_path / "r.svg")]) == 0
    assert (tmp_path / "r.svg").read_text().startswith("<svg")
