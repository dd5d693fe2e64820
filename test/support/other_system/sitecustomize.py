# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Python on PYTHONPATH of a test: modules of this package see `os` and `signal` as on Windows, in child processes too.

The standard library and other packages keep theirs: `subprocess` and `psutil` need SIGKILL. `multiprocessing` has only
the start method "spawn".
"""

from __future__ import annotations

import builtins
import multiprocessing
import os
import re
import signal
import types
from multiprocessing.context import BaseContext
from typing import Any

POSIX_MODULES = {"fcntl", "resource", "pwd", "grp", "spwd", "termios", "tty", "pty", "posix", "syslog", "crypt", "nis"}
_ON_WINDOWS_TOO = {"O_RDONLY", "O_WRONLY", "O_RDWR", "O_APPEND", "O_CREAT", "O_EXCL", "O_TRUNC", "F_OK", "W_OK"}
_POSIX_ATTRIBUTES = re.compile(
    r"(?:O|F|SCHED|ST|STATX|PRIO|POSIX|RTLD|CLONE|MFD|EFD|TFD|GRND|SPLICE|XATTR|RWF|CLD|EX|W)_[A-Z_]+|W[A-Z]+|P_PG?ID"
    r"|fork|forkpty|register_at_fork|kill(?:pg)|(?:get|set)[er]?(?:es)?[ug]id|[gs]et(?:sid|pgid|pgrp|groups|priority)"
    r"|getgrouplist|initgroups|getloadavg|getrandom|nice|uname|wait|wait3|wait4|waitid|posix_\w+|spawn[lv]pe?"
    r"|p(?:read|write)v?|readv|writev|sendfile|copy_file_range|splice|lockf|fdatasync|sync|statvfs|fstatvfs|memfd_create"
    r"|mkfifo|mknod|m(?:ajor|inor|akedev)|chown|l?chown|fchown|fchmod|lchmod|chroot|fchdir|(?:get|set|list|remove)xattr"
    r"|sched_\w+|sysconf|sysconf_names|confstr|confstr_names|f?pathconf|pathconf_names|ctermid|ttyname|openpty|pipe2"
    r"|pidfd_open|eventfd\w*|unshare|setns|environb|getenvb|fwalk|tc[gs]etpgrp|supports_bytes_environ"
)
_SIGNAL_ON_WINDOWS = {
    *("SIGABRT", "SIGFPE", "SIGILL", "SIGINT", "SIGSEGV", "SIGTERM", "SIG_DFL", "SIG_IGN", "NSIG", "Signals"),
    *("Handlers", "signal", "getsignal", "raise_signal", "default_int_handler", "set_wakeup_fd", "strsignal"),
    *("valid_signals", "__name__", "__doc__", "__file__", "__spec__"),
}


class View(types.ModuleType):
    """A module without some of its names."""

    def __init__(self, module: types.ModuleType, names: set[str]) -> None:
        super().__init__(module.__name__)
        self.__dict__.update((name, value) for name, value in vars(module).items() if name not in names)


VIEWS = {
    "os": View(os, {name for name in dir(os) if _POSIX_ATTRIBUTES.fullmatch(name) and name not in _ON_WINDOWS_TOO}),
    "signal": View(signal, set(dir(signal)) - _SIGNAL_ON_WINDOWS),
}
assert not {"killpg", "pread", "O_NOFOLLOW", "O_CLOEXEC", "O_DIRECTORY", "geteuid", "fork"} & set(dir(VIEWS["os"]))
assert {"kill", "open", "replace", "link", "O_EXCL", "getpid", "environ", "path"} <= set(dir(VIEWS["os"]))
_import, _get_context = builtins.__import__, multiprocessing.get_context


def _of_windows(name: str, *rest: Any, **options: Any) -> types.ModuleType:
    module = _import(name, *rest, **options)
    importer = rest[0] if rest else options.get("globals")
    if str((importer or {}).get("__name__", "")).partition(".")[0] != "robot_semantics":
        return module
    if name.partition(".")[0] in POSIX_MODULES:
        raise ModuleNotFoundError(f"No module named '{name}'", name=name)
    return VIEWS.get(module.__name__, module)


def _only_spawn(method: str | None = None) -> BaseContext:
    if method not in (None, "spawn"):
        raise ValueError(f"cannot find context for {method!r}")
    return _get_context("spawn")


builtins.__import__ = _of_windows
multiprocessing.get_context = _only_spawn  # type: ignore[assignment]  # overloaded by method
