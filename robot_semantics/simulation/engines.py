# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The simulators there are: one line for each; its module offers ``start``."""

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
"""The module of each engine; its ``start(spec, tell)`` returns a `Simulator` that tells its warnings to ``tell``."""


def start(engine: str, spec: WorldSpec, tell: Callable[[str], None]) -> Simulator:
    """Return a world in an engine, at time 0.

    Raises:
        UnknownNameError: there is no such engine.
        MissingExtraError: it is not installed.
        WorldSpecError: the world cannot be built in it.
    """
    if engine not in ENGINES:
        raise UnknownNameError("engine", engine, ENGINES)
    simulator: Simulator = importlib.import_module(ENGINES[engine]).start(spec, tell)
    return simulator
