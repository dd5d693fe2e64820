# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Degrees of freedom of closed loops: which joints follow from which, and whether the passive joints fit."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.base.errors import RobotSemanticsError
from robot_semantics.base.foreign_text import quoted
from robot_semantics.kinematics.joint_space import JointSpace
from robot_semantics.kinematics.loop_equations import RANK_TOLERANCE, LoopEquations, moving_joints
from robot_semantics.kinematics.loop_newton import Linkage
from robot_semantics.model.constraints import LoopConstraint
from robot_semantics.model.robot_model import JointModel, RobotModel
from robot_semantics.transforms.arrays import FloatArray

_SAMPLES = 12
_MOVES = 1e-3
"""Smallest share of a joint in a motion that the joint takes part in."""


class LoopError(RobotSemanticsError):
    """The passive joints of a loop do not follow from its other joints.

    Attributes:
        freedoms: all linkages of the robot.
    """

    def __init__(self, freedoms: tuple[LoopFreedom, ...]) -> None:
        self.freedoms = freedoms
        super().__init__("; ".join(freedom.problem for freedom in freedoms if freedom.problem))


@dataclass(frozen=True, slots=True)
class LoopFreedom:
    """The freedom of one linkage, which is a set of constraints that share joints.

    Attributes:
        constraints: names of its constraints.
        joints: names of its independent joints, in model order.
        dependent: names of the passive joints among these.
        degrees: number of degrees of freedom that the constraints leave; -1 if the loops cannot close.
        residual: smallest distance or angle by which the loops stay open [m or rad].
        code: code of the problem; empty if there is none.
        problem: what is wrong.
        choices: the joints to choose from.
    """

    constraints: tuple[str, ...]
    joints: tuple[str, ...]
    dependent: tuple[str, ...]
    degrees: int
    residual: float
    code: str = ""
    problem: str = ""
    choices: tuple[str, ...] = ()

    @property
    def driven(self) -> tuple[str, ...]:
        """Names of the joints that are not passive."""
        return tuple(name for name in self.joints if name not in self.dependent)


def linkages_of(model: RobotModel, space: JointSpace) -> tuple[tuple[Linkage, LoopFreedom], ...]:
    """Return the linkages of a robot.

    Raises:
        LoopError: the passive joints of a linkage do not follow from its other joints.
    """
    found = tuple(linkages(model, space))
    if any(freedom.problem for _, freedom in found):
        raise LoopError(tuple(freedom for _, freedom in found))
    return found


def linkages(model: RobotModel, space: JointSpace) -> Iterator[tuple[Linkage, LoopFreedom]]:
    """Yield the linkages of a robot, also those with a problem."""
    owner = {}
    for joint in space.joints:
        where = space.velocities_of(joint)
        owner.update(dict.fromkeys(range(where.start, where.stop), joint))
    for constraints in _sharing_joints(model, space):
        equations = LoopEquations(model, space, constraints)
        passive = [at for at in equations.variables.tolist() if owner[at].passive]
        linkage = Linkage(space, equations, passive)
        yield linkage, _freedom(linkage, owner, constraints)


def check_loops(model: RobotModel, diagnostics: Diagnostics) -> None:
    """Report the degrees of freedom of each linkage, and passive joints that do not fit.

    Without any passive joint a problem is only a warning: the SRDF may be missing.
    """
    if not model.constraints:
        return
    for _, freedom in linkages(model, JointSpace.of(model)):
        first = next(constraint for constraint in model.constraints if constraint.name == freedom.constraints[0])
        at = -1 if first.urdf is None else first.urdf.at
        place = model.urdf.places.place(max(at, 0))
        if not freedom.problem:
            diagnostics.note("loop-freedom", _summary(freedom), place)
        elif freedom.dependent or freedom.degrees < 0:
            diagnostics.error(freedom.code, freedom.problem, place)
        else:
            diagnostics.warning(freedom.code, freedom.problem, place)


def _summary(freedom: LoopFreedom) -> str:
    degrees = "1 degree" if freedom.degrees == 1 else f"{freedom.degrees} degrees"
    driven = f"follow from {quoted(freedom.driven, 9)}" if freedom.driven else "cannot move"
    what = f"loop{'s'[: len(freedom.constraints) > 1]} {quoted(freedom.constraints, 9)}"
    return f"{what}: {degrees} of freedom; {quoted(freedom.dependent, 9)} {driven}"


