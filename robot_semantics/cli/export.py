# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""`robot_semantics export`: write world states from a recording; also installed as `bag_to_usdf`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING

from robot_semantics.base.diagnostic import Diagnostic
from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.base.errors import UnknownNameError
from robot_semantics.base.json_value import JsonObject
from robot_semantics.base.names import quoted
from robot_semantics.cli.frame.argument_values import (
    add_named,
    add_repeatable,
    by_model,
    integer,
    nanoseconds,
    on_disk,
    one_by_model,
    recorded_robot_argument,
    time_step,
    time_word,
)
from robot_semantics.cli.frame.command import Command, UsageError
from robot_semantics.cli.frame.console import Bar
from robot_semantics.cli.frame.inputs import (
    add_reader_options,
    add_urdf_option,
    exit_code,
    options_by_model,
    print_diagnostics,
    require_urdf,
)
from robot_semantics.cli.frame.printing import add_json_argument, counted, print_error, print_note, print_output
from robot_semantics.cli.frame.problems import print_problems

if TYPE_CHECKING:
    from robot_semantics.recording.export import ExportReport, ExportRequest
    from robot_semantics.recording.fleet import FleetBag, FleetRow
    from robot_semantics.recording.read.clocks import Clocks, RecordedSender
    from robot_semantics.recording.read.plan import RobotRequest


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    from robot_semantics.recording.series.formats import FORMATS

    suffixes = ", ".join(entry.suffixes[0] for entry in FORMATS.values())
    parser.add_argument("bags", metavar="BAG", nargs="+", help="recording of ROS 2 or ROS 1, or a series")
    parser.add_argument("-o", "--output", type=on_disk, metavar="FILE", help=f"file ({suffixes}) or folder")
    times = parser.add_argument_group("times (default: --at end)")
    add_repeatable(times, "--at", "T", "seconds from the start, @T, or end", type=time_word)
    times.add_argument("--at-file", metavar="CSV", help="table with the column time (and bag, for --each)")
    times.add_argument("--every", type=time_step, metavar="DT", help="one state every DT seconds")
    times.add_argument("--at-topic", metavar="TOPIC", help="one state for each message of a topic")
    times.add_argument("--start", type=time_word, metavar="T", help="first and last time")
    times.add_argument("--stop", type=time_word, metavar="T", help="first and last time")
    times.add_argument("--run", type=integer(1), metavar="N", help="run after a clock reset, from 1 (last)")
    robots = parser.add_argument_group("robots (default: one, described by /robot_description)")
    add_repeatable(robots, "--model", "NAME[:NAMESPACE]", "robot and its namespace")
    add_urdf_option(robots, "its files", read=recorded_robot_argument)
    add_named(robots, "--joint-states", "[NAME=]TOPIC", "topics")
    add_named(robots, "--odometry", "[NAME=]TOPIC", "topics")
    add_named(robots, "--pose-topic", "[NAME=]TOPIC", "topics")
    add_named(robots, "--base-frame", "[NAME=]NAME", "base frame, or prefix")
    add_named(robots, "--frame-prefix", "[NAME=]NAME", "base frame, or prefix")
    add_repeatable(robots, "--tf-topic", "TOPIC", "other topic with transforms")
    robots.add_argument("--world-frame", metavar="FRAME", help="world frame (root of the TF tree)")
    robots.add_argument("--links", action="store_true", help="add link states by forward kinematics")
    parser.add_argument(
        "--interpolate",
        choices=("linear", "previous", "nearest"),
        default="linear",
        metavar="RULE",
        help="interpolation",
    )
    parser.add_argument(
        "--invalid-positions",
        choices=("skip", "refuse"),
        default="skip",
        metavar="RULE",
        help="positions that are not finite",
    )
    parser.add_argument(
        "--align-clocks",
        type=nanoseconds,
        metavar="S",
        default="10",
        help="shift clocks that are more than S seconds off (10)",
    )
    parser.add_argument(
        "--max-gap", type=nanoseconds, metavar="S", default="1", help="report values older than S seconds (1)"
    )
    parser.add_argument("--to", choices=tuple(FORMATS), help="%(choices)s (by the ending)")
    parser.add_argument("--force", action="store_true", help="overwrite a file or a non-empty folder")
    parser.add_argument("--jobs", type=integer(1), default=1, metavar="N", help="number of processes")
    parser.add_argument("--dask", metavar="ADDRESS", help="Dask cluster, as tcp://host:8786")
    parser.add_argument(
        "--each",
        action="store_true",
        help="export each bag on its own, with an index",
    )
    parser.add_argument("--dry-run", action="store_true", help="print the plan; write nothing")
    parser.add_argument("--strict", action="store_true", help="exit with 1 on warnings")
    add_reader_options(parser, several=True, robot_group=robots)
    add_json_argument(parser)


