# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Write doc/collisions_corpus.md: the matrix of every robot with an SRDF in PyPI packages, compared with that SRDF."""

from __future__ import annotations

import json
import os
import sys
import time
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.base.names import LinkPair
from robot_semantics.collision.matrix import CollisionMatrix, PairEvidence, Settings, generate_matrix
from robot_semantics.collision.pieces import pieces_of
from robot_semantics.collision.report import reason_counts
from robot_semantics.kinematics.joint_space import JointSpace
from robot_semantics.model.loading import load_robot
from robot_semantics.model.resources import PackageResolver
from robot_semantics.model.robot_model import RobotModel
from tools.collisions_recount import RESULTS
from tools.srdf_corpus import ROOT, SHARE, Entry, entries

PAGE = ROOT / "doc" / "collisions_corpus.md"
SHOWN = 2
REASONS = ("Adjacent", "Always", "Default", "Never")

HEAD = """# Collision matrices of real robots

## Ten robots, recounted on triangles

This page lists the self-collision matrices of this package for real robots, beside the matrices of their SRDFs.

This section compares our matrices (10,000 uniform samples, seed 0, triangles, neighbours through empty links included)
with python-fcl and coal. Both test all triangles of every disabled pair in the same 10,000 configurations and in the
default pose, without hulls. A pair is contradicted in three cases:

- it is called Never and they find a collision
- it is called Default and they find no collision in the default pose
- it is called Always and they find a collision in less than 95 % of the configurations

"Found by search": pairs without a colliding sample for which the directed search found a collision. Without the search
they would be disabled as Never. "Hit by seed 1": the number of these pairs, and of the Never pairs, that collide in a
sample of seed 1. The column "SRDF" has the pairs of the SRDF that comes with the robot, and the next column has the
number of its Never pairs that collide. Seconds are processor time.
"""

SECOND = """
## Every robot with an SRDF in PyPI packages

This section lists the pairs that this package disables, beside the pairs that the SRDF disables. This page is made by
`python tools/collisions_recount.py ROBOT ...` and `python tools/collisions_corpus.py`.

- "Ours" and "SRDF": pairs disabled as Adjacent / Always / Default / Never / (SRDF only) another reason, and the pairs
  that are still checked. Only pairs of links with collision geometry are counted.
- "Collide": pairs that the SRDF disables and that sometimes collide in sampling or search, neither always nor in the
  default pose.
- "Idle": pairs that the SRDF still checks and that never collided, always collide, or are adjacent.
"""

READING = """
## How to read it

- An SRDF with no or few disabled pairs has no generated matrix: all its pairs are "idle".
- "Collide" has three causes. The SRDF was made for other meshes, limits or links than those of its URDF. Or it was
  written by a rule, such as all pairs within a hand. Or the samples of its authors missed collisions that a search
  finds.
- Adjacent is a rule about the tree. An SRDF made by MoveIt also has pairs that only empty links connect. These pairs
  are sampled like all other pairs here.
- Default depends on the default pose of the joints: zero, or the middle of the bounds if zero is outside. The Setup
  Assistant also gives the reason Default to a pair that always collides. Here the reason is Always, and both facts are
  kept.

## Disabled, but they collide

The table has the pairs of each robot that collide most often. The witness is the deepest configuration: the joints
between the two links, in rad or m. `robot_semantics collisions witness URDF LINK1 LINK2` prints it completely. A pair
without hits was found by the search.
"""


class Made(NamedTuple):
    """A robot, its matrix, and the sampling time [s]."""

    robot: RobotModel
    matrix: CollisionMatrix
    seconds: float


@cache
def made(urdf: Path) -> Made | str:
    """Return the matrix of a robot, or the reason why there is none."""
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
    """Result of the comparison for one SRDF."""

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
    """Return the differences between an SRDF and a matrix."""
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
    return Row(entry, result, stated, sorted(colliding, key=lambda e: (-(e.hits or 0) / e.samples, e.pair)), idle)


def explained(row: Row) -> Iterator[str]:
    """Yield rows of the second table."""
    robot = row.made.robot
    space = JointSpace.of(robot)
    for evidence in row.colliding[:SHOWN]:
        assert evidence.first is not None
        assert evidence.deepest is not None
        assert evidence.deepest.depth is not None
        q = space.with_mimics(evidence.deepest.q)
        between = (name for name in joints_between(robot, evidence.pair) if name in space.joint_positions)
        cells = (
            row.entry.name,
            " – ".join(evidence.pair),
            row.stated[evidence.pair] or "none given",
            f"{evidence.hits:,} of {evidence.samples:,}",
            f"{1000.0 * evidence.deepest.depth:.1f}",
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


def recounted() -> list[str]:
    """Return the table of the robots measured by `tools/collisions_recount.py`."""
    columns = [
        *("robot", "pairs", "ours: A / Al / D / N", "checked", "found by search", "of these hit by seed 1"),
        *("contradicted: fcl, coal", "SRDF: A / Al / D / N / other", "its Never that collide", "seconds"),
    ]
    lines = [f"| {' | '.join(columns)} |", f"|{'---|' * len(columns)}"]
    for path in sorted(RESULTS.glob("*.json")):
        one = json.loads(path.read_text())
        stated = [str(one["srdf"].get(reason, 0)) for reason in (*REASONS, "other")]
        collide, searched = one["srdf_collide"]
        cells = (
            one["name"],
            f"{one['pairs']:,}",
            " / ".join(str(one["ours"][reason]) for reason in REASONS),
            str(one["ours"]["checked"]),
            str(one["found"]),
            f"{one['later'][0]}; of Never {one['later'][1]}",
            ", ".join(str(len(one["contradicted"][library])) for library in ("fcl", "coal")),
            " / ".join(stated) if one["srdf"] else "–",
            f"{collide} ({searched} by search)" if one["srdf"] else "–",
            f"{one['seconds']:.1f}",
        )
        lines.append(f"| {' | '.join(cells)} |")
    return lines


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
    witnesses = ("file", "links", "SRDF's reason", "hits", "deepest [mm]", "witness")
    lines = [
        HEAD,
        *recounted(),
        SECOND,
        f"| {' | '.join(table)} |",
        f"|{'---|' * len(table)}",
        *(row.table for row in rows),
        READING,
    ]
    lines += [f"| {' | '.join(witnesses)} |", f"|{'---|' * len(witnesses)}"]
    lines += [line for row in rows for line in explained(row)]
    if without:
        lines += ["", "## Not in the table", "", *without]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page())
