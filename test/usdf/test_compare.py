# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The difference between states is a metric, and names what differs."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from support.states import Chance

from robot_semantics import WorldState
from robot_semantics.model.loading import robot_from_text
from robot_semantics.transforms.pose import Pose
from robot_semantics.usdf.compare import StateDifference, compare
from robot_semantics.usdf.table import DifferenceKind
from robot_semantics.usdf.world_state import EngineState, Frame, JointState, LinkState, ModelState


def distances(first: WorldState, second: WorldState) -> dict[tuple[str, DifferenceKind], float]:
    found: dict[tuple[str, DifferenceKind], float] = {}
    for item in compare(first, second, tolerance=0.0):
        key = (item.path, item.kind)
        found[key] = max(found.get(key, 0.0), item.distance)
    return found


def test_the_difference_is_zero_for_equal_states_and_the_same_both_ways(chance: Callable[[int], Chance]) -> None:
    checked = 0
    for seed in range(150):
        a, b = chance(seed).world(), chance(seed + 1000).world()
        assert compare(a, a, tolerance=0.0) == []
        forth, back = distances(a, b), distances(b, a)
        assert forth == back
        assert (forth == {}) == (a == b)
        checked += bool(forth)
    assert checked > 100


@pytest.mark.parametrize("counts", [(3, 1), (3, 7), (1, 6)])
def test_joints_with_another_number_of_positions_differ_by_more_than_any_tolerance(counts: tuple[int, int]) -> None:
    def world(count: int) -> WorldState:
        return WorldState(models=(ModelState("m", joints=(JointState("j", (0.0,) * count),)),))

    for first, second in (counts, counts[::-1]):
        (found,) = compare(world(first), world(second), tolerance=1e9)
        assert found.distance == math.inf


def test_every_change_of_a_number_is_seen(chance: Callable[[int], Chance]) -> None:
    state = chance(0).tame_world()
    kinds = set()
    for model_at, model in enumerate(state.models):
        link: Any = model.links[0]
        pose: Any = model.pose
        for at in range(6):
            for changed in (
                replace(model, pose=Pose(nudged(pose.xyz_rpy, at))),
                replace(model, twist=nudged(model.twist, at)),
                replace(model, links=(replace(link, pose=Pose(nudged(link.pose.xyz_rpy, at))), *model.links[1:])),
                replace(model, links=(replace(link, wrench=nudged(link.wrench, at)), *model.links[1:])),
            ):
                models = (*state.models[:model_at], changed, *state.models[model_at + 1 :])
                (difference,) = compare(state, replace(state, models=models))
                assert 0.5e-6 < difference.distance < 1.5e-6
                kinds.add(difference.kind)
    assert len(kinds) == 6


def nudged(row: Any, at: int) -> Any:
    # Near pitch π/2, yaw and roll turn about nearly one axis, but each alone turns by its own angle.
    return (*row[:at], row[at] + 1e-6, *row[at + 1 :])


def test_the_triangle_inequality_holds(chance: Callable[[int], Chance]) -> None:
    states = [with_values(seed) for seed in range(12)]
    checked = 0
    for a in states:
        for b in states:
            for c in states:
                ab, bc, ac = distances(a, b), distances(b, c), distances(a, c)
                for key, distance in ac.items():
                    assert distance <= ab.get(key, 0.0) + bc.get(key, 0.0) + 1e-12
                    checked += 1
    assert checked > 1000


def with_values(seed: int) -> WorldState:
    rng = np.random.default_rng(seed)
    quat = tuple(Rotation.random(rng=seed).as_quat().tolist())
    joints = (
        JointState("r", (rng.normal(),)),
        JointState("p", tuple(rng.normal(size=3) * 4)),
        JointState("f", (*rng.normal(size=3), *quat)),
    )
    return WorldState(models=(ModelState("m", pose=Pose(tuple(rng.normal(size=6) * 3)), joints=joints),))


