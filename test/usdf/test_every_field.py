# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Every field of a world state through every operation: an operation that does not know a field fails here.

A new field needs a second value in `CHANGES`. An operation may only ignore the fields that are listed with a reason.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields, replace
from typing import Any

import pytest

from robot_semantics import DescriptionError, Diagnostic, Diagnostics, WorldState, write_world
from robot_semantics.convert.json_form import json_text, parse_json
from robot_semantics.convert.sdformat_state import to_sdformat
from robot_semantics.transforms.pose import Pose
from robot_semantics.usdf.combine import merge_states
from robot_semantics.usdf.compare import compare
from robot_semantics.usdf.interpolate import interpolate_states
from robot_semantics.usdf.reader import parse_world
from robot_semantics.usdf.world_state import EngineState, Frame, JointState, LinkState, ModelState

POSE, OTHER_POSE = Pose((1.0, 2.0, 3.0, 0.0, 0.0, 0.5)), Pose((1.0, 2.0, 3.5, 0.0, 0.0, 0.5))
SIX, OTHER_SIX = (1.0, 2.0, 3.0, 4.0, 5.0, 6.0), (1.0, 2.0, 3.0, 4.0, 5.0, 7.0)
FOREIGN, OTHER_FOREIGN = (('<x:a xmlns:x="urn:x"></x:a>',), ('<x:b xmlns:x="urn:x"></x:b>',))

LINK = LinkState("l", POSE, SIX, SIX, FOREIGN)
JOINT = JointState("j", (1.0,), (2.0,), (3.0,), FOREIGN, age_ns=0)
BASE = ModelState("base", pose=POSE, links=(LinkState("l", POSE, SIX), LinkState("k", POSE, SIX)))
MODEL = ModelState(
    "m", "base", POSE, SIX, (LINK,), (JOINT,), "a.urdf", "a.srdf", "0" * 64, FOREIGN, age_ns=0, parent_link="l"
)
FRAME = Frame("f", "base", POSE, SIX, FOREIGN, age_ns=0, parent_link="l")
ENGINE = EngineState("e", "1", {"a": (1.0, 2.0)}, {"p": "x"}, foreign=FOREIGN)
WORLD_STATE = WorldState("w", (BASE, MODEL), (FRAME,), 7, (ENGINE,), FOREIGN, comment="one", version="1")

CHANGES: dict[type, dict[str, Any]] = {
    WorldState: {"name": "v", "time_ns": 9, "foreign": OTHER_FOREIGN, "comment": "two", "version": "1.1"},
    ModelState: {
        "parent": "world",
        "pose": OTHER_POSE,
        "twist": OTHER_SIX,
        "description": "b.urdf",
        "semantic": "b.srdf",
        "urdf_sha256": "1" * 64,
        "foreign": OTHER_FOREIGN,
        "age_ns": 3600 * 10**9,
        "parent_link": "k",
    },
    Frame: {
        "parent": "world",
        "pose": OTHER_POSE,
        "twist": OTHER_SIX,
        "foreign": OTHER_FOREIGN,
        "age_ns": 3600 * 10**9,
        "parent_link": "k",
    },
    LinkState: {"pose": OTHER_POSE, "twist": OTHER_SIX, "wrench": OTHER_SIX, "foreign": OTHER_FOREIGN},
    JointState: {
        "positions": (1.5,),
        "velocities": (2.5,),
        "torques": (3.5,),
        "foreign": OTHER_FOREIGN,
        "age_ns": 3600 * 10**9,
    },
    EngineState: {
        "version": "2",
        "arrays": {"a": (1.0, 2.5)},
        "attributes": {"p": "y"},
        "foreign": OTHER_FOREIGN,
    },
}
PARTS = {"name", "models", "frames", "links", "joints", "engines", "ordinal"}
"""Names, items with their own row, and the place in a document."""


def with_model(model: ModelState) -> WorldState:
    return replace(WORLD_STATE, models=(BASE, model))


PUT: dict[type, tuple[Any, Callable[[Any], WorldState]]] = {
    WorldState: (WORLD_STATE, lambda state: state),
    ModelState: (MODEL, with_model),
    Frame: (FRAME, lambda frame: replace(WORLD_STATE, frames=(frame,))),
    LinkState: (LINK, lambda link: with_model(replace(MODEL, links=(link,)))),
    JointState: (JOINT, lambda joint: with_model(replace(MODEL, joints=(joint,)))),
    EngineState: (ENGINE, lambda engine: replace(WORLD_STATE, engines=(engine,))),
}


def changed(kind: type, field: str) -> WorldState:
    item, put = PUT[kind]
    more = {"parent_link": None} if field == "parent" else {}
    return put(replace(item, **{field: CHANGES[kind][field]}, **more))


def found_in(state: WorldState, kind: type) -> Any:
    """Return the item of a kind that the changes are made to, None where it is not there."""
    model = next((model for model in state.models if model.name == "m"), None)
    items: dict[type, Any] = {
        WorldState: [state],
        ModelState: [model],
        Frame: state.frames,
        LinkState: [] if model is None else model.links,
        JointState: [] if model is None else model.joints,
        EngineState: state.engines,
    }
    return next(iter(items[kind]), None)


