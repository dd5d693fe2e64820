# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Scene: robots with their surfaces, and the positions of robots and frames at one or more moments.

Also the spheres of links as surfaces, and the parts of links that their spheres do not cover.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.base.errors import RobotSemanticsError, UnknownNameError
from robot_semantics.base.record import record
from robot_semantics.kinematics.forward import ForwardKinematics
from robot_semantics.kinematics.joint_space import with_state
from robot_semantics.kinematics.loops import OpenLoopError, close_loops
from robot_semantics.model.mesh_files import Surface
from robot_semantics.model.resources import PackageResolver
from robot_semantics.model.robot_model import RobotModel
from robot_semantics.transforms.arrays import FloatArray
from robot_semantics.urdf.tree import Sphere
from robot_semantics.viewer.link_surfaces import LinkSurface, Rgba
from robot_semantics.viewer.triangles import primitive

if TYPE_CHECKING:
    from robot_semantics.collision.shapes import Piece


@record(frozen=True, eq=False)
class Actor:
    """One robot of the world.

    Attributes:
        name: the model's name in the world, which may differ from its description's.
        surfaces: its visuals and collision geometry.
        parent: its parent: the world, a frame or another model.
        description: path of its URDF for world states.
        semantic: path of its SRDF.
    """

    name: str
    model: RobotModel
    surfaces: tuple[LinkSurface, ...]
    parent: str = "world"
    description: str | None = None
    semantic: str | None = None

    @cached_property
    def kinematics(self) -> ForwardKinematics:
        """The robot's forward kinematics."""
        return ForwardKinematics(self.model)


class Stance(NamedTuple):
    """Pose and positions of a robot at one moment.

    Attributes:
        q: (size,) joint positions [rad, m].
        T_world_base: (4, 4) pose of the root link in the zero position of its virtual joint [m].
    """

    q: FloatArray
    T_world_base: FloatArray


@record(frozen=True, eq=False)
class Moment:
    """One moment of a world.

    Attributes:
        label: the time, or the name of the file.
        stances: the stance of each robot by its name; a robot that is missing at this moment has none.
        frames: (4, 4) T_world_frame [m] by name.
        T_world_parent: (4, 4) pose of the parent of each robot, by the name of the robot.
        wrenches: force and torque on links that the state has [N, N m], by the robot's name and the link's.
    """

    label: str
    stances: Mapping[str, Stance]
    time_ns: int | None = None
    frames: Mapping[str, FloatArray] = field(default_factory=dict)
    T_world_parent: Mapping[str, FloatArray] = field(default_factory=dict)
    wrenches: Mapping[str, Mapping[str, tuple[float, ...]]] = field(default_factory=dict)


@record(frozen=True, eq=False)
class Scene:
    """Content of a picture or a page, with at least one moment."""

    title: str
    actors: tuple[Actor, ...]
    moments: tuple[Moment, ...]

    def actor(self, name: str | None = None) -> Actor:
        """Return the robot with a name; without a name, the only robot.

        Raises:
            UnknownNameError: the robot does not exist.
            RobotSemanticsError: there are several robots, or none.
        """
        names = [actor.name for actor in self.actors]
        if name is None and len(names) != 1:
            raise RobotSemanticsError(f"which of {', '.join(names)} is meant? choose with --model")
        if name is not None and name not in names:
            raise UnknownNameError("model", name, names)
        return self.actors[0 if name is None else names.index(name)]

    def with_moment(self, moment: Moment) -> Scene:
        """Return the scene with only this moment."""
        return Scene(self.title, self.actors, (moment,))


def posed(
    scene: Scene, actor: Actor, states: Sequence[tuple[str, str]], positions: Mapping[str, float] | None = None
) -> Scene:
    """Return the scene with only its first moment, with another pose of a robot.

    Args:
        scene: the scene.
        actor: the robot.
        states: groups and their named states, applied one after the other.
        positions: by position variable or joint [rad, m], after the states.

    Raises:
        UnknownNameError: the group, state or joint does not exist.
        RobotSemanticsError: the robot is not in the first moment.
        ArrayError: a value does not fit its joint.
        OpenLoopError: the loops of the robot do not close at these positions.
    """
    moment = scene.moments[0]
    if actor.name not in moment.stances:
        raise RobotSemanticsError(f"'{actor.name}' is not in the first of the states")
    space, stance = actor.kinematics.space, moment.stances[actor.name]
    q = stance.q
    for group, name in states:
        q = with_state(space, group, name, q)
    q = space.pack(positions, q) if positions else q
    q = close_loops(actor.kinematics.loops, q, (positions or {}).keys())
    stances = {**moment.stances, actor.name: Stance(q, stance.T_world_base)}
    return scene.with_moment(replace(moment, stances=stances))


def link_poses(actor: Actor, stance: Stance) -> FloatArray:
    """Return (links, 4, 4) T_world_link [m]; mimic joints have their measured positions, as on the page."""
    kinematics = actor.kinematics.measured
    poses: FloatArray = stance.T_world_base @ kinematics.T_parent_root(stance.q) @ kinematics.link_poses(stance.q)
    return poses


