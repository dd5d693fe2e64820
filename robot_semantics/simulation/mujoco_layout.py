# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Layout of each robot's state in MuJoCo's arrays."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from robot_semantics.convert.mujoco_bases import FRAME
from robot_semantics.model.robot_model import JointModel
from robot_semantics.simulation.world_spec import ModelSpec
from robot_semantics.transforms.arrays import IntArray

if TYPE_CHECKING:
    import mujoco


@dataclass(frozen=True, slots=True, eq=False)
class JointIndices:
    """Indices of one moving joint in qpos and qvel, and of its actuators.

    Attributes:
        joint: the robot's joint.
        qpos: indices of its positions. A floating joint has x y z, then MuJoCo's quaternion w x y z.
        qvel: indices of its velocities.
        actuators: indices of its actuators, one per degree of freedom, or none.

    """

    joint: JointModel
    qpos: IntArray
    qvel: IntArray
    actuators: IntArray


@dataclass(frozen=True, eq=False)
class ModelLayout:
    """One robot in the compiled model.

    Attributes:
        spec: the robot.
        bodies: (n_links,) body of each link.
        joints: the moving joints of the description, in model order, without the root joint.
        root: indices of the root joint; None if it is fixed.
        mocap: index of the mocap body of the root's parent frame; -1 for a floating root.

    """

    spec: ModelSpec
    bodies: IntArray
    joints: tuple[JointIndices, ...]
    root: JointIndices | None
    mocap: int

    @property
    def name(self) -> str:
        """The model's name."""
        return self.spec.name

    @cached_property
    def by_name(self) -> dict[str, JointIndices]:
        """The moving joints by name."""
        return {indices.joint.name: indices for indices in self.joints}

    @cached_property
    def joint_indices(self) -> tuple[JointIndices, ...]:
        """All moving joints. The root joint is first if it moves."""
        return self.joints if self.root is None else (self.root, *self.joints)


def body_name(model: str, link: str) -> str:
    """Return the name of a link's body."""
    return f"{model}/{link}"


def frame_body_name(model: str) -> str:
    """Return the name of the mocap body of a root's parent frame. No link can have this name."""
    return f"{model}{FRAME}"


def joint_names(model: str, joint: JointModel) -> tuple[str, ...]:
    """Return the names of a joint's MuJoCo joints: one for each variable; three slides and a ball if it floats."""
    if joint.motion.has_quaternion:
        return tuple(f"{model}/{joint.name}/{part}" for part in ("trans_x", "trans_y", "trans_z", "rot"))
    return tuple(f"{model}/{variable}" for variable in joint.variable_names)


def layout_of(model: mujoco.MjModel, spec: ModelSpec) -> ModelLayout:
    """Return the layout of a robot's state in a compiled MjModel."""
    bodies = np.array([model.body(body_name(spec.name, link.name)).id for link in spec.robot.links], dtype=np.int64)
    joints = tuple(
        _joint_indices(model, spec, joint, joint_names(spec.name, joint))
        for joint in spec.robot.joints[1:]
        if joint.velocity_count
    )
    root_joint = spec.root_joint
    root: JointIndices | None = None
    mocap = -1
    if spec.has_floating_base:
        root = _joint_indices(model, spec, root_joint, (f"{spec.name}/{root_joint.name}",))
    else:
        mocap = int(model.body(frame_body_name(spec.name)).mocapid[0])
        if spec.has_planar_base:
            names = tuple(f"{spec.name}/{root_joint.name}/{suffix}" for suffix in ("x", "y", "theta"))
            root = _joint_indices(model, spec, root_joint, names)
    bodies.setflags(write=False)
    return ModelLayout(spec, bodies, joints, root, mocap)


def _joint_indices(model: mujoco.MjModel, spec: ModelSpec, joint: JointModel, names: tuple[str, ...]) -> JointIndices:
    ids = [model.joint(name).id for name in names]
    qpos = np.concatenate([model.jnt_qposadr[i] + np.arange(_POSITIONS[model.jnt_type[i]]) for i in ids])
    qvel = np.concatenate([model.jnt_dofadr[i] + np.arange(_VELOCITIES[model.jnt_type[i]]) for i in ids])
    actuators = np.array([_actuator(model, name) for name in names], dtype=np.int64)
    arrays = (qpos.astype(np.int64), qvel.astype(np.int64), actuators[actuators >= 0])
    for array in arrays:
        array.setflags(write=False)
    return JointIndices(joint, *arrays)


def _actuator(model: mujoco.MjModel, name: str) -> int:
    try:
        return int(model.actuator(name).id)
    except KeyError:
        return -1


_POSITIONS = (7, 4, 1, 1)
_VELOCITIES = (6, 3, 1, 1)
