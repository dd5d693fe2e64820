# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The clocks of a recording: order and resets of each sender, the reference of times, and the offsets of the others.

A sender is a topic with one set of joint names, or a topic with one frame pair, as in the running node. Stamps are
compared only with stamps of the same sender. Resets divide a recording into runs, and each run is read alone. A sender
whose clock is far from the clock of the reference is shifted as a whole.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from robot_semantics.base.record import record
from robot_semantics.live.senders import (
    BACKS,
    CALM,
    MOST_AHEAD,
    NEVER_NS,
    RESET_NS,
    SAME_CLOCK_NS,
    SMALL_OFFSET_NS,
    STRAY_NS,
    TF_OFFSET_NS,
    WINDOW,
    Arrival,
    ClockedSender,
    StampOrder,
    reference_of,
)
from robot_semantics.live.settings import SenderKind
from robot_semantics.recording.bags.columns import GroupKey, Part, Pieces, Stream, by_part, in_order, take_rows
from robot_semantics.transforms.arrays import BoolArray, IntArray

ALIGN_NS = 10_000_000_000
"""A clock that is further from the reference than this [ns] is shifted, by default. tf2 keeps as much."""

TOGETHER_NS = 1_000_000_000
"""Messages of two senders that were recorded within this time [ns] are together."""

FEWEST_TOGETHER = 5
"""Clocks are compared by at least so many messages."""

STEADY_NS = 1_000_000_000
"""Two clocks run at one speed if the quartiles of their difference lie within this time [ns]."""

JUMP_NS = 10_000_000_000
"""Stamps that run ahead by this much more than the time of recording are told."""

WALL_CLOCK_FROM_NS = 10**9 * 1_000_000_000
"""Stamps from here on, the year 2001, are of the wall clock."""

OTHER_CLOCK_TO_NS = 10**8 * 1_000_000_000
"""Stamps up to here, three years, are of a clock that was started, as a simulator's."""

_KINDS = {
    Stream.JOINTS: SenderKind.JOINT_STATES,
    Stream.MULTI_DOF: SenderKind.MULTI_DOF,
    Stream.ODOMETRY: SenderKind.ODOMETRY,
    Stream.TF: SenderKind.TF,
}
_SPEAKERS = (Stream.JOINTS, Stream.MULTI_DOF, Stream.ODOMETRY)


class ClockStep(NamedTuple):
    """A jump of the stamps against the time of recording: a clock set back or ahead, or a message ahead of its clock.

    Attributes:
        log_ns: log time of the first message after it.
        by_ns: size of the jump [ns].
        topic: the first topic with the jump.
    """

    log_ns: int
    by_ns: int
    topic: str


class RecordedSender(NamedTuple):
    """One sender of a recording.

    Attributes:
        kind: as of `GroupKey`.
        topic: the topic.
        names: joint names in order, or parent and child frame.
        messages: number of its messages in the run.
        first_ns, last_ns: log times of the first and last message.
        begin_ns, end_ns: its least and greatest stamp, as it is read.
        clock_ns: median of its stamps without the log times.
        interval_ns: median time between two messages; None for one message.
        offset_ns: median of its stamps' difference to the reference's; None if they were not heard together.
        shift_ns: what was added to its stamps.
        state: ``reference``, ``in step``, ``clock or latency``, ``shifted``, ``mixed`` or ``not heard together``.
    """

    kind: Stream
    topic: str
    names: tuple[str, ...]
    messages: int
    first_ns: int
    last_ns: int
    begin_ns: int
    end_ns: int
    clock_ns: int
    interval_ns: int | None = None
    offset_ns: int | None = None
    shift_ns: int = 0
    state: str = "not heard together"

    @property
    def label(self) -> str:
        """The joints, or the frame in its parent, for a table."""
        return ", ".join(self.names) if self.kind == Stream.JOINTS else " → ".join(self.names)


class _Place(NamedTuple):
    """Where the messages of a sender are: a part of a group, and for transforms the column."""

    key: GroupKey
    number: int
    column: int


