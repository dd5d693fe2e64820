# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""One robot of a recording at many times: joints by their types, mimics filled in, links by forward kinematics."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from robot_semantics.base.diagnostic import SourcePlace
from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.base.names import quoted
from robot_semantics.base.record import record
from robot_semantics.kinematics.forward import kinematics_of
from robot_semantics.kinematics.joint_space import JointSpace, MimicMap, followings
from robot_semantics.kinematics.loop_equations import IndexArray, LoopSolution
from robot_semantics.kinematics.loop_freedom import LoopError
from robot_semantics.kinematics.loops import ClosedLoops
from robot_semantics.kinematics.motions import PositionBlend, UnusablePose, joint_motion
from robot_semantics.kinematics.observe import JointObserver
from robot_semantics.live.joint_state import Fault
from robot_semantics.live.model_series import ModelSeries, with_links
from robot_semantics.model.joint_types import MOTION, JointType
from robot_semantics.model.robot_model import MIMIC_TOLERANCE, JointModel, RobotModel
from robot_semantics.recording.bags.columns import Array, Pieces, Stream
from robot_semantics.recording.read.plan import RecordedRobot
from robot_semantics.recording.read.recording import Recording
from robot_semantics.recording.tracks.history import PoseTrack, TransformHistory
from robot_semantics.recording.tracks.joints import JointHistory, JointSamples, robot_joint_states
from robot_semantics.transforms import matrix_from_pose, wrapped_angles
from robot_semantics.transforms.arrays import BoolArray, FloatArray, IntArray
from robot_semantics.transforms.rows import IDENTITY_POSE, compose_poses, invert_poses
from robot_semantics.usdf.identity import model_digest
from robot_semantics.usdf.recover import RESIDUAL_TOLERANCE, leader_position, sighting

# Closed loops of a sampled robot: the passive joints follow from the driven ones along the series.


class LoopColumns:
    """The columns of a robot's series that belong to closed loops."""

    def __init__(self, loops: ClosedLoops, problems: Diagnostics, place: SourcePlace) -> None:
        self._loops, self._problems, self._place = loops, problems, place
        space = loops.space
        self._driven = [name for freedom in loops.freedoms for name in freedom.driven]
        followers = [
            joint.name for joint, leader, _ in followings(space.model) if leader.name in (*loops.dependent, *loops.held)
        ]
        self._solved = [*loops.dependent, *loops.held, *followers]
        self._last: FloatArray | None = None
        self._reported: set[str] = set()

    @classmethod
    def of(cls, model: RobotModel | None, problems: Diagnostics, place: SourcePlace) -> LoopColumns | None:
        """Return the columns of a robot; None without loops, or with a warning if its passive joints do not fit."""
        if model is None or not model.constraints:
            return None
        try:
            loops = ClosedLoops.of(model)
        except LoopError as error:
            problems.warning(error.freedoms[0].code or "loop-open", f"loops stay open: {error}", place)
            return None
        return None if loops is None else cls(loops, problems, place)

    def close(self, series: ModelSeries) -> None:
        """Fill the passive joints of `series` at all times at which the driven joints are known."""
        space = self._loops.space
        spans = {name: (where, rates) for name, where, rates in series.spans}
        q = np.tile(space.neutral(), (len(series.positions), 1))
        v = np.full((len(q), space.velocity_size), np.nan)
        for name, (where, rates) in spans.items():
            q[:, space.joint_positions[name]] = series.positions[:, where]
            v[:, space.joint_velocities[name]] = series.velocities[:, rates]
        inputs = np.concatenate([np.arange(q.shape[1])[space.joint_positions[name]] for name in self._driven])
        rows = np.flatnonzero(np.isfinite(q[:, inputs]).all(axis=1))
        if not rows.size:
            return
        measured = q[rows]
        known = np.where(np.isfinite(measured), measured, space.neutral())
        if self._last is None:
            stated = [joint.name for joint in space.joints if np.isfinite(measured[0, space.positions_of(joint)]).all()]
            first = self._loops.near(known[0], stated)
            self._last = first.q if first.closed else self._loops.home.q[0]
        solution = self._loops.close_series(known, self._last)
        self._last = solution.q[-1]
        self._report(measured, solution)
        speeds, determined = self._loops.velocities(solution.q, np.nan_to_num(v[rows]))
        rates_known = np.isfinite(v[rows])[:, np.concatenate([self._rates(name) for name in self._driven])].all(axis=1)
        ages = series.joint_age_ns[rows][:, [series.joints.index(name) for name in self._driven]].max(axis=1)
        for name in (*self._driven, *self._solved):
            series.positions[:, spans[name][0]][rows] = solution.q[:, space.joint_positions[name]]
        for name in self._solved:
            own = space.joint_velocities[name]
            fine = determined[:, own] & (rates_known & solution.closed)[:, np.newaxis]
            series.velocities[:, spans[name][1]][rows] = np.where(fine, speeds[:, own], np.nan)
            series.joint_age_ns[rows, series.joints.index(name)] = ages

    def _rates(self, name: str) -> IndexArray:
        return np.arange(self._loops.space.velocity_size)[self._loops.space.joint_velocities[name]]

    def _report(self, measured: FloatArray, solution: LoopSolution) -> None:
        """Warn about loops that do not close, and about measured passive joints elsewhere; each kind once."""
        is_open = ~solution.closed
        if is_open.any() and "open" not in self._reported:
            self._reported.add("open")
            text = (
                f"{self._loops.title} do not close at {int(is_open.sum())} times; they stay open by up to "
                f"{solution.rows(np.flatnonzero(is_open)).gap}, and their joints keep the last positions at which they"
                " close"
            )
            self._problems.warning("loop-open", text, self._place)
        space = self._loops.space
        for name in self._loops.dependent:
            joint, where = space.model.joint(name), space.joint_positions[name]
            if joint.position_count != 1 or name in self._reported:
                continue
            off = measured[:, where] - solution.q[:, where]
            worst = float(np.nanmax(np.abs(wrapped_angles(off) if joint.motion.wraps else off), initial=0.0))
            if worst > MIMIC_TOLERANCE:
                self._reported.add(name)
                text = f"passive joint '{name}' was measured up to {worst:.3g} away from its place in the closed loop"
                self._problems.warning("loop-disagrees", f"{text}; the closed position is used", self._place)


