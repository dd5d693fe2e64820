# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Restoring says of each thing whether it was restored, and does all or nothing unless it is asked for a part."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import mujoco
import numpy as np
import pytest
from support.worlds import block, close, example_world, model_from_text, pose_at, rover, world

from robot_semantics import WorldState, write_world
from robot_semantics.examples import example
from robot_semantics.simulation.mujoco import MujocoSimulator
from robot_semantics.simulation.simulator import ControlMode
from robot_semantics.transforms import quat_from_rpy
from robot_semantics.transforms.pose import pose_matrix
from robot_semantics.usdf.commands import JointCommand, commands_state
from robot_semantics.usdf.reader import parse_world
from robot_semantics.usdf.world_state import EngineState, Frame, JointState, LinkState, ModelState


def saved(steps: int = 200) -> WorldState:
    simulator = example_world()
    simulator.step(steps)
    return parse_world(write_world(simulator.capture()))


def changed_model(state: WorldState, name: str, **fields: Any) -> WorldState:
    models = tuple(replace(model, **fields) if model.name == name else model for model in state.models)
    return replace(state, models=models)


def model(state: WorldState, name: str) -> ModelState:
    return next(model for model in state.models if model.name == name)


def changed_joint(state: WorldState, joint: str, **fields: Any) -> WorldState:
    rover_state = model(state, "rover_arm")
    joints = tuple(replace(item, **fields) if item.name == joint else item for item in rover_state.joints)
    return changed_model(state, "rover_arm", joints=joints)


def test_a_whole_state_is_restored_item_by_item_and_exactly() -> None:
    simulator = example_world()
    state = saved()
    report = simulator.restore(state)
    assert report.applied
    assert report.exact
    assert report.complete
    assert {item.subject for item in report.items} >= {
        "frame 'odom'",
        "time",
        "model 'block_1': pose",
        "model 'block_1': twist",
        "model 'rover_arm': joint 'elbow_joint'",
        "model 'rover_arm': link poses",
    }
    assert simulator.capture() == state


def test_without_the_engines_state_positions_and_velocities_come_back_to_1e_12() -> None:
    state = saved()
    exact, plain = example_world(), example_world()
    exact.restore(state)
    report = plain.restore(replace(state, engines=()))
    assert report.applied
    assert not report.exact
    assert (
        report.notes[0] == "not bit for bit: the state has no engine state of MuJoCo; positions and velocities are set"
    )
    close(plain.data.qpos, exact.data.qpos, atol=1e-12)
    close(plain.data.qvel, exact.data.qvel, atol=1e-12)
    assert plain.data.time == pytest.approx(exact.data.time, abs=1e-12)


def other_engine(**fields: Any) -> Callable[[WorldState], WorldState]:
    return lambda state: replace(state, engines=(replace(state.engines[0], **fields),))


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (other_engine(version="3.0.0"), "the state is of MuJoCo 3.0.0, and this is "),
        (other_engine(attributes={"model": "0", "machine": "x86_64"}), "compiled world differs from this one"),
        (other_engine(name="drake"), "has no engine state of MuJoCo"),
        (other_engine(arrays={"integration": (0.0,)}), "arrays have the sizes"),
        (lambda state: replace(state, engines=state.engines * 2), "two engine states"),
        (
            lambda state: changed_joint(state, "elbow_joint", positions=(0.5,)),
            "its positions differ from the engine's state",
        ),
        (
            lambda state: changed_joint(state, "elbow_joint", velocities=(9.0,)),
            "its velocities differ from the engine's state",
        ),
    ],
)
def test_what_keeps_a_restore_from_being_exact_is_said(change: Callable[[WorldState], WorldState], reason: str) -> None:
    state = changed_model(saved(), "rover_arm", links=())
    report = example_world().restore(change(state))
    assert report.applied
    assert not report.exact
    assert any(note.startswith("not bit for bit: ") and reason in note for note in report.notes), report.notes


