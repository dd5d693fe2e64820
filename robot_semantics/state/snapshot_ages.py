"""How old the values of a snapshot were when it was taken, kept in its file: the state has one time, they have many."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from xml.sax.saxutils import quoteattr

from robot_semantics.usdf.foreign import foreign_element
from robot_semantics.usdf.world_state import WorldState
from robot_semantics.usdf.writer import format_time

NAMESPACE = "urn:robot-semantics:snapshot:1"
_AGES, _JOINT, _FRAME = (f"{{{NAMESPACE}}}{word}" for word in ("ages", "joint", "frame"))


@dataclass(frozen=True, slots=True)
class ValueAge:
    """The age of one value.

    Attributes:
        model: the model whose joint it is; None for a frame.
        name: of the joint or frame.
        age_ns: how long before the state's time it was true.

    """

    model: str | None
    name: str
    age_ns: int


def with_ages(state: WorldState, ages: Sequence[ValueAge]) -> WorldState:
    """Return the state with these ages, in a namespace of their own, instead of those it had."""
    others = tuple(entry for entry in state.foreign if foreign_element(entry, _AGES) is None)
    if not ages:
        return replace(state, foreign=others)
    lines = []
    for age in ages:
        name, seconds = quoteattr(age.name), format_time(age.age_ns)
        what = f"frame name={name}" if age.model is None else f"joint model={quoteattr(age.model)} name={name}"
        lines.append(f'<s:{what} age="{seconds}"/>')
    return replace(state, foreign=(*others, f'<s:ages xmlns:s="{NAMESPACE}">{"".join(lines)}</s:ages>'))


def ages_of(state: WorldState) -> tuple[ValueAge, ...]:
    """Return the ages that a snapshot states; none where it states none, or nonsense."""
    elements = (element for entry in state.foreign if (element := foreign_element(entry, _AGES)) is not None)
    try:
        return tuple(
            ValueAge(
                child.get("model") if child.tag == _JOINT else None,
                child.get("name", ""),
                int(child.get("age", "").replace(".", "")),
            )
            for element in elements
            for child in element
            if child.tag in (_JOINT, _FRAME)
        )
    except ValueError:
        return ()
