# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The commands of doc/faq.md print the messages that the page shows. After a change of a message, change the page."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from support.documents import ROOT, Block, blocks, missing_lines, put_examples

from robot_semantics.cli.running import run

BLOCKS = [block for block in blocks(ROOT / "doc" / "faq.md") if block.language == "console"]
NEEDED = {"export": "rosbags", "sim": "mujoco", "snapshot": "rclpy"}
LINKS = '<link name="b"/><link name="c"/>'
JOINT = '<joint name="{}" type="{}"><parent link="{}"/><child link="c"/></joint>'


def put_broken_files(folder: Path) -> None:
    """Write the files that the page names: the examples, and one file for each problem."""
    put_examples(folder)
    urdf, usdf = (folder / "robot.urdf").read_text(), (folder / "world.usdf").read_text()
    texts = {
        "typo.urdf": urdf.replace('parent link="lift_link"', 'parent link="lift_lnik"', 1),
        "open.urdf": '<robot name="a"><link name="b"></robot>',
        "two_roots.urdf": f'<robot name="a">{LINKS}</robot>',
        "two_parents.urdf": f'<robot name="a">{LINKS}<link name="d"/>'
        f"{JOINT.format('j', 'fixed', 'b')}{JOINT.format('k', 'fixed', 'd')}</robot>",
        "no_limit.urdf": f'<robot name="a">{LINKS}{JOINT.format("j", "revolute", "b")}</robot>',
        "mesh.urdf": '<robot name="a"><link name="b"><visual><geometry><mesh filename="package://arm/hand.stl"/>'
        "</geometry></visual></link></robot>",
        "macro.urdf": '<robot name="a"><link name="${n}"/></robot>',
        "no_files.usdf": usdf.replace('rs:description="rover_arm.urdf"', ""),
    }
    for name, text in texts.items():
        (folder / name).write_text(text)


@pytest.mark.ros
@pytest.mark.parametrize(
    "block", BLOCKS, ids=lambda block: block.text.splitlines()[0].removeprefix("$ robot_semantics")
)
def test_the_message_is_as_shown(
    block: Block, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, ros_domain: int
) -> None:
    command, _, shown = block.text.partition("\n")
    program, *words = shlex.split(command.removeprefix("$ "))
    assert shown.strip()
    pytest.importorskip(NEEDED.get(words[0], "robot_semantics") if words else "rclpy")
    put_broken_files(tmp_path)
    monkeypatch.chdir(tmp_path)
    if program == "robot_semantics":
        if words[0] == "export":
            assert run(["bag", "world.usdf", "-o", "recording"]) == 0
            capsys.readouterr()
        run(words)
        printed = "".join(capsys.readouterr())
    else:
        done = subprocess.run(
            [sys.executable, "-m", "robot_semantics.ros", "robot_semantics_node"],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
            env={**os.environ, "PYTHONPATH": str(ROOT), "ROS_DOMAIN_ID": str(ros_domain)},
        )
        assert done.returncode == 1
        printed = done.stdout + done.stderr
    assert missing_lines(shown, printed) == [], printed
