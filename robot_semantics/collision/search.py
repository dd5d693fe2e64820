# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Directed search for collisions that no sample shows: gradient descent on the distance from the closest samples."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from itertools import product
from typing import NamedTuple

import mujoco
import numpy as np

from robot_semantics.collision.counting import CollisionCounter, Progress, run_parallel
from robot_semantics.collision.sampling import BLOCK, BlockSampler, SampleBox
from robot_semantics.collision.scene import CollisionScene
from robot_semantics.kinematics.forward import ForwardKinematics
from robot_semantics.kinematics.loops import ClosedLoops
from robot_semantics.transforms.arrays import BoolArray, FloatArray, IntArray

LinkIndices = tuple[int, int]

STARTS_PER_PAIR = 3
"""Number of starting samples for each pair: the closest ones."""

START_BLOCKS = 4
"""Number of blocks of samples that are searched for starting samples."""

MAX_STEPS = 100
"""Largest number of steps of one search. Most need less than a third."""

MAX_HALVINGS = 6
LARGEST_STEP = 0.5
"""Largest change of a joint in one step [rad or m]."""

OVERLAP = 1e-4
"""Penetration [m] that a step aims at, so that rounding does not decide."""

_NEXT, _LAST = [1, 2, 0], [2, 0, 1]
"""Columns for a cross product. The function of numpy takes longer than the rest of a step."""

MAX_DISTANCE = 100.0
"""Distances beyond this [m] are not computed."""


class SearchedCollision(NamedTuple):
    """A configuration q (size,) in which two links collide, and the depth of the overlap of their hulls [m]."""

    q: FloatArray
    depth: float


class _Proximity(NamedTuple):
    """Distance of two links [m], negative for an overlap, and the nearest points on both."""

    distance: float
    on_a: FloatArray
    on_b: FloatArray


