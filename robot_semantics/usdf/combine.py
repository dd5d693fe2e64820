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

from robot_semantics.base.diagnostic import SourcePlace
from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.base.errors import RobotSemanticsError, UnknownNameError
from robot_semantics.model.robot_model import RobotModel
from robot_semantics.transforms import transform_distance
from robot_semantics.transforms.pose import pose_matrix
from robot_semantics.usdf.commands import union, with_renamed_models
from robot_semantics.usdf.fields import fields_of
from robot_semantics.usdf.frames import NotStatedError, link_frame
from robot_semantics.usdf.robot import complete_model, with_carriers
from robot_semantics.usdf.table import FRAME, MODEL
from robot_semantics.usdf.validity import element_path
from robot_semantics.usdf.world_state import (
    SEPARATOR,
    EngineState,
    Frame,
    LinkState,
    ModelState,
    WorldState,
    carrier_of,
)

STAND_IN_TOLERANCE = 1e-9
"""How far a frame may be from the link that it stands for [m, rad]."""

_Item = TypeVar("_Item", ModelState, Frame)
_SHARED_FIELDS = sorted({field.name for field in fields_of(FRAME)} & {field.name for field in fields_of(MODEL)})


def merge_states(
    states: Sequence[WorldState],
    *,
    sources: Sequence[str] | None = None,
    any_time: bool = False,
    diagnostics: Diagnostics | None = None,
    robots: Mapping[str, RobotModel] | None = None,
) -> WorldState:
    """Return one state with all models and frames of `states`; it undoes `split_state`.

    A frame, model or engine state that is equal in several states appears once. A frame or model that differs between
    them is a conflict. Different times are also a conflict; with `any_time`, the first time is used, with a warning.
    Different states of one engine are omitted, with a warning, because each belongs to its own world.

    Args:
        states: the states.
        sources: the name of each state in messages.
        any_time: whether times may differ.
        diagnostics: collects notes and warnings.
        robots: robots by their models' names; their joints give the poses of links that carry bodies of another state.

    Raises:
        DescriptionError: there are conflicts; all are reported.
    """
    labels = list(sources) if sources is not None else [f"<state {at}>" for at in range(1, len(states) + 1)]
    problems = Diagnostics()
    stated = _without_stand_ins(list(zip(labels, states, strict=True)), robots or {}, problems)
    merged = WorldState(
        name=_first_name(stated, problems),
        models=_merged_items([(label, state.models) for label, state in stated], problems),
        frames=_merged_items([(label, state.frames) for label, state in stated], problems),
        time_ns=_time(stated, any_time, problems),
        engines=_engines(stated, problems),
        foreign=tuple(dict.fromkeys(entry for state in states for entry in state.foreign)),
        comment="\n".join(dict.fromkeys(state.comment for state in states if state.comment)) or None,
        version=max((state.version for state in states if state.version), default=None),
    )
    _one_space_of_names(merged, labels[-1] if labels else "", problems)
    problems.raise_if_failed()
    if diagnostics is not None:
        diagnostics.extend(problems)
    return merged


def renamed(state: WorldState, names: Mapping[str, str]) -> WorldState:
    """Return `state` with renamed models and frames, also in parents and joint commands.

    Raises:
        UnknownNameError: the state has no model or frame of a name.
        RobotSemanticsError: two of them would have one name.
    """
    known_names = {item.name for item in state.bodies}
    names = {state.body_name(old): new for old, new in names.items()}
    for name in names:
        if name not in known_names:
            raise UnknownNameError("model or frame", name, known_names)

    def new(name: str) -> str:
        return names.get(name, name)

    taken: dict[str, str] = {}
    for name in known_names:
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


