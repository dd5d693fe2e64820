# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""What the SRDF says of the robot as a whole: virtual and passive joints, properties, spheres, default collisions."""

from __future__ import annotations

from collections.abc import Callable

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


class RobotTab:
    """Edits what belongs to no group."""

    def __init__(self, studio: Panel) -> None:
        """Begin with nothing chosen."""
        self._studio = studio
        self._values: dict[str, str | None] = {"type": "fixed", "frame": "world", "link": None, "joint": None}

    def picked(self, link: str, joint: str) -> None:
        """Fill what was clicked into the fields."""
        self._values.update(link=link, joint=joint)
        self._forms.refresh()

    @ui.refreshable_method
    def show(self) -> None:
        """Build the tab."""
        semantic = self._studio.session.text.semantic
        heading("Virtual joint")
        for joint in semantic.virtual_joints:
            about = f"{joint.type}: {joint.child_link} in {joint.parent_frame}"
            self._row(joint.name, about, "virtual joint", joint.name)
        if not semantic.virtual_joints:
            self._virtual_joint()
        heading(f"Passive joints ({len(semantic.passive_joints)})")
        for passive in semantic.passive_joints:
            self._row(passive.name, "", "passive joint", passive.name)
        heading(f"Joint properties ({len(semantic.joint_properties)})")
        for item in semantic.joint_properties:
            about = f"{item.property_name} = {item.value}"
            self._row(item.joint_name, about, "joint property", item.joint_name, item.property_name)
        count = len(semantic.default_disabled_links)
        heading(f"Links none of whose pairs is checked unless it is enabled ({count})")
        for link in semantic.default_disabled_links:
            self._row(link.name, "", "link disabled by default", link.name)
        heading(f"Links as spheres ({len(semantic.link_spheres)})")
        for spheres in semantic.link_spheres:
            self._row(spheres.link, f"{len(spheres.spheres)} spheres", "link with spheres", spheres.link)
        ui.separator()
        self._forms()

    def _row(self, title: str, about: str, kind: str, *name: str) -> None:
        with ui.row(wrap=False).style("width: 100%; align-items: center; gap: 6px"):
            ui.label(title).style("overflow-wrap: anywhere")
            remark(about).style("flex: 1")
            remove_button(self._studio, kind, *name)
        messages(self._studio, name[0])

    def _virtual_joint(self) -> None:
        values = self._values
        frames = new.VIRTUAL_JOINT_FRAMES
        frame = field("parent frame", "virtual-frame", values["frame"], lambda text: values.update(frame=text))

        def typed(kind: str) -> None:
            values.update(type=kind, frame=frames[kind])
            frame.set_value(frames[kind])

        toggle(list(frames), values["type"], typed, "data-virtual")

        def add() -> None:
            kind = str(values["type"])
            stands_in = (frame.value or "").strip() or frames[kind]
            element = new.virtual_joint(f"{stands_in}_joint", kind, stands_in, self._studio.session.bare.root_link)
            self._studio.do("virtual joint", lambda text: text.add([element]))

        button("add virtual joint", add, "add-virtual")

    @ui.refreshable_method
    def _forms(self) -> None:
        robot, values = self._studio.session.bare, self._values
        remark("Click a link in the picture, or choose; then say what it is.")
        joints = [joint.name for joint in robot.joints if not joint.virtual]
        choice("joint", joints, values["joint"], lambda value: values.update(joint=value), "property-joint")
        with ui.row().style("gap: 6px; align-items: center; width: 100%"):
            self._button("passive", "joint", lambda text, name: text.add([new.passive_joint(name)]), "add-passive")
            key = field("property", "property-name").style("width: 110px")
            value = field("value", "property-value").style("width: 90px")

            def property_set(text: SrdfText, name: str) -> SrdfText:
                return text.add([new.joint_property(name, key.value or "", value.value or "")])

            self._button("set", "joint", property_set, "add-property")
        choice("link", robot.link_names, values["link"], lambda value: values.update(link=value), "property-link")

        def disabled(text: SrdfText, name: str) -> SrdfText:
            return text.add([new.disable_default_collisions(name)])

        self._button("disable all its pairs", "link", disabled, "add-default")
        sphere = field("spheres: x y z radius; …  [m]", "spheres")

        def spheres(text: SrdfText, name: str) -> SrdfText:
            rows = [[float(part) for part in row.split()] for row in (sphere.value or "").split(";") if row.strip()]
            if not rows or any(len(row) != 4 for row in rows):
                raise ValueError("each sphere is four numbers: x y z radius")
            return text.add([new.link_spheres(name, rows)])

        self._button("add spheres", "link", spheres, "add-spheres")

    def _button(self, title: str, what: str, edit: Callable[[SrdfText, str], SrdfText], name: str) -> None:
        def press() -> None:
            chosen = self._values[what]
            if not chosen:
                ui.notify(f"choose a {what} first", type="warning")
                return
            try:
                self._studio.do(f"{title}: {chosen}", lambda text: edit(text, chosen))
            except ValueError as error:
                ui.notify(str(error), type="negative")

        button(title, press, name, outline=True)
