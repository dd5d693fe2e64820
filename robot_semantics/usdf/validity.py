# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Rules of a valid world state beyond its grammar: names, the graph of parents, consistent orientations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import chain
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from robot_semantics.base.diagnostic import SourcePlace
from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.base.pattern import pattern
from robot_semantics.transforms import quat_from_rpy
from robot_semantics.transforms.pose import Pose, Quaternion
from robot_semantics.usdf.fields import ROOT_PATH, lists_of
from robot_semantics.usdf.table import MODEL, USDF, XML_SPACE
from robot_semantics.usdf.world_state import (
    SEPARATOR,
    WORLD,
    EngineState,
    Frame,
    JointState,
    LinkState,
    ModelState,
    WorldState,
)
from robot_semantics.xml.source_map import SourceMap

SOURCE = "<world state>"
"""Source in messages of a state without a document."""

QUATERNION_TOLERANCE = 1e-9
"""How far each component of rs:quaternion may be from the rpy beside it."""


class Problem(NamedTuple):
    """One error in a state.

    Attributes:
        ordinal: number of the element in its document; -1 without a document.
        child: tag of the invalid child element; ``""`` for the element itself.
        attribute: the invalid attribute, if any.
        path: its path, for a state without a document.
        name, valid: the unknown name, and the known names.
    """

    ordinal: int
    child: str
    attribute: str | None
    path: str
    code: str
    message: str
    name: str | None = None
    valid: Collection[str] = ()


_Placed = ModelState | Frame
_Named = ModelState | Frame | LinkState | JointState | EngineState
_NamedT = TypeVar("_NamedT", bound=_Named)
_PosedT = TypeVar("_PosedT", ModelState, Frame, LinkState)


def problems(state: WorldState) -> list[Problem]:
    """Return every error of `state`; reader and writer check numbers and their counts."""
    problems_found: list[Problem] = []
    bodies = _Bodies.of(state)
    problems_found.extend(bodies.name_problems())
    problems_found.extend(name_clashes(state))
    problems_found.extend(bodies.graph_problems())
    for model in state.models:
        for items in lists_of(MODEL):
            problems_found.extend(_names(items.tag, getattr(model, items.field), element_path(model)))
    problems_found.extend(_names(_TAG[EngineState], state.engines, ROOT_PATH))
    problems_found.extend(_quaternion_problems(state))
    return problems_found


def report_invalid_values(state: WorldState, places: SourceMap | None, found: Diagnostics) -> None:
    """Add every error of `state` to `found`: at its place in the document, or by its path without a document."""
    for problem in problems(state):
        place = SourcePlace(SOURCE, path=problem.path) if places is None else _place(problem, places)
        found.error(problem.code, problem.message, place, name=problem.name, valid=problem.valid)


def _place(problem: Problem, places: SourceMap) -> SourcePlace:
    if not problem.child:
        return places.place(problem.ordinal, problem.attribute)
    # The place is the first child of that name, or else the parent.
    child = places.first_child(problem.ordinal, problem.child)
    return places.place(problem.ordinal) if child is None else places.place(child, problem.attribute)


def without_faults(state: WorldState) -> WorldState:
    """Return the state without invalid parts and bodies attached to them; of two items with one name, the first
    stays.
    """

    def sound(items: Sequence[_NamedT]) -> tuple[_NamedT, ...]:
        first: dict[str, _NamedT] = {}
        for item in items:
            if not _is_bad(item.name):
                first.setdefault(item.name, item)
        return tuple(first.values())

    links = {f"{model.name}{SEPARATOR}{link.name}" for model in state.models for link in model.links}
    later = {(id(owner), name) for owner, name, _, _ in world_names(state)[1]}
    named = [body for body in sound(state.bodies) if body.name != WORLD and body.name not in links]
    kept_bodies = {id(body) for body in _connected_to_world(named)}

    def with_sound_items(model: ModelState) -> ModelState:
        lists: dict[str, Any] = {items.field: sound(getattr(model, items.field)) for items in lists_of(MODEL)}
        lists["links"] = tuple(link for link in lists["links"] if (id(model), link.name) not in later)
        return replace(model, **lists)

    state = replace(
        state,
        models=tuple(with_sound_items(model) for model in state.models if id(model) in kept_bodies),
        frames=tuple(frame for frame in state.frames if id(frame) in kept_bodies),
        engines=sound(state.engines),
    )
    bad = {problem.ordinal for problem in _quaternion_problems(state)}

    def posed(item: _PosedT) -> _PosedT:
        return replace(item, pose=None) if item.ordinal in bad else item

    return replace(
        state,
        models=tuple(replace(posed(model), links=tuple(map(posed, model.links))) for model in state.models),
        frames=tuple(map(posed, state.frames)),
    )


