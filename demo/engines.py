# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The demo of the engines, ``python -m demo.engines``: a robot falls through the engines, connected by USDF files.

Ends with exit code 0 and the line ``demo: ok``, or 1 and a reason.
"""

from __future__ import annotations

import sys
import sysconfig
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from robot_semantics import RobotSemanticsError, WorldState, load_robot, read_world, save_world
from robot_semantics.model.joint_types import JointType
from robot_semantics.model.resources import PackageResolver
from robot_semantics.simulation.loading import ENGINES, start_simulator
from robot_semantics.simulation.world_spec import ModelSpec, WorldSpec
from robot_semantics.transforms.arrays import FloatArray
from robot_semantics.transforms.pose import pose_from_quaternion, pose_matrix
from robot_semantics.usdf.frames import resolve_frames
from robot_semantics.usdf.world_state import ModelState

FOLDER = Path(__file__).resolve().parents[1] / "build" / "demo-engines"
SHARE = Path(sysconfig.get_path("purelib")) / "cmeel.prefix" / "share"
DESCRIPTION = SHARE / "example-robot-data" / "robots" / "go2_description"
HEIGHT = 1.8
"""Initial height of the trunk [m]: it stays in the air, so all engines must agree with free fall."""
STEPS = 60
TOLERANCE = 1e-9


def robot() -> ModelSpec:
    """Return a floating Go2."""
    urdf, srdf = DESCRIPTION / "urdf" / "go2.urdf", DESCRIPTION / "srdf" / "go2.srdf"
    resolver = PackageResolver([SHARE])
    loaded = load_robot(urdf, srdf, strict=False)
    return ModelSpec(
        "go2", loaded, lambda uri: resolver.resolve(uri, urdf), JointType.FLOATING, str(urdf), semantic=str(srdf)
    )


def places(state: WorldState) -> FloatArray:
    """Return the positions of all links in the world (n, 3) [m]."""
    (model,), placed = state.models, resolve_frames(state)
    return np.array([(placed.pose(model.name) @ pose_matrix(link.pose))[:3, 3] for link in model.links])


def main(order: Sequence[str] = (*ENGINES, next(iter(ENGINES)))) -> int:
    """Let the robot fall in each engine in turn."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    spec = WorldSpec((robot(),))
    tilted = pose_from_quaternion((0.0, 0.0, HEIGHT), (0.1, 0.0, 0.0, np.sqrt(0.99)))
    state = WorldState(models=(ModelState("go2", pose=tilted, twist=(0.3, 0.0, 0.0, 0.0, 1.0, 0.0)),), time_ns=0)
    table = Table(title="one robot, falling through engines", box=None)
    for column in ("engine", "from [s]", "to [s]", "trunk at [m]", "falls at [m/s]", "off when restored [m]", "file"):
        table.add_column(column, justify="right")
    worst = 0.0
    for number, engine in enumerate(order):
        simulator = start_simulator(engine, spec, lambda text: print(text, file=sys.stderr))
        report = simulator.restore(state)
        if not report.applied:
            print(f"demo: failed: {engine} does not take the state: {report.message}", file=sys.stderr)
            return 1
        restored, begun = simulator.capture(), simulator.time_ns
        off = float(np.abs(places(restored) - places(state)).max()) if number else 0.0
        worst = max(worst, off)
        simulator.step(STEPS)
        path = FOLDER / f"{number}_{engine}.usdf"
        save_world(simulator.capture(), path)
        state = read_world(path)
        (model,) = state.models
        assert model.pose is not None
        assert model.twist is not None
        numbers = (begun * 1e-9, simulator.time_ns * 1e-9, model.pose.xyz_rpy[2], -model.twist[2])
        table.add_row(engine, *(f"{value:.3f}" for value in numbers), f"{off:.1e}" if number else "–", path.name)
    Console(width=120).print(table)
    fallen, expected = HEIGHT - numbers[2], 9.81 * numbers[1] ** 2 / 2
    print(f"fallen {fallen:.3f} m in {numbers[1]:.2f} s; a stone falls {expected:.3f} m; the files are in {FOLDER}")
    if not worst <= TOLERANCE:
        print(f"demo: failed: links are {worst:.1e} m off after a restore, more than {TOLERANCE:g}", file=sys.stderr)
        return 1
    print("demo: ok")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except RobotSemanticsError as error:
        print(f"demo: failed: {error}", file=sys.stderr)
        sys.exit(1)
