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
from itertools import product

import numpy as np

from robot_semantics.base.errors import MissingExtraError
from robot_semantics.base.record import record

try:
    import fcl
except ImportError as error:
    raise MissingExtraError("python-fcl", "collision", "collision checking on triangles") from error

import mujoco

from robot_semantics.collision.mujoco_joints import add_joints
from robot_semantics.collision.shapes import Piece, Shape
from robot_semantics.kinematics.joint_space import JointSpace
from robot_semantics.model.robot_model import RobotModel
from robot_semantics.transforms import xyz_quat_from_matrix
from robot_semantics.transforms.arrays import BoolArray, FloatArray, Indices, IntArray

# Cache of collision-free poses of two pieces: a piece at distance d stays free while each of its points moves less.


FREE_POSES = 100
"""Number of free poses after which distances are computed for two pieces."""

DISTANCE_COST = 6
"""Cost of one distance, in collision tests."""

TRIAL_DISTANCES = 16
"""Number of distances that are computed for two pieces before their benefit is measured."""

ROUNDING = 1e-6
"""Rounding error of a distance [m]."""


def box_corners(points: FloatArray) -> FloatArray:
    """Return the corners (8, 3) of the box round points (n, 3)."""
    return np.array(list(product(*zip(points.min(axis=0), points.max(axis=0), strict=True))))


class Clearance:
    """Cache of poses ``T_a_b`` in which piece b is free of piece a, each with the free travel of all points of b.

    Between two poses, no point of b moves farther than the fastest corner of its box.
    """

    def __init__(self, corners: FloatArray) -> None:
        """Start empty. `corners` (8, 3) [m] are the corners of the box of b, in the frame of b."""
        self._corners = corners
        self._known_corners = np.empty((8, 0, 3))
        self._travel = np.empty(0)
        self._free_count = 0
        self._tests_saved = 0

    def needs_distance(self, T_a_b: FloatArray) -> bool:
        """Return whether to compute the distance in a free pose (3, 4). Count the pose."""
        self._free_count += 1
        pays = self._free_count > FREE_POSES and len(self._travel) < TRIAL_DISTANCES + self._tests_saved / DISTANCE_COST
        return pays and not self._is_covered(T_a_b[None])[0]

    def add(self, T_a_b: FloatArray, distance: float) -> None:
        """Add a pose (3, 4) with its distance [m]."""
        self._known_corners = np.concatenate([self._known_corners, self._corners_in_a(T_a_b[None])], axis=1)
        self._travel = np.append(self._travel, max(distance - ROUNDING, 0.0))

    def covers(self, T_a_b: FloatArray) -> BoolArray:
        """Return (n,) whether each pose (n, 3, 4) is near enough to a known pose to be free."""
        covered = self._is_covered(T_a_b)
        self._tests_saved += int(covered.sum())
        return covered

    def _is_covered(self, T_a_b: FloatArray) -> BoolArray:
        if not len(self._travel):
            return np.zeros(len(T_a_b), dtype=np.bool_)
        at, known = self._corners_in_a(T_a_b), self._known_corners
        # |x - y|² = x² - 2 x y + y², for all corners, poses and known poses together.
        apart = (at**2).sum(axis=2)[:, :, None] - 2.0 * at @ known.transpose(0, 2, 1)
        apart += (known**2).sum(axis=2)[:, None, :]
        near: BoolArray = (apart.max(axis=0) < self._travel**2).any(axis=1)
        return near

    def _corners_in_a(self, T_a_b: FloatArray) -> FloatArray:
        """Return the corners (8, n, 3) in the frame of a."""
        return np.asarray(np.einsum("nij,cj->cni", T_a_b[:, :, :3], self._corners) + T_a_b[:, :, 3])


# Collision test of two surfaces with python-fcl. MuJoCo tests only their convex hulls.


SURE_DEPTH = 1e-5
"""Smallest overlap of two hulls [m] that is larger than MuJoCo's tolerance."""


