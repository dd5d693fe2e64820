# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The child processes of the demo: each has a log, and all are ended."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType

import yaml

from demo.failure import DemoError

STOP_S = 5.0


class Process:
    """A ROS node in its own process, with its output in a log file."""

    def __init__(self, program: str, parameters: Mapping[str, object], name: str, folder: Path) -> None:
        """Start a program of the package with parameters; `name` is used for its files in `folder`."""
        self.name = name
        self.log = folder / f"{name}.log"
        file = folder / f"{name}.yaml"
        file.write_text(yaml.safe_dump({"/**": {"ros__parameters": dict(parameters)}}, allow_unicode=True))
        command = [sys.executable, "-m", "robot_semantics.ros", program, "--ros-args", "--params-file", str(file)]
        with self.log.open("wb") as log:
            self._process = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT, env=os.environ.copy())

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid

    def check(self) -> None:
        """Check that the process runs.

        Raises:
            DemoError: it has ended; the message has the end of its log.
        """
        code = self._process.poll()
        if code is not None:
            words = self.log.read_text(errors="replace").strip().splitlines()
            raise DemoError(f"{self.name} has ended with exit code {code}: {words[-1] if words else 'no output'}")

    def kill(self) -> None:
        """Kill it with SIGKILL, which no process can catch, and check that this ended it.

        Raises:
            DemoError: it had already ended in another way.
        """
        self.check()
        self._process.kill()
        code = self._process.wait(STOP_S)
        if code != -signal.SIGKILL:
            raise DemoError(f"{self.name} ended with exit code {code}, not by SIGKILL")

    def stop(self) -> int:
        """Ask it to end, kill it after some seconds, and return its exit code."""
        if self._process.poll() is None:
            self._process.terminate()
            try:
                self._process.wait(STOP_S)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        return self._process.returncode


class Processes:
    """All processes of the demo; leaving the context ends them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._all: list[Process] = []

    def start(self, program: str, parameters: Mapping[str, object], name: str) -> Process:
        """Start a node."""
        process = Process(program, parameters, name, self.folder)
        self._all.append(process)
        return process

    def __enter__(self) -> Processes:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for process in reversed(self._all):
            process.stop()
