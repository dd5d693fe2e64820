# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Worlds moved between engines: ``python -m benchmark exchange``.

Each world runs for `BEFORE` seconds in one engine, is saved as USDF text and restored in another engine. The table has
the largest immediate differences (positions and velocities of joints, positions of links), the items that were not
restored, and the distance of the links after `AFTER` seconds in both. A second table has the motion of a link in
`RESTING` seconds after the world has come to rest, in each engine.
"""

from __future__ import annotations

import sysconfig
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from robot_semantics.examples import example
from robot_semantics.model.joint_types import JointType
from robot_semantics.model.loading import load_robot, robot_from_text
from robot_semantics.model.resources import PackageResolver
from robot_semantics.simulation.loading import ENGINES, start_simulator
from robot_semantics.simulation.simulator import Simulator
from robot_semantics.simulation.world_spec import ModelSpec, WorldSpec
from robot_semantics.transforms.arrays import FloatArray
from robot_semantics.transforms.pose import pose_matrix
from robot_semantics.usdf.frames import resolve_frames
from robot_semantics.usdf.reader import parse_world
from robot_semantics.usdf.world_state import WorldState
from robot_semantics.usdf.writer import write_world

SHARE = Path(sysconfig.get_path("purelib")) / "cmeel.prefix" / "share"
ROBOTS = SHARE / "example-robot-data" / "robots"
BEFORE, AFTER = 0.1, 1.0
SETTLING, RESTING = 20.0, 10.0
TIMESTEP = 0.002
BLOCKS = {
    "block": '<box size="0.08 0.08 0.08"/>',
    "can": '<cylinder radius="0.03" length="0.1"/>',
    "ball": '<sphere radius="0.05"/>',
}
"""Objects around the arm: the can is on the block, the ball is on the floor."""
BEGINNING = """<world_state>
  <model_state name="block"><pose>0.8 0.1 0.04 0 0 0.3</pose></model_state>
  <model_state name="can"><pose>0.8 0.1 0.13 0 0 0.8</pose></model_state>
  <model_state name="ball"><pose>0.8 -0.2 0.05 0 0 0</pose></model_state>
  <model_state name="go2"><pose>0 0 0.24 0 0 0.3</pose></model_state>
</world_state>"""
"""Initial state of floating objects: at rest; the robot is above the floor."""


def model(name: str, urdf: Path, srdf: Path, base: JointType = JointType.FIXED) -> ModelSpec:
    """Return a robot from files as part of a world."""
    resolver = PackageResolver([SHARE])
    robot = load_robot(urdf, srdf, strict=False)
    return ModelSpec(name, robot, lambda uri: resolver.resolve(uri, urdf), base, str(urdf), str(srdf))


def block(name: str) -> ModelSpec:
    """Return one of the blocks, of 0.3 kg."""
    inertia = '<inertia ixx="0.0005" iyy="0.0005" izz="0.0005" ixy="0" ixz="0" iyz="0"/>'
    urdf = f"""<robot name="{name}"><link name="{name}"><inertial><mass value="0.3"/>{inertia}</inertial>
    <collision><geometry>{BLOCKS[name]}</geometry></collision></link></robot>"""
    return ModelSpec(name, robot_from_text(urdf), base=JointType.FLOATING)


def worlds() -> dict[str, tuple[ModelSpec, ...]]:
    """Return the worlds by name."""

    def packaged(name: str, base: JointType = JointType.FIXED) -> tuple[ModelSpec]:
        folder = ROBOTS / f"{name}_description"
        return (model(name, folder / "urdf" / f"{name}.urdf", folder / "srdf" / f"{name}.srdf", base),)

    rover = model("rover", example("rover_arm.urdf"), example("rover_arm.srdf"))
    return {
        "arm among blocks": (rover, *map(block, BLOCKS)),
        "Panda": packaged("panda"),
        "Go2": packaged("go2", JointType.FLOATING),
        "PR2": packaged("pr2"),
    }


def begin(engine: str, models: tuple[ModelSpec, ...]) -> Simulator:
    """Return an engine with a world in its initial state."""
    simulator = start_simulator(engine, WorldSpec(models, timestep=TIMESTEP), print)
    simulator.restore(parse_world(BEGINNING), partial=True)
    return simulator


def numbers(state: WorldState) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the positions and velocities of all joints, and the positions of all links in the world (n, 3)."""
    placed = resolve_frames(state)
    joints = [joint for one in state.models for joint in one.joints]
    places = [(placed.pose(one.name) @ pose_matrix(link.pose))[:3, 3] for one in state.models for link in one.links]
    positions = [value for joint in joints for value in joint.positions or ()]
    velocities = [value for joint in joints for value in joint.velocities or ()]
    return np.array(positions), np.array(velocities), np.array(places)


def apart(a: FloatArray, b: FloatArray) -> float:
    """Return the largest difference."""
    return float(np.abs(a - b).max(initial=0.0))


def main() -> None:
    """Print the table."""
    table = Table(title=f"stopped after {BEFORE} s in one engine, restored in another", box=None)
    for column in ("world", "from", "to", "positions", "velocities", "links [m]", "exact", "not restored"):
        table.add_column(column)
    table.add_column(f"links apart after {AFTER:g} s [m]", justify="right")
    for name, models in worlds().items():
        for giver in ENGINES:
            giving = begin(giver, models)
            giving.step(round(BEFORE / TIMESTEP))
            state = parse_world(write_world(giving.capture()))
            before = numbers(state)
            giving.step(round(AFTER / TIMESTEP))
            straight = numbers(giving.capture())[2]
            for taker in ENGINES:
                taking = start_simulator(taker, WorldSpec(models, timestep=TIMESTEP), print)
                report = taking.restore(state, partial=True)
                found = [f"{apart(a, b):.1e}" for a, b in zip(numbers(taking.capture()), before, strict=True)]
                taking.step(round(AFTER / TIMESTEP))
                later = apart(numbers(taking.capture())[2], straight)
                lost = ", ".join(sorted({f"{item.kind} {item.name}: {item.detail}" for item in report.not_restored}))
                table.add_row(name, giver, taker, *found, str(report.exact), lost or "–", f"{later:.2g}")
    Console(width=180).print(table)
    resting = Table(title=f"how far links move in {RESTING:g} s, after {SETTLING:g} s [m]", box=None)
    for column in ("world", *ENGINES):
        resting.add_column(column)
    for name, models in worlds().items():
        resting.add_row(name, *(f"{moved_at_rest(engine, models):.1g}" for engine in ENGINES))
    Console(width=180).print(resting)


def moved_at_rest(engine: str, models: tuple[ModelSpec, ...]) -> float:
    """Return the largest distance [m] that a link moved during a rest."""
    simulator = begin(engine, models)
    simulator.step(round(SETTLING / TIMESTEP))
    before = numbers(simulator.capture())[2]
    simulator.step(round(RESTING / TIMESTEP))
    return apart(numbers(simulator.capture())[2], before)


if __name__ == "__main__":
    main()
