# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""A recording: one or several bags read together, as joint states, transforms and texts of one run."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from pathlib import Path

import numpy as np

from robot_semantics.base.diagnostics import Diagnostics, SourcePlace
from robot_semantics.base.names import quoted
from robot_semantics.base.nanoseconds import short_seconds
from robot_semantics.base.record import record
from robot_semantics.cdr.message_types import JOINT_STATE, STRING
from robot_semantics.recording.bags.columns import IN_MEMORY_BYTES, Array, Pieces, Stream, in_order
from robot_semantics.recording.bags.source import RequestError, free_frame, topic_name
from robot_semantics.recording.read.clocks import (
    OTHER_CLOCK_TO_NS,
    WALL_CLOCK_FROM_NS,
    ClockReader,
    Clocks,
    ClockStep,
    RecordedSender,
    from_zero,
)
from robot_semantics.recording.read.messages import REFUSED, Refusals, Text
from robot_semantics.recording.read.plan import TF_TYPES, RecordedRobot, RecordingPlan, describe_robot, frame_aliases
from robot_semantics.recording.read.stretches import Stretch, Task, first_joint_names
from robot_semantics.recording.tracks.history import TransformHistory, transform_history
from robot_semantics.recording.tracks.namespaces import EACH_ROBOTS_OWN, TF_KINDS, FrameNames, frame_names
from robot_semantics.transforms.arrays import FloatArray, IntArray
from robot_semantics.usdf.world_state import SEPARATOR, WORLD

FAR, NEAR, FEWEST, SAMPLES = 0.01, 0.25, 5, 512
"""Least distance of paths [m, rad], most share of it for other steps, least number of returns, samples at a time."""

QUANTITIES = {Stream.JOINTS: "position", Stream.TF: "pose", Stream.ODOMETRY: "pose", Stream.MULTI_DOF: "pose"}


def report_alternation(pieces: Pieces, problems: Diagnostics, place: SourcePlace) -> None:
    """Warn of topics with joints or frames whose values alternate."""
    topics: dict[str, dict[str, list[tuple[IntArray, Array]]]] = {}
    for key, parts in pieces.items():
        quantity = QUANTITIES.get(key.kind, "")
        for part in (part for part in parts if quantity in part):
            for column, name in enumerate(key.names):
                values = part[quantity] if key.kind == Stream.ODOMETRY else part[quantity][:, column]
                topics.setdefault(key.topic, {}).setdefault(name, []).append((part["log"], values))
    for topic, samples in topics.items():
        if names := [name for name, parts in samples.items() if alternates(parts)]:
            text = f"values of {quoted(names, 3)} alternate between two paths; are there two publishers?"
            problems.warning("two-senders", f"topic '{topic}': {text}", place)


