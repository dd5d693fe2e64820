# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The differences of two robots in the words of their users: what moves, weighs, collides or means something else."""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from robot_semantics.base.record import record
from robot_semantics.comparison.link_content import (
    TOLERANCE,
    Content,
    MeshFinder,
    RobotDifference,
    geometry_differences,
    same_content,
)
from robot_semantics.comparison.meaning import (
    Renaming,
    constraint_differences,
    extension_differences,
    meaning_differences,
)
from robot_semantics.kinematics.forward import kinematics_of
from robot_semantics.kinematics.joint_space import JointSpace
from robot_semantics.kinematics.local import LocalTransforms
from robot_semantics.model.joint_types import JointQuantity
from robot_semantics.model.omissions import refuse_omissions
from robot_semantics.model.rigid_bodies import inertia_matrix
from robot_semantics.model.robot_model import JointModel, RobotModel
from robot_semantics.transforms import invert, quat_from_rotvec, transform_distance
from robot_semantics.transforms.arrays import FloatArray
from robot_semantics.urdf.dialects import matrix_from_origin
from robot_semantics.urdf.tree import Joint

# Links and joints of two robots matched by name, then by motion; and which link frames moved with all that they
# carry.


SAMPLES = np.array([0.0, 0.3, -0.7, 1.1, -1.6, 2.3])
"""Values [rad, m] at which the motion of every joint is compared; the first is the zero position."""


class JointEdge(NamedTuple):
    """A joint from one of its links to the other.

    Attributes:
        joint: the joint.
        other: index of the link at the other end.
        reversed: whether that link is the parent.
        motion: (k, 4, 4) pose of the other link at each of the `SAMPLES`.
    """

    joint: JointModel
    other: int
    reversed: bool
    motion: FloatArray


class KinematicGraph:
    """A robot as links with joints between them.

    Attributes:
        model: the robot.
        edges: the joints of each link, by index of the link.
        alike: a number for each link, equal if the links and all that they carry differ only by names.
    """

    def __init__(self, model: RobotModel, numbers: dict[Hashable, int]) -> None:
        """`numbers` are those of `alike`, shared by the robots of a comparison."""
        self.model = model
        self.alike = _numbers_of_branches(model, numbers)
        space = JointSpace(model, follow_mimics=False)
        q = np.zeros((len(SAMPLES), space.size))
        for joint in space.joints:
            quantities = joint.motion.quantities
            rows = np.tile(SAMPLES[:, np.newaxis], len(quantities))
            if JointQuantity.QUATERNION in quantities:
                rows[:, 3:] = quat_from_rotvec(SAMPLES[:, np.newaxis] * np.array([0.27, 0.53, 0.80]))
            q[:, space.positions_of(joint)] = rows
        T_parent_child = LocalTransforms(model, space=space, follow_mimics=False).matrices(q)
        self.edges: list[list[JointEdge]] = [[] for _ in model.links]
        for joint in model.joints[1:]:
            child, parent = joint.index, model.links[joint.index].parent
            motion = T_parent_child[:, joint.index]
            self.edges[parent].append(JointEdge(joint, child, reversed=False, motion=motion))
            self.edges[child].append(JointEdge(joint, parent, reversed=True, motion=invert(motion)))


def _numbers_of_branches(model: RobotModel, numbers: dict[Hashable, int]) -> list[int]:
    """Return a number for each link and all that it carries, equal for equal content."""
    branch_numbers = [0] * len(model.links)
    for link in reversed(model.links):
        inertial = link.urdf.inertial
        mass = None if inertial is None else (inertial.mass, inertial.inertia, inertial.origin)
        shapes = [
            [(shape.geometry, shape.origin) for shape in shapes] for shapes in (link.urdf.collisions, link.urdf.visuals)
        ]
        carried = []
        for child in link.children:
            joint = model.joints[child]
            factors = None if joint.mimic is None else (joint.mimic.multiplier, joint.mimic.offset)
            motion = joint.type, joint.T_parent_joint.tobytes(), joint.axis.tobytes(), joint.limits, factors
            carried.append(numbers.setdefault((motion, branch_numbers[child]), len(numbers)))
        key = mass, *(tuple(row) for row in shapes), tuple(sorted(carried))
        branch_numbers[link.index] = numbers.setdefault(key, len(numbers))
    return branch_numbers