@dataclass
class _SenderRows:
    """The messages of one sender, in their groups.

    Attributes:
        masks: for each place, the kept rows; places with all rows are missing.
    """

    kind: Stream
    topic: str
    names: tuple[str, ...]
    places: list[_Place] = field(default_factory=list)
    masks: dict[_Place, BoolArray] = field(default_factory=dict)

    def times(self, pieces: Pieces) -> tuple[IntArray, IntArray, IntArray]:
        """Return the log times and stamps (n,) of its kept messages [ns], in order of arrival, and their rows."""
        parts = [(pieces[place.key][place.number], place) for place in self.places]
        logs = np.concatenate([np.asarray(part["log"]) for part, _ in parts])
        stamps = np.concatenate([_stamps(part, place.column) for part, place in parts])
        rows = np.arange(len(logs))
        if self.masks:
            rows = np.flatnonzero(np.concatenate([self._mask(pieces, place) for place in self.places]))
        order = rows[np.argsort(logs[rows], kind="stable")]
        return logs[order], stamps[order], order

    def _mask(self, pieces: Pieces, place: _Place) -> BoolArray:
        whole = np.ones(len(pieces[place.key][place.number]["log"]), np.bool_)
        return self.masks.get(place, whole)

    def drop(self, pieces: Pieces, rows: IntArray) -> None:
        """Leave out messages by their rows, as `times` gives them."""
        counts = [len(pieces[place.key][place.number]["log"]) for place in self.places]
        dropped = np.zeros(sum(counts), np.bool_)
        dropped[rows] = True
        for place, mine in zip(self.places, np.split(dropped, np.cumsum(counts)[:-1]), strict=True):
            if mine.any():
                self.masks[place] = self._mask(pieces, place) & ~mine


def _stamps(part: Part, column: int) -> IntArray:
    stamps = part["stamp"]
    return np.asarray(stamps[:, column] if stamps.ndim == 2 else stamps)


def _senders(pieces: Pieces) -> list[_SenderRows]:
    """Return the senders of a recording, without static transforms."""
    rows_of: dict[tuple[str, str, tuple[str, ...]], _SenderRows] = {}
    for key, parts in pieces.items():
        if key.kind == Stream.TF_STATIC:
            continue
        columns: list[tuple[int, tuple[str, ...]]]
        if key.kind == Stream.TF:
            columns = list(enumerate(zip(key.parents, key.names, strict=True)))
        else:
            columns = [(0, tuple(sorted(key.names)) if key.kind == Stream.JOINTS else (*key.parents, *key.names))]
        for column, names in columns:
            series = rows_of.setdefault((key.kind, key.topic, names), _SenderRows(key.kind, key.topic, names))
            series.places += [_Place(key, number, column) for number, part in enumerate(parts) if len(part["log"])]
    return [series for series in rows_of.values() if series.places]


def from_zero(pieces: Pieces) -> Pieces:
    """Return the messages; those with stamp 0 keep it if their clock began at 0 then.

    Any other message with stamp 0 has no stamp, so its time of recording is used.
    """
    return {key: parts if key.kind == Stream.TF_STATIC else _group_from_zero(parts) for key, parts in pieces.items()}


def _group_from_zero(parts: list[Part]) -> list[Part]:
    logs, stamps, order = in_order(parts)
    without = (stamps == logs) & (logs >= WALL_CLOCK_FROM_NS)
    stamped = order[~without[order]]
    if not without.any() or not len(stamped):
        return parts
    # The next stamp decides: it is small if the clock started at 0.
    after = np.searchsorted(logs[stamped], logs, side="right")
    following = stamps[stamped[np.minimum(after, len(stamped) - 1)]]
    zero = without & (after < len(stamped)) & (following <= RESET_NS)
    result = []
    for part, mine in by_part(parts, zero):
        stamp = np.asarray(part["stamp"])
        column = (-1, *[1] * (stamp.ndim - 1))
        none = mine.reshape(column) & (stamp == np.asarray(part["log"]).reshape(column))
        result.append({**part, "stamp": np.where(none, 0, stamp)} if mine.any() else part)
    return result


# Order: late messages, messages ahead of their clock, and resets, sender by sender.


