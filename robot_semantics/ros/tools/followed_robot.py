# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""A running robot on TF: joint positions and the root link's pose from received transforms."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import numpy as np

from robot_semantics.kinematics.local import LocalTransforms
from robot_semantics.kinematics.observe import JointObserver
from robot_semantics.transforms import invert
from robot_semantics.transforms.arrays import FloatArray
from robot_semantics.viewer.scene import Actor, Stance, closed_pose

Transforms = Mapping[str, tuple[str, FloatArray]]
"""The newest T_parent_child [m] of each frame, behind the parent's name."""


class FollowedRobot:
    """Moves one robot to the received transforms; joints without transforms keep their positions.

    Attributes:
        actor: the shown parts of the robot.
        known: the position variables that TF has determined.
    """

    def __init__(self, actor: Actor, prefix: str | None = None) -> None:
        """Begin in the default positions.

        Args:
            actor: the robot.
            prefix: prefix of its frames on TF; None uses the prefix of most frames.
        """
        self.actor, self._stated_prefix = actor, prefix
        self.known: frozenset[str] = frozenset()
        self._voted = 0, ""
        self._q = closed_pose(actor.kinematics, actor.kinematics.space.neutral())[0]
        self._neutral = LocalTransforms(actor.model).matrices(self._q)
        self._observer = JointObserver(actor.model)

    def frames(self, transforms: Transforms) -> set[str]:
        """Return the frame names of its links."""
        prefix = self._prefix(transforms)
        return {prefix + name for name in self.actor.model.link_names}

    def stance(self, transforms: Transforms) -> Stance:
        """Return its present pose and positions."""
        model, space, prefix = self.actor.model, self.actor.kinematics.space, self._prefix(transforms)
        T = np.array(self._neutral)
        heard: list[slice] = []
        for joint in model.joints:
            parent, found = transforms.get(prefix + joint.child_link, (None, None))
            own = joint.parent_link if joint.virtual else prefix + joint.parent_link
            if found is not None and parent == own:
                T[joint.index] = found
                if joint.position_count:
                    heard.append(space.positions_of(joint))
        observed = self._observer.observe(T, self._q).q
        q = np.array(self._q)
        for where in heard:
            q[where] = observed[where]
        self._q = q
        self.known = frozenset(name for where in heard for name in space.names[where])
        T_world_root = pose_in_world(prefix + model.root_link, transforms)
        return Stance(q, T_world_root @ invert(self.actor.kinematics.T_parent_root(q)))

    def _prefix(self, transforms: Transforms) -> str:
        if self._stated_prefix is not None:
            return self._stated_prefix
        # Cache: the set of frames rarely changes.
        if self._voted[0] == len(transforms):
            return self._voted[1]
        links = set(self.actor.model.link_names[1:])
        votes = Counter(
            frame[: len(frame) - len(link)]
            for frame in transforms
            for link in ((frame,) if frame in links else [name for name in links if frame.endswith(name)])
        )
        self._voted = len(transforms), votes.most_common(1)[0][0] if votes else ""
        return self._voted[1]


def pose_in_world(frame: str, transforms: Transforms) -> FloatArray:
    """Return (4, 4) the pose [m] of a frame in the root of its tree; a cycle ends where it closes."""
    T = np.eye(4)
    passed: set[str] = set()
    while frame in transforms and frame not in passed:
        passed.add(frame)
        frame, T_parent_frame = transforms[frame]
        T = T_parent_frame @ T
    return T