@record(frozen=True, eq=False)
class MatchedJoint:
    """A joint of A and its counterpart in B.

    Attributes:
        a: the joint of A.
        b: that of B.
        same_motion: whether they move alike.
        distance: how far the joint's zero pose is moved [m]; 0 if the joints move alike.
        angle: how far it is turned [rad]; likewise.
        axis_angle: angle between the axes [rad]; likewise, and 0 where a joint is reversed or has no axis.
    """

    a: JointModel
    b: JointModel
    same_motion: bool
    distance: float = 0.0
    angle: float = 0.0
    axis_angle: float = 0.0


@dataclass(eq=False)
class KinematicMatch:
    """The links and joints of robot A with their counterparts in robot B.

    Attributes:
        links: index of the link of B for each link of A that has one.
        joints: the matched joints.
        frames: for each matched link of A the pose (4, 4) of its frame in the frame of the link of B.
        start: index of the link of A from which matching began.
    """

    links: dict[int, int] = field(default_factory=dict)
    joints: list[MatchedJoint] = field(default_factory=list)
    frames: dict[int, FloatArray] = field(default_factory=dict)
    start: int = 0

    def moved_frames(self) -> list[int]:
        """Return the links of A whose frames are elsewhere on the link of B."""
        return [link for link, X in self.frames.items() if _apart(X, np.eye(4)) > TOLERANCE]


def match_robots(a: RobotModel, b: RobotModel) -> KinematicMatch:
    """Return the match of two robots."""
    numbers: dict[Hashable, int] = {}
    return _Matching(KinematicGraph(a, numbers), KinematicGraph(b, numbers)).run()


