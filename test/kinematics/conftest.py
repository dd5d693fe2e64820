# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Random robots of every joint type, and an oracle for their transforms made of scipy's rotations alone."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pytest
from scipy.spatial.transform import Rotation

from robot_semantics import JointSpace, RobotModel
from robot_semantics.model.joint_types import JointType
from robot_semantics.model.loading import robot_from_text
from robot_semantics.model.robot_model import JointModel

FloatArray = npt.NDArray[np.float64]

MOVING = ("revolute", "continuous", "prismatic", "planar", "floating")
AXES = ("1 0 0", "0 1 0", "0 0 1", "-1 0 0", "0 -1 0", "0 0 -1")
ORIGINS = ("0 0 0", "1.5707963267948966 0 0", "0 0 -1.5707963267948966", "0 3.141592653589793 0", "1.5708 0 3.1416")


@pytest.fixture(params=[(), (0,), (1,), (3, 4), (70,)], ids=str)
def shape(request: pytest.FixtureRequest) -> tuple[int, ...]:
    """Batch shapes, the empty ones included."""
    return request.param  # type: ignore[no-any-return]


@pytest.fixture(params=range(3))
def rng(request: pytest.FixtureRequest) -> np.random.Generator:
    """Three reproducible sources of chance."""
    return np.random.default_rng(request.param)


def robot_text(rng: np.random.Generator, links: int, types: tuple[str, ...] = (*MOVING, "fixed")) -> str:
    """Return a URDF of a random tree; axes and origins are aligned, nearly aligned and arbitrary by turns."""
    lines = ["<robot name='random'>", "<link name='l0'/>"]
    for i in range(1, links):
        kind = str(rng.choice(types))
        parent = max(0, i - int(rng.integers(1, 4)))
        aligned = rng.uniform() < 0.6
        axis = str(rng.choice(AXES)) if aligned else " ".join(map(repr, rng.normal(size=3).tolist()))
        rpy = str(rng.choice(ORIGINS)) if rng.uniform() < 0.7 else " ".join(map(repr, rng.normal(size=3).tolist()))
        xyz = " ".join(map(repr, (rng.normal(size=3) * (rng.uniform(size=3) < 0.5)).tolist()))
        lines.append(
            f"<link name='l{i}'/><joint name='j{i}' type='{kind}'><parent link='l{parent}'/><child link='l{i}'/>"
            f"<origin xyz='{xyz}' rpy='{rpy}'/>"
        )
        if kind not in ("fixed", "floating"):
            lines.append(f"<axis xyz='{axis}'/>")
        if kind in ("revolute", "prismatic"):
            lines.append("<limit lower='-2' upper='1.5' effort='1' velocity='1'/>")
        lines.append("</joint>")
    return "\n".join((*lines, "</robot>"))


@pytest.fixture
def random_robot(rng: np.random.Generator) -> Callable[..., RobotModel]:
    """Return the maker of random robots: ``random_robot(links, types, srdf)``."""
    return lambda links, types=(*MOVING, "fixed"), srdf=None: robot_from_text(robot_text(rng, links, types), srdf)


def motion(joint: JointModel, positions: FloatArray) -> FloatArray:
    """Return (4, 4) what `joint` adds to its origin at `positions`, as FORMATS.md section 1 words it."""
    T = np.eye(4)
    if joint.type in (JointType.REVOLUTE, JointType.CONTINUOUS):
        T[:3, :3] = Rotation.from_rotvec(positions[0] * joint.axis).as_matrix()
    elif joint.type is JointType.PRISMATIC:
        T[:3, 3] = positions[0] * joint.axis
    elif joint.type is JointType.PLANAR:
        x, y, theta = positions
        turn = np.cross([0.0, 0.0, 1.0], joint.axis)
        length = np.linalg.norm(turn)
        angle = np.arctan2(length, joint.axis[2])
        to_axis = Rotation.from_rotvec(angle * (turn / length if length else np.array([1.0, 0.0, 0.0])))
        T[:3, :3] = Rotation.from_rotvec(theta * joint.axis).as_matrix()
        T[:3, 3] = to_axis.apply([x, y, 0.0])
    elif joint.type is JointType.FLOATING:
        T[:3, :3] = Rotation.from_quat(positions[3:]).as_matrix()
        T[:3, 3] = positions[:3]
    return T


@pytest.fixture
def oracle_local() -> Callable[[RobotModel, FloatArray], FloatArray]:
    """Return the maker of (n_joints, 4, 4) transforms from q (size,), by joint and one at a time."""

    def local(model: RobotModel, q: FloatArray) -> FloatArray:
        made, start = [], 0
        for joint in model.joints:
            made.append(joint.T_parent_joint @ motion(joint, q[start : start + joint.position_count]))
            start += joint.position_count
        return np.array(made)

    return local


@pytest.fixture
def after() -> Callable[[JointSpace, FloatArray, FloatArray, float], FloatArray]:
    """Return the function that says where a velocity takes positions in a short time."""
    return carried


def carried(space: JointSpace, q: FloatArray, v: FloatArray, time: float) -> FloatArray:
    """Return where velocity `v` takes `q` in a short `time`, first order, as the joint space defines velocities."""
    result: FloatArray = q.copy()
    for joint in space.joints:
        to, rates = space.joint_positions[joint.name], v[space.joint_velocities[joint.name]]
        if joint.position_count == 7:
            result[to.start : to.start + 3] += time * rates[:3]
            x, y, z, w = q[to.start + 3 : to.stop]
            wx, wy, wz = 0.5 * time * rates[3:]
            # dq/dt = ½ ω q with ω in the parent's axes.
            result[to.start + 3 : to.stop] += [
                wx * w + wy * z - wz * y,
                wy * w + wz * x - wx * z,
                wz * w + wx * y - wy * x,
                -wx * x - wy * y - wz * z,
            ]
        else:
            result[to] += time * rates
    return result
