# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Who moves a robot's root link: one rule for the running node and for recordings (doc/usdf.md, "Where a robot is")."""

from __future__ import annotations

import enum
from collections.abc import Iterable
from typing import NamedTuple


class RootSource(enum.IntEnum):
    """What can say where a root link is; the first that is there does."""

    CHOSEN = 1
    """A parameter or an option names it."""
    VIRTUAL_JOINT = 2
    """The virtual joint's own values, from joint states or multi-DOF joint states."""
    TF = 3
    """A transform whose child is the root link."""
    ODOMETRY = 4
    """Odometry whose child frame is the root link, or a link fixed to it."""
    FIXED = 5
    """A fixed virtual joint: the root link is its parent frame, unless somebody has said otherwise."""


class RootCandidate(NamedTuple):
    """One of those that say where a root link is.

    Attributes:
        source: of which kind it is.
        name: the topic, joint or sender; two of one kind are told apart by it.
        parent: the frame in which it says where the root link is.
    """

    source: RootSource
    name: str
    parent: str


class RootChoice(NamedTuple):
    """Who is believed, None if nobody says anything, and who else has something to say."""

    chosen: RootCandidate | None
    others: tuple[RootCandidate, ...]

    def complaint(self, robot: str) -> str | None:
        """Return in words that others of the same kind were passed over; None where there are none."""
        if self.chosen is None:
            return f"nothing says where '{robot}' is: its pose is not stated"
        rivals = [f"'{other.name}'" for other in self.others if other.source is self.chosen.source]
        if not rivals:
            return None
        return f"'{robot}' is where '{self.chosen.name}' says; passed over: {', '.join(rivals)}"


def choose_root(candidates: Iterable[RootCandidate]) -> RootChoice:
    """Return who is believed: the first kind in the order of `RootSource`; of one kind the first by its name.

    Two of one kind are never mixed.
    """
    ranked = sorted(set(candidates))
    return RootChoice(ranked[0] if ranked else None, tuple(ranked[1:]))
