# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Frames and root links in TF, and the pose of each robot's root link by the rule of doc/usdf.md."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from robot_semantics.state.samples import (
    RobotSample,
    RootCandidate,
    RootChoice,
    RootSource,
    RootStatement,
    choose_root,
)
from robot_semantics.state.settings import Source
from robot_semantics.transforms.arrays import FloatArray
from robot_semantics.usdf.world_state import WORLD

AT_ORIGIN = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0])


class ReceivedTransform(NamedTuple):
    """The newest transform of a frame in one parent that another node has published.

    Attributes:
        xyz_quat: (7,) T_parent_frame, x y z [m] and quaternion x y z w.
        stamp_ns: its time; None if it is static.
    """

    xyz_quat: FloatArray
    stamp_ns: int | None


ReceivedFrames = Mapping[str, Mapping[str, ReceivedTransform]]
"""TF name of a frame → TF name of a parent → received transform, without the node's own ones."""


class Root(NamedTuple):
    """Pose of a robot's root link, with its source.

    Attributes:
        choice: the source that is used, and the other sources.
        statement: the pose; None without a source.
        parent: TF name of its parent frame; ``world`` if no source names one.
        on_tf: True if the pose comes from a transform on TF.
    """

    choice: RootChoice
    statement: RootStatement | None
    parent: str
    on_tf: bool


def root_of(robot: RobotSample, heard: ReceivedFrames) -> Root:
    """Return the pose of a robot's root link by the rule of doc/usdf.md."""
    said, of_tf = list(robot.said), set[RootCandidate]()
    on_tf = heard.get(robot.root_frame, {})
    for parent, transform in on_tf.items() if robot.source in (Source.AUTO, Source.TF) else ():
        source = RootSource.CHOSEN if robot.source is Source.TF else RootSource.TF
        candidate = RootCandidate(source, f"TF in '{parent}'", parent)
        of_tf.add(candidate)
        said.append(RootStatement(candidate, transform.xyz_quat, None, transform.stamp_ns))
    if robot.root_frame == WORLD and not said:
        # TF cannot have its pose in the frame `world`, because this link is the root of the TF tree.
        said.append(RootStatement(RootCandidate(RootSource.FIXED, f"the name of '{WORLD}'", WORLD), AT_ORIGIN))
    choice = choose_root(statement.candidate for statement in said)
    chosen = next((statement for statement in said if statement.candidate == choice.chosen), None)
    parent = (chosen.candidate.parent if chosen else robot.parent_frame) or WORLD
    return Root(choice, chosen, parent, choice.chosen in of_tf)


def newest_of(parents: Mapping[str, ReceivedTransform]) -> tuple[str, ReceivedTransform]:
    """Return the newest transform of a frame and its parent: with several publishers, TF listeners see this one."""
    parent = max(parents, key=lambda parent: (parents[parent].stamp_ns or 0, parent))
    return parent, parents[parent]
