# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Degrees of freedom of closed loops: which joints follow from which, and whether the passive joints fit."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.base.errors import RobotSemanticsError
from robot_semantics.base.names import quoted
from robot_semantics.base.record import record
from robot_semantics.kinematics.joint_space import JointSpace
from robot_semantics.kinematics.loop_equations import RANK_TOLERANCE, Linkage, LoopEquations
from robot_semantics.model.robot_model import JointModel, LoopConstraint, RobotModel
from robot_semantics.transforms.arrays import FloatArray

_SAMPLES = 12
_MOVES = 1e-3
"""Smallest share of a joint in a motion that the joint takes part in."""
_EQUAL = 1e-6
"""Largest difference of two shares that are equal."""
_NUDGE = 1e-4
"""Motion along an idle direction, to see what it moves [rad]."""
_STILL = 1e-2
"""Largest motion of a joint's origin, in loop lengths per radian, that is none."""


class LoopError(RobotSemanticsError):
    """The passive joints of a loop do not follow from its other joints.

    Attributes:
        freedoms: all linkages of the robot.
    """

    def __init__(self, freedoms: tuple[LoopFreedom, ...]) -> None:
        self.freedoms = freedoms
        super().__init__("; ".join(freedom.problem for freedom in freedoms if freedom.problem))


@record(frozen=True, slots=True)
class LoopFreedom:
    """The freedom of one linkage, which is a set of constraints that share joints.

    Attributes:
        constraints: names of its constraints.
        joints: names of its independent joints, in model order.
        dependent: names of the passive joints among these.
        degrees: number of degrees of freedom that the constraints leave; -1 if the loops cannot close.
        code: code of the problem; empty if there is none.
        problem: what is wrong, with the joints to choose from.
        held: names of passive joints that the loops do not fix, as a rod between two balls can turn about its own axis;
            they keep their positions.
    """

    constraints: tuple[str, ...]
    joints: tuple[str, ...]
    dependent: tuple[str, ...]
    degrees: int
    code: str
    problem: str
    held: tuple[str, ...]

    @property
    def driven(self) -> tuple[str, ...]:
        """Names of the joints that are not passive."""
        return tuple(name for name in self.joints if name not in self.dependent and name not in self.held)


def linkages(model: RobotModel, space: JointSpace) -> Iterator[tuple[Linkage, LoopFreedom]]:
    """Yield the linkages of a robot, also those with a problem."""
    owner = {}
    for joint in space.joints:
        where = space.velocities_of(joint)
        owner.update(dict.fromkeys(range(where.start, where.stop), joint))
    for constraints in _sharing_joints(model, space):
        equations = LoopEquations(model, space, constraints)
        passive = [variable for variable in equations.variables.tolist() if owner[variable].passive]
        linkage = Linkage(space, equations, passive)
        closed, residual = _closed_samples(linkage, space)
        J = equations.derivative(equations.state(closed)) if len(closed) else np.zeros((0, 1, len(equations.variables)))
        held = _held(linkage, owner, closed, J)
        if held:
            linkage = Linkage(space, equations, [variable for variable in passive if variable not in held])
        yield (
            linkage,
            _freedom(linkage, owner, constraints, J, residual, tuple(owner[variable].name for variable in held)),
        )


def check_loops(model: RobotModel, diagnostics: Diagnostics) -> None:
    """Report the degrees of freedom of each linkage, and passive joints that do not fit.

    Without any passive joint a problem is only a warning: the SRDF may be missing.
    """
    if not model.constraints:
        return
    for _, freedom in linkages(model, JointSpace.of(model)):
        first = next(constraint for constraint in model.constraints if constraint.name == freedom.constraints[0])
        at = -1 if first.urdf is None else first.urdf.ordinal
        place = model.urdf.places.place(max(at, 0))
        if not freedom.problem:
            diagnostics.note("loop-freedom", _summary(freedom), place)
            for name in freedom.held:
                text = f"{_loops(freedom.constraints)}: passive joint '{name}' can turn freely; it keeps its position"
                diagnostics.warning("loop-underdetermined", text, place)
        elif freedom.dependent or freedom.degrees < 0:
            diagnostics.error(freedom.code, freedom.problem, place)
        else:
            diagnostics.warning(freedom.code, freedom.problem, place)


def _summary(freedom: LoopFreedom) -> str:
    degrees = "1 degree" if freedom.degrees == 1 else f"{freedom.degrees} degrees"
    driven = f"follow from {quoted(freedom.driven, 9)}" if freedom.driven else "cannot move"
    follows = f"; {quoted(freedom.dependent, 9)} {driven}" if freedom.dependent else ""
    return f"{_loops(freedom.constraints)}: {degrees} of freedom{follows}"


def _loops(constraints: tuple[str, ...]) -> str:
    return f"loop{'s'[: len(constraints) > 1]} {quoted(constraints, 9)}"