def split_state(
    state: WorldState,
    diagnostics: Diagnostics | None = None,
    *,
    robots: Mapping[str, RobotModel] | None = None,
) -> dict[str, WorldState]:
    """Return one state for each model, by its name, with the frames above it and the frames attached to it.

    In the state of a carried model, the carrying model is a frame, and the carrying link is a frame ``model::link``. So
    all poses in the world are kept, and `merge_states` undoes it. Engine states belong to the world as a whole: they
    are omitted, with a warning.

    Args:
        state: the state.
        diagnostics: collects the warnings.
        robots: robots by their models' names; their joints give the poses of carrying links.

    Raises:
        NotStatedError: the pose of a carrying link is not stated and cannot be computed.
    """
    bodies: dict[str, ModelState | Frame] = {item.name: item for item in state.bodies}
    carriers = with_carriers(state, robots or {}).models
    links = {(model.name, link.name): link for model in carriers for link in model.links}
    parts: dict[str, WorldState] = {}
    for model in state.models:
        frames = _frames_below(model, bodies, links)
        parts[model.name] = replace(
            state,
            models=(_on_frames(model),),
            frames=(*reversed(frames), *_frames_on(model.name, state.frames)),
            engines=(),
        )
    if diagnostics is not None:
        for engine in state.engines:
            message = f"the engine state of '{engine.name}' belongs to the whole world; it is left out"
            diagnostics.warning("left-out", message, SourcePlace("<world state>", path=element_path(engine)))
        used = {frame.name for part in parts.values() for frame in part.frames}
        for frame in state.frames:
            if frame.name not in used:
                message = f"no model is on frame '{frame.name}'; it is left out"
                diagnostics.warning("left-out", message, SourcePlace("<world state>", path=element_path(frame)))
    return parts


def _on_frames(body: _Item) -> _Item:
    """Return a body whose carrying link is replaced by the frame ``model::link``."""
    return replace(body, parent=carrier_of(body), parent_link=None)


def _frames_below(
    model: ModelState, bodies: Mapping[str, ModelState | Frame], links: Mapping[tuple[str, str], LinkState]
) -> list[Frame]:
    """Return the frames above a model, the nearest first, with frames in place of models and links.

    Raises:
        NotStatedError: the pose of a link among them is not stated.
    """
    frames: list[Frame] = []
    below: ModelState | Frame = model
    while True:
        above = bodies.get(below.parent)
        # A state with a cycle cannot be read or written, but a program can create it.
        if above is None or above.name in {model.name, *(frame.name for frame in frames)}:
            return frames
        if below.parent_link is not None:
            link = links.get((below.parent, below.parent_link))
            if link is None or link.pose is None:
                raise NotStatedError(carrier_of(below), "pose")
            frames.append(link_frame(link, carrier_of(below), below.parent))
        frames.append(_on_frames(above) if isinstance(above, Frame) else _stand_in(above))
        below = above


def _stand_in(model: ModelState) -> Frame:
    """Return a model as a frame."""
    values = {name: getattr(model, name) for name in _SHARED_FIELDS}
    return _on_frames(Frame(model.name, ordinal=model.ordinal, **values))


def _frames_on(model: str, frames: Sequence[Frame]) -> list[Frame]:
    """Return the frames that are attached to a model, directly or through other frames."""
    names, found = {model}, list[Frame]()
    while more := [frame for frame in frames if frame.parent in names and frame.name not in names]:
        found += more
        names.update(frame.name for frame in more)
    return found


def _without_stand_ins(
    stated: Sequence[tuple[str, WorldState]],
    robots: Mapping[str, RobotModel],
    diagnostics: Diagnostics,
) -> list[tuple[str, WorldState]]:
    """Return states without the frames that `split_state` puts in place of models and links of other states."""
    models: dict[str, ModelState] = {}
    for _, state in stated:
        for model in state.models:
            models.setdefault(model.name, model)
    result = []
    for label, state in stated:
        model_names = {model.name for model in state.models}
        carriers = {
            frame.name: (frame.parent, frame.name.removeprefix(f"{frame.parent}{SEPARATOR}"))
            for frame in state.frames
            if frame.parent in models.keys() - model_names and frame.name.startswith(f"{frame.parent}{SEPARATOR}")
        }
        for frame in state.frames:
            if frame.name in carriers:
                _check_stand_in(frame, models[frame.parent], carriers[frame.name][1], robots, label, diagnostics)

        def on_link(body: _Item, carriers: Mapping[str, tuple[str, str]] = carriers) -> _Item:
            parent, link = carriers.get(body.parent, (body.parent, body.parent_link))
            return replace(body, parent=parent, parent_link=link)

        frames = [on_link(frame) for frame in state.frames if frame.name not in carriers]
        # A frame in place of a model exists only as a parent.
        used = {body.parent for body in state.bodies} & models.keys() - model_names
        kept = (frame for frame in frames if frame.name not in used or not _is_same(frame, models[frame.name]))
        result.append((label, replace(state, models=tuple(map(on_link, state.models)), frames=tuple(kept))))
    return result