def groups_of_links(model: RobotModel, groups: Sequence[str]) -> list[int]:
    """Return for each link the number of the last of `groups` that has it; -1 if none has it.

    Raises:
        UnknownNameError: the robot does not have a group.
    """
    found = [-1] * len(model.links)
    for number, name in enumerate(groups):
        for link in model.semantics.group(name).links:
            found[model.link_index[link]] = number
    return found


def check_groups(scene: Scene, groups: Sequence[str]) -> None:
    """Check that a robot of the scene has each of the groups.

    Raises:
        UnknownNameError: no robot has a group.
    """
    known = {name for actor in scene.actors for name in actor.model.semantics.groups}
    for name in groups:
        if name not in known:
            raise UnknownNameError("group", name, known)


def closed_pose(
    kinematics: ForwardKinematics, q: FloatArray, before: FloatArray | None = None
) -> tuple[FloatArray, str]:
    """Return `q` (size,) with closed loops, on the branch of `before` (size,), and an empty text.

    If the loops do not close, return `before`, or `q` without it, and the reason.
    """
    try:
        return close_loops(kinematics.solvable_loops, q, before=before), ""
    except OpenLoopError as error:
        return q if before is None else before, str(error)


def alone(actor: Actor, *, lenient: bool = False) -> Scene:
    """Return a scene with one robot at the world's origin, in its default positions.

    With `lenient`, loops stay open if their passive joints do not follow from the others.

    Raises:
        LoopError, OpenLoopError: the loops do not close.
    """
    kinematics = actor.kinematics
    neutral = kinematics.space.neutral()
    q = closed_pose(kinematics, neutral)[0] if lenient else close_loops(kinematics.loops, neutral)
    stance = Stance(q, np.eye(4))
    return Scene(actor.name, (actor,), (Moment("", {actor.name: stance}),))


SPHERE: Rgba = (0.18, 0.62, 0.27, 0.4)
UNCOVERED: Rgba = (0.9, 0.05, 0.05, 1.0)

SHARE = 1.0 / 50.0
"""Longest edge of an uncovered part, as a share of the size of its link."""

LIFT = 2e-3
"""Distance of an uncovered part from the surface, as a share of the size of its link: it is seen on both sides."""


def with_spheres(scene: Scene, package_paths: Sequence[str], diagnostics: Diagnostics, *, balls: bool = False) -> Scene:
    """Return the scene with the uncovered parts of links that have spheres; with `balls`, also with the spheres.

    Raises:
        MissingExtraError: the extra ``collision`` is not installed.
    """
    from robot_semantics.collision.pieces import pieces_of

    actors = []
    for actor in scene.actors:
        pieces = pieces_of(actor.model, PackageResolver(package_paths), diagnostics)
        added = [*uncovered_surfaces(actor.model, pieces), *(sphere_surfaces(actor.model) if balls else ())]
        actors.append(replace(actor, surfaces=(*actor.surfaces, *added)))
    return replace(scene, actors=tuple(actors))


def sphere_surfaces(model: RobotModel) -> Iterator[LinkSurface]:
    """Yield the spheres of the SRDF as transparent surfaces."""
    for link, spheres in model.semantics.link_spheres.items():
        for sphere in spheres:
            ball = primitive(Sphere(radius=sphere.radius)) if sphere.radius > 0.0 else None
            if ball is not None:
                pose = np.eye(4)
                pose[:3, 3] = sphere.center
                yield LinkSurface(model.link_index[link], ball, pose, SPHERE, "sphere")


def uncovered_surfaces(model: RobotModel, pieces: Sequence[Piece]) -> Iterator[LinkSurface]:
    """Yield the parts of links that no sphere of the SRDF holds; a link with radius 0 has none."""
    for link, stated in model.semantics.link_spheres.items():
        own = [piece for piece in pieces if piece.link == model.link_index[link]]
        parts = uncovered_parts(own, np.array([(*one.center, one.radius) for one in stated]))
        if len(parts):
            surface = Surface(parts.reshape(-1, 3), np.arange(3 * len(parts), dtype=np.int32).reshape(-1, 3))
            yield LinkSurface(model.link_index[link], surface, np.eye(4), UNCOVERED, "uncovered")


def uncovered_parts(pieces: Sequence[Piece], rows: FloatArray) -> FloatArray:
    """Return the parts (n, 3, 3) of a link that spheres (m, 4), x y z radius, do not hold [m], on both sides."""
    from robot_semantics.collision.sphere_check import link_surface
    from robot_semantics.collision.sphere_cover import Spheres, uncovered

    if not pieces or not len(rows) or not rows[:, 3].any():
        return np.zeros((0, 3, 3))
    surface = link_surface(pieces)
    size = float(np.linalg.norm(np.ptp(np.concatenate([part.corners.reshape(-1, 3) for part in surface]), axis=0)))
    parts = uncovered(surface, Spheres(rows[:, :3], rows[:, 3]), SHARE * size)
    normals = np.cross(parts[:, 1] - parts[:, 0], parts[:, 2] - parts[:, 0])
    lift = LIFT * size * normals / np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-300)
    return np.concatenate([parts + lift[:, None], parts[:, ::-1] - lift[:, None]])
