# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Loops of a robot in a second file: ``robot.yaml`` of Extended URDF."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.base.yaml_reader import YamlNode, read_yaml
from robot_semantics.model.constraints import ConstraintType, LoopConstraint
from robot_semantics.model.robot_model import RobotModel

_TYPES = {"3d": ConstraintType.SPHERICAL, "6d": ConstraintType.LINK}


def with_loops_file(model: RobotModel, path: str | Path, diagnostics: Diagnostics) -> RobotModel:
    """Return a robot with the constraints of a file; joints of its loops that are not in `name_mot` are passive.

    A joint of the `joint_type` FIXED is not passive: it keeps its default position.

    `closed_loop` has pairs of links, or of joints for their child links, whose frames coincide; `type` has ``3d``
    (points) or ``6d`` (frames) for each.

    Raises:
        DescriptionError: the file is not YAML, or has an error; the error has all problems.
        OSError: the file cannot be read.
    """
    found = Diagnostics()
    root = read_yaml(path)
    constraints = tuple(_constraints(model, root, found))
    motors = _names(root.get("name_mot"))
    for motor in motors:
        if motor.text not in model.joint_index:
            message = f"name_mot: joint '{motor.text}' does not exist"
            found.error("unknown-joint", message, motor.place, name=motor.text, valid=model.joint_names)
    driven = {motor.text for motor in motors}
    for name, kind in zip(_names(root.get("joint_name")), _names(root.get("joint_type")), strict=False):
        if kind.text == "FIXED" and name.text in model.joint_index:
            driven.add(name.text)
            continue
        message = f"joint_type: '{kind.text}' of joint '{name.text}' is not supported; only types of the URDF are"
        found.error("unknown-joint-type", message, kind.place)
    diagnostics.extend(found)
    found.raise_if_failed()
    moving = set().union(*(_moving(model, constraint) for constraint in constraints))
    joints = tuple(
        replace(joint, passive=True)
        if joint.index in moving and joint.mimic is None and joint.name not in driven
        else joint
        for joint in model.joints
    )
    return replace(model, joints=joints, constraints=(*model.constraints, *constraints))


def _constraints(model: RobotModel, root: YamlNode, found: Diagnostics) -> Iterator[LoopConstraint]:
    pairs, kinds = root.get("closed_loop"), _names(root.get("type"))
    if pairs is None or len(pairs.items) != len(kinds):
        message = "closed_loop and type should be lists of the same length"
        found.error("wrong-count", message, (root if pairs is None else pairs).place)
        return
    for pair, kind in zip(pairs.items, kinds, strict=True):
        ends = _names(pair)
        unknown = [end for end in ends if end.text not in model.link_index and end.text not in model.joint_index]
        for end in unknown:
            message = f"closed_loop: no link and no joint is called '{end.text}'"
            found.error("unknown-link", message, end.place, name=end.text, valid=model.link_names)
        if len(ends) != 2:
            found.error("wrong-count", f"a loop should have 2 links, not {len(ends)}", pair.place)
        elif kind.text.lower() not in _TYPES:
            message = f"type '{kind.text}' of a loop is unknown"
            found.error("unknown-constraint-type", message, kind.place, name=kind.text, valid=tuple(_TYPES))
        elif not unknown:
            names = (end.text for end in ends)
            parent, child = (
                name if name in model.link_index else model.joints[model.joint_index[name]].child_link for name in names
            )
            frame, axis = np.eye(4), np.array([1.0, 0.0, 0.0])
            name = f"{parent}-{child}"
            yield LoopConstraint(name, _TYPES[kind.text.lower()], parent, child, frame, frame, axis, axis)


def _moving(model: RobotModel, constraint: LoopConstraint) -> set[int]:
    parent, child = (
        set(model.to_root(model.link_index[end])) for end in (constraint.parent_link, constraint.child_link)
    )
    return {link for link in parent ^ child if model.joints[link].velocity_count}


def _names(node: YamlNode | None) -> list[YamlNode]:
    return [] if node is None else node.items
