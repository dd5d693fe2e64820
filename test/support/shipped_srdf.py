# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Robots with a URDF and the SRDF that people wrote for it, from a package of example robots."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.urdf_trees import SHARE

from robot_semantics import Diagnostics, RobotModel
from robot_semantics.model.loading import load_robot

SHIPPED_SRDF = {
    "go2": ("go2_description/urdf/go2.urdf", "go2_description/srdf/go2.srdf"),
    "anymal": ("anymal_b_simple_description/robots/anymal.urdf", "anymal_b_simple_description/srdf/anymal.srdf"),
    "talos": ("talos_data/robots/talos_reduced.urdf", "talos_data/srdf/talos.srdf"),
    "icub": ("icub_description/robots/icub.urdf", "icub_description/srdf/icub.srdf"),
    "pr2": ("pr2_description/urdf/pr2.urdf", "pr2_description/srdf/pr2.srdf"),
}
"""Robots whose shipped groups and end effectors the suggestions reach."""
MOST_ACTIONS = 25
"""Actions from nothing to all shipped groups and end effectors."""


def robot_file(name: str) -> Path:
    """Return a file of the example robots; the test is skipped without them."""
    path = SHARE / name
    if not path.exists():
        pytest.skip("example-robot-data is not installed")
    return path


def described(urdf: str, srdf: str | None = None) -> RobotModel:
    """Load one of the example robots."""
    return load_robot(robot_file(urdf), srdf and robot_file(srdf), strict=False, diagnostics=Diagnostics())


def group_joints(robot: RobotModel) -> dict[str, frozenset[str]]:
    """Return the active joints of each group; the virtual joint has one name."""
    virtual = {joint.name for joint in robot.joints if joint.virtual}
    return {
        name: frozenset("virtual" if joint in virtual else joint for joint in group.active_joints)
        for name, group in robot.semantics.groups.items()
    }


def missing_parts(robot: RobotModel, shipped: RobotModel) -> tuple[set[frozenset[str]], set[str]]:
    """Return the groups, by their joints, and the parent links of end effectors that only the shipped SRDF has."""
    links = {item.parent_link for item in robot.semantics.end_effectors.values()}
    wanted = {item.parent_link for item in shipped.semantics.end_effectors.values()}
    return set(group_joints(shipped).values()) - set(group_joints(robot).values()), wanted - links
