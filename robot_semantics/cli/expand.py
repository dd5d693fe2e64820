# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""`robot_semantics expand`: print a plain description unchanged, an xacro file expanded.

The launch files use this command: a plain file keeps its lines, so messages name the right lines.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from lxml import etree

from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.base.files import declared_utf8
from robot_semantics.cli.frame import inputs
from robot_semantics.cli.frame.command import Command
from robot_semantics.cli.frame.printing import print_document, print_line
from robot_semantics.model.loading import robot_from_text
from robot_semantics.xml.document_kind import DocumentKind, document_kind
from robot_semantics.xml.oddities import has_macros, report_unused_arguments
from robot_semantics.xml.xacro import ExpandedPlaces, read_document


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the file argument; xacro arguments are given as ``name:=value`` anywhere on the line."""
    parser.add_argument("file", metavar="FILE", nargs="?", help="URDF or SRDF, plain or xacro")
    inputs.add_package_argument(parser)
    inputs.add_reading_arguments(parser)


def run(arguments: argparse.Namespace) -> None:
    """Print the text, ending with a newline."""
    if arguments.file is None:
        return
    path = Path(arguments.file)
    document = read_document(path, inputs.xacro_of(arguments), inputs.package_finder(arguments, path))
    diagnostics = Diagnostics()
    report_unused_arguments(document, diagnostics)
    inputs.print_diagnostics(diagnostics)
    text = document.places.text.decode()
    if isinstance(document.places, ExpandedPlaces):
        # xacro writes everything in one line, but messages about the text name lines.
        etree.indent(document.root)
        text = etree.tostring(document.root.getroottree(), encoding="unicode", pretty_print=True)
    elif has_macros(document):
        print_line(f"note: {path} has macros, but is not called .xacro: --xacro carries them out", file=sys.stderr)
    if arguments.implicit_links and document_kind(document.root, str(path)) is DocumentKind.URDF:
        # Most other readers do not accept links without `<link>`, so write them.
        text = robot_from_text(text, strict=False, implicit_links=True, urdf_source=str(path)).urdf_text
    print_document(declared_utf8(text if text.endswith("\n") else f"{text}\n"))


COMMAND = Command(add_arguments, run, examples=("robot_semantics expand robot.urdf",))
