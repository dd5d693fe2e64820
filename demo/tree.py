# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The TF tree as text: every frame below its parent, with its pose in the odometry frame."""

from __future__ import annotations

from collections.abc import Iterator

from demo.client import Client
from robot_semantics import RobotModel


def tf_tree(robot: RobotModel, client: Client) -> str:
    """Return the robot's frames as a tree, with their poses for a TF listener."""
    root = robot.root_joint.parent_link
    header = f"{root}  (x y z [m], quaternion x y z w in this frame)"
    return "\n".join([header, *_line(robot, client, root, 0, "", last=True)]) + "\n"


def _line(robot: RobotModel, client: Client, root: str, link: int, indent: str, *, last: bool) -> Iterator[str]:
    joint = robot.joints[link]
    pose = client.transform(root, robot.links[link].name)
    place = "not on TF" if pose is None else "  ".join(f"{value:+.4f}" for value in pose)
    yield f"{indent}{'└' if last else '├'}─ {robot.links[link].name}  [{joint.type.value} {joint.name}]  {place}"
    children = robot.links[link].children
    for number, child in enumerate(children, start=1):
        yield from _line(robot, client, root, child, indent + ("   " if last else "│  "), last=number == len(children))
