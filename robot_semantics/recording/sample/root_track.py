# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Source of the pose of a robot's root link in a recording (rule: doc/usdf.md, "Where a robot is")."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.base.names import quoted
from robot_semantics.base.record import record
from robot_semantics.kinematics.forward import kinematics_of
from robot_semantics.kinematics.motions import pose_from_positions, twist_of
from robot_semantics.live.samples import RootCandidate, RootChoice, RootSource, choose_root, possible_robots
from robot_semantics.model.queries import links_fixed_to_root
from robot_semantics.model.robot_model import JointModel
from robot_semantics.recording.bags.columns import Stream
from robot_semantics.recording.read.plan import RecordedRobot
from robot_semantics.recording.read.recording import Recording
from robot_semantics.recording.tracks.history import Edge, PoseTrack, TransformHistory, difference_twists
from robot_semantics.recording.tracks.joints import JointHistory
from robot_semantics.recording.tracks.timeline import Timeline
from robot_semantics.transforms import xyz_quat_from_matrix
from robot_semantics.transforms.arrays import FloatArray, IntArray
from robot_semantics.transforms.rows import IDENTITY_POSE, invert_poses


@record(frozen=True)
class RootTrack:
    """Pose of a robot's root link in a recording.

    Attributes:
        choice: the source that is used.
        track: the poses, if they are not from TF.
        twists: the source of its twists; None: the differences of its poses.
        edge: the poses, if they are from TF of a link that is fixed to the root link.
    """

    choice: RootChoice
    track: PoseTrack | None
    twists: PoseTrack | None
    edge: Edge | None = None

    @property
    def source(self) -> RootSource | None:
        """Kind of the used source."""
        return None if self.choice.chosen is None else self.choice.chosen.source

    @property
    def parent(self) -> str:
        """Parent frame of the root link; ``""`` without a source."""
        return "" if self.choice.chosen is None else self.choice.chosen.parent

    def sample_twists(
        self, edge: Edge, times_ns: IntArray, mode: str, poses: FloatArray, max_gap_ns: int
    ) -> FloatArray:
        """Return the root link's twists (n, 6) relative to its parent, in the parent's axes; NaN if unknown."""
        if self.twists is not None:
            return self.twists.sample_twists(times_ns, mode, poses)
        if edge.static:
            return np.full((len(times_ns), 6), np.nan)
        return difference_twists(edge, times_ns, max_gap_ns)


def find_root(
    robot: RecordedRobot, recording: Recording, joints: JointHistory, tracks: Sequence[PoseTrack], problems: Diagnostics
) -> RootTrack:
    """Return the source of a robot's root link. Report unused sources, or a missing source, to `problems`.

    Args:
        robot: the robot.
        recording: the recording of the robot.
        joints: its joint states.
        tracks: all odometry and multi-DOF joint states of the recording.
        problems: takes warnings.
    """
    candidates = list(_candidates(robot, recording, joints, tracks))
    choice = choose_root(candidate for candidate, _ in candidates)
    track = next((track for candidate, track in candidates if candidate == choice.chosen), None)
    twists = track if track is not None and track.twists is not None else None
    if choice.chosen is not None and twists is None:
        # A source with the same two frames can give their motion.
        twists = next(
            (
                other
                for candidate, other in sorted(candidates, key=lambda item: item[0])
                if other is not None and other.twists is not None and candidate.parent == choice.chosen.parent
            ),
            None,
        )
    place = recording.plan.place
    complaint = choice.complaint(robot.name)
    if complaint is not None and robot.model is not None:
        if choice.chosen is None:
            complaint += "".join(_of_no_link(robot, recording, tracks))
        problems.warning("root-unknown" if choice.chosen is None else "root-sources", complaint, place)
    edge = None
    if choice.chosen is not None and choice.chosen.source is RootSource.TF and track is None:
        edge = _edge_of_fixed_link(robot, recording.history)
    return RootTrack(choice, track, twists, edge)


