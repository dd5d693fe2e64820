# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""A captured state has poses, twists, torques and wrenches, each in the axes and at the point that the format says."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.worlds import block, close, example_world, model_from_files, model_from_text, pose_at, rover, world

from robot_semantics import ForwardKinematics, UnknownNameError, WorldState, write_world
from robot_semantics.examples import example
from robot_semantics.model.joint_types import JointType
from robot_semantics.simulation.mujoco import MujocoSimulator
from robot_semantics.simulation.simulator import ControlMode
from robot_semantics.transforms import quat_from_rpy
from robot_semantics.transforms.pose import pose_matrix
from robot_semantics.usdf.reader import parse_world
from robot_semantics.usdf.world_state import Frame, JointState, ModelState

pin = pytest.importorskip("pinocchio")
STEP = 1e-6


def moving_arm(robots: Path) -> tuple[MujocoSimulator, Any]:
    simulator = world(model_from_files("arm", robots / "panda_description/urdf/panda.urdf"), ground=False)
    rng = np.random.default_rng(5)
    layout = simulator.built.layout("arm")
    for place in layout.joints:
        low, high = place.joint.limits.lower, place.joint.limits.upper
        simulator.data.qpos[place.qpos] = rng.uniform(low, high)
    simulator.data.qvel[:] = rng.normal(size=simulator.model.nv)
    return simulator, layout


def test_link_twists_are_pinocchios_local_velocities(robots: Path) -> None:
    simulator, layout = moving_arm(robots)
    model = pin.buildModelFromUrdf(str(robots / "panda_description/urdf/panda.urdf"))
    data = model.createData()
    q, v = pin.neutral(model), np.zeros(model.nv)
    for place in layout.joints:
        joint = model.joints[model.getJointId(place.joint.name)]
        q[joint.idx_q], v[joint.idx_v] = simulator.data.qpos[place.qpos[0]], simulator.data.qvel[place.qvel[0]]
    pin.forwardKinematics(model, data, q, v)
    (state,) = simulator.capture().models
    for link in state.links:
        frame = model.getFrameId(link.name, pin.FrameType.BODY)
        motion = pin.getFrameVelocity(model, data, frame, pin.ReferenceFrame.LOCAL)
        assert link.twist is not None
        close(link.twist, [*motion.linear, *motion.angular], atol=1e-10)


def test_a_free_objects_twist_is_linear_and_angular_velocity_in_the_parents_axes() -> None:
    """Differences of poses, with no word of MuJoCo's conventions."""
    odom = Frame("world_a", pose=pose_at((1.0, 2.0, 0.5), quat_from_rpy((0.3, -0.4, 1.2))), twist=(0.0,) * 6)
    joint = '<virtual_joint name="v" type="floating" parent_frame="world_a" child_link="block"/>'
    srdf = f'<robot name="block">{joint}</robot>'
    spec = model_from_text("b", example("block.urdf").read_text(), srdf)
    simulator = world(spec, ground=False, gravity=0.0, timestep=STEP)
    twist = (0.3, -0.2, 0.5, 1.0, 2.0, -1.5)
    start = ModelState("b", "world_a", pose_at((0.1, 0.2, 0.3), quat_from_rpy((1.0, 0.5, -2.0))), twist)
    assert simulator.restore(WorldState(models=(start,), frames=(odom,))).applied
    before = simulator.capture().models[0]
    simulator.step()
    after = simulator.capture().models[0]
    close(before.twist, twist, atol=1e-12)
    T0, T1 = pose_matrix(before.pose), pose_matrix(after.pose)
    spin = (T1[:3, :3] @ T0[:3, :3].T - np.eye(3)) / STEP
    close((T1[:3, 3] - T0[:3, 3]) / STEP, twist[:3], atol=1e-5)
    close([spin[2, 1], spin[0, 2], spin[1, 0]], twist[3:], atol=1e-4)


