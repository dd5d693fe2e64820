# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Writers killed at any file operation: no file is torn or lost, and the next run removes temporary files."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from robot_semantics.examples import example

KILLS = int(os.environ.get("KILLS", "20"))
"""Kills of each writer."""


@pytest.mark.timeout(60 + 10 * KILLS)
@pytest.mark.parametrize("writer", ["store", "studio"])
def test_a_writer_that_is_killed_before_any_file_operation(tmp_path: Path, writer: str) -> None:
    if writer == "studio":
        (tmp_path / "r.srdf").write_bytes(example("rover_arm.srdf").read_bytes())
    command = [sys.executable, "-m", "support.killed_writers", writer, str(tmp_path), str(KILLS)]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    output = subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout
    assert json.loads(output) == {"killed": KILLS, "wrong": []}
