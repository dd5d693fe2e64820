# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Speed of counting self-collisions, compared with a bare MuJoCo loop, pinocchio with coal, and python-fcl.

``python -m benchmark.bench_collisions [ROBOT ...]``. First all must give equal counts: they use the same pairs, convex
hulls and configurations. Then it measures a matrix of triangles compared with counting hulls, and the whole command
compared with one that only counts hulls. The bare loop only sets positions and runs ``mj_kinematics`` and
``mj_collision`` on the same model.
"""

from __future__ import annotations

import resource
import statistics
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from typing import Any

import fcl
import mujoco
import numpy as np
import numpy.typing as npt
from rich.console import Console
from rich.table import Table

from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.collision.counting import Counts, count_blocks
from robot_semantics.collision.matrix import Settings, adjacent_pairs, generate_matrix
from robot_semantics.collision.pieces import pieces_of
from robot_semantics.collision.sampling import BLOCK, BlockSampler, block_sampler
from robot_semantics.collision.scene import CollisionScene, build_scene
from robot_semantics.collision.shapes import Piece
from robot_semantics.kinematics.forward import ForwardKinematics
from robot_semantics.model.loading import load_robot
from robot_semantics.model.resources import PackageResolver
from robot_semantics.model.rigid_bodies import rigid_bodies
from robot_semantics.model.robot_model import RobotModel

SHARE = Path(sysconfig.get_path("purelib")) / "cmeel.prefix" / "share"
ROBOTS = {
    "Panda": "panda_description/urdf/panda.urdf",
    "PR2": "pr2_description/urdf/pr2.urdf",
    "Talos": "talos_data/robots/talos_reduced.urdf",
    "Tiago dual": "tiago_description/robots/tiago_dual.urdf",
}
SAMPLES = 10_000
SLOW_SAMPLES = 100
CHUNK = 10
"""Number of blocks measured in turn for all: a slow moment of the machine affects all equally."""
SHORT = 1.0
"""If a robot's bare loop takes less than this [s], it is measured several times."""
REPEATS = 5
FloatArray = npt.NDArray[np.float64]
Pairs = list[tuple[int, int]]


def seconds(clock: Callable[[], float], run: Callable[..., object], *arguments: object, **options: object) -> float:
    """Return the time of one call by the given clock."""
    start = clock()
    run(*arguments, **options)
    return clock() - start


def bare_loop(scene: CollisionScene, qpos: FloatArray) -> None:
    """Run the minimum that any counter on MuJoCo needs."""
    data = mujoco.MjData(scene.model)
    for position in qpos:
        data.qpos[:] = position
        mujoco.mj_kinematics(scene.model, data)
        mujoco.mj_collision(scene.model, data)


def tested_pairs(robot: RobotModel, pieces: tuple[Piece, ...], excluded: Pairs) -> Pairs:
    """Return the pairs of pieces (by index) that MuJoCo tests: not excluded, and moving relative to each other."""
    body = rigid_bodies(robot)
    out = {(min(pair), max(pair)) for pair in excluded}
    return [
        (a, b)
        for a, b in combinations(range(len(pieces)), 2)
        if body[pieces[a].link] != body[pieces[b].link]
        and (min(pieces[a].link, pieces[b].link), max(pieces[a].link, pieces[b].link)) not in out
    ]


