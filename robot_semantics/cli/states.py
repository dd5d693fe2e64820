# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""`robot_semantics states`: show the named states of a robot's groups, and the states that match given positions."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping

from robot_semantics.cli.frame import inputs
from robot_semantics.cli.frame.argument_values import number_in_range, numbers_by_name
from robot_semantics.cli.frame.command import Command
from robot_semantics.cli.frame.printing import add_json_argument, print_output
from robot_semantics.kinematics.joint_space import JointSpace
from robot_semantics.kinematics.named_states import MissingJoints, with_state
from robot_semantics.model.queries import matching_states, states_of
from robot_semantics.model.robot_model import RobotModel
from robot_semantics.model.semantics import NamedState

TOLERANCE = 1e-3
"""Default tolerance for a joint to match a state [rad or m]."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    inputs.add_robot_arguments(parser, srdf_needed=True, live=True)
    parser.add_argument("group", metavar="GROUP[/STATE]", nargs="?", help="group, or one state")
    parser.add_argument("--fill", action="store_true", help="add default positions of joints without value")
    parser.add_argument(
        "--positions",
        nargs="+",
        action="extend",
        metavar="NAME=VALUE",
        help="find states with these positions [rad, m]",
    )
    parser.add_argument(
        "--tolerance",
        type=number_in_range(0.0),
        default=TOLERANCE,
        help="largest difference of a joint [rad, m] (%(default)s)",
    )
    add_json_argument(parser)


def run(arguments: argparse.Namespace) -> None:
    """Print the states, or those that match."""
    model = inputs.load(arguments)
    if arguments.positions is not None:
        _print_matches(arguments, model)
        return
    space = JointSpace.of(model)
    table: dict[str, dict[str, dict[str, list[float]]]] = {}
    for state in _asked_for(model, arguments.group):
        values = state.positions
        if arguments.fill:
            q = with_state(space, state.group, state.name, missing=MissingJoints.DEFAULT)
            members = model.semantics.group(state.group).joints
            values = {
                joint: tuple(q[where].tolist())
                for joint, where in space.joint_positions.items()
                if joint in members or joint in values
            }
        table.setdefault(state.group, {})[state.name] = {joint: list(numbers) for joint, numbers in values.items()}
    print_output(arguments, {"states": table}, _lines(table))


def _lines(table: Mapping[str, Mapping[str, Mapping[str, list[float]]]]) -> Iterator[str]:
    for group, states in table.items():
        for name, by_joint in states.items():
            yield f"{group}/{name}"
            for joint, given in by_joint.items():
                yield f"  {joint}  {' '.join(f'{value:g}' for value in given)}"


def _asked_for(model: RobotModel, word: str | None) -> tuple[NamedState, ...]:
    """Return the states for GROUP or GROUP/STATE, or all states; names may contain slashes."""
    if word is None or word in model.semantics.groups:
        return states_of(model, word)
    return (model.semantics.state_from_path(word),) if "/" in word else states_of(model, word)


def _print_matches(arguments: argparse.Namespace, model: RobotModel) -> None:
    space = JointSpace.of(model)
    positions = space.completed(numbers_by_name(arguments.positions, space.names))
    groups = [arguments.group] if arguments.group is not None else list(model.semantics.groups)
    found = {group: matching_states(model, group, positions, arguments.tolerance) for group in groups}
    rows = {
        group: [{"state": match.state, "difference": match.difference, "joint": match.joint} for match in matches]
        for group, matches in found.items()
    }
    lines = (
        f"{group}/{match.state}  within {match.difference:.3g} ({match.joint})"
        for group, matches in found.items()
        for match in matches
    )
    print_output(arguments, {"matches": rows}, lines)


COMMAND = Command(
    add_arguments,
    run,
    examples=(
        "robot_semantics states robot.urdf robot.srdf arm",
        "robot_semantics states robot.urdf robot.srdf gripper --positions left_finger_joint=0.04",
    ),
)
