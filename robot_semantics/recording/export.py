# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""World states from bags: plan, read, sample, write, and report missing values."""

from __future__ import annotations

import tempfile
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Protocol

import numpy as np

from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.base.files import (
    UnknownEndingError,
    declared_utf8,
    format_of,
    make_folder,
    relative_path,
    save_all,
    scratch_folder,
)
from robot_semantics.base.json_value import JsonObject
from robot_semantics.base.nanoseconds import float_seconds, seconds_text
from robot_semantics.base.record import record
from robot_semantics.recording.bags.columns import IN_MEMORY_BYTES, Pieces, Stream, stamps_of
from robot_semantics.recording.bags.source import RequestError, storage_files
from robot_semantics.recording.parallel import Workers, choose_workers
from robot_semantics.recording.read.messages import AS_USUAL, ReadOptions
from robot_semantics.recording.read.plan import RecordedRobot, RecordingPlan, RobotRequest, plan_recording
from robot_semantics.recording.read.recording import Recording, Span, combine_stretches, tasks_of_spans, whole_tasks
from robot_semantics.recording.read.stretches import OpenBags, Stretch, read_stretch
from robot_semantics.recording.read.times import (
    TimeRequest,
    blocks,
    check_words,
    choose_times,
    time_of,
    without_outside,
)
from robot_semantics.recording.sample.world import Sampling, WorldSampler
from robot_semantics.recording.series.arrays import series_arrays
from robot_semantics.recording.series.formats import FORMATS, SUFFIXES
from robot_semantics.recording.series.outputs import Job, Output, StatesToRender, UsdfFile, rendered_states
from robot_semantics.recording.series.series import GapSummary, Series, count_gaps, report_gaps
from robot_semantics.recording.target import check_target, whole_or_nothing
from robot_semantics.transforms.arrays import IntArray
from robot_semantics.usdf.saved_descriptions import hash_name

# The robots' descriptions of an export: the names of their files, and their names in the states.


Named = tuple[str | None, str | None]
"""The names of a model's URDF and SRDF in a state."""


def description_files(
    robots: Sequence[RecordedRobot], out: Path, *, inside: bool, beside: bool
) -> tuple[dict[str, Named], dict[str, str]]:
    """Return the names of each model's description files, and the texts that are written with the states.

    Given files keep their names; texts from the bag are named by their digests.

    Args:
        robots: the robots with the descriptions.
        out: the output file or folder.
        inside: True if the texts are written into the output.
        beside: True if the texts are written beside the output.
    """
    names: dict[str, Named] = {}
    texts: dict[str, str] = {}
    for robot in robots:
        files = []
        given = ((robot.description, robot.urdf_text, ".urdf"), (robot.semantic, robot.srdf_text, ".srdf"))
        for path, text, suffix in given:
            name = None if inside or path is None else relative_path(path, out.parent)
            if name is None and text is not None and (inside or beside):
                name = f"{_file_name(robot)}{suffix}" if inside else hash_name(text, suffix)
                texts[name] = text
            files.append(name)
        names[robot.name] = (files[0], files[1])
    return names, texts


def _file_name(robot: RecordedRobot) -> str:
    return (
        "".join(letter if letter.isalnum() or letter in "-_." else "_" for letter in robot.name).lstrip(".") or "robot"
    )


def with_descriptions(series: Series, names: Mapping[str, Named]) -> Series:
    """Return the series with the names of the description files beside the output."""
    models = (
        replace(model, description=names[model.name][0], semantic=names[model.name][1]) for model in series.models
    )
    return replace(series, models=tuple(models))


# Reading of a whole recording, or only of a part for a few times: the messages around these times, and both ends.


LARGE_BYTES = 64 * 2**20
"""Smaller recordings are read as a whole."""

ENDS_NS = 1_000_000_000
"""How much is read at the start and at the end."""

MARGINS_NS = (2 * 10**9, 20 * 10**9)
"""How much around the times is tried, one after the other."""

MOST_SHARE = 0.25
"""If more than this share would be read, all is."""

CLOCKS_TOLERANCE_NS = 500_000_000
"""How much the clock of the stamps may drift from the time of recording from start to end."""