def run(arguments: argparse.Namespace) -> int:
    """Export and report.

    Returns:
        0: done; 1: the recording has problems (readable data is written), or with ``--strict`` a description has.
    """
    if not arguments.each and _are_series(arguments.bags):
        return _export_state(arguments)
    request = _request(arguments)
    if arguments.each:
        return _run_each(request, arguments)
    from robot_semantics.recording.export import export

    problems, descriptions = Diagnostics(), Diagnostics()
    try:
        with Bar() as bar:
            report = export(request, problems, bar)
        descriptions = report.description_problems
    finally:
        print_diagnostics(descriptions)
        print_problems(problems)
    print_output(arguments, _report_json(report, request, (*descriptions, *problems)), _report_lines(report, request))
    return exit_code(problems, descriptions, strict=arguments.strict)


OF_A_SERIES = ("bags", "at", "output", "to", "force", "dry_run", "strict", "quiet", "json")
"""Options for a series; the others are for recordings."""


def _are_series(names: Sequence[str]) -> bool:
    """Return True for one series, False for recordings.

    Raises:
        UsageError: a series among other files.
        OSError: a folder cannot be read.
    """
    from robot_semantics.recording.bags.source import is_recording
    from robot_semantics.recording.series.formats import is_series

    series = [name for name in names if is_series(Path(name)) and not is_recording(Path(name))]
    if series and len(names) > 1:
        raise UsageError(f"'{series[0]}' is a series: export one state of one series, or recordings")
    return bool(series)


def _export_state(arguments: argparse.Namespace) -> int:
    """Write one state of a series and, beside it, the descriptions of its robots."""
    from robot_semantics.recording.series.input import save_with_descriptions, state_at
    from robot_semantics.recording.target import check_target

    parser = argparse.ArgumentParser()
    add_arguments(parser)
    usual = vars(parser.parse_args(["series"]))
    for option in usual.keys() - OF_A_SERIES:
        if getattr(arguments, option) != usual[option]:
            raise UsageError(f"--{option.replace('_', '-')} is for recordings, and '{arguments.bags[0]}' is a series")
    if len(arguments.at) > 1:
        raise UsageError("--at: one state of a series is written; give one time")
    is_plan = arguments.dry_run or arguments.output is None
    ending = Path(arguments.output or ".usdf").suffix.lower()
    if arguments.to not in (None, "usdf") or ending not in ("", ".usdf"):
        raise UsageError("a state of a series is written as .usdf")
    series, time, problems = Path(arguments.bags[0]), next(iter(arguments.at), "end"), Diagnostics()
    state, texts = state_at(series, time, problems)
    print_diagnostics(problems)
    if arguments.output is not None:
        check_target(Path(arguments.output), folder=False, force=arguments.force, inputs=[series])
    if not is_plan:
        save_with_descriptions(state, texts, Path(arguments.output))
    verb, target = "would write" if is_plan else "wrote", arguments.output
    line = f"{verb} the state at {time} with {counted(len(state.models), 'model')}{f' to {target}' if target else ''}"
    value = {
        "series": str(series),
        "time_ns": state.time_ns,
        "robots": [model.name for model in state.models],
        "frames": [frame.name for frame in state.frames],
        "format": "usdf",
        "states": 1,
        "written": None if is_plan else target,
        "problems": [problem.as_json() for problem in problems],
    }
    print_output(arguments, value, [line])
    return exit_code(Diagnostics(), problems, strict=arguments.strict)


def _run_each(request: ExportRequest, arguments: argparse.Namespace) -> int:
    """Export every bag separately; return 0 if all are done, 1 if some have problems or failed."""
    from robot_semantics.recording.fleet import INDEX, export_each, export_table, find_bags, fleet_tasks
    from robot_semantics.recording.parallel import choose_workers
    from robot_semantics.recording.series.formats import FORMATS

    out = request.out
    table = out if out is not None and _is_table(out, request) else None
    name = "parquet" if table is not None else arguments.to or "usdf"
    ending = "" if name == "usdf" and not _one_state(arguments) else FORMATS[name].suffixes[0]
    request = replace(request, format=name, skip_outside=True)
    rows = []
    with (
        Bar() as bar,
        choose_workers(arguments.jobs, arguments.dask) as workers,
    ):
        bags = _with_own_times(find_bags(request.bags), arguments)
        bar.phase("bags", len(bags))
        if table is not None:
            done = export_table(request, workers, bags, table)
        else:
            done = export_each(fleet_tasks(request, bags, out or Path(), ending), workers)
        for row in done:
            rows.append(row)
            bar.advance(1)
            _print_row(row)
    index = None if table is not None or out is None or request.dry_run else str(out / INDEX)
    target = f"table {out}" if index is None else f"index {index}"
    summary = {"index": index, "bags": [asdict(row) for row in rows]}
    print_output(arguments, summary, _fleet_lines(rows, None if request.dry_run else target))
    return _fleet_exit_code(rows, strict=arguments.strict)


