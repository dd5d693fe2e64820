# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The parent frames of virtual joints in a recording; a link called ``world`` is not the world frame."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from robot_semantics.recording.bags.source import free_frame
from robot_semantics.recording.read.plan import RecordedRobot
from robot_semantics.recording.tracks.namespaces import EACH_ROBOTS_OWN, FrameNames
from robot_semantics.usdf.world_state import WORLD


def with_parent_frames(
    robots: Sequence[RecordedRobot], names: FrameNames, frames: Collection[str], called: Mapping[str, str]
) -> tuple[tuple[RecordedRobot, ...], dict[str, str]]:
    """Return the robots with their virtual joints' parent frames, and the names of frames that differ on TF.

    Args:
        robots: the robots, with the frames of their links.
        names: the names of frames.
        frames: names of all frames of the recording.
        called: names of frames by their TF names, from the metadata of our own recordings.
    """
    links = {frame for robot in robots for frame in robot.link_frames}
    tf_names = {name: tf_name for tf_name, name in called.items()}
    found, result = [], dict(called)
    for robot in robots:
        below = "" if robot.model is None or not robot.model.has_virtual_joint else robot.model.root_joint.parent_link
        standing = tf_names.get(below, "")
        if below and not standing:
            standing = _recorded_name(robot, below, names, frames, links)
        if below and not standing:
            standing = free_frame(below, {*frames, *links})
            result[standing] = below
        found.append(replace(robot, standing=standing))
    return tuple(found), result


def _recorded_name(
    robot: RecordedRobot, below: str, names: FrameNames, frames: Collection[str], links: Collection[str]
) -> str:
    """Return the recording's name of a parent frame; ``""`` if the recording has only links of that name.

    A parent frame is never a link of its own robot, and ``world`` is never a link.
    """
    own = robot.namespace.strip("/")
    starts = (f"{own}/", f"{own}_", "") if own else ("",)
    no_parents = links if below == WORLD else robot.link_frames
    called = [names.of(f"{robot.namespace}/tf", f"{start}{below}") for start in starts]
    called = [name for name in called if name not in no_parents]
    if not called:
        return ""
    several = sum(map(bool, names.spaces)) > 1
    otherwise = called[0] if several and own and below in EACH_ROBOTS_OWN else called[-1]
    return next((name for name in called if name in frames), otherwise)
