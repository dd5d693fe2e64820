# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Health of one robot: message counters, refusals, silent joints, positions outside the limits, its senders."""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from robot_semantics.base.names import quoted
from robot_semantics.base.nanoseconds import float_seconds
from robot_semantics.base.throttle import Throttle
from robot_semantics.live.buffer import LoopCloser
from robot_semantics.live.joint_state import Reason, Refusal
from robot_semantics.live.robot import RunningRobot
from robot_semantics.live.senders import NEVER_NS, SMALL_OFFSET_NS, TF_OFFSET_NS, Sender
from robot_semantics.live.settings import JOINT_KINDS, SenderKind, Source

_BEYOND = 1e-6
"""How far outside its limits a position may be, for rounding and calibration [rad or m]."""


class Health:
    """Checks a robot about once a second and reports changes; each problem once, until it is over.

    Attributes:
        stale: joints without new values for longer than the timeout, and how long [s].
        beyond: joints outside their limits at the last check, with their positions [rad or m].
        loops_are_open: True if a loop of the robot did not close at the last check.
        loops: how far the loops stay open, and how far measured passive joints are from their closed positions.

    """

    def __init__(
        self,
        report: Callable[[str], None],
        info: Callable[[str], None],
        remedy: Callable[[bool], str | None] = lambda _is_root: "",
    ) -> None:
        """`remedy` ends the sentence about joints, or the root joint, whose values have never come; None: later."""
        self._report, self._info, self._remedy = report, info, remedy
        self._model: object = None
        self._low = self._high = np.zeros(0)
        self._reported_beyond: set[str] = set()
        self.stale: dict[str, float] = {}
        self._told_stale: set[str] = set()
        self.beyond: dict[str, float] = {}
        self.loops_are_open = False
        self.loops: dict[str, str] = {}

    def update(self, robot: RunningRobot, now_ns: int, *, root_is_elsewhere: bool = False) -> None:
        """Check a robot.

        Args:
            robot: the robot.
            now_ns: time on the monotonic clock, as is `JointBuffer.received_ns`.
            root_is_elsewhere: True if another node gives the pose of the root link, so that its joint needs no values.

        """
        if robot.model is not self._model:
            self._model = robot.model
            self._low, self._high = robot.space.lower - _BEYOND, robot.space.upper + _BEYOND
            self.stale, self._told_stale, self._reported_beyond = {}, set(), set()
        self._check_silence(robot, now_ns, root_is_elsewhere)
        self._check_limits(robot)
        if robot.loops is not None:
            self._check_loops(robot.loops)

    def _check_loops(self, closer: LoopCloser) -> None:
        if closer.is_open and not self.loops_are_open:
            self._report(f"loops stay open by {closer.gap}; their joints keep the last positions at which they closed")
        elif self.loops_are_open and not closer.is_open:
            self._info("all loops close again")
        self.loops_are_open = closer.is_open
        self.loops = {
            "loop residual [m]": f"{closer.gap.position:.3g}",
            "loop residual [rad]": f"{closer.gap.rotation:.3g}",
            **{f"passive joint off by: {name}": f"{off:.3g}" for name, off in closer.take_differences().items()},
        }

    def ages(self, robot: RunningRobot, now_ns: int) -> dict[str, float]:
        """Return the age of each moving joint's values [s]; NaN without a value."""
        received = robot.values.received_ns.tolist()
        return {
            name: float_seconds(now_ns - at) if at != NEVER_NS else float("nan")
            for name, at in zip(robot.moving.names, received, strict=True)
        }

    def _check_silence(self, robot: RunningRobot, now_ns: int, root_is_elsewhere: bool) -> None:
        timeout_s = robot.settings.stale_timeout_ns / 1e9
        if not timeout_s:
            self.stale, self._told_stale = {}, set()
            return
        # Usually there is no problem; one number shows this.
        if (
            not self.stale
            and now_ns - int(robot.values.received_ns.min(initial=now_ns)) <= robot.settings.stale_timeout_ns
        ):
            return
        ages = {
            name: age if age == age else (now_ns - robot.made_ns) / 1e9
            for name, age in self.ages(robot, now_ns).items()
        }
        if robot.root_source in (Source.FIXED, Source.TF) or root_is_elsewhere:
            ages.pop(robot.model.root_joint.name, None)
        stale = {name: age for name, age in ages.items() if age > timeout_s}
        self._told_stale &= stale.keys()
        self._report_silence(robot, [name for name in stale if name not in self._told_stale], timeout_s)
        again = [name for name in self.stale if name not in stale and name in ages]
        if again:
            self._info(f"values come again for {quoted(again, 8)}")
        self.stale = stale

    def _report_silence(self, robot: RunningRobot, joints: list[str], timeout_s: float) -> None:
        never = [name for name in joints if robot.values.received_ns[robot.moving.number[name]] == NEVER_NS]
        before = [name for name in joints if name not in never]
        root = robot.model.root_joint.name
        for names, is_root in (([name for name in never if name != root], False), ([root] * (root in never), True)):
            remedy = self._remedy(is_root) if names else None
            if remedy is not None:
                self._told_stale.update(names)
                self._report(f"no values have come yet in {timeout_s:g} s for {quoted(names, 8)}{remedy}")
        if before:
            self._told_stale.update(before)
            self._report(f"no new values in {timeout_s:g} s for {quoted(before, 8)}")

    def _check_limits(self, robot: RunningRobot) -> None:
        positions, space, moving = robot.values.positions, robot.space, robot.moving
        outside = (positions < self._low) | (positions > self._high)
        if not self.beyond and not outside.any():
            return
        outside &= robot.values.measured[moving.of_variable]
        beyond: dict[str, float] = {}
        for variable in np.flatnonzero(outside).tolist():
            name, position = space.names[variable], float(positions[variable])
            beyond[name] = position
            if name not in self._reported_beyond:
                self._reported_beyond.add(name)
                # Only joints with one variable have bounds, and the variable has the name of the joint.
                broken = robot.model.joint(name).limits.broken_by(position, _BEYOND)
                if broken is not None:
                    allowed = f"{broken.what} {broken.lower:.6g} to {broken.upper:.6g}"
                    self._report(f"'{name}' is at {position:.6g}, outside its {allowed}")
        self._reported_beyond &= set(beyond)
        # Other threads read it: it is replaced as a whole.
        self.beyond = beyond


