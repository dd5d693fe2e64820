# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""`robot_semantics find`: find groups of a link or joint, the status of a pair, end effectors and more."""

from __future__ import annotations

import argparse
import dataclasses

from robot_semantics.base.errors import UnknownNameError
from robot_semantics.cli.frame import inputs
from robot_semantics.cli.frame.command import Command, UsageError
from robot_semantics.cli.frame.printing import add_json_argument, print_output
from robot_semantics.model.queries import end_effectors_of, groups_with_joint, groups_with_link, pair_status
from robot_semantics.model.robot_model import RobotModel


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    inputs.add_robot_arguments(parser, srdf_needed=True, live=True)
    parser.add_argument("name", metavar="LINK|JOINT", nargs="?", help="groups that have this link or joint")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--link", metavar="LINK", help="groups that have this link")
    what.add_argument("--joint", metavar="JOINT", help="groups that have this joint")
    what.add_argument("--pair", nargs=2, metavar=("LINK1", "LINK2"), help="collision status of a pair of links")
    what.add_argument("--end-effectors", action="store_true", help="end effectors, their groups and parents")
    what.add_argument("--passive-joints", action="store_true", help="passive joints")
    add_json_argument(parser)


def run(arguments: argparse.Namespace) -> None:
    """Print the requested result."""
    asked = (arguments.link, arguments.joint, arguments.pair, arguments.end_effectors, arguments.passive_joints)
    if (arguments.name is not None) == any(asked):
        before = "" if arguments.node is None else "; write it before --node"
        raise UsageError(
            f"give exactly one of LINK|JOINT, --link, --joint, --pair, --end-effectors, --passive-joints{before}"
        )
    model = inputs.load(arguments)
    if arguments.pair:
        status = pair_status(model, *arguments.pair)
        reason = f" (reason: {status.reason})" if status.reason else ""
        words = "checked" if status.checked else f"not checked: {status.cause.value}{reason}"
        links = {"link1": status.pair.first, "link2": status.pair.second}
        found = {**links, "checked": status.checked, "cause": status.cause.name.lower(), "reason": status.reason}
        print_output(arguments, found, [words])
    elif arguments.end_effectors:
        effectors = end_effectors_of(model)
        lines = (
            f"{item.name}: group {item.group} on link {item.parent_link} of {item.parent_group or 'no group'}"
            for item in effectors
        )
        print_output(arguments, {"end_effectors": [*map(dataclasses.asdict, effectors)]}, lines)
    else:
        what = "passive_joints" if arguments.passive_joints else "groups"
        names = model.semantics.passive_joints if arguments.passive_joints else _groups(arguments, model)
        print_output(arguments, {what: list(names)}, names)


def _groups(arguments: argparse.Namespace, model: RobotModel) -> tuple[str, ...]:
    if arguments.link is not None:
        return groups_with_link(model, arguments.link)
    if arguments.joint is not None:
        return groups_with_joint(model, arguments.joint)
    found: dict[str, None] = {}
    known = False
    for names, query in ((model.link_index, groups_with_link), (model.joint_index, groups_with_joint)):
        if arguments.name in names:
            known = True
            found.update(dict.fromkeys(query(model, arguments.name)))
    if not known:
        raise UnknownNameError("link or joint", arguments.name, (*model.link_index, *model.joint_index))
    return tuple(sorted(found))


COMMAND = Command(
    add_arguments,
    run,
    examples=(
        "robot_semantics find robot.urdf robot.srdf palm_link",
        "robot_semantics find robot.urdf robot.srdf --pair palm_link base_link",
    ),
)
