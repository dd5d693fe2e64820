# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Links and joints of two robots matched by name, then by motion; and which link frames moved with all that they carry.

The robots are graphs of links, so that the choice of the root makes no difference. For each pair of matched links there
is a constant ``X`` = T_b_a, the pose of the frame in robot A in the frame in robot B. Joints move alike if
``X_parent @ T_parent_child_a(q) == T_parent_child_b(q) @ X_child`` for all q.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from robot_semantics.comparison.link_content import TOLERANCE, same_content
from robot_semantics.kinematics.joint_space import JointSpace
from robot_semantics.kinematics.local import LocalTransforms
from robot_semantics.model.joint_types import JointQuantity
from robot_semantics.model.robot_model import JointModel, RobotModel
from robot_semantics.transforms import invert, quat_from_rotvec, transform_distance
from robot_semantics.transforms.arrays import FloatArray

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


class RobotGraph:
    """A robot as links with joints between them.

    Attributes:
        model: the robot.
        edges: the joints of each link, by index of the link.
    """

    def __init__(self, model: RobotModel) -> None:
        self.model = model
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


@dataclass(frozen=True, eq=False)
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
class RobotMatch:
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


def match_robots(a: RobotModel, b: RobotModel) -> RobotMatch:
    """Return the match of two robots."""
    return _Matching(RobotGraph(a), RobotGraph(b)).run()


class _Matching:
    def __init__(self, a: RobotGraph, b: RobotGraph) -> None:
        self.a, self.b = a, b
        self.found = RobotMatch()

    def run(self) -> RobotMatch:
        start_a, start_b = self._start()
        self.found.start = start_a
        self._match_links(start_a, start_b, self._start_frame(start_a, start_b))
        waiting = deque([(start_a, start_b)])
        while waiting:
            link_a, link_b = waiting.popleft()
            for edge_a, edge_b in list(self._pairs(link_a, link_b)):
                if edge_a.other in self.found.links or edge_b.other in self.found.links.values():
                    continue
                self._match_joints(link_a, edge_a, edge_b)
                waiting.append((edge_a.other, edge_b.other))
        return self.found

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
        """Yield the joints of two links that belong together: by name, by motion, then by the link at the other end."""
        taken = set(self.found.links.values())
        free_a = [edge for edge in self.a.edges[link_a] if edge.other not in self.found.links]
        free_b = [edge for edge in self.b.edges[link_b] if edge.other not in taken]
        names_a, names_b = self.a.model.joint_index, self.b.model.joint_index
        links_a, links_b = self.a.model.link_names, self.b.model.link_names

        def by_name(x: JointEdge, y: JointEdge) -> bool:
            return x.joint.name == y.joint.name

        def renamed(x: JointEdge, y: JointEdge) -> bool:
            return x.joint.name not in names_b and y.joint.name not in names_a and x.joint.type is y.joint.type

        def by_motion(x: JointEdge, y: JointEdge) -> bool:
            return renamed(x, y) and _apart(self.found.frames[link_a] @ x.motion, y.motion) < TOLERANCE

        def by_link(x: JointEdge, y: JointEdge) -> bool:
            return x.joint.name not in names_b and links_a[x.other] == links_b[y.other]

        for rule in (by_name, by_motion, by_link):
            for edge_a in list(free_a):
                edge_b = next((edge for edge in free_b if rule(edge_a, edge)), None)
                if edge_b is not None:
                    free_a.remove(edge_a)
                    free_b.remove(edge_b)
                    yield edge_a, edge_b

    def _match_links(self, link_a: int, link_b: int, X: FloatArray) -> None:
        self.found.links[link_a] = link_b
        self.found.frames[link_a] = X

    def _match_joints(self, link_a: int, edge_a: JointEdge, edge_b: JointEdge) -> None:
        """Match two joints and the links at their other ends, and decide which of frame and joint has moved."""
        moved = self.found.frames[link_a] @ edge_a.motion
        # The pose of the other link's frame if the joint is the same.
        X = invert(edge_b.motion[0]) @ moved[0]
        alike = _apart(moved, edge_b.motion @ X) < TOLERANCE
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
            distance, angle = transform_distance(moved[0], edge_b.motion[0] @ X)
            joint = replace(
                joint, distance=float(distance), angle=float(angle), axis_angle=_axis_angle(edge_a, edge_b, X)
            )
        self.found.joints.append(joint)

    def _votes(self, link_a: int, link_b: int, X: FloatArray) -> int:
        """Return how many of the things on a link are at the same place if its frame is at `X`."""
        content = same_content(self.a.model.links[link_a].urdf, self.b.model.links[link_b].urdf)
        votes = sum(_apart(frame, X) < TOLERANCE for frame in content)
        others = {edge.joint.name: edge for edge in self.b.edges[link_b]}
        for edge in self.a.edges[link_a]:
            other = others.get(edge.joint.name)
            if other is not None and edge.other not in self.found.links:
                reached = X @ edge.motion
                # A joint that moves leaves the frame at its other end free, along or about its axis.
                free = invert(other.motion[0]) @ reached[0] if edge.joint.position_count else np.eye(4)
                votes += _apart(reached, other.motion @ free) < TOLERANCE
        return votes


def _apart(T_a: FloatArray, T_b: FloatArray) -> float:
    return float(np.abs(T_a - T_b).max())


def _axis_angle(edge_a: JointEdge, edge_b: JointEdge, X: FloatArray) -> float:
    if edge_a.reversed or edge_b.reversed or not edge_a.joint.position_count:
        return 0.0
    a, b = X[:3, :3] @ edge_a.joint.axis, edge_b.joint.axis
    return float(np.arctan2(np.linalg.norm(np.cross(a, b)), a @ b))
