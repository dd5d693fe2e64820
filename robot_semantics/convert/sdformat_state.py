# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""World states as SDFormat `<state>`: every pose and velocity in the world, joints by axis, in names of SDFormat."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType

import numpy as np
from lxml import etree

from robot_semantics.convert.conversion import Converted, beyond_motion
from robot_semantics.model.robot_model import RobotModel
from robot_semantics.transforms.pose import Pose, pose_from_matrix
from robot_semantics.usdf.frames import ResolvedWorld, resolve_frames
from robot_semantics.usdf.robot import with_carriers
from robot_semantics.usdf.world_state import SEPARATOR, WORLD, JointState, LinkState, ModelState, WorldState, carrier_of
from robot_semantics.usdf.writer import check_writable
from robot_semantics.xml.numbers import shortest

DEFAULT_WORLD = "default"
"""Name of a world without a name; SDFormat has no world without a name."""

AXES = ("axis_state", "axis2_state")
_JOINT_VALUES = (("positions", "position"), ("velocities", "velocity"), ("torques", "effort"))


VERSION = "1.12"
"""First version of SDFormat that defines the states of joints. Older readers skip them; Drake accepts no older form."""


def is_reserved(name: str) -> bool:
    """Return True if no world, model, link or joint may have this name in SDFormat."""
    return name == WORLD or SEPARATOR in name or (len(name) >= 4 and name.startswith("__") and name.endswith("__"))


class SdfNames:
    """Names of a world, its models, links and joints in SDFormat; names that SDFormat refuses are changed.

    Attributes:
        world: the name of the world.
        models: names of the models, by their names in USDF.
        changes: one message for each changed name.
    """

    def __init__(self, state: WorldState, robots: Mapping[str, RobotModel] = MappingProxyType({})) -> None:
        """Choose the names.

        Args:
            state: the state.
            robots: the robots of models. A document with them, or beside the state, has all their links and joints.
        """
        self.changes: list[str] = []
        self.world = state.name or DEFAULT_WORLD
        if is_reserved(self.world):
            self.world = DEFAULT_WORLD if self.world == WORLD else unused_name(self.world, "world", ())
            self.changes.append(f"the world '{state.name}' has a name that SDFormat reserves: it is '{self.world}'")
        self.models = self._names([model.name for model in state.models], "model", set(), "")
        self._links: dict[str, dict[str, str]] = {}
        self._joints: dict[str, dict[str, str]] = {}
        for model in state.models:
            robot, part = robots.get(model.name), f"model '{model.name}': "
            used_names: set[str] = set()
            if robot is None:
                links, joints = [link.name for link in model.links], [joint.name for joint in model.joints]
            else:
                links, joints = list(robot.link_names), [joint.name for joint in robot.joints[1:]]
            self._links[model.name] = self._names(links, "link", used_names, part)
            # No joint of a model may have the name of a link.
            self._joints[model.name] = self._names(joints, "joint", used_names, part)

    def link(self, model: str, name: str) -> str:
        """Return the name of a link."""
        return self._links[model].get(name, name)

    def joint(self, model: str, name: str) -> str:
        """Return the name of a joint."""
        return self._joints[model].get(name, name)

    def unused(self, name: str, model: str) -> str:
        """Return `name`, or a longer one, that no link and no joint of a model has."""
        return unused_name(name, "joint", {*self._links[model].values(), *self._joints[model].values()})

    def _names(self, names: Sequence[str], kind: str, used_names: set[str], part: str) -> dict[str, str]:
        """Return the names in SDFormat, and add them to `used_names`."""
        allowed = [name for name in names if not is_reserved(name) and name not in used_names]
        result = dict(zip(allowed, allowed, strict=True))
        used_names.update(allowed)
        for name in names:
            if name in result:
                continue
            reason = "a name that SDFormat reserves" if is_reserved(name) else "the name of a link"
            result[name] = unused_name(name, kind, used_names)
            used_names.add(result[name])
            self.changes.append(f"{part}{kind} '{name}' has {reason}: it is '{result[name]}'")
        return result


def unused_name(name: str, kind: str, taken: Iterable[str]) -> str:
    """Return a name that SDFormat allows and that is not taken: without ``::``, with `kind` at its end if need be."""
    free = name.replace(SEPARATOR, "_")
    while is_reserved(free) or free in taken:
        free += f"_{kind}"
    return free


def to_sdformat(
    state: WorldState,
    robots: Mapping[str, RobotModel] | None = None,
    *,
    version: str = VERSION,
    names: SdfNames | None = None,
) -> Converted[str]:
    """Return the text of an SDFormat document with `state`, and the lost data.

    Models are placed in the world; link velocities, forces and torques are relative to the world and in its axes.

    Args:
        state: the state.
        robots: robots by their models' names: their joints place the links that carry something, and names are chosen
            as for a document with these robots.
        version: the version that the document states.
        names: the names in the document, by default those of the state, as far as SDFormat allows them.

    Raises:
        DescriptionError: the state is not valid; see `usdf.writer.write_world`.
        NotStatedError: the pose of a link that carries something is neither stated nor follows.
    """
    check_writable(state)
    models = robots or {}
    resolved = resolve_frames(with_carriers(state, models))
    return _SdformatExport(state, resolved, names or SdfNames(state, models)).converted(version)


