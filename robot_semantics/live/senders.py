# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Senders: who sent a value, in which order, by which clock, and whether the sender is silent.

A sender is a topic with one set of joint names, or a topic with one frame pair. Every computer has its own clock.
Therefore a stamp is compared only with stamps of the same sender. Silence is measured by arrival, on the steady clock.
The node and recordings use the same rules.
"""

from __future__ import annotations

import enum
import hashlib
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from operator import itemgetter
from typing import NamedTuple

import numpy as np

from robot_semantics.live.joint_state import InputPlan
from robot_semantics.live.settings import JOINT_KINDS, SenderKind
from robot_semantics.transforms.arrays import BoolArray, IntArray

NEVER_NS = -(1 << 62)
"""Stamp before any message; differences to it do not overflow 64 bits."""

RESET_NS = 1_000_000_000
"""A clock that steps back by at least this much [ns] was reset, if the next message follows in order."""

STRAY_NS = 10_000_000_000
"""A stamp further beyond its sender's clock [ns] waits for the next message. tf2 keeps as much."""

SAME_CLOCK_NS = 1_000_000_000
"""Senders whose clocks differ by at most this much [ns] are reset together."""

JUMP_NS = 100_000_000
"""A clock that advances by so much more than the steady time [ns] has jumped, as that of a simulator that steps."""

SHARED_CLOCK_NS = 10_000_000_000
"""Senders whose clocks differ by at most this much [ns] have one clock, for the choice of the reference."""

SMALL_OFFSET_NS, TF_OFFSET_NS = 100_000_000, 2_000_000_000
"""Smaller offsets of clocks are not told [ns]; transforms may be dated ahead."""

MOST_AHEAD = 3
"""At most this many messages in a row are stamped ahead of their clock; more of them are its time."""

BACKS, WINDOW, CALM = 3, 20, 100
"""So many returns in so many messages are of several publishers, until so many messages come without a return."""

MIXED_RESET_NS = 2_000_000_000
"""Several publishers show a reset if all stamps stay back for this long [ns], and for `WINDOW` messages."""

USUAL_INTERVALS = 2.5
"""A sender that keeps its interval is not silent for so many of its intervals."""

ONCE_NS = 1_000_000_000
"""How much later than others a sender with a single message is silent [ns]."""

RARE = 2_000
"""A publisher that sends at least one of so many messages is seen beside another one."""

_LONGEST_NAMES = 20_000
"""Limit for the characters in the names of a sender."""

FAR, NEAR = 0.01, 0.25
"""Values go back and forth if they jump by at least `FAR` [m, rad] and return to within `NEAR` of the jump."""


class Arrival(enum.Enum):
    """How the stamp of a message fits to the stamps before it."""

    IN_ORDER = "in order"
    LATE = "late"
    STRAY = "stray"
    """Too far ahead of its clock; the next message may confirm it."""
    RESET = "reset"
    """The second message of a clock that was set back; the first one was reported as late."""
    RETURN = "return"
    """The second message after the stamps returned from ahead; the first one was reported as late."""


