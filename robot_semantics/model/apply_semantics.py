# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Application of an SRDF tree to a robot, as in MoveIt; every problem has its place."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from types import MappingProxyType

from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.base.names import LinkPair, common_prefix, frame_name
from robot_semantics.model.groups import (
    derive_groups,
    resolve_end_effectors,
    resolve_members,
    resolve_states,
    states_of_groups,
)
from robot_semantics.model.joint_types import Z_AXIS, JointType, frames_of_root
from robot_semantics.model.robot_model import JointModel, MimicSource, RobotModel
from robot_semantics.model.semantic_names import ResolutionScope, SrdfReporter, check_empty_groups, check_semantic_names
from robot_semantics.model.semantics import Semantics, VirtualJoint
from robot_semantics.srdf import tree
from robot_semantics.srdf.table import VIRTUAL_JOINT_TYPES
from robot_semantics.srdf.tree import SrdfDocument

# Detection of an SRDF for a different robot: one sentence replaces a thousand errors.


MOST_KNOWN = 0.25
"""Largest share of known names in an SRDF that is reported as another robot's.

Different robots share names such as `base_link`, `world` or a gripper; in an outdated SRDF most names are known.
"""

FEWEST = 5
"""With fewer unknown names, an SRDF may just have misspelt names."""

FEWEST_WITH_PREFIX = 2
"""Smallest number of unknown names from which a common prefix is derived."""


def another_robot_message(semantic: SrdfDocument, model: RobotModel) -> str | None:
    """Return a sentence if the robot has almost no link or joint of the SRDF, else None."""
    links, joints = set(_links(semantic)), set(_joints(semantic))
    total = len(links) + len(joints)
    known_count = len(links & model.link_index.keys()) + len(joints & model.joint_index.keys())
    if known_count > MOST_KNOWN * total:
        return None
    strange = [*(name for name in links if name not in model.link_index)]
    strange += [name for name in joints if name not in model.joint_index]
    names = {*model.link_index, *model.joint_index}
    change = common_prefix(sorted(strange), names) if len(strange) >= FEWEST_WITH_PREFIX else None
    if change is None and total - known_count < FEWEST:
        return None
    advice = ""
    if change is not None:
        advice = f"; its names {change} of the robot's names"
        if change.verb == "lack":
            advice += ": 'robot_semantics compose --prefix' adds one"
    return (
        f"the SRDF is for another robot, '{semantic.name}': of the {total} links and joints that it names, "
        f"'{model.name}' has {known_count or 'none'}{advice}"
    )


def _links(semantic: SrdfDocument) -> Iterator[str]:
    for group in semantic.groups:
        yield from (link.name for link in group.links)
        for chain in group.chains:
            yield from (chain.base_link, chain.tip_link)
    for pair in (*semantic.disabled_collisions, *semantic.enabled_collisions):
        yield from (pair.link1, pair.link2)
    yield from (link.name for link in semantic.default_disabled_links)
    yield from (spheres.link for spheres in semantic.link_spheres)
    yield from (effector.parent_link for effector in semantic.end_effectors)
    yield from (joint.child_link for joint in semantic.virtual_joints)


def _joints(semantic: SrdfDocument) -> Iterator[str]:
    virtual_names = {joint.name for joint in semantic.virtual_joints}
    for group in semantic.groups:
        yield from (joint.name for joint in group.joints if joint.name not in virtual_names)
    for state in semantic.states:
        yield from (joint.name for joint in state.joints if joint.name not in virtual_names)
    yield from (joint.name for joint in semantic.passive_joints if joint.name not in virtual_names)
    yield from (item.joint_name for item in semantic.joint_properties if item.joint_name not in virtual_names)


# SRDF content about single links and joints: collision pairs, spheres and joint properties.


def resolve_pairs(scope: ResolutionScope, items: tuple[tree.CollisionPair, ...], tag: str) -> dict[LinkPair, str]:
    """Return the pairs of existing links with their reasons; for a repeated pair, the first reason is used."""
    reasons: dict[LinkPair, str] = {}
    for item in items:
        known = [
            scope.known_link(item.link1, item.ordinal, "link1", f"<{tag}>"),
            scope.known_link(item.link2, item.ordinal, "link2", f"<{tag}>"),
        ]
        if all(known):
            reasons.setdefault(item.pair, item.reason)
    return reasons


def resolve_default_disabled(scope: ResolutionScope) -> tuple[str, ...]:
    """Return the links whose pairs are not checked unless enabled, each once."""
    items = scope.semantic.default_disabled_links
    user = "<disable_default_collisions>"
    return tuple(dict.fromkeys(item.name for item in items if scope.known_link(item.name, item.ordinal, "link", user)))


