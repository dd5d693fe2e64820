# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""A recording for notebooks and scripts: one call reads it; methods return states, tables and gaps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np
import numpy.typing as npt

from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.base.nanoseconds import seconds_text
from robot_semantics.live.settings import Invalid
from robot_semantics.recording.bags.source import RequestError
from robot_semantics.recording.read.messages import AS_USUAL, ReadOptions
from robot_semantics.recording.read.plan import RobotRequest, plan_recording
from robot_semantics.recording.read.recording import Recording, combine_stretches, whole_tasks
from robot_semantics.recording.read.stretches import OpenBags, read_stretch
from robot_semantics.recording.read.times import TimeRequest, choose_times, time_of
from robot_semantics.recording.sample.world import Sampling, WorldSampler
from robot_semantics.recording.series.series import GapSummary, Series, count_gaps, report_gaps
from robot_semantics.usdf.world_state import WorldState

if TYPE_CHECKING:
    import pyarrow

Time = int | float | str
"""Seconds as on the command line: from the start, ``"@1700000000.5"``, ``"end"``; or integer nanoseconds since 1970."""

NANOSECONDS_FROM = 10**17
"""An integer from here on, 1973, is nanoseconds; a smaller one seconds."""


class RecordedWorld:
    """A recording in memory; it gives the world at any time.

    Attributes:
        recording: the read transforms, joint states and robots.
        problems: all its problems.
    """

    def __init__(self, recording: Recording, sampling: Sampling, problems: Diagnostics) -> None:
        self.recording, self.problems = recording, problems
        self._sampler = WorldSampler(recording, sampling, problems)
        self._max_gap_ns = sampling.max_gap_ns

    @property
    def start_ns(self) -> int:
        """The first stamp [ns]."""
        return self.recording.start_ns

    @property
    def end_ns(self) -> int:
        """The last stamp [ns]."""
        return self.recording.end_ns

    @property
    def models(self) -> tuple[str, ...]:
        """The names of the robots."""
        return tuple(robot.name for robot in self.recording.robots)

    @property
    def frames(self) -> tuple[str, ...]:
        """The names of the frames."""
        return self._sampler.frames

    def at(self, time: Time) -> WorldState:
        """Return the world at a time.

        Raises:
            RequestError: the time is not a number, or outside the recording.
        """
        (state,) = self.sample(np.array([self._time(time)])).states()
        return state

    def sample(self, times_ns: npt.ArrayLike) -> Series:
        """Return the world at times (n,), integers [ns], as arrays."""
        return self._sampler.sample(np.asarray(times_ns, dtype=np.int64))

    def series(self, *, every: str | float | None = None, at_topic: str | None = None) -> Series:
        """Return the world in steps of `every` [s], or at each message of a topic; by default at each joint state.

        Raises:
            RequestError: the step is not a positive number, or there are too many times.
        """
        if every is None and at_topic is None:
            stamps = [model.joints.stamps_ns() for model in self._sampler.models]
            times = np.unique(np.concatenate([*stamps, np.array([self.end_ns])]))
            return self.sample(times[(times >= self.start_ns) & (times <= self.end_ns)])
        request = TimeRequest(every=None if every is None else str(every), at_topic=at_topic)
        return self.sample(choose_times(request, self.recording, self.problems))

    def table(self, *, every: str | float | None = None, at_topic: str | None = None) -> pyarrow.Table:
        """Return `series` as a `pyarrow.Table` (``.to_pandas()``): one row for each time, one column for each number.

        Raises:
            MissingExtraError: pyarrow is not installed.
            RequestError: as `series`.
        """
        from robot_semantics.recording.series.parquet import series_table

        return series_table(self.series(every=every, at_topic=at_topic))

    def report_gaps(self, series: Series) -> None:
        """Add the old and unknown values of a series to `problems`."""
        gaps: dict[tuple[str, str], GapSummary] = {}
        count_gaps(gaps, series, self._max_gap_ns)
        recording, place = self.recording, self.recording.plan.place
        unstated = recording.unstated_joints
        report_gaps(gaps, self._max_gap_ns, recording.start_ns, len(series), self.problems, place, unstated=unstated)

    @property
    def gaps(self) -> Mapping[tuple[str, str], GapSummary]:
        """Old and unknown values, sampled every 0.1 s, by kind (joint, base, frame) and name."""
        found: dict[tuple[str, str], GapSummary] = {}
        times = np.arange(self.start_ns, self.end_ns + 1, 10**8, dtype=np.int64)
        for block in np.array_split(times, max(1, len(times) // 4096)):
            count_gaps(found, self.sample(block), self._max_gap_ns)
        return found

    def __repr__(self) -> str:
        recording = self.recording
        bags = ", ".join(str(bag.path) for bag in recording.plan.bags)
        duration = seconds_text(self.end_ns - self.start_ns)[:-6]
        lines = [
            f"<recording {bags}: {duration} s from {seconds_text(self.start_ns)} s",
            *(
                f"  robot {robot.name}: "
                + ("no description" if robot.model is None else f"{len(robot.model.links)} links")
                + f", joint states on {', '.join(robot.joint_topics) or 'no topic'}"
                for robot in recording.robots
            ),
            f"  frames: {', '.join(self.frames) or 'none'}; {len(tuple(self.problems))} problems>",
        ]
        return "\n".join(lines)

    def _time(self, time: Time) -> int:
        if isinstance(time, int | np.integer) and time >= NANOSECONDS_FROM:
            time_ns = int(time)
        else:
            time_ns = time_of(str(time), self.recording.start_ns, self.recording.end_ns)
        if not self.start_ns <= time_ns <= self.end_ns:
            span = f"{seconds_text(self.start_ns)} s to {seconds_text(self.end_ns)} s"
            raise RequestError(f"{seconds_text(time_ns)} s is outside the recording, which goes from {span}")
        return time_ns


def read_recording(
    *paths: str | Path,
    models: Mapping[str, str] | None = None,
    urdf: str | Path | None = None,
    srdf: str | Path | None = None,
    joint_states: Sequence[str] = (),
    odometry: str | None = None,
    sampling: Sampling | None = None,
    run: int | None = None,
    invalid_positions: Literal["skip", "refuse"] = "skip",
    tf_topics: Sequence[str] = (),
    pose_topic: str | None = None,
    base_frame: str | None = None,
    frame_prefix: str | None = None,
) -> RecordedWorld:
    """Read bags together as one recording.

    Args:
        paths: the bags.
        models: namespaces by the robots' names, ``{"left": "/left"}``; None: every robot in the bags.
        urdf: the URDF of a single robot, if the bags do not have it.
        srdf: its SRDF.
        joint_states: the topics of its joint states.
        odometry: the topic with its pose.
        sampling: options of states: links, interpolation, and the age of old values.
        run: number of the run, from 1, if the clock was set back; None: the last.
        invalid_positions: whether a joint whose position is not finite is skipped, or its whole message refused.
        tf_topics: other topics with transforms.
        pose_topic: the topic with the pose of its root link.
        base_frame: another name of the frame of its root link.
        frame_prefix: prefix of the frames of its links.

    Raises:
        RobotSemanticsError: the request does not fit the recording, or nothing can be read.
        OSError: a file cannot be read.
    """
    everyone: Mapping[str | None, str] = {None: ""}
    requests = [
        RobotRequest(
            name,
            namespace,
            None if urdf is None else Path(urdf),
            None if srdf is None else Path(srdf),
            tuple(joint_states),
            odometry,
            pose_topic=pose_topic,
            base_frame=base_frame,
            frame_prefix=frame_prefix,
        )
        for name, namespace in (everyone if models is None else models).items()
    ]
    reading = ReadOptions(Invalid(invalid_positions), tuple(tf_topics))
    some = [Path(path) for path in paths]
    return read_requested(some, requests, sampling or Sampling(), run, reading)


def read_requested(
    paths: Sequence[Path],
    requests: Sequence[RobotRequest],
    sampling: Sampling,
    run: int | None = None,
    reading: ReadOptions = AS_USUAL,
) -> RecordedWorld:
    """Read bags together as one recording of the robots in `requests`; raises the same errors as `read_recording`."""
    problems = Diagnostics()
    with OpenBags() as bags:
        plan = plan_recording(paths, requests, problems, options=reading, open_bags=bags)
        stretches = map(partial(read_stretch, bags=bags), whole_tasks(plan))
        recording = combine_stretches(plan, stretches, problems, run=run)
    for robot in recording.robots:
        problems.extend(robot.problems)
    return RecordedWorld(recording, sampling, problems)
