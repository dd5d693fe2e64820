# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Formats of files by the endings of their names: an unknown ending is refused, never taken for some format."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from robot_semantics.base.errors import RobotSemanticsError


class UnknownEndingError(RobotSemanticsError):
    """A file's name ends in what is no known format.

    Attributes:
        path: the file.
        known: the endings that are known.
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
    """Return the format that the ending of `path` names; capitals make no difference.

    Args:
        path: the file's name.
        formats: format by ending, for example ``{".json": "json"}``; an ending may be double: ``.dmd.yaml``.
        without: the format of a name that has no ending.

    Raises:
        UnknownEndingError: the ending is not among `formats`, or there is none and `without` is not given.
    """
    endings = [ending.lower() for ending in Path(path).suffixes]
    found = formats.get("".join(endings[-2:])) or formats.get("".join(endings[-1:]))
    if found is None and not endings:
        found = without
    if found is None:
        raise UnknownEndingError(path, tuple(formats))
    return found
