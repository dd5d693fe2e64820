# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Joint values of a state in closed loops: the passive joints follow from the driven ones."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from robot_semantics.kinematics.joint_space import JointSpace
from robot_semantics.kinematics.loop_newton import LoopSolution
from robot_semantics.kinematics.loops import ClosedLoops
from robot_semantics.kinematics.mimics import followings
from robot_semantics.transforms.arrays import FloatArray
from robot_semantics.usdf.joint_values import JointValues


def closed_values(loops: ClosedLoops | None, values: JointValues) -> tuple[JointValues, LoopSolution | None]:
    """Return values with closed loops where all driven joints of a linkage are known, and the solution, if any.

    Known passive joints choose the branch. Loops that do not close leave the values unchanged.
    """
    names = set(_dependent_joints(loops, values))
    if loops is None or not names:
        return values, None
    chosen = any(name in values.positions_of for name in loops.dependent)
    found = loops.near(values.q) if chosen else loops.close(values.q)
    if not found.closed:
        return values, found
    space = loops.space
    names |= {joint.name for joint, leader, _ in followings(space.model) if leader.name in names}
    q, v = np.array(values.q), np.array(values.v)
    for name in names:
        q[space.joint_positions[name]] = found.q[space.joint_positions[name]]
    velocities_of = set(values.velocities_of)
    solved, determined = loops.velocities(q, np.nan_to_num(v))
    moving = set(_dependent_joints(loops, JointValues(q, v, values.velocities_of, values.velocities_of)))
    for name in names:
        where = space.joint_velocities[name]
        leader = space.model.joint(name).mimic
        if (name if leader is None else leader.joint) in moving and determined[where].all():
            v[where] = solved[where]
            velocities_of.add(name)
    return JointValues(q, v, values.positions_of | names, frozenset(velocities_of)), found


def with_stated(space: JointSpace, closed: JointValues, stated: JointValues) -> tuple[FloatArray, FloatArray]:
    """Return positions (size,) and velocities (velocity_size,): the stated ones, and those of `closed` for the rest."""
    q, v = np.array(closed.q), np.array(closed.v)
    for joint in space.joints:
        if joint.name in stated.positions_of:
            q[space.positions_of(joint)] = stated.q[space.positions_of(joint)]
        if joint.name in stated.velocities_of:
            v[space.velocities_of(joint)] = stated.v[space.velocities_of(joint)]
    return q, v


def _dependent_joints(loops: ClosedLoops | None, values: JointValues) -> Iterator[str]:
    """Yield the passive joints of the linkages whose driven joints all have known positions."""
    for freedom in () if loops is None else loops.freedoms:
        if values.positions_of.issuperset(freedom.driven):
            yield from (*freedom.dependent, *freedom.held)