def test_a_planar_bases_twist_is_in_the_parents_axes() -> None:
    simulator = world(rover(), ground=False, gravity=0.0, timestep=STEP)
    twist = (0.3, -0.2, 0.0, 0.0, 0.0, 0.7)
    start = ModelState("rover", "odom", pose_at((1.0, -1.0, 0.0), quat_from_rpy((0.0, 0.0, 2.0))), twist)
    simulator.restore(WorldState(models=(start,)))
    before = simulator.capture().models[0]
    simulator.step()
    after = simulator.capture().models[0]
    T0, T1 = pose_matrix(before.pose), pose_matrix(after.pose)
    close(before.twist, twist, atol=1e-12)
    close((T1[:3, 3] - T0[:3, 3]) / STEP, twist[:3], atol=1e-4)


def test_links_of_a_moving_base_move_relative_to_it() -> None:
    simulator = world(rover(), ground=False, gravity=0.0)
    base = ModelState("rover", "odom", pose_at((0.0,) * 3, (0.0, 0.0, 0.0, 1.0)), (1.0, 0.0, 0.0, 0.0, 0.0, 2.0))
    simulator.restore(WorldState(models=(base,)))
    links = {link.name: link for link in simulator.capture().models[0].links}
    close(links["base_link"].twist, np.zeros(6), atol=1e-12)
    close(links["palm_link"].twist, np.zeros(6), atol=1e-12)


def test_the_floor_carries_a_resting_block_with_its_weight() -> None:
    simulator = world(block())
    turned = quat_from_rpy((np.pi / 2.0, 0.0, 0.4))
    start = ModelState("block", pose=pose_at((0.0, 0.0, 0.04), turned))
    simulator.restore(WorldState(models=(start,)))
    simulator.step(2000)
    model = simulator.capture().models[0]
    (link,) = model.links
    assert link.wrench is not None
    R = pose_matrix(model.pose)[:3, :3]
    close(R @ link.wrench[:3], [0.0, 0.0, 0.25 * 9.81], atol=1e-6)
    close(link.wrench[3:], np.zeros(3), atol=1e-6)


def test_an_applied_force_is_in_the_wrench_at_the_links_origin() -> None:
    urdf = """<robot name="r"><link name="r"><inertial><origin xyz="0 0.5 0"/><mass value="1"/>
      <inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link></robot>"""
    simulator = world(model_from_text("r", urdf, base=JointType.FLOATING), ground=False)
    body = simulator.built.layout("r").bodies[0]
    simulator.data.xfrc_applied[body] = [2.0, 0.0, 0.0, 0.0, 0.0, 1.0]  # at the centre of mass
    wrench = simulator.capture().models[0].links[0].wrench
    close(wrench, [2.0, 0.0, 0.0, 0.0, 0.0, 1.0 - 0.5 * 2.0], atol=1e-12)


def test_a_pushed_block_and_its_pusher_feel_opposite_forces() -> None:
    simulator = world(block("lower"), block("upper"))
    at = [pose_at((0.0, 0.0, z), (0.0, 0.0, 0.0, 1.0)) for z in (0.04, 0.12)]
    simulator.restore(WorldState(models=(ModelState("lower", pose=at[0]), ModelState("upper", pose=at[1]))))
    simulator.step(2000)
    lower, upper = (model.links[0].wrench for model in simulator.capture().models)
    assert upper is not None
    assert lower is not None
    weight = 0.25 * 9.81
    assert upper[2] == pytest.approx(weight, abs=1e-5)
    assert lower[2] == pytest.approx(2.0 * weight - weight, abs=1e-5)


def test_torques_are_what_motors_and_applied_forces_put_on_a_joint() -> None:
    simulator = world(rover(), ground=False)
    simulator.command("rover", ControlMode.EFFORT, {"elbow_joint": 3.0, "lift_joint": 50.0})
    place = simulator.built.layout("rover").by_name["elbow_joint"]
    simulator.data.qfrc_applied[place.qvel] = 0.25
    torques = {joint.name: joint.torques for joint in simulator.capture().models[0].joints}
    assert torques["elbow_joint"] == (3.25,)
    assert torques["lift_joint"] == (50.0,)


def test_effort_stays_within_the_limit() -> None:
    simulator = world(rover(), ground=False)
    simulator.command("rover", ControlMode.EFFORT, {"elbow_joint": 1000.0})
    torques = {joint.name: joint.torques for joint in simulator.capture().models[0].joints}
    assert torques["elbow_joint"] == (40.0,)


