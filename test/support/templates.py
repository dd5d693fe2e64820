# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Processes that begin with their imports done: copies of one process that has imported the modules.

Imports take about four fifths of the CPU time of a node's start. A copy is a process like any other: it has its own
process ID, environment, output, signals and exit code, and is a child of the test's process.
"""

from __future__ import annotations

import ctypes
import gc
import io
import json
import os
import runpy
import signal
import socket
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import IO, cast

PR_SET_CHILD_SUBREAPER, PR_GET_CHILD_SUBREAPER = 36, 37
OF_PYTHON = ("PYTHON", "LD_", "LC_", "LANG", "_ROS_WHEELS", "AMENT_", "OMP_", "OPENBLAS_", "COVERAGE_", "NICEGUI_")
"""Beginnings of the names of variables that Python and libraries read only when they are loaded."""
TOLD_AT_ONCE = {"PYTHONUNBUFFERED": "1", "PYTHONFAULTHANDLER": "1"}
"""Output is not buffered, and a process that is ended by a fault says where it was."""
TESTS = Path(__file__).parents[1]
REQUEST_BYTES = 1 << 20


class Copy:
    """A running copy, with the methods of `subprocess.Popen` that tests use.

    Attributes:
        pid: its process ID.
        returncode: its exit code, None while it runs.
        stdout: where its output is read, if the caller has set it.
    """

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.stdout: IO[str] | None = None
        self.returncode: int | None = None

    def poll(self) -> int | None:
        """Return the exit code, None while the process runs."""
        if self.returncode is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.returncode = os.waitstatus_to_exitcode(status)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Wait for the end of the process and return its exit code."""
        end, pause_s = None if timeout is None else time.monotonic() + timeout, 0.001
        while (code := self.poll()) is None:
            if end is not None and time.monotonic() > end:
                raise subprocess.TimeoutExpired(str(self.pid), timeout or 0.0)
            time.sleep(pause_s)
            pause_s = min(2.0 * pause_s, 0.02)
        return code

    def send_signal(self, number: int) -> None:
        """Send a signal to the process if it still runs."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        """Kill the process."""
        self.send_signal(signal.SIGKILL)


@contextmanager
def adopting() -> Iterator[None]:
    """Let this process be the parent of processes below it whose own parent ends; afterwards as it was before."""
    library, before = ctypes.CDLL(None), ctypes.c_int()
    library.prctl(PR_GET_CHILD_SUBREAPER, ctypes.byref(before), 0, 0, 0)
    library.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    try:
        yield
    finally:
        library.prctl(PR_SET_CHILD_SUBREAPER, before.value, 0, 0, 0)


def of_python(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that a process which already runs would not read."""
    return {name: value for name, value in environment.items() if name.startswith(OF_PYTHON)}


class Template:
    """A process with imports done, of which others are copies.

    Args:
        environment: of the process.
    """

    def __init__(self, environment: Mapping[str, str]) -> None:
        self.environment = dict(environment)
        self._lock = threading.Lock()
        self._socket, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with other:
            command = [sys.executable, os.fspath(Path(__file__)), str(other.fileno())]
            self._process = subprocess.Popen(
                command, env=self.environment, pass_fds=[other.fileno()], stdin=subprocess.DEVNULL
            )

    def start(
        self,
        module: str,
        arguments: Sequence[str],
        environment: Mapping[str, str],
        output: int,
        load: str,
        source: int = subprocess.DEVNULL,
    ) -> Copy:
        """Start a copy that runs a module as ``python -m`` does.

        Args:
            module: the module.
            arguments: its arguments.
            environment: of the copy.
            output: a file descriptor for its output and its errors.
            load: a module to be imported before, in this copy and all later ones.
            source: a file descriptor for its input.
        """
        request = [module, list(arguments), dict(environment), os.fspath(Path.cwd()), load]
        # The process between the template and its copy ends: the copy becomes a child of this process.
        with self._lock, adopting():
            descriptors = [output] if source == subprocess.DEVNULL else [output, source]
            socket.send_fds(self._socket, [json.dumps(request).encode()], descriptors)
            answer = self._socket.recv(100)
        assert answer, f"the template of the processes ended with exit code {self._process.wait()}"
        return Copy(int(answer))