def resolve_spheres(scope: ResolutionScope) -> dict[str, tuple[tree.SrdfSphere, ...]]:
    """Return the spheres of each existing link; for a repeated link, the first element is used.

    As in srdfdom: spheres without a radius are used only if a link has no others; then only one is kept.
    """
    spheres_of: dict[str, tuple[tree.SrdfSphere, ...]] = {}
    for item in scope.semantic.link_spheres:
        known = scope.known_link(item.link, item.ordinal, "link", "<link_sphere_approximation>")
        if known and item.spheres and item.link not in spheres_of:
            solid = tuple(sphere for sphere in item.spheres if sphere.radius > sys.float_info.epsilon)
            spheres_of[item.link] = solid or (tree.SrdfSphere((0.0, 0.0, 0.0), 0.0, item.spheres[0].ordinal),)
    return spheres_of


def resolve_properties(scope: ResolutionScope) -> MappingProxyType[str, MappingProxyType[str, str]]:
    """Return the properties by joint and name; for a repeated one the last value is used, as in srdfdom."""
    found: dict[str, dict[str, str]] = {}
    for item in scope.semantic.joint_properties:
        if scope.known_joint(item.joint_name, item.ordinal, "joint_name", f"property '{item.property_name}'"):
            found.setdefault(item.joint_name, {})[item.property_name] = item.value
    return MappingProxyType({joint: MappingProxyType(values) for joint, values in found.items()})


# Virtual joints: the valid ones of the SRDF, and the one that carries the robot's root link.


ROOT_TYPES = tuple(map(JointType, VIRTUAL_JOINT_TYPES))
"""Types of virtual joints, and so of root joints."""

WORLD = "world"
"""Name of a root link that represents the world (as in Gazebo); it needs no virtual joint."""


def resolve_virtual_joints(scope: ResolutionScope) -> tuple[VirtualJoint, ...]:
    """Return the virtual joints with a known child; an unknown type becomes fixed; report all problems.

    Source: srdfdom's loader, whose virtual joints only need a known child link.
    """
    virtual_joints: list[VirtualJoint] = []
    urdf_joints = {joint.name for joint in scope.model.joints if not joint.virtual}
    first_on_root: tree.SrdfVirtualJoint | None = None
    for item in scope.semantic.virtual_joints:
        user = f"virtual joint '{item.name}'"
        kind = item.type if item.type in VIRTUAL_JOINT_TYPES else "fixed"
        joint = VirtualJoint(item.name, kind, frame_name(item.parent_frame), item.child_link)
        if item.name in urdf_joints:
            message = f"{user} has the name of a joint of the robot"
            if item.child_link in scope.model.link_index and _is_world_mount(scope.model, joint):
                scope.warning("duplicate-name", f"{message}, which fixes the robot to '{WORLD}'", item.ordinal, "name")
            else:
                scope.error("duplicate-name", message, item.ordinal, "name")
        if not scope.known_link(item.child_link, item.ordinal, "child_link", user):
            continue
        virtual_joints.append(joint)
        _check_frames(scope, item)
        if item.child_link != scope.model.root_link:
            if not _replaces_world(scope.model, joint):
                scope.error(
                    "virtual-joint-not-root",
                    f"{user} is left out: its child '{item.child_link}' is not the root '{scope.model.root_link}'",
                    item.ordinal,
                    "child_link",
                )
        elif joint.parent_frame:
            if first_on_root is not None:
                scope.error(
                    "second-virtual-joint",
                    f"{user} is left out: the root link already has virtual joint '{first_on_root.name}'",
                    item.ordinal,
                )
            first_on_root = first_on_root or item
    return tuple(virtual_joints)


def with_root_joint(model: RobotModel, virtual_joints: tuple[VirtualJoint, ...]) -> RobotModel:
    """Return the model with the virtual joint that MoveIt uses as the root joint; unchanged if there is none.

    It is the first one whose child is the root link and whose parent frame is not empty. A root link named `WORLD`
    without geometry is the world itself; then a fixed virtual joint on another link only gives the root joint its name.
    """
    chosen: VirtualJoint | None = None
    for joint in virtual_joints:
        if joint.child_link == model.root_link:
            if joint.parent_frame:
                chosen = joint
                break
        elif _replaces_world(model, joint):
            # The frame is the root link itself; a transform to itself must not be published.
            chosen = replace(joint, parent_frame="")
    if chosen is None:
        return model
    root = replace(
        model.root_joint,
        name=chosen.name,
        type=JointType(chosen.type),
        parent_link=chosen.parent_frame,
        frames=frames_of_root(Z_AXIS),
        virtual=True,
    )
    return replace(model, joints=(root, *_followers_of(root, model.joints[1:])))


