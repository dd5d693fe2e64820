"""World states at many times as arrays: what an export makes, files hold, and plots and bags are made from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from robot_semantics.base.errors import RobotSemanticsError
from robot_semantics.state.model_states import (
    ABSENT,
    FloatArray,
    IntArray,
    ModelSeries,
    model_states,
    poses,
    six_or_none,
)
from robot_semantics.usdf.ages import ValueAge
from robot_semantics.usdf.world_state import WORLD, Frame, WorldState


class SeriesError(RobotSemanticsError):
    """A file that holds no series, or states that make none.

    Attributes:
        path: the file.
    """

    def __init__(self, path: Path, reason: str) -> None:
        self.path = path
        super().__init__(f"{path}: {reason}")


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
        columns = [model_states(model, self.names) for model in self.models]
        frame_poses = poses(self.frame_pose.reshape(-1, 7)) if self.frames else []
        for i, time_ns in enumerate(self.times_ns.tolist()):
            models = tuple(next(rows) for rows in columns)
            parents = self.frame_parent[i].tolist()
            # A frame of which nothing is known at this time has its place for the sake of those that stand in it.
            needed = {*parents, *(int(model.parent[i]) for model in self.models)}
            frames = []
            for j, name in enumerate(self.frames):
                if parents[j] != ABSENT:
                    pose = frame_poses[i * len(self.frames) + j]
                    frames.append(Frame(name, self.names[parents[j]], pose, six_or_none(self.frame_twist[i, j])))
                elif j + 1 in needed:
                    frames.append(Frame(name, WORLD))
            yield WorldState(self.world_name, models, tuple(frames), time_ns)

    def gaps(self, index: int, max_gap_ns: int) -> list[Gap]:
        """Return what is unknown or older than `max_gap_ns` at the time with that index."""
        found = []
        for model, name, age_ns in self.ages(index):
            if age_ns < 0 or age_ns > max_gap_ns:
                kind = "frame" if name in self.frames else "base"
                seconds = None if age_ns < 0 else age_ns / 1e9
                found.append(Gap(kind, name, seconds) if model is None else Gap("joint", f"{model}/{name}", seconds))
        return found

    def ages(self, index: int) -> Iterator[ValueAge]:
        """Yield the distance of every value to its nearest message at the time with that index, -1 without one."""
        for model in self.models:
            for name, age_ns in zip(model.joints, model.joint_age_ns[index].tolist(), strict=True):
                yield ValueAge(model.name, name, age_ns)
            yield ValueAge(None, model.name, int(model.base_age_ns[index]))
        for name, age_ns in zip(self.frames, self.frame_age_ns[index].tolist(), strict=True):
            yield ValueAge(None, name, age_ns)

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
