"""World states at many times as arrays: what an export makes, files hold, and plots and bags are made from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from robot_semantics.recording.timeline import FloatArray, IntArray
from robot_semantics.transforms import rpy_from_quat
from robot_semantics.usdf.world_state import (
    WORLD,
    Frame,
    JointState,
    LinkState,
    ModelState,
    Pose,
    Quaternion,
    Vec6,
    WorldState,
)

ABSENT = -1
"""In place of a parent: nothing is known of the frame at that time."""

QUATERNION_UNIT = 1e-9
"""How far from 1 a quaternion's length may be to be written as it is."""


class Gap(NamedTuple):
    """Something that is old or unknown at one time.

    Attributes:
        kind: ``joint``, ``frame`` or ``base``.
        name: of the joint (``model/joint``), frame or model.
        age_s: how old, None if it was never seen up to then.
    """

    kind: str
    name: str
    age_s: float | None

    def __str__(self) -> str:
        age = "never seen" if self.age_s is None else f"{self.age_s:.3f} s old"
        return f"{self.kind} '{self.name}': {age}"


@dataclass(frozen=True, eq=False)
class ModelSeries:
    """One model at n times; NaN is what is not stated.

    Attributes:
        joints: names of the joints.
        widths: (joints,) how many position variables each has.
        speeds: (joints,) how many velocity components each has.
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
        description: where the URDF is, as it is to be written.
        semantic: where the SRDF is.
        urdf_sha256: of the URDF's canonical XML.
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

    @property
    def variables(self) -> tuple[str, ...]:
        """A name for every position variable: the joint's own, or ``joint[2]``."""
        return _columns(self.joints, self.widths)

    @property
    def velocity_variables(self) -> tuple[str, ...]:
        """A name for every velocity component."""
        return _columns(self.joints, self.speeds)


@dataclass(frozen=True, eq=False)
class Series:
    """World states at n times.

    Attributes:
        times_ns: (n,).
        names: what parents are called: ``world`` first, then frames and models.
        frames: names of the frames; frame i stands at `names` 1 + i.
        frame_parent: (n, frames) index into `names`, `ABSENT` where the frame is not known.
        frame_pose: (n, frames, 7) T_parent_frame [m]; NaN is not stated.
        frame_twist: (n, frames, 6); NaN is not stated.
        frame_age_ns: (n, frames) distance to the nearest transform, 0 for what is fixed, -1 where there is none.
    """

    times_ns: IntArray
    names: tuple[str, ...]
    models: tuple[ModelSeries, ...]
    frames: tuple[str, ...]
    frame_parent: IntArray
    frame_pose: FloatArray
    frame_twist: FloatArray
    frame_age_ns: IntArray
    world_name: str | None = None

    def __len__(self) -> int:
        return len(self.times_ns)

    def states(self) -> Iterator[WorldState]:
        """Yield the world state at every time."""
        columns = [_ModelRows.of(model) for model in self.models]
        frame_poses = poses(self.frame_pose.reshape(-1, 7)) if self.frames else []
        for i, time_ns in enumerate(self.times_ns.tolist()):
            models = tuple(rows.state(i, self.names) for rows in columns)
            frames = []
            for j, name in enumerate(self.frames):
                parent = int(self.frame_parent[i, j])
                if parent != ABSENT:
                    pose = frame_poses[i * len(self.frames) + j]
                    frames.append(Frame(name, self.names[parent], pose, _six(self.frame_twist[i, j])))
            yield WorldState(self.world_name, models, tuple(frames), time_ns)

    def gaps(self, index: int, max_gap_ns: int) -> list[Gap]:
        """Return what is unknown or older than `max_gap_ns` at the time with that index."""
        found = []
        for model in self.models:
            for name, age in zip(model.joints, model.joint_age_ns[index].tolist(), strict=True):
                if age < 0 or age > max_gap_ns:
                    found.append(Gap("joint", f"{model.name}/{name}", _seconds(age)))
            age = int(model.base_age_ns[index])
            if age < 0 or age > max_gap_ns:
                found.append(Gap("base", model.name, _seconds(age)))
        for name, age in zip(self.frames, self.frame_age_ns[index].tolist(), strict=True):
            if age < 0 or age > max_gap_ns:
                found.append(Gap("frame", name, _seconds(age)))
        return found

    def has_gap(self, max_gap_ns: int) -> npt.NDArray[np.bool_]:
        """Return at which times (n,) anything is unknown or older than `max_gap_ns`."""
        result = np.zeros(len(self), dtype=bool)
        ages = [
            self.frame_age_ns,
            *(m.joint_age_ns for m in self.models),
            *(m.base_age_ns[:, None] for m in self.models),
        ]
        for age in ages:
            result |= ((age < 0) | (age > max_gap_ns)).any(axis=1)
        return result


