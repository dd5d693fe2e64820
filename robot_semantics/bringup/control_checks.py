# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Checks of a `<ros2_control>` block in itself and against the joints of its robot.

`robot_semantics.model.foreign_checks` compares the names in the block with the robot.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from robot_semantics.base.diagnostic import Severity
from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.model.robot_model import JointModel, RobotModel
from robot_semantics.urdf.control_table import BLOCK, read_control
from robot_semantics.urdf.control_tree import ControlBlock, ControlInterface, ControlParameter
from robot_semantics.xml.numbers import number
from robot_semantics.xml.schema import BadValueError

ROUNDING = 1e-3
"""Largest share by which a limit may exceed the URDF's: both are often rounded."""


class ControlProblem(NamedTuple):
    """A problem at element number `at` of a block, or at its attribute."""

    at: int
    code: str
    message: str
    attribute: str | None = None
    severity: Severity = Severity.ERROR
    name: str | None = None
    valid: tuple[str, ...] = ()


ControlRule = Callable[[ControlBlock, Mapping[str, JointModel]], Iterator[ControlProblem]]


def check_control(model: RobotModel, diagnostics: Diagnostics) -> tuple[ControlBlock, ...]:
    """Report the problems of every `<ros2_control>` block of a robot; return the blocks."""
    joints = {joint.name: joint for joint in model.joints if joint.urdf is not None}
    blocks = []
    for extra in model.urdf.extras:
        if extra.tag != BLOCK:
            continue
        block, places = read_control(extra, model.urdf.places, diagnostics)
        blocks.append(block)
        for problem in (problem for rule in RULES for problem in rule(block, joints)):
            place = places.place_finder(problem.at, problem.attribute)
            diagnostics.add(problem.severity, problem.code, problem.message, place, problem.name, problem.valid)
    return tuple(blocks)


def _leader_is_controlled(block: ControlBlock, joints: Mapping[str, JointModel]) -> Iterator[ControlProblem]:
    names = {joint.name for joint in block.joints}
    for component in block.joints:
        joint = joints.get(component.name)
        mimic = joint.urdf.mimic if joint is not None and joint.urdf is not None else None
        if mimic is not None and component.mimic is not False and mimic.joint not in names:
            message = f"joint '{component.name}' mimics '{mimic.joint}', which this <{BLOCK}> does not have"
            yield ControlProblem(component.at, "leader-not-controlled", message, "name", Severity.WARNING)


def _transmitted_joints_are_listed(block: ControlBlock, joints: Mapping[str, JointModel]) -> Iterator[ControlProblem]:
    names = tuple(joint.name for joint in block.joints)
    for transmission in block.transmissions:
        for part in transmission.joints:
            if part.name not in names and part.name in joints:
                message = f"transmission '{transmission.name}' names joint '{part.name}', which this <{BLOCK}> lacks"
                code = "unlisted-transmission-joint"
                yield ControlProblem(part.at, code, message, "name", name=part.name, valid=names)


def _actuator_has_one_joint(block: ControlBlock, _: Mapping[str, JointModel]) -> Iterator[ControlProblem]:
    if block.type != "actuator":
        return
    if len(block.joints) != 1:
        message = f"an actuator has exactly one joint, but '{block.name}' has {len(block.joints)}"
        yield ControlProblem(block.at, "actuator-joints", message, "type", Severity.WARNING)
    for transmission in block.transmissions:
        if len(transmission.joints) != 1:
            count = len(transmission.joints)
            message = f"a transmission of an actuator has exactly one joint, but '{transmission.name}' has {count}"
            yield ControlProblem(transmission.at, "actuator-joints", message)


def _reduction_is_not_zero(block: ControlBlock, _: Mapping[str, JointModel]) -> Iterator[ControlProblem]:
    for transmission in block.transmissions:
        for part in (*transmission.joints, *transmission.actuators):
            if part.reduction == 0.0:
                message = f"the mechanical reduction of '{part.name}' is 0"
                yield ControlProblem(part.reduction_at, "zero-reduction", message)


def _limits_are_ordered(block: ControlBlock, _: Mapping[str, JointModel]) -> Iterator[ControlProblem]:
    for component in block.joints:
        for interface in component.commands:
            lower, upper = (_limit(interface, name) for name in ("min", "max"))
            if lower is not None and upper is not None and lower.value > upper.value:
                what = f"min {lower.value:g} of the {interface.name} interface of joint '{component.name}'"
                yield ControlProblem(lower.at, "limits-crossed", f"{what} is above max {upper.value:g}")


def _limits_are_numbers(block: ControlBlock, _: Mapping[str, JointModel]) -> Iterator[ControlProblem]:
    for component in block.joints:
        for parameter in (parameter for interface in component.commands for parameter in interface.parameters):
            reason = _not_a_number(parameter) if parameter.name in ("min", "max") else ""
            if reason:
                message = f"{parameter.name} of joint '{component.name}' {reason}; ros2_control ignores it"
                yield ControlProblem(parameter.at, "bad-number", message, severity=Severity.WARNING)


def _limits_are_within_the_urdf(block: ControlBlock, joints: Mapping[str, JointModel]) -> Iterator[ControlProblem]:
    for component in block.joints:
        joint = joints.get(component.name)
        if joint is None:
            continue
        limits = joint.limits
        ranges = {
            "position": (limits.lower, limits.upper),
            "velocity": (-limits.velocity, limits.velocity),
            "effort": (-limits.effort, limits.effort),
        }
        for interface in component.commands:
            if interface.name not in ranges:
                continue
            lower, upper = ranges[interface.name]
            for limit in filter(None, (_limit(interface, name) for name in ("min", "max"))):
                if not is_within(limit.value, lower, upper):
                    what = f"{interface.name} limit {limit.value:g} of joint '{component.name}'"
                    message = f"the {what} is outside the URDF's {lower + 0.0:g} to {upper + 0.0:g}"
                    yield ControlProblem(limit.at, "limit-above-urdf", message, severity=Severity.WARNING)


class _Limit(NamedTuple):
    value: float
    at: int


def _limit(interface: ControlInterface, name: str) -> _Limit | None:
    """Return the ``min`` or ``max`` of an interface; None if it is missing, not a number or not enforced."""
    given = {parameter.name: parameter for parameter in interface.parameters}
    parameter = given.get(name)
    if parameter is None or not interface.limited or not parameter.value or _not_a_number(parameter):
        return None
    return _Limit(number(parameter.value), parameter.at)


def _not_a_number(parameter: ControlParameter) -> str:
    """Return the reason why a parameter is not a number; empty if it is one."""
    try:
        number(parameter.value or "0")
    except BadValueError as error:
        return str(error)
    return ""


def is_within(value: float, lower: float, upper: float) -> bool:
    """Return True if a value is in a range, with an allowance for rounded limits."""
    allowed = ROUNDING * abs(value)
    return lower - allowed <= value <= upper + allowed


RULES: tuple[ControlRule, ...] = (
    _leader_is_controlled,
    _transmitted_joints_are_listed,
    _actuator_has_one_joint,
    _reduction_is_not_zero,
    _limits_are_ordered,
    _limits_are_numbers,
    _limits_are_within_the_urdf,
)
