# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Result for each item of a state after its transfer to a robot or a simulator."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from robot_semantics.base.names import NameComparisons, suggestion
from robot_semantics.base.record import record

TOLERANCE = 1e-6
"""How far two statements about one thing may lie apart and still be the same [m, rad, m/s, rad/s]."""


@record(frozen=True, slots=True)
class RestoreItem:
    """Result for one item.

    Attributes:
        kind: ``model``, ``description``, ``pose``, ``twist``, ``joint``, ``link``, ``links``, ``frame``, ``time``,
            ``engine``.
        model: the model of the item; empty without a model.
        name: of the joint, link, frame or engine; empty for a value of the model itself.
        done: True if the value was used, or derived from other stated values.
        detail: how it was used, or the reason why not.
        derived: the value is computed from other stated values.
        code: one word for programs, if `done` and `derived` are not enough.
        by: the simulator that reported this; empty without a simulator.

    """

    kind: str
    model: str
    name: str
    done: bool
    detail: str
    derived: bool = False
    code: str = ""
    by: str = ""

    @property
    def subject(self) -> str:
        """The thing in words: ``model 'rover': joint 'elbow'``."""
        named = f"{self.kind} '{self.name}'" if self.name else _WORDS.get(self.kind, self.kind)
        if not self.model:
            return named
        return f"model '{self.model}'" if self.kind == "model" else f"model '{self.model}': {named}"

    def __str__(self) -> str:
        said = f"{self.subject}: {self.detail}" if self.kind else self.detail
        return f"simulator '{self.by}': {said}" if self.by else said


_WORDS = {"links": "link poses"}


@record(frozen=True, slots=True)
class RestoreReport:
    """Result of a restore, with one entry for each item.

    Attributes:
        items: one for each thing, in the state's order.
        notes: other notes for people; they are not failures.
        exact: the simulation continues bit for bit as the one that was captured.
        applied: True if anything was changed; False for a dry run, and for a refused restore of all or nothing.

    """

    items: tuple[RestoreItem, ...]
    notes: tuple[str, ...] = ()
    exact: bool = False
    applied: bool = False

    @property
    def restored(self) -> tuple[RestoreItem, ...]:
        """The items that were restored, or in a dry run could be restored."""
        return tuple(item for item in self.items if item.done)

    @property
    def not_restored(self) -> tuple[RestoreItem, ...]:
        """The items that were not restored."""
        return tuple(item for item in self.items if not item.done)

    @property
    def complete(self) -> bool:
        """True if every stated item was restored, or in a dry run could be."""
        return not self.not_restored

    @property
    def message(self) -> str:
        """One line with the items that were not restored, or a line that all were restored."""
        failed = self.not_restored
        if not failed:
            return "everything that is stated was restored" if self.applied else "everything that is stated can be"
        others = f" (and {len(failed) - 1} more)" if failed[1:] else ""
        if self.applied:
            return f"restored in part; not restored: {failed[0]}{others}"
        return f"nothing restored, because not everything could be: {failed[0]}{others}"


class RestoreLog:
    """Collects the items of a report, by default for one model."""

    def __init__(self, model: str = "") -> None:
        self.model = model
        self.items: list[RestoreItem] = []
        self._notes: dict[str, None] = {}
        self._comparisons = NameComparisons()

    def done(self, kind: str, name: str, detail: str, *, derived: bool = False) -> None:
        """Add an item that was restored."""
        self.items.append(RestoreItem(kind, self.model, name, True, detail, derived))

    def failed(self, kind: str, name: str, reason: str, code: str = "") -> None:
        """Add an item that was not restored."""
        self.items.append(RestoreItem(kind, self.model, name, False, reason, code=code))

    def note(self, text: str) -> None:
        """Add a note, once."""
        self._notes[f"model '{self.model}': {text}" if self.model else text] = None

    def extend(self, items: Iterable[RestoreItem], notes: Iterable[str] = ()) -> None:
        """Add the items and notes of another report."""
        self.items += items
        self._notes.update(dict.fromkeys(notes))

    def suggestion(self, name: str, valid: Collection[str]) -> str:
        """Return `suggestion(name, valid)`; empty after many names, because each look-up takes long."""
        return suggestion(name, valid) if self._comparisons.allow(valid) else ""

    @property
    def notes(self) -> tuple[str, ...]:
        """The notes, each once."""
        return tuple(self._notes)

    @property
    def complete(self) -> bool:
        """True if no item failed."""
        return all(item.done for item in self.items)

    def report(self, *, exact: bool = False, applied: bool = False) -> RestoreReport:
        """Return the finished report."""
        return RestoreReport(tuple(self.items), self.notes, exact, applied)
