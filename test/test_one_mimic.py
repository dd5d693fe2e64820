# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""One mimic: whoever places a joint that follows another puts it where the rule of URDF does, by every door.

A follower is at ``multiplier * leader + offset``; of a floating one this is its translation, and it turns as its leader
does. The robots have a leader of every joint type, a follower, and a follower of the follower.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from support.page_scripts import run_page_script, scene_text
from support.random_worlds import motion, pose_of, random_pose
from support.state_consumers import CONSUMERS, Robots, written

from robot_semantics import Diagnostics, ForwardKinematics, WorldState
from robot_semantics.model.loading import robot_from_text
from robot_semantics.usdf.check import check_world_file
from robot_semantics.usdf.world_state import JointState, ModelState

TYPES = ("revolute", "continuous", "prismatic", "planar", "floating")
RULES = {"twice": (2.0, 0.0), "against": (-1.0, 0.3), "still": (0.0, 0.2)}
MASS = '<inertial><mass value="1"/><inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial>'
OFFSET_OF_THE_CHAIN = -0.1
AXIS = np.array((0.6, 0.0, 0.8))
ORIGINS = {
    f"{kind}_{role}": random_pose(np.random.default_rng(seed), 0.5)
    for seed, (kind, role) in enumerate((kind, role) for kind in TYPES for role in ("lead", "follow", "chain"))
}
LEADERS = {
    "revolute": np.array([0.4]),
    "continuous": np.array([-1.2]),
    "prismatic": np.array([0.25]),
    "planar": np.array([0.3, -0.2, 0.5]),
    "floating": np.array([0.1, -0.3, 0.2, *Rotation.from_rotvec((0.4, -0.7, 0.2)).as_quat()]),
}


def rule(kind: str, multiplier: float, offset: float, q: np.ndarray) -> np.ndarray:
    """Return where a follower is."""
    if kind != "floating":
        return multiplier * q + offset
    return np.concatenate((multiplier * q[:3] + offset, q[3:]))


def all_positions(multiplier: float, offset: float) -> dict[str, np.ndarray]:
    """Return where every joint is."""
    found = {}
    for kind, q in LEADERS.items():
        found[f"{kind}_lead"] = q
        found[f"{kind}_follow"] = rule(kind, multiplier, offset, q)
        found[f"{kind}_chain"] = rule(kind, multiplier, OFFSET_OF_THE_CHAIN, found[f"{kind}_follow"])
    return found


def urdf(multiplier: float, offset: float, kinds: tuple[str, ...] = TYPES) -> str:
    links, joints = f'<link name="base">{MASS}</link>', ""
    for name, T in ORIGINS.items():
        kind, role = name.split("_")
        if kind not in kinds:
            continue
        numbers = pose_of(T).xyz_rpy
        xyz, rpy = (" ".join(map(repr, part)) for part in (numbers[:3], numbers[3:]))
        links += f'<link name="{name}_link">{MASS}</link>'
        leads, shift = {"follow": ("lead", offset), "chain": ("follow", OFFSET_OF_THE_CHAIN)}.get(role, ("", 0.0))
        mimic = f'<mimic joint="{kind}_{leads}" multiplier="{multiplier}" offset="{shift}"/>' if leads else ""
        axis = "" if kind == "floating" else f'<axis xyz="{" ".join(map(repr, AXIS.tolist()))}"/>'
        limited = kind in ("revolute", "prismatic")
        limit = '<limit lower="-9" upper="9" effort="0" velocity="9"/>' if limited else ""
        joints += (
            f'<joint name="{name}" type="{kind}"><parent link="base"/><child link="{name}_link"/>'
            f'<origin xyz="{xyz}" rpy="{rpy}"/>{axis}{limit}{mimic}</joint>'
        )
    return f'<robot name="mimicry">{links}{joints}</robot>'


def local_transforms(multiplier: float, offset: float) -> dict[str, np.ndarray]:
    """Return (4, 4) ``T_base_link`` of every link, all of which hang on the base."""
    return {
        f"{name}_link": ORIGINS[name] @ motion(name.split("_")[0], AXIS, q)
        for name, q in all_positions(multiplier, offset).items()
    }


def stated(joints: dict[str, np.ndarray], base: np.ndarray) -> WorldState:
    states = tuple(JointState(name, tuple(q.tolist())) for name, q in joints.items())
    return WorldState("one", (ModelState("m", "world", pose_of(base), joints=states),))


