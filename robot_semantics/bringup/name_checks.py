# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Names in YAML files that the robot must have; a prefix that all names lack is reported once."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import NamedTuple

from robot_semantics.base.diagnostic import Severity, SourcePlace
from robot_semantics.base.names import common_prefix, quoted
from robot_semantics.base.yaml_reader import YamlNode
from robot_semantics.bringup.configuration import (
    Configuration,
    ConfigurationProblem,
    Rule,
    Section,
    SectionKind,
    has_substitution,
    is_substitution,
)

FEWEST = 2
"""Smallest number of names from which a common prefix is derived."""

_NAMED_BY_KEYS: Mapping[SectionKind, tuple[str, str]] = {
    SectionKind.JOINT_LIMITS: ("joint", ""),
    SectionKind.INITIAL_POSITIONS: ("joint", ""),
    SectionKind.KINEMATICS: ("group", "kinematics_solver"),
    SectionKind.PLANNERS: ("group", "planner_configs"),
}
"""What the keys of a section name, and the entry that such a key has."""


class ConfiguredName(NamedTuple):
    """A name in a file."""

    name: str
    place: SourcePlace


def keys_of(node: YamlNode) -> list[ConfiguredName]:
    """Return the keys of a map that are no substitutions."""
    return [ConfiguredName(key, child.key_place) for key, child in node.entries.items() if not is_substitution(key)]


def texts_of(node: YamlNode | None) -> list[ConfiguredName]:
    """Return the texts of a list, or of a scalar, that are no substitutions."""
    if node is None:
        return []
    nodes = node.items if isinstance(node.value, list) else [node]
    return [ConfiguredName(item.text, item.place) for item in nodes if item.text and not has_substitution(item)]


def last_name(name: str) -> str:
    """Return the name of a node without its namespace."""
    return name.strip("/").rpartition("/")[2]


def keys_that_name(section: Section) -> tuple[str, list[ConfiguredName]]:
    """Return the kind of things that the keys of a section name, and these keys; an empty kind for another section."""
    what, mark = _NAMED_BY_KEYS.get(section.kind, ("", ""))
    uses = keys_of(section.node) if what else []
    return what, [use for use in uses if not mark or mark in section.node.entries[use.name].entries]


def _named_things_exist(configuration: Configuration) -> Iterator[ConfigurationProblem]:
    valid: Mapping[str, Collection[str]] = {"joint": configuration.joint_names, "group": configuration.group_names}
    for section in configuration.sections:
        what, uses = keys_that_name(section)
        if what and valid[what]:
            yield from unknown_names(((use, Severity.WARNING) for use in uses), valid[what], what)


def unknown_names(
    uses: Iterable[tuple[ConfiguredName, Severity]], valid: Collection[str], what: str
) -> Iterator[ConfigurationProblem]:
    """Yield the problems of names that are not `valid`; `what` is the kind of thing that they name.

    A prefix that all names of a file lack is one problem.
    """
    by_file: dict[tuple[str, Severity], list[ConfiguredName]] = {}
    for use, severity in uses:
        if use.name not in valid:
            by_file.setdefault((use.place.source, severity), []).append(use)
    code, valid_names = f"unknown-{what}", tuple(valid)
    for (_, severity), wrong in by_file.items():
        names = list(dict.fromkeys(use.name for use in wrong))
        better = common_prefix(names, valid) if len(names) >= FEWEST else None
        if better is not None:
            message = f"{what} '{names[0]}' and {len(names) - 1} more {better} of the robot's names"
            yield ConfigurationProblem(severity, code, message, wrong[0].place)
            continue
        for use in wrong:
            message = f"{what} '{use.name}' does not exist in the robot"
            yield ConfigurationProblem(severity, code, message, use.place, use.name, valid_names)


def by_name(controllers: Iterable[tuple[str, YamlNode]]) -> Mapping[str, Mapping[str, YamlNode]]:
    """Return the description of each controller in each file."""
    found: dict[str, dict[str, YamlNode]] = {}
    for name, node in controllers:
        found.setdefault(name, {})[node.place.source] = node
    return found


def severity_of(alternatives: Mapping[str, YamlNode]) -> Severity:
    """Return the severity of wrong names in a controller: if several files describe it, a launch file uses only one."""
    return Severity.WARNING if len(alternatives) > 1 else Severity.ERROR


def joints_left_out(
    controllers: Iterable[tuple[str, YamlNode]], joints: Collection[str]
) -> Iterator[ConfigurationProblem]:
    """Yield the controllers that have joints of the robot in one file, and only a part of them in another.

    This is a note: the files may be for robots of different size.
    """
    for name, alternatives in by_name(controllers).items():
        lists = {file: node for file, entry in alternatives.items() if (node := entry.get("joints")) is not None}
        named = {file: {use.name for use in texts_of(node)} for file, node in lists.items()}
        whole = max(named, key=lambda file: len(named[file]), default="")
        for file, part in named.items():
            if part and part < named[whole] <= set(joints):
                missing = quoted(sorted(named[whole] - part), 5)
                message = f"controller '{name}' does not have {missing} here, but in '{whole}'"
                yield ConfigurationProblem(Severity.NOTE, "joint-not-served", message, lists[file].key_place)


RULES: tuple[Rule, ...] = (_named_things_exist,)
