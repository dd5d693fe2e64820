# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""What is to be seen: robots with their parts, where they stand at one or more moments, and the frames around them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np

from robot_semantics.base.errors import UnknownNameError
from robot_semantics.kinematics.forward import ForwardKinematics
from robot_semantics.model.robot_model import RobotModel
from robot_semantics.transforms.arrays import FloatArray
from robot_semantics.viewer.link_surfaces import Part


@dataclass(frozen=True, eq=False)
class Actor:
    """One robot of the world.

    Attributes:
        name: the model's name in the world, which may differ from its description's.
        parts: what it looks like.
        parent: what it stands in: the world, a frame or another model.
        description: where its URDF is, as a world state is to name it.
        semantic: where its SRDF is.
    """

    name: str
    model: RobotModel
    parts: tuple[Part, ...]
    parent: str = "world"
    description: str | None = None
    semantic: str | None = None

    @cached_property
    def kinematics(self) -> ForwardKinematics:
        """The robot's forward kinematics."""
        return ForwardKinematics(self.model)


class Stance(NamedTuple):
    """How a robot stands at one moment.

    Attributes:
        q: (size,) joint positions [rad, m].
        T_world_base: (4, 4) pose that the root link has where its virtual joint is in its zero position [m].
    """

    q: FloatArray
    T_world_base: FloatArray


@dataclass(frozen=True, eq=False)
class Moment:
    """One moment of a world.

    Attributes:
        label: what it is called: the time, or the file's name.
        stances: how each robot stands, by its name; one that is not there then is not in it.
        frames: (4, 4) T_world_frame [m] by name.
        T_world_parent: (4, 4) pose of what each robot stands in, by the robot's name.
        wrenches: force and torque on links that the state has [N, N m], by the robot's name and the link's.
    """

    label: str
    stances: Mapping[str, Stance]
    time_ns: int | None = None
    frames: Mapping[str, FloatArray] = field(default_factory=dict)
    T_world_parent: Mapping[str, FloatArray] = field(default_factory=dict)
    wrenches: Mapping[str, Mapping[str, tuple[float, ...]]] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Scene:
    """All that a picture or a page shows; there is at least one moment."""

    title: str
    actors: tuple[Actor, ...]
    moments: tuple[Moment, ...]

    def with_moment(self, moment: Moment) -> Scene:
        """Return the scene with this one moment."""
        return Scene(self.title, self.actors, (moment,))


def link_poses(actor: Actor, stance: Stance) -> FloatArray:
    """Return (links, 4, 4) T_world_link [m]; a mimic joint is where it was measured, as on the page."""
    kinematics = actor.kinematics.measured
    poses: FloatArray = stance.T_world_base @ kinematics.T_parent_root(stance.q) @ kinematics.link_poses(stance.q)
    return poses


def groups_of_links(model: RobotModel, groups: Sequence[str]) -> list[int]:
    """Return for each link the number of the last of `groups` that has it, -1 where none has it.

    Raises:
        UnknownNameError: the robot has no group of such a name.
    """
    found = [-1] * len(model.links)
    for number, name in enumerate(groups):
        for link in model.semantics.group(name).links:
            found[model.link_index[link]] = number
    return found


def check_groups(scene: Scene, groups: Sequence[str]) -> None:
    """See that each of the groups is one of a robot on the scene.

    Raises:
        UnknownNameError: none has a group of such a name.
    """
    known = {name for actor in scene.actors for name in actor.model.semantics.groups}
    for name in groups:
        if name not in known:
            raise UnknownNameError("group", name, known)


def alone(actor: Actor, q: FloatArray | None = None) -> Scene:
    """Return a scene with one robot at the world's origin, by default in its default positions."""
    stance = Stance(actor.kinematics.space.neutral() if q is None else q, np.eye(4))
    return Scene(actor.name, (actor,), (Moment("", {actor.name: stance}),))
