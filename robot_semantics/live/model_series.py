# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Samples of a robot as model_states; snapshots, world messages and recordings all use these functions.

The known values of a robot at n times are arrays, with NaN for unknown values; the node's present state is such a
series with one time. Unknown values are not stated.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np

from robot_semantics.base.record import record
from robot_semantics.kinematics.forward import ForwardKinematics
from robot_semantics.live.samples import RobotSample
from robot_semantics.transforms import xyz_quat_from_matrix
from robot_semantics.transforms.arrays import FloatArray, IntArray
from robot_semantics.transforms.pose import pose_from_row, pose_rows, six_or_none
from robot_semantics.usdf.identity import model_digest
from robot_semantics.usdf.world_state import JointState, LinkState, ModelState

ABSENT = -1
"""In place of a parent: nothing is known of it at that time."""

_PLACED = 16
"""The numbers of a pose, as `pose_rows` has them, and of a twist."""


@record(frozen=True, eq=False)
class ModelSeries:
    """One model at n times; values that are not stated are NaN.

    Attributes:
        joints: names of the joints.
        widths: (joints,) number of position variables of each joint.
        speeds: (joints,) number of velocity components of each joint.
        positions: (n, sum of widths) [rad, m].
        velocities: (n, sum of speeds) [rad/s, m/s].
        efforts: (n, sum of speeds) [N m, N].
        joint_age_ns: (n, joints) distance to the nearest message, -1 where there is none.
        parent: (n,) index into the series' `names`.
        pose: (n, 7) T_parent_model [m].
        twist: (n, 6) relative to the parent, in the parent's axes [m/s, rad/s].
        base_age_ns: (n,) as `joint_age_ns`; 0 where the pose is fixed.
        lower: (sum of widths,) lower limits, infinite where there are none.
        upper: (sum of widths,) upper limits.
        links: names of the links whose states are given; none unless asked for.
        link_poses: (n, links, 7) T_model_link [m].
        link_twists: (n, links, 6) in the link's own axes.
        description: the path or URI of the URDF in documents.
        semantic: where the SRDF is.
        urdf_sha256: of the robot (`usdf.identity`).
    """

    name: str
    joints: tuple[str, ...]
    widths: tuple[int, ...]
    speeds: tuple[int, ...]
    positions: FloatArray
    velocities: FloatArray
    efforts: FloatArray
    joint_age_ns: IntArray
    parent: IntArray
    pose: FloatArray
    twist: FloatArray
    base_age_ns: IntArray
    lower: FloatArray
    upper: FloatArray
    links: tuple[str, ...] = ()
    link_poses: FloatArray | None = None
    link_twists: FloatArray | None = None
    description: str | None = None
    semantic: str | None = None
    urdf_sha256: str | None = None

    @classmethod
    def unknown(
        cls, name: str, joints: Sequence[str], widths: Sequence[int], speeds: Sequence[int], count: int
    ) -> ModelSeries:
        """Return a model without known values at `count` times; its arrays are writable."""
        size = sum(widths)
        return cls(
            name,
            tuple(joints),
            tuple(widths),
            tuple(speeds),
            positions=np.full((count, size), np.nan),
            velocities=np.full((count, sum(speeds)), np.nan),
            efforts=np.full((count, sum(speeds)), np.nan),
            joint_age_ns=np.full((count, len(joints)), -1, dtype=np.int64),
            parent=np.full(count, ABSENT, dtype=np.int64),
            pose=np.full((count, 7), np.nan),
            twist=np.full((count, 6), np.nan),
            base_age_ns=np.full(count, -1, dtype=np.int64),
            lower=np.full(size, -np.inf),
            upper=np.full(size, np.inf),
        )

    @cached_property
    def spans(self) -> tuple[tuple[str, slice, slice], ...]:
        """Each joint's name, with the columns of its positions and velocities."""
        found = []
        at = speed = 0
        for name, width, count in zip(self.joints, self.widths, self.speeds, strict=True):
            found.append((name, slice(at, at + width), slice(speed, speed + count)))
            at, speed = at + width, speed + count
        return tuple(found)

    @cached_property
    def row_size(self) -> int:
        """Number of columns of `model_rows`."""
        return sum(self.widths) + 2 * sum(self.speeds) + _PLACED * (1 + len(self.links))

    @property
    def variables(self) -> tuple[str, ...]:
        """A name for every position variable: the joint's name, or ``joint[2]`` if it has several."""
        return variable_columns(self.joints, self.widths)

    @property
    def velocity_variables(self) -> tuple[str, ...]:
        """A name for every velocity component."""
        return variable_columns(self.joints, self.speeds)


