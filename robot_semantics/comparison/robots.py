# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The differences of two robots in the words of their users: what moves, weighs, collides or means something else."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from robot_semantics.comparison.difference import RobotDifference
from robot_semantics.comparison.link_content import TOLERANCE, Content, MeshFinder, geometry_differences
from robot_semantics.comparison.matching import MatchedJoint, RobotMatch, match_robots
from robot_semantics.comparison.meaning import Renaming, meaning_differences
from robot_semantics.kinematics.forward import ForwardKinematics
from robot_semantics.kinematics.joint_space import JointSpace
from robot_semantics.model.rigid_bodies import inertia_matrix
from robot_semantics.model.robot_model import RobotModel
from robot_semantics.transforms import invert
from robot_semantics.transforms.arrays import FloatArray
from robot_semantics.urdf.dialects import matrix_of

CONFIGURATIONS = 1000
"""Random configurations in which the links of both robots are compared."""

_LIMITS = (
    *("lower", "upper", "velocity", "effort", "acceleration", "deceleration", "jerk"),
    *("soft_lower", "soft_upper"),
)


@dataclass(frozen=True)
class RobotComparison:
    """The result of a comparison.

    Attributes:
        differences: all differences in motion, mass, collision and meaning.
        frames_moved: links of A whose frames moved with all that they carry.
        renamed_links: new names of links.
        renamed_joints: new names of joints.
        largest_distance_m: how far apart a link of A and its counterpart are at most [m].
        furthest_link: that link; empty if the distance is 0.
    """

    differences: tuple[RobotDifference, ...]
    frames_moved: tuple[str, ...]
    renamed_links: dict[str, str]
    renamed_joints: dict[str, str]
    largest_distance_m: float
    furthest_link: str

    @property
    def same(self) -> bool:
        """Whether both robots move and collide alike and their SRDFs mean the same."""
        return not self.differences


def _no_meshes(uri: str) -> Path:
    return Path(uri)


def compare_robots(
    a: RobotModel, b: RobotModel, find_mesh_a: MeshFinder = _no_meshes, find_mesh_b: MeshFinder = _no_meshes
) -> RobotComparison:
    """Compare two robots by joints and links matched by name, then by motion.

    The order of elements, the spelling of numbers, names, and link frames that moved with all that they carry make no
    difference.

    Args:
        a: the first robot.
        b: the second robot.
        find_mesh_a: gives the files of the meshes of A.
        find_mesh_b: gives the files of the meshes of B.
    """
    match = match_robots(a, b)
    differences = [*_unmatched(a, b, match)]
    for joint in match.joints:
        differences += _joint_differences(joint, match, a, b)
    for link_a, link_b in match.links.items():
        content_a = Content(a.links[link_a].urdf, find_mesh_a)
        content_b = Content(b.links[link_b].urdf, find_mesh_b)
        differences += _mass_differences(content_a, content_b, match.frames[link_a])
        for found in geometry_differences(content_a, content_b, match.frames[link_a]):
            text = f"link '{content_a.link.name}': collision geometry: {found.text}"
            differences.append(RobotDifference("geometry", content_a.link.name, text, None, found.distance_m))
    names = Renaming(
        {a.links[x].name: b.links[y].name for x, y in match.links.items()},
        {joint.a.name: joint.b.name for joint in match.joints},
    )
    differences += meaning_differences(a, b, names)
    distance, furthest = _largest_distance(a, b, match)
    if distance > TOLERANCE and not any(difference.kind in _MOVING for difference in differences):
        text = f"link '{furthest}': up to {1e3 * distance:.3g} mm elsewhere in {CONFIGURATIONS} configurations"
        differences.append(RobotDifference("motion", furthest, text, None, distance))
    return RobotComparison(
        tuple(differences),
        tuple(a.links[link].name for link in match.moved_frames()),
        {old: new for old, new in names.links.items() if old != new},
        {old: new for old, new in names.joints.items() if old != new},
        distance,
        furthest,
    )


