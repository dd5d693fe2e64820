# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""MuJoCo's steps, so that a simulation can be interrupted, and says when it has left the finite numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mujoco
import numpy as np

from robot_semantics.simulation.magnitudes import LARGEST
from robot_semantics.simulation.simulator import SimulationError

_PART = 100
"""Time steps after which `advance` can be interrupted, and looks whether the simulation holds."""
_DIVERGED = [
    int(warning)
    for warning in (
        mujoco.mjtWarning.mjWARN_BADQPOS,
        mujoco.mjtWarning.mjWARN_BADQVEL,
        mujoco.mjtWarning.mjWARN_BADQACC,
    )
]
"""MuJoCo's warnings after which it has reset the world by itself."""


def send_warnings_to(tell: Callable[[str], None]) -> None:
    """Have MuJoCo tell its warnings to `tell`, in the whole process; otherwise it writes a file where it runs."""
    mujoco.set_mju_user_warning(tell)


class DivergedError(SimulationError):
    """A simulation has left the finite numbers.

    Attributes:
        time: simulation time of the last sound state that is known, at most `_PART` steps before [s].

    """

    def __init__(self, time: float, timestep: float) -> None:
        self.time = time
        super().__init__(
            f"the simulation diverged soon after {time:g} s: MuJoCo met positions, velocities or accelerations that "
            f"are huge or not finite; a time step shorter than {timestep:g} s may help"
        )


def advance(model: Any, data: Any, count: int) -> None:
    """Take `count` time steps.

    Raises:
        DivergedError: numbers are not finite or huge; what is in `data` then is of no use.
        SimulationError: MuJoCo refuses for another reason.

    """
    warnings = data.warning.number
    while count > 0:
        # In parts: within a call of MuJoCo nobody can interrupt, and a count may be any integer.
        part = min(count, _PART)
        before = float(data.time)
        warnings[_DIVERGED] = 0
        try:
            mujoco.mj_step(model, data, part)
        except mujoco.FatalError as error:
            raise SimulationError(f"MuJoCo cannot go on after {before:g} s: {error}") from error
        # MuJoCo looks only when the next step begins.
        values = np.concatenate((data.qpos, data.qvel))
        if warnings[_DIVERGED].any() or not (np.abs(values) <= LARGEST).all():
            raise DivergedError(before, float(model.opt.timestep))
        count -= part
