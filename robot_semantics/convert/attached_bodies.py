# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""MoveIt's attached bodies (moveit_msgs/AttachedCollisionObject) as models that a link carries, and back.

Only where a body is: its shapes, touch links and weight are its own description's affair.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from robot_semantics.base.errors import ArrayError
from robot_semantics.usdf.poses import pose_from_quaternion, pose_quaternions
from robot_semantics.usdf.world_state import ModelState, WorldState


def models_of_attached(bodies: Iterable[Any], robot: str) -> tuple[ModelState, ...]:
    """Return attached bodies as models whose parent is a link (``rs:parent_link``) of the model `robot`.

    Args:
        bodies: messages, or what has their fields: ``attached_collision_objects`` of a moveit_msgs/RobotState.
        robot: name of the robot's model_state.

    Raises:
        ArrayError: a body's pose is in another frame than that of its link, or no pose.
    """
    models = []
    for body in bodies:
        name, frame = body.object.id, body.object.header.frame_id
        if frame not in ("", body.link_name):
            raise ArrayError(f"attached body '{name}'", f"its pose is in '{frame}', not in its link '{body.link_name}'")
        at, turn = body.object.pose.position, body.object.pose.orientation
        quat = (turn.x, turn.y, turn.z, turn.w)
        if not any(quat):
            raise ArrayError(f"attached body '{name}'", "the quaternion of its pose is all zeros")
        pose = pose_from_quaternion((at.x, at.y, at.z), quat)
        models.append(ModelState(name, parent=robot, parent_link=body.link_name, pose=pose))
    return tuple(models)


def attached_of(state: WorldState, robot: str, new: Callable[[], Any]) -> list[Any]:
    """Return what links of the model `robot` carry as messages that `new` makes: moveit_msgs' AttachedCollisionObject.

    Raises:
        ArrayError: where something is on its link is not stated.
    """
    made = []
    for model in state.models:
        if model.parent != robot or model.parent_link is None:
            continue
        if model.pose is None:
            raise ArrayError(f"model '{model.name}'", f"its pose on the link '{model.parent_link}' is not stated")
        body = new()
        body.link_name = body.object.header.frame_id = model.parent_link
        body.object.id = model.name
        at, turn = body.object.pose.position, body.object.pose.orientation
        at.x, at.y, at.z = model.pose.xyz_rpy[:3]
        turn.x, turn.y, turn.z, turn.w = pose_quaternions([model.pose])[0].tolist()
        made.append(body)
    return made
