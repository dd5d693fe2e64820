# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""`robot_semantics show`: show a robot's tree of links and joints, and its SRDF content."""

from __future__ import annotations

import argparse
import dataclasses
import math
from pathlib import Path
from typing import Any

from rich.text import Text
from rich.tree import Tree

from robot_semantics.base.json_value import JsonObject
from robot_semantics.base.names import shown
from robot_semantics.cli.frame import inputs
from robot_semantics.cli.frame.argument_values import output_file
from robot_semantics.cli.frame.command import Command, UsageError
from robot_semantics.cli.frame.console import Table, console_for_output, empty_table
from robot_semantics.cli.frame.outputs import add_output, write_files
from robot_semantics.cli.frame.printing import add_json_argument, print_line, print_output, print_result
from robot_semantics.kinematics.joint_orders import (
    ORDERS,
    Component,
    free_position,
    free_velocity,
    has_free_base,
    joint_order,
    ordered_joints,
    permutation,
    position_components,
    velocity_components,
)
from robot_semantics.model.joint_types import JointType
from robot_semantics.model.queries import end_effectors_of, pair_status
from robot_semantics.model.robot_model import JointModel, RobotModel

# `robot_semantics show --order` and `--map`: which number is which joint in other programs.


def show_order(model: RobotModel, name: str, *, as_json: bool) -> None:
    """Print the joints of a robot in the order of a program, with their places in its state vectors."""
    value = order_as_json(model, name)
    if as_json:
        print_result(value)
        return
    order = joint_order(name)
    rows = empty_table("number", "joint", "type", "positions", "velocities", "unit")
    at_q, at_v = (7, 6) if value["base"]["in_vector"] else (0, 0)
    for number, joint in enumerate(ordered_joints(model, order)):
        q, v = position_components(joint, order), velocity_components(joint, order)
        units = " ".join(dict.fromkeys(part.unit for part in q))
        rows.add_row(str(number), shown(joint.name), joint.type.value, _range(at_q, q), _range(at_v, v), units)
        at_q, at_v = at_q + len(q), at_v + len(v)
    console_for_output().print(rows)
    print_line(f"order: {value['rule']}")
    base = value["base"]
    where = "in front of the joints" if base["in_vector"] else "not in the vectors"
    print_line(f"base: {where}; {' '.join(base['position'])}; {' '.join(base['velocity'])}")
    print_line(f"base velocity: linear in the axes of the {base['linear_axes']}, angular of the {base['angular_axes']}")
    for joint_name in value["unsupported"]:
        print_line(f"joint '{joint_name}': the URDF reader of {name} does not have its type")
    if not order.tested:
        print_line(f"source: documentation and reports of users; {name} was not run")


def _range(start: int, parts: list[Component]) -> str:
    return str(start) if len(parts) == 1 else f"{start}-{start + len(parts) - 1}"


def order_as_json(model: RobotModel, name: str) -> dict[str, Any]:
    """Return the joints of a robot in the order of a program as JSON-ready values."""
    order = joint_order(name)
    joints = ordered_joints(model, order)
    free = order.base_in_vector and has_free_base(model)
    parts: tuple[JointModel, ...] = (model.root_joint, *joints) if free else joints
    siblings = "by name" if order.by_name else "as in the file"
    return {
        "order": name,
        "rule": "as in the file" if order.walk == "document" else f"{order.walk}, children of one link {siblings}",
        "tested": order.tested,
        "quaternion": order.quaternion,
        "base": {
            "in_vector": free,
            "position": [part.name for part in free_position("", order)],
            "velocity": [part.name for part in free_velocity("", order)],
            "linear_axes": "base" if order.linear_in_child else "world",
            "angular_axes": "base" if order.angular_in_child else "world",
        },
        "joints": [joint.name for joint in joints],
        "unsupported": [joint.name for joint in joints if joint.type in order.missing],
        "positions": [part._asdict() for joint in parts for part in position_components(joint, order)],
        "velocities": [part._asdict() for joint in parts for part in velocity_components(joint, order)],
    }


def show_map(model: RobotModel, source: str, target: str, *, as_json: bool) -> None:
    """Print the indices that convert a list of joint values from the order of one program to the order of another."""
    numbers = permutation(model, joint_order(source), joint_order(target))
    joints = [joint.name for joint in ordered_joints(model, joint_order(target))]
    if as_json:
        print_result({"from": source, "to": target, "joints": joints, "permutation": numbers})
        return
    rows = empty_table(target, "joint", source)
    for at, (name, number) in enumerate(zip(joints, numbers, strict=True)):
        rows.add_row(str(at), shown(name), str(number))
    console_for_output().print(rows)
    print_line(
        f"values in the order of {target} = [values[i] for i in {numbers}], with values in the order of {source}"
    )


