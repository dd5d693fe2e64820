# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Three scenes full of contacts, as they are at their start; commands are part of the state, so only set here."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from robot_semantics import WorldState, read_world
from robot_semantics.examples import example
from robot_semantics.model.joint_types import JointType
from robot_semantics.model.loading import load_robot
from robot_semantics.model.resources import PackageResolver
from robot_semantics.simulation.loading import world_from_state
from robot_semantics.simulation.mujoco import MujocoSimulator
from robot_semantics.simulation.simulator import ControlMode
from robot_semantics.simulation.world_spec import ModelSpec, WorldSpec
from robot_semantics.transforms.pose import pose_from_quaternion
from robot_semantics.usdf.world_state import JointState, ModelState


def _spec(name: str, urdf: Path, srdf: Path | None = None, base: JointType = JointType.FIXED) -> ModelSpec:
    resolver = PackageResolver()
    robot = load_robot(urdf, srdf, strict=False)
    return ModelSpec(name, robot, lambda uri: resolver.resolve(uri, urdf), base, str(urdf), str(srdf) if srdf else None)


def falling_dog(robots: Path) -> MujocoSimulator:
    """A Go2 that lands on its feet and falls over."""
    dog = _spec("go2", robots / "go2_description/urdf/go2.urdf", base=JointType.FLOATING)
    simulator = MujocoSimulator(WorldSpec((dog,)))
    joints = tuple(
        JointState(f"{leg}_{part}_joint", (value,))
        for leg in ("FL", "FR", "RL", "RR")
        for part, value in (("hip", 0.1), ("thigh", 0.8), ("calf", -1.6))
    )
    pose = pose_from_quaternion((0.0, 0.0, 0.5), (0.15, 0.1, 0.0, 0.98))
    state = WorldState(models=(ModelState("go2", pose=pose, twist=(0.5, 0.2, 0.0, 1.0, 0.0, 0.5), joints=joints),))
    assert simulator.restore(state).applied
    return simulator


def driving_pr2(robots: Path) -> MujocoSimulator:
    """A PR2 that drives into two blocks, its arms moving."""
    folder = robots / "pr2_description"
    models = (
        _spec("pr2", folder / "urdf/pr2.urdf", folder / "srdf/pr2.srdf"),
        *(_spec(f"block_{n}", example("block.urdf"), example("block.srdf")) for n in (1, 2)),
    )
    simulator = MujocoSimulator(WorldSpec(models))
    upright = (0.0, 0.0, 0.0, 1.0)
    blocks = (
        ModelState("block_1", pose=pose_from_quaternion((0.6, 0.0, 0.2), upright)),
        ModelState("block_2", pose=pose_from_quaternion((0.62, 0.05, 0.35), upright)),
    )
    assert simulator.restore(WorldState(models=blocks)).applied
    speeds = {"world_joint/x": 0.5, "world_joint/y": 0.05, "world_joint/theta": 0.2}
    simulator.command("pr2", ControlMode.VELOCITY, speeds)
    targets = {"l_shoulder_pan_joint": 1.0, "r_elbow_flex_joint": -1.5, "torso_lift_joint": 0.2}
    simulator.command("pr2", ControlMode.POSITION, targets)
    return simulator


def pushing_arm(_robots: Path) -> MujocoSimulator:
    """The example world: blocks fall on the rover, whose arm sweeps among them."""
    path = example("rover_arm.usdf")
    state = read_world(path)
    simulator = MujocoSimulator(world_from_state(state, path))
    assert simulator.restore(state).applied
    simulator.command(
        "rover_arm", ControlMode.POSITION, {"shoulder_pan_joint": -1.2, "lift_joint": 0.0, "elbow_joint": 1.1}
    )
    simulator.command("rover_arm", ControlMode.VELOCITY, {"left_wheel_joint": 3.0, "right_wheel_joint": -2.0})
    return simulator


SCENES: dict[str, Callable[[Path], MujocoSimulator]] = {
    "go2": falling_dog,
    "pr2": driving_pr2,
    "rover_arm": pushing_arm,
}
