"""`robot_semantics expand`: the text of a description, a plain file as it stands, a xacro with its macros carried out.

The launch files get their texts from here: a plain file keeps its lines, which every message about it then names.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from robot_semantics.description.xacro_reader import expand_xacro, is_xacro
from robot_semantics.description.xml_reader import read_xml


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the file; xacro arguments are given as ``name:=value`` anywhere on the line."""
    parser.add_argument(
        "file", metavar="FILE", nargs="?", help="URDF or SRDF, plain or xacro; without it, no text is printed"
    )


def run(arguments: argparse.Namespace) -> int:
    """Print the text."""
    if arguments.file is None:
        return 0
    path = Path(arguments.file)
    document = read_xml(path, forgiving=True)
    if is_xacro(document, path):
        document = expand_xacro(path, arguments.xacro_arguments)
    sys.stdout.write(document.places.text.decode())
    return 0