def _sharing_joints(model: RobotModel, space: JointSpace) -> list[list[LoopConstraint]]:
    """Return the constraints in sets that share no independent joint."""
    sets: list[tuple[set[int], list[LoopConstraint]]] = []
    for constraint in model.constraints:
        moving = model.moving_between(constraint.parent_link, constraint.child_link)
        slices = [space.velocities_of(model.joints[at]) for at in moving]
        sources = {int(source) for where in slices for source in space.velocity_mimics.source[where]}
        together = [item for item in sets if item[0] & sources]
        sets = [item for item in sets if not item[0] & sources]
        members = [other for _, others in together for other in others]
        sets.append((sources.union(*(shared for shared, _ in together)), [*members, constraint]))
    return [members for _, members in sets]


def _freedom(
    linkage: Linkage,
    owner: dict[int, JointModel],
    constraints: list[LoopConstraint],
    J: FloatArray,
    residual: float,
    held: tuple[str, ...],
) -> LoopFreedom:
    variables = linkage.equations.variables
    names = [owner[at].name for at in variables.tolist()]
    passive = [owner[at].name for at in linkage.dependent.tolist()]
    titles = tuple(constraint.name for constraint in constraints)
    order = {joint.name: joint.index for joint in owner.values()}

    def freedom(degrees: int, code: str = "", problem: str = "") -> LoopFreedom:
        joints, dependent = (tuple(sorted(dict.fromkeys(some), key=order.__getitem__)) for some in (names, passive))
        return LoopFreedom(titles, joints, dependent, degrees, code, problem and f"{_loops(titles)}: {problem}", held)

    if not len(J):
        return freedom(-1, "loop-open", f"it cannot close; it stays open by at least {residual:.3g} m or rad")
    dependent = np.isin(variables, linkage.dependent)
    rank, own_rank = _rank(J), _rank(J[..., dependent])
    count = int(dependent.sum())
    degrees = len(names) - rank - len(held)
    if count > own_rank:
        free = _free(J[..., dependent])
        choices = sorted({name for name, moves in zip(passive, free, strict=True) if moves}, key=order.__getitem__)
        problem = (
            f"it determines {own_rank} of its {count} passive joints; "
            f"make {count - own_rank} of {quoted(choices, 9)} not passive"
        )
        return freedom(degrees, "loop-underdetermined", problem)
    if own_rank < rank:
        choices = sorted(
            {name for name, given in zip(names, dependent, strict=True) if not given}, key=order.__getitem__
        )
        problem = (
            f"{rank} of its {len(names)} joint variables must be passive, not {count}; "
            f"add <passive_joint> for {rank - own_rank} of {quoted(choices, 9)} to the SRDF"
        )
        return freedom(degrees, "loop-overdetermined", problem)
    return freedom(degrees)


@np.errstate(over="ignore")
def _closed_samples(linkage: Linkage, space: JointSpace) -> tuple[FloatArray, float]:
    """Return (n, size) some closed configurations, and the smallest residual if there are none."""
    solver, rng = linkage.without_driven, np.random.default_rng(1)
    neutral = space.neutral()[np.newaxis]
    far = solver.with_random(np.repeat(neutral, _SAMPLES, axis=0), rng)
    near = neutral + 0.1 * (far - neutral)
    for start in (near, far):
        found = solver.newton(start)
        if found.closed.any():
            break
    return found.q[found.closed], float(np.maximum(found.position_error, found.rotation_error).min())


def _held(linkage: Linkage, owner: dict[int, JointModel], closed: FloatArray, J: FloatArray) -> list[int]:
    """Return passive velocities that hold all idle motions of the passive joints; empty if a motion is not idle.

    An idle motion keeps the equations and the origins of all joints, at every one of the `closed` (n, size)
    configurations with derivatives `J` (n, rows, variables).
    """
    own_columns = linkage.split(J)[0]
    count = own_columns.shape[-1] - _rank(own_columns)
    single = all(owner[component].velocity_count == 1 for component in linkage.dependent.tolist())
    if not len(J) or count <= 0 or not linkage.driven.size or not single:
        return []
    shares = np.zeros((len(own_columns), own_columns.shape[-1], own_columns.shape[-1]))
    for k, q in enumerate(closed):
        idle = np.linalg.svd(own_columns[k])[2][own_columns.shape[-1] - count :]
        here = np.tile(q, (count, 1))
        before, after = (linkage.equations.origins(some) for some in (here, linkage.moved(here, _NUDGE * idle)))
        if np.abs(after - before).max() > _STILL * _NUDGE * linkage.equations.length:
            return []
        shares[k] = idle.T @ idle
    held: list[int] = []
    for _ in range(count):
        # Hold the joint that has a good share in the idle motions at all configurations.
        share = np.einsum("nii->ni", shares).min(axis=0)
        equal = np.flatnonzero(share >= share.max() - _EQUAL).tolist()
        best = min(equal, key=lambda component: linkage.equations.key_of[int(linkage.dependent[component])])
        pivot = shares[:, best, best]
        if pivot.min() < _MOVES:
            return []
        shares -= shares[:, :, [best]] * shares[:, [best], :] / pivot[:, np.newaxis, np.newaxis]
        held.append(int(linkage.dependent[best]))
    return sorted(held)


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
