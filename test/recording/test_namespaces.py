# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""A tree per namespace: several robots with the same frame names, as nav2 starts them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from robot_semantics import read_world
from robot_semantics.usdf.frames import resolve_frames

URDF = (
    '<robot name="bot"><link name="base_link"/><link name="arm"/>'
    '<joint name="j" type="continuous">{parts}</joint></robot>'
)
PARTS = '<parent link="base_link"/><child link="arm"/><axis xyz="0 0 1"/>'


@pytest.fixture
def fleet(tools: Any) -> Any:
    """Two robots in /a and /b: map → odom → base_link on each one's own tf, map shared."""
    tape = tools.Tape()
    for number, name in enumerate(("a", "b"), start=1):
        tape.text(f"/{name}/robot_description", URDF.format(parts=PARTS))
        for i in range(10):
            stamp = tools.START + i * tools.S // 10
            rows = [
                (stamp, "map", "odom", (10.0 * number, 0, 0, 0, 0, 0, 1)),
                (stamp, "odom", "base_link", (0.1 * i * number, 0, 0, 0, 0, 0, 1)),
            ]
            tape.tf(rows, topic=f"/{name}/tf")
            tape.joints(stamp, ["j"], [0.01 * number], topic=f"/{name}/joint_states")
        tape.tf([(tools.START, "arm", "tool", (0, 0, number, 0, 0, 0, 1))], topic=f"/{name}/tf_static")
    return tape.write(tools.folder / "fleet")


@pytest.mark.parametrize("models", [(), ("--model", "a:/a", "--model", "b:/b")])
def test_each_robot_has_the_tree_of_its_namespace_and_map_is_shared(tools: Any, fleet: Any, models: Any) -> None:
    code, _, stderr = tools.run("export", fleet, "--at", "0.5", *models, "-o", tools.folder / "state.usdf")
    assert code == 0
    assert models or "robot 'a' is found by its topic '/a/robot_description'" in stderr
    state = read_world(tools.folder / "state.usdf")
    assert [model.name for model in state.models] == ["a", "b"]
    assert sorted(frame.name for frame in state.frames) == ["a/odom", "a/tool", "b/odom", "b/tool", "map"]
    world = resolve_frames(state)
    for number, name in enumerate(("a", "b"), start=1):
        assert state.model(name).parent == f"{name}/odom"
        assert state.frame(f"{name}/tool").parent == name
        np.testing.assert_allclose(world.pose(name, "map")[:3, 3], (10.5 * number - 0.0, 0, 0), atol=1e-12)
        assert state.model(name).joint("j").positions == (0.01 * number,)


def test_a_single_namespace_keeps_its_plain_frame_names(tools: Any, fleet: Any) -> None:
    code, _, stderr = tools.run("export", fleet, "--model", "one:/b", "--at", "0.5", "-o", tools.folder / "state.usdf")
    assert code == 0, stderr
    state = read_world(tools.folder / "state.usdf")
    assert [model.name for model in state.models] == ["one"]
    assert sorted(frame.name for frame in state.frames) == ["map", "odom", "tool"]
    np.testing.assert_allclose(resolve_frames(state).pose("one")[:3, 3], (21.0, 0, 0), atol=1e-12)


def test_odom_without_a_map_is_each_robots_own(tools: Any) -> None:
    tape = tools.Tape()
    for number, name in enumerate(("a", "b"), start=1):
        tape.text(f"/{name}/robot_description", URDF.format(parts=PARTS))
        tape.odometry(tools.START, "odom", "base_link", (number, 0, 0, 0, 0, 0, 1), np.zeros(6), topic=f"/{name}/odom")
    bag = tape.write(tools.folder / "bag")
    code, _, stderr = tools.run("export", bag, "-o", tools.folder / "state.usdf")
    assert code == 0
    assert "the frames are not connected" in stderr
    state = read_world(tools.folder / "state.usdf")
    assert {model.name: model.parent for model in state.models} == {"a": "a/odom", "b": "b/odom"}


def test_robots_that_share_their_frames_are_refused(tools: Any, fleet: Any) -> None:
    (tools.folder / "bot.urdf").write_text(URDF.format(parts=PARTS))
    described = [word for name in "ab" for word in ("--model", name, "--urdf", f"{name}={tools.folder / 'bot.urdf'}")]
    topics = [word for name in "ab" for word in ("--joint-states", f"{name}=/{name}/joint_states")]
    code, _, stderr = tools.run("export", fleet, *described, *topics, "-o", tools.folder / "state.usdf")
    assert code == 1
    assert (
        "'a' and 'b' have the same root frame 'base_link'; give their namespaces with --model NAME:/NAMESPACE" in stderr
    )


