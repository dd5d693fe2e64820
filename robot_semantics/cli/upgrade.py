"""`robot_semantics upgrade`: an older form of URDF in, the current one out."""

from __future__ import annotations

import argparse
import difflib
import sys
from collections.abc import Iterator
from pathlib import Path

from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.base.errors import RobotSemanticsError
from robot_semantics.cli.command import Command
from robot_semantics.cli.lines import say
from robot_semantics.cli.outputs import add_output
from robot_semantics.cli.problem_formats import line_of_each_kind


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("urdf", metavar="OLD.urdf", help="description in any form, older ones mixed with the current")
    add_output(parser, "-o", "--output", metavar="NEW.urdf", help="file to write; standard output without it")
    parser.add_argument("--implicit-links", action="store_true", help="write out the links that only joints name")
    parser.add_argument("--diff", action="store_true", help="print what changes, as a unified diff")
    parser.epilog = (
        "Joints inside links, and joints whose <parent> and <child> have an <origin> each, are brought to the\n"
        "current form: the child link's frame moves onto the joint's. Every visual, collision and inertial frame\n"
        "keeps its pose in the world at every position of the joints. Comments and foreign elements stay; white\n"
        "space is laid out anew."
    )


def run(arguments: argparse.Namespace) -> int:
    """Write the description in the current form; return the exit code."""
    from robot_semantics.base.files import declared_utf8, save_bytes
    from robot_semantics.model.resolve import resolve_urdf
    from robot_semantics.urdf.reader import read_robot
    from robot_semantics.urdf.writer import write_urdf
    from robot_semantics.xml.reader import parse_xml, read_text
    from robot_semantics.xml.xacro import has_macros

    original = read_text(arguments.urdf)
    document = parse_xml(original, arguments.urdf, forgiving=True)
    if has_macros(document) or Path(arguments.urdf).suffix == ".xacro":
        raise RobotSemanticsError(f"{arguments.urdf} is a xacro: upgrade what 'robot_semantics expand' makes of it")
    diagnostics = Diagnostics()
    model = resolve_urdf(read_robot(document, diagnostics), diagnostics, implicit_links=arguments.implicit_links)
    diagnostics.raise_if_failed()
    for line in line_of_each_kind(list(diagnostics)):
        say(line, file=sys.stderr)
    if model is not None and model.urdf.rewritten:
        new = write_urdf(model.urdf)
        data = new.encode()
    else:
        say(f"{arguments.urdf}: is in the current form already", file=sys.stderr)
        new, data = document.places.text.decode(), original
    if arguments.diff:
        name = arguments.output or f"{Path(arguments.urdf).name} (upgraded)"
        sys.stdout.writelines(_diff(document.places.text.decode(), new, arguments.urdf, name))
    if arguments.output:
        save_bytes(data, arguments.output)
    elif not arguments.diff:
        sys.stdout.write(declared_utf8(new))
    return 0


def _diff(old: str, new: str, old_name: str, new_name: str) -> Iterator[str]:
    """Yield a unified diff that `patch` takes, whether the texts end with a line end or not."""
    for line in difflib.unified_diff(old.splitlines(keepends=True), new.splitlines(keepends=True), old_name, new_name):
        yield line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"


COMMAND = Command(
    arguments=add_arguments,
    run=run,
    examples=("robot_semantics upgrade robot.urdf --diff",),
)
