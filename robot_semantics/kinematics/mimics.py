# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Mimic joints as index arrays: which variable each position and velocity comes from, and how."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from robot_semantics.model.joint_types import JointType
from robot_semantics.model.robot_model import JointModel, MimicSource, RobotModel
from robot_semantics.transforms.arrays import FloatArray

IndexArray = npt.NDArray[np.intp]

# Which components a mimic joint takes scaled and shifted; the rest, a floating joint's rotation, it takes as they are.
_SCALED: dict[JointType, tuple[int, ...]] = {JointType.PLANAR: (0, 1, 2), JointType.FLOATING: (0, 1, 2)}


@dataclass(frozen=True, eq=False)
class MimicMap:
    """``q[i] = factor[i] * q[source[i]] + offset[i]`` for every variable; one that follows nothing is its own source.

    Attributes:
        followers: (m,) places in q of the variables that follow another.
        source: (size,) place in q that gives each variable its value.
        factor: (size,) 1 for a variable that is its own source.
        offset: (size,) 0 for a variable that is its own source [rad or m].
        velocity_followers: (m,) places in v of the velocities that follow another.
        velocity_source: (velocity_size,) place in v that gives each velocity its value.
        velocity_factor: (velocity_size,).
    """

    followers: IndexArray
    source: IndexArray
    factor: FloatArray
    offset: FloatArray
    velocity_followers: IndexArray
    velocity_source: IndexArray
    velocity_factor: FloatArray

    @classmethod
    def of(
        cls, model: RobotModel, positions: Mapping[int, slice], velocities: Mapping[int, slice], *, follow: bool
    ) -> MimicMap:
        """Return the map of `model`, whose joints' variables are at `positions` in q and `velocities` in v, by index.

        Without `follow` nothing follows anything.

        A joint that is to follow one with another number of variables is an ordinary joint, as it is for MoveIt.
        """
        size = sum(where.stop - where.start for where in positions.values())
        velocity_size = sum(where.stop - where.start for where in velocities.values())
        source, velocity_source = np.arange(size), np.arange(velocity_size)
        factor, offset, velocity_factor = np.ones(size), np.zeros(size), np.ones(velocity_size)
        for joint, leader, mimic in _followings(model) if follow else ():
            scaled = _SCALED.get(joint.type, (0,))
            to, come = positions[joint.index], positions[leader.index]
            source[to] = np.arange(come.start, come.stop)
            factor[to.start + np.array(scaled)] = mimic.multiplier
            offset[to.start + np.array(scaled)] = mimic.offset
            to, come = velocities[joint.index], velocities[leader.index]
            velocity_source[to] = np.arange(come.start, come.stop)
            velocity_factor[to.start + np.array(scaled)] = mimic.multiplier
        arrays = (
            np.flatnonzero(source != np.arange(size)),
            source,
            factor,
            offset,
            np.flatnonzero(velocity_source != np.arange(velocity_size)),
            velocity_source,
            velocity_factor,
        )
        for array in arrays:
            array.setflags(write=False)
        return cls(*arrays)

    def followed(self, q: FloatArray) -> FloatArray:
        """Return a copy of `q` (..., size) with the followers where their leaders take them."""
        result = np.array(q)
        at = self.followers
        if len(at):
            result[..., at] = self.factor[at] * q[..., self.source[at]] + self.offset[at]
        return result

    def followed_velocities(self, v: FloatArray) -> FloatArray:
        """Return a copy of `v` (..., velocity_size) with the followers moving as their leaders make them."""
        result = np.array(v)
        at = self.velocity_followers
        if len(at):
            result[..., at] = self.velocity_factor[at] * v[..., self.velocity_source[at]]
        return result


def _followings(model: RobotModel) -> Iterator[tuple[JointModel, JointModel, MimicSource]]:
    for joint in model.joints:
        if joint.mimic is not None and joint.position_count and joint.mimic.joint in model.joint_index:
            leader = model.joints[model.joint_index[joint.mimic.joint]]
            if leader.position_count == joint.position_count and leader is not joint:
                yield joint, leader, joint.mimic