class PublisherWatch:
    """Detector of several publishers: counts the returns of sequence numbers, stamps or values.

    One return may be a restarted publisher. A sequence number that returns, and then goes on where it was before, is of
    a second publisher, even if one of the two rarely sends.

    Attributes:
        count: number of messages.
        sequence: publication sequence number of the newest message; 0 if the middleware does not tell it.
        several: True while the messages are of several publishers.
    """

    __slots__ = ("_highest", "_needed", "_rejoined", "_returns", "count", "sequence", "several")

    def __init__(self, needed: int = BACKS) -> None:
        """Report several publishers after so many returns."""
        self.count, self.sequence, self.several = 0, 0, False
        self._needed = needed
        self._returns: deque[int] = deque(maxlen=needed)
        # The number before a return, until a number above it comes; and the messages that went on there.
        self._highest = 0
        self._rejoined: deque[int] = deque(maxlen=needed)

    def note(self, returned: bool) -> None:
        """Count a message that `returned`, or one that did not."""
        self.count += 1
        if returned:
            self._returns.append(self.count)
            self.several |= len(self._returns) == self._needed and self.count - self._returns[0] < WINDOW
        elif self.several and self.count - self._returns[-1] >= self._calm():
            self.several = False
            self._returns.clear()
            self._rejoined.clear()

    def note_sequence(self, sequence: int) -> None:
        """Count a message by its publication sequence number."""
        previous, self.sequence = self.sequence, sequence
        if sequence <= previous:
            self._highest = max(previous, self._highest)
        elif self._highest and sequence > self._highest:
            if sequence > previous + 1:
                self._rejoin()
            self._highest = 0
        self.note(sequence <= previous)

    def _rejoin(self) -> None:
        if self._rejoined and self.count - self._rejoined[-1] > RARE:
            self._rejoined.clear()
        self._rejoined.append(self.count)
        self.several |= len(self._rejoined) == self._needed

    def _calm(self) -> int:
        """Return after how many messages without a return there is one publisher again."""
        gaps = [after - before for before, after in pairwise(self._rejoined)]
        return max(CALM, 2 * max(gaps, default=0))

    @property
    def is_undecided(self) -> bool:
        """True if a return is too recent to tell a restarted publisher from a second one."""
        return not self.several and bool(self._returns) and self.count - self._returns[-1] < WINDOW


class StampOrder:
    """Order of the stamps of one sender.

    Attributes:
        last_ns: stamp of the newest message in order, `NEVER_NS` before the first.
        ahead: number of messages since a jump ahead by more than `RESET_NS`; 0 after more than `MOST_AHEAD`.
        is_free: True if any next stamp is in order.
        is_mixed: True while the messages are, or may be, of several publishers.
    """

    __slots__ = (
        "_before_ns",
        "_newest_arrival",
        "_newest_ns",
        "_stray_ns",
        "_suspect_ns",
        "ahead",
        "is_free",
        "is_mixed",
        "last_ns",
    )

    def __init__(self) -> None:
        self.last_ns = self._before_ns = self._newest_ns = NEVER_NS
        self._suspect_ns: int | None = None
        self._stray_ns: int | None = None
        self.is_mixed, self._newest_arrival = False, (NEVER_NS, 0)
        self.ahead, self.is_free = 0, True

    def take(self, stamp_ns: int, arrived_ns: int, clock_ns: int, *, mixed: bool = False, count: int = 0) -> Arrival:
        """Return how a stamp fits to the earlier ones, and remember it.

        Args:
            stamp_ns: the stamp.
            arrived_ns: time of arrival, on the steady clock (in a recording: log time).
            clock_ns: the sender's clock now, by the earlier messages.
            mixed: True if the messages are of several publishers, or may be.
            count: number of messages of this sender, for `mixed`.
        """
        if self.is_free:
            self._accept(stamp_ns)
            self.is_free, self.is_mixed, self.ahead = False, False, 0
            return Arrival.IN_ORDER
        if mixed:
            return self._take_mixed(stamp_ns, arrived_ns, count)
        self.is_mixed = False
        back_ns = self.last_ns - stamp_ns
        if back_ns > 0:
            return self._take_back(stamp_ns, back_ns)
        if stamp_ns > clock_ns + STRAY_NS and not self._confirms(stamp_ns):
            self._stray_ns = stamp_ns
            return Arrival.STRAY
        if back_ns < -RESET_NS:
            self.ahead, self._before_ns = 1, self.last_ns
        elif self.ahead:
            self.ahead = (self.ahead + 1) % (MOST_AHEAD + 1)
        self._accept(stamp_ns)
        return Arrival.IN_ORDER

    def _accept(self, stamp_ns: int) -> None:
        self.last_ns, self._suspect_ns, self._stray_ns = stamp_ns, None, None

    def _confirms(self, stamp_ns: int) -> bool:
        return self._stray_ns is not None and abs(stamp_ns - self._stray_ns) <= STRAY_NS

    def _take_back(self, stamp_ns: int, back_ns: int) -> Arrival:
        if back_ns < RESET_NS:
            self._suspect_ns = None
            return Arrival.LATE
        if self._suspect_ns is None or stamp_ns < self._suspect_ns:
            self._suspect_ns = stamp_ns
            return Arrival.LATE
        arrival = Arrival.RETURN if self.ahead and stamp_ns >= self._before_ns else Arrival.RESET
        self.ahead = 0
        self._accept(stamp_ns)
        return arrival

    def _take_mixed(self, stamp_ns: int, arrived_ns: int, count: int) -> Arrival:
        """Take a message of several publishers: none is late, and a reset shows in all later messages."""
        if not self.is_mixed:
            self.is_mixed, self._newest_ns, self._newest_arrival = True, self.last_ns, (arrived_ns, count - 1)
        near_ns, near_count = self._newest_arrival
        self._accept(stamp_ns)
        self.ahead = 0
        if stamp_ns >= self._newest_ns - RESET_NS:
            self._newest_ns, self._newest_arrival = max(self._newest_ns, stamp_ns), (arrived_ns, count)
        elif arrived_ns - near_ns >= MIXED_RESET_NS and count - near_count >= WINDOW:
            self._newest_ns, self._newest_arrival = stamp_ns, (arrived_ns, count)
            return Arrival.RESET
        return Arrival.IN_ORDER


