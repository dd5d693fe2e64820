# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""`robot_semantics sim`: simulate the world of a USDF file without ROS, and write the final state."""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import replace
from pathlib import Path

from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.base.errors import RobotSemanticsError
from robot_semantics.base.files import resolved, save_bytes
from robot_semantics.base.nanoseconds import short_seconds
from robot_semantics.cli.frame.argument_values import (
    DescriptionArgument,
    integer,
    number_in_range,
    one_by_model,
)
from robot_semantics.cli.frame.command import Command, UsageError
from robot_semantics.cli.frame.console import Bar
from robot_semantics.cli.frame.inputs import (
    add_reader_options,
    add_urdf_option,
    options_by_model,
    print_diagnostics,
    print_report,
    read_robot_files,
    refuse_warnings,
    robot_options,
)
from robot_semantics.cli.frame.outputs import (
    add_result,
    check_not_there,
    kind_of_result,
    place_of_result,
    put_result,
    write_files,
)
from robot_semantics.cli.frame.printing import (
    add_json_argument,
    counted,
    print_line,
    print_note,
    print_notes,
    print_result,
)
from robot_semantics.cli.usdf.files import FORMATS, print_lost, put_state, state_text
from robot_semantics.simulation.loading import ENGINES
from robot_semantics.simulation.simulator import Simulator
from robot_semantics.usdf.restore_report import RestoreReport
from robot_semantics.usdf.world_state import WorldState

_EXPORTS = {".xml": "mjcf", ".sdf": "sdf", ".dmd.yaml": "directives"}
"""Export format by the ending of the file."""

_STEPS_AT_ONCE = 500
"""Number of steps between updates of the progress bar."""


def _add_run_arguments(parser: argparse.ArgumentParser) -> None:
    _add_world_arguments(parser)
    length = parser.add_mutually_exclusive_group(required=True)
    length.add_argument("--steps", type=integer(0), metavar="N", help="number of time steps")
    length.add_argument("--duration", type=number_in_range(0.0), metavar="S", help="simulated time [s]")
    add_result(parser, FORMATS, on_stdout=True, text="file, or folder with --every")
    parser.add_argument(
        "--every",
        type=number_in_range(above=0.0),
        metavar="S",
        help="write a series, one state every S seconds",
    )
    parser.add_argument("--engine", choices=sorted(ENGINES), default="mujoco", help="simulator (%(default)s)")
    parser.add_argument("--headless", action="store_true", help=argparse.SUPPRESS)
    add_json_argument(parser)


def _add_export_arguments(parser: argparse.ArgumentParser) -> None:
    _add_world_arguments(parser)
    add_result(parser, _EXPORTS, text="MJCF, or .sdf or .dmd.yaml")


def _add_world_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("world", metavar="WORLD.usdf", help="world state with models and objects")
    add_urdf_option(parser, "other files of a model", for_loops=False)
    parser.add_argument(
        "--timestep", type=number_in_range(above=0.0), default=0.002, metavar="S", help="time step [s] (0.002)"
    )
    parser.add_argument("--no-ground", action="store_true", help="no floor at z = 0")
    parser.add_argument("--partial", action="store_true", help="start even if some items cannot be restored")
    parser.add_argument("--strict", action="store_true", help="refuse descriptions with warnings")
    add_reader_options(parser, several=True)