class StampScan(NamedTuple):
    """What is odd about the stamps of one sender.

    Attributes:
        resets: (index, jump back [ns]) of the first message after each reset.
        strays: (index, lead [ns]) of messages ahead of their clock.
        mixed: True if the stamps go back and forth, as of two publishers.
    """

    resets: tuple[tuple[int, int], ...] = ()
    strays: tuple[tuple[int, int], ...] = ()
    mixed: bool = False


Pace = Callable[[int, int], int]
"""How far the clock of a sender advances between two log times [ns]."""


def _log_time(before_ns: int, after_ns: int) -> int:
    return after_ns - before_ns


def scan_stamps(stamps_ns: IntArray, logs_ns: IntArray, pace: Pace = _log_time) -> StampScan:
    """Return what is odd about stamps (n,) in order of arrival, by the rules of the running node.

    `logs_ns` (n,) are the log times.
    """
    steps = np.diff(stamps_ns)
    if not len(steps) or (steps.min() >= 0 and steps.max() <= STRAY_NS):
        return StampScan()
    highest = np.maximum.accumulate(stamps_ns)
    mixed = _mixed(steps, highest - stamps_ns)
    if (highest - stamps_ns).max() < RESET_NS and steps.max() <= STRAY_NS:
        return StampScan(mixed=bool(mixed.any()))
    return _Scanner(stamps_ns, logs_ns, mixed, pace).result()


def _mixed(steps: IntArray, behind: IntArray) -> BoolArray:
    """Return the messages (n,) of several publishers: their stamps go back and forth by about the same time.

    Args:
        steps: (n - 1,) of the stamps.
        behind: (n,) how far each stamp is behind the greatest one before.
    """
    mixed = np.zeros(len(behind), np.bool_)
    backs = np.flatnonzero(steps < 0) + 1
    # They go forth between: each step back is from the greatest stamp so far.
    backs = backs[behind[backs - 1] == 0]
    for number in range(len(backs) - BACKS + 1):
        few = backs[number : number + BACKS]
        if few[-1] - few[0] < WINDOW and np.ptp(behind[few]) <= SAME_CLOCK_NS:
            mixed[few[0] : few[-1] + CALM] = True
    return mixed


class _Scanner:
    """One pass over the stamps of a sender with `StampOrder`."""

    def __init__(self, stamps_ns: IntArray, logs_ns: IntArray, mixed: BoolArray, pace: Pace) -> None:
        self._stamps, self._logs, self._mixed, self._pace = stamps_ns, logs_ns, mixed, pace
        self._order = StampOrder()
        self._resets: list[tuple[int, int]] = []
        self._strays: list[tuple[int, int]] = []
        # The messages that wait for confirmation, and the first message of a possible reset.
        self._waiting: list[int] = []
        self._suspect = 0
        # The last jump ahead, and the stamp before it; for several publishers the newest stamp, and its message.
        self._jump, self._before_ns = 0, NEVER_NS
        self._newest_index, self._newest_ns = 0, NEVER_NS
        self._heard_ns = 0
        for index in range(len(stamps_ns)):
            self._take(index, int(stamps_ns[index]), int(logs_ns[index]))
        self._strays += [(one, int(stamps_ns[one]) - self._order.last_ns) for one in self._waiting]

    def _take(self, index: int, stamp_ns: int, log_ns: int) -> None:
        order = self._order
        last_ns, ahead = order.last_ns, order.ahead
        is_far = index > 0 and stamp_ns - last_ns > STRAY_NS
        clock_ns = last_ns + self._pace(self._heard_ns, log_ns) if is_far else last_ns
        mixed = bool(self._mixed[index])
        arrival = order.take(stamp_ns, log_ns, clock_ns, mixed=mixed, count=index + 1)
        if arrival is Arrival.STRAY:
            self._waiting.append(index)
            return
        if arrival is Arrival.LATE:
            self._note_late(index, stamp_ns, last_ns)
            return
        if order.ahead == 1 and ahead != 1:
            # A jump that waited for this message began with the first message that waited.
            self._jump, self._before_ns = (self._waiting or [index])[0], last_ns
        if stamp_ns - last_ns <= STRAY_NS:
            self._strays += [(one, int(self._stamps[one]) - last_ns) for one in self._waiting]
        self._waiting, self._heard_ns = [], log_ns
        if arrival is Arrival.RETURN:
            ahead_of = [one for one in range(self._jump, self._suspect) if self._lead(one) > RESET_NS]
            self._strays += [(one, self._lead(one)) for one in ahead_of]
        elif arrival is Arrival.RESET:
            self._note_reset(self._newest_index + 1 if mixed else self._suspect, self._newest_ns if mixed else last_ns)
            self._newest_ns = stamp_ns
        if stamp_ns >= self._newest_ns - RESET_NS:
            self._newest_index, self._newest_ns = index, max(self._newest_ns, stamp_ns)
        self._suspect = 0

    def _lead(self, index: int) -> int:
        """Return how far a stamp is ahead of the one before the last jump."""
        return int(self._stamps[index]) - self._before_ns

    def _note_late(self, index: int, stamp_ns: int, last_ns: int) -> None:
        if last_ns - stamp_ns < RESET_NS:
            self._suspect = 0
        elif not self._suspect or stamp_ns < self._stamps[self._suspect]:
            self._suspect = index

    def _note_reset(self, start: int, last_ns: int) -> None:
        self._resets.append((start, last_ns - int(self._stamps[start])))

    def result(self) -> StampScan:
        return StampScan(tuple(self._resets), tuple(sorted(self._strays)), bool(self._mixed.any()))


