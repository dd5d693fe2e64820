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
import threading
from collections.abc import Collection, Mapping, Sequence, Set
from dataclasses import replace
from functools import partial
from itertools import combinations, product
from types import MappingProxyType
from typing import NamedTuple

import mujoco
import numpy as np

from robot_semantics.base.names import LinkPair
from robot_semantics.base.record import record
from robot_semantics.collision.counting import CollisionCounter, Counts, Progress, Tally, count_blocks, run_parallel
from robot_semantics.collision.sampling import BLOCK, BlockSampler, SampleBox, block_sampler
from robot_semantics.collision.scene import CollisionScene, build_scene
from robot_semantics.collision.shapes import Piece
from robot_semantics.collision.statistics import is_clear, is_rare, never_bound, samples_for
from robot_semantics.kinematics.forward import kinematics_of
from robot_semantics.kinematics.loops import ClosedLoops, close_loops
from robot_semantics.model.omissions import refuse_omissions
from robot_semantics.model.rigid_bodies import rigid_bodies
from robot_semantics.model.robot_model import RobotModel
from robot_semantics.transforms.arrays import BoolArray, FloatArray, IntArray

# Rigid pairs of links: no joint moves them against each other. MuJoCo never tests them; one test is enough.


class RigidContact(NamedTuple):
    """Contact of a rigid pair: the distance of the convex hulls [m], and whether the surfaces touch."""

    distance: float
    touch: bool

    @property
    def hulls_touch(self) -> bool:
        """Whether the convex hulls touch."""
        return self.distance <= 0.0


def rigid_contacts(robot: RobotModel, scene: CollisionScene, q: FloatArray) -> dict[tuple[int, int], RigidContact]:
    """Return the contacts of all rigid pairs of links (a, b) with a < b."""
    body = rigid_bodies(robot)
    data = mujoco.MjData(scene.model)
    data.qpos[:] = scene.qpos(q)
    mujoco.mj_kinematics(scene.model, data)
    poses = scene.link_poses(data)[None]
    test = scene.surfaces.new_test() if scene.surfaces is not None else None
    contacts: dict[tuple[int, int], RigidContact] = {}
    for first, second in combinations(range(scene.model.ngeom), 2):
        a, b = sorted((int(scene.geom_link[first]), int(scene.geom_link[second])))
        if a == b or body[a] != body[b]:
            continue
        distance = mujoco.mj_geomDistance(scene.model, data, first, second, 1.0, np.zeros(6)) - 2.0 * scene.padding
        touch = distance <= 0.0
        if touch and scene.surfaces is not None and test is not None:
            pair = np.array([first]), np.array([second])
            touch = bool(scene.surfaces.is_proven(*pair, np.array([-distance]))[0])
            (T_a_b,) = scene.relative_poses(poses, np.array([0]), *pair)
            touch = touch or test.touches(first, second, T_a_b)
        known = contacts.get((a, b), RigidContact(np.inf, False))
        contacts[a, b] = RigidContact(min(distance, known.distance), touch or known.touch)
    return contacts


# Adjacent links of the kinematic tree. Links without geometry are skipped, as in MoveIt.


def adjacent_pairs(robot: RobotModel, with_geometry: Collection[str]) -> dict[LinkPair, tuple[str, ...]]:
    """Return every adjacent pair among the links `with_geometry`, with the links of the path that joins it.

    Two links are adjacent if a joint connects them, or if only links without geometry are between them. A link without
    geometry cannot collide, so its neighbours are treated as neighbours of each other.
    """
    pairs: dict[LinkPair, tuple[str, ...]] = {}
    solid = set(with_geometry)
    for link in robot.links:
        if link.parent >= 0 and link.name in solid and robot.links[link.parent].name in solid:
            parent = robot.links[link.parent].name
            pairs[LinkPair.of(parent, link.name)] = (parent, link.name)
    for members in _hollow_components(robot, solid):
        around = {at for link in members for at in (robot.links[link].parent, *robot.links[link].children) if at >= 0}
        neighbours = sorted({robot.links[at].name for at in around} & solid)
        for first, second in combinations(neighbours, 2):
            pairs[LinkPair.of(first, second)] = _path(robot, first, second)
    return pairs


def _hollow_components(robot: RobotModel, solid: Collection[str]) -> list[set[int]]:
    """Return the connected sets of links without geometry, by index."""
    component: dict[int, set[int]] = {}
    for link in robot.links:
        if link.name in solid:
            continue
        # Parents come before children in model order, so the parent's set exists.
        members = component.get(link.parent, set())
        members.add(link.index)
        component[link.index] = members
    return list({id(members): members for members in component.values()}.values())


def _path(robot: RobotModel, first: str, second: str) -> tuple[str, ...]:
    """Return the links from `first` up to the nearest common ancestor and down to `second`."""
    up, down = (robot.to_root(robot.link_index[link]) for link in (first, second))
    meeting = next(at for at in up if at in down)
    way = up[: up.index(meeting) + 1] + down[: down.index(meeting)][::-1]
    return tuple(robot.links[at].name for at in way)


