# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""File formats by the endings of file names; an unknown ending is an error, never a guess."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from robot_semantics.base.errors import RobotSemanticsError


class UnknownEndingError(RobotSemanticsError):
    """A file name has an ending of no known format.

    Attributes:
        path: the file.
        known: the known endings.
    """

    def __init__(self, path: str | Path, known: tuple[str, ...]) -> None:
        self.path = path
        self.known = known
        *others, last = known
        words = f"{', '.join(others)} or {last}" if others else last
        ending = Path(path).suffix
        super().__init__(
            f"'{path}' has the ending '{ending}'; known is {words}"
            if ending
            else f"'{path}' has no ending; known is {words}"
        )


def format_of(path: str | Path, formats: Mapping[str, str], without: str | None = None) -> str:
    """Return the format for the ending of `path`; case does not matter.

    Args:
        path: the file's name.
        formats: format by ending, for example ``{".json": "json"}``; an ending may be double: ``.dmd.yaml``.
        without: the format of a name without an ending.

    Raises:
        UnknownEndingError: the ending is not in `formats`, or is missing and `without` is not given.
    """
    endings = [ending.lower() for ending in Path(path).suffixes]
    found = formats.get("".join(endings[-2:])) or formats.get("".join(endings[-1:]))
    if found is None and not endings:
        found = without
    if found is None:
        raise UnknownEndingError(path, tuple(formats))
    return found
