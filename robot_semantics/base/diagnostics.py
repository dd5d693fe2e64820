# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Collection of the problems of one or several documents, reported together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import cached_property
from typing import NamedTuple

from robot_semantics.base.diagnostic import Diagnostic, Severity, SourcePlace
from robot_semantics.base.errors import DescriptionError
from robot_semantics.base.names import NameComparisons, is_certain, nearest_names

__all__ = ["Diagnostic", "Diagnostics", "Severity", "SourcePlace"]

MAX_KEPT = 1_000
"""Largest number of kept problems for each severity; a collection only counts the others."""

MORE = "more-problems"
"""Code of the problem that represents all problems that are not kept."""

NOT_COMPARED = "not-compared"
"""Code of the problem that a document was not compared with another, because that one cannot be read."""


PlaceOrFinder = SourcePlace | Callable[[], SourcePlace]
"""A place, or a function that computes it. Most problems are never read, and to compute a place takes long."""


class _Misspelling:
    """A misspelt name and the names that may be meant; the search takes long, so it waits until it is needed."""

    def __init__(self, name: str, valid: Collection[str]) -> None:
        self.name, self.valid = name, valid

    @cached_property
    def suggestion(self) -> str | None:
        """The nearest valid name."""
        return next(iter(nearest_names(self.name, self.valid)), None)

    @cached_property
    def is_certain(self) -> bool:
        """True if only the suggestion can be meant."""
        return self.suggestion is not None and is_certain(self.name, self.suggestion, self.valid)


class _Report(NamedTuple):
    """A problem that computes its place and suggestion when it is read."""

    severity: Severity
    code: str
    message: str
    place: PlaceOrFinder
    misspelling: _Misspelling | None

    def to_diagnostic(self) -> Diagnostic:
        severity, code, message, place, misspelling = self
        if misspelling is None:
            return Diagnostic(severity, code, message, _place_of(place))
        suggestion, certain = misspelling.suggestion, misspelling.is_certain
        return Diagnostic(severity, code, message, _place_of(place), suggestion, certain=certain, name=misspelling.name)


def _place_of(place: PlaceOrFinder) -> SourcePlace:
    return place if isinstance(place, SourcePlace) else place()


