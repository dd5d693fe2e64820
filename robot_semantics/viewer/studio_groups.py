# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Groups and end effectors in the studio: made of clicks in the picture or of names."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from nicegui import ui

from robot_semantics.srdf import new
from robot_semantics.srdf.edit import SrdfText
from robot_semantics.viewer.studio_widgets import (
    Panel,
    button,
    choice,
    field,
    heading,
    messages,
    remark,
    remove_button,
    toggle,
)
from robot_semantics.xml.edit import NewElement

HINTS = {
    "chain": "Click its first link, then its last; a third click begins anew.",
    "joints": "Click links: each click takes or leaves the joint above the link.",
    "links": "Click links to take or leave them.",
    "sub-groups": "Choose groups that are part of this one.",
}
NO_EFFECTOR = {"name": "", "group": None, "parent_link": None, "parent_group": None}


class GroupsTab:
    """Lists the groups, and makes new ones or longer ones."""

    def __init__(self, studio: Panel) -> None:
        """Begin with nothing chosen."""
        self._studio = studio
        self._kind = "chain"
        self._name = ""
        self._members: list[str] = []
        self._effector: dict[str, str | None] = dict(NO_EFFECTOR)

    def picked(self, link: str, joint: str) -> None:
        """Take what was clicked into what is being made."""
        if self._kind == "chain":
            self._members = [*self._members, link] if len(self._members) < 2 else [link]
        elif self._kind in ("joints", "links"):
            name = joint if self._kind == "joints" else link
            known = name in self._members
            self._members = [other for other in self._members if other != name] if known else [*self._members, name]
        self._effector["parent_link"] = link
        self._mark()
        self._form.refresh()
        self._effector_form.refresh()

    @ui.refreshable_method
    def show(self) -> None:
        """Build the tab."""
        self._form()
        ui.separator()
        groups = self._studio.session.robot.semantics.groups
        stated = {group.name: group for group in self._studio.session.text.semantic.groups}
        heading(f"Groups ({len(stated)})")
        for name, group in stated.items():
            derived = groups.get(name)
            with ui.column().style("width: 100%; gap: 0").props(f'data-group-row="{name}"'):
                with ui.row(wrap=False).style("width: 100%; align-items: center; gap: 4px"):
                    with ui.column().style("flex: 1; min-width: 0; gap: 0"):
                        ui.label(name).style("font-weight: 600; overflow-wrap: anywhere")
                        parts = [f"{chain.base_link} → {chain.tip_link}" for chain in group.chains]
                        parts += [f"joints: {len(group.joints)}"] * bool(group.joints)
                        parts += [f"links: {len(group.links)}"] * bool(group.links)
                        parts += [item.name for item in group.subgroups]
                        count = f" · active joints: {len(derived.active_joints)}" if derived else " · has no meaning"
                        remark((", ".join(parts) or "empty") + count)
                    ui.button(icon="visibility", on_click=partial(self._studio.viewer.tell, "setGroups", [name])).props(
                        f'flat dense round size=sm aria-label="show {name}"'
                    )
                    remove_button(self._studio, "group", name)
                messages(self._studio, name)
        ui.separator()
        self._effectors()

    @ui.refreshable_method
    def _form(self) -> None:
        robot = self._studio.session.robot
        heading("New group, or more for one that is there")
        groups = list(robot.semantics.groups)
        field("name", "group-name", self._name, partial(setattr, self, "_name"), autocomplete=groups)
        toggle(list(HINTS), self._kind, self._choose, "data-kinds")
        remark(HINTS[self._kind])
        if self._kind == "chain":
            for at, label in enumerate(("base link", "tip link")):
                value = self._members[at] if at < len(self._members) else None
                choice(label, robot.link_names, value, partial(self._end, at), f"chain-{at}")
        else:
            names: Sequence[str] = {
                "joints": [joint.name for joint in robot.joints],
                "links": robot.link_names,
                "sub-groups": groups,
            }[self._kind]
            several = ui.select(
                list(names), value=self._members, multiple=True, with_input=True, label=self._kind
            ).props("dense use-chips for=members")
            several.style("width: 100%").on_value_change(lambda event: self._take(list(event.value or ())))
        button("add", self._add, "add-group")

    def _choose(self, kind: str) -> None:
        self._kind, self._members = kind, []
        self._mark()
        self._form.refresh()

    def _end(self, at: int, link: str | None) -> None:
        ends = [*self._members, "", ""][:2]
        ends[at] = link or ""
        self._members = ends
        self._mark()

    def _take(self, names: list[str]) -> None:
        self._members = names
        self._mark()

    def _mark(self) -> None:
        """Let the viewer show what is taken."""
        robot = self._studio.session.robot
        links = self._members
        if self._kind == "joints":
            links = [robot.joint(name).child_link for name in self._members if name in robot.joint_index]
        orange = [0.9, 0.44, 0.13]
        marked = {link: orange for link in links if link in robot.link_index and self._kind != "sub-groups"}
        self._studio.viewer.tell("mark", {self._studio.actor: marked})

    def _add(self) -> None:
        members = [name for name in self._members if name]
        name = self._name.strip()
        if not name or not members or (self._kind == "chain" and len(members) < 2):
            ui.notify("a name and something in it are needed", type="warning")
            return
        if self._kind == "chain":
            made = new.group_members(chains=[(members[0], members[1])])
        elif self._kind == "joints":
            made = new.group_members(joints=members)
        elif self._kind == "links":
            made = new.group_members(links=members)
        else:
            made = new.group_members(subgroups=members)
        if self._studio.do(f"group {name}", partial(_with_members, name=name, made=made)):
            self._members, self._name = [], ""
            self._mark()
            self._form.refresh()
            self._studio.viewer.tell("setGroups", [name])

    @ui.refreshable_method
    def _effectors(self) -> None:
        effectors = self._studio.session.text.semantic.end_effectors
        heading(f"End effectors ({len(effectors)})")
        for item in effectors:
            with ui.row(wrap=False).style("width: 100%; align-items: center; gap: 4px"):
                with ui.column().style("flex: 1; min-width: 0; gap: 0").props(f'data-effector="{item.name}"'):
                    ui.label(item.name).style("font-weight: 600")
                    remark(f"{item.group} on {item.parent_link}")
                remove_button(self._studio, "end effector", item.name)
            messages(self._studio, item.name)
        self._effector_form()

    @ui.refreshable_method
    def _effector_form(self) -> None:
        robot, values = self._studio.session.robot, self._effector
        groups = list(robot.semantics.groups)
        field("name", "effector-name", values["name"], partial(values.__setitem__, "name"))
        for key, label, names, name in (
            ("group", "group", groups, "effector-group"),
            ("parent_link", "mounted on link (or click it)", robot.link_names, "effector-link"),
            ("parent_group", "of group (inferred if empty)", groups, "effector-parent"),
        ):
            choice(label, names, values[key], partial(values.__setitem__, key), name)
        button("add end effector", self._add_effector, "add-effector")

    def _add_effector(self) -> None:
        name, group, link = (self._effector[key] for key in ("name", "group", "parent_link"))
        if not name or not group or not link:
            ui.notify("a name, a group and a link are needed", type="warning")
            return
        element = new.end_effector(name.strip(), group, link, self._effector["parent_group"])
        if self._studio.do(f"end effector {name}", lambda text: text.add([element])):
            self._effector = dict(NO_EFFECTOR)
            self._effector_form.refresh()


def _with_members(text: SrdfText, name: str, made: Sequence[NewElement]) -> SrdfText:
    """Return the text with a new group, or with more in the one of that name."""
    if any(group.name == name for group in text.semantic.groups):
        return text.extend_group(name, made)
    return text.add([new.group(name, made)])
