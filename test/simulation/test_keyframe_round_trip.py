# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""World states as keyframes of the package's own MuJoCo models, and back: nothing moves.

The expected poses are the truth of `support.random_worlds`, and MuJoCo's own kinematics.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import mujoco
import numpy as np
import pytest
from support.random_worlds import RandomWorld, motion, pose_of, random_pose, random_world
from support.worlds import model_from_text

from robot_semantics import WorldState
from robot_semantics.convert.mujoco_key_text import parse_keyframe
from robot_semantics.convert.mujoco_keyframe import from_keyframe, to_keyframe
from robot_semantics.simulation.mujoco_builder import build_mujoco_world
from robot_semantics.simulation.world_spec import ModelSpec, WorldSpec
from robot_semantics.transforms.pose import pose_matrix
from robot_semantics.usdf.frames import resolve_frames
from robot_semantics.usdf.reader import parse_world
from robot_semantics.usdf.world_state import WORLD, Frame, ModelState

CALM = [seed for seed in range(120) if seed % 2 == 0 and seed % 7 < 3]
"""Random worlds in which everything is stated that puts a robot somewhere."""

POST = '<robot name="post"><link name="base"/></robot>'


def placed(model: Any, key: Any) -> Any:
    """Return MuJoCo's data at a keyframe."""
    data = mujoco.MjData(model)
    data.qpos, data.qvel = key.qpos, key.qvel
    data.mocap_pos, data.mocap_quat = key.mpos.reshape(-1, 3), key.mquat.reshape(-1, 4)
    mujoco.mj_forward(model, data)
    return data


def world_of(world: RandomWorld) -> tuple[Any, dict[str, ModelSpec]]:
    """Return the MuJoCo model of a random world, and its robots."""
    specs = {name: model_from_text(name, *files) for name, files in world.robots.items()}
    return build_mujoco_world(WorldSpec(tuple(specs.values()), ground=False)).model, specs


def twist_in_mujoco(model: Any, data: Any, body: str) -> np.ndarray:
    velocity = np.zeros(6)
    mujoco.mj_objectVelocity(model, data, mujoco.mjtObj.mjOBJ_XBODY, model.body(body).id, velocity, 0)
    return np.roll(velocity, 3)


@pytest.mark.parametrize("known", [True, False], ids=["robots known", "robots not known"])
def test_models_on_every_base_are_where_they_were_after_a_keyframe(known: bool) -> None:
    """Without the robots, joints that only follow from links are not in the keyframe; the roots are."""
    bases = set()
    for seed in CALM:
        world = random_world(seed)
        model, specs = world_of(world)
        robots = {name: spec.robot for name, spec in specs.items()}
        there = to_keyframe(world.state, model, robots=robots if known else None)
        back = from_keyframe(parse_keyframe(there.value.as_mjcf()), model)
        assert back.lost == ()
        assert sorted(each.name for each in back.value.models) == sorted(robots)
        assert back.value.frames == ()
        data, after, before = placed(model, there.value), resolve_frames(back.value), resolve_frames(world.state)
        for name, robot in robots.items():
            bases.add(robot.root_joint.type.value if robot.has_virtual_joint else None)
            root = robot.root_link
            np.testing.assert_allclose(after.pose(name), world.T_world_link[name][root], atol=1e-9)
            np.testing.assert_allclose(after.twist(name), before.twist(name), atol=1e-9)
            np.testing.assert_allclose(after.twist(name), twist_in_mujoco(model, data, f"{name}/{root}"), atol=1e-9)
            joints = {joint.name: joint for joint in back.value.model(name).joints}
            assert set(joints) <= {joint.name for joint in robot.joints if not joint.virtual}
            if known:
                for link, T in world.T_world_link[name].items():
                    body = data.body(f"{name}/{link}")
                    np.testing.assert_allclose(body.xpos, T[:3, 3], atol=1e-9)
                    np.testing.assert_allclose(body.xmat.reshape(3, 3), T[:3, :3], atol=1e-9)
                for joint, q in world.positions[name].items():
                    found = np.array(joints[joint].positions)
                    # A quaternion and its opposite are one turn.
                    found[3:] *= np.sign(found[3:] @ q[3:]) if len(q) == 7 else 1.0
                    np.testing.assert_allclose(found, q, atol=1e-9)
                for joint, v in world.velocities[name].items():
                    np.testing.assert_allclose(joints[joint].velocities or (), v, atol=1e-9)
    assert bases == {None, "fixed", "planar", "floating"}


