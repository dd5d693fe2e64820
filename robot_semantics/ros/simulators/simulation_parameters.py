# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The parameters of `mujoco_world`, declared, checked and described."""

from __future__ import annotations

from dataclasses import dataclass

from robot_semantics.base.unpack_limit import DEFAULT_MB, VARIABLE, set_limit
from robot_semantics.ros.running import parameter_table as checks
from robot_semantics.ros.running.guarded_node import GuardedNode
from robot_semantics.ros.running.parameter_table import Parameter
from robot_semantics.simulation.engines import ENGINES


@dataclass(frozen=True, slots=True)
class SimulationSettings:
    """Values of the parameters of `TABLE`."""

    world: str
    models: tuple[str, ...]
    package_paths: tuple[str, ...]
    timestep: float
    real_time_factor: float
    publish_frequency: float
    start_paused: bool
    ground: bool
    strict: bool
    implicit_links: bool
    main_model: str
    engine: str
    max_text_bytes: int
    max_unpacked: int


TABLE: tuple[Parameter, ...] = (
    Parameter(
        "world", "", "USDF file of the world's robots, objects and initial state; empty: none.", checks.text, True
    ),
    Parameter("models", [""], "NAME=URDF[,SRDF]: more models, or other files for the world's.", checks.texts, True),
    Parameter("package_paths", [""], "Folders in which the packages of package:// URIs lie.", checks.texts, True),
    Parameter("timestep", 0.002, "Time step [s].", checks.positive, True),
    Parameter(
        "real_time_factor",
        1.0,
        "Simulated seconds in a second; 0: as fast as possible.",
        checks.not_negative,
        True,
    ),
    Parameter("publish_frequency", 50.0, "Rate of states, in simulated time [Hz].", checks.positive, True),
    Parameter("start_paused", False, "Wait for ~/pause or ~/step.", checks.flag, True),
    Parameter("ground", True, "Whether there is a floor at z = 0.", checks.flag, True),
    Parameter("strict", False, "Refuse robots with any error.", checks.flag, True),
    Parameter("implicit_links", False, "Let joints name links that no <link> declares.", checks.flag, True),
    Parameter(
        "main_model", "", "Model whose topics have no prefix; empty: the only one with joints.", checks.text, True
    ),
    Parameter("engine", "mujoco", f"What simulates: {', '.join(ENGINES)}.", checks.one_of(*ENGINES), True),
    Parameter("max_text_bytes", 64_000_000, "Largest USDF text taken.", checks.Numbers(least=1), True),
    Parameter(
        "max_unpacked",
        0,
        f"Largest unpacked size of a mesh file [MB]; 0: {VARIABLE}, or {DEFAULT_MB}.",
        checks.Numbers(least=0),
        True,
    ),
)


def declare_simulation(node: GuardedNode) -> SimulationSettings:
    """Declare the parameters and return their values.

    Raises:
        ParameterError: a given value is invalid.

    """
    values = node.declare_table(TABLE)
    for name in ("models", "package_paths"):
        values[name] = tuple(text for text in values[name] if text)
    for name in ("timestep", "real_time_factor", "publish_frequency"):
        values[name] = float(values[name])
    if values["max_unpacked"]:
        set_limit(values["max_unpacked"])
    return SimulationSettings(**values)
