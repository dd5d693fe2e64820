# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Lenient loading against what the real MoveIt 2 computed (test/data/moveit, whose README names the program versions).

Every field of every file is compared but these, where this package differs on purpose:

- ``common_root``: the nearest joint above all of a group's joint roots; MoveIt answers the model's root joint for
  siblings. The expected joint is worked out here from MoveIt's own ``joint_roots`` and joint tree.
- mimic cycles: only the joints of the cycle lose their mimic; MoveIt switches off every mimic of the model.
- state values: a number that cannot be read, or a joint that is given twice, is left out; MoveIt reads 0, or joins
  the two.
- the default position of a planar or floating mimic joint: MoveIt moves its first variable alone.
- ``mimic_of_descendant``: MoveIt dies on it; this package must answer.

The mimics of fixed joints are in MoveIt's data and not in this model.
"""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.moveit_cases import moveit_case

from robot_semantics import DescriptionError, JointSpace, RobotModel
from robot_semantics.base.names import LinkPair
from robot_semantics.model.loading import load_robot, robot_from_text
from robot_semantics.model.robot_model import JointModel

GOLDEN = Path(__file__).parent.parent / "data" / "moveit"
CASES = sorted(GOLDEN.glob("case__*.json"))
ROBOTS = sorted((*GOLDEN.glob("erd_*.json"), *GOLDEN.glob("roboplan__*.json")))

MIMIC_CYCLES = {"case__mimic_self"}
DIES_IN_MOVEIT = {"case__mimic_of_descendant"}
UNREADABLE_VALUES = {
    ("case__state_values", "g"): {"abc", "empty", "nan", "inf", "xacro", "sci_bad", "big", "x_one"},
}
TYPE_NAMES = {
    "revolute": "Revolute",
    "continuous": "Revolute",
    "prismatic": "Prismatic",
    "fixed": "Fixed",
    "planar": "Planar",
    "floating": "Floating",
}


def golden(path: Path) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(path.read_text())
    return loaded


def load_case(path: Path) -> RobotModel:
    name = path.stem.removeprefix("case__")
    return load_robot(moveit_case(name, "urdf"), moveit_case(name, "srdf"), strict=False)


def load_from_package(path: Path, share: Path) -> RobotModel:
    inputs = golden(path)["input"]
    srdf = share / inputs["srdf"]
    if path.stem.endswith("_unexpanded"):
        # The xacro source given as if it were a URDF: what xacro would expand is foreign to both programs.
        return robot_from_text((share / inputs["urdf"]).read_text(), srdf.read_text(), strict=False)
    urdf = share / inputs["urdf"]
    urdf = urdf if urdf.exists() else srdf.with_suffix(".urdf")
    # Some packages ship an xacro with the name of a URDF; the expected answers are for its expansion.
    return load_robot(urdf, srdf, strict=False, xacro=b"<xacro:" in urdf.read_bytes() or None)


@pytest.mark.corpus
@pytest.mark.parametrize("path", ROBOTS, ids=lambda path: path.stem)
def test_robot_is_what_moveit_computes(path: Path, package_share: Path) -> None:
    expected = golden(path)
    if expected["ok"]:
        compare(load_from_package(path, package_share), expected, path.stem)
    else:
        with pytest.raises(DescriptionError):
            load_from_package(path, package_share)


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_case_is_what_moveit_computes(path: Path) -> None:
    expected = golden(path)
    if path.stem in DIES_IN_MOVEIT:
        assert load_case(path).semantics.groups["c_only"].common_root == "c"
    elif not expected["ok"]:
        with pytest.raises(DescriptionError):
            load_case(path)
    else:
        compare(load_case(path), expected, path.stem)


def test_there_are_as_many_golden_files_as_were_made() -> None:
    assert len(CASES) >= 43
    assert len(ROBOTS) >= 46
    assert sum(len(golden(path).get("groups", ())) for path in (*CASES, *ROBOTS)) >= 380


def compare(model: RobotModel, expected: dict[str, Any], case: str) -> None:
    """Compare every field of one golden file with the model."""
    compare_tree(model, expected, case)
    compare_srdf(model, expected)
    semantics = model.semantics
    assert list(semantics.groups) == expected["group_names"]
    by_group = {effector.group: effector for effector in semantics.end_effectors.values()}
    assert sorted(by_group) == sorted(set(expected["end_effectors"]))
    for name, theirs in expected["groups"].items():
        ours = semantics.groups[name]
        assert list(ours.joints) == theirs["joint_model_names"], name
        assert list(ours.fixed_joints) == theirs["fixed_joint_names"], name
        assert list(ours.continuous_joints) == theirs["continuous_joint_names"], name
        assert list(ours.links) == theirs["link_model_names"], name
        assert list(ours.variable_names) == theirs["variable_names"], name
        assert list(ours.subgroups) == theirs["subgroup_names"], name
        assert list(ours.end_effectors) == theirs["attached_end_effector_names"], name
        passive = {joint["name"] for joint in expected["joints"] if joint["is_passive"]}
        assert list(ours.passive_joints) == [joint for joint in theirs["joint_model_names"] if joint in passive], name
        if case not in MIMIC_CYCLES:
            assert list(ours.active_joints) == theirs["active_joint_names"], name
            assert list(ours.mimic_joints) == theirs["mimic_joint_names"], name
            assert ours.is_chain == theirs["is_chain"], name
            assert ours.common_root == nearest_common_root(expected, theirs["joint_roots"]), name
            assert list(ours.commandable_joints) == [j for j in theirs["active_joint_names"] if j not in passive], name
        if ours.is_chain:
            parents = {joint["name"]: joint for joint in expected["joints"]}
            first, last = parents[ours.joints[0]], parents[ours.joints[-1]]
            assert ours.tip_link == last["child_link"]
            assert ours.base_link == (first["parent_link"] or model.root_joint.parent_link)
        else:
            assert (ours.base_link, ours.tip_link) == ("", "")
        assert (name in by_group) == theirs["is_end_effector"], name
        if theirs["is_end_effector"]:
            last_effector = [effector for effector in semantics.end_effectors.values() if effector.group == name][-1]
            assert last_effector.name == theirs["end_effector_name"]
            assert [last_effector.parent_group, last_effector.parent_link] == theirs["end_effector_parent"]
        if case not in MIMIC_CYCLES:
            compare_default_positions(model, name, theirs["default_positions"])
        compare_states(model, name, theirs, UNREADABLE_VALUES.get((case, name), set()))


def compare_tree(model: RobotModel, expected: dict[str, Any], case: str) -> None:
    assert model.name == expected["model_name"]
    assert model.root_link == expected["root_link"]
    root = model.root_joint
    assert (root.name, TYPE_NAMES[root.type.value]) == (expected["root_joint"]["name"], expected["root_joint"]["type"])
    frame = root.parent_link if root.position_count else model.root_link
    assert frame == expected["model_frame"]
    assert list(model.link_names) == expected["links"]
    assert [joint.name for joint in model.joints] == [joint["name"] for joint in expected["joints"]]
    variables = [variable for joint in model.joints for variable in joint.variable_names]
    assert variables == expected["variable_names"]
    for ours, theirs in zip(model.joints, expected["joints"], strict=True):
        compare_joint(ours, theirs, case)
    if case not in MIMIC_CYCLES:
        assert [joint.name for joint in model.joints if joint.is_active] == expected["active_joints"]
        mimics = [joint.name for joint in model.joints if joint.mimic is not None and joint.position_count]
        assert mimics == [name for name in expected["mimic_joints"] if model.joint(name).position_count]
    continuous = [joint.name for joint in model.joints if joint.type.value == "continuous"]
    assert continuous == expected["continuous_joints"]


def compare_default_positions(model: RobotModel, group: str, expected: dict[str, float]) -> None:
    """Compare a group's default positions; MoveIt's of a mimic joint follow a leader in the group, but no other."""
    space = JointSpace.of(model)
    positions: dict[str, Any] = {**space.unpack(space.neutral())}
    joints = model.semantics.groups[group].joints
    for name in joints:
        mimic = model.joint(name).mimic
        if mimic is not None and mimic.joint not in joints:
            positions[name] = model.joint(name).limits.default
        elif mimic is not None:
            positions |= dict.fromkeys(model.joint(name).variable_names[1:], 0.0)
    ours = {name: positions[name] for name in model.semantics.groups[group].variable_names}
    assert ours == pytest.approx(expected, abs=1e-12), group


def compare_bounds(ours: JointModel, theirs: dict[str, Any]) -> None:
    """Compare bounds and default position of one joint; the quaternion's bounds are the same for all robots."""
    name, bounds = ours.name, theirs["bounds"]
    assert len(bounds) == ours.position_count, name
    if ours.position_count > 1:
        assert not any(bound["velocity_bounded"] for bound in bounds), name
        return
    for bound in bounds:
        if bound["bounded"]:
            assert ours.limits.bounds == (bound["min"], bound["max"]), name
        else:
            assert ours.limits.bounds == (-np.inf, np.inf), name
        assert bound["velocity_bounded"] == (0.0 < abs(ours.limits.velocity) < np.inf), name
        if bound["velocity_bounded"]:
            assert abs(ours.limits.velocity) == bound["max_velocity"], name
        assert [ours.limits.default] == pytest.approx(theirs["default"], abs=1e-12), name


