"""Counting which links collide in which configurations, on several threads, the same on any number of them."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from dataclasses import dataclass
from itertools import islice

import mujoco
import numpy as np
import numpy.typing as npt

from robot_semantics.base.errors import RobotSemanticsError
from robot_semantics.collision.sampling import BlockSampler
from robot_semantics.collision.scene import CollisionScene

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
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

    def place(self, a: int, b: int) -> int:
        """Return the place of the pair of links a and b."""
        return min(a, b) * self.links + max(a, b)

    def pairs(self) -> dict[tuple[int, int], int]:
        """Return the hits of every pair that collided at all."""
        return {divmod(int(at), self.links): int(self.hits[at]) for at in np.flatnonzero(self.hits)}


class ContactsLostError(RobotSemanticsError):
    """The simulator dropped contacts for want of memory; counts made from the rest would call safe what is not."""


class InterruptedCountError(RobotSemanticsError):
    """Counting was told to stop; nothing has been written."""


def count_blocks(
    scene: CollisionScene,
    sampler: BlockSampler,
    blocks: range,
    *,
    jobs: int = 1,
    progress: Progress | None = None,
    stop: threading.Event | None = None,
    last: int | None = None,
) -> Counts:
    """Count the collisions of the given blocks of samples, up to sample number `last`, on `jobs` threads.

    Raises:
        InterruptedCountError: `stop` was set.

    """
    stop = stop or threading.Event()
    total = Counts.none(scene.links)
    local = threading.local()

    def work(block: int) -> Counts:
        if stop.is_set():
            raise InterruptedCountError("counting was told to stop")
        if not hasattr(local, "data"):
            local.data = mujoco.MjData(scene.model)
        q = sampler(block)
        first = block * len(q)
        return count_configurations(scene, q if last is None else q[: max(last - first, 0)], first, local.data)

    if jobs == 1:
        for block in blocks:
            counts = work(block)
            total.add(counts)
            if progress is not None:
                progress(counts.samples)
        return total
    pool = ThreadPoolExecutor(max_workers=jobs)
    waiting = iter(blocks)
    try:
        # A few blocks at a time: an interruption has nothing to clear away, however many samples were asked for.
        pending = {pool.submit(work, block) for block in islice(waiting, 2 * jobs)}
        while pending:
            done, pending = wait(pending, return_when=FIRST_COMPLETED)
            for future in done:
                counts = future.result()
                total.add(counts)
                pending |= {pool.submit(work, block) for block in islice(waiting, 1)}
                if progress is not None:
                    progress(counts.samples)
    finally:
        stop.set()
        pool.shutdown(cancel_futures=True)
    return total


def count_configurations(scene: CollisionScene, q: FloatArray, first: int, data: mujoco.MjData) -> Counts:
    """Count the collisions in configurations q (n, size), the first of which is sample number `first`.

    Raises:
        ContactsLostError: there were more contacts than the scene has memory for.
    """
    model, qpos = scene.model, data.qpos
    kinematics, collision = mujoco.mj_kinematics, mujoco.mj_collision
    geoms: list[npt.NDArray[np.int32]] = []
    distances: list[FloatArray] = []
    contacts: list[int] = []
    for position in scene.qpos(q):
        qpos[:] = position
        kinematics(model, data)
        try:
            collision(model, data)
        except mujoco.FatalError as error:
            raise ContactsLostError(f"MuJoCo's memory is full: {str(error).splitlines()[0]}") from error
        found = data.ncon
        contacts.append(found)
        if found:
            contact = data.contact
            geoms.append(contact.geom.copy())
            distances.append(contact.dist.copy())
    if data.warning[mujoco.mjtWarning.mjWARN_CONTACTFULL].number:
        raise ContactsLostError("MuJoCo's memory is full and contacts were lost: the counts would be too low")
    counts = Counts.none(scene.links)
    counts.samples = len(q)
    if geoms:
        pairs, rows = np.concatenate(geoms), np.repeat(np.arange(len(q)), contacts)
        places = scene.place_of_geoms[pairs[:, 0], pairs[:, 1]]
        depths = 2.0 * scene.padding - np.concatenate(distances)
        # Some versions of MuJoCo add the margins of two geoms, others take the larger: padded contacts may be too many.
        real = slice(None) if scene.padding == 0.0 else depths >= 0.0
        _take(counts, places[real], rows[real], depths[real], first)
    return counts


def _take(counts: Counts, places: IntArray, rows: IntArray, depths: FloatArray, first: int) -> None:
    """Enter contacts, each with its pair's place, row and depth; several contacts of a pair in one row are one hit."""
    # Few pairs ever meet, so a table of all rows and those pairs is small; no sorting of contacts is needed.
    met = np.zeros(len(counts.hits), dtype=bool)
    met[places] = True
    where = np.flatnonzero(met)
    column = np.empty(len(met), dtype=np.int64)
    column[where] = np.arange(len(where))
    depth = np.full((counts.samples, len(where)), -np.inf)
    np.maximum.at(depth.ravel(), rows * len(where) + column[places], depths)
    hit = depth > -np.inf
    counts.hits[where] = hit.sum(axis=0)
    counts.first[where] = first + hit.argmax(axis=0)
    deepest = depth.argmax(axis=0)
    counts.deepest[where] = first + deepest
    counts.depth[where] = depth[deepest, np.arange(len(where))]