PLANE_TOLERANCE = 1e-6
"""How far a planar joint's recorded poses may lie outside its plane without a word [m, rad]."""


@record(frozen=True)
class _SampledJoint:
    """A joint of the output: its name, and the columns of its variables in the samples and in the output."""

    name: str
    width: int
    speed: int
    inputs: tuple[int, ...]
    model: JointModel | None


class ModelSampler:
    """Samples one robot.

    Attributes:
        robot: the robot with the joints.
        joints: its joint states.
    """

    def __init__(
        self,
        robot: RecordedRobot,
        recording: Recording,
        tracks: Sequence[PoseTrack],
        problems: Diagnostics,
        *,
        links: bool = False,
    ) -> None:
        self.robot, self._problems, self._place = robot, problems, recording.plan.place
        states = self._joint_states(recording)
        self.joints = JointHistory(states, robot.joint_topics)
        self._names: list[str] = []
        self._joints = list(self._chosen(robot.model))
        motions = (MOTION[JointType.REVOLUTE] if joint.model is None else joint.model.motion for joint in self._joints)
        self._blend = PositionBlend(motions).with_counted_turns(
            lambda variable: self.joints.counts_turns(self._names[variable])
        )
        own = [track for track in tracks if track.kind == Stream.MULTI_DOF and track.owner == robot.namespace]
        self._multi_dof = {
            joint.name: _only([track for track in own if track.name == joint.name], problems, self._place)
            for joint in self._joints
            if joint.width > 1
        }
        self._mimics = None if robot.model is None else self._mimic_maps(robot.model)
        self._loops = LoopColumns.of(robot.model, problems, self._place)
        self._links = LinkJoints(robot, recording.history, self._named(), problems, self._place)
        self._reported_joints: set[str] = set()
        self._fk = kinematics_of(robot.model) if links and robot.model is not None else None
        self._digest = model_digest(robot.model) if robot.model is not None else None
        self.lower, self.upper = self._limits()
        self._report(problems)

    def _joint_states(self, recording: Recording) -> Pieces:
        """Return the recording's joint states by the rules of this robot."""
        robot = self.robot
        if robot.model is None:
            return recording.pieces

        def report(topic: str, fault: Fault) -> None:
            text = f"topic '{topic}': {len(fault.messages)} messages: {fault.refusal.message}"
            self._problems.warning("value-refused", text, recording.plan.places[topic])

        return robot_joint_states(
            recording.pieces, robot.joint_topics, robot.model, recording.plan.options.invalid, report
        )

    @property
    def stamps_ns(self) -> IntArray:
        """Every stamp of the robot's joint states once, sorted [ns]."""
        return self.joints.stamps_ns()

    def _named(self) -> set[str]:
        """Return the joints of the output that a message has."""
        return {
            joint.name
            for joint in self._joints
            if self._multi_dof.get(joint.name) is not None
            or any(self._names[at] in self.joints.names for at in joint.inputs)
        }

    def _chosen(self, model: RobotModel | None) -> Iterator[_SampledJoint]:
        """Yield the joints of the output: the model's joints, or without a model the joints of the messages."""
        if model is None:
            for name in sorted(self.joints.names):
                yield _SampledJoint(name, 1, 1, (self._input(name),), None)
            return
        for joint in model.joints:
            if joint.position_count and not joint.virtual:
                inputs = tuple(self._input(name) for name in joint.variable_names)
                yield _SampledJoint(joint.name, joint.position_count, joint.velocity_count, inputs, joint)

    def _mimic_maps(self, model: RobotModel) -> tuple[MimicMap, MimicMap]:
        """Return the mimic maps of the columns of the positions and of the velocities."""
        positions: dict[int, slice] = {}
        velocities: dict[int, slice] = {}
        at = rate_at = 0
        for joint in self._joints:
            assert joint.model is not None
            index = joint.model.index
            positions[index], velocities[index] = slice(at, at + joint.width), slice(rate_at, rate_at + joint.speed)
            at, rate_at = at + joint.width, rate_at + joint.speed
        return MimicMap.of_positions(model, positions), MimicMap.of_velocities(model, velocities)

    def _input(self, name: str) -> int:
        self._names.append(name)
        return len(self._names) - 1

    def _limits(self) -> tuple[FloatArray, FloatArray]:
        lower, upper = [], []
        for joint in self._joints:
            limits = joint.model.limits if joint.model is not None and joint.width == 1 else None
            lower += [limits.lower if limits else -np.inf] * joint.width
            upper += [limits.upper if limits else np.inf] * joint.width
        return np.array(lower), np.array(upper)

    def _report(self, problems: Diagnostics) -> None:
        robot, place = self.robot, self._place
        topics = quoted(robot.joint_topics)
        if robot.model is not None:
            root = robot.model.root_joint.variable_names if robot.model.has_virtual_joint else ()
            for name in self.joints.names:
                if name not in self._names and name not in robot.model.joint_index and name not in root:
                    text = f"topic {topics} names a joint '{name}' that '{robot.name}' does not have"
                    problems.warning("unknown-joint", text, place, name=name, valid=robot.model.joint_names)
        for name, others in self.joints.rivals.items():
            text = f"joint '{name}' is taken from topic '{self.joints.topic_of(name)}'; ignored: {quoted(others)}"
            problems.warning("joint-sources", text, place)
        if self.joints.duplicates:
            count = self.joints.duplicates
            text = f"topic {topics}: {count} messages repeat an earlier stamp; the last message of each stamp is used"
            problems.warning("duplicate-stamps", text, place)
        if self.joints.late:
            count = self.joints.late
            text = f"topic {topics}: {count} messages came after one with a later stamp; they were sorted"
            problems.warning("late-messages", text, place)

    def sample(self, times_ns: IntArray, mode: str) -> ModelSeries:
        """Return the robot at `times_ns` (n,), without the pose of its root link."""
        samples = self.joints.sample(self._names, times_ns, mode, self._blend)
        names, widths, speeds = (
            tuple(getattr(item, key) for item in self._joints) for key in ("name", "width", "speed")
        )
        series = ModelSeries.unknown(self.robot.name, names, widths, speeds, len(times_ns))
        if all(width == 1 for width in widths):
            values: tuple[Array, ...] = samples
        else:
            for number, (joint, (_, where, rates)) in enumerate(zip(self._joints, series.spans, strict=True)):
                into = series.positions[:, where], series.velocities[:, rates], series.joint_age_ns[:, number]
                self._joint(joint, samples, times_ns, mode, *into)
                if joint.speed == len(joint.inputs):
                    series.efforts[:, rates] = samples.effort[:, joint.inputs]
            values = series.positions, series.velocities, series.efforts, series.joint_age_ns
        positions, velocities, efforts, ages = values
        series = replace(
            series,
            positions=positions,
            velocities=velocities,
            efforts=efforts,
            joint_age_ns=ages,
            lower=self.lower,
            upper=self.upper,
            description=None if self.robot.description is None else str(self.robot.description),
            semantic=None if self.robot.semantic is None else str(self.robot.semantic),
            urdf_sha256=self._digest,
        )
        self._links.fill(series, times_ns, mode)
        self._fill_mimics(series)
        if self._loops is not None:
            self._loops.close(series)
        return series if self._fk is None else with_links(series, self._fk)

    def _joint(
        self,
        joint: _SampledJoint,
        samples: JointSamples,
        times_ns: IntArray,
        mode: str,
        positions: FloatArray,
        velocities: FloatArray,
        ages: IntArray,
    ) -> None:
        """Fill one joint's columns from joint states, or for planar and floating joints from multi-DOF joint states."""
        positions[:] = samples.position[:, joint.inputs]
        ages[:] = samples.age_ns[:, joint.inputs].max(axis=1)
        if joint.speed == len(joint.inputs):
            velocities[:] = samples.velocity[:, joint.inputs]
        track = self._multi_dof.get(joint.name)
        if track is None or joint.model is None or not np.isnan(positions).all():
            return
        poses, ages[:] = track.sample_poses(times_ns, mode)
        twists = track.sample_twists(times_ns, mode, poses)
        if joint.model.motion.has_quaternion:
            positions[:], velocities[:] = poses, twists
            return
        lost_m = lost_rad = 0.0
        for row in np.flatnonzero(np.isfinite(poses).all(axis=1)).tolist():
            motion = joint_motion(joint.model, poses[row], twists[row])
            if isinstance(motion, UnusablePose):
                continue
            positions[row] = motion.positions
            if motion.velocities is not None:
                velocities[row] = motion.velocities
            lost_m, lost_rad = max(lost_m, motion.lost_m), max(lost_rad, motion.lost_rad)
        if max(lost_m, lost_rad) > PLANE_TOLERANCE and joint.name not in self._reported_joints:
            self._reported_joints.add(joint.name)
            text = (
                f"planar joint '{joint.name}' leaves its plane by {lost_m:.3g} m and {lost_rad:.3g} rad, which is lost"
            )
            self._problems.warning("out-of-plane", text, self._place)

    def _fill_mimics(self, series: ModelSeries) -> None:
        """Compute the values of mimic joints that no message named from their leaders."""
        if self._mimics is None:
            return
        mimics, velocity_mimics = self._mimics
        followed, rates = mimics.followed(series.positions), velocity_mimics.followed(series.velocities)
        numbers = np.repeat(np.arange(len(series.widths)), series.widths)
        leader_of = {numbers[at]: numbers[mimics.source[at]] for at in mimics.followers}
        for number, (_, where, speeds) in enumerate(series.spans):
            if number in leader_of:
                missing = np.isnan(series.positions[:, where]).any(axis=1)
                series.positions[missing, where] = followed[missing, where]
                series.velocities[missing, speeds] = rates[missing, speeds]
                series.joint_age_ns[missing, number] = series.joint_age_ns[missing, leader_of[number]]