class _Matching:
    def __init__(self, a: KinematicGraph, b: KinematicGraph) -> None:
        self.a, self.b = a, b
        self.match = KinematicMatch()

    def run(self) -> KinematicMatch:
        start_a, start_b = self._start()
        self.match.start = start_a
        self._match_links(start_a, start_b, self._start_frame(start_a, start_b))
        waiting = deque([(start_a, start_b)])
        while waiting:
            link_a, link_b = waiting.popleft()
            for edge_a, edge_b in list(self._pairs(link_a, link_b)):
                self._match_joints(link_a, edge_a, edge_b)
                waiting.append((edge_a.other, edge_b.other))
        return self.match

    def _start(self) -> tuple[int, int]:
        """Return the roots; if B has the root of A elsewhere in its tree, a link of both that has content."""
        model_a, model_b = self.a.model, self.b.model
        if model_a.root_link == model_b.root_link or model_a.root_link not in model_b.link_index:
            return 0, 0
        for link in model_a.links:
            other = model_b.link_index.get(link.name)
            if other is not None and next(same_content(link.urdf, model_b.links[other].urdf), None) is not None:
                return link.index, other
        return 0, model_b.link_index[model_a.root_link]

    def _start_frame(self, link_a: int, link_b: int) -> FloatArray:
        candidates = [np.eye(4), *same_content(self.a.model.links[link_a].urdf, self.b.model.links[link_b].urdf)]
        return max(candidates, key=lambda X: self._votes(link_a, link_b, X))

    def _pairs(self, link_a: int, link_b: int) -> Iterator[tuple[JointEdge, JointEdge]]:
        """Yield the joints of two links that belong together.

        They have the same name, then the same motion and carry the same, then the same motion, then lead to a link of
        the same name. Of several that fit, the first in the document is taken.
        """
        taken = set(self.match.links.values())
        free_a = _in_document_order(edge for edge in self.a.edges[link_a] if edge.other not in self.match.links)
        free_b = _in_document_order(edge for edge in self.b.edges[link_b] if edge.other not in taken)
        names_a, names_b = self.a.model.joint_index, self.b.model.joint_index
        links_a, links_b = self.a.model.link_names, self.b.model.link_names

        def by_name(x: JointEdge, y: JointEdge) -> bool:
            return x.joint.name == y.joint.name

        def renamed(x: JointEdge, y: JointEdge) -> bool:
            return x.joint.name not in names_b and y.joint.name not in names_a and x.joint.type is y.joint.type

        def by_motion(x: JointEdge, y: JointEdge) -> bool:
            return renamed(x, y) and _apart(self.match.frames[link_a] @ x.motion, y.motion) < TOLERANCE

        def by_content(x: JointEdge, y: JointEdge) -> bool:
            is_above = x.reversed or y.reversed
            return not is_above and self.a.alike[x.other] == self.b.alike[y.other] and by_motion(x, y)

        def by_link(x: JointEdge, y: JointEdge) -> bool:
            return x.joint.name not in names_b and links_a[x.other] == links_b[y.other]

        for rule in (by_name, by_content, by_motion, by_link):
            for edge_a in list(free_a):
                edge_b = next((edge for edge in free_b if rule(edge_a, edge)), None)
                if edge_b is not None:
                    free_a.remove(edge_a)
                    free_b.remove(edge_b)
                    yield edge_a, edge_b

    def _match_links(self, link_a: int, link_b: int, X: FloatArray) -> None:
        self.match.links[link_a] = link_b
        self.match.frames[link_a] = X

    def _match_joints(self, link_a: int, edge_a: JointEdge, edge_b: JointEdge) -> None:
        """Match two joints and the links at their other ends, and decide which of frame and joint has moved."""
        T_a_child = self.match.frames[link_a] @ edge_a.motion
        # The pose of the other link's frame if the joint is the same.
        X = invert(edge_b.motion[0]) @ T_a_child[0]
        alike = _apart(T_a_child, edge_b.motion @ X) < TOLERANCE
        still = _apart(X, np.eye(4)) < TOLERANCE
        if not still:
            # A tree with another root has other link frames. Otherwise the content of the link decides.
            by_root = alike and edge_a.reversed != edge_b.reversed
            votes = [self._votes(edge_a.other, edge_b.other, frame) for frame in (X, np.eye(4))]
            if not by_root and (not alike or votes[0] <= votes[1]):
                X, alike = np.eye(4), False
        self._match_links(edge_a.other, edge_b.other, X)
        joint = MatchedJoint(edge_a.joint, edge_b.joint, alike)
        if not alike:
            distance, angle = transform_distance(T_a_child[0], edge_b.motion[0] @ X)
            joint = replace(
                joint, distance=float(distance), angle=float(angle), axis_angle=_axis_angle(edge_a, edge_b, X)
            )
        self.match.joints.append(joint)

    def _votes(self, link_a: int, link_b: int, X: FloatArray) -> int:
        """Return how many of the things on a link are at the same place if its frame is at `X`."""
        content = same_content(self.a.model.links[link_a].urdf, self.b.model.links[link_b].urdf)
        votes = sum(_apart(frame, X) < TOLERANCE for frame in content)
        others = {edge.joint.name: edge for edge in self.b.edges[link_b]}
        for edge in self.a.edges[link_a]:
            other = others.get(edge.joint.name)
            if other is not None and edge.other not in self.match.links:
                reached = X @ edge.motion
                # A joint that moves leaves the frame at its other end free, along or about its axis.
                free = invert(other.motion[0]) @ reached[0] if edge.joint.position_count else np.eye(4)
                votes += _apart(reached, other.motion @ free) < TOLERANCE
        return votes


def _in_document_order(edges: Iterable[JointEdge]) -> list[JointEdge]:
    return sorted(edges, key=lambda edge: -1 if edge.joint.urdf is None else edge.joint.urdf.ordinal)


def _apart(T_a: FloatArray, T_b: FloatArray) -> float:
    return float(np.abs(T_a - T_b).max())


def _axis_angle(edge_a: JointEdge, edge_b: JointEdge, X: FloatArray) -> float:
    if edge_a.reversed or edge_b.reversed or not edge_a.joint.position_count:
        return 0.0
    a, b = X[:3, :3] @ edge_a.joint.axis, edge_b.joint.axis
    return float(np.arctan2(np.linalg.norm(np.cross(a, b)), a @ b))


# One difference of two robots.


# The differences of two SRDFs whose robots are matched: groups, states, end effectors, virtual joints, pairs.


CONFIGURATIONS = 1000
"""Random configurations in which the links of both robots are compared."""

_LIMITS = (
    *("lower", "upper", "velocity", "effort", "acceleration", "deceleration", "jerk"),
    *("soft_lower", "soft_upper"),
)


