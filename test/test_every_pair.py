# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Every kind of pair of links through every consumer: each gives the same status and the same risk.

The robot has a lane for each kind of pair. In a lane two boxes slide along x between the same two walls. Each box is
0.2 m long, so they collide in a share of ``1 - (1 - 0.2 / length)^2`` of all samples.
"""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple, cast

import numpy as np
import pytest

pytest.importorskip("mujoco")

from support.state_consumers import command
from support.worlds import model_from_text

from robot_semantics import Diagnostics
from robot_semantics.base.names import LinkPair
from robot_semantics.collision.audit import AuditFinding, audit, pair_table
from robot_semantics.collision.matrix import PairReason, Settings, generate_matrix
from robot_semantics.collision.pieces import pieces_of
from robot_semantics.model.loading import load_robot, robot_from_text
from robot_semantics.model.queries import pair_status
from robot_semantics.model.resources import PackageResolver
from robot_semantics.simulation.loading import ENGINES, start_simulator
from robot_semantics.simulation.world_spec import WorldSpec
from robot_semantics.srdf.edit import SrdfText
from robot_semantics.viewer.edit_session import EditSession

SIZE, OVERLAP = 0.2, 0.05


class Lane(NamedTuple):
    """A kind of pair: its SRDF content, the expected result, and the length [m] in which the two boxes move."""

    srdf: str
    checked: bool
    cause: str
    studio: str
    length: float = SIZE / 0.7  # a share of 0.91
    finding: AuditFinding | None = None
    adjacent: bool = False

    @property
    def risk(self) -> float:
        return 0.0 if self.checked or self.adjacent else 1.0 - (1.0 - SIZE / self.length) ** 2


OFF = '<disable_collisions link1="{0}_p" link2="{0}_q" reason="Never"/>'
DEFAULT = '<disable_default_collisions link="{0}_p"/>'
LANES = {
    "often": Lane(OFF, False, "disabled", "Never", finding=AuditFinding.NEVER_BUT_COLLIDES),
    "seldom": Lane(OFF, False, "disabled", "Never", 4.0, finding=AuditFinding.NEVER_BUT_COLLIDES),
    "default": Lane(DEFAULT, False, "default_disabled", "disabled by default"),
    "enabled": Lane(DEFAULT + '<enable_collisions link1="{0}_q" link2="{0}_p"/>', True, "checked", "enabled"),
    "silent": Lane("", True, "checked", "checked"),
    "adjacent": Lane("", True, "checked", "checked", finding=AuditFinding.ADJACENT_BUT_ENABLED, adjacent=True),
    "joined": Lane(OFF.replace("Never", "Adjacent"), False, "disabled", "Adjacent", adjacent=True),
}
MASS = '<inertial><mass value="1"/><inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial>'
BOX = f'{MASS}<collision><geometry><box size="{SIZE} {SIZE} {SIZE}"/></geometry></collision>'


def description() -> tuple[str, str]:
    """Return the URDF and the SRDF of all lanes."""
    urdf, srdf = f'<link name="base">{MASS}</link>', ""
    for y, (name, lane) in enumerate(LANES.items()):
        between, reach = SIZE - OVERLAP, lane.length - OVERLAP
        for link, x, low, high in (("p", 0.0, between - reach, OVERLAP + between), ("q", between, -reach, OVERLAP)):
            chained = lane.adjacent and link == "q"
            parent, where = (f"{name}_p", f"{x} 0 0") if chained else ("base", f"{x} {y} 0")
            urdf += (
                f'<link name="{name}_{link}">{BOX}</link><joint name="{name}_{link}" type="prismatic">'
                f'<parent link="{parent}"/><child link="{name}_{link}"/><origin xyz="{where}"/><axis xyz="1 0 0"/>'
                f'<limit lower="{low}" upper="{high}" effort="0" velocity="9"/></joint>'
            )
            srdf += f'<passive_joint name="{name}_{link}"/>'
        srdf += lane.srdf.format(name)
    return f'<robot name="lanes">{urdf}</robot>', f'<robot name="lanes">{srdf}</robot>'


URDF, SRDF = description()
ROBOT = robot_from_text(URDF, SRDF)
PAIRS = {name: LinkPair(f"{name}_p", f"{name}_q") for name in LANES}
MATRIX = generate_matrix(ROBOT, pieces_of(ROBOT, PackageResolver(), Diagnostics()), Settings(samples=2_000))


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str]:
    paths = tmp_path / "lanes.urdf", tmp_path / "lanes.srdf"
    for path, text in zip(paths, (URDF, SRDF), strict=True):
        path.write_text(text)
    return str(paths[0]), str(paths[1])


@pytest.mark.parametrize("name", LANES)
def test_queries_and_the_command_line_say_the_same(name: str, files: tuple[str, str]) -> None:
    status = pair_status(ROBOT, f"{name}_q", f"{name}_p")
    assert (status.checked, status.cause.name.lower()) == (LANES[name].checked, LANES[name].cause)
    told = json.loads(command("show", files[0], files[1], "--pair", *PAIRS[name], "--json"))
    assert (told["checked"], told["cause"], told["reason"]) == (status.checked, LANES[name].cause, status.reason)


def test_matrix_and_table_give_the_risk_and_the_audit_follows_it() -> None:
    rows = {row.status.pair: row for row in pair_table(ROBOT, MATRIX)}
    for name, lane in LANES.items():
        row = rows[PAIRS[name]]
        assert row.status.checked == lane.checked
        assert row.reason is (PairReason.ADJACENT if lane.adjacent else None)
        assert row.risk.share == pytest.approx(lane.risk, abs=0.04)  # four standard deviations of 1,000 samples
        assert row.risk.seen == (lane.risk > 0.0)
    highest = {PAIRS["often"], PAIRS["default"]}
    assert {*list(rows)[:2]} == highest
    assert list(rows)[2] == PAIRS["seldom"]
    found = [(row.pair, row.finding) for row in audit(ROBOT, MATRIX)]
    assert found == [(PAIRS[name], lane.finding) for name, lane in LANES.items() if lane.finding]


def test_the_studio_shows_the_same_status_marks_every_risk_and_keeps_the_order(files: tuple[str, str]) -> None:
    pytest.importorskip("nicegui")
    from robot_semantics.viewer.studio_pairs import PairsTab

    session = EditSession(load_robot(files[0]), SrdfText.from_file(Path(files[1])), Path(files[1]))
    tab = PairsTab(cast(Any, SimpleNamespace(session=session)))
    tab._matrix = MATRIX
    rows = {LinkPair(row["link1"], row["link2"]): row for row in tab.rows()}
    for name, lane in LANES.items():
        row = rows[PAIRS[name]]
        assert (row["state"], row["off"], row["risky"]) == (lane.studio, not lane.checked, lane.risk > 0.0), name
    assert list(rows) == [row.status.pair for row in pair_table(ROBOT, MATRIX)]


@pytest.mark.parametrize("engine", sorted(ENGINES))
def test_only_a_checked_pair_is_pushed_apart_in_a_simulation(engine: str) -> None:
    pytest.importorskip({"drake": "pydrake"}.get(engine, engine))
    simulator = start_simulator(
        engine, WorldSpec((model_from_text("lanes", URDF, SRDF),), ground=False), lambda text: None
    )
    simulator.step(50)
    (state,) = simulator.capture().models
    for name, lane in LANES.items():
        p, q = (np.array(state.joint(f"{name}_{link}").positions).item() for link in "pq")
        moved = abs(q) if lane.adjacent else q - p
        # Every engine leaves out neighbours as well, whatever the SRDF says of them.
        assert (moved > 1e-3) == (lane.checked and not lane.adjacent), (name, moved)
