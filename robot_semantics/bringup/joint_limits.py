# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Rules of MoveIt's joint limits: ``joint_limits: {JOINT: {max_velocity: 1.0, ...}}``."""

from __future__ import annotations

from collections.abc import Iterator

from robot_semantics.base.diagnostics import Severity, SourcePlace
from robot_semantics.base.yaml_reader import YamlNode
from robot_semantics.bringup.configuration import (
    Configuration,
    ConfigurationProblem,
    Rule,
    Section,
    SectionKind,
    has_substitution,
)
from robot_semantics.bringup.control_checks import is_within
from robot_semantics.bringup.decimal_numbers import doubles, doubles_of_entries, number_in

LIMITED = ("velocity", "acceleration", "deceleration", "jerk")
"""Quantities with ``has_X_limits`` and ``max_X``."""

DOUBLES = ("min_position", "max_position", *(f"max_{name}" for name in (*LIMITED, "effort")))
SCALING = ("default_velocity_scaling_factor", "default_acceleration_scaling_factor")
KEYS = (
    *DOUBLES,
    *(f"has_{name}_limits" for name in ("position", *LIMITED, "effort", "soft")),
    *("angle_wraparound", "k_position", "k_velocity", "soft_lower_limit", "soft_upper_limit"),
)
_BOOLEANS = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}
_SHOWN = 5


def _boolean(node: YamlNode | None) -> bool | None:
    return _BOOLEANS.get(node.text.lower()) if node is not None and node.plain else None


def _keys_are_known(configuration: Configuration) -> Iterator[ConfigurationProblem]:
    for joint, entry in configuration.entries(SectionKind.JOINT_LIMITS):
        for key, node in entry.entries.items():
            if key not in KEYS:
                message = f"'{key}' of joint '{joint}' is not a key of joint limits; MoveIt ignores it"
                yield ConfigurationProblem(Severity.WARNING, "unknown-key", message, node.key_place, key, KEYS)


def _limits_are_doubles(configuration: Configuration) -> Iterator[ConfigurationProblem]:
    yield from doubles_of_entries(configuration, SectionKind.JOINT_LIMITS, "joint", DOUBLES)
    for section in configuration.of(SectionKind.JOINT_LIMITS):
        around = section.around.entries
        yield from doubles((key, around[key]) for key in SCALING if key in around)


def _switches_are_booleans(configuration: Configuration) -> Iterator[ConfigurationProblem]:
    for joint, entry in configuration.entries(SectionKind.JOINT_LIMITS):
        for key, node in entry.entries.items():
            if key.startswith("has_") and key in KEYS and _boolean(node) is None and not has_substitution(node):
                message = f"{key} of joint '{joint}' should be true or false, not '{node.text}'"
                yield ConfigurationProblem(Severity.ERROR, "bad-value", message, node.place)


def _limits_and_switches_agree(configuration: Configuration) -> Iterator[ConfigurationProblem]:
    for joint, entry in configuration.entries(SectionKind.JOINT_LIMITS):
        for name in LIMITED:
            switch, limit = entry.get(f"has_{name}_limits"), entry.get(f"max_{name}")
            value = number_in(limit)
            if limit is None:
                if switch is not None and _boolean(switch):
                    message = f"joint '{joint}' has has_{name}_limits: true, but no max_{name}"
                    yield ConfigurationProblem(Severity.ERROR, "limit-without-value", message, switch.key_place)
            elif switch is None:
                message = f"MoveIt ignores max_{name} of joint '{joint}' without has_{name}_limits: true"
                yield ConfigurationProblem(Severity.WARNING, "limit-not-used", message, limit.key_place)
            elif _boolean(switch) and value is not None and value <= 0.0 and name != "deceleration":
                message = f"max_{name} of joint '{joint}' should be above 0, not {value:g}"
                yield ConfigurationProblem(Severity.ERROR, "bad-number", message, limit.place)


def _positions_are_ordered(configuration: Configuration) -> Iterator[ConfigurationProblem]:
    for joint, entry in configuration.entries(SectionKind.JOINT_LIMITS):
        node = entry.get("min_position")
        lower, upper = number_in(node), number_in(entry.get("max_position"))
        if node is not None and lower is not None and upper is not None and lower > upper:
            message = f"min_position {lower:g} of joint '{joint}' is above max_position {upper:g}"
            yield ConfigurationProblem(Severity.ERROR, "limits-crossed", message, node.place)


def _limits_are_within_the_urdf(configuration: Configuration) -> Iterator[ConfigurationProblem]:
    for name, entry in configuration.entries(SectionKind.JOINT_LIMITS):
        joint = configuration.joints.get(name)
        if joint is None:
            continue
        limits = joint.limits
        ranges = {
            "min_position": (limits.lower, limits.upper),
            "max_position": (limits.lower, limits.upper),
            "max_velocity": (-limits.velocity, limits.velocity),
        }
        for key, (lower, upper) in ranges.items():
            node = entry.get(key)
            value = number_in(node)
            if node is not None and value is not None and not is_within(value, lower, upper):
                message = f"{key} {value:g} of joint '{name}' is outside the URDF's {lower:g} to {upper:g}"
                yield ConfigurationProblem(Severity.WARNING, "limit-above-urdf", message, node.place)


def _accelerations_are_limited(configuration: Configuration) -> Iterator[ConfigurationProblem]:
    sections = list(configuration.of(SectionKind.JOINT_LIMITS))
    planned = {name for group in configuration.groups.values() for name in group.commandable_joints}
    limited = {
        name
        for name, entry in configuration.entries(SectionKind.JOINT_LIMITS)
        if _boolean(entry.get("has_acceleration_limits"))
    }
    # A name that the robot does not have, or a computed key, has a message of its own.
    if not sections or not set(sections[0].node.entries) <= configuration.joints.keys():
        return
    missing = [joint for joint in configuration.joints if joint in planned and joint not in limited]
    if missing:
        place = _place_of_acceleration(sections[0], missing)
        names = ", ".join(f"'{name}'" for name in missing[:_SHOWN])
        rest = f" and {len(missing) - _SHOWN} more" if len(missing) > _SHOWN else ""
        message = f"joints of groups have no acceleration limit, so MoveIt cannot time a plan: {names}{rest}"
        yield ConfigurationProblem(Severity.WARNING, "no-acceleration-limit", message, place)


def _place_of_acceleration(section: Section, missing: list[str]) -> SourcePlace:
    for name in missing:
        entry = section.node.entries.get(name)
        if entry is not None:
            switch = entry.get("has_acceleration_limits")
            return entry.key_place if switch is None else switch.key_place
    return section.node.key_place


RULES: tuple[Rule, ...] = (
    _keys_are_known,
    _limits_are_doubles,
    _switches_are_booleans,
    _limits_and_switches_agree,
    _positions_are_ordered,
    _limits_are_within_the_urdf,
    _accelerations_are_limited,
)
