# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Robots of PyPI packages, and python-fcl as the second opinion on what collides."""

from __future__ import annotations

import sysconfig
from itertools import combinations
from pathlib import Path
from typing import Any

import coal
import fcl
import mujoco
import numpy as np
import numpy.typing as npt
import pytest

from robot_semantics import Diagnostics, ForwardKinematics, RobotModel
from robot_semantics.collision.pieces import pieces_of
from robot_semantics.collision.shapes import Piece
from robot_semantics.model.loading import load_robot
from robot_semantics.model.resources import PackageResolver

SHARE = Path(sysconfig.get_path("purelib")) / "cmeel.prefix" / "share"


def packaged_robot(urdf: str, srdf: str | None = None) -> tuple[RobotModel, tuple[Piece, ...]]:
    """Return a robot of example-robot-data with its pieces."""
    robots = SHARE / "example-robot-data" / "robots"
    if not robots.is_dir():
        pytest.skip("example-robot-data is not installed (pip install '.[test]')")
    robot = load_robot(robots / urdf, robots / srdf if srdf else None, strict=False)
    return robot, pieces_of(robot, PackageResolver([SHARE]), Diagnostics())


class FclCounter:
    """Counts collisions of hulls with python-fcl, piece by piece; poses by our forward kinematics, proven elsewhere."""

    def __init__(self, robot: RobotModel, pieces: tuple[Piece, ...], excluded: set[tuple[int, int]]) -> None:
        self.kinematics = ForwardKinematics(robot)
        self.pieces = pieces
        self.objects = [self.made(piece) for piece in pieces]
        self.radii = np.array([_radius(piece) for piece in pieces])
        self.centres = np.array([_centre(piece) for piece in pieces])
        self.pairs = [
            (a, b)
            for a, b in combinations(range(len(pieces)), 2)
            if pieces[a].link != pieces[b].link and _key(pieces[a], pieces[b]) not in excluded
        ]

    def made(self, piece: Piece) -> Any:
        return fcl.CollisionObject(_geometry(piece))

    def put(self, item: Any, T: npt.NDArray[np.float64]) -> None:
        item.setTransform(fcl.Transform(T[:3, :3], T[:3, 3]))

    def collide(self, a: Any, b: Any) -> bool:
        return bool(fcl.collide(a, b, fcl.CollisionRequest(), fcl.CollisionResult()))

    def hits(self, q: npt.NDArray[np.float64]) -> list[set[tuple[int, int]]]:
        """Return for every configuration the pairs of links (indices, sorted) that collide."""
        T_root_link = self.kinematics.link_poses(q)
        first, second = np.array(self.pairs).T
        found = []
        for poses in T_root_link:
            T_root_piece = np.array([poses[piece.link] @ piece.T_link_piece for piece in self.pieces])
            for item, T in zip(self.objects, T_root_piece, strict=True):
                self.put(item, T)
            centres = np.einsum("nij,nj->ni", T_root_piece[:, :3, :3], self.centres) + T_root_piece[:, :3, 3]
            gap = np.linalg.norm(centres[first] - centres[second], axis=1) - self.radii[first] - self.radii[second]
            hit = set()
            for at in np.flatnonzero(gap < 0.0):
                a, b = self.pairs[at]
                if self.collide(self.objects[a], self.objects[b]):
                    hit.add(_key(self.pieces[a], self.pieces[b]))
            found.append(hit)
        return found


class CoalCounter(FclCounter):
    """Counts collisions of triangles with coal."""

    def made(self, piece: Piece) -> Any:
        surface = piece.shape.hull if piece.shape.surface is None else piece.shape.surface
        if surface is None:
            kind, size = piece.shape[:2]
            makers = {
                mujoco.mjtGeom.mjGEOM_BOX: lambda: coal.Box(*(2.0 * half for half in size)),
                mujoco.mjtGeom.mjGEOM_SPHERE: lambda: coal.Sphere(size[0]),
                mujoco.mjtGeom.mjGEOM_CYLINDER: lambda: coal.Cylinder(size[0], 2.0 * size[1]),
                mujoco.mjtGeom.mjGEOM_CAPSULE: lambda: coal.Capsule(size[0], 2.0 * size[1]),
            }
            return coal.CollisionObject(makers[kind]())
        model = coal.BVHModelOBBRSS()
        model.beginModel(len(surface.faces), len(surface.vertices))
        model.addVertices(surface.vertices)
        model.addTriangles(surface.faces)
        model.endModel()
        return coal.CollisionObject(model)

    def put(self, item: Any, T: npt.NDArray[np.float64]) -> None:
        item.setTransform(coal.Transform3s(T[:3, :3], T[:3, 3]))

    def collide(self, a: Any, b: Any) -> bool:
        request = coal.CollisionRequest()
        request.enable_contact = True
        return bool(coal.collide(a, b, request, coal.CollisionResult()))


def _key(a: Piece, b: Piece) -> tuple[int, int]:
    return (a.link, b.link) if a.link < b.link else (b.link, a.link)


def _geometry(piece: Piece) -> Any:
    kind, size, hull = piece.shape[:3]
    if hull is not None:
        faces = np.column_stack([np.full(len(hull.faces), 3), hull.faces]).ravel()
        return fcl.Convex(hull.vertices, len(hull.faces), faces)
    makers = {
        mujoco.mjtGeom.mjGEOM_BOX: lambda: fcl.Box(*(2.0 * half for half in size)),
        mujoco.mjtGeom.mjGEOM_SPHERE: lambda: fcl.Sphere(size[0]),
        mujoco.mjtGeom.mjGEOM_CYLINDER: lambda: fcl.Cylinder(size[0], 2.0 * size[1]),
        mujoco.mjtGeom.mjGEOM_CAPSULE: lambda: fcl.Capsule(size[0], 2.0 * size[1]),
    }
    return makers[kind]()


def _centre(piece: Piece) -> npt.NDArray[np.float64]:
    hull = piece.shape.hull
    return np.zeros(3) if hull is None else (hull.vertices.min(axis=0) + hull.vertices.max(axis=0)) / 2.0


def _radius(piece: Piece) -> float:
    hull = piece.shape.hull
    if hull is None:
        return float(np.sum(piece.shape.size))
    return float(np.linalg.norm(hull.vertices - _centre(piece), axis=1).max())
