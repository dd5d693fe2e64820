# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""SDFormat `<state>` to a world state: the present version 1.12, and the older forms."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
from lxml import etree

from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.convert.conversion import Converted
from robot_semantics.convert.sdformat_state import AXES, children
from robot_semantics.transforms.arrays import FloatArray
from robot_semantics.transforms.pose import (
    Pose,
    Vec6,
    pose_from_matrix,
    pose_from_quaternion,
    pose_matrices,
    pose_matrix,
    six,
)
from robot_semantics.transforms.rows import into_axes, twist_at
from robot_semantics.usdf.frames import ResolvedWorld, resolve_frames
from robot_semantics.usdf.world_state import (
    SEPARATOR,
    WORLD,
    Frame,
    JointState,
    LinkState,
    ModelState,
    WorldState,
    carrier_of,
)
from robot_semantics.xml.document import XmlDocument
from robot_semantics.xml.numbers import numbers
from robot_semantics.xml.reader import parse_xml, read_text
from robot_semantics.xml.schema import BadValueError

# Values of the elements of an SDFormat `<state>`: poses, velocities, times; each fault with its place.


MODEL, LINK, JOINT = ("model_state", "model"), ("link_state", "link"), ("joint_state", "joint")
_READ = {
    "state": {"sim_time", *MODEL},
    "model": {"pose", "frame", *MODEL, *LINK, *JOINT},
    "link": {"pose", "linear_velocity", "angular_velocity", "velocity", "force", "torque", "wrench"},
    "joint": {*AXES, "angle"},
    "axis": {"position", "velocity", "effort"},
}
_WORTHLESS = {"iterations": "0", "wall_time": "0 0", "real_time": "0 0", "scale": "1 1 1"}
"""Elements that are not carried, and the text in which they say nothing."""


class ElementReader:
    """Reads values of elements.

    Attributes:
        document: the document.
        diagnostics: the problems.
        losses: takes the lost data.
    """

    def __init__(self, document: XmlDocument, found: Diagnostics) -> None:
        """Start without problems."""
        self.document = document
        self.diagnostics = found
        self.losses: list[str] = []

    def halves(self, element: etree._Element, linear: str, angular: str, both: str) -> Vec6 | None:
        """Return a twist or wrench from its two elements, or from the single element of older versions."""
        parts = [element.find(linear), element.find(angular)]
        if parts == [None, None]:
            old = element.find(both)
            row = None if old is None else self.numbers_of(old, 6)
            return None if row is None else six(row)
        if None in parts:
            missing = linear if parts[0] is None else angular
            self.losses.append(f"link '{element.get('name')}': a velocity or force without {missing}")
            return None
        rows = [self.numbers_of(part, 3) for part in parts if part is not None]
        if parts[1] is not None and rows[1] is not None and _in_degrees(parts[1]):
            rows[1] = tuple(map(math.radians, rows[1]))
        return None if rows[0] is None or rows[1] is None else six((*rows[0], *rows[1]))

    def pose_of(self, element: etree._Element) -> tuple[Pose | None, str]:
        """Return an element's pose and its reference frame."""
        pose = element.find("pose")
        if pose is None:
            return None, ""
        relative_to = pose.get("relative_to", "")
        quaternion = pose.get("rotation_format", "euler_rpy") == "quat_xyzw"
        row = self.numbers_of(pose, 7 if quaternion else 6)
        if row is None:
            return None, relative_to
        if quaternion:
            if not any(row[3:]):
                self.error("zero-quaternion", "the quaternion is all zeros", pose)
                return None, relative_to
            return pose_from_quaternion(row[:3], row[3:]), relative_to
        if _in_degrees(pose):
            row = (*row[:3], *map(math.radians, row[3:]))
        return Pose(six(row)), relative_to

    def numbers_of(self, element: etree._Element, count: int) -> tuple[float, ...] | None:
        """Return the numbers of an element's text; None if they are invalid."""
        try:
            return numbers(element.text or "", count)
        except BadValueError as error:
            self.error(error.code, f"<{element.tag}> {error}", element)
            return None

    def number_of(self, element: etree._Element) -> float | None:
        """Return the number of an element's text, in radians if it is given in degrees."""
        row = self.numbers_of(element, 1)
        return None if row is None else math.radians(row[0]) if _in_degrees(element) else row[0]

    def time_of(self, element: etree._Element) -> int | None:
        """Return the nanoseconds of `seconds nanoseconds`."""
        words = (element.text or "").split()
        if len(words) != 2 or not all(word.isascii() and word.isdigit() and len(word) <= 10 for word in words):
            self.error("bad-value", f"<{element.tag}> must be whole seconds and nanoseconds", element)
            return None
        return int(words[0]) * 1_000_000_000 + int(words[1])

    def name_of(self, element: etree._Element) -> str:
        """Return an element's name."""
        name = element.get("name", "")
        if not name:
            self.error("missing-attribute", f"<{element.tag}> has no name", element)
        return name

    def not_read(self, element: etree._Element, kind: str, owner: str) -> None:
        """List the child elements that are lost, without empty ones."""
        for child in element:
            tag: object = child.tag
            if isinstance(tag, str) and tag not in _READ[kind]:
                said = " ".join((child.text or "").split())
                if _WORTHLESS.get(tag) != said:
                    self.losses.append(f"{owner}: <{tag}>")

    def error(self, code: str, message: str, element: etree._Element) -> None:
        """Add an error at the place of an element."""
        self.diagnostics.error(code, message, self.document.place(element))


