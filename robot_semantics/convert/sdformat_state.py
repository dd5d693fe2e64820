# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""World states as SDFormat 1.12 `<state>`: every pose and velocity in the world, joints by axis."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from lxml import etree

from robot_semantics.convert.conversion import Converted, beyond_motion
from robot_semantics.kinematics.forward import ForwardKinematics
from robot_semantics.model.robot_model import RobotModel
from robot_semantics.transforms.pose import Pose, pose_from_matrix
from robot_semantics.usdf.frames import resolve
from robot_semantics.usdf.resolved_world import ResolvedWorld
from robot_semantics.usdf.robot import with_carriers
from robot_semantics.usdf.world_state import SEPARATOR, WORLD, JointState, LinkState, ModelState, WorldState, carrier_of
from robot_semantics.usdf.writer import check_writable
from robot_semantics.xml.numbers import shortest

VERSION = "1.12"
AXES = ("axis_state", "axis2_state")
_JOINT_VALUES = (("positions", "position"), ("velocities", "velocity"), ("torques", "effort"))


def to_sdformat(
    state: WorldState, robots: Mapping[str, RobotModel | ForwardKinematics] | None = None
) -> Converted[str]:
    """Return the text of an SDFormat document with `state`, and the lost data.

    Models are placed in the world; link velocities, forces and torques are relative to the world and in its axes.

    Args:
        state: the state.
        robots: robots by their models' names: their joints place the links that carry something.

    Raises:
        DescriptionError: the state is not valid; see `usdf.writer.write_world`.
        NotStatedError: the pose of a link that carries something is neither stated nor follows.
    """
    check_writable(state)
    return _SdformatExport(state, resolve(with_carriers(state, robots or {}))).converted()


class _SdformatExport:
    def __init__(self, state: WorldState, resolved: ResolvedWorld) -> None:
        self._state, self._resolved = state, resolved
        self._bodies = {body.name: body for body in state.bodies}
        self._lost = beyond_motion(state)

    def converted(self) -> Converted[str]:
        """Return the document."""
        state = self._state
        name = state.name or "world"
        sdf = etree.Element("sdf", version=VERSION)
        root = etree.SubElement(etree.SubElement(sdf, "world", name=name), "state", world_name=name)
        if state.time_ns is not None:
            if state.time_ns >= 0:
                seconds, nanoseconds = divmod(state.time_ns, 1_000_000_000)
                _child(root, "sim_time", f"{seconds} {nanoseconds}")
            else:
                self._lost.append("the time, which is negative")
        _child(root, "iterations", "0")
        for model in state.models:
            self._model(etree.SubElement(root, "model_state", name=model.name), model)
        for frame in state.frames:
            self._lost.append(f"frame '{frame.name}': what stands in it is placed in the world")
        etree.indent(sdf)
        text = etree.tostring(sdf, xml_declaration=True, encoding="UTF-8").decode()
        return Converted(f"{text}\n", tuple(self._lost))

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
                    self._lost.append(f"model '{model.name}': that {what}, and is taken to be the identity")
            self._lost.append(f"model '{model.name}': that it stands in '{carrier_of(model)}'")
        if model.twist is not None and not any(link.twist is not None for link in model.links):
            self._lost.append(f"model '{model.name}': its twist, as no link has one")
        for link in model.links:
            self._link(etree.SubElement(element, "link_state", name=link.name), model, link)

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
                self._lost.append(f"link '{name}': its twist, as the model's own in the world is not stated")
            _pose(element, link.pose)
        elif link.twist is not None or link.wrench is not None:
            self._lost.append(f"link '{name}': its twist and wrench, as its axes are not known without a pose")

    def _joint(self, element: etree._Element, model: ModelState, joint: JointState) -> None:
        counts = {len(row) for row in (joint.positions, joint.velocities, joint.torques) if row is not None}
        if counts and max(counts) > len(AXES):
            self._lost.append(f"model '{model.name}': joint '{joint.name}', which has {max(counts)} values")
            return
        joint_element = etree.SubElement(element, "joint_state", name=joint.name)
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
