# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""What is made of files, made anew when they change."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Generic, TypeVar

from robot_semantics.base.errors import RobotSemanticsError

Content = TypeVar("Content")


class FreshContent(Generic[Content]):
    """The newest content that could be made of some files.

    Attributes:
        version: a number that changes with the content.
        problem: why the newest files cannot be shown; empty while they can.
    """

    def __init__(self, paths: Sequence[Path], make: Callable[[], Content]) -> None:
        """Make it for the first time; whatever `make` raises is raised."""
        self._paths, self._make = paths, make
        self._lock = threading.Lock()
        self._stamps = self._stamped()
        self.version, self.problem = 0, ""
        self._content = make()

    def __call__(self) -> Content:
        """Return the content."""
        return self._content

    def look(self) -> None:
        """Look whether a file has changed, and make the content anew if so; it stays as it was where that fails."""
        with self._lock:
            stamps = self._stamped()
            # A file that is missing is about to be replaced.
            if stamps == self._stamps or 0 in stamps:
                return
            self._stamps = stamps
            try:
                self._content = self._make()
            except (RobotSemanticsError, OSError) as error:
                self.problem = str(error)
                return
            self.problem = ""
            self.version += 1

    def _stamped(self) -> tuple[int, ...]:
        return tuple(path.stat().st_mtime_ns if path.exists() else 0 for path in self._paths)
