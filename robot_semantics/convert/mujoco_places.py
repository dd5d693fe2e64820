# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Joints and mocap bodies of a MuJoCo model, and the values of joints by name."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import mujoco

FREE, BALL = 0, 1
"""MuJoCo's joint types that have a quaternion; slides and hinges have one number."""

POSITIONS, VELOCITIES = (7, 4, 1, 1), (6, 3, 1, 1)
"""How many numbers a joint of each type has."""
VARIABLES = {
    "x": slice(0, 1),
    "y": slice(1, 2),
    "theta": slice(2, 3),
    "trans_x": slice(0, 1),
    "trans_y": slice(1, 2),
    "trans_z": slice(2, 3),
    "rot": slice(3, 7),
}
PARTS = (("x", "y", "theta"), ("trans_x", "trans_y", "trans_z", "rot"))
"""The MuJoCo joints that a planar, and a floating, joint is made of."""
RATES = {**VARIABLES, "rot": slice(3, 6)}
"""Indices in a planar or floating joint's positions, and velocities, of the MuJoCo joints ``JOINT/x`` and so on."""


class MujocoJoint(NamedTuple):
    """One joint of a MuJoCo model.

    Attributes:
        number: the joint's number.
        name: its name, empty if it has none.
        body: the name of its body.
        body_id: the number of its body.
        type: MuJoCo's joint type.
        qpos: slice of its positions in qpos.
        qvel: slice of its velocities in qvel.
    """

    number: int
    name: str
    body: str
    body_id: int
    type: int
    qpos: slice
    qvel: slice


def mocap_bodies(model: mujoco.MjModel) -> Iterator[tuple[int, int]]:
    """Yield the mocap bodies with their numbers."""
    for body in range(model.nbody):
        if model.body_mocapid[body] >= 0:
            yield body, int(model.body_mocapid[body])


def places_of(model: mujoco.MjModel) -> Iterator[MujocoJoint]:
    """Yield the joints, with the slices of their values in qpos and qvel."""
    for index in range(model.njnt):
        kind = int(model.jnt_type[index])
        qpos, qvel = int(model.jnt_qposadr[index]), int(model.jnt_dofadr[index])
        body = int(model.jnt_bodyid[index])
        yield MujocoJoint(
            index,
            str(model.joint(index).name),
            str(model.body(body).name),
            body,
            kind,
            slice(qpos, qpos + POSITIONS[kind]),
            slice(qvel, qvel + VELOCITIES[kind]),
        )
