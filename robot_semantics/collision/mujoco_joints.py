# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""MuJoCo joints of a robot, for simulation and for collision checks."""

from __future__ import annotations

from collections.abc import Sequence

import mujoco

from robot_semantics.kinematics.motions import elementary_motions
from robot_semantics.model.robot_model import JointModel

_TYPES = {
    "slide": mujoco.mjtJoint.mjJNT_SLIDE,
    "hinge": mujoco.mjtJoint.mjJNT_HINGE,
    "ball": mujoco.mjtJoint.mjJNT_BALL,
}


def add_joints(body: mujoco.MjsBody, joint: JointModel, names: Sequence[str] = ()) -> list[mujoco.MjsJoint]:
    """Add the MuJoCo joints that together move like `joint`. MuJoCo has a free joint only below the world.

    Args:
        body: the body of the child link, of an ``MjSpec``.
        joint: the joint.
        names: names of the MuJoCo joints; none by default.

    Returns:
        The MuJoCo joints, without limits. A fixed joint has none.
    """
    joints = []
    for at, motion in enumerate(elementary_motions(joint)):
        name = {"name": names[at]} if names else {}
        joints.append(body.add_joint(type=_TYPES[motion.kind], axis=motion.axis, **name))
    return joints