class Sender(StampOrder):
    """One sender of the running node.

    Attributes:
        kind: what its messages say.
        topic: the topic.
        names: joint names, or parent and child frame.
        number: its place in `Senders`.
        arrived_ns: when the newest message arrived, on the steady clock; `NEVER_NS` before the first.
        arrivals: when the newest messages arrived.
        joints: (m,) bool, the moving joints of the robot that have its stamps.
        seen: `Senders.advances` at its newest message.
        seen_arrivals_ns: `Senders.arrivals_ns` before its newest message.
        total: number of messages.
        published_ns: stamp of its newest transforms that were sent with a message.
        held_ns: stamp of its newest held transforms since then; `NEVER_NS` if there are none.
        may_be_held: False after a reset of its clock, until its next message.
        watch: detector of several publishers of this sender.
        shared: the same for all senders with common joints; None if no other sender has its joints.
    """

    __slots__ = (
        "_silence",
        "arrivals",
        "arrived_ns",
        "held_ns",
        "joints",
        "kind",
        "may_be_held",
        "names",
        "number",
        "published_ns",
        "seen",
        "seen_arrivals_ns",
        "shared",
        "topic",
        "total",
        "watch",
    )

    def __init__(self, kind: SenderKind, topic: str, names: Sequence[str], number: int = 0) -> None:
        super().__init__()
        self.kind, self.topic, self.names, self.number = kind, topic, tuple(names), number
        self.arrived_ns, self.arrivals = NEVER_NS, deque[int](maxlen=WINDOW + 1)
        self.total = 0
        self.published_ns = self.held_ns = NEVER_NS
        self.may_be_held = True
        self.watch = PublisherWatch()
        self.shared: PublisherWatch | None = None
        self.seen: list[int] = []
        self.seen_arrivals_ns: list[int] = []
        # The number of messages for which the time until silence was computed, and this time; -1 for one message.
        self._silence = (0, -1)
        self.joints: BoolArray = np.zeros(0, np.bool_)

    @property
    def needs_care(self) -> bool:
        """True if the next message must be compared with more than the last stamp."""
        watch = self.watch
        return self.is_free or bool(self.ahead) or self.is_mixed or watch.several or watch.is_undecided

    def interval_ns(self) -> int | None:
        """Return the usual interval of its messages; None before the second message."""
        if len(self.arrivals) < 2:
            return None
        arrivals = list(self.arrivals)
        gaps = sorted(after - before for before, after in pairwise(arrivals))
        middle = len(gaps) // 2
        return gaps[middle] if len(gaps) % 2 else (gaps[middle - 1] + gaps[middle]) // 2

    def silent_after_ns(self, complete_after_ns: int) -> int:
        """Return how long after its newest message this sender is silent."""
        known_total, intervals_ns = self._silence
        if known_total != self.total:
            interval_ns = self.interval_ns()
            intervals_ns = -1 if interval_ns is None else int(USUAL_INTERVALS * interval_ns)
            self._silence = self.total, intervals_ns
        return complete_after_ns + ONCE_NS if intervals_ns < 0 else max(complete_after_ns, intervals_ns)

    def is_silent(self, now_ns: int, complete_after_ns: int) -> bool:
        """Return True if this sender is silent at a time of the steady clock."""
        return now_ns - self.arrived_ns > self.silent_after_ns(complete_after_ns)

    def arrive(self, now_ns: int) -> None:
        """Note the arrival of a message, whatever its stamp."""
        self.arrived_ns = now_ns
        self.arrivals.append(now_ns)
        self.total += 1

    def copy_clock(self, other: Sender) -> None:
        """Continue from another sender of the same topic and names, of the robot before a change."""
        for name in (*StampOrder.__slots__, "arrived_ns", "arrivals", "may_be_held", "total", "watch"):
            setattr(self, name, getattr(other, name))


