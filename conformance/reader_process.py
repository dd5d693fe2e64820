# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The process of a tested reader, which answers line by line, and may hang, crash or print endlessly."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import threading
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from robot_semantics.base.errors import RobotSemanticsError
from robot_semantics.base.names import shown

PATIENCE_S = 60.0
_ENDING_S = 1.0
"""Time in which a reader must end after its input is closed [s]."""
MOST_SILENT = 3
"""Number of cases without an answer in time after which no more are run: a thousand would take a day."""
LONGEST_ANSWER = 2**24
"""Longest answer that is read [bytes]."""


class Reader:
    """A reader's process; if it ends, it is restarted for the next case, together with its child processes."""

    def __init__(self, words: Sequence[str]) -> None:
        self._words = words
        self._process: subprocess.Popen[bytes] | None = None
        self._silent = 0

    def answer(self, fields: Sequence[str]) -> dict[str, Any] | str:
        """Return the answer to one case, or the reason why there is none.

        Raises:
            RobotSemanticsError: the reader cannot be started.
        """
        if self._silent == MOST_SILENT:
            return f"not asked: the reader was silent for {PATIENCE_S:g} s, {MOST_SILENT} times"
        line, late = self._ask("\t".join(fields))
        self._silent += late
        if late:
            self.close()
            return f"the reader was silent for {PATIENCE_S:g} s"
        if not line.endswith(b"\n"):
            code = self.close()
            if len(line) > LONGEST_ANSWER:
                return f"the answer is longer than {LONGEST_ANSWER // 2**20} MB"
            if not line:
                return f"the reader ended with exit code {code}"
        try:
            answer = json.loads(line)
        except (ValueError, RecursionError):
            answer = None
        return (
            answer
            if isinstance(answer, dict)
            else f"this is no JSON object: {shown(line[:400].decode(errors='replace').strip())}"
        )

    def _ask(self, question: str) -> tuple[bytes, bool]:
        """Return the reader's next line, and True if the reader was killed because it took too long."""
        process = self._running()
        assert process.stdin is not None
        assert process.stdout is not None
        late = threading.Event()

        def end() -> None:
            late.set()
            _kill(process)

        timer = threading.Timer(PATIENCE_S, end)
        timer.start()
        try:
            process.stdin.write(f"{question}\n".encode())
            process.stdin.flush()
            line = process.stdout.readline(LONGEST_ANSWER + 1)
        except BrokenPipeError:
            line = b""
        finally:
            timer.cancel()
        return line, late.is_set()

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is None or self._process.poll() is not None:
            self.close()
            try:
                # Own session: the reader's child processes end with it, and cannot keep our pipes open.
                self._process = subprocess.Popen(
                    self._words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
                )
            except (OSError, ValueError) as error:
                reason = getattr(error, "strerror", None) or error
                raise RobotSemanticsError(f"{shown(self._words[0])}: {reason}") from None
        return self._process

    def close(self) -> int | None:
        """End the reader if it still runs; return its exit code."""
        if self._process is None:
            return None
        process, self._process = self._process, None
        assert process.stdin is not None
        assert process.stdout is not None
        with suppress(BrokenPipeError):
            process.stdin.close()
        with suppress(subprocess.TimeoutExpired):
            # A reader that has closed its output will end soon; its own exit code tells more.
            process.wait(_ENDING_S)
        _kill(process)
        process.stdout.close()
        return process.wait()


def _kill(process: subprocess.Popen[bytes]) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
