# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Ctrl-C ends a command with one word, also while it is still being imported."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import os, signal, sys
class Pressed:
    def find_spec(self, name, path=None, target=None):
        if name == sys.argv[1]:
            try:
                os.kill(os.getpid(), signal.SIGINT)
                sum(range(9))
            except KeyboardInterrupt:
                # As compiled modules do.
                raise ImportError(name)
sys.meta_path.insert(0, Pressed())
signal.signal(signal.SIGINT, signal.default_int_handler)
from robot_semantics.cli.main import main
sys.exit(main(["show", sys.argv[2]]))
"""


@pytest.mark.parametrize(
    "module",
    [
        "robot_semantics.cli.running",
        "robot_semantics.base.errors",
        "argparse",
        "robot_semantics.cli.show",
        "robot_semantics.model.robot_model",
        "lxml.etree",
    ],
)
def test_an_interrupt_in_the_middle_of_an_import_is_answered_as_any_other(module: str, folder: Path) -> None:
    words = [sys.executable, "-c", PROGRAM, module, "robot.urdf"]
    done = subprocess.run(words, capture_output=True, text=True, check=False, cwd=folder)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "interrupted\n")