def compare_joint(ours: JointModel, theirs: dict[str, Any], case: str) -> None:
    name = ours.name
    assert TYPE_NAMES[ours.type.value] == theirs["type"], name
    assert list(ours.variable_names) == theirs["variables"], name
    assert ours.child_link == theirs["child_link"], name
    if ours.index:
        assert ours.parent_link == theirs["parent_link"], name
    assert ours.passive == theirs["is_passive"], name
    assert (ours.type.value == "continuous") == theirs["continuous"], name
    if case not in MIMIC_CYCLES and ours.position_count:
        assert (ours.mimic.joint if ours.mimic else None) == theirs["mimic"], name
        if ours.mimic:
            assert ours.mimic.multiplier == pytest.approx(theirs["mimic_factor"], rel=1e-12), name
            assert ours.mimic.offset == pytest.approx(theirs["mimic_offset"], rel=1e-12, abs=1e-15), name
    compare_bounds(ours, theirs)


def compare_srdf(model: RobotModel, expected: dict[str, Any]) -> None:
    """Compare srdfdom's content of the SRDF with the semantics."""
    srdf, semantics = expected["srdf"], model.semantics
    assert semantics.srdf is not None
    assert semantics.srdf.name == srdf["name"]
    assert [dataclasses.asdict(joint) for joint in semantics.virtual_joints] == srdf["virtual_joints"]
    in_model = [name for name in srdf["passive_joints"] if name in model.joint_index]
    assert list(semantics.passive_joints) == list(dict.fromkeys(in_model))
    assert list(semantics.default_disabled_links) == list(dict.fromkeys(srdf["no_default_collision_links"]))
    assert {tuple(sorted(pair[:2])) for pair in srdf["enabled_collision_pairs"]} == set(
        map(tuple, semantics.enabled_collisions)
    )
    disabled = srdf["disabled_collision_pairs"]
    if isinstance(disabled, dict):
        # For real robots only the number was stored, with every repetition.
        links = model.link_index
        known = [pair for pair in semantics.srdf.disabled_collisions if pair.link1 in links and pair.link2 in links]
        assert len(known) == disabled["count"]
        assert set(semantics.disabled_collisions) == {LinkPair.of(pair.link1, pair.link2) for pair in known}
    else:
        reasons: dict[LinkPair, str] = {}
        for link1, link2, *reason in disabled:
            reasons.setdefault(LinkPair.of(link1, link2), *(reason or [""]))
        assert semantics.disabled_collisions == reasons


def compare_states(model: RobotModel, group: str, theirs: dict[str, Any], unreadable: set[str]) -> None:
    states = model.semantics.groups[group].states
    names = [name for name in dict.fromkeys(theirs["default_state_names"]) if name not in unreadable]
    assert sorted(states) == sorted(names), group
    for name in names:
        ours = {
            variable: value
            for joint, values in model.semantics.states[group, name].joints.items()
            for variable, value in zip(model.joint(joint).variable_names, values, strict=True)
        }
        assert ours == theirs["default_states"][name], (group, name)


def nearest_common_root(expected: dict[str, Any], roots: list[str]) -> str:
    """Return the nearest joint above, or among, `roots` by walking MoveIt's own tree."""
    above_link = {joint["child_link"]: joint for joint in expected["joints"]}

    def to_root(name: str) -> list[str]:
        joint = next(joint for joint in reversed(expected["joints"]) if joint["name"] == name)
        path = [joint["name"]]
        while joint["parent_link"] is not None:
            joint = above_link[joint["parent_link"]]
            path.append(joint["name"])
        return path

    if not roots:
        return ""
    paths = [to_root(name) for name in roots]
    return next(name for name in paths[0] if all(name in path for path in paths))
