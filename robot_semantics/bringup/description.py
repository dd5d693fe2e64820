# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""All checks of a robot description: the URDF, its elements for other programs, its SRDFs and its closed loops.

A `<ros2_control>` block is checked in itself and against the joints of its robot;
`robot_semantics.model.foreign_checks` compares the names in the block with the robot.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from robot_semantics.base.diagnostic import Severity
from robot_semantics.base.diagnostics import NOT_COMPARED, Diagnostics, SourcePlace
from robot_semantics.model.apply_semantics import apply_semantics, check_alone
from robot_semantics.model.foreign_checks import check_foreign
from robot_semantics.model.loading import NAMED_FILES, RobotOptions
from robot_semantics.model.resources import PackageResolver, check_resources
from robot_semantics.model.robot_model import JointModel, RobotModel
from robot_semantics.model.semantic_names import DeclaredNames, check_names_of, declared_names
from robot_semantics.srdf.tree import SrdfDocument
from robot_semantics.urdf.control_table import BLOCK, read_control
from robot_semantics.urdf.control_tree import ControlBlock, ControlInterface, ControlParameter
from robot_semantics.urdf.tree import UrdfRobot
from robot_semantics.xml.numbers import number
from robot_semantics.xml.schema import BadValueError

ROUNDING = 1e-3
"""Largest share by which a limit may exceed the URDF's: both are often rounded."""


class ControlProblem(NamedTuple):
    """A problem at element number `ordinal` of a block, or at its attribute."""

    ordinal: int
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
            place = places.place_finder(problem.ordinal, problem.attribute)
            diagnostics.add(problem.severity, problem.code, problem.message, place, problem.name, problem.valid)
    return tuple(blocks)


def _leader_is_controlled(block: ControlBlock, joints: Mapping[str, JointModel]) -> Iterator[ControlProblem]:
    names = {joint.name for joint in block.joints}
    for component in block.joints:
        joint = joints.get(component.name)
        mimic = joint.urdf.mimic if joint is not None and joint.urdf is not None else None
        if mimic is not None and component.mimic is not False and mimic.joint not in names:
            message = f"joint '{component.name}' mimics '{mimic.joint}', which this <{BLOCK}> does not have"
            yield ControlProblem(component.ordinal, "leader-not-controlled", message, "name", Severity.WARNING)


def _transmitted_joints_are_listed(block: ControlBlock, joints: Mapping[str, JointModel]) -> Iterator[ControlProblem]:
    names = tuple(joint.name for joint in block.joints)
    for transmission in block.transmissions:
        for part in transmission.joints:
            if part.name not in names and part.name in joints:
                message = f"transmission '{transmission.name}' names joint '{part.name}', which this <{BLOCK}> lacks"
                code = "unlisted-transmission-joint"
                yield ControlProblem(part.ordinal, code, message, "name", name=part.name, valid=names)


def _actuator_has_one_joint(block: ControlBlock, _: Mapping[str, JointModel]) -> Iterator[ControlProblem]:
    if block.type != "actuator":
        return
    if len(block.joints) != 1:
        message = f"an actuator has exactly one joint, but '{block.name}' has {len(block.joints)}"
        yield ControlProblem(block.ordinal, "actuator-joints", message, "type", Severity.WARNING)
    for transmission in block.transmissions:
        if len(transmission.joints) != 1:
            count = len(transmission.joints)
            message = f"a transmission of an actuator has exactly one joint, but '{transmission.name}' has {count}"
            yield ControlProblem(transmission.ordinal, "actuator-joints", message)


def _reduction_is_not_zero(block: ControlBlock, _: Mapping[str, JointModel]) -> Iterator[ControlProblem]:
    for transmission in block.transmissions:
        for part in (*transmission.joints, *transmission.actuators):
            if part.reduction == 0.0:
                message = f"the mechanical reduction of '{part.name}' is 0"
                yield ControlProblem(part.reduction_ordinal, "zero-reduction", message)


