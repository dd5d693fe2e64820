# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Drake as a reader."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from common import Answer, serve
from pydrake.multibody.parsing import Parser
from pydrake.multibody.plant import MultibodyPlant


def urdf(file: str, _robot: str, positions: Mapping[str, Any]) -> Answer:
    """Read a robot; poses are relative to its root link, which floats here."""
    plant = MultibodyPlant(0.0)
    (model,) = Parser(plant).AddModels(file)
    plant.Finalize()
    bodies = [plant.get_body(at) for at in plant.GetBodyIndices(model)]
    # The parent of a floating root link's joint is the world.
    joints = [plant.get_joint(at) for at in plant.GetJointIndices(model)]
    joints = [joint for joint in joints if joint.parent_body() != plant.world_body()]
    children = {joint.child_body().name() for joint in joints}
    root = next(body for body in bodies if body.name() not in children)
    context = plant.CreateDefaultContext()
    q = plant.GetPositions(context)
    for name, value in positions.items():
        # Drake drops a floating joint: its child floats in the world, with another name.
        if plant.HasJointNamed(name, model):
            joint = plant.GetJointByName(name, model)
            q[joint.position_start() : joint.position_start() + joint.num_positions()] = value
    plant.SetPositions(context, q)
    from_root = plant.EvalBodyPoseInWorld(context, root).inverse()
    poses = {}
    for body in bodies:
        found = from_root @ plant.EvalBodyPoseInWorld(context, body)
        w, *xyz = found.rotation().ToQuaternion().wxyz().tolist()
        poses[body.name()] = [*found.translation().tolist(), *xyz, w]
    told = {
        joint.name(): {"parent": joint.parent_body().name(), "child": joint.child_body().name()} for joint in joints
    }
    robot = {"name": plant.GetModelInstanceName(model), "root": root.name(), "links": sorted(poses), "joints": told}
    return {"robot": robot, "poses": poses}


if __name__ == "__main__":
    serve({"urdf": urdf})