def with_links(series: ModelSeries, kinematics: ForwardKinematics) -> ModelSeries:
    """Return `series` with the links that its joints give: (n, links, 7) poses and (n, links, 6) twists.

    A link's pose needs the positions of all joints between the root and the link. Its twist also needs their
    velocities. Both are relative to the root, so the root's own state is not needed. Mimic joints have their measured
    positions.
    """
    measured, robot = kinematics.measured, kinematics.model
    space, count = measured.space, len(series.positions)
    q, v = np.tile(space.neutral(), (count, 1)), np.zeros((count, space.velocity_size))
    links_known = np.ones((count, len(robot.links)), dtype=np.bool_)
    moving = links_known.copy()
    for name, where, rates in series.spans:
        position, velocity = series.positions[:, where], series.velocities[:, rates]
        good, fast = ~np.isnan(position).any(axis=1), ~np.isnan(velocity).any(axis=1)
        q[good, space.joint_positions[name]] = position[good]
        v[fast, space.joint_velocities[name]] = velocity[fast]
        at = robot.joint_index[name]
        links_known[:, at], moving[:, at] = good, good & fast
    for link in robot.links[1:]:
        # Links behind an unknown joint are unknown.
        links_known[:, link.index] &= links_known[:, link.parent]
        moving[:, link.index] &= moving[:, link.parent]
    poses_ = np.array(xyz_quat_from_matrix(measured.link_poses(q)))
    twists = np.array(measured.link_twists(q, v))
    poses_[~links_known] = np.nan
    twists[~moving] = np.nan
    return replace(series, links=robot.link_names, link_poses=poses_, link_twists=twists)


def series_from_sample(sample: RobotSample) -> ModelSeries:
    """Return the newest values of a robot as a series of one, without ages, its root link's pose and its links."""
    space = sample.space
    own_joints = [joint for joint in space.joints if not joint.virtual]
    positions = sample.positions.copy()
    for joint, measured in zip(space.joints, sample.measured, strict=True):
        if not measured:
            positions[space.joint_positions[joint.name]] = np.nan

    def rows(values: FloatArray, spans: Sequence[slice]) -> FloatArray:
        return np.concatenate([values[span] for span in spans] or [values[:0]])[np.newaxis]

    places = [space.joint_positions[joint.name] for joint in own_joints]
    rates = [space.joint_velocities[joint.name] for joint in own_joints]
    widths, speeds = [joint.position_count for joint in own_joints], [joint.velocity_count for joint in own_joints]
    return replace(
        ModelSeries.unknown(sample.name, [joint.name for joint in own_joints], widths, speeds, 1),
        positions=rows(positions, places),
        velocities=rows(sample.velocities, rates),
        efforts=rows(sample.efforts, rates),
        urdf_sha256=model_digest(sample.model),
    )


def model_rows(series: ModelSeries) -> FloatArray:
    """Return all numbers of a model's states (n, columns), as `model_state` takes them; NaN if not stated."""
    count = len(series.positions)
    columns = [series.positions, series.velocities, series.efforts, pose_rows(series.pose), series.twist]
    if series.link_poses is not None and series.link_twists is not None:
        links = series.link_poses.shape[1]
        link_poses = pose_rows(series.link_poses.reshape(-1, 7)).reshape(count, links, 10)
        columns.append(np.concatenate((link_poses, series.link_twists), axis=2).reshape(count, links * 16))
    return np.concatenate(columns, axis=1)


def model_state(series: ModelSeries, row: Sequence[float], parent: str) -> ModelState:
    """Return the model_state of one row of `model_rows`."""
    velocity = series.positions.shape[1]
    effort = velocity + series.velocities.shape[1]
    base = effort + series.efforts.shape[1]
    joints = []
    for name, where, rates in series.spans:
        positions = stated(row[where])
        velocities = stated(row[velocity + rates.start : velocity + rates.stop])
        torques = stated(row[effort + rates.start : effort + rates.stop])
        if positions is not None or velocities is not None or torques is not None:
            joints.append(JointState(name, positions, velocities, torques))
    links = []
    for j, link in enumerate(series.links):
        at = base + 16 * (j + 1)
        pose, twist = pose_from_row(row[at : at + 10]), six_or_none(row[at + 10 : at + 16])
        if pose is not None or twist is not None:
            links.append(LinkState(link, pose, twist))
    return ModelState(
        series.name,
        parent,
        pose_from_row(row[base : base + 10]),
        six_or_none(row[base + 10 : base + 16]),
        tuple(links),
        tuple(joints),
        series.description,
        series.semantic,
        series.urdf_sha256,
    )


def stated(values: Sequence[float]) -> tuple[float, ...] | None:
    """Return the values; None if one is NaN or if there are none."""
    return tuple(values) if values and all(value == value for value in values) else None


def variable_columns(joints: Sequence[str], widths: Sequence[int]) -> tuple[str, ...]:
    """Return a column name for every number of the joints: the joint's name, or ``joint[2]`` if it has several."""
    return tuple(
        name if width == 1 else f"{name}[{i}]" for name, width in zip(joints, widths, strict=True) for i in range(width)
    )
