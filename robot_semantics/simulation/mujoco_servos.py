# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Gains and modes of MuJoCo's actuators, one for each degree of freedom, and the support of a robot's weight.

An actuator can change its mode at run time. Motors hold the weight of the links. Wheels press on the floor with the
weight of the robot, and no more.
"""

from __future__ import annotations

import copy
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

import mujoco
import numpy as np

from robot_semantics.simulation.mujoco_layout import ModelLayout
from robot_semantics.simulation.simulator import ControlMode
from robot_semantics.transforms.arrays import FloatArray, IntArray

REACH = 5e-4
"""Largest distance from its target at which dry friction may stop a position servo [rad, m]."""


@dataclass(frozen=True, slots=True, eq=False)
class Servos:
    """The actuators' gains, ``force = stiffness * (target - q) - damping * v``, and modes.

    Attributes:
        stiffness: (nu,) [N/m or N m/rad].
        damping: (nu,) [N s/m or N m s/rad].
        default_modes: (nu,) modes at the start.
        weights: bodies whose weight motors hold, with these motors. A motor in effort mode holds no weight.

    """

    stiffness: FloatArray
    damping: FloatArray
    default_modes: IntArray
    weights: tuple[tuple[int, IntArray], ...] = ()

    @classmethod
    def tuned(
        cls,
        model: mujoco.MjModel,
        frequency: float,
        free: Collection[str] = (),
        held: Iterable[Mapping[int, IntArray]] = (),
    ) -> Servos:
        """Return critically damped servos of one natural `frequency` [rad/s] for the inertia that each joint moves.

        The inertia is taken at zero positions. `held` has the bodies whose weight motors hold, with these motors. Dry
        friction makes a servo stiffer, so that it still reaches its target within `REACH`. The actuators named in
        `free` start in effort mode, so nothing holds their joints. All others hold their positions.
        """
        data = mujoco.MjData(model)
        # Not a forward pass: all robots still overlap at the origin.
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        mujoco.mj_makeM(model, data)
        mass = np.zeros((model.nv, model.nv))
        mujoco.mj_fullM(model, data, mass)
        dofs = model.jnt_dofadr[model.actuator_trnid[:, 0]]
        inertia = mass.diagonal()[dofs]
        modes = np.full(model.nu, ControlMode.POSITION, dtype=np.int64)
        modes[[model.actuator(name).id for name in free]] = ControlMode.EFFORT
        stiffness = np.maximum(inertia * frequency**2, model.dof_frictionloss[dofs] / REACH)
        stiffness = np.minimum(stiffness, inertia * (0.5 / model.opt.timestep) ** 2)
        arrays = (stiffness, 2.0 * np.sqrt(stiffness * inertia), modes)
        for array in arrays:
            array.setflags(write=False)
        return cls(*arrays, tuple(item for bodies in held for item in bodies.items()))

    def apply(self, model: mujoco.MjModel, modes: IntArray) -> None:
        """Write the gains of the actuators' `modes` (nu,) into an MjModel."""
        position, velocity, effort = (modes == mode for mode in ControlMode)
        model.actuator_gainprm[:, 0] = np.select(
            (position, velocity, effort), (self.stiffness, self.damping, np.ones_like(self.stiffness))
        )
        model.actuator_biasprm[:, 1] = np.where(position, -self.stiffness, 0.0)
        model.actuator_biasprm[:, 2] = np.where(effort, 0.0, -self.damping)
        effort_modes = modes == ControlMode.EFFORT
        for body, actuators in self.weights:
            model.body_gravcomp[body] = 0.0 if effort_modes[actuators].any() else 1.0


_ROUNDS = 3


def bodies_held_by_motors(model: mujoco.MjModel, layout: ModelLayout) -> dict[int, IntArray]:
    """Return the bodies whose weight motors hold, each with the actuators between it and the root.

    Bodies behind a joint without a motor are not held: their gravity compensation is switched off in `model`. Motors
    hold the passive joints of closed loops, which follow from the driven joints.
    """
    robot, loops, actuators = layout.spec.robot, layout.spec.loops, {0: np.zeros(0, np.int64)}
    freedoms = () if loops is None or loops.problem else loops.freedoms
    following = {name: freedom.driven for freedom in freedoms for name in freedom.dependent}
    for link, joint in zip(robot.links[1:], robot.joints[1:], strict=True):
        above = actuators.get(link.parent)
        indices = layout.by_name.get(joint.name)
        own = np.zeros(0, np.int64) if indices is None else indices.actuators
        driven = indices is None or len(own) == len(indices.qvel) or joint.mimic is not None
        if joint.name in following:
            motors = [layout.by_name[name].actuators for name in following[joint.name]]
            own, driven = np.concatenate([np.zeros(0, np.int64), *motors]), True
        if above is not None and driven:
            actuators[link.index] = np.concatenate((above, own))
    for link in robot.links:
        if link.index not in actuators:
            model.body_gravcomp[layout.bodies[link.index]] = 0.0
    return {int(layout.bodies[index]): row for index, row in actuators.items()}


def soften_floor_contacts(model: mujoco.MjModel, layout: ModelLayout) -> None:
    """Soften the geoms of a robot that reach into the floor, so that together they carry the robot's weight.

    A planar base keeps the height of the robot. Without softening, wheels that are a millimetre too deep would be
    pressed with ten times the weight.
    """
    bodies = set(layout.bodies.tolist())
    ours = np.array([int(body) in bodies for body in model.geom_bodyid])
    ground = model.geom("ground").id
    probe = copy.copy(model)
    probe.geom_contype[:], probe.geom_conaffinity[:] = ours, np.arange(model.ngeom) == ground
    weight = float(model.body_mass[layout.bodies].sum() * np.abs(model.opt.gravity[2]))
    for _ in range(_ROUNDS):
        data = mujoco.MjData(probe)
        mujoco.mj_forward(probe, data)
        force, geoms = 0.0, set()
        for index in range(data.ncon):
            pressed = np.zeros(6)
            mujoco.mj_contactForce(probe, data, index, pressed)
            force += pressed[0]
            geoms |= set(data.contact[index].geom.tolist()) - {ground}
        if force <= weight or not geoms:
            return
        for geom in geoms:
            for changed in (probe, model):
                # Stiffness depends on the square of the time constant.
                changed.geom_solref[geom, 0] *= np.sqrt(force / weight)
