# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The frame graph of a world state: pose and motion of every model, frame and link relative to any other, by name.

Internally, motions are relative to the world, in the world's axes, at each body's own origin. NaN means a motion that
is not stated. ``T_world_x`` is the pose of x in the world.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from robot_semantics.base.diagnostic import SourcePlace
from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.base.errors import DescriptionError, RobotSemanticsError, UnknownNameError
from robot_semantics.base.names import frame_name
from robot_semantics.base.record import record
from robot_semantics.transforms import invert, matrix_from_quat
from robot_semantics.transforms.arrays import FloatArray
from robot_semantics.transforms.pose import (
    IDENTITY,
    STILL,
    Vec6,
    pose_from_matrix,
    pose_matrices,
    pose_quaternions,
    six,
    six_or_none,
)
from robot_semantics.transforms.rows import into_axes, out_of_axes, twist_at, wrench_about
from robot_semantics.usdf.validity import SOURCE, element_path, problems
from robot_semantics.usdf.world_state import SEPARATOR, WORLD, Frame, LinkState, ModelState, WorldState, carrier_of
from robot_semantics.xml.source_map import SourceMap


class NotStatedError(RobotSemanticsError):
    """The requested value is not stated.

    Attributes:
        name: the body.
        what: the missing value, for example ``"twist"``.
    """

    def __init__(self, name: str, what: str) -> None:
        self.name = name
        self.what = what
        super().__init__(f"the state does not say the {what} of '{name}'")


def taken_as_world(frame: str) -> str:
    """Return the note about a virtual joint's parent frame without a pose."""
    return f"nothing places '{frame}', in which its virtual joint moves; '{frame}' is treated as the world"


