# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""`robot_semantics view`: show robots, worlds and series on a page, in a file, or as a picture."""

from __future__ import annotations

import argparse
import os
import re
import threading
from collections.abc import Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.base.errors import MissingExtraError, RobotSemanticsError, UnknownNameError
from robot_semantics.cli.frame import inputs
from robot_semantics.cli.frame.argument_values import (
    add_joint_option,
    add_repeatable,
    number_in_range,
    output_file,
)
from robot_semantics.cli.frame.command import NODE, Command, UsageError
from robot_semantics.cli.frame.joint_arguments import (
    STATE_FORM,
    named_state,
    positions_by_model,
    state_word,
)
from robot_semantics.cli.frame.node_inputs import add_node_argument, asked_node, ros_needed
from robot_semantics.cli.frame.outputs import add_output, write_files
from robot_semantics.cli.frame.pages import add_page_arguments, page_options
from robot_semantics.cli.frame.printing import add_json_argument, print_line, print_result

if TYPE_CHECKING:
    from robot_semantics.model.loading import RobotOptions
    from robot_semantics.ros.tools.live_view import PublishedRobots
    from robot_semantics.viewer.link_surfaces import Kind
    from robot_semantics.viewer.opening import DescriptionPaths
    from robot_semantics.viewer.scene import Scene
    from robot_semantics.viewer.scene_data import CollisionWitness, PageContent


STANDARD_VIEWS = {
    "3d": (-47.7, 26.8),
    "front": (0.0, 0.0),
    "back": (180.0, 0.0),
    "left": (90.0, 0.0),
    "right": (-90.0, 0.0),
    "top": (180.0, 90.0),
}
"""Azimuth and elevation [deg] of the view buttons."""

