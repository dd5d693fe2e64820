# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The TF frames of a written recording: their names, and the parent frame of each pose."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from robot_semantics.model.robot_model import RobotModel
from robot_semantics.recording.bag_metadata import free_frame
from robot_semantics.usdf.frames import without_parent_links
from robot_semantics.usdf.world_state import WORLD, Frame, ModelState, WorldState, carrier_of


class TfFrames:
    """The TF names of links, of frames and of the world.

    Attributes:
        names: TF name of each frame, and of the world. A frame with the TF name of a link gets another one.
    """

    def __init__(
        self,
        states: Sequence[WorldState],
        robots: Mapping[str, RobotModel],
        roots: Mapping[str, str],
        spaces: Mapping[str, str],
    ) -> None:
        """Name the frames.

        Args:
            states: all states of the recording.
            robots: the known robots, by model.
            roots: the root link of each model.
            spaces: the namespace of each model; none where a model is alone.
        """
        self._roots, self._spaces = roots, spaces
        links = {self.of_link(name, link) for name, robot in robots.items() for link in robot.link_names}
        links |= {self.of_link(name, root) for name, root in roots.items()}
        frames = dict.fromkeys((WORLD, *(frame.name for state in states for frame in state.frames)))
        taken = links | frames.keys()
        self.names: dict[str, str] = {}
        for name in frames:
            self.names[name] = free_frame(name, taken) if name in links else name
            taken.add(self.names[name])

    @property
    def renamed(self) -> dict[str, str]:
        """The names of frames that have another name on TF (TF name → name)."""
        return {tf_name: name for name, tf_name in self.names.items() if tf_name != name}

    def of_link(self, model: str, link: str) -> str:
        """Return the TF name of a model's link."""
        return f"{self._spaces[model]}/{link}" if self._spaces else link

    def parent(self, body: ModelState | Frame) -> str:
        """Return the TF frame that a body's pose is relative to; a model's frame is its root link."""
        if body.parent in self._roots:
            return self.of_link(body.parent, body.parent_link or self._roots[body.parent])
        return self.names[body.parent]


def on_known_links(state: WorldState, robots: Mapping[str, RobotModel]) -> WorldState:
    """Return the state with `parent_link` only for links of known robots; other poses are relative to the model.

    Raises:
        NotStatedError: the pose of a link of an unknown robot is not stated.
    """
    known = {
        body.name
        for body in state.bodies
        if body.parent in robots and body.parent_link in robots[body.parent].link_index
    }
    return without_parent_links(state, but=known)


def fixed_frames(states: Sequence[WorldState]) -> set[str]:
    """Return the frames that are in every state with one parent and one pose."""
    first = {frame.name: (carrier_of(frame), frame.pose) for frame in states[0].frames}
    for state in states[1:]:
        here = {frame.name: (carrier_of(frame), frame.pose) for frame in state.frames}
        first = {name: place for name, place in first.items() if here.get(name) == place}
    return set(first)
