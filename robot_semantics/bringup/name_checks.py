# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Names in YAML files that the robot must have; a prefix that all names lack is reported once."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from robot_semantics.base.diagnostics import Severity, SourcePlace
from robot_semantics.base.yaml_reader import YamlNode
from robot_semantics.bringup.configuration import ConfigurationProblem, has_substitution

FEWEST = 2
"""Smallest number of names from which a common prefix is derived."""


class ConfiguredName(NamedTuple):
    """A name in a file."""

    name: str
    place: SourcePlace


def keys_of(node: YamlNode) -> list[ConfiguredName]:
    """Return the keys of a map that are no substitutions."""
    return [
        ConfiguredName(key, child.key_place)
        for key, child in node.entries.items()
        if not has_substitution(YamlNode(key, child.place, child.place, key))
    ]


def texts_of(node: YamlNode | None) -> list[ConfiguredName]:
    """Return the texts of a list, or of a scalar, that are no substitutions."""
    if node is None:
        return []
    nodes = node.items if isinstance(node.value, list) else [node]
    return [ConfiguredName(item.text, item.place) for item in nodes if item.text and not has_substitution(item)]


def last_name(name: str) -> str:
    """Return the name of a node without its namespace."""
    return name.strip("/").rpartition("/")[2]


def unknown_names(
    uses: Sequence[ConfiguredName], valid: Collection[str], what: str, code: str, severity: Severity
) -> Iterator[ConfigurationProblem]:
    """Yield the problems of names that are not `valid`; `what` describes a name in messages."""
    wrong = [use for use in uses if use.name not in valid]
    names = list(dict.fromkeys(use.name for use in wrong))
    better = _with_common_prefix(names, valid) if len(names) >= FEWEST else None
    if better is not None:
        verb, prefix = better
        first = wrong[0]
        message = f"{what} '{first.name}' and {len(names) - 1} more {verb} the prefix '{prefix}' of the robot's names"
        yield ConfigurationProblem(severity, code, message, first.place)
        return
    known = tuple(valid)
    for use in wrong:
        message = f"{what} '{use.name}' does not exist in the robot"
        yield ConfigurationProblem(severity, code, message, use.place, use.name, known)


def _with_common_prefix(names: Sequence[str], valid: Collection[str]) -> tuple[str, str] | None:
    """Return ``lack`` or ``have`` and the prefix that makes all names valid when added or removed; None without one."""
    first = names[0]
    for known in sorted(valid):
        if known.endswith(first) and all(known[: -len(first)] + name in valid for name in names):
            return "lack", known[: -len(first)]
        prefix = first[: len(first) - len(known)]
        if first.endswith(known) and all(name.startswith(prefix) and name[len(prefix) :] in valid for name in names):
            return "should not have", prefix
    return None