def test_capturing_does_not_change_what_comes() -> None:
    one, other = example_world(), example_world()
    for _ in range(20):
        one.step(10)
        one.capture()
        other.step(10)
    assert np.array_equal(one.integration_state(), other.integration_state())


def test_a_captured_state_is_sound_usdf_and_reads_back_the_same() -> None:
    simulator = example_world()
    simulator.step(150)
    state = simulator.capture()
    assert parse_world(write_world(state)) == state


def test_a_part_of_the_world_has_no_engine_state() -> None:
    state = example_world().capture(["block_1"])
    assert [model.name for model in state.models] == ["block_1"]
    assert not state.engines


def test_an_unknown_model_has_its_nearest_name() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'block_1'"):
        example_world().capture(["blok_1"])


BODY = '<inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>'
FLOATING = f"""<robot name="r"><link name="base"/><link name="body">{BODY}</link><link name="plate">{BODY}</link>
  <joint name="free" type="floating"><origin xyz="0.1 0.2 0.3" rpy="0.4 0.5 0.6"/>
  <parent link="base"/><child link="body"/></joint>
  <joint name="slab" type="planar"><origin xyz="0 1 0" rpy="0.1 0.2 0.3"/>
  <parent link="base"/><child link="plate"/><axis xyz="0.6 0 0.8"/></joint></robot>"""


def test_floating_and_planar_joints_inside_a_robot_agree_with_forward_kinematics() -> None:
    spec = model_from_text("r", FLOATING)
    simulator = world(spec, ground=False, gravity=0.0)
    quat = tuple(quat_from_rpy((1.0, -0.5, 2.0)).tolist())
    free = JointState("free", (1.0, 2.0, 3.0, *quat), (0.1, 0.2, 0.3, 0.5, -0.6, 0.7))
    slab = JointState("slab", (0.5, -0.25, 2.5), (0.3, 0.4, -1.0))
    report = simulator.restore(WorldState(models=(ModelState("r", joints=(free, slab)),)))
    assert report.applied
    state = simulator.capture().models[0]
    stated = {joint.name: joint for joint in state.joints}
    for given in (free, slab):
        close(stated[given.name].positions, given.positions, atol=1e-14)
        close(stated[given.name].velocities, given.velocities, atol=1e-14)
    kinematics = ForwardKinematics(spec.robot)
    q = kinematics.space.pack(
        {
            "free/trans_x": 1.0,
            "free/trans_y": 2.0,
            "free/trans_z": 3.0,
            **{f"free/rot_{axis}": value for axis, value in zip("xyzw", quat, strict=True)},
            "slab/x": 0.5,
            "slab/y": -0.25,
            "slab/theta": 2.5,
        }
    )
    v = np.array([*(free.velocities or ()), *(slab.velocities or ())])
    order = [joint.name for joint in kinematics.space.joints]
    assert order == ["free", "slab"]
    links = {link.name: link for link in state.links}
    for name, T, twist in zip(
        spec.robot.link_names, kinematics.link_poses(q), kinematics.link_twists(q, v), strict=True
    ):
        close(pose_matrix(links[name].pose), T, atol=1e-12)
        close(links[name].twist, twist, atol=1e-10)


def test_six_numbers_place_a_floating_joint_too() -> None:
    simulator = world(model_from_text("r", FLOATING), ground=False)
    rpy = (1.0, -0.5, 2.0)
    state = ModelState("r", joints=(JointState("free", (1.0, 2.0, 3.0, *rpy)),))
    assert simulator.restore(WorldState(models=(state,))).applied
    joint = next(joint for joint in simulator.capture().models[0].joints if joint.name == "free")
    close((joint.positions or ())[3:], quat_from_rpy(rpy), atol=1e-14)


def test_a_frame_that_no_state_has_named_stands_at_the_origin() -> None:
    simulator = world(rover())
    (frame,) = simulator.capture().frames
    assert (frame.name, frame.parent, frame.twist) == ("odom", "world", (0.0,) * 6)
    assert np.array_equal(pose_matrix(frame.pose), np.eye(4))


def test_a_state_without_links_says_the_same_of_joints_and_base() -> None:
    simulator = example_world()
    full, lean = simulator.capture(), simulator.capture(motion_only=True)
    assert tuple(replace(model, links=()) for model in full.models) == lean.models