def _are_first_ahead(stamps_ns: IntArray, start: int) -> bool:
    """Return True if a few messages before the first reset, at `start`, are ahead of all others."""
    first = stamps_ns[:start]
    return len(first) <= MOST_AHEAD and bool(first.min() > stamps_ns[start:].max() + RESET_NS)


def _pace_of(pieces: Pieces, series: _SenderRows) -> Pace:
    """Return how far clocks advance between two log times, by the stamps of the sender with most messages."""
    logs, stamps, _ = series.times(pieces)
    advance = np.concatenate([[0], np.cumsum(np.clip(np.diff(stamps), 0, STRAY_NS))])

    def pace(before_ns: int, after_ns: int) -> int:
        first, last = (int(np.searchsorted(logs, log_ns, side="right")) for log_ns in (before_ns, after_ns))
        if not first or first == last:
            return after_ns - before_ns
        return int(advance[last - 1] - advance[first - 1]) + after_ns - int(logs[last - 1])

    return pace


@dataclass
class _Border:
    """A reset of the clock.

    Attributes:
        step: the jump that shows it first.
        cuts: log time from which the messages of each sender of this clock are after it, by the sender's number.
        shown: the senders that have shown it themselves.
    """

    step: ClockStep
    cuts: dict[int, int]
    shown: set[int]


@record(frozen=True)
class Clocks:
    """The clocks of a recording.

    Attributes:
        pieces: the messages of the run.
        senders: its senders, the reference first.
        resets: the resets that divide the recording into runs.
        jumps: jumps of the stamps ahead of the time of recording.
        strays: messages that were stamped ahead of their clock, and left out.
        mixed: topic and names of senders whose stamps go back and forth.
    """

    pieces: Pieces
    senders: tuple[RecordedSender, ...]
    resets: tuple[ClockStep, ...]
    jumps: tuple[ClockStep, ...]
    strays: tuple[ClockStep, ...]
    mixed: tuple[tuple[str, tuple[str, ...]], ...]

    @property
    def reference(self) -> tuple[RecordedSender, ...]:
        """The senders whose stamps are the time of the recording."""
        return tuple(sender for sender in self.senders if sender.state == "reference")

    @property
    def is_plain(self) -> bool:
        """True if no sender was shifted, and none has a clock that cannot be compared."""
        return not any(sender.state in ("shifted", "mixed") for sender in self.senders)

    def span_ns(self) -> tuple[int, int] | None:
        """Return the first and last time: those of the reference, extended by the others in step, and by joint states
        and odometry of any clock.
        """
        reference = self.reference
        clock_ns = reference[0].clock_ns if reference else 0
        moving = reference + tuple(
            sender
            for sender in self.senders
            if (sender.kind in _SPEAKERS and sender.state != "mixed")
            # Transforms may be dated ahead; these are not.
            or (sender.kind == Stream.TF and abs(sender.clock_ns - clock_ns) <= SMALL_OFFSET_NS)
        )
        moving = moving or tuple(sender for sender in self.senders if sender.state != "mixed")
        if not moving:
            return None
        return min(sender.begin_ns for sender in moving), max(sender.end_ns for sender in moving)