def test_another_machine_is_no_exact_restart() -> None:
    state = saved()
    attributes = dict(state.engines[0].attributes) | {"machine": "riscv64"}
    report = example_world().restore(replace(state, engines=(replace(state.engines[0], attributes=attributes),)))
    assert report.applied
    assert not report.exact
    assert any("riscv64" in note for note in report.notes)


def test_an_edited_position_wins_over_the_engines_state() -> None:
    simulator = example_world()
    state = changed_joint(changed_model(saved(), "rover_arm", links=()), "elbow_joint", positions=(0.5,))
    simulator.restore(state)
    place = simulator.built.layout("rover_arm").by_name["elbow_joint"]
    assert simulator.data.qpos[place.qpos[0]] == 0.5
    assert simulator.data.ctrl[place.actuators[0]] == 0.5


FAILURES = [
    (
        lambda s: replace(s, models=(*s.models, ModelState("blok_1"))),
        "model 'blok_1'",
        "no such model; did you mean 'block_1'?",
    ),
    (
        lambda s: changed_model(
            s, "rover_arm", joints=(*model(s, "rover_arm").joints, JointState("elbow_jont", (0.0,)))
        ),
        "model 'rover_arm': joint 'elbow_jont'",
        "the robot does not have this joint; did you mean 'elbow_joint'?",
    ),
    (
        lambda s: changed_model(
            s, "rover_arm", joints=(*model(s, "rover_arm").joints, JointState("palm_joint", (0.0,)))
        ),
        "model 'rover_arm': joint 'palm_joint'",
        "is fixed and has no state",
    ),
    (
        lambda s: changed_model(
            s, "rover_arm", joints=(*model(s, "rover_arm").joints, JointState("world_joint", (0.0,) * 3))
        ),
        "model 'rover_arm': joint 'world_joint'",
        "is the model's pose in its parent frame, not a joint state",
    ),
    (
        lambda s: changed_joint(s, "elbow_joint", positions=(0.0, 1.0)),
        "model 'rover_arm': joint 'elbow_joint'",
        "2 positions, a revolute joint has 1",
    ),
    (
        lambda s: changed_joint(s, "elbow_joint", velocities=()),
        "model 'rover_arm': joint 'elbow_joint'",
        "0 velocities, a revolute joint has 1",
    ),
    (
        lambda s: changed_model(s, "block_1", urdf_sha256="ab" * 32),
        "model 'block_1': description",
        "the state was made from another URDF (its model is abababababab…, this robot's is ",
    ),
    (
        lambda s: changed_joint(changed_model(s, "rover_arm", urdf_sha256=None), "lift_joint", positions=(0.7,)),
        "model 'rover_arm': joint 'lift_joint'",
        "the position 0.7 lies outside the limits 0 to 0.2",
    ),
    (
        lambda s: changed_model(s, "rover_arm", pose=pose_at((0.0, 0.0, 0.5))),
        "model 'rover_arm': pose",
        "planar joint 'world_joint' cannot leave its plane in 'odom': 0.5 m and 0 rad off",
    ),
    (
        lambda s: changed_model(s, "rover_arm", twist=(0.0, 0.0, 1.5, 0.0, 0.0, 0.0)),
        "model 'rover_arm': twist",
        "planar joint 'world_joint' cannot leave its plane: 1.5 m/s or rad/s off",
    ),
    (
        lambda s: changed_model(s, "block_1", links=(LinkState("block", pose_at((0.1, 0.0, 0.0))),)),
        "model 'block_1': link 'block'",
        "its pose is 0.1 m and 0 rad away from the pose that the joints give",
    ),
    (
        lambda s: changed_model(s, "block_1", links=(*model(s, "block_1").links, LinkState("blok"))),
        "model 'block_1': link 'blok'",
        "the robot does not have this link; did you mean 'block'?",
    ),
    (
        lambda s: replace(s, models=(model(s, "rover_arm"),), frames=(*s.frames, Frame("block_2"))),
        "frame 'block_2'",
        "has a model of this name",
    ),
    (
        lambda s: replace(s, frames=(Frame("odom", "nowhere", pose_at((0.0,) * 3)),)),
        "frames",
        "the parent 'nowhere' is neither a frame nor a model",
    ),
    (
        lambda s: replace(s, frames=(Frame("odom", "a"), Frame("a", "odom"))),
        "frames",
        "form a cycle: odom → a → odom",
    ),
]


