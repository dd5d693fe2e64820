# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""A file of fifty megabytes is read and written."""

from __future__ import annotations

import random
from pathlib import Path

from robot_semantics import WorldState, read_world, save_world
from robot_semantics.transforms.pose import Pose, Vec6
from robot_semantics.usdf.world_state import LinkState, ModelState

MODELS, LINKS = 2_000, 50
MEGABYTES = 50 * 10**6


def test_two_thousand_models_of_fifty_links_are_written_and_read_back(tmp_path: Path) -> None:
    chance = random.Random(0)

    def six() -> Vec6:
        return tuple(chance.uniform(-10, 10) for _ in range(6))  # type: ignore[return-value]

    links = [LinkState(f"link_{at}", Pose(six()), six(), six()) for at in range(LINKS * 20)]
    state = WorldState(
        models=tuple(
            ModelState(f"robot_{at}", "world", Pose(six()), six(), tuple(links[(at % 20) * LINKS :][:LINKS]))
            for at in range(MODELS)
        )
    )
    path = tmp_path / "large.usdf"
    save_world(state, path)
    assert path.stat().st_size > 40 * 10**6
    assert read_world(path) == state
