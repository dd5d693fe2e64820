# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Differences in what two robots state beside links and joints: loop constraints, extensions and the SRDF.

Extensions are `<ros2_control>`, `<transmission>`, `<gazebo>`, sensors and others, whose meaning belongs to other
programs. They are compared by content: the order of elements, the spelling of numbers, white space and comments make no
difference. A name of a link or joint in them counts as its name in the other robot.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

import numpy as np

from robot_semantics.base.names import LinkPair
from robot_semantics.comparison.link_content import TOLERANCE, RobotDifference
from robot_semantics.kinematics.loop_equations import constraint_frames
from robot_semantics.model.robot_model import ConstraintType, LoopConstraint, RobotModel
from robot_semantics.model.semantics import Semantics
from robot_semantics.transforms import invert, matrix_from_rpy, transform_points
from robot_semantics.transforms.arrays import FloatArray
from robot_semantics.urdf.extras import Extra, ExtraContent, content_of
from robot_semantics.urdf.tree import UrdfRobot

# Loop constraints: whether two hold two links together in the same way.


_SAMPLES = (0.0, 0.7, -1.9)
"""Values [rad, m] of the freedoms of a constraint at which two are compared; the first is zero."""


def constraint_differences(
    a: RobotModel, b: RobotModel, links: Mapping[int, int], frames: Mapping[int, FloatArray]
) -> Iterator[RobotDifference]:
    """Yield the differences of the loop constraints of two robots; their names and the order of ends are free.

    Args:
        a: the first robot.
        b: the second robot.
        links: index of the link of B for each link of A that has one.
        frames: for each of these links of A, the pose (4, 4) of its frame in the frame of the link of B.
    """
    names = {a.links[link].name: b.links[other].name for link, other in links.items()}
    unmatched = list(b.constraints)
    changed: list[LoopConstraint] = []
    for constraint in a.constraints:
        same = next((other for other in unmatched if _error(constraint, other, a, names, frames) == (True, 0.0)), None)
        if same is None:
            changed.append(constraint)
        else:
            unmatched.remove(same)
    for constraint in changed:
        other = next((item for item in unmatched if item.name == constraint.name), None)
        name = constraint.name
        if other is None:
            yield RobotDifference("constraint", name, f"constraint '{name}' removed", name)
            continue
        unmatched.remove(other)
        if constraint.type is not other.type:
            words = constraint.type.value, other.type.value
            yield RobotDifference("constraint", name, f"constraint '{name}': type {words[0]} → {words[1]}", *words)
            continue
        ends = [f"'{one.parent_link}' and '{one.child_link}'" for one in (constraint, other)]
        error = _error(constraint, other, a, names, frames)
        if error is None:
            yield RobotDifference("constraint", name, f"constraint '{name}': links {ends[0]} → {ends[1]}", *ends)
        else:
            moved = f"moved {1e3 * error[1]:.3g} mm" if error[1] else "turned"
            yield RobotDifference("constraint", name, f"constraint '{name}': {moved}", None, error[1])
    for other in unmatched:
        yield RobotDifference("constraint", other.name, f"constraint '{other.name}' added", None, other.name)


def _error(
    first: LoopConstraint,
    second: LoopConstraint,
    a: RobotModel,
    names: Mapping[str, str],
    frames: Mapping[int, FloatArray],
) -> tuple[bool, float] | None:
    """Return whether two constraints allow the same poses of their links, and how far the second one is moved [m].

    The distance is 0 if it is below `TOLERANCE`. None if the constraints are of other types or links.
    """
    ends = first.parent_link, first.child_link
    new_ends = tuple(map(names.get, ends))
    if first.type is not second.type or sorted(map(str, new_ends)) != sorted((second.parent_link, second.child_link)):
        return None
    T_parent_f, T_child_f = (
        frames[a.link_index[link]] @ frame for link, frame in zip(ends, constraint_frames(first), strict=True)
    )
    T_parent_g, T_child_g = constraint_frames(second)
    # Poses of the child in the parent that the first constraint allows.
    T_parent_child = T_parent_f @ _allowed(first.type) @ invert(T_child_f)
    if new_ends[0] != second.parent_link:
        T_parent_child = invert(T_parent_child)
    offsets, turn = _violation(second.type, invert(T_parent_g) @ T_parent_child @ T_child_g)
    same = bool(offsets.max() <= TOLERANCE and turn <= TOLERANCE)
    return same, float(offsets[0]) if offsets[0] > TOLERANCE else 0.0


def _allowed(kind: ConstraintType) -> FloatArray:
    """Return poses (n, 4, 4) of the child's frame in the parent's that a constraint allows; the axis is x."""
    poses = []
    for sample in _SAMPLES:
        for two in _SAMPLES:
            T = np.eye(4)
            match kind:
                case ConstraintType.REVOLUTE:
                    T[:3, :3] = matrix_from_rpy((sample, 0.0, 0.0))
                case ConstraintType.PRISMATIC:
                    T[0, 3] = sample
                case ConstraintType.UNIVERSAL:
                    T[:3, :3] = matrix_from_rpy((sample, 0.0, 0.0)) @ matrix_from_rpy((two, 0.0, 0.5 * np.pi))
                case ConstraintType.SPHERICAL:
                    T[:3, :3] = matrix_from_rpy((sample, two, 0.4))
            poses.append(T)
    return np.array(poses)