def _limits_are_ordered(block: ControlBlock, _: Mapping[str, JointModel]) -> Iterator[ControlProblem]:
    for component in block.joints:
        for interface in component.commands:
            lower, upper = (_limit(interface, name) for name in ("min", "max"))
            if lower is not None and upper is not None and lower.value > upper.value:
                what = f"min {lower.value:g} of the {interface.name} interface of joint '{component.name}'"
                yield ControlProblem(lower.ordinal, "limits-crossed", f"{what} is above max {upper.value:g}")


def _limits_are_numbers(block: ControlBlock, _: Mapping[str, JointModel]) -> Iterator[ControlProblem]:
    for component in block.joints:
        for parameter in (parameter for interface in component.commands for parameter in interface.parameters):
            reason = _not_a_number(parameter) if parameter.name in ("min", "max") else ""
            if reason:
                message = f"{parameter.name} of joint '{component.name}' {reason}; ros2_control ignores it"
                yield ControlProblem(parameter.ordinal, "bad-number", message, severity=Severity.WARNING)


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
                    yield ControlProblem(limit.ordinal, "limit-above-urdf", message, severity=Severity.WARNING)


class _StatedLimit(NamedTuple):
    value: float
    ordinal: int


def _limit(interface: ControlInterface, name: str) -> _StatedLimit | None:
    """Return the ``min`` or ``max`` of an interface; None if it is missing, not a number or not enforced."""
    given = {parameter.name: parameter for parameter in interface.parameters}
    parameter = given.get(name)
    if parameter is None or not interface.limited or not parameter.value or _not_a_number(parameter):
        return None
    return _StatedLimit(number(parameter.value), parameter.ordinal)


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


class CheckedDescription(NamedTuple):
    """A checked robot.

    Attributes:
        robot: the robot with the semantics of its SRDF; None without a valid tree.
        blocks: its ``<ros2_control>`` blocks.
        names: the names of a URDF without a valid tree, and of its SRDF.
    """

    robot: RobotModel | None
    blocks: tuple[ControlBlock, ...] = ()
    names: DeclaredNames | None = None


def report_not_compared(sources: Iterable[str], other: str, diagnostics: Diagnostics, *, names: bool = False) -> None:
    """Report files that were not compared with another file, or only by `names`, because of the errors in it."""
    for source in dict.fromkeys(sources):
        what = "only the names in this file are compared" if names else "this file is not compared"
        message = f"{what} with '{other}', which has errors"
        diagnostics.warning(NOT_COMPARED, message, SourcePlace(source, 1, 1))


def check_description(
    robot: RobotModel | None,
    semantics: Sequence[SrdfDocument],
    diagnostics: Diagnostics,
    semantic_diagnostics: Diagnostics | None = None,
    *,
    resolver: PackageResolver | None = None,
    file: str | None = None,
    urdf: UrdfRobot | None = None,
    options: RobotOptions = NAMED_FILES,
) -> CheckedDescription:
    """Report the problems of a URDF and of its SRDFs that their readers do not report.

    Args:
        robot: the URDF's robot; None if it has no valid tree or is unknown.
        semantics: the SRDFs; each is checked with the URDF alone. The loops are checked with the last one.
        diagnostics: gets the problems of the URDF.
        semantic_diagnostics: gets the problems of the SRDFs (default: `diagnostics`).
        resolver: finds the files that the URDF names; without it, they are not checked.
        file: the URDF's own file.
        urdf: the content of a URDF without a valid tree; the names in the SRDFs are compared with it.
        options: how the URDF is read.
    """
    of_srdf = diagnostics if semantic_diagnostics is None else semantic_diagnostics
    if robot is None:
        names = None if urdf is None else declared_names(urdf, implicit_links=options.implicit_links)
        for semantic in semantics:
            check_alone(semantic, of_srdf)
            if names is not None:
                check_names_of(semantic, names, of_srdf)
                names = names._replace(groups=frozenset(group.name for group in semantic.groups))
            if file is not None:
                report_not_compared([semantic.places.source], file, of_srdf, names=names is not None)
        if urdf is not None and resolver is not None:
            check_resources(urdf, resolver, diagnostics, file)
        return CheckedDescription(None, names=names)
    if resolver is not None:
        check_resources(robot.urdf, resolver, diagnostics, file)
    check_foreign(robot, diagnostics)
    blocks = check_control(robot, diagnostics)
    complete = robot
    for semantic in semantics:
        complete = apply_semantics(robot, semantic, of_srdf)
    if complete.constraints:
        # Import here: few robots have loops.
        from robot_semantics.kinematics.loop_freedom import check_loops

        check_loops(complete, diagnostics)
    return CheckedDescription(complete, blocks)


