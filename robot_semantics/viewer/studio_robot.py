# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Tab for elements outside of groups: virtual and passive joints, properties, spheres, default collisions."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
from nicegui import background_tasks, run, ui

from robot_semantics.base.errors import RobotSemanticsError
from robot_semantics.base.json_value import JsonObject
from robot_semantics.srdf import new
from robot_semantics.srdf.edit import SrdfText
from robot_semantics.transforms.arrays import FloatArray
from robot_semantics.viewer.element import Choice
from robot_semantics.viewer.scene import uncovered_parts
from robot_semantics.viewer.studio_widgets import (
    Act,
    Cell,
    Panel,
    Parts,
    button,
    field,
    heading,
    one_of,
    part_row,
    remark,
    small,
    toggle,
)
from robot_semantics.viewer.suggestions import virtual_joint_name
from robot_semantics.xml.numbers import numbers

LISTS = {
    "passive joint": "Passive joints",
    "joint property": "Joint properties",
    "link disabled by default": "Links with collisions off by default",
    "link with spheres": "Links as spheres",
}
"""Title of the list of each kind of part."""


class RobotTab:
    """Edits elements outside of groups."""

    def __init__(self, studio: Panel) -> None:
        """Begin with nothing chosen."""
        self._studio = studio
        self._type = "fixed"
        self._request: tuple[str | None, list[list[float]]] = (None, [])

    def build(self) -> None:
        """Build the permanent forms and the lists."""
        heading("Virtual joint")
        with ui.column().style("width: 100%; gap: 8px") as self._virtual:
            self._frame = field("parent frame", "virtual-frame", new.VIRTUAL_JOINT_FRAMES[self._type])
            toggle(list(new.VIRTUAL_JOINT_FRAMES), self._type, self._choose_type, "data-virtual")
            button("add virtual joint", self._add_virtual, "add-virtual")
        hover = {"hover": self._hover}
        self._lists = [Parts(self._studio, self._virtual_rows, self._virtual_options, self._edit_virtual, hover)]
        ui.separator()
        heading("Add to a joint or a link")
        remark("Click a link in the picture, or choose a name.")
        self._joint = Choice("joint", (), self._show_joint, name="property-joint", noun="joint")
        with ui.row().style("gap: 6px; align-items: center; width: 100%"):
            self._button("passive", self._joint, lambda text, name: text.add([new.passive_joint(name)]), "add-passive")
            key = field("property", "property-name").style("width: 110px")
            value = field("value", "property-value").style("width: 90px")

            def property_set(text: SrdfText, name: str) -> SrdfText:
                return text.add([new.joint_property(name, key.value or "", value.value or "")])

            self._button("set", self._joint, property_set, "add-property")
        self._link = Choice("link", (), self._show_link, name="property-link", noun="link")

        def disabled(text: SrdfText, name: str) -> SrdfText:
            return text.add([new.disable_default_collisions(name)])

        self._button("collisions off by default", self._link, disabled, "add-default")
        self._spheres = field("spheres: x y z radius; …  [m]", "spheres-of-link", "", lambda text: self._show_spheres())
        self._bare = small("").props("data-uncovered role=status")

        def spheres(text: SrdfText, name: str) -> SrdfText:
            return text.add([new.link_spheres(name, sphere_rows(self._spheres.value or ""))])

        self._button("add spheres", self._link, spheres, "add-spheres")
        ui.separator()
        self._titles: dict[str, ui.label] = {}
        for kind in LISTS:
            self._titles[kind] = heading("")
            self._lists.append(Parts(self._studio, partial(self._list_rows, kind), dict, acts=hover))
        self._offer()

    def renew(self) -> None:
        """Show the current session; typed texts stay."""
        self._offer()
        for parts in self._lists:
            parts.renew()
        background_tasks.create(self._show_spheres())

    def _show_joint(self, name: str | None) -> None:
        """Show the chosen joint in the viewer: its axis and its child link."""
        self._studio.viewer.call("showJoint", self._studio.actor, name)

    async def _show_link(self, name: str | None) -> None:
        self._studio.viewer.call("showLink", self._studio.actor, name)
        await self._show_spheres()

    async def _show_spheres(self) -> None:
        """Show the typed spheres at the chosen link, without incomplete ones, and in red what no sphere holds."""
        link, typed = self._link.value, None
        with contextlib.suppress(ValueError):
            typed = sphere_rows(self._spheres.value or "")
        self._studio.viewer.call("setTypedSpheres", self._studio.actor, link, typed)
        stated = self._studio.session.robot.semantics.link_spheres.get(link or "", ())
        self._request = request = (link, typed or [[*one.center, one.radius] for one in stated])
        parts: FloatArray | None = np.zeros((0, 3, 3))
        problem = ""
        try:
            if link and request[1]:
                parts = await run.io_bound(self._uncovered, link, np.array(request[1]))
        except RobotSemanticsError as error:
            problem = str(error).splitlines()[0]
        if request is self._request and parts is not None:
            self._bare.set_text(problem or ("Red: parts of the link that no sphere holds." if len(parts) else ""))
            self._studio.viewer.call("setUncovered", self._studio.actor, link, parts.round(5).ravel().tolist())

    def _uncovered(self, link: str, rows: FloatArray) -> FloatArray:
        index = self._studio.session.robot.link_index[link]
        return uncovered_parts([piece for piece in self._studio.pieces() if piece.link == index], rows)

    def picked(self, link: str, joint: str) -> None:
        """Fill the names of the clicked link into the fields."""
        self._link.set_value(link)
        self._joint.set_value(joint if joint in self._joint.options else None)

    def _offer(self) -> None:
        robot = self._studio.session.bare
        self._joint.offer([joint.name for joint in robot.joints if not joint.virtual])
        self._link.offer(robot.link_names)
        self._virtual.set_visibility(not self._studio.session.text.semantic.virtual_joints)

    def _virtual_rows(self) -> list[JsonObject]:
        session = self._studio.session
        passive = {item.name for item in session.text.semantic.passive_joints}
        return [
            part_row(
                session,
                "virtual joint",
                joint.name,
                about=f"{joint.type}: {joint.child_link} in {joint.parent_frame}",
                cells=[
                    Cell("type", "type", joint.type, kind="choice", list="types"),
                    Cell("parent_frame", "parent frame", joint.parent_frame),
                    Cell("child_link", "child link", joint.child_link, list="links"),
                    Cell("passive", "passive (not driven)", joint.name in passive, kind="box"),
                ],
                folded=True,
                shows=True,
            )
            for joint in session.text.semantic.virtual_joints
        ]

    def _edit_virtual(self, name: tuple[str, ...], key: str, value: str | bool) -> Callable[[SrdfText], SrdfText]:
        if key == "passive":
            passive = new.passive_joint(name[0])
            return lambda text: text.add([passive]) if value else text.remove("passive joint", name[0])
        words = str(value)
        if key == "child_link":
            one_of(words, self._studio.session.bare.link_names, "link")
        elif not words:
            raise RobotSemanticsError(f"the {key.replace('_', ' ')} is empty")
        return lambda text: text.set_attribute("virtual joint", name, key, words)

    def _virtual_options(self) -> dict[str, Sequence[str]]:
        return {"types": list(new.VIRTUAL_JOINT_FRAMES), "links": self._studio.session.bare.link_names}

    def _list_rows(self, kind: str) -> list[JsonObject]:
        """Return the rows of a list, and give it its title."""
        session = self._studio.session
        semantic = session.text.semantic
        names: dict[str, list[tuple[tuple[str, ...], str]]] = {
            "passive joint": [((item.name,), "") for item in semantic.passive_joints],
            "joint property": [
                ((item.joint_name, item.property_name), f"{item.property_name} = {item.value}")
                for item in semantic.joint_properties
            ],
            "link disabled by default": [((item.name,), "") for item in semantic.default_disabled_links],
            "link with spheres": [((item.link,), f"{len(item.spheres)} spheres") for item in semantic.link_spheres],
        }
        self._titles[kind].set_text(f"{LISTS[kind]} ({len(names[kind])})")
        return [part_row(session, kind, *name, about=about, shows=True) for name, about in names[kind]]

    def _hover(self, args: Act) -> None:
        """Show the joint or link of a row in the viewer while the pointer or the focus is on it."""
        what = "showLink" if str(args["kind"]).startswith("link") else "showJoint"
        self._studio.viewer.call(what, self._studio.actor, args["name"][0] if args["on"] else None)

    def _choose_type(self, kind: str) -> None:
        self._type = kind
        self._frame.set_value(new.VIRTUAL_JOINT_FRAMES[kind])

    def _add_virtual(self) -> None:
        frame = (self._frame.value or "").strip() or new.VIRTUAL_JOINT_FRAMES[self._type]
        robot = self._studio.session.bare
        element = new.virtual_joint(virtual_joint_name(robot, frame), self._type, frame, robot.root_link)
        self._studio.do("virtual joint", lambda text: text.add([element]))

    def _button(self, title: str, of: Choice, edit: Callable[[SrdfText, str], SrdfText], name: str) -> None:
        def press() -> None:
            chosen = of.value
            if not chosen:
                ui.notify(f"Choose a {of.label} first.", type="warning")
                return
            try:
                self._studio.do(f"{title}: {chosen}", lambda text: edit(text, chosen))
            except ValueError as error:
                ui.notify(str(error), type="negative")

        button(title, press, name, outline=True)


def sphere_rows(text: str) -> list[list[float]]:
    """Return centre and radius [m] of each sphere in ``x y z radius; …``.

    Raises:
        ValueError: a sphere does not have four numbers, or there is no sphere.
    """
    try:
        rows = [list(numbers(row, 4)) for row in text.split(";") if row.strip()]
    except ValueError:
        rows = []
    if not rows:
        raise ValueError("Each sphere is four numbers: x y z radius [m].")
    return rows