def _of_no_link(robot: RecordedRobot, recording: Recording, tracks: Sequence[PoseTrack]) -> Iterator[str]:
    """Yield the child frames of a robot's odometry, and those of TF like its base, that are not its root link."""
    frames: dict[str, str] = {}
    for track in tracks:
        child = recording.names.of(track.topic, track.name)
        if (
            track.kind == Stream.ODOMETRY
            and child
            and (track.owner == robot.namespace or track.topic == robot.odometry)
        ):
            frames[child] = f"'{track.topic}' has '{child}'"
        possible = () if track.kind is not Stream.ODOMETRY or child else _possible(recording, track)
        if len(possible) > 1 and robot in possible:
            names = quoted((other.name for other in possible), MOST_NAMED)
            option = f"--odometry NAME={shlex.quote(track.topic)}"
            yield f"; '{track.topic}' names no child frame and may be of {names}, so it is not used; give {option}"
    history = recording.history
    carriers = {int(above) for edge in history.edges.values() for above in np.unique(edge.parents)}
    for index, edge in history.edges.items():
        # The base moves, and TF has nothing on it, or links.
        child = history.frames[index]
        if child not in robot.link_frames and not edge.static and (index not in carriers or _like_base(robot, child)):
            frames.setdefault(child, f"TF has '{child}'")
    for child, text in list(frames.items())[:MOST_NAMED]:
        option = _base_option(robot, child)
        if option:
            yield f"; {text}, which is not fixed to its root link '{robot.root_frame}'; if it is, give {option}"
        else:
            yield f"; {text}, {_moving_link(robot, child)}"


MOST_NAMED = 5
"""Limit of the frames that a warning names."""


def _like_link(robot: RecordedRobot, frame: str) -> str:
    """Return the longest frame of a link that is another frame, or the end of its name; "" if none."""
    return max((link for link in robot.link_frames if frame.endswith(link)), key=len, default="")


def _like_base(robot: RecordedRobot, frame: str) -> str:
    """Return the frame of a link fixed to the root link that is the end of another frame's name; "" if none."""
    link = _like_link(robot, frame)
    return link if link != frame and link in _links_fixed_to_root(robot) else ""


def _base_option(robot: RecordedRobot, frame: str) -> str:
    """Return the option that makes a frame the base; "" for one that has the name of a link that moves."""
    like = _like_base(robot, frame)
    if like:
        return f"--frame-prefix {shlex.quote(frame.removesuffix(like))}"
    return "" if _like_link(robot, frame) else f"--base-frame {shlex.quote(frame)}"


def _moving_link(robot: RecordedRobot, frame: str) -> str:
    link = _like_link(robot, frame)
    called = "" if link == frame else f"like the link '{link}', "
    return f"{called}which moves against the root link '{robot.root_frame}', so it is not used"


def _candidates(
    robot: RecordedRobot, recording: Recording, joints: JointHistory, tracks: Sequence[PoseTrack]
) -> Iterator[tuple[RootCandidate, PoseTrack | None]]:
    virtual = _virtual_joint(robot)
    for track in tracks:
        if track.kind == Stream.MULTI_DOF:
            yield from _multi_dof_candidate(robot, recording, track)
        else:
            yield from _odometry_candidate(robot, recording, track)
    if virtual is not None and virtual.position_count:
        from_joints = _joint_track(robot, joints)
        if from_joints is not None:
            yield RootCandidate(RootSource.VIRTUAL_JOINT, from_joints.topic, robot.parent_frame), from_joints
    parent_in_tf = _last_parent(recording.history, robot.root_frame)
    edge = _edge_of_fixed_link(robot, recording.history) if parent_in_tf is None else None
    if edge is not None:
        parent_in_tf = recording.history.frames[int(edge.parent_at(np.array([len(edge.timeline) - 1]))[0])]
    if parent_in_tf is not None:
        yield RootCandidate(RootSource.TF, "tf", parent_in_tf), None
    if virtual is not None and not virtual.position_count:
        yield RootCandidate(RootSource.FIXED, virtual.name, robot.parent_frame), None


def _multi_dof_candidate(
    robot: RecordedRobot, recording: Recording, track: PoseTrack
) -> Iterator[tuple[RootCandidate, PoseTrack]]:
    """Yield the values of the virtual joint, by its name, or by that of the root link or the model."""
    names, virtual = recording.names, _virtual_joint(robot)
    of_joint = set() if virtual is None else {virtual.name}
    called = {robot.root_frame, robot.name} | of_joint
    inside = track.owner == robot.namespace
    if inside and (track.name in of_joint or names.of(track.topic, track.name) in called):
        parent = names.of(track.topic, track.parent) if track.parent else robot.parent_frame
        yield RootCandidate(RootSource.VIRTUAL_JOINT, track.topic, parent), track


