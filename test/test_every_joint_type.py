# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Every joint type through every consumer: one robot with a joint of each type; closed forms give the link poses.

The types are the product's enumeration: a new one fails here until every consumer knows it.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation, Slerp
from support.random_worlds import motion, pose_of, random_pose
from support.state_consumers import CONSUMERS, Robots, command, written

from robot_semantics import ForwardKinematics, WorldState
from robot_semantics.model.joint_types import MOTION, JointType
from robot_semantics.model.loading import robot_from_text
from robot_semantics.model.queries import matching_states
from robot_semantics.transforms import matrix_from_pose
from robot_semantics.urdf.table import BOUNDED_TYPES
from robot_semantics.usdf.recover import recover_joints
from robot_semantics.usdf.world_state import JointState, LinkState, ModelState

AXIS = np.array((0.0, 0.6, 0.8))
FIRST = {
    "revolute": np.array([0.4]),
    "continuous": np.array([3.0]),
    "prismatic": np.array([-0.25]),
    "fixed": np.zeros(0),
    "planar": np.array([0.3, -0.2, 0.5]),
    "floating": np.array([0.1, -0.3, 0.2, *Rotation.from_rotvec((0.4, -0.7, 0.2)).as_quat()]),
}
SECOND = {
    "revolute": np.array([-0.6]),
    "continuous": np.array([-3.0]),
    "prismatic": np.array([0.75]),
    "fixed": np.zeros(0),
    "planar": np.array([-0.5, 0.4, -1.5]),
    "floating": np.array([0.5, 0.5, -0.2, *Rotation.from_rotvec((-0.3, 0.1, 0.9)).as_quat()]),
}
ORIGINS = {kind: random_pose(np.random.default_rng(seed), 0.5) for seed, kind in enumerate(FIRST)}


def description() -> tuple[str, str]:
    """Return the URDF of a chain of all joint types, and an SRDF with the state ``all/first``."""
    links, joints, parent = '<link name="base"/>', "", "base"
    for kind, T in ORIGINS.items():
        numbers = pose_of(T).xyz_rpy
        xyz, rpy = (" ".join(map(repr, part)) for part in (numbers[:3], numbers[3:]))
        axis = "" if kind in ("fixed", "floating") else '<axis xyz="0 0.6 0.8"/>'
        limited = kind in ("revolute", "prismatic")
        limit = '<limit lower="-2" upper="2" effort="1" velocity="1"/>' if limited else ""
        links += f'<link name="{kind}_link"/>'
        joints += (
            f'<joint name="{kind}" type="{kind}"><parent link="{parent}"/><child link="{kind}_link"/>'
            f'<origin xyz="{xyz}" rpy="{rpy}"/>{axis}{limit}</joint>'
        )
        parent = f"{kind}_link"
    members = "".join(f'<joint name="{kind}"/>' for kind in FIRST)
    values = "".join(
        f'<joint name="{k}" value="{" ".join(map(repr, q.tolist()))}"/>' for k, q in FIRST.items() if len(q)
    )
    state = f'<group_state name="first" group="all">{values}</group_state>'
    srdf = f'<robot name="r"><group name="all">{members}</group>{state}</robot>'
    return f'<robot name="r">{links}{joints}</robot>', srdf


def chain(positions: dict[str, np.ndarray], T: np.ndarray | None = None) -> dict[str, np.ndarray]:
    """Return (4, 4) poses of the links, the base at `T`."""
    found = {"base": np.eye(4) if T is None else T}
    above = "base"
    for kind, origin in ORIGINS.items():
        found[f"{kind}_link"] = found[above] @ origin @ motion(kind, AXIS, positions[kind])
        above = f"{kind}_link"
    return found


def stated(positions: dict[str, np.ndarray], T: np.ndarray) -> WorldState:
    joints = tuple(JointState(kind, tuple(q.tolist())) for kind, q in positions.items() if len(q))
    return WorldState("all", (ModelState("m", "world", pose_of(T), joints=joints),))


URDF, SRDF = description()
MODEL = robot_from_text(URDF, SRDF)
ROBOTS: Robots = {"m": (URDF, None)}
T_WORLD_BASE = random_pose(np.random.default_rng(9))


def variables(positions: dict[str, np.ndarray]) -> dict[str, float]:
    return {
        name: value
        for kind, row in positions.items()
        for name, value in zip(MODEL.joint(kind).variable_names, row.tolist(), strict=True)
    }


