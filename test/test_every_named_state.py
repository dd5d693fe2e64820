# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Every named state: each consumer puts the robot into one pose, the one that the definition of SRDF gives.

Random robots have mimic joints of every type, virtual joints, and limits that exclude zero. A state names some joints
of its group, mimic joints among them; their leaders are where these need them, all others at their defaults.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from support.page_scripts import run_page_script, scene_text
from support.random_worlds import motion, pose_of, random_pose
from support.state_consumers import command

from robot_semantics.model.loading import robot_from_text
from robot_semantics.transforms import matrix_from_pose

TYPES = ("revolute", "continuous", "prismatic", "planar", "floating")
WIDTHS = {"revolute": 1, "continuous": 1, "prismatic": 1, "planar": 3, "floating": 7}
BASES = ("", "fixed", "planar", "floating")
Rows = dict[str, np.ndarray]


@dataclass(frozen=True)
class Case:
    """A robot, its state ``g/s``, and the result: (4, 4) of all links in the virtual joint's frame."""

    urdf: str
    srdf: str
    stated: Rows
    positions: Rows
    T_frame_link: dict[str, np.ndarray]


def random_row(rng: np.random.Generator, kind: str) -> np.ndarray:
    if kind == "floating":
        # A named state's quaternion may have any length.
        return np.array(
            [*rng.uniform(-1, 1, 3), *(Rotation.random(random_state=rng).as_quat() * rng.choice((1.0, 2.0)))]
        )
    return rng.uniform(0.6, 1.4, WIDTHS[kind])


def unit(row: np.ndarray) -> np.ndarray:
    return np.array([*row[:3], *(row[3:] / np.linalg.norm(row[3:]))]) if len(row) == 7 else row


def led(row: np.ndarray, multiplier: float, offset: float) -> np.ndarray:
    """Return where a follower is whose leader is at `row`."""
    return np.array([*(multiplier * row[:3] + offset), *row[3:]])


def leading(row: np.ndarray, multiplier: float, offset: float) -> np.ndarray:
    """Return where the leader is of a follower at `row`."""
    return np.array([*((row[:3] - offset) / multiplier), *row[3:]])


def words(row: np.ndarray) -> str:
    return " ".join(map(repr, row.tolist()))


def random_case(seed: int) -> Case:
    rng = np.random.default_rng(seed)
    base, count = str(rng.choice(BASES)), int(rng.integers(2, 7))
    links, joints = '<link name="base"/>', ""
    types, parents = dict[str, str](), dict[str, str]()
    mimics: dict[str, tuple[str, float, float]] = {}
    origins, axes, defaults = Rows(), Rows(), Rows()
    for name in (f"j{number}" for number in range(count)):
        leaders = [other for other in types if other not in mimics]
        leader = str(rng.choice(leaders)) if leaders and rng.random() < 0.5 else None
        kind = types[name] = str(rng.choice(TYPES)) if leader is None else types[leader]
        axis = axes[name] = rng.normal(size=3) / 1.0
        axis /= np.linalg.norm(axis)
        origins[name], parents[name] = (
            random_pose(rng, 0.5),
            str(rng.choice(["base", *(f"l{at[1:]}" for at in parents)])),
        )
        numbers = np.array(pose_of(origins[name]).xyz_rpy)
        defaults[name] = np.array([0.0] * 6 + [1.0]) if kind == "floating" else np.zeros(WIDTHS[kind])
        limit = mimic = ""
        if kind in ("revolute", "prismatic"):
            lower, soft = float(rng.choice((-2.0, 0.5))), float(rng.choice((-3.0, 1.0)))
            limit = (
                f'<limit lower="{lower}" upper="2" effort="1" velocity="1"/>'
                f'<safety_controller k_velocity="1" soft_lower_limit="{soft}" soft_upper_limit="3"/>'
            )
            least = max(lower, soft)
            defaults[name] = np.array([0.0 if least <= 0.0 else (least + 2.0) / 2.0])
        if leader is not None:
            mimics[name] = (leader, float(rng.choice((2.0, -1.0, 0.5))), float(rng.choice((0.0, 0.25))))
            mimic = '<mimic joint="{}" multiplier="{}" offset="{}"/>'.format(*mimics[name])
        links += f'<link name="l{name[1:]}"/>'
        joints += (
            f'<joint name="{name}" type="{kind}"><parent link="{parents[name]}"/><child link="l{name[1:]}"/>'
            f'<origin xyz="{words(numbers[:3])}" rpy="{words(numbers[3:])}"/>'
            f"{'' if kind == 'floating' else f'<axis xyz={chr(34)}{words(axis)}{chr(34)}/>'}{limit}{mimic}</joint>"
        )
    stated = {name: random_row(rng, types[name]) for name in types if rng.random() < 0.6} or {
        "j0": random_row(rng, types["j0"])
    }
    free = {name: unit(row) for name, row in stated.items() if name not in mimics}
    for name in [name for name in stated if name in mimics]:
        leader, multiplier, offset = mimics[name]
        if leader in free:
            stated[name] = led(free[leader], multiplier, offset)
        else:
            free[leader] = leading(unit(stated[name]), multiplier, offset)
    positions = {name: free.get(name, defaults[name]) for name in types}
    positions |= {name: led(positions[leader], m, b) for name, (leader, m, b) in mimics.items()}
    T = {"base": np.eye(4)}
    group, virtual = "".join(f'<joint name="{name}"/>' for name in types), ""
    if base:
        virtual = f'<virtual_joint name="v" type="{base}" parent_frame="odom" child_link="base"/>'
    if base in ("planar", "floating") and rng.random() < 0.7:
        group += '<joint name="v"/>'
        stated["v"] = random_row(rng, base)
        T["base"] = motion(base, np.array((0.0, 0.0, 1.0)), unit(stated["v"]))
    for name in types:
        T[f"l{name[1:]}"] = T[parents[name]] @ origins[name] @ motion(types[name], axes[name], positions[name])
    values = "".join(f'<joint name="{name}" value="{words(row)}"/>' for name, row in stated.items())
    state = f'<group name="g">{group}</group><group_state name="s" group="g">{values}</group_state>'
    srdf = f'<robot name="r">{virtual}{state}</robot>'
    return Case(f'<robot name="r">{links}{joints}</robot>', srdf, stated, positions, T)


