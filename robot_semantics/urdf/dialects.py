# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Conversion of the older forms of a URDF joint: every link frame moves onto its joint's frame.

In the older forms the joint frame J has the pose ``T_P_J`` in the parent and ``T_C_J`` in the child; today J is the
child's frame. Every frame X in C is re-expressed in J: ``T_J_X = inv(T_C_J) @ T_C_X``. X is an inertial, visual or
collision frame of C, or the frame of a joint that leaves C. All these frames keep their poses in the world.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import TypeVar

import numpy as np

from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.base.pattern import pattern
from robot_semantics.transforms import (
    invert,
    matrix_from_xyz_quat,
    matrix_from_xyz_rpy,
    quat_angle,
    quat_from_matrix,
    rpy_from_matrix,
)
from robot_semantics.transforms.arrays import FloatArray
from robot_semantics.urdf.tree import Collision, Constraint, Inertial, Joint, Link, Origin, UrdfRobot, Visual

_REFERENCE = pattern(r"""<[^>]*?\sreference\s*=\s*(["'])(.*?)\1""", re.DOTALL)

Framed = TypeVar("Framed", Inertial, Visual, Collision, Joint)


def move_link_frames(robot: UrdfRobot, child_origins: Mapping[str, Origin], diagnostics: Diagnostics) -> UrdfRobot:
    """Return `robot` with the frame of each link in `child_origins` moved to this pose in its old frame.

    One warning lists the moved frames with their distances; all later poses use the moved frames. Foreign elements
    about a moved link are kept unchanged, with a warning: their meaning is unknown here.
    """
    moves = {link: invert(matrix_from_origin(origin)) for link, origin in child_origins.items()}
    moves = {link: T_J_C for link, T_J_C in moves.items() if not np.array_equal(T_J_C, np.eye(4))}
    if not moves:
        return robot
    content = tuple(
        _moved_link(item, moves[item.name])
        if isinstance(item, Link) and item.name in moves
        else _in_joint_frame(item, moves[item.parent])
        if isinstance(item, Joint) and item.parent in moves
        else _moved_constraint(item, moves)
        if isinstance(item, Constraint)
        else item
        for item in robot.content
    )
    moved = ", ".join(f"'{link}' by {_distance(T_J_C)}" for link, T_J_C in moves.items())
    message = f"link frames move onto the frames of their joints, as in the current form: {moved}"
    diagnostics.warning("link-frames-moved", message, robot.places.place(robot.ordinal))
    _warn_of_foreign(robot, frozenset(moves), diagnostics)
    return replace(robot, content=content)


def _distance(T: FloatArray) -> str:
    angle = quat_angle(quat_from_matrix(T[:3, :3]), (0.0, 0.0, 0.0, 1.0))
    return f"{np.linalg.norm(T[:3, 3]):.6g} m and {angle:.6g} rad"


def _warn_of_foreign(robot: UrdfRobot, moved_links: frozenset[str], diagnostics: Diagnostics) -> None:
    """Warn about foreign elements in a moved link, and at robot level about one."""
    for item in robot.content:
        if isinstance(item, Link) and item.name in moved_links:
            for extra in item.extras:
                if extra.tag and not extra.tag.startswith("@"):
                    message = f"the frame of link '{item.name}' moves, but <{extra.tag}> in it is not changed"
                    diagnostics.warning("frame-moved", message, robot.places.place(extra.ordinal))
    for extra in robot.extras:
        about = _REFERENCE.match(extra.xml) if extra.tag and not extra.tag.startswith("@") else None
        if about and about.group(2) in moved_links:
            message = f"the frame of link '{about.group(2)}' moves, but <{extra.tag}> with its name is not changed"
            diagnostics.warning("frame-moved", message, robot.places.place(extra.ordinal, "reference"))


def matrix_from_origin(origin: Origin | None) -> FloatArray:
    """Return the pose of an origin as a (4, 4) matrix; the identity for None."""
    if origin is None:
        return np.eye(4)
    if origin.quat_xyzw is not None:
        return matrix_from_xyz_quat(origin.xyz, origin.quat_xyzw)
    return matrix_from_xyz_rpy(origin.xyz, origin.rpy or (0.0, 0.0, 0.0))


def _moved_link(link: Link, T_J_C: FloatArray) -> Link:
    return replace(
        link,
        inertial=None if link.inertial is None else _in_joint_frame(link.inertial, T_J_C),
        visuals=tuple(_in_joint_frame(visual, T_J_C) for visual in link.visuals),
        collisions=tuple(_in_joint_frame(collision, T_J_C) for collision in link.collisions),
    )


def _moved_constraint(constraint: Constraint, moves: Mapping[str, FloatArray]) -> Constraint:
    if constraint.parent in moves:
        origin = _moved_origin(constraint.parent_origin, moves[constraint.parent])
        constraint = replace(constraint, parent_origin=origin)
    if constraint.child in moves:
        constraint = replace(constraint, child_origin=_moved_origin(constraint.child_origin, moves[constraint.child]))
    return constraint


def _moved_origin(origin: Origin | None, T_J_C: FloatArray) -> Origin:
    T_J_X = T_J_C @ matrix_from_origin(origin)
    # Adding 0 turns -0.0 into 0.0, which is easier to read.
    x, y, z = (float(value) + 0.0 for value in T_J_X[:3, 3])
    roll, pitch, yaw = (float(value) + 0.0 for value in rpy_from_matrix(T_J_X[:3, :3]))
    return Origin((x, y, z), (roll, pitch, yaw), ordinal=-1 if origin is None else origin.ordinal)


def _in_joint_frame(item: Framed, T_J_C: FloatArray) -> Framed:
    origin = _moved_origin(item.origin, T_J_C)
    if item.origin is not None:
        return replace(item, origin=origin)
    # The new <origin> is the first child, so every later child moves by one.
    extras = tuple([extra.behind_more_children(1) for extra in item.extras])
    return replace(item, origin=origin, extras=extras, order=("origin", *item.order))