def read_around(plan: RecordingPlan, times: TimeRequest, problems: Diagnostics, bags: OpenBags) -> Recording | None:
    """Return the recording around some times; None if the whole recording must be read.

    Args:
        plan: what to read.
        times: the times that are wanted.
        problems: takes the problems of the read part, and the note about it.
        bags: the open bags.

    Raises:
        RequestError: a text is not a time. BagError: a bag cannot be read at all.
    """
    time_texts = _texts(times)
    if not time_texts or not _is_worth_it(plan):
        return None

    def read(spans: Sequence[Span], problems: Diagnostics) -> Recording:
        return combine_stretches(
            plan, map(partial(read_stretch, bags=bags), tasks_of_spans(plan, spans)), problems, whole=False
        )

    first, last = min(bag.start_ns for bag in plan.bags), max(bag.end_ns for bag in plan.bags)
    ends = [(first, first + ENDS_NS), (last - ENDS_NS, last + 1)]
    try:
        recording = read(ends, Diagnostics())
    except RequestError:
        return None
    late, late_at_end = (_lateness(recording.pieces, span) for span in ends)
    if (
        recording.runs > 1
        or not recording.clocks.is_plain
        or late is None
        or late_at_end is None
        or abs(late - late_at_end) > CLOCKS_TOLERANCE_NS
    ):
        return None
    asked = [time_of(text, recording.start_ns, recording.end_ns) for text in time_texts]
    low, high, offset = min(asked), max(asked), int(late)
    for margin in MARGINS_NS:
        spans = _merged([*ends, (low + offset - margin, high + offset + margin)], first, last + 1)
        if sum(stop - start for start, stop in spans) > MOST_SHARE * (last - first):
            return None
        said = Diagnostics()
        recording = read(spans, said)
        if _is_divided(recording):
            return None
        if all(_covered(stamps, low, high, margin, recording.end_ns) for stamps in _things(recording.pieces)):
            problems.extend(tuple(said))
            parts = " and ".join(f"{seconds_text(start)} s to {seconds_text(stop)} s" for start, stop in spans)
            text = f"only messages from {parts} are read; messages in between are not used"
            problems.note("read-in-part", text, plan.place)
            return recording
    return None


def _is_divided(recording: Recording) -> bool:
    """Return True if a part of the recording cannot tell the times of the whole."""
    return recording.runs > 1 or not recording.clocks.is_plain


def read_whole(
    plan: RecordingPlan,
    workers: Workers,
    folder: Path,
    problems: Diagnostics,
    advance: Callable[[int], None],
    bags: OpenBags,
    *,
    run: int | None = None,
) -> Recording:
    """Return the whole recording, read by `workers`.

    Args:
        plan: what to read.
        workers: the processes that read.
        folder: for columns of other processes on this machine.
        problems: takes all problems of the bags and their messages.
        advance: takes the number of messages that are read since its last call.
        bags: the open bags of this process.
        run: number of the run, from 1; None: the last.
    """
    alone = workers.count == 1 and workers.share_files
    columns = folder if workers.share_files else None
    # Arrays for other processes go directly to files: they are mapped, not copied.
    in_memory_bytes = IN_MEMORY_BYTES if alone or columns is None else 0
    tasks = whole_tasks(plan, 1 if alone else workers.count, columns, in_memory_bytes)

    def stretches() -> Iterator[Stretch]:
        read = partial(read_stretch, advance=advance, bags=bags) if alone else read_stretch
        for stretch in workers.map(read, tasks):
            if not alone:
                advance(sum(stretch.counts.values()))
            yield stretch

    return combine_stretches(plan, stretches(), problems, run=run)


def _is_worth_it(plan: RecordingPlan) -> bool:
    """Return True if the bags are large and intact: then a part can be found, and is faster to read than all."""
    size = sum(file.stat().st_size for bag in plan.bags for file in storage_files(bag.path))
    return size >= LARGE_BYTES and not any(bag.scanned or bag.damaged for bag in plan.bags)


def _texts(times: TimeRequest) -> Sequence[str]:
    """Return the first and the last of the times, as they were written; none if the request is for all times."""
    if times.every is None and times.at_topic is None:
        return times.at or ("end",)
    return () if times.start is None else (times.start, times.stop or "end")


def _merged(spans: Sequence[Span], first: int, last: int) -> list[Span]:
    result: list[Span] = []
    for start, stop in sorted((max(start, first), min(stop, last)) for start, stop in spans):
        if result and start <= result[-1][1]:
            result[-1] = (result[-1][0], max(stop, result[-1][1]))
        else:
            result.append((start, stop))
    return result


def _moving(pieces: Pieces) -> Iterator[tuple[tuple[str, ...], IntArray, IntArray]]:
    """Yield the joints and frames of the messages that have moving values, with log times and stamps (n,)."""
    for key, parts in pieces.items():
        if key.kind in (Stream.JOINTS, Stream.TF, Stream.ODOMETRY, Stream.MULTI_DOF):
            for part in parts:
                yield tuple(f"{key.kind} {name}" for name in key.names), np.asarray(part["log"]), stamps_of(part)


