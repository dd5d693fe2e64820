# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Every SRDF that PyPI packages carry: byte for byte when unchanged, lenient, and equal to pinocchio's reading."""

from __future__ import annotations

import importlib.util
import math
import re
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from lxml import etree

from robot_semantics import Diagnostics
from robot_semantics.base.names import LinkPair
from robot_semantics.model.joint_types import JointType
from robot_semantics.model.loading import load_robot
from robot_semantics.srdf.edit import SrdfText
from robot_semantics.srdf.table import srdf_from_file
from robot_semantics.xml.xacro import XacroOptions, read_expanded

pytestmark = pytest.mark.corpus


def load_tool() -> ModuleType:
    path = Path(__file__).parent.parent.parent / "tools" / "srdf_corpus.py"
    spec = importlib.util.spec_from_file_location("srdf_corpus", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


TOOL = load_tool()
ENTRIES = list(TOOL.entries())
WITH_ROBOT = [entry for entry in ENTRIES if entry.urdf is not None]


def named(entries: list[Any]) -> list[Any]:
    return [pytest.param(entry, id=f"{entry.srdf.parent.parent.name}-{entry.srdf.stem}") for entry in entries]


@pytest.fixture(autouse=True)
def _packages(package_share: Path) -> None:
    """Skip where the packages are not installed."""


def test_no_file_is_missing() -> None:
    assert len(ENTRIES) >= 44
    assert len(WITH_ROBOT) >= 43


@pytest.mark.parametrize("entry", named(ENTRIES))
def test_unchanged_text_comes_back_byte_for_byte(entry: Any) -> None:
    original = entry.srdf.read_bytes()
    text = SrdfText.from_file(entry.srdf)
    assert bytes(text) == original
    stated = {LinkPair.of(pair.link1, pair.link2): pair.reason for pair in text.semantic.disabled_collisions}
    assert bytes(text.disable_collisions(stated)).count(b"\n") == original.count(b"\n")
    for group in text.semantic.groups[:1]:
        there = text.rename("group", group.name, "naQQQme")
        assert bytes(there) != original
        assert there.semantic.groups[0].name == "naQQQme"
        assert bytes(there.rename("group", "naQQQme", group.name)) == original


@pytest.mark.parametrize("entry", named(WITH_ROBOT))
def test_groups_resolve_leniently(entry: Any) -> None:
    model = load_robot(entry.urdf, entry.srdf, strict=False)
    for group in model.semantics.groups.values():
        assert group.joints
        assert len(group.links) == len(group.joints)
        assert set(group.commandable_joints) <= set(group.active_joints) <= set(group.joints)


@pytest.mark.parametrize("entry", named(WITH_ROBOT))
def test_disabled_pairs_are_pinocchios(entry: Any) -> None:
    pin = pytest.importorskip("pinocchio")
    model = load_robot(entry.urdf, entry.srdf, strict=False)
    # Meshes are of no interest here, and their files are not always installed.
    urdf = re.sub(r"<mesh\b[^>]*?(/>|>\s*</mesh>)", '<sphere radius="0.1"/>', expanded(entry.urdf))
    theirs = pin.buildModelFromXML(urdf)
    geometry = pin.buildGeomFromUrdfString(theirs, urdf, pin.GeometryType.COLLISION)
    geometry.addAllCollisionPairs()
    before = [(pair.first, pair.second) for pair in geometry.collisionPairs]
    pin.removeCollisionPairsFromXML(theirs, geometry, entry.srdf.read_text(), False)
    after = {(pair.first, pair.second) for pair in geometry.collisionPairs}
    links = [theirs.frames[item.parentFrame].name for item in geometry.geometryObjects]
    for first, second in before:
        pair = LinkPair.of(links[first], links[second])
        assert ((first, second) not in after) == (pair in model.semantics.disabled_collisions), pair


@pytest.mark.parametrize("entry", named(WITH_ROBOT))
def test_reference_configurations_are_pinocchios(entry: Any) -> None:
    pin = pytest.importorskip("pinocchio")
    root = load_robot(entry.urdf, entry.srdf, strict=False).root_joint
    urdf = expanded(entry.urdf)
    if root.type is JointType.FLOATING:
        theirs = pin.buildModelFromXML(urdf, pin.JointModelFreeFlyer(), root.name)
    else:
        theirs = pin.buildModelFromXML(urdf)
    pin.loadReferenceConfigurationsFromXML(theirs, entry.srdf.read_text(), False)
    references = {item.key(): item.data() for item in theirs.referenceConfigurations}
    # The text's own states: pinocchio asks neither for the group, which some do not name, nor for its joints.
    states = srdf_from_file(entry.srdf, Diagnostics()).states
    stated = etree.parse(entry.srdf).getroot().findall("group_state")
    assert set(references) == {item.get("name") for item in stated}
    assert {state.name for state in states} == {item.get("name") for item in stated if "group" in item.attrib}
    seen: set[str] = set()
    for state in states:
        if state.name in seen:
            # Of equal names in several groups pinocchio keeps the first.
            continue
        seen.add(state.name)
        for item in state.joints:
            if not theirs.existJointName(item.name) or item.values is None:
                continue
            joint = theirs.joints[theirs.getJointId(item.name)]
            if joint.nq == 4:
                # A planar joint, which pinocchio states as x, y, cosine, sine and does not read from three numbers.
                continue
            is_circle = joint.nq == 2
            expected = (math.cos(item.values[0]), math.sin(item.values[0])) if is_circle else item.values
            np.testing.assert_allclose(
                references[state.name][joint.idx_q : joint.idx_q + joint.nq], expected, atol=1e-12
            )


def test_the_table_in_the_documentation_is_up_to_date() -> None:
    assert TOOL.page() == TOOL.PAGE.read_text()


def expanded(urdf: Path) -> str:
    return etree.tostring(read_expanded(urdf, XacroOptions()).root).decode()
