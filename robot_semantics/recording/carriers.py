# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The links of robots that carry frames or other robots in a recording, and the poses of these links."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from robot_semantics.kinematics.forward import ForwardKinematics
from robot_semantics.recording.history import TransformHistory
from robot_semantics.recording.robots import RecordedRobot
from robot_semantics.state.model_states import ModelSeries, with_links
from robot_semantics.transforms.arrays import FloatArray, IntArray
from robot_semantics.transforms.rows import IDENTITY_POSE, compose_poses


class Carriers:
    """The carrying links, without root links: the frame of a root link is the frame of its model.

    Attributes:
        links: TF name of each such link → index of its robot, and its name.
    """

    def __init__(self, robots: Sequence[RecordedRobot], history: TransformHistory, mode: str) -> None:
        """`mode` is the sampling of transforms, as for `TransformHistory.local`."""
        self._robots, self._history, self._mode = robots, history, mode
        self.links = dict(sorted(self._links_that_carry()))

    def _links_that_carry(self) -> Iterator[tuple[str, tuple[int, str]]]:
        history = self._history
        roots = {robot.root_frame for robot in self._robots}
        owners = {frame: i for i, robot in enumerate(self._robots) for frame in robot.link_frames}
        for child, edge in history.edges.items():
            if history.frames[child] in owners and history.frames[child] not in roots:
                continue
            for above in {edge.parents} if isinstance(edge.parents, int) else set(edge.parents.tolist()):
                name = history.frames[above]
                if name in owners and name not in roots:
                    yield name, (owners[name], self._robots[owners[name]].link_frames[name])

    def with_links(self, number: int, model: ModelSeries, times_ns: IntArray) -> ModelSeries:
        """Return the model with the poses of its carrying links."""
        robot = self._robots[number]
        mine = [frame for frame, (owner, _) in self.links.items() if owner == number]
        if not mine or robot.model is None:
            return model
        poses, twists = self.link_poses(number, mine, model, times_ns)
        names = tuple(robot.link_frames[frame] for frame in mine)
        if model.link_poses is None:
            return replace(model, links=names, link_poses=poses, link_twists=twists)
        model.link_poses[:, [model.links.index(name) for name in names]] = poses
        return model

    def drop_unplaced(self, names: int, models: Sequence[ModelSeries], parent: IntArray, pose: FloatArray) -> None:
        """Attach the bodies on a link without a pose to its model instead, without a pose.

        Args:
            names: number of all names of the series: the carrying links are the last, after the models.
            models: changed in place.
            parent: (n, frames) parents of the frames, changed in place.
            pose: (n, frames, 7) their poses, changed in place.
        """
        first = names - len(self.links)
        for at, (owner, link) in enumerate(self.links.values(), first):
            carrier = models[owner]
            if carrier.link_poses is None:
                continue
            unknown = np.isnan(carrier.link_poses[:, carrier.links.index(link), 0])
            for above, poses, twists in ((parent, pose, None), *((m.parent, m.pose, m.twist) for m in models)):
                rows = (above == at) & unknown.reshape(-1, *(1,) * (above.ndim - 1))
                above[rows], poses[rows] = first - len(models) + owner, np.nan
                if twists is not None:
                    twists[rows] = np.nan

    def link_poses(
        self, number: int, frames: Sequence[str], model: ModelSeries, times_ns: IntArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return T_root_link (n, links, 7) from the joints, else from tf, and twists (n, links, 6) from the joints."""
        robot = self._robots[number]
        assert robot.model is not None
        linked = with_links(model, ForwardKinematics(robot.model))
        assert linked.link_poses is not None
        assert linked.link_twists is not None
        at = [robot.model.link_index[robot.link_frames[frame]] for frame in frames]
        poses, twists = linked.link_poses[:, at], linked.link_twists[:, at]
        for column, frame in enumerate(frames):
            rows = np.isnan(poses[:, column]).any(axis=1)
            poses[rows, column] = self._below_root(robot, frame, times_ns[rows])
        return poses, twists

    def _below_root(self, robot: RecordedRobot, frame: str, times_ns: IntArray) -> FloatArray:
        """Return T_root_link (n, 7) of a link from tf; NaN if tf does not have it."""
        history = self._history
        pose = np.tile(np.array(IDENTITY_POSE), (len(times_ns), 1))
        for _ in range(len(history.frames)):
            if frame == robot.root_frame:
                return pose
            local = history.index.get(frame, -1)
            if local not in history.edges:
                break
            step = history.local(local, times_ns, self._mode, hold=True)
            above = np.unique(step.parent)
            if len(above) != 1 or above[0] < 0:
                break
            pose, frame = compose_poses(step.poses, pose), history.frames[int(above[0])]
        return np.full_like(pose, np.nan)
