"""Counting which links collide in which configurations, on several threads, the same on any number of them."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field

import mujoco
import numpy as np
import numpy.typing as npt

from robot_semantics.collision.sampling import BlockSampler
from robot_semantics.collision.scene import CollisionScene
from robot_semantics.errors import RobotSemanticsError

FloatArray = npt.NDArray[np.float64]
Progress = Callable[[int], None]
"""Called with the number of samples done since the last call."""


@dataclass(slots=True)
class Witness:
    """A configuration in which a pair collides: the sample's number, its positions q, and the penetration [m]."""

    sample: int
    q: FloatArray
    depth: float


@dataclass(slots=True)
class PairCount:
    """How often one pair collided, with the first and the deepest configuration."""

    hits: int
    first: Witness
    deepest: Witness


@dataclass(slots=True)
class Counts:
    """What a number of samples showed: (link index, link index), the lower first → count."""

    samples: int = 0
    pairs: dict[tuple[int, int], PairCount] = field(default_factory=dict)

    def add(self, other: Counts) -> None:
        """Take in the counts of other samples; the result does not depend on the order."""
        self.samples += other.samples
        for pair, count in other.pairs.items():
            mine = self.pairs.get(pair)
            if mine is None:
                self.pairs[pair] = count
                continue
            mine.hits += count.hits
            mine.first = min(mine.first, count.first, key=lambda witness: witness.sample)
            mine.deepest = min(mine.deepest, count.deepest, key=lambda witness: (-witness.depth, witness.sample))


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
    total = Counts()
    local = threading.local()

    def work(block: int) -> Counts:
        if stop.is_set():
            raise InterruptedCountError("counting was told to stop")
        if not hasattr(local, "data"):
            local.data = mujoco.MjData(scene.model)
        q = sampler(block)
        first = block * len(q)
        return count_configurations(scene, q if last is None else q[: max(last - first, 0)], first, local.data)

    with ThreadPoolExecutor(max_workers=jobs) as pool:
        pending: set[Future[Counts]] = {pool.submit(work, block) for block in blocks}
        try:
            while pending:
                done, pending = wait(pending, return_when=FIRST_COMPLETED)
                for future in done:
                    counts = future.result()
                    total.add(counts)
                    if progress is not None:
                        progress(counts.samples)
        except BaseException:
            stop.set()
            pool.shutdown(cancel_futures=True)
            raise
    return total


def count_configurations(scene: CollisionScene, q: FloatArray, first: int, data: mujoco.MjData) -> Counts:
    """Count the collisions in configurations q (n, size), the first of which is sample number `first`."""
    model, qpos = scene.model, data.qpos
    geoms: list[npt.NDArray[np.int32]] = []
    distances: list[FloatArray] = []
    owners: list[int] = []
    for row, position in enumerate(scene.qpos(q)):
        qpos[:] = position
        mujoco.mj_kinematics(model, data)
        mujoco.mj_collision(model, data)
        if data.ncon:
            contact = data.contact
            geoms.append(contact.geom.copy())
            distances.append(contact.dist.copy())
            owners.append(row)
    counts = Counts(len(q))
    if not owners:
        return counts
    links = np.sort(scene.geom_link[np.concatenate(geoms)], axis=1)
    rows = np.repeat(owners, [len(found) for found in distances])
    _merge(counts, links, rows, np.concatenate(distances), q, first)
    return counts


def _merge(
    counts: Counts,
    links: npt.NDArray[np.int64],
    rows: npt.NDArray[np.int64],
    distances: FloatArray,
    q: FloatArray,
    first: int,
) -> None:
    """Add contacts, each with its links, row of q and distance; several contacts of a pair in one row are one hit."""
    # Sorted by pair, then depth, then row: the head of each pair's run is its deepest contact.
    order = np.lexsort((rows, distances, links[:, 1], links[:, 0]))
    links, rows, distances = links[order], rows[order], distances[order]
    starts = np.flatnonzero(np.r_[True, (links[1:] != links[:-1]).any(axis=1)])
    for start, end in zip(starts, np.r_[starts[1:], len(links)], strict=True):
        hit_rows = np.unique(rows[start:end])
        lead = int(hit_rows[0])
        depth_of_lead = -float(distances[start:end][rows[start:end] == lead].min())
        deepest = int(rows[start])
        counts.pairs[int(links[start, 0]), int(links[start, 1])] = PairCount(
            len(hit_rows),
            Witness(first + lead, q[lead].copy(), depth_of_lead),
            Witness(first + deepest, q[deepest].copy(), -float(distances[start])),
        )
