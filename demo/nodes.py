# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The demo with nodes: a PR2 is simulated, saved, killed and restored."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

# Set before rclpy is imported: the demo's nodes communicate only on this machine.
os.environ["ROS_AUTOMATIC_DISCOVERY_RANGE"] = "LOCALHOST"
os.environ["ROS_DOMAIN_ID"] = os.environ.get("DEMO_ROS_DOMAIN_ID") or str(1 + os.getpid() % 100)

from robot_semantics_interfaces.srv import (
    GetGroup,
    GetWorldState,
    ListGroups,
    RestoreSnapshot,
    SaveSnapshot,
    Step,
)
from std_srvs.srv import SetBool

from demo import robot as pr2
from demo.client import Client
from demo.comparison import differences, model_of
from demo.failure import DemoError
from demo.processes import Process, Processes
from demo.report import Report
from demo.tree import tf_tree
from robot_semantics import RobotModel, RobotSemanticsError, WorldState, read_world, save_world
from robot_semantics.transforms import matrix_from_pose, xyz_quat_from_matrix
from robot_semantics.transforms.pose import pose_matrix
from robot_semantics.usdf.reader import parse_world

FloatArray = npt.NDArray[np.float64]

FOLDER = Path(__file__).resolve().parents[1] / "build" / "demo"
SIMULATOR, NODE = "/mujoco_world", "/robot_semantics"
TOLERANCE = 1e-9
NEAR = 1e-3
STEPS_ON = 500
SHOWN = ("base_footprint", "head_tilt_link", "l_gripper_palm_link", "r_gripper_palm_link")
SPEEDS = {"world_joint/x": 0.3, "world_joint/y": -0.1, "world_joint/theta": 0.4}
REACH = {
    "torso_lift_joint": 0.2,
    "head_pan_joint": 0.6,
    "head_tilt_joint": 0.3,
    "l_shoulder_pan_joint": 0.7,
    "l_shoulder_lift_joint": 0.2,
    "l_elbow_flex_joint": -0.9,
    "r_shoulder_pan_joint": -0.6,
    "r_elbow_flex_joint": -1.2,
    "l_gripper_l_finger_joint": 0.3,
}