class Senders:
    """The senders of one robot, or of the frames on TF.

    Attributes:
        advances: how far the stamps of each sender have advanced, in steps of at most `STRAY_NS` [ns].
        arrivals_ns: when each sender was heard last, on the steady clock; `NEVER_NS` before.
        clock_before_ns: clock of the last sender with a step back, before it.
    """

    def __init__(self, most: int = 256) -> None:
        """Keep at most so many senders; the one that was not heard for the longest time is forgotten first."""
        self._most = most
        self._senders: dict[tuple[SenderKind, str, tuple[str, ...]], Sender] = {}
        self.advances: list[int] = []
        self.arrivals_ns: list[int] = []
        self.clock_before_ns = NEVER_NS
        self._numbers: list[int] = []
        self._by_age: deque[tuple[int, tuple[SenderKind, str, tuple[str, ...]]]] = deque()

    def __iter__(self) -> Iterator[Sender]:
        return iter(self._senders.values())

    def __len__(self) -> int:
        return len(self._senders)

    def find(self, kind: SenderKind, topic: str, names: Sequence[str], *, ordered: bool = False) -> tuple[Sender, bool]:
        """Return a sender, and True if it is new; the order of the names matters only if they are `ordered`."""
        key = kind, topic, _short(tuple(names if ordered else sorted(names)))
        sender = self._senders.get(key)
        if sender is not None:
            return sender, False
        if len(self._senders) >= self._most:
            self._numbers.append(self._senders.pop(self._oldest()).number)
        if self._numbers:
            number = self._numbers.pop()
        else:
            number = len(self.advances)
            self.advances.append(0)
            self.arrivals_ns.append(NEVER_NS)
        sender = self._senders[key] = Sender(kind, topic, key[2], number)
        return sender, True

    def _oldest(self) -> tuple[SenderKind, str, tuple[str, ...]]:
        """Return the key of the sender that was not heard for the longest time.

        All others of the last sorting were heard later than the first one that was not heard since.
        """
        while self._by_age:
            arrived_ns, key = self._by_age.popleft()
            sender = self._senders.get(key)
            if sender is not None and sender.arrived_ns == arrived_ns:
                return key
        ages = ((sender.arrived_ns, key) for key, sender in self._senders.items())
        self._by_age = deque(sorted(ages, key=itemgetter(0)))
        return self._by_age.popleft()[1]

    def take(
        self,
        sender: Sender,
        stamp_ns: int,
        now_ns: int,
        sequence: int | None = None,
        publishers: Callable[[], int] = lambda: 1,
        *,
        alternates: bool = False,
    ) -> Arrival:
        """Return how the stamp of a message of a sender fits to its earlier ones, and note the message.

        Args:
            sender: the sender.
            stamp_ns: the stamp of the message.
            now_ns: time of arrival, on the steady clock.
            sequence: publication sequence number; None if the middleware does not tell it.
            publishers: gives the number of publishers on the topic.
            alternates: True if values of the message go back and forth.
        """
        watch = sender.watch
        for each in (watch, sender.shared):
            if each is not None and sequence:
                each.note_sequence(sequence)
            elif each is not None:
                goes_back = each is watch and stamp_ns < sender.last_ns and not sender.is_free
                # Values of senders with common joints go back and forth between them, not within one.
                is_own = each is not watch or sender.shared is None
                each.note(((alternates and is_own) or goes_back) and publishers() > 1)
        mixed = watch.several or (watch.is_undecided and publishers() > 1)
        before_ns, was_free = sender.last_ns, sender.is_free
        clock_ns = before_ns
        if not was_free and not 0 <= stamp_ns - before_ns <= STRAY_NS:
            # Only such a stamp is compared with the clock.
            self.clock_before_ns = clock_ns = self.clock_ns(sender, now_ns)
        arrival = sender.take(stamp_ns, now_ns, clock_ns, mixed=mixed, count=watch.count)
        sender.arrive(now_ns)
        if arrival is Arrival.IN_ORDER:
            step_ns = 0 if was_free else min(max(stamp_ns - before_ns, 0), STRAY_NS)
            self.advances[sender.number] += step_ns
            if step_ns > now_ns - self.arrivals_ns[sender.number] + JUMP_NS:
                self._share_jump(sender, step_ns, now_ns)
        if arrival not in (Arrival.LATE, Arrival.STRAY):
            sender.may_be_held = True
        sender.seen, sender.seen_arrivals_ns = self.advances[:], self.arrivals_ns[:]
        self.arrivals_ns[sender.number] = now_ns
        return arrival

    def _share_jump(self, sender: Sender, step_ns: int, now_ns: int) -> None:
        """Share a jump of a sender's stamps among the times before and after the newest messages of the others.

        A simulator that steps jumps between two messages. Those that arrive together are of one moment of it, so their
        clocks must not go on by the whole jump.
        """
        before_ns = self.arrivals_ns[sender.number]
        for other in self._senders.values():
            if other.arrived_ns > before_ns and self._was_heard_before(sender, other):
                part_ns = step_ns * (now_ns - other.arrived_ns) // max(now_ns - before_ns, 1)
                other.seen[sender.number] = self.advances[sender.number] - part_ns - (other.arrived_ns - before_ns)

    def clock_ns(self, sender: Sender, now_ns: int, by: Sender | None = None) -> int:
        """Return a sender's clock at a time of the steady clock; `NEVER_NS` before its first message.

        It is the last stamp, plus what the stamps of another sender have advanced since that message arrived, plus
        the steady time since the other sender's newest message. Thus the speed of simulated time is right.

        Args:
            sender: the sender.
            now_ns: the time.
            by: the other sender; by default the one that was heard last.
        """
        if by is not None and self._was_heard_before(by, sender):
            return self._clock_by(sender, now_ns, (by,))
        later = [other for other in self._senders.values() if other.arrived_ns > sender.arrived_ns]
        return self._clock_by(sender, now_ns, sorted(later, key=_arrival_ns, reverse=True))

    def clocks(self, now_ns: int) -> list[tuple[Sender, int]]:
        """Return the senders that were heard, with their clocks at a time of the steady clock."""
        heard = self.latest_first()
        others = [sender for sender in heard if sender.total > 1]
        return [(sender, self._clock_by(sender, now_ns, others)) for sender in heard]

    def _clock_by(self, sender: Sender, now_ns: int, others: Sequence[Sender]) -> int:
        """Return a sender's clock by the first of the others that can tell it."""
        if sender.last_ns == NEVER_NS:
            return NEVER_NS
        for other in others:
            if other.arrived_ns <= sender.arrived_ns:
                break
            if other is not sender and self._was_heard_before(other, sender):
                advance_ns = self.advances[other.number] - sender.seen[other.number]
                # Until the sender's newest message, the other's clock had also gone on since its own message.
                advance_ns -= sender.arrived_ns - sender.seen_arrivals_ns[other.number]
                return sender.last_ns + max(0, advance_ns) + max(0, now_ns - other.arrived_ns)
        return sender.last_ns + max(0, now_ns - sender.arrived_ns)

    @staticmethod
    def _was_heard_before(other: Sender, sender: Sender) -> bool:
        """Return True if another sender had spoken before a sender's newest message."""
        return (
            other is not sender
            and other.total > 1
            and other.number < len(sender.seen)
            and sender.seen_arrivals_ns[other.number] != NEVER_NS
        )

    def reset(self, clock_ns: int, now_ns: int, but: Sender | None = None, *, stood: bool = False) -> list[Sender]:
        """Let all senders whose clock stands within `SAME_CLOCK_NS` of `clock_ns` begin anew, and return them.

        They accept any next stamp, and are not held until they speak. If the clock may have `stood` since their last
        stamps, as that of a paused simulator, their clocks stand anywhere between these stamps and now.
        """
        result = [
            one
            for one, own_ns in self.clocks(now_ns)
            if one is not but
            and (one.last_ns if stood else own_ns) - SAME_CLOCK_NS <= clock_ns <= own_ns + SAME_CLOCK_NS
        ]
        for sender in result:
            sender.is_free, sender.may_be_held = True, False
            sender.published_ns = sender.held_ns = NEVER_NS
        return result

    def accept_any_stamp(self) -> None:
        """Accept any next stamp of every sender."""
        for sender in self._senders.values():
            sender.is_free = True
            sender.published_ns = sender.held_ns = NEVER_NS

    def latest_first(self) -> list[Sender]:
        """Return the senders that were heard, the one that was heard last first."""
        return sorted((one for one in self._senders.values() if one.total), key=_arrival_ns, reverse=True)