@pytest.mark.parametrize("case", RULES)
@pytest.mark.parametrize("name", [pytest.param(name, marks=item.marks) for name, item in CONSUMERS.items()])
def test_every_consumer_of_a_state_puts_a_follower_where_the_rule_does(name: str, case: str, tmp_path: Path) -> None:
    T_world_base = random_pose(np.random.default_rng(1))
    robots: Robots = {"m": (urdf(*RULES[case]), None)}
    leaders = {f"{kind}_lead": q for kind, q in LEADERS.items()}
    answer = CONSUMERS[name].run(stated(leaders, T_world_base), robots, tmp_path)["m"]
    for link, T in local_transforms(*RULES[case]).items():
        np.testing.assert_allclose(answer["T_world_link"][link], T_world_base @ T, rtol=0, atol=1e-9, err_msg=link)
    for joint, q in all_positions(*RULES[case]).items():
        if joint in answer.get("positions", {}):
            found = np.asarray(answer["positions"][joint])
            found = found if len(q) != 7 or found[3:] @ q[3:] > 0.0 else np.array([*found[:3], *-found[3:]])
            np.testing.assert_allclose(found, q, rtol=0, atol=1e-9, err_msg=joint)


@pytest.mark.parametrize("case", ["twice", "against"])
@pytest.mark.parametrize("role", ["follow", "chain"])
def test_a_follower_that_is_stated_alone_leads_its_leader(role: str, case: str, tmp_path: Path) -> None:
    positions = {name: q for name, q in all_positions(*RULES[case]).items() if name.endswith(role)}
    state, robots = stated(positions, np.eye(4)), {"m": (urdf(*RULES[case]), None)}
    answer = CONSUMERS["library"].run(state, robots, tmp_path)["m"]
    for link, T in local_transforms(*RULES[case]).items():
        np.testing.assert_allclose(answer["T_world_link"][link], T, rtol=0, atol=1e-9, err_msg=link)


@pytest.mark.parametrize("case", RULES)
def test_check_knows_a_follower_that_is_elsewhere(case: str, tmp_path: Path) -> None:
    positions, robots = all_positions(*RULES[case]), {"m": (urdf(*RULES[case]), None)}

    def disagreeing() -> list[str]:
        diagnostics = Diagnostics()
        check_world_file(written(stated(positions, np.eye(4)), robots, tmp_path), diagnostics)
        return [problem.message for problem in diagnostics if problem.code == "mimic-disagrees"]

    assert disagreeing() == []
    positions["floating_follow"][3:] *= -1.0
    assert disagreeing() == []
    for kind in TYPES:
        positions[f"{kind}_follow"] = positions[f"{kind}_follow"] + np.eye(len(LEADERS[kind]))[0] * 0.1
    assert {message.split("'")[1] for message in disagreeing()} == {f"{kind}_follow" for kind in TYPES}


@pytest.mark.parametrize("case", RULES)
def test_tf_has_followers_where_the_rule_does(case: str) -> None:
    pytest.importorskip("rclpy")
    from rclpy.serialization import deserialize_message, serialize_message
    from support.nodes import joint_state, matrix_of
    from tf2_msgs.msg import TFMessage

    from robot_semantics.cdr.joint_states import JointStateReader
    from robot_semantics.live.robot import Messages, RunningRobot
    from robot_semantics.live.settings import RobotSettings

    found: dict[str, np.ndarray] = {}

    def take(messages: Messages | Any) -> None:
        assert isinstance(messages, tuple)
        for raw in messages:
            for item in deserialize_message(raw, TFMessage).transforms:
                found[item.child_frame_id] = matrix_of(item)

    expected = local_transforms(*RULES[case])
    one = RunningRobot("m", robot_from_text(urdf(*RULES[case])), RobotSettings())
    names = {
        variable: value
        for kind, q in LEADERS.items()
        for variable, value in zip(one.model.joint(f"{kind}_lead").variable_names, q.tolist(), strict=True)
    }
    take(one.joint_state(JointStateReader().read(serialize_message(joint_state(names, 5_000_000_000))), lambda: 0))
    assert found.keys() == expected.keys()
    for link, T in expected.items():
        np.testing.assert_allclose(found[link], T, rtol=0, atol=1e-12, err_msg=link)
    found.clear()
    other = RunningRobot("m", one.model, RobotSettings())
    for kind in ("planar", "floating"):
        # As a multi-DOF joint state says it: the pose of the child in the joint frame.
        x, y, z, _, _, _ = pose_of(motion(kind, AXIS, LEADERS[kind])).xyz_rpy
        quat = Rotation.from_matrix(motion(kind, AXIS, LEADERS[kind])[:3, :3]).as_quat()
        take(other.motion(f"{kind}_lead", np.array([x, y, z, *quat]), None, 5_000_000_000))
    assert len(found) == 6
    for link, T in found.items():
        np.testing.assert_allclose(T, expected[link], rtol=0, atol=1e-12, err_msg=link)


