"""One robot of a recording at many times: joints by their types, mimics filled in, links by forward kinematics."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.kinematics.forward import ForwardKinematics
from robot_semantics.model.joint_types import JointType
from robot_semantics.model.robot_model import JointModel, RobotModel
from robot_semantics.recording.base_track import BaseTrack
from robot_semantics.recording.columns import Array
from robot_semantics.recording.joint_history import JointHistory, JointSamples
from robot_semantics.recording.recording import Recording
from robot_semantics.recording.robots import Robot
from robot_semantics.recording.timeline import FloatArray, IntArray, Timeline, bracket
from robot_semantics.state.model_states import ABSENT, ModelSeries, with_links
from robot_semantics.usdf.identity import model_digest


@dataclass(frozen=True)
class _Joint:
    """A joint of the output: its name, and where its variables are among the sampled names and in the output."""

    name: str
    width: int
    speed: int
    inputs: tuple[int, ...]
    model: JointModel | None


class ModelSampler:
    """Samples one robot.

    Attributes:
        robot: whose joints they are.
        base: where its root link is.
    """

    def __init__(self, robot: Robot, recording: Recording, problems: Diagnostics, *, links: bool = False) -> None:
        self.robot = robot
        topics = [robot.joint_topic] if robot.joint_topic else []
        self._history = JointHistory(recording.pieces, topics)
        self.base = BaseTrack(robot, recording.pieces, recording.history)
        self._names: list[str] = []
        self._joints = list(self._chosen(robot.model))
        self._turns = np.array([self._turn(name) for name in self._names], dtype=bool)
        self._multi = {joint.name: _multi_dof(recording, joint) for joint in self._joints if joint.width > 1}
        self._fk = ForwardKinematics(robot.model) if links and robot.model is not None else None
        self._digest = model_digest(robot.model) if robot.model is not None else None
        self.lower, self.upper = self._limits()
        self._report(problems, recording)

    @property
    def stamps_ns(self) -> IntArray:
        """Every stamp of the robot's joint states once, sorted [ns]."""
        return self._history.stamps_ns()

    def _chosen(self, model: RobotModel | None) -> Iterator[_Joint]:
        """Yield the joints of the output: the model's, or without one those that messages name."""
        if model is None:
            for name in sorted(self._history.names):
                yield _Joint(name, 1, 1, (self._input(name),), None)
            return
        for joint in model.joints:
            if joint.position_count and not joint.virtual:
                inputs = tuple(self._input(name) for name in joint.variable_names)
                yield _Joint(joint.name, joint.position_count, joint.velocity_count, inputs, joint)

    def _input(self, name: str) -> int:
        self._names.append(name)
        return len(self._names) - 1

    def _turn(self, name: str) -> bool:
        model = self.robot.model
        return model is not None and name in model.joint_index and model.joint(name).type is JointType.CONTINUOUS

    def _limits(self) -> tuple[FloatArray, FloatArray]:
        lower, upper = [], []
        for joint in self._joints:
            limits = joint.model.limits if joint.model is not None and joint.width == 1 else None
            lower += [limits.lower if limits else -np.inf] * joint.width
            upper += [limits.upper if limits else np.inf] * joint.width
        return np.array(lower), np.array(upper)

    def _report(self, problems: Diagnostics, recording: Recording) -> None:
        place = recording.plan.place
        topic = self.robot.joint_topic
        if self.robot.model is not None:
            for name in self._history.names:
                if name not in self._names and name not in self.robot.model.joint_index:
                    text = f"topic '{topic}' names a joint '{name}' that '{self.robot.name}' does not have"
                    problems.warning("unknown-joint", text, place, name=name, valid=self.robot.model.joint_names)
        if self._history.duplicates:
            count = self._history.duplicates
            text = f"topic '{topic}': {count} messages have a stamp that was there before; the first of each counts"
            problems.warning("duplicate-stamps", text, place)
        if self._history.late:
            count = self._history.late
            text = f"topic '{topic}': {count} messages came after one with a later stamp; they are put in order"
            problems.warning("late-messages", text, place)

    def sample(self, times_ns: IntArray, mode: str) -> ModelSeries:
        """Return the robot at `times_ns` (n,), still without its base."""
        samples = self._history.sample(self._names, times_ns, mode, self._turns)
        count = len(times_ns)
        widths, speeds = (tuple(getattr(joint, name) for joint in self._joints) for name in ("width", "speed"))
        positions = np.full((count, sum(widths)), np.nan)
        velocities, efforts = np.full((count, sum(speeds)), np.nan), np.full((count, sum(speeds)), np.nan)
        ages = np.full((count, len(self._joints)), -1, dtype=np.int64)
        at = speed = 0
        if all(joint.width == 1 for joint in self._joints):
            positions, velocities, efforts, ages = samples
        else:
            for number, joint in enumerate(self._joints):
                where, speed_where = slice(at, at + joint.width), slice(speed, speed + joint.speed)
                self._joint(joint, samples, times_ns, positions[:, where], velocities[:, speed_where], ages[:, number])
                if joint.speed == len(joint.inputs):
                    efforts[:, speed_where] = samples.effort[:, joint.inputs]
                at, speed = where.stop, speed_where.stop
        positions, velocities, ages = self._fill_mimics(positions, velocities, ages)
        series = ModelSeries(
            self.robot.name,
            tuple(joint.name for joint in self._joints),
            widths,
            speeds,
            positions,
            velocities,
            efforts,
            ages,
            np.full(count, ABSENT, dtype=np.int64),
            np.full((count, 7), np.nan),
            np.full((count, 6), np.nan),
            np.full(count, -1, dtype=np.int64),
            self.lower,
            self.upper,
            description=None if self.robot.description is None else str(self.robot.description),
            semantic=None if self.robot.semantic is None else str(self.robot.semantic),
            urdf_sha256=self._digest,
        )
        return series if self._fk is None else with_links(series, self._fk)

    def _joint(
        self,
        joint: _Joint,
        samples: JointSamples,
        times_ns: IntArray,
        positions: FloatArray,
        velocities: FloatArray,
        ages: IntArray,
    ) -> None:
        """Fill one joint's columns, of joint states or, for planar and floating ones, of multi-DOF joint states."""
        positions[:] = samples.position[:, joint.inputs]
        ages[:] = samples.age_ns[:, joint.inputs].max(axis=1)
        if joint.speed == len(joint.inputs):
            velocities[:] = samples.velocity[:, joint.inputs]
        track = self._multi.get(joint.name)
        if track is None or not np.isnan(positions).all():
            return
        pose_line, twist_line = track
        where = bracket(pose_line.stamps_ns, times_ns)
        known = np.flatnonzero(where.before >= 0)
        nearest = np.where(where.share[known] > 0.5, where.after[known], where.before[known])
        values = np.asarray(pose_line.take(nearest), dtype=np.float64)
        if joint.width == 7:
            positions[known] = values
        else:
            positions[known, :2] = values[:, :2]
            positions[known, 2] = 2.0 * np.arctan2(values[:, 5], values[:, 6])
        ages[known] = np.abs(times_ns[known] - pose_line.stamps_ns[nearest])
        if twist_line is not None:
            moving = np.asarray(twist_line.take(nearest), dtype=np.float64)
            velocities[known] = moving if joint.speed == 6 else moving[:, (0, 1, 5)]

    def _fill_mimics(
        self, positions: FloatArray, velocities: FloatArray, ages: IntArray
    ) -> tuple[FloatArray, FloatArray, IntArray]:
        """Return the values with those of mimic joints that no message named, as their leaders give them."""
        column = {joint.name: i for i, joint in enumerate(self._joints)}
        if any(joint.width != 1 for joint in self._joints):
            starts = np.cumsum([0, *(joint.width for joint in self._joints)]).tolist()
            speeds = np.cumsum([0, *(joint.speed for joint in self._joints)]).tolist()
        else:
            starts = speeds = list(range(len(self._joints) + 1))
        for i, joint in enumerate(self._joints):
            mimic = None if joint.model is None else joint.model.mimic
            if mimic is None or mimic.joint not in column or joint.width != 1:
                continue
            leader = column[mimic.joint]
            missing = np.isnan(positions[:, starts[i]])
            if missing.any():
                positions, velocities, ages = (_own(values) for values in (positions, velocities, ages))
                positions[missing, starts[i]] = positions[missing, starts[leader]] * mimic.multiplier + mimic.offset
                velocities[missing, speeds[i]] = velocities[missing, speeds[leader]] * mimic.multiplier
                ages[missing, i] = ages[missing, leader]
        return positions, velocities, ages


def _own(values: Array) -> Array:
    """Return values that may be written into: not the recording's, nor one column seen as many."""
    return values if values.flags.writeable and values.base is None else values.copy()


def _multi_dof(recording: Recording, joint: _Joint) -> tuple[Timeline, Timeline | None] | None:
    """Return the poses and twists that multi-DOF joint states give for a planar or floating joint of the URDF."""
    found = [
        (part, key.names.index(joint.name))
        for key, parts in recording.pieces.items()
        if key.kind == "multi_dof" and joint.name in key.names
        for part in parts
    ]
    if not found:
        return None
    stamps, logs = [part["stamp"] for part, _ in found], [part["log"] for part, _ in found]
    poses = Timeline.merge(stamps, logs, [part["pose"][:, column] for part, column in found])
    if not all("twist" in part for part, _ in found):
        return poses, None
    return poses, Timeline.merge(stamps, logs, [part["twist"][:, column] for part, column in found])
