# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""One real robot through every command, as a user would use it; the poses of its links come only from its URDF.

The expected values are computed from the URDF's joints with lxml, numpy and scipy. Each step runs commands in a folder
and compares their output with them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

import mujoco
import numpy as np
import numpy.typing as npt
from lxml import etree
from PIL import Image
from scipy.spatial.transform import Rotation
from support.commands import RunCommand
from support.random_worlds import motion, pose_of, random_pose
from support.worlds import SHARE

from robot_semantics import ForwardKinematics, JointSpace, RobotModel, read_world
from robot_semantics.model.joint_types import JointType
from robot_semantics.model.loading import load_robot
from robot_semantics.transforms import matrix_from_pose
from robot_semantics.usdf.apply import Base, apply_model_state, resolve_with
from robot_semantics.usdf.compare import compare

FloatArray = npt.NDArray[np.float64]
TOLERANCE = 1e-9
STEPS = 10
"""Time steps of each simulation."""


class RefusedError(Exception):
    """A command refused its input; the text is its output."""


@dataclass(frozen=True, eq=False)
class Sweep:
    """One robot, a random state of it, and a folder.

    Attributes:
        urdf: its URDF.
        srdf: its SRDF, if any.
        folder: where files go.
        run: runs a command in this process.
    """

    urdf: Path
    srdf: Path | None
    folder: Path
    run: RunCommand
    rng: np.random.Generator = field(default_factory=lambda: np.random.default_rng(29))

    @cached_property
    def robot(self) -> RobotModel:
        """The robot, without the parts that are in error."""
        return load_robot(self.urdf, self.srdf, strict=False)

    @cached_property
    def q(self) -> dict[str, FloatArray]:
        """Random positions of the joints that follow no other."""
        space, found = JointSpace.of(self.robot), {}
        q = space.random(self.rng)
        for joint in self.robot.joints[1:]:
            if joint.velocity_count and joint.mimic is None:
                # Some robots state limits of 1e16.
                found[joint.name] = np.clip(q[space.positions_of(joint)], -3.0, 3.0)
        # Those that follow stay inside their limits as well.
        for joint in self.robot.joints[1:]:
            if joint.mimic is not None and joint.type in (JointType.REVOLUTE, JointType.PRISMATIC):
                at, factor, row = joint.mimic.offset, joint.mimic.multiplier, found[joint.mimic.joint]
                if factor:
                    row[:] = (np.clip(row * factor + at, joint.limits.lower, joint.limits.upper) - at) / factor
        return found

    @cached_property
    def T_world_root(self) -> FloatArray:
        """A random pose of the root link that its virtual joint can take."""
        root = self.robot.root_joint
        if root.type is JointType.PLANAR:
            return motion("planar", np.array(root.axis), self.rng.uniform(-1.0, 1.0, 3))
        return np.eye(4) if root.type is JointType.FIXED and self.srdf else random_pose(self.rng)

    @cached_property
    def T_world_link(self) -> dict[str, FloatArray]:
        """Return the pose of each link, computed only from the URDF."""
        return {link: self.T_world_root @ T for link, T in walk(self.urdf, self.q).items()}

    def path(self, name: str) -> Path:
        """Return a file of the sweep."""
        return self.folder / name

    def __call__(self, *words: object) -> str:
        """Run a command; return its standard output.

        Raises:
            RefusedError: it ended with another code than 0.
        """
        found = self.run(*map(str, words))
        if found.code:
            errors = [line for line in found.err.splitlines() if not line.startswith(("note:", "warning:"))]
            raise RefusedError("\n".join(errors) or found.err)
        return found.out

    def assert_links(self, found: Mapping[str, FloatArray]) -> None:
        """Compare poses of links in the world with the truth."""
        assert set(found) == set(self.T_world_link), set(found) ^ set(self.T_world_link)
        for link, T in self.T_world_link.items():
            np.testing.assert_allclose(found[link], T, rtol=0, atol=TOLERANCE, err_msg=link)

    def assert_state(self, path: Path) -> None:
        """Compare where a file's state has the links with the truth."""
        state = read_world(path)
        (model,) = state.models
        kinematics = ForwardKinematics(self.robot)
        world = resolve_with(state, robots={model.name: self.robot})
        found = apply_model_state(model, world, kinematics.model, base=replace(Base.of(self.robot), placeable=True))
        assert not found.refused, found.refused
        assert found.base_xyz_quat is not None
        q = found.positions
        T_world_frame = world.pose(world.frame_or_world(Base.of(self.robot).frame))
        T = T_world_frame @ matrix_from_pose(found.base_xyz_quat)
        self.assert_links(dict(zip(self.robot.link_names, T @ kinematics.link_poses(q), strict=True)))