class ClockReader:
    """Reads the clocks of a recording: first its resets, then the offsets in one run."""

    def __init__(self, pieces: Pieces) -> None:
        self._pieces = pieces
        self._series = _senders(pieces)
        self.strays: list[ClockStep] = []
        self.jumps: list[ClockStep] = []
        self.mixed: list[tuple[str, tuple[str, ...]]] = []
        events: list[tuple[int, int, int, int]] = []
        doubtful: list[tuple[tuple[int, int, int, int], IntArray]] = []
        moving = [series for series in self._series if series.kind != Stream.TIMES]
        pacer = max(moving, key=self._count, default=None)
        for number, series in enumerate(self._series):
            logs, stamps, rows = series.times(pieces)
            is_odd = len(stamps) > 1 and not (np.diff(stamps) >= 0).all()
            is_odd = is_odd or bool((np.diff(stamps) > STRAY_NS).any())
            if not is_odd:
                continue
            pace = _log_time if pacer is None or pacer is series else _pace_of(pieces, pacer)
            scan = scan_stamps(stamps, logs, pace)
            if scan.mixed:
                self.mixed.append((series.topic, series.names))
            self.strays += [ClockStep(int(logs[one]), by_ns, series.topic) for one, by_ns in scan.strays]
            series.drop(pieces, rows[[one for one, _ in scan.strays]])
            own = [(int(logs[one]), number, by_ns, int(stamps[one]) + by_ns) for one, by_ns in scan.resets]
            if own and _are_first_ahead(stamps, scan.resets[0][0]):
                doubtful.append((own[0], rows[: scan.resets[0][0]]))
                own = own[1:]
            events += own
            self._note_jumps(series)
        self._borders = self._group(sorted(events))
        for event, first_rows in doubtful:
            self._settle(event, first_rows)
        self.strays.sort()
        self.jumps.sort()

    def _count(self, series: _SenderRows) -> int:
        return sum(len(self._pieces[place.key][place.number]["log"]) for place in series.places)

    def _note_jumps(self, series: _SenderRows) -> None:
        logs, stamps, _ = series.times(self._pieces)
        ahead = np.diff(stamps) - np.diff(logs)
        for one in np.flatnonzero(ahead > JUMP_NS).tolist():
            self.jumps.append(ClockStep(int(logs[one + 1]), int(ahead[one]), series.topic))

    @property
    def resets(self) -> tuple[ClockStep, ...]:
        """The resets that divide the recording into runs."""
        return tuple(border.step for border in self._borders)

    def _group(self, events: Sequence[tuple[int, int, int, int]]) -> list[_Border]:
        """Return the resets of whole clocks; senders of one clock show the same reset one after the other."""
        borders: list[_Border] = []
        for log_ns, number, by_ns, clock_ns in events:
            # The last reset of this sender's clock that the sender has not shown yet.
            border = next((one for one in reversed(borders) if number in one.cuts), None)
            if border is not None and number not in border.shown:
                border.shown.add(number)
                border.cuts[number] = log_ns
                continue
            step = ClockStep(log_ns, by_ns, self._series[number].topic)
            cuts = dict.fromkeys(self._same_clock(number, clock_ns, log_ns), log_ns) | {number: log_ns}
            borders.append(_Border(step, cuts, {number}))
        return borders

    def _settle(self, event: tuple[int, int, int, int], first_rows: IntArray) -> None:
        """Take a few first messages that are ahead of all others as before a reset, if others show this reset.

        Otherwise they were stamped ahead, and are left out.
        """
        log_ns, number, by_ns, _ = event
        border = next((one for one in self._borders if number in one.cuts and number not in one.shown), None)
        series = self._series[number]
        if border is not None:
            border.shown.add(number)
            border.cuts[number] = log_ns
            return
        self.strays += [ClockStep(log_ns, by_ns, series.topic)] * len(first_rows)
        series.drop(self._pieces, first_rows)

    def _same_clock(self, number: int, clock_ns: int, log_ns: int) -> Iterator[int]:
        """Yield the other senders whose clock stood within `SAME_CLOCK_NS` of a clock before its reset."""
        own_logs, own_stamps, _ = self._series[number].times(self._pieces)
        for other, series in enumerate(self._series):
            if other == number:
                continue
            logs, stamps, _ = series.times(self._pieces)
            last = int(np.searchsorted(logs, log_ns, side="left")) - 1
            if last < 0:
                continue
            # Both clocks at the time of the other's last message before the reset.
            mine = int(np.searchsorted(own_logs, logs[last], side="right")) - 1
            if mine < 0:
                own_ns = clock_ns
            else:
                own_ns = int(own_stamps[mine]) + int(logs[last] - own_logs[mine])
            if abs(int(stamps[last]) - own_ns) <= SAME_CLOCK_NS:
                yield other

    def read(self, run: int, align_ns: int = ALIGN_NS) -> Clocks:
        """Return the clocks of the run with this index, and its messages.

        A clock that is further than `align_ns` from the reference is shifted.
        """
        for number, series in enumerate(self._series):
            self._take_run(number, series, run)
        heard = [one for one in self._series if len(one.times(self._pieces)[0])]
        senders = _measured(self._pieces, heard, align_ns)
        shifts = {id(one): sender.shift_ns for one, sender in zip(heard, senders, strict=True) if sender.shift_ns}
        pieces = _applied(self._pieces, self._series, shifts)
        ranked = sorted(senders, key=lambda sender: sender.state != "reference")
        return Clocks(pieces, tuple(ranked), self.resets, tuple(self.jumps), tuple(self.strays), tuple(self.mixed))

    def _take_run(self, number: int, series: _SenderRows, run: int) -> None:
        """Leave out the messages of a sender that are of other runs."""
        cuts = [(index, border.cuts[number]) for index, border in enumerate(self._borders) if number in border.cuts]
        if not cuts:
            return
        logs, _, rows = series.times(self._pieces)
        begin = max((log_ns for index, log_ns in cuts if index < run), default=None)
        end = min((log_ns for index, log_ns in cuts if index >= run), default=None)
        inside = np.ones(len(logs), np.bool_)
        if begin is not None:
            inside &= logs >= begin
        if end is not None:
            inside &= logs < end
        series.drop(self._pieces, rows[~inside])


