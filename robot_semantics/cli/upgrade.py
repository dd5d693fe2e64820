# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""`robot_semantics upgrade`: convert an older form of URDF to the current form."""

from __future__ import annotations

import argparse

from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.base.errors import RobotSemanticsError
from robot_semantics.cli.frame.command import Command
from robot_semantics.cli.frame.outputs import URDF_ENDINGS, add_result, put_result
from robot_semantics.cli.frame.printing import print_note
from robot_semantics.cli.frame.problems import heard, line_of_each_kind
from robot_semantics.xml.xacro import is_xacro


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("urdf", metavar="OLD.urdf", help="URDF in any form")
    add_result(parser, URDF_ENDINGS, on_stdout=True, in_place=True, text="file to write")
    parser.add_argument("--implicit-links", action="store_true", help="add the undeclared links that joints name")
    parser.epilog = (
        "Joints inside links, and joints with an <origin> in <parent> and in <child>, are converted to the\n"
        "current form: the child link's frame moves onto the joint's frame. Every visual, collision and inertial\n"
        "frame keeps its pose in the world at all joint positions. Comments and foreign elements stay; the\n"
        "indentation is new."
    )


def run(arguments: argparse.Namespace) -> None:
    """Write the description in the current form."""
    from robot_semantics.base.files import declared_utf8
    from robot_semantics.cli.frame.fixing import upgraded
    from robot_semantics.xml.document import has_macros
    from robot_semantics.xml.reader import parse_xml, read_text

    original = read_text(arguments.urdf)
    document = parse_xml(original, arguments.urdf, forgiving=True)
    if has_macros(document) or is_xacro(arguments.urdf):
        raise RobotSemanticsError(f"{arguments.urdf} is a xacro: upgrade the output of 'robot_semantics expand'")
    diagnostics = Diagnostics()
    rewritten = upgraded(document, diagnostics, implicit_links=arguments.implicit_links)
    for line in line_of_each_kind(heard(diagnostics)):
        print_note(line)
    if rewritten is None:
        print_note(f"{arguments.urdf}: is in the current form already")
    data = original if rewritten is None else rewritten
    new = document.places.text if rewritten is None else rewritten
    put_result(arguments, data, arguments.urdf, printed=declared_utf8(new.decode()))


COMMAND = Command(add_arguments, run, examples=("robot_semantics upgrade robot.urdf --dry-run",))