def _followers_of(root: JointModel, joints: tuple[JointModel, ...]) -> tuple[JointModel, ...]:
    """Return the URDF's joints with their mimics of the virtual joint, which is unknown in the URDF."""
    if any(joint.name == root.name for joint in joints):
        return joints
    sources: dict[str, MimicSource] = {}
    for joint in joints:
        written = joint.urdf.mimic if joint.urdf is not None else None
        if written is not None and written.joint == root.name and joint.position_count == root.position_count:
            sources[joint.name] = MimicSource.of(written)
    for joint in joints:
        if joint.mimic is not None and joint.mimic.joint in sources:
            sources[joint.name] = joint.mimic.through(sources[joint.mimic.joint])
    return tuple(replace(joint, mimic=sources.get(joint.name, joint.mimic)) for joint in joints) if sources else joints


def _replaces_world(model: RobotModel, joint: VirtualJoint) -> bool:
    root = model.links[0].urdf
    return (
        model.root_link == WORLD
        and joint.type == "fixed"
        and joint.child_link != WORLD
        and not root.visuals
        and not root.collisions
    )


def _is_world_mount(model: RobotModel, joint: VirtualJoint) -> bool:
    """Report whether a virtual joint only repeats the URDF's fixed joint from `WORLD`: its name is all that is used."""
    mount = model.joint(joint.name)
    return _replaces_world(model, joint) and mount.type is JointType.FIXED and mount.parent_link == WORLD


def _check_frames(scope: ResolutionScope, item: tree.SrdfVirtualJoint) -> None:
    user, frame = f"virtual joint '{item.name}'", frame_name(item.parent_frame)
    if not frame:
        scope.error(
            "empty-parent-frame", f"{user} is left out: its parent frame is empty", item.ordinal, "parent_frame"
        )
    elif frame in scope.model.link_index and frame != WORLD:
        scope.warning(
            "parent-frame-is-link",
            f"{user} has a link of the robot, '{frame}', as its parent frame: its transforms form a cycle",
            item.ordinal,
            "parent_frame",
        )


def apply_semantics(model: RobotModel, semantic: tree.SrdfDocument, diagnostics: Diagnostics) -> RobotModel:
    """Return the robot with its virtual root joint, passive joints and all semantics; `model` does not change.

    Invalid parts are left out exactly as in srdfdom and MoveIt, and reported in `diagnostics`. An SRDF of a different
    robot gives only one error.
    """
    another = another_robot_message(semantic, model)
    if another is not None:
        diagnostics.error("srdf-of-another-robot", another, semantic.places.place(semantic.ordinal, "name"))
        diagnostics = Diagnostics()
    scope = ResolutionScope(semantic, diagnostics, model=model)
    check_semantic_names(scope)
    if semantic.name and semantic.name != model.name:
        scope.warning(
            "robot-name-differs",
            f"the SRDF is for robot '{semantic.name}', but the URDF has robot '{model.name}'",
            semantic.ordinal,
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
    disabled = resolve_pairs(scope, semantic.disabled_collisions, "disable_collisions")
    enabled = resolve_pairs(scope, semantic.enabled_collisions, "enable_collisions")
    semantics = Semantics(
        groups=MappingProxyType(groups),
        states=MappingProxyType(states),
        end_effectors=MappingProxyType(end_effectors),
        virtual_joints=virtual_joints,
        passive_joints=passive_joints,
        disabled_collisions=MappingProxyType(disabled),
        enabled_collisions=frozenset(enabled),
        default_disabled_links=resolve_default_disabled(scope),
        link_spheres=MappingProxyType(resolve_spheres(scope)),
        joint_properties=resolve_properties(scope),
        srdf=semantic,
    )
    return replace(model, semantics=semantics)


def check_alone(semantic: tree.SrdfDocument, diagnostics: Diagnostics) -> None:
    """Report every problem of an SRDF that needs no robot."""
    reports = SrdfReporter(semantic, diagnostics)
    check_semantic_names(reports)
    check_empty_groups(reports)


def _passive_joints(scope: ResolutionScope) -> tuple[str, ...]:
    """Return the passive joints that are joints of the model, in document order."""
    items = scope.semantic.passive_joints
    known = [item.name for item in items if scope.known_joint(item.name, item.ordinal, "name", "<passive_joint>")]
    return tuple(name for name in dict.fromkeys(known) if name in scope.model.joint_index)
