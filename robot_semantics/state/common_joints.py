# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.


"""The joints whose values stay valid after another description has replaced a robot's."""

from __future__ import annotations

from robot_semantics.state.robot_frames import RobotFrames


def common_joints(before: RobotFrames, after: RobotFrames) -> list[str]:
    """Return the moving joints of `after` whose values in `before` have the same meaning.

    These are the joints of the same name with the same quantities, an angle or a distance for example. The root joint
    has the same meaning only if the same link moves in the same frame.
    """
    if before.model is after.model:
        return [joint.name for joint in after.model.joints if joint.position_count]
    quantities = {joint.name: joint.motion.quantities for joint in before.model.joints}
    found = []
    for joint in after.model.joints:
        if joint.position_count and quantities.get(joint.name) == joint.motion.quantities:
            roots = [model.root_joint.name == joint.name for model in (before.model, after.model)]
            if not any(roots) or (all(roots) and _root_frames(before) == _root_frames(after)):
                found.append(joint.name)
    return found


def _root_frames(robot: RobotFrames) -> tuple[str, str]:
    return robot.parent_frame, robot.model.root_link