class DescriptionChoice(NamedTuple):
    """The robot of the other files of a check, and the URDF of each of its SRDFs, as names of files.

    Attributes:
        urdf: the URDF of the other files; None if it is not certain.
        srdf: the SRDF of the other files; None if it is not certain.
        urdf_by_srdf: the URDF of each SRDF that has one.
    """

    urdf: str | None
    srdf: str | None
    urdf_by_srdf: Mapping[str, str]


def choose_descriptions(
    urdfs: Mapping[str, str],
    srdfs: Mapping[str, str],
    urdf: str | None = None,
    srdf: str | None = None,
    *,
    by_name: bool = False,
) -> DescriptionChoice:
    """Return which of the files of a check belong together; nothing is guessed.

    Args:
        urdfs: the robot name of each URDF.
        srdfs: the robot name of each SRDF.
        urdf: the URDF of all other files (default: the only one).
        srdf: the SRDF of the other files (default: the only one, or the only one with the robot name of the URDF).
        by_name: do not use the defaults. Then, as with several URDFs, an SRDF belongs to the only URDF of its name.
    """
    if not by_name:
        urdf = urdf or _only(urdfs)
        srdf = srdf or _only(srdfs) or _only(file for file, name in srdfs.items() if urdf and name == urdfs.get(urdf))
    if urdf:
        return DescriptionChoice(urdf, srdf, dict.fromkeys([*srdfs, *filter(None, [srdf])], urdf))
    count = Counter(urdfs.values())
    named = {name: file for file, name in urdfs.items() if count[name] == 1}
    return DescriptionChoice(None, srdf, {file: named[name] for file, name in srdfs.items() if name in named})


def _only(files: Iterable[str]) -> str | None:
    found = list(files)
    return found[0] if len(found) == 1 else None


def check_chosen(
    choice: DescriptionChoice,
    robots: Mapping[str, RobotModel | None],
    semantics: Mapping[str, SrdfDocument | None],
    diagnostics: Diagnostics,
    *,
    resolver: PackageResolver | None = None,
    urdfs: Mapping[str, UrdfRobot | None] = MappingProxyType({}),
    options: RobotOptions = NAMED_FILES,
) -> CheckedDescription:
    """Check every URDF with its SRDFs, and return the robot of the other files.

    Args:
        choice: which files belong together.
        robots: the robot of each URDF; None if it has no valid tree.
        urdfs: the content of each URDF; None if it is refused.
        options: as in `check_description`.
        semantics: the tree of each SRDF; None if it is refused.
        diagnostics: gets the problems.
        resolver: as in `check_description`.
    """
    srdfs_of: dict[str | None, list[SrdfDocument]] = {None: [], **{file: [] for file in robots}}
    # The semantics of the other files come last.
    for file in sorted(semantics, key=lambda file: file == choice.srdf):
        semantic, urdf = semantics[file], choice.urdf_by_srdf.get(file)
        if semantic is not None:
            srdfs_of[urdf].append(semantic)
    chosen = CheckedDescription(None)
    for own_urdf, trees in srdfs_of.items():
        robot = robots[own_urdf] if own_urdf else None
        checked = check_description(
            robot,
            trees,
            diagnostics,
            resolver=resolver,
            file=own_urdf,
            urdf=urdfs.get(own_urdf) if own_urdf else None,
            options=options,
        )
        if own_urdf and own_urdf == choice.urdf:
            is_certain = choice.srdf is not None and semantics.get(choice.srdf) is not None
            chosen = checked if is_certain or robot is None else checked._replace(robot=robot)
    return chosen
