# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The world of a recording at many times: each robot with its base, and each frame that is not a robot link."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.base.errors import UnknownNameError
from robot_semantics.base.names import frame_name, quoted
from robot_semantics.kinematics.forward import kinematics_of
from robot_semantics.live.model_series import ABSENT, ModelSeries, with_links
from robot_semantics.live.samples import RootSource
from robot_semantics.recording.bags.source import RequestError
from robot_semantics.recording.read.plan import RecordedRobot
from robot_semantics.recording.read.recording import Recording
from robot_semantics.recording.sample.model import ModelSampler
from robot_semantics.recording.sample.root_track import find_root, with_roots
from robot_semantics.recording.series.series import DEFAULT_GAP_NS, Series
from robot_semantics.recording.tracks.history import TransformHistory, recorded_tracks
from robot_semantics.transforms.arrays import FloatArray, IntArray
from robot_semantics.transforms.rows import IDENTITY_POSE, compose_poses, invert_poses
from robot_semantics.usdf.world_state import SEPARATOR, WORLD

# The links of robots that carry frames or other robots in a recording, and the poses of these links.


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
        for row, (owner, link) in enumerate(self.links.values(), first):
            carrier = models[owner]
            if carrier.link_poses is None:
                continue
            unknown = np.isnan(carrier.link_poses[:, carrier.links.index(link), 0])
            for above, poses, twists in ((parent, pose, None), *((m.parent, m.pose, m.twist) for m in models)):
                rows = (above == row) & unknown.reshape(-1, *(1,) * (above.ndim - 1))
                above[rows], poses[rows] = first - len(models) + owner, np.nan
                if twists is not None:
                    twists[rows] = np.nan

    def link_poses(
        self, number: int, frames: Sequence[str], model: ModelSeries, times_ns: IntArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return T_root_link (n, links, 7) from the joints, else from tf, and twists (n, links, 6) from the joints."""
        robot = self._robots[number]
        assert robot.model is not None
        linked = with_links(model, kinematics_of(robot.model))
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


class Sampling(NamedTuple):
    """How a recording is sampled.

    Attributes:
        mode: ``linear``, ``previous`` or ``nearest``.
        max_gap_ns: values with a larger age are reported as old.
        world_frame: the world frame; None: the root of the frames.
        links: True: add link states.
    """

    mode: str = "linear"
    max_gap_ns: int = DEFAULT_GAP_NS
    world_frame: str | None = None
    links: bool = False


class WorldSampler:
    """Samples a recording at any number of times, block by block.

    Attributes:
        recording: the recording.
        sampling: the options.
        world_frame: the frame of the world; "" without frames.
    """

    def __init__(self, recording: Recording, sampling: Sampling, problems: Diagnostics) -> None:
        self.recording, self.sampling = recording, sampling
        robots = recording.robots
        tracks = recorded_tracks(recording.pieces, [robot.namespace for robot in robots])
        self.models = tuple(ModelSampler(robot, recording, tracks, problems, links=sampling.links) for robot in robots)
        self.roots = tuple(find_root(model.robot, recording, model.joints, tracks, problems) for model in self.models)
        self._links = {frame: i for i, robot in enumerate(robots) for frame in robot.link_frames}
        self._roots = {robot.root_frame: i for i, robot in enumerate(robots)}
        self.history = with_roots(recording, self.roots, tracks, problems)
        self._world = self._named_world()
        self.world_frame = self._choose_world(problems)
        self._turned_over = self._turn_over()
        # A root link without a moving source is still in the frame of its virtual joint.
        self._parent_frames = {i: robot.parent_frame for i, robot in enumerate(robots) if robot.parent_frame}
        still = {frame for i, frame in self._parent_frames.items() if self.roots[i].source in (None, RootSource.FIXED)}
        every = {*self.history.frames, *still} - {self._world, ""}
        called = recording.world_names
        # Sort by name: the order of arrival is random.
        self._free = tuple(sorted((name for name in every if name not in self._links), key=lambda n: called.get(n, n)))
        self.frames = tuple(called.get(name, name) for name in self._free)
        names = self._checked_names()
        self._carriers = Carriers(robots, self.history, self.sampling.mode)
        links = [f"{names[number]}{SEPARATOR}{link}" for number, link in self._carriers.links.values()]
        self.names = (WORLD, *self.frames, *names, *links)
        placed = (self._world, *self._free, *(robot.root_frame for robot in robots), *self._carriers.links)
        self._index = {frame: i for i, frame in enumerate(placed) if frame}
        self._report(problems)

    def _checked_names(self) -> list[str]:
        names = [robot.name for robot in self.recording.robots]
        for name in names:
            if name in self.frames or name == WORLD:
                raise RequestError(f"'{name}' is both a robot and a frame; give the robot another name with --model")
        return names

    def sample(self, times_ns: IntArray) -> Series:
        """Return the world at `times_ns` (n,)."""
        models = tuple(
            self._carriers.with_links(i, self._model(i, model, times_ns), times_ns)
            for i, model in enumerate(self.models)
        )
        count, width = len(times_ns), len(self.frames)
        parent = np.full((count, width), ABSENT, dtype=np.int64)
        pose, age = np.full((count, width, 7), np.nan), np.full((count, width), -1, dtype=np.int64)
        for column, name in enumerate(self._free):
            parent[:, column], pose[:, column], age[:, column] = self._frame(name, times_ns)
        twist = np.full((count, width, 6), np.nan)
        self._carriers.drop_unplaced(len(self.names), models, parent, pose)
        return Series(times_ns, self.names, models, self.frames, parent, pose, twist, age)

    def _model(self, number: int, sampler: ModelSampler, times_ns: IntArray) -> ModelSeries:
        mode, max_gap_ns = self.sampling.mode, self.sampling.max_gap_ns
        model = sampler.sample(times_ns, mode)
        robot, root, count = sampler.robot, self.roots[number], len(times_ns)
        unknown = np.full((count, 6), np.nan)
        identity, fresh = np.tile(np.array(IDENTITY_POSE), (count, 1)), np.zeros(count, np.int64)
        if robot.root_frame == self.world_frame:
            return _based(model, np.zeros(count, np.int64), identity, unknown, fresh)
        standing = self._parent_frames.get(number, "")
        frame_index = self._index.get(standing, ABSENT)
        if root.source is RootSource.FIXED:
            return _based(model, np.full(count, frame_index), identity, unknown, fresh)
        history = self.history
        if robot.root_frame in self._turned_over:
            parent, pose, age = self._above_world(number, model, times_ns)
            return _based(model, np.where(parent == ABSENT, frame_index, parent), pose, unknown, age)
        frame = history.index.get(robot.root_frame, -1)
        if frame not in history.edges:
            return _based(model, np.full(count, frame_index), np.full((count, 7), np.nan), unknown, np.full(count, -1))
        parent, pose, age = self._frame_poses(frame, times_ns)
        twist = root.sample_twists(history.edges[frame], times_ns, mode, pose, max_gap_ns)
        return _based(model, np.where(parent == ABSENT, frame_index, parent), pose, twist, age)

    def _above_world(
        self, number: int, model: ModelSeries, times_ns: IntArray
    ) -> tuple[IntArray, FloatArray, IntArray]:
        """Return parent (n,), pose (n, 7) and age (n,) of a robot above the world frame on tf, by inversion."""
        child = self._turned_over[self.recording.robots[number].root_frame]
        local = self.history.local(self.history.index[child], times_ns, self.sampling.mode, hold=True)
        link = self.history.frames[int(local.parent.max(initial=0))]
        T_root_child = local.poses
        if link not in self._roots:
            T_root_child = compose_poses(
                self._carriers.link_poses(number, [link], model, times_ns)[0][:, 0], local.poses
            )
        return np.where(local.parent >= 0, self._index[child], ABSENT), invert_poses(T_root_child), local.age_ns

    def _frame(self, name: str, times_ns: IntArray) -> tuple[IntArray, FloatArray, IntArray]:
        """Return a frame's parent (n,), pose (n, 7) and age (n,)."""
        history, count = self.history, len(times_ns)
        parent, age = np.full(count, ABSENT, dtype=np.int64), np.zeros(count, dtype=np.int64)
        if name == self.world_frame:
            return np.zeros(count, np.int64), np.tile(np.array(IDENTITY_POSE), (count, 1)), age
        if name in self._turned_over:
            child = self._turned_over[name]
            local = history.local(history.index[child], times_ns, self.sampling.mode, hold=True)
            parent[local.parent >= 0] = self._index[child]
            return parent, invert_poses(local.poses), local.age_ns
        if history.index.get(name) not in history.edges:
            # The root of frames that are not connected to the world has a pose, but an unknown one.
            return np.zeros(count, np.int64), np.full((count, 7), np.nan), age
        return self._frame_poses(history.index[name], times_ns)

    def _frame_poses(self, frame: int, times_ns: IntArray) -> tuple[IntArray, FloatArray, IntArray]:
        """Return the parent (n,), pose (n, 7) and age (n,) of a frame that has an edge."""
        history, edge = self.history, self.history.edges[frame]
        local = history.local(frame, times_ns, self.sampling.mode, hold=True)
        parent = np.full(len(times_ns), ABSENT, dtype=np.int64)
        for above in [edge.parents] if isinstance(edge.parents, int) else np.unique(local.parent).tolist():
            if above >= 0:
                parent[local.parent == above] = self._index[history.frames[above]]
        return parent, local.poses, local.age_ns

    def _tops(self) -> list[str]:
        history = self.history
        tops = [name for i, name in enumerate(history.frames) if i not in history.edges]
        # If a carrying link has no pose, its robot is the parent: the joints give the link's pose.
        return [name for name in tops if name not in self._links]

    def _choose_world(self, problems: Diagnostics) -> str:
        world_frame, history = self.sampling.world_frame, self.history
        if world_frame is not None:
            world_frame = frame_name(world_frame)
            called = (
                tf for tf, name in self.recording.world_names.items() if name == world_frame and tf in history.index
            )
            world_frame = next(called, world_frame)
            if world_frame not in history.index:
                raise UnknownNameError("frame", world_frame, history.frames)
            if world_frame in self._links and world_frame not in self._roots:
                raise RequestError(
                    f"'{world_frame}' is a link of a robot; the world frame must be a free frame or a root link"
                )
            if world_frame != self._world and self._world in history.index:
                raise RequestError(f"the recording has a frame '{WORLD}', so no other frame can be the world")
            return world_frame
        if self._world in history.index:
            return self._world
        tops = self._tops()
        if len(tops) <= 1:
            return tops[0] if tops else ""
        # Frames above a robot have priority, then the larger tree.
        sizes = dict.fromkeys(tops, 0)
        for name in history.frames:
            top = self._top_of(name)
            if top in sizes:
                sizes[top] += 1000 if name in self._roots else 1
        best = max(tops, key=lambda top: sizes[top])
        others = quoted((top for top in tops if top != best), 9)
        text = f"the frames are not connected; '{best}' is used as the world; not connected to it: {others}"
        problems.warning("frames-unconnected", text, self.recording.plan.place)
        return best

    def _named_world(self) -> str:
        """Return the TF name of the frame ``world``; ``""`` where only a link has this name."""
        found = next((tf for tf, name in self.recording.world_names.items() if name == WORLD), WORLD)
        return "" if found in self._links else found

    def _top_of(self, name: str) -> str:
        history, frame = self.history, self.history.index[name]
        for _ in range(len(history.frames)):
            if frame not in history.edges:
                break
            edge = history.edges[frame]
            frame = int(edge.parent_at(np.zeros(1, np.int64))[0])
        return history.frames[frame]

    def _turn_over(self) -> dict[str, str]:
        """Return the frames above the world frame with inverted poses: each becomes the child of its former child."""
        history, result = self.history, dict[str, str]()
        frame = history.index.get(self.world_frame, -1)
        while frame in history.edges:
            edge = history.edges[frame]
            if not isinstance(edge.parents, int):
                text = f"the parent of '{history.frames[frame]}' changes, so no frame below it can be the world"
                # The frame called `world` is the world in any case: another choice is refused.
                advice = "" if self.world_frame == self._world else "; leave out --world-frame to use the root"
                raise RequestError(text + advice)
            above = history.frames[edge.parents]
            if above in self._links:
                # The joints give a link's pose: TF need not have the frames between the link and the root link.
                above = self.recording.robots[self._links[above]].root_frame
            if above in result or above == self.world_frame:
                break
            result[above] = history.frames[frame]
            frame = history.index.get(above, -1)
        return result

    def _report(self, problems: Diagnostics) -> None:
        place, history = self.recording.plan.place, self.recording.history
        self._report_standing(problems)
        duplicates = sum(edge.timeline.duplicates for edge in history.edges.values())
        late = sum(edge.timeline.late for edge in history.edges.values())
        if duplicates:
            rule = "the last transform of each stamp is used, as in tf2"
            text = f"tf: {duplicates} transforms repeat an earlier stamp; {rule}"
            problems.warning("duplicate-stamps", text, place)
        if late:
            text = f"tf: {late} transforms came after one with a later stamp; they were sorted"
            problems.warning("late-messages", text, place)

    def _report_standing(self, problems: Diagnostics) -> None:
        """Report virtual joints whose parent frame is not an ancestor of the robot."""
        for number, frame in self._parent_frames.items():
            root = self.roots[number]
            if root.source not in (RootSource.TF, RootSource.ODOMETRY, RootSource.CHOSEN) or root.parent == frame:
                continue
            name, known = self.recording.robots[number].name, self.history.index
            if frame not in known or self._top_of(frame) != self._top_of(root.parent):
                named = self.recording.world_names.get(frame, frame)
                text = (
                    f"'{name}' is recorded in '{root.parent}', which is not connected to '{named}', "
                    "its virtual joint's parent frame"
                )
                problems.warning("root-not-reached", text, self.recording.plan.place)


def _based(model: ModelSeries, parent: IntArray, pose: FloatArray, twist: FloatArray, age: IntArray) -> ModelSeries:
    return replace(model, parent=np.asarray(parent, dtype=np.int64), pose=pose, twist=twist, base_age_ns=age)
