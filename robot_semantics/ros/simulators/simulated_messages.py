# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""What a simulated robot publishes of itself: its joints, and where its root link is."""

from __future__ import annotations

from geometry_msgs.msg import Transform
from sensor_msgs.msg import JointState, MultiDOFJointState

from robot_semantics.ros.messages.maker import MAKER, pose_message
from robot_semantics.simulation.world_spec import ModelSpec
from robot_semantics.usdf.world_state import ModelState


def joint_state_message(spec: ModelSpec, model: ModelState) -> JointState:
    """Return the joint states of one model; a planar or floating joint's values stand under MoveIt's variable names."""
    names: list[str] = []
    positions: list[float] = []
    velocities: list[float] = []
    efforts: list[float] = []
    for joint in model.joints:
        names += spec.robot.joint(joint.name).variable_names
        positions += joint.positions or ()
        velocities += joint.velocities or ()
        efforts += joint.torques or ()
    if len(velocities) != len(positions):
        # A floating joint has six rates for seven variables; this message has no place for them.
        velocities, efforts = [], []
    return JointState(name=names, position=positions, velocity=velocities, effort=efforts)


def base_state_message(spec: ModelSpec, model: ModelState) -> MultiDOFJointState:
    """Return the root joint's state of one model: pose in, and twist relative to, the parent, in the parent's axes."""
    message = MultiDOFJointState(joint_names=[spec.root_joint.name])
    message.header.frame_id = model.parent
    if model.pose is not None:
        pose = pose_message(model.pose)
        transform = Transform(rotation=pose.orientation)
        translation = transform.translation
        translation.x, translation.y, translation.z = pose.position.x, pose.position.y, pose.position.z
        message.transforms = [transform]
    if model.twist is not None:
        message.twist = [MAKER.twist(model.twist)]
    return message