def _is_same(frame: Frame, model: ModelState) -> bool:
    return all(getattr(frame, name) == getattr(model, name) for name in _SHARED_FIELDS)


def _check_stand_in(
    frame: Frame,
    model: ModelState,
    link: str,
    robots: Mapping[str, RobotModel],
    label: str,
    diagnostics: Diagnostics,
) -> None:
    """Report a frame ``model::link`` whose pose differs from the pose of this link."""
    robot = robots.get(model.name)
    links = (model if robot is None else complete_model(model, robot)).links
    pose = next((state.pose for state in links if state.name == link), None)
    place = SourcePlace(label, path=element_path(frame))
    if pose is None or frame.pose is None:
        message = f"'{frame.name}' is a link of '{model.name}' whose pose is not stated and does not follow from joints"
        diagnostics.error("name-conflict", message, place)
        return
    off_m, off_rad = map(float, transform_distance(pose_matrix(pose), pose_matrix(frame.pose)))
    if max(off_m, off_rad) > STAND_IN_TOLERANCE:
        message = f"'{frame.name}' is {off_m:.3g} m and {off_rad:.3g} rad away from this link of '{model.name}'"
        diagnostics.error("name-conflict", message, place)


def _merged_items(stated: Iterable[tuple[str, Sequence[_Item]]], diagnostics: Diagnostics) -> tuple[_Item, ...]:
    """Return the items of several lists, each name once; different items of one name are errors."""
    items: dict[str, tuple[str, _Item]] = {}
    for label, row in stated:
        for item in row:
            source, known = items.setdefault(item.name, (label, item))
            if known != item:
                message = f"'{item.name}' has other values in {source}"
                diagnostics.error("name-conflict", message, SourcePlace(label, path=element_path(item)))
    return tuple(item for _, item in items.values())


def _engines(stated: Sequence[tuple[str, WorldState]], diagnostics: Diagnostics) -> tuple[EngineState, ...]:
    """Return the engine states; two different states of one engine are both omitted, but joint commands are joined."""
    engines: dict[str, EngineState] = {}
    contradicted: set[str] = set()
    for label, state in stated:
        for engine in state.engines:
            known = engines.setdefault(engine.name, engine)
            both = engine if known == engine else union(known, engine)
            if both is not None:
                engines[engine.name] = both
            else:
                contradicted.add(engine.name)
                message = f"the engine state of '{engine.name}' differs from the one before; both are left out"
                diagnostics.warning("left-out", message, SourcePlace(label, path=element_path(engine)))
    return tuple(engine for name, engine in engines.items() if name not in contradicted)


def _one_space_of_names(state: WorldState, label: str, diagnostics: Diagnostics) -> None:
    """Report names of a model in one state and of a frame in another."""
    models = {model.name for model in state.models}
    for frame in state.frames:
        if frame.name in models:
            message = f"'{frame.name}' is a model in one state and a frame in another"
            diagnostics.error("name-conflict", message, SourcePlace(label, path=element_path(frame)))


def _first_name(stated: Sequence[tuple[str, WorldState]], found: Diagnostics) -> str | None:
    names = list(dict.fromkeys(state.name for _, state in stated if state.name is not None))
    if len(names) > 1:
        message = f"the worlds have different names; '{names[0]}' is kept, not {', '.join(map(repr, names[1:]))}"
        found.note("world-name", message, SourcePlace(stated[0][0]))
    return names[0] if names else None


def _time(stated: Sequence[tuple[str, WorldState]], any_time: bool, diagnostics: Diagnostics) -> int | None:
    timed = [(label, state.time_ns) for label, state in stated if state.time_ns is not None]
    for label, time_ns in timed[1:]:
        if time_ns != timed[0][1]:
            message = f"the time is {time_ns} ns; it is {timed[0][1]} ns in {timed[0][0]}"
            place = SourcePlace(label, path="/world_state/@rs:time")
            (diagnostics.warning if any_time else diagnostics.error)("time-conflict", message, place)
    return timed[0][1] if timed else None
