# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""`robot_semantics studio`: edit an SRDF in the browser, with a view of the robot."""

from __future__ import annotations

import argparse
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.base.errors import RobotSemanticsError
from robot_semantics.base.files import resolved
from robot_semantics.cli.frame import inputs
from robot_semantics.cli.frame.argument_values import output_file, wait
from robot_semantics.cli.frame.command import Command, UsageError
from robot_semantics.cli.frame.node_inputs import ros_needed
from robot_semantics.cli.frame.outputs import SRDF_ENDINGS, check_not_there
from robot_semantics.cli.frame.pages import add_page_arguments, page_options
from robot_semantics.cli.frame.printing import print_error, print_note
from robot_semantics.srdf.edit import SrdfText

if TYPE_CHECKING:
    from robot_semantics.collision.shapes import Piece
    from robot_semantics.model.robot_model import RobotModel
    from robot_semantics.viewer.link_surfaces import LinkSurface


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("urdf", metavar="URDF", help="URDF, plain or xacro")
    inputs.add_srdf_argument(parser, text="SRDF to edit (default: a new one)")
    parser.add_argument(
        "-o", "--output", type=output_file(*SRDF_ENDINGS), metavar="FILE", help="file to save (default: the given SRDF)"
    )
    parser.add_argument("--force", action="store_true", help="overwrite another file")
    inputs.add_loading_arguments(parser)
    parser.add_argument(
        "--timeout", type=wait, default=5.0, metavar="S", help="time to wait for a running robot [s] (5)"
    )
    add_page_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    """Serve the studio until interrupted; return 0 if done, 1 for a problem in the files."""
    from robot_semantics.viewer.page import three_js

    output = Path(arguments.output or arguments.srdf or "")
    if not output.name:
        raise UsageError("give an SRDF to edit, or -o FILE to save a new one")
    if arguments.srdf is None or resolved(output) != resolved(arguments.srdf):
        check_not_there(output, arguments.force)
    three_js()
    from robot_semantics.model.resources import PackageResolver
    from robot_semantics.viewer.edit_session import DraftFile, EditSession
    from robot_semantics.viewer.link_surfaces import link_surfaces
    from robot_semantics.viewer.scene import Actor, alone
    from robot_semantics.viewer.scene_data import scene_bytes
    from robot_semantics.viewer.server import FreshContent, serve_viewer
    from robot_semantics.viewer.studio import Studio, import_early

    def pieces() -> tuple[Piece, ...]:
        # Only the generation of pairs needs the extra for sampling.
        from robot_semantics.collision.pieces import pieces_of

        found = Diagnostics()
        shapes = pieces_of(session.bare, resolver, found)
        found.raise_if_failed()
        return shapes

    # A thread of the page may wait for a node at the end.
    ending = ExitStack()

    def running() -> dict[str, float]:
        with ros_needed("a running robot"):
            from robot_semantics.ros.tools.live_view import joint_positions
            from robot_semantics.ros.tools.own_node import end_waiting
        ending.callback(end_waiting)
        return joint_positions(arguments.timeout, session.bare.name)

    def opened() -> tuple[RobotModel, tuple[LinkSurface, ...], Diagnostics]:
        problems = Diagnostics()
        robot = inputs.read_robot_files(arguments, arguments.urdf, diagnostics=problems)
        if arguments.strict:
            problems.raise_if_failed(strict=True)
        surfaces = link_surfaces(robot, resolver, Path(arguments.urdf), problems, kinds=("visual", "collision"))
        return robot, surfaces, problems

    def newest() -> RobotModel:
        described.refresh()
        if described.problem:
            raise RobotSemanticsError(described.problem)
        return described()[0]

    def content() -> bytes:
        _, surfaces, problems = described()
        return scene_bytes(alone(Actor(session.bare.name, session.robot, surfaces), lenient=True), problems=problems)

    resolver = PackageResolver(arguments.package_path)
    described = FreshContent([Path(arguments.urdf)], opened)
    bare, _, problems = described()
    inputs.print_diagnostics(problems)
    text = SrdfText.from_file(arguments.srdf) if arguments.srdf else SrdfText.empty(bare.name, output.name)
    drafts = DraftFile(output)
    session = EditSession(bare, text, output, drafts)
    if session.offered is not None:
        print_note(f"unsaved changes of an earlier session are in {drafts.path}: the page offers them")
    elif drafts.problem:
        print_note(f"warning: {drafts.problem}")
    import_early()
    try:
        with ending:
            serve_viewer(
                f"{bare.name} · studio",
                content,
                beside=lambda viewer: Studio(viewer, session, pieces, running, newest),
                options=page_options(arguments),
            )
    finally:
        session.keep_draft()
        if drafts.path is not None:
            print_error(f"not saved: the changes are in {drafts.path}; the next start offers them")
        elif drafts.problem:
            print_error(f"not saved: {drafts.problem}")
    return 0


COMMAND = Command(
    add_arguments,
    run,
    reads_input=False,
    examples=("robot_semantics studio robot.urdf -o new.srdf", "robot_semantics studio robot.urdf robot.srdf"),
)
