# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Counts of collisions between links over many configurations. The result is the same on any number of threads."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from dataclasses import dataclass
from itertools import islice
from typing import TypeVar

import mujoco
import numpy as np
import numpy.typing as npt

from robot_semantics.base.errors import RobotSemanticsError
from robot_semantics.base.record import record
from robot_semantics.collision.sampling import BlockSampler
from robot_semantics.collision.scene import CollisionScene
from robot_semantics.transforms.arrays import BoolArray, FloatArray, IntArray

NO_SAMPLE = np.iinfo(np.int64).max
"""Sample number that means no sample."""
Progress = Callable[[int], None]
"""Called with the number of samples done since the last call."""


@dataclass(slots=True)
class Counts:
    """Collision counts of every pair of links (a, b) with a < b. Its index is ``a * links + b``.

    Attributes:
        links: number of links.
        samples: number of configurations.
        hits: (links²,) number of configurations in which the pair collided.
        first: (links²,) number of the first sample that collided, `NO_SAMPLE` if no sample did.
        deepest: (links²,) number of the sample with the deepest penetration, the first of equals.
        depth: (links²,) that penetration [m], -inf if no sample collided.
    """

    links: int
    samples: int
    hits: IntArray
    first: IntArray
    deepest: IntArray
    depth: FloatArray

    @classmethod
    def empty(cls, links: int) -> Counts:
        """Return the counts of no samples."""
        size = links * links
        missing = np.full(size, NO_SAMPLE)
        return cls(links, 0, np.zeros(size, dtype=np.int64), missing, missing.copy(), np.full(size, -np.inf))

    def add(self, other: Counts) -> None:
        """Add the counts of other samples. The result does not depend on the order."""
        self.samples += other.samples
        self.hits += other.hits
        np.minimum(self.first, other.first, out=self.first)
        deeper = (other.depth > self.depth) | ((other.depth == self.depth) & (other.deepest < self.deepest))
        self.deepest[deeper] = other.deepest[deeper]
        self.depth[deeper] = other.depth[deeper]

    @property
    def colliding(self) -> IntArray:
        """Indices of the pairs with at least one hit."""
        return np.flatnonzero(self.hits)

    def pair_index(self, a: int, b: int) -> int:
        """Return the index of the pair of links a and b."""
        return min(a, b) * self.links + max(a, b)

    def pairs(self) -> dict[tuple[int, int], int]:
        """Return the hits of every pair with at least one hit."""
        return {divmod(int(at), self.links): int(self.hits[at]) for at in self.colliding}


@dataclass(slots=True)
class Tally:
    """Two counts of the same samples: one of the surfaces, one of their convex hulls."""

    surfaces: Counts
    hulls: Counts

    def add(self, other: Tally) -> None:
        """Add the counts of other samples."""
        self.surfaces.add(other.surfaces)
        self.hulls.add(other.hulls)


class ContactsLostError(RobotSemanticsError):
    """MuJoCo ran out of memory and dropped contacts, so the counts would be too low."""


def count_blocks(
    scene: CollisionScene,
    sampler: BlockSampler,
    blocks: range,
    *,
    jobs: int = 1,
    progress: Progress | None = None,
    stop: threading.Event | None = None,
    last: int | None = None,
) -> Tally:
    """Count the collisions of the given blocks of samples, up to sample number `last`, on `jobs` threads.

    Raises:
        RobotSemanticsError: `stop` was set.

    """
    stop = stop or threading.Event()
    total = Tally(Counts.empty(scene.links), Counts.empty(scene.links))
    local = threading.local()

    def work(block: int) -> Tally:
        if stop.is_set():
            raise RobotSemanticsError("counting was stopped")
        if not hasattr(local, "counter"):
            local.counter = CollisionCounter(scene)
        q = sampler(block)
        first = block * len(q)
        counter: CollisionCounter = local.counter
        return counter.count(q if last is None else q[: max(last - first, 0)], first)

    for tally in run_parallel(work, blocks, jobs, stop):
        total.add(tally)
        if progress is not None:
            progress(tally.hulls.samples)
    return total