def test_the_types_are_those_of_the_product() -> None:
    assert {kind.value for kind in JointType} == FIRST.keys()
    assert {kind.value for kind, motion in MOTION.items() if motion.limited} == set(BOUNDED_TYPES)


@pytest.mark.parametrize("name", [pytest.param(name, marks=item.marks) for name, item in CONSUMERS.items()])
def test_every_consumer_of_a_state_knows_every_type(name: str, tmp_path: Path) -> None:
    answer = CONSUMERS[name].run(stated(FIRST, T_WORLD_BASE), ROBOTS, tmp_path)["m"]
    for link, T in chain(FIRST, T_WORLD_BASE).items():
        np.testing.assert_allclose(answer["T_world_link"][link], T, rtol=0, atol=1e-9, err_msg=link)


def test_links_alone_tell_the_joints_of_every_type() -> None:
    links = tuple(LinkState(link, pose_of(T)) for link, T in chain(FIRST).items())
    recovered, reasons = recover_joints(ModelState("m", "world", pose_of(np.eye(4)), links=links), MODEL)
    assert reasons == {}
    for kind, q in FIRST.items():
        if len(q):
            np.testing.assert_allclose(np.array(recovered.joint(kind).positions), q, atol=1e-9, err_msg=kind)


def test_the_pose_between_two_states_is_between_for_every_type(tmp_path: Path) -> None:
    paths = []
    for name, positions in (("a", FIRST), ("b", SECOND)):
        folder = tmp_path / name
        folder.mkdir()
        paths.append(str(written(stated(positions, T_WORLD_BASE), ROBOTS, folder)))
    out = tmp_path / "a" / "between.usdf"
    command("usdf", "interpolate", *paths, "--share", "0.5", "-o", str(out))
    middle = {kind: (FIRST[kind] + SECOND[kind]) / 2.0 for kind in FIRST}
    middle["continuous"] = np.array([np.pi])  # the short way from 3 to -3
    ends = Rotation.from_quat([FIRST["floating"][3:], SECOND["floating"][3:]])
    middle["floating"] = np.array([*middle["floating"][:3], *Slerp([0.0, 1.0], ends)(0.5).as_quat()])
    bodies = json.loads(command("usdf", "resolve", str(out), "--json"))["bodies"]
    found = {body["name"]: matrix_from_pose([*body["xyz"], *body["quat_xyzw"]]) for body in bodies}
    for link, T in chain(middle, T_WORLD_BASE).items():
        np.testing.assert_allclose(found[f"m::{link}"], T, rtol=0, atol=1e-9, err_msg=link)


def angle(one: np.ndarray, other: np.ndarray) -> float:
    return float((Rotation.from_quat(one).inv() * Rotation.from_quat(other)).magnitude())


@pytest.mark.parametrize("kind", [kind for kind in FIRST if kind != "fixed"])
def test_a_named_state_is_as_far_away_as_the_joint_of_each_type_is(kind: str) -> None:
    (match,) = matching_states(MODEL, "all", variables({**FIRST, kind: SECOND[kind]}), 10.0)
    one, other = FIRST[kind], SECOND[kind]
    expected = {
        "revolute": 1.0,
        "continuous": 2.0 * np.pi - 6.0,
        "prismatic": 1.0,
        "planar": max(np.hypot(0.8, 0.6), 2.0),
        "floating": max(np.linalg.norm(one[:3] - other[:3]), angle(one[3:], other[3:])) if kind == "floating" else 0.0,
    }
    assert match.joint == kind
    assert match.difference == pytest.approx(expected[kind], abs=1e-12)


@pytest.mark.parametrize("sampler", ["uniform", "sobol"])
def test_samples_fill_the_range_of_every_type(sampler: str) -> None:
    pytest.importorskip("mujoco")
    from robot_semantics.collision.sampling import block_sampler

    space = ForwardKinematics(MODEL).space
    q = np.concatenate([block_sampler(space, 1, sampler)(block) for block in range(4)])
    ranges = {"revolute": [2.0], "continuous": [np.pi], "prismatic": [2.0], "planar": [1.0, 1.0, np.pi]}
    for rows in (q, space.random(np.random.default_rng(1), (2000,))):
        for kind, reach in {**ranges, "floating": [1.0] * 3}.items():
            part = rows[:, space.joint_positions[kind]][:, : len(reach)]
            assert (np.abs(part) <= reach).all(), kind
            assert (np.abs(part).max(axis=0) > 0.98 * np.array(reach)).all(), kind
        np.testing.assert_allclose(np.linalg.norm(rows[:, space.quaternions[0]], axis=1), 1.0, atol=1e-12)
