# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""A page that another process serves."""

from __future__ import annotations

import http.client
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from types import TracebackType
from urllib.parse import urlsplit

from support.patience import PATIENCE_S
from support.templates import Copy, start_module


class Served:
    """A page that another process serves.

    Attributes:
        address: of the page, with its token; empty if the process ended before, which it may with `may_end`.
        port: where it is.
        told: the output up to the address.
        cookie: the cookie of the page's owner; empty without a token.
    """

    def __init__(self, *command: str, may_end: bool = False) -> None:
        reading, writing = os.pipe()
        self.process = self._started(command, writing)
        os.close(writing)
        self.process.stdout = os.fdopen(reading)
        self.told, self.address = "", ""
        for line in self.process.stdout:
            self.told += line
            if line.startswith("http://127.0.0.1:"):
                self.address = line.split()[0]
                self.port = urlsplit(self.address).port or 0
                self.cookie = self._cookie() if "token=" in self.address else ""
                return
        assert may_end, self.told

    @staticmethod
    def _started(command: Sequence[str], output: int) -> Copy | subprocess.Popen[str]:
        if command[0] == "-m":
            # The imports of a page take 2 s.
            return start_module(command[1], command[2:], os.environ, output, "robot_semantics.viewer.server")
        return subprocess.Popen([sys.executable, *command], stdout=output, stderr=subprocess.STDOUT, text=True)

    def rest(self) -> str:
        """Return the output after the address, up to the end of the process."""
        assert self.process.stdout is not None
        return self.process.stdout.read()

    def ask(self, path: str, **headers: str) -> tuple[int, bytes]:
        """Return the status and the content of an answer to the owner; an empty ``Cookie`` asks as another user."""
        given = {"Cookie": self.cookie, **{name.replace("_", "-"): value for name, value in headers.items()}}
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE_S)
        connection.request("GET", path, headers={name: value for name, value in given.items() if value})
        answer = connection.getresponse()
        content = answer.read()
        connection.close()
        return answer.status, content

    def _cookie(self) -> str:
        """Return the cookie that the page sets for a request with the token."""
        address = urlsplit(self.address)
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE_S)
        connection.request("GET", f"{address.path}?{address.query}")
        header = connection.getresponse().getheader("Set-Cookie") or ""
        connection.close()
        return header.partition(";")[0]

    def __enter__(self) -> Served:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.end()

    def end(self) -> int:
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(PATIENCE_S)
