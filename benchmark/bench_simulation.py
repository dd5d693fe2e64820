# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Saving and restoring a MuJoCo world as USDF, compared with MuJoCo's state vector as text; and the drift of inexact
restarts.

Run: python -m benchmark.bench_simulation [--repeats N] [--small]
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from dataclasses import replace

import mujoco
import numpy as np
import numpy.typing as npt
from rich.console import Console
from rich.table import Table

from robot_semantics.examples import example
from robot_semantics.model.loading import load_robot
from robot_semantics.simulation.loading import world_from_state
from robot_semantics.simulation.mujoco import INTEGRATION, MujocoSimulator
from robot_semantics.simulation.world_spec import ModelSpec, WorldSpec
from robot_semantics.transforms.pose import pose_from_quaternion
from robot_semantics.usdf.reader import parse_world, read_world
from robot_semantics.usdf.world_state import ModelState, WorldState
from robot_semantics.usdf.writer import write_world

FloatArray = npt.NDArray[np.float64]
console = Console(width=110)


def median_ms(work: Callable[[], object], repeats: int) -> float:
    times = []
    for _ in range(repeats):
        started = time.perf_counter()
        work()
        times.append(1e3 * (time.perf_counter() - started))
    return statistics.median(times)


def fleet(count: int) -> MujocoSimulator:
    """Return a world of moving rovers in a grid."""
    robot = load_robot(example("rover_arm.urdf"), example("rover_arm.srdf"))
    names = [f"rover_{number}" for number in range(count)]
    simulator = MujocoSimulator(WorldSpec(tuple(ModelSpec(name, robot) for name in names)))
    side = int(np.ceil(np.sqrt(count)))
    models = tuple(
        ModelState(name, "odom", pose_from_quaternion((2.0 * (n % side), 2.0 * (n // side), 0.0), (0.0, 0.0, 0.0, 1.0)))
        for n, name in enumerate(names)
    )
    assert simulator.restore(WorldState(models=models)).applied
    simulator.step(50)
    return simulator


def bare_write(simulator: MujocoSimulator) -> str:
    """Return MuJoCo's own state as the simplest exact text: one number for each line."""
    state = np.empty(mujoco.mj_stateSize(simulator.model, INTEGRATION))
    mujoco.mj_getState(simulator.model, simulator.data, state, INTEGRATION)
    return "\n".join(np.char.mod("%.17g", state))


def bare_read(simulator: MujocoSimulator, text: str) -> None:
    mujoco.mj_setState(simulator.model, simulator.data, np.array(text.split(), dtype=np.float64), INTEGRATION)


def saving_and_restoring(counts: tuple[int, ...], repeats: int) -> None:
    console.print("Save and restore, median in ms; beside: mj_getState / mj_setState and numpy text")
    table = Table(show_edge=False)
    columns = ("robots", "capture + write", "beside", "ratio", "read + restore", "beside", "ratio", "USDF", "bare")
    for column in columns:
        table.add_column(column, justify="right")
    for count in counts:
        simulator = fleet(count)
        state = simulator.integration_state()
        text, bare = write_world(simulator.capture()), bare_write(simulator)
        # Check that both restore every bit before measuring.
        simulator.step(3)
        assert simulator.restore(parse_world(text)).exact
        assert np.array_equal(simulator.integration_state(), state)
        simulator.step(3)
        bare_read(simulator, bare)
        assert np.array_equal(simulator.integration_state(), state)
        times = [
            median_ms(work, repeats)
            for work in (
                lambda s=simulator: write_world(s.capture()),
                lambda s=simulator: bare_write(s),
                lambda s=simulator, t=text: s.restore(parse_world(t)),
                lambda s=simulator, t=bare: bare_read(s, t),
            )
        ]
        save, save_bare, load, load_bare = times
        table.add_row(
            str(count),
            *(f"{value:.2f}" for value in (save, save_bare)),
            f"{save / save_bare:.1f}",
            *(f"{value:.2f}" for value in (load, load_bare)),
            f"{load / load_bare:.1f}",
            f"{len(text) / 1000:.0f} kB",
            f"{len(bare) / 1000:.0f} kB",
        )
    console.print(table)
    console.print(
        "The USDF also says where every link is, how it moves and what presses on it; the bare text says no names.\n"
    )


def parting() -> None:
    """Restart the example world with and without the engine's state; print its distance from the uninterrupted run."""
    path = example("rover_arm.usdf")
    first = read_world(path)
    spec = world_from_state(first, path)
    straight = MujocoSimulator(spec)
    assert straight.restore(first).applied
    straight.step(100)
    saved = parse_world(write_world(straight.capture()))
    exact, plain = MujocoSimulator(spec), MujocoSimulator(spec)
    assert exact.restore(saved).exact
    assert not plain.restore(replace(saved, engines=())).exact
    console.print("The example world restarted at step 100: largest difference of a position in m or rad")
    table = Table(show_edge=False)
    for column in ("steps after", "with rs:engine", "without"):
        table.add_column(column, justify="right")
    at = 0
    for steps in (0, 1, 10, 100, 500, 1000):
        for simulator in (straight, exact, plain):
            simulator.step(steps - at)
        at = steps
        apart = [float(np.abs(s.data.qpos - straight.data.qpos).max()) for s in (exact, plain)]
        assert np.array_equal(exact.integration_state(), straight.integration_state())
        table.add_row(str(steps), *(f"{value:.1e}" if value else "0" for value in apart))
    console.print(table)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=9)
    parser.add_argument("--small", action="store_true", help="1 and 10 robots only")
    arguments = parser.parse_args()
    saving_and_restoring((1, 10) if arguments.small else (1, 10, 100), arguments.repeats)
    parting()


if __name__ == "__main__":
    main()