def _started(arguments: argparse.Namespace, engine: str) -> tuple[Simulator, WorldState, RestoreReport]:
    """Return the world's simulator, its initial state, and the report, which is also printed."""
    # Import here: a simulator is optional, and the error names a missing one.
    from robot_semantics.simulation.loading import ModelFiles, start_simulator, world_from_state
    from robot_semantics.simulation.world_spec import check_magnitudes
    from robot_semantics.usdf.reader import read_world

    path = Path(arguments.world)
    diagnostics = Diagnostics()
    state = read_world(path, diagnostics)
    check_magnitudes(state)
    names = [model.name for model in state.models]
    options = options_by_model(arguments, names, source=str(path))
    given = one_by_model("urdf", _named(arguments, state), names, source=str(path))
    spec = world_from_state(
        state,
        path,
        overrides={name: ModelFiles(robot.urdf, robot.srdf) for name, robot in given.items()},
        options=robot_options(arguments),
        options_of=options,
        diagnostics=diagnostics,
        timestep=arguments.timestep,
        ground=not arguments.no_ground,
    )
    if arguments.strict:
        refuse_warnings(diagnostics)
    print_diagnostics(diagnostics)
    notes: list[str] = []
    try:
        simulator = start_simulator(engine, spec, notes.append)
    finally:
        print_notes(notes)
    print_notes(simulator.notes)
    report = simulator.restore(state, partial=arguments.partial)
    print_report(report.items, report.notes, refused=not report.applied)
    if not report.applied:
        raise RobotSemanticsError("not everything could be restored; --partial starts anyway")
    return simulator, state, report


def _named(arguments: argparse.Namespace, state: WorldState) -> list[DescriptionArgument]:
    """Return the robots of ``--urdf``; one without a name gets the name of its model, if there are several models.

    Raises:
        DescriptionError: a robot without a name cannot be read, or there is no model for it.
    """
    from robot_semantics.usdf.descriptions import RobotSources, robots_for

    result: list[DescriptionArgument] = []
    for robot in arguments.urdf:
        if robot.name is not None or len(state.models) == 1:
            result.append(robot)
            continue
        model, diagnostics = read_robot_files(arguments, robot.urdf, robot.srdf), Diagnostics()
        names = robots_for(state, RobotSources((model,)), diagnostics=diagnostics)
        diagnostics.raise_if_failed()
        result += [robot._replace(name=name) for name in names]
    return result


def _run(arguments: argparse.Namespace) -> None:
    if arguments.steps is None:
        arguments.steps = _steps_of("--duration", arguments.duration, arguments.timestep)
    every = _steps_between(arguments)
    simulator, state, report = _started(arguments, arguments.engine)
    started, count = time.perf_counter(), 1
    if every is None:
        with Bar() as bar:
            _advance(simulator, arguments.steps, bar)
        elapsed = time.perf_counter() - started
        result = _captured(simulator, state, arguments.output)
        put_state(arguments, result)
    else:
        count = _write_series(simulator, state, arguments, every)
        elapsed = time.perf_counter() - started
    simulated = arguments.steps * arguments.timestep
    rate = f", {simulated / elapsed:.1f} times real time" if elapsed > 0.0 and arguments.steps else ""
    restart = "continued bit for bit" if report.exact else "started from positions and velocities"
    print_note(
        f"{restart}; {arguments.steps} steps to {short_seconds(simulator.time_ns)}{rate}"
        + (f"; written to {arguments.output}" if arguments.output and not arguments.dry_run else ""),
    )
    if arguments.json:
        values = {
            "steps": arguments.steps,
            "time_ns": simulator.time_ns,
            "exact": report.exact,
            "not_restored": [str(item) for item in report.items if not item.done],
            "states": count,
            "written": None if arguments.dry_run else arguments.output,
        }
        print_result(values)


def _write_series(simulator: Simulator, state: WorldState, arguments: argparse.Namespace, every: int) -> int:
    """Simulate, and write a state every `every` steps into a folder; return the number of states."""
    from robot_semantics.recording.target import whole_or_nothing

    digits, kind = len(str(arguments.steps)), arguments.to or "usdf"
    numbers = [*range(0, arguments.steps, every), arguments.steps]
    with (
        place_of_result(arguments, "states") as target,
        whole_or_nothing(target, folder=True, force=arguments.force) as folder,
        Bar() as bar,
    ):
        for number in numbers:
            name = f"step_{number:0{digits}d}.{kind}"
            result = _captured(simulator, state, str(Path(arguments.output or "states") / name))
            save_bytes(state_text(result, name), folder / name)
            _advance(simulator, min(every, arguments.steps - number), bar)
    if arguments.dry_run:
        file = sys.stderr if arguments.json else sys.stdout
        print_line(f"would write {counted(len(numbers), 'state')} to {arguments.output or 'a folder'}", file=file)
    return len(numbers)


