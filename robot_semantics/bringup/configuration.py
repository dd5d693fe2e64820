# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The configuration of a robot: its model, its `<ros2_control>` blocks, and the known sections of its YAML files.

The content of a section tells its kind, not the name of its file. A file may have several sections, also inside
namespaces such as ``/**`` and ``ros__parameters``.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import cached_property
from typing import NamedTuple

from robot_semantics.base.diagnostic import Severity, SourcePlace
from robot_semantics.base.pattern import pattern
from robot_semantics.base.record import record
from robot_semantics.base.yaml_reader import YamlNode
from robot_semantics.model.robot_model import JointModel, RobotModel
from robot_semantics.model.semantic_names import DeclaredNames
from robot_semantics.model.semantics import Group
from robot_semantics.urdf.control_tree import ControlBlock

MAX_LEVELS = 6
"""Largest number of levels above a section."""

_SUBSTITUTION = pattern(r"\$\(|\$\{|\{\{")


class SectionKind(enum.Enum):
    """Kind of a section, with its description in messages."""

    JOINT_LIMITS = "joint limits of MoveIt"
    CARTESIAN_LIMITS = "Cartesian limits of MoveIt"
    KINEMATICS = "kinematics solvers of MoveIt"
    PLANNERS = "planners of MoveIt's groups"
    MOVEIT_CONTROLLERS = "controllers of MoveIt"
    CONTROLLERS = "controllers of ros2_control"
    INITIAL_POSITIONS = "initial positions"
    SENSORS = "sensors of MoveIt"


@record(frozen=True, eq=False)
class Section:
    """A known section.

    Attributes:
        node: its content.
        around: the map that contains the section.
        key: its key in `around`; empty if the section is the whole map.
    """

    kind: SectionKind
    node: YamlNode
    around: YamlNode
    key: str = ""


class ConfigurationProblem(NamedTuple):
    """A problem of a configuration; a misspelt `name` is compared with the `valid` names."""

    severity: Severity
    code: str
    message: str
    place: SourcePlace
    name: str | None = None
    valid: tuple[str, ...] = ()


@record(frozen=True, eq=False)
class Configuration:
    """A robot with the sections of its YAML files.

    Attributes:
        robot: None if it is unknown.
        names: the names that its description declares, if this gives no robot.
    """

    robot: RobotModel | None
    blocks: tuple[ControlBlock, ...]
    sections: tuple[Section, ...]
    names: DeclaredNames | None = None

    def of(self, kind: SectionKind) -> Iterator[Section]:
        """Yield the sections of a kind."""
        return (section for section in self.sections if section.kind is kind)

    def entries(self, kind: SectionKind) -> Iterator[tuple[str, YamlNode]]:
        """Yield the keys and values of the sections of a kind."""
        for section in self.of(kind):
            yield from section.node.entries.items()

    @cached_property
    def joints(self) -> Mapping[str, JointModel]:
        """The joints of the URDF by name."""
        joints = () if self.robot is None else self.robot.joints
        return {joint.name: joint for joint in joints if joint.urdf is not None}

    @property
    def joint_names(self) -> Collection[str]:
        """The names of the joints, also without a robot."""
        return self.joints if self.names is None else self.names.joints

    @property
    def group_names(self) -> Collection[str]:
        """The names of the groups, also without a robot."""
        return self.groups if self.names is None else self.names.groups

    @cached_property
    def groups(self) -> Mapping[str, Group]:
        """The groups of the SRDF by name; empty without an SRDF."""
        return {} if self.robot is None else self.robot.semantics.groups


Rule = Callable[[Configuration], Iterator[ConfigurationProblem]]


def has_substitution(node: YamlNode) -> bool:
    """Return True if a launch file, xacro or a template computes the text of a scalar."""
    return bool(node.tag) or is_substitution(node.text)


def is_substitution(text: str) -> bool:
    """Return True if a launch file, xacro or a template computes a text."""
    return _SUBSTITUTION.search(text) is not None


def substitutions(node: YamlNode) -> Iterator[YamlNode]:
    """Yield the scalars below a node that have a substitution."""
    if has_substitution(node):
        yield node
    for below in (*node.items, *node.entries.values()):
        yield from substitutions(below)


def sections_of(root: YamlNode, level: int = 0) -> Iterator[Section]:
    """Yield the known sections of a document."""
    entries = root.entries
    for kind, is_kind in _BY_CHILDREN:
        if any(is_kind(child) for child in entries.values()):
            yield Section(kind, root, root)
    if isinstance(_value(root, "controller_names"), list):
        yield Section(SectionKind.MOVEIT_CONTROLLERS, root, root)
    for key, child in entries.items():
        kind_of_key = _BY_KEY.get((key, type(child.value)))
        if kind_of_key is not None:
            yield Section(kind_of_key, child, root, key)
        elif level < MAX_LEVELS:
            yield from sections_of(child, level + 1)


def with_nested_parameters(root: YamlNode) -> YamlNode:
    """Return a document with nested ROS parameters: rcl reads ``gains.elbow.p: 1`` as ``gains: {elbow: {p: 1}}``."""
    if not root.entries:
        return root
    entries = {
        key: _nested(child) if key == "ros__parameters" else with_nested_parameters(child)
        for key, child in root.entries.items()
    }
    return root.with_entries(entries)


def _nested(node: YamlNode) -> YamlNode:
    if not node.entries:
        return node
    entries: dict[str, YamlNode] = {}
    for key, child in node.entries.items():
        first, _, rest = key.partition(".")
        is_dotted = bool(first and rest)
        name = first if is_dotted else key
        new = child.with_entries({rest: child}, at_key=True) if is_dotted else child
        other = entries.get(name)
        if other is not None and other.entries and new.entries:
            new = other.with_entries({**other.entries, **new.entries})
        entries[name] = new
    return node.with_entries({key: _nested(child) for key, child in entries.items()})


_BY_KEY: Mapping[tuple[str, type], SectionKind] = {
    ("joint_limits", dict): SectionKind.JOINT_LIMITS,
    ("cartesian_limits", dict): SectionKind.CARTESIAN_LIMITS,
    ("initial_positions", dict): SectionKind.INITIAL_POSITIONS,
    ("controller_list", list): SectionKind.MOVEIT_CONTROLLERS,
    ("sensors", list): SectionKind.SENSORS,
}
_BY_CHILDREN: tuple[tuple[SectionKind, Callable[[YamlNode], bool]], ...] = (
    (SectionKind.KINEMATICS, lambda child: "kinematics_solver" in child.entries),
    (SectionKind.PLANNERS, lambda child: isinstance(_value(child, "planner_configs"), list)),
    (SectionKind.CONTROLLERS, lambda child: isinstance(_value(child, "ros__parameters"), dict)),
)


WORDS = pattern(
    b"|".join(
        word.encode()
        for word in (*(key for key, _ in _BY_KEY), "controller_names", "kinematics_solver", "planner_configs")
    )
    + b"|ros__parameters"
)
"""Words without which a text has no known section."""


def _value(node: YamlNode, key: str) -> object:
    below = node.entries.get(key)
    return None if below is None else below.value
