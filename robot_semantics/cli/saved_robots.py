# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Whether a robot still moves and collides like the robot of a saved world state."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from robot_semantics.base.diagnostic import SourcePlace
from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.comparison.robots import compare_robots
from robot_semantics.model.resources import PackageResolver
from robot_semantics.model.robot_model import RobotModel
from robot_semantics.usdf.descriptions import RobotSources, robots_for
from robot_semantics.usdf.identity import describes_another_robot
from robot_semantics.usdf.reader import read_world
from robot_semantics.usdf.validity import element_path

MOST_DIFFERENCES = 5
"""Differences of two robots that one warning lists."""


def compare_with_saved(file: str, robot: RobotModel, resolver: PackageResolver, diagnostics: Diagnostics) -> None:
    """Report the differences of a robot and the robots of a world state, if the URDFs of the state exist.

    Args:
        file: the USDF file.
        robot: the robot that its model is checked with.
        resolver: finds the files.
        diagnostics: takes a warning with the differences, or a note that both move and collide alike.

    Raises:
        DescriptionError: the state cannot be read.
    """
    state = read_world(file)
    saved_robots = robots_for(state, RobotSources((robot,)))
    saved = robots_for(state, RobotSources(find=partial(resolver.resolve, relative_to=Path(file))))

    def meshes(of: RobotModel) -> Callable[[str], Path]:
        return partial(resolver.resolve, relative_to=of.urdf.places.source)

    for model in state.models:
        old, new = saved.get(model.name), saved_robots.get(model.name)
        if old is None or new is None or describes_another_robot(model, new) is None:
            continue
        place, name = SourcePlace(file, path=element_path(model)), f"model '{model.name}'"
        if omissions := (*old.omissions, *new.omissions):
            message = f"{name}: the robots cannot be compared, because a part was left out: {omissions[0]}"
            diagnostics.warning("other-robot", message, place)
            continue
        comparison = compare_robots(old, new, meshes(old), meshes(new))
        if comparison.same:
            diagnostics.note("other-robot", f"{name}: the robot of the state moves and collides alike", place)
            continue
        listed = "; ".join(difference.text for difference in comparison.differences[:MOST_DIFFERENCES])
        more = len(comparison.differences) - MOST_DIFFERENCES
        rest = f"; and {more} more" if more > 0 else ""
        diagnostics.warning("other-robot", f"{name}: since the state was saved: {listed}{rest}", place)
