# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Poses of all links of a robot: from its place in a world state, and as a table or JSON."""

from __future__ import annotations

import argparse
import shutil
import sys
from typing import NamedTuple

import numpy as np

from robot_semantics.base.errors import RobotSemanticsError
from robot_semantics.base.names import shown
from robot_semantics.cli.frame import inputs
from robot_semantics.cli.frame.printing import print_line, print_result
from robot_semantics.kinematics.forward import kinematics_of
from robot_semantics.model.robot_model import RobotModel
from robot_semantics.transforms import matrix_from_pose, xyz_quat_from_matrix
from robot_semantics.transforms.arrays import FloatArray
from robot_semantics.usdf.apply import Base, apply_model_state, resolve_with
from robot_semantics.usdf.descriptions import FileFinder, RobotSources, robots_for
from robot_semantics.usdf.world_state import WORLD, WorldState

_NUMBERS_WIDTH = 75
"""Characters of the numbers of a pose in a line."""


class LinkPoses(NamedTuple):
    """Poses of all links of a robot.

    Attributes:
        frame: reference frame of the poses; None for the root link.
        T_frame_link: the poses, shape (n, 4, 4).
    """

    frame: str | None
    T_frame_link: FloatArray


def links_in_world(state: WorldState, name: str, model: RobotModel, find: FileFinder | None = None) -> LinkPoses:
    """Return the poses of the links of a robot that is the model `name` of a world state.

    `find` finds the files of other robots, which can be the parent. Values that the robot cannot have go to stderr.

    Raises:
        RobotSemanticsError: the state does not fit the robot.
    """
    kinematics, base = kinematics_of(model), Base.of(model)
    # The parent of the robot may be another robot in the world.
    others = robots_for(state, RobotSources(find=find)) if any(body.parent_link for body in state.bodies) else {}
    world = resolve_with(state, robots={**others, name: model})
    applied = apply_model_state(state.model(name), world, model, base=base)
    inputs.print_report(applied.items, applied.notes, refused=bool(applied.refused))
    if applied.refused:
        raise RobotSemanticsError("the robot cannot have the positions of the world state")
    T_root_link = kinematics.measured.link_poses(applied.positions)
    if applied.base_xyz_quat is None:
        return LinkPoses(None, T_root_link)
    T_world_base = world.pose(world.frame_or_world(base.frame)) @ matrix_from_pose(applied.base_xyz_quat)
    return LinkPoses(WORLD, T_world_base @ T_root_link)


def print_links(arguments: argparse.Namespace, model: RobotModel, poses: LinkPoses) -> None:
    """Print the poses of all links.

    Raises:
        RobotSemanticsError: a pose is too large for 64-bit floats.
    """
    too_far = ~np.isfinite(poses.T_frame_link).all(axis=(1, 2))
    if too_far.any():
        raise RobotSemanticsError(
            f"the pose of link '{model.link_names[too_far.argmax()]}' is too large for 64-bit floats"
        )
    rows = xyz_quat_from_matrix(poses.T_frame_link)
    frame = model.root_link if poses.frame is None else poses.frame
    if arguments.json:
        print_result({"relative_to": frame, "poses": dict(zip(model.link_names, rows.tolist(), strict=True))})
        return
    # A pose of -1e-18 m is 0.
    rows = np.round(rows, 6) + 0.0
    names = [*map(shown, model.link_names)]
    width = max(map(len, names))
    if sys.stdout.isatty() and width + _NUMBERS_WIDTH > shutil.get_terminal_size().columns:
        print_line(f"poses in {shown(frame)}")
        for name, pose in zip(names, rows.tolist(), strict=True):
            print_line(name)
            print_line(f"  x y z: {' '.join(['%.6f'] * 3) % tuple(pose[:3])}")
            print_line(f"  qx qy qz qw: {' '.join(['%.6f'] * 4) % tuple(pose[3:])}")
        return
    header = f"{'x':>10} {'y':>10} {'z':>10}  {'qx':>9} {'qy':>9} {'qz':>9} {'qw':>9}   (in {shown(frame)})"
    print_line(f"{'link':<{width}}  {header}")
    numbers = f"  {' '.join(['%10.6f'] * 3)}  {' '.join(['%9.6f'] * 4)}"
    for name, row in zip(names, rows, strict=True):
        print_line(f"{name:<{width}}{numbers % tuple(row.tolist())}")
