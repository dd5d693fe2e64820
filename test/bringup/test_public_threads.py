# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Faults that people reported in public threads, each in a file of our own, found at its line and column."""

from __future__ import annotations

import pytest
from support.configured_arm import srdf, urdf
from support.marks import unmarked

from robot_semantics.bringup.checking import check_texts

ALL = '<group name="all"><link name="upper"/><link name="fore"/><link name="left"/><link name="right"/></group>'
KDL = "{kinematics_solver: kdl_kinematics_plugin/KDLKinematicsPlugin}"
LIMITED = "{has_acceleration_limits: true, max_acceleration: 2.0}"
CONTROL = '<ros2_control name="arm" type="system"><hardware><plugin>driver/Arm</plugin></hardware>'


def limits(shoulder: str, *, grip: str = LIMITED) -> str:
    return f"joint_limits:\n  elbow: {LIMITED}\n  grip: {grip}\n  shoulder:\n{shoulder}"


MARKED = [
    ("moveit/moveit2#2776", "decimal-point", "joint_limits.yaml",
     limits("    has_acceleration_limits: true\n    max_acceleration: 2.0\n    has_velocity_limits: true\n"
            "    max_velocity: §1\n")),
    ("moveit/moveit2#3604", "decimal-point", "joint_limits.yaml",
     limits("    has_velocity_limits: true\n    max_velocity: 1.0\n    has_acceleration_limits: true\n"
            "    max_acceleration: §10\n")),
    ("moveit/moveit2#3716", "decimal-point", "joint_limits.yaml",
     limits("    has_velocity_limits: false\n    max_velocity: §0\n    has_acceleration_limits: true\n"
            "    max_acceleration: 1.5\n")),
    ("Interbotix/interbotix_ros_manipulators#115", "decimal-point", "limits.yaml",
     limits("    has_acceleration_limits: true\n    max_acceleration: 2.0\n",
            grip="{has_acceleration_limits: true, max_acceleration: 2.0, min_position: §0}")),
    ("agilexrobotics/piper_ros#17", "no-acceleration-limit", "joint_limits.yaml",
     limits("    has_velocity_limits: true\n    max_velocity: 1.5\n    §has_acceleration_limits: false\n"
            "    max_acceleration: 0.0\n")),
    ("enactic/openarm_ros2#89", "no-acceleration-limit", "joint_limits.yaml",
     "joint_limits:\n" + "".join(
         f"  {name}:\n    {mark}has_acceleration_limits: false\n    max_acceleration: 0.0\n"
         for name, mark in (("shoulder", "§"), ("elbow", ""), ("grip", "")))),
    ("moveit/moveit_resources#166", "no-acceleration-limit", "joint_limits.yaml",
     limits(f"    {LIMITED}", grip="\n    has_velocity_limits: true\n    max_velocity: 0.1\n"
            "    §has_acceleration_limits: false")),
    ("moveit/moveit#3578", "joint-not-served", "simple_moveit_controllers.yaml", "§controller_list: []\n"),
    ("xArm-Developer/xarm_ros#224", "joint-not-served", "moveit_controllers.yaml",
     "§moveit_simple_controller_manager:\n  controller_names: []\n"),
    ("moveit/moveit2#1800", "group-not-chain", "kinematics.yaml", f"arm: {KDL}\n§hand: {KDL}\n"),
    ("ros-controls/ros2_control#2173", "unknown-element", "arm.urdf",
     urdf().replace('<gpio name="lamp">', '\n  §<gipo name="lamp">').replace("</gpio>", "</gipo>")),
    ("ros-controls/ros2_control#3461", "bad-value", "arm.urdf",
     urdf().replace('name="arm" type="system"', 'name="arm"\n    §type="robot"')),
    ("ros-controls/ros2_control#2138", "missing-element", "arm.urdf",
     urdf().replace("<hardware><plugin>driver/Arm</plugin></hardware>",
                    "\n  §<hardware><param name='p'>1</param></hardware>")),
    ("ros-controls/ros2_control#652", "mimic-commanded", "arm.urdf",
     urdf().replace('<gpio name="lamp">', '<joint name="grip"/><joint name="follow">\n'
                    '  §<command_interface name="position"/></joint><gpio name="lamp">')),
    ("ros-controls/ros2_control#1256", "leader-not-controlled", "arm.urdf",
     urdf().replace('<gpio name="lamp">', '<joint\n  §name="follow"><state_interface name="position"/></joint>'
                    '<gpio name="lamp">')),
]  # fmt: skip


@pytest.mark.parametrize(("thread", "code", "name", "marked"), MARKED, ids=[row[0] for row in MARKED])
def test_a_reported_fault_is_found_at_its_place(thread: str, code: str, name: str, marked: str) -> None:
    text, place = unmarked(marked)
    found = check_texts({"arm.urdf": urdf(), "arm.srdf": srdf(), name: text})
    # A joint without a controller is reported for each of the two groups, at one place.
    assert {(item.place.source, item.place.line, item.place.column, item.code) for item in found} == {
        (name, *place, code)
    }


CHAINS = [
    ("moveit/moveit#1357", "all", srdf().replace("</robot>", f"{ALL}</robot>")),
    ("moveit/moveit#2599", "arm", srdf().replace("</group>", '<joint name="grip"/><joint name="follow"/></group>', 1)),
]


@pytest.mark.parametrize(("thread", "group", "semantic"), CHAINS, ids=[row[0] for row in CHAINS])
def test_a_solver_of_a_group_that_is_no_chain_is_found(thread: str, group: str, semantic: str) -> None:
    found = check_texts({"arm.urdf": urdf(), "arm.srdf": semantic, "kinematics.yaml": f"# solvers\n{group}: {KDL}\n"})
    (problem,) = [item for item in found if item.place.source == "kinematics.yaml"]
    assert (problem.code, problem.place.line, problem.place.column) == ("group-not-chain", 2, 1)


def test_the_joint_limits_without_the_prefix_of_the_robot_are_found_once() -> None:
    # moveit/moveit2#3504
    text = "joint_limits:\n" + "".join(f"  {name}: {LIMITED}\n" for name in ("shoulder", "elbow", "grip"))
    (problem,) = check_texts({"arm.urdf": urdf("ur_"), "arm.srdf": srdf("ur_"), "joint_limits.yaml": text})
    assert str(problem).startswith("joint_limits.yaml:2:3: warning: joint 'shoulder' and 2 more lack the prefix 'ur_'")
