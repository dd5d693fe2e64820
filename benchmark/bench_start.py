# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The start of commands, and spheres of thin parts: least processor time of several runs, over bare Python.

Run: python -m benchmark.bench_start [--runs N] [--program FILE], with the program of an installed wheel, as users have.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from robot_semantics.examples import example

SHAPES = {
    **{f"rod, {radius:g} mm": f'<cylinder radius="{radius / 1e3}" length="1"/>' for radius in (20, 10, 5, 1, 0.1)},
    **{f"disc, {thick:g} mm": f'<cylinder radius="0.5" length="{thick / 1e3}"/>' for thick in (40, 10, 0.2)},
    **{f"plate, {thick:g} mm": f'<box size="1 0.5 {thick / 1e3}"/>' for thick in (40, 10, 0.2)},
}
"""Geometries of 1 m by the name of their table row: radius of rods, thickness of discs and plates."""


def main() -> None:
    """Print the two tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=12, help="runs of each command")
    parser.add_argument("--program", type=Path, default=Path(sys.executable).with_name("robot_semantics"))
    arguments = parser.parse_args()
    program, runs = str(arguments.program), arguments.runs
    python = str(arguments.program.with_name("python"))
    robot = [str(example("rover_arm.urdf")), str(example("rover_arm.srdf"))]
    commands = {
        "bare Python": [python, "-c", "pass"],
        "import numpy and lxml": [python, "-c", "import numpy, lxml.etree"],
        "--version": [program, "--version"],
        "--help": [program, "--help"],
        "check": [program, "check", *robot],
        "groups": [program, "groups", *robot],
        "usdf show": [program, "usdf", "show", str(example("rover_arm.usdf"))],
        "collisions disable": [program, "collisions", "disable", robot[1], "left_wheel", "palm_link"],
    }
    times = {name: min(cpu_time(command) for _ in range(runs)) for name, command in commands.items()}
    for name, time in times.items():
        bare, libraries = time / times["bare Python"], time / times["import numpy and lxml"]
        print(f"| {name} | {1e3 * time:.0f} ms | {bare:.1f} | {libraries:.2f} |")
    with tempfile.TemporaryDirectory() as folder:
        urdf, srdf = Path(folder, "part.urdf"), Path(folder, "spheres.srdf")
        for name, geometry in SHAPES.items():
            link = f'<link name="a"><collision><geometry>{geometry}</geometry></collision></link>'
            urdf.write_text(f'<robot name="part">{link}</robot>')
            spheres = [program, "collisions", "spheres"]
            fit = cpu_time([*spheres, "generate", str(urdf), "--count", "8", "--jobs", "1", "-o", str(srdf), "--force"])
            print(f"| {name} | {fit:.1f} s | {cpu_time([*spheres, 'check', str(urdf), str(srdf)]):.1f} s |")


def cpu_time(command: list[str]) -> float:
    """Return the processor time of a process that succeeds [s]."""
    started = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(started.pid, 0)
    started.returncode = os.waitstatus_to_exitcode(status)
    if started.returncode:
        raise subprocess.CalledProcessError(started.returncode, command)
    return usage.ru_utime + usage.ru_stime


if __name__ == "__main__":
    main()
