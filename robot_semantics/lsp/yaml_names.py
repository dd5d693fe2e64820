# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Names in YAML files of MoveIt and ros2_control: joints, groups and controllers, with their places."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from robot_semantics.bringup.configuration import Section, SectionKind
from robot_semantics.bringup.name_checks import ConfiguredName, keys_of, keys_that_name, texts_of
from robot_semantics.bringup.ros2_controllers import JOINT_KEYS, MANAGER

KINDS = {
    **dict.fromkeys(JOINT_KEYS, ("joint",)),
    **dict.fromkeys(("joint_limits", "initial_positions"), ("joint",)),
    "controller_names": ("controller",),
    "": ("group", "controller"),
}
"""Kinds of names below a key; empty: at the start of the text."""

_KEY = re.compile(r"(?P<indent> *)(?:- +)*(?P<key>[^\s:#'\"\[{-][^:#]*?) *:(?: .*)?$")
"""A line with a key."""


class YamlName(NamedTuple):
    """A name in a YAML text, the kind of thing that it names, and whether the thing is declared there."""

    kind: str
    use: ConfiguredName
    declares: bool = False


def yaml_names(section: Section) -> Iterator[YamlName]:
    """Yield the names of joints, groups and controllers in a section."""
    what, uses = keys_that_name(section)
    yield from (YamlName(what, use) for use in uses)
    if section.kind is SectionKind.CONTROLLERS:
        yield from _of_ros2_control(section)
    elif section.kind is SectionKind.MOVEIT_CONTROLLERS:
        yield from _of_moveit(section)


def _of_ros2_control(section: Section) -> Iterator[YamlName]:
    for use in keys_of(section.node):
        parameters = section.node.get(use.name, "ros__parameters")
        if parameters is not None and use.name.endswith(MANAGER):
            listed = (key for key in keys_of(parameters) if parameters.get(key.name, "type") is not None)
            yield from (YamlName("controller", key, declares=True) for key in listed)
        elif parameters is not None:
            yield YamlName("controller", use)
            named = (joint for key in JOINT_KEYS for joint in texts_of(parameters.get(key)))
            yield from (YamlName("joint", joint) for joint in named if "/" not in joint.name)


def _of_moveit(section: Section) -> Iterator[YamlName]:
    yield from (YamlName("controller", use) for use in texts_of(section.node.get("controller_names")))
    described = [(use, section.node.entries[use.name]) for use in keys_of(section.node)]
    listed = [(use, item) for item in section.node.items for use in texts_of(item.get("name"))]
    for use, node in (*described, *listed):
        if node.get("joints") is not None:
            yield YamlName("controller", use)
            yield from (YamlName("joint", joint) for joint in texts_of(node.get("joints")))


def kinds_at(text: str) -> tuple[tuple[str, ...], str]:
    """Return the kinds of names that fit at the end of a text, and the start of the name that is already written."""
    *before, last = text.split("\n")
    word = re.split(r"[^\w./-]", last)[-1].lstrip("-")
    start = last[: len(last) - len(word)]
    key = _KEY.match(last)
    if key is None and not start.strip(" -[,"):
        indent = len(start) - len(start.lstrip(" ")) + ("-" in start)
        above = (found for line in reversed(before) if (found := _KEY.match(line)) and len(found["indent"]) < indent)
        return KINDS.get(found["key"] if (found := next(above, None)) else "", ()), word
    # A value on the line of its key.
    return KINDS.get(key["key"], ()) if key else (), word