def _short(names: tuple[str, ...]) -> tuple[str, ...]:
    """Return the names; of very long ones a digest, so that hostile messages leave no memory."""
    if sum(map(len, names)) <= _LONGEST_NAMES:
        return names
    return (hashlib.sha256("\0".join(names).encode("utf-8", "surrogatepass")).hexdigest(),)


def _arrival_ns(sender: Sender) -> int:
    return sender.arrived_ns


class MessageStream:
    """Joint states with one list of names.

    Attributes:
        plan: how their values get to the robot's variables.
        sender: their sender; messages with the same names in another order have the same.
        joints: (m,) bool, the moving joints that have the stamps of these messages.
    """

    __slots__ = ("joints", "plan", "sender")

    def __init__(self, plan: InputPlan, joints: BoolArray, sender: Sender) -> None:
        self.plan, self.joints, self.sender = plan, joints, sender


class ClockedSender(NamedTuple):
    """What the choice of the reference needs of a sender.

    Attributes:
        kind: what its messages say.
        topic: the topic.
        clock_ns: its clock at one time, the same for all senders.
        messages: number of its messages.
    """

    kind: SenderKind
    topic: str
    clock_ns: int
    messages: int


_REFERENCE_KINDS = (JOINT_KINDS, (SenderKind.ODOMETRY,), (SenderKind.TF,))


