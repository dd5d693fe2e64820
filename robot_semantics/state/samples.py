"""The state of the robots at one moment, as frozen values: what snapshots and the world state are made from."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from robot_semantics.kinematics.joint_space import JointSpace
from robot_semantics.model.robot_model import RobotModel

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class RobotSample:
    """One robot's newest values; arrays are read-only and in the order of `space`.

    Attributes:
        name: of the robot in the node: its `models` entry, or the URDF's name for a single one.
        positions: (n,) [rad, m, quaternion x y z w].
        velocities: (nv,) [rad/s, m/s], NaN where unknown.
        efforts: (nv,) [N m, N], NaN where unknown.
        known: (m,) bool for each of `space.joints`: whether its positions were measured or given by default.
        stamps_ns: (m,) for each of `space.joints`: the time of its newest values, `NEVER_NS` if it has none.
        parent_frame: TF name of the frame that the root link moves in; empty: not stated.
        fixed_root_pose: (7,) of a fixed root link in the parent frame, x y z [m] and quaternion x y z w.
        frame_prefix: what stands before link names on TF.

    """

    name: str
    model: RobotModel
    space: JointSpace
    positions: FloatArray
    velocities: FloatArray
    efforts: FloatArray
    known: npt.NDArray[np.bool_]
    stamps_ns: npt.NDArray[np.int64]
    parent_frame: str
    frame_prefix: str
    fixed_root_pose: FloatArray


@dataclass(frozen=True, eq=False)
class WorldSample:
    """All robots at one moment.

    Attributes:
        stamp_ns: the newest stamp of any value; the node's time where there is none.
        now_ns: the node's time when the sample was taken.

    """

    stamp_ns: int
    now_ns: int
    robots: tuple[RobotSample, ...]