def _violation(kind: ConstraintType, T: FloatArray) -> tuple[FloatArray, float]:
    """Return the distances (n,) [m], and the largest deviation of an axis, of poses from what a constraint allows."""
    offset = T[:, :3, 3] * ((0.0, 1.0, 1.0) if kind is ConstraintType.PRISMATIC else (1.0, 1.0, 1.0))
    match kind:
        case ConstraintType.REVOLUTE:
            turn = T[:, :3, 0] - (1.0, 0.0, 0.0)
        case ConstraintType.UNIVERSAL:
            turn = T[:, 0, 0]
        case ConstraintType.SPHERICAL:
            turn = np.zeros(1)
        case _:
            turn = T[:, :3, :3] - np.eye(3)
    return np.linalg.norm(offset, axis=-1), float(np.abs(turn).max())


# Extensions.


def extension_differences(a: UrdfRobot, b: UrdfRobot, renamed: Mapping[str, str]) -> Iterator[RobotDifference]:
    """Yield the differences of the extensions of two URDFs.

    Args:
        a: the first URDF.
        b: the second URDF.
        renamed: new names of the links and joints of A.
    """
    names_b = {*(link.name for link in b.links), *(joint.name for joint in b.joints)}
    # A name that only A has may also be in an extension of B that was not renamed.
    of_b = {old: new for old, new in renamed.items() if old not in names_b}
    first, second = (Counter(_extensions(robot, names)) for robot, names in ((a, renamed), (b, of_b)))
    removed, added = list((first - second).elements()), list((second - first).elements())
    for owner, content in removed:
        other = next((item for item in added if (item[0], _title(item[1])) == (owner, _title(content))), None)
        if other is not None:
            added.remove(other)
        yield _difference(owner, content, "removed" if other is None else "differs")
    for owner, content in added:
        yield _difference(owner, content, "added")


def _extensions(robot: UrdfRobot, renamed: Mapping[str, str]) -> Iterator[tuple[tuple[str, ...], ExtraContent]]:
    """Yield each extension with the kind and name of its owner; looks are left out."""
    yield from (((), content) for content in _contents(robot.extras, renamed))
    owners: list[tuple[str, str, tuple[Extra, ...]]] = []
    for link in robot.links:
        of_parts = [collision.extras for collision in link.collisions]
        of_parts += [] if link.inertial is None else [link.inertial.extras]
        owners.append(("link", link.name, (*link.extras, *(extra for extras in of_parts for extra in extras))))
    owners += [("joint", joint.name, joint.extras) for joint in robot.joints]
    owners += [("constraint", constraint.name, constraint.extras) for constraint in robot.constraints]
    for kind, name, extras in owners:
        owner = kind, renamed.get(name, name)
        yield from ((owner, content) for content in _contents(extras, renamed))


def _contents(extras: tuple[Extra, ...], renamed: Mapping[str, str]) -> Iterator[ExtraContent]:
    return (_renamed(content, renamed) for extra in extras if (content := content_of(extra)) is not None)


def _renamed(content: ExtraContent, renamed: Mapping[str, str]) -> ExtraContent:
    """Return content with new names, numbers in one spelling, and attributes and children sorted."""
    tag, attributes, text, children = content
    values = sorted((key, _value(value, renamed)) for key, value in attributes)
    below = sorted(_renamed(child, renamed) for child in children)
    return ExtraContent(tag, tuple(values), _value(text, renamed), tuple(below))


def _value(text: str, renamed: Mapping[str, str]) -> str:
    """Return a text with the new name of a link or joint, and its numbers in one spelling."""
    name = text.strip()
    return renamed.get(name) or " ".join(map(_word, name.split()))


def _word(word: str) -> str:
    try:
        return repr(float(word)) if word[0] in "+-.0123456789" and "_" not in word else word
    except ValueError:
        return word


def _title(content: ExtraContent) -> str:
    if content.tag.startswith("@"):
        return f"attribute '{content.tag[1:]}'"
    names = dict(content.attributes)
    name = names.get("name") or names.get("reference")
    return f"<{content.tag}>" + (f" '{name}'" if name else "")


def _difference(owner: tuple[str, ...], content: ExtraContent, what: str) -> RobotDifference:
    title = _title(content)
    place = f"{owner[0]} '{owner[1]}': " if owner else ""
    return RobotDifference("extension", owner[1] if owner else title, f"{place}{title} {what}")


# SRDFs.


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