CASES = [pytest.param(kind, field, id=f"{kind.__name__}.{field}") for kind, row in CHANGES.items() for field in row]


def test_every_field_has_a_second_value() -> None:
    def missing() -> Iterator[str]:
        for kind, row in CHANGES.items():
            known = {*row, *PARTS} if kind is not WorldState else {*row, *PARTS - {"name"}}
            yield from (f"{kind.__name__}.{field.name}" for field in fields(kind) if field.name not in known)

    assert list(missing()) == []


@pytest.mark.parametrize(("kind", "field"), CASES)
def test_a_document_and_json_keep_the_field(kind: type, field: str) -> None:
    state = changed(kind, field)
    for back in (parse_world(write_world(state)), parse_json(json_text(state), "<json>")):
        assert getattr(found_in(back, kind), field) == CHANGES[kind][field]


@pytest.mark.parametrize("kind", CHANGES)
def test_an_item_is_the_same_at_another_place_in_its_document(kind: type) -> None:
    item, put = PUT[kind]
    assert replace(item, ordinal=7) == item
    read = found_in(parse_world(write_world(put(item))), kind)
    assert read.ordinal >= 0
    assert read == item


NOT_COMPARED = {(WorldState, "version")}
"""The version is of the format, not of the world."""


@pytest.mark.parametrize(("kind", "field"), CASES)
def test_a_comparison_finds_the_field(kind: type, field: str) -> None:
    differences = compare(WORLD_STATE, changed(kind, field))
    assert bool(differences) == ((kind, field) not in NOT_COMPARED)
    assert compare(changed(kind, field), changed(kind, field)) == []


@pytest.mark.parametrize(("kind", "field"), CASES)
def test_a_state_between_two_never_has_the_value_of_one_alone(kind: type, field: str) -> None:
    if field in ("parent", "parent_link"):
        with pytest.raises(DescriptionError, match="has the parent"):
            interpolate_states(WORLD_STATE, changed(kind, field), 0.5)
        return
    item = found_in(interpolate_states(WORLD_STATE, changed(kind, field), 0.5), kind)
    assert item is None or getattr(item, field) not in (getattr(PUT[kind][0], field), CHANGES[kind][field])


JOINED = {(WorldState, "name"), (WorldState, "foreign"), (WorldState, "comment"), (WorldState, "version")}
"""A merged state has the first, the newest or all of these."""


@pytest.mark.parametrize(("kind", "field"), CASES)
def test_a_merge_reports_two_values_of_the_field(kind: type, field: str) -> None:
    diagnostics = Diagnostics()
    refused: tuple[Diagnostic, ...] = ()
    try:
        merge_states([WORLD_STATE, changed(kind, field)], diagnostics=diagnostics)
    except DescriptionError as error:
        refused = error.diagnostics
    codes = {item.code for item in (*diagnostics, *refused)}
    expected = {"name-conflict", "time-conflict"} if kind is not EngineState else {"left-out"}
    assert bool(codes & expected) == ((kind, field) not in JOINED)


SPARSE: dict[type, tuple[Any, Callable[[Any], WorldState]]] = {
    WorldState: (WorldState(), lambda state: state),
    ModelState: (ModelState("m", "base", POSE), lambda model: WorldState(models=(BASE, model))),
    LinkState: (LinkState("l"), lambda link: WorldState(models=(ModelState("m", links=(link,)),))),
    JointState: (JointState("j"), lambda joint: WorldState(models=(ModelState("m", joints=(joint,)),))),
}
NOT_CONVERTED = {(WorldState, "version")}
"""The version is of the format, not of the world."""


@pytest.mark.parametrize(
    ("kind", "field"), [(kind, field) for kind in SPARSE for field in CHANGES[kind] if field != "parent"]
)
def test_a_conversion_holds_the_field_or_reports_it(kind: type, field: str) -> None:
    item, put = SPARSE[kind]
    without, stated = (to_sdformat(put(it)) for it in (item, replace(item, **{field: CHANGES[kind][field]})))
    assert (without != stated) == ((kind, field) not in NOT_CONVERTED)


HELD_BY_THE_TEXT = {"foreign", "comment", "version", "age_ns", "parent_link"}
"""A message does not hold these; the USDF text of the service does. Objects on a link are relative to its model."""


@pytest.mark.parametrize(("kind", "field"), CASES)
def test_a_message_keeps_the_field(kind: type, field: str) -> None:
    pytest.importorskip("robot_semantics_interfaces", reason="the interface package is not built (make setup)")
    from robot_semantics.ros.messages.world_messages import world_from_message, world_to_message

    first, second = (world_from_message(world_to_message(state)) for state in (WORLD_STATE, changed(kind, field)))
    held = kind is not EngineState and field not in HELD_BY_THE_TEXT
    assert held <= (first != second)
