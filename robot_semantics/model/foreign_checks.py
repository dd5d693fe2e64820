# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Checks of foreign URDF elements against joints and links: ros2_control, transmissions, Gazebo.

Foreign elements are kept unchanged, so loading a robot does not need these checks. `check` runs them, because other
programs refuse a wrong name when the robot starts, or silently ignore it. `robot_semantics.bringup` checks the content
of `<ros2_control>` itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from lxml import etree

from robot_semantics.base.diagnostic import Severity
from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.base.names import did_you_mean
from robot_semantics.model.robot_model import JointModel, RobotModel
from robot_semantics.urdf.extras import element_of
from robot_semantics.xml.numbers import number

INTERFACES = ("position", "velocity", "effort", "acceleration")
"""Names of ros2_control for command and state interfaces; a driver may add others."""


class ValidNames(NamedTuple):
    """The names that a foreign element may refer to."""

    joints: Mapping[str, JointModel]
    links: tuple[str, ...]


class ForeignProblem(NamedTuple):
    """A problem at an element or its attribute; a misspelt `name` is compared with the `valid` names."""

    element: etree._Element
    attribute: str | None
    code: str
    message: str
    name: str | None = None
    valid: tuple[str, ...] = ()


Rule = Callable[[etree._Element, ValidNames], Iterator[ForeignProblem]]

ERRORS = frozenset({"unknown-control-joint", "fixed-control-joint"})
"""Errors that stop a controller manager at its start; all others are warnings."""


def check_foreign(model: RobotModel, diagnostics: Diagnostics) -> None:
    """Report wrong statements about joints and links in foreign elements at robot level."""
    joints = {joint.name: joint for joint in model.joints if joint.urdf is not None}
    names = ValidNames(joints, model.link_names)
    for extra in model.urdf.extras:
        rules = RULES.get(extra.tag, ())
        if not rules:
            continue
        root = element_of(extra)
        elements = list(root.iter("*"))
        for finding in (finding for rule in rules for finding in rule(root, names)):
            place = model.urdf.places.place(extra.ordinal + elements.index(finding.element), finding.attribute)
            severity = Severity.ERROR if finding.code in ERRORS else Severity.WARNING
            diagnostics.add(severity, finding.code, finding.message, place, finding.name, finding.valid)


def _control_joints(block: etree._Element) -> Iterator[tuple[etree._Element, str]]:
    for element in block.iter("joint"):
        name = element.get("name")
        if name is not None:
            yield element, name


def _control_joint_known(block: etree._Element, names: ValidNames) -> Iterator[ForeignProblem]:
    for element, name in _control_joints(block):
        if name not in names.joints:
            message = f"<ros2_control> names joint '{name}', which the robot does not have"
            yield ForeignProblem(element, "name", "unknown-control-joint", message, name, tuple(names.joints))


def _control_joint_moves(block: etree._Element, names: ValidNames) -> Iterator[ForeignProblem]:
    for element, name in _control_joints(block):
        if name in names.joints and not names.joints[name].position_count:
            message = f"<ros2_control> names joint '{name}', which is fixed and cannot be moved or measured"
            yield ForeignProblem(element, "name", "fixed-control-joint", message)


def _interface_spelt(block: etree._Element, names: ValidNames) -> Iterator[ForeignProblem]:
    for element, joint in _control_joints(block):
        for interface in element.iterchildren("command_interface", "state_interface"):
            name = interface.get("name", "")
            if name not in INTERFACES and _is_nearly(name):
                message = f"interface '{name}' of joint '{joint}' is not a standard one: {', '.join(INTERFACES)}"
                yield ForeignProblem(interface, "name", "odd-interface", message, name, INTERFACES)


def _is_nearly(name: str) -> bool:
    """Return True if a name is almost a usual one; a driver's own, such as ``position_gain``, has other words."""
    nearest = did_you_mean(name, INTERFACES)
    return nearest is not None and name.isalpha() and abs(len(name) - len(nearest)) <= 2


