# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The TF frames of one robot: names, static transforms, and the transforms of a configuration."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from robot_semantics.base.names import frame_name
from robot_semantics.cdr.fill import TransformMessage
from robot_semantics.kinematics.local import InPlaceTransforms
from robot_semantics.live.settings import RobotSettings, Source
from robot_semantics.model.robot_model import RobotModel
from robot_semantics.transforms import quat_from_rpy
from robot_semantics.transforms.arrays import FloatArray

Frames = Sequence[tuple[str, str]]


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
        """Return the transforms of a configuration, as a message's CDR bytes or as rows."""
        values = self._transforms.update(positions)
        if self._raw is not None:
            return self._raw.write(stamp_ns)
        return TransformRows(self.frames, values.reshape(-1, 7).copy(), stamp_ns)


class StaticTransform(NamedTuple):
    """A transform that does not change: `xyz_quat` is (7,), the child's pose in its frame."""

    frame_id: str
    child_frame_id: str
    xyz_quat: FloatArray


class RobotFrames:
    """The frames of a robot as its settings name them.

    Attributes:
        root_source: the source of the root link's pose.

    """

    def __init__(self, model: RobotModel, settings: RobotSettings) -> None:
        self.model, self.settings = model, settings
        self.root_source = settings.virtual_joint(model.root_joint.name).source

    def frame(self, link: str) -> str:
        """Return the TF name of a link."""
        return frame_name(self.settings.frame_prefix + link)

    @property
    def parent_frame(self) -> str:
        """TF name of the root link's parent frame; empty without a virtual joint."""
        root = self.model.root_joint
        return frame_name(self.settings.virtual_joint(root.name).parent_frame) or root.parent_link

    def frames_of(self, joint: int) -> tuple[str, str]:
        """Return the TF names (frame_id, child_frame_id) of a joint by its index in the model."""
        found = self.model.joints[joint]
        parent = self.parent_frame if joint == 0 else self.frame(found.parent_link)
        return parent, self.frame(found.child_link)

    @property
    def publishes_root(self) -> bool:
        """True if the root link has a transform; False if its parent frame has the same TF name, for example
        ``world``.
        """
        return self.parent_frame not in ("", self.frame(self.model.root_link)) and self.root_source is not Source.TF

    @property
    def child_frames(self) -> frozenset[str]:
        """Every frame whose transform this robot publishes."""
        own = frozenset(self.frames_of(joint.index)[1] for joint in self.model.joints[1:])
        if self.publishes_root:
            own |= {self.frame(self.model.root_link)}
        return own

    @property
    def root_is_fixed(self) -> bool:
        """True if the root link has a constant pose: a parameter, or the identity."""
        fixed = not self.model.root_joint.position_count or self.root_source is Source.FIXED
        return bool(self.parent_frame) and fixed and self.root_source is not Source.TF

    def static_transforms(self) -> list[StaticTransform]:
        """Return the transforms of all fixed joints; the virtual joint is one of them if it is fixed."""
        fixed = [joint.index for joint in self.model.joints[1:] if not joint.position_count]
        values = InPlaceTransforms(self.model, fixed).values.reshape(-1, 7)
        result = [StaticTransform(*self.frames_of(index), row) for index, row in zip(fixed, values, strict=True)]
        if self.root_is_fixed and self.publishes_root:
            result.insert(0, StaticTransform(*self.frames_of(0), self.fixed_root_pose()))
        return result

    def fixed_root_pose(self) -> FloatArray:
        """Return the constant pose (7,) of the root link: a parameter, or the identity."""
        pose = np.array(self.settings.virtual_joint(self.model.root_joint.name).pose, np.float64)
        return np.concatenate([pose[:3], quat_from_rpy(pose[3:])])


# The joints whose values stay valid after another description has replaced a robot's.


def common_joints(before: RobotFrames, after: RobotFrames) -> list[str]:
    """Return the moving joints of `after` whose values in `before` have the same meaning.

    These are the joints of the same name with the same quantities, an angle or a distance for example. The root joint
    has the same meaning only if the same link moves in the same frame.
    """
    if before.model is after.model:
        return [joint.name for joint in after.model.joints if joint.position_count]
    quantities = {joint.name: joint.motion.quantities for joint in before.model.joints}
    names = []
    for joint in after.model.joints:
        if joint.position_count and quantities.get(joint.name) == joint.motion.quantities:
            roots = [model.root_joint.name == joint.name for model in (before.model, after.model)]
            if not any(roots) or (all(roots) and _root_frames(before) == _root_frames(after)):
                names.append(joint.name)
    return names


def _root_frames(robot: RobotFrames) -> tuple[str, str]:
    return robot.parent_frame, robot.model.root_link
