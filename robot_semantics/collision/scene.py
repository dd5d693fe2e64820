# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""A MuJoCo model of a robot for collision checks: one body for each link, convex pieces, no dynamics.

The model is built from `RobotModel`, because MuJoCo's URDF reader refuses most real files. Only ``mj_kinematics`` and
``mj_collision`` run on it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import mujoco
import numpy as np

from robot_semantics.collision.mujoco_joints import add_joints
from robot_semantics.collision.shapes import Piece
from robot_semantics.collision.surfaces import Surfaces
from robot_semantics.kinematics.joint_space import JointSpace
from robot_semantics.model.robot_model import RobotModel
from robot_semantics.transforms import xyz_quat_from_matrix
from robot_semantics.transforms.arrays import FloatArray, Indices, IntArray

ARENA_BYTES = 1 << 28
"""Memory for 400,000 contacts of one configuration: more than 800 links that all touch each other."""

XYZW_FROM_WXYZ = (6, 3, 4, 5)
"""Columns of a pose x y z qx qy qz qw that give MuJoCo's quaternion w x y z."""


@dataclass(frozen=True, slots=True, eq=False)
class CollisionScene:
    """A compiled robot without dynamics.

    Attributes:
        model: the MjModel.
        pieces: the piece of each geom, in MuJoCo's order.
        surfaces: the surfaces of the pieces; None if no piece has a surface of its own.
        geom_link: (ngeom,) index of each geom's link.
        T_link_piece: (ngeom, 4, 4) each geom's piece in its link's frame [m].
        columns: (nq,) column of q (`JointSpace`) for each position of MuJoCo.
        space: the joint space of q.
        padding: padding around every piece [m].
        pair_index_of_geoms: (ngeom, ngeom) index of the pair of links (a, b) of two geoms, with a <= b: a * links + b.

    """

    model: mujoco.MjModel
    pieces: tuple[Piece, ...]
    surfaces: Surfaces | None
    geom_link: IntArray
    T_link_piece: FloatArray
    columns: IntArray
    space: JointSpace
    padding: float
    pair_index_of_geoms: IntArray

    @property
    def links(self) -> int:
        """Number of links, with or without geometry."""
        return len(self.space.model.links)

    def link_poses(self, data: mujoco.MjData) -> FloatArray:
        """Return ``T_root_link`` (links, 3, 4) [m] from MuJoCo's last kinematics."""
        # Body 0 is the world. The other bodies are the links, in order.
        return np.concatenate([data.xmat[1:].reshape(-1, 3, 3), data.xpos[1:, :, None]], axis=2)

    def relative_poses(self, T_root_link: FloatArray, rows: Indices | slice, a: Indices, b: Indices) -> FloatArray:
        """Return ``T_a_b`` (n, 3, 4) [m] of geoms a and b (n,), links posed as in `rows` (n,) of (m, links, 3, 4)."""
        R_a, p_a = _placed(T_root_link[rows, self.geom_link[a]], self.T_link_piece[a])
        R_b, p_b = _placed(T_root_link[rows, self.geom_link[b]], self.T_link_piece[b])
        back = R_a.transpose(0, 2, 1)
        return np.concatenate([back @ R_b, back @ (p_b - p_a)], axis=2)

    def qpos(self, q: FloatArray) -> FloatArray:
        """Return MuJoCo's positions (..., nq) of joint positions q (..., size), mimic joints set by their leaders."""
        return np.ascontiguousarray(self.space.with_mimics(q)[..., self.columns])