class Surfaces:
    """The surfaces of a scene's pieces, in MuJoCo's order of geoms."""

    def __init__(self, pieces: Sequence[Piece], padding: float) -> None:
        """Prepare the pieces; `padding` [m] is added around every piece."""
        self._padding = padding
        self._geometries = _geometries(pieces)
        self._boxes = [None if piece.shape.hull is None else box_corners(piece.shape.hull.vertices) for piece in pieces]
        self._is_primitive = np.array([piece.shape.surface is None for piece in pieces])
        self._is_convex = np.array([piece.shape.convex for piece in pieces])
        self._inradius = np.array([_inradius(piece.shape) for piece in pieces])

    def is_proven(self, a: Indices, b: Indices, depths: FloatArray) -> BoolArray:
        """Return (n,) whether a contact of the hulls of pieces a and b (n,) proves a contact of their surfaces.

        This holds for two primitives. It also holds for two convex pieces if neither can be inside the other: then the
        penetration (`depths` (n,) [m], which include the padding of both) is less than the thickness of both.
        """
        thickness = 2.0 * np.minimum(self._inradius[a], self._inradius[b])
        crossing = (depths > SURE_DEPTH) & (depths < 0.9 * thickness)
        proven: BoolArray = self._is_primitive[a] & self._is_primitive[b]
        proven |= self._is_convex[a] & self._is_convex[b] & crossing
        return proven

    def new_test(self) -> SurfaceTest:
        """Return a test of one pair at a time. Each thread needs its own."""
        return SurfaceTest(self._geometries, self._padding, self._boxes)


class SurfaceTest:
    """Test of two pieces in a relative pose with python-fcl, and a cache of their distances."""

    def __init__(
        self, geometries: Sequence[fcl.CollisionGeometry], padding: float, boxes: Sequence[FloatArray | None]
    ) -> None:
        """Prepare a test; `boxes` has the corners (8, 3) [m] of the box of each piece, None for a primitive."""
        self._fixed_objects = [fcl.CollisionObject(geometry) for geometry in geometries]
        self._moved_objects = [fcl.CollisionObject(geometry) for geometry in geometries]
        self._request = fcl.CollisionRequest(num_max_contacts=1, enable_contact=False)
        self._padding = padding
        self._boxes = boxes
        self._clearances: dict[tuple[int, int], Clearance] = {}

    def is_known_free(self, a: Indices, b: Indices, T_a_b: FloatArray) -> BoolArray:
        """Return (n,) whether pieces a and b (n,) in poses (n, 3, 4) are known to be free without a test."""
        free = np.zeros(len(a), dtype=np.bool_)
        for pair, clearance in self._clearances.items():
            which = np.flatnonzero((a == pair[0]) & (b == pair[1]))
            free[which] = clearance.covers(T_a_b[which])
        return free

    def touches(self, a: int, b: int, T_a_b: FloatArray) -> bool:
        """Return whether the surfaces of pieces a and b cross, or are closer than the padding of both."""
        if self._crosses(a, b, T_a_b) or (self._padding > 0.0 and self.distance(a, b, T_a_b) <= 0.0):
            return True
        box_a, box_b = self._boxes[a], self._boxes[b]
        if box_a is not None and box_b is not None:
            clearance = self._clearances.get((a, b))
            if clearance is None:
                clearance = self._clearances[a, b] = Clearance(box_b)
            if clearance.needs_distance(T_a_b):
                clearance.add(T_a_b, self.distance(a, b, T_a_b))
        return False

    def distance(self, a: int, b: int, T_a_b: FloatArray) -> float:
        """Return the distance [m] of the surfaces minus the padding of both; 0 or less if they cross."""
        self._moved_objects[b].setTransform(fcl.Transform(T_a_b[:3, :3], T_a_b[:3, 3]))
        objects = self._fixed_objects[a], self._moved_objects[b]
        return float(fcl.distance(*objects, fcl.DistanceRequest(), fcl.DistanceResult())) - 2.0 * self._padding

    def nearest(self, a: int, b: int, T_a_b: FloatArray) -> tuple[float, FloatArray, FloatArray] | None:
        """Return the distance (see `distance`) and the nearest points on both, in the frame of a, which is a mesh.

        Return None if python-fcl gives no points.
        """
        if self.touches(a, b, T_a_b):
            return 0.0, np.zeros(3), np.zeros(3)
        result = fcl.DistanceResult()
        objects = self._fixed_objects[a], self._moved_objects[b]
        distance = float(fcl.distance(*objects, fcl.DistanceRequest(True), result))
        on_a, on_b = (np.asarray(point) for point in result.nearest_points)
        # The second point is in the frame of a or of b; this depends on the kind of geometry.
        for point in (on_b, T_a_b[:, :3] @ on_b + T_a_b[:, 3]):
            if abs(float(np.linalg.norm(point - on_a)) - distance) < 1e-6 + 1e-3 * distance:
                return distance - 2.0 * self._padding, on_a, point
        return None

    def _crosses(self, a: int, b: int, T_a_b: FloatArray) -> bool:
        moved = self._moved_objects[b]
        moved.setTransform(fcl.Transform(T_a_b[:3, :3], T_a_b[:3, 3]))
        return bool(fcl.collide(self._fixed_objects[a], moved, self._request, fcl.CollisionResult()))