def _odometry_candidate(
    robot: RecordedRobot, recording: Recording, track: PoseTrack
) -> Iterator[tuple[RootCandidate, PoseTrack]]:
    """Yield odometry of the root link or of a link that is fixed to it, as odometry of the root link."""
    names, fixed_links = recording.names, _links_fixed_to_root(robot)
    inside, is_chosen = track.owner == robot.namespace, track.topic == robot.odometry
    child = names.of(track.topic, track.name)
    if not child and _possible(recording, track) == [robot]:
        # Drivers leave out the name of the base.
        child = robot.root_frame
    if child in fixed_links and (inside or robot.prefix or is_chosen):
        parent = names.of(track.topic, track.parent) if track.parent else robot.parent_frame
        source = RootSource.CHOSEN if is_chosen else RootSource.ODOMETRY
        moved = track if child == robot.root_frame else track.moved(fixed_links[child])
        yield RootCandidate(source, track.topic, parent), moved


def _possible(recording: Recording, track: PoseTrack) -> list[RecordedRobot]:
    """Return the robots of which odometry without a child frame may be; it moves the only one."""
    readers = _readers(recording, track)
    parents = [robot.parent_frame for robot in readers]
    return [readers[number] for number in possible_robots(recording.names.of(track.topic, track.parent), parents)]


def _readers(recording: Recording, track: PoseTrack) -> list[RecordedRobot]:
    """Return the robots that read a topic of odometry: those that options give it to, else those of its namespace."""
    given = [robot for robot in recording.robots if robot.odometry == track.topic]
    return given or [robot for robot in recording.robots if robot.namespace == track.owner and robot.odometry is None]


def _virtual_joint(robot: RecordedRobot) -> JointModel | None:
    return robot.model.root_joint if robot.model is not None and robot.model.has_virtual_joint else None


def _last_parent(history: TransformHistory, frame: str) -> str | None:
    """Return the last parent of a frame in TF, None if TF does not have the frame."""
    edge = history.edges.get(history.index.get(frame, -1))
    return None if edge is None else history.frames[int(edge.parent_at(np.array([len(edge.timeline) - 1]))[0])]


def _edge_of_fixed_link(robot: RecordedRobot, history: TransformHistory) -> Edge | None:
    """Return TF of the root link by the first link that is fixed to it and has a parent outside of the robot.

    None if TF has the root link, or no such link.
    """
    if history.index.get(robot.root_frame) in history.edges:
        return None
    for frame, T_link_root in _links_fixed_to_root(robot).items():
        edge = history.edges.get(history.index.get(frame, -1))
        if edge is not None:
            parents = np.unique(edge.parent_at(np.arange(len(edge.timeline))))
            if not any(history.frames[parent] in robot.link_frames for parent in parents.tolist()):
                return replace(edge, offset=T_link_root)
    return None


def _links_fixed_to_root(robot: RecordedRobot) -> dict[str, FloatArray]:
    """Return T_link_root (7,) of the root link and all links that are fixed to it, by the names of their frames."""
    model = robot.model
    fixed = () if model is None else links_fixed_to_root(model)[1:]
    pose_of = {robot.root_frame: np.array(IDENTITY_POSE)}
    if model is not None and fixed:
        kinematics = kinematics_of(model)
        T_root_link = xyz_quat_from_matrix(kinematics.link_poses(kinematics.space.neutral()))
        backs = invert_poses(T_root_link[[model.link_index[link] for link in fixed]])
        pose_of |= zip((robot.frame_of_link[link] for link in fixed), backs, strict=True)
    return pose_of


