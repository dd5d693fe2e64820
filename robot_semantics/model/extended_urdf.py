# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Loops of a robot in a second file: ``robot.yaml`` of Extended URDF."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.base.yaml_reader import YamlNode
from robot_semantics.model.joint_types import JointLimits, JointType
from robot_semantics.model.robot_model import ConstraintType, JointModel, LoopConstraint, RobotModel
from robot_semantics.transforms.arrays import FloatArray

_LOOP_TYPES = {"3d": ConstraintType.SPHERICAL, "6d": ConstraintType.LINK}
_AXES = dict(zip("XYZ", np.eye(3), strict=True))
_JOINT_TYPES: dict[str, tuple[ConstraintType, FloatArray, FloatArray]] = {
    "SPHERICAL": (ConstraintType.SPHERICAL, _AXES["X"], _AXES["X"]),
    **{
        f"UJOINT_{first}{second}": (ConstraintType.UNIVERSAL, _AXES[first], _AXES[second])
        for first in "XYZ"
        for second in "XYZ"
        if first != second
    },
}
"""For each type that URDF does not have: a constraint between the two links, and its axes. The joint becomes floating.
"""

_KEYS = ("closed_loop", "type", "name_mot", "joint_name", "joint_type")


def add_prefix(root: YamlNode, prefix: str) -> None:
    """Put a prefix before all names of links and joints of a document, as in the robot that has it as a part."""
    nodes = [node for key in ("closed_loop", "name_mot", "joint_name") if (node := root.get(key)) is not None]
    while nodes:
        node = nodes.pop()
        nodes += node.items
        node.text = prefix + node.text


def with_loops(model: RobotModel, root: YamlNode, diagnostics: Diagnostics) -> RobotModel:
    """Return a robot with the constraints of a document; joints of its loops that are not in `name_mot` are passive.

    `closed_loop` has pairs of links, or of joints for their child links, whose frames coincide; `type` has ``3d``
    (points) or ``6d`` (frames) for each. `joint_name` and `joint_type` change the types of joints. A ``FIXED`` joint is
    not passive: it keeps its default position. A ``SPHERICAL`` or ``UJOINT_XY`` joint becomes a floating joint with a
    spherical or universal constraint at its origin. A passive joint without a range is unlimited.

    Raises:
        DescriptionError: the document has an error; it has all problems.
    """
    problems = Diagnostics()
    for key, node in root.entries.items():
        if key not in _KEYS:
            message = f"'{key}' is not known; it is not used"
            problems.warning("unknown-key", message, node.key_place, name=key, valid=_KEYS)
    pairs, types, motors, names, kinds = (_items(root, key, problems) for key in _KEYS)
    if len(pairs) != len(types) or root.get("closed_loop") is None:
        problems.error("wrong-count", "closed_loop and type should be lists of the same length", root.place)
    if len(names) != len(kinds):
        problems.error("wrong-count", "joint_name and joint_type should be lists of the same length", root.place)
    constraints = list(_constraints(model, pairs, types, problems))
    driven = {motor.text for motor in motors if _is_joint(model, motor, "name_mot", problems)}
    joints = list(model.joints)
    for joint, kind in _joints_with_types(model, names, kinds, problems):
        if kind == "FIXED":
            driven.add(joint.name)
        else:
            joints[joint.index] = replace(joint, type=JointType.FLOATING, limits=JointLimits())
            constraints.append(_instead_of(joint, *_JOINT_TYPES[kind]))
    diagnostics.extend(problems)
    problems.raise_if_failed()
    model = replace(model, joints=tuple(joints), constraints=(*model.constraints, *constraints))
    moving = set().union(*(model.moving_between(each.parent_link, each.child_link) for each in constraints))
    joints = [
        _passive(joint) if joint.index in moving and joint.mimic is None and joint.name not in driven else joint
        for joint in model.joints
    ]
    return replace(model, joints=tuple(joints))


