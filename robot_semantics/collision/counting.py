# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Counting which links collide in which configurations, on several threads, the same on any number of them."""

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
from robot_semantics.collision.sampling import BlockSampler
from robot_semantics.collision.scene import CollisionScene
from robot_semantics.transforms.arrays import BoolArray, FloatArray, IntArray

NONE = np.iinfo(np.int64).max
"""The sample number that stands for no sample."""
Progress = Callable[[int], None]
"""Called with the number of samples done since the last call."""


@dataclass(slots=True)
class Counts:
    """What a number of samples showed, for every pair of links (a, b) with a < b at place ``a * links + b``.

    Attributes:
        links: number of links.
        samples: configurations looked at.
        hits: (links²,) in how many of them the pair collided.
        first: (links²,) number of the first one that did, `NONE` where there is none.
        deepest: (links²,) number of the one with the deepest penetration, the first of equals.
        depth: (links²,) that penetration [m], -inf where there is none.
    """

    links: int
    samples: int
    hits: IntArray
    first: IntArray
    deepest: IntArray
    depth: FloatArray

    @classmethod
    def none(cls, links: int) -> Counts:
        """Return the counts of no samples."""
        size = links * links
        missing = np.full(size, NONE)
        return cls(links, 0, np.zeros(size, dtype=np.int64), missing, missing.copy(), np.full(size, -np.inf))

    def add(self, other: Counts) -> None:
        """Take in the counts of other samples; the result does not depend on the order."""
        self.samples += other.samples
        self.hits += other.hits
        np.minimum(self.first, other.first, out=self.first)
        deeper = (other.depth > self.depth) | ((other.depth == self.depth) & (other.deepest < self.deepest))
        self.deepest[deeper] = other.deepest[deeper]
        self.depth[deeper] = other.depth[deeper]

    @property
    def met(self) -> IntArray:
        """The places of the pairs that collided at all."""
        return np.flatnonzero(self.hits)

    def place(self, a: int, b: int) -> int:
        """Return the place of the pair of links a and b."""
        return min(a, b) * self.links + max(a, b)

    def pairs(self) -> dict[tuple[int, int], int]:
        """Return the hits of every pair that collided at all."""
        return {divmod(int(at), self.links): int(self.hits[at]) for at in self.met}


@dataclass(slots=True)
class Tally:
    """The counts of the same samples twice: of the surfaces themselves, and of their convex hulls."""

    surfaces: Counts
    hulls: Counts

    def add(self, other: Tally) -> None:
        """Take in the counts of other samples."""
        self.surfaces.add(other.surfaces)
        self.hulls.add(other.hulls)


class ContactsLostError(RobotSemanticsError):
    """The simulator dropped contacts for want of memory; counts made from the rest would call safe what is not."""


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
    total = Tally(Counts.none(scene.links), Counts.none(scene.links))
    local = threading.local()

    def work(block: int) -> Tally:
        if stop.is_set():
            raise RobotSemanticsError("counting was told to stop")
        if not hasattr(local, "counter"):
            local.counter = Counter(scene)
        q = sampler(block)
        first = block * len(q)
        counter: Counter = local.counter
        return counter.count(q if last is None else q[: max(last - first, 0)], first)

    for tally in results_of(work, blocks, jobs, stop):
        total.add(tally)
        if progress is not None:
            progress(tally.hulls.samples)
    return total