# Directed search for collisions that no sample shows: gradient descent on the distance from the closest samples.


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
    T_root_link = kinematics_of(scene.space.model).link_poses(scene.space.with_mimics(q))
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
        proximity = self._proximity(pair, q)
        for _ in range(MAX_STEPS):
            if proximity is None:
                return None
            if proximity.distance <= 0.0 and (touch := self._collision(pair, q)) is not None:
                return touch
            gradient = self._on_loops(self._gradient(proximity, joints), q)
            gradient[((gradient > 0.0) & (q <= low)) | ((gradient < 0.0) & (q >= high))] = 0.0
            steepness = float(gradient @ gradient)
            if steepness < 1e-12:
                return None
            step = -(max(proximity.distance, 0.0) + OVERLAP) / steepness * gradient
            step *= min(1.0, LARGEST_STEP / float(np.abs(step).max()))
            for _ in range(MAX_HALVINGS):
                trial = self._closed(np.minimum(np.maximum(q + step, low), high), q)
                trial_near = None if trial is None else self._proximity(pair, trial)
                if trial is not None and trial_near is not None and trial_near.distance < proximity.distance - 1e-7:
                    break
                step *= 0.5
            else:
                return None
            q, proximity = trial, trial_near
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
            proximity: _Proximity | None
            if distance <= 0.0 and self._has_surface(first, second):
                proximity = self._surface_proximity(first, second)
            else:
                proximity = _Proximity(distance - 2.0 * scene.padding, between[:3].copy(), between[3:].copy())
            if proximity is not None and (best is None or proximity.distance < best.distance):
                best = proximity
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

    def _gradient(self, proximity: _Proximity, joints: _Joints) -> FloatArray:
        """Return the gradient (size,) of the distance with respect to the sampled variables [m/rad or 1]."""
        apart = proximity.on_b - proximity.on_a
        length = float(np.linalg.norm(apart))
        if not length:
            return np.zeros(len(self._coupling))
        towards = apart / (length if proximity.distance > 0.0 else -length)
        data = self._data
        axes = data.xaxis[joints.numbers]
        arms = np.where(joints.sides[:, None] < 0.0, proximity.on_a, proximity.on_b) - data.xanchor[joints.numbers]
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


FIRST_BLOCKS = 2
"""Number of blocks after which pairs with a clear result are sampled no further."""

NO_PAIRS = "fewer than two links with collision geometry, so it has no pairs that can collide"
"""Message about a matrix without pairs; every command and action uses it."""


@record(frozen=True, slots=True, eq=False)
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


@record(frozen=True, slots=True)
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


@record(frozen=True, slots=True)
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


@record(frozen=True, slots=True)
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
    chosen_pairs = set(pairs) if only is None else set(pairs) & set(only)
    joined = _joined_pairs(adjacent, chosen_pairs, settings)
    excluded = [_indices(robot, pair) for pair in pairs if pair in joined or pair not in chosen_pairs]
    refuse_omissions(robot)
    scene = build_scene(robot, pieces, excluded, settings.padding)
    if SampleBox(scene.space).is_one_pose:
        # More samples would only seem to be more evidence.
        settings = replace(settings, samples=1, confidence=None)
    kinematics = kinematics_of(robot)
    neutral = close_loops(kinematics.loops, kinematics.space.neutral() if default_q is None else default_q)
    default = CollisionCounter(scene).count(neutral[None])
    blocks = range(-(-settings.total // BLOCK))
    later_blocks = blocks[FIRST_BLOCKS:]
    sampler = block_sampler(scene.space, settings.seed, settings.sampler)
    count = partial(count_blocks, jobs=settings.jobs, progress=progress, last=settings.total)
    tally = count(scene, sampler, blocks[:FIRST_BLOCKS])
    clear = dict.fromkeys(_clear_pairs(tally, settings), tally.hulls.samples)
    if later_blocks:
        remaining = build_scene(robot, pieces, [*excluded, *clear], settings.padding) if clear else scene
        tally.add(count(remaining, sampler, later_blocks))
    rigid = rigid_contacts(robot, scene, neutral)
    sampled = [pair for pair in pairs if pair in chosen_pairs and pair not in joined]
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


@record(frozen=True, slots=True)
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
    searched: dict[tuple[int, int], SearchedCollision]

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
        pair_index = counts.pair_index(a, b)
        by_default = bool(default.hits[pair_index])
        return PairEvidence(
            pair,
            int(counts.hits[pair_index]),
            samples,
            by_default,
            float(default.depth[pair_index]) if by_default else None,
            int(self.tally.hulls.hits[pair_index]),
            adjacency,
            False,
            *self._witnesses(counts, pair_index),
        )

    def _witnesses(self, counts: Counts, index: int) -> tuple[Witness | None, Witness | None]:
        if not counts.hits[index]:
            touch = self.searched.get(divmod(index, counts.links))
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