class Fcl:
    """The same pairs with python-fcl."""

    def __init__(self, pieces: tuple[Piece, ...], pairs: Pairs) -> None:
        self.pieces, self.pairs = pieces, pairs
        self.objects = [fcl.CollisionObject(self._geometry(piece)) for piece in pieces]

    @staticmethod
    def _geometry(piece: Piece) -> Any:
        kind, size, hull = piece.shape[:3]
        if hull is not None:
            faces = np.column_stack([np.full(len(hull.faces), 3), hull.faces]).ravel()
            return fcl.Convex(hull.vertices, len(hull.faces), faces)
        if kind == mujoco.mjtGeom.mjGEOM_BOX:
            return fcl.Box(*(2.0 * half for half in size))
        if kind == mujoco.mjtGeom.mjGEOM_SPHERE:
            return fcl.Sphere(size[0])
        return (fcl.Cylinder if kind == mujoco.mjtGeom.mjGEOM_CYLINDER else fcl.Capsule)(size[0], 2.0 * size[1])

    def count(self, T_root_link: FloatArray) -> dict[tuple[int, int], int]:
        """Return the hits of each pair of links."""
        hits: dict[tuple[int, int], int] = {}
        request = fcl.CollisionRequest()
        for poses in T_root_link:
            for piece, item in zip(self.pieces, self.objects, strict=True):
                T = poses[piece.link] @ piece.T_link_piece
                item.setTransform(fcl.Transform(T[:3, :3], T[:3, 3]))
            found = set()
            for a, b in self.pairs:
                if fcl.collide(self.objects[a], self.objects[b], request, fcl.CollisionResult()):
                    first, second = self.pieces[a].link, self.pieces[b].link
                    found.add((min(first, second), max(first, second)))
            for pair in found:
                hits[pair] = hits.get(pair, 0) + 1
        return hits


class Coal:
    """The same pairs with pinocchio's collision library, with contacts: without them it misses penetrations."""

    def __init__(self, pieces: tuple[Piece, ...], pairs: Pairs) -> None:
        import coal

        self.coal, self.pieces, self.pairs = coal, pieces, pairs
        self.objects = [coal.CollisionObject(self._geometry(piece)) for piece in pieces]

    def _geometry(self, piece: Piece) -> Any:
        kind, size, hull = piece.shape[:3]
        coal = self.coal
        if hull is not None:
            points = coal.StdVec_Vec3s()
            for vertex in hull.vertices:
                points.append(vertex)
            return coal.Convex.convexHull(points, False, "Qt")
        if kind == mujoco.mjtGeom.mjGEOM_BOX:
            return coal.Box(*(2.0 * half for half in size))
        if kind == mujoco.mjtGeom.mjGEOM_SPHERE:
            return coal.Sphere(size[0])
        return (coal.Cylinder if kind == mujoco.mjtGeom.mjGEOM_CYLINDER else coal.Capsule)(size[0], 2.0 * size[1])

    def count(self, T_root_link: FloatArray) -> int:
        """Return the number of colliding pairs of pieces, for all configurations together."""
        coal, hits = self.coal, 0
        request = coal.CollisionRequest()
        request.enable_contact = True
        for poses in T_root_link:
            for piece, item in zip(self.pieces, self.objects, strict=True):
                T = poses[piece.link] @ piece.T_link_piece
                item.setTransform(coal.Transform3s(T[:3, :3], T[:3, 3]))
            for a, b in self.pairs:
                result = coal.CollisionResult()
                hits += bool(coal.collide(self.objects[a], self.objects[b], request, result))
        return hits


