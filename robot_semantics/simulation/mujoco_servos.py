"""How MuJoCo's actuators follow commands: one a degree of freedom, which can change its mode at run time."""

from __future__ import annotations

import enum
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]


class ControlMode(enum.IntEnum):
    """What an actuator's command means."""

    POSITION = 0
    VELOCITY = 1
    EFFORT = 2


@dataclass(frozen=True, slots=True, eq=False)
class Servos:
    """The actuators' gains, ``force = stiffness * (target - q) - damping * v``, and modes.

    Attributes:
        stiffness: (nu,) [N/m or N m/rad].
        damping: (nu,) [N s/m or N m s/rad].
        default_modes: (nu,) modes at the start.

    """

    stiffness: FloatArray
    damping: FloatArray
    default_modes: IntArray

    @classmethod
    def tuned(cls, model: Any, frequency: float, free: Collection[str] = ()) -> Servos:
        """Return critically damped servos of one natural `frequency` [rad/s] for the inertia that each joint moves.

        The inertia is that at zero positions. The actuators named in `free` start in effort mode, so nothing holds
        their joints; all others hold their positions.
        """
        data = mujoco.MjData(model)
        # Not a forward pass: before they are put in their places all robots stand in each other.
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        mujoco.mj_makeM(model, data)
        mass = np.zeros((model.nv, model.nv))
        mujoco.mj_fullM(model, data, mass)
        dofs = model.jnt_dofadr[model.actuator_trnid[:, 0]]
        inertia = mass.diagonal()[dofs]
        modes = np.full(model.nu, ControlMode.POSITION, dtype=np.int64)
        modes[[model.actuator(name).id for name in free]] = ControlMode.EFFORT
        arrays = (inertia * frequency**2, 2.0 * inertia * frequency, modes)
        for array in arrays:
            array.setflags(write=False)
        return cls(*arrays)

    def apply(self, model: Any, modes: IntArray) -> None:
        """Write the gains of the actuators' `modes` (nu,) into an MjModel."""
        position, velocity, effort = (modes == mode for mode in ControlMode)
        model.actuator_gainprm[:, 0] = np.select(
            (position, velocity, effort), (self.stiffness, self.damping, np.ones_like(self.stiffness))
        )
        model.actuator_biasprm[:, 1] = np.where(position, -self.stiffness, 0.0)
        model.actuator_biasprm[:, 2] = np.where(effort, 0.0, -self.damping)