@lru_cache(maxsize=2)
def template(of_ros: bool) -> Template:
    """Return the template of this process for programs with ROS, or for those without, which load no library of it."""
    return Template({**os.environ, **TOLD_AT_ONCE})


def start_module(
    module: str,
    arguments: Sequence[str],
    environment: Mapping[str, str],
    output: int,
    load: str,
    *,
    source: int = subprocess.DEVNULL,
    fresh: bool = False,
) -> Copy | subprocess.Popen[str]:
    """Start ``python -m MODULE ARGUMENTS``.

    The process is a copy of the template, but not with `fresh`, or where variables of Python itself differ. Its output
    is not buffered.
    """
    environment = {**environment, **TOLD_AT_ONCE}
    if not fresh:
        begun = template(load.startswith("robot_semantics.ros."))
        if of_python(environment) == of_python(begun.environment):
            return begun.start(module, arguments, environment, output, load, source)
    if module.startswith("support."):
        environment["PYTHONPATH"] = os.pathsep.join(filter(None, (os.fspath(TESTS), environment.get("PYTHONPATH"))))
    command = [sys.executable, "-m", module, *arguments]
    return subprocess.Popen(command, env=environment, stdin=source, stdout=output, stderr=subprocess.STDOUT, text=True)


def fork() -> int:
    """Fork without Python 3.12's warning of threads: those of the numeric libraries are prepared for it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return os.fork()


def serve(requests: socket.socket) -> tuple[str, list[str], dict[str, str], str, list[int]]:
    """Make copies until no more are wanted; return only in a copy, with the module and what else it needs."""
    while True:
        text, descriptors, _, _ = socket.recv_fds(requests, REQUEST_BYTES, 2)
        if not text:
            sys.exit(0)
        module, arguments, environment, folder, load = json.loads(text)
        import_module(load)
        gc.collect()
        reading, writing = os.pipe()
        between = fork()
        if not between:
            copy = fork()
            if copy:
                os.write(writing, str(copy).encode())
                os._exit(0)
            for end in (reading, writing):
                os.close(end)
            requests.close()
            return module, arguments, environment, folder, descriptors
        os.close(writing)
        for descriptor in descriptors:
            os.close(descriptor)
        os.waitpid(between, 0)
        requests.send(os.read(reading, 100))
        os.close(reading)


def main() -> None:
    """Make copies; in a copy, run its module."""
    sys.path[0] = os.fspath(TESTS)
    # Ctrl-C in a terminal reaches all processes; this one ends with its parent.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    module, arguments, environment, folder, (output, *sources) = serve(socket.socket(fileno=int(sys.argv[1])))
    signal.signal(signal.SIGINT, signal.default_int_handler)
    # After Python's own end, without that of libraries that were loaded before: LTTng, a library of ROS, cancels a
    # thread that a copy does not have, which is a segmentation fault.
    library = ctypes.CDLL(None)
    library.on_exit(library._exit, None)
    for number, name in ((1, "stdout"), (2, "stderr")):
        os.dup2(output, number)
        # As Python makes it: whether the file can be sought in is asked only here.
        raw = open(number, "wb", buffering=0, closefd=False)  # noqa: SIM115
        stream = io.TextIOWrapper(
            cast("IO[bytes]", raw), sys.stdout.encoding, getattr(sys, name).errors, "\n", write_through=True
        )
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)
    for source in sources:
        os.dup2(source, 0)
    for descriptor in (output, *sources):
        os.close(descriptor)
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    sys.path[0] = folder
    if module.startswith("support."):
        sys.path.append(os.fspath(TESTS))
    sys.argv = [module, *arguments]
    runpy.run_module(module, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