def _in_degrees(element: etree._Element) -> bool:
    return element.get("degrees", "false").strip().lower() in ("true", "1")


_OWN_FRAME = ("", "__model__")
ORIGIN_TOLERANCE = 1e-9
"""How far a link may be from its model's frame to be taken for its root link [m, and components of a rotation]."""


POSES_IN = ("model", "world")
"""The frames in which a `<state>` can give poses of links and nested models: SDFormat's own, and Gazebo Classic's."""


def sdformat_from_file(path: str | Path, poses_in: str | None = None) -> Converted[WorldState]:
    """Read an SDFormat file with a `<state>`; see `from_sdformat`."""
    return from_sdformat(read_text(path), str(path), poses_in)


def from_sdformat(text: str | bytes, source: str = "<sdf>", poses_in: str | None = None) -> Converted[WorldState]:
    """Return the world state of the first `<state>` of an SDFormat document, and the lost data.

    In SDFormat, velocities of links are relative to the world. The link at the pose of its model gives the motion of
    the model; the other links move relative to it. The parent of a nested model is the outer model, or the world if its
    pose is relative to the world.

    Args:
        text: the document.
        source: its name in problems.
        poses_in: the frame of poses of links and nested models that have no `relative_to`: ``model``, as SDFormat
            says, or ``world``, as Gazebo Classic writes them. By default ``world`` if the `<state>` has a
            `<wall_time>`, which Gazebo Classic writes and this package does not; a note says so.

    Raises:
        DescriptionError: the text is not well-formed, has no `<state>`, or one of its values cannot be read; all such
            problems are reported.
    """
    document = parse_xml(text, source)
    diagnostics = Diagnostics()
    root = next(document.root.iter("state"), None)
    if root is None:
        diagnostics.error("no-state", "there is no <state> element", document.place(document.root))
        diagnostics.raise_if_failed()
    root = document.root if root is None else root
    in_world = poses_in == "world" if poses_in else root.find("wall_time") is not None
    reader = _Input(document, diagnostics, in_world)
    state = reader.state(root)
    diagnostics.raise_if_failed()
    notes: tuple[str, ...] = ()
    if in_world and not poses_in:
        notes = ("poses of links and nested models are read as poses in the world, as Gazebo Classic writes them",)
    return Converted(state, tuple(reader.losses), notes)