def _only(tracks: Sequence[PoseTrack], problems: Diagnostics, place: SourcePlace) -> PoseTrack | None:
    """Return the first of a joint's tracks, in the order of their topics; report the others."""
    if len(tracks) > 1:
        listed = ", ".join(f"'{track.topic}' in '{track.parent}'" for track in tracks[1:])
        text = f"joint '{tracks[0].name}' is taken from topic '{tracks[0].topic}'; ignored: {listed}"
        problems.warning("joint-sources", text, place)
    return tracks[0] if tracks else None


# Joints that no message has: their positions follow from the transforms of their links.


class _FrameInTop(NamedTuple):
    """Poses (n, 7) of a frame in one above it, and their ages (n,)."""

    top: int
    poses: FloatArray
    age_ns: IntArray


class LinkJoints:
    """The joints of one robot whose positions follow from the transforms of their links.

    A joint that a message names at any time is not among them. A mimic joint whose leader is named, and a passive
    joint of a loop whose motors are named, follow from these.
    """

    def __init__(
        self,
        robot: RecordedRobot,
        history: TransformHistory,
        named: Collection[str],
        problems: Diagnostics,
        place: SourcePlace,
    ) -> None:
        """`named` are the joints with messages."""
        self._robot, self._history, self._problems, self._place = robot, history, problems, place
        self._names = tuple(self._chosen(named))
        self._observer = None if robot.model is None else JointObserver(robot.model, self._names)
        self._space = None if robot.model is None else JointSpace.of(robot.model)
        self._followers = {} if robot.model is None else self._observed_followers(robot.model, named)
        self._is_reported = False
        self._refused: set[str] = set()

    def _chosen(self, named: Collection[str]) -> list[str]:
        model, index = self._robot.model, self._history.index
        if model is None:
            return []
        without = {joint.name for joint, leader, _ in followings(model) if leader.name in named}
        if model.constraints:
            freedoms = ClosedLoops(model).freedoms
            without.update(
                name for freedom in freedoms if set(freedom.driven) & set(named) for name in freedom.dependent
            )
        frame = self._robot.frame_of_link
        return [
            joint.name
            for joint in model.joints[1:]
            if joint.position_count
            and joint.name not in named
            and joint.name not in without
            and index.get(frame[joint.child_link], -1) in self._history.edges
            and frame[joint.parent_link] in index
        ]

    def _observed_followers(self, model: RobotModel, named: Collection[str]) -> dict[str, list[JointModel]]:
        """Return the observed followers of each leader that no message has."""
        found: dict[str, list[JointModel]] = {}
        for joint, leader, _ in followings(model):
            if joint.name in self._names and not leader.virtual and leader.name not in named:
                found.setdefault(leader.name, []).append(joint)
        return found

    def fill(self, series: ModelSeries, times_ns: IntArray, mode: str) -> None:
        """Fill the positions and ages of these joints in `series`, where their links are measured."""
        model, frame, index = self._robot.model, self._robot.frame_of_link, self._history.index
        if model is None or self._observer is None or not self._names:
            return
        spans = {name: (columns, number) for number, (name, columns, _) in enumerate(series.spans)}
        T = np.tile(np.eye(4), (len(times_ns), len(self._names), 1, 1))
        ages = np.zeros((len(times_ns), len(self._names)), np.int64)
        for column, joint in enumerate(self._observer.joints):
            poses, ages[:, column] = self._between(
                index[frame[joint.parent_link]], index[frame[joint.child_link]], times_ns, mode
            )
            known = np.isfinite(poses).all(axis=1)
            T[known, column] = matrix_from_pose(poses[known])
            ages[~known, column] = -1
        observation = self._observer.observe(T)
        deviations = np.maximum(observation.distance, observation.angle)
        joint_names: list[str] = []
        fitting: dict[str, BoolArray] = {}
        for column, joint in enumerate(self._observer.joints):
            columns, number = spans[joint.name]
            measured = ages[:, column] >= 0
            fits = fitting[joint.name] = measured & (deviations[:, column] <= RESIDUAL_TOLERANCE)
            series.positions[fits, columns] = observation.q[fits, self._observer.space.positions_of(joint)]
            series.joint_age_ns[fits, number] = ages[fits, column]
            if fits.any():
                joint_names.append(joint.name)
            if (measured & ~fits).any():
                worst = f"they are up to {deviations[measured, column].max():.3g} m or rad off"
                self._refuse(joint.name, f"joint '{joint.name}' cannot bring its links to their transforms: {worst}")
        for name, followers in self._followers.items():
            rows = np.any([fitting[joint.name] for joint in followers], axis=0)
            if name in fitting:
                rows &= fitting[name] | (ages[:, self._names.index(name)] < 0)
            if self._lead(series, model.joint(name), followers, fitting, rows) and name not in joint_names:
                joint_names.append(name)
        if joint_names and not self._is_reported:
            self._is_reported = True
            names = quoted(joint_names, 9)
            text = f"'{self._robot.name}': no message has {names}; the positions follow from the links in tf"
            self._problems.note("derived-joints", text, self._place)

    def _lead(
        self,
        series: ModelSeries,
        leader: JointModel,
        followers: Sequence[JointModel],
        fits: Mapping[str, BoolArray],
        rows: BoolArray,
    ) -> bool:
        """Fill a leader's positions at `rows` from its link and the observed followers; return whether there are some.

        Where they disagree, none of them is known. The followers then follow their leader.
        """
        space = self._space
        assert space is not None
        spans = {name: (where, number) for number, (name, where, _) in enumerate(series.spans)}
        span, number = spans[leader.name]
        members = [joint for joint in (leader, *followers) if joint.name in fits]
        q, worst, filled = np.zeros(space.size), 0.0, False
        for row in np.flatnonzero(rows).tolist():
            group = [joint for joint in members if fits[joint.name][row]]
            for joint in group:
                q[space.positions_of(joint)] = series.positions[row, spans[joint.name][0]]
            if leader.motion.has_quaternion:
                group = group[:1]
            leader_positions = [
                leader_position(
                    [sighting(space, joint, leader, at, q, observed=True) for joint in group], RESIDUAL_TOLERANCE
                )
                for at in range(leader.position_count)
            ]
            residual = max(item.residual for item in leader_positions)
            ages = [int(series.joint_age_ns[row, spans[joint.name][1]]) for joint in group]
            for joint in members:
                series.positions[row, spans[joint.name][0]] = np.nan
                series.joint_age_ns[row, spans[joint.name][1]] = -1
            if residual <= RESIDUAL_TOLERANCE:
                series.positions[row, span] = [item.value for item in leader_positions]
                series.joint_age_ns[row, number] = max(ages)
                filled = True
            else:
                worst = max(worst, residual)
        if worst:
            text = f"joint '{leader.name}' and its mimic joints disagree by up to {worst:.3g} m or rad, by their links"
            self._refuse(leader.name, text)
        return filled

    def _refuse(self, name: str, text: str) -> None:
        if name not in self._refused:
            self._refused.add(name)
            self._problems.warning("underivable-joint", text, self._place)

    def _between(self, parent: int, child: int, times_ns: IntArray, mode: str) -> tuple[FloatArray, IntArray]:
        """Return T_parent_child (n, 7), NaN where it is unknown, and ages (n,)."""
        down = self._climb(child, parent, times_ns, mode)
        if down.top == parent:
            return down.poses, down.age_ns
        up = self._climb(parent, -1, times_ns, mode)
        if up.top != down.top:
            return np.full((len(times_ns), 7), np.nan), down.age_ns
        return compose_poses(invert_poses(up.poses), down.poses), np.maximum(up.age_ns, down.age_ns)

    def _climb(self, frame: int, until: int, times_ns: IntArray, mode: str) -> _FrameInTop:
        """Return a frame in the frame `until`, or in the top of its tree; a parent that changes ends the way."""
        poses = np.tile(np.array(IDENTITY_POSE), (len(times_ns), 1))
        age_ns, seen = np.zeros(len(times_ns), np.int64), set[int]()
        while frame != until and frame in self._history.edges and frame not in seen:
            seen.add(frame)
            parents = self._history.edges[frame].parents
            if not isinstance(parents, int):
                break
            local = self._history.local(frame, times_ns, mode, hold=True)
            poses = compose_poses(local.poses, poses)
            age_ns = np.maximum(age_ns, np.where(local.parent >= 0, local.age_ns, 0))
            frame = parents
        return _FrameInTop(frame, poses, age_ns)