_MOVING = {"joint_origin", "joint_axis", "joint_type", "mimic", "joint_parent", "link_removed", "link_added"}


def _unmatched(a: RobotModel, b: RobotModel, match: RobotMatch) -> Iterator[RobotDifference]:
    links_b = set(match.links.values())
    joints_a = {joint.a.name for joint in match.joints}
    joints_b = {joint.b.name for joint in match.joints}
    both = {joint.name for joint in a.joints[1:]} & {joint.name for joint in b.joints[1:]} - joints_a - joints_b
    for joint in a.joints[1:]:
        if joint.name in both:
            other = b.joint(joint.name)
            if joint.parent_link != other.parent_link:
                text = f"joint '{joint.name}': parent link '{joint.parent_link}' → '{other.parent_link}'"
                yield RobotDifference("joint_parent", joint.name, text, joint.parent_link, other.parent_link)
    names_b, names_a = b.link_index, a.link_index
    for link in a.links:
        if link.index not in match.links and link.name not in names_b:
            yield RobotDifference("link_removed", link.name, f"link '{link.name}' removed", link.name)
    for link in b.links:
        if link.index not in links_b and link.name not in names_a:
            yield RobotDifference("link_added", link.name, f"link '{link.name}' added", None, link.name)
    for joint in a.joints[1:]:
        if joint.name not in joints_a | both and joint.index not in match.links:
            yield RobotDifference("joint_removed", joint.name, f"joint '{joint.name}' removed", joint.name)
    for joint in b.joints[1:]:
        if joint.name not in joints_b | both and joint.index not in links_b:
            yield RobotDifference("joint_added", joint.name, f"joint '{joint.name}' added", None, joint.name)


def _joint_differences(
    match: MatchedJoint, robots: RobotMatch, a: RobotModel, b: RobotModel
) -> Iterator[RobotDifference]:
    name, first, second = match.a.name, match.a, match.b
    if first.type is not second.type:
        text = f"joint '{name}': type {first.type.value} → {second.type.value}"
        yield RobotDifference("joint_type", name, text, first.type.value, second.type.value)
    if not match.same_motion:
        if match.distance > TOLERANCE:
            text = f"joint '{name}': origin moved {1e3 * match.distance:.3g} mm"
            yield RobotDifference("joint_origin", name, text, None, match.distance)
        if match.angle > TOLERANCE:
            text = f"joint '{name}': origin turned {np.degrees(match.angle):.3g}°"
            yield RobotDifference("joint_origin", name, text, None, match.angle)
        if match.axis_angle > TOLERANCE and first.type is second.type:
            turned = (
                "reversed" if np.pi - match.axis_angle < TOLERANCE else f"turned {np.degrees(match.axis_angle):.3g}°"
            )
            yield RobotDifference("joint_axis", name, f"joint '{name}': axis {turned}", None, match.axis_angle)
    if first.type is second.type:
        for word in _LIMITS:
            old, new = getattr(first.limits, word), getattr(second.limits, word)
            if old != new:
                text = f"joint '{name}': limit {word} {_change(old, new)}"
                yield RobotDifference("limit", name, text, _number(old), _number(new))
    for word in ("damping", "friction"):
        old, new = getattr(first, word), getattr(second, word)
        if old != new:
            yield RobotDifference("dynamics", name, f"joint '{name}': {word} {_change(old, new)}", old, new)
    yield from _mimic_difference(match, robots)