@pytest.mark.parametrize(("change", "subject", "reason"), FAILURES)
def test_all_or_nothing_and_the_report_says_what_and_why(
    change: Callable[[WorldState], WorldState], subject: str, reason: str
) -> None:
    simulator = example_world()
    before = simulator.integration_state()
    report = simulator.restore(change(saved()))
    assert not report.applied
    assert np.array_equal(simulator.integration_state(), before)
    found = {item.subject: item.detail for item in report.not_restored}
    assert reason in found[subject]
    assert report.message.startswith("nothing restored, because not everything could be: ")


def test_a_part_is_restored_where_that_is_asked_for() -> None:
    simulator = example_world()
    state = changed_joint(saved(), "elbow_joint", positions=(0.0, 1.0))
    place = simulator.built.layout("rover_arm").by_name
    elbow = simulator.data.qpos[place["elbow_joint"].qpos[0]]
    report = simulator.restore(state, partial=True)
    assert report.applied
    refused = [item.subject for item in report.not_restored]
    assert refused[0] == "model 'rover_arm': joint 'elbow_joint'"
    # The links behind it have poses of their own in the state, which nothing can put them to.
    behind = ("forearm_link", "wrist_link", "palm_link", "left_finger", "right_finger", "tool_frame")
    assert set(refused[1:]) == {f"model 'rover_arm': link '{name}'" for name in behind}
    assert simulator.data.qpos[place["elbow_joint"].qpos[0]] == elbow
    (lift,) = next(joint for joint in model(state, "rover_arm").joints if joint.name == "lift_joint").positions or ()
    assert simulator.data.qpos[place["lift_joint"].qpos[0]] == lift


def test_a_dry_run_changes_nothing() -> None:
    simulator = example_world()
    before = simulator.integration_state()
    report = simulator.restore(saved(), dry_run=True)
    assert report.complete
    assert report.exact
    assert not report.applied
    assert np.array_equal(simulator.integration_state(), before)


def test_only_chosen_models_move() -> None:
    simulator = example_world()
    other = simulator.capture()
    report = simulator.restore(saved(), models=["block_1"])
    assert report.applied
    assert not report.exact
    now = simulator.capture()
    assert model(now, "block_2") == model(other, "block_2")
    assert model(now, "block_1").pose == model(saved(), "block_1").pose
    assert now.time_ns == other.time_ns


def test_a_chosen_model_that_the_state_lacks_is_reported() -> None:
    report = example_world().restore(saved(), models=["block_7"])
    assert [str(item) for item in report.not_restored] == [
        "model 'block_7': the state has no such model; did you mean 'block_3'?"
    ]


def test_models_that_the_state_does_not_name_stay_and_that_is_said() -> None:
    simulator = example_world()
    state = saved()
    fewer = replace(state, models=tuple(item for item in state.models if item.name != "block_3"))
    there = model(simulator.capture(), "block_3")
    report = simulator.restore(fewer)
    assert report.applied
    assert not report.exact
    assert "model 'block_3' is not in the state and stays as it is" in report.notes
    assert model(simulator.capture(), "block_3") == there


def heading(angle: float) -> tuple[float, ...]:
    return (0.0, 0.0, np.sin(0.5 * angle), np.cos(0.5 * angle))


