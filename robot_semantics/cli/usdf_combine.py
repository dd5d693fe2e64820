"""`robot_semantics usdf merge`, `usdf split` and `usdf interpolate`."""

from __future__ import annotations

import argparse
import re
from pathlib import Path

from robot_semantics.cli import inputs, usdf_files
from robot_semantics.cli.words import UsageError
from robot_semantics.diagnostics import Diagnostics
from robot_semantics.errors import ArrayError
from robot_semantics.usdf.combine import merge, prefixed, split
from robot_semantics.usdf.descriptions import rebased
from robot_semantics.usdf.interpolate import interpolate, share_at


def add_merge_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `merge`."""
    parser.add_argument("files", nargs="+", metavar="FILE", help="world states")
    parser.add_argument(
        "--prefix",
        action="append",
        default=[],
        metavar="P",
        help="put P before the names of the models and frames of one file; once for each FILE, in their order",
    )
    parser.add_argument("--any-time", action="store_true", help="take the first time where times differ")
    usdf_files.add_output_option(parser)


def run_merge(arguments: argparse.Namespace) -> int:
    """Write the merged state."""
    states = usdf_files.read_states(arguments.files)
    first = usdf_files.folder_of(arguments.files[0])
    folders = [usdf_files.folder_of(file) for file in arguments.files]
    states = [rebased(state, folder, first) for state, folder in zip(states, folders, strict=True)]
    if arguments.prefix:
        if len(arguments.prefix) != len(states):
            raise UsageError(f"--prefix: {len(arguments.prefix)} are given for {len(states)} files")
        states = [prefixed(state, prefix) for state, prefix in zip(states, arguments.prefix, strict=True)]
    diagnostics = Diagnostics()
    merged = merge(states, sources=arguments.files, any_time=arguments.any_time, diagnostics=diagnostics)
    inputs.print_diagnostics(diagnostics)
    usdf_files.write_state(merged, arguments.output, arguments.files[0])
    return 0


def add_split_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `split`."""
    parser.add_argument("file", metavar="FILE", help="world state")
    parser.add_argument("-o", "--output-folder", metavar="DIR", default=".", help="where MODEL.usdf files go")


def run_split(arguments: argparse.Namespace) -> int:
    """Write one file for each model and print their names."""
    (state,) = usdf_files.read_states([arguments.file])
    diagnostics = Diagnostics()
    parts = split(state, diagnostics)
    inputs.print_diagnostics(diagnostics)
    folder = Path(arguments.output_folder)
    folder.mkdir(parents=True, exist_ok=True)
    paths: dict[Path, str] = {}
    for name in parts:
        path = folder / f"{re.sub(r'[^A-Za-z0-9._-]', '_', name).lstrip('.') or '_'}.usdf"
        if path in paths:
            raise ArrayError("FILE", f"models '{paths[path]}' and '{name}' would both be written to {path}")
        paths[path] = name
    for path, name in paths.items():
        usdf_files.write_state(parts[name], str(path), arguments.file)
        print(path)
    return 0


def add_interpolate_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `interpolate`."""
    parser.add_argument("first", metavar="FIRST", help="world state")
    parser.add_argument("second", metavar="SECOND", help="world state")
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument("--share", type=float, metavar="S", help="how far from FIRST (0) to SECOND (1)")
    where.add_argument("--time", type=float, metavar="T", help="the time between theirs [s]")
    usdf_files.add_robot_options(parser)
    usdf_files.add_output_option(parser)


def run_interpolate(arguments: argparse.Namespace) -> int:
    """Write the state between the two."""
    first, second = usdf_files.read_states([arguments.first, arguments.second])
    share = arguments.share
    if share is None:
        if not abs(arguments.time) < 1e10:
            raise UsageError(f"--time: {arguments.time} is no time")
        share = share_at(first, second, round(arguments.time * 1e9))
    diagnostics = Diagnostics()
    robots = usdf_files.robots(arguments, first, arguments.first)
    between = interpolate(first, second, share, robots=robots, diagnostics=diagnostics)
    inputs.print_diagnostics(diagnostics)
    usdf_files.write_state(between, arguments.output, arguments.first)
    return 0
