# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Fit of spheres to a link: starts from `morphit-rs`, then the least overshoot with a proven cover.

With centres c and their signed distances s to the geometry (negative inside), spheres of radius M - s overshoot by M.
They cover the surface exactly if M is at least the largest distance of the surface to spheres of radius -s. So the
proof itself gives the least M. Centres are moved to make M smaller.
"""

from __future__ import annotations

import math
from contextlib import suppress
from typing import Any, NamedTuple

import mujoco
import numpy as np

from robot_semantics.base.errors import MissingExtraError, RobotSemanticsError
from robot_semantics.base.record import record
from robot_semantics.collision.shapes import Piece
from robot_semantics.collision.sphere_check import enclosing_sphere, link_surface
from robot_semantics.collision.sphere_cover import (
    ROUNDING,
    Patches,
    Spheres,
    TooFineError,
    corner_points,
    cover,
    shrunk,
    signed_distances,
    sphere_distances,
    triangles_of,
)
from robot_semantics.transforms import transform_points
from robot_semantics.transforms.arrays import FloatArray, IntArray

DIGITS = 6
"""Decimal digits of centres and radii [m]; radii are rounded up."""

MOST_SPHERES = 256
"""Largest number of spheres of a link."""

_BOX = mujoco.mjtGeom.mjGEOM_BOX
_CAPSULE = mujoco.mjtGeom.mjGEOM_CAPSULE
_CYLINDER = mujoco.mjtGeom.mjGEOM_CYLINDER
_AXIS_MARGIN = 0.02
"""Share of the overshoot that is added: where spheres only touch on the surface, the proof takes long."""

_PRESETS = ("MorphIt-S", "MorphIt-B")
_ITERATIONS = 100
_MOVES = 40
_CANDIDATES = 16
_NEAR = 1.3
_POWER = 12


@record(frozen=True)
class FitTask:
    """A link to fit: its name, its pieces, the number of spheres or the largest overshoot [m], and the seed."""

    link: str
    pieces: tuple[Piece, ...]
    count: int | None
    overshoot: float | None
    seed: int


class Fit(NamedTuple):
    """Spheres that are proven to cover a link; `overshoot` [m] is their largest distance beyond the surface."""

    link: str
    spheres: Spheres
    overshoot: float


def fit_link(task: FitTask) -> Fit:
    """Return spheres for a link: with a count, the least overshoot found; with an overshoot, the fewest spheres found.

    The result depends only on the task.

    Raises:
        RobotSemanticsError: `MOST_SPHERES` spheres overshoot by more.
        TooFineError: the proof needs too many pieces.
        MissingExtraError: morphit-rs is not installed.
    """
    try:
        return _fit(task)
    except TooFineError as error:
        raise TooFineError(f"link '{task.link}': {error}: try another number of spheres or another --seed") from None


def _fit(task: FitTask) -> Fit:
    link = _SampledLink(task)
    if task.count is not None:
        return link.fit(task.count)
    limit = task.overshoot
    assert limit is not None, "a task has a number of spheres or a largest overshoot"
    low, high = 0, 1
    best = link.fit(high)
    while best.overshoot > limit:
        if high == MOST_SPHERES:
            raise RobotSemanticsError(
                f"link '{task.link}': {high} spheres overshoot by {best.overshoot:.6f} m, more than {limit:g} m"
            )
        low, high = high, 2 * high
        best = link.fit(high)
    high = min(high, len(best.spheres.radii))
    while high - low > 1:
        middle = (low + high) // 2
        found = link.fit(middle)
        if found.overshoot <= limit:
            high, best = min(middle, len(found.spheres.radii)), found
        else:
            low = middle
    return best


class _SampledLink:
    """The surface of a link, and fits to it."""

    def __init__(self, task: FitTask) -> None:
        # Import here: it takes half a second.
        import trimesh

        self._task = task
        self._surface = link_surface(task.pieces)
        corners = triangles_of(self._surface)
        self._area = float(trimesh.triangles.area(corners).sum())  # type: ignore[no-untyped-call]  # it has no types
        self._size = float(np.linalg.norm(np.ptp(corners.reshape(-1, 3), axis=0)))

    def fit(self, count: int) -> Fit:
        """Return up to `count` spheres."""
        from scipy.spatial import cKDTree

        pieces = self._task.pieces
        on_axis = _on_axis(pieces[0], count) if len(pieces) == 1 else None
        is_proven = on_axis is not None and cover(self._surface, on_axis).upper <= ROUNDING
        axis = [self._proven(on_axis)] if on_axis is not None and is_proven else []
        if axis and pieces[0].shape.type == _CAPSULE:
            # Off the axis, a sphere of this size holds less of the wall.
            return axis[0]
        spacing = min(self._size / 20.0, 0.12 * math.sqrt(self._area / count))
        points = corner_points(self._surface, spacing)
        centers = self._starts(count)
        depths = signed_distances(self._task.pieces, centers)
        chosen = _least_overshoot(sphere_distances(points, Spheres(centers, -depths)), count)
        fine = cKDTree(corner_points(self._surface, spacing / 3.0))
        seed = np.random.default_rng([self._task.seed, count])
        moved = _moved(points, centers[chosen], np.where(depths[chosen] > 0.0, 1.0, -1.0), fine, seed)
        # A move judges points between which the surface is not seen: sometimes the start is better.
        fits = [self._grown(one, spacing / 3.0) for one in (centers[chosen], moved)]
        return min((*fits, *axis), key=lambda fit: fit.overshoot)

    def _starts(self, count: int) -> FloatArray:
        """Return centres of fits, inside of the geometry if there are any, and the centres of the pieces."""
        fits = [_packed(self._task.pieces, self._surface, preset, count, self._task.seed + at)
                for preset in _PRESETS for at in range(2)]  # fmt: skip
        own = [enclosing_sphere([part]).centers for part in self._surface]
        centers = np.round(np.concatenate([*fits, *own]), DIGITS)
        inside = signed_distances(self._task.pieces, centers) < 0.0
        return centers[inside] if inside.any() else centers

    def _grown(self, centers: FloatArray, spacing: float) -> Fit:
        """Return spheres about centres that are proven to cover the surface, with the least overshoot."""
        centers = np.unique(np.round(centers, DIGITS), axis=0)
        depths = signed_distances(self._task.pieces, centers)
        least = cover(self._surface, Spheres(centers, -depths), math.inf).upper
        spheres = shrunk(self._surface, Spheres(centers, least - depths), spacing)
        while True:
            scale = 10.0**DIGITS
            spheres = Spheres(spheres.centers, np.ceil(spheres.radii * scale - 1e-7) / scale)
            out = cover(self._surface, spheres).upper
            if out <= ROUNDING:
                break
            spheres = Spheres(spheres.centers, spheres.radii + out)
        return self._proven(spheres)

    def _proven(self, spheres: Spheres) -> Fit:
        overshoot = float((spheres.radii + signed_distances(self._task.pieces, spheres.centers)).max())
        return Fit(self._task.link, spheres, max(0.0, overshoot))


def _on_axis(piece: Piece, count: int) -> Spheres | None:
    """Return equal spheres on the axis of a capsule, cylinder or box, slightly larger than needed; None for a mesh.

    On a capsule, they overshoot by the least length M. (r + M)^2 = r^2 + (d / 2)^2, where d is the distance
    of two centres and the outer ones are M inside of the centres of the ends.
    """
    radius, half, _ = piece.shape.size
    axis = 2
    if piece.shape.type == _CAPSULE:
        gaps = count - 1
        b = radius * gaps**2 + half
        overshoot = half**2 / (b + math.sqrt(b**2 + (gaps**2 - 1) * half**2))
        end, reach = half - overshoot, radius + overshoot
    elif piece.shape.type == _CYLINDER:
        end, reach = half - half / count, math.hypot(radius, half / count)
        overshoot = reach - radius
    elif piece.shape.type == _BOX:
        axis = int(np.argmax(piece.shape.size))
        half, others = piece.shape.size[axis], np.delete(piece.shape.size, axis)
        end, reach = half - half / count, math.hypot(*others, half / count)
        overshoot = reach - float(others.min())
    else:
        return None
    local = np.zeros((count, 3))
    local[:, axis] = np.linspace(-end, end, count) if count > 1 else 0.0
    centers = np.round(transform_points(piece.T_link_piece, local), DIGITS)
    return Spheres(centers, np.full(count, round(reach + _AXIS_MARGIN * overshoot + 10.0**-DIGITS, DIGITS)))


def _packed(pieces: tuple[Piece, ...], surface: list[Patches], preset: str, count: int, seed: int) -> FloatArray:
    """Return the centres of a fit by morphit-rs; of the hulls, if the surface encloses no volume."""
    try:
        import morphit_rs
    except ImportError as error:
        raise MissingExtraError("morphit_rs", "spheres", "fitting spheres") from error

    # Links are fitted in processes of their own. The number of threads can be set once.
    with suppress(morphit_rs.StateError):
        morphit_rs.set_num_threads(1)
    config = morphit_rs.Config.preset(preset, num_spheres=count, iterations=_ITERATIONS, seed=seed)
    exact = triangles_of(surface)
    hulls = [
        transform_points(piece.T_link_piece, piece.shape.hull.vertices)[piece.shape.hull.faces]
        for piece in pieces
        if piece.shape.hull is not None
    ]
    for triangles in (exact, np.concatenate(hulls) if hulls else exact):
        faces = np.arange(3 * len(triangles)).reshape(-1, 3)
        try:
            mesh = morphit_rs.Mesh.from_arrays(triangles.reshape(-1, 3), faces)
            return np.asarray(morphit_rs.pack(mesh, config).centers)
        except morphit_rs.MorphItError:
            continue
    return np.zeros((0, 3))


def _least_overshoot(overshoots: FloatArray, count: int) -> IntArray:
    """Return up to `count` columns whose row minima are small: greedy covers for a bisected limit."""
    low, high = float(overshoots.min(axis=1).max()), float(overshoots.max())
    best = _greedy_cover(overshoots, high, count)
    for _ in range(20):
        limit = 0.5 * (low + high)
        chosen = _greedy_cover(overshoots, limit, count)
        low, high, best = (limit, high, best) if chosen is None else (low, limit, chosen)
    assert best is not None, "one sphere covers all points with the largest overshoot"
    # Give the remaining spheres to the worst points, one after the other.
    for _ in range(count - len(best)):
        worst = overshoots[:, best].min(axis=1).argmax()
        best = np.append(best, overshoots[worst].argmin())  # Twice the same centre: `_moved` separates them.
    return best


def _greedy_cover(overshoots: FloatArray, limit: float, count: int) -> IntArray | None:
    """Return columns that have a value up to `limit` in every row; None if more than `count` would be needed."""
    covers = overshoots <= limit
    uncovered, chosen = np.ones(len(covers), dtype=bool), []
    while uncovered.any():
        gains = covers[uncovered].sum(axis=0)
        chosen.append(int(gains.argmax()))
        if len(chosen) > count or not gains[chosen[-1]]:
            return None
        uncovered &= ~covers[:, chosen[-1]]
    return np.array(chosen, dtype=np.int64)


def _moved(
    points: FloatArray, centers: FloatArray, signs: FloatArray, fine: Any, seed: np.random.Generator
) -> FloatArray:
    """Return centres with less overshoot: each moves to the best of some random places for its nearest points.

    A move is shorter than the distance to the surface, so that the sign of the distance does not change.
    """
    best, least = centers, math.inf
    for round_ in range(_MOVES):
        reach = fine.query(centers)[0]
        overshoots = sphere_distances(points, Spheres(centers, -signs * reach))
        nearest = overshoots.argmin(axis=1)
        two = np.partition(overshoots, min(1, len(centers) - 1), axis=1)
        worst, second = two[:, 0], two[:, 1] if len(centers) > 1 else np.full(len(points), np.inf)
        if worst.max() < least:
            best, least = centers, float(worst.max())
        idle = np.setdiff1d(np.arange(len(centers)), nearest)
        if len(idle):
            # Put a sphere without points between the worst point and the sphere of this point.
            point, nearest_sphere = points[worst.argmax()], nearest[worst.argmax()]
            towards = (point - centers[nearest_sphere]) / np.linalg.norm(point - centers[nearest_sphere])
            centers, signs = centers.copy(), signs.copy()
            centers[idle[0]], signs[idle[0]] = (
                centers[nearest_sphere] + 0.5 * reach[nearest_sphere] * towards,
                signs[nearest_sphere],
            )
            continue
        step = max(0.7 * (1.0 - round_ / _MOVES), 0.03)
        steps = seed.normal(size=(len(centers), _CANDIDATES, 3))
        steps *= seed.uniform(size=(*steps.shape[:2], 1)) / np.linalg.norm(steps, axis=2, keepdims=True)
        steps[:, 0] = 0.0
        candidates = centers[:, None] + (step * reach)[:, None, None] * steps
        depths = signs[:, None] * fine.query(candidates)[0]
        next_spheres = []
        for index in range(len(centers)):
            others = np.where(nearest == index, second, worst)
            nearest_sphere = (nearest == index) | (overshoots[:, index] <= _NEAR * worst.max())
            own = sphere_distances(points[nearest_sphere], Spheres(candidates[index], -depths[index]))
            # A high power instead of the maximum: spheres with little to do help their neighbours.
            left = np.maximum(np.minimum(own, others[nearest_sphere, None]), 0.0) / max(float(worst.max()), 1e-12)
            next_spheres.append(candidates[index][(left**_POWER).sum(axis=0).argmin()])
        centers = np.array(next_spheres)
    return best