def test_two_robots_and_three_objects_come_to_the_right_places() -> None:
    """A robot's parent frame may turn, hang on another frame, and be the same for both robots."""
    simulator = world(rover("left"), rover("right"), block("a"), block("b"), block("c"))
    map_frame = Frame("map", pose=pose_at((10.0, 0.0, 0.0), heading(np.pi / 2)), twist=(0.0,) * 6)
    odom = Frame("odom", "map", pose_at((1.0, 2.0, 0.0), heading(np.pi / 2)), (0.0,) * 6)
    state = WorldState(
        models=(
            ModelState("left", "odom", pose_at((0.5, 0.0, 0.0), heading(0.3)), (0.0,) * 6),
            ModelState("right", "map", pose_at((3.0, 0.0, 0.0), heading(-0.3)), (0.0,) * 6),
            ModelState("a", "odom", pose_at((0.0, 0.0, 1.0)), (0.0,) * 6),
            ModelState("b", "left", pose_at((0.0, 0.0, 1.0)), (0.0,) * 6),
            ModelState("c", "world", pose_at((-1.0, 0.0, 1.0)), (0.0,) * 6),
        ),
        frames=(map_frame, odom),
    )
    report = simulator.restore(state)
    assert report.applied, report.not_restored
    motion = simulator.data
    mujoco.mj_kinematics(simulator.model, motion)
    where = {name: motion.xpos[layout.bodies[0]] for name, layout in simulator.built.layouts.items()}
    # map stands at x = 10 turned left; odom in it at (1, 2), that is (8, 1), turned half round in all.
    close(where["left"], [7.5, 1.0, 0.0], atol=1e-12)
    close(where["right"], [10.0, 3.0, 0.0], atol=1e-12)
    close(where["a"], [8.0, 1.0, 1.0], atol=1e-12)
    close(where["b"], [7.5, 1.0, 1.0], atol=1e-12)
    close(where["c"], [-1.0, 0.0, 1.0], atol=1e-12)
    captured = simulator.capture()
    assert {frame.name for frame in captured.frames} == {"map", "odom"}
    other = world(rover("left"), rover("right"), block("a"), block("b"), block("c"))
    assert other.restore(parse_world(write_world(captured))).exact


def test_an_object_on_a_moving_robot_moves_with_it() -> None:
    simulator = world(rover(), block())
    state = WorldState(
        models=(
            ModelState("rover", "odom", pose_at((1.0, 0.0, 0.0)), (1.0, 0.0, 0.0, 0.0, 0.0, 2.0)),
            ModelState("block", "rover", pose_at((0.0, 0.5, 1.0)), (0.0,) * 6),
        )
    )
    assert simulator.restore(state).applied
    twist = model(simulator.capture(), "block").twist
    close(twist, [1.0 - 2.0 * 0.5, 0.0, 0.0, 0.0, 0.0, 2.0], atol=1e-12)


def test_a_twist_on_a_parent_that_states_none_is_not_restored() -> None:
    simulator = world(rover(), block())
    state = WorldState(
        models=(
            ModelState("rover", "odom", pose_at((1.0, 0.0, 0.0))),
            ModelState("block", "rover", pose_at((0.0, 0.5, 1.0)), (0.0,) * 6),
        )
    )
    (failed,) = simulator.restore(state).not_restored
    assert str(failed) == "model 'block': twist: how 'rover' moves against 'world' is not stated"


def test_a_fixed_robot_is_put_where_the_state_says_but_cannot_move() -> None:
    urdf = example("block.urdf").read_text()
    simulator = world(model_from_text("table", urdf))
    pose = pose_at((1.0, 2.0, 3.0), quat_from_rpy((0.1, 0.2, 0.3)))
    assert simulator.restore(WorldState(models=(ModelState("table", pose=pose),))).applied
    close(pose_matrix(simulator.capture().models[0].pose), pose_matrix(pose), atol=1e-12)
    simulator.step(100)
    close(pose_matrix(simulator.capture().models[0].pose), pose_matrix(pose), atol=1e-12)
    (failed,) = simulator.restore(WorldState(models=(ModelState("table", twist=(1.0, 0, 0, 0, 0, 0)),))).not_restored
    assert failed.detail == "the base is fixed and cannot be given a motion"