class _Input(ElementReader):
    def __init__(self, document: XmlDocument, found: Diagnostics, poses_in_world: bool) -> None:
        super().__init__(document, found)
        self._poses_in_world = poses_in_world
        """Whether poses of links and nested models without a `relative_to` are in the world."""
        self._links_in_world: set[tuple[str, str]] = set()
        self._models: list[ModelState] = []
        self._frames: list[Frame] = []
        self._carriers: list[tuple[etree._Element, str, str]] = []
        """The element of each model, the model around it, and the reference frame of its pose."""
        self._in_world: dict[tuple[str, str], tuple[Vec6 | None, Vec6 | None]] = {}

    def state(self, root: etree._Element) -> WorldState:
        """Return the state."""
        self.not_read(root, "state", "the world")
        for element in children(root, *MODEL):
            self._model(element, "")
        self._carry()
        time = root.find("sim_time")
        state = WorldState(
            name=root.get("world_name") or None,
            models=tuple(self._models),
            frames=tuple(self._frames),
            time_ns=None if time is None else self.time_of(time),
        )
        return state if self.diagnostics.errors else self._with_motion(self._with_links_in_models(state))

    def _with_links_in_models(self, state: WorldState) -> WorldState:
        """Return the state with link poses converted from the world to the model."""
        if not self._links_in_world:
            return state
        resolved = resolve_frames(replace(state, models=tuple(replace(model, links=()) for model in state.models)))
        models = []
        for model in state.models:
            T_model_world = np.linalg.inv(resolved.pose(model.name))
            links = [
                replace(link, pose=pose_from_matrix(T_model_world @ pose_matrix(link.pose)))
                if (model.name, link.name) in self._links_in_world
                else link
                for link in model.links
            ]
            models.append(replace(model, links=tuple(links)))
        return replace(state, models=tuple(models))

    def _model(self, element: etree._Element, outer: str) -> None:
        name = f"{outer}::{self.name_of(element)}" if outer else self.name_of(element)
        self.not_read(element, "model", f"model '{name}'")
        pose, relative_to = self.pose_of(element)
        if any(model.name == name for model in self._models):
            self.error("duplicate-name", f"a second model has the name '{name}'", element)
        self._carriers.append((element, outer, relative_to))
        self._models.append(
            ModelState(
                name=name,
                pose=pose,
                links=tuple(self._link(child, name) for child in children(element, *LINK)),
                joints=tuple(self._joint(child, name) for child in children(element, *JOINT)),
            )
        )
        for child in children(element, "frame"):
            frame_name = f"{name}::{self.name_of(child)}"
            frame_pose, frame_relative = self.pose_of(child)
            if child.get("attached_to", "") in _OWN_FRAME and frame_relative in _OWN_FRAME:
                self._frames.append(Frame(frame_name, name, frame_pose))
            else:
                self.losses.append(f"frame '{frame_name}', which is not attached to its model")
        for child in children(element, *MODEL):
            self._model(child, name)

    def _carry(self) -> None:
        """Set the parent of each model: names are in the scope of the model around it, as in SDFormat."""
        bodies = {WORLD, *(model.name for model in self._models), *(frame.name for frame in self._frames)}
        links = {f"{model.name}::{link.name}": model.name for model in self._models for link in model.links}
        for index, (element, outer, relative_to) in enumerate(self._carriers):
            name = f"{outer}::{relative_to}" if outer and relative_to not in (*_OWN_FRAME, WORLD) else relative_to
            carrier = WORLD if self._poses_in_world and not relative_to else outer or WORLD
            parent, link = carrier if relative_to in _OWN_FRAME else name, None
            if parent not in bodies and name in links:
                parent, link = links[name], name.removeprefix(f"{links[name]}::")
            elif parent not in bodies:
                message = f"the pose is relative to '{relative_to}', but there is no '{name}'"
                place = self.document.place(element)
                self.diagnostics.error("unknown-parent", message, place, name=name, valid=(*bodies, *links))
            self._models[index] = replace(self._models[index], parent=parent, parent_link=link)

    def _link(self, element: etree._Element, model: str) -> LinkState:
        name = self.name_of(element)
        self.not_read(element, "link", f"link '{model}::{name}'")
        pose, relative_to = self.pose_of(element)
        if relative_to not in _OWN_FRAME:
            self.losses.append(f"link '{model}::{name}': its pose, which is given relative to '{relative_to}'")
            pose = None
        elif self._poses_in_world and pose is not None and not relative_to:
            self._links_in_world.add((model, name))
        self._in_world[model, name] = (
            self.halves(element, "linear_velocity", "angular_velocity", "velocity"),
            self.halves(element, "force", "torque", "wrench"),
        )
        return LinkState(name, pose)

    def _joint(self, element: etree._Element, model: str) -> JointState:
        name = self.name_of(element)
        self.not_read(element, "joint", f"joint '{name}' of '{model}'")
        axes = [axis for tag in AXES if (axis := element.find(tag)) is not None]
        rows: dict[str, list[float | None]] = {"position": [], "velocity": [], "effort": []}
        for axis in axes:
            self.not_read(axis, "axis", f"joint '{name}' of '{model}'")
            for word, row in rows.items():
                value = axis.find(word)
                row.append(None if value is None else self.number_of(value))
        if not axes:
            angles = sorted(children(element, "angle"), key=lambda angle: angle.get("axis", "0"))
            rows["position"] = [self.number_of(angle) for angle in angles]
        values = [tuple(row) if row and None not in row else None for row in rows.values()]
        for word, row in rows.items():
            if None in row and any(value is not None for value in row):
                self.losses.append(f"joint '{name}' of '{model}': its {word}, which only one of two axes has")
        positions, velocities, torques = values
        return JointState(name, positions, velocities, torques)  # type: ignore[arg-type]  # rows with None are left out

    def _with_motion(self, state: WorldState) -> WorldState:
        """Return the state with twists and wrenches, converted from the world's axes to the axes of USDF."""
        resolved = resolve_frames(state)
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
            own_motion = None
            carrier = carrier_of(model)
            if model.name in moving and carrier in moving:
                relative = _relative(resolved, model.name, carrier, moving[model.name], moving[carrier])
                own_motion = _into_axes(resolved.pose(carrier), relative)
            elif model.name in moving:
                self.losses.append(
                    f"model '{model.name}': its velocity, because the velocity of '{carrier}' is not known"
                )
            models.append(replace(model, twist=own_motion, links=links))
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
            self.losses.append(f"link '{name}': its velocity and force, as it has no pose")
            return link
        own_twist = None
        if twist is not None and model not in moving:
            self.losses.append(f"link '{name}': its velocity, as no link tells how its model moves")
        elif twist is not None:
            relative = _relative(resolved, name, model, np.array(twist), moving[model])
            own_twist = _into_axes(resolved.pose(name), relative)
        own_wrench = None if wrench is None else _into_axes(resolved.pose(name), np.array(wrench))
        return replace(link, twist=own_twist, wrench=own_wrench)


def _relative(
    resolved: ResolvedWorld, name: str, observer: str, moving: FloatArray, observer_moving: FloatArray
) -> FloatArray:
    """Return (6,) the motion of `name` relative to `observer`, in the world's axes; both move in the world."""
    lever = resolved.pose(name)[:3, 3] - resolved.pose(observer)[:3, 3]
    relative: FloatArray = moving - twist_at(observer_moving, lever)
    return relative


def _into_axes(T_world_axes: FloatArray, values: FloatArray) -> Vec6:
    return six(into_axes(T_world_axes[:3, :3], values))


def _stands_at_origin(pose: Pose) -> bool:
    return bool(np.abs(pose_matrices([pose])[0] - np.eye(4)).max() <= ORIGIN_TOLERANCE)
