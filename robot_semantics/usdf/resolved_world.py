# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Poses, twists and wrenches of all bodies of a world state, by name, relative to any frame."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from robot_semantics.base.errors import RobotSemanticsError, UnknownNameError
from robot_semantics.base.names import frame_name
from robot_semantics.transforms import invert
from robot_semantics.transforms.arrays import FloatArray
from robot_semantics.transforms.pose import Vec6, six
from robot_semantics.transforms.rows import into_axes, twist_at, wrench_about
from robot_semantics.usdf.world_state import SEPARATOR, WORLD, WorldState


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


@dataclass(frozen=True, eq=False)
class ResolvedWorld:
    """Poses and motions in the world of all bodies of a state; made by `resolve`.

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
        at, observer = [self.at(name) for name in names], self.at(relative_to)
        twists = np.array(self.twists[at])
        moving = np.broadcast_to(self.twists[observer], twists.shape).copy()
        unknown = np.isnan(twists).any(axis=1) | np.isnan(moving).any(axis=1)
        for row in np.flatnonzero(unknown).tolist() if observer else ():
            # The motion of frames above both of them has no effect on their relative motion.
            above = set(self._path(at[row]))
            common = next(place for place in self._path(observer) if place in above)
            twists[row], moving[row] = self._twist_from(common, at[row]), self._twist_from(common, observer)
        # Bodies fixed to the observer's frame move with it; the observer does not see this motion.
        twists -= twist_at(moving, self.T_world_body[at, :3, 3] - self.T_world_body[observer, :3, 3])
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