def test_the_motion_of_a_frame_is_refused_and_it_is_held_still_where_it_is_stated() -> None:
    simulator = world(rover())
    frame = Frame("odom", pose=pose_at((1.0, 0.0, 0.0)), twist=(1.0, 0, 0, 0, 0, 0))
    report = simulator.restore(WorldState(frames=(frame,)), partial=True)
    (failed,) = report.not_restored
    assert str(failed) == "frame 'odom': it moves in the state, but the simulator keeps frames still"
    # The rover moves in the plane of this frame, and so is taken along.
    assert "model 'rover' is carried along by its frame 'odom'" in report.notes
    captured = simulator.capture()
    assert captured.frame("odom").twist == (0.0,) * 6
    close(pose_matrix(captured.model("rover").pose), np.eye(4))
    simulator.step(1)
    mujoco.mj_kinematics(simulator.model, simulator.data)
    close(simulator.data.xpos[simulator.built.layout("rover").bodies[0]][:1], [1.0], atol=1e-3)


def test_commands_survive_a_restart() -> None:
    """Targets and their meaning are part of the engine's state."""
    first, second = example_world(), example_world()
    first.command("rover_arm", ControlMode.VELOCITY, {"world_joint/x": 0.4, "left_wheel_joint": 2.0})
    first.command("rover_arm", ControlMode.EFFORT, {"elbow_joint": 3.0})
    first.step(50)
    assert second.restore(parse_world(write_world(first.capture()))).exact
    assert np.array_equal(first.modes, second.modes)
    first.step(200)
    second.step(200)
    assert np.array_equal(first.integration_state(), second.integration_state())


def test_unknown_or_impossible_commands_are_refused() -> None:
    from robot_semantics import UnknownNameError
    from robot_semantics.base.errors import ArrayError

    simulator = example_world()
    with pytest.raises(UnknownNameError, match="did you mean 'elbow_joint'"):
        simulator.command("rover_arm", ControlMode.POSITION, {"elbw_joint": 0.0})
    with pytest.raises(ArrayError, match="finite"):
        simulator.command("rover_arm", ControlMode.POSITION, {"elbow_joint": float("nan")})


def test_a_reset_world_is_a_new_one() -> None:
    simulator = example_world()
    simulator.step(100)
    simulator.reset()
    fresh = MujocoSimulator(simulator.spec)
    assert np.array_equal(simulator.integration_state(), fresh.integration_state())
    lift = simulator.built.layout("rover_arm").by_name["lift_joint"]
    assert simulator.data.qpos[lift.qpos[0]] == 0.0


def test_random_orientations_come_back_to_the_last_bit_without_the_engine() -> None:
    rng = np.random.default_rng(8)
    simulator = world(block())
    for _ in range(20):
        quat = rng.normal(size=4)
        quat /= np.linalg.norm(quat)
        pose = pose_at(rng.normal(size=3), quat)
        simulator.restore(WorldState(models=(ModelState("block", pose=pose),)))
        back = simulator.capture().models[0].pose
        assert back is not None
        assert back.quat_xyzw == pose.quat_xyzw


def test_an_engine_of_another_simulator_is_named() -> None:
    state = replace(saved(), engines=(EngineState("drake", "1"),))
    report = example_world().restore(state)
    assert "the state of the engine 'drake' is not MuJoCo's and is not used" in report.notes