class Counter:
    """Looks at configurations of a scene, one thread's worth of them."""

    def __init__(self, scene: CollisionScene) -> None:
        self._scene = scene
        self._data = mujoco.MjData(scene.model)
        self._test = scene.surfaces.test() if scene.surfaces is not None else None

    def count(self, q: FloatArray, first: int = 0) -> Tally:
        """Count the collisions in configurations q (n, size), the first of which is sample number `first`.

        Raises:
            ContactsLostError: there were more contacts than the scene has memory for.
        """
        scene, surfaces = self._scene, self._scene.surfaces
        contacts = self._contacts(q)
        by_hulls = _counts(scene.links, len(q), contacts, first)
        if surfaces is None or self._test is None:
            return Tally(by_hulls, by_hulls)
        settled = surfaces.decided(contacts.a, contacts.b, contacts.depths)
        return Tally(_counts(scene.links, len(q), contacts.only(self._crossing(contacts, settled)), first), by_hulls)

    def _contacts(self, q: FloatArray) -> _Contacts:
        scene, data = self._scene, self._data
        model, qpos = scene.model, data.qpos
        kinematics, collision = mujoco.mj_kinematics, mujoco.mj_collision
        geoms: list[npt.NDArray[np.int32]] = []
        distances: list[FloatArray] = []
        poses: list[FloatArray] = []
        found: list[int] = []
        for position in scene.qpos(q):
            qpos[:] = position
            kinematics(model, data)
            try:
                collision(model, data)
            except mujoco.FatalError as error:
                raise ContactsLostError(f"MuJoCo's memory is full: {str(error).splitlines()[0]}") from error
            found.append(data.ncon)
            if data.ncon:
                contact = data.contact
                geoms.append(contact.geom.copy())
                distances.append(contact.dist.copy())
                if self._test is not None:
                    poses.append(scene.link_poses(data))
        if data.warning[mujoco.mjtWarning.mjWARN_CONTACTFULL].number:
            raise ContactsLostError("MuJoCo's memory is full and contacts were lost: the counts would be too low")
        pairs = np.concatenate(geoms) if geoms else np.zeros((0, 2), dtype=np.int32)
        depths = 2.0 * scene.padding - np.concatenate([np.zeros(0), *distances])
        numbers = np.array(found, dtype=np.int64)
        rows = np.repeat(np.arange(len(q)), numbers)
        pose = np.repeat(np.cumsum(numbers > 0) - 1, numbers)
        links = np.array(poses).reshape(-1, scene.links, 3, 4)
        a, b = pairs[:, 0], pairs[:, 1]
        every = _Contacts(rows, a, b, scene.place_of_geoms[a, b], depths, pose, links)
        # Some versions of MuJoCo add the margins of two geoms, others take the larger: padded contacts may be too many.
        return every if scene.padding == 0.0 else every.only(depths >= 0.0)

    def _crossing(self, contacts: _Contacts, settled: BoolArray) -> BoolArray:
        """Return which contacts of hulls (n,) show that the surfaces meet: those settled, and what has to be asked.

        A pair of links needs one such contact in a row; its deepest is asked first, and none after the first yes.
        """
        assert self._test is not None
        scene, touch = self._scene, self._test.touch
        key = contacts.rows * scene.links**2 + contacts.places
        asked = np.flatnonzero(~settled & ~np.isin(key, key[settled]))
        asked = asked[np.lexsort((-contacts.depths[asked], key[asked]))]
        a, b = contacts.a[asked], contacts.b[asked]
        poses = scene.relative_poses(contacts.T_root_link, contacts.pose[asked], a, b)
        free = self._test.known_free(a, b, poses)
        yes: BoolArray = settled.copy()
        done = -1
        for number in np.flatnonzero(~free).tolist():
            at = int(asked[number])
            if key[at] != done and touch(int(a[number]), int(b[number]), poses[number]):
                yes[at] = True
                done = key[at]
        return yes


@dataclass(frozen=True, slots=True)
class _Contacts:
    """What MuJoCo found, a row each: the configuration, two geoms, their pair of links, how deep [m], and the poses.

    `pose` says which of `T_root_link` (m, links, 3, 4) belongs to the configuration.
    """

    rows: IntArray
    a: npt.NDArray[np.int32]
    b: npt.NDArray[np.int32]
    places: IntArray
    depths: FloatArray
    pose: IntArray
    T_root_link: FloatArray

    def only(self, which: BoolArray) -> _Contacts:
        """Return those contacts for which `which` (n,) holds."""
        rows, a, b, places = self.rows[which], self.a[which], self.b[which], self.places[which]
        return _Contacts(rows, a, b, places, self.depths[which], self.pose[which], self.T_root_link)


def _counts(links: int, samples: int, contacts: _Contacts, first: int) -> Counts:
    """Return contacts counted by pair of links; several contacts of a pair in one row are one hit."""
    counts = Counts.none(links)
    counts.samples = samples
    places = contacts.places
    if not len(places):
        return counts
    # Few pairs ever meet, so a table of all rows and those pairs is small; no sorting of contacts is needed.
    met = np.zeros(len(counts.hits), dtype=bool)
    met[places] = True
    where = np.flatnonzero(met)
    column = np.empty(len(met), dtype=np.int64)
    column[where] = np.arange(len(where))
    depth = np.full((counts.samples, len(where)), -np.inf)
    np.maximum.at(depth.ravel(), contacts.rows * len(where) + column[places], contacts.depths)
    hit = depth > -np.inf
    counts.hits[where] = hit.sum(axis=0)
    counts.first[where] = first + hit.argmax(axis=0)
    deepest = depth.argmax(axis=0)
    counts.deepest[where] = first + deepest
    counts.depth[where] = depth[deepest, np.arange(len(where))]
    return counts


Item = TypeVar("Item")
Result = TypeVar("Result")


def results_of(
    work: Callable[[Item], Result], items: Iterable[Item], jobs: int, stop: threading.Event
) -> Iterator[Result]:
    """Yield what `work` makes of each item, on `jobs` threads in the order in which they are done; then set `stop`."""
    if jobs == 1:
        yield from map(work, items)
        return
    pool = ThreadPoolExecutor(max_workers=jobs)
    waiting = iter(items)
    try:
        # A few at a time: an interruption has nothing to clear away, however much was asked for.
        pending = {pool.submit(work, item) for item in islice(waiting, 2 * jobs)}
        while pending:
            done, pending = wait(pending, return_when=FIRST_COMPLETED)
            for future in done:
                yield future.result()
                pending |= {pool.submit(work, item) for item in islice(waiting, 1)}
    finally:
        stop.set()
        pool.shutdown(cancel_futures=True)
