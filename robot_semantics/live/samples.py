# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The state of the robots at one moment, as frozen values, for snapshots and for the world state.

The source of a root link's pose follows one rule for the running node and for recordings (doc/usdf.md, "Where a robot
is").
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from typing import NamedTuple

from robot_semantics.base.names import frame_name
from robot_semantics.base.record import record
from robot_semantics.kinematics.forward import kinematics_of
from robot_semantics.kinematics.joint_space import JointSpace
from robot_semantics.live.settings import Source
from robot_semantics.model.queries import links_fixed_to_root
from robot_semantics.model.robot_model import RobotModel
from robot_semantics.transforms import invert, matrix_from_pose, xyz_quat_from_matrix
from robot_semantics.transforms.arrays import BoolArray, FloatArray, IntArray
from robot_semantics.transforms.rows import twist_at


def base_frames(model: RobotModel, robot: str, prefix: str, base_frame: str, urdf_name: str = "") -> dict[str, str]:
    """Return the links that are fixed to the root link, the root link too, by their names in odometry and on TF.

    Args:
        model: the robot.
        robot: its name: ``ROBOT/LINK`` is the link.
        prefix: of its links on TF.
        base_frame: another name of the root link; empty: none.
        urdf_name: the URDF's name, if only this robot has it.
    """
    links = links_fixed_to_root(model)
    names = {f"{name}/{link}": link for name in (urdf_name, robot) if name for link in links}
    if base_frame:
        names[frame_name(base_frame)] = model.root_link
    return names | {frame_name(prefix + link): link for link in links}


def motion_of_root(
    model: RobotModel, link: str, xyz_quat: FloatArray, twist: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return pose (7,) and twist (6,) of the root link from those of a link that is fixed to it.

    The twist is in the axes of the parent frame.
    """
    if link == model.root_link:
        return xyz_quat, twist
    kinematics = kinematics_of(model)
    T_root_link = kinematics.link_poses(kinematics.space.neutral())[model.link_index[link]]
    T_frame_root = matrix_from_pose(xyz_quat) @ invert(T_root_link)
    return xyz_quat_from_matrix(T_frame_root), twist_at(twist, T_frame_root[:3, 3] - xyz_quat[:3])


class RootSource(enum.IntEnum):
    """Sources of the pose of a root link; the first available one is used."""

    CHOSEN = enum.auto()
    """A parameter or an option names it."""
    VIRTUAL_JOINT = enum.auto()
    """The virtual joint's own values, from joint states or multi-DOF joint states."""
    TF = enum.auto()
    """A transform whose child is the root link."""
    ODOMETRY = enum.auto()
    """Odometry whose child frame is the root link, or a link fixed to it."""
    FIXED = enum.auto()
    """A fixed virtual joint: the root link is its parent frame, unless somebody has said otherwise."""


class RootCandidate(NamedTuple):
    """One source of a root link's pose.

    Attributes:
        source: its kind.
        name: the topic, joint or publisher; it distinguishes two sources of one kind.
        parent: the frame of the pose.
    """

    source: RootSource
    name: str
    parent: str


class RootChoice(NamedTuple):
    """The source that is used, None without a source, and the other ones."""

    chosen: RootCandidate | None
    rivals: tuple[RootCandidate, ...]

    def complaint(self, robot: str) -> str | None:
        """Return a sentence about ignored sources of the same kind; None if there are none."""
        if self.chosen is None:
            return f"the pose of '{robot}' is unknown: no source states it"
        names = [f"'{other.name}'" for other in self.rivals if other.source is self.chosen.source]
        if not names:
            return None
        return f"the pose of '{robot}' is taken from '{self.chosen.name}'; ignored: {', '.join(names)}"


def possible_robots(parent: str, parents: Sequence[str]) -> list[int]:
    """Return which of the robots that read a topic its odometry may move if no child frame says it.

    These are the robots whose virtual joint has the parent frame of the odometry; if there are none, all. The odometry
    moves a robot only if it is the only possible one.

    Args:
        parent: the frame of the odometry; may be empty.
        parents: the parent frame of each robot.
    """
    return [number for number, frame in enumerate(parents) if frame == parent] or list(range(len(parents)))


def choose_root(candidates: Iterable[RootCandidate]) -> RootChoice:
    """Return the source to use: the first kind in the order of `RootSource`, and of one kind the first name.

    Two of one kind are never mixed.
    """
    ranked = sorted(set(candidates))
    return RootChoice(ranked[0] if ranked else None, tuple(ranked[1:]))


@record(frozen=True, eq=False)
class RootStatement:
    """Pose of a root link from one source.

    Attributes:
        candidate: the source, with the TF name of the frame.
        xyz_quat: (7,) the pose, x y z [m] and quaternion x y z w.
        twist: (6,) motion relative to that frame in its axes [m/s, rad/s]; None without a source.
        received_ns: when it arrived, on the steady clock; None for a constant pose.

    """

    candidate: RootCandidate
    xyz_quat: FloatArray
    twist: FloatArray | None = None
    received_ns: int | None = None


@record(frozen=True, eq=False)
class RobotSample:
    """One robot's newest values; arrays are read-only and in the order of `space`.

    Attributes:
        name: of the robot in the node: its `models` entry, or the URDF's name for a single one.
        positions: (n,) [rad, m, quaternion x y z w]; defaults where not `measured`.
        velocities: (nv,) [rad/s, m/s], NaN where unknown.
        efforts: (nv,) [N m, N], NaN where unknown.
        measured: (m,) bool for each of `space.joints`: whether all its positions were measured or given, not defaults.
        received_ns: (m,) for each of `space.joints`: when its values arrived, on the steady clock; `NEVER_NS` if it has
            none.
        parent_frame: TF name of the frame that the root link moves in; empty: not stated.
        frame_prefix: prefix of link names on TF.
        base_frames: other names of the links that are fixed to the root link, as of `base_frames`.
        source: the source of the root link's motion by the parameters.
        statements: poses of the root link from the node's inputs and parameters.
    """

    name: str
    model: RobotModel
    space: JointSpace
    positions: FloatArray
    velocities: FloatArray
    efforts: FloatArray
    measured: BoolArray
    received_ns: IntArray
    parent_frame: str
    frame_prefix: str
    source: Source = Source.AUTO
    statements: tuple[RootStatement, ...] = ()
    base_frames: Mapping[str, str] = field(default_factory=dict)

    @property
    def root_frame(self) -> str:
        """TF name of the root link."""
        return frame_name(self.frame_prefix + self.model.root_link)


@record(frozen=True, eq=False)
class WorldSample:
    """All robots at one moment.

    Attributes:
        stamp_ns: the newest stamp of the reference; the node's time where there is none.
        received_ns: when the message with this stamp arrived, on the steady clock.

    """

    stamp_ns: int
    received_ns: int
    robots: tuple[RobotSample, ...]