def _joints_with_types(
    model: RobotModel, names: Sequence[YamlNode], kinds: Sequence[YamlNode], diagnostics: Diagnostics
) -> Iterator[tuple[JointModel, str]]:
    """Yield the joints whose types change, with the new types."""
    named = set[str]()
    for name, kind in zip(names, kinds, strict=False):
        if not _is_joint(model, name, "joint_name", diagnostics):
            continue
        if name.text in named:
            diagnostics.error("duplicate-name", f"joint_name: joint '{name.text}' is named twice", name.place)
        named.add(name.text)
        if kind.text != "FIXED" and kind.text not in _JOINT_TYPES:
            message = f"joint_type: '{kind.text}' of joint '{name.text}' is unknown"
            valid = ("FIXED", *_JOINT_TYPES)
            diagnostics.error("unknown-joint-type", message, kind.place, name=kind.text, valid=valid)
        elif kind.text != "FIXED" and any(
            name.text in (joint.name, joint.mimic.joint) for joint in model.joints if joint.mimic is not None
        ):
            message = f"joint_type: joint '{name.text}' is part of a <mimic>, so its type cannot change"
            diagnostics.error("unknown-joint-type", message, name.place)
        else:
            yield model.joint(name.text), kind.text


def _is_joint(model: RobotModel, name: YamlNode, where: str, found: Diagnostics) -> bool:
    if name.text not in model.joint_index:
        message = f"{where}: joint '{name.text}' does not exist"
        found.error("unknown-joint", message, name.place, name=name.text, valid=model.joint_names)
    return name.text in model.joint_index


def _passive(joint: JointModel) -> JointModel:
    """Return a passive joint. Without a range it is unlimited: with URDF's default, 0 to 0, no loop can move."""
    limit = None if joint.urdf is None else joint.urdf.limit
    if limit is not None and limit.lower is None and limit.upper is None:
        joint = replace(joint, limits=replace(joint.limits, lower=-math.inf, upper=math.inf))
    return replace(joint, passive=True)


def _instead_of(
    joint: JointModel, kind: ConstraintType, parent_axis: FloatArray, child_axis: FloatArray
) -> LoopConstraint:
    """Return the constraint that keeps a floating joint to the motion of another type."""
    ends = joint.parent_link, joint.child_link
    return LoopConstraint(joint.name, kind, *ends, joint.T_parent_joint, np.eye(4), parent_axis, child_axis)


def _constraints(
    model: RobotModel, pairs: Sequence[YamlNode], kinds: Sequence[YamlNode], diagnostics: Diagnostics
) -> Iterator[LoopConstraint]:
    for pair, kind in zip(pairs, kinds, strict=False):
        ends = pair.items
        unknown = [end for end in ends if end.text not in model.link_index and end.text not in model.joint_index]
        for end in unknown:
            message = f"closed_loop: no link and no joint is called '{end.text}'"
            diagnostics.error("unknown-link", message, end.place, name=end.text, valid=model.link_names)
        if len(ends) != 2:
            diagnostics.error("wrong-count", f"a loop should have 2 links, not {len(ends)}", pair.place)
        elif kind.text.lower() not in _LOOP_TYPES:
            message = f"type '{kind.text}' of a loop is unknown"
            diagnostics.error("unknown-constraint-type", message, kind.place, name=kind.text, valid=tuple(_LOOP_TYPES))
        elif not unknown:
            parent, child = (
                end.text if end.text in model.link_index else model.joint(end.text).child_link for end in ends
            )
            if not model.moving_between(parent, child):
                message = f"closed_loop: links '{parent}' and '{child}' cannot move relative to each other"
                diagnostics.error("constraint-in-one-body", message, pair.place)
            origin, axis = np.eye(4), _AXES["X"]
            name = f"{parent}-{child}"
            yield LoopConstraint(name, _LOOP_TYPES[kind.text.lower()], parent, child, origin, origin, axis, axis)


def _items(root: YamlNode, key: str, found: Diagnostics) -> list[YamlNode]:
    node = root.get(key)
    if node is not None and not isinstance(node.value, list):
        found.error("wrong-count", f"{key} should be a list", node.place)
    return [] if node is None else node.items
