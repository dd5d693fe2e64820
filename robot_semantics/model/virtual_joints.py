# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Virtual joints: the valid ones of the SRDF, and the one that carries the robot's root link."""

from __future__ import annotations

from dataclasses import replace

from robot_semantics.model.joint_frames import Z_AXIS, frames_of_root
from robot_semantics.model.joint_types import JointType
from robot_semantics.model.robot_model import JointModel, MimicSource, RobotModel
from robot_semantics.model.semantic_scope import ResolutionScope
from robot_semantics.model.semantics import VirtualJoint
from robot_semantics.srdf import tree
from robot_semantics.srdf.table import VIRTUAL_JOINT_TYPES

ROOT_TYPES = tuple(map(JointType, VIRTUAL_JOINT_TYPES))
"""Types of virtual joints, and so of root joints."""

WORLD = "world"
"""Name of a root link that represents the world (as in Gazebo); it needs no virtual joint."""


def resolve_virtual_joints(scope: ResolutionScope) -> tuple[VirtualJoint, ...]:
    """Return the virtual joints with a known child; an unknown type becomes fixed; report all problems.

    Source: srdfdom's loader, whose virtual joints only need a known child link.
    """
    found: list[VirtualJoint] = []
    urdf_joints = {joint.name for joint in scope.model.joints if not joint.virtual}
    first_on_root: tree.SrdfVirtualJoint | None = None
    for item in scope.semantic.virtual_joints:
        user = f"virtual joint '{item.name}'"
        if item.name in urdf_joints:
            scope.error("duplicate-name", f"{user} has the name of a joint of the robot", item.at, "name")
        if not scope.known_link(item.child_link, item.at, "child_link", user):
            continue
        kind = item.type if item.type in VIRTUAL_JOINT_TYPES else "fixed"
        joint = VirtualJoint(item.name, kind, item.parent_frame, item.child_link)
        found.append(joint)
        _check_frames(scope, item)
        if item.child_link != scope.model.root_link:
            if not _replaces_world(scope.model, joint):
                scope.error(
                    "virtual-joint-not-root",
                    f"{user} is left out: its child '{item.child_link}' is not the root '{scope.model.root_link}'",
                    item.at,
                    "child_link",
                )
        elif item.parent_frame:
            if first_on_root is not None:
                scope.error(
                    "second-virtual-joint",
                    f"{user} is left out: the root link already has virtual joint '{first_on_root.name}'",
                    item.at,
                )
            first_on_root = first_on_root or item
    return tuple(found)


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


def _check_frames(scope: ResolutionScope, item: tree.SrdfVirtualJoint) -> None:
    user = f"virtual joint '{item.name}'"
    if not item.parent_frame:
        scope.error("empty-parent-frame", f"{user} is left out: its parent frame is empty", item.at, "parent_frame")
    elif item.parent_frame in scope.model.link_index and item.parent_frame != WORLD:
        scope.warning(
            "parent-frame-is-link",
            f"{user} has a link of the robot, '{item.parent_frame}', as its parent frame: its transforms form a cycle",
            item.at,
            "parent_frame",
        )
