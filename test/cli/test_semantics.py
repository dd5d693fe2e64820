# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Output of `group`, `groups`, `states` and `find` for people and for programs."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.moveit_cases import moveit_case

Run = Callable[..., Any]

KEYS = [
    "joints", "active_joints", "passive_joints", "fixed_joints", "mimic_joints", "continuous_joints",
    "commandable_joints", "links", "variable_names", "is_chain", "base_link", "tip_link", "common_root", "subgroups",
    "end_effectors", "states",
]  # fmt: skip

GOLDEN = Path(__file__).parent.parent / "data" / "moveit"


def case(name: str) -> tuple[Path, Path]:
    return moveit_case(name, "urdf"), moveit_case(name, "srdf")


def test_group_prints_everything_derived_as_json(run: Run) -> None:
    result = run("groups", *case("eef"), "arm_long", "--json")
    assert result.code == 0
    printed = json.loads(result.out)
    assert list(printed) == ["version", *KEYS]
    theirs = json.loads((GOLDEN / "case__eef.json").read_text())["groups"]["arm_long"]
    assert printed["joints"] == theirs["joint_model_names"]
    assert printed["links"] == theirs["link_model_names"]
    assert printed["end_effectors"] == theirs["attached_end_effector_names"]
    assert (printed["is_chain"], printed["base_link"], printed["tip_link"]) == (True, "base", "palm")
    assert "parent_group_without_link" in result.err


def test_group_prints_a_table_for_people(run: Run) -> None:
    result = run("groups", *case("states"), "g2")
    assert result.code == 0
    assert ["is", "chain", "yes"] in [line.split() for line in result.out.splitlines()]
    assert ["joints", "j1"] in [line.split() for line in result.out.splitlines()]


def test_names_are_shown_as_they_are_whatever_brackets_they_have(run: Run, tmp_path: Path) -> None:
    urdf, srdf = tmp_path / "r.urdf", tmp_path / "r.srdf"
    names = ["[/x]", "[red]y", ":smile:", "z" * 70]
    joint = '<joint name="{0}" type="continuous"><parent link="base"/><child link="{0}"/></joint>'
    joints = "".join(f'<link name="{name}"/>{joint.format(name)}' for name in names)
    urdf.write_text(f'<robot name="[/r]"><link name="base"/>{joints}</robot>')
    group = '<group name="{0}"><joint name="{0}"/></group>'
    state = '<group_state name="{0}" group="{0}"><joint name="{0}" value="1"/></group_state>'
    pair = '<disable_collisions link1="base" link2="{0}" reason="{0}"/>'
    srdf.write_text(f'<robot name="[/r]">{"".join((group + state + pair).format(name) for name in names)}</robot>')
    shown = run("show", urdf, srdf)
    assert (shown.code, shown.err) == (0, "")
    for name in names:
        # Link, joint; group, tip link; state's group and name, value's joint; reason.
        assert shown.out.count(name) == 8
        table = run("groups", urdf, srdf, name).out
        assert table.startswith(f"group {name}\n")
        # And: joints, active, continuous, commandable, links, variables, tip, root, states.
        assert table.count(name) == 10


def test_an_unknown_group_ends_with_its_neighbours(run: Run) -> None:
    result = run("groups", *case("eef"), "amr")
    assert (result.code, result.out) == (1, "")
    assert "error: unknown group 'amr'; did you mean 'arm'" in result.err


def test_strict_refuses_what_lenient_only_reports(run: Run) -> None:
    lenient, strict = run("groups", *case("eef"), "arm"), run("groups", *case("eef"), "arm", "--strict")
    assert (lenient.code, strict.code) == (0, 1)
    assert strict.out == ""
    assert "eef.srdf:13:83:" in lenient.err
    assert "eef.srdf:13:83:" in strict.err


def test_groups_lists_all(run: Run, rover: tuple[Path, Path]) -> None:
    names = json.loads(run("groups", *case("subgroups"), "--json").out)["groups"]
    assert names == json.loads((GOLDEN / "case__subgroups.json").read_text())["group_names"]
    lines = run("groups", *case("subgroups")).out.splitlines()
    assert [line.split()[0] for line in lines[1:]] == names
    assert run("groups", *rover).code == 0


