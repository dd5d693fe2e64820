# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""A plugin: an interrupted run of the tests stops every process that a test started, and a test that hangs ends."""

from __future__ import annotations

import ctypes
import faulthandler
import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from support.templates import PR_SET_CHILD_SUBREAPER

GRACE_S = 5.0
"""Time for the processes to end by themselves [s]."""
HANG_S = float(os.environ.get("HANG_S", "550"))
"""Longer than the time limit of any test, which is not heard in C code [s]."""
MORE_S = float(os.environ.get("MORE_S", HANG_S / 10))
"""Time until the next means against a process that hangs [s]."""

_interrupted = pytest.StashKey[bool]()
_shown_on = pytest.StashKey[int]()


def pytest_configure(config: pytest.Config) -> None:
    """Become the parent of processes whose own parent ends, and answer SIGTERM like Ctrl-C."""
    # Nothing is captured yet: what is written here, is seen.
    config.stash[_shown_on] = os.dup(2)
    if hasattr(config, "workerinput"):
        return
    config.pluginmanager.register(WorkersThatHang(config.stash[_shown_on]))
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)

    def interrupt(_number: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, interrupt)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """End the process of a test that hangs outside Python, where its time limit is not heard."""
    faulthandler.dump_traceback_later(HANG_S, exit=True, file=item.config.stash[_shown_on])
    try:
        return (yield)
    finally:
        faulthandler.cancel_dump_traceback_later()


class WorkersThatHang:
    """Watches the workers' processes from outside: one may be stopped, or its pipe kept open by a child of it."""

    def __init__(self, shown_on: int) -> None:
        self._shown_on = shown_on
        self._heard: dict[int, float] = {}
        self._watched = False

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodeready(self, node: Any) -> None:
        """Begin to watch a worker."""
        self._heard[node.gateway._io.popen.pid] = time.monotonic()
        if not self._watched:
            self._watched = True
            threading.Thread(target=self._watch, daemon=True).start()

    def pytest_runtest_logreport(self, report: Any) -> None:
        """A worker has done something."""
        if hasattr(report, "node"):
            self._heard[report.node.gateway._io.popen.pid] = time.monotonic()

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """A worker has ended."""
        self._heard.pop(node.gateway._io.popen.pid, None)

    def _watch(self) -> None:
        while True:
            time.sleep(MORE_S / 10)
            for worker, heard in list(self._heard.items()):
                silence_s = time.monotonic() - heard
                if silence_s > HANG_S + 2 * MORE_S:
                    self._say(f"the worker {worker} cannot be ended: the run of the tests ends")
                    os.kill(os.getpid(), signal.SIGTERM)
                    return
                if silence_s > HANG_S + MORE_S:
                    self._end(worker)

    def _end(self, worker: int) -> None:
        """Kill a worker with what it started, and what it left: a process between fork and exec has its files open."""
        workers = set(self._heard)
        left = [child for child in children().get(os.getpid(), []) if child not in workers]
        for process in (worker, *descendants(worker), *(one for child in left for one in (child, *descendants(child)))):
            with suppress(OSError):
                said = (Path("/proc") / str(process) / "stat").read_text().rpartition(")")[2].split()[0]
                command = (Path("/proc") / str(process) / "cmdline").read_bytes().replace(b"\0", b" ")[:200]
                self._say(f"a test hangs: {process} is killed ({said}): {command!r}")
                os.kill(process, signal.SIGKILL)

    def _say(self, text: str) -> None:
        os.write(self._shown_on, f"\n{text}\n".encode())


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """Note an interrupted run."""
    session.config.stash[_interrupted] = exitstatus == pytest.ExitCode.INTERRUPTED


def pytest_unconfigure(config: pytest.Config) -> None:
    """Stop what is left after an interrupted run."""
    if config.stash.get(_interrupted, False) and not hasattr(config, "workerinput"):
        stop_descendants(os.getpid())


def children() -> dict[int, list[int]]:
    """Return the children of each process."""
    parents: dict[int, list[int]] = {}
    for folder in Path("/proc").iterdir():
        with suppress(OSError):
            if folder.name.isdigit():
                parent = (folder / "stat").read_text().rpartition(")")[2].split()[1]
                parents.setdefault(int(parent), []).append(int(folder.name))
    return parents


def descendants(process: int) -> Iterator[int]:
    """Yield the children of a process, and their children."""
    found, waiting = children(), [process]
    while waiting:
        next_ones = found.get(waiting.pop(), [])
        yield from next_ones
        waiting += next_ones


def stop_descendants(process: int) -> None:
    """Ask all descendants to end, and kill those that do not."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        end = time.monotonic() + GRACE_S
        sent: set[int] = set()
        while left := set(descendants(process)):
            for child in left - sent:
                with suppress(ProcessLookupError):
                    os.kill(child, number)
            sent |= left
            with suppress(ChildProcessError):
                while os.waitpid(-1, os.WNOHANG)[0]:
                    pass
            if time.monotonic() > end:
                break
            time.sleep(0.05)
