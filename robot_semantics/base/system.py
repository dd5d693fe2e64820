# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Everything that differs between Linux, macOS and Windows.

A function asks for the ability of the system, and does a weaker thing where it is missing; ``doc/security.md`` has the
table. The libraries `filelock`, `psutil` and `ctypes` are imported when they are needed: each would delay every start.
"""

from __future__ import annotations

import errno
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

REPLACE_TIMEOUT_S = 2.0
"""How long to try to replace a file that another program has open on Windows [s]."""


def user_id() -> int | None:
    """Return the number of the user; None on a system where files have no such owner."""
    ask: Callable[[], int] | None = getattr(os, "geteuid", None)
    return None if ask is None else ask()


def import_locks() -> None:
    """Import the library that `held_lock` needs: a program that must answer a click quickly does it at its start."""
    import filelock  # noqa: F401


@contextmanager
def held_lock(path: Path, timeout_s: float = 0.0) -> Iterator[None]:
    """Hold the lock file `path`, shared by threads and processes, and delete it at the end.

    The system frees the lock when the process ends.

    Raises:
        TimeoutError: another process or thread holds it for longer than `timeout_s` [s].
        OSError: the file cannot be made.
    """
    import filelock

    # The library would make the folder.
    path.parent.stat()
    # Older versions give the file to one user, and a lock on a file that was deleted while they waited for it.
    is_old = tuple(map(int, filelock.__version__.split(".")[:2])) < (3, 24)
    end = time.monotonic() + timeout_s
    while True:
        lock = filelock.FileLock(path, max(end - time.monotonic(), 0.0), 0o666 if is_old else -1, thread_local=False)
        mark = os.open(path, _MARK_FLAGS, 0o666) if is_old else None
        try:
            lock.acquire(poll_interval=_POLL_S)
            # The file was this one before and is it now, so it is the locked one.
            with suppress(FileNotFoundError):
                if mark is None or os.path.samestat(os.fstat(mark), path.stat()):
                    break
        except filelock.Timeout:
            raise TimeoutError(errno.ETIMEDOUT, "another process holds this lock", str(path)) from None
        finally:
            if mark is not None:
                os.close(mark)
        lock.release()
    try:
        yield
    finally:
        # Windows does not delete an open file: the library does it after the release.
        with suppress(OSError):
            path.unlink()
        lock.release()


def replace_file(source: Path, target: Path) -> None:
    """Give a file another name; replace the file that has this name.

    Windows refuses this while another program has one of the files open: try again for `REPLACE_TIMEOUT_S`.

    Raises:
        OSError: it cannot be done; the old file is unchanged.
    """
    end = time.monotonic() + REPLACE_TIMEOUT_S
    while True:
        try:
            source.replace(target)
            return
        except PermissionError as error:
            if time.monotonic() >= end:
                in_use = getattr(error, "winerror", None) in _IN_USE
                strerror = f"another program has it open ({error.strerror})" if in_use else error.strerror
                raise OSError(error.errno, strerror, str(target)) from None
        time.sleep(_RETRY_S)


def exchange_folders(first: Path, second: Path) -> bool:
    """Exchange the names of two folders in one step; return False if the system cannot."""
    import ctypes

    try:
        libc = ctypes.CDLL(None, use_errno=True)
    except (TypeError, OSError):  # Windows
        return False
    names = (_AT_FDCWD, os.fsencode(first), _AT_FDCWD, os.fsencode(second))
    return hasattr(libc, "renameat2") and libc.renameat2(*names, _RENAME_EXCHANGE) == 0


def sync_folder(folder: Path) -> None:
    """Write the names in a folder to the disk; a system that cannot open folders does it on its own.

    Raises:
        OSError: the disk does not do it.
    """
    as_folder = getattr(os, "O_DIRECTORY", None)
    if as_folder is None:
        return
    descriptor = os.open(folder, os.O_RDONLY | as_folder)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def is_open_for_writing(file: BinaryIO) -> bool:
    """Return True if a process has a file open for writing.

    Linux gives a lease for reading only on a file that no process has open for writing. Other systems are not asked.
    """
    urgent = getattr(signal, "SIGURG", None)
    if not _ON_LINUX or urgent is None:
        return False
    import ctypes

    libc = ctypes.CDLL(None, use_errno=True)
    # A writer that comes now sends a signal; this one is ignored by default.
    if libc.fcntl(file.fileno(), _F_SETSIG, int(urgent)) or libc.fcntl(file.fileno(), _F_SETLEASE, _F_RDLCK):
        return ctypes.get_errno() == errno.EAGAIN
    libc.fcntl(file.fileno(), _F_SETLEASE, _F_UNLCK)
    return False


def end_processes(number: int) -> None:
    """Kill a process that has its own session, by its number, and all processes that it has started.

    Where processes have no groups, a process whose parent has ended is not found.
    """
    kill_group: Callable[[int, int], None] | None = getattr(os, "killpg", None)
    if kill_group is not None:
        with suppress(ProcessLookupError, PermissionError):
            kill_group(number, _KILL)
        return
    import psutil

    with suppress(psutil.Error):
        process = psutil.Process(number)
        for each in (*process.children(recursive=True), process):
            with suppress(psutil.Error):
                each.kill()


def limit_this_process(seconds: float, more_bytes: int) -> bool:
    """End this process after too long a time, even without its parent, and refuse memory beyond its present size.

    Return False if the system has no limit of memory; the parent must then use `memory_of`.
    """
    import psutil

    process = psutil.Process()
    limit: Callable[..., tuple[int, int]] | None = getattr(process, "rlimit", None)
    most = int(seconds) + 1
    if limit is None:
        timer = threading.Timer(most, os._exit, (1,))
        timer.daemon = True
        timer.start()
        return False
    limit(_RLIMIT_CPU, (most, most + 1))
    limit(_RLIMIT_AS, (process.memory_info().vms + more_bytes, limit(_RLIMIT_AS)[1]))
    return True


def unlimit_this_process() -> None:
    """Allow this process all memory again, to report an error."""
    import psutil

    limit: Callable[..., tuple[int, int]] | None = getattr(psutil.Process(), "rlimit", None)
    if limit is not None:
        hard = limit(_RLIMIT_AS)[1]
        limit(_RLIMIT_AS, (hard, hard))


@contextmanager
def reused_memory() -> Iterator[None]:
    """Let the C library reuse freed memory in the ``with`` block, and give it back to the system at the end.

    It does so by default. A Dask worker has the variable ``MALLOC_TRIM_THRESHOLD_``, with which every array above
    128 KB is new memory from the system: the export of a bag of 834 MB took 7.8 s instead of 4.9 s. Other processes,
    and C libraries without this setting, stay as they are.
    """
    import ctypes

    threshold = os.environ.get("MALLOC_TRIM_THRESHOLD_", "")
    libc = ctypes.CDLL(None) if _ON_LINUX and threshold.isdecimal() else None
    if libc is None or not hasattr(libc, "mallopt"):
        yield
        return
    libc.mallopt(_M_MMAP_THRESHOLD, _MOST_REUSED_BYTES)
    libc.mallopt(_M_TRIM_THRESHOLD, 2 * _MOST_REUSED_BYTES)
    try:
        yield
    finally:
        libc.mallopt(_M_MMAP_THRESHOLD, _MMAP_THRESHOLD_BYTES)
        libc.mallopt(_M_TRIM_THRESHOLD, min(int(threshold), _LARGEST_INT))
        libc.malloc_trim(0)


def memory_of(number: int) -> int:
    """Return the memory that a process and the processes that it has started use [bytes]; 0 after its end."""
    import psutil

    total = 0
    with suppress(psutil.Error):
        process = psutil.Process(number)
        for each in (process, *process.children(recursive=True)):
            with suppress(psutil.Error):
                total += each.memory_info().rss
    return total


def ended_by_time(code: int) -> bool:
    """Return True if the exit code of a process means that it had used all its time."""
    return code == -int(getattr(signal, "SIGXCPU", 0)) != 0


@contextmanager
def blocked_interrupt() -> Iterator[None]:
    """Block SIGINT in this thread and in the processes that it starts, if the system can."""
    change: Callable[[int, Iterable[int]], Iterable[int]] | None = getattr(signal, "pthread_sigmask", None)
    if change is None:
        yield
        return
    before = change(_SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        change(_SIG_SETMASK, before)


def end_this_process_after(seconds: int) -> None:
    """End this process after a time, whatever it does then."""
    alarm: Callable[[int], object] | None = getattr(signal, "alarm", None)
    if alarm is not None:
        alarm(seconds)
        return
    timer = threading.Timer(seconds, os._exit, (1,))
    timer.daemon = True
    timer.start()


@contextmanager
def handlers_kept(numbers: Sequence[int]) -> Iterator[None]:
    """Restore the system's handlers of signals at the end: Python cannot tell those that a library has set below it.

    Windows has none below Python's.
    """
    if os.name != "posix" or not numbers:
        yield
        return
    import ctypes

    sigaction = ctypes.CDLL(None).sigaction
    actions = {number: ctypes.create_string_buffer(_ACTION_BYTES) for number in numbers}
    for number, action in actions.items():
        sigaction(number, None, action)
    try:
        yield
    finally:
        for number, action in actions.items():
            sigaction(number, action, None)


def missing_abilities() -> list[str]:
    """Return what this system lacks, for people; empty on Linux."""
    import psutil

    needs = {
        "a symbolic link is refused by two steps, not one": hasattr(os, "O_NOFOLLOW"),
        "a new name of a file is not written to the disk immediately": hasattr(os, "O_DIRECTORY"),
        "the memory of a xacro expansion is measured 20 times a second": hasattr(psutil.Process, "rlimit"),
        "a process that a xacro expansion leaves behind is not ended": hasattr(os, "killpg"),
        "worker processes start slowly": hasattr(os, "fork"),
        "a bag that is still written is recognised only by its growth": _ON_LINUX,
    }
    return [text for text, is_there in needs.items() if not is_there]


_ON_LINUX: bool = sys.platform == "linux"
_ACTION_BYTES = 256
"""More than any system's ``struct sigaction`` has."""
_POLL_S = 0.002
_RETRY_S = 0.05
_MARK_FLAGS: int = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)
_IN_USE = (5, 32, 33)
"""Errors of Windows: access denied, sharing violation, lock violation."""
_AT_FDCWD, _RENAME_EXCHANGE = -100, 2
_F_SETSIG, _F_SETLEASE, _F_RDLCK, _F_UNLCK = 10, 1024, 0, 2
_RLIMIT_CPU, _RLIMIT_AS = 0, 9
"""Of <fcntl.h> and <sys/resource.h> of Linux."""
_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD, _LARGEST_INT = -1, -3, 2**31 - 1
"""Of <malloc.h> of glibc."""
_MOST_REUSED_BYTES, _MMAP_THRESHOLD_BYTES = 32 << 20, 128 << 10
"""The largest and the first size [bytes] from which glibc takes memory for an array alone, and gives it back alone."""
_KILL = int(getattr(signal, "SIGKILL", signal.SIGTERM))
_SIG_BLOCK, _SIG_SETMASK = getattr(signal, "SIG_BLOCK", 0), getattr(signal, "SIG_SETMASK", 2)
