# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Matching of a state's models with robots: by name, by hash, and by likeness."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from robot_semantics.base.names import nearest_names
from robot_semantics.model.robot_model import RobotModel
from robot_semantics.usdf.identity import is_of
from robot_semantics.usdf.world_state import ModelState


@dataclass(frozen=True, slots=True)
class Matches:
    """Models and robots that belong together.

    Attributes:
        robot_of: model → robot.
        likely: model → the robot that it resembles, with another name and ``rs:hash``; the user decides.

    """

    robot_of: Mapping[str, str]
    likely: Mapping[str, str]


def match_models(models: Sequence[ModelState], robots: Mapping[str, RobotModel]) -> Matches:
    """Return the robot of each model, by the robots' names.

    A model is the robot of its name. Otherwise it is the only other robot with its ``rs:hash``, if no other remaining
    model has that hash. A remaining model with the joints or links of one robot, or with a similar name, is *likely*
    that robot.
    """
    found = {model.name: model.name for model in models if model.name in robots}
    left = [model for model in models if model.name not in found]
    free = {name: robot for name, robot in robots.items() if name not in found}
    counts = Counter(model.urdf_sha256 for model in left)
    for model in left:
        same = [name for name, robot in free.items() if is_of(model.urdf_sha256, robot)]
        if len(same) == 1 and counts[model.urdf_sha256] == 1:
            found[model.name] = same[0]
    taken = set(found.values())
    free = {name: robot for name, robot in free.items() if name not in taken}
    likely = {}
    for model in left:
        robot = None if model.name in found else _likeness(model, free)
        if robot is not None:
            likely[model.name] = robot
    return Matches(found, likely)


def _likeness(model: ModelState, robots: Mapping[str, RobotModel]) -> str | None:
    """Return the only robot that a model resembles; None if there is none."""
    if model.joints or model.links:
        alike = [name for name, robot in robots.items() if _has_its_parts(model, robot)]
        return alike[0] if len(alike) == 1 else None
    alike = [name for name in robots if name.lower() in model.name.lower() or model.name.lower() in name.lower()]
    near = alike or nearest_names(model.name, robots, 1)
    return near[0] if len(near) == 1 else None


def _has_its_parts(model: ModelState, robot: RobotModel) -> bool:
    joints = [joint.name for joint in model.joints]
    links = [link.name for link in model.links]
    return _all_in(joints, robot.joint_index) and _all_in(links, robot.link_index)


def _all_in(names: Sequence[str], known: Collection[str]) -> bool:
    return all(name in known for name in names)