def walk(urdf: Path, q: Mapping[str, FloatArray]) -> dict[str, FloatArray]:
    """Return the (4, 4) pose of each link in the root link's frame [m], from the text of a URDF."""
    root = etree.parse(str(urdf)).getroot()
    joints = {joint.findall("child")[0].get("link"): joint for joint in root.findall("joint")}
    by_name = {joint.get("name"): joint for joint in joints.values()}

    def numbers(joint: etree._Element, tag: str, word: str, default: str) -> FloatArray:
        element = joint.find(tag)
        return np.array((default if element is None else element.get(word, default)).split(), dtype=np.float64)

    def position(joint: etree._Element) -> FloatArray:
        mimic = joint.find("mimic")
        if mimic is None or mimic.get("joint") not in by_name:
            return q[str(joint.get("name"))]
        leader = position(by_name[mimic.get("joint")])
        return float(mimic.get("multiplier", "1")) * leader + float(mimic.get("offset", "0"))

    def pose(link: str) -> FloatArray:
        joint = joints.get(link)
        if joint is None:
            return np.eye(4)
        T = np.eye(4)
        T[:3, :3] = Rotation.from_euler("xyz", numbers(joint, "origin", "rpy", "0 0 0")).as_matrix()
        T[:3, 3] = numbers(joint, "origin", "xyz", "0 0 0")
        kind = str(joint.get("type"))
        if kind != "fixed":
            axis = numbers(joint, "axis", "xyz", "1 0 0")
            T = T @ motion(kind, axis / np.linalg.norm(axis), position(joint))
        return pose(str(joint.findall("parent")[0].get("link"))) @ T

    return {str(link.get("name")): pose(str(link.get("name"))) for link in root.findall("link")}


def new(sweep: Sweep) -> None:
    """`usdf new` states the pose and the joints exactly."""
    x = pose_of(sweep.T_world_root)
    assert x.quat_xyzw is not None
    words = ["--pose", f"m={' '.join(map(repr, (*x.xyz_rpy[:3], *x.quat_xyzw)))}"]
    words += ["--twist", "m=0 0 0 0 0 0", "--time", "1.5"]
    for joint, row in sweep.q.items():
        words += ["--joint", f"m/{joint}={' '.join(map(repr, row.tolist()))}"]
    files = f"m={sweep.urdf}" + ("" if sweep.srdf is None else f",{sweep.srdf}")
    sweep("usdf", "new", files, *words, "-o", sweep.path("w.usdf"))
    (model,) = read_world(sweep.path("w.usdf")).models
    stated = {joint.name: joint.positions for joint in model.joints}
    for name, row in sweep.q.items():
        assert stated[name] == tuple(row.tolist())
    sweep.assert_state(sweep.path("w.usdf"))


def check(sweep: Sweep) -> None:
    """`check` finds no problem in the world."""
    found = json.loads(sweep("check", sweep.path("w.usdf"), "--json"))
    assert found["diagnostics"] == []


def fk(sweep: Sweep) -> None:
    """`usdf resolve --links`."""
    files = ["--urdf", sweep.urdf if sweep.srdf is None else f"{sweep.urdf},{sweep.srdf}"]
    found = json.loads(sweep("usdf", "resolve", sweep.path("w.usdf"), "--links", "m", *files, "--json"))
    sweep.assert_links({link: matrix_of(row) for link, row in found["poses"].items()})


def resolve(sweep: Sweep) -> None:
    """`usdf resolve`."""
    names = [f"m::{link}" for link in sweep.T_world_link]
    found = json.loads(sweep("usdf", "resolve", sweep.path("w.usdf"), *names, "--json"))
    bodies = {body["name"].removeprefix("m::"): (*body["xyz"], *body["quat_xyzw"]) for body in found["bodies"]}
    sweep.assert_links({link: matrix_of(row) for link, row in bodies.items()})


def matrix_of(row: Sequence[float]) -> FloatArray:
    """Return the (4, 4) pose of x y z and a quaternion x y z w."""
    T = np.eye(4)
    T[:3, :3] = Rotation.from_quat(row[3:]).as_matrix()
    T[:3, 3] = row[:3]
    return T


def as_json(sweep: Sweep) -> None:
    """USDF, JSON, USDF: the same bytes."""
    sweep("usdf", "convert", sweep.path("w.usdf"), "-o", sweep.path("w.json"))
    sweep("usdf", "convert", sweep.path("w.json"), "-o", sweep.path("from_json.usdf"))
    assert sweep.path("from_json.usdf").read_bytes() == sweep.path("w.usdf").read_bytes()