def meaning_differences(
    a: RobotModel, b: RobotModel, names: Renaming, frames: Mapping[int, FloatArray]
) -> Iterator[RobotDifference]:
    """Yield the differences of two SRDFs; none if a robot has no SRDF.

    Args:
        a: the first robot.
        b: the second robot.
        names: the names of its links and joints in B.
        frames: by index of a link of A, the pose (4, 4) of its frame in the frame of the link of B.
    """
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
        ("joint property", _properties(first, names), _properties(second)),
        *_pair_statements(a, b, names),
    ):
        yield from _items(kind, of_a, of_b)
    yield from _sphere_differences(a, b, names, frames)


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


def _properties(semantics: Semantics, names: Renaming = NO_NAMES) -> dict[str, str]:
    return {
        f"{names.joint(joint)}/{name}": value
        for joint, values in semantics.joint_properties.items()
        for name, value in values.items()
    }


class _Checks(NamedTuple):
    """What decides which pairs of links are checked, with the names of robot B."""

    disabled: frozenset[LinkPair]
    enabled: frozenset[LinkPair]
    by_default: frozenset[str]

    @classmethod
    def of(cls, semantics: Semantics, names: Renaming = NO_NAMES) -> _Checks:
        disabled, enabled = (
            frozenset(LinkPair.of(names.link(pair.first), names.link(pair.second)) for pair in pairs)
            for pairs in (semantics.disabled_collisions, semantics.enabled_collisions)
        )
        return cls(disabled, enabled, frozenset(map(names.link, semantics.default_disabled_links)))

    def checked(self, pair: LinkPair) -> bool:
        """Return True if a pair is checked, as `model.queries.pair_status` decides."""
        if pair in self.disabled:
            return False
        return pair in self.enabled or not self.by_default.intersection(pair)


def _pair_statements(
    a: RobotModel, b: RobotModel, names: Renaming
) -> Iterator[tuple[str, dict[str, str], dict[str, str]]]:
    """Yield the statements about pairs of links, of A and of B, that change whether a pair is checked."""
    first, second = _Checks.of(a.semantics, names), _Checks.of(b.semantics)
    every = sorted({*map(names.link, a.link_names), *b.link_names})
    stated = {*first.disabled, *first.enabled, *second.disabled, *second.enabled}
    for link in first.by_default | second.by_default:
        stated.update(LinkPair.of(link, other) for other in every if other != link)
    changed = {pair for pair in stated if first.checked(pair) is not second.checked(pair)}
    links = {link for pair in changed for link in pair}
    for kind, of_a, of_b in (
        ("disabled pair", first.disabled, second.disabled),
        ("enabled pair", first.enabled, second.enabled),
    ):
        yield kind, _joined(of_a & changed), _joined(of_b & changed)
    yield "link disabled by default", _joined(first.by_default & links), _joined(second.by_default & links)


def _joined(names: Iterable[str | LinkPair]) -> dict[str, str]:
    return dict.fromkeys(sorted(name if isinstance(name, str) else " - ".join(name) for name in names), "")


def _sphere_differences(
    a: RobotModel, b: RobotModel, names: Renaming, frames: Mapping[int, FloatArray]
) -> Iterator[RobotDifference]:
    first = {names.link(link): link for link in a.semantics.link_spheres}
    second = b.semantics.link_spheres
    for name in dict.fromkeys((*first, *second)):
        if name not in second or name not in first:
            change = "added" if name in second else "removed"
            yield RobotDifference("spheres", name, f"spheres of link '{name}' {change}")
            continue
        link = first[name]
        T_b_a = frames.get(a.link_index[link], np.eye(4))
        old = _spheres(a.semantics, link, T_b_a)
        new = _spheres(b.semantics, name, np.eye(4))
        if len(old) != len(new):
            text = f"spheres of link '{link}': {len(old)} → {len(new)}"
            yield RobotDifference("spheres", link, text, len(old), len(new))
        elif (distance := _farthest(old, new)) > TOLERANCE:
            text = f"spheres of link '{link}': up to {1e3 * distance:.3g} mm elsewhere, or of another size"
            yield RobotDifference("spheres", link, text, None, distance)


def _spheres(semantics: Semantics, link: str, T_b_a: FloatArray) -> FloatArray:
    """Return (n, 4) the centres in the link's frame of B and the radii [m]."""
    spheres = semantics.link_spheres[link]
    centres = np.array([sphere.center for sphere in spheres]).reshape(-1, 3)
    radii = np.array([sphere.radius for sphere in spheres]).reshape(-1, 1)
    return np.concatenate((transform_points(T_b_a, centres), radii), axis=1)


def _farthest(old: FloatArray, new: FloatArray) -> float:
    """Return the largest difference of rows that belong together, the nearest first."""
    left, largest = list(range(len(new))), 0.0
    for row in old:
        distances = np.abs(new[left] - row).max(axis=1)
        at = int(distances.argmin())
        largest = max(largest, float(distances[at]))
        del left[at]
    return largest