DEEPEST = 32
"""Largest depth of a printed tree; deeper trees are unreadable, and the text of a chain would grow quadratically."""

_STYLE = {
    JointType.FIXED: "dim",
    JointType.REVOLUTE: "cyan",
    JointType.CONTINUOUS: "bright_cyan",
    JointType.PRISMATIC: "green",
    JointType.PLANAR: "magenta",
    JointType.FLOATING: "bright_magenta",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    inputs.add_robot_arguments(parser, live=True)
    add_json_argument(parser)
    parser.add_argument("--pair", nargs=2, metavar=("LINK1", "LINK2"), help="collision status of a pair of links")
    parser.add_argument("--end-effectors", action="store_true", help="end effectors, their groups and parents")
    parser.add_argument("--passive-joints", action="store_true", help="passive joints")
    parser.add_argument("--order", choices=ORDERS, metavar="ORDER", help="joint numbers of another program")
    parser.add_argument(
        "--map", nargs=2, choices=ORDERS, metavar=("FROM", "TO"), help="permutation between two joint orders"
    )
    add_output(
        parser, "--svg", metavar="OUT.svg", type=output_file(".svg"), help="draw links, joints and groups as SVG"
    )


PARTS = ("pair", "end_effectors", "passive_joints", "order", "map", "svg")
"""Options that replace the whole robot by one part or form of it."""


def run(arguments: argparse.Namespace) -> None:
    """Print the robot, or one part of it."""
    parts = [f"--{part.replace('_', '-')}" for part in PARTS if getattr(arguments, part)]
    if len(parts) > 1:
        raise UsageError(f"{' and '.join(parts)} exclude each other")
    model = inputs.load(arguments)
    if arguments.pair:
        _print_pair(arguments, model)
        return
    if arguments.end_effectors:
        effectors = end_effectors_of(model)
        lines = (
            f"{item.name}: group {item.group} on link {item.parent_link} of {item.parent_group or 'no group'}"
            for item in effectors
        )
        print_output(arguments, {"end_effectors": [*map(dataclasses.asdict, effectors)]}, lines)
        return
    if arguments.passive_joints:
        names = model.semantics.passive_joints
        print_output(arguments, {"passive_joints": list(names)}, names)
        return
    if arguments.order or arguments.map:
        if arguments.order:
            show_order(model, arguments.order, as_json=arguments.json)
        else:
            show_map(model, *arguments.map, as_json=arguments.json)
        return
    if arguments.json:
        print_result(robot_json(model))
        return
    if arguments.svg:
        # Import here what only this option needs.
        from robot_semantics.viewer.graph import svg_graph

        write_files(arguments, {Path(arguments.svg): svg_graph(model).encode()})
        return
    console = console_for_output()
    for tree in _trees(model):
        console.print(tree)
    for part in _tables(model):
        if part.row_count:
            console.print()
            console.print(part)


def _print_pair(arguments: argparse.Namespace, model: RobotModel) -> None:
    """Print whether the SRDF leaves a pair of links to be checked, and the reason; nothing is sampled."""
    status = pair_status(model, *arguments.pair)
    reason = f" (reason: {status.reason})" if status.reason else ""
    words = "checked" if status.checked else f"not checked: {status.cause.value}{reason}"
    links = {"link1": status.pair.first, "link2": status.pair.second}
    value = {**links, "checked": status.checked, "cause": status.cause.name.lower(), "reason": status.reason}
    print_output(arguments, value, [words])


def robot_json(model: RobotModel) -> JsonObject:
    """Return the robot as JSON-ready values; a limit that is not in the description is null."""
    semantics = model.semantics
    return {
        "name": model.name,
        "root_link": model.root_link,
        "links": list(model.link_names),
        "joints": [_joint_json(joint) for joint in model.joints if joint.urdf is not None],
        "virtual_joints": [dataclasses.asdict(joint) for joint in semantics.virtual_joints],
        "groups": {name: group.as_dict() for name, group in semantics.groups.items()},
        "states": [
            {"group": state.group, "name": state.name, "joints": {joint: list(v) for joint, v in state.joints.items()}}
            for state in semantics.states.values()
        ],
        "end_effectors": [dataclasses.asdict(end_effector) for end_effector in semantics.end_effectors.values()],
        "passive_joints": list(semantics.passive_joints),
        "disabled_collisions": [
            {"link1": pair.first, "link2": pair.second, "reason": reason}
            for pair, reason in semantics.disabled_collisions.items()
        ],
    }


def _joint_json(joint: JointModel) -> JsonObject:
    limits = dataclasses.asdict(joint.limits)
    return {
        "name": joint.name,
        "type": joint.type.value,
        "parent": joint.parent_link,
        "child": joint.child_link,
        "axis": joint.axis.tolist(),
        "T_parent_joint": joint.T_parent_joint.tolist(),
        "bounds": [value if math.isfinite(value) else None for value in joint.limits.bounds],
        "limits": {key: value if math.isfinite(value) else None for key, value in limits.items()},
        "mimic": dataclasses.asdict(joint.mimic) if joint.mimic else None,
        "passive": joint.passive,
        "variables": list(joint.variable_names),
    }


def _trees(model: RobotModel) -> list[Tree]:
    """Return the robot as a tree; deeper parts than `DEEPEST` become separate trees, in order."""
    moving = sum(joint.is_active for joint in model.joints if joint.urdf is not None)
    counts = f"  {len(model.links)} links, {len(model.joints) - 1} joints, {moving} of them active"
    trees = [Tree(Text.assemble((shown(model.name), "bold"), counts))]
    nodes: dict[int, Tree] = {-1: trees[0]}
    depths = {-1: -1}
    # Links are depth first, so a parent's node exists before its children's nodes.
    for link, joint in zip(model.links, model.joints, strict=True):
        depths[link.index] = depths[link.parent] + 1
        if depths[link.index] % DEEPEST == 0 and link.parent >= 0:
            trees.append(Tree(Text.assemble((shown(model.links[link.parent].name), "bold"), " goes on")))
            nodes[link.index] = trees[-1].add(_joint_text(joint, link.name))
        else:
            nodes[link.index] = nodes[link.parent].add(_joint_text(joint, link.name))
    return trees


def _joint_text(joint: JointModel, link: str) -> Text:
    if joint.virtual and not joint.parent_link:
        return Text(shown(link), style="bold")
    text = Text.assemble((shown(link), "bold"), "  ", (f"{shown(joint.name)} ({joint.type.value})", _STYLE[joint.type]))
    if joint.virtual:
        text.append(f"  virtual, from {shown(joint.parent_link)}", style="yellow")
    if joint.motion.limited:
        low, high = joint.limits.bounds
        text.append(f"  [{joint.limits.lower:g}, {joint.limits.upper:g}]", style="dim")
        if (low, high) != (joint.limits.lower, joint.limits.upper):
            text.append(f" soft [{low:g}, {high:g}]", style="dim")
    if joint.mimic:
        text.append(
            f"  = {joint.mimic.multiplier:g} * {shown(joint.mimic.joint)} {joint.mimic.offset:+g}", style="yellow"
        )
    if joint.passive:
        text.append("  passive", style="yellow")
    return text


def _tables(model: RobotModel) -> list[Table]:
    semantics = model.semantics
    groups = empty_table("group", "chain", "joints", "sub-groups")
    for group in semantics.groups.values():
        chain = f"{shown(group.base_link)} → {shown(group.tip_link)}" if group.is_chain else "no"
        groups.add_row(
            shown(group.name),
            chain,
            f"{len(group.joints)} ({len(group.active_joints)} active)",
            ", ".join(map(shown, group.subgroups)),
        )
    states = empty_table("state", "values")
    for state in semantics.states.values():
        values = ", ".join(f"{shown(joint)}={' '.join(f'{v:g}' for v in vs)}" for joint, vs in state.joints.items())
        states.add_row(f"{shown(state.group)}/{shown(state.name)}", values)
    end_effectors = empty_table("end effector", "group", "parent link", "parent group")
    for item in semantics.end_effectors.values():
        end_effectors.add_row(*map(shown, (item.name, item.group, item.parent_link, item.parent_group)))
    pairs = empty_table("collision pairs not checked", "reason")
    reasons: dict[str, int] = {}
    for reason in semantics.disabled_collisions.values():
        reasons[reason or "(none given)"] = reasons.get(reason or "(none given)", 0) + 1
    for reason, count in sorted(reasons.items()):
        pairs.add_row(str(count), shown(reason))
    return [groups, states, end_effectors, pairs]


COMMAND = Command(
    add_arguments,
    run,
    examples=(
        "robot_semantics show robot.urdf robot.srdf",
        "robot_semantics show robot.urdf robot.srdf --pair palm_link base_link",
        "robot_semantics show robot.urdf robot.srdf --svg robot.svg",
        "robot_semantics show robot.urdf robot.srdf --order mujoco",
    ),
)
