# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""DDS domains for tests: one that no other test on this machine uses, and that the last tests here did not use."""

from __future__ import annotations

import fcntl
import itertools
import os
import socket
from pathlib import Path

# Higher domains use ports that Linux hands out to others.
COUNT = 101

# Not TMPDIR: test runs with different ones would share domains.
FOLDER = Path("/tmp/robot_semantics_domains")
# Leftovers of a test, a killed node or one that is not collected yet, must be invisible for the next test.
_turn = itertools.count()


def has_participants(number: int) -> bool:
    """Return True if a process of this machine takes part in a domain: a node that a killed test left, or a user's.

    A participant binds the first free port of its domain's discovery ports (DDSI-RTPS 2.5, 9.6.2.3).
    """
    for participant in range(16):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            try:
                probe.bind(("", 7410 + 250 * number + 2 * participant))
            except OSError:
                return True
    return False


class Domain:
    """A DDS domain, held by a lock on a file, which goes with the process that holds it, however that ends."""

    def __init__(self) -> None:
        FOLDER.mkdir(exist_ok=True)
        start = os.getpid() + next(_turn)
        for number in (1 + (start + step) % COUNT for step in range(COUNT)):
            lock = (FOLDER / str(number)).open("w")
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                lock.close()
                continue
            if has_participants(number):
                lock.close()
                continue
            self.number, self._lock = number, lock
            return
        raise RuntimeError("all DDS domains are taken")

    def release(self) -> None:
        """Let others have it."""
        self._lock.close()
