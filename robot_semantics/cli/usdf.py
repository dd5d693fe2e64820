"""`robot_semantics usdf`: world states shown, checked, resolved, compared, combined, converted and changed."""

from __future__ import annotations

import argparse
from types import ModuleType
from typing import NamedTuple

from robot_semantics.cli import usdf_combine, usdf_convert, usdf_diff, usdf_edit, usdf_resolve, usdf_views


class Operation(NamedTuple):
    """An operation: the module that has it as ``add_NAME_arguments`` and ``run_NAME``, and its line of ``--help``."""

    module: ModuleType
    summary: str


OPERATIONS: dict[str, Operation] = {
    "check": Operation(usdf_views, "check world states, also against the robots they are about"),
    "show": Operation(usdf_views, "show what a world state says"),
    "resolve": Operation(usdf_resolve, "say where everything is and how it moves, seen from any frame"),
    "diff": Operation(usdf_diff, "compare two world states; exit code 1 where they differ"),
    "merge": Operation(usdf_combine, "put several world states into one"),
    "split": Operation(usdf_combine, "write one world state for each model"),
    "interpolate": Operation(usdf_combine, "make the world state between two others"),
    "convert": Operation(usdf_convert, "convert from and to JSON, SDFormat and MuJoCo keyframes"),
    "edit": Operation(usdf_edit, "set poses, joints or named states; the links follow"),
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the operations."""
    operations = parser.add_subparsers(dest="operation", metavar="OPERATION", required=True)
    for name, operation in OPERATIONS.items():
        sub = operations.add_parser(name, help=operation.summary, description=operation.summary)
        getattr(operation.module, f"add_{name}_arguments")(sub)
        sub.set_defaults(perform=getattr(operation.module, f"run_{name}"))


def run(arguments: argparse.Namespace) -> int:
    """Do the operation."""
    code: int = arguments.perform(arguments)
    return code
