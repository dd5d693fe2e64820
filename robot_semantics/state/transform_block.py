# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""One TF message's worth of joints: which frames, their transforms for a configuration, as bytes or as rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from robot_semantics.base.recent import Recent
from robot_semantics.kinematics.in_place import InPlaceTransforms
from robot_semantics.model.robot_model import RobotModel
from robot_semantics.state.cdr import TransformMessage
from robot_semantics.transforms.arrays import BoolArray, FloatArray

Frames = Sequence[tuple[str, str]]

_MAX_BLOCKS = 64


class TransformRows(NamedTuple):
    """Transforms of one time: `values` is (n, 7), x y z [m] and quaternion x y z w of each child in its frame."""

    frames: Frames
    values: FloatArray
    stamp_ns: int


class TransformBlock:
    """The transforms of some joints of a robot, always in the same order and under the same frame names."""

    def __init__(self, model: RobotModel, joints: Sequence[int], frames: Frames, *, raw: bool) -> None:
        self.frames = tuple(frames)
        self._raw = TransformMessage(self.frames) if raw else None
        if self._raw is None:
            self._transforms = InPlaceTransforms(model, joints)
        else:
            self._transforms = InPlaceTransforms(
                model, joints, self._raw.slots, self._raw.places, self._raw.staging_array
            )

    def __len__(self) -> int:
        return len(self.frames)

    def message(self, stamp_ns: int, positions: FloatArray) -> bytes | TransformRows:
        """Return the transforms of a configuration: as a message's CDR bytes, or as rows where these are not wanted."""
        values = self._transforms.update(positions)
        if self._raw is not None:
            return self._raw.write(stamp_ns)
        return TransformRows(self.frames, values.reshape(-1, 7).copy(), stamp_ns)


class TransformBlocks:
    """The blocks of one robot, each made when its joints are first published together; the least recently used goes."""

    def __init__(self, make: Callable[[BoolArray], TransformBlock]) -> None:
        self._make = make
        self._blocks: Recent[bytes, TransformBlock] = Recent(_MAX_BLOCKS)

    def get(self, chosen: BoolArray) -> TransformBlock:
        """Return the block of the moving joints that `chosen`, (m,) bool, names."""
        key = chosen.tobytes()
        block = self._blocks.get(key)
        if block is None:
            block = self._make(chosen)
            self._blocks.put(key, block)
        return block