def test_states_are_printed_with_their_values(run: Run) -> None:
    states = json.loads(run("states", *case("virtual_planar"), "--json").out)["states"]
    assert states == {"all": {"p": {"world_joint": [1.0, 2.0, 0.5], "j1": [0.1]}}}
    assert run("states", *case("virtual_planar"), "all").out.splitlines() == [
        "all/p",
        "  world_joint  1 2 0.5",
        "  j1  0.1",
    ]
    partial = json.loads(run("states", *case("states"), "g", "--json", "--fill").out)["states"]
    assert partial["g"]["missing"] == {"j1": [0.1], "j2": [0.0], "j3": [0.0]}


def test_one_state_is_asked_for_by_group_and_name(run: Run, rover: tuple[Path, Path]) -> None:
    everything = json.loads(run("states", *rover, "--json").out)["states"]
    assert json.loads(run("states", *rover, "arm/reach", "--json").out)["states"] == {
        "arm": {"reach": everything["arm"]["reach"]}
    }
    wrong = run("states", *rover, "arm/reech")
    assert (wrong.code, wrong.out) == (1, "")
    assert wrong.err.endswith("error: unknown state 'reech' of group 'arm'; did you mean 'reach'?\n")
    assert run("states", *rover, "amr/reach").err.endswith("error: unknown group 'amr'; did you mean 'arm'?\n")


def test_positions_are_recognised_as_a_state(run: Run) -> None:
    joints = ("world_joint/x=1", "world_joint/y=2", "j1=0.1")
    words = ("states", *case("virtual_planar"), *(word for joint in joints for word in ("--joint", joint)))
    found = {"all": [{"state": "p", "difference": 0.0, "joint": "world_joint"}]}
    assert json.loads(run(*words, "--joint", "world_joint/theta=0.5", "--json").out)["matches"] == found
    whole = ("states", *case("virtual_planar"), "--joint", "world_joint=1 2 0.5", "--joint", "j1=0.1")
    assert json.loads(run(*whole, "--json").out)["matches"] == found
    assert run(*words, "--joint", "world_joint/theta=0.6").out == ""
    near = run(*words, "--joint", "world_joint/theta=0.6", "--tolerance", "0.2")
    assert near.out.startswith("all/p  within 0.1 ")
    assert run(*words, "--tolerance=-1").code == 2
    # The command line itself shows what is wrong with the one; only the robot shows it for the other.
    wrong = run(*words, "--joint", "nope=1", "--joint", "j1=x")
    assert wrong.code == 2
    assert "not 'j1=x'" in wrong.err
    unknown = run(*words, "--joint", "nope=1")
    assert unknown.code == 1
    assert "unknown joint variable 'nope'" in unknown.err


def test_find_tells_groups_pairs_end_effectors_and_passive_joints(run: Run, rover: tuple[Path, Path]) -> None:
    groups = json.loads(run("groups", *case("eef"), "--link", "tool", "--json").out)["groups"]
    assert groups == ["arm", "arm_hand", "arm_long", "zz_small"]
    assert run("groups", *case("eef"), "--joint", "f1").out.split() == ["arm_hand", "hand", "hand2", "hand4"]
    assert run("groups", *case("eef"), "--link", "base").out == ""
    effectors = json.loads(run("show", *case("eef"), "--end-effectors", "--json").out)["end_effectors"]
    parents = {item["name"]: item["parent_group"] for item in effectors}
    theirs = json.loads((GOLDEN / "case__eef.json").read_text())["groups"]
    expected = {group["end_effector_name"]: group["end_effector_parent"][0] for group in theirs.values()}
    assert parents == {name: parent for name, parent in expected.items() if name}
    assert run("show", *case("passive"), "--passive-joints").out.split() == ["j2", "world_joint", "tool_j"]
    pair = json.loads(run("show", *rover, "--pair", "base_link", "lift_link", "--json").out)
    assert (pair["link1"], pair["link2"]) == ("base_link", "lift_link")
    assert isinstance(pair["checked"], bool)


@pytest.mark.parametrize(
    "words", [("groups", "--joint", "nope"), ("groups", "--link", "nope"), ("show", "--pair", "a", "nope")]
)
def test_find_refuses_unknown_names(run: Run, words: tuple[str, ...]) -> None:
    result = run(words[0], *case("passive"), *words[1:])
    assert result.code == 1
    assert "unknown link" in result.err or "unknown joint" in result.err