def _lateness(pieces: Pieces, span: Span) -> float | None:
    """Return the delay between stamp and recording of a stretch's messages [ns]; None without messages."""
    late = [(log - stamp)[(log >= span[0]) & (log < span[1])] for _, log, stamp in _moving(pieces)]
    every = np.concatenate(late) if late else np.zeros(0, np.int64)
    return float(np.median(every)) if len(every) else None


def _things(pieces: Pieces) -> list[IntArray]:
    """Return the stamps of every moving joint and frame."""
    found: dict[str, list[IntArray]] = {}
    for names, _, stamps in _moving(pieces):
        for name in names:
            found.setdefault(name, []).append(stamps)
    return [np.concatenate(some) for some in found.values()]


def _covered(stamps: IntArray, low: int, high: int, margin: int, end_ns: int) -> bool:
    """Return True if one joint or frame has a value before and a value after the times in the read part."""
    before = bool(((stamps <= low) & (stamps >= low - margin // 2)).any())
    after = bool(((stamps >= high) & (stamps <= high + margin // 2)).any())
    return before and (after or high + margin >= end_ns)


BLOCK_BYTES = 8 * 2**20
"""About how much the numbers of a block may take."""


class Progress(Protocol):
    """Receiver of progress."""

    def phase(self, name: str, total: int) -> None:
        """Begin a phase of `total` steps."""

    def advance(self, count: int) -> None:
        """Add `count` finished steps."""


class Silent:
    """Progress that is not shown."""

    def phase(self, name: str, total: int) -> None:
        """Do nothing."""

    def advance(self, count: int) -> None:
        """Do nothing."""


@record(frozen=True)
class ExportRequest:
    """Options of an export.

    Attributes:
        bags: read together as one recording.
        out: file or folder to write; None with `dry_run`.
        format: one of `FORMATS`; None: by the ending of `out`, USDF if it has none.
        run: number of the run, from 1, of a recording whose clock was set back; None: the last.
        jobs: number of processes.
        dask: address of a Dask scheduler that does the work instead.
        force: replace a folder that is not empty, or a file that no export made.
        reading: how the bags are read.
        skip_outside: skip single times outside the recording, instead of refusing them.
    """

    bags: tuple[Path, ...]
    out: Path | None
    format: str | None = None
    robots: tuple[RobotRequest, ...] = (RobotRequest(),)
    times: TimeRequest = field(default_factory=TimeRequest)
    sampling: Sampling = field(default_factory=Sampling)
    run: int | None = None
    jobs: int = 1
    dask: str | None = None
    dry_run: bool = False
    force: bool = False
    reading: ReadOptions = AS_USUAL
    skip_outside: bool = False


@dataclass
class ExportReport:
    """Result of an export.

    Attributes:
        recording: the recording.
        times_ns: the times (n,) [ns].
        frames: the frames that every state may have.
        gaps: by kind and name.
        format: the output format.
        single: whether that is one document.
        skipped_times: the requested times outside the recording.
        beside: names of the description files beside the output.
    """

    recording: Recording
    times_ns: IntArray
    frames: tuple[str, ...]
    world_frame: str
    format: str
    single: bool
    gaps: dict[tuple[str, str], GapSummary] = field(default_factory=dict)
    skipped_times: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()

    @property
    def description_problems(self) -> Diagnostics:
        """The problems inside the robots' descriptions, which were read leniently."""
        found = Diagnostics()
        for robot in self.recording.robots:
            found.extend(robot.problems)
        return found


def export(request: ExportRequest, problems: Diagnostics, progress: Progress | None = None) -> ExportReport:
    """Export world states from bags; problems of the bags and missing values go to `problems`.

    `ExportReport.description_problems` has the problems inside the descriptions.

    Raises:
        RobotSemanticsError: the request does not fit the recording, or nothing can be read; nothing is written then.
        OSError: a file cannot be read or written.
    """
    watch: Progress = progress or Silent()
    name = _format(request)
    one_file = name == "usdf" and request.out is not None and request.out.suffix in FORMATS["usdf"].suffixes
    check_words(request.times)
    if request.out is not None:
        is_folder = name == "usdf" and not one_file
        check_target(request.out, folder=is_folder, force=request.force, inputs=request.bags)
    with ExitStack() as stack:
        bags = stack.enter_context(OpenBags())
        plan = plan_recording(
            request.bags,
            request.robots,
            problems,
            at_topic=request.times.at_topic,
            options=request.reading,
            open_bags=bags,
        )
        # A dry run leaves no trace, not even a folder.
        dry = request.out is None or request.dry_run
        beside = Path(tempfile.gettempdir()) if request.out is None or dry else request.out.absolute().parent
        make_folder(beside)
        scratch = stack.enter_context(scratch_folder(beside))
        # Inside the folder's block: the workers stop before the folder is deleted.
        workers: Workers = stack.enter_context(choose_workers(request.jobs, request.dask))
        recording = read_around(plan, request.times, problems, bags) if request.run is None else None
        if recording is None:
            watch.phase("reading", plan.message_count)
            recording = read_whole(plan, workers, scratch / "columns", problems, watch.advance, bags, run=request.run)
        sampler = WorldSampler(recording, request.sampling, problems)
        requested, skipped = request.times, tuple[str, ...]()
        if request.skip_outside:
            requested, skipped = without_outside(request.times, recording, problems)
        times = choose_times(requested, recording, problems)
        if one_file and len(times) > 1:
            raise RequestError(f"{len(times)} states need a folder, not the one file '{request.out}'")
        single = one_file and len(times) == 1
        report = ExportReport(
            recording, times, sampler.frames, sampler.world_frame, name, single, skipped_times=skipped
        )
        _write(request, sampler, workers, scratch, report, watch)
        start_ns, place = recording.start_ns, plan.place
        unstated = recording.unstated_joints
        report_gaps(report.gaps, request.sampling.max_gap_ns, start_ns, len(times), problems, place, unstated=unstated)
        return report


def _format(request: ExportRequest) -> str:
    if request.format is not None:
        return request.format
    try:
        return format_of(request.out or "", SUFFIXES, "usdf")
    except UnknownEndingError as error:
        raise RequestError(f"{error}: give --to {', '.join(FORMATS)}") from None


def _write(
    request: ExportRequest,
    sampler: WorldSampler,
    workers: Workers,
    scratch: Path,
    report: ExportReport,
    watch: Progress,
) -> None:
    """Write the states. A dry run makes all states, with all errors, but does not write them."""
    is_folder = report.format == "usdf" and not report.single
    out = request.out or scratch / "states"
    dry = request.dry_run or request.out is None
    place_of_descriptions = "beside" if report.single else FORMATS[report.format].descriptions
    names, descriptions = description_files(
        report.recording.robots, out, inside=place_of_descriptions == "inside", beside=place_of_descriptions == "beside"
    )
    watch.phase("looking" if dry else "writing", len(report.times_ns))
    target = scratch / f"dry{out.suffix}" if dry else out
    with whole_or_nothing(target, folder=is_folder, force=request.force) as path:
        output = _open(path, report, descriptions, scratch, request)
        max_gap_ns = request.sampling.max_gap_ns
        cut = blocks(report.times_ns, _block_size(report, sampler))
        sampled = (with_descriptions(sampler.sample(times), names) for times in cut)
        if output.rendered:
            waiting: deque[Series] = deque()

            def work() -> Iterator[StatesToRender]:
                for series in sampled:
                    waiting.append(series)
                    yield StatesToRender(report.format, series, max_gap_ns)

            written = ((waiting.popleft(), texts) for texts in workers.map(rendered_states, work()))
        else:
            written = ((series, []) for series in sampled)
        for series, texts in written:
            if not dry:
                output.add(series, texts)
            count_gaps(report.gaps, series, max_gap_ns)
            watch.advance(len(series))
        output.finish()
        if place_of_descriptions == "beside":
            report.beside = tuple(descriptions)
        if place_of_descriptions == "beside" and not dry:
            save_all({out.parent / name: declared_utf8(text).encode() for name, text in descriptions.items()})


def _block_size(report: ExportReport, sampler: WorldSampler) -> int:
    """Return the number of states in a block, so that a block is small."""
    first = sampler.sample(report.times_ns[:1])
    width = sum(array.nbytes for array in series_arrays(first).values())
    return max(16, min(FORMATS[report.format].block_states, BLOCK_BYTES // max(width, 1)))


def _open(
    path: Path, report: ExportReport, descriptions: Mapping[str, str], scratch: Path, request: ExportRequest
) -> Output:
    about: JsonObject = {
        "bags": [bag.as_posix() for bag in request.bags],
        "run": report.recording.run + 1,
        "world_frame": report.world_frame,
        "interpolate": request.sampling.mode,
        "max_gap": float_seconds(request.sampling.max_gap_ns),
        "count": len(report.times_ns),
    }
    max_gap_ns = min(request.sampling.max_gap_ns, 2**63 - 1)
    job = Job(path, descriptions, about, scratch / "rows", max_gap_ns, _units(report.recording.robots))
    return UsdfFile(job) if report.single else FORMATS[report.format].output(job)


def _units(robots: Sequence[RecordedRobot]) -> dict[tuple[str, str], str]:
    """Return the units of the joints' positions."""
    return {
        (robot.name, joint.name): joint.motion.units or "rad"
        for robot in robots
        if robot.model is not None
        for joint in robot.model.joints
    }
