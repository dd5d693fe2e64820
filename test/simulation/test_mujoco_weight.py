# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""A robot holds its commanded positions, and its wheels carry its weight."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import mujoco
import numpy as np
import pytest
from support.worlds import example_world, model_from_files, rover, world

from robot_semantics.base.errors import ArrayError
from robot_semantics.model.queries import matching_states
from robot_semantics.simulation.mujoco import MujocoSimulator
from robot_semantics.simulation.simulator import ControlMode

GRAVITY = 9.81


def told(simulator: MujocoSimulator, model: str, values: Mapping[str, tuple[float, ...]], seconds: float) -> None:
    """Command the joints that can be, and let the simulation run."""
    places = {indices.joint.name: indices for indices in simulator.built.layout(model).joint_indices}
    driven = {
        variable: value
        for name, row in values.items()
        if len(places[name].actuators)
        for variable, value in zip(places[name].joint.variable_names, row, strict=True)
    }
    assert driven
    simulator.command(model, ControlMode.POSITION, driven)
    simulator.step(round(seconds / simulator.spec.timestep))


def test_every_named_state_of_the_rover_is_reached_and_recognised() -> None:
    simulator = world(rover("rover"))
    robot = simulator.built.layout("rover").spec.robot
    assert len(robot.semantics.states) > 3
    for (group, name), state in robot.semantics.states.items():
        told(simulator, "rover", state.joints, 4.0)
        captured = {joint.name: joint.positions or () for joint in simulator.capture().model("rover").joints}
        root = simulator.built.layout("rover").root
        assert root is not None
        captured[root.joint.name] = tuple(simulator.data.qpos[root.qpos].tolist())
        for joint, row in state.joints.items():
            np.testing.assert_allclose(captured[joint], row, rtol=0, atol=1e-3, err_msg=f"{group}/{name}: {joint}")
        positions = {
            variable: value
            for joint, row in captured.items()
            for variable, value in zip(robot.joint(joint).variable_names, row, strict=True)
        }
        assert name in [match.state for match in matching_states(robot, group, positions, 1e-3)]


def test_an_arm_on_a_fixed_base_holds_its_ready_state(robots: Path) -> None:
    folder = robots / "panda_description"
    panda = model_from_files("panda", folder / "urdf/panda.urdf", folder / "srdf/panda.srdf")
    simulator = world(panda)
    state = next(state for state in panda.robot.semantics.states.values() if len(state.joints) > 5)
    told(simulator, "panda", state.joints, 4.0)
    by_name = simulator.built.layout("panda").by_name
    for joint, row in state.joints.items():
        np.testing.assert_allclose(simulator.data.qpos[by_name[joint].qpos], row, rtol=0, atol=1e-3, err_msg=joint)


def test_wheels_of_a_planar_robot_carry_its_weight_and_no_more() -> None:
    simulator = world(rover("rover"))
    simulator.step(200)
    states = {link.name: link.wrench for link in simulator.capture().model("rover").links}
    lifted = sum(wrench[2] for name, wrench in states.items() if wrench is not None and "caster_wheel" in name)
    # The driven wheels' axes lie level, so what carries is some of their x and z.
    for name in ("left_wheel", "right_wheel"):
        wrench = states[name]
        assert wrench is not None
        lifted += float(np.hypot(wrench[0], wrench[2]))
    weight = GRAVITY * float(simulator.model.body_mass.sum())
    assert lifted == pytest.approx(weight, rel=0.05)


def test_a_motor_that_is_told_its_plain_effort_holds_no_weight() -> None:
    simulator = world(rover("rover"))
    lift = simulator.built.layout("rover").by_name["lift_joint"]
    body = simulator.built.layout("rover").bodies[lift.joint.index]
    assert simulator.model.body_gravcomp[body] == 1.0
    simulator.command("rover", ControlMode.POSITION, {"lift_joint": 0.15})
    simulator.step(500)
    simulator.command("rover", ControlMode.EFFORT, {"lift_joint": 0.0})
    assert simulator.model.body_gravcomp[body] == 0.0
    simulator.step(500)
    assert simulator.data.qpos[lift.qpos[0]] < 0.05


def test_the_motors_forces_hold_the_weight_and_stay_within_their_limits() -> None:
    simulator = example_world()
    simulator.step(500)
    joints = {joint.name: joint for joint in simulator.capture().model("rover_arm").joints}
    carried = ["lift_link", "shoulder_link", "upper_arm_link", "forearm_link", "wrist_link", "palm_link"]
    layout = simulator.built.layout("rover_arm")
    index = layout.spec.robot.link_index
    bodies = [layout.bodies[index[name]] for name in (*carried, "left_finger", "right_finger", "tool_frame")]
    mass = float(simulator.model.body_mass[bodies].sum())
    torques = joints["lift_joint"].torques
    assert torques is not None
    assert torques[0] == pytest.approx(mass * GRAVITY, rel=0.1)
    for indices in layout.joints:
        effort = indices.joint.limits.effort
        if len(indices.actuators) and effort > 0.0:
            assert np.abs(simulator.data.qfrc_actuator[indices.qvel]).max() <= effort * (1 + 1e-9)
    mujoco.mj_forward(simulator.model, simulator.data)


@pytest.mark.parametrize(
    ("variable", "reason"),
    [
        ("caster_swivel_joint", "it is passive"),
        ("right_finger_joint", "it mimics 'left_finger_joint': command that one"),
        ("palm_joint", "a fixed joint has no motor"),
    ],
)
def test_what_no_motor_drives_refuses_commands_by_its_kind(variable: str, reason: str) -> None:
    with pytest.raises(ArrayError, match=reason):
        example_world().command("rover_arm", ControlMode.EFFORT, {variable: 1.0})