def _rank(kind: SenderKind) -> int:
    return next(rank for rank, kinds in enumerate(_REFERENCE_KINDS) if kind in kinds)


def reference_of(senders: Sequence[ClockedSender]) -> list[int]:
    """Return the places of the senders that are the reference of times: senders of one topic and one clock.

    Joint states have priority over odometry, and odometry over TF. Then the clock of most senders is chosen, then the
    topic with most messages.
    """
    clocks = np.array([sender.clock_ns for sender in senders], np.int64)
    near = _near_sums(clocks, np.ones_like(clocks))
    topics: dict[tuple[SenderKind, str], list[int]] = {}
    for number, sender in enumerate(senders):
        topics.setdefault(sender[:2], []).append(number)
    for kinds in _REFERENCE_KINDS:
        best = [_best_clock(senders, near, numbers) for (kind, _), numbers in topics.items() if kind in kinds]
        if best:
            return max(best)[1]
    return []


def _best_clock(
    senders: Sequence[ClockedSender], near: IntArray, numbers: Sequence[int]
) -> tuple[tuple[int, int, int], list[int]]:
    """Return the score of the best clock of one topic, from the numbers of its senders, and the senders with it."""
    clocks = np.array([senders[number].clock_ns for number in numbers], np.int64)
    sums = _near_sums(clocks, np.array([senders[number].messages for number in numbers], np.int64))
    place = max(range(len(numbers)), key=lambda i: (near[numbers[i]], sums[i]))
    score = int(near[numbers[place]]), int(sums[place]), -numbers[place]
    return score, np.array(numbers)[np.abs(clocks - clocks[place]) <= SHARED_CLOCK_NS].tolist()


