# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Mimic joints as index arrays: the source variable of each position or velocity, its factor and its offset."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from robot_semantics.model.robot_model import JointModel, MimicSource, RobotModel
from robot_semantics.transforms.arrays import FloatArray

IndexArray = npt.NDArray[np.intp]
BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class MimicMap:
    """``x[i] = factor[i] * x[source[i]] + offset[i]`` for every position, or for every velocity.

    A variable without a leader is its own source. Chains are resolved to joints that move independently.

    Attributes:
        followers: (m,) indices of the variables with a leader.
        source: (size,) index of the variable that gives each variable its value.
        factor: (size,) 1 for a variable that is its own source, and for the quaternion of a floating joint.
        offset: (size,) [rad or m]; 0 for these variables and for velocities.
    """

    followers: IndexArray
    source: IndexArray
    factor: FloatArray
    offset: FloatArray

    @classmethod
    def of_positions(cls, model: RobotModel, places: Mapping[int, slice], *, follow: bool = True) -> MimicMap:
        """Return the map of positions; `places`: slices by joint index; without `follow`, all are independent."""
        return cls._of(model, places, offsets=True, follow=follow)

    @classmethod
    def of_velocities(cls, model: RobotModel, places: Mapping[int, slice], *, follow: bool = True) -> MimicMap:
        """Return the map of velocities, as `of_positions`."""
        return cls._of(model, places, offsets=False, follow=follow)

    @classmethod
    def _of(cls, model: RobotModel, places: Mapping[int, slice], *, offsets: bool, follow: bool) -> MimicMap:
        size = sum(where.stop - where.start for where in places.values())
        source, factor, offset = np.arange(size), np.ones(size), np.zeros(size)
        for joint, leader, mimic in followings(model) if follow else ():
            to, come = places[joint.index], places[leader.index]
            source[to] = np.arange(come.start, come.stop)
            # The other numbers, a floating joint's rotation, are copied.
            scaled = slice(to.start, to.start + joint.motion.mimicked)
            factor[scaled], offset[scaled] = mimic.multiplier, mimic.offset * offsets
        arrays = (np.flatnonzero(source != np.arange(size)), source, factor, offset)
        for array in arrays:
            array.setflags(write=False)
        return cls(*arrays)

    def followed(self, x: FloatArray) -> FloatArray:
        """Return a copy of `x` (..., size) in which the followers have the values that follow from their leaders."""
        result = np.array(x)
        self._follow(result, self.followers)
        return result

    def completed(self, x: FloatArray, known: BoolArray) -> tuple[FloatArray, BoolArray]:
        """Return copies of `x` (..., size) and `known` (size,) with all values that follow from the known variables.

        An unknown leader follows from its first known follower; then unknown followers follow from their leaders. Known
        variables keep their values.
        """
        result, found = np.array(x), np.array(known)
        at = self.leading(known)[::-1]  # the first follower of a leader is written last
        leaders = self.source[at]
        result[..., leaders] = (result[..., at] - self.offset[at]) / self.factor[at]
        found[leaders] = True
        at = self.followers[~found[self.followers] & found[self.source[self.followers]]]
        self._follow(result, at)
        found[at] = True
        return result, found

    def leading(self, known: BoolArray) -> IndexArray:
        """Return the known followers that determine their unknown leaders."""
        at = self.followers
        leading: IndexArray = at[known[at] & ~known[self.source[at]] & (self.factor[at] != 0.0)]
        return leading

    def _follow(self, x: FloatArray, at: IndexArray) -> None:
        if len(at):
            x[..., at] = self.factor[at] * x[..., self.source[at]] + self.offset[at]


def followings(model: RobotModel) -> Iterator[tuple[JointModel, JointModel, MimicSource]]:
    """Yield each joint with a valid leader, its leader, and the relation.

    A joint whose leader has another number of variables is an ordinary joint, as in MoveIt.
    """
    for joint in model.joints:
        if joint.mimic is not None and joint.position_count and joint.mimic.joint in model.joint_index:
            leader = model.joints[model.joint_index[joint.mimic.joint]]
            if leader.position_count == joint.position_count and leader is not joint:
                yield joint, leader, joint.mimic