def _sharing_joints(model: RobotModel, space: JointSpace) -> list[list[LoopConstraint]]:
    """Return the constraints in sets that share no independent joint."""
    sets: list[tuple[set[int], list[LoopConstraint]]] = []
    for constraint in model.constraints:
        slices = [space.velocities_of(model.joints[at]) for at in moving_joints(model, constraint)]
        sources = {int(source) for where in slices for source in space.velocity_mimics.source[where]}
        together = [item for item in sets if item[0] & sources]
        sets = [item for item in sets if not item[0] & sources]
        members = [other for _, others in together for other in others]
        sets.append((sources.union(*(shared for shared, _ in together)), [*members, constraint]))
    return [members for _, members in sets]


def _freedom(linkage: Linkage, owner: dict[int, JointModel], constraints: list[LoopConstraint]) -> LoopFreedom:
    variables = linkage.equations.variables
    names = [owner[at].name for at in variables.tolist()]
    passive = [owner[at].name for at in linkage.dependent.tolist()]
    titles = tuple(constraint.name for constraint in constraints)

    def freedom(degrees: int, residual: float, code: str, problem: str, choices: list[str]) -> LoopFreedom:
        unique = tuple(dict.fromkeys(choices))
        return LoopFreedom(
            titles, tuple(dict.fromkeys(names)), tuple(dict.fromkeys(passive)), degrees, residual, code, problem, unique
        )

    what = f"loop {quoted(titles, 9)}" if len(titles) == 1 else f"loops {quoted(titles, 9)}"
    J, residual = _derivatives(linkage)
    if not len(J):
        problem = f"{what}: it cannot close; it stays open by at least {residual:.3g} m or rad"
        return freedom(-1, residual, "loop-open", problem, names)
    dependent = np.isin(variables, linkage.dependent)
    rank, own_rank = _rank(J), _rank(J[..., dependent])
    count = int(dependent.sum())
    degrees = len(names) - rank
    if count > own_rank:
        free = _free(J[..., dependent])
        choices = [name for name, moves in zip(passive, free, strict=True) if moves]
        problem = (
            f"{what}: it determines {own_rank} of its {count} passive joints; "
            f"make {count - own_rank} of {quoted(choices, 9)} not passive"
        )
        return freedom(degrees, residual, "loop-underdetermined", problem, choices)
    if own_rank < rank:
        choices = [name for name, given in zip(names, dependent, strict=True) if not given]
        problem = (
            f"{what}: {rank} of its {len(names)} joint variables must be passive, not {count}; "
            f"add <passive_joint> for {rank - own_rank} of {quoted(choices, 9)} to the SRDF"
        )
        return freedom(degrees, residual, "loop-overdetermined", problem, choices)
    return freedom(degrees, residual, "", "", [])


def _derivatives(linkage: Linkage) -> tuple[FloatArray, float]:
    """Return (n, rows, variables) derivatives at some closed configurations, and the smallest residual."""
    solver, equations, rng = linkage.without_driven, linkage.equations, np.random.default_rng(1)
    neutral = linkage.neutral
    far = solver.with_random(np.repeat(neutral, _SAMPLES, axis=0), rng)
    near = neutral + 0.1 * (far - neutral)
    for start in (near, far):
        found = solver.newton(start)
        if found.closed.any():
            residual = np.maximum(found.position_error, found.rotation_error)[found.closed].min()
            return equations.derivative(equations.state(found.q[found.closed])), float(residual)
    return np.zeros((0, 1, 1)), float(np.maximum(found.position_error, found.rotation_error).min())


def _rank(J: FloatArray) -> int:
    """Return the largest rank of (n, rows, variables) derivatives."""
    if not J.size:
        return 0
    values = np.linalg.svd(J, compute_uv=False)
    return int((values > RANK_TOLERANCE * values[..., :1]).sum(axis=-1).max())


def _free(J: FloatArray) -> list[bool]:
    """Return for each variable whether it can move while the equations (n, rows, variables) hold everywhere."""
    moves = np.zeros(J.shape[-1], np.bool_)
    for derivative in J:
        _, values, directions = np.linalg.svd(derivative)
        rank = int((values > RANK_TOLERANCE * values.max(initial=0.0)).sum())
        moves |= (np.abs(directions[rank:]) > _MOVES).any(axis=0)
    return [bool(value) for value in moves]
