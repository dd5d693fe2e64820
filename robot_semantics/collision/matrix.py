"""The self-collision matrix: which pairs of links need no checking, by four named rules, each pair with its evidence.

The founding document (SRDF, "Default Self-Collision Matrix Generator"): pairs are disabled when they are always in
collision, never in collision, in collision in the default position, or adjacent on the kinematic chain.
"""

from __future__ import annotations

import enum
from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from types import MappingProxyType

import mujoco
import numpy as np

from robot_semantics.base.names import LinkPair
from robot_semantics.collision.adjacency import adjacent_pairs
from robot_semantics.collision.counting import Counts, Progress, count_blocks, count_configurations
from robot_semantics.collision.sampling import BLOCK, BlockSampler, block_sampler
from robot_semantics.collision.scene import CollisionScene, Piece, build_scene
from robot_semantics.collision.statistics import is_rare, never_bound, samples_for
from robot_semantics.kinematics.joint_space import JointSpace
from robot_semantics.model.rigid_bodies import rigid_bodies
from robot_semantics.model.robot_model import RobotModel
from robot_semantics.transforms.arrays import FloatArray

NO_PAIRS = "fewer than two links with collision geometry: there are no pairs that could collide"
"""What a matrix without pairs means, in the words in which every front door says it."""


@dataclass(frozen=True, slots=True, eq=False)
class Witness:
    """A configuration in which a pair collides: the sample's number, its positions q (size,), and the penetration [m].

    The default pose, which is no sample, has the number -1.
    """

    sample: int
    q: FloatArray
    depth: float | None


class Reason(enum.Enum):
    """Why a pair is not checked; the values are the words the Setup Assistant writes."""

    ADJACENT = "Adjacent"
    ALWAYS = "Always"
    DEFAULT = "Default"
    NEVER = "Never"
    USER = "User"


@dataclass(frozen=True, slots=True)
class PairEvidence:
    """All that is known of one pair.

    Attributes:
        hits: samples in which it collided; None for adjacent pairs, which are not sampled.
        samples: samples looked at.
        default_hit: whether it collides in the default pose; None for adjacent pairs.
        adjacency: links of the path that joins an adjacent pair, else empty.
        rigid: no joint moves one link against the other, so one look decides for all samples.
        first: the first configuration that collided, in order of sample numbers.
        deepest: the configuration with the deepest penetration.
    """

    pair: LinkPair
    hits: int | None
    samples: int
    default_hit: bool | None
    adjacency: tuple[str, ...] = ()
    rigid: bool = False
    first: Witness | None = None
    deepest: Witness | None = None

    @property
    def never_bound(self) -> float | None:
        """Largest collision probability still possible at 95 % confidence; None for a pair that was seen to collide."""
        if self.hits is None or self.hits > 0:
            return None
        return 0.0 if self.rigid else never_bound(self.samples)


def _is_adjacent(evidence: PairEvidence, _: float) -> bool:
    return bool(evidence.adjacency)


def _is_always(evidence: PairEvidence, always_fraction: float) -> bool:
    return bool(evidence.hits) and (evidence.hits or 0) >= always_fraction * evidence.samples


def _is_default(evidence: PairEvidence, _: float) -> bool:
    return evidence.default_hit is True


def _is_never(evidence: PairEvidence, _: float) -> bool:
    return evidence.hits == 0 and evidence.samples > 0


# The first rule that holds gives the reason; Always before Default, which would hide it.
RULES: tuple[tuple[Reason, Callable[[PairEvidence, float], bool]], ...] = (
    (Reason.ADJACENT, _is_adjacent),
    (Reason.ALWAYS, _is_always),
    (Reason.DEFAULT, _is_default),
    (Reason.NEVER, _is_never),
)


@dataclass(frozen=True, slots=True)
class CollisionMatrix:
    """The evidence on every pair of links with collision geometry, and what follows from it.

    Attributes:
        pairs: by pair, in byte order.
        always_fraction: share of samples from which on a pair collides "always".
    """

    pairs: MappingProxyType[LinkPair, PairEvidence]
    samples: int
    seed: int
    sampler: str
    always_fraction: float

    def reason(self, pair: LinkPair) -> Reason | None:
        """Return why the pair needs no checking, None if it is to be checked."""
        evidence = self.pairs[pair]
        return next((reason for reason, holds in RULES if holds(evidence, self.always_fraction)), None)

    def disabled(self) -> dict[LinkPair, Reason]:
        """Return every pair that needs no checking, with its reason."""
        return {pair: reason for pair in self.pairs if (reason := self.reason(pair)) is not None}

    def rare(self) -> tuple[LinkPair, ...]:
        """Return the pairs about which another seed might decide otherwise, rarest first."""
        found = [e for e in self.pairs.values() if e.hits and is_rare(e.hits, e.samples, self.always_fraction)]
        return tuple(e.pair for e in sorted(found, key=lambda e: (e.hits, e.pair)))


