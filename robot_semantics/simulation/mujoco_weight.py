# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Who carries a robot's weight in MuJoCo: motors hold up the links, and wheels stand on the floor with it, no more."""

from __future__ import annotations

import copy
from typing import Any

import mujoco
import numpy as np
import numpy.typing as npt

from robot_semantics.simulation.mujoco_layout import ModelLayout

IntArray = npt.NDArray[np.int64]

_ROUNDS = 3


def held_bodies(model: Any, layout: ModelLayout) -> dict[int, IntArray]:
    """Return the bodies whose weight motors hold, each with the actuators on the way to it.

    Behind a joint that nothing drives there is none; their compensation is switched off in `model`.
    """
    robot, actuators = layout.spec.robot, {0: np.zeros(0, np.int64)}
    for link, joint in zip(robot.links[1:], robot.joints[1:], strict=True):
        above = actuators.get(link.parent)
        place = layout.by_name.get(joint.name)
        own = np.zeros(0, np.int64) if place is None else place.actuators
        driven = place is None or len(own) == len(place.qvel) or joint.mimic is not None
        if above is not None and driven:
            actuators[link.index] = np.concatenate((above, own))
    for link in robot.links:
        if link.index not in actuators:
            model.body_gravcomp[layout.bodies[link.index]] = 0.0
    return {int(layout.bodies[index]): row for index, row in actuators.items()}


def share_weight(model: Any, layout: ModelLayout) -> None:
    """Make what of a robot reaches into the floor so soft in `model` that together it carries the robot's weight.

    A planar base holds the robot at its height whatever the floor does: wheels a millimetre too deep would otherwise be
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
        force, found = 0.0, set()
        for index in range(data.ncon):
            pressed = np.zeros(6)
            mujoco.mj_contactForce(probe, data, index, pressed)
            force += pressed[0]
            found |= set(data.contact[index].geom.tolist()) - {ground}
        if force <= weight or not found:
            return
        for geom in found:
            for changed in (probe, model):
                # Stiffness goes with the square of the time constant.
                changed.geom_solref[geom, 0] *= np.sqrt(force / weight)
