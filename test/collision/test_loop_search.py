# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The search for rare collisions of a robot with closed loops stays at closed configurations."""

from __future__ import annotations

import numpy as np
import pytest
from support.loops import FOUR_BAR, four_bar, four_bar_positions, four_bar_text, joint, srdf

from robot_semantics import Diagnostics
from robot_semantics.base.names import LinkPair
from robot_semantics.collision.matrix import CollisionMatrix, PairReason, Settings, generate_matrix
from robot_semantics.collision.pieces import pieces_of
from robot_semantics.kinematics.loops import ClosedLoops
from robot_semantics.model.loading import robot_from_text
from robot_semantics.model.resources import PackageResolver

pytest.importorskip("mujoco")

GROUND, CRANK, COUPLER, ROCKER = FOUR_BAR
RADIUS = 2e-4


def matrix_with_obstacle(x: float, y: float, *, search: bool = True) -> CollisionMatrix:
    """Return the matrix of a four-bar linkage with a small ball at its pin and one at (x, y)."""
    ball = f'<collision><origin xyz="{{}} 0 0"/><geometry><sphere radius="{RADIUS}"/></geometry></collision></link>'
    text = four_bar_text().replace("<link name='coupler_link'/>", f"<link name='coupler_link'>{ball.format(COUPLER)}")
    obstacle = f'<link name="obstacle">{ball.format(0)}' + joint(
        "at", "fixed", "base", "obstacle", (x, y, 0), (0, 0, 1)
    )
    robot = robot_from_text(text.replace("</robot>", f"{obstacle}</robot>"), srdf("coupler", "rocker"))
    pieces = pieces_of(robot, PackageResolver(), Diagnostics())
    return generate_matrix(robot, pieces, Settings(samples=100, search=search))


def test_a_search_does_not_open_the_loop() -> None:
    # The pin is on a circle of radius 0.3 about (0.4, 0). An open linkage would reach this obstacle beside the circle.
    x, y = GROUND - (ROCKER + 0.03) * np.cos(1.0), -(ROCKER + 0.03) * np.sin(1.0)
    assert COUPLER - CRANK < np.hypot(x, y) < COUPLER + CRANK
    matrix = matrix_with_obstacle(x, y)
    pair = LinkPair.of("coupler_link", "obstacle")
    assert matrix.reason(pair) is PairReason.NEVER
    assert not matrix.pairs[pair].found_by_search


def test_a_search_finds_a_rare_collision_at_a_closed_configuration() -> None:
    loops = ClosedLoops.of(four_bar())
    assert loops is not None
    home = loops.home.q[0]
    side = min((1.0, -1.0), key=lambda side: np.abs(four_bar_positions(FOUR_BAR, home[:1], side)[0] - home).max())
    theta = np.array([-0.9])
    elbow, total = CRANK * np.exp(1j * theta[0]), float(four_bar_positions(FOUR_BAR, theta, side)[0, :2].sum())
    pin = elbow + COUPLER * np.exp(1j * total)
    pair = LinkPair.of("coupler_link", "obstacle")
    assert matrix_with_obstacle(pin.real, pin.imag, search=False).pairs[pair].hits == 0
    evidence = matrix_with_obstacle(pin.real, pin.imag).pairs[pair]
    assert evidence.found_by_search
    assert evidence.first is not None
    q = np.asarray(evidence.first.q)
    expected = four_bar_positions(FOUR_BAR, q[:1], side)[0]
    assert np.abs(np.angle(np.exp(1j * (q[:3] - expected)))).max() < 1e-9
    # The pin touches the obstacle there; two angles of the crank bring it to this place.
    reached = CRANK * np.exp(1j * q[0]) + COUPLER * np.exp(1j * (q[0] + q[1]))
    assert abs(reached - pin) < 2.0 * RADIUS + 1e-9
