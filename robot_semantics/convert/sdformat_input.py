# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""SDFormat `<state>` to a world state: 1.12 as it is written today, and the older spellings of the same."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
from lxml import etree

from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.convert.conversion import Converted
from robot_semantics.convert.sdformat_state import AXES, children
from robot_semantics.usdf.frames import resolve
from robot_semantics.usdf.poses import FloatArray, pose_from_quaternion, pose_matrices, six
from robot_semantics.usdf.resolved_world import ResolvedWorld
from robot_semantics.usdf.world_state import (
    SEPARATOR,
    WORLD,
    Frame,
    JointState,
    LinkState,
    ModelState,
    Pose,
    Vec6,
    WorldState,
    carrier_of,
)
from robot_semantics.xml.numbers import numbers
from robot_semantics.xml.reader import XmlDocument, parse_xml, read_text
from robot_semantics.xml.schema import BadValueError

_MODEL, _LINK, _JOINT = ("model_state", "model"), ("link_state", "link"), ("joint_state", "joint")
_OWN_FRAME = ("", "__model__")
_READ = {
    "state": {"sim_time", *_MODEL},
    "model": {"pose", "frame", *_MODEL, *_LINK, *_JOINT},
    "link": {"pose", "linear_velocity", "angular_velocity", "velocity", "force", "torque", "wrench"},
    "joint": {*AXES, "angle"},
    "axis": {"position", "velocity", "effort"},
}
_WORTHLESS = {"iterations": "0", "wall_time": "0 0", "real_time": "0 0", "scale": "1 1 1"}
"""Elements that are not carried, and the text in which they say nothing."""

ORIGIN_TOLERANCE = 1e-9
"""How far a link may be from its model's frame to be taken for its root link [m, and components of a rotation]."""


def sdformat_from_file(path: str | Path) -> Converted[WorldState]:
    """Read an SDFormat file with a `<state>`; see `from_sdformat`."""
    return from_sdformat(read_text(path), str(path))


def from_sdformat(text: str | bytes, source: str = "<sdf>") -> Converted[WorldState]:
    """Return the world state of the first `<state>` of an SDFormat document, and what it cannot say.

    The velocities of links are relative to the world there; the link that stands where its model stands tells how the
    model moves, and the others move relative to it. Nested models become models that stand in the outer one.

    Raises:
        DescriptionError: the text is not well-formed, has no `<state>`, or a value of it cannot be read; all such
            problems are carried.
    """
    document = parse_xml(text, source)
    found = Diagnostics()
    root = next(document.root.iter("state"), None)
    if root is None:
        found.error("no-state", "there is no <state> element", document.place(document.root))
        found.raise_if_failed()
    reader = _Input(document, found)
    state = reader.state(root if root is not None else document.root)
    found.raise_if_failed()
    return Converted(state, tuple(reader.lost))