def split(sweep: Sweep) -> None:
    """`split` and `merge`: no difference."""
    sweep("usdf", "split", sweep.path("w.usdf"), "-o", sweep.path("models"))
    sweep("usdf", "merge", *sorted(sweep.path("models").glob("*.usdf")), "-o", sweep.path("merged.usdf"))
    assert compare(read_world(sweep.path("w.usdf")), read_world(sweep.path("merged.usdf")), tolerance=0.0) == []


def bag(sweep: Sweep) -> None:
    """`bag` and `export`: every link and every joint is where it was."""
    sweep("bag", sweep.path("w.usdf"), "-o", sweep.path("rec"))
    sweep("export", sweep.path("rec"), "-o", sweep.path("exported.usdf"))
    sweep.assert_state(sweep.path("exported.usdf"))
    (model,) = read_world(sweep.path("exported.usdf")).models
    assert model.name == "m"
    stated = {joint.name: joint.positions for joint in model.joints}
    for name, row in sweep.q.items():
        np.testing.assert_allclose(stated[name] or (), row, rtol=0, atol=TOLERANCE)


def simulate(engine: str) -> Callable[[Sweep], None]:
    """Return a step: a simulation that is saved and continued ends as the one that is not."""

    def step(sweep: Sweep) -> None:
        run = ("--engine", engine, "--no-ground", "--package-path", SHARE)
        begin, half, end, straight = (sweep.path(f"{engine}_{at}.usdf") for at in ("begin", "half", "end", "straight"))
        sweep("sim", "run", sweep.path("w.usdf"), "--steps", 0, *run, "-o", begin)
        sweep.assert_state(begin)
        sweep("sim", "run", begin, "--steps", STEPS, *run, "-o", half)
        sweep("sim", "run", half, "--steps", STEPS, *run, "-o", end)
        sweep("sim", "run", sweep.path("w.usdf"), "--steps", 2 * STEPS, *run, "-o", straight)
        assert end.read_bytes() == straight.read_bytes()

    return step


def plain_mujoco(sweep: Sweep) -> None:
    """`sim export`: plain MuJoCo puts every link where it is."""
    words = ("--no-ground", "--package-path", SHARE)
    sweep("sim", "export", sweep.path("w.usdf"), "-o", sweep.path("w.xml"), *words)
    model = mujoco.MjModel.from_xml_path(str(sweep.path("w.xml")))
    data = mujoco.MjData(model)
    mujoco.mj_resetDataKeyframe(model, data, 0)
    mujoco.mj_kinematics(model, data)
    found = {}
    for link in sweep.T_world_link:
        T = np.eye(4)
        T[:3, :3], T[:3, 3] = data.body(f"m/{link}").xmat.reshape(3, 3), data.body(f"m/{link}").xpos
        found[link] = T
    sweep.assert_links(found)


def keyframe(sweep: Sweep) -> None:
    """USDF, keyframe of the exported model, USDF."""
    model = ("--mujoco-model", sweep.path("w.xml"))
    sweep("usdf", "convert", sweep.path("w.usdf"), "--to", "mujoco", *model, "-o", sweep.path("key.mjcf"))
    sweep("usdf", "convert", sweep.path("key.mjcf"), *model, "-o", sweep.path("from_key.usdf"))
    sweep.assert_state(sweep.path("from_key.usdf"))


def sdformat(sweep: Sweep) -> None:
    """USDF, SDFormat, USDF."""
    sweep("usdf", "convert", sweep.path("w.usdf"), "-o", sweep.path("w.sdf"))
    sweep("usdf", "convert", sweep.path("w.sdf"), "-o", sweep.path("from_sdf.usdf"))
    state = sweep.path("from_sdf.usdf")
    # In SDFormat a joint cannot have the name of a link; the command says which other name it has.
    for name in {*sweep.robot.link_names} & {*sweep.robot.joint_names}:
        state.write_text(state.read_text().replace(f'"{name}_joint"', f'"{name}"'))
    sweep.assert_state(state)


def picture(sweep: Sweep) -> None:
    """`view --png`: something is seen."""
    sweep("view", sweep.path("w.usdf"), "--png", sweep.path("w.png"), "--size", "80x60", "--package-path", SHARE)
    with Image.open(sweep.path("w.png")) as image:
        assert image.size == (80, 60)
        assert len(image.convert("RGB").getcolors(80 * 60) or ()) > 10


STEPS_OF_ALL = (
    *(new, check, fk, resolve, as_json, split, bag, simulate("mujoco"), plain_mujoco, keyframe, sdformat, picture),
)


MORE_ENGINES = (simulate("drake"),)
