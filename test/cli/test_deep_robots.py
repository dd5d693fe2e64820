# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""A robot of thousands of links in one chain is shown whole, and in lines that do not grow with it."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from robot_semantics.cli.main import main


def test_every_link_of_a_long_chain_is_shown_once_and_no_line_is_long(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    count = 3000
    links = "".join(f'<link name="l{n}"/>' for n in range(count + 1))
    joints = "".join(
        f'<joint name="j{n}" type="fixed"><parent link="l{n}"/><child link="l{n + 1}"/></joint>' for n in range(count)
    )
    path = tmp_path / "chain.urdf"
    path.write_text(f'<robot name="r">{links}{joints}</robot>')
    assert main(["show", str(path)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert re.findall(r"── (l\d+)", "\n".join(lines)) == [f"l{n}" for n in range(count + 1)]
    assert max(len(line) for line in lines) < 200


def chain(path: Path, count: int) -> Path:
    """Write a robot of `count` links, each 10 mm beside the one above, all joints at zero, with all common elements."""
    links = "".join(f'<link name="l{n}"/>' for n in range(count))
    joints = "".join(
        f'<joint name="j{n}" type="revolute"><parent link="l{n}"/><child link="l{n + 1}"/>'
        '<origin xyz="0.01 0 0" rpy="0 0 0"/><axis xyz="0 0 1"/>'
        '<limit lower="-1" upper="1" effort="1" velocity="1"/></joint>'
        for n in range(count - 1)
    )
    path.write_text(f'<robot name="r">{links}{joints}</robot>')
    return path


def test_the_poses_of_a_long_chain_take_time_in_proportion_to_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # Looking at every link above every link, 20,000 links take 12 s and more.
    path = chain(tmp_path / "chain.urdf", 20_000)
    begin = time.process_time()
    assert main(["fk", str(path), "--json"]) == 0
    assert time.process_time() - begin < 8.0
    poses = json.loads(capsys.readouterr().out)["poses"]
    assert poses["l19999"] == pytest.approx([199.99, 0, 0, 0, 0, 0, 1])


def test_the_poses_of_a_long_chain_take_few_bytes_a_link(tmp_path: Path) -> None:
    program = (
        "import resource, sys\n"
        "from robot_semantics.cli.main import main\n"
        "main(['fk', sys.argv[1]])\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, file=sys.stderr)"
    )

    def kilobytes(count: int) -> int:
        path = chain(tmp_path / "chain.urdf", count)
        result = subprocess.run(
            [sys.executable, "-c", program, str(path)], capture_output=True, check=True, timeout=300
        )
        return int(result.stderr)

    # The description is read without a tree of all elements, and nothing is prepared that one configuration does not
    # need: 100,000 links fit in 500 MB.
    assert (kilobytes(20_000) - kilobytes(2)) / 20_000 < 4.5


def test_thousands_of_groups_within_each_other_take_time_in_proportion(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # With a list of the others in every group, 20,000 groups take 3 GB.
    urdf, srdf = chain(tmp_path / "r.urdf", 2), tmp_path / "r.srdf"
    groups = "".join(f'<group name="g{n}"><group name="g{n - 1}"/></group>' for n in range(1, 20_000))
    srdf.write_text(f'<robot name="r"><group name="g0"><joint name="j0"/></group>{groups}</robot>')
    begin = time.process_time()
    assert main(["check", str(urdf), str(srdf)]) == 0
    assert time.process_time() - begin < 5.0
    capsys.readouterr()
    assert main(["groups", str(urdf), str(srdf), "g7", "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["subgroups"]) == 19_999
