# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The ``bash`` and ``python`` blocks of tutorials and how-tos run in order in one shell, and print the output shown."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from support.commands import program_folder
from support.documents import IN_ORDER, ROOT, blocks, missing_lines


@pytest.mark.slow
@pytest.mark.ros
@pytest.mark.timeout(150)
@pytest.mark.parametrize("page", IN_ORDER)
def test_the_blocks_of_a_page_run_in_order(page: str, tmp_path: Path, ros_domain: int) -> None:
    for module in IN_ORDER[page]:
        pytest.importorskip(module)
    script = ["set -eu", "trap 'kill $(jobs -p) 2>/dev/null || true' EXIT"]
    commands = [block for block in blocks(ROOT / page) if block.language in ("bash", "python")]
    for block in commands:
        code = block.text if block.language == "bash" else f"python - <<'END_OF_BLOCK'\n{block.text}END_OF_BLOCK"
        script += [f"printf '\\n=== %s\\n' {block.line}", code]
    done = subprocess.run(
        ["bash", "-c", "\n".join(script)],
        cwd=tmp_path,
        env={
            **os.environ,
            "PATH": os.pathsep.join([str(program_folder()), str(Path(sys.executable).parent), os.environ["PATH"]]),
            "PYTHONPATH": f"{ROOT}{os.pathsep}{os.environ.get('PYTHONPATH', '')}",
            "COLUMNS": "160",
            "ROS_DOMAIN_ID": str(ros_domain),
        },
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=140,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:]
    parts = dict(part.split("\n", 1) for part in done.stdout.split("\n=== ")[1:])
    wrong = {
        f"{page}:{block.line}": lines
        for block in commands
        if (lines := missing_lines(block.output, parts[str(block.line)]))
    }
    assert not wrong, done.stdout[-3000:]