def srdf(kind: str) -> str:
    return f'<robot name="post"><virtual_joint name="vj" type="{kind}" parent_frame="odom" child_link="base"/></robot>'


@pytest.mark.parametrize("frame", [True, False], ids=["frame placed", "frame not placed"])
def test_objects_without_joints_are_models_with_their_poses(frame: bool) -> None:
    rng = np.random.default_rng(5)
    kinds = {"held": None, "standing": "fixed", "sliding": "planar", "loose": "floating"}
    specs = {name: model_from_text(name, POST, None if kind is None else srdf(kind)) for name, kind in kinds.items()}
    model = build_mujoco_world(WorldSpec(tuple(specs.values()), ground=False)).model
    T_odom = random_pose(rng) if frame else np.eye(4)
    expected = {name: random_pose(rng) for name in kinds}
    expected["sliding"] = T_odom @ motion("planar", np.array([0.0, 0.0, 1.0]), np.array([0.3, -0.2, 0.4]))
    state = WorldState(
        models=tuple(ModelState(name, WORLD, pose_of(T), (0.0,) * 6) for name, T in expected.items()),
        frames=(Frame("odom", WORLD, pose_of(T_odom), (0.0,) * 6),) if frame else (),
    )
    there = to_keyframe(state, model, robots={name: spec.robot for name, spec in specs.items()})
    assert there.lost == (("frame 'odom'",) if frame else ())
    back = from_keyframe(there.value, model).value
    assert back.frames == ()
    assert {each.name for each in back.models} == set(kinds)
    for each in back.models:
        assert (each.parent, each.joints) == (WORLD, ())
        np.testing.assert_allclose(pose_matrix(each.pose), expected[each.name], atol=1e-12)


def test_what_a_base_cannot_do_is_listed() -> None:
    specs = (model_from_text("standing", POST, srdf("fixed")), model_from_text("sliding", POST, srdf("planar")))
    model = build_mujoco_world(WorldSpec(specs, ground=False)).model
    at = pose_of(motion("prismatic", np.array([0.0, 0.0, 1.0]), np.array([0.25])))
    moving = (0.0, 0.0, 0.5, 0.0, 0.0, 0.0)
    state = WorldState(models=tuple(ModelState(spec.name, WORLD, at, moving) for spec in specs))
    twists = (
        "the twist of 'standing', which is a mocap body and has none",
        "model 'sliding': 0.5 m/s or rad/s of its twist lie outside the plane of its base",
    )
    # If the virtual joint's frame is unknown, the plane is at the model.
    assert to_keyframe(state, model).lost == twists
    assert to_keyframe(state, model, robots={spec.name: spec.robot for spec in specs}).lost == (
        twists[0],
        "model 'sliding': its pose lies 0.25 m and 0 rad outside the plane of its base",
        twists[1],
    )
    unsaid = replace(state, models=tuple(replace(each, pose=None) for each in state.models))
    assert "nothing is stated of the mocap body 'sliding//frame': it is where the model has it" in (
        to_keyframe(unsaid, model).lost
    )


def test_a_joint_whose_name_ends_like_a_variable_is_a_joint_of_its_own() -> None:
    urdf = (
        '<robot name="r"><link name="a"/><link name="b"/><joint name="lift/x" type="continuous">'
        '<parent link="a"/><child link="b"/></joint></robot>'
    )
    spec = model_from_text("r", urdf)
    model = build_mujoco_world(WorldSpec((spec,), ground=False)).model
    text = (
        "<world_state><model_state name='r'><pose>0 0 0 0 0 0</pose><joint_state name='lift/x'>"
        "<positions>0.5</positions><velocities>2</velocities></joint_state></model_state></world_state>"
    )
    there = to_keyframe(parse_world(text), model)
    (joint,) = from_keyframe(there.value, model).value.model("r").joints
    assert (joint.name, joint.positions, joint.velocities) == ("lift/x", (0.5,), (2.0,))
