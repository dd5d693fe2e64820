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
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.base.endings import UnknownEndingError, format_of
from robot_semantics.base.files import declared_utf8, save_all, scratch_folder
from robot_semantics.base.json_value import JsonObject
from robot_semantics.base.nanoseconds import float_seconds
from robot_semantics.recording.around import read_around, read_whole
from robot_semantics.recording.description_files import description_files, with_descriptions
from robot_semantics.recording.outputs import Job, Output, UsdfFile
from robot_semantics.recording.parallel import Workers, choose_workers
from robot_semantics.recording.recording import Recording
from robot_semantics.recording.recording_plan import plan_recording
from robot_semantics.recording.robots import RecordedRobot, RequestError, RobotRequest
from robot_semantics.recording.sampling import Sampling, WorldSampler
from robot_semantics.recording.series import GapSummary, Series, count_gaps, report_gaps
from robot_semantics.recording.series_arrays import series_arrays
from robot_semantics.recording.series_formats import FORMATS, SUFFIXES
from robot_semantics.recording.state_texts import Block, render
from robot_semantics.recording.target import check_target, whole_or_nothing
from robot_semantics.recording.times import TimeRequest, blocks, check_words, choose_times
from robot_semantics.state.settings import Invalid
from robot_semantics.transforms.arrays import IntArray

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


@dataclass(frozen=True)
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
        invalid: treatment of a joint state with a position that is not finite.
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
    invalid: Invalid = Invalid.SKIP


@dataclass
class Report:
    """Result of an export.

    Attributes:
        recording: the recording.
        times_ns: the times (n,) [ns].
        frames: the frames that every state may have.
        gaps: by kind and name.
        format: the output format.
        single: whether that is one document.
    """

    recording: Recording
    times_ns: IntArray
    frames: tuple[str, ...]
    world_frame: str
    format: str
    single: bool
    gaps: dict[tuple[str, str], GapSummary] = field(default_factory=dict)

    @property
    def description_problems(self) -> Diagnostics:
        """The problems inside the robots' descriptions, which were read leniently."""
        found = Diagnostics()
        for robot in self.recording.robots:
            found.extend(robot.problems)
        return found


def export(request: ExportRequest, problems: Diagnostics, progress: Progress | None = None) -> Report:
    """Export world states from bags; problems of the bags and missing values go to `problems`.

    `Report.description_problems` has the problems inside the descriptions.

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
        plan = plan_recording(
            request.bags, request.robots, problems, at_topic=request.times.at_topic, invalid=request.invalid
        )
        # A dry run leaves no trace, not even a folder.
        dry = request.out is None or request.dry_run
        beside = Path(tempfile.gettempdir()) if request.out is None or dry else request.out.absolute().parent
        beside.mkdir(parents=True, exist_ok=True)
        scratch = stack.enter_context(scratch_folder(beside))
        # Inside the folder's block: the workers stop before the folder is deleted.
        workers: Workers = stack.enter_context(choose_workers(request.jobs, request.dask))
        recording = read_around(plan, request.times, problems) if request.run is None else None
        if recording is None:
            watch.phase("reading", plan.message_count)
            recording = read_whole(plan, workers, scratch / "columns", problems, watch.advance, run=request.run)
        sampler = WorldSampler(recording, request.sampling, problems)
        times = choose_times(request.times, recording, problems)
        if one_file and len(times) > 1:
            raise RequestError(f"{len(times)} states need a folder, not the one file '{request.out}'")
        single = one_file and len(times) == 1
        report = Report(recording, times, sampler.frames, sampler.world_frame, name, single)
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
        raise RequestError(f"{error}: give --format {', '.join(FORMATS)}") from None


def _write(
    request: ExportRequest,
    sampler: WorldSampler,
    workers: Workers,
    scratch: Path,
    report: Report,
    watch: Progress,
) -> None:
    """Write the states. A dry run makes all states, with all errors, but does not write them."""
    is_folder = report.format == "usdf" and not report.single
    out = request.out or scratch / "states"
    dry = request.dry_run or request.out is None
    kept = "beside" if report.single else FORMATS[report.format].descriptions
    names, descriptions = description_files(
        report.recording.robots, out, inside=kept == "inside", beside=kept == "beside"
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

            def work() -> Iterator[Block]:
                for series in sampled:
                    waiting.append(series)
                    yield Block(report.format, series, max_gap_ns)

            written = ((waiting.popleft(), texts) for texts in workers.map(render, work()))
        else:
            written = ((series, []) for series in sampled)
        for series, texts in written:
            if not dry:
                output.add(series, texts)
            count_gaps(report.gaps, series, max_gap_ns)
            watch.advance(len(series))
        output.finish()
        if kept == "beside" and not dry:
            save_all({out.parent / name: declared_utf8(text).encode() for name, text in descriptions.items()})


def _block_size(report: Report, sampler: WorldSampler) -> int:
    """Return the number of states in a block, so that a block is small."""
    first = sampler.sample(report.times_ns[:1])
    width = sum(array.nbytes for array in series_arrays(first).values())
    return max(16, min(FORMATS[report.format].block_states, BLOCK_BYTES // max(width, 1)))


def _open(path: Path, report: Report, descriptions: Mapping[str, str], scratch: Path, request: ExportRequest) -> Output:
    about: JsonObject = {
        "bags": [str(bag) for bag in request.bags],
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