def _fleet_exit_code(rows: Sequence[FleetRow], *, strict: bool) -> int:
    failed = any(row.exit_code or (strict and (row.errors or row.warnings)) for row in rows)
    return 1 if failed else 0


def _is_table(out: Path, request: ExportRequest) -> bool:
    """Return True for one table of all bags, False for a folder of results.

    Raises:
        UsageError: it is a file of another format.
    """
    from robot_semantics.recording.series.formats import SUFFIXES

    if out.suffix.lower() not in SUFFIXES or out.is_dir():
        return False
    if out.suffix.lower() != ".parquet" or request.format not in (None, "parquet"):
        raise UsageError(f"--each writes a folder or one .parquet table, not '{out}'")
    return True


def _print_row(row: FleetRow) -> None:
    """Print the error of a bag, or its skipped times and the first of its problems."""
    if row.error:
        print_error(f"{row.bag}: error: {row.error}")
        return
    if row.skipped_times:
        times = quoted(row.skipped_times, 9)
        print_note(f"{row.bag}: times outside the recording, skipped: {times}")
    if row.errors or row.warnings:
        counts = f"{row.errors} errors, {row.warnings} warnings"
        tell = print_error if row.errors else print_note
        tell(f"{row.bag}: {counts}: {row.problems[0]}")


def _fleet_lines(rows: Sequence[FleetRow], target: str | None) -> Iterator[str]:
    """Yield the result of a fleet; `target`: the index or table that is written, None for a dry run."""
    failed = sum(bool(row.error) for row in rows)
    skipped = sum(row.skipped for row in rows)
    exported = len(rows) - failed - skipped
    if target is not None:
        done = f"{exported} exported, {skipped} were done before, {failed} failed"
        yield f"{len(rows)} bags: {done}; {target}"
        return
    yield from (_plan_line(row) for row in rows if not row.error)
    yield f"{len(rows)} bags: {exported} would be exported, {skipped} were done before, {failed} would fail"


def _plan_line(row: FleetRow) -> str:
    if row.skipped:
        return f"{row.bag}: was done before, as {row.result}"
    return f"{row.bag}: would write {counted(row.states, 'state')} to {row.result}"


def _with_own_times(bags: list[FleetBag], arguments: argparse.Namespace) -> list[FleetBag]:
    """Return the bags with their times of ``--at-file``, if it has a column of bags; bags without times are left out.

    Raises:
        RequestError: the file names a bag that does not exist.
    """
    from robot_semantics.recording.bags.source import RequestError
    from robot_semantics.recording.read.times import read_times

    times = read_times(Path(arguments.at_file)) if arguments.at_file is not None else []
    if not any(name for name, _ in times):
        return bags
    names = {Path(name).as_posix() for name, _ in times}
    unknown = sorted(names - {bag.path.as_posix() for bag in bags} - {bag.name for bag in bags})
    if unknown:
        raise RequestError(f"{arguments.at_file}: there is no bag '{unknown[0]}'; write paths as --each prints them")
    chosen = []
    for bag in bags:
        own = tuple(time for name, time in times if Path(name).as_posix() in (bag.path.as_posix(), bag.name))
        if own:
            chosen.append(replace(bag, times=own))
    if len(chosen) < len(bags):
        left = counted(len(bags) - len(chosen), "bag")
        print_note(f"note: {left} without a time in {arguments.at_file}: not exported")
    return chosen


def _one_state(arguments: argparse.Namespace) -> bool:
    several = arguments.every or arguments.at_topic or arguments.at_file
    return not several and len(arguments.at) < 2


