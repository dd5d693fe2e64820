# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The demo without ROS: a PR2 is simulated and saved; a new process continues from the file, bit for bit."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from demo import robot as pr2
from demo.failure import DemoError
from robot_semantics import RobotSemanticsError, read_world, save_world

FOLDER = Path(__file__).resolve().parents[1] / "build" / "demo"
STEPS, STEPS_ON = 500, 500


def step(before: Path, steps: int, after: Path) -> None:
    """Simulate the PR2 for some steps in a new process.

    Raises:
        DemoError: it fails.
    """
    words = ["sim", "run", before, "--steps", steps, "--package-path", pr2.package_folder(), "--force", "-o", after]
    command = [sys.executable, "-m", "robot_semantics.cli.main", *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise DemoError(done.stderr)


def run() -> None:
    """Run the demo.

    Raises:
        DemoError: a result is wrong.
    """
    robot, _, _ = pr2.load(pr2.package_folder())
    print(f"loaded the PR2: {len(robot.links)} links, {len(robot.semantics.groups)} groups")
    world, saved, later, again = (FOLDER / f"{name}.usdf" for name in ("world", "saved", "later", "again"))
    save_world(pr2.first_world(robot), world)
    step(world, STEPS, saved)
    print(f"simulated {STEPS} steps, saved {saved.name}; the process has ended")
    step(saved, STEPS_ON, later)
    step(saved, STEPS_ON, again)
    step(world, STEPS + STEPS_ON, FOLDER / "whole.usdf")
    if read_world(later).engines != read_world(again).engines:
        raise DemoError("two processes continue the same file differently")
    if read_world(later).engines != read_world(FOLDER / "whole.usdf").engines:
        raise DemoError("a restored simulation does not continue as one that was not interrupted")
    print(f"a new process continued it for {STEPS_ON} steps: every bit is that of a simulation without a break")


def main() -> int:
    """Run the demo; return the exit code."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    print("the demo without ROS: nodes and TF are left out; a ROS 2 installation and colcon bring them (README)")
    try:
        run()
    except (DemoError, RobotSemanticsError, OSError) as error:
        print(f"demo: failed: {error}", file=sys.stderr)
        return 1
    print("demo: ok")
    return 0
