"""`robot_semantics groups`: every group of a robot, one line each."""

from __future__ import annotations

import argparse

from robot_semantics.cli import inputs


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    inputs.add_robot_arguments(parser, srdf_positional=True)
    inputs.add_json_argument(parser)


def run(arguments: argparse.Namespace) -> int:
    """Print the groups."""
    groups = inputs.load(arguments).semantics.groups
    if arguments.json:
        inputs.print_json(list(groups))
        return 0
    rows = [("GROUP", "JOINTS", "ACTIVE", "STATES", "CHAIN")]
    for group in groups.values():
        chain = f"{group.base_link} .. {group.tip_link}" if group.is_chain else ""
        joints, active, states = (str(len(names)) for names in (group.joints, group.active_joints, group.states))
        rows.append((group.name, joints, active, states, chain))
    width = max(len(row[0]) for row in rows)
    for name, joints, active, states, chain in rows:
        print(f"{name:<{width}}  {joints:>6}  {active:>6}  {states:>6}  {chain}".rstrip())
    return 0