class Diagnostics:
    """Collection of the problems of one or several documents, reported together.

    The first `MAX_KEPT` of each severity are kept. The others are counted, and one problem with the code `MORE`
    represents them.
    """

    def __init__(self) -> None:
        self._diagnostics: list[Diagnostic] = []
        self._reports: list[_Report] = []
        self._counts: Counter[Severity] = Counter()
        self._more: dict[Severity, Diagnostic] = {}
        self._comparisons = NameComparisons()
        # The same wrong name is often in thousands of collision pairs.
        self._misspellings: dict[tuple[str, int], _Misspelling] = {}

    def error(
        self, code: str, message: str, place: PlaceOrFinder, *, name: str | None = None, valid: Collection[str] = ()
    ) -> None:
        """Add an error; with `name` and `valid`, suggest the nearest name. `valid` must not change afterwards."""
        self.add(Severity.ERROR, code, message, place, name, valid)

    def warning(
        self, code: str, message: str, place: PlaceOrFinder, *, name: str | None = None, valid: Collection[str] = ()
    ) -> None:
        """Add a warning; `name` and `valid` as in `error`."""
        self.add(Severity.WARNING, code, message, place, name, valid)

    def note(self, code: str, message: str, place: PlaceOrFinder) -> None:
        """Add a note; a note never makes a document fail."""
        self.add(Severity.NOTE, code, message, place)

    def add(
        self,
        severity: Severity,
        code: str,
        message: str,
        place: PlaceOrFinder,
        name: str | None = None,
        valid: Collection[str] = (),
    ) -> None:
        """Add a problem of any severity; `name` and `valid` as in `error`."""
        misspelling = None if name is None else self._misspelling(name, valid)
        self._add(_Report(severity, code, message, place, misspelling))

    def _misspelling(self, name: str, valid: Collection[str]) -> _Misspelling | None:
        """Return the misspelt name for a report; None if the limit of comparisons is reached."""
        key = name, id(valid)
        if key not in self._misspellings:
            if not self._comparisons.allow(valid):
                return None
            self._misspellings[key] = _Misspelling(name, valid)
        return self._misspellings[key]

    def _add(self, report: _Report) -> None:
        if self._counts[report.severity] < MAX_KEPT:
            self._reports.append(report)
            self._counts[report.severity] += 1
        else:
            self._count_more(report.severity, report.place, 1)

    def extend(self, diagnostics: Diagnostics | tuple[Diagnostic, ...]) -> None:
        """Add every problem of another collection."""
        if isinstance(diagnostics, Diagnostics) and not diagnostics._diagnostics:
            # Unread problems stay unread.
            for report in diagnostics._reports:
                self._add(report)
            diagnostics = tuple(diagnostics._more.values())
        for item in diagnostics:
            if item.code != MORE and self._counts[item.severity] < MAX_KEPT:
                self._items.append(item)
                self._counts[item.severity] += item.count
            else:
                self._count_more(item.severity, item.place, item.count)

    def extend_new(self, diagnostics: Iterable[Diagnostic]) -> None:
        """Add the problems that are not here yet: the error of a refused document repeats the reported ones."""
        known = set(self)
        self.extend(tuple(item for item in diagnostics if item not in known))

    def count(self, severity: Severity) -> int:
        """Return the number of added problems of a severity, kept or not."""
        return self._counts[severity]

    def _count_more(self, severity: Severity, place: PlaceOrFinder, count: int) -> None:
        self._counts[severity] += count
        if severity in self._more:
            place = self._more[severity].place
            count += self._more[severity].count
        what = severity.value if count == 1 else f"{severity.value}s"
        message = f"and {count:,} more {what} from here on"
        self._more[severity] = Diagnostic(severity, MORE, message, _place_of(place), None, count)

    @property
    def _items(self) -> list[Diagnostic]:
        """The kept problems, in the order of their arrival."""
        self._diagnostics += [report.to_diagnostic() for report in self._reports]
        self._reports.clear()
        return self._diagnostics

    def __iter__(self) -> Iterator[Diagnostic]:
        """Iterate in document order; sources keep the order of their first reports."""
        items = self._items
        rank: dict[str, int] = {}
        for item in items:
            rank.setdefault(item.place.source, len(rank))
        yield from sorted(items, key=lambda d: (rank[d.place.source], d.place.line, d.place.column))
        yield from (self._more[severity] for severity in Severity if severity in self._more)

    def __len__(self) -> int:
        return sum(self._counts.values())

    @property
    def errors(self) -> tuple[Diagnostic, ...]:
        """Only the errors, in document order."""
        return tuple(item for item in self if item.severity is Severity.ERROR)

    @property
    def warnings(self) -> tuple[Diagnostic, ...]:
        """Only the warnings, in document order."""
        return tuple(item for item in self if item.severity is Severity.WARNING)

    def failed(self, *, strict: bool = False) -> bool:
        """Return True if there is an error (with `strict`: an error or a warning)."""
        return bool(self._counts[Severity.ERROR] or (strict and self._counts[Severity.WARNING]))

    def raise_if_failed(self, *, strict: bool = False) -> None:
        """Raise one error with all problems.

        Raises:
            DescriptionError: if there is an error (with `strict`: or a warning).
        """
        if self.failed(strict=strict):
            raise DescriptionError(self)


def refusal(code: str, message: str, place: SourcePlace) -> DescriptionError:
    """Return the error for a text that cannot be read at all."""
    diagnostics = Diagnostics()
    diagnostics.error(code, message, place)
    return DescriptionError(diagnostics)
