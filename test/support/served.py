"""A page that another process serves."""

from __future__ import annotations

import http.client
import signal
import subprocess
import sys
from types import TracebackType


class Served:
    """A page that another process serves.

    Attributes:
        port: where it is.
    """

    def __init__(self, *command: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, *command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        assert self.process.stdout is not None
        told = ""
        for line in self.process.stdout:
            told += line
            if line.startswith("http://127.0.0.1:"):
                self.address = line.split()[0]
                self.port = int(self.address.rpartition(":")[2].strip("/"))
                return
        raise AssertionError(told)

    def ask(self, path: str, **headers: str) -> tuple[int, bytes]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        connection.request("GET", path, headers={name.replace("_", "-"): value for name, value in headers.items()})
        answer = connection.getresponse()
        content = answer.read()
        connection.close()
        return answer.status, content

    def __enter__(self) -> Served:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.end()

    def end(self) -> int:
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(30)
