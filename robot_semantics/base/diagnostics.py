# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The problems of one or several documents, collected so that all are reported together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator

from robot_semantics.base.diagnostic import Diagnostic, Place, Severity
from robot_semantics.base.errors import DescriptionError
from robot_semantics.base.names import is_meant, nearest_names

__all__ = ["Diagnostic", "Diagnostics", "Place", "Severity"]

MAX_KEPT = 1_000
"""Problems of each severity that a collection keeps; of more it says how many there are."""

MORE = "more-problems"
"""Code of the problem that stands for those that are not kept."""

MAX_COMPARISONS = 20_000
"""Known names that one collection's misspelt names are compared with at most: a second or two of work.

A document in which every name is wrong would take minutes otherwise; its later problems come without a suggestion.
"""


class Diagnostics:
    """Collects the problems of one or several documents, so that all are reported together.

    The first `MAX_KEPT` of each severity are kept; the others are counted, and one problem with the code `MORE` stands
    for them.
    """

    def __init__(self) -> None:
        self._items: list[Diagnostic] = []
        self._counts: Counter[Severity] = Counter()
        self._more: dict[Severity, Diagnostic] = {}
        self._comparisons = MAX_COMPARISONS

    def error(
        self, code: str, message: str, place: Place, *, name: str | None = None, valid: Collection[str] = ()
    ) -> None:
        """Add an error; with `name` and `valid` the nearest valid name is suggested."""
        self._add(Severity.ERROR, code, message, place, name, valid)

    def warning(
        self, code: str, message: str, place: Place, *, name: str | None = None, valid: Collection[str] = ()
    ) -> None:
        """Add a warning; with `name` and `valid` the nearest valid name is suggested."""
        self._add(Severity.WARNING, code, message, place, name, valid)

    def note(self, code: str, message: str, place: Place) -> None:
        """Add a note, which never counts against a document."""
        self._add(Severity.NOTE, code, message, place, None, ())

    def extend(self, diagnostics: Diagnostics | tuple[Diagnostic, ...]) -> None:
        """Add every problem of another collection."""
        for item in diagnostics:
            self._keep(item)

    def suggest(self, name: str, valid: Collection[str]) -> str | None:
        """Return the valid name that resembles `name`; None, too, when too many have been looked for already."""
        return next(iter(self._near(name, valid)), None)

    def _near(self, name: str, valid: Collection[str]) -> tuple[str, ...]:
        if len(valid) > self._comparisons:
            return ()
        self._comparisons -= len(valid)
        return nearest_names(name, valid)

    def count(self, severity: Severity) -> int:
        """Return how many problems of a severity have been added, kept or not."""
        return self._counts[severity]

    def _add(
        self, severity: Severity, code: str, message: str, place: Place, name: str | None, valid: Collection[str]
    ) -> None:
        near = () if name is None else self._near(name, valid)
        certain = name is not None and is_meant(name, near)
        self._keep(Diagnostic(severity, code, message, place, next(iter(near), None), certain=certain))

    def _keep(self, item: Diagnostic) -> None:
        severity = item.severity
        self._counts[severity] += item.count
        if item.code != MORE and self._counts[severity] <= MAX_KEPT:
            self._items.append(item)
            return
        first = self._more.get(severity, item)
        count = item.count + (first.count if severity in self._more else 0)
        what = severity.value if count == 1 else f"{severity.value}s"
        self._more[severity] = Diagnostic(
            severity, MORE, f"and {count:,} more {what} from here on", first.place, None, count
        )

    def __iter__(self) -> Iterator[Diagnostic]:
        """Iterate in document order; sources stay in the order in which they were first reported."""
        rank: dict[str, int] = {}
        for item in self._items:
            rank.setdefault(item.place.source, len(rank))
        yield from sorted(self._items, key=lambda d: (rank[d.place.source], d.place.line, d.place.column))
        yield from (self._more[severity] for severity in Severity if severity in self._more)

    def __len__(self) -> int:
        return sum(self._counts.values())

    @property
    def errors(self) -> tuple[Diagnostic, ...]:
        """The errors alone, in document order."""
        return tuple(item for item in self if item.severity is Severity.ERROR)

    @property
    def warnings(self) -> tuple[Diagnostic, ...]:
        """The warnings alone, in document order."""
        return tuple(item for item in self if item.severity is Severity.WARNING)

    def failed(self, *, strict: bool = False) -> bool:
        """Tell whether the documents are refused: on errors, and with `strict` on warnings too."""
        return bool(self._counts[Severity.ERROR] or (strict and self._counts[Severity.WARNING]))

    def raise_if_failed(self, *, strict: bool = False) -> None:
        """Raise one error that carries every problem.

        Raises:
            DescriptionError: if there is an error (with `strict`: or a warning).
        """
        if self.failed(strict=strict):
            raise DescriptionError(self)
