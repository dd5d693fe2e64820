# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Named states in the studio, saved from the current pose; sliders or a dragged hand set this pose."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import TYPE_CHECKING, TypedDict

import numpy as np
from nicegui import background_tasks, events, run, ui

from robot_semantics.base.errors import RobotSemanticsError
from robot_semantics.base.json_value import Json, JsonObject
from robot_semantics.base.names import LinkPair
from robot_semantics.collision.poses import PoseCollisions
from robot_semantics.kinematics.inverse import InverseKinematics
from robot_semantics.kinematics.joint_space import JointSpace, with_state
from robot_semantics.kinematics.motions import PositionBlend
from robot_semantics.model.joint_types import LIMIT_TOLERANCE
from robot_semantics.srdf import new
from robot_semantics.srdf.edit import SrdfText
from robot_semantics.transforms import invert
from robot_semantics.transforms.arrays import FloatArray
from robot_semantics.viewer.element import Choice
from robot_semantics.viewer.scene import closed_pose
from robot_semantics.viewer.studio_widgets import (
    NAME_CELL,
    Cell,
    Panel,
    Parts,
    button,
    field,
    heading,
    part_row,
    remark,
    small,
)
from robot_semantics.xml.numbers import number_text, numbers_or_none

if TYPE_CHECKING:
    from robot_semantics.model.robot_model import JointModel


# Report on the current pose (joints, limits, collisions), and a slider between two named poses.


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
        rows = [row for joint in joints for row in variable_rows(space, joint, self._studio.q)]
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
                if not self._studio.collisions.is_ready:
                    self._touching.set_text("Reading the collision geometry …")
                pairs = await run.io_bound(self._colliding)
                if pairs is not None:
                    self._show(*pairs)
        except RobotSemanticsError as error:
            self._touching.set_text(f"Collisions are not known: {str(error).splitlines()[0]}")
        finally:
            self._is_checking = False

    def _colliding(self) -> tuple[list[LinkPair], int]:
        """Return the checked pairs that collide, and the number of those that touch in any pose."""
        poses: PoseCollisions = self._studio.collisions.poses()
        pairs = poses.colliding(self._studio.session.robot, self._studio.q)
        unusual = [pair for pair in pairs if pair not in poses.usual] if pairs else []
        return unusual, len(pairs) - len(unusual)

    def _show(self, pairs: list[LinkPair], usual: int) -> None:
        words = ", ".join(" – ".join(pair) for pair in pairs[:SHOWN_PAIRS])
        more = f" and {len(pairs) - SHOWN_PAIRS} more pairs" if len(pairs) > SHOWN_PAIRS else ""
        text = f"Collides: {words}{more}" if pairs else "No collision between checked links."
        if usual:
            text += f" {usual} checked pairs touch in any pose: generate the collision pairs."
        self._touching.set_text(text)
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


def variable_rows(space: JointSpace, joint: JointModel, q: FloatArray) -> list[ShownVariable]:
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


STEPS = 25
"""Iterations of inverse kinematics while a hand is dragged."""


