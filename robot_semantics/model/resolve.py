# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Resolution of a URDF tree to a checked robot model: cross-checks, joint frames, axes, limits and mimic sources."""

from __future__ import annotations

from dataclasses import replace

from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.model.joint_checks import check_joint
from robot_semantics.model.joint_frames import X_AXIS, JointFrames, unit_axis
from robot_semantics.model.joint_limits import JointLimits
from robot_semantics.model.joint_types import MOTION, JointType
from robot_semantics.model.link_checks import check_links
from robot_semantics.model.mimics import resolve_mimics
from robot_semantics.model.robot_model import ASSUMED_ROOT_JOINT, JointModel, LinkModel, MimicSource, RobotModel
from robot_semantics.model.tree_checks import Tree, find_tree
from robot_semantics.urdf.tree import Link, UrdfRobot


def resolve_urdf(robot: UrdfRobot, diagnostics: Diagnostics, *, implicit_links: bool = False) -> RobotModel | None:
    """Return the model of `robot`; add problems to `diagnostics`.

    Invalid parts are left out of the model: a mimic without a valid leader, a zero axis (replaced by the default axis),
    an inertial with a negative mass. With `implicit_links`, a link that only joints name becomes a link without mass or
    shape.

    Returns:
        The model; None if links and joints do not form a tree or a joint's motion is unknown.
    """
    types: dict[str, JointType] = {}
    known = True
    for joint in robot.joints:
        kind = check_joint(joint, robot.places, diagnostics)
        if kind is None or (MOTION[kind].limited and joint.limit is None):
            known = False
        if kind is not None:
            types.setdefault(joint.name, kind)
    bad_inertials = check_links(robot, diagnostics)
    tree = find_tree(robot, diagnostics, implicit_links=implicit_links)
    by_name = {joint.name: joint for joint in reversed(robot.joints)}
    mimics = resolve_mimics(robot, {joint.name: by_name[joint.name] for joint in robot.joints}, types, diagnostics)
    if tree is None or not known:
        return None
    declared = {link.name for link in robot.links}
    implied = tuple(link for name, link in tree.links.items() if name not in declared)
    if implied:
        robot = replace(robot, content=(*robot.content, *implied), rewritten=True)
    model = RobotModel(robot.name, _joints(tree, types, mimics), _links(tree, bad_inertials), robot)
    if not robot.constraints:
        return model
    from robot_semantics.model.constraint_checks import resolve_constraints

    return replace(model, constraints=resolve_constraints(robot, model, diagnostics))


def _joints(tree: Tree, types: dict[str, JointType], mimics: dict[str, MimicSource]) -> tuple[JointModel, ...]:
    frames = JointFrames(
        (None, *(joint.origin for joint in tree.joints)),
        (X_AXIS, *(unit_axis(joint, types[joint.name]) for joint in tree.joints)),
    )
    root = JointModel(0, ASSUMED_ROOT_JOINT, JointType.FIXED, "", tree.root, frames, virtual=True)
    return (
        root,
        *(
            JointModel(
                index,
                joint.name,
                types[joint.name],
                joint.parent,
                joint.child,
                frames,
                JointLimits.of(types[joint.name], joint),
                mimics.get(joint.name),
                urdf=joint,
            )
            for index, joint in enumerate(tree.joints, 1)
        ),
    )


def _links(tree: Tree, bad_inertials: frozenset[str]) -> tuple[LinkModel, ...]:
    index = {tree.root: 0, **{joint.child: at for at, joint in enumerate(tree.joints, 1)}}
    parents = [-1, *(index[joint.parent] for joint in tree.joints)]
    return tuple(
        LinkModel(
            at,
            name,
            parents[at],
            tuple([index[joint.child] for joint in tree.children.get(name, ())]),
            _without_inertial(tree.links[name]) if name in bad_inertials else tree.links[name],
        )
        for name, at in index.items()
    )


def _without_inertial(link: Link) -> Link:
    return replace(link, inertial=None)
