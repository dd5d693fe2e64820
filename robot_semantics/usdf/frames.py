"""The frame graph of a world state: where every model, frame and link is, and how it moves, seen from anywhere.

Inside, all motion is kept relative to the world in the world's axes, at each body's own origin; NaN stands for a motion
that is not stated. ``T_world_x`` is the pose of x in the world.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from robot_semantics.base.diagnostics import Diagnostics, Place
from robot_semantics.base.errors import DescriptionError, RobotSemanticsError, UnknownNameError
from robot_semantics.transforms import invert
from robot_semantics.usdf.poses import FloatArray, pose_from_matrix, pose_matrices, six
from robot_semantics.usdf.validity import SOURCE, path_of, problems
from robot_semantics.usdf.world_state import SEPARATOR, WORLD, Frame, LinkState, ModelState, Vec6, WorldState
from robot_semantics.xml.reader import SourceMap


class NotStatedError(RobotSemanticsError):
    """Something was asked that the state does not say.

    Attributes:
        name: of what.
        what: what is not stated, for example ``"twist"``.
    """

    def __init__(self, name: str, what: str) -> None:
        self.name = name
        self.what = what
        super().__init__(f"the state does not say the {what} of '{name}'")


@dataclass(frozen=True, eq=False)
class ResolvedWorld:
    """Poses and motions of everything a state says, all in the world; make it with `resolve`.

    Attributes:
        state: the state.
        names: all names, models and frames first, then the links as ``model::link``; the world itself is the first.
        index: place of each name.
        T_world_body: (n, 4, 4) poses, read-only [m].
        twists: (n, 6) velocity of each origin, then angular velocity, relative to the world in the world's axes
            [m/s, rad/s]; NaN where something on the way to the world states none; read-only.
        wrenches: (n, 6) force, then torque about the own origin, in the world's axes [N, N m]; NaN where none is
            stated; read-only.
        parents: (n,) place of what each is stated relative to; the world's is itself.
        steps: (n, 6) twist of each relative to its parent, in the world's axes; NaN where none is stated; read-only.
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
        """Return the place of a name in the arrays.

        Raises:
            UnknownNameError: no model, frame or link has it.
            NotStatedError: the link is stated, but not its pose.
        """
        found = self.index.get(name)
        if found is not None:
            return found
        if any(name == f"{m.name}{SEPARATOR}{link.name}" for m in self.state.models for link in m.links):
            raise NotStatedError(name, "pose")
        raise UnknownNameError("model, frame or link", name, self.names)

    def pose(self, name: str, relative_to: str = WORLD) -> FloatArray:
        """Return the (4, 4) pose of `name` in the frame of `relative_to` [m].

        Raises:
            UnknownNameError: there is no such name.
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
        """Return vx vy vz wx wy wz of `name`'s origin as an observer fixed to `relative_to` sees it [m/s, rad/s].

        It is given in the axes of `axes`, by default those of `relative_to`.

        Raises:
            UnknownNameError: there is no such name.
            NotStatedError: a pose or a motion on the way is not stated.
        """
        row = self.relative_twists((name,), relative_to, axes)[0]
        if np.isnan(row).any():
            raise NotStatedError(self._unmoved(self.at(name), self.at(relative_to)), "twist")
        return six(row)

    def relative_twists(self, names: Sequence[str], relative_to: str = WORLD, axes: str | None = None) -> FloatArray:
        """Return (k, 6) twists as `twist` does, NaN where one is not stated."""
        at, observer = [self.at(name) for name in names], self.at(relative_to)
        twists = np.array(self.twists[at])
        moving = np.broadcast_to(self.twists[observer], twists.shape).copy()
        unknown = np.isnan(twists).any(axis=1) | np.isnan(moving).any(axis=1)
        for row in np.flatnonzero(unknown).tolist() if observer else ():
            # How the frames above both of them move makes no difference to what one sees of the other.
            above = set(self._path(at[row]))
            common = next(place for place in self._path(observer) if place in above)
            twists[row], moving[row] = self._twist_from(common, at[row]), self._twist_from(common, observer)
        # The observer's frame carries along whatever is fixed to it; that motion is not seen from it.
        lever = self.T_world_body[at, :3, 3] - self.T_world_body[observer, :3, 3]
        twists[:, :3] -= moving[:, :3] + np.cross(moving[:, 3:], lever)
        twists[:, 3:] -= moving[:, 3:]
        return _into_axes(self.T_world_body[self.at(relative_to if axes is None else axes), :3, :3], twists)

    def path(self, name: str) -> list[str]:
        """Return the names from `name` up to the world's, which is the last.

        Raises:
            UnknownNameError: there is no such name.
            NotStatedError: the link is stated, but not its pose.
        """
        return [self.names[place] for place in self._path(self.at(name))]

    def _path(self, place: int) -> list[int]:
        """Return the places from this one up to the world's."""
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
            twist[:3] += np.cross(twist[3:], lever)
            twist += self.steps[here]
        return twist

    def _unmoved(self, place: int, observer: int) -> str:
        """Return the name of the one between two places whose motion is not stated."""
        one, other = self._path(place), self._path(observer)
        between = [here for here in (*one, *other) if (here in one) != (here in other)]
        return self.names[next(here for here in between if np.isnan(self.steps[here]).any())]

    def wrench(self, name: str, about: str | None = None, axes: str | None = None) -> Vec6:
        """Return fx fy fz tx ty tz on the link `name` [N, N m].

        The torque is about the origin of `about`, by default the link's own; both are in the axes of `axes`, by
        default those of `about`.

        Raises:
            UnknownNameError: there is no such name.
            NotStatedError: a pose or the wrench is not stated.
        """
        at = self.at(name)
        wrench = np.array(self.wrenches[at])
        if np.isnan(wrench).any():
            raise NotStatedError(name, "wrench")
        point = at if about is None else self.at(about)
        wrench[3:] += np.cross(self.T_world_body[at, :3, 3] - self.T_world_body[point, :3, 3], wrench[:3])
        R_world_axes = self.T_world_body[point if axes is None else self.at(axes), :3, :3]
        return six(_into_axes(R_world_axes, wrench[np.newaxis])[0])