class _Input:
    def __init__(self, document: XmlDocument, found: Diagnostics) -> None:
        self._document = document
        self._found = found
        self.lost: list[str] = []
        self._models: list[ModelState] = []
        self._frames: list[Frame] = []
        self._carriers: list[tuple[etree._Element, str, str]] = []
        """Of each model its element, the model that it is nested in, and what its pose is relative to."""
        self._in_world: dict[tuple[str, str], tuple[Vec6 | None, Vec6 | None]] = {}

    def state(self, root: etree._Element) -> WorldState:
        """Return the state."""
        self._not_read(root, "state", "the world")
        for element in children(root, *_MODEL):
            self._model(element, "")
        self._carry()
        time = root.find("sim_time")
        state = WorldState(
            name=root.get("world_name") or None,
            models=tuple(self._models),
            frames=tuple(self._frames),
            time_ns=None if time is None else self._time(time),
        )
        return state if self._found.errors else self._with_motion(state)

    def _model(self, element: etree._Element, outer: str) -> None:
        name = f"{outer}::{self._name(element)}" if outer else self._name(element)
        self._not_read(element, "model", f"model '{name}'")
        pose, relative_to = self._pose(element)
        if any(model.name == name for model in self._models):
            self._error("duplicate-name", f"a second model is called '{name}'", element)
        self._carriers.append((element, outer, relative_to))
        self._models.append(
            ModelState(
                name=name,
                pose=pose,
                links=tuple(self._link(child, name) for child in children(element, *_LINK)),
                joints=tuple(self._joint(child, name) for child in children(element, *_JOINT)),
            )
        )
        for child in children(element, "frame"):
            frame_name = f"{name}::{self._name(child)}"
            frame_pose, frame_relative = self._pose(child)
            if child.get("attached_to", "") in _OWN_FRAME and frame_relative in _OWN_FRAME:
                self._frames.append(Frame(frame_name, name, frame_pose))
            else:
                self.lost.append(f"frame '{frame_name}', which is attached to something else than its model")
        for child in children(element, *_MODEL):
            self._model(child, name)

    def _carry(self) -> None:
        """Give each model its parent: names are those of the model that it is nested in, as SDFormat scopes them."""
        bodies = {WORLD, *(model.name for model in self._models), *(frame.name for frame in self._frames)}
        links = {f"{model.name}::{link.name}": model.name for model in self._models for link in model.links}
        for at, (element, outer, relative_to) in enumerate(self._carriers):
            name = f"{outer}::{relative_to}" if outer and relative_to not in (*_OWN_FRAME, WORLD) else relative_to
            parent, link = (outer or WORLD) if relative_to in _OWN_FRAME else name, None
            if parent not in bodies and name in links:
                parent, link = links[name], name.removeprefix(f"{links[name]}::")
            elif parent not in bodies:
                message = f"the pose is relative to '{relative_to}', and there is no '{name}'"
                place = self._document.place(element)
                self._found.error("unknown-parent", message, place, name=name, valid=(*bodies, *links))
            self._models[at] = replace(self._models[at], parent=parent, parent_link=link)

    def _link(self, element: etree._Element, model: str) -> LinkState:
        name = self._name(element)
        self._not_read(element, "link", f"link '{model}::{name}'")
        pose, relative_to = self._pose(element)
        if relative_to not in _OWN_FRAME:
            self.lost.append(f"link '{model}::{name}': its pose, which is given relative to '{relative_to}'")
            pose = None
        self._in_world[model, name] = (
            self._halves(element, "linear_velocity", "angular_velocity", "velocity"),
            self._halves(element, "force", "torque", "wrench"),
        )
        return LinkState(name, pose)

    def _joint(self, element: etree._Element, model: str) -> JointState:
        name = self._name(element)
        self._not_read(element, "joint", f"joint '{name}' of '{model}'")
        axes = [axis for tag in AXES if (axis := element.find(tag)) is not None]
        rows: dict[str, list[float | None]] = {"position": [], "velocity": [], "effort": []}
        for axis in axes:
            self._not_read(axis, "axis", f"joint '{name}' of '{model}'")
            for word, row in rows.items():
                value = axis.find(word)
                row.append(None if value is None else self._number(value))
        if not axes:
            angles = sorted(children(element, "angle"), key=lambda angle: angle.get("axis", "0"))
            rows["position"] = [self._number(angle) for angle in angles]
        values = [tuple(row) if row and None not in row else None for row in rows.values()]
        for word, row in rows.items():
            if None in row and any(value is not None for value in row):
                self.lost.append(f"joint '{name}' of '{model}': its {word}, which only one of two axes has")
        positions, velocities, torques = values
        return JointState(name, positions, velocities, torques)  # type: ignore[arg-type]  # rows with None are left out

    def _with_motion(self, state: WorldState) -> WorldState:
        """Return the state with twists and wrenches, moved from the world's axes to where USDF has them."""
        resolved = resolve(state)
        moving: dict[str, FloatArray] = {WORLD: np.zeros(6)}
        for model in state.models:
            roots = [link for link in model.links if link.pose is not None and _stands_at_origin(link.pose)]
            twists = [self._in_world[model.name, link.name][0] for link in roots]
            moving.update((model.name, np.array(twist)) for twist in twists[:1] if twist is not None)
        for (name, link), (twist, _) in self._in_world.items():
            if twist is not None:
                moving[f"{name}{SEPARATOR}{link}"] = np.array(twist)
        models = []
        for model in state.models:
            links = tuple(self._moving_link(model.name, link, resolved, moving) for link in model.links)
            own = None
            carrier = carrier_of(model)
            if model.name in moving and carrier in moving:
                relative = _relative(resolved, model.name, carrier, moving[model.name], moving[carrier])
                own = _into_axes(resolved.pose(carrier), relative)
            elif model.name in moving:
                self.lost.append(f"model '{model.name}': its velocity, as that of '{carrier}' is not known")
            models.append(replace(model, twist=own, links=links))
        return replace(state, models=tuple(models))

    def _moving_link(
        self, model: str, link: LinkState, resolved: ResolvedWorld, moving: dict[str, FloatArray]
    ) -> LinkState:
        """Return a link with its twist and wrench."""
        twist, wrench = self._in_world[model, link.name]
        name = f"{model}{SEPARATOR}{link.name}"
        if twist is None and wrench is None:
            return link
        if link.pose is None:
            self.lost.append(f"link '{name}': its velocity and force, as it has no pose")
            return link
        own_twist = None
        if twist is not None and model not in moving:
            self.lost.append(f"link '{name}': its velocity, as no link tells how its model moves")
        elif twist is not None:
            relative = _relative(resolved, name, model, np.array(twist), moving[model])
            own_twist = _into_axes(resolved.pose(name), relative)
        own_wrench = None if wrench is None else _into_axes(resolved.pose(name), np.array(wrench))
        return replace(link, twist=own_twist, wrench=own_wrench)

    def _halves(self, element: etree._Element, linear: str, angular: str, both: str) -> Vec6 | None:
        """Return a twist or wrench from its two elements, or from the one of older versions."""
        parts = [element.find(linear), element.find(angular)]
        if parts == [None, None]:
            old = element.find(both)
            row = None if old is None else self._numbers(old, 6)
            return None if row is None else six(row)
        if None in parts:
            missing = linear if parts[0] is None else angular
            self.lost.append(f"link '{element.get('name')}': a velocity or force without {missing}")
            return None
        rows = [self._numbers(part, 3) for part in parts if part is not None]
        if parts[1] is not None and rows[1] is not None and _in_degrees(parts[1]):
            rows[1] = tuple(map(math.radians, rows[1]))
        return None if rows[0] is None or rows[1] is None else six((*rows[0], *rows[1]))

    def _pose(self, element: etree._Element) -> tuple[Pose | None, str]:
        """Return an element's pose and what it is relative to."""
        pose = element.find("pose")
        if pose is None:
            return None, ""
        relative_to = pose.get("relative_to", "")
        quaternion = pose.get("rotation_format", "euler_rpy") == "quat_xyzw"
        row = self._numbers(pose, 7 if quaternion else 6)
        if row is None:
            return None, relative_to
        if quaternion:
            if not any(row[3:]):
                self._error("zero-quaternion", "the quaternion is all zeros", pose)
                return None, relative_to
            return pose_from_quaternion(row[:3], row[3:]), relative_to
        if _in_degrees(pose):
            row = (*row[:3], *map(math.radians, row[3:]))
        return Pose(six(row)), relative_to

    def _numbers(self, element: etree._Element, count: int) -> tuple[float, ...] | None:
        try:
            return numbers(element.text or "", count)
        except BadValueError as error:
            self._error(error.code, f"<{element.tag}> {error}", element)
            return None

    def _number(self, element: etree._Element) -> float | None:
        row = self._numbers(element, 1)
        return None if row is None else math.radians(row[0]) if _in_degrees(element) else row[0]

    def _time(self, element: etree._Element) -> int | None:
        """Return the nanoseconds of `seconds nanoseconds`."""
        words = (element.text or "").split()
        if len(words) != 2 or not all(word.isascii() and word.isdigit() and len(word) <= 10 for word in words):
            self._error("bad-value", f"<{element.tag}> must be whole seconds and nanoseconds", element)
            return None
        return int(words[0]) * 1_000_000_000 + int(words[1])

    def _name(self, element: etree._Element) -> str:
        name = element.get("name", "")
        if not name:
            self._error("missing-attribute", f"<{element.tag}> has no name", element)
        return name

    def _not_read(self, element: etree._Element, kind: str, owner: str) -> None:
        """List the child elements that are not carried, unless they say nothing."""
        for child in element:
            tag: object = child.tag
            if isinstance(tag, str) and tag not in _READ[kind]:
                said = " ".join((child.text or "").split())
                if _WORTHLESS.get(tag) != said:
                    self.lost.append(f"{owner}: <{tag}>")

    def _error(self, code: str, message: str, element: etree._Element) -> None:
        self._found.error(code, message, self._document.place(element))


def _relative(
    resolved: ResolvedWorld, name: str, observer: str, moving: FloatArray, observer_moving: FloatArray
) -> FloatArray:
    """Return (6,) the motion of `name` that is seen from `observer`, both moving in the world, in the world's axes."""
    lever = resolved.pose(name)[:3, 3] - resolved.pose(observer)[:3, 3]
    relative = moving - observer_moving
    relative[:3] -= np.cross(observer_moving[3:], lever)
    return relative


def _into_axes(T_world_axes: FloatArray, values: FloatArray) -> Vec6:
    return six((values.reshape(2, 3) @ T_world_axes[:3, :3]).reshape(6))


def _stands_at_origin(pose: Pose) -> bool:
    return bool(np.abs(pose_matrices([pose])[0] - np.eye(4)).max() <= ORIGIN_TOLERANCE)


def _in_degrees(element: etree._Element) -> bool:
    return element.get("degrees", "false").strip().lower() in ("true", "1")
