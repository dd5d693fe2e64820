# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Faults that make a world state invalid, from any source."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from robot_semantics import DescriptionError, Diagnostics, WorldState
from robot_semantics.model.loading import robot_from_text
from robot_semantics.transforms.pose import Pose
from robot_semantics.usdf.check import check_world
from robot_semantics.usdf.frames import resolve_frames
from robot_semantics.usdf.validity import problems, without_faults
from robot_semantics.usdf.world_state import EngineState, Frame, JointState, LinkState, ModelState

NAMED: dict[str, Callable[[str], WorldState]] = {
    "model": lambda name: WorldState(models=(ModelState(name),)),
    "frame": lambda name: WorldState(frames=(Frame(name),)),
    "link": lambda name: WorldState(models=(ModelState("m", links=(LinkState(name),)),)),
    "joint": lambda name: WorldState(models=(ModelState("m", joints=(JointState(name, (0.0,)),)),)),
    "engine": lambda name: WorldState(engines=(EngineState(name, "1"),)),
}


@pytest.mark.parametrize("kind", NAMED)
@pytest.mark.parametrize(
    ("name", "codes"),
    [
        ("", ["empty-name"]),
        ("\t \n", ["empty-name"]),
        (" a", ["bad-name"]),
        ("a ", ["bad-name"]),
        ("a\t", ["bad-name"]),
        ("\na", ["bad-name"]),
        ("a b", []),
        # White space to people, but not to XML.
        ("a\u00a0", []),
    ],
)
def test_a_name_neither_begins_nor_ends_with_white_space(kind: str, name: str, codes: list[str]) -> None:
    assert [problem.code for problem in problems(NAMED[kind](name))] == codes


@pytest.mark.parametrize(
    ("first", "second", "path"),
    [
        (("a::b", "c"), ("a", "b::c"), "/world_state/model_state[@name='a']/link_state[@name='b::c']"),
        (("a", "b::c"), ("a::b", "c"), "/world_state/model_state[@name='a::b']/link_state[@name='c']"),
        (("a:", "b"), ("a", ":b"), "/world_state/model_state[@name='a']/link_state[@name=':b']"),
    ],
)
def test_two_links_of_one_world_name_are_an_error(first: tuple[str, str], second: tuple[str, str], path: str) -> None:
    pose = Pose((0.0,) * 6)
    models = tuple(ModelState(model, pose=pose, links=(LinkState(link, pose),)) for model, link in (first, second))
    state = WorldState(models=models)
    assert [(problem.code, problem.path) for problem in problems(state)] == [("duplicate-name", path)]
    with pytest.raises(DescriptionError, match="has the same name in the world as link"):
        resolve_frames(state)


@pytest.mark.parametrize(
    ("quat_xyzw", "text"),
    [((0.0, 0.0, 0.0, 2.0), "has length 2, it must be 1"), ((1.0, 0.0, 0.0, 0.0), "differ by 1;")],
)
def test_a_problem_of_a_quaternion_has_its_length_or_its_difference(
    quat_xyzw: tuple[float, float, float, float], text: str
) -> None:
    (problem,) = problems(WorldState(frames=(Frame("f", pose=Pose((0.0,) * 6, quat_xyzw)),)))
    assert text in problem.message


def test_only_a_model_has_a_link_that_carries() -> None:
    state = WorldState(
        models=(ModelState("m", links=(LinkState("hand"),)), ModelState("on_link", "m", parent_link="hand")),
        frames=(Frame("f"), Frame("on_frame", "f", parent_link="hand"), Frame("on_world", parent_link="hand")),
    )
    found = [(problem.code, problem.path) for problem in problems(state)]
    paths = [f"/world_state/frame[@name='{name}']" for name in ("on_frame", "on_world")]
    assert found == [("unknown-parent-link", path) for path in paths]


@pytest.mark.parametrize("model", ["a", "::", "::a", "a::b", ":a"])
def test_a_frame_with_the_world_name_of_a_link_is_an_error(model: str) -> None:
    pose = Pose((0.0,) * 6)
    link = LinkState("c::d", pose)
    frames = tuple(Frame(f"{model}::{name}", pose=pose) for name in ("c::d", "c", "d"))
    state = WorldState(models=(ModelState(model, pose=pose, links=(link,)),), frames=frames)
    found = [(problem.code, problem.path) for problem in problems(state)]
    assert found == [("duplicate-name", f"/world_state/frame[@name='{model}::c::d']")]


def test_a_link_of_a_robot_that_the_state_does_not_name_has_a_world_name_too() -> None:
    robots = {
        "a::b": robot_from_text('<robot name="a::b"><link name="c"/></robot>'),
        "a": robot_from_text('<robot name="a"><link name="b::c"/></robot>'),
    }
    pose = Pose((0.0,) * 6)
    state = WorldState(models=(ModelState("a::b", pose=pose), ModelState("a", pose=pose)))
    assert problems(state) == []
    diagnostics = Diagnostics()
    check_world(state, robots, diagnostics)
    assert [(item.code, item.place.path) for item in diagnostics] == [
        ("duplicate-name", "/world_state/model_state[@name='a']")
    ]
    diagnostics = Diagnostics()
    frame = Frame("a::b::c", pose=pose)
    check_world(WorldState(models=state.models[:1], frames=(frame,)), {"a::b": robots["a::b"]}, diagnostics)
    assert [(item.code, item.place.path) for item in diagnostics] == [
        ("duplicate-name", "/world_state/frame[@name='a::b::c']")
    ]


@pytest.mark.parametrize("name", ["a", "world2", "zebra"])
def test_of_a_state_with_faults_the_bodies_without_faults_stay(name: str) -> None:
    bodies = (ModelState(name, links=(LinkState("l"),)), ModelState("lost", "nowhere"))
    frames = (Frame("f" + name, parent=name), Frame(f"{name}::l"), Frame("lost2", parent="lost"))
    left = without_faults(WorldState(models=bodies, frames=frames))
    assert [model.name for model in left.models] == [name]
    assert [frame.name for frame in left.frames] == ["f" + name]
