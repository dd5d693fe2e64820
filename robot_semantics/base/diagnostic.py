# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""A problem in a document as a value: its severity, its message and its exact place."""

from __future__ import annotations

import enum
from dataclasses import dataclass

from robot_semantics.base.json_value import JsonObject
from robot_semantics.base.names import shown
from robot_semantics.base.record import record


class Severity(enum.Enum):
    """Severity of a diagnostic. Error: the text has no meaning. Warning: the text probably means something else."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


_LONGEST = 500
"""Longest printed message or path [characters]."""


@dataclass(frozen=True, slots=True, order=True)
class SourcePlace:
    """A position in a source text; `line` and `column` count from 1; 0 means unknown.

    `path` names the element, for example ``/robot/joint[@name='elbow']/limit/@lower``.
    """

    source: str
    line: int = 0
    column: int = 0
    path: str = ""

    def __str__(self) -> str:
        source = shown(self.source, _LONGEST)
        return f"{source}:{self.line}:{self.column}" if self.line else source


@record(frozen=True, slots=True)
class Diagnostic:
    """One problem; `str()` gives one line, ``file:line:col: error: message [path]``, with any names in it.

    `code` is a stable kebab-case word for the kind of problem. `suggestion` is the nearest valid name, if any.
    `certain` is True if only this name can be meant; `name` is the written name. `count` is the number of problems
    that this one represents: 1, or more if a collection had too many problems to keep.
    """

    severity: Severity
    code: str
    message: str
    place: SourcePlace
    suggestion: str | None = None
    count: int = 1
    certain: bool = False
    name: str | None = None

    @property
    def sentence(self) -> str:
        """The message with the suggestion, safe to print."""
        hint = f"; did you mean '{shown(self.suggestion)}'?" if self.suggestion else ""
        return f"{shown(self.message, _LONGEST)}{hint}"

    def __str__(self) -> str:
        path = f" [{shown(self.place.path, _LONGEST)}]" if self.place.path else ""
        return f"{self.place}: {self.severity.value}: {self.sentence}{path}"

    def as_json(self) -> JsonObject:
        """Return the fields as JSON-ready values."""
        return {
            "severity": self.severity.value,
            "code": self.code,
            "message": self.message,
            "suggestion": self.suggestion,
            "file": self.place.source,
            "line": self.place.line,
            "column": self.place.column,
            "path": self.place.path,
        }
