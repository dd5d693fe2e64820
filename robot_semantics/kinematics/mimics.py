# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Mimic joints as index arrays: which variable each position or velocity comes from, and how."""

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

    A variable that follows no other is its own source. Chains lead straight to the joint that moves itself.

    Attributes:
        followers: (m,) places of the variables that follow another.
        source: (size,) place that gives each variable its value.
        factor: (size,) 1 for a variable that is its own source, and for the quaternion of a floating joint.
        offset: (size,) [rad or m], 0 for these and for velocities.
    """

    followers: IndexArray
    source: IndexArray
    factor: FloatArray
    offset: FloatArray

    @classmethod
    def of_positions(cls, model: RobotModel, places: Mapping[int, slice], *, follow: bool = True) -> MimicMap:
        """Return the map of the positions, which `places` has by the joints' indices; without `follow` none follows."""
        return cls._of(model, places, offsets=True, follow=follow)

    @classmethod
    def of_velocities(cls, model: RobotModel, places: Mapping[int, slice], *, follow: bool = True) -> MimicMap:
        """Return the map of the velocities, as `of_positions`."""
        return cls._of(model, places, offsets=False, follow=follow)

    @classmethod
    def _of(cls, model: RobotModel, places: Mapping[int, slice], *, offsets: bool, follow: bool) -> MimicMap:
        size = sum(where.stop - where.start for where in places.values())
        source, factor, offset = np.arange(size), np.ones(size), np.zeros(size)
        for joint, leader, mimic in followings(model) if follow else ():
            to, come = places[joint.index], places[leader.index]
            source[to] = np.arange(come.start, come.stop)
            # The rest, a floating joint's rotation, is copied.
            scaled = slice(to.start, to.start + joint.motion.mimicked)
            factor[scaled], offset[scaled] = mimic.multiplier, mimic.offset * offsets
        arrays = (np.flatnonzero(source != np.arange(size)), source, factor, offset)
        for array in arrays:
            array.setflags(write=False)
        return cls(*arrays)

    def followed(self, x: FloatArray) -> FloatArray:
        """Return a copy of `x` (..., size) with the followers where their leaders take them."""
        result = np.array(x)
        self._follow(result, self.followers)
        return result

    def completed(self, x: FloatArray, known: BoolArray) -> tuple[FloatArray, BoolArray]:
        """Return copies of `x` (..., size) and `known` (size,) with what follows from the known variables.

        A leader that is not known comes from its first known follower, then followers that are not known come from
        their leaders. Known variables keep their values.
        """
        result, found = np.array(x), np.array(known)
        at = self.leading(known)[::-1]  # of several followers the first one is written last
        leaders = self.source[at]
        result[..., leaders] = (result[..., at] - self.offset[at]) / self.factor[at]
        found[leaders] = True
        at = self.followers[~found[self.followers] & found[self.source[self.followers]]]
        self._follow(result, at)
        found[at] = True
        return result, found

    def leading(self, known: BoolArray) -> IndexArray:
        """Return the known followers that tell where their leaders are, which are not known."""
        at = self.followers
        leading: IndexArray = at[known[at] & ~known[self.source[at]] & (self.factor[at] != 0.0)]
        return leading

    def _follow(self, x: FloatArray, at: IndexArray) -> None:
        if len(at):
            x[..., at] = self.factor[at] * x[..., self.source[at]] + self.offset[at]


def followings(model: RobotModel) -> Iterator[tuple[JointModel, JointModel, MimicSource]]:
    """Yield each joint that follows another, its leader, and how.

    A joint that is to follow one with another number of variables is an ordinary joint, as it is for MoveIt.
    """
    for joint in model.joints:
        if joint.mimic is not None and joint.position_count and joint.mimic.joint in model.joint_index:
            leader = model.joints[model.joint_index[joint.mimic.joint]]
            if leader.position_count == joint.position_count and leader is not joint:
                yield joint, leader, joint.mimic
