# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""A simulation that leaves the finite numbers says so, and a long one can be stopped."""

from __future__ import annotations

import _thread
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.worlds import block, example_world, pose_at, world

from robot_semantics import WorldState
from robot_semantics.cli.main import main
from robot_semantics.examples import example
from robot_semantics.simulation.simulator import DivergedError
from robot_semantics.simulation.world_spec import WorldSpec, WorldSpecError
from robot_semantics.usdf.world_state import ModelState


@pytest.mark.parametrize("steps", [1, 250])
def test_numbers_that_are_huge_are_an_error_and_not_a_silent_new_start(
    steps: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # MuJoCo writes its log where it runs
    simulator = world(block(), ground=False)
    simulator.restore(WorldState(models=(ModelState("block", pose=pose_at((1, 2, 3))),)))
    simulator.step(150)
    simulator.data.qvel[0] = 1e12
    with pytest.raises(DivergedError, match=r"diverged soon after 0\.3 s"):
        simulator.step(steps)
    assert simulator.time_ns == 0
    assert np.isfinite(simulator.data.qpos).all()
    # The next steps are sound ones.
    simulator.step(150)
    assert simulator.time_ns == 300_000_000


@pytest.mark.parametrize("timestep", [0.0, -1.0, float("nan"), float("inf"), 1e300])
def test_a_time_step_that_no_clock_can_take_is_refused(timestep: float) -> None:
    with pytest.raises(WorldSpecError, match="the time step must be positive"):
        WorldSpec((block(),), timestep=timestep)


def test_the_command_writes_nothing_of_a_simulation_that_diverges(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    out = tmp_path / "o.usdf"
    words = ["sim", "run", str(example("rover_arm.usdf")), "--steps", "50", "--timestep", "1e7", "-o", str(out)]
    assert main(words) == 1
    assert "error: the simulation diverged" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("count", ["1e3", "x", "99999999999999999999", "-1", "1.5", ""])
def test_a_count_of_steps_that_is_none_is_wrong_usage(count: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main(["sim", "run", "w.usdf", f"--steps={count}"])
    assert stop.value.code == 2
    assert "steps" in capsys.readouterr().err.splitlines()[-1]


def test_many_steps_can_be_interrupted() -> None:
    simulator = example_world()
    timer = threading.Timer(0.3, _thread.interrupt_main)
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        simulator.step(10**18)
    assert simulator.time_ns > 0


def test_options_changed_while_it_runs_are_another_world() -> None:
    def captured(change: Any) -> Any:
        simulator = example_world()
        change(simulator.model.opt)
        simulator.step(3)
        return simulator

    plain, light = captured(lambda opt: None), captured(lambda opt: setattr(opt, "gravity", [0.0, 0.0, -1.6]))
    assert example_world().restore(plain.capture()).exact
    assert captured(lambda opt: setattr(opt, "gravity", [0.0, 0.0, -1.6])).restore(light.capture()).exact
    for simulator, state in ((example_world(), light.capture()), (light, plain.capture())):
        report = simulator.restore(state)
        assert report.applied
        assert not report.exact
        assert "compiled world differs" in " ".join(report.notes)


def test_sleeping_that_is_switched_on_while_it_runs_is_said_to_cost_exactness() -> None:
    import mujoco

    simulator = example_world()
    simulator.model.opt.enableflags |= int(mujoco.mjtEnableBit.mjENBL_SLEEP)
    report = simulator.restore(simulator.capture())
    assert report.applied
    assert not report.exact
    assert "mjENBL_SLEEP" in " ".join(report.notes)
    awake = example_world().restore(simulator.capture())
    assert not awake.exact
