# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Resolution of the loop constraints of a URDF: known types and links, valid axes, links that can move."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.model.joint_types import X_AXIS
from robot_semantics.model.rigid_bodies import rigid_bodies
from robot_semantics.model.robot_model import ConstraintType, LoopConstraint, RobotModel
from robot_semantics.transforms.arrays import FloatArray, normalized
from robot_semantics.urdf.dialects import matrix_from_origin
from robot_semantics.urdf.tree import Constraint, UrdfRobot, Vec3

TYPES: dict[str, ConstraintType] = {
    name: kind
    for kind in ConstraintType
    for name in ((kind.value,) if kind is ConstraintType.LINK else (kind.value, f"{kind.value}_joint"))
}
"""The types by their spellings in URDF."""


def resolve_constraints(robot: UrdfRobot, model: RobotModel, diagnostics: Diagnostics) -> tuple[LoopConstraint, ...]:
    """Return the valid constraints of `robot`; report the problems of the others."""
    constraints: dict[str, LoopConstraint] = {}
    bodies = rigid_bodies(model)
    for constraint in robot.constraints:
        kind = TYPES.get(constraint.type)
        problems = [*_link_problems(constraint, model, bodies), *_type_problems(constraint, kind)]
        if constraint.name in constraints:
            problems.append(("duplicate-name", f"constraint '{constraint.name}' is declared twice", "name", ""))
        for code, message, where, name in problems:
            at = getattr(constraint, f"{where}_ordinal", constraint.ordinal)
            attribute = {"parent": "link", "child": "link", "parent_axis": "xyz", "child_axis": "xyz"}.get(where, where)
            valid = tuple(model.link_index) if code == "unknown-link" else tuple(TYPES)
            place = robot.places.place(at, attribute)
            diagnostics.error(code, message, place, name=name or None, valid=valid if name else ())
        if kind is not None and not problems:
            _warn_of_unused_axes(constraint, kind, robot, diagnostics)
            constraints[constraint.name] = _resolved(constraint, kind)
    return tuple(constraints.values())


Problem = tuple[str, str, str, str]
"""Code, message, field of the place, and the unknown name."""


def _link_problems(constraint: Constraint, model: RobotModel, bodies: tuple[int, ...]) -> Iterator[Problem]:
    what = f"constraint '{constraint.name}'"
    unknown = [end for end in ("parent", "child") if getattr(constraint, end) not in model.link_index]
    for end in unknown:
        link = getattr(constraint, end)
        yield "unknown-link", f"{what}: {end} link '{link}' does not exist", end, link
    if unknown:
        return
    if constraint.parent == constraint.child:
        yield "constraint-in-one-body", f"{what} connects link '{constraint.parent}' with itself", "child", ""
    elif bodies[model.link_index[constraint.parent]] == bodies[model.link_index[constraint.child]]:
        message = f"{what}: links '{constraint.parent}' and '{constraint.child}' cannot move relative to each other"
        yield "constraint-in-one-body", f"{message}: only fixed joints connect them", "child", ""


def _type_problems(constraint: Constraint, kind: ConstraintType | None) -> Iterator[Problem]:
    what = f"constraint '{constraint.name}'"
    if kind is None:
        message = f"{what} is of unknown type '{constraint.type}'"
        yield "unknown-constraint-type", message, "type", constraint.type
        return
    for axis in kind.axes:
        written: Vec3 | None = getattr(constraint, axis)
        if written is not None and not any(written):
            yield "zero-axis", f"the <{axis}> of {what} is 0 0 0", axis, ""


def _warn_of_unused_axes(
    constraint: Constraint, kind: ConstraintType, robot: UrdfRobot, diagnostics: Diagnostics
) -> None:
    for axis in ("parent_axis", "child_axis"):
        if getattr(constraint, axis) is not None and axis not in kind.axes:
            message = f"constraint '{constraint.name}' is {kind.value}, so its <{axis}> has no effect"
            diagnostics.warning("unused-axis", message, robot.places.place(getattr(constraint, f"{axis}_ordinal")))


def _resolved(constraint: Constraint, kind: ConstraintType) -> LoopConstraint:
    return LoopConstraint(
        constraint.name,
        kind,
        constraint.parent,
        constraint.child,
        _read_only(matrix_from_origin(constraint.parent_origin)),
        _read_only(matrix_from_origin(constraint.child_origin)),
        _unit("parent_axis", constraint.parent_axis if "parent_axis" in kind.axes else None),
        _unit("child_axis", constraint.child_axis if "child_axis" in kind.axes else None),
        constraint,
    )


def _unit(axis: str, written: Vec3 | None) -> FloatArray:
    return _read_only(normalized(axis, np.array(written or X_AXIS)))


def _read_only(array: FloatArray) -> FloatArray:
    array.setflags(write=False)
    return array
