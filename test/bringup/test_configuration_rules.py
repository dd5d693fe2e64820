# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Rules of YAML files: each fault is reported alone at its place, and correct files are silent.

Places come from a mark in the text. The expected meaning is that of MoveIt's loaders (robot_model_loader, the
kinematics plugin loader, the simple controller manager, the Pilz limits) and of the controllers of ros2_control.
"""

from __future__ import annotations

import random

import pytest
from support.configured_arm import srdf, urdf
from support.marks import unmarked

from robot_semantics import Diagnostic, Severity
from robot_semantics.base.diagnostic import SourcePlace
from robot_semantics.base.yaml_reader import MAX_BYTES
from robot_semantics.bringup.checking import check_texts
from robot_semantics.bringup.decimal_numbers import fixed_yaml

ERROR, WARNING, NOTE = Severity.ERROR, Severity.WARNING, Severity.NOTE
LIMIT = "joint_limits:\n  grip: {has_acceleration_limits: true, max_acceleration: 1.0}\n"
OTHERS = f"{LIMIT}  elbow: {{has_acceleration_limits: true, max_acceleration: 1.0}}\n  shoulder: "
LISTED = "controller_list:\n  - {name: a, default: true, joints: [shoulder, elbow, grip]}\n"
SHOULDER = f"{OTHERS}{{has_acceleration_limits: true, max_acceleration: 1.0"


def controllers(
    names: str = "[arm_controller, hand_controller]", arm: str = "", joints: str = "[shoulder, elbow]"
) -> str:
    return (
        f"moveit_simple_controller_manager:\n  controller_names: {names}\n"
        f"  arm_controller: {{type: FollowJointTrajectory, action_ns: follow, joints: {joints}{arm}}}\n"
        "  hand_controller:\n    type: GripperCommand\n    action_ns: grip\n    joints: [grip]\n"
    )


JTC = "joint_trajectory_controller/JointTrajectoryController"
FORWARD = "forward_command_controller/ForwardCommandController"


def ros_controllers(parameters: str, kind: str = JTC, name: str = "arm_controller") -> str:
    return (
        f"controller_manager:\n  ros__parameters:\n    update_rate: 100\n    arm_controller:\n      type: {kind}\n"
        f"{name}:\n  ros__parameters: {{{parameters}}}\n"
    )


ARM = "joints: [shoulder, elbow], command_interfaces: [position], state_interfaces: [position, velocity]"
EFFORT = ARM.replace("command_interfaces: [position]", "command_interfaces: [effort]")
FAULTS = [
    # Joint limits.
    (WARNING, "unknown-joint", "joint 'sholder' does not exist in the robot; did you mean 'shoulder'?",
     "joint_limits:\n  §sholder: {has_velocity_limits: true, max_velocity: 1.0}"),
    (WARNING, "decimal-point", "max_velocity of joint 'shoulder' must be a decimal number, but '1' is not one",
     f"{SHOULDER}, has_velocity_limits: true, max_velocity: §1}}"),
    (WARNING, "decimal-point", "but '1e-1' is not one in YAML; write 1.0e-1",
     f"{SHOULDER}, has_velocity_limits: true, max_velocity: §1e-1}}"),
    (WARNING, "decimal-point", "write 1.5e+0", f"{SHOULDER}, has_velocity_limits: true, max_velocity: §1.5e0}}"),
    (WARNING, "decimal-point", "default_velocity_scaling_factor must be a decimal number",
     f"default_velocity_scaling_factor: §1\n{SHOULDER}}}"),
    (ERROR, "bad-number", "max_velocity of joint 'shoulder' should be a number, not 'fast'",
     f"{SHOULDER}, has_velocity_limits: true, max_velocity: §fast}}"),
    (ERROR, "bad-number", "should be a number, not '1.0' in quotes",
     f"{SHOULDER}, has_velocity_limits: true, max_velocity: §'1.0'}}"),
    # The text in quotes is not compared with the limit of the URDF.
    (ERROR, "bad-number", "should be a number, not '9.0' in quotes",
     f"{SHOULDER}, has_velocity_limits: true, max_velocity: §'9.0'}}"),
    (ERROR, "bad-number", "max_acceleration of joint 'shoulder' should be above 0, not 0",
     f"{OTHERS}{{has_acceleration_limits: true, max_acceleration: §0.0}}"),
    (ERROR, "bad-number", "should be a number, not a list",
     f"{SHOULDER}, has_velocity_limits: true, max_velocity: §[1.0]}}"),
    (ERROR, "bad-number", "should be a number, not a map",
     f"{SHOULDER}, has_velocity_limits: true, max_velocity: §{{a: 1.0}}}}"),
    (ERROR, "bad-number", "should be a number, not ''",
     f"{SHOULDER}, has_velocity_limits: true, max_velocity: §''}}"),
    (ERROR, "bad-value", "has_jerk_limits of joint 'shoulder' should be true or false, not 'maybe'",
     f"{SHOULDER}, has_jerk_limits: §maybe}}"),
    (ERROR, "limit-without-value", "joint 'shoulder' has has_jerk_limits: true, but no max_jerk",
     f"{SHOULDER}, §has_jerk_limits: true}}"),
    (WARNING, "limit-not-used", "MoveIt ignores max_velocity of joint 'shoulder' without has_velocity_limits: true",
     f"{SHOULDER}, §max_velocity: 1.0}}"),
    (WARNING, "unknown-key", "'max_speed' of joint 'shoulder' is not a key of joint limits",
     f"{SHOULDER}, §max_speed: 1.0}}"),
    (WARNING, "limit-above-urdf", "max_velocity 2 of joint 'shoulder' is outside the URDF's -1.5 to 1.5",
     f"{SHOULDER}, has_velocity_limits: true, max_velocity: §2.0}}"),
    (WARNING, "limit-above-urdf", "min_position -3 of joint 'shoulder' is outside the URDF's -2 to 2",
     f"{SHOULDER}, has_position_limits: true, min_position: §-3.0, max_position: 1.0}}"),
    (ERROR, "limits-crossed", "min_position 1 of joint 'shoulder' is above max_position -1",
     f"{SHOULDER}, min_position: §1.0, max_position: -1.0}}"),
    (WARNING, "no-acceleration-limit", "MoveIt cannot time a plan: 'shoulder'",
     f"{OTHERS}{{§has_acceleration_limits: false}}"),
    (WARNING, "no-acceleration-limit", "MoveIt cannot time a plan: 'shoulder', 'elbow'", f"§{LIMIT}"),
    (WARNING, "duplicate-name", "the key 'grip' is repeated; the last value is used",
     f"{SHOULDER}}}\n  §grip: {{has_acceleration_limits: true, max_acceleration: 1.0}}"),
    # Kinematics and planners.
    (WARNING, "unknown-group", "group 'amr' does not exist in the robot; did you mean 'arm'?",
     "§amr: {kinematics_solver: kdl_kinematics_plugin/KDLKinematicsPlugin}"),
    (WARNING, "group-not-chain", "group 'hand' is not a chain",
     "arm: {kinematics_solver: k/KDL}\n§hand: {kinematics_solver: kdl_kinematics_plugin/KDLKinematicsPlugin}"),
    (WARNING, "decimal-point", "kinematics_solver_timeout of group 'arm'",
     "arm: {kinematics_solver: k/KDL, kinematics_solver_timeout: §1}"),
    (WARNING, "unknown-group", "group 'hnd'", "arm: {planner_configs: [RRT]}\n§hnd: {planner_configs: [RRT]}"),
    # Controllers of MoveIt.
    (ERROR, "unknown-controller", "controller 'arm_ctrl' is not described in this file",
     controllers(names="[arm_controller, hand_controller, §arm_ctrl]")),
    (WARNING, "joint-not-served", "no controller of MoveIt moves 'elbow' of group 'arm'",
     "§" + controllers(joints="[shoulder]")),
    (ERROR, "unknown-joint", "joint 'elbo' does not exist in the robot; did you mean 'elbow'?",
     controllers(joints="[shoulder, elbow, §elbo]")),
    (ERROR, "bad-value", "the type of controller 'arm_controller' should be FollowJointTrajectory",
     controllers().replace("FollowJointTrajectory", "§FollowTrajectory")),
    (ERROR, "missing-key", "controller 'arm_controller' has no action_ns",
     controllers().replace("action_ns: follow, ", "").replace("  arm_controller:", "  §arm_controller:")),
    (WARNING, "unknown-controller", "controller_names does not have controller 'spare', so MoveIt ignores it",
     controllers() + "  §spare: {type: GripperCommand, action_ns: a, joints: [grip]}\n"),
    (WARNING, "controllers-overlap", "joint 'grip' has two default controllers, 'arm_controller' and 'hand_controller'",
     controllers(arm=", default: true", joints="[shoulder, elbow, grip]").replace(
         "joints: [grip]", "default: true\n    joints: [§grip]")),
    (ERROR, "unknown-joint", "joint 'elbo'",
     "controller_list:\n  - name: a\n    joints: [shoulder, elbow, grip, §elbo]"),
    (WARNING, "controllers-overlap", "joint 'grip' has two default controllers, 'a' and 'b'",
     f"{LISTED}  - {{name: b, default: true, joints: [§grip]}}"),
    (WARNING, "controllers-overlap", "joint 'grip' has two default controllers, 'a' and ''",
     f"{LISTED}  - {{default: true, joints: [§grip]}}"),
    # Controllers of ros2_control.
    (ERROR, "unknown-joint", "joint 'elbo' does not exist in the robot", ros_controllers("joints: [shoulder, §elbo]")),
    (ERROR, "unknown-joint", "joint 'wheel'",
     ros_controllers("left_wheel_names: [§wheel]", "diff_drive_controller/DiffDriveController")),
    (WARNING, "unknown-joint", "joint 'elbo' does not exist", ros_controllers("joint: §elbo", "my/Controller")),
    (ERROR, "unknown-interface", "<ros2_control> has no command interface 'velocity' for joint 'shoulder' and 1 more",
     ros_controllers(ARM.replace("command_interfaces: [position]", "command_interfaces: [§velocity]"))),
    (ERROR, "unknown-interface", "<ros2_control> has no state interface 'effort' for joint 'shoulder'",
     ros_controllers("joints: [shoulder], command_interfaces: [position], state_interfaces: [§effort]")),
    (ERROR, "unknown-interface", "no command interface 'effort' for joint 'elbow'",
     ros_controllers("joints: [elbow], interface_name: §effort", FORWARD)),
    (ERROR, "unknown-interface", "no command interface 'velocity' for joint 'elbow'",
     ros_controllers("joints: [elbow]", "velocity_controllers/JointGroupVelocityController").replace(
         "ros__parameters: {j", "§ros__parameters: {j")),
    (ERROR, "uncontrolled-joint", "joint 'grip' of controller 'arm_controller' is in no <ros2_control>",
     ros_controllers("joints: [shoulder, §grip], command_interfaces: [position], state_interfaces: [position]")),
    (ERROR, "listed-twice", "controller 'arm_controller' has joint 'elbow' twice",
     ros_controllers(ARM.replace("elbow]", "elbow, §elbow]"))),
    (NOTE, "controllers-overlap", "controllers 'arm_controller' and 'other' both command 'shoulder/position'",
     ros_controllers(ARM).replace("    arm_controller:", f"    other: {{type: {JTC}}}\n    arm_controller:")
     + f"other:\n  ros__parameters: {{{ARM.replace('[shoulder', '[§shoulder')}}}\n"),
    (WARNING, "decimal-point", "constraint goal_time of controller 'arm_controller'",
     ros_controllers(f"{ARM}, constraints: {{goal_time: §0}}")),
    (WARNING, "decimal-point", "gain elbow.p of controller 'arm_controller' must be a decimal number",
     ros_controllers(f"{ARM}, gains: {{elbow: {{p: §100, angle_wraparound: true}}}}")),
    (WARNING, "unknown-joint", "controller 'arm_controller' has gains for 'elbo', which is not one of its joints; did",
     ros_controllers(f"{ARM}, gains: {{§elbo: {{p: 100.0}}}}")),
    (WARNING, "unknown-joint", "controller 'arm_controller' has gains for 'elbo', which is not one of its joints; did",
     ros_controllers(f"{ARM}, §gains.elbo.p: 100.0")),
    (WARNING, "unknown-joint", "controller 'arm_controller' has constraints for 'lower_joint', which is not one of its",
     ros_controllers(f"{ARM}, constraints: {{§lower_joint: {{goal: 0.2}}, goal_time: 0.0}}")),
    (WARNING, "unknown-joint", "controller 'arm_controller' has gains for 'grip', which is not one of its joints",
     ros_controllers("dof_names: [shoulder], gains: {§grip: {p: 1.0}}", "pid_controller/PidController")),
    # Parameters with dots are the same parameters.
    (WARNING, "decimal-point", "constraint stopped_velocity_tolerance of controller 'arm_controller'",
     ros_controllers(f"{ARM}, constraints.stopped_velocity_tolerance: §1")),
    (WARNING, "decimal-point", "gain elbow.d of controller 'arm_controller'",
     ros_controllers(f"{ARM}, gains.elbow.p: 1.0, gains: {{elbow: {{i: 0.0}}}}, gains.elbow.d: §1")),
    (ERROR, "unknown-joint", "joint 'elbo' does not exist in the robot",
     ros_controllers("joints: [shoulder, §elbo]").replace("arm_controller:\n      type", "arm_controller.type")),
    (ERROR, "bad-number", "gain elbow.p of controller 'arm_controller' should be a number, not a map",
     ros_controllers(f"{ARM}, gains: {{elbow: {{p: §{{x: 1.0}}}}}}")),
    (ERROR, "bad-number", "gain elbow.p of controller 'arm_controller' should be a number, not a map",
     ros_controllers(f"{ARM}, §gains.elbow.p.x: 1.0")),
    (ERROR, "bad-number", "gain elbow.p of controller 'arm_controller' should be a number, not a map",
     ros_controllers(f"{ARM}, §gains.elbow.p.x: 1")),
    # Names with a slash.
    (ERROR, "unknown-joint", "joint 'robot1/shoulder' does not exist in the robot",
     ros_controllers("joints: [§robot1/shoulder]")),
    (ERROR, "unknown-joint", "joint 'robot1/shoulder' and 1 more should not have the prefix 'robot1/' of the robot's",
     ros_controllers("joints: [§robot1/shoulder, robot1/elbow]")),
    (ERROR, "unknown-joint", "joint 'ns/grip' does not exist",
     ros_controllers("left_wheel_names: [§ns/grip]", "diff_drive_controller/DiffDriveController")),
    (WARNING, "unknown-controller", "the controller manager has no controller 'arm_controler'",
     ros_controllers("joints: [shoulder]", name="§arm_controler")),
    # Other sections.
    (WARNING, "unknown-joint", "joint 'elbo' does not exist", "initial_positions: {shoulder: 0.0, §elbo: 0.0}"),
    (WARNING, "outside-limits", "the initial position 3 of joint 'elbow' is outside its limits -2 to 2",
     "initial_positions: {shoulder: 0, elbow: §3}"),
    (ERROR, "bad-number", "the initial position of 'elbow' should be a number, not 'up'",
     "initial_positions: {shoulder: 0.0, elbow: §up}"),
    (WARNING, "decimal-point", "max_rot_vel must be a decimal number",
     "cartesian_limits: {max_trans_vel: 1.0, max_trans_acc: 1.0, max_trans_dec: -5.0, max_rot_vel: §1}"),
    (WARNING, "missing-key", "cartesian_limits has no max_trans_dec",
     "§cartesian_limits: {max_trans_vel: 1.0, max_trans_acc: 1.0, max_rot_vel: 1.0}"),
    (WARNING, "unknown-sensor", "sensor 'camra' is not described in this file; did you mean 'camera'?",
     "sensors: [§camra]\ncamera: {sensor_plugin: p/P}"),
    # Files.
    (ERROR, "bad-yaml", "is not YAML", "joint_limits:\n  a: [1\nb§: 2"),
    (NOTE, "substitution", "values with a substitution, as '$(var x)', are not checked",
     f"{SHOULDER}, has_velocity_limits: true, max_velocity: §$(var x)}}"),
    (NOTE, "substitution", "the tag '!degrees' is of xacro, so this file is not checked",
     "joint_limits:\n  elbo: {max_position: §!degrees 90}"),
]  # fmt: skip


def problems(text: str, urdf_text: str = "", srdf_text: str = "") -> list[Diagnostic]:
    texts = {"a.urdf": urdf_text or urdf(), "a.srdf": srdf_text or srdf(), "a.yaml": text}
    return check_texts(texts)


@pytest.mark.parametrize(
    ("severity", "code", "message", "marked"), FAULTS, ids=[f"{row[1]}: {row[2][:40]}" for row in FAULTS]
)
def test_a_fault_is_reported_alone_with_its_place(severity: Severity, code: str, message: str, marked: str) -> None:
    text, place = unmarked(marked)
    (problem,) = problems(text)
    assert (problem.severity, problem.code) == (severity, code)
    assert message in str(problem)
    assert problem.place.source == "a.yaml"
    assert (problem.place.line, problem.place.column) == place


FINE = [
    f"{SHOULDER}, has_velocity_limits: yes, max_velocity: 1.5}}",
    f"{SHOULDER}, has_position_limits: true, min_position: -2.0, max_position: 2.0}}",
    "/**:\n  ros__parameters:\n    robot_description_planning:\n" + "".join(
        f"      {line}\n" for line in f"{SHOULDER}}}".splitlines()),
    f"{SHOULDER}, has_jerk_limits: false, max_jerk: .inf}}",
    "arm: {kinematics_solver: kdl_kinematics_plugin/KDLKinematicsPlugin, kinematics_solver_timeout: 0.05}",
    "hand: {kinematics_solver: bio_ik/BioIKKinematicsPlugin}",
    "planner_configs: {RRT: {type: geometric::RRT, range: 0}}\narm: {planner_configs: [RRT]}",
    controllers(),
    controllers().replace("moveit_simple_controller_manager:\n", "").replace("\n  ", "\n").lstrip(),
    controllers(arm=", default: true"),
    ros_controllers(ARM),
    ros_controllers(f"{ARM}, constraints: {{goal_time: 0.5, elbow: {{goal: 0.1}}}}"),
    ros_controllers("joints: [lamp], interface_name: 'on'", FORWARD),
    ros_controllers("joints: [shoulder], command_joints: [pid/shoulder], command_interfaces: [velocity]")
    + "pid:\n  ros__parameters: {dof_names: [shoulder]}\n",
    ros_controllers("joints: [shoulder], command_joints: [pid/shoulder], command_interfaces: [velocity]").replace(
        "    arm_controller:", "    pid.type: pid_controller/PidController\n    arm_controller:"),
    ros_controllers(f"{ARM}, gains.elbow.p: 1.0, constraints.elbow.goal: 0.1, constraints.goal_time: 0.5"),
    ros_controllers("joint: grip", "position_controllers/GripperActionController"),
    ros_controllers("joints: [shoulder], command_interfaces: [torque]", "my/Controller"),
    ros_controllers("joint: tcp", "my/Controller"),
    "initial_positions: {shoulder: 0, elbow: -1.5}",
    "cartesian_limits: {max_trans_vel: 1.0, max_trans_acc: 2.25, max_trans_dec: -5.0, max_rot_vel: 1.57}",
    "sensors: []",
    "sensors:\n  - sensor_plugin: p/P\n    image_topic: /a",
    "some: {other: [file, 1, true]}",
]  # fmt: skip


@pytest.mark.parametrize("text", FINE)
def test_a_correct_file_is_not_reported(text: str) -> None:
    assert problems(text) == []


PREFIXED = [
    ("left_", "", "joint 'grip' and 2 more lack the prefix 'left_' of the robot's names"),
    ("", "left_", "joint 'left_grip' and 2 more should not have the prefix 'left_' of the robot's names"),
]


@pytest.mark.parametrize(("robot", "file", "message"), PREFIXED)
def test_a_prefix_that_is_forgotten_everywhere_is_said_once(robot: str, file: str, message: str) -> None:
    lines = [
        f"  {file}{name}: {{has_acceleration_limits: true, max_acceleration: 1.0}}"
        for name in ("grip", "elbow", "shoulder")
    ]
    (problem,) = problems("\n".join(["joint_limits:", *lines]), urdf(robot), srdf(robot))
    assert (problem.code, problem.message) == ("unknown-joint", message)
    assert (problem.place.line, problem.place.column) == (2, 3)


def test_a_controller_in_several_files_is_an_alternative_and_its_names_are_warnings() -> None:
    texts = {
        "a.urdf": urdf(),
        "one.yaml": ros_controllers(ARM),
        "two.yaml": ros_controllers(EFFORT),
    }
    found = check_texts(texts)
    assert [(item.place.source, item.severity, item.code) for item in found] == [
        ("two.yaml", WARNING, "unknown-interface")
    ]


@pytest.mark.parametrize("others", [["zebra", "ant"], ["ant", "zebra"]])
def test_each_pair_of_controllers_with_a_common_interface_is_said_once(others: list[str]) -> None:
    names = ["middle", *others]
    kinds = "".join(f"    {name}: {{type: {JTC}}}\n" for name in names)
    listed = f"controller_manager:\n  ros__parameters:\n    update_rate: 100\n{kinds}"
    commands = {"middle": "position, velocity", others[0]: "velocity", others[1]: "effort, velocity"}
    parts = (
        f"{name}:\n  ros__parameters: {{joints: [shoulder, elbow], command_interfaces: [{commands[name]}]}}\n"
        for name in names
    )
    found = [item.message for item in problems(listed + "".join(parts)) if item.code == "controllers-overlap"]
    assert found == [
        f"controllers 'middle' and '{name}' both command 'shoulder/velocity'; only one of them can be active"
        for name in others
    ]


def test_a_controller_of_moveit_in_several_files_is_an_alternative() -> None:
    texts = {"a.urdf": urdf(), "one.yaml": controllers(), "two.yaml": controllers(joints="[shoulder, elbo]")}
    assert [(item.severity, item.code) for item in check_texts(texts)] == [(WARNING, "unknown-joint")]


def test_a_joint_that_an_alternative_file_leaves_out_is_a_note() -> None:
    """Not a warning: packages have alternatives for robots with 5, 6 and 7 joints."""
    texts = {"a.urdf": urdf(), "one.yaml": ros_controllers(ARM), "two.yaml": ros_controllers(ARM)}
    assert check_texts(texts) == []
    texts["two.yaml"] = ros_controllers(ARM.replace("[shoulder, elbow]", "[shoulder]"))
    (problem,) = check_texts(texts)
    assert str(problem).startswith(
        "two.yaml:7:21: note: controller 'arm_controller' does not have 'elbow' here, but in 'one.yaml'"
    )
    other_robot = {**texts, "a.urdf": urdf("left_"), "two.yaml": ros_controllers("joints: [shoulder]")}
    assert "joint-not-served" not in {item.code for item in check_texts(other_robot)}
    moveit = {"a.urdf": urdf(), "one.yaml": controllers(), "two.yaml": controllers(joints="[elbow]")}
    assert [(item.severity, item.code) for item in check_texts(moveit)] == [(NOTE, "joint-not-served")]


def test_without_a_block_a_name_may_be_of_a_gpio_so_it_is_a_warning() -> None:
    text = ros_controllers("joint: lamp", "position_controllers/GripperActionController")
    assert check_texts({"a.urdf": urdf(), "a.yaml": text}) == []
    plain = urdf().partition("<ros2_control")[0] + "</robot>"
    (problem,) = check_texts({"a.urdf": plain, "a.yaml": text})
    assert (problem.severity, problem.code) == (WARNING, "unknown-joint")


def test_without_a_robot_only_names_are_not_checked() -> None:
    text = "joint_limits:\n  nobody: {has_velocity_limits: true, max_velocity: 1}\nsensors: [a]"
    assert [problem.code for problem in check_texts({"a.yaml": text})] == ["decimal-point", "unknown-sensor"]


def test_two_files_are_checked_together() -> None:
    texts = {
        "a.urdf": urdf(),
        "a.srdf": srdf(),
        "moveit.yaml": controllers(),
        "ros2.yaml": ros_controllers(ARM, name="arms_controller").replace("    arm_controller", "    arms_controller"),
    }
    (problem,) = check_texts(texts)
    assert str(problem) == (
        "moveit.yaml:2:22: warning: ros2_control has no controller 'arm_controller'; did you mean 'arms_controller'? "
        "[/moveit_simple_controller_manager/controller_names/0] (unknown-controller)"
    ).removesuffix(" (unknown-controller)")


def test_all_problems_of_all_texts_are_reported_together() -> None:
    texts = {
        "a.urdf": urdf().replace("driver/Arm", ""),
        "a.srdf": srdf().replace('joint name="grip"', 'joint name="gripp"'),
        "a.yaml": "initial_positions: {elbo: 0.0}",
        "b.yaml": "sensors: [",
    }
    found = [(problem.place.source, problem.code) for problem in check_texts(texts)]
    assert found == [
        ("a.urdf", "missing-element"), ("a.srdf", "unknown-joint"), ("b.yaml", "bad-yaml"), ("a.yaml", "unknown-joint"),
    ]  # fmt: skip


def test_random_edits_never_end_with_an_exception_and_leave_no_old_problem() -> None:
    source = random.Random(7)
    texts = {
        "a.urdf": urdf(),
        "a.srdf": srdf(),
        "a.yaml": SHOULDER + "}",
        "b.yaml": controllers(),
        "c.yaml": ros_controllers(ARM),
    }
    clean = check_texts(texts)
    assert clean == []
    marks = [
        "",
        "\t",
        ":",
        "- ",
        "[",
        "{",
        "'",
        '"',
        "&a ",
        "*a",
        "!x ",
        "$(var a)",
        "0",
        "\n",
        "#",
        "%",
        "\x00",
        "é",
        "<<: *a",
    ]
    for _ in range(400):
        name = source.choice([name for name in texts if name.endswith(".yaml")])
        at = source.randrange(len(texts[name]))
        changed = texts[name][:at] + source.choice(marks) + texts[name][at + source.randrange(3) :]
        for problem in check_texts({**texts, name: changed}):
            assert problem.place.source in texts
            lines = {**texts, name: changed}[problem.place.source].split("\n")
            assert 0 <= problem.place.line <= len(lines) + 1
    assert check_texts(texts) == clean


def test_a_template_and_a_text_that_is_too_long_are_not_checked() -> None:
    for text, severity, code, message in (
        ("{% if a %}\njoint_limits: {{a: b\n{% endif %}", NOTE, "substitution", "this file is a template and is not"),
        (
            f"joint_limits: {{}}\n# {'x' * MAX_BYTES}",
            ERROR,
            "too-large",
            f"the text is longer than {MAX_BYTES:,} bytes",
        ),
    ):
        (problem,) = problems(text)
        assert (problem.severity, problem.code, problem.place.line) == (severity, code, 0)
        assert problem.message.startswith(message)


@pytest.mark.parametrize(
    ("value", "words"),
    [("fast", "'fast'"), ("'1.0'", "'1.0' in quotes"), ("''", "''"), ("[1.0]", "a list"), ("{a: 1.0}", "a map")],
)
def test_a_value_that_is_no_number_is_said_as_it_is_written(value: str, words: str) -> None:
    (problem,) = problems(f"{SHOULDER}, has_velocity_limits: true, max_velocity: {value}}}")
    assert problem.message == f"max_velocity of joint 'shoulder' should be a number, not {words}"


def test_sections_are_found_up_to_the_sixth_level() -> None:
    text = f"{SHOULDER}, has_velocity_limits: true, max_velocity: 1}}"
    for levels in range(9):
        names = [f"l{level}" for level in range(levels)]
        lines = [*(f"{'  ' * level}{name}:" for level, name in enumerate(names))]
        lines += [f"{'  ' * levels}{line}" for line in text.splitlines()]
        assert [problem.code for problem in problems("\n".join(lines))] == ["decimal-point"] * (levels <= 6)
        dotted = ros_controllers(f"{ARM}, gains.elbow.p: 1").splitlines()
        lines[levels:] = [f"{'  ' * levels}{line}" for line in dotted]
        assert [problem.code for problem in problems("\n".join(lines))] == ["decimal-point"] * (levels <= 6)


def test_only_the_misspelt_word_itself_is_fixed() -> None:
    text = "joint_limits:\n  elboow: 1.0\n  zero: 1.0\n  alpha: 1.0\n"
    found = [
        Diagnostic(ERROR, "unknown-joint", "m", SourcePlace("a", line, 3), "elbow", certain=True, name="elboow")
        for line in (2, 3, 4)
    ]
    assert fixed_yaml(text, found) == text.replace("elboow", "elbow")
    assert fixed_yaml("a: [", found) == "a: ["