@record(frozen=True, eq=False)
class ResolvedWorld:
    """Poses and motions in the world of all bodies of a state; made by `resolve_frames`.

    Attributes:
        state: the state.
        names: all names: the world, then models and frames, then links as ``model::link``.
        index: index of each name.
        T_world_body: (n, 4, 4) poses, read-only [m].
        twists: (n, 6) velocity of each origin, then angular velocity, relative to the world in the world's axes
            [m/s, rad/s]; NaN if a motion on the path to the world is not stated; read-only.
        wrenches: (n, 6) force, then torque about the own origin, in the world's axes [N, N m]; NaN if not stated;
            read-only.
        parents: (n,) index of each parent; the world is its own parent.
        steps: (n, 6) twist relative to the parent, in the world's axes; NaN if not stated; read-only.
    """

    state: WorldState
    names: tuple[str, ...]
    index: Mapping[str, int]
    T_world_body: FloatArray
    twists: FloatArray
    wrenches: FloatArray
    parents: npt.NDArray[np.intp]
    steps: FloatArray

    def at(self, name: str) -> int:
        """Return the index of a name in the arrays.

        A link may be named without its model if only one link of the world has this name, and no model or frame.

        Raises:
            UnknownNameError: no model, frame or link has it.
            RobotSemanticsError: links of several models have it.
            NotStatedError: the link is stated, but not its pose.
        """
        found = self.index.get(name, self.index.get(frame_name(name)))
        if found is not None:
            return found
        short = [full for full in self.names if full.endswith(f"{SEPARATOR}{name}")]
        if len(short) == 1:
            return self.index[short[0]]
        if short:
            raise RobotSemanticsError(f"'{name}' is a link of several models: name one of {', '.join(short)}")
        if any(name == f"{m.name}{SEPARATOR}{link.name}" for m in self.state.models for link in m.links):
            raise NotStatedError(name, "pose")
        raise UnknownNameError("model, frame or link", name, self.names)

    def frame_or_world(self, name: str) -> str:
        """Return `name`, or ``world`` if the frame has no pose and is therefore a root."""
        return name if name in self.index else WORLD

    def pose(self, name: str, relative_to: str = WORLD) -> FloatArray:
        """Return the (4, 4) pose of `name` in the frame of `relative_to` [m].

        Raises:
            UnknownNameError: a name does not exist.
            NotStatedError: a pose is not stated.
        """
        T: FloatArray = self.poses((name,), relative_to)[0]
        return T

    def poses(self, names: Sequence[str], relative_to: str = WORLD) -> FloatArray:
        """Return (k, 4, 4) poses of `names` in the frame of `relative_to` [m]; otherwise as `pose`."""
        T_world_body = self.T_world_body[[self.at(name) for name in names]]
        if relative_to == WORLD:
            return T_world_body
        result: FloatArray = invert(self.T_world_body[self.at(relative_to)]) @ T_world_body
        return result

    def twist(self, name: str, relative_to: str = WORLD, axes: str | None = None) -> Vec6:
        """Return vx vy vz wx wy wz of `name`'s origin, seen by an observer fixed to `relative_to` [m/s, rad/s].

        The axes are those of `axes`, by default of `relative_to`.

        Raises:
            UnknownNameError: a name does not exist.
            NotStatedError: a pose or a motion on the path is not stated.
        """
        row = self.relative_twists((name,), relative_to, axes)[0]
        if np.isnan(row).any():
            raise NotStatedError(self._unmoved(self.at(name), self.at(relative_to)), "twist")
        return six(row)

    def relative_twists(self, names: Sequence[str], relative_to: str = WORLD, axes: str | None = None) -> FloatArray:
        """Return (k, 6) twists as `twist` does; NaN if not stated."""
        bodies, observer = [self.at(name) for name in names], self.at(relative_to)
        twists = np.array(self.twists[bodies])
        moving = np.broadcast_to(self.twists[observer], twists.shape).copy()
        unknown = np.isnan(twists).any(axis=1) | np.isnan(moving).any(axis=1)
        for row in np.flatnonzero(unknown).tolist() if observer else ():
            # The motion of frames above both of them has no effect on their relative motion.
            above = set(self._path(bodies[row]))
            common = next(place for place in self._path(observer) if place in above)
            twists[row], moving[row] = self._twist_from(common, bodies[row]), self._twist_from(common, observer)
        # Bodies fixed to the observer's frame move with it; the observer does not see this motion.
        twists -= twist_at(moving, self.T_world_body[bodies, :3, 3] - self.T_world_body[observer, :3, 3])
        return into_axes(self.T_world_body[self.at(relative_to if axes is None else axes), :3, :3], twists)

    def path(self, name: str) -> list[str]:
        """Return the names from `name` up to the world, which is the last.

        Raises:
            UnknownNameError: a name does not exist.
            NotStatedError: the link is stated, but not its pose.
        """
        return [self.names[place] for place in self._path(self.at(name))]

    def _path(self, place: int) -> list[int]:
        """Return the indices from this one up to the world's."""
        path = [place]
        while path[-1]:
            path.append(int(self.parents[path[-1]]))
        return path

    def _twist_from(self, ancestor: int, place: int) -> FloatArray:
        """Return (6,) the twist relative to an ancestor, in the world's axes."""
        path = self._path(place)
        twist = np.zeros(6)
        for here in reversed(path[: path.index(ancestor)]):
            lever = self.T_world_body[here, :3, 3] - self.T_world_body[self.parents[here], :3, 3]
            twist = twist_at(twist, lever) + self.steps[here]
        return twist

    def _unmoved(self, place: int, observer: int) -> str:
        """Return the name of the body between two indices whose motion is not stated."""
        one, other = self._path(place), self._path(observer)
        between = [here for here in (*one, *other) if (here in one) != (here in other)]
        return self.names[next(here for here in between if np.isnan(self.steps[here]).any())]

    def wrench(self, name: str, about: str | None = None, axes: str | None = None) -> Vec6:
        """Return fx fy fz tx ty tz on the link `name` [N, N m].

        The torque is about the origin of `about`, by default of the link. Both are in the axes of `axes`, by default of
        `about`.

        Raises:
            UnknownNameError: a name does not exist.
            NotStatedError: a pose or the wrench is not stated.
        """
        at = self.at(name)
        wrench = np.array(self.wrenches[at])
        if np.isnan(wrench).any():
            raise NotStatedError(name, "wrench")
        point = at if about is None else self.at(about)
        wrench = wrench_about(wrench, self.T_world_body[point, :3, 3] - self.T_world_body[at, :3, 3])
        return six(into_axes(self.T_world_body[point if axes is None else self.at(axes), :3, :3], wrench))


