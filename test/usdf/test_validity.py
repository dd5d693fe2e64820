# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""What makes a world state unsound whatever it was read from."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from robot_semantics.usdf.validity import problems
from robot_semantics.usdf.world_state import EngineState, Frame, JointState, LinkState, ModelState, WorldState

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