def _geometries(pieces: Sequence[Piece]) -> list[fcl.CollisionGeometry]:
    geometries: dict[int, fcl.CollisionGeometry] = {}
    for piece in pieces:
        # Links often share a mesh, and so its shape.
        if id(piece.shape) not in geometries:
            geometries[id(piece.shape)] = _geometry(piece.shape)
    return [geometries[id(piece.shape)] for piece in pieces]


def _geometry(shape: Shape) -> fcl.CollisionGeometry:
    triangles = shape.surface if shape.surface is not None else shape.hull
    if triangles is not None:
        model = fcl.BVHModel()
        model.beginModel(len(triangles.vertices), len(triangles.faces))
        model.addSubModel(triangles.vertices, triangles.faces)
        model.endModel()
        return model
    kind, size = shape.type, shape.size
    if kind == mujoco.mjtGeom.mjGEOM_BOX:
        return fcl.Box(*(2.0 * half for half in size))
    if kind == mujoco.mjtGeom.mjGEOM_SPHERE:
        return fcl.Sphere(size[0])
    return (fcl.Cylinder if kind == mujoco.mjtGeom.mjGEOM_CYLINDER else fcl.Capsule)(size[0], 2.0 * size[1])


def _inradius(shape: Shape) -> float:
    """Return the radius [m] of a ball that fits into the shape's hull."""
    if shape.hull is None:
        return min(size for size in shape.size if size > 0.0)
    corners = shape.hull.vertices[shape.hull.faces]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    lengths = np.linalg.norm(normals, axis=1)
    flat = lengths > 0.0
    outwards = normals[flat] / lengths[flat, None]
    distances = np.einsum("ij,ij->i", outwards, corners[flat, 0] - shape.hull.vertices.mean(axis=0))
    return float(max(np.abs(distances).min(), 0.0))


ARENA_BYTES = 1 << 28
"""Memory for 400,000 contacts of one configuration: more than 800 links that all touch each other."""

XYZW_FROM_WXYZ = (6, 3, 4, 5)
"""Columns of a pose x y z qx qy qz qw that give MuJoCo's quaternion w x y z."""


@record(frozen=True, slots=True, eq=False)
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
        body = parent.add_body(name=numbered_body_name(link.index), pos=pose[:3], quat=pose[list(XYZW_FROM_WXYZ)])
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
        spec.add_exclude(bodyname1=numbered_body_name(first), bodyname2=numbered_body_name(second))
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


def numbered_body_name(link: int) -> str:
    """Return the name of a link's body. It is a number, because MuJoCo reserves some names."""
    return f"link{link}"