def test_one_rotation_said_in_several_ways_is_no_difference() -> None:
    rpy = (0.3, 0.4, 0.5)
    quat = Rotation.from_euler("xyz", rpy).as_quat()
    poses = [
        Pose((0.0, 0.0, 0.0, *rpy)),
        Pose((0.0, 0.0, 0.0, 0.3 + math.tau, 0.4, 0.5)),
        Pose((0.0, 0.0, 0.0, 0.3 + math.pi, math.pi - 0.4, 0.5 - math.pi)),
        Pose((0.0, 0.0, 0.0, *rpy), tuple(quat.tolist())),
        Pose((0.0, 0.0, 0.0, *rpy), tuple((-quat).tolist())),
    ]
    for a in poses:
        for b in poses:
            assert compare(WorldState(frames=(Frame("f", pose=a),)), WorldState(frames=(Frame("f", pose=b),))) == []


@pytest.mark.parametrize(
    ("first", "second", "robot", "distance"),
    [
        ((3.0,), (3.0 - math.tau,), False, math.tau),
        ((3.0,), (3.1 - math.tau,), True, 0.1),
        ((1.0, 2.0, 3.0), (1.0, 2.0, 3.1 + math.tau), False, 0.1),
        ((1.0, 2.0, 3.0), (1.3, 2.4, 3.0), False, 0.5),
        ((0.0, 0, 0, 0, 0, 1, 0), (0.0, 0, 0, 0, 0, -1, 0), False, 0.0),
        ((0.0, 0, 0, 0, 0, 0, 1), (0.0, 0, 0, 0.2, 0, 0), False, 0.2),
        ((0.0, 0, 0, 0, 0, 0, 0), (0.0, 0, 0, 0, 0, 0, 1), False, math.inf),
        ((0.0,), (0.0, 0.0), False, math.inf),
    ],
)
def test_joint_positions_wrap_where_they_are_angles(
    first: tuple[float, ...], second: tuple[float, ...], robot: bool, distance: float
) -> None:
    arm = robot_from_text(
        "<robot name='m'><link name='a'/><link name='b'/><joint name='j' type='continuous'><parent link='a'/>"
        "<child link='b'/></joint></robot>"
    )
    a, b = (WorldState(models=(ModelState("m", joints=(JointState("j", row),)),)) for row in (first, second))
    found = compare(a, b, robots={"m": arm} if robot else None)
    assert [item.distance for item in found] == ([] if distance == 0 else [pytest.approx(distance)])


def test_differences_say_what_differs_and_tolerances_hide_them() -> None:
    a = WorldState(
        "a",
        (ModelState("m", links=(LinkState("l", wrench=(0.0,) * 6),)),),
        (Frame("f"),),
        1_000_000_000,
        (EngineState("e", "1", {"q": (1.0, 2.0)}),),
    )
    b = WorldState(
        "a",
        (ModelState("m", "f", links=(LinkState("l", wrench=(0.0, 0.0, 0.3, 0.0, 0.0, 0.0)), LinkState("k"))),),
        (Frame("f", twist=(0.0,) * 6),),
        1_500_000_000,
        (EngineState("e", "1", {"q": (1.0, 2.5)}),),
    )
    found = compare(a, b)
    assert [(item.path, item.kind, item.distance) for item in found] == [
        ("", DifferenceKind.TIME, 0.5),
        ("m parent", DifferenceKind.STATEMENT, math.inf),
        ("m::l", DifferenceKind.FORCE, 0.3),
        ("m::k", DifferenceKind.STATEMENT, math.inf),
        ("f", DifferenceKind.LINEAR_VELOCITY, math.inf),
        ("engine e array q", DifferenceKind.ENGINE, 0.5),
    ]
    assert found[0].as_json()["unit"] == "s"
    assert found[1] == StateDifference("m parent", DifferenceKind.STATEMENT, math.inf, "world", "f")
    assert found[1].as_json()["distance"] is None
    hidden = compare(
        a,
        b,
        tolerances={DifferenceKind.TIME: 0.5, DifferenceKind.FORCE: 0.3, DifferenceKind.ENGINE: 1.0},
        ignore=[DifferenceKind.STATEMENT],
    )
    assert [item.path for item in hidden] == ["f"]
    assert [item.path for item in compare(a, b, tolerance=0.4) if item.kind is DifferenceKind.FORCE] == []