def test_without_a_description_odometry_and_tf_are_frames(tools: Any) -> None:
    tape = tools.Tape()
    for i in range(10):
        stamp = tools.START + i * tools.S // 10
        tape.odometry(stamp, "odom", "base_link", (0.1 * i, 0, 0, 0, 0, 0, 1), np.zeros(6))
    tape.tf([(tools.START, "base_link", "laser", (0.2, 0, 0, 0, 0, 0, 1))], topic="/tf_static")
    bag = tape.write(tools.folder / "bag")
    code, _, stderr = tools.run("export", bag, "--at", "0.45", "-o", tools.folder / "state.usdf")
    assert (code, stderr) == (0, "")
    state = read_world(tools.folder / "state.usdf")
    assert state.models == ()
    np.testing.assert_allclose(resolve_frames(state).pose("laser")[:3, 3], (0.65, 0, 0), atol=1e-12)


def test_arm_and_gripper_on_two_topics_are_one_robot(tools: Any) -> None:
    tape = tools.Tape()
    for i in range(4):
        stamp = tools.START + i * tools.S
        tape.joints(stamp, ["shoulder", "elbow"], [0.1 * i, 0.2], topic="/arm/joint_states")
        tape.joints(stamp, ["finger", "elbow"], [0.5, 9.0], topic="/gripper/joint_states")
    bag = tape.write(tools.folder / "bag")
    topics = ("--joint-states", "/arm/joint_states", "--joint-states", "/gripper/joint_states")
    code, _, stderr = tools.run("export", bag, *topics, "-o", tools.folder / "state.usdf")
    assert code == 0
    assert "joint 'elbow' is taken from topic '/arm/joint_states'; ignored: '/gripper/joint_states'" in stderr
    (model,) = read_world(tools.folder / "state.usdf").models
    found = {joint.name: joint.positions for joint in model.joints}
    assert found == {"elbow": (0.2,), "finger": (0.5,), "shoulder": (pytest.approx(0.3),)}


STANDING = (
    '<robot name="bot"><virtual_joint name="v" type="{type}" parent_frame="odom" child_link="base_link"/></robot>'
)


@pytest.mark.parametrize("topic", ["/{name}/tf", "/tf"])
def test_a_virtual_joints_parent_is_the_frame_of_its_robots_tree(tools: Any, topic: str) -> None:
    tape = tools.Tape()
    for number, name in enumerate(("a", "b"), start=1):
        tape.text(f"/{name}/robot_description", URDF.format(parts=PARTS))
        kind = "planar" if number == 1 else "fixed"
        tape.text(f"/{name}/robot_description_semantic", STANDING.format(type=kind))
        odom = "odom" if topic != "/tf" else f"{name}/odom"
        rows = [(tools.START, "map", odom, (10.0 * number, 0, 0, 0, 0, 0, 1))]
        if number == 1:
            base = "base_link" if topic != "/tf" else f"{name}/base_link"
            rows.append((tools.START, odom, base, (0.5, 0, 0, 0, 0, 0, 1)))
        tape.tf(rows, topic=topic.format(name=name))
    bag = tape.write(tools.folder / "bag")
    code, _, stderr = tools.run("export", bag, "-o", tools.folder / "state.usdf")
    assert code == 0
    assert "not connected" not in stderr
    state = read_world(tools.folder / "state.usdf")
    assert {model.name: model.parent for model in state.models} == {"a": "a/odom", "b": "b/odom"}
    world = resolve_frames(state)
    np.testing.assert_allclose(world.pose("a")[:3, 3], (10.5, 0, 0), atol=1e-12)
    np.testing.assert_allclose(world.pose("b")[:3, 3], (20.0, 0, 0), atol=1e-12)


def test_an_odom_that_only_virtual_joints_name_is_each_robots_own(tools: Any) -> None:
    tape = tools.Tape()
    for number, name in enumerate(("a", "b"), start=1):
        tape.text(f"/{name}/robot_description", URDF.format(parts=PARTS))
        tape.text(f"/{name}/robot_description_semantic", STANDING.format(type="planar"))
        tape.joints(tools.START, ["v/x", "v/y", "v/theta"], [number, 0, 0], topic=f"/{name}/joint_states")
    bag = tape.write(tools.folder / "bag")
    code, _, stderr = tools.run("export", bag, "-o", tools.folder / "state.usdf")
    assert code == 0, stderr
    state = read_world(tools.folder / "state.usdf")
    assert {model.name: model.parent for model in state.models} == {"a": "a/odom", "b": "b/odom"}
