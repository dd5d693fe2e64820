# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Rules of the small sections: initial positions, Cartesian limits and sensors."""

from __future__ import annotations

from collections.abc import Iterator

from robot_semantics.base.diagnostics import Severity
from robot_semantics.bringup.configuration import Configuration, ConfigurationProblem, Rule, SectionKind
from robot_semantics.bringup.control_checks import is_within
from robot_semantics.bringup.decimal_numbers import doubles, number_in
from robot_semantics.bringup.name_checks import keys_of, texts_of, unknown_names

CARTESIAN = ("max_trans_vel", "max_trans_acc", "max_trans_dec", "max_rot_vel")
"""Limits that the Pilz planner reads; none has a default."""


def _positioned_joints_exist(configuration: Configuration) -> Iterator[ConfigurationProblem]:
    for section in configuration.of(SectionKind.INITIAL_POSITIONS) if configuration.joints else ():
        uses = keys_of(section.node)
        yield from unknown_names(uses, configuration.joints, "joint", "unknown-joint", Severity.WARNING)


def _positions_are_numbers(configuration: Configuration) -> Iterator[ConfigurationProblem]:
    for section in configuration.of(SectionKind.INITIAL_POSITIONS):
        for problem in doubles(
            (f"the initial position of '{name}'", node) for name, node in section.node.entries.items()
        ):
            # A xacro copies the text, so an integer is a number there.
            if problem.severity is Severity.ERROR:
                yield problem


def _positions_are_within_limits(configuration: Configuration) -> Iterator[ConfigurationProblem]:
    for section in configuration.of(SectionKind.INITIAL_POSITIONS):
        for name, node in section.node.entries.items():
            joint, value = configuration.joints.get(name), number_in(node)
            if joint is None or value is None:
                continue
            lower, upper = joint.limits.lower, joint.limits.upper
            if not is_within(value, lower, upper):
                message = (
                    f"the initial position {value:g} of joint '{name}' is outside its limits {lower:g} to {upper:g}"
                )
                yield ConfigurationProblem(Severity.WARNING, "outside-limits", message, node.place)


def _cartesian_limits_are_doubles(configuration: Configuration) -> Iterator[ConfigurationProblem]:
    for section in configuration.of(SectionKind.CARTESIAN_LIMITS):
        yield from doubles((key, node) for key, node in section.node.entries.items())


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
    _positioned_joints_exist,
    _positions_are_numbers,
    _positions_are_within_limits,
    _cartesian_limits_are_doubles,
    _cartesian_limits_are_complete,
    _sensors_are_described,
)
