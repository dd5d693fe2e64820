# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""An SRDF of another robot is told in one sentence; one that is merely out of date is not."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import pytest
from support.moveit_cases import moveit_case

from robot_semantics import Diagnostics
from robot_semantics.live.settings import read_description
from robot_semantics.model.loading import DescriptionTexts, robot_from_text

MOVEIT = Path(__file__).parent.parent / "data" / "moveit"


def urdf(names: str) -> str:
    links = "".join(f'<link name="{name}_link"/>' for name in names)
    joints = "".join(
        f'<joint name="{child}" type="fixed"><parent link="{parent}_link"/><child link="{child}_link"/></joint>'
        for parent, child in pairwise(names)
    )
    return f'<robot name="ours">{links}{joints}</robot>'


def srdf(names: str) -> str:
    pairs = "".join(
        f'<disable_collisions link1="{one}_link" link2="{other}_link" reason="Never"/>'
        for one, other in pairwise(names)
    )
    joints = "".join(f'<joint name="{name}"/>' for name in names[1:])
    return f'<robot name="theirs">\n{pairs}<group name="arm">{joints}</group></robot>'


def problems(ours: str, theirs: str) -> list[tuple[str, str]]:
    diagnostics = Diagnostics()
    robot_from_text(urdf(ours), srdf(theirs), strict=False, diagnostics=diagnostics)
    return [(problem.code, problem.message) for problem in diagnostics.errors]


def test_it_is_one_error_that_counts_the_names() -> None:
    sentence = "the SRDF is for another robot, 'theirs': of the 11 links and joints that it names, 'ours' has none"
    assert problems("abcdef", "uvwxyz") == [("srdf-of-another-robot", sentence)]


def test_a_shared_base_makes_no_difference() -> None:
    ((code, message),) = problems("abcdef", "avwxyz")
    assert code == "srdf-of-another-robot"
    assert message.endswith("'ours' has 1")


@pytest.mark.parametrize("theirs", ["abcdef", "abcdxyz", "axy"])
def test_one_that_is_out_of_date_or_small_is_reported_name_by_name(theirs: str) -> None:
    assert "srdf-of-another-robot" not in {code for code, _ in problems("abcdef", theirs)}


@pytest.mark.parametrize("case", ["subgroups", "passive_mimic_eef_state", "virtual_planar", "chain_v"])
def test_the_node_serves_the_groups_that_moveit_serves_and_keeps_the_error(case: str) -> None:
    expected = json.loads((MOVEIT / f"case__{case}.json").read_text())
    # MoveIt ignores pairs of links that the robot does not have.
    pairs = "".join(f'<disable_collisions link1="x{i}" link2="y{i}" reason="Never"/>' for i in range(200))
    srdf = moveit_case(case, "srdf").read_text().replace("</robot>", f"{pairs}</robot>")
    found = read_description(DescriptionTexts(moveit_case(case, "urdf").read_text(), srdf), strict=False)
    assert "srdf-of-another-robot" in {problem.code for problem in found.problems}
    groups = found.model.semantics.groups
    assert list(groups) == expected["group_names"]
    for name, theirs in expected["groups"].items():
        assert list(groups[name].joints) == theirs["joint_model_names"]
        assert list(groups[name].links) == theirs["link_model_names"]
        assert sorted(groups[name].states) == sorted(theirs["default_state_names"])