def _request(arguments: argparse.Namespace) -> ExportRequest:
    from robot_semantics.live.settings import Invalid
    from robot_semantics.recording.export import ExportRequest
    from robot_semantics.recording.read.messages import ReadOptions
    from robot_semantics.recording.read.times import TimeRequest, read_times
    from robot_semantics.recording.sample.world import Sampling

    if sum(bool(way) for way in (arguments.at, arguments.at_file, arguments.every, arguments.at_topic)) > 1:
        raise UsageError("--at, --at-file, --every and --at-topic exclude each other")
    time_texts = tuple(arguments.at)
    if arguments.at_file is not None:
        times = read_times(Path(arguments.at_file))
        if any(name for name, _ in times) and not arguments.each:
            raise UsageError(f"{arguments.at_file} has a column 'bag', which needs --each")
        time_texts = tuple(time for _, time in times)
    if (arguments.at or arguments.at_file) and (arguments.start or arguments.stop):
        raise UsageError("--start and --stop need --every or --at-topic; they do not work with --at or --at-file")
    _check_ending(arguments)
    if arguments.dask is not None and arguments.jobs > 1:
        raise UsageError("--jobs and --dask exclude each other")
    if arguments.max_gap < 0:
        raise UsageError("--max-gap is negative")
    if arguments.align_clocks < 0:
        raise UsageError("--align-clocks is negative")
    return ExportRequest(
        bags=tuple(Path(bag) for bag in arguments.bags),
        out=None if arguments.output is None else Path(arguments.output),
        format=arguments.to,
        robots=tuple(_robots(arguments)),
        times=TimeRequest(time_texts, arguments.every, arguments.at_topic, arguments.start, arguments.stop),
        sampling=Sampling(arguments.interpolate, arguments.max_gap, arguments.world_frame, arguments.links),
        run=arguments.run,
        jobs=arguments.jobs,
        dask=arguments.dask,
        dry_run=arguments.dry_run or arguments.output is None,
        force=arguments.force,
        reading=ReadOptions(Invalid(arguments.invalid_positions), tuple(arguments.tf_topic), arguments.align_clocks),
    )


def _check_ending(arguments: argparse.Namespace) -> None:
    from robot_semantics.base.files import UnknownEndingError, format_of
    from robot_semantics.recording.series.formats import FORMATS, SUFFIXES

    if arguments.output is None or arguments.to is not None:
        return
    try:
        format_of(arguments.output, SUFFIXES, "usdf")
    except UnknownEndingError as error:
        raise UsageError(f"-o: {error}: give the kind with --to: {', '.join(FORMATS)}") from None


SINGLE_TOPICS = ("odometry", "pose_topic", "base_frame", "frame_prefix")
"""Options with the name of one topic or frame for each robot."""


def _models(arguments: argparse.Namespace) -> dict[str | None, str]:
    """Return the namespaces of the robots by name; None is a robot whose name is not known yet."""
    models: dict[str | None, str] = {}
    for text in arguments.model:
        name, _, namespace = text.partition(":")
        if not name:
            raise UsageError(f"--model '{text}' has no name")
        if name in models:
            raise UsageError(f"--model {name} is given twice")
        models[name] = "/" + namespace.strip("/") if namespace.strip("/") else ""
    named = {robot.name for robot in arguments.urdf if robot.name is not None}
    if not models:
        # Robots that --urdf names are in the root namespace; the name of a single one is checked against its URDF.
        return dict.fromkeys(sorted(named), "") if len(named) > 1 else {None: ""}
    for name in sorted(named - models.keys()):
        raise UsageError(f"--urdf {name}=...: {UnknownNameError('robot', name, map(str, models))}")
    return models


def _robots(arguments: argparse.Namespace) -> Iterator[RobotRequest]:
    from robot_semantics.recording.read.plan import RobotRequest

    models = _models(arguments)
    used_names: set[str] = set()
    robots = one_by_model("urdf", arguments.urdf, models, used_names)
    options = options_by_model(arguments, models, used_names)
    joint_states = by_model("joint_states", arguments.joint_states, models, used_names)
    topics = {option: one_by_model(option, getattr(arguments, option), models, used_names) for option in SINGLE_TOPICS}
    for key, namespace in models.items():
        files = robots.get(key)
        names = {option: given[key].value if key in given else None for option, given in topics.items()}
        if names["odometry"] is not None and names["pose_topic"] is not None:
            raise UsageError("--odometry and --pose-topic exclude each other for one robot")
        urdf, srdf = (None, None) if files is None else (files.urdf, files.srdf)
        require_urdf(urdf, options[key].loops)
        yield RobotRequest(
            key,
            namespace,
            Path(urdf) if urdf else None,
            Path(srdf) if srdf else None,
            tuple(topic.value for topic in joint_states[key]),
            options=options[key],
            option_names=tuple(sorted(used_names)),
            **names,
        )


