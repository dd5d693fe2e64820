# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Commands that answer one question about a robot: `groups`, `states`, `expand`."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from lxml import etree

from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.base.files import declared_utf8
from robot_semantics.cli.frame import inputs
from robot_semantics.cli.frame.argument_values import add_joint_option, number_in_range
from robot_semantics.cli.frame.command import Command, UsageError
from robot_semantics.cli.frame.console import console_for_output, empty_table
from robot_semantics.cli.frame.printing import (
    add_json_argument,
    print_document,
    print_note,
    print_output,
    print_result,
)
from robot_semantics.model.loading import robot_from_text
from robot_semantics.model.queries import (
    groups_with_joint,
    groups_with_link,
    matching_states,
    states_of,
)
from robot_semantics.model.robot_model import RobotModel
from robot_semantics.model.semantics import Group, NamedState
from robot_semantics.xml.document import has_macros, report_unused_arguments
from robot_semantics.xml.document_kind import DocumentKind, document_kind
from robot_semantics.xml.xacro import ExpandedPlaces, read_expanded


def add_groups_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    inputs.add_robot_arguments(parser, srdf_needed=True, live=True)
    parser.add_argument("name", metavar="GROUP", nargs="?", help="show this group with everything derived")
    search = parser.add_mutually_exclusive_group()
    search.add_argument("--link", metavar="LINK", help="groups that have this link")
    search.add_argument("--joint", metavar="JOINT", help="groups that have this joint")
    add_json_argument(parser)


def run_groups(arguments: argparse.Namespace) -> None:
    """Print the groups, one group, or the groups that have a link or joint."""
    is_search = arguments.link is not None or arguments.joint is not None
    if arguments.name is not None and is_search:
        raise UsageError("give GROUP, --link or --joint")
    model = inputs.load(arguments)
    if arguments.name is not None:
        _show_group(arguments, model.semantics.group(arguments.name))
    elif is_search:
        by_link = arguments.link is not None
        names = (
            groups_with_link(model, arguments.link) if by_link else groups_with_joint(model, _joint(arguments, model))
        )
        print_output(arguments, {"groups": list(names)}, names)
    else:
        _list_groups(arguments, model)


def _joint(arguments: argparse.Namespace, model: RobotModel) -> str:
    """Return the joint of ``--joint``: its name, one of its variables, or ``MODEL/`` and one of these."""
    name: str = arguments.joint
    if "/" not in name:
        return name
    # Import here: few names need it.
    from robot_semantics.cli.frame.joint_arguments import read_joint

    return read_joint(name, {model.name: {joint.name: joint.variable_names for joint in model.joints}}).joint


def _list_groups(arguments: argparse.Namespace, model: RobotModel) -> None:
    groups = model.semantics.groups
    if arguments.json:
        print_result({"groups": list(groups)})
        return
    group_table = empty_table("group", "joints", "active", "states", "chain")
    for group in groups.values():
        chain = f"{group.base_link} .. {group.tip_link}" if group.is_chain else ""
        counts = (len(group.joints), len(group.active_joints), len(group.states))
        group_table.add_row(group.name, *map(str, counts), chain)
    console_for_output().print(group_table)


def _show_group(arguments: argparse.Namespace, group: Group) -> None:
    members = {name: value for name, value in group.as_dict().items() if name != "name"}
    if arguments.json:
        print_result(members)
        return
    members_table = empty_table(title=f"group {group.name}")
    for name, value in members.items():
        if isinstance(value, tuple):
            # One name per line.
            cell: str | Sequence[str] = value
        else:
            cell = {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value or "")
        members_table.add_row(name.replace("_", " "), cell or "-")
    console_for_output().print(members_table)


GROUPS = Command(
    add_groups_arguments,
    run_groups,
    examples=(
        "robot_semantics groups robot.urdf robot.srdf",
        "robot_semantics groups robot.urdf robot.srdf arm --json",
        "robot_semantics groups robot.urdf robot.srdf --link palm_link",
    ),
)


# `robot_semantics states`: show the named states of a robot's groups, and the states that match given positions.


TOLERANCE = 1e-3
"""Default tolerance for a joint to match a state [rad or m]."""


def add_states_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    inputs.add_robot_arguments(parser, srdf_needed=True, live=True)
    parser.add_argument("group", metavar="GROUP[/STATE]", nargs="?", help="group, or one state")
    parser.add_argument("--fill", action="store_true", help="add default positions of joints without value")
    add_joint_option(parser, "find states with this position [rad, m]")
    parser.add_argument(
        "--tolerance",
        type=number_in_range(0.0),
        default=TOLERANCE,
        help="largest difference of a joint [rad, m] (%(default)s)",
    )
    add_json_argument(parser)


def show_states(arguments: argparse.Namespace) -> None:
    """Print the states, or those that match."""
    # The other commands of this module need no arrays, whose import takes longer than all their work.
    from robot_semantics.kinematics.joint_space import JointSpace, MissingJoints, with_state

    model = inputs.load(arguments)
    if arguments.joint:
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
    from robot_semantics.cli.frame.joint_arguments import positions_by_variable
    from robot_semantics.kinematics.joint_space import JointSpace

    space = JointSpace.of(model)
    positions = space.completed(positions_by_variable(arguments.joint, model.name, space))
    groups = [arguments.group] if arguments.group is not None else list(model.semantics.groups)
    states_by_group = {group: matching_states(model, group, positions, arguments.tolerance) for group in groups}
    rows = {
        group: [{"state": match.state, "difference": match.difference, "joint": match.joint} for match in matches]
        for group, matches in states_by_group.items()
    }
    lines = (
        f"{group}/{match.state}  within {match.difference:.3g} ({match.joint})"
        for group, matches in states_by_group.items()
        for match in matches
    )
    print_output(arguments, {"matches": rows}, lines)


STATES = Command(
    add_states_arguments,
    show_states,
    examples=(
        "robot_semantics states robot.urdf robot.srdf arm",
        "robot_semantics states robot.urdf robot.srdf gripper --joint left_finger_joint=0.04",
    ),
)


# `robot_semantics expand`: print a plain description unchanged, an xacro file expanded.


def add_expand_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the file argument; xacro arguments are given as ``name:=value`` anywhere on the line."""
    parser.add_argument("file", metavar="FILE", help="URDF or SRDF, plain or xacro")
    inputs.add_package_argument(parser)
    inputs.add_reading_arguments(parser)


def expand(arguments: argparse.Namespace) -> None:
    """Print the text, ending with a newline."""
    path = Path(arguments.file)
    document = read_expanded(path, inputs.xacro_of(arguments), inputs.package_finder(arguments, path))
    diagnostics = Diagnostics()
    report_unused_arguments(document, diagnostics)
    inputs.print_diagnostics(diagnostics)
    text = document.places.text.decode()
    if isinstance(document.places, ExpandedPlaces):
        # xacro writes everything in one line, but messages about the text name lines.
        etree.indent(document.root)
        text = etree.tostring(document.root.getroottree(), encoding="unicode", pretty_print=True)
    elif has_macros(document):
        print_note(f"note: {path} has macros, but is not called .xacro: --xacro carries them out")
    if arguments.implicit_links and document_kind(document.root, str(path)) is DocumentKind.URDF:
        # Most other readers do not accept links without `<link>`, so write them.
        text = robot_from_text(text, strict=False, implicit_links=True, urdf_source=str(path)).urdf_text
    print_document(declared_utf8(text if text.endswith("\n") else f"{text}\n"))


EXPAND = Command(add_expand_arguments, expand, examples=("robot_semantics expand robot.urdf",))
