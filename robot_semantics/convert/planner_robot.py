# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Facts of a robot that planners on spheres have: spheres, ignored pairs, joints, default positions, tool frames."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field

from robot_semantics.base.names import LinkPair
from robot_semantics.base.record import record
from robot_semantics.model.robot_model import RobotModel
from robot_semantics.srdf.tree import SrdfSphere

NOT_CONSIDERED = (SrdfSphere((0.0, 0.0, 0.0), 0.0),)
"""Spheres of a link that MoveIt does not consider; a missing element means one enclosing sphere."""


@record(frozen=True)
class SphereModel:
    """A robot as planners on spheres describe it.

    Attributes:
        spheres: spheres by link, in the link frame [m]; a link that is missing has no spheres.
        ignored: pairs of links whose collisions are not checked.
        joints: joints that the planner moves, in its order.
        positions: default position by joint [rad or m], also of joints that the planner does not move.
        tool_frames: links that the planner moves to poses.
        base_link: root of the planner's tree; empty if it is the root link of the URDF.
        acceleration: limit by joint [rad/s² or m/s²].
        jerk: limit by joint [rad/s³ or m/s³].
        buffer: distance by link that the planner adds to each radius [m].
        self_buffer: additional distance by link for collisions between links [m].
    """

    spheres: Mapping[str, tuple[SrdfSphere, ...]]
    ignored: tuple[LinkPair, ...] = ()
    joints: tuple[str, ...] = ()
    positions: Mapping[str, float] = field(default_factory=dict)
    tool_frames: tuple[str, ...] = ()
    base_link: str = ""
    acceleration: Mapping[str, float] = field(default_factory=dict)
    jerk: Mapping[str, float] = field(default_factory=dict)
    buffer: Mapping[str, float] = field(default_factory=dict)
    self_buffer: Mapping[str, float] = field(default_factory=dict)

    def ignored_by_link(self) -> dict[str, list[str]]:
        """Return the ignored pairs as a list of second links for each first link."""
        lists: dict[str, list[str]] = {}
        for pair in self.ignored:
            lists.setdefault(pair.first, []).append(pair.second)
        return lists

    def for_moveit(self, robot: RobotModel) -> dict[str, tuple[SrdfSphere, ...]]:
        """Return the spheres with `NOT_CONSIDERED` for links with collision geometry and without spheres."""
        bare = {link.name: NOT_CONSIDERED for link in robot.links if link.urdf.collisions}
        return {**self.spheres, **{name: none for name, none in bare.items() if name not in self.spheres}}

    def beyond_spheres(self) -> Iterator[str]:
        """Yield the facts of the planner that are neither spheres nor in an SRDF."""
        for limits, name in ((self.acceleration, "acceleration"), (self.jerk, "jerk")):
            if limits:
                yield f"{name} limits: {_listed(limits)}"
        for buffers, name in ((self.buffer, "buffer distance"), (self.self_buffer, "self-collision buffer distance")):
            if nonzero := {link: value for link, value in buffers.items() if value}:
                yield f"{name} [m]: {_listed(nonzero)}"


def _listed(values: Mapping[str, float]) -> str:
    return ", ".join(f"{name} {value:g}" for name, value in values.items())


def no_sphere(link: str, at: int, radius: float) -> str:
    """Return the remark on a sphere with a radius of at most 0."""
    return f"sphere {at} of link '{link}': its radius {radius:g} m means no sphere"


def independent_joints(robot: RobotModel) -> tuple[str, ...]:
    """Return the joints that a planner can move: one position variable, not virtual, not passive, no mimic."""
    return tuple(
        joint.name for joint in robot.joints if joint.is_commandable and joint.position_count == 1 and not joint.virtual
    )
