# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""A simulation that is stopped anywhere continues from its USDF text in a new process, bit for bit."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import mujoco
import numpy as np
import pytest
from support.scenes import SCENES
from support.worlds import block, pose_at, rover

from robot_semantics import WorldState, save_world, write_world
from robot_semantics.simulation.mujoco import MujocoSimulator
from robot_semantics.simulation.world_spec import WorldSpec
from robot_semantics.usdf.reader import parse_world
from robot_semantics.usdf.world_state import ModelState

STEPS = 2000
STOPS = 20


@pytest.mark.slow
@pytest.mark.parametrize("scene", SCENES)
def test_it_goes_on_as_if_it_had_never_stopped(scene: str, tmp_path: Path, robots: Path) -> None:
    stops = sorted(np.random.default_rng(2000).choice(np.arange(1, STEPS), STOPS, replace=False).tolist())
    straight, stopped = SCENES[scene](robots), SCENES[scene](robots)
    straight.step(STEPS)
    contacts = 0
    at = 0
    for stop in stops:
        stopped.step(stop - at)
        at = stop
        contacts += int(stopped.data.ncon)
        save_world(stopped.capture(), tmp_path / f"{stop}.usdf")
    # Saving has changed nothing either.
    stopped.step(STEPS - at)
    expected = straight.data.qpos.tobytes() + straight.data.qvel.tobytes()
    assert stopped.data.qpos.tobytes() + stopped.data.qvel.tobytes() == expected
    assert contacts >= STOPS, "the scene must be full of contacts"
    command = [sys.executable, str(Path(__file__).with_name("continuation.py")), scene, str(tmp_path), str(STEPS)]
    subprocess.run([*command, str(robots)], check=True, timeout=100)
    for stop in stops:
        assert (tmp_path / f"{stop}.bin").read_bytes() == expected, f"stopped at step {stop}"


@pytest.mark.parametrize("scene", SCENES)
def test_without_the_engines_state_it_starts_where_it_stopped(scene: str, robots: Path) -> None:
    stopped, restarted = SCENES[scene](robots), SCENES[scene](robots)
    rng = np.random.default_rng(3)
    for _ in range(5):
        stopped.step(int(rng.integers(20, 200)))
        state = parse_world(write_world(replace(stopped.capture(), engines=())))
        report = restarted.restore(state)
        assert report.applied, report.not_restored
        assert not report.exact
        np.testing.assert_allclose(restarted.data.qpos, stopped.data.qpos, atol=1e-12, rtol=0.0)
        np.testing.assert_allclose(restarted.data.qvel, stopped.data.qvel, atol=1e-12, rtol=0.0)


SOLVERS = ("mjSOL_PGS", "mjSOL_CG", "mjSOL_NEWTON")
INTEGRATORS = ("mjINT_EULER", "mjINT_RK4", "mjINT_IMPLICIT", "mjINT_IMPLICITFAST")


@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("solver", SOLVERS)
def test_every_solver_and_integrator_continues_exactly(solver: str, integrator: str) -> None:
    def choose(spec: mujoco.MjSpec) -> None:
        spec.option.solver = int(getattr(mujoco.mjtSolver, solver))
        spec.option.integrator = int(getattr(mujoco.mjtIntegrator, integrator))

    def start() -> MujocoSimulator:
        simulator = MujocoSimulator(WorldSpec((rover(), block("a"), block("b")), edit=choose))
        blocks = (ModelState("a", pose=pose_at((0.1, 0.0, 0.4))), ModelState("b", pose=pose_at((0.12, 0.02, 0.55))))
        simulator.restore(WorldState(models=blocks))
        return simulator

    first, second = start(), start()
    first.step(150)
    assert second.restore(parse_world(write_world(first.capture()))).exact
    first.step(150)
    second.step(150)
    assert first.data.ncon > 0
    assert np.array_equal(first.integration_state(), second.integration_state())