def _report_lines(report: ExportReport, request: ExportRequest) -> Iterator[str]:
    from robot_semantics.base.nanoseconds import seconds_text

    recording = report.recording
    span_ns = recording.end_ns - recording.start_ns
    if request.dry_run:
        for bag in recording.plan.bags:
            yield f"{bag.path}: {sum(bag.counts().values())} messages on {len(bag.topics)} topics"
            for topic, msgtype in sorted(bag.topics.items()):
                used = "" if topic in recording.plan.topics else "  (not used)"
                yield f"  {topic}  {msgtype}  {bag.counts()[topic]}{used}"
        start, span = seconds_text(recording.start_ns), seconds_text(span_ns)
        yield f"from {start} s, {span} s long, run {recording.run + 1} of {recording.runs}"
        yield from _clock_lines(recording.clocks)
        for robot in recording.robots:
            if robot.model is None:
                yield f"robot {robot.name}: no description"
            else:
                topics = ", ".join(robot.joint_topics) or "none"
                yield f"robot {robot.name}: {len(robot.model.links)} links, joint states {topics}"
        yield f"world frame: {report.world_frame or 'none'}; other frames: {', '.join(report.frames) or 'none'}"
    gaps = f", {counted(len(report.gaps), 'thing')} with gaps" if report.gaps else ""
    verb = "would write" if request.dry_run else "wrote"
    states = counted(len(report.times_ns), "state")
    yield f"{verb} {states} as {report.format}{'' if request.out is None else f' to {request.out}'}{gaps}"


def _clock_lines(clocks: Clocks) -> Iterator[str]:
    """Yield a table of the senders; those of one topic that are alike have one row."""
    from robot_semantics.base.names import quoted
    from robot_semantics.base.nanoseconds import float_seconds, short_seconds

    rows: dict[tuple[str, str, str, str], list[RecordedSender]] = {}
    for sender in clocks.senders:
        rate = "once" if not sender.interval_ns else f"{1e9 / sender.interval_ns:.3g} Hz"
        offset = "unknown" if sender.offset_ns is None else f"{float_seconds(sender.offset_ns):+.3f} s"
        rows.setdefault((sender.topic, rate, offset, sender.state), []).append(sender)
    if rows:
        yield "senders: topic, names, rate, clock or latency (to the reference), last message before the end, state"
    end_ns = max((sender.last_ns for sender in clocks.senders), default=0)
    for (topic, rate, offset, state), senders in rows.items():
        names = quoted((one.label for one in senders), 3) if senders[0].names else "messages"
        last = short_seconds(end_ns - max(one.last_ns for one in senders))
        yield f"  {topic}  {names}  {rate}  {offset}  {last}  {state}"


def _sender_json(sender: RecordedSender) -> JsonObject:
    return {
        "topic": sender.topic,
        "kind": sender.kind,
        "names": list(sender.names),
        "messages": sender.messages,
        "interval_ns": sender.interval_ns,
        "offset_ns": sender.offset_ns,
        "shift_ns": sender.shift_ns,
        "first_ns": sender.begin_ns,
        "last_ns": sender.end_ns,
        "last_heard_ns": sender.last_ns,
        "state": sender.state,
    }


def _report_json(report: ExportReport, request: ExportRequest, problems: Iterable[Diagnostic]) -> JsonObject:
    recording = report.recording
    return {
        "bags": [
            {
                "path": str(bag.path),
                "damaged": bag.damaged or None,
                "topics": {
                    topic: {"type": msgtype, "messages": bag.counts()[topic], "used": topic in recording.plan.topics}
                    for topic, msgtype in sorted(bag.topics.items())
                },
            }
            for bag in recording.plan.bags
        ],
        "start_ns": recording.start_ns,
        "end_ns": recording.end_ns,
        "run": recording.run + 1,
        "runs": recording.runs,
        "senders": [_sender_json(sender) for sender in recording.clocks.senders],
        "robots": [robot.name for robot in recording.robots],
        "world_frame": report.world_frame,
        "frames": list(report.frames),
        "format": report.format,
        "states": len(report.times_ns),
        "written": None if request.dry_run else str(request.out),
        "gaps": [{"kind": kind, "name": name, **gap.__dict__} for (kind, name), gap in report.gaps.items()],
        "problems": [problem.as_json() for problem in problems],
    }


def main(argv: Sequence[str] | None = None) -> int:
    """Run `export` as the separate program `bag_to_usdf`."""
    from robot_semantics.cli.main import main as run_command

    return run_command(["export", *(sys.argv[1:] if argv is None else argv)])


COMMAND = Command(
    add_arguments,
    run,
    reads_input=False,
    examples=("robot_semantics export drive.mcap --urdf robot.urdf --at 12.5 -o world.usdf",),
)


if __name__ == "__main__":
    sys.exit(main())