@dataclass(frozen=True, slots=True)
class Settings:
    """How a matrix is made; `confidence` is the bound that every Never pair's collision probability must come below."""

    samples: int = 10_000
    seed: int = 0
    sampler: str = "uniform"
    jobs: int = 1
    always_fraction: float = 0.95
    padding: float = 0.0
    confidence: float | None = None

    @property
    def total(self) -> int:
        """Number of samples, as many as asked for, or more where `confidence` takes more."""
        needed = samples_for(self.confidence) if self.confidence else 0
        return max(self.samples, needed)


def generate_matrix(
    robot: RobotModel,
    pieces: tuple[Piece, ...],
    settings: Settings = Settings(),
    *,
    default_q: FloatArray | None = None,
    progress: Progress | None = None,
) -> CollisionMatrix:
    """Sample the robot's configurations and return the matrix.

    `default_q` (size,) is the default pose, `JointSpace.neutral()` where None. The result depends on the robot and
    on the seed, not on the number of jobs.
    """
    with_geometry = sorted({robot.link_names[piece.link] for piece in pieces})
    adjacent = adjacent_pairs(robot, with_geometry)
    excluded = [(robot.link_index[pair.first], robot.link_index[pair.second]) for pair in adjacent]
    scene = build_scene(robot, pieces, excluded, settings.padding)
    data = mujoco.MjData(scene.model)
    neutral = JointSpace.of(robot).neutral() if default_q is None else default_q
    default = count_configurations(scene, neutral[None], 0, data).pairs()
    blocks = range(-(-settings.total // BLOCK))
    sampler = block_sampler(scene.space, settings.seed, settings.sampler)
    counts = count_blocks(scene, sampler, blocks, jobs=settings.jobs, progress=progress, last=settings.total)
    rigid = _rigid_contacts(robot, scene, neutral, settings.padding)
    configurations = _configurations(counts, sampler)
    evidence: dict[LinkPair, PairEvidence] = {}
    for names in combinations(with_geometry, 2):
        pair = LinkPair.of(*names)
        if pair in adjacent:
            evidence[pair] = PairEvidence(pair, None, 0, None, adjacent[pair])
            continue
        a, b = sorted((robot.link_index[pair.first], robot.link_index[pair.second]))
        if (a, b) in rigid:
            evidence[pair] = _rigid_evidence(pair, rigid[a, b], counts.samples, neutral)
        else:
            evidence[pair] = _evidence(pair, counts, counts.place(a, b), (a, b) in default, configurations)
    return CollisionMatrix(
        MappingProxyType(dict(sorted(evidence.items()))),
        counts.samples,
        settings.seed,
        settings.sampler,
        settings.always_fraction,
    )


def _evidence(
    pair: LinkPair, counts: Counts, at: int, default_hit: bool, configurations: dict[int, FloatArray]
) -> PairEvidence:
    hits = int(counts.hits[at])
    if not hits:
        return PairEvidence(pair, 0, counts.samples, default_hit)
    first, deepest = int(counts.first[at]), int(counts.deepest[at])
    return PairEvidence(
        pair,
        hits,
        counts.samples,
        default_hit,
        first=Witness(first, configurations[first], None),
        deepest=Witness(deepest, configurations[deepest], float(counts.depth[at])),
    )


def _configurations(counts: Counts, sampler: BlockSampler) -> dict[int, FloatArray]:
    """Return the configurations of all witnesses by number, each block drawn again once and in order."""
    met = counts.hits > 0
    found: dict[int, FloatArray] = {}
    drawn, block = -1, np.zeros((0, 0))
    for number in np.unique(np.concatenate([counts.first[met], counts.deepest[met]])).tolist():
        if number // BLOCK != drawn:
            drawn = number // BLOCK
            block = sampler(drawn)
        found[number] = block[number % BLOCK].copy()
        found[number].setflags(write=False)
    return found


def _rigid_evidence(pair: LinkPair, distance: float, samples: int, q: FloatArray) -> PairEvidence:
    if distance > 0.0:
        return PairEvidence(pair, 0, samples, False, rigid=True)
    witness = Witness(-1, q, -distance)
    return PairEvidence(pair, samples, samples, True, rigid=True, first=witness, deepest=witness)


def _rigid_contacts(
    robot: RobotModel, scene: CollisionScene, q: FloatArray, padding: float
) -> dict[tuple[int, int], float]:
    """Return the distance [m] of all pairs of links that no joint moves against each other: MuJoCo never tests them."""
    body = rigid_bodies(robot)
    data = mujoco.MjData(scene.model)
    data.qpos[:] = scene.qpos(q)
    mujoco.mj_kinematics(scene.model, data)
    nearest: dict[tuple[int, int], float] = {}
    for first, second in combinations(range(scene.model.ngeom), 2):
        a, b = sorted((int(scene.geom_link[first]), int(scene.geom_link[second])))
        if a == b or body[a] != body[b]:
            continue
        distance = mujoco.mj_geomDistance(scene.model, data, first, second, 1.0, np.zeros(6)) - 2.0 * padding
        nearest[a, b] = min(distance, nearest.get((a, b), np.inf))
    return nearest
