# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The self-collision matrix: four rules for pairs that need no check, and the evidence on each pair.

The founding document (SRDF, "Default Self-Collision Matrix Generator"): pairs are disabled when they are always in
collision, never in collision, in collision in the default position, or adjacent on the kinematic chain.
"""

from __future__ import annotations

import enum
from collections.abc import Collection, Mapping, Set
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from types import MappingProxyType

import numpy as np

from robot_semantics.base.names import LinkPair
from robot_semantics.collision.adjacency import adjacent_pairs
from robot_semantics.collision.counting import CollisionCounter, Counts, Progress, Tally, count_blocks
from robot_semantics.collision.rigid_pairs import RigidContact, rigid_contacts
from robot_semantics.collision.sampling import BLOCK, BlockSampler, block_sampler
from robot_semantics.collision.scene import build_scene
from robot_semantics.collision.search import SearchedCollision, find_collisions
from robot_semantics.collision.shapes import Piece
from robot_semantics.collision.statistics import is_clear, is_rare, never_bound, samples_for
from robot_semantics.kinematics.forward import ForwardKinematics
from robot_semantics.kinematics.loops import close_loops
from robot_semantics.model.robot_model import RobotModel
from robot_semantics.transforms.arrays import FloatArray

FIRST_BLOCKS = 2
"""Number of blocks after which pairs with a clear result are sampled no further."""

NO_PAIRS = "fewer than two links with collision geometry, so it has no pairs that can collide"
"""Message about a matrix without pairs; every command and action uses it."""


@dataclass(frozen=True, slots=True, eq=False)
class Witness:
    """A configuration in which a pair collides: the sample's number, its positions q (size,), and the penetration [m].

    The penetration is measured between the convex hulls. The sample number is -1 for the default pose and for a
    configuration from the search.
    """

    sample: int
    q: FloatArray
    depth: float | None


class PairReason(enum.Enum):
    """Reason for not checking a pair. The values are the words of the MoveIt Setup Assistant."""

    ADJACENT = "Adjacent"
    ALWAYS = "Always"
    DEFAULT = "Default"
    NEVER = "Never"
    USER = "User"


@dataclass(frozen=True, slots=True)
class PairEvidence:
    """Evidence on one pair.

    Attributes:
        hits: number of samples that collided; None if the pair is adjacent and was not sampled.
        samples: number of samples: all, or `FIRST_BLOCKS` blocks if these decide about the pair.
        default_hit: whether the pair collides in the default pose; None if it is adjacent and was not sampled.
        default_depth: overlap [m] of the convex hulls in the default pose; None if nothing touches there.
        hull_hits: number of samples in which the convex hulls collided, also if their surfaces did not.
        adjacency: links of the path that joins an adjacent pair, else empty. If the path has more than two links, the
            inner links have no geometry.
        rigid: no joint moves one link against the other, so one test decides for all samples.
        first: the first configuration that collided, by sample number.
        deepest: the configuration with the deepest penetration.
    """

    pair: LinkPair
    hits: int | None
    samples: int
    default_hit: bool | None
    default_depth: float | None = None
    hull_hits: int | None = None
    adjacency: tuple[str, ...] = ()
    rigid: bool = False
    first: Witness | None = None
    deepest: Witness | None = None

    @property
    def found_by_search(self) -> bool:
        """Whether no sample collided, but the directed search found a collision."""
        return self.hits == 0 and self.first is not None

    @property
    def never_bound(self) -> float | None:
        """Largest possible collision probability at 95 % confidence; None if the pair was seen to collide."""
        if self.hits is None or self.hits > 0 or self.found_by_search:
            return None
        return 0.0 if self.rigid else never_bound(self.samples)


@dataclass(frozen=True, slots=True)
class CollisionMatrix:
    """The evidence on every pair of links with collision geometry, and the reasons derived from it.

    Attributes:
        pairs: evidence by pair, in byte order.
        by_triangles: the same evidence with the triangles of each mesh, also if `pairs` uses convex hulls.
        always_fraction: share of samples from which a pair collides "always".
    """

    pairs: MappingProxyType[LinkPair, PairEvidence]
    by_triangles: MappingProxyType[LinkPair, PairEvidence]
    samples: int
    seed: int
    sampler: str
    always_fraction: float

    def reason(self, pair: LinkPair) -> PairReason | None:
        """Return the reason for not checking the pair, None if it must be checked."""
        return self._reason(self.pairs[pair])

    def _reason(self, evidence: PairEvidence) -> PairReason | None:
        """Return the reason of the first rule that holds. Always comes before Default, which would hide it."""
        if evidence.hits is None:
            return PairReason.ADJACENT
        if evidence.hits and evidence.hits >= self.always_fraction * evidence.samples:
            return PairReason.ALWAYS
        # Links that are joined only through links without geometry are neighbours and likely to collide. One colliding
        # pose is not enough to leave them unchecked.
        if evidence.default_hit and not evidence.adjacency:
            return PairReason.DEFAULT
        never = not evidence.hits and evidence.samples and not evidence.default_hit and not evidence.found_by_search
        return PairReason.NEVER if never else None

    def contradicted(self) -> dict[LinkPair, PairReason | None]:
        """Return the pairs that get another reason from the triangles, with that reason."""
        by_triangles = {pair: self._reason(evidence) for pair, evidence in self.by_triangles.items()}
        return {pair: reason for pair, reason in by_triangles.items() if reason is not self.reason(pair)}

    def disabled(self) -> dict[LinkPair, PairReason]:
        """Return every pair that needs no check, with its reason."""
        return {pair: reason for pair in self.pairs if (reason := self.reason(pair)) is not None}

    def rare(self) -> tuple[LinkPair, ...]:
        """Return the pairs for which another seed could give another reason, rarest first."""
        rare = [e for e in self.pairs.values() if e.hits and is_rare(e.hits, e.samples, self.always_fraction)]
        return tuple(e.pair for e in sorted(rare, key=lambda e: (e.hits, e.pair)))


@dataclass(frozen=True, slots=True)
class Settings:
    """Settings of a matrix.

    Attributes:
        confidence: upper bound for the collision probability of every Never pair.
        geometry: shape that decides about a mesh: its triangles (``mesh``) or its convex hull (``hull``).
        adjacent: rule for adjacent links. ``joint``: a joint connects them. ``moveit``: also if only links without
            geometry are between them.
        search: whether to search for collisions of the pairs that collide in no sample.
    """

    samples: int = 10_000
    seed: int = 0
    sampler: str = "uniform"
    jobs: int = 1
    always_fraction: float = 0.95
    padding: float = 0.0
    confidence: float | None = None
    geometry: str = "mesh"
    adjacent: str = "joint"
    search: bool = True

    @property
    def total(self) -> int:
        """Number of samples: `samples`, or more if `confidence` needs more."""
        needed = samples_for(self.confidence) if self.confidence else 0
        return max(self.samples, needed)


def generate_matrix(
    robot: RobotModel,
    pieces: tuple[Piece, ...],
    settings: Settings = Settings(),
    *,
    default_q: FloatArray | None = None,
    progress: Progress | None = None,
    only: Collection[LinkPair] | None = None,
) -> CollisionMatrix:
    """Sample the robot's configurations and return the matrix.

    `default_q` (size,) is the default pose; None means `JointSpace.neutral()`. `only` restricts the matrix to some
    pairs; their evidence is the same as in the whole matrix. The result depends on the robot and the seed, not on the
    number of jobs.
    """
    with_geometry = sorted({robot.link_names[piece.link] for piece in pieces})
    adjacent = adjacent_pairs(robot, with_geometry)
    pairs = [LinkPair.of(*names) for names in combinations(with_geometry, 2)]
    wanted = set(pairs) if only is None else set(pairs) & set(only)
    joined = _joined_pairs(adjacent, wanted, settings)
    excluded = [_indices(robot, pair) for pair in pairs if pair in joined or pair not in wanted]
    scene = build_scene(robot, pieces, excluded, settings.padding)
    kinematics = ForwardKinematics(robot)
    neutral = close_loops(kinematics.loops, kinematics.space.neutral() if default_q is None else default_q)
    default = CollisionCounter(scene).count(neutral[None])
    blocks = range(-(-settings.total // BLOCK))
    sampler = block_sampler(scene.space, settings.seed, settings.sampler)
    count = partial(count_blocks, jobs=settings.jobs, progress=progress, last=settings.total)
    tally = count(scene, sampler, blocks[:FIRST_BLOCKS])
    clear = dict.fromkeys(_clear_pairs(tally, settings), tally.hulls.samples)
    if len(blocks) > FIRST_BLOCKS:
        remaining = build_scene(robot, pieces, [*excluded, *clear], settings.padding) if clear else scene
        tally.add(count(remaining, sampler, blocks[FIRST_BLOCKS:]))
    rigid = rigid_contacts(robot, scene, neutral)
    sampled = [pair for pair in pairs if pair in wanted and pair not in joined]
    searched: dict[tuple[int, int], SearchedCollision] = {}
    if settings.search:
        moving = [links for pair in sampled if (links := _indices(robot, pair)) not in rigid]
        free = [links for links in moving if _never_touched(links, tally, default)]
        searched = find_collisions(scene, sampler, tally.hulls.samples, free, settings.jobs, progress)
    observations = _Observations(
        robot, tally, clear, default, _configurations(tally, sampler), neutral, rigid, searched
    )

    def evidence(decides: str) -> MappingProxyType[LinkPair, PairEvidence]:
        known = {pair: PairEvidence(pair, None, 0, None, adjacency=adjacent[pair]) for pair in joined}
        known.update({pair: observations.evidence(pair, decides, adjacent.get(pair, ())) for pair in sampled})
        return MappingProxyType(dict(sorted(known.items())))

    return CollisionMatrix(
        evidence(settings.geometry),
        evidence("mesh"),
        tally.hulls.samples,
        settings.seed,
        settings.sampler,
        settings.always_fraction,
    )


def _joined_pairs(
    adjacent: Mapping[LinkPair, tuple[str, ...]], wanted: Set[LinkPair], settings: Settings
) -> set[LinkPair]:
    """Return the wanted pairs that are adjacent by the rule of the settings."""
    by_rule = {pair for pair, path in adjacent.items() if settings.adjacent == "moveit" or len(path) == 2}
    return by_rule & wanted


def _indices(robot: RobotModel, pair: LinkPair) -> tuple[int, int]:
    first, second = robot.link_index[pair.first], robot.link_index[pair.second]
    return min(first, second), max(first, second)


def _clear_pairs(tally: Tally, settings: Settings) -> list[tuple[int, int]]:
    """Return the pairs of links with a clear result."""
    counts = [tally.surfaces] if settings.geometry == "mesh" else [tally.surfaces, tally.hulls]
    return [
        divmod(at, tally.surfaces.links)
        for at in tally.surfaces.colliding.tolist()
        if all(is_clear(int(count.hits[at]), count.samples, settings.always_fraction) for count in counts)
    ]


def _never_touched(links: tuple[int, int], tally: Tally, default: Tally) -> bool:
    """Return whether two links touched in no sample and not in the default pose."""
    index = tally.surfaces.pair_index(*links)
    return not tally.surfaces.hits[index] and not default.surfaces.hits[index]


@dataclass(frozen=True, slots=True)
class _Observations:
    """Observations of a robot: samples, default pose, witnesses by number, rigid pairs, collisions from the search.

    `clear` has the number of samples that were enough for a pair.
    """

    robot: RobotModel
    tally: Tally
    clear: dict[tuple[int, int], int]
    default: Tally
    configurations: dict[int, FloatArray]
    neutral: FloatArray
    rigid: dict[tuple[int, int], RigidContact]
    found: dict[tuple[int, int], SearchedCollision]

    def evidence(self, pair: LinkPair, decides: str, adjacency: tuple[str, ...]) -> PairEvidence:
        """Return the evidence on a pair, by its surfaces (``mesh``) or their convex hulls (``hull``)."""
        a, b = _indices(self.robot, pair)
        samples = self.clear.get((a, b), self.tally.hulls.samples)
        if (a, b) in self.rigid:
            contact = self.rigid[a, b]
            hull_hits = samples if contact.hulls_touch else 0
            if not (contact.hulls_touch if decides == "hull" else contact.touch):
                return PairEvidence(pair, 0, samples, False, None, hull_hits, adjacency, rigid=True)
            depth = -contact.distance
            witness = Witness(-1, self.neutral, depth)
            return PairEvidence(pair, samples, samples, True, depth, hull_hits, adjacency, True, witness, witness)
        by_hull = decides == "hull"
        counts = self.tally.hulls if by_hull else self.tally.surfaces
        default = self.default.hulls if by_hull else self.default.surfaces
        at = counts.pair_index(a, b)
        by_default = bool(default.hits[at])
        return PairEvidence(
            pair,
            int(counts.hits[at]),
            samples,
            by_default,
            float(default.depth[at]) if by_default else None,
            int(self.tally.hulls.hits[at]),
            adjacency,
            False,
            *self._witnesses(counts, at),
        )

    def _witnesses(self, counts: Counts, index: int) -> tuple[Witness | None, Witness | None]:
        if not counts.hits[index]:
            touch = self.found.get(divmod(index, counts.links))
            witness = None if touch is None else Witness(-1, touch.q, touch.depth)
            return witness, witness
        first, deepest = int(counts.first[index]), int(counts.deepest[index])
        return (
            Witness(first, self.configurations[first], None),
            Witness(deepest, self.configurations[deepest], float(counts.depth[index])),
        )


def _configurations(tally: Tally, sampler: BlockSampler) -> dict[int, FloatArray]:
    """Return the configurations of all witnesses by sample number. Each block is drawn again once, in order."""
    both = (tally.surfaces, tally.hulls)
    numbers = [part[counts.colliding] for counts in both for part in (counts.first, counts.deepest)]
    configurations: dict[int, FloatArray] = {}
    drawn, block = -1, np.zeros((0, 0))
    for number in np.unique(np.concatenate(numbers)).tolist():
        if number // BLOCK != drawn:
            drawn = number // BLOCK
            block = sampler(drawn)
        configurations[number] = block[number % BLOCK].copy()
        configurations[number].setflags(write=False)
    return configurations
