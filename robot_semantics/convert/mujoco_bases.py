# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Robots in a mocap body ``NAME//frame``: `sim export` writes fixed and planar bases so.

The body below the mocap body is the root link. A fixed base has no joints there; a planar base has two slides and a
hinge, which are the model's pose and twist and no joint state.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from robot_semantics.base.record import record
from robot_semantics.kinematics.motions import JointMotion, UnusablePose, joint_motion, pose_from_positions, twist_of
from robot_semantics.model.joint_types import JointType, frames_of_root
from robot_semantics.model.robot_model import JointModel
from robot_semantics.transforms import matrix_from_pose, xyz_quat_from_matrix
from robot_semantics.transforms.arrays import FloatArray
from robot_semantics.transforms.pose import Pose, Vec6, pose_from_matrix, six

if TYPE_CHECKING:
    import mujoco


# Joints and mocap bodies of a MuJoCo model, and the values of joints by name.


FREE, BALL = 0, 1
"""MuJoCo's joint types that have a quaternion; slides and hinges have one number."""

POSITIONS, VELOCITIES = (7, 4, 1, 1), (6, 3, 1, 1)
"""How many numbers a joint of each type has."""
VARIABLES = {
    "x": slice(0, 1),
    "y": slice(1, 2),
    "theta": slice(2, 3),
    "trans_x": slice(0, 1),
    "trans_y": slice(1, 2),
    "trans_z": slice(2, 3),
    "rot": slice(3, 7),
}
PARTS = (("x", "y", "theta"), ("trans_x", "trans_y", "trans_z", "rot"))
"""The MuJoCo joints that a planar, and a floating, joint is made of."""
RATES = {**VARIABLES, "rot": slice(3, 6)}
"""Indices in a planar or floating joint's positions, and velocities, of the MuJoCo joints ``JOINT/x`` and so on."""


class MujocoJoint(NamedTuple):
    """One joint of a MuJoCo model.

    Attributes:
        number: the joint's number.
        name: its name, empty if it has none.
        body: the name of its body.
        body_id: the number of its body.
        type: MuJoCo's joint type.
        qpos: slice of its positions in qpos.
        qvel: slice of its velocities in qvel.
    """

    number: int
    name: str
    body: str
    body_id: int
    type: int
    qpos: slice
    qvel: slice


def mocap_bodies(model: mujoco.MjModel) -> Iterator[tuple[int, int]]:
    """Yield the mocap bodies with their numbers."""
    for body in range(model.nbody):
        if model.body_mocapid[body] >= 0:
            yield body, int(model.body_mocapid[body])


def places_of(model: mujoco.MjModel) -> Iterator[MujocoJoint]:
    """Yield the joints, with the slices of their values in qpos and qvel."""
    for index in range(model.njnt):
        kind = int(model.jnt_type[index])
        qpos, qvel = int(model.jnt_qposadr[index]), int(model.jnt_dofadr[index])
        body = int(model.jnt_bodyid[index])
        yield MujocoJoint(
            index,
            str(model.joint(index).name),
            str(model.body(body).name),
            body,
            kind,
            slice(qpos, qpos + POSITIONS[kind]),
            slice(qvel, qvel + VELOCITIES[kind]),
        )


FRAME = "//frame"
"""End of the name of the mocap body that a robot stands in; the model's name is before it."""


@record(frozen=True, eq=False)
class MocapBase:
    """The base of one model.

    Attributes:
        model: the model's name.
        body: the mocap body: the parent frame of the root joint.
        mocap: its row in mpos and mquat.
        plane: the planar joint above the root link; None for a fixed base.
        joints: the two slides and the hinge of a planar base, in this order.
    """

    model: str
    body: int
    mocap: int
    plane: JointModel | None
    joints: tuple[MujocoJoint, ...]

    @property
    def qpos(self) -> list[int]:
        """The indices of x, y and theta in qpos."""
        return [place.qpos.start for place in self.joints]

    @property
    def qvel(self) -> list[int]:
        """The indices of their rates in qvel."""
        return [place.qvel.start for place in self.joints]

    def in_world(self, T_world_frame: FloatArray, qpos: FloatArray, qvel: FloatArray) -> tuple[Pose, Vec6]:
        """Return the pose [m] and twist [m/s, rad/s] in the world of the root link of a planar base.

        Args:
            T_world_frame: (4, 4) pose of the mocap body, which is at rest.
            qpos: (nq,) positions of the MuJoCo model.
            qvel: (nv,) its velocities.
        """
        assert self.plane is not None
        T_frame_root = matrix_from_pose(pose_from_positions(self.plane, qpos[self.qpos]))
        twist, R = twist_of(self.plane, qvel[self.qvel]), T_world_frame[:3, :3]
        return pose_from_matrix(T_world_frame @ T_frame_root), six(np.concatenate((R @ twist[:3], R @ twist[3:])))

    def holds(self, T_frame_root: FloatArray, tolerance: float) -> bool:
        """Return True if a planar base can take a pose (4, 4) in the frame of the mocap body [m, rad]."""
        motion = self.on_plane(T_frame_root, np.full(6, np.nan))
        return max(motion.lost_m, motion.lost_rad) <= tolerance

    def on_plane(self, T_frame_root: FloatArray, twist: FloatArray) -> JointMotion:
        """Return the positions and velocities of a planar base.

        Args:
            T_frame_root: (4, 4) pose of the root link in the frame of the mocap body [m].
            twist: (6,) its twist in the axes of that frame [m/s, rad/s]; NaN if it is not stated.
        """
        assert self.plane is not None
        motion = joint_motion(self.plane, xyz_quat_from_matrix(T_frame_root), twist)
        # A pose of a state is finite and has an orientation.
        assert not isinstance(motion, UnusablePose)
        return motion


def mocap_bases(model: mujoco.MjModel) -> Iterator[MocapBase]:
    """Yield the bases of a ``mujoco.MjModel`` in the order of their bodies."""
    for body in range(model.nbody):
        mocap, name = int(model.body_mocapid[body]), str(model.body(body).name)
        roots = np.flatnonzero(model.body_parentid == body)
        if mocap < 0 or not name.endswith(FRAME) or name == FRAME or len(roots) != 1:
            continue
        (root,) = roots.tolist()
        joints = tuple(place for place in places_of(model) if place.body_id == root)
        owner = name.removesuffix(FRAME)
        if not joints:
            yield MocapBase(owner, body, mocap, None, ())
        elif [place.name.rpartition("/")[2] for place in joints] == ["x", "y", "theta"]:
            plane = JointModel(
                index=0,
                name=joints[0].name.removeprefix(f"{owner}/").rpartition("/")[0],
                type=JointType.PLANAR,
                parent_link="",
                child_link=str(model.body(root).name).removeprefix(f"{owner}/"),
                frames=frames_of_root(tuple(model.jnt_axis[joints[2].number].tolist())),
            )
            yield MocapBase(owner, body, mocap, plane, joints)
