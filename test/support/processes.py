# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""A plugin: an interrupted run of the tests stops every process that a test started."""

from __future__ import annotations

import ctypes
import faulthandler
import os
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from types import FrameType

import pytest

GRACE_S = 5.0
"""Time for the processes to end by themselves [s]."""
HANG_S = 400.0
"""Longer than the time limit of a test, which is not heard in C code [s]."""
PR_SET_CHILD_SUBREAPER = 36

_interrupted = pytest.StashKey[bool]()


def pytest_configure(config: pytest.Config) -> None:
    """Become the parent of processes whose own parent ends, and answer SIGTERM like Ctrl-C."""
    if hasattr(config, "workerinput"):
        return
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)

    def interrupt(_number: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, interrupt)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol() -> Iterator[None]:
    """End the process of a test that hangs outside Python, where its time limit is not heard."""
    faulthandler.dump_traceback_later(HANG_S, exit=True, file=sys.__stderr__ or sys.stderr)
    try:
        return (yield)
    finally:
        faulthandler.cancel_dump_traceback_later()


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """Note an interrupted run."""
    session.config.stash[_interrupted] = exitstatus == pytest.ExitCode.INTERRUPTED


def pytest_unconfigure(config: pytest.Config) -> None:
    """Stop what is left after an interrupted run."""
    if config.stash.get(_interrupted, False) and not hasattr(config, "workerinput"):
        stop_descendants(os.getpid())


def descendants(process: int) -> Iterator[int]:
    """Yield the children of a process, and their children."""
    parents: dict[int, list[int]] = {}
    for folder in Path("/proc").iterdir():
        with suppress(OSError):
            if folder.name.isdigit():
                parent = (folder / "stat").read_text().rpartition(")")[2].split()[1]
                parents.setdefault(int(parent), []).append(int(folder.name))
    waiting = [process]
    while waiting:
        children = parents.get(waiting.pop(), [])
        yield from children
        waiting += children


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
