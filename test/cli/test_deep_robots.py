# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""A robot of thousands of links in one chain is shown whole, and in lines that do not grow with it."""

from __future__ import annotations

import re
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
