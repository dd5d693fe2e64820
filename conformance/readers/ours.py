# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The package itself as a reader."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict
from math import isfinite
from pathlib import Path
from typing import Any

from common import Answer, serve

from robot_semantics.base.diagnostic import Diagnostic
from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.base.errors import DescriptionError
from robot_semantics.convert.json_form import parse_json, world_to_json
from robot_semantics.kinematics.forward import ForwardKinematics
from robot_semantics.kinematics.joint_space import JointSpace
from robot_semantics.kinematics.loop_equations import LoopEquations
from robot_semantics.model.apply_semantics import apply_semantics
from robot_semantics.model.foreign_checks import check_foreign
from robot_semantics.model.loading import load_robot
from robot_semantics.model.resources import PackageResolver, check_resources
from robot_semantics.model.robot_model import RobotModel
from robot_semantics.srdf.table import srdf_from_file
from robot_semantics.transforms import xyz_quat_from_matrix
from robot_semantics.usdf.check import check_world_file
from robot_semantics.usdf.frames import NotStatedError, resolve_frames
from robot_semantics.usdf.reader import read_leniently, read_world
from robot_semantics.usdf.validity import without_faults
from robot_semantics.usdf.writer import write_world


def problems(found: Iterable[Diagnostic]) -> list[dict[str, Any]]:
    """Return problems in the form of an answer."""
    return [
        {"severity": item.severity.value, "code": item.code}
        | ({"line": item.place.line, "column": item.place.column} if item.place.line else {})
        for item in found
    ]


def usdf(file: str, _robot: str, _positions: Mapping[str, Any]) -> Answer:
    """Read a world state."""
    try:
        state, places, found = read_leniently(Path(file))
    except DescriptionError as error:
        return {"refused": True, "problems": problems(error.diagnostics)}
    if found.failed():
        return {"problems": problems(found), "state": world_to_json(without_faults(state))}
    answer = {"state": world_to_json(state)}
    try:
        world = resolve_frames(state, diagnostics=found, places=places)
    except DescriptionError as error:
        return answer | {"problems": problems((*found, *error.diagnostics))}
    except NotStatedError:
        return answer | {"problems": problems(found)}
    poses = xyz_quat_from_matrix(world.T_world_body).tolist()
    twists = world.twists.tolist()
    resolved = {
        name: {"pose": pose} | ({"twist": twist} if all(value == value for value in twist) else {})
        for name, pose, twist in zip(world.names, poses, twists, strict=True)
    }
    return answer | {"problems": problems(found), "resolved": resolved}


def write(file: str, _robot: str, _positions: Mapping[str, Any]) -> Answer:
    """Write a world state again, from USDF or from its JSON form."""
    path = Path(file)
    try:
        found = Diagnostics()
        state = read_world(path) if path.suffix == ".usdf" else parse_json(path.read_bytes(), file, found)
        return {"written": write_world(state), "problems": problems(found)}
    except DescriptionError as error:
        return {"refused": True, "problems": problems(error.diagnostics)}


def check(file: str, robot: str, _positions: Mapping[str, Any]) -> Answer:
    """Check a world state against its robot; the SRDF may be beside the URDF."""
    found = Diagnostics()
    semantics = Path(robot).with_suffix(".srdf")
    model = load_robot(Path(robot), semantics if semantics.is_file() else None)
    try:
        check_world_file(Path(file), found, robot=model)
    except DescriptionError as error:
        return {"problems": problems(error.diagnostics)}
    return {"problems": problems(found)}


def _loaded(read: Callable[[Diagnostics], RobotModel]) -> tuple[RobotModel | None, Answer]:
    found = Diagnostics()
    try:
        model = read(found)
    except DescriptionError as error:
        return None, {"refused": True, "problems": problems(error.diagnostics)}
    return model, {"problems": problems(found)}


def urdf(file: str, _robot: str, positions: Mapping[str, Any]) -> Answer:
    """Read a robot."""

    def read(found: Diagnostics) -> RobotModel:
        model = load_robot(Path(file), strict=False, diagnostics=found)
        check_foreign(model, found)
        check_resources(model.urdf, PackageResolver(), found, file)
        return model

    model, answer = _loaded(read)
    if model is None:
        return answer
    joints: dict[str, Any] = {}
    for joint in model.joints[1:]:
        limits, mimic = joint.limits, joint.mimic
        numbers = {"lower": limits.lower, "upper": limits.upper, "velocity": limits.velocity, "effort": limits.effort}
        joints[joint.name] = {
            "type": joint.type.value,
            "parent": joint.parent_link,
            "child": joint.child_link,
            "axis": joint.axis.tolist(),
            "mimic": mimic and [mimic.joint, mimic.multiplier, mimic.offset],
            **{key: value if isfinite(value) else None for key, value in numbers.items()},
        }
    robot = {"name": model.name, "root": model.root_link, "links": sorted(model.link_names), "joints": joints}
    space = JointSpace.of(model)
    q = space.pack(positions)
    poses = xyz_quat_from_matrix(ForwardKinematics(model).link_poses(q))
    constraints: dict[str, Any] = {}
    for constraint in model.constraints:
        equations = LoopEquations(model, space, [constraint])
        (distance,), (angle,) = equations.residuals(equations.state(q.reshape(1, -1)))
        constraints[constraint.name] = {
            "type": constraint.type.value,
            "parent": constraint.parent_link,
            "child": constraint.child_link,
            "distance": float(distance),
            "angle": float(angle),
        }
    answer |= {"robot": robot, "poses": dict(zip(model.link_names, poses.tolist(), strict=True))}
    return answer | {"constraints": constraints}


def srdf(file: str, robot: str, _positions: Mapping[str, Any]) -> Answer:
    """Read the semantics of a robot."""

    def read(found: Diagnostics) -> RobotModel:
        return apply_semantics(load_robot(Path(robot), strict=False), srdf_from_file(file, found), found)

    model, answer = _loaded(read)
    if model is None:
        return answer
    semantics = model.semantics
    return answer | {
        "root_joint": {"name": model.root_joint.name, "type": model.root_joint.type.value},
        "groups": {
            name: {key: getattr(group, key) for key in ("joints", "active_joints", "links", "is_chain", "subgroups")}
            for name, group in semantics.groups.items()
        },
        "states": {f"{group}/{name}": {**state.joints} for (group, name), state in semantics.states.items()},
        "end_effectors": {name: asdict(effector) for name, effector in semantics.end_effectors.items()},
        "disabled_pairs": sorted(sorted(pair) for pair in semantics.disabled_collisions),
    }


if __name__ == "__main__":
    serve({"urdf": urdf, "srdf": srdf, "usdf": usdf, "write": write, "check": check})
