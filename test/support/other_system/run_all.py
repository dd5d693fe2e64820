# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Run the examples of all commands that need no ROS in the working folder; print exit codes and output as JSON."""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import re
import shlex
import shutil
import sys
from itertools import pairwise
from pathlib import Path

from robot_semantics.cli import running
from robot_semantics.cli.main import main
from robot_semantics.examples import example

NOT_RUN = ("snapshot ", "studio ", "completion ", "doctor", "lsp", "fk --node", "export drive", "plot states")
"""Examples that need a running node or a recording, that serve a page or an editor, or that tell about this machine."""
MORE = (
    "check robot.urdf.xacro",
    "check broken.urdf",
    "check nowhere.urdf",
    "check .",
    "bag later.usdf -o drives/two --force",
    "export recording --urdf robot.urdf --at 0 -o exported.usdf",
    "export recording --urdf robot.urdf --at 0 --jobs 2 -o parallel.usdf",
    "export recording --urdf robot.urdf --at 0 -o exported.csv",
    "export recording --urdf robot.urdf --at 0 -o exported.jsonl",
    "export drives --each --jobs 2 --urdf robot.urdf --at 0 -o fleet",
    "plot exported.usdf -o plot.svg",
    "view robot.urdf robot.srdf --html page.html",
    "usdf show world.usdf",
    "example again",
    "srdf new robot.urdf -o con.srdf",
    "completion bash",
)


def prepare(folder: Path) -> None:
    """Write the files that the examples name."""
    for kind, other in (("urdf", "robot.urdf"), ("srdf", "robot.srdf"), ("usdf", "world.usdf")):
        shutil.copy(example(f"rover_arm.{kind}"), folder)
        shutil.copy(example(f"rover_arm.{kind}"), folder / other)
    for kind in ("urdf", "srdf"):
        shutil.copy(example(f"block.{kind}"), folder)
    (folder / "config").mkdir()
    (folder / "config" / "joint_limits.yaml").write_bytes(b"joint_limits: {}\n")
    (folder / "broken.urdf").write_bytes('<robot name="→ä…"><link name="└ä→…"/><link name="└ä→…"/></robot>'.encode())
    (folder / "robot.urdf.xacro").write_bytes(
        b'<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro"><xacro:property name="x" value="${1 + 1}"/>'
        b'<link name="l${x}"/></robot>'
    )


def run(words: list[str]) -> tuple[int, str, str]:
    """Return the exit code, the output and the errors of a command."""
    outputs = [io.TextIOWrapper(io.BytesIO(), sys.stdout.encoding, write_through=True) for _ in range(2)]
    with contextlib.redirect_stdout(outputs[0]), contextlib.redirect_stderr(outputs[1]):
        try:
            code = main(words)
        except SystemExit as stop:
            code = stop.code if isinstance(stop.code, int) else 1
    found = [output.buffer.getvalue() for output in outputs]
    # A document is in UTF-8 with any encoding.
    said, errors = (data.decode(sys.stdout.encoding, "replace") for data in found)
    # The speed of a simulation is that of the machine.
    return code, said, re.sub(r"\S+ times real time", "at some speed", errors)


def files(folder: Path) -> dict[str, str]:
    """Return the digest of each file by its path."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest() for path in paths}


if __name__ == "__main__":
    prepare(Path())
    lines = [
        line.removeprefix("robot_semantics ") for _, command in running.all_commands() for line in command.examples
    ]
    lines = [line for line in lines if not any(f"{line}\n".startswith(start) for start in NOT_RUN)]
    results = {}
    for line in [*lines, *MORE]:
        if line == "view robot.urdf robot.srdf":
            continue  # It serves a page.
        words = shlex.split(line.partition(" > ")[0])
        for option, out in pairwise(words):
            if option == "-o" and not Path(out).is_dir():
                Path(out).unlink(missing_ok=True)
        results[line] = run(words)
    sys.stdout.buffer.write(json.dumps({"results": results, "files": files(Path())}).encode())
