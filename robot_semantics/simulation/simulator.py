"""What every simulator adapter offers: capture a world state, restore one, and say what could not be restored."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Protocol

from robot_semantics.usdf.world_state import WorldState


@dataclass(frozen=True, slots=True)
class RestoreItem:
    """What became of one thing that a state says.

    Attributes:
        subject: the thing, for example ``model 'rover': joint 'elbow_joint'``.
        done: whether it was restored.
        detail: how; where it was not restored, why not.

    """

    subject: str
    done: bool
    detail: str

    def __str__(self) -> str:
        return f"{self.subject}: {self.detail}"


@dataclass(frozen=True, slots=True)
class RestoreReport:
    """What a restore did, per item.

    Attributes:
        items: one for each thing, in the state's order.
        notes: what a person should know besides; nothing failed by it.
        exact: the simulation continues bit for bit as the one that was captured.
        applied: whether the simulator was changed; False for a dry run, and where all or nothing came to nothing.

    """

    items: tuple[RestoreItem, ...]
    notes: tuple[str, ...] = ()
    exact: bool = False
    applied: bool = False

    @property
    def restored(self) -> tuple[RestoreItem, ...]:
        """The items that were restored (or, where nothing was applied, that could be)."""
        return tuple(item for item in self.items if item.done)

    @property
    def not_restored(self) -> tuple[RestoreItem, ...]:
        """The items that were not restored."""
        return tuple(item for item in self.items if not item.done)

    @property
    def complete(self) -> bool:
        """Whether everything that the state says was (or could be) restored."""
        return not self.not_restored

    @property
    def message(self) -> str:
        """Why nothing was restored, in one line; empty where it was."""
        if self.applied or self.complete:
            return ""
        first, *more = self.not_restored
        others = f" (and {len(more)} more)" if more else ""
        return f"nothing restored, because not everything could be: {first}{others}"


class RestoreLog:
    """Collects the items of a report."""

    def __init__(self) -> None:
        self.items: list[RestoreItem] = []
        self.notes: list[str] = []

    def done(self, subject: str, detail: str) -> None:
        """Add something restored."""
        self.items.append(RestoreItem(subject, True, detail))

    def failed(self, subject: str, reason: str) -> None:
        """Add something not restored."""
        self.items.append(RestoreItem(subject, False, reason))

    def note(self, text: str) -> None:
        """Add a note, once."""
        if text not in self.notes:
            self.notes.append(text)

    @property
    def complete(self) -> bool:
        """Whether nothing failed."""
        return all(item.done for item in self.items)

    def report(self, *, exact: bool, applied: bool) -> RestoreReport:
        """Return the finished report."""
        return RestoreReport(tuple(self.items), tuple(self.notes), exact, applied)


class Simulator(Protocol):
    """A simulator whose state can be taken and set."""

    @property
    def model_names(self) -> tuple[str, ...]:
        """Names of the models in the world."""

    def capture(self, models: Collection[str] | None = None) -> WorldState:
        """Return the present state, of the named models only where `models` is given.

        Raises:
            UnknownNameError: a model that the world does not have.

        """

    def restore(
        self,
        state: WorldState,
        *,
        models: Iterable[str] | None = None,
        partial: bool = False,
        dry_run: bool = False,
    ) -> RestoreReport:
        """Put the world into `state`; what it does not state stays as it is.

        Args:
            state: the state.
            models: restore only these; None for all that the state has.
            partial: restore what can be restored; without it, everything or nothing.
            dry_run: change nothing, only report what a restore would do.

        """
