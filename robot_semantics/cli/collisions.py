"""`robot_semantics collisions`: make, audit and compare self-collision matrices."""

from __future__ import annotations

import argparse
from types import ModuleType

from robot_semantics.cli import collisions_check, collisions_diff, collisions_generate, collisions_witness

ACTIONS: dict[str, tuple[ModuleType, str]] = {
    "generate": (collisions_generate, "sample a robot's configurations and write the pairs that need no checking"),
    "check": (collisions_check, "audit the pairs of an SRDF: those that collide all the same, and more"),
    "witness": (collisions_witness, "find a configuration in which two links collide"),
    "diff": (collisions_diff, "compare the pairs of two SRDFs"),
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    for name, (module, summary) in ACTIONS.items():
        module.add_arguments(actions.add_parser(name, help=summary, description=summary))


def run(arguments: argparse.Namespace) -> int:
    """Run the action."""
    code: int = ACTIONS[arguments.action][0].run(arguments)
    return code