def files(case: Case, folder: Path) -> tuple[str, str]:
    (folder / "r.urdf").write_text(case.urdf)
    (folder / "r.srdf").write_text(case.srdf)
    return str(folder / "r.urdf"), str(folder / "r.srdf")


Poses = dict[str, np.ndarray]


def fk(case: Case, folder: Path) -> Poses:
    urdf, srdf = files(case, folder)
    found = json.loads(command("fk", urdf, srdf, "--state", "g/s", "--json"))
    return {link: matrix_from_pose(pose) for link, pose in found["poses"].items()}


def world(folder: Path, count: int) -> list[Poses]:
    """Return the poses of a world file with models r0, r1, …, of which each base is in its parent."""
    found: list[Poses] = [{} for _ in range(count)]
    for body in json.loads(command("usdf", "resolve", str(folder / "w.usdf"), "--json"))["bodies"]:
        model, separator, link = body["name"].partition("::")
        if separator:
            found[int(model[1:])][link] = matrix_from_pose([*body["xyz"], *body["quat_xyzw"]])
    return found


def robots(cases: Sequence[Case], folder: Path) -> list[str]:
    """Write the files of robots; return the words that name the robots r0, r1, … for `usdf new`."""
    found = []
    for number, case in enumerate(cases):
        (folder / str(number)).mkdir()
        found.append(f"r{number}={','.join(files(case, folder / str(number)))}")
    return found


def states_of(cases: Sequence[Case]) -> list[str]:
    return [word for number in range(len(cases)) for word in ("--state", f"r{number}/g/s")]


def new(cases: Sequence[Case], folder: Path) -> list[Poses]:
    command("usdf", "new", *robots(cases, folder), *states_of(cases), "-o", str(folder / "w.usdf"))
    return world(folder, len(cases))


def edit(cases: Sequence[Case], folder: Path) -> list[Poses]:
    path = str(folder / "w.usdf")
    command("usdf", "new", *robots(cases, folder), "-o", path)
    command("usdf", "edit", path, *states_of(cases), "--in-place")
    return world(folder, len(cases))


def edit_joints(cases: Sequence[Case], folder: Path) -> list[Poses]:
    joints = [
        word
        for number, case in enumerate(cases)
        for name, row in case.stated.items()
        for word in ("--joint", f"r{number}/{name}={words(row)}")
    ]
    command("usdf", "new", *robots(cases, folder), *joints, "-o", str(folder / "w.usdf"))
    return world(folder, len(cases))


def new_and_simulated(cases: Sequence[Case], folder: Path) -> list[Poses]:
    for number, found in enumerate(new(cases, folder)):
        assert_poses(found, cases[number], number)
    pytest.importorskip("mujoco")
    command("sim", "run", str(folder / "w.usdf"), "--steps", "0", "-o", str(folder / "w.usdf"), "--force")
    return world(folder, len(cases))


def states(case: Case, folder: Path) -> Poses:
    urdf, srdf = files(case, folder)
    rows = json.loads(command("states", urdf, srdf, "g/s", "--fill", "--json"))["states"]["g"]["s"]
    model = robot_from_text(case.urdf, case.srdf)
    joints = [
        f"{name}={x!r}"
        for joint, row in rows.items()
        for name, x in zip(model.joint(joint).variable_names, row, strict=True)
    ]
    found = json.loads(command("fk", urdf, srdf, "--json", *(part for word in joints for part in ("--joint", word))))
    (match,) = json.loads(
        command("states", urdf, srdf, "g", "--json", *(part for word in joints for part in ("--joint", word)))
    )["matches"]["g"]
    assert match["difference"] < 1e-9
    return {link: matrix_from_pose(pose) for link, pose in found["poses"].items()}


