# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Rules of MoveIt's controllers: ``controller_names`` and their maps of MoveIt 2, ``controller_list`` of MoveIt 1."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from robot_semantics.base.diagnostics import Severity
from robot_semantics.base.names import is_certain, nearest_names
from robot_semantics.base.yaml_reader import YamlNode
from robot_semantics.bringup.configuration import (
    Configuration,
    ConfigurationProblem,
    Rule,
    SectionKind,
    has_substitution,
    substitutions,
)
from robot_semantics.bringup.name_checks import (
    ConfiguredName,
    by_name,
    joints_left_out,
    last_name,
    severity_of,
    texts_of,
    unknown_names,
)

TYPES = ("FollowJointTrajectory", "GripperCommand", "ParallelGripperCommand")
REQUIRED = ("type", "action_ns", "joints")


class ControllerList(NamedTuple):
    """The controllers of MoveIt 2 in a file: their names, and a map that describes them."""

    names: list[ConfiguredName]
    node: YamlNode


def _lists(configuration: Configuration) -> Iterator[ControllerList]:
    for section in configuration.of(SectionKind.MOVEIT_CONTROLLERS):
        if isinstance(section.node.value, dict):
            yield ControllerList(texts_of(section.node.get("controller_names")), section.node)


def _controllers(configuration: Configuration) -> Iterator[tuple[str, YamlNode]]:
    """Yield the names of controllers and their entries."""
    for listed in _lists(configuration):
        names = {use.name for use in listed.names}
        yield from ((name, node) for name, node in listed.node.entries.items() if name in names)
    for section in configuration.of(SectionKind.MOVEIT_CONTROLLERS):
        for item in section.node.items:
            name = item.get("name")
            yield ("" if name is None else name.text), item


def _controllers_are_described(configuration: Configuration) -> Iterator[ConfigurationProblem]:
    for listed in _lists(configuration):
        described = tuple(name for name, node in listed.node.entries.items() if node.entries)
        for use in listed.names:
            if use.name not in described:
                message = f"controller '{use.name}' is not described in this file"
                code = "unknown-controller"
                yield ConfigurationProblem(Severity.ERROR, code, message, use.place, use.name, described)


def _controllers_are_named(configuration: Configuration) -> Iterator[ConfigurationProblem]:
    for listed in _lists(configuration):
        stated, names = listed.node.get("controller_names"), {use.name for use in listed.names}
        for name, node in listed.node.entries.items() if stated is not None and not any(substitutions(stated)) else ():
            if "joints" in node.entries and name not in names:
                message = f"controller_names does not have controller '{name}', so MoveIt ignores it"
                yield ConfigurationProblem(Severity.WARNING, "unknown-controller", message, node.key_place)


def _keys_are_present(configuration: Configuration) -> Iterator[ConfigurationProblem]:
    for listed in _lists(configuration):
        for use in listed.names:
            node = listed.node.get(use.name)
            for key in REQUIRED if node is not None and node.entries else ():
                if node is not None and key not in node.entries:
                    message = f"controller '{use.name}' has no {key}"
                    yield ConfigurationProblem(Severity.ERROR, "missing-key", message, node.key_place)


def _types_are_known(configuration: Configuration) -> Iterator[ConfigurationProblem]:
    for listed in _lists(configuration):
        for name, node in listed.node.entries.items():
            kind = node.get("type") if "joints" in node.entries else None
            if kind is not None and kind.text not in TYPES and not has_substitution(kind):
                message = f"the type of controller '{name}' should be {', '.join(TYPES)}, not '{kind.text}'"
                yield ConfigurationProblem(Severity.ERROR, "bad-value", message, kind.place, kind.text, TYPES)


def _joints_exist(configuration: Configuration) -> Iterator[ConfigurationProblem]:
    controllers = list(_controllers(configuration))
    severities = {name: severity_of(alternatives) for name, alternatives in by_name(controllers).items()}
    uses = ((use, severities[name]) for name, node in controllers for use in texts_of(node.get("joints")))
    return unknown_names(uses, configuration.joints, "joint") if configuration.joints else iter(())


def _defaults_are_unique(configuration: Configuration) -> Iterator[ConfigurationProblem]:
    first: dict[tuple[str, str], str] = {}
    for name, node in _controllers(configuration):
        default = node.get("default")
        if default is None or default.text.lower() != "true":
            continue
        for use in texts_of(node.get("joints")):
            other = first.setdefault((use.place.source, use.name), name)
            if other != name:
                message = f"joint '{use.name}' has two default controllers, '{other}' and '{name}'"
                yield ConfigurationProblem(Severity.WARNING, "controllers-overlap", message, use.place)


def _joints_are_served(configuration: Configuration) -> Iterator[ConfigurationProblem]:
    sections = list(configuration.of(SectionKind.MOVEIT_CONTROLLERS))
    if not sections or any(found for section in sections for found in substitutions(section.node)):
        return
    served = {use.name for _, node in _controllers(configuration) for use in texts_of(node.get("joints"))}
    reported: set[str] = set()
    for group in sorted(configuration.groups.values(), key=lambda group: (len(group.joints), group.name)):
        wanted = [name for name in group.commandable_joints if name in configuration.joints]
        missing = [name for name in wanted if name not in served and name not in reported]
        if missing:
            reported.update(missing)
            names = ", ".join(f"'{name}'" for name in missing[:5]) + (" and more" if len(missing) > 5 else "")
            message = f"no controller of MoveIt moves {names} of group '{group.name}'"
            yield ConfigurationProblem(Severity.WARNING, "joint-not-served", message, sections[0].node.key_place)


def _alternatives_have_the_same_joints(configuration: Configuration) -> Iterator[ConfigurationProblem]:
    return joints_left_out(_controllers(configuration), configuration.joints)


def _controllers_run(configuration: Configuration) -> Iterator[ConfigurationProblem]:
    """Report a misspelt name of a controller of ros2_control; other names may be a driver's."""
    running = {last_name(name) for name, _ in configuration.entries(SectionKind.CONTROLLERS)}
    for listed in _lists(configuration):
        for use in listed.names if running else ():
            name = last_name(use.name)
            near = nearest_names(name, running)
            if name not in running and is_certain(name, near):
                message = f"ros2_control has no controller '{use.name}'"
                valid = (near[0],)
                yield ConfigurationProblem(Severity.WARNING, "unknown-controller", message, use.place, name, valid)


RULES: tuple[Rule, ...] = (
    _controllers_are_described,
    _controllers_are_named,
    _keys_are_present,
    _types_are_known,
    _joints_exist,
    _defaults_are_unique,
    _joints_are_served,
    _alternatives_have_the_same_joints,
    _controllers_run,
)
