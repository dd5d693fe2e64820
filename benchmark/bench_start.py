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
    parser.add_argument("--no-spheres", action="store_true", help="measure only the start")
    parser.add_argument("--program", type=Path, default=Path(sys.executable).with_name("robot_semantics"))
    arguments = parser.parse_args()
    program, runs = str(arguments.program.absolute()), arguments.runs
    python = str(arguments.program.absolute().with_name("python"))
    robot = [str(example("rover_arm.urdf")), str(example("rover_arm.srdf"))]
    commands = {
        "bare Python": [python, "-c", "pass"],
        "import argparse and lxml": [python, "-c", "import argparse, dataclasses, pathlib, lxml.etree"],
        "import numpy and lxml": [python, "-c", "import numpy, lxml.etree"],
        "import rosbags, numpy and lxml": [python, "-c", "import numpy, lxml.etree, rosbags.highlevel"],
        "--version": [program, "--version"],
        "--help": [program, "--help"],
        "check": [program, "check", *robot],
        "groups": [program, "groups", *robot],
        "usdf show": [program, "usdf", "show", str(example("rover_arm.usdf"))],
        "collisions disable": [program, "collisions", "disable", robot[1], "left_wheel", "palm_link"],
    }
    with tempfile.TemporaryDirectory() as folder:
        # A folder without settings of a project, which commands would read.
        os.chdir(folder)
        cpu_time([program, "bag", str(example("rover_arm.usdf")), "-o", "bag"])
        read_bag = "import sys, rosbags.highlevel as h, pathlib\nwith h.AnyReader([pathlib.Path('bag')]) as bag:\n"
        read_bag += "    for connection, _, data in bag.messages(): bag.deserialize(data, connection.msgtype)"
        commands["rosbags reads a small bag"] = [python, "-c", f"import numpy, lxml.etree\n{read_bag}"]
        commands["export of it"] = [program, "export", "bag", "-o", "world.usdf", "--force"]
        # All commands in turn: what else the machine does affects all equally.
        rounds = [[cpu_time(command) for command in commands.values()] for _ in range(runs)]
        times = dict(zip(commands, map(min, zip(*rounds, strict=True)), strict=True))
        for name, time in times.items():
            bare, libraries = time / times["bare Python"], time / times["import numpy and lxml"]
            print(f"| {name} | {1e3 * time:.0f} ms | {bare:.1f} | {libraries:.2f} |")
        urdf, srdf = Path(folder, "part.urdf"), Path(folder, "spheres.srdf")
        for name, geometry in () if arguments.no_spheres else SHAPES.items():
            link = f'<link name="a"><collision><geometry>{geometry}</geometry></collision></link>'
            urdf.write_text(f'<robot name="part">{link}</robot>')
            spheres = [program, "collisions", "spheres"]
            fit = cpu_time([*spheres, "generate", str(urdf), "--count", "8", "--jobs", "1", "-o", str(srdf), "--force"])
            print(f"| {name} | {fit:.1f} s | {cpu_time([*spheres, 'check', str(urdf), str(srdf)]):.1f} s |")
        os.chdir("/")  # the folder is deleted


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
