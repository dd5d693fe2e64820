# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Report on the current pose (joints, limits, collisions), and a slider between two named poses."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict

import numpy as np
from nicegui import background_tasks, events, run, ui

from robot_semantics.base.errors import RobotSemanticsError
from robot_semantics.base.names import LinkPair
from robot_semantics.kinematics.blending import PositionBlend
from robot_semantics.kinematics.joint_space import JointSpace
from robot_semantics.kinematics.named_states import with_state
from robot_semantics.model.joint_limits import LIMIT_TOLERANCE
from robot_semantics.transforms.arrays import FloatArray
from robot_semantics.viewer.element import Choice
from robot_semantics.viewer.pose_collisions import PoseCollisions
from robot_semantics.viewer.studio_widgets import NAME_CELL, Panel, heading, remark, small

if TYPE_CHECKING:
    from robot_semantics.model.robot_model import JointModel

COLUMNS = [
    {"name": name, "label": label, "field": name, "align": align}
    for name, label, align in (("joint", "joint", "left"), ("value", "value", "right"), ("limits", "limits", "right"))
]
VALUE_CELL = """
<q-td :props="props"><span :class="{ failed: props.row.outside }">{{ props.value }}</span></q-td>
"""
"""A value; red if it is outside of its limits."""
RED = [0.83, 0.2, 0.25]
SHOWN_PAIRS = 6


class PoseReport:
    """The joints that saving a pose writes, with their limits, and the pairs of links that collide in the pose."""

    def __init__(self, studio: Panel) -> None:
        """Begin without a group."""
        self._studio = studio
        self._group: str | None = None
        self._collisions: PoseCollisions | None = None
        self._is_checking = self._is_stale = False
        self._marked: list[LinkPair] = []

    def build(self) -> None:
        """Build the table and the lines; the group is chosen later."""
        with ui.column().style("width: 100%; gap: 4px").props("data-pose") as self._box:
            self._title = small("")
            self._table = ui.table(rows=[], columns=COLUMNS, row_key="joint").classes("pairs values")
            self._table.props("dense flat hide-bottom").props(":rows-per-page-options=[0]").style("width: 100%")
            self._table.add_slot("body-cell-joint", NAME_CELL)
            self._table.add_slot("body-cell-value", VALUE_CELL)
            self._touching = small("").props("data-collisions role=status")
        self._box.set_visibility(False)

    def choose(self, group: str | None) -> None:
        """Report on the joints of a group; without a group, on no joint."""
        self._group = group
        self._box.set_visibility(group is not None)
        self.renew()

    def renew(self) -> None:
        """Show the present pose of the robot."""
        semantics, space = self._studio.session.robot.semantics, self._studio.kinematics.space
        group = semantics.groups.get(self._group or "")
        if group is None or not self._studio.is_open("states"):
            return
        joints = [joint for joint in space.joints if joint.name in group.active_joints]
        rows = [row for joint in joints for row in pose_rows(space, joint, self._studio.q)]
        outside = sum(row["outside"] for row in rows)
        limits = f"{outside} outside their limits" if outside else "all within their limits"
        self._title.set_text(f"Saving writes {len(rows)} values of the group {group.name}: {limits}.")
        self._table.rows = [dict(row) for row in rows]
        self._is_stale = True
        if not self._is_checking:
            background_tasks.create(self._check())

    async def _check(self) -> None:
        """Look for collisions until the pose that was looked at is the newest."""
        self._is_checking = True
        try:
            while self._is_stale:
                self._is_stale = False
                if self._collisions is None:
                    self._touching.set_text("Reading the collision geometry …")
                pairs = await run.io_bound(self._colliding)
                if pairs is not None:
                    self._show(pairs)
        except RobotSemanticsError as error:
            self._touching.set_text(f"Collisions are not known: {str(error).splitlines()[0]}")
        finally:
            self._is_checking = False

    def _colliding(self) -> list[LinkPair]:
        if self._collisions is None:
            self._collisions = PoseCollisions(self._studio.session.robot, self._studio.pieces())
        return self._collisions.colliding(self._studio.session.robot, self._studio.q)

    def _show(self, pairs: list[LinkPair]) -> None:
        words = ", ".join(" – ".join(pair) for pair in pairs[:SHOWN_PAIRS])
        more = f" and {len(pairs) - SHOWN_PAIRS} more pairs" if len(pairs) > SHOWN_PAIRS else ""
        self._touching.set_text(f"Collides: {words}{more}" if pairs else "No collision between checked links.")
        self._touching.classes(add="failed" if pairs else "", remove="" if pairs else "failed")
        if pairs != self._marked:
            self._marked = pairs
            self._studio.viewer.call("mark", {self._studio.actor: {link: RED for pair in pairs for link in pair}})


class PosesBetween:
    """A slider that moves the robot from one named pose to another."""

    def __init__(self, studio: Panel) -> None:
        """Begin without poses."""
        self._studio = studio
        self._names: dict[str, tuple[str, str]] = {}

    def build(self) -> None:
        """Build the fields and the slider; both fields need a pose."""
        heading("Move between two poses")
        self._ends = [Choice(label, (), name=f"pose-{label}", noun="pose") for label in ("from", "to")]
        self._slider = ui.slider(min=0.0, max=1.0, step=0.01, value=0.0)
        self._slider.on("update:model-value", self._move, throttle=0.05)
        self._slider.props("dense aria-label='share of the way' data-between")
        remark("0 is the first pose, 1 the second.")
        self.renew()

    def renew(self) -> None:
        """Offer the present poses."""
        states = self._studio.session.robot.semantics.states
        self._names = {f"{group}/{name}": (group, name) for group, name in states}
        for end in self._ends:
            end.offer(list(self._names))

    def _move(self, event: events.GenericEventArguments) -> None:
        space = self._studio.kinematics.space
        chosen = [self._names.get(str(end.value)) for end in self._ends]
        if None in chosen:
            ui.notify("Choose the poses to move from and to.", type="warning")
            return
        first, second = (with_state(space, *end, self._studio.q) for end in chosen if end is not None)
        self._studio.pose(pose_between(space, first, second, float(event.args)))


class ShownVariable(TypedDict):
    """A variable of a joint in the table."""

    joint: str
    value: str
    limits: str
    outside: bool


def pose_rows(space: JointSpace, joint: JointModel, q: FloatArray) -> list[ShownVariable]:
    """Return a row for each variable of a joint: ``joint``, ``value``, ``limits`` in words, and ``outside``."""
    where = space.joint_positions[joint.name]
    rows: list[ShownVariable] = []
    for at in range(where.start, where.stop):
        low, high, value = float(space.lower[at]), float(space.upper[at]), float(q[at])
        limits = "none" if np.isinf([low, high]).all() else f"{low:.4g} … {high:.4g}"
        outside = not low - LIMIT_TOLERANCE <= value <= high + LIMIT_TOLERANCE
        rows.append({"joint": space.names[at], "value": f"{value:.4f}", "limits": limits, "outside": outside})
    return rows


def pose_between(space: JointSpace, first: FloatArray, second: FloatArray, share: float) -> FloatArray:
    """Return positions (size,) between two poses (size,) at the fraction `share`."""
    blend = PositionBlend(joint.motion for joint in space.joints)
    (q,) = blend(first[np.newaxis], second[np.newaxis], np.array([[share]]))
    return np.array(space.with_mimics(q))
