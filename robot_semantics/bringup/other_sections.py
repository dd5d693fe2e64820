# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Rules of the small sections: solvers of groups, initial positions, Cartesian limits and sensors."""

from __future__ import annotations

import re
from collections.abc import Iterator

from robot_semantics.base.diagnostics import Severity
from robot_semantics.bringup.configuration import Configuration, ConfigurationProblem, Rule, SectionKind
from robot_semantics.bringup.control_checks import is_within
from robot_semantics.bringup.decimal_numbers import doubles, doubles_of_entries, number_in
from robot_semantics.bringup.name_checks import texts_of

SOLVER_DOUBLES = ("kinematics_solver_search_resolution", "kinematics_solver_timeout")
_OF_CHAINS = re.compile(r"kdl|trac|lma|ikfast|srv", re.IGNORECASE)
"""Names of the solvers that only accept a chain."""

CARTESIAN = ("max_trans_vel", "max_trans_acc", "max_trans_dec", "max_rot_vel")
"""Limits that the Pilz planner reads; none has a default."""


def _solved_group_is_a_chain(configuration: Configuration) -> Iterator[ConfigurationProblem]:
    for name, entry in configuration.entries(SectionKind.KINEMATICS):
        group, solver = configuration.groups.get(name), entry.get("kinematics_solver")
        if group is None or solver is None or group.is_chain or not _OF_CHAINS.search(solver.text):
            continue
        message = f"group '{name}' is not a chain, so the solver '{solver.text}' does not accept it"
        yield ConfigurationProblem(Severity.WARNING, "group-not-chain", message, entry.key_place)


def _solver_has_doubles(configuration: Configuration) -> Iterator[ConfigurationProblem]:
    return doubles_of_entries(configuration, SectionKind.KINEMATICS, "group", SOLVER_DOUBLES)


def _positions_are_numbers(configuration: Configuration) -> Iterator[ConfigurationProblem]:
    positions = configuration.entries(SectionKind.INITIAL_POSITIONS)
    found = doubles((f"the initial position of '{name}'", node) for name, node in positions)
    # A xacro copies the text, so an integer is a number there.
    return (problem for problem in found if problem.severity is Severity.ERROR)


def _positions_are_within_limits(configuration: Configuration) -> Iterator[ConfigurationProblem]:
    for name, node in configuration.entries(SectionKind.INITIAL_POSITIONS):
        joint, value = configuration.joints.get(name), number_in(node)
        if joint is not None and value is not None and not is_within(value, joint.limits.lower, joint.limits.upper):
            limits = f"{joint.limits.lower:g} to {joint.limits.upper:g}"
            message = f"the initial position {value:g} of joint '{name}' is outside its limits {limits}"
            yield ConfigurationProblem(Severity.WARNING, "outside-limits", message, node.place)


def _cartesian_limits_are_doubles(configuration: Configuration) -> Iterator[ConfigurationProblem]:
    return doubles(configuration.entries(SectionKind.CARTESIAN_LIMITS))


def _cartesian_limits_are_complete(configuration: Configuration) -> Iterator[ConfigurationProblem]:
    for section in configuration.of(SectionKind.CARTESIAN_LIMITS):
        for key in CARTESIAN:
            if key not in section.node.entries:
                message = f"cartesian_limits has no {key}, so the Pilz planner does not start"
                yield ConfigurationProblem(Severity.WARNING, "missing-key", message, section.node.key_place)


def _sensors_are_described(configuration: Configuration) -> Iterator[ConfigurationProblem]:
    for section in configuration.of(SectionKind.SENSORS):
        described = tuple(name for name, node in section.around.entries.items() if "sensor_plugin" in node.entries)
        for use in texts_of(section.node):
            if use.name not in section.around.entries:
                message = f"sensor '{use.name}' is not described in this file"
                code = "unknown-sensor"
                yield ConfigurationProblem(Severity.WARNING, code, message, use.place, use.name, described)


RULES: tuple[Rule, ...] = (
    _solved_group_is_a_chain,
    _solver_has_doubles,
    _positions_are_numbers,
    _positions_are_within_limits,
    _cartesian_limits_are_doubles,
    _cartesian_limits_are_complete,
    _sensors_are_described,
)