def resolve_frames(
    state: WorldState, *, diagnostics: Diagnostics | None = None, places: SourceMap | None = None
) -> ResolvedWorld:
    """Return the poses and motions in the world of all bodies of `state`.

    A missing pose of a model or frame is the identity, with a warning in `diagnostics` (at its place in the document
    of `places`). A link without a pose is omitted, because only a robot's joints can give it.

    Raises:
        DescriptionError: unknown parents, cycles or ambiguous names; all are reported. Or a pose or motion in the world
            exceeds the range of a 64-bit float.
    """
    faults = problems(state)
    if faults:
        diagnostics_found = Diagnostics()
        for fault in faults:
            place = _place(places, fault.ordinal, fault.path)
            diagnostics_found.error(fault.code, fault.message, place, name=fault.name, valid=fault.valid)
        raise DescriptionError(diagnostics_found)
    bodies = state.bodies
    for body in bodies:
        if body.pose is None and diagnostics is not None:
            message = f"'{body.name}' has no pose in '{body.parent}'; the identity is used"
            diagnostics.warning("missing-pose", message, _place(places, body.ordinal, element_path(body)))
    links = [(place, link) for place, model in enumerate(state.models, 1) for link in model.links if link.pose]
    names = (
        WORLD,
        *(body.name for body in bodies),
        *(f"{bodies[place - 1].name}{SEPARATOR}{link.name}" for place, link in links),
    )
    count = len(names)
    T, twists, wrenches = np.empty((count, 4, 4)), np.empty((count, 6)), np.full((count, 6), np.nan)
    steps, parents = np.zeros((count, 6)), np.zeros(count, np.intp)
    first_link = 1 + len(bodies)
    place_of = {WORLD: 0} | {body.name: row for row, body in enumerate(bodies, 1)}
    parents[1:first_link] = [place_of[body.parent] for body in bodies]
    parents[first_link:] = [place for place, _ in links]
    with np.errstate(over="ignore", invalid="ignore"):
        T[0], twists[0] = np.eye(4), 0.0
        _place_bodies(*relative_to_parents(state), parents[:first_link], T, twists, steps)
        _place_links(links, first_link, T, twists, steps, wrenches)
    beyond = ~np.isfinite(T).all(axis=(1, 2)) | np.isinf(twists).any(axis=1)
    if beyond.any():
        diagnostics_found = Diagnostics()
        message = (
            f"'{names[int(np.argmax(beyond))]}' has a pose or motion in the world that is too large for a 64-bit float"
        )
        diagnostics_found.error("out-of-range", message, SourcePlace(SOURCE if places is None else places.source))
        raise DescriptionError(diagnostics_found)
    for array in (T, twists, wrenches, parents, steps):
        array.setflags(write=False)
    index = {name: row for row, name in enumerate(names)}
    return ResolvedWorld(state, names, MappingProxyType(index), T, twists, wrenches, parents, steps)


def relative_to_parents(state: WorldState, but: Collection[str] = ()) -> tuple[FloatArray, FloatArray]:
    """Return (n, 4, 4) poses and (n, 6) twists of all bodies relative to their parent models and frames.

    Poses of the bodies `but` stay relative to the carrying link.

    Raises:
        NotStatedError: the pose of the link that carries one is not stated.
    """
    T_parent_body = pose_matrices([body.pose for body in state.bodies])
    twists = _rows([body.twist for body in state.bodies])
    carrying = {body.parent for body in state.bodies if body.parent_link is not None}
    links = {(model.name, link.name): link for model in state.models if model.name in carrying for link in model.links}
    for index, body in enumerate(state.bodies):
        if body.parent_link is None or body.name in but:
            continue
        link = links.get((body.parent, body.parent_link)) or LinkState(body.parent_link)
        if link.pose is None:
            raise NotStatedError(carrier_of(body), "pose")
        T_model_link = pose_matrices([link.pose])[0]
        moving = _rows([link.twist])[0]
        # Both are in the link's axes; bodies fixed to the link move with it.
        moving = twists[index] + twist_at(moving, T_parent_body[index, :3, 3])
        twists[index] = out_of_axes(T_model_link[:3, :3], moving)
        T_parent_body[index] = T_model_link @ T_parent_body[index]
    return T_parent_body, twists


def without_parent_links(state: WorldState, but: Collection[str] = ()) -> WorldState:
    """Return the state with all poses and twists relative to parents instead of carrying links; `but` names exceptions.

    Raises:
        NotStatedError: the pose of a carrying link is not stated.
    """
    if all(body.parent_link is None or body.name in but for body in state.bodies):
        return state
    poses, twists = relative_to_parents(state, but)
    moved: dict[int, ModelState | Frame] = {}
    for at, body in enumerate(state.bodies):
        if body.parent_link is not None and body.name not in but:
            twist = None if np.isnan(twists[at]).any() else six(twists[at])
            moved[at] = replace(body, pose=pose_from_matrix(poses[at]), twist=twist, parent_link=None)
    bodies = [moved.get(at, body) for at, body in enumerate(state.bodies)]
    return replace(
        state,
        models=tuple(body for body in bodies if isinstance(body, ModelState)),
        frames=tuple(body for body in bodies if isinstance(body, Frame)),
    )