def find_collisions(
    scene: CollisionScene,
    sampler: BlockSampler,
    samples: int,
    pairs: Sequence[LinkIndices],
    jobs: int = 1,
    progress: Progress | None = None,
) -> dict[LinkIndices, SearchedCollision]:
    """Return a colliding configuration of each pair for which the search finds one.

    The result depends only on the scene and on the samples. `progress` is called after each pair, with 0 new samples.
    """
    if not pairs:
        return {}
    q = np.concatenate([sampler(block) for block in range(min(START_BLOCKS, -(-samples // BLOCK)))])[:samples]
    starts = _closest(scene, q, pairs)
    local = threading.local()

    def work(pair: LinkIndices) -> tuple[LinkIndices, SearchedCollision | None]:
        if not hasattr(local, "search"):
            local.search = _Search(scene)
        search: _Search = local.search
        return pair, search.search(pair, starts[pair])

    collisions: dict[LinkIndices, SearchedCollision] = {}
    for pair, touch in run_parallel(work, pairs, jobs, threading.Event()):
        if touch is not None:
            collisions[pair] = touch
        if progress is not None:
            progress(0)
    return collisions


def _closest(scene: CollisionScene, q: FloatArray, pairs: Sequence[LinkIndices]) -> dict[LinkIndices, FloatArray]:
    """Return for each pair the samples with the closest centres of the two links, nearest first."""
    T_root_link = ForwardKinematics(scene.space.model).link_poses(scene.space.with_mimics(q))
    centres = {}
    for link in {link for pair in pairs for link in pair}:
        centres[link] = T_root_link[:, link, :3, :3] @ _centre(scene, link) + T_root_link[:, link, :3, 3]
    starts = {}
    for a, b in pairs:
        apart = np.linalg.norm(centres[a] - centres[b], axis=1)
        nearest = np.argsort(apart, kind="stable")[:STARTS_PER_PAIR]
        starts[a, b] = q[nearest]
    return starts


def _centre(scene: CollisionScene, link: int) -> FloatArray:
    """Return the centre (3,) [m] of a link's pieces, in the link's frame."""
    corners = []
    for geom in np.flatnonzero(scene.geom_link == link):
        T, hull = scene.T_link_piece[geom], scene.pieces[geom].shape.hull
        points = np.zeros((1, 3)) if hull is None else hull.vertices
        corners.append(points @ T[:3, :3].T + T[:3, 3])
    every = np.concatenate(corners)
    return np.asarray((every.min(axis=0) + every.max(axis=0)) / 2.0)


class _Joints(NamedTuple):
    """Joints between two links: their numbers, the moved link (a: -1, b: 1), whether they turn, their columns in q."""

    numbers: IntArray
    sides: FloatArray
    hinges: BoolArray
    columns: IntArray


class _Search:
    """Search on one thread."""

    def __init__(self, scene: CollisionScene) -> None:
        self._scene = scene
        self._data = mujoco.MjData(scene.model)
        self._counter = CollisionCounter(scene)
        self._test = scene.surfaces.new_test() if scene.surfaces is not None else None
        self._box = SampleBox(scene.space)
        self._sampled = np.zeros(scene.space.size)
        self._sampled[self._box.moving] = 1.0
        self._neutral = scene.space.neutral()
        self._loops = ClosedLoops.of(scene.space.model)
        # Row i: the change of every variable for a unit change of variable i. Mimic joints follow their leaders.
        steps = self._neutral + np.eye(len(self._neutral))
        self._coupling = scene.space.with_mimics(steps) - scene.space.with_mimics(self._neutral)
        self._qpos = scene.qpos(self._neutral)
        self._qpos_by_q = self._coupling[:, scene.columns]
        self._geoms = [np.flatnonzero(scene.geom_link == link).tolist() for link in range(scene.links)]

    def search(self, pair: LinkIndices, starts: FloatArray) -> SearchedCollision | None:
        """Return a configuration in which the pair collides, None if the search finds none."""
        joints = self._joints_between(*pair)
        for start in starts:
            collision = self._descend(pair, start.copy(), joints)
            if collision is not None:
                collision.q.setflags(write=False)
                return collision
        return None

    def _descend(self, pair: LinkIndices, q: FloatArray, joints: _Joints) -> SearchedCollision | None:
        low, high = self._box.low, self._box.high
        near = self._proximity(pair, q)
        for _ in range(MAX_STEPS):
            if near is None:
                return None
            if near.distance <= 0.0 and (touch := self._collision(pair, q)) is not None:
                return touch
            gradient = self._on_loops(self._gradient(near, joints), q)
            gradient[((gradient > 0.0) & (q <= low)) | ((gradient < 0.0) & (q >= high))] = 0.0
            steepness = float(gradient @ gradient)
            if steepness < 1e-12:
                return None
            step = -(max(near.distance, 0.0) + OVERLAP) / steepness * gradient
            step *= min(1.0, LARGEST_STEP / float(np.abs(step).max()))
            for _ in range(MAX_HALVINGS):
                trial = self._closed(np.minimum(np.maximum(q + step, low), high), q)
                trial_near = None if trial is None else self._proximity(pair, trial)
                if trial is not None and trial_near is not None and trial_near.distance < near.distance - 1e-7:
                    break
                step *= 0.5
            else:
                return None
            q, near = trial, trial_near
        return None

    def _closed(self, trial: FloatArray, q: FloatArray) -> FloatArray | None:
        """Return a step `trial` (size,) with closed loops on the branch of `q`; None if that is impossible."""
        if self._loops is None:
            return trial
        found = self._loops.close(trial, q, other_branches=False)
        return found.q if found.closed and self._loops.within_limits(found.q) else None

    def _on_loops(self, gradient: FloatArray, q: FloatArray) -> FloatArray:
        """Return a gradient (size,) by the driven variables alone: the dependent ones follow them at the loops."""
        for linkage in () if self._loops is None else self._loops.linkages:
            if len(linkage.places) == len(linkage.dependent) and len(linkage.driven_places) == len(linkage.driven):
                gradient[linkage.driven_places] += gradient[linkage.places] @ linkage.slopes(q[None])[0]
            gradient[linkage.places] = 0.0
        return gradient

    def _collision(self, pair: LinkIndices, q: FloatArray) -> SearchedCollision | None:
        """Return the configuration if the pair collides there by the test that every sample uses."""
        counts = self._counter.count(q[None]).surfaces
        index = counts.pair_index(*pair)
        return SearchedCollision(q, float(counts.depth[index])) if counts.hits[index] else None

    def _proximity(self, pair: LinkIndices, q: FloatArray) -> _Proximity | None:
        """Return the distance of the links: of their hulls, or of their surfaces if the hulls overlap."""
        scene, data = self._scene, self._data
        data.qpos[:] = self._qpos + (q - self._neutral) @ self._qpos_by_q
        mujoco.mj_kinematics(scene.model, data)
        best: _Proximity | None = None
        between = np.zeros(6)
        for first, second in product(self._geoms[pair[0]], self._geoms[pair[1]]):
            distance = mujoco.mj_geomDistance(scene.model, data, first, second, MAX_DISTANCE, between)
            near: _Proximity | None
            if distance <= 0.0 and self._has_surface(first, second):
                near = self._surface_proximity(first, second)
            else:
                near = _Proximity(distance - 2.0 * scene.padding, between[:3].copy(), between[3:].copy())
            if near is not None and (best is None or near.distance < best.distance):
                best = near
        return best

    def _has_surface(self, *geoms: int) -> bool:
        return any(self._scene.pieces[geom].shape.surface is not None for geom in geoms)

    def _surface_proximity(self, first: int, second: int) -> _Proximity | None:
        scene = self._scene
        assert self._test is not None
        if scene.pieces[first].shape.surface is None:
            swapped = self._surface_proximity(second, first)
            return swapped and _Proximity(swapped.distance, swapped.on_b, swapped.on_a)
        poses = scene.link_poses(self._data)[None]
        (T_a_b,) = scene.relative_poses(poses, np.array([0]), np.array([first]), np.array([second]))
        nearest = self._test.nearest(first, second, T_a_b)
        if nearest is None:
            return None
        distance, on_a, on_b = nearest
        (T_root_a,) = poses[:, scene.geom_link[first]]
        T_link_a = scene.T_link_piece[first]
        R = T_root_a[:, :3] @ T_link_a[:3, :3]
        p = T_root_a[:, :3] @ T_link_a[:3, 3] + T_root_a[:, 3]
        return _Proximity(distance, R @ on_a + p, R @ on_b + p)

    def _gradient(self, near: _Proximity, joints: _Joints) -> FloatArray:
        """Return the gradient (size,) of the distance with respect to the sampled variables [m/rad or 1]."""
        apart = near.on_b - near.on_a
        length = float(np.linalg.norm(apart))
        if length == 0.0:
            return np.zeros(len(self._coupling))
        towards = apart / (length if near.distance > 0.0 else -length)
        data = self._data
        axes = data.xaxis[joints.numbers]
        arms = np.where(joints.sides[:, None] < 0.0, near.on_a, near.on_b) - data.xanchor[joints.numbers]
        # A slide moves the point of its side along the axis; a hinge moves it along axis x arm.
        turned = axes[:, _NEXT] * arms[:, _LAST] - axes[:, _LAST] * arms[:, _NEXT]
        moves = np.where(joints.hinges[:, None], turned, axes) @ towards
        gradient = np.zeros(len(self._coupling))
        gradient[joints.columns] = joints.sides * moves
        return np.asarray(self._sampled * (self._coupling @ gradient))

    def _joints_between(self, a: int, b: int) -> _Joints:
        """Return the hinges and slides that move only one of the two links."""
        model: mujoco.MjModel = self._scene.model
        ways: list[set[int]] = []
        for link in (a, b):
            body, way = link + 1, set()
            while body:
                way |= set(range(model.body_jntadr[body], model.body_jntadr[body] + model.body_jntnum[body]))
                body = int(model.body_parentid[body])
            ways.append({joint for joint in way if model.jnt_type[joint] != mujoco.mjtJoint.mjJNT_BALL})
        of_a, of_b = ways[0] - ways[1], ways[1] - ways[0]
        numbers = np.array([*sorted(of_a), *sorted(of_b)], dtype=np.int64)
        sides = np.repeat((-1.0, 1.0), (len(of_a), len(of_b)))
        hinges = model.jnt_type[numbers] == mujoco.mjtJoint.mjJNT_HINGE
        return _Joints(numbers, sides, hinges, self._scene.columns[model.jnt_qposadr[numbers]])