def _mimic_agrees(block: etree._Element, names: ValidNames) -> Iterator[ForeignProblem]:
    for element, name in _control_joints(block):
        joint = names.joints.get(name)
        if joint is None or joint.urdf is None:
            continue
        mimic = joint.urdf.mimic
        word = element.get("mimic", "").lower()
        if mimic is None and word == "true":
            message = f"<ros2_control> makes joint '{name}' mimic another, but the robot's joint has no <mimic>"
            yield ForeignProblem(element, "mimic", "control-mimic-differs", message)
        parameters = {param.get("name"): param for param in element.iterchildren("param")}
        if "mimic" in parameters and (parameters["mimic"].text or "").strip() != (mimic and mimic.joint):
            said = (parameters["mimic"].text or "").strip()
            has = f"mimics '{mimic.joint}'" if mimic else "is not a mimic joint"
            message = f"<ros2_control> makes joint '{name}' mimic '{said}', but the robot's joint {has}"
            yield ForeignProblem(parameters["mimic"], None, "control-mimic-differs", message)
        elif "mimic" in parameters and mimic is not None:
            for what, usual in (("multiplier", 1.0), ("offset", 0.0)):
                ours: float | None = getattr(mimic, what)
                theirs = _number(parameters.get(what), usual)
                if theirs != (usual if ours is None else ours):
                    message = (
                        f"<ros2_control> gives mimic joint '{name}' the {what} {theirs:g}, but the robot has another"
                    )
                    yield ForeignProblem(
                        parameters.get(what, parameters["mimic"]), None, "control-mimic-differs", message
                    )


def _number(param: etree._Element | None, usual: float) -> float:
    try:
        return usual if param is None else number(param.text or "")
    except ValueError:
        return usual


def _mimic_commanded(block: etree._Element, names: ValidNames) -> Iterator[ForeignProblem]:
    for element, name in _control_joints(block):
        joint = names.joints.get(name)
        command = element.find("command_interface")
        mimics = joint is not None and joint.mimic is not None and element.get("mimic", "").lower() != "false"
        if mimics and command is not None:
            message = (
                f"ros2_control refuses the command interface of mimic joint '{name}': remove it, or set mimic=\"false\""
            )
            yield ForeignProblem(command, None, "mimic-commanded", message)


def _transmission_joint_known(transmission: etree._Element, names: ValidNames) -> Iterator[ForeignProblem]:
    for element in transmission.iterchildren("joint"):
        name = element.get("name")
        if name is not None and name not in names.joints:
            message = f"<transmission> names joint '{name}', which the robot does not have"
            yield ForeignProblem(element, "name", "unknown-transmission-joint", message, name, tuple(names.joints))


def _reference_known(gazebo: etree._Element, names: ValidNames) -> Iterator[ForeignProblem]:
    name = gazebo.get("reference")
    if name and name not in names.joints and name not in names.links:
        message = f"<gazebo> refers to '{name}', which is not a link or joint of the robot"
        yield ForeignProblem(
            gazebo, "reference", "unknown-gazebo-reference", message, name, (*names.links, *names.joints)
        )


def _gazebo_loop(gazebo: etree._Element, names: ValidNames) -> Iterator[ForeignProblem]:
    """Yield the joints of SDFormat between two links of the robot, which the URDF connects too."""
    for joint in gazebo.iter("joint"):
        ends = {_end(joint.find(end)) for end in ("parent", "child")}
        if len(ends) == 2 and ends <= set(names.links):
            yield _loop(joint, "<joint> in <gazebo>")


def _end(element: etree._Element | None) -> str:
    """Return the link that the end of a joint names, as in SDFormat or as in URDF."""
    name = "" if element is None else element.get("link") or element.text or ""
    return name.strip().rpartition("::")[2]


def _mujoco_loop(mujoco: etree._Element, names: ValidNames) -> Iterator[ForeignProblem]:
    for equality in mujoco.iter("equality"):
        for constraint in equality.iterchildren("connect", "weld"):
            yield _loop(constraint, f"<{constraint.tag}> in <equality> of <mujoco>")


def _loop(element: etree._Element, what: str) -> ForeignProblem:
    message = f"{what} closes a loop for another program only; write a <constraint> for it"
    return ForeignProblem(element, None, "foreign-loop", message)


def _other_loop(block: etree._Element, names: ValidNames) -> Iterator[ForeignProblem]:
    tag = block.tag.rpartition("}")[2]
    yield _loop(block, f"<{tag}>")


RULES: Mapping[str, tuple[Rule, ...]] = {
    "ros2_control": (_control_joint_known, _control_joint_moves, _interface_spelt, _mimic_agrees, _mimic_commanded),
    "transmission": (_transmission_joint_known,),
    "gazebo": (_reference_known, _gazebo_loop),
    "mujoco": (_mujoco_loop,),
    "loop": (_other_loop,),
    "loop_joint": (_other_loop,),
    "coupling": (_other_loop,),
    "drake:ball_constraint": (_other_loop,),
}
"""The checks of each foreign element."""
