# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""What is remembered of those who send joint states: one sender for each list of names."""

from __future__ import annotations

from collections.abc import Callable

from robot_semantics.base.foreign_text import shown
from robot_semantics.base.recent import Recent
from robot_semantics.kinematics.joint_space import JointSpace
from robot_semantics.model.robot_model import RobotModel
from robot_semantics.state.direct_path import DirectPath
from robot_semantics.state.joint_input import InputPlan, MovingJoints, Refusal, make_plan
from robot_semantics.state.schedule import Schedule, SenderJoints, TimeOrder

_MAX_SOURCES = 64
_MAX_NAMES = 2_000_000
"""Characters in all the names that are remembered."""


class Sender:
    """What is remembered of those messages that have the same list of names."""

    def __init__(self, plan: InputPlan, group: SenderJoints) -> None:
        self.plan, self.group = plan, group
        self.order = TimeOrder()
        self.known = False
        self.paths: dict[tuple[int, int], DirectPath] = {}


class Senders:
    """The senders of one robot's joint states, the latest of them."""

    def __init__(
        self,
        model: RobotModel,
        space: JointSpace,
        moving: MovingJoints,
        fed_elsewhere: frozenset[str],
        schedule: Schedule,
        say_once: Callable[[str], None],
    ) -> None:
        """Joints in `fed_elsewhere` are not taken from joint states; `say_once` takes sentences for the log."""
        self._model, self._space, self._moving, self._fed_elsewhere = model, space, moving, fed_elsewhere
        self._schedule, self._say_once = schedule, say_once
        self._senders: Recent[tuple[str, ...], Sender | Refusal] = Recent(
            _MAX_SOURCES, _MAX_NAMES, forgotten=self._close
        )
        self._last: tuple[tuple[str, ...], Sender | Refusal] | None = None

    def find(self, names: tuple[str, ...]) -> Sender | Refusal:
        """Return the sender of messages with these names, or why all of them are refused."""
        if self._last is None or names is not self._last[0]:
            self._last = names, self._senders.get(names) or self._new(names)
        return self._last[1]

    def forget_times(self) -> None:
        """Take every sender's next stamp for its first."""
        for sender in self._senders:
            if isinstance(sender, Sender):
                sender.order.forget()

    def _new(self, names: tuple[str, ...]) -> Sender | Refusal:
        plan = make_plan(names, self._model, self._space, self._moving, self._fed_elsewhere)
        sender = plan if isinstance(plan, Refusal) else Sender(plan, self._schedule.joints_of_sender(plan.joints))
        self._senders.put(names, sender, sum(map(len, names)))
        if isinstance(plan, InputPlan):
            for name in plan.unknown:
                self._say_once(f"joint_states: the robot has no joint '{shown(name)}'; its values are not used")
            for name in plan.names:
                if name in self._moving.number and name not in self._space.index:
                    variables = " ".join(self._space.names[self._space.joint_positions[name]])
                    self._say_once(f"joint_states: '{name}' has several values ({variables}); one alone is not used")
        return sender

    def _close(self, sender: Sender | Refusal) -> None:
        if isinstance(sender, Sender):
            self._schedule.forget_sender(sender.group)