def main() -> None:
    """Check equal counts, then measure."""
    table = Table(
        title=f"{SAMPLES:,} configurations, processor time in s; python-fcl and coal scaled up from {SLOW_SAMPLES}",
        box=None,
    )
    for column in ("robot", "pairs", "bare loop", "hulls", "hulls / bare", "triangles", "triangles / hulls", "search"):
        table.add_column(column, justify="right")
    for column in ("command / hulls", "fcl", "coal"):
        table.add_column(column, justify="right")
    for name, urdf in ROBOTS.items():
        if sys.argv[1:] and name not in sys.argv[1:]:
            continue
        file = SHARE / "example-robot-data" / "robots" / urdf
        robot = load_robot(file, strict=False)
        pieces = pieces_of(robot, PackageResolver([SHARE]), Diagnostics())
        names = {robot.link_names[piece.link] for piece in pieces}
        adjacent = adjacent_pairs(robot, names)
        excluded = [
            (robot.link_index[pair.first], robot.link_index[pair.second])
            for pair, path in adjacent.items()
            if len(path) == 2
        ]
        hulls = tuple(Piece(p.link, p.shape._replace(surface=None), p.T_link_piece) for p in pieces)
        scene = build_scene(robot, hulls, excluded)
        draw = block_sampler(scene.space, 0)
        pairs = tested_pairs(robot, pieces, excluded)
        few = scene.space.with_mimics(draw(0)[:SLOW_SAMPLES])
        T_root_link = ForwardKinematics(robot).link_poses(few)
        others, coal = Fcl(pieces, pairs), Coal(pieces, pairs)
        start = time.process_time()
        expected = others.count(T_root_link)
        fcl_seconds = (time.process_time() - start) * SAMPLES / SLOW_SAMPLES
        coal_seconds = seconds(time.process_time, coal.count, T_root_link) * SAMPLES / SLOW_SAMPLES
        check_equal(count_blocks(scene, draw, range(1), last=SLOW_SAMPLES).hulls, expected)
        bare, ours = times(scene, draw)
        sampled, searched = matrix_times(robot, pieces)
        start_up = command_seconds(file)
        chunks = SAMPLES // (CHUNK * BLOCK)
        by_hulls = statistics.median(ours) * chunks
        table.add_row(
            name,
            str(len(pairs)),
            f"{statistics.median(bare) * chunks:.2f}",
            f"{by_hulls:.2f}",
            f"{ratio(ours, bare):.2f}",
            f"{sampled:.2f}",
            f"{sampled / by_hulls:.2f}",
            f"{searched - sampled:.2f}",
            f"{(start_up + searched) / (start_up + by_hulls):.2f}",
            f"{fcl_seconds:.1f}",
            f"{coal_seconds:.1f}",
        )
    Console(width=160).print(table)
    print(f"largest memory: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")


def ratio(ours: list[float], other: list[float]) -> float:
    """Return the median ratio of pairs."""
    return statistics.median(a / b for a, b in zip(ours, other, strict=True))


def command_seconds(urdf: Path) -> float:
    """Return the processor time of the command that makes a matrix, without the sampling."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with tempfile.TemporaryDirectory() as folder:
        words = ["generate", str(urdf), f"--output={folder}/r.srdf", "--samples=1", "--no-search"]
        command = [sys.executable, "-m", "robot_semantics.cli.main", "collisions", *words, f"--package-path={SHARE}"]
        subprocess.run(command, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def matrix_times(robot: RobotModel, pieces: tuple[Piece, ...]) -> tuple[float, float]:
    """Return the processor time [s] of a matrix, without and with the search."""
    rounds: list[tuple[float, ...]] = []
    while not rounds or sum(first for first, _ in rounds) < SHORT:
        rounds.append(
            tuple(
                seconds(time.process_time, generate_matrix, robot, pieces, Settings(search=search))
                for search in (False, True)
            )
        )
    sampled, searched = (statistics.median(taken) for taken in zip(*rounds, strict=True))
    return sampled, searched


def times(scene: CollisionScene, draw: BlockSampler) -> tuple[list[float], list[float]]:
    """Return the processor time [s] of every chunk for the bare loop and for our counts of hulls."""
    bare: list[float] = []
    ours: list[float] = []
    chunks = [range(at, at + CHUNK) for at in range(0, SAMPLES // BLOCK, CHUNK)]
    for _ in range(REPEATS):
        for blocks in chunks:
            qpos = np.concatenate([scene.qpos(draw(block)) for block in blocks])
            bare.append(seconds(time.process_time, bare_loop, scene, qpos))
            ours.append(seconds(time.process_time, count_blocks, scene, draw, blocks))
        if sum(bare) > SHORT:
            break
    return bare, ours


def check_equal(ours: Counts, expected: dict[tuple[int, int], int]) -> None:
    """Stop if a pair's hits differ by more than one: a contact within rounding may count or not."""
    counted = ours.pairs()
    for pair in {*counted, *expected}:
        if abs(counted.get(pair, 0) - expected.get(pair, 0)) > 1:
            raise SystemExit(f"links {pair}: {counted.get(pair, 0)} hits, python-fcl has {expected.get(pair, 0)}")


if __name__ == "__main__":
    main()