PROGRAM = """import { readFileSync } from "node:fs"; import { Robot } from "./robot.js";
const [scene, q] = JSON.parse(readFileSync(0)), robot = new Robot(scene.actors[0]);
console.log(JSON.stringify([robot.follow(q), robot.poses(q, [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1])]));"""


@pytest.mark.parametrize("case", RULES)
def test_the_page_has_followers_where_the_rule_does(case: str, tmp_path: Path) -> None:
    model = robot_from_text(urdf(*RULES[case]))
    kinematics = ForwardKinematics(model)
    q = np.zeros(kinematics.space.size)
    for kind, row in LEADERS.items():
        q[kinematics.space.joint_positions[f"{kind}_lead"]] = row
    text = json.dumps([json.loads(scene_text("m", model)), q.tolist()])
    followed, poses = json.loads(run_page_script(PROGRAM, text, tmp_path))
    for name, row in all_positions(*RULES[case]).items():
        where = kinematics.space.joint_positions[name]
        np.testing.assert_allclose(followed[where.start : where.stop], row, atol=1e-15, err_msg=name)
    for link, T in local_transforms(*RULES[case]).items():
        found = np.reshape(poses[model.link_index[link]], (4, 4))
        np.testing.assert_allclose(found, T, atol=1e-12, err_msg=link)


TIED = {"mujoco": TYPES, "drake": ("revolute", "continuous", "prismatic")}
"""The joint types of which an engine ties the positions that a mimic scales."""


@pytest.mark.parametrize("case", ["twice", "against"])
@pytest.mark.parametrize(("engine", "kind"), [(engine, kind) for engine in TIED for kind in TYPES])
def test_an_engine_ties_a_follower_or_says_that_it_does_not(engine: str, kind: str, case: str) -> None:
    pytest.importorskip({"drake": "pydrake"}.get(engine, engine))
    from support.worlds import model_from_text

    from robot_semantics.simulation.loading import start_simulator
    from robot_semantics.simulation.simulator import ControlMode
    from robot_semantics.simulation.world_spec import WorldSpec

    spec = model_from_text("m", urdf(*RULES[case], kinds=(kind,)))
    world = start_simulator(engine, WorldSpec((spec,), gravity=0.0, ground=False), lambda text: None)
    tied = kind in TIED[engine]
    notes = {note.part: note.message for note in world.notes if "follow" in note.message}
    expected = {} if tied and kind != "floating" else {f"joint '{kind}_{role}'" for role in ("follow", "chain")}
    assert set(notes) == set(expected)
    moving = np.zeros(6 if kind == "floating" else len(LEADERS[kind]))
    moving[0] = 1.0
    joint = JointState(f"{kind}_lead", tuple(LEADERS[kind].tolist()), tuple(moving.tolist()))
    state = WorldState("one", (ModelState("m", "world", pose_of(np.eye(4)), joints=(joint,)),))
    assert world.restore(state).complete
    if len(moving) == 1:
        world.command("m", ControlMode.POSITION, {f"{kind}_lead": LEADERS[kind][0] + 0.1})
    world.step(100)
    (model,) = world.capture().models
    found = {joint.name: np.array(joint.positions) for joint in model.joints}
    lead = found[f"{kind}_lead"]
    assert np.abs(lead - LEADERS[kind]).max() > 0.005  # it has moved
    if tied:
        first = rule(kind, *RULES[case], lead)
        chain = rule(kind, RULES[case][0], OFFSET_OF_THE_CHAIN, first)
        part = slice(0, 3)  # of a floating joint the translation is tied
        np.testing.assert_allclose(found[f"{kind}_follow"][part], first[part], atol=1e-2)
        np.testing.assert_allclose(found[f"{kind}_chain"][part], chain[part], atol=1e-2)


def test_an_sdformat_export_names_the_followers_that_it_cannot_tie() -> None:
    pytest.importorskip("mujoco")
    from support.worlds import model_from_text

    from robot_semantics.simulation.mujoco import MujocoSimulator
    from robot_semantics.simulation.sdf_export import sdf_of
    from robot_semantics.simulation.world_spec import WorldSpec

    world = WorldSpec((model_from_text("m", urdf(*RULES["twice"])),), ground=False)
    lost = [item for item in sdf_of(world, MujocoSimulator(world).capture()).lost if "follows" in item]
    followers = [f"{kind}_{role}" for kind in ("floating", "planar") for role in ("chain", "follow")]
    assert sorted(lost) == [f"model 'm': that joint '{name}' follows '{name.split('_')[0]}_lead'" for name in followers]