def _steps_between(arguments: argparse.Namespace) -> int | None:
    """Return the number of steps between written states; None for only the last state.

    Raises:
        UsageError: it is not a whole number of steps, or no folder is given.
    """
    if arguments.every is None:
        return None
    is_file = arguments.output is not None and Path(arguments.output).suffix in FORMATS
    if is_file or not (arguments.output or arguments.dry_run):
        raise UsageError("--every writes many files: give a folder with -o, or --dry-run")
    return _steps_of("--every", arguments.every, arguments.timestep)


def _steps_of(option: str, time_s: float, step_s: float) -> int:
    """Return the number of time steps in a time.

    Raises:
        UsageError: it is not a whole number of steps.
    """
    count = round(time_s / step_s)
    if (count < 1 and time_s > 0.0) or abs(count * step_s - time_s) > 1e-9 * step_s * max(count, 1):
        raise UsageError(f"{option}: {time_s:g} s is not a multiple of the time step, {step_s:g} s")
    return int(count)


def _advance(simulator: Simulator, steps: int, bar: Bar) -> None:
    bar.phase("steps", steps)
    while steps > 0:
        part = min(steps, _STEPS_AT_ONCE)
        simulator.step(part)
        bar.advance(part)
        steps -= part


def _captured(simulator: Simulator, state: WorldState, output: str | None) -> WorldState:
    """Return the simulation's state; the robots' file names are relative to the folder of `output`."""
    from robot_semantics.usdf.descriptions import with_relative_paths

    result = replace(simulator.capture(), name=state.name, foreign=state.foreign)
    return with_relative_paths(result, resolved(output).parent) if output else result


def _export(arguments: argparse.Namespace) -> None:
    simulator, started, _ = _started(arguments, "mujoco")
    from robot_semantics.model.mesh_files import obj_of
    from robot_semantics.simulation.drake_directives import directives_of
    from robot_semantics.simulation.mujoco import MujocoSimulator
    from robot_semantics.simulation.mujoco_export import mjcf_of
    from robot_semantics.simulation.sdf_export import ObjMeshes, sdf_of

    assert isinstance(simulator, MujocoSimulator)
    kind = kind_of_result(arguments)
    if kind == "mjcf":
        put_result(arguments, mjcf_of(simulator))
        return
    output, state = Path(arguments.output or f"world.{kind}"), replace(simulator.capture(), name=started.name)
    folder = output.with_name(f"{output.stem}_meshes")
    meshes = ObjMeshes(folder)
    if kind == "sdf":
        converted = sdf_of(simulator.spec, state, meshes)
    else:
        converted = directives_of(simulator.spec, state)
    print_lost(converted.lost)
    for path in meshes.surfaces:
        check_not_there(path, arguments.force)
    files = {path: obj_of(surface).encode() for path, surface in meshes.surfaces.items()}
    is_new = bool(files) and not folder.exists() and not arguments.dry_run
    if is_new:
        folder.mkdir()
    try:
        write_files(arguments, {**files, output: converted.value.encode()})
    except BaseException:
        if is_new:
            folder.rmdir()
        raise


COMMAND = Command(
    operations={
        "run": Command(
            _add_run_arguments,
            _run,
            "simulate a world for a number of steps and write its state; continues bit for bit where the file allows",
            examples=("robot_semantics sim run world.usdf --steps 10 -o later.usdf",),
        ),
        "export": Command(
            _add_export_arguments,
            _export,
            "write the simulated world and where it stands: MJCF with a keyframe, SDFormat, Drake directives",
            examples=("robot_semantics sim export world.usdf -o world.xml",),
        ),
    },
    examples=("robot_semantics sim run world.usdf --steps 10 -o later.usdf",),
)
