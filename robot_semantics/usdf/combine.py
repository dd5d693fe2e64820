# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Several world states into one, and one into several."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from robot_semantics.base.diagnostics import Diagnostics, Place
from robot_semantics.base.errors import RobotSemanticsError, UnknownNameError
from robot_semantics.usdf.commands import with_renamed_models
from robot_semantics.usdf.frames import without_parent_links
from robot_semantics.usdf.validity import path_of
from robot_semantics.usdf.world_state import EngineState, Frame, ModelState, WorldState

_Item = TypeVar("_Item", ModelState, Frame)


def merge(
    states: Sequence[WorldState],
    *,
    sources: Sequence[str] | None = None,
    any_time: bool = False,
    diagnostics: Diagnostics | None = None,
) -> WorldState:
    """Return one state with all models and frames of `states`.

    A frame, model or engine state that several state in the same words is taken once. A frame or model that they state
    differently is a conflict, and so are different times, unless `any_time`: then the first is taken, with a warning.
    Different states of one engine are left out, with a warning: each belongs to its own world.

    Args:
        states: the states.
        sources: what each state is called in messages.
        any_time: whether times may differ.
        diagnostics: collects notes and warnings.

    Raises:
        DescriptionError: there are conflicts; every one is reported.
    """
    labels = list(sources) if sources is not None else [f"<state {at}>" for at in range(1, len(states) + 1)]
    found = Diagnostics()
    stated = list(zip(labels, states, strict=True))
    merged = WorldState(
        name=_first_name(stated, found),
        models=_united([(label, state.models) for label, state in stated], found),
        frames=_united([(label, state.frames) for label, state in stated], found),
        time_ns=_time(stated, any_time, found),
        engines=_engines(stated, found),
        foreign=tuple(dict.fromkeys(entry for state in states for entry in state.foreign)),
        comment="\n".join(dict.fromkeys(state.comment for state in states if state.comment)) or None,
        version=max((state.version for state in states if state.version), default=None),
    )
    _one_space_of_names(merged, labels[-1] if labels else "", found)
    found.raise_if_failed()
    if diagnostics is not None:
        diagnostics.extend(found)
    return merged


def renamed(state: WorldState, names: Mapping[str, str]) -> WorldState:
    """Return `state` with models and frames renamed, parents and what their joints are told to do too.

    Raises:
        UnknownNameError: there is no such model or frame.
        RobotSemanticsError: two of them would be called the same.
    """
    known = {item.name for item in state.bodies}
    for name in names:
        if name not in known:
            raise UnknownNameError("model or frame", name, known)

    def new(name: str) -> str:
        return names.get(name, name)

    taken: dict[str, str] = {}
    for name in known:
        other = taken.setdefault(new(name), name)
        if other != name:
            before, after = sorted((name, other))
            raise RobotSemanticsError(f"'{before}' and '{after}' would both be called '{new(name)}'")
    return replace(
        state,
        models=tuple(replace(model, name=new(model.name), parent=new(model.parent)) for model in state.models),
        frames=tuple(replace(frame, name=new(frame.name), parent=new(frame.parent)) for frame in state.frames),
        engines=tuple(
            with_renamed_models(engine, {m.name: new(m.name) for m in state.models}) for engine in state.engines
        ),
    )


def prefixed(state: WorldState, prefix: str) -> WorldState:
    """Return `state` with `prefix` before every model's and frame's name."""
    return renamed(state, {item.name: prefix + item.name for item in state.bodies})


def split(state: WorldState, diagnostics: Diagnostics | None = None) -> dict[str, WorldState]:
    """Return one state for each model, by its name, with the frames that it stands in.

    A model that another stands on becomes a frame in the other's state, so that the place in the world is kept. Engine
    states belong to the world as a whole: they are left out, with a warning.
    """
    state = without_parent_links(state)
    bodies: dict[str, ModelState | Frame] = {item.name: item for item in state.bodies}
    parts: dict[str, WorldState] = {}
    for model in state.models:
        frames: list[Frame] = []
        above = bodies.get(model.parent)
        # A state with a cycle cannot be read or written, but it can be made.
        while above is not None and above.name not in {model.name, *(frame.name for frame in frames)}:
            frames.append(
                above
                if isinstance(above, Frame)
                else Frame(above.name, above.parent, above.pose, above.twist, at=above.at)
            )
            above = bodies.get(above.parent)
        parts[model.name] = replace(
            state, models=(model,), frames=tuple(reversed(frames)), engines=(), foreign=state.foreign
        )
    if diagnostics is not None:
        for engine in state.engines:
            message = f"the engine state of '{engine.name}' is of the whole world; it is left out"
            diagnostics.warning("left-out", message, Place("<world state>", path=path_of(engine)))
        used = {frame.name for part in parts.values() for frame in part.frames}
        for frame in state.frames:
            if frame.name not in used:
                message = f"no model stands in frame '{frame.name}'; it is left out"
                diagnostics.warning("left-out", message, Place("<world state>", path=path_of(frame)))
    return parts


def _united(stated: Iterable[tuple[str, Sequence[_Item]]], found: Diagnostics) -> tuple[_Item, ...]:
    """Return the items of several lists, each name once; different items of one name are errors."""
    items: dict[str, tuple[str, _Item]] = {}
    for label, row in stated:
        for item in row:
            source, known = items.setdefault(item.name, (label, item))
            if known != item:
                message = f"'{item.name}' is stated differently in {source}"
                found.error("name-conflict", message, Place(label, path=path_of(item)))
    return tuple(item for _, item in items.values())


def _engines(stated: Sequence[tuple[str, WorldState]], found: Diagnostics) -> tuple[EngineState, ...]:
    """Return the engine states that no other state contradicts: of two different ones neither is the whole world's."""
    engines: dict[str, EngineState] = {}
    contradicted: set[str] = set()
    for label, state in stated:
        for engine in state.engines:
            if engines.setdefault(engine.name, engine) != engine:
                contradicted.add(engine.name)
                message = f"the engine state of '{engine.name}' is another than the one before; both are left out"
                found.warning("left-out", message, Place(label, path=path_of(engine)))
    return tuple(engine for name, engine in engines.items() if name not in contradicted)


def _one_space_of_names(state: WorldState, label: str, found: Diagnostics) -> None:
    """Report names that a model has in one state and a frame in another."""
    models = {model.name for model in state.models}
    for frame in state.frames:
        if frame.name in models:
            message = f"'{frame.name}' is a model in one state and a frame in another"
            found.error("name-conflict", message, Place(label, path=path_of(frame)))


def _first_name(stated: Sequence[tuple[str, WorldState]], found: Diagnostics) -> str | None:
    names = list(dict.fromkeys(state.name for _, state in stated if state.name is not None))
    if len(names) > 1:
        message = f"the worlds have different names; '{names[0]}' is kept, not {', '.join(map(repr, names[1:]))}"
        found.note("world-name", message, Place(stated[0][0]))
    return names[0] if names else None


def _time(stated: Sequence[tuple[str, WorldState]], any_time: bool, found: Diagnostics) -> int | None:
    timed = [(label, state.time_ns) for label, state in stated if state.time_ns is not None]
    for label, time_ns in timed[1:]:
        if time_ns != timed[0][1]:
            message = f"the time is {time_ns} ns; it is {timed[0][1]} ns in {timed[0][0]}"
            place = Place(label, path="/world_state/@rs:time")
            (found.warning if any_time else found.error)("time-conflict", message, place)
    return timed[0][1] if timed else None