def _connected_to_world(bodies: Sequence[_Placed]) -> list[_Placed]:
    """Return the bodies that are connected to the world."""
    children: dict[str, list[_Placed]] = {}
    for body in bodies:
        children.setdefault(body.parent, []).append(body)
    found = list(children.get(WORLD, ()))
    for body in found:
        found += children.get(body.name, ())
    return found


def element_path(item: _Named, parent: str = ROOT_PATH) -> str:
    """Return the element path of a model, frame, link or joint."""
    return f"{parent}/{_TAG[type(item)]}[@name='{item.name}']"


_TAG = {
    items.quantity.type: items.tag for element in USDF.root.all() for items in lists_of(element) if items.quantity.type
}


def _names(tag: str, items: Sequence[_Named], parent: str) -> Iterator[Problem]:
    """Report bad and repeated names among siblings."""
    names = [item.name for item in items]
    if len(set(names)) < len(names):
        yield from _repeats(tag, items, parent)
    # Check all names together first: usually they are good.
    if "" in names or list(map(str.strip, names)) != names:
        yield from (_bad_name(item, parent) for item in items if _is_bad(item.name))


_CONTROL = pattern("[\x00-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


def name_fault(name: str) -> str | None:
    """Return why no file can hold a frame of this name, as the end of a sentence; None if a file can."""
    if not name:
        return "is empty"
    if not name.strip(XML_SPACE):
        return "is blank"
    if _is_bad(name):
        return "begins or ends with white space"
    return "has a control character" if _CONTROL.search(name) else None


def _is_bad(name: str) -> bool:
    return not name or name != name.strip(XML_SPACE)


def _bad_name(item: _Named, parent: str) -> Problem:
    empty = not item.name.strip(XML_SPACE)
    code, what = ("empty-name", "is empty") if empty else ("bad-name", "begins or ends with white space")
    return Problem(item.ordinal, "", "name", element_path(item, parent), code, f"the name '{item.name}' {what}")


def _repeats(tag: str, items: Iterable[_Named], parent: str) -> Iterator[Problem]:
    seen: set[str] = set()
    for item in items:
        if item.name in seen:
            message = f"a second <{tag}> has the name '{item.name}'"
            yield Problem(item.ordinal, "", "name", element_path(item, parent), "duplicate-name", message)
        seen.add(item.name)


def world_names(
    state: WorldState, more: Mapping[str, Collection[str]] | None = None
) -> tuple[dict[str, set[str]], list[tuple[ModelState, str, ModelState, str]]]:
    """Return the links of each model, and pairs of links with one world name ``model::link``: the later one, the first.

    `more` has links that the state does not name, by model.
    """
    links: dict[str, set[str]] = {}
    first: dict[str, tuple[ModelState, str]] = {}
    clashes = []
    for owner in state.models:
        names = dict.fromkeys((*(link.name for link in owner.links), *(more or {}).get(owner.name, ())))
        links.setdefault(owner.name, set()).update(names)
        for link in names:
            # Only a name with a colon can be divided in two ways.
            if ":" in owner.name or ":" in link:
                other, name = first.setdefault(f"{owner.name}{SEPARATOR}{link}", (owner, link))
                if other.name != owner.name:
                    clashes.append((owner, link, other, name))
    return links, clashes


def name_clashes(state: WorldState, more: Mapping[str, Collection[str]] | None = None) -> Iterator[Problem]:
    """Report models, frames and links with the world name of a link, because ``model::link`` would be ambiguous.

    `more` has links that the state does not name, by model.
    """
    links, clashes = world_names(state, more)
    for owner, name, other, link in clashes:
        stated = next((item for item in owner.links if item.name == name), None)
        message = f"link '{name}' of '{owner.name}' has the same name in the world as link '{link}' of '{other.name}'"
        path = element_path(owner) if stated is None else element_path(stated, element_path(owner))
        # A link whose pose follows from a robot's joints has no element.
        at = owner.ordinal if stated is None or stated.ordinal < 0 else stated.ordinal
        yield Problem(at, "", "name", path, "duplicate-name", message)
    lengths = set(map(len, links))
    for body in state.bodies:
        end = body.name.find(SEPARATOR)
        while end >= 0:
            # A name with many separators has many parts; compare only parts with the length of a model's name.
            if end in lengths:
                model, link = body.name[:end], body.name[end + len(SEPARATOR) :]
                if link in links.get(model, ()):
                    message = f"the name '{body.name}' already belongs to link '{link}' of '{model}'"
                    yield Problem(body.ordinal, "", "name", element_path(body), "duplicate-name", message)
            end = body.name.find(SEPARATOR, end + 1)


class _Bodies(NamedTuple):
    """The models and frames of a world: one space of names, one graph of parents."""

    items: tuple[_Placed, ...]
    by_name: Mapping[str, _Placed]

    @classmethod
    def of(cls, state: WorldState) -> _Bodies:
        return cls(state.bodies, {item.name: item for item in reversed(state.bodies)})

    def name_problems(self) -> Iterator[Problem]:
        """Report bad, repeated and reserved names."""
        counts = Counter(item.name for item in self.items)
        seen: dict[str, str] = {}
        for item in self.items:
            if _is_bad(item.name):
                yield _bad_name(item, ROOT_PATH)
            elif item.name == WORLD:
                message = (
                    f"the name '{WORLD}' is reserved for the fixed reference frame; no {_KIND[type(item)]} can have it"
                )
                yield Problem(item.ordinal, "", "name", element_path(item), "reserved-name", message)
            elif counts[item.name] > 1:
                other = seen.get(item.name)
                if other is not None:
                    message = f"the name '{item.name}' is already used by a {other}"
                    yield Problem(item.ordinal, "", "name", element_path(item), "duplicate-name", message)
                seen.setdefault(item.name, _KIND[type(item)])

    def graph_problems(self) -> Iterator[Problem]:
        """Report unknown parents and cycles."""
        # Bodies whose path to the world is valid, or already reported.
        done: set[str] = {WORLD}
        # One list for all problems: there may be as many of them as names.
        valid = (WORLD, *self.by_name)
        for item in self.items:
            trail: dict[str, _Placed] = {}
            body: _Placed | None = item
            while body is not None and body.name not in done and body.name not in trail:
                trail[body.name] = body
                if body.parent != WORLD and body.parent not in self.by_name:
                    message = f"the parent '{body.parent}' is neither a frame nor a model"
                    yield Problem(
                        body.ordinal, "parent", None, element_path(body), "unknown-parent", message, body.parent, valid
                    )
                yield from self._parent_link_problems(body)
                body = self.by_name.get(body.parent)
            if body is not None and body.name in trail:
                names = list(trail)
                cycle = names[names.index(body.name) :]
                message = f"the parents form a cycle: {' → '.join((*cycle, body.name))}"
                yield Problem(body.ordinal, "parent", None, element_path(body), "parent-cycle", message)
            done.update(trail)

    def _parent_link_problems(self, item: _Placed) -> Iterator[Problem]:
        above = self.by_name.get(item.parent)
        if item.parent_link is not None and not isinstance(above, ModelState) and (above or item.parent == WORLD):
            message = f"the parent '{item.parent}' is not a model, so it has no link '{item.parent_link}'"
            yield Problem(item.ordinal, "", "rs:parent_link", element_path(item), "unknown-parent-link", message)


_KIND: dict[type, str] = {ModelState: "model", Frame: "frame"}


def _quaternion_problems(state: WorldState) -> Iterator[Problem]:
    """Report each rs:quaternion that is not the orientation of the rpy beside it."""
    stated = _with_quaternion(state)
    if not stated:
        return
    with np.errstate(all="ignore"):
        given = _array([quat_xyzw for *_, quat_xyzw in stated], 4)
        meant = quat_from_rpy(_array([pose.xyz_rpy for _, _, pose, _ in stated], 6)[:, 3:])
        deviations = np.minimum(np.abs(given - meant).max(axis=1), np.abs(given + meant).max(axis=1))
        length = np.sqrt((given * given).sum(axis=1))
    # `not <=` instead of `>`: NaN from an overflow is also an error.
    for index in np.flatnonzero(~(deviations <= QUATERNION_TOLERANCE)):
        owner, item, *_ = stated[index]
        if not abs(length[index] - 1.0) <= QUATERNION_TOLERANCE:
            message = f"rs:quaternion has length {length[index]:.12g}, it must be 1"
        else:
            message = (
                f"rs:quaternion and the roll, pitch, yaw beside it are different orientations "
                f"(components differ by {deviations[index]:.3g}; at most {QUATERNION_TOLERANCE:g} is allowed)"
            )
        path = element_path(item, ROOT_PATH if owner is None else element_path(owner))
        yield Problem(item.ordinal, "pose", "rs:quaternion", f"{path}/pose", "quaternion-disagrees", message)


def _array(rows: Sequence[tuple[float, ...]], count: int) -> npt.NDArray[np.float64]:
    """Return (n, count) numbers; several times as fast as `np.array`, which checks the type of each row."""
    if all(len(row) == count for row in rows):
        with suppress(TypeError):  # values that are not numbers become NaN below
            return np.fromiter(chain.from_iterable(rows), np.float64, len(rows) * count).reshape(-1, count)
    return np.array(rows, dtype=np.float64)


def _with_quaternion(state: WorldState) -> list[tuple[ModelState | None, _Named, Pose, Quaternion]]:
    """Return all items with a stated quaternion, links with their model."""
    items: list[tuple[ModelState | None, _Named, Pose, Quaternion]] = []
    for body in state.bodies:
        if (pose := body.pose) is not None and (quat := pose.quat_xyzw) is not None:
            items.append((None, body, pose, quat))
        if isinstance(body, ModelState):
            items += [
                (body, link, pose, quat)
                for link in body.links
                if (pose := link.pose) is not None and (quat := pose.quat_xyzw) is not None
            ]
    return items