class _ModelRows(NamedTuple):
    """A model's rows, made ready so that taking one is cheap."""

    model: ModelSeries
    poses: list[Pose | None]
    link_poses: list[Pose | None]
    positions: list[list[float]]
    velocities: list[list[float]]
    efforts: list[list[float]]
    spans: tuple[tuple[str, slice, slice], ...]

    @classmethod
    def of(cls, model: ModelSeries) -> _ModelRows:
        spans = []
        at = speed = 0
        for name, width, count in zip(model.joints, model.widths, model.speeds, strict=True):
            spans.append((name, slice(at, at + width), slice(speed, speed + count)))
            at, speed = at + width, speed + count
        links = [] if model.link_poses is None else poses(model.link_poses.reshape(-1, 7))
        return cls(
            model,
            poses(model.pose),
            links,
            model.positions.tolist(),
            model.velocities.tolist(),
            model.efforts.tolist(),
            tuple(spans),
        )

    def state(self, i: int, names: Sequence[str]) -> ModelState:
        model = self.model
        joints = []
        for name, where, speed in self.spans:
            state = JointState(
                name,
                _stated(self.positions[i][where]),
                _stated(self.velocities[i][speed]),
                _stated(self.efforts[i][speed]),
            )
            if state.positions is not None or state.velocities is not None or state.torques is not None:
                joints.append(state)
        count = len(model.links)
        links = []
        for j, link in enumerate(model.links):
            pose = self.link_poses[i * count + j]
            twist = None if model.link_twists is None else _six(model.link_twists[i, j])
            if pose is not None or twist is not None:
                links.append(LinkState(link, pose, twist))
        parent = int(model.parent[i])
        return ModelState(
            model.name,
            WORLD if parent == ABSENT else names[parent],
            self.poses[i],
            _six(model.twist[i]),
            tuple(links),
            tuple(joints),
            model.description,
            model.semantic,
            model.urdf_sha256,
        )


def poses(xyz_quat: FloatArray) -> list[Pose | None]:
    """Return poses (n, 7) as values with their exact quaternions; None where a number is missing."""
    if not len(xyz_quat):
        return []
    known = np.asarray(np.isfinite(xyz_quat).all(axis=1))
    safe = np.where(known[:, None], xyz_quat, (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0))
    length = np.sqrt((safe[:, 3:] ** 2).sum(axis=1, keepdims=True))
    # A quaternion that is of unit length already stays as it is, to the last bit.
    safe[:, 3:] = np.where(np.abs(length - 1.0) < QUATERNION_UNIT, safe[:, 3:], safe[:, 3:] / length)
    rpy = rpy_from_quat(safe[:, 3:]) + 0.0  # which makes -0.0 the plain 0.0 that a person expects to read
    result: list[Pose | None] = []
    for row, turn, good in zip(safe.tolist(), rpy.tolist(), known.tolist(), strict=True):
        if good:
            xyz_rpy: Vec6 = (row[0], row[1], row[2], turn[0], turn[1], turn[2])
            quat_xyzw: Quaternion = (row[3], row[4], row[5], row[6])
            result.append(Pose(xyz_rpy, quat_xyzw))
        else:
            result.append(None)
    return result


def _stated(values: list[float]) -> tuple[float, ...] | None:
    """Return the values, None if one is NaN or there are none."""
    return tuple(values) if values and all(value == value for value in values) else None


def _six(row: FloatArray) -> Vec6 | None:
    values = row.tolist()
    if any(value != value for value in values):
        return None
    return (values[0], values[1], values[2], values[3], values[4], values[5])


def _seconds(age_ns: int) -> float | None:
    return None if age_ns < 0 else age_ns / 1e9


def _columns(joints: Sequence[str], widths: Sequence[int]) -> tuple[str, ...]:
    return tuple(
        name if width == 1 else f"{name}[{i}]" for name, width in zip(joints, widths, strict=True) for i in range(width)
    )
