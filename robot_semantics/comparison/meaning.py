# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The differences of two SRDFs whose robots are matched: groups, states, end effectors, virtual joints, pairs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from robot_semantics.comparison.difference import RobotDifference
from robot_semantics.model.robot_model import RobotModel
from robot_semantics.model.semantics import Semantics


class Renaming(NamedTuple):
    """The name in robot B of each matched link and joint of robot A."""

    links: Mapping[str, str]
    joints: Mapping[str, str]

    def link(self, name: str) -> str:
        """Return the name of a link of A in B; its own if it has no counterpart."""
        return self.links.get(name, name)

    def joint(self, name: str) -> str:
        """Return the name of a joint of A in B; its own if it has no counterpart."""
        return self.joints.get(name, name)


def meaning_differences(a: RobotModel, b: RobotModel, names: Renaming) -> Iterator[RobotDifference]:
    """Yield the differences of two SRDFs; none if a robot has no SRDF."""
    first, second = a.semantics, b.semantics
    if first.srdf is None or second.srdf is None:
        return
    for kind, of_a, of_b in (
        ("group", _groups(first, names), _groups(second)),
        ("state", _states(first, names), _states(second)),
        ("end effector", _end_effectors(first, names), _end_effectors(second)),
        ("virtual joint", _virtual_joints(first, names), _virtual_joints(second)),
        (
            "passive joint",
            {names.joint(name): "" for name in first.passive_joints},
            dict.fromkeys(second.passive_joints, ""),
        ),
        ("disabled pair", _pairs(first, names), _pairs(second)),
    ):
        yield from _items(kind, of_a, of_b)


def _items(kind: str, a: Mapping[str, str], b: Mapping[str, str]) -> Iterator[RobotDifference]:
    key = kind.replace(" ", "_")
    for name in {**a, **b}:
        if name not in b:
            yield RobotDifference(key, name, f"{kind} '{name}' removed", a[name], None)
        elif name not in a:
            yield RobotDifference(key, name, f"{kind} '{name}' added", None, b[name])
        elif a[name] != b[name]:
            yield RobotDifference(key, name, f"{kind} '{name}': {a[name]} → {b[name]}", a[name], b[name])


NO_NAMES = Renaming({}, {})


def _groups(semantics: Semantics, names: Renaming = NO_NAMES) -> dict[str, str]:
    return {
        name: f"joints {' '.join(sorted(map(names.joint, group.joints)))}" for name, group in semantics.groups.items()
    }


def _states(semantics: Semantics, names: Renaming = NO_NAMES) -> dict[str, str]:
    return {
        f"{state.group}/{state.name}": ", ".join(
            f"{names.joint(joint)}={' '.join(f'{value:.9g}' for value in values)}"
            for joint, values in sorted(state.positions.items(), key=lambda item: names.joint(item[0]))
        )
        for state in semantics.states.values()
    }


def _end_effectors(semantics: Semantics, names: Renaming = NO_NAMES) -> dict[str, str]:
    return {
        item.name: f"group {item.group} on {names.link(item.parent_link)}, parent group {item.parent_group or 'none'}"
        for item in semantics.end_effectors.values()
    }


def _virtual_joints(semantics: Semantics, names: Renaming = NO_NAMES) -> dict[str, str]:
    return {
        joint.name: f"{joint.type} from {joint.parent_frame} to {names.link(joint.child_link)}"
        for joint in semantics.virtual_joints
    }


def _pairs(semantics: Semantics, names: Renaming = NO_NAMES) -> dict[str, str]:
    return {
        " - ".join(sorted((names.link(pair.first), names.link(pair.second)))): ""
        for pair in semantics.disabled_collisions
    }
