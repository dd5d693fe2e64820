# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Table of the simulators: one line for each. Its module has ``start``."""

from __future__ import annotations

import importlib
from collections.abc import Callable

from robot_semantics.base.errors import UnknownNameError
from robot_semantics.simulation.simulator import Simulator
from robot_semantics.simulation.world_spec import WorldSpec

ENGINES = {
    "mujoco": "robot_semantics.simulation.mujoco",
    "drake": "robot_semantics.simulation.drake",
    "pybullet": "robot_semantics.simulation.pybullet",
}
"""Module of each engine. Its ``start(spec, warn)`` returns a `Simulator`, which passes its warnings to ``warn``."""


def start(engine: str, spec: WorldSpec, warn: Callable[[str], None]) -> Simulator:
    """Return a world in an engine, at time 0.

    Raises:
        UnknownNameError: the engine is unknown.
        MissingExtraError: the engine is not installed.
        WorldSpecError: the engine cannot build the world.
    """
    if engine not in ENGINES:
        raise UnknownNameError("engine", engine, ENGINES)
    simulator: Simulator = importlib.import_module(ENGINES[engine]).start(spec, warn)
    return simulator