class Traffic:
    """Counters of one robot since the start.

    Attributes:
        received: joint-state messages, with the refused ones.
        refused_joint_states: how many of them were refused.
        transforms: transforms sent on /tf.
        refused: refused messages of any topic by reason.
        last_errors: the newest sentences of the log, newest first.

    """

    __slots__ = ("last_errors", "received", "refused", "refused_joint_states", "transforms")

    def __init__(self) -> None:
        self.received = 0
        self.refused_joint_states = 0
        self.transforms = 0
        self.refused: Counter[Reason] = Counter()
        self.last_errors: deque[str] = deque(maxlen=10)

    @property
    def used(self) -> int:
        """Number of joint-state messages that were used."""
        return self.received - self.refused_joint_states


class RefusalLog:
    """Counts refused messages and logs each kind at a limited rate."""

    def __init__(
        self,
        traffic: Traffic,
        log: Callable[[str], None],
        publishers: Callable[[str], list[str]],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`publishers` gives the names of the nodes that publish on a topic."""
        self._traffic, self._log, self._publishers = traffic, log, publishers
        self._throttle = Throttle(clock=clock)

    def add(self, topic: str, refusal: Refusal) -> None:
        """Count one refused message and, if it is time, log it with the names of its possible senders."""
        self._traffic.refused[refusal.reason] += 1
        sentence = self._throttle.admit_sentence((topic, refusal.reason), refusal.message)
        if sentence is not None:
            self._log(f"refused a message on {topic} from {self._senders(topic)}: {sentence}")

    def _senders(self, topic: str) -> str:
        return " or ".join(sorted(set(self._publishers(topic)))) or "a publisher that has gone"


class SenderRow(NamedTuple):
    """One line of the table of senders: which computer is off?

    Attributes:
        model: the robot that the values are of; empty for TF.
        kind: ``joint_states``, ``multi_dof``, ``odometry`` or ``tf``.
        topic: full name of the topic.
        names: joints, or parent and child frame.
        publishers: nodes that publish on the topic.
        messages: how many have arrived.
        rate_hz: usual number of messages a second; NaN before the second message.
        offset_s: its clock against the clock of the reference: clock or latency.
        node_offset_s: its clock against the clock of the node.
        last_heard_s: how long ago its newest message arrived.
        state: one of `SENDER_STATES`.
    """

    model: str
    kind: str
    topic: str
    names: tuple[str, ...]
    publishers: tuple[str, ...]
    messages: int
    rate_hz: float
    offset_s: float
    node_offset_s: float
    last_heard_s: float
    state: str

    def text(self) -> str:
        """Return the row as a line of text."""
        names = quoted(self.names, 3) if self.kind in JOINT_KINDS else " → ".join(self.names)
        rate = "once" if self.rate_hz != self.rate_hz else f"{self.rate_hz:.3g} Hz"
        publishers = ", ".join(self.publishers) or "nobody"
        return (
            f"{self.topic} ({publishers})  {names}  {rate}  {self.offset_s:+.3f} s  heard {self.last_heard_s:.1f} s ago"
            f"  {self.state}"
        )


SENDER_STATES = (
    "reference",
    "in step",
    "clock or latency",
    "silent",
    "several publishers",
    "waiting after a reset",
)


def state_of(sender: Sender, *, is_reference: bool, offset_ns: int, now_ns: int, complete_after_ns: int) -> str:
    """Return the state of a sender, one of `SENDER_STATES`."""
    if sender.watch.several or (sender.shared is not None and sender.shared.several):
        return "several publishers"
    if not sender.may_be_held:
        return "waiting after a reset"
    if sender.is_silent(now_ns, complete_after_ns):
        return "silent"
    if abs(offset_ns) > (TF_OFFSET_NS if sender.kind is SenderKind.TF else SMALL_OFFSET_NS):
        return "clock or latency"
    return "reference" if is_reference else "in step"