def resolve(
    state: WorldState, *, diagnostics: Diagnostics | None = None, places: SourceMap | None = None
) -> ResolvedWorld:
    """Return where everything in `state` is in the world, and how it moves there.

    A missing pose of a model or frame is the identity, with a warning in `diagnostics` (at its place in the document
    of `places`). A link without a pose is left out: only a robot's joints can tell where it is.

    Raises:
        DescriptionError: unknown parents, cycles or names of two things; all are carried. Or a pose or
            motion in the world is beyond the range of a 64-bit float.
    """
    faults = problems(state)
    if faults:
        found = Diagnostics()
        for fault in faults:
            place = _place(places, fault.at, fault.path)
            found.error(fault.code, fault.message, place, name=fault.name, valid=fault.valid)
        raise DescriptionError(found)
    bodies = state.bodies
    for body in bodies:
        if body.pose is None and diagnostics is not None:
            message = f"'{body.name}' states no pose in '{body.parent}'; it is taken to be the identity"
            diagnostics.warning("missing-pose", message, _place(places, body.at, path_of(body)))
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
    place_of = {WORLD: 0} | {body.name: at for at, body in enumerate(bodies, 1)}
    parents[1:first_link] = [place_of[body.parent] for body in bodies]
    parents[first_link:] = [place for place, _ in links]
    with np.errstate(over="ignore", invalid="ignore"):
        T[0], twists[0] = np.eye(4), 0.0
        _place_bodies(*relative_to_parents(state), parents[:first_link], T, twists, steps)
        _place_links(links, first_link, T, twists, steps, wrenches)
    beyond = ~np.isfinite(T).all(axis=(1, 2)) | np.isinf(twists).any(axis=1)
    if beyond.any():
        found = Diagnostics()
        message = f"'{names[int(np.argmax(beyond))]}' is or moves in the world beyond the range of a 64-bit float"
        found.error("out-of-range", message, Place(SOURCE if places is None else places.source))
        raise DescriptionError(found)
    for array in (T, twists, wrenches, parents, steps):
        array.setflags(write=False)
    index = {name: at for at, name in enumerate(names)}
    return ResolvedWorld(state, names, MappingProxyType(index), T, twists, wrenches, parents, steps)


def relative_to_parents(state: WorldState) -> tuple[FloatArray, FloatArray]:
    """Return (n, 4, 4) poses and (n, 6) twists of all bodies relative to their parents, a link of which may carry them.

    Raises:
        NotStatedError: the pose of the link that carries one is not stated.
    """
    T_parent_body = pose_matrices([body.pose for body in state.bodies])
    twists = _rows([body.twist for body in state.bodies])
    models = {model.name: model for model in state.models}
    for at, body in enumerate(state.bodies):
        if body.parent_link is None:
            continue
        carriers = (link for link in models[body.parent].links if link.name == body.parent_link)
        link = next(carriers, LinkState(body.parent_link))
        if link.pose is None:
            raise NotStatedError(f"{body.parent}{SEPARATOR}{body.parent_link}", "pose")
        T_model_link = pose_matrices([link.pose])[0]
        moving = _rows([link.twist])[0]
        # Both are in the link's axes; the link carries along what is fixed to it.
        twists[at] += moving
        twists[at, :3] += np.cross(moving[3:], T_parent_body[at, :3, 3])
        twists[at] = (twists[at].reshape(2, 3) @ T_model_link[:3, :3].T).reshape(6)
        T_parent_body[at] = T_model_link @ T_parent_body[at]
    return T_parent_body, twists


