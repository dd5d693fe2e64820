# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""`robot_semantics fk`: compute the pose of every link in the root link or, if known, in the frame of the robot."""

from __future__ import annotations

import argparse

import numpy as np

from robot_semantics.base.errors import RobotSemanticsError
from robot_semantics.base.names import shown
from robot_semantics.cli.frame import inputs
from robot_semantics.cli.frame.argument_values import named_state, numbers_by_name
from robot_semantics.cli.frame.command import Command, UsageError
from robot_semantics.cli.frame.node_inputs import world_of_node
from robot_semantics.cli.frame.printing import add_json_argument, print_line, print_result
from robot_semantics.kinematics.forward import ForwardKinematics
from robot_semantics.kinematics.named_states import with_state
from robot_semantics.model.robot_model import RobotModel
from robot_semantics.transforms import xyz_quat_from_matrix
from robot_semantics.transforms.arrays import FloatArray
from robot_semantics.usdf.world_state import WORLD


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    inputs.add_robot_arguments(parser, live=True)
    parser.add_argument(
        "--positions",
        nargs="+",
        action="extend",
        default=[],
        metavar="NAME=VALUE",
        help="positions by joint or variable [rad, m]",
    )
    parser.add_argument("--state", metavar="GROUP/STATE", help="named state of the SRDF")
    parser.add_argument("--world", metavar="WORLD.usdf", help="take pose and joints from a world state")
    parser.add_argument("--model", metavar="NAME", help="model of the world state")
    add_json_argument(parser)


def run(arguments: argparse.Namespace) -> None:
    """Compute and print the pose of every link: in the root link or, if the robot has a pose, in its frame."""
    if arguments.world is None and arguments.model is not None:
        raise UsageError("--model needs --world")
    if arguments.world is not None and (arguments.positions or arguments.state):
        raise UsageError("--world sets the joint positions: do not use it with --positions or --state")
    model = inputs.load(arguments)
    is_live = arguments.node is not None and not (arguments.positions or arguments.state)
    put = _from_world if arguments.world is not None or is_live else _from_positions
    frame, T_frame_link = put(model, arguments)
    too_far = ~np.isfinite(T_frame_link).all(axis=(1, 2))
    if too_far.any():
        raise RobotSemanticsError(
            f"the pose of link '{model.link_names[too_far.argmax()]}' is too large for 64-bit floats"
        )
    poses = xyz_quat_from_matrix(T_frame_link)
    if arguments.json:
        table = dict(zip(model.link_names, poses.tolist(), strict=True))
        found = {"relative_to": model.root_link if frame is None else frame, "poses": table}
        print_result(found)
        return
    width = max(len(shown(name)) for name in model.link_names)
    frame_name = shown(model.root_link if frame is None else frame)
    header = f"{'x':>10} {'y':>10} {'z':>10}  {'qx':>9} {'qy':>9} {'qz':>9} {'qw':>9}   (in {frame_name})"
    lines = [f"{'link':<{width}}  {header}"]
    numbers = f"  {' '.join(['%10.6f'] * 3)}  {' '.join(['%9.6f'] * 4)}"
    for name, pose in zip(model.link_names, poses.tolist(), strict=True):
        lines.append(f"{shown(name):<{width}}{numbers % tuple(pose)}")
    for line in lines:
        print_line(line)


_Placed = tuple[str | None, FloatArray]
"""The reference frame of the poses (None for the root link), and the (n, 4, 4) poses of the links."""


def _from_positions(model: RobotModel, arguments: argparse.Namespace) -> _Placed:
    """Return the poses for joint positions; in the virtual joint's parent frame if its values are given."""
    kinematics = ForwardKinematics(model)
    space, root = kinematics.space, model.root_joint
    state = named_state(model.semantics, arguments.state, "--state") if arguments.state else None
    q = space.neutral() if state is None else with_state(space, state.group, state.name)
    says_where = state is not None and root.name in state.positions
    values = numbers_by_name(arguments.positions, space.index)
    q = space.pack(values, q)
    if model.constraints:
        # Import here: few robots have loops.
        from robot_semantics.kinematics.loops import close_loops

        given = {name for joint in state.positions for name in model.joint(joint).variable_names} if state else set()
        q = close_loops(kinematics.loops, q, given | values.keys())
    with np.errstate(over="ignore", invalid="ignore"):
        T_root_link = kinematics.link_poses(q)
        if not says_where and values.keys().isdisjoint(root.variable_names):
            return None, T_root_link
        return root.parent_link or WORLD, kinematics.T_parent_root(q) @ T_root_link


def _from_world(model: RobotModel, arguments: argparse.Namespace) -> _Placed:
    """Return the poses of a robot in a world state.

    Raises:
        RobotSemanticsError: the state does not fit the robot.
    """
    # Import here: most uses need no state.
    from robot_semantics.cli.usdf.files import WorldFile, file_finder, located_problems, read_world_files
    from robot_semantics.transforms import matrix_from_pose
    from robot_semantics.usdf.apply import Base, apply_model_state, resolve_with
    from robot_semantics.usdf.descriptions import RobotFiles, robots_for

    files: list[WorldFile] = []
    if arguments.world is None:
        state, find = world_of_node(arguments.node), None
    else:
        files = read_world_files([arguments.world])
        state = files[0].state
        find = file_finder(arguments, arguments.world)
    if arguments.model is None:
        with located_problems(files) as diagnostics:
            names = list(robots_for(state, RobotFiles(model), diagnostics=diagnostics))
            diagnostics.raise_if_failed()
        if len(names) != 1:
            source = arguments.world or "the running node"
            raise UsageError(f"--model: {len(names)} models of {source} can be this robot: choose one")
    name = names[0] if arguments.model is None else arguments.model
    kinematics, base = ForwardKinematics(model), Base.of(model)
    # The parent of the robot may be another robot in the world.
    others = robots_for(state, RobotFiles(find=find)) if any(body.parent_link for body in state.bodies) else {}
    world = resolve_with(state, robots={**others, name: kinematics})
    applied = apply_model_state(
        state.model(name),
        world,
        kinematics,
        base=base,
    )
    inputs.print_report(applied.items, applied.notes)
    if applied.refused:
        raise RobotSemanticsError("the robot cannot have the positions of the world state")
    T_root_link = kinematics.measured.link_poses(applied.positions)
    if applied.base_xyz_quat is None:
        return None, T_root_link
    return WORLD, world.pose(world.frame_or_world(base.frame)) @ matrix_from_pose(applied.base_xyz_quat) @ T_root_link


COMMAND = Command(
    add_arguments,
    run,
    examples=(
        "robot_semantics fk robot.urdf robot.srdf --state arm/reach --positions lift_joint=0.1",
        "robot_semantics fk --node",
    ),
)
