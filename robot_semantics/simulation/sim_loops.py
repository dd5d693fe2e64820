# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Loop constraints of a simulated model, the same for every engine. The builders only translate these records."""

from __future__ import annotations

import enum
from collections.abc import Collection, Iterator
from typing import NamedTuple

import numpy as np

from robot_semantics.base.names import quoted
from robot_semantics.model.robot_model import ConstraintType, LoopConstraint
from robot_semantics.simulation.world_spec import BuildNote, ModelSpec
from robot_semantics.transforms.arrays import FloatArray


class Hold(enum.Enum):
    """What a row of a constraint keeps."""

    POINT = "point"
    """The origins of both frames coincide."""
    DISTANCE = "distance"
    """The origins of both frames keep a distance."""
    FRAME = "frame"
    """Both frames coincide."""


class LoopRow(NamedTuple):
    """One constraint of an engine.

    Attributes:
        name: name of the loop constraint.
        hold: what the row keeps.
        parent, child: indices of the links.
        T_parent_frame, T_child_frame: (4, 4) frames of the row in these links [m].
        distance: distance of the origins [m].
    """

    name: str
    hold: Hold
    parent: int
    child: int
    T_parent_frame: FloatArray
    T_child_frame: FloatArray
    distance: float


_ROWS = {
    ConstraintType.SPHERICAL: ((Hold.POINT, 0.0),),
    ConstraintType.REVOLUTE: ((Hold.POINT, -1.0), (Hold.POINT, 1.0)),
    ConstraintType.UNIVERSAL: ((Hold.POINT, 0.0), (Hold.DISTANCE, 1.0)),
    ConstraintType.PRISMATIC: (),
    ConstraintType.LINK: ((Hold.FRAME, 0.0),),
}
"""Rows of each type, and how far along its axes their origins are, in lever arms.

Two points on a common axis leave only the rotation about this axis. The ends of two perpendicular axes of length 1 that
start at one point have the distance sqrt(2). No engine has a prismatic constraint.
"""


def loop_rows(spec: ModelSpec, notes: list[BuildNote], engine: str, held: Collection[Hold]) -> tuple[LoopRow, ...]:
    """Return the constraints that close the loops of a model.

    Args:
        spec: the model.
        notes: receives a note for each constraint that the engine does not keep, or keeps only in part.
        engine: the engine's name in notes.
        held: the rows that the engine has.
    """
    constraints, rows = spec.robot.constraints, list[LoopRow]()
    if spec.loops is not None and spec.loops.problem:
        part = f"constraints {quoted([constraint.name for constraint in constraints], 9)}"
        notes.append(BuildNote(spec.name, part, f"are not closed in the positions of a state: {spec.loops.problem}"))
    for constraint in constraints:
        wanted = tuple(_rows(spec, constraint))
        kept = [row for row in wanted if row.hold in held]
        rows += kept
        if not wanted or len(kept) < len(wanted):
            result = "holds only as a spherical one" if kept else "is not simulated, and its loop opens"
            kind = constraint.type.value
            notes.append(
                BuildNote(spec.name, f"constraint '{constraint.name}'", f"{result}: {engine} has no {kind} constraint")
            )
    return tuple(rows)


def lost_loops(spec: ModelSpec) -> list[str]:
    """Return a line for each loop constraint of a model, for a format that has no such constraints."""
    return [f"model '{spec.name}': constraint '{each.name}': its loop opens" for each in spec.robot.constraints]


def _rows(spec: ModelSpec, constraint: LoopConstraint) -> Iterator[LoopRow]:
    index = spec.robot.link_index
    parent, child = constraint.T_parent_frame, constraint.T_child_frame
    # As long as the links: then an angle weighs as much as a distance.
    arm = max(float(np.linalg.norm(parent[:3, 3])), float(np.linalg.norm(child[:3, 3]))) or _ARM
    is_crossed = constraint.type is ConstraintType.UNIVERSAL
    axis = constraint.parent_axis
    for hold, arms in _ROWS[constraint.type]:
        ends = (
            _moved(parent, arms * arm * axis),
            _moved(child, arms * arm * (constraint.child_axis if is_crossed else axis)),
        )
        yield LoopRow(
            constraint.name,
            hold,
            index[constraint.parent_link],
            index[constraint.child_link],
            *ends,
            arm * np.sqrt(2.0) if hold is Hold.DISTANCE else 0.0,
        )


_ARM = 0.1
"""Lever arm [m] of a constraint whose frames are both at the origins of their links."""


def _moved(T: FloatArray, offset: FloatArray) -> FloatArray:
    """Return a (4, 4) frame with its origin moved by `offset` (3,) in its own axes."""
    moved = np.array(T)
    moved[:3, 3] += T[:3, :3] @ offset
    return moved