NOT_LIVE = (
    *("urdf", "loops", "png", "html", "state", "joint", "model"),
    *("witnesses", "spheres", "collision_geometry", "view", "json"),
)
"""Options that have no meaning with ``--live``."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    words = "URDF, SRDF, USDF, recording or series"
    parser.add_argument("files", metavar="FILE", nargs="*", help=words)
    inputs.add_urdf_option(parser, for_loops=False)
    inputs.add_loading_arguments(parser, several=True)
    out = parser.add_argument_group("where to", "without one of these, a page is served on 127.0.0.1 and opened")
    add_output(out, "--png", metavar="OUT.png", type=output_file(".png"), help="write a picture; needs no display")
    add_output(
        out,
        "--html",
        metavar="OUT.html",
        type=output_file(".html", ".htm"),
        help="write one page that works offline",
    )
    add_page_arguments(out)
    out.add_argument("--live", action="store_true", help="follow the running robots")
    out.add_argument(
        "--sliders",
        nargs="?",
        const="",
        action="append",
        metavar="TOPIC",
        help="sliders for the joints; a topic that moves them (repeatable)",
    )
    add_node_argument(out, "node to follow")
    what = parser.add_argument_group("what")
    add_repeatable(what, "--group", "NAME", "colour this group, fade the rest")
    add_repeatable(what, "--state", STATE_FORM, "show this named state", type=state_word)
    add_joint_option(what, "position of a joint or variable [rad, m]")
    what.add_argument("--model", metavar="NAME", help="model for --state and --joint")
    what.add_argument("--witnesses", metavar="FILE.json", help="show pairs that 'collisions generate --json' found")
    what.add_argument("--spheres", action="store_true", help="show the spheres of links, uncovered parts in red")
    what.add_argument("--collision-geometry", action="store_true", help="show collision geometry instead of visuals")
    how = parser.add_argument_group("pictures")
    how.add_argument("--size", type=_size, default=(1200, 900), metavar="WxH", help="size in pixels (1200x900)")
    how.add_argument(
        "--azimuth",
        type=number_in_range(),
        default=35.0,
        metavar="DEG",
        help="direction of view [deg] (35, 20)",
    )
    how.add_argument(
        "--elevation", type=number_in_range(), default=20.0, metavar="DEG", help="direction of view [deg] (35, 20)"
    )
    add_repeatable(
        how,
        "--view",
        None,
        "view",
        choices=sorted(STANDARD_VIEWS),
    )
    how.add_argument(
        "--zoom", type=number_in_range(0.01, 100.0), default=1.0, metavar="F", help="zoom; above 1 is nearer (1)"
    )
    how.add_argument("--no-legend", action="store_true", help="hide the names of the groups and the scale")
    add_json_argument(parser)


def run(arguments: argparse.Namespace) -> None:
    """Show the input."""
    from robot_semantics.viewer.opening import Opening, open_files
    from robot_semantics.viewer.page import page, three_js
    from robot_semantics.viewer.scene import check_groups, with_spheres

    if arguments.sliders is not None and not arguments.live:
        raise UsageError("--sliders needs --live")
    if arguments.live:
        _refuse_unused(arguments)
        _live(arguments)
        return
    if asked_node(arguments) is not None:
        raise UsageError("--node needs --live")
    if arguments.json and not (arguments.png or arguments.html):
        raise UsageError("--json needs --png or --html: a served page has no result")
    arguments.files += _unnamed_files(arguments)
    if not arguments.files:
        raise UsageError("give a file to show, or --live")
    only: Kind = "collision" if arguments.collision_geometry else "visual"
    # A picture shows one geometry kind, a page can switch.
    kinds: tuple[Kind, ...] = ("visual", "collision") if arguments.html or not arguments.png else (only,)
    used_names: set[str] = set()
    robots, options = _named_robots(arguments, used_names)
    opening = Opening(kinds, arguments.strict, options, robots)
    files = [Path(file) for file in arguments.files]

    def opened(diagnostics: Diagnostics) -> Scene:
        shown = open_files(files, opening, diagnostics)
        if arguments.spheres:
            # A page draws the spheres itself.
            shown = with_spheres(shown, opening.options.package_paths, diagnostics, balls=bool(arguments.png))
        return _posed(shown, arguments) if arguments.state or arguments.joint else shown

    diagnostics = Diagnostics()
    try:
        scene = opened(diagnostics)
    finally:
        inputs.print_diagnostics(diagnostics)
    _check_called(used_names, scene)
    check_groups(scene, arguments.group)
    files_made: list[MadeFile] = []
    contacts = _witnesses(scene, arguments.witnesses) if arguments.witnesses else ()
    if arguments.png:
        if not scene.actors:
            raise RobotSemanticsError("a picture needs a robot: give the URDF, or name it in rs:description")
        files_made.append(_picture(scene, only, arguments))
    shown: PageContent = {
        "groups": arguments.group,
        "witnesses": contacts,
        "problems": diagnostics,
        "collision": arguments.collision_geometry,
        "spheres": arguments.spheres,
    }
    if arguments.html:
        files_made.append(MadeFile(arguments.html, page(scene, **shown).encode()))
    if files_made:
        _write(files_made, scene, diagnostics, arguments)
        return
    three_js()
    from robot_semantics.viewer.scene_data import scene_bytes
    from robot_semantics.viewer.server import FreshContent, serve_viewer

    waiting = [scene_bytes(scene, **shown)]

    def content() -> bytes:
        nonlocal scene
        if waiting:
            return waiting.pop()
        again = Diagnostics()
        renewed: PageContent = {**shown, "problems": again}
        scene = opened(again)
        return scene_bytes(scene, **renewed)

    serve_viewer(
        scene.title,
        FreshContent(files, content),
        robot=lambda name: scene.actor(name).kinematics,
        options=page_options(arguments),
    )


def _witnesses(scene: Scene, file: str) -> Sequence[CollisionWitness]:
    # Import here: it needs the extra for collisions.
    from robot_semantics.viewer.witnesses import witnesses

    return witnesses(scene, Path(file))


def _posed(scene: Scene, arguments: argparse.Namespace) -> Scene:
    """Return the scene with the named states and joint positions of the command line."""
    from robot_semantics.viewer.scene import posed

    actors = scene.actors if arguments.model is None else (scene.actor(arguments.model),)
    robots = {actor.name: actor.kinematics.model for actor in actors}
    states: dict[str, list[tuple[str, str]]] = {name: [] for name in robots}
    for word in arguments.state:
        name, state = named_state(word, robots)
        states[name].append((state.group, state.name))
    positions = positions_by_model(arguments.joint, {actor.name: actor.kinematics.space for actor in actors})
    for actor in actors:
        if states[actor.name] or positions[actor.name]:
            scene = posed(scene, actor, states[actor.name], positions[actor.name])
    return scene


def _unnamed_files(arguments: argparse.Namespace) -> list[str]:
    """Return the files of a robot of ``--urdf`` without a name, which is like one of the files: it is shown alone."""
    robots = [robot for robot in arguments.urdf if robot.name is None]
    return [file for robot in robots for file in (robot.urdf, robot.srdf) if file is not None]


def _named_robots(
    arguments: argparse.Namespace, used_names: set[str]
) -> tuple[tuple[DescriptionPaths, ...], RobotOptions]:
    """Return the robots of ``--urdf`` with names, and the options of the robot without a name.

    `used_names` takes names of the robot without a name.
    """
    # Import here: the help needs no viewer.
    from robot_semantics.viewer.opening import DescriptionPaths

    names = [robot.name for robot in arguments.urdf if robot.name is not None]
    options = inputs.options_by_model(arguments, (None, *names), used_names)
    named = (robot for robot in arguments.urdf if robot.name is not None)
    given = (DescriptionPaths(robot.name, robot.urdf, robot.srdf, options[robot.name]) for robot in named)
    return tuple(given), options[None]


def _check_called(used_names: set[str], scene: Scene) -> None:
    """Check the names of the robot without a name: they must be those of a model or of its URDF.

    Raises:
        UnknownNameError: one is not.
    """
    known = dict.fromkeys(name for actor in scene.actors for name in (actor.name, actor.kinematics.model.name))
    for name in used_names - known.keys():
        raise UnknownNameError("robot", name, known)


class MadeFile(NamedTuple):
    """A file to write: its name and content, and of a picture the size [pixels]."""

    name: str
    data: bytes
    width: int | None = None
    height: int | None = None


def _write(
    files_made: Sequence[MadeFile], scene: Scene, diagnostics: Diagnostics, arguments: argparse.Namespace
) -> None:
    """Write the files, all or none, and print them; with ``--json`` also the robots and the problems of their files."""
    is_written = write_files(arguments, {Path(file.name): file.data for file in files_made})
    written = files_made if is_written else ()
    if not arguments.json:
        for file in written:
            print_line(f"wrote {file.name}" + ("" if file.width is None else f": {file.width} x {file.height}"))
        return
    # Import here: it reads the pages of all codes.
    from robot_semantics.cli.frame.problems import problems_json

    rows = [{"file": file.name, "size": len(file.data), "width": file.width, "height": file.height} for file in written]
    problems = problems_json(list(diagnostics), ok=True)["diagnostics"]
    print_result({"robots": [actor.name for actor in scene.actors], "written": rows, "problems": problems})


def _picture(scene: Scene, kind: Kind, arguments: argparse.Namespace) -> MadeFile:
    import numpy as np

    from robot_semantics.viewer.picture import View, png_bytes, render, with_legend

    legend = () if arguments.no_legend else tuple(arguments.group)
    angles = [STANDARD_VIEWS[name] for name in arguments.view] or [(arguments.azimuth, arguments.elevation)]
    width, height = arguments.size
    views = [
        View(
            size=(width * (number + 1) // len(angles) - width * number // len(angles), height),
            azimuth=azimuth,
            elevation=elevation,
            zoom=arguments.zoom,
            groups=tuple(arguments.group),
            kind=kind,
            left_margin=0.18 if legend and not number else 0.0,
        )
        for number, (azimuth, elevation) in enumerate(angles)
    ]
    image = with_legend(
        np.concatenate([render(scene, view, scale=not arguments.no_legend) for view in views], axis=1), legend
    )
    height, width, *_ = image.shape
    return MadeFile(arguments.png, png_bytes(image), width, height)


def _refuse_unused(arguments: argparse.Namespace) -> None:
    """Refuse the words that are not used with ``--live``: the robots, their states and the page are the node's.

    Raises:
        UsageError: such a word was given.
    """
    if arguments.files:
        hint = "the name of a node follows an equals sign: --node=NAME"
        raise UsageError(f"unexpected '{arguments.files[0]}': --live takes no files; {hint}")
    for name in NOT_LIVE:
        if getattr(arguments, name):
            raise UsageError(f"--{name.replace('_', '-')} cannot be used with --live")


def _live(arguments: argparse.Namespace) -> None:
    node = asked_node(arguments, default=NODE)
    assert node is not None
    with ros_needed("following a node"):
        from robot_semantics.ros.tools.live_view import PublishedRobots, SliderOptions
        from robot_semantics.ros.tools.own_node import end_waiting
    from robot_semantics.viewer.page import three_js

    try:
        three_js()
    except MissingExtraError as error:
        if arguments.sliders is None:
            raise
        print_line(f"no page is served: {error}", flush=True)
        page_is_possible = False
    else:
        page_is_possible = True
    diagnostics = Diagnostics()
    title = f"{node.name} · domain {os.environ.get('ROS_DOMAIN_ID', '0')}"
    sliders = None
    if arguments.sliders is not None:
        sliders = SliderOptions([topic for topic in arguments.sliders if topic], partial(print_line, flush=True))
    kinds: Sequence[Kind] = ("visual",) if page_is_possible else ()
    followed = PublishedRobots(node.name, node.timeout_s, arguments.package_path, diagnostics, kinds, sliders=sliders)
    with followed as robots, ExitStack() as ending:
        ending.callback(end_waiting)
        inputs.print_diagnostics(diagnostics)
        for state in robots.sliders().values():
            print_line(f"the sliders publish {state.topic}", flush=True)
        if sliders is not None and not robots.sliders():
            print_line(f"no sliders: no robot is of the node {node.name}; choose a node with --node=NAME", flush=True)
        if not page_is_possible:
            threading.Event().wait()
        _serve_live(robots, title, diagnostics, arguments)


def _serve_live(robots: PublishedRobots, title: str, diagnostics: Diagnostics, arguments: argparse.Namespace) -> None:
    from robot_semantics.viewer.live_page import LivePanel
    from robot_semantics.viewer.scene_data import scene_bytes
    from robot_semantics.viewer.server import serve_viewer

    content = scene_bytes(robots.scene, groups=arguments.group, problems=diagnostics, live=True)
    serve_viewer(
        robots.scene.title,
        lambda: content,
        beside=lambda viewer: LivePanel(viewer, robots, title, robots.senders, robots.is_described),
        beside_width=300,
        options=page_options(arguments),
    )


def _size(text: str) -> tuple[int, int]:
    match = re.fullmatch(r"(\d+)x(\d+)", text)
    if not match or not all(16 <= int(side) <= 8192 for side in match.groups()):
        raise argparse.ArgumentTypeError(f"'{text}' is not WIDTHxHEIGHT from 16x16 to 8192x8192")
    return int(match[1]), int(match[2])


COMMAND = Command(
    add_arguments,
    run,
    examples=("robot_semantics view robot.urdf robot.srdf --group arm --png arm.png",),
)