class _SdformatExport:
    def __init__(self, state: WorldState, resolved: ResolvedWorld, names: SdfNames) -> None:
        self._state, self._resolved, self._names = state, resolved, names
        self._bodies = {body.name: body for body in state.bodies}
        self._losses = [*names.changes, *beyond_motion(state)]

    def converted(self, version: str) -> Converted[str]:
        """Return the document."""
        state, name = self._state, self._names.world
        sdf = etree.Element("sdf", version=version)
        root = etree.SubElement(etree.SubElement(sdf, "world", name=name), "state", world_name=name)
        if state.time_ns is not None:
            if state.time_ns >= 0:
                seconds, nanoseconds = divmod(state.time_ns, 1_000_000_000)
                _child(root, "sim_time", f"{seconds} {nanoseconds}")
            else:
                self._losses.append("the time, which is negative")
        _child(root, "iterations", "0")
        for model in state.models:
            self._model(etree.SubElement(root, "model_state", name=self._names.models[model.name]), model)
        for frame in state.frames:
            self._losses.append(f"frame '{frame.name}': what stands in it is placed in the world")
        etree.indent(sdf)
        text = etree.tostring(sdf, xml_declaration=True, encoding="UTF-8").decode()
        return Converted(f"{text}\n", tuple(self._losses))

    def _model(self, element: etree._Element, model: ModelState) -> None:
        for joint in model.joints:
            self._joint(element, model, joint)
        if model.parent == WORLD:
            if model.pose is not None:
                _pose(element, model.pose)
        else:
            _pose(element, pose_from_matrix(self._resolved.pose(model.name)))
            for name in self._resolved.path(model.name)[:-1]:
                if self._bodies[name].pose is None:
                    what = "its pose is not stated" if name == model.name else f"the pose of '{name}' is not stated"
                    self._losses.append(f"model '{model.name}': that {what}, and is taken to be the identity")
            self._losses.append(f"model '{model.name}': that it stands in '{carrier_of(model)}'")
        if model.twist is not None and not any(link.twist is not None for link in model.links):
            self._losses.append(f"model '{model.name}': its twist, as no link has one")
        for link in model.links:
            name = self._names.link(model.name, link.name)
            self._link(etree.SubElement(element, "link_state", name=name), model, link)

    def _link(self, element: etree._Element, model: ModelState, link: LinkState) -> None:
        name = f"{model.name}{SEPARATOR}{link.name}"
        if link.pose is not None:
            at = self._resolved.at(name)
            twist, wrench = self._resolved.twists[at], self._resolved.wrenches[at]
            for tag, values in (
                ("angular_velocity", twist[3:]),
                ("linear_velocity", twist[:3]),
                ("torque", wrench[3:]),
                ("force", wrench[:3]),
            ):
                if not np.isnan(values).any():
                    _child(element, tag, _numbers(values.tolist()))
            if link.twist is not None and np.isnan(twist).any():
                self._losses.append(f"link '{name}': its twist, as the model's own in the world is not stated")
            _pose(element, link.pose)
        elif link.twist is not None or link.wrench is not None:
            self._losses.append(f"link '{name}': its twist and wrench, as its axes are not known without a pose")

    def _joint(self, element: etree._Element, model: ModelState, joint: JointState) -> None:
        counts = {len(row) for row in (joint.positions, joint.velocities, joint.torques) if row is not None}
        if counts and max(counts) > len(AXES):
            self._losses.append(f"model '{model.name}': joint '{joint.name}', which has {max(counts)} values")
            return
        joint_element = etree.SubElement(element, "joint_state", name=self._names.joint(model.name, joint.name))
        for axis, tag in enumerate(AXES[: max(counts, default=0)]):
            axis_element = etree.SubElement(joint_element, tag)
            for word, value_tag in _JOINT_VALUES:
                row = getattr(joint, word)
                if row is not None and axis < len(row):
                    _child(axis_element, value_tag, shortest(row[axis]))


def _child(parent: etree._Element, tag: str, text: str) -> etree._Element:
    element = etree.SubElement(parent, tag)
    element.text = text
    return element


def _pose(parent: etree._Element, pose: Pose) -> None:
    """Write a pose in the form in which its numbers are exact."""
    if pose.quat_xyzw is None:
        _child(parent, "pose", _numbers(pose.xyz_rpy))
    else:
        element = _child(parent, "pose", _numbers((*pose.xyz_rpy[:3], *pose.quat_xyzw)))
        element.set("rotation_format", "quat_xyzw")


def _numbers(values: Sequence[float]) -> str:
    return " ".join(map(shortest, values))


def children(element: etree._Element, *tags: str) -> Iterator[etree._Element]:
    """Yield the child elements of one of several tags, in document order."""
    for child in element:
        if child.tag in tags:
            yield child