def _mimic_difference(match: MatchedJoint, robots: RobotMatch) -> Iterator[RobotDifference]:
    renamed = {joint.a.name: joint.b.name for joint in robots.joints}
    old, new = match.a.mimic, match.b.mimic
    rule_a = None if old is None else (renamed.get(old.joint, old.joint), old.multiplier, old.offset)
    rule_b = None if new is None else (new.joint, new.multiplier, new.offset)
    if rule_a != rule_b:
        words = ["no mimic" if rule is None else f"{rule[1]:g} * '{rule[0]}' {rule[2]:+g}" for rule in (rule_a, rule_b)]
        text = f"joint '{match.a.name}': mimic {words[0]} → {words[1]}"
        yield RobotDifference("mimic", match.a.name, text, words[0], words[1])


def _mass_differences(a: Content, b: Content, T_b_a: FloatArray) -> Iterator[RobotDifference]:
    name, first, second = a.link.name, a.link.inertial, b.link.inertial
    masses = [0.0 if inertial is None else inertial.mass for inertial in (first, second)]
    if masses[0] != masses[1]:
        text = f"link '{name}': mass {_change(*masses)} kg"
        yield RobotDifference("mass", name, text, masses[0], masses[1])
    if first is None or second is None:
        return
    centres = (T_b_a @ matrix_of(first.origin))[:3, 3], matrix_of(second.origin)[:3, 3]
    distance = float(np.linalg.norm(centres[0] - centres[1]))
    if distance > TOLERANCE:
        text = f"link '{name}': centre of mass moved {1e3 * distance:.3g} mm"
        yield RobotDifference("centre_of_mass", name, text, None, distance)
    R_a, R_b = (T_b_a @ matrix_of(first.origin))[:3, :3], matrix_of(second.origin)[:3, :3]
    inertias = [R @ inertia_matrix(inertial) @ R.T for R, inertial in ((R_a, first), (R_b, second))]
    largest = float(np.abs(inertias[0]).max())
    share = float(np.abs(inertias[0] - inertias[1]).max()) / (largest or 1.0)
    if share > TOLERANCE:
        yield RobotDifference("inertia", name, f"link '{name}': inertia differs by {100 * share:.3g} %", None, share)


def _largest_distance(a: RobotModel, b: RobotModel, match: RobotMatch) -> tuple[float, str]:
    """Return the largest distance [m] of a link and its counterpart in random configurations, and the link."""
    space_a, space_b = JointSpace(a, follow_mimics=False), JointSpace(b, follow_mimics=False)
    q_a = space_a.random(np.random.default_rng(0), (CONFIGURATIONS,))
    q_b = np.tile(space_b.neutral(), (CONFIGURATIONS, 1))
    for joint in match.joints:
        if joint.a.position_count and joint.a.position_count == joint.b.position_count:
            q_b[:, space_b.positions_of(joint.b)] = q_a[:, space_a.positions_of(joint.a)]
    places_a, places_b = list(match.links), list(match.links.values())
    T_a = ForwardKinematics(a).link_poses(q_a)
    T_b = ForwardKinematics(b).link_poses(q_b)
    origins = np.array([match.frames[link][:3, 3] for link in places_a])
    points_b = np.einsum("knij,nj->kni", T_b[:, places_b][..., :3, :3], origins) + T_b[:, places_b][..., :3, 3]
    # The link from which matching began is at the same place in both.
    T_a_b = T_a[:, match.start] @ invert(T_b[:, match.links[match.start]] @ match.frames[match.start])
    points = np.einsum("kij,knj->kni", T_a_b[:, :3, :3], points_b) + T_a_b[:, np.newaxis, :3, 3]
    distances = np.linalg.norm(T_a[:, places_a][..., :3, 3] - points, axis=-1).max(axis=0)
    worst = int(distances.argmax())
    return float(distances[worst]), a.links[places_a[worst]].name if distances[worst] > TOLERANCE else ""


def _change(old: float, new: float) -> str:
    """Return two numbers for people; with all digits if they look alike otherwise."""
    short = f"{old:g}", f"{new:g}"
    return " → ".join(short if short[0] != short[1] else (repr(float(old)), repr(float(new))))


def _number(value: float) -> float | None:
    return value if np.isfinite(value) else None