def alternates(parts: Sequence[tuple[IntArray, Array]]) -> bool:
    """Return True if the samples, log times (n,) and values (n, k), alternate; 16 stretches of them are checked."""
    ends = np.cumsum([len(logs) for logs, _ in parts])
    order = np.argsort(np.concatenate([logs for logs, _ in parts]), kind="stable")
    for start in range(0, len(order), max(SAMPLES, len(order) // 16)):
        samples = order[start : start + SAMPLES]
        places = np.searchsorted(ends, samples, side="right")
        values = np.empty((len(samples), parts[0][1][:1].size))
        for part in np.unique(places):
            mine = places == part
            values[mine] = parts[part][1][samples[mine] - ends[part]].reshape(-1, values.shape[1])
        if _two_paths(values[~np.isnan(values).any(axis=1)]):
            return True
    return False


def _two_paths(values: FloatArray) -> bool:
    # Angles at π and -π are equal, and so are quaternions q and -q.
    one = values.shape[1] == 1
    values = np.hstack([np.sin(values), np.cos(values)] if one else [values[:, :3], np.abs(values[:, 3:])])
    step, over = (np.abs(values[n:] - values[:-n]).max(axis=1, initial=0.0) for n in (1, 2))
    away = np.minimum(step[:-1], step[1:])
    returns = (away > FAR) & (over < NEAR * away)
    if returns.sum() < FEWEST:
        return False
    others = step[~(np.append(returns, False) | np.insert(returns, 0, False))]
    return not len(others) or bool(np.quantile(others, 0.9) < NEAR * np.median(away[returns]))


# The parent frames of virtual joints in a recording; a link called ``world`` is not the world frame.


def with_parent_frames(
    robots: Sequence[RecordedRobot], names: FrameNames, frames: Collection[str], name_of: Mapping[str, str]
) -> tuple[tuple[RecordedRobot, ...], dict[str, str]]:
    """Return the robots with their virtual joints' parent frames, and the names of frames that differ on TF.

    Args:
        robots: the robots, with the frames of their links.
        names: the names of frames.
        frames: names of all frames of the recording.
        name_of: names of frames by their TF names, from the metadata of our own recordings.
    """
    links = {frame for robot in robots for frame in robot.link_frames}
    tf_names = {name: tf_name for tf_name, name in name_of.items()}
    placed_robots, result = [], dict(name_of)
    for robot in robots:
        below = "" if robot.model is None or not robot.model.has_virtual_joint else robot.model.root_joint.parent_link
        parent_frame = tf_names.get(below, "")
        if below and not parent_frame:
            parent_frame = _recorded_name(robot, below, names, frames, links)
        if below and not parent_frame:
            parent_frame = free_frame(below, {*frames, *links})
            result[parent_frame] = below
        placed_robots.append(replace(robot, parent_frame=parent_frame))
    return tuple(placed_robots), result


def _recorded_name(
    robot: RecordedRobot, below: str, names: FrameNames, frames: Collection[str], links: Collection[str]
) -> str:
    """Return the recording's name of a parent frame; ``""`` if the recording has only links of that name.

    A parent frame is never a link of its own robot, and ``world`` is never a link.
    """
    namespace = robot.namespace.strip("/")
    starts = (
        *([robot.frame_prefix] if robot.frame_prefix else []),
        *((f"{namespace}/", f"{namespace}_") if namespace else ()),
        "",
    )
    no_parents = links if below == WORLD else robot.link_frames
    recorded_names = [names.of(f"{robot.namespace}/tf", f"{start}{below}") for start in starts]
    recorded_names = [name for name in recorded_names if name not in no_parents]
    if not recorded_names:
        return ""
    several = sum(map(bool, names.spaces)) > 1
    otherwise = recorded_names[0] if several and namespace and below in EACH_ROBOTS_OWN else recorded_names[-1]
    return next((name for name in recorded_names if name in frames), otherwise)


LARGE_OFFSET_NS = 1_000_000_000
"""A larger offset [ns] of joint states or odometry is a warning."""

Span = tuple[int, int]
"""From a log time to before another [ns]."""


@record(frozen=True)
class Recording:
    """One run of a recording in memory.

    Attributes:
        plan: the request.
        pieces: columns by the key of their messages.
        names: names of frames.
        history: all transforms.
        robots: as requested, with their descriptions.
        run: index of the run, of `runs`.
        start_ns: the first stamp of the reference; earlier, if another sender's joint states or odometry are.
        end_ns: the last one, or later.
        clocks: the senders, and what was done about their clocks.
        world_names: the names in world states of frames with another name on TF.
    """

    plan: RecordingPlan
    pieces: Pieces
    names: FrameNames
    history: TransformHistory
    robots: tuple[RecordedRobot, ...]
    run: int
    runs: int
    start_ns: int
    end_ns: int
    clocks: Clocks
    world_names: Mapping[str, str] = field(default_factory=dict)

    @property
    def unstated_joints(self) -> frozenset[str]:
        """The joints (``model/joint``) without a position in any state of our own recording."""
        return frozenset(
            f"{robot.name}/{joint.name}"
            for robot in self.robots
            if robot.model is not None and robot.stated_joints is not None
            for joint in robot.model.joints
            if joint.name not in robot.stated_joints
        )

    def topic_stamps(self, topic: str) -> IntArray:
        """Return the stamps (n,) of a topic's messages of this run, in their order of arrival [ns]."""
        found = [part for key, parts in self.pieces.items() if key.topic == topic_name(topic) for part in parts]
        if not found:
            return np.zeros(0, np.int64)
        _, stamps, order = in_order(found)
        return stamps[order]


def combine_stretches(
    plan: RecordingPlan,
    stretches: Iterable[Stretch],
    problems: Diagnostics,
    *,
    run: int | None = None,
    whole: bool = True,
) -> Recording:
    """Combine the stretches of a plan.

    Args:
        plan: what is read.
        stretches: the results of `whole_tasks` or `tasks_of_spans`, in their order.
        problems: takes all problems of the bags and their messages.
        run: number of the run, from 1; None: the last.
        whole: True if they are the whole content of the bags.

    Raises:
        BagError: a bag cannot be read at all. RequestError: the run does not exist, or no message has a time.
    """
    refusals, texts, counts = Refusals(), list[Text](), dict[str, int]()
    pieces: Pieces = {}
    for stretch in stretches:
        for key, arrays in stretch.groups.items():
            pieces.setdefault(key, []).append(arrays)
        texts += stretch.texts
        refusals.extend(stretch.refusals)
        # Every time span of a damaged bag reports the same damage.
        problems.extend(tuple(problem for problem in stretch.problems if problem not in tuple(problems)))
        for topic, count in stretch.counts.items():
            counts[topic] = counts.get(topic, 0) + count
    place = plan.place
    _report_refusals(refusals, problems, plan)
    if whole:
        _report_counts(plan, counts, problems)
    reader = ClockReader(from_zero(pieces))
    _report_ahead(reader.strays, problems, plan)
    chosen = _chosen_run(run, reader.resets, reader.jumps, problems, plan)
    clocks = reader.read(chosen, plan.options.align_ns)
    pieces = clocks.pieces
    _report_clocks(clocks, problems, place)
    start, end = clocks.span_ns() or _static_span(pieces, plan)
    report_alternation(pieces, problems, place)
    robots = tuple(describe_robot(planned, texts, problems) for planned in plan.robots)
    _check_names(robots)
    _hint_at_joint_topics(robots, pieces, plan, problems)
    links: dict[str, set[str]] = {}
    for robot in robots:
        links.setdefault(robot.namespace, set()).update(robot.links)
    names = frame_names(pieces, links)
    robots = tuple(robot.in_frames(names, _frames(pieces, names, TF_KINDS)) for robot in robots)
    _check_frames(robots)
    known = _frames(pieces, names, (*TF_KINDS, Stream.ODOMETRY, Stream.MULTI_DOF))
    names = replace(names, aliases=frame_aliases(robots, names, known, problems, place))
    link_names = {f"{robot.name}{SEPARATOR}{link}" for robot in robots for link in robot.links}
    history = transform_history(pieces, names, problems, place, link_names)
    called = {tf_name: name for bag in plan.bags for tf_name, name in bag.frames.items()}
    robots, called = with_parent_frames(robots, names, set(history.frames), called)
    runs = len(reader.resets) + 1
    return Recording(plan, pieces, names, history, robots, chosen, runs, start, end, clocks, called)


def _hint_at_joint_topics(
    robots: Sequence[RecordedRobot], pieces: Pieces, plan: RecordingPlan, problems: Diagnostics
) -> None:
    """Name each unused topic that has exactly the joints of a robot without a value."""
    for robot in robots:
        own, used = robot.moving_joints, [key for key in pieces if key.kind == Stream.JOINTS]
        missing = own - {name for key in used if key.topic in robot.joint_topics for name in key.names}
        for topic, names in _unused_joint_topics(plan) if missing else ():
            if names & own == missing:
                topics = " ".join(f"--joint-states {name}" for name in (*robot.joint_topics, topic))
                text = f"the unused topic '{topic}' has exactly the joints without a value; give {topics}"
                problems.note("joint-topic-unused", text, plan.places[topic])


def _unused_joint_topics(plan: RecordingPlan) -> Iterator[tuple[str, set[str]]]:
    """Yield the topics with joint states that are not read, and the joints in their first messages."""
    for bag in plan.bags:
        unused = [topic for topic, kind in bag.topics.items() if kind == JOINT_STATE and topic not in plan.topics]
        if unused:
            yield from first_joint_names(bag, unused).items()


def _frames(pieces: Pieces, names: FrameNames, kinds: Collection[str]) -> set[str]:
    """Return the frames that the messages of some kinds name."""
    keys = [key for key in pieces if key.kind in kinds]
    children = {names.of(key.topic, name) for key in keys if key.kind != Stream.MULTI_DOF for name in key.names}
    return children | {names.of(key.topic, name) for key in keys for name in key.parents}


def _check_frames(robots: Sequence[RecordedRobot]) -> None:
    """Refuse robots with the same link frames: the recorded transforms could belong to each of them."""
    for number, robot in enumerate(robots):
        for other in robots[:number]:
            if robot.root_frame == other.root_frame:
                raise RequestError(
                    f"'{other.name}' and '{robot.name}' have the same root frame '{robot.root_frame}'; "
                    "give their namespaces with --model NAME:/NAMESPACE"
                )


def whole_tasks(
    plan: RecordingPlan, pieces: int = 1, folder: Path | None = None, in_memory_bytes: int = IN_MEMORY_BYTES
) -> Iterator[Task]:
    """Yield the reading tasks of a plan.

    Args:
        plan: what to read.
        pieces: number of time spans of each bag that are read in parallel.
        folder: folder for columns that are too large for memory.
        in_memory_bytes: size of columns in memory before they are written to the folder.
    """
    number = 0
    for bag in plan.bags:
        # Damaged files are read from the beginning only, so each is one piece.
        count = 1 if bag.scanned or bag.end_ns <= bag.start_ns else pieces
        step = -(-(bag.end_ns + 1 - bag.start_ns) // count)
        for piece in range(count):
            start = bag.start_ns + piece * step if piece else None
            stop = bag.start_ns + (piece + 1) * step if piece + 1 < count else None
            own = None if folder is None else folder / str(number)
            yield Task(bag.path, plan.topics, bag.scanned, start, stop, own, in_memory_bytes, plan.options)
            number += 1


def tasks_of_spans(plan: RecordingPlan, spans: Sequence[Span]) -> Iterator[Task]:
    """Yield the reading tasks of some time spans, with all static transforms and descriptions."""
    for bag in plan.bags:
        lasting = {topic for topic, kind in bag.topics.items() if kind == STRING or topic.endswith("tf_static")}
        yield Task(bag.path, {topic: part for topic, part in plan.topics.items() if topic in lasting})
        moving = {topic: part for topic, part in plan.topics.items() if topic not in lasting}
        for start, stop in spans:
            yield Task(bag.path, moving, False, start, stop, options=plan.options)


def _report_ahead(ahead: Sequence[ClockStep], problems: Diagnostics, plan: RecordingPlan) -> None:
    for topic in dict.fromkeys(message.topic for message in ahead):
        mine = [message for message in ahead if message.topic == topic]
        noun = "1 message is" if len(mine) == 1 else f"{len(mine)} messages are"
        text = (
            f"topic '{topic}': {noun} stamped ahead of the clock and left out, "
            f"by {short_seconds(max(message.by_ns for message in mine))}, the first at {_clock(mine[0].log_ns)}"
        )
        problems.warning("stamped-ahead", text, plan.places[topic])


def _report_clocks(clocks: Clocks, problems: Diagnostics, place: SourcePlace) -> None:
    """Report clocks that differ from the reference's, by topic, and stamps that go back and forth."""
    reference = " and ".join(f"'{topic}'" for topic in dict.fromkeys(sender.topic for sender in clocks.reference))
    _report_foreign(clocks, problems, place)
    groups: dict[tuple[str, str, bool], list[RecordedSender]] = {}
    for sender in clocks.senders:
        if sender.state in ("shifted", "clock or latency"):
            groups.setdefault((sender.state, sender.topic, sender.kind == Stream.TF), []).append(sender)
    for (state, _, is_tf), senders in groups.items():
        offset_ns = max((sender.offset_ns or 0 for sender in senders), key=abs)
        amount = f"{short_seconds(abs(offset_ns))} {'ahead of' if offset_ns > 0 else 'behind'} {reference}"
        what = f"the clock of {_described(senders)} is {amount}"
        if state == "shifted":
            sign = "-" if offset_ns > 0 else "+"
            text = f"{what}; its stamps are shifted by {sign}{short_seconds(abs(offset_ns))}"
            problems.warning("clock-shifted", text, place)
        elif not is_tf and abs(offset_ns) > LARGE_OFFSET_NS:
            problems.warning("clock-offset", f"{what}: clock or latency; its stamps are read as they are", place)
        else:
            problems.note("clock-offset", f"{what}: clock or latency", place)
    for topic in dict.fromkeys(topic for topic, _ in clocks.mixed):
        names = quoted((name for other, names in clocks.mixed if other == topic for name in names), 3)
        text = f"topic '{topic}': stamps of {names} go back and forth; are there two publishers?"
        problems.warning("two-senders", text, place)


def _report_foreign(clocks: Clocks, problems: Diagnostics, place: SourcePlace) -> None:
    foreign = [sender for sender in clocks.senders if sender.state == "mixed"]
    if not foreign:
        return
    middles = {
        sender: (sender.begin_ns + sender.end_ns) // 2 for sender in clocks.senders if sender.kind != Stream.TIMES
    }
    wall = sorted({sender.topic for sender, middle in middles.items() if middle >= WALL_CLOCK_FROM_NS})
    other = sorted({sender.topic for sender, middle in middles.items() if middle <= OTHER_CLOCK_TO_NS})
    advice = "let all nodes use one clock and record again"
    if wall and other:
        text = f"{quoted(wall)} have stamps of the wall clock, {quoted(other)} of a simulation clock"
    else:
        topics = quoted(dict.fromkeys(sender.topic for sender in clocks.reference))
        text = f"{quoted(dict.fromkeys(sender.topic for sender in foreign))} and {topics} run at different speeds"
    problems.error("clocks-mixed", f"two clocks are mixed: {text}; {advice}", place)


def _described(senders: Sequence[RecordedSender]) -> str:
    """Return the topic of senders, with joints or frames."""
    names = [name for one in senders for name in (one.names if one.kind == Stream.JOINTS else (one.label,))]
    return f"'{senders[0].topic}'" + (f" ({quoted(dict.fromkeys(names), 3)})" if names else "")


def _chosen_run(
    run: int | None, resets: Sequence[ClockStep], jumps: Sequence[ClockStep], problems: Diagnostics, plan: RecordingPlan
) -> int:
    """Return the index of the requested run; report jumps of the clock."""
    for jump in jumps[:5]:
        problems.warning(
            "time-jump",
            f"the stamps of '{jump.topic}' jump ahead by {short_seconds(jump.by_ns)} at {_clock(jump.log_ns)}",
            plan.places[jump.topic],
        )
    chosen = len(resets) if run is None else run - 1
    if not 0 <= chosen <= len(resets):
        raise RequestError(f"run {run} does not exist; the recording has {len(resets) + 1}")
    for number, reset in enumerate(resets):
        which = f"run {chosen + 1} of {len(resets) + 1} is read" if number == 0 else f"run {number + 2} begins"
        text = (
            f"the stamps of '{reset.topic}' go back by {short_seconds(reset.by_ns)} at {_clock(reset.log_ns)}; {which}"
        )
        problems.warning("time-reset", text, plan.places[reset.topic])
    return chosen


def _report_refusals(refusals: Refusals, problems: Diagnostics, plan: RecordingPlan) -> None:
    for (topic, reason), count in refusals.counts.items():
        first = _clock(refusals.first_ns[topic, reason])
        refused = reason.startswith(REFUSED)
        what = "used in part" if (topic, reason) in refusals.partly else "refused"
        noun = "message" if count == 1 else "messages"
        text = f"topic '{topic}': {count} {noun} {what}, the first at {first}: {reason}"
        problems.warning("message-refused" if refused else "value-refused", text, plan.places[topic])


def _report_counts(plan: RecordingPlan, counts: Mapping[str, int], problems: Diagnostics) -> None:
    """Report topics with fewer messages than the bags state: lost splits, or a bag that was cut off."""
    stated: dict[str, int] = {}
    for bag in plan.bags:
        for topic, count in bag.counts().items():
            stated[topic] = stated.get(topic, 0) + count
    for topic in plan.topics:
        if counts.get(topic, 0) < stated.get(topic, 0):
            read = counts.get(topic, 0)
            text = f"topic '{topic}': the index has {stated[topic]} messages, but only {read} could be read"
            problems.error("messages-missing", text, plan.places[topic])


def _check_names(robots: Sequence[RecordedRobot]) -> None:
    names = [robot.name for robot in robots]
    for name in names:
        if names.count(name) > 1:
            raise RequestError(f"two robots are called '{name}'; name them with --model")


def _static_span(pieces: Pieces, plan: RecordingPlan) -> tuple[int, int]:
    """Return the time of a recording that has only static transforms."""
    static = [
        part for key, parts in pieces.items() if key.kind == Stream.TF_STATIC for part in parts if len(part["log"])
    ]
    if not static:
        channels = [channel for bag in plan.bags for channel in bag.channels if channel.messages]
        others = sorted({channel.msgtype or "messages without a schema" for channel in channels})
        only = f", only {', '.join(others)}" if others else ", nor any other message"
        transforms = [topic for bag in plan.bags for topic, kind in bag.topics.items() if kind in TF_TYPES]
        hint = f"; give --tf-topic {transforms[0]}" if transforms else ""
        raise RequestError(f"the recording has no joint states, transforms or odometry{only}{hint}")
    last = int(max(part["log"].max() for part in static))
    return last, last


def _clock(log_ns: int) -> str:
    return f"log time {short_seconds(log_ns)}"