def without_parent_links(state: WorldState) -> WorldState:
    """Return the state with every pose and twist relative to a parent, none to a parent's link.

    Raises:
        NotStatedError: the pose of a link that carries something is not stated.
    """
    if all(body.parent_link is None for body in state.bodies):
        return state
    poses, twists = relative_to_parents(state)
    moved: dict[int, ModelState | Frame] = {}
    for at, body in enumerate(state.bodies):
        if body.parent_link is not None:
            twist = None if np.isnan(twists[at]).any() else six(twists[at])
            moved[at] = replace(body, pose=pose_from_matrix(poses[at]), twist=twist, parent_link=None)
    bodies = [moved.get(at, body) for at, body in enumerate(state.bodies)]
    return replace(
        state,
        models=tuple(body for body in bodies if isinstance(body, ModelState)),
        frames=tuple(body for body in bodies if isinstance(body, Frame)),
    )


def _place_bodies(
    T_parent_body: FloatArray,
    stated: FloatArray,
    parents: npt.NDArray[np.intp],
    T: FloatArray,
    twists: FloatArray,
    steps: FloatArray,
) -> None:
    """Fill in models and frames, all of one distance from the world together, the nearest first."""
    depths = _depths(parents)
    order = np.argsort(depths, kind="stable")
    ends = np.searchsorted(depths[order], np.arange(int(depths.max()) + 2))
    for start, end in pairwise(ends[1:].tolist()):
        here = order[start:end]
        above = parents[here]
        T[here] = T[above] @ T_parent_body[here - 1]
        carried = twists[above]
        steps[here] = _out_of_axes(T[above, :3, :3], stated[here - 1])
        lever = T[here, :3, 3] - T[above, :3, 3]
        twists[here] = carried + steps[here]
        twists[here, :3] += np.cross(carried[:, 3:], lever)


def _depths(parents: npt.NDArray[np.intp]) -> npt.NDArray[np.intp]:
    """Return how many steps each place is from place 0."""
    depths: npt.NDArray[np.intp] = (np.arange(len(parents)) != 0).astype(np.intp)
    above = parents
    # Each round doubles how far up everything looks, so that a chain of any length takes few rounds.
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
    """Fill in the links, each in its model's frame."""
    if not links:
        return
    models = np.array([place for place, _ in links])
    here = slice(first, first + len(links))
    T[here] = T[models] @ pose_matrices([link.pose for _, link in links])
    own_axes = T[here, :3, :3]
    carried = twists[models]
    steps[here] = _out_of_axes(own_axes, _rows([link.twist for _, link in links]))
    twists[here] = carried + steps[here]
    twists[here, :3] += np.cross(carried[:, 3:], T[here, :3, 3] - T[models, :3, 3])
    wrenches[here] = _out_of_axes(own_axes, _rows([link.wrench for _, link in links]))


_UNKNOWN: Vec6 = (np.nan,) * 6


def _rows(values: Sequence[Vec6 | None]) -> FloatArray:
    return np.array([_UNKNOWN if value is None else value for value in values], dtype=np.float64).reshape(-1, 6)


def _out_of_axes(R_world_axes: FloatArray, sixes: FloatArray) -> FloatArray:
    """Return (n, 6) twists or wrenches in the world's axes from those in the axes of (n, 3, 3) rotations."""
    halves = sixes.reshape(-1, 2, 3)
    turned: FloatArray = np.einsum("nij,nkj->nki", R_world_axes, halves).reshape(-1, 6)
    return turned


def _into_axes(R_world_axes: FloatArray, sixes: FloatArray) -> FloatArray:
    """Return (n, 6) twists or wrenches in the axes of one (3, 3) rotation from those in the world's."""
    return (sixes.reshape(-1, 2, 3) @ R_world_axes).reshape(-1, 6)


def _place(places: SourceMap | None, at: int, path: str) -> Place:
    return Place(SOURCE, path=path) if places is None else places.place(at)