class CollisionCounter:
    """Counts collisions of a scene on one thread."""

    def __init__(self, scene: CollisionScene) -> None:
        self._scene = scene
        self._data = mujoco.MjData(scene.model)
        self._test = scene.surfaces.new_test() if scene.surfaces is not None else None

    def count(self, q: FloatArray, first: int = 0) -> Tally:
        """Count the collisions in configurations q (n, size); `first` is the sample number of the first row.

        Raises:
            ContactsLostError: the contacts did not fit into the scene's memory.
        """
        scene, surfaces = self._scene, self._scene.surfaces
        contacts = self._contacts(q)
        by_hulls = _counts(scene.links, len(q), contacts, first)
        if surfaces is None or self._test is None:
            return Tally(by_hulls, by_hulls)
        proven = surfaces.is_proven(contacts.a, contacts.b, contacts.depths)
        return Tally(_counts(scene.links, len(q), contacts.select(self._crossing(contacts, proven)), first), by_hulls)

    def _contacts(self, q: FloatArray) -> _Contacts:
        scene, data = self._scene, self._data
        model, qpos = scene.model, data.qpos
        kinematics, collision = mujoco.mj_kinematics, mujoco.mj_collision
        geoms: list[npt.NDArray[np.int32]] = []
        distances: list[FloatArray] = []
        poses: list[FloatArray] = []
        contact_counts: list[int] = []
        for position in scene.qpos(q):
            qpos[:] = position
            kinematics(model, data)
            try:
                collision(model, data)
            except mujoco.FatalError as error:
                raise ContactsLostError(f"MuJoCo's memory is full: {str(error).splitlines()[0]}") from error
            contact_counts.append(data.ncon)
            if data.ncon:
                contact = data.contact
                geoms.append(contact.geom.copy())
                distances.append(contact.dist.copy())
                if self._test is not None:
                    poses.append(scene.link_poses(data))
        if data.warning[mujoco.mjtWarning.mjWARN_CONTACTFULL].number:
            raise ContactsLostError("MuJoCo's memory is full and it dropped contacts, so the counts would be too low")
        pairs = np.concatenate(geoms) if geoms else np.zeros((0, 2), dtype=np.int32)
        depths = 2.0 * scene.padding - np.concatenate([np.zeros(0), *distances])
        numbers = np.array(contact_counts, dtype=np.int64)
        rows = np.repeat(np.arange(len(q)), numbers)
        pose = np.repeat(np.cumsum(numbers > 0) - 1, numbers)
        links = np.array(poses).reshape(-1, scene.links, 3, 4)
        a, b = pairs[:, 0], pairs[:, 1]
        every = _Contacts(rows, a, b, scene.pair_index_of_geoms[a, b], depths, pose, links)
        # Some versions of MuJoCo add the margins of two geoms, others use the larger one.
        return every if scene.padding == 0.0 else every.select(depths >= 0.0)

    def _crossing(self, contacts: _Contacts, proven: BoolArray) -> BoolArray:
        """Return (n,) whether each contact of hulls is a contact of surfaces; `proven` contacts need no test.

        A pair of links needs one such contact in a row. The deepest is tested first; the first hit ends the row.
        """
        assert self._test is not None
        scene, touch = self._scene, self._test.touches
        key = contacts.rows * scene.links**2 + contacts.pair_indices
        tested = np.flatnonzero(~proven & ~np.isin(key, key[proven]))
        tested = tested[np.lexsort((-contacts.depths[tested], key[tested]))]
        a, b = contacts.a[tested], contacts.b[tested]
        poses = scene.relative_poses(contacts.T_root_link, contacts.pose[tested], a, b)
        free = self._test.is_known_free(a, b, poses)
        touching: BoolArray = proven.copy()
        done = -1
        for number in np.flatnonzero(~free).tolist():
            contact = int(tested[number])
            if key[contact] != done and touch(int(a[number]), int(b[number]), poses[number]):
                touching[contact] = True
                done = key[contact]
        return touching


@record(frozen=True, slots=True)
class _Contacts:
    """Contacts of MuJoCo, one row each: configuration, two geoms, index of their pair of links, depth [m], poses.

    `pose` is the index of the configuration in `T_root_link` (m, links, 3, 4).
    """

    rows: IntArray
    a: npt.NDArray[np.int32]
    b: npt.NDArray[np.int32]
    pair_indices: IntArray
    depths: FloatArray
    pose: IntArray
    T_root_link: FloatArray

    def select(self, which: BoolArray) -> _Contacts:
        """Return the contacts where `which` (n,) is true."""
        rows, a, b, pair_indices = self.rows[which], self.a[which], self.b[which], self.pair_indices[which]
        return _Contacts(rows, a, b, pair_indices, self.depths[which], self.pose[which], self.T_root_link)


def _counts(links: int, samples: int, contacts: _Contacts, first: int) -> Counts:
    """Return the counts by pair of links. Several contacts of a pair in one row are one hit."""
    counts = Counts.empty(links)
    counts.samples = samples
    pair_indices = contacts.pair_indices
    if not len(pair_indices):
        return counts
    # Few pairs collide at all, so a table of all rows and these pairs is small, and no sorting of contacts is needed.
    met = np.zeros(len(counts.hits), dtype=bool)
    met[pair_indices] = True
    colliding = np.flatnonzero(met)
    column = np.empty(len(met), dtype=np.int64)
    column[colliding] = np.arange(len(colliding))
    depth = np.full((counts.samples, len(colliding)), -np.inf)
    np.maximum.at(depth.ravel(), contacts.rows * len(colliding) + column[pair_indices], contacts.depths)
    hit = depth > -np.inf
    counts.hits[colliding] = hit.sum(axis=0)
    counts.first[colliding] = first + hit.argmax(axis=0)
    deepest = depth.argmax(axis=0)
    counts.deepest[colliding] = first + deepest
    counts.depth[colliding] = depth[deepest, np.arange(len(colliding))]
    return counts


Item = TypeVar("Item")
Result = TypeVar("Result")


def run_parallel(
    work: Callable[[Item], Result], items: Iterable[Item], jobs: int, stop: threading.Event
) -> Iterator[Result]:
    """Yield the result of `work` for each item, on `jobs` threads, in order of completion. Set `stop` at the end."""
    if jobs == 1:
        yield from map(work, items)
        return
    pool = ThreadPoolExecutor(max_workers=jobs)
    waiting = iter(items)
    try:
        # Submit a few items at a time, so that an interruption has little to cancel.
        pending = {pool.submit(work, item) for item in islice(waiting, 2 * jobs)}
        while pending:
            done, pending = wait(pending, return_when=FIRST_COMPLETED)
            for future in done:
                yield future.result()
                pending |= {pool.submit(work, item) for item in islice(waiting, 1)}
    finally:
        stop.set()
        pool.shutdown(cancel_futures=True)