class Demo:
    """The demo's steps, in order."""

    def __init__(self, report: Report, processes: Processes) -> None:
        self.report = report
        self.processes = processes
        self.share = pr2.package_folder()
        self.robot: RobotModel
        self.simulator: Process
        self.node: Process

    def run(self) -> None:
        """Run the demo.

        Raises:
            DemoError: a result is wrong.
        """
        with self.report.step("Loading the PR2's URDF and SRDF") as outcome:
            self.robot, urdf, srdf = pr2.load(self.share)
            save_world(pr2.first_world(self.robot), FOLDER / "world.usdf")
            outcome.append(f"{len(self.robot.links)} links, {len(self.robot.semantics.groups)} groups")
        self.simulator = self._start_simulator("simulator-1", paused=False)
        self.node = self.processes.start(
            "robot_semantics_node",
            {
                "robot_description": urdf.read_text(),
                "robot_description_semantic": srdf.read_text(),
                "simulators": [SIMULATOR],
                "snapshots.directory": str(FOLDER),
                "use_sim_time": True,
            },
            "node",
        )
        with Client(self._still_alive) as client:
            self._ask_for_groups(client)
            self._drive(client)
            saved, later = self._save(client)
            self._kill(client)
            restored = self._restore(client)
            self._compare(client, saved, restored)
            self._go_on(client, later)

    def _start_simulator(self, name: str, *, paused: bool) -> Process:
        parameters = {"world": str(FOLDER / "world.usdf"), "package_paths": [str(self.share)], "start_paused": paused}
        return self.processes.start("mujoco_world", parameters, name)

    def _still_alive(self) -> None:
        self.simulator.check()
        self.node.check()

    def _ask_for_groups(self, client: Client) -> None:
        with self.report.step("Asking the node for the planning groups") as outcome:
            groups = client.call(ListGroups, f"{NODE}/list_groups").groups
            if sorted(groups) != sorted(self.robot.semantics.groups):
                raise DemoError(f"the node lists the groups {', '.join(groups)}")
            arm = client.call(GetGroup, f"{NODE}/get_group", name="right_arm").group
            outcome.append(
                f"{len(groups)}; right_arm: {len(arm.joints)} joints, chain {arm.base_link} to {arm.tip_link}, "
                f"states {', '.join(arm.states)}"
            )

    def _drive(self, client: Client) -> None:
        with self.report.step("Simulating: the base drives, the arms reach, a block falls") as outcome:
            before = client.wait_for("the base on TF", lambda: client.transform("odom_combined", "base_footprint"))
            client.command("velocity", SPEEDS)
            client.command("position", REACH)
            moved = client.wait_for("the base to move", lambda: _moved(client, before))
            links = client.wait_for(
                "every link on TF", lambda: client.transforms("odom_combined", self.robot.link_names)
            )
            outcome.append(f"{len(links)} links on TF, the base has moved {moved:.2f} m")

    def _save(self, client: Client) -> tuple[WorldState, WorldState]:
        with self.report.step("Saving a snapshot in the middle of the motion") as outcome:
            client.call(SetBool, f"{SIMULATOR}/pause", data=True)
            answer = client.call(SaveSnapshot, f"{NODE}/save_snapshot", name="snapshot", overwrite=True)
            if answer.missing:
                raise DemoError(f"the snapshot is not whole: {'; '.join(item.reason for item in answer.missing)}")
            saved = read_world(answer.path)
            twist = model_of(saved, pr2.MODEL).twist
            if twist is None or max(map(abs, twist)) < 0.05:
                raise DemoError(f"the base does not move in the snapshot: {twist}")
            outcome.append(f"{os.path.relpath(answer.path)}, {Path(answer.path).stat().st_size / 1000:.0f} kB of USDF")
        with self.report.step(f"Going on for {STEPS_ON} steps, to know what should come") as outcome:
            later = self._steps(client)
        return saved, later

    def _kill(self, client: Client) -> None:
        with self.report.step("Killing the simulator process with SIGKILL") as outcome:
            pid = self.simulator.pid
            self.simulator.kill()
            self.simulator = self._start_simulator("simulator-2", paused=True)
            outcome.append(f"process {pid} is dead; process {self.simulator.pid} starts anew")
            client.start_anew()

    def _restore(self, client: Client) -> WorldState:
        with self.report.step("Restoring from the USDF file") as outcome:
            answer = client.call(GetWorldState, f"{SIMULATOR}/get_world_state", with_text=True)
            fresh = parse_world(answer.text, "<simulator>")
            if fresh.time_ns != 0:
                raise DemoError(f"the new simulator does not start at time 0 but at {fresh.time_ns} ns")
            answer = client.call(RestoreSnapshot, f"{NODE}/restore_snapshot", once=True, name="snapshot")
            if answer.not_restored:
                raise DemoError(f"not restored: {'; '.join(item.reason for item in answer.not_restored)}")
            text = client.call(GetWorldState, f"{SIMULATOR}/get_world_state", with_text=True).text
            outcome.append(f"{len(answer.restored)} items, none left out")
            return parse_world(text, "<simulator>")

    def _compare(self, client: Client, saved: WorldState, restored: WorldState) -> None:
        found = differences(saved, restored)
        expected = _link_poses(saved, self.robot)
        links = self.robot.link_names
        on_tf = client.wait_for("the links on TF where they were", lambda: _all_at(client, links, expected))
        off = max(_apart(on_tf[name], expected[name]) for name in links)
        self.report.poses([(name, expected[name], on_tf[name]) for name in SHOWN])
        self.report.differences(found)
        largest = max(off, *(item.largest for item in found))
        self.report.line(f"Largest difference of all, TF of {len(on_tf)} links included: {largest:.1e}")
        if saved.time_ns != restored.time_ns:
            raise DemoError(f"the time is {restored.time_ns} ns, in the snapshot {saved.time_ns} ns")
        if not largest <= TOLERANCE:
            raise DemoError(f"the restored state is off by {largest:.1e}, more than {TOLERANCE:g}")
        tree = FOLDER / "tf_tree.txt"
        tree.write_text(tf_tree(self.robot, client))
        self.report.line(f"The TF tree is in {os.path.relpath(tree)}")

    def _go_on(self, client: Client, later: WorldState) -> None:
        with self.report.step(f"Going on for {STEPS_ON} steps in the new process") as outcome:
            now = self._steps(client)
            if now.engines != later.engines:
                raise DemoError("the restored simulation does not continue as the killed one did")
            outcome.append("every bit of the engine's state is that of the killed one")

    def _steps(self, client: Client) -> WorldState:
        client.call(Step, f"{SIMULATOR}/step", once=True, steps=STEPS_ON)
        answer = client.call(GetWorldState, f"{SIMULATOR}/get_world_state", with_text=True)
        return parse_world(answer.text, "<simulator>")


def _moved(client: Client, before: FloatArray) -> float | None:
    pose = client.transform("odom_combined", "base_footprint")
    distance = 0.0 if pose is None else float(np.linalg.norm(pose[:3] - before[:3]))
    return distance if distance > 0.3 else None


def _link_poses(state: WorldState, robot: RobotModel) -> dict[str, FloatArray]:
    """Return the (7,) poses of all links in the odometry frame, from the snapshot's file."""
    model = model_of(state, pr2.MODEL)
    T_odom_root = pose_matrix(model.pose)
    return {link.name: xyz_quat_from_matrix(T_odom_root @ pose_matrix(link.pose)) for link in model.links}


def _all_at(client: Client, links: Sequence[str], expected: Mapping[str, FloatArray]) -> dict[str, FloatArray] | None:
    """Return the links' poses on TF as soon as all are near the expected ones; the exact difference is shown later."""
    found = client.transforms("odom_combined", links)
    near = found is not None and all(_apart(found[name], expected[name]) < NEAR for name in links)
    return found if near else None


def _apart(pose: FloatArray, expected: FloatArray) -> float:
    return float(np.abs(matrix_from_pose(pose) - matrix_from_pose(expected)).max())


def main() -> int:
    """Run the demo; return the exit code."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    report = Report()
    try:
        with Processes(FOLDER) as processes:
            Demo(report, processes).run()
    except (DemoError, RobotSemanticsError, OSError) as error:
        print(f"demo: failed: {error}\n(the processes' logs are in {FOLDER})", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("demo: interrupted", file=sys.stderr)
        return 1
    print("demo: ok")
    return 0
