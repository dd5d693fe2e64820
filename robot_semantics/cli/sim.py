"""`robot_semantics sim`: simulate the world of a USDF file, and write down where it stands afterwards. No ROS."""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import replace
from pathlib import Path

from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.cli.command import Command
from robot_semantics.cli.inputs import add_reading_arguments, print_diagnostics, print_report, xacro_of
from robot_semantics.cli.outputs import add_output
from robot_semantics.cli.usdf_files import FORMATS, save_state
from robot_semantics.cli.words import output_file

EXIT_OK, EXIT_PROBLEMS = 0, 1


def _add_run_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("world", metavar="WORLD.usdf", help="the world: models, objects, frames and where they are")
    parser.add_argument("--steps", type=_count, required=True, metavar="N", help="number of time steps")
    add_output(
        parser,
        "-o",
        "--output",
        metavar="OUT.usdf",
        type=output_file(*FORMATS),
        help="where to write the state, as JSON if it ends in .json; otherwise to stdout",
    )
    parser.add_argument(
        "--model",
        action="append",
        default=[],
        metavar="NAME=URDF[,SRDF]",
        help="a model's files, where the world does not name them or others are meant; may be given several times",
    )
    parser.add_argument("--timestep", type=float, default=0.002, metavar="S", help="time step in seconds (0.002)")
    parser.add_argument("--no-ground", action="store_true", help="without the floor at z = 0")
    parser.add_argument("--partial", action="store_true", help="start even where not all of the world can be restored")
    parser.add_argument("--strict", action="store_true", help="refuse robots that have any error")
    parser.add_argument(
        "--package-path",
        action="append",
        default=[],
        metavar="DIR",
        help="a package, or a folder of packages, that package:// may name; may be given several times",
    )
    add_reading_arguments(parser)


def _run(arguments: argparse.Namespace) -> int:
    # Imported here: the simulator is an optional part, and a missing one is reported by its name.
    from robot_semantics.model.resources import PackageResolver
    from robot_semantics.simulation.loading import ModelFiles, world_from_state
    from robot_semantics.simulation.mujoco import MujocoSimulator
    from robot_semantics.simulation.mujoco_stepping import send_warnings_to
    from robot_semantics.usdf.descriptions import with_relative_paths
    from robot_semantics.usdf.reader import read_world

    path = Path(arguments.world)
    state = read_world(path)
    diagnostics = Diagnostics()
    spec = world_from_state(
        state,
        path,
        PackageResolver(arguments.package_path),
        overrides=dict(ModelFiles.parse(text) for text in arguments.model),
        strict=arguments.strict,
        diagnostics=diagnostics,
        timestep=arguments.timestep,
        ground=not arguments.no_ground,
        xacro=xacro_of(arguments),
        implicit_links=arguments.implicit_links,
    )
    print_diagnostics(diagnostics)
    send_warnings_to(lambda text: print(f"note: MuJoCo: {text}", file=sys.stderr))
    simulator = MujocoSimulator(spec)
    for note in simulator.notes:
        print(f"note: {note}", file=sys.stderr)
    report = simulator.restore(state, partial=arguments.partial)
    print_report(report.items, report.notes)
    if not report.applied:
        print("error: not everything could be restored; --partial starts all the same", file=sys.stderr)
        return EXIT_PROBLEMS
    started = time.perf_counter()
    simulator.step(arguments.steps)
    elapsed = time.perf_counter() - started
    result = replace(simulator.capture(), name=state.name, foreign=state.foreign)
    if arguments.output:
        result = with_relative_paths(result, Path(arguments.output).resolve().parent)
    save_state(result, arguments.output)
    simulated = arguments.steps * arguments.timestep
    rate = f", {simulated / elapsed:.1f} times real time" if elapsed > 0.0 and arguments.steps else ""
    restart = "continued bit for bit" if report.exact else "started from positions and velocities"
    print(
        f"{restart}; {arguments.steps} steps to {simulator.time_ns * 1e-9:.3f} s{rate}"
        + (f"; written to {arguments.output}" if arguments.output else ""),
        file=sys.stderr,
    )
    return EXIT_OK


def _example(arguments: argparse.Namespace) -> int:
    from robot_semantics.examples import example

    print(example(arguments.name))
    return EXIT_OK


def _count(text: str) -> int:
    if not text.strip().removeprefix("-").isdecimal() or len(text) > 18:
        raise argparse.ArgumentTypeError(f"'{text}' is not a whole number of steps")
    value = int(text)
    if value < 0:
        raise argparse.ArgumentTypeError(f"the number of steps must not be negative: {value}")
    return value


def _add_example_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="FILE", nargs="?", default="rover_arm.usdf", help="by default the world")


COMMAND = Command(
    operations={
        "run": Command(
            "simulate a world for a number of steps and write its state; continues bit for bit where the file allows",
            _add_run_arguments,
            _run,
            examples=("robot_semantics sim run world.usdf --steps 10 -o later.usdf",),
        ),
        "example": Command(
            "print the path of an example file that ships with the package",
            _add_example_arguments,
            _example,
            examples=("robot_semantics sim example",),
        ),
    },
    examples=("robot_semantics sim run world.usdf --steps 10 -o later.usdf",),
)
