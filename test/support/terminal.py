# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""A command on a terminal of a given width."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from pathlib import Path

import pytest


def on_a_terminal(words: list[str], columns: int, **variables: str) -> str:
    """Return what a command prints on a terminal, without colours unless `variables` set them."""
    written = written_to_a_terminal(words, None, **{"NO_COLOR": "1", "COLUMNS": str(columns), **variables})
    return written.replace("\r\n", "\n")


def written_to_a_terminal(words: list[str], folder: Path | None = None, **variables: str) -> str:
    """Return all that a command writes to a terminal."""
    pty = pytest.importorskip("pty")
    master, slave = pty.openpty()
    environment = {**os.environ, **variables}
    command = [sys.executable, "-m", "robot_semantics", *words]
    with subprocess.Popen(command, stdin=slave, stdout=slave, stderr=slave, env=environment, cwd=folder) as process:
        os.close(slave)
        parts = []
        with contextlib.suppress(OSError):
            while part := os.read(master, 65536):
                parts.append(part)
        process.wait()
    os.close(master)
    return b"".join(parts).decode()