# The reference, and the offsets of the other clocks.


def _measured(pieces: Pieces, series: Sequence[_SenderRows], align_ns: int) -> list[RecordedSender]:
    """Return the senders with the differences of their clocks to the clock of the reference."""
    senders = []
    for one in series:
        logs, stamps, _ = one.times(pieces)
        interval_ns = int(np.median(np.diff(logs))) if len(logs) > 1 else None
        clock_ns = int(np.median(stamps - logs))
        about = RecordedSender(
            one.kind,
            one.topic,
            one.names,
            len(logs),
            int(logs[0]),
            int(logs[-1]),
            int(stamps.min()),
            int(stamps.max()),
            clock_ns,
            interval_ns,
        )
        senders.append(about)
    choice = [number for number, sender in enumerate(senders) if sender.kind in _KINDS]
    clocked = [
        ClockedSender(_KINDS[sender.kind], sender.topic, sender.clock_ns, sender.messages)
        for sender in (senders[number] for number in choice)
    ]
    reference = {choice[place] for place in reference_of(clocked)}
    if not reference:
        return senders
    # Of the reference, the sender with most messages is compared with all others.
    first = max(sorted(reference), key=lambda number: senders[number].messages)
    logs, stamps, _ = series[first].times(pieces)
    middle = int(np.median(stamps))
    senders[first] = senders[first]._replace(offset_ns=0, state="reference")
    for number, one in enumerate(series):
        if number != first:
            compared = _compared(senders[number], *one.times(pieces)[:2], logs, stamps - logs, middle, align_ns)
            in_step = compared.state in ("in step", "not heard together")
            is_reference = number in reference and in_step
            senders[number] = compared._replace(state="reference") if is_reference else compared
    return senders