@record(frozen=True)
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

    Raises:
        DescriptionError: a part of a robot was left out, so that both may look alike.
    """
    refuse_omissions(a, b)
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
    differences += constraint_differences(a, b, match.links, match.frames)
    renamed = {old: new for old, new in (*names.links.items(), *names.joints.items()) if old != new}
    differences += extension_differences(a.urdf, b.urdf, renamed)
    differences += meaning_differences(a, b, names, match.frames)
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


def _unmatched(a: RobotModel, b: RobotModel, match: KinematicMatch) -> Iterator[RobotDifference]:
    links_b = set(match.links.values())
    joints_a = {joint.a.name for joint in match.joints}
    joints_b = {joint.b.name for joint in match.joints}
    common_names = {joint.name for joint in a.joints[1:]} & {joint.name for joint in b.joints[1:]} - joints_a - joints_b
    for joint in a.joints[1:]:
        if joint.name in common_names:
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
        if joint.name not in joints_a | common_names and joint.index not in match.links:
            yield RobotDifference("joint_removed", joint.name, f"joint '{joint.name}' removed", joint.name)
    for joint in b.joints[1:]:
        if joint.name not in joints_b | common_names and joint.index not in links_b:
            yield RobotDifference("joint_added", joint.name, f"joint '{joint.name}' added", None, joint.name)


def _joint_differences(
    match: MatchedJoint, robots: KinematicMatch, a: RobotModel, b: RobotModel
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
    yield from _hardware_differences(name, first.urdf, second.urdf)
    yield from _mimic_difference(match, robots)


_HARDWARE: Mapping[str, tuple[str, ...]] = {
    "safety_controller": ("k_velocity", "k_position"),
    "calibration": ("rising", "falling", "reference_position"),
}
"""Numbers of a joint that its driver reads; its soft limits are compared with the limits."""


def _hardware_differences(name: str, a: Joint | None, b: Joint | None) -> Iterator[RobotDifference]:
    for tag, words in _HARDWARE.items():
        for word in words:
            old, new = (getattr(getattr(joint, tag, None), word, None) for joint in (a, b))
            if old != new:
                shown = ["none" if value is None else f"{value!r}" for value in (old, new)]
                yield RobotDifference(tag, name, f"joint '{name}': {word} {' → '.join(shown)}", old, new)


def _mimic_difference(match: MatchedJoint, robots: KinematicMatch) -> Iterator[RobotDifference]:
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
    centres = (T_b_a @ matrix_from_origin(first.origin))[:3, 3], matrix_from_origin(second.origin)[:3, 3]
    distance = float(np.linalg.norm(centres[0] - centres[1]))
    if distance > TOLERANCE:
        text = f"link '{name}': centre of mass moved {1e3 * distance:.3g} mm"
        yield RobotDifference("centre_of_mass", name, text, None, distance)
    R_a, R_b = (T_b_a @ matrix_from_origin(first.origin))[:3, :3], matrix_from_origin(second.origin)[:3, :3]
    inertias = [R @ inertia_matrix(inertial) @ R.T for R, inertial in ((R_a, first), (R_b, second))]
    largest = float(np.abs(inertias[0]).max())
    share = float(np.abs(inertias[0] - inertias[1]).max()) / (largest or 1.0)
    if share > TOLERANCE:
        yield RobotDifference("inertia", name, f"link '{name}': inertia differs by {100 * share:.3g} %", None, share)


def _largest_distance(a: RobotModel, b: RobotModel, match: KinematicMatch) -> tuple[float, str]:
    """Return the largest distance [m] of a link and its counterpart in random configurations, and the link."""
    space_a, space_b = JointSpace(a, follow_mimics=False), JointSpace(b, follow_mimics=False)
    q_a = space_a.random(np.random.default_rng(0), (CONFIGURATIONS,))
    q_b = np.tile(space_b.neutral(), (CONFIGURATIONS, 1))
    for joint in match.joints:
        if joint.a.position_count and joint.a.position_count == joint.b.position_count:
            q_b[:, space_b.positions_of(joint.b)] = q_a[:, space_a.positions_of(joint.a)]
    places_a, places_b = list(match.links), list(match.links.values())
    T_a = kinematics_of(a).link_poses(q_a)
    T_b = kinematics_of(b).link_poses(q_b)
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
