# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Groups and end effectors in the studio: from clicks in the picture or from names."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from nicegui import ui

from robot_semantics.base.json_value import Json, JsonObject
from robot_semantics.srdf import new
from robot_semantics.srdf.edit import SrdfText
from robot_semantics.viewer.element import Choice
from robot_semantics.viewer.studio_widgets import (
    Cell,
    Member,
    Panel,
    Parts,
    button,
    field,
    heading,
    one_of,
    part_row,
    remark,
    toggle,
)
from robot_semantics.xml.edit import NewElement

HINTS = {
    "chain": "Click its first link, then its last link; a third click starts again.",
    "joints": "Click links: each click adds or removes the joint above the link.",
    "links": "Click links to add or remove them.",
    "sub-groups": "Choose groups that are part of this group.",
}
NEEDED = {
    "chain": "Enter a name and choose a base and a tip link.",
    "joints": "Enter a name and choose joints.",
    "links": "Enter a name and choose links.",
    "sub-groups": "Enter a name and choose groups.",
}
"""Message about an incomplete group of each kind."""
ORANGE = [0.9, 0.44, 0.13]


class GroupsTab:
    """Lists groups and end effectors, and makes and extends them."""

    def __init__(self, studio: Panel) -> None:
        """Begin with nothing chosen."""
        self._studio = studio
        self._kind = "chain"

    def build(self) -> None:
        """Build the permanent forms and the lists."""
        heading("Create or extend a group")
        self._name = field("name", "group-name")
        toggle(list(HINTS), self._kind, self._choose, "data-kinds")
        self._hint = remark("")
        self._ends = [
            Choice(label, (), lambda link: self._mark(), name=f"chain-{at}", noun="link")
            for at, label in enumerate(("base link", "tip link"))
        ]
        self._members = Choice(
            "members", (), lambda names: self._mark(), name="members", noun="name of this kind", multiple=True
        )
        button("add", self._add, "add-group")
        ui.separator()
        self._groups_title = heading("")
        see = {"see": lambda args: self._studio.viewer.call("setGroups", list(args["name"]))}
        self._groups = Parts(self._studio, self._group_rows, dict, acts=see)
        ui.separator()
        heading("Add an end effector")
        self._effector_name = field("name", "effector-name")
        self._effector_group = Choice("group", (), name="effector-group", noun="group")
        self._effector_link = Choice("mounted on link (or click it)", (), name="effector-link", noun="link")
        self._effector_parent = Choice("of group (inferred if empty)", (), name="effector-parent", noun="group")
        button("add end effector", self._add_effector, "add-effector")
        self._effectors_title = heading("")
        self._effectors = Parts(self._studio, self._effector_rows, self._options, self._edit_effector)
        self._choose(self._kind)
        self._offer()

    def renew(self) -> None:
        """Show the current session; typed texts stay."""
        self._offer()
        self._groups.renew()
        self._effectors.renew()

    def picked(self, link: str, joint: str) -> None:
        """Add the clicked link to the new members, or remove it."""
        base, tip = self._ends
        if self._kind == "chain" and base.value and not tip.value:
            tip.set_value(link)
        elif self._kind == "chain":
            base.set_value(link)
            tip.set_value(None)
        elif self._kind in ("joints", "links"):
            name, chosen = joint if self._kind == "joints" else link, list(self._members.value)
            self._members.set_value([other for other in chosen if other != name] if name in chosen else [*chosen, name])
        self._effector_link.set_value(link)

    def _offer(self) -> None:
        robot = self._studio.session.robot
        groups = list(robot.semantics.groups)
        for one in (*self._ends, self._effector_link):
            one.offer(robot.link_names)
        names: Sequence[str] = {
            "chain": (),
            "joints": [joint.name for joint in robot.joints],
            "links": robot.link_names,
            "sub-groups": groups,
        }[self._kind]
        self._members.offer(names)
        self._name.set_autocomplete(groups)
        self._effector_group.offer(groups)
        self._effector_parent.offer(groups)

    def _choose(self, kind: str) -> None:
        self._kind = kind
        self._hint.set_text(HINTS[kind])
        for end in self._ends:
            end.set_value(None)
            end.set_visibility(kind == "chain")
        self._members.set_value([])
        self._members.label = kind
        self._members.set_visibility(kind != "chain")
        self._offer()
        self._mark()

    def _chosen(self) -> list[str]:
        """Return the chosen names."""
        if self._kind == "chain":
            return [str(end.value) for end in self._ends if end.value]
        return list(self._members.value)

    def _mark(self) -> None:
        """Mark the chosen links in the viewer."""
        robot, links = self._studio.session.robot, self._chosen()
        if self._kind == "joints":
            links = [robot.joint(name).child_link for name in links if name in robot.joint_index]
        marked = {link: ORANGE for link in links if link in robot.link_index and self._kind != "sub-groups"}
        self._studio.viewer.call("mark", {self._studio.actor: marked})

    def _add(self) -> None:
        members, typed = self._chosen(), self._name.value or ""
        name = typed.strip()
        if not name or not members or (self._kind == "chain" and len(members) < 2):
            ui.notify(NEEDED[self._kind], type="warning")
            return
        if self._kind == "chain":
            made = new.group_members(chains=[(members[0], members[1])])
        elif self._kind == "joints":
            made = new.group_members(joints=members)
        elif self._kind == "links":
            made = new.group_members(links=members)
        else:
            made = new.group_members(subgroups=members)
        if self._studio.do(f"group {name}", partial(with_members, name=name, made=made)):
            self._studio.clear("group-name", typed)
            self._choose(self._kind)
            self._studio.viewer.call("setGroups", [name])

    def _group_rows(self) -> list[JsonObject]:
        session = self._studio.session
        groups, stated = session.robot.semantics.groups, session.text.semantic.groups
        self._groups_title.set_text(f"Groups ({len(stated)})")
        rows: list[JsonObject] = []
        for group in {item.name: item for item in stated}.values():
            derived = groups.get(group.name)
            chips = [Member("joint", (item.name,), f"joint {item.name}") for item in group.joints]
            chips += [Member("link", (item.name,), f"link {item.name}") for item in group.links]
            chips += [
                Member("chain", (item.base_link, item.tip_link), f"{item.base_link} → {item.tip_link}")
                for item in group.chains
            ]
            chips += [Member("group", (item.name,), f"group {item.name}") for item in group.subgroups]
            count = f"active joints: {len(derived.active_joints)}" if derived else "invalid"
            marks: Json = {"data-group-row": group.name}
            about = count if chips else f"empty · {count}"
            rows.append(part_row(session, "group", group.name, about=about, chips=chips, marks=marks, visible=True))
        return rows

    def _effector_rows(self) -> list[JsonObject]:
        session = self._studio.session
        effectors = session.text.semantic.end_effectors
        self._effectors_title.set_text(f"End effectors ({len(effectors)})")
        return [
            part_row(
                session,
                "end effector",
                item.name,
                about=f"{item.group} on {item.parent_link}",
                cells=[
                    Cell("group", "group", item.group, list="groups"),
                    Cell("parent_link", "mounted on link", item.parent_link, list="links"),
                    Cell("parent_group", "of group", item.parent_group or "", list="groups"),
                ],
                marks={"data-effector": item.name},
                folded=True,
            )
            for item in effectors
        ]

    def _edit_effector(self, name: tuple[str, ...], key: str, value: str | bool) -> Callable[[SrdfText], SrdfText]:
        robot, text = self._studio.session.robot, str(value)
        if key == "parent_group" and not text:
            return lambda srdf: srdf.set_attribute("end effector", name, key, None)
        one_of(text, robot.link_names if key == "parent_link" else list(robot.semantics.groups), key.replace("_", " "))
        return lambda srdf: srdf.set_attribute("end effector", name, key, text)

    def _options(self) -> dict[str, Sequence[str]]:
        robot = self._studio.session.robot
        return {"groups": list(robot.semantics.groups), "links": robot.link_names}

    def _add_effector(self) -> None:
        typed = self._effector_name.value or ""
        name = typed.strip()
        group, link = self._effector_group.value, self._effector_link.value
        if not name or not group or not link:
            ui.notify("Enter a name and choose a group and a link.", type="warning")
            return
        element = new.end_effector(name, group, link, self._effector_parent.value)
        if self._studio.do(f"end effector {name}", lambda text: text.add([element])):
            self._studio.clear("effector-name", typed)
            for one in (self._effector_group, self._effector_link, self._effector_parent):
                one.set_value(None)


def with_members(text: SrdfText, name: str, made: Sequence[NewElement]) -> SrdfText:
    """Return the text with a new group, or with more members in the existing group."""
    if any(group.name == name for group in text.semantic.groups):
        return text.extend_group(name, made)
    return text.add([new.group(name, made)])
