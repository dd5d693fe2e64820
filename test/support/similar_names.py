# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Pairs of joints or links of one real robot whose names differ by a side, a number, an axis or a word.

`test/data/similar_names.tsv` has the difference, both names, the kind of thing and the robot. The files of a pair
belong to a robot that only has the second name. They use the first name, and one misspelt name beside it.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple
from xml.sax.saxutils import quoteattr

MISSPELT, MEANT = "lnatern_joint", "lantern_joint"
"""A name with one right answer, so that a test sees if nothing is fixed at all."""


class SimilarNames(NamedTuple):
    """One pair."""

    difference: str
    written: str
    known: str
    kind: str
    robot: str

    def urdf(self) -> str:
        """Return the robot, which has only the second name."""
        link, joint = ("tip", self.known) if self.kind == "joint" else (self.known, "only_joint")
        links = "".join(f"<link name={quoteattr(name)}/>" for name in ("root", link, "glass"))
        joints = "".join(
            f'<joint name={quoteattr(name)} type="continuous"><parent link="root"/>'
            f"<child link={quoteattr(child)}/></joint>"
            for name, child in ((joint, link), (MEANT, "glass"))
        )
        return f'<robot name="r">{links}{joints}</robot>'

    def srdf(self) -> str:
        """Return an SRDF that uses the first name."""
        name = quoteattr(self.written)
        use = f"<joint name={name}/>" if self.kind == "joint" else f"<link name={name}/>"
        pair = "" if self.kind == "joint" else f'<disable_collisions link1="root" link2={name} reason="Never"/>'
        return f'<robot name="r"><group name="g">{use}<joint name="{MISSPELT}"/></group>{pair}</robot>'

    def yaml(self) -> str:
        """Return files of MoveIt and ros2_control that use the first name of a joint."""
        name = f"'{self.written}'" if self.kind == "joint" else "only_joint"
        return (
            f"initial_positions: {{{name}: 0.0, {MISSPELT}: 0.0}}\n"
            "arm:\n  ros__parameters:\n"
            f"    joints: [{name}, {MISSPELT}]\n"
        )


def similar_names() -> list[SimilarNames]:
    """Return all pairs."""
    rows = (Path(__file__).parents[1] / "data" / "similar_names.tsv").read_text(encoding="utf-8").splitlines()
    return [SimilarNames(*row.split("\t")) for row in rows]