def _near_sums(clocks: IntArray, values: IntArray) -> IntArray:
    """Return for each clock the sum of the values of all clocks near it."""
    order = np.argsort(clocks)
    ordered = clocks[order]
    sums: IntArray = np.concatenate([[0], np.cumsum(values[order])])
    first = np.searchsorted(ordered, clocks - SHARED_CLOCK_NS, "left")
    end = np.searchsorted(ordered, clocks + SHARED_CLOCK_NS, "right")
    return sums[end] - sums[first]


class Reference:
    """The senders whose stamps are the time of live world states.

    Attributes:
        members: these senders, as of the last choice.
    """

    def __init__(self) -> None:
        self.members: list[Sender] = []
        self._chosen: tuple[SenderKind, str] | None = None

    def newest(self, clocks: Sequence[tuple[str, Sender, int]], now_ns: int) -> Sender | None:
        """Return the sender with the newest stamp of the reference; None without any sender.

        The topic stays the reference while it speaks, unless a better kind of sender begins to speak.

        Args:
            clocks: the senders of the robots and of TF, each with the full name of its topic and its clock.
            now_ns: the time on the steady clock.
        """
        self.members = self._choose(clocks, now_ns)
        return max(self.members, key=lambda sender: sender.last_ns, default=None)

    def _choose(self, clocks: Sequence[tuple[str, Sender, int]], now_ns: int) -> list[Sender]:
        # A sender of a clock that was reset has no clock until it speaks.
        clocks = [item for item in clocks if item[1].may_be_held] or clocks
        # Where all are silent, the last ones that spoke decide.
        newest_ns = max((sender.arrived_ns for _, sender, _ in clocks), default=now_ns)
        speaking = [item for item in clocks if not item[1].is_silent(newest_ns, ONCE_NS)]
        for items in (speaking, clocks):
            rows = [ClockedSender(sender.kind, topic, clock, sender.total) for topic, sender, clock in items]
            # Joint states that begin later replace odometry, and odometry replaces TF.
            best = min((_rank(row.kind) for row in rows), default=0)
            kept = [number for number, row in enumerate(rows) if row[:2] == self._chosen]
            if not kept or _rank(rows[kept[0]].kind) > best:
                kept = list(range(len(rows)))
            places = reference_of([rows[number] for number in kept])
            if places:
                chosen = [kept[place] for place in places]
                self._chosen = rows[chosen[0]].kind, rows[chosen[0]].topic
                return [items[number][1] for number in chosen]
        return []