def _joint_track(robot: RecordedRobot, joints: JointHistory) -> PoseTrack | None:
    """Return the virtual joint's values in the joint states, as poses of the root link."""
    assert robot.model is not None
    joint = robot.model.root_joint
    if not set(joint.variable_names) <= set(joints.names):
        return None
    stamps = joints.stamps_of(joint.variable_names[0])
    values = joints.sample(joint.variable_names, stamps, "previous")
    known = np.isfinite(values.position).all(axis=1)
    stamps, positions = stamps[known], values.position[known]
    if not len(stamps):
        return None
    twists = None
    rates = values.velocity[known]
    if joint.velocity_count == len(joint.variable_names) and np.isfinite(rates).any():
        moving = np.isfinite(rates).all(axis=1)
        twists = _timeline(stamps[moving], twist_of(joint, rates[moving]))
    poses = pose_from_positions(joint, positions)
    return PoseTrack(
        joints.topic_of(joint.variable_names[0]), joint.name, robot.parent_frame, _timeline(stamps, poses), twists
    )


def _timeline(stamps: IntArray, values: FloatArray) -> Timeline:
    return Timeline.merge([stamps], [np.arange(len(stamps))], [values])


def with_roots(
    recording: Recording, roots: Sequence[RootTrack], tracks: Sequence[PoseTrack], problems: Diagnostics
) -> TransformHistory:
    """Return the transforms with the robots' root links from their tracks, and with odometry of other frames."""
    history = recording.history
    index = dict(history.index)
    edges = dict(history.edges)

    def add_track(parent: str, child: str, track: PoseTrack) -> None:
        above, below = index.setdefault(parent, len(index)), index.setdefault(child, len(index))
        edges[below] = Edge(below, False, track.poses, above, track.offset)

    for robot, root in zip(recording.robots, roots, strict=True):
        if root.edge is not None:
            above = index.setdefault(robot.root_frame, len(index))
            edges[above] = replace(root.edge, child=above)
        elif root.track is not None and root.parent and root.parent != robot.root_frame:
            add_track(root.parent, robot.root_frame, root.track)
    links = {frame for robot in recording.robots for frame in robot.link_frames}
    track_of: dict[str, PoseTrack] = {}
    for track in tracks:
        parent, child = (recording.names.of(track.topic, name) for name in (track.parent, track.name))
        if track.kind != Stream.ODOMETRY or not parent or not child or parent == child:
            continue
        _warn_of_unexplained(f"'{track.topic}'", child, track.owner, recording, roots, problems)
        if history.index.get(child) in history.edges or child in links:
            continue
        if child in track_of:
            text = f"frame '{child}' is taken from topic '{track_of[child].topic}'; ignored: '{track.topic}'"
            problems.warning("frame-sources", text, recording.plan.place)
            continue
        track_of[child] = track
        add_track(parent, child, track)
    for child_index, edge in history.edges.items():
        if not edge.static:
            _warn_of_unexplained("TF", history.frames[child_index], None, recording, roots, problems)
    return TransformHistory(index, edges)


def _warn_of_unexplained(
    source: str,
    child: str,
    owner: str | None,
    recording: Recording,
    roots: Sequence[RootTrack],
    problems: Diagnostics,
) -> None:
    """Name a frame that may be the base. A robot without a source has its own warning, which names it.

    Args:
        source: the topic of odometry, or TF.
        child: the frame.
        owner: the namespace of the topic; None for TF, where only frames named like a base are reported.
        recording: the recording.
        roots: the sources of its robots.
        problems: takes the warning.
    """
    robots = [
        (robot, root)
        for robot, root in zip(recording.robots, roots, strict=True)
        if robot.model is not None and owner in (None, robot.namespace)
    ]
    of_links = {frame: robot for robot, _ in robots for frame in robot.link_frames}
    if not robots or any(root.choice.chosen is None for _, root in robots):
        return
    if child in of_links:
        robot = of_links[child]
        if owner is not None and child not in _links_fixed_to_root(robot):
            text = f"{source} has '{child}', {_moving_link(robot, child)}"
            problems.warning("odometry-frame", text, recording.plan.place)
        return
    like = next((robot for robot, _ in robots if _like_base(robot, child)), None)
    is_link = any(child in robot.link_frames for robot in recording.robots)
    if is_link or (owner is None and like is None):
        return
    text = f"{source} has '{child}', which is not a link of a robot; it is a frame of the world"
    option = _base_option(like or robots[0][0], child)
    hint = f"; if it is the base, give {option}" if option else ""
    problems.warning("odometry-frame", f"{text}{hint}", recording.plan.place)
