# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Robots of a package on PyPI: every mesh is found and read, and stands where pinocchio puts it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from robot_semantics import Diagnostics
from robot_semantics.model.loading import RobotOptions
from robot_semantics.model.mesh_files import mesh_surface
from robot_semantics.viewer.opening import Opening, open_files
from robot_semantics.viewer.scene import link_poses

pin = pytest.importorskip("pinocchio")
pytest.importorskip("trimesh")

SHARE = Path(pin.__file__).parents[4] / "share"
ROBOTS = (
    "anymal_b_simple_description",
    "alex_description",
    "allegro_hand_description",
    "bolt_description",
    "borinot_description",
    "centauro_description",
    "finger_edu_description",
    "g1_description",
    "go2_description",
    "human_description",
    "hyq_description",
    "icub_description",
    "iris_description",
    "kinova_description",
    "laikago_description",
    "panda_description",
    "pr2_description",
    "romeo_description",
    "so_arm_description",
    "solo_description",
    "talos_data",
    "tiago_description",
    "ur_description",
    "xarm_description",
    "z1_description",
)


def description(name: str) -> Path:
    found = sorted((SHARE / "example-robot-data" / "robots" / name).glob("**/*.urdf"))
    if not found:
        pytest.skip(f"{name} is not installed")
    return found[0]


@pytest.mark.parametrize("name", ROBOTS)
def test_every_mesh_is_shown(name: str) -> None:
    problems = Diagnostics()
    scene = open_files([description(name)], Opening(options=RobotOptions(package_paths=(str(SHARE),))), problems)
    assert [str(item) for item in problems if item.code == "unshown-mesh"] == []
    parts = scene.actors[0].surfaces
    assert sum(len(part.surface.faces) for part in parts) > 300
    # Metres: a robot is between a hand and a few men tall.
    extents = np.array([np.ptp(part.surface.vertices, axis=0).max() for part in parts])
    assert 0.02 < extents.max() < 4.0


@pytest.mark.parametrize("name", ["panda_description", "tiago_description", "ur_description"])
def test_meshes_stand_where_pinocchio_puts_them(name: str) -> None:
    path = description(name)
    scene = open_files([path], Opening(options=RobotOptions(package_paths=(str(SHARE),))), Diagnostics())
    actor, stance = scene.actors[0], next(iter(scene.moments[0].stances.values()))
    model = pin.buildModelFromUrdf(str(path))
    visuals = pin.buildGeomFromUrdf(model, str(path), pin.GeometryType.VISUAL, [str(SHARE)])
    data, placed = model.createData(), visuals.createData()
    q = pin.neutral(model)
    for joint in actor.kinematics.space.joints:
        index = model.joints[model.getJointId(joint.name)]
        value = stance.q[actor.kinematics.space.positions_of(joint)][0]
        q[index.idx_q : index.idx_q + index.nq] = [value] if index.nq == 1 else [np.cos(value), np.sin(value)]
    pin.updateGeometryPlacements(model, data, visuals, placed, q)
    expected: dict[str, list[np.ndarray]] = {}
    for shape, pose in zip(visuals.geometryObjects, placed.oMg, strict=True):
        expected.setdefault(model.frames[shape.parentFrame].name, []).append(pose.homogeneous)
    poses = link_poses(actor, stance)
    checked = 0
    for link in actor.model.links:
        ours = [poses[link.index] @ part.T_link_surface for part in actor.surfaces if part.link == link.index]
        if link.urdf.visuals:
            np.testing.assert_allclose(ours, expected[link.name], atol=1e-6)
            checked += len(ours)
    assert checked > 5


def test_a_mesh_whose_materials_lead_nowhere_is_shown_without_them() -> None:
    path = SHARE / "example-robot-data/robots/anymal_b_simple_description/meshes/foot/anymal_foot.dae"
    if not path.is_file():
        pytest.skip("the robot is not installed")
    surface = mesh_surface(path)
    # As many as its three lists of triangles say.
    assert len(surface.faces) == 81 + 4484 + 39
    assert 0.02 < np.ptp(surface.vertices, axis=0).max() < 0.5