GRIPPER = """
<robot name="gripper">
  <link name="base"/>
  <link name="left">INERTIAL</link>
  <link name="right">INERTIAL</link>
  <link name="tip">INERTIAL</link>
  <joint name="l" type="prismatic"><parent link="base"/><child link="left"/>
    <axis xyz="0 1 0"/><limit lower="0" upper="1" effort="1" velocity="1"/></joint>
  <joint name="r" type="prismatic"><parent link="base"/><child link="right"/>
    <axis xyz="0 1 0"/><limit lower="-3" upper="3" effort="1" velocity="1"/>
    <mimic joint="l" multiplier="-2" offset="0.1"/></joint>
  <joint name="t" type="continuous"><parent link="right"/><child link="tip"/><axis xyz="1 0 0"/></joint>
</robot>
""".replace(
    "INERTIAL",
    '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>',
)


def test_a_mimic_joint_that_is_not_stated_goes_where_its_leader_takes_it() -> None:
    simulator = world(model_from_text("g", GRIPPER))
    right = LinkState("right", pose_at((0.0, -0.7, 0.0)))
    stated = ModelState("g", pose=pose_at((0, 0, 0)), joints=(JointState("l", (0.4,), (0.5,)),), links=(right,))
    report = simulator.restore(WorldState(models=(stated,)))
    assert report.complete
    captured = {joint.name: joint for joint in simulator.capture().models[0].joints}
    assert captured["r"].positions == pytest.approx((-0.7,))
    assert captured["r"].velocities == pytest.approx((-1.0,))
    notes = " ".join(report.notes)
    assert "set from their leaders: r" in notes
    assert "1 joints have no stated or derived position, and stay as they are: t" in notes
    assert any("1 agree with the joints" in item.detail for item in report.items)
    wrong = replace(stated, links=(replace(right, pose=pose_at((0.0, 0.7, 0.0))),))
    report = simulator.restore(WorldState(models=(wrong,)))
    assert not report.applied
    assert "link 'right': its pose is 1.4 m" in report.message
    tip = LinkState("tip", pose_at((0.0, -0.7, 9.0)))
    report = simulator.restore(WorldState(models=(replace(stated, links=(right, tip)),)))
    assert "joint 't': cannot be derived" in report.message


def test_a_model_without_a_pose_stays_where_it_is_and_that_is_said() -> None:
    simulator = world(block())
    simulator.restore(WorldState(models=(ModelState("block", pose=pose_at((1, 2, 3))),)))
    report = simulator.restore(WorldState(models=(ModelState("block", twist=(0.0,) * 6),)))
    assert report.applied
    assert "model 'block': its pose is not stated, so the root link stays where it is" in report.notes
    close(simulator.data.qpos[:3], (1, 2, 3))


def test_commands_to_joints_that_a_state_has_beside_its_models_are_taken_or_refused_by_name() -> None:
    simulator = example_world()
    commands = {
        JointCommand("rover_arm", "elbow_joint", "position"): 0.4,
        JointCommand("rover_arm", "wrist_joint", "effort"): 0.25,
        JointCommand("rover_arm", "world_joint/x", "velocity"): 0.5,
    }
    state = replace(saved(), engines=(commands_state(commands),))
    report = simulator.restore(state)
    assert report.applied, report.message
    places = simulator.built.layout("rover_arm").by_name
    elbow, wrist = places["elbow_joint"].actuators[0], places["wrist_joint"].actuators[0]
    assert (simulator.data.ctrl[elbow], simulator.data.ctrl[wrist]) == (0.4, 0.25)
    assert (simulator.modes[elbow], simulator.modes[wrist]) == (ControlMode.POSITION, ControlMode.EFFORT)
    passive = replace(
        state, engines=(commands_state({JointCommand("rover_arm", "caster_swivel_joint", "effort"): 1.0}),)
    )
    refused = simulator.restore(passive)
    assert not refused.applied
    assert "model 'rover_arm': command 'caster_swivel_joint': it is passive: no motor drives it" in refused.message
    muscle = EngineState("mujoco-keyframe", "1", {"ctrl": (1.0,), "act": (0.5,)})
    refused = simulator.restore(replace(state, engines=(muscle,)))
    assert "1 controls and 1 activations are of actuators that this simulator does not have" in refused.message