def _compared(
    sender: RecordedSender,
    logs: IntArray,
    stamps: IntArray,
    reference_logs: IntArray,
    reference_late: IntArray,
    middle_ns: int,
    align_ns: int,
) -> RecordedSender:
    """Return a sender with the difference of its clock to the reference's, and with its shift.

    Args:
        sender: the sender.
        logs: (n,) of its messages.
        stamps: (n,) of its messages.
        reference_logs: (m,) log times of the reference.
        reference_late: (m,) its stamps without the log times.
        middle_ns: a stamp in the middle of the reference.
        align_ns: a larger difference is shifted.
    """
    after = np.minimum(np.searchsorted(reference_logs, logs), len(reference_logs) - 1)
    before = np.maximum(after - 1, 0)
    nearest = np.where(np.abs(reference_logs[after] - logs) < np.abs(reference_logs[before] - logs), after, before)
    together = np.abs(reference_logs[nearest] - logs) <= TOGETHER_NS
    if together.sum() < FEWEST_TOGETHER:
        return sender._replace(offset_ns=None)
    differences = (stamps - logs - reference_late[nearest])[together]
    low, offset, high = (int(value) for value in np.quantile(differences, (0.25, 0.5, 0.75), method="nearest"))
    sender = sender._replace(offset_ns=offset)
    if abs(offset) <= align_ns:
        is_apart = abs(offset) > (TF_OFFSET_NS if sender.kind == Stream.TF else SMALL_OFFSET_NS)
        return sender._replace(state="clock or latency" if is_apart else "in step")
    own_middle = int(np.median(stamps))
    is_other_kind = any(
        one >= WALL_CLOCK_FROM_NS and other <= OTHER_CLOCK_TO_NS
        for one, other in ((own_middle, middle_ns), (middle_ns, own_middle))
    )
    if is_other_kind or high - low > STEADY_NS:
        return sender._replace(state="mixed")
    begin_ns, end_ns = sender.begin_ns - offset, sender.end_ns - offset
    return sender._replace(shift_ns=-offset, begin_ns=begin_ns, end_ns=end_ns, state="shifted")


def _applied(pieces: Pieces, series: Sequence[_SenderRows], shifts: Mapping[int, int]) -> Pieces:
    """Return the messages without those that were left out, and with shifted stamps."""
    changed: dict[tuple[GroupKey, int], list[tuple[_Place, BoolArray | None, int]]] = {}
    for one in series:
        for place in one.places:
            kept, shift_ns = one.masks.get(place), shifts.get(id(one), 0)
            if kept is not None or shift_ns:
                changed.setdefault((place.key, place.number), []).append((place, kept, shift_ns))
    if not changed:
        return pieces
    result: Pieces = {}
    for key, parts in pieces.items():
        for number, part in enumerate(parts):
            own_key, own = _changed(key, part, changed.get((key, number), ()))
            if len(own["log"]):
                result.setdefault(own_key, []).append(own)
    return result


def _changed(
    key: GroupKey, part: Part, changes: Sequence[tuple[_Place, BoolArray | None, int]]
) -> tuple[GroupKey, Part]:
    if not changes:
        return key, part
    stamps = np.array(part["stamp"])
    for place, _, shift_ns in changes:
        if stamps.ndim == 2:
            stamps[:, place.column] += shift_ns
        else:
            stamps += shift_ns
    part = {**part, "stamp": stamps}
    masks = [(place.column, is_kept) for place, is_kept, _ in changes if is_kept is not None]
    if not masks:
        return key, part
    width = len(key.names) if key.kind == Stream.TF else 1
    if width > 1:
        # The other transforms of a message stay.
        poses = np.array(part["pose"])
        for column, is_kept in masks:
            poses[~is_kept, column] = np.nan
        rows = np.flatnonzero(~np.isnan(poses[:, :, 0]).all(axis=1))
        part, key = {**part, "pose": poses}, key._replace(has=("holes",))
    else:
        rows = np.flatnonzero(masks[0][1])
    return key, {name: take_rows(array, rows) for name, array in part.items()}