def without_unplaced(state: WorldState) -> tuple[WorldState, dict[str, str]]:
    """Return the state without poses that depend on a link with an unknown pose, and the reason for each by name.

    A model stays without a pose; a frame is removed.
    """
    links = {(model.name, link.name) for model in state.models for link in model.links if link.pose is not None}
    reasons = {
        body.name: f"the pose of link '{carrier_of(body)}', on which it stands, is neither stated nor follows"
        for body in state.bodies
        if body.parent_link is not None and (body.parent, body.parent_link) not in links
    }
    if not reasons:
        return state, {}
    bodies = list(state.bodies)
    while more := [body for body in bodies if body.parent in reasons and body.name not in reasons]:
        reasons.update((body.name, f"it stands on '{body.parent}', which cannot be placed") for body in more)
    models = (
        replace(model, parent=WORLD, parent_link=None, pose=None, twist=None) if model.name in reasons else model
        for model in state.models
    )
    frames = tuple(frame for frame in state.frames if frame.name not in reasons)
    return replace(state, models=tuple(models), frames=frames), reasons


def root_frame(name: str) -> Frame:
    """Return a frame without a pose; it is treated as the world."""
    return Frame(name, WORLD, IDENTITY, STILL)


def link_frame(link: LinkState, name: str, parent: str) -> Frame:
    """Return a link of a model as a frame in it; the twist is converted from the link's axes to the model's axes."""
    twist = None
    if link.twist is not None and link.pose is not None:
        R = matrix_from_quat(pose_quaternions([link.pose])[0])
        twist = six_or_none(out_of_axes(R, np.array(link.twist)).tolist())
    return Frame(name, parent, link.pose, twist)


def _place_bodies(
    T_parent_body: FloatArray,
    stated: FloatArray,
    parents: npt.NDArray[np.intp],
    T: FloatArray,
    twists: FloatArray,
    steps: FloatArray,
) -> None:
    """Compute models and frames level by level from the world."""
    depths = _depths(parents)
    order = np.argsort(depths, kind="stable")
    ends = np.searchsorted(depths[order], np.arange(int(depths.max()) + 2))
    for start, end in pairwise(ends[1:].tolist()):
        here = order[start:end]
        above = parents[here]
        T[here] = T[above] @ T_parent_body[here - 1]
        steps[here] = out_of_axes(T[above, :3, :3], stated[here - 1])
        twists[here] = twist_at(twists[above], T[here, :3, 3] - T[above, :3, 3]) + steps[here]


def _depths(parents: npt.NDArray[np.intp]) -> npt.NDArray[np.intp]:
    """Return the number of steps from each item to item 0."""
    depths: npt.NDArray[np.intp] = (np.arange(len(parents)) != 0).astype(np.intp)
    above = parents
    # Each round doubles the number of levels, so a long chain takes few rounds.
    while above.any():
        depths = depths + depths[above]
        above = above[above]
    return depths


def _place_links(
    links: Sequence[tuple[int, LinkState]],
    first: int,
    T: FloatArray,
    twists: FloatArray,
    steps: FloatArray,
    wrenches: FloatArray,
) -> None:
    """Compute the links, each in its model's frame."""
    if not links:
        return
    models = np.array([place for place, _ in links])
    here = slice(first, first + len(links))
    T[here] = T[models] @ pose_matrices([link.pose for _, link in links])
    own_axes = T[here, :3, :3]
    steps[here] = out_of_axes(own_axes, _rows([link.twist for _, link in links]))
    twists[here] = twist_at(twists[models], T[here, :3, 3] - T[models, :3, 3]) + steps[here]
    wrenches[here] = out_of_axes(own_axes, _rows([link.wrench for _, link in links]))


_UNKNOWN: Vec6 = (np.nan,) * 6


def _rows(values: Sequence[Vec6 | None]) -> FloatArray:
    return np.array([_UNKNOWN if value is None else value for value in values], dtype=np.float64).reshape(-1, 6)


def _place(places: SourceMap | None, at: int, path: str) -> SourcePlace:
    return SourcePlace(SOURCE, path=path) if places is None else places.place(at)
