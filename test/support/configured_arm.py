# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""A small arm with groups and `<ros2_control>`, for tests of its configuration."""

from __future__ import annotations


def _joint(name: str, kind: str, parent: str, child: str, rest: str) -> str:
    return f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>{rest}</joint>'


def _controlled(name: str) -> str:
    return (
        f'<joint name="{name}"><command_interface name="position"/>'
        '<state_interface name="position"/><state_interface name="velocity"/></joint>'
    )


def urdf(prefix: str = "") -> str:
    """Return the URDF: joints shoulder, elbow and grip, and follow, which mimics grip; `prefix` begins all names."""
    links = "".join(f'<link name="{prefix}{name}"/>' for name in ("base", "upper", "fore", "left", "right"))
    turning = '<axis xyz="0 0 1"/><limit lower="-2" upper="2" velocity="1.5" effort="10"/>'
    opening = '<axis xyz="0 1 0"/><limit lower="0" upper="0.04" velocity="0.1" effort="10"/>'
    p = prefix
    return (
        f'<robot name="arm">{links}'
        + _joint(f"{p}shoulder", "revolute", f"{p}base", f"{p}upper", turning)
        + _joint(f"{p}elbow", "revolute", f"{p}upper", f"{p}fore", turning)
        + _joint(f"{p}grip", "prismatic", f"{p}fore", f"{p}left", opening)
        + _joint(f"{p}follow", "prismatic", f"{p}fore", f"{p}right", f'{opening}<mimic joint="{p}grip"/>')
        + '<ros2_control name="arm" type="system"><hardware><plugin>driver/Arm</plugin></hardware>'
        + _controlled(f"{p}shoulder")
        + _controlled(f"{p}elbow")
        + '<gpio name="lamp"><command_interface name="on"/></gpio></ros2_control></robot>'
    )


def srdf(prefix: str = "", *, hand: bool = True) -> str:
    """Return the SRDF: the chain arm, and if `hand`, the group hand, which is no chain."""
    p = prefix
    group = f'<group name="hand"><joint name="{p}grip"/><joint name="{p}follow"/></group>' if hand else ""
    chain = f'<group name="arm"><chain base_link="{p}base" tip_link="{p}fore"/></group>'
    return f'<robot name="arm">{chain}{group}</robot>'
