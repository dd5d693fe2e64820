# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Application of an SRDF tree to a robot, as in MoveIt; every problem has its place."""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType

from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.model import collision_pairs
from robot_semantics.model.end_effectors import resolve_end_effectors
from robot_semantics.model.group_members import resolve_members
from robot_semantics.model.group_states import resolve_states, states_of_groups
from robot_semantics.model.groups import derive_groups
from robot_semantics.model.other_robot import another_robot_message
from robot_semantics.model.robot_model import RobotModel
from robot_semantics.model.semantic_names import check_empty_groups, check_names
from robot_semantics.model.semantic_scope import ResolutionScope, SrdfReporter
from robot_semantics.model.semantics import Semantics
from robot_semantics.model.virtual_joints import resolve_virtual_joints, with_root_joint
from robot_semantics.srdf import tree


def apply_semantics(model: RobotModel, semantic: tree.SrdfDocument, diagnostics: Diagnostics) -> RobotModel:
    """Return the robot with its virtual root joint, passive joints and all semantics; `model` does not change.

    Invalid parts are left out exactly as in srdfdom and MoveIt, and reported in `diagnostics`. An SRDF of a different
    robot gives only one error.
    """
    another = another_robot_message(semantic, model)
    if another is not None:
        diagnostics.error("srdf-of-another-robot", another, semantic.places.place(semantic.at, "name"))
        diagnostics = Diagnostics()
    scope = ResolutionScope(semantic, diagnostics, model=model)
    check_names(scope)
    if semantic.name and semantic.name != model.name:
        scope.warning(
            "robot-name-differs",
            f"the SRDF is for robot '{semantic.name}', but the URDF has robot '{model.name}'",
            semantic.at,
            "name",
        )
    virtual_joints = resolve_virtual_joints(scope)
    model = with_root_joint(model, virtual_joints)
    urdf_names = (joint.name for joint in model.joints if not joint.virtual)
    scope = replace(scope, model=model, joint_names=frozenset((*urdf_names, *(joint.name for joint in virtual_joints))))
    passive_joints = _passive_joints(scope)
    passive = frozenset(passive_joints)
    if passive:
        joints = tuple(replace(joint, passive=True) if joint.name in passive else joint for joint in model.joints)
        model = replace(model, joints=joints)
        scope = replace(scope, model=model)

    groups = derive_groups(model, resolve_members(scope))
    states = resolve_states(scope, groups)
    end_effectors, attached = resolve_end_effectors(scope, groups)
    state_names = states_of_groups(states)
    groups = {
        name: replace(group, end_effectors=attached.get(name, ()), states=state_names.get(name, ()))
        for name, group in groups.items()
    }
    disabled = collision_pairs.resolve_pairs(scope, semantic.disabled_collisions, "disable_collisions")
    enabled = collision_pairs.resolve_pairs(scope, semantic.enabled_collisions, "enable_collisions")
    semantics = Semantics(
        groups=MappingProxyType(groups),
        states=MappingProxyType(states),
        end_effectors=MappingProxyType(end_effectors),
        virtual_joints=virtual_joints,
        passive_joints=passive_joints,
        disabled_collisions=MappingProxyType(disabled),
        enabled_collisions=frozenset(enabled),
        default_disabled_links=collision_pairs.resolve_default_disabled(scope),
        link_spheres=MappingProxyType(collision_pairs.resolve_spheres(scope)),
        joint_properties=collision_pairs.resolve_properties(scope),
        srdf=semantic,
    )
    return replace(model, semantics=semantics)


def check_alone(semantic: tree.SrdfDocument, diagnostics: Diagnostics) -> None:
    """Report every problem of an SRDF that needs no robot."""
    reports = SrdfReporter(semantic, diagnostics)
    check_names(reports)
    check_empty_groups(reports)


def _passive_joints(scope: ResolutionScope) -> tuple[str, ...]:
    """Return the passive joints that are joints of the model, in document order."""
    items = scope.semantic.passive_joints
    known = [item.name for item in items if scope.known_joint(item.name, item.at, "name", "<passive_joint>")]
    return tuple(name for name in dict.fromkeys(known) if name in scope.model.joint_index)