def _placed(T_root_link: FloatArray, T_link_piece: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return rotation (n, 3, 3) and position (n, 3, 1) of pieces in the root frame."""
    R = T_root_link[:, :, :3]
    return R @ T_link_piece[:, :3, :3], R @ T_link_piece[:, :3, 3:] + T_root_link[:, :, 3:]


def build_scene(
    robot: RobotModel, pieces: Sequence[Piece], excluded: Iterable[tuple[int, int]], padding: float = 0.0
) -> CollisionScene:
    """Compile a scene in which the pairs of links `excluded` (by index) are never tested.

    `padding` [m] is added round every piece: two pieces collide when they are closer than twice the padding.
    """
    spec = mujoco.MjSpec()
    compiler = spec.compiler
    compiler.degree = False
    compiler.autolimits = False
    compiler.fusestatic = False
    compiler.discardvisual = False
    # Adjacent links are excluded by name. MuJoCo's parent filter would hide pairs that must be counted.
    spec.option.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_FILTERPARENT)
    # One contact shows that a pair collides. The other contacts of a patch are useful only for dynamics.
    multiccd = getattr(mujoco.mjtDisableBit, "mjDSBL_MULTICCD", None)
    if multiccd is not None:
        spec.option.disableflags |= int(multiccd)
    spec.memory = ARENA_BYTES
    bodies: list[mujoco.MjsBody] = []
    columns: list[int] = []
    space = JointSpace.of(robot)
    for link, joint in zip(robot.links, robot.joints, strict=True):
        parent = spec.worldbody if link.parent < 0 else bodies[link.parent]
        pose = xyz_quat_from_matrix(joint.T_parent_joint if link.parent >= 0 else np.eye(4))
        body = parent.add_body(name=body_name(link.index), pos=pose[:3], quat=pose[list(XYZW_FROM_WXYZ)])
        # MuJoCo compiles moving bodies only with a mass. Kinematics ignores it.
        body.mass, body.inertia, body.explicitinertial = 1.0, [1.0, 1.0, 1.0], 1
        if link.parent >= 0 and joint.position_count:
            add_joints(body, joint)
            start = space.joint_positions[joint.name].start
            order = (0, 1, 2, *XYZW_FROM_WXYZ) if joint.position_count == 7 else range(joint.position_count)
            columns += [start + column for column in order]
        bodies.append(body)
    _add_pieces(spec, bodies, pieces, padding)
    for first, second in excluded:
        spec.add_exclude(bodyname1=body_name(first), bodyname2=body_name(second))
    model = spec.compile()
    ordered = tuple(_geom_order(pieces))
    geom_link = np.array([piece.link for piece in ordered], dtype=np.int64)
    row, column = geom_link[:, None], geom_link[None, :]
    places = np.minimum(row, column) * len(robot.links) + np.maximum(row, column)
    T_link_piece = np.array([piece.T_link_piece for piece in ordered]).reshape(-1, 4, 4)
    surfaces = Surfaces(ordered, padding) if any(piece.shape.surface is not None for piece in ordered) else None
    q_columns = np.array(columns, dtype=np.int64)
    return CollisionScene(model, ordered, surfaces, geom_link, T_link_piece, q_columns, space, padding, places)


def _geom_order(pieces: Sequence[Piece]) -> list[Piece]:
    # MuJoCo numbers geoms by body, and bodies depth first like the links. The pieces of a link keep their order.
    return sorted(pieces, key=lambda piece: piece.link)


def _add_pieces(spec: mujoco.MjSpec, bodies: list[mujoco.MjsBody], pieces: Sequence[Piece], padding: float) -> None:
    meshes: dict[int, str] = {}
    for piece in _geom_order(pieces):
        pose = xyz_quat_from_matrix(piece.T_link_piece)
        hull = piece.shape.hull
        geom = bodies[piece.link].add_geom(type=piece.shape.type, pos=pose[:3], quat=pose[list(XYZW_FROM_WXYZ)])
        # Some versions of MuJoCo add the margins of two geoms, others use the larger one. This is enough for both.
        geom.margin = 2.0 * padding
        if hull is None:
            geom.size = piece.shape.size
        else:
            # Links often share a mesh, so their geoms share it.
            if id(hull) not in meshes:
                meshes[id(hull)] = f"hull{len(meshes)}"
                spec.add_mesh(name=meshes[id(hull)], uservert=hull.vertices.ravel(), userface=hull.faces.ravel())
            geom.meshname = meshes[id(hull)]


def body_name(link: int) -> str:
    """Return the name of a link's body. It is a number, because MuJoCo reserves some names."""
    return f"link{link}"