def picture(case: Case, folder: Path) -> Poses:
    """What `view --state` shows."""
    from robot_semantics.viewer.scene import Actor, alone, link_poses, posed

    model = robot_from_text(case.urdf, case.srdf)
    actor = Actor("r", model, ())
    scene = posed(alone(actor), actor, [("g", "s")])
    return dict(zip(model.link_names, link_poses(actor, scene.moments[0].stances["r"]), strict=True))


def defaults(case: Case, folder: Path) -> Poses:
    """Positions that the node publishes for joints without a value, if the parameter `default_positions` names the
    state.
    """
    from robot_semantics import ForwardKinematics
    from robot_semantics.live.buffer import default_positions

    kinematics = ForwardKinematics(robot_from_text(case.urdf, case.srdf))
    q = default_positions(kinematics.model, kinematics.space, "g/s")
    assert q is not None
    poses = kinematics.T_parent_root(q) @ kinematics.measured.link_poses(q)
    return dict(zip(kinematics.model.link_names, poses, strict=True))


PROGRAM = """import { readFileSync } from "node:fs"; import { Robot } from "./robot.js";
for (const line of readFileSync(0, "utf8").split("\\n")) {
  const actor = JSON.parse(line).actors[0], robot = new Robot(actor), q = actor.neutral.slice();
  for (const [name, row] of Object.entries(actor.states[0].joints)) {
    row.forEach((x, k) => { q[robot.jointByName.get(name).at + k] = x; });
  }
  console.log(JSON.stringify(robot.poses(robot.follow(q), [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1])));
}"""


COUNT = 200
CONSUMERS: dict[str, tuple[Callable[[Case, Path], Poses], int]] = {
    "picture": (picture, COUNT),
    "defaults": (defaults, COUNT),
    "fk": (fk, COUNT),
    "states": (states, COUNT),
}
WORLDS: dict[str, Callable[[Sequence[Case], Path], list[Poses]]] = {
    "usdf edit --state": edit,
    "usdf new --joint": edit_joints,
    "usdf new, sim": new_and_simulated,
}
"""Commands that take many robots at once."""


def assert_poses(found: Poses, case: Case, seed: int) -> None:
    for link, T in case.T_frame_link.items():
        np.testing.assert_allclose(found[link], T, rtol=0, atol=1e-9, err_msg=f"{seed}: {link}")


@pytest.mark.parametrize("name", CONSUMERS)
def test_a_named_state_is_one_pose(name: str, tmp_path: Path) -> None:
    consumer, count = CONSUMERS[name]
    for seed in range(count):
        case = random_case(seed)
        assert_poses(consumer(case, tmp_path), case, seed)


@pytest.mark.parametrize("name", WORLDS)
def test_a_named_state_is_one_pose_in_a_world_of_many_robots(name: str, tmp_path: Path) -> None:
    for first in range(0, COUNT, 50):
        (tmp_path / str(first)).mkdir()
        cases = [random_case(seed) for seed in range(first, first + 50)]
        found = WORLDS[name](cases, tmp_path / str(first))
        for number, case in enumerate(cases):
            assert_poses(found[number], case, first + number)


def test_the_page_has_a_named_state_where_it_is(tmp_path: Path) -> None:
    cases, lines, names = [random_case(seed) for seed in range(COUNT)], [], []
    for case in cases:
        model = robot_from_text(case.urdf, case.srdf)
        lines.append(scene_text("r", model))
        names.append(model.link_names)
    printed = run_page_script(PROGRAM, "\n".join(lines), tmp_path)
    for seed, (case, line) in enumerate(zip(cases, printed.splitlines(), strict=True)):
        poses = np.reshape(json.loads(line), (-1, 4, 4))
        assert_poses(dict(zip(names[seed], poses, strict=True)), case, seed)


@pytest.mark.ros
def test_the_services_of_the_node_answer_a_named_state(tmp_path: Path) -> None:
    pytest.importorskip("rclpy")
    from robot_semantics_interfaces.srv import GetGroupState, GetGroupStates
    from support.node_world import NODE, OneNode

    from robot_semantics import ForwardKinematics

    seed = next(
        seed
        for seed in range(200)
        if set(random_case(seed).stated) & {"j1", "j2"} and "<mimic" in random_case(seed).urdf
    )
    case = random_case(seed)
    kinematics = ForwardKinematics(robot_from_text(case.urdf, case.srdf))
    with OneNode({"r": (case.urdf, case.srdf)}, tmp_path) as one:
        answer = one.client.call(
            GetGroupStates, f"{NODE}/r/get_group_states", GetGroupStates.Request(group="g", state="s")
        )
        (state,) = answer.states
        one_answer = one.client.call(
            GetGroupState, f"{NODE}/r/get_group_state", GetGroupState.Request(group="g", state="s")
        )
    for names, values in (
        (state.variable_names, state.values),
        (one_answer.joint_state.name, one_answer.joint_state.position),
    ):
        q = kinematics.space.pack(dict(zip(names, values, strict=True)))
        poses = kinematics.T_parent_root(q) @ kinematics.link_poses(q)
        assert_poses(dict(zip(kinematics.model.link_names, poses, strict=True)), case, seed)
