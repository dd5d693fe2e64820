# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Named states in the studio, saved from the current pose; sliders or a dragged hand set this pose."""

from __future__ import annotations

import contextlib
from functools import partial

import numpy as np
from nicegui import events, run, ui

from robot_semantics.base.errors import RobotSemanticsError
from robot_semantics.kinematics.inverse import InverseKinematics
from robot_semantics.kinematics.named_states import with_state
from robot_semantics.srdf import new
from robot_semantics.transforms import invert
from robot_semantics.transforms.arrays import FloatArray
from robot_semantics.viewer.element import Choice, Thumbnail, with_attributes
from robot_semantics.viewer.scene import closed_pose
from robot_semantics.viewer.studio_pose import PoseReport, PosesBetween
from robot_semantics.viewer.studio_widgets import Panel, button, field, heading, messages, remark, remove_button

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
        self._list()
        self._between.build()
        self._offer()

    def renew(self) -> None:
        """Show the current session; typed texts stay."""
        self._offer()
        self._list.refresh()
        self._between.renew()
        self._report.renew()

    def moved(self) -> None:
        """Show the present pose of the robot."""
        self._place()
        self._report.renew()

    def _offer(self) -> None:
        self._choice.offer(list(self._studio.session.robot.semantics.groups))
        dragged = f"The gizmo moves {self._tip}; click another link to move that link."
        self._hint.set_text(dragged if self._solver else "The sliders at the left move the joints.")

    @ui.refreshable_method
    def _list(self) -> None:
        session = self._studio.session
        heading(f"Named states ({len(session.text.semantic.states)})")
        for state in session.text.semantic.states:
            with ui.row(wrap=False).style("width: 100%; align-items: center; gap: 4px"):
                self._thumbnail(state.group, state.name)
                take = ui.button(f"{state.group}/{state.name}", on_click=partial(self._take, state.group, state.name))
                with_attributes(take, data_take=f"{state.group}/{state.name}").props("no-caps dense outline align=left")
                take.style("flex: 1; padding: 0 10px")
                remove_button(self._studio, "state", state.group, state.name)
            messages(self._studio, state.name)

    def _thumbnail(self, group: str, name: str) -> None:
        """Show a small picture of a state, from the default positions; an invalid state has none."""
        with contextlib.suppress(RobotSemanticsError):
            kinematics = self._studio.kinematics
            q, _ = closed_pose(kinematics, with_state(kinematics.space, group, name))
            Thumbnail({self._studio.actor: {"q": q.tolist()}}, f"robot in the state {name}")

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
