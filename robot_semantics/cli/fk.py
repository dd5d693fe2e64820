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

from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.cli.frame import inputs
from robot_semantics.cli.frame.argument_values import add_joint_option
from robot_semantics.cli.frame.command import Command, UsageError
from robot_semantics.cli.frame.joint_arguments import (
    STATE_FORM,
    named_state,
    positions_by_variable,
    state_word,
)
from robot_semantics.cli.frame.node_inputs import AskedNode, asked_node, world_of_node
from robot_semantics.cli.frame.printing import add_json_argument
from robot_semantics.cli.usdf.links import LinkPoses, links_in_world, print_links
from robot_semantics.kinematics.forward import kinematics_of
from robot_semantics.kinematics.joint_space import with_state
from robot_semantics.model.robot_model import RobotModel
from robot_semantics.usdf.world_state import WORLD


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    inputs.add_robot_arguments(parser, live=True)
    add_joint_option(parser, "position of a joint or variable [rad, m]")
    parser.add_argument("--state", metavar=STATE_FORM, type=state_word, help="named state of the SRDF")
    parser.add_argument("--model", metavar="NAME", help="with --node: model of its world")
    add_json_argument(parser)


def run(arguments: argparse.Namespace) -> None:
    """Compute and print the pose of every link: in the root link or, if the robot has a pose, in its frame."""
    node = asked_node(arguments)
    if arguments.model is not None and node is None:
        raise UsageError("--model needs --node")
    model = inputs.load(arguments)
    is_live = node is not None and not (arguments.joint or arguments.state)
    poses = _in_world_of(node, model, arguments) if node and is_live else _from_positions(model, arguments)
    print_links(arguments, model, poses)


def _from_positions(model: RobotModel, arguments: argparse.Namespace) -> LinkPoses:
    """Return the poses for joint positions; in the virtual joint's parent frame if its values are given."""
    kinematics = kinematics_of(model)
    space, root = kinematics.space, model.root_joint
    state = named_state(arguments.state, {model.name: model})[1] if arguments.state else None
    q = space.neutral() if state is None else with_state(space, state.group, state.name)
    says_where = state is not None and root.name in state.positions
    values = positions_by_variable(arguments.joint, model.name, space)
    q = space.pack(values, q)
    if model.constraints:
        # Import here: few robots have loops.
        from robot_semantics.kinematics.loops import close_loops

        given = {name for joint in state.positions for name in model.joint(joint).variable_names} if state else set()
        q = close_loops(kinematics.loops, q, given | values.keys())
    with np.errstate(over="ignore", invalid="ignore"):
        T_root_link = kinematics.link_poses(q)
        if not says_where and values.keys().isdisjoint(root.variable_names):
            return LinkPoses(None, T_root_link)
        return LinkPoses(root.parent_link or WORLD, kinematics.T_parent_root(q) @ T_root_link)


def _in_world_of(node: AskedNode, model: RobotModel, arguments: argparse.Namespace) -> LinkPoses:
    """Return the poses of a robot in the world of a running node.

    Raises:
        UsageError: several models can be this robot.
        RobotSemanticsError: the state does not fit the robot.
    """
    # Import here: most uses need no state.
    from robot_semantics.usdf.descriptions import RobotSources, robots_for

    state, diagnostics = world_of_node(node), Diagnostics()
    names = [arguments.model]
    if arguments.model is None:
        names = list(robots_for(state, RobotSources((model,)), diagnostics=diagnostics))
        diagnostics.raise_if_failed()
    if len(names) != 1:
        raise UsageError(f"--model: {len(names)} models of the running node can be this robot: choose one")
    return links_in_world(state, names[0], model)


COMMAND = Command(
    add_arguments,
    run,
    examples=(
        "robot_semantics fk robot.urdf robot.srdf --state arm/reach --joint lift_joint=0.1",
        "robot_semantics fk --node",
    ),
)
