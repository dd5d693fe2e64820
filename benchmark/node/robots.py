# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Robots with any number of joints, for nodes to publish."""

from __future__ import annotations


def chain_urdf(joints: int) -> str:
    """Return a URDF of a chain of revolute joints, with a fixed flange after each tenth joint."""
    parts = ['<robot name="chain">', '<link name="link_000"/>']
    for number in range(joints):
        parts.append(
            f'<link name="link_{number + 1:03}"/><joint name="joint_{number:03}" type="revolute">'
            f'<origin xyz="0.1 0.02 {0.001 * number}" rpy="0.1 0.2 0.3"/>'
            f'<parent link="link_{number:03}"/><child link="link_{number + 1:03}"/>'
            '<axis xyz="0.6 0 0.8"/><limit lower="-3" upper="3" effort="1" velocity="1"/></joint>'
        )
        if number % 10 == 9:
            parts.append(
                f'<link name="flange_{number:03}"/><joint name="flange_joint_{number:03}" type="fixed">'
                f'<parent link="link_{number + 1:03}"/><child link="flange_{number:03}"/></joint>'
            )
    return "\n".join([*parts, "</robot>"])


def joint_names(joints: int) -> list[str]:
    """Return the names of the moving joints."""
    return [f"joint_{number:03}" for number in range(joints)]
