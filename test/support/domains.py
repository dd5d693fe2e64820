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
import tempfile
from pathlib import Path

# Higher domains use ports that Linux hands out to others.
COUNT = 101

# Leftovers of a test, a killed node or one that is not collected yet, must be invisible for the next test.
_turn = itertools.count()


class Domain:
    """A DDS domain, held by a lock on a file, which goes with the process that holds it, however that ends."""

    def __init__(self) -> None:
        folder = Path(tempfile.gettempdir(), "robot_semantics_domains")
        folder.mkdir(exist_ok=True)
        start = os.getpid() + next(_turn)
        for number in (1 + (start + step) % COUNT for step in range(COUNT)):
            lock = (folder / str(number)).open("w")
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                lock.close()
                continue
            self.number, self._lock = number, lock
            return
        raise RuntimeError("all DDS domains are taken")

    def release(self) -> None:
        """Let others have it."""
        self._lock.close()