class StatesTab:
    """Saves, shows and removes named states; a gizmo drags a hand."""

    def __init__(self, studio: Panel) -> None:
        """Begin with nothing chosen."""
        self._studio = studio
        self._group: str | None = None
        self._tip: str | None = None
        self._solver: InverseKinematics | None = None
        studio.viewer.on("dragged", self._dragged)
        self._report, self._between = PoseReport(studio), PosesBetween(studio)

    def picked(self, link: str, joint: str) -> None:
        """Let the gizmo drag the clicked link, if dragging is on."""
        del joint
        if self._solver is not None:
            self._tip = link
            self._grasp()

    def build(self) -> None:
        """Build the permanent form and the list."""
        heading("Save current pose")
        self._choice = Choice("group", (), self._choose, name="state-of-group", noun="group")
        with ui.row(wrap=False).style("width: 100%; align-items: end; gap: 8px"):
            name = field("name of the state", "new-state")
            button("save pose", lambda: self._record(name.value or ""), "record")
        button("use live joint states", self._take_running, "take-running", outline=True)
        self._drag = ui.switch("drag the hand", on_change=self._switch).props("dense data-drag")
        self._hint = remark("")
        self._report.build()
        ui.separator()
        self._states_title = heading("")
        take = {"take": lambda args: self._take(*args["name"])}
        self._states = Parts(self._studio, self._rows, dict, self._edit, take)
        self._between.build()
        self._offer()

    def renew(self) -> None:
        """Show the current session; typed texts stay."""
        self._offer()
        self._states.renew()
        self._between.renew()
        self._report.renew()

    def forget_robot(self) -> None:
        """Let go of the robot: another one is shown."""
        if self._solver is not None:
            self._drag.set_value(False)

    def moved(self) -> None:
        """Show the present pose of the robot."""
        self._place()
        self._report.renew()

    def _offer(self) -> None:
        self._choice.offer(list(self._studio.session.robot.semantics.groups))
        dragged = f"The gizmo moves {self._tip}; click another link to move that link."
        self._hint.set_text(dragged if self._solver else "The sliders at the left move the joints.")

    def _rows(self) -> list[JsonObject]:
        session = self._studio.session
        states = session.text.semantic.states
        self._states_title.set_text(f"Named states ({len(states)})")
        rows: list[JsonObject] = []
        for state in states:
            cells = [
                Cell(joint.name, joint.name, "" if joint.values is None else " ".join(map(number_text, joint.values)))
                for joint in state.joints
            ]
            stances = self._stances(state.group, state.name)
            take = f"{state.group}/{state.name}"
            row = part_row(
                session, "state", state.group, state.name, cells=cells, take=take, stances=stances, folded=True
            )
            rows.append(row)
        return rows

    def _edit(self, name: tuple[str, ...], joint: str, value: str | bool) -> Callable[[SrdfText], SrdfText]:
        values = numbers_or_none(str(value).replace(",", " "))
        if not values:
            raise RobotSemanticsError(f"'{value}' is not a number [rad, m]")
        return lambda text: text.set_state_value(name[0], name[1], joint, values)

    def _stances(self, group: str, name: str) -> Json:
        """Return the robot in a state, from the default positions; None if the state is invalid."""
        with contextlib.suppress(RobotSemanticsError):
            kinematics = self._studio.kinematics
            q, _ = closed_pose(kinematics, with_state(kinematics.space, group, name))
            return {self._studio.actor: {"q": q.tolist(), "group": group}}
        return None

    def _choose(self, group: str | None) -> None:
        self._group, self._tip = group, None
        self._studio.viewer.call("setGroups", [group] if group else [])
        self._report.choose(group)
        if self._solver is not None:
            self._grasp()

    def _record(self, name: str) -> None:
        if not self._group or not name.strip():
            ui.notify("Choose a group and enter a name.", type="warning")
            return
        robot, space = self._studio.session.robot, self._studio.kinematics.space
        group = robot.semantics.group(self._group)
        values = {joint: self._studio.q[space.joint_positions[joint]].tolist() for joint in group.active_joints}
        element = new.group_state(name.strip(), group.name, values)
        known = (group.name, name.strip()) in robot.semantics.states
        self._studio.do(
            f"state {group.name}/{name}",
            lambda text: (text.remove("state", group.name, name.strip()) if known else text).add([element]),
        )

    def _take(self, group: str, name: str) -> None:
        try:
            self._studio.pose(with_state(self._studio.kinematics.space, group, name, self._studio.q))
        except RobotSemanticsError as error:
            ui.notify(str(error), type="negative")

    async def _take_running(self) -> None:
        try:
            found = await run.io_bound(self._studio.running) or {}
            space = self._studio.kinematics.space
            # A mimic joint with a measured deviation from its leader follows the leader here.
            known = {name: value for name, value in found.items() if name in space.index}
            leading = {name: value for name, value in known.items() if space.leader_of(name) not in known}
            if not known:
                raise RobotSemanticsError("the running robot has none of this robot's joints")
            self._studio.pose(space.pack(leading, self._studio.q))
        except RobotSemanticsError as error:
            ui.notify(str(error), type="negative")

    # --- the hand

    def _switch(self, event: events.ValueChangeEventArguments[bool | None]) -> None:
        if event.value:
            self._grasp()
        else:
            self._solver = None
            self._studio.viewer.call("showGizmo", self._studio.actor, None)
            self._offer()

    def _grasp(self) -> None:
        try:
            if self._group is None:
                raise RobotSemanticsError("choose the group whose joints move")
            self._solver = InverseKinematics(self._studio.session.robot, self._group, self._tip)
            self._tip = self._solver.tip
            self._studio.viewer.call("showGizmo", self._studio.actor, self._T_world_tip().ravel().tolist())
        except RobotSemanticsError as error:
            self._solver = None
            self._drag.set_value(False)
            ui.notify(str(error), type="warning")
        self._offer()

    def _place(self) -> None:
        if self._solver is not None:
            self._studio.viewer.call("placeGizmo", self._T_world_tip().ravel().tolist())

    def _T_world_tip(self) -> FloatArray:
        kinematics, q = self._studio.kinematics, self._studio.q
        link = self._studio.session.robot.link_index[str(self._tip)]
        pose: FloatArray = kinematics.T_parent_root(q) @ kinematics.link_poses(q)[link]
        return pose

    def _dragged(self, event: events.GenericEventArguments) -> None:
        if self._solver is None:
            return
        wanted = np.array(event.args["T"], dtype=np.float64).reshape(4, 4)
        T_root_tip = invert(self._studio.kinematics.T_parent_root(self._studio.q)) @ wanted
        self._studio.pose(self._solver.solve(T_root_tip, self._studio.q, iterations=STEPS).q)
        if event.args["done"]:
            # Move the gizmo back to the hand, if the hand could not follow.
            self._place()
