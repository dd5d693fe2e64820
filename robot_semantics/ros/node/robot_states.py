# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The newest states of the node's robots, read at one moment, and restored."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Sequence
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from robot_semantics.base.errors import RobotSemanticsError
from robot_semantics.base.nanoseconds import float_seconds
from robot_semantics.base.record import record
from robot_semantics.live.health import SenderRow, state_of
from robot_semantics.live.robot import RunningRobot
from robot_semantics.live.samples import RobotSample, RootStatement, WorldSample
from robot_semantics.live.senders import Reference, Sender
from robot_semantics.model.robot_model import RobotModel
from robot_semantics.ros.node.inputs import Inputs
from robot_semantics.ros.node.outputs import Outputs, TransformRepeater
from robot_semantics.ros.node.robots import RobotRegistry
from robot_semantics.ros.node.served_robot import RobotInterface
from robot_semantics.ros.node.world_frames import WorldFrames
from robot_semantics.usdf.apply import AppliedState

Scalar = TypeVar("Scalar", bound=np.generic)


_TF_SILENT_NS = 1_000_000_000
"""A transform that does not come for so long, and for some of its intervals, is silent in the table [ns]."""


class DescriptionChangedError(RobotSemanticsError):
    """A robot got another description while a state was made for it."""


@record(frozen=True, slots=True)
class NodeParts:
    """The parts of a configured node that receive and send; those that watch the robots use most of them.

    Attributes:
        unmoved: repeats the transforms of robots whose joints send nothing.

    """

    robots: RobotRegistry
    inputs: Inputs
    outputs: Outputs
    frames: WorldFrames
    unmoved: TransformRepeater


class StateSampler:
    """Samples the robots for services and topics, and restores values of snapshots."""

    def __init__(self, parts: NodeParts) -> None:
        self._robots, self._inputs, self._outputs, self._frames = (
            parts.robots,
            parts.inputs,
            parts.outputs,
            parts.frames,
        )
        self._unmoved = parts.unmoved
        self._reference = Reference()

    def sample(self, names: Iterable[str] = ()) -> WorldSample:
        """Return the newest state of the named robots at one moment, by default of all, as frozen values.

        Raises:
            UnknownNameError: the node has no such robot.

        """
        robots = self._robots
        chosen = robots.named(names)
        self.refresh()
        with robots.lock:
            samples = tuple(
                _sample(served.robot, self._inputs.root_statements(served))
                for served in chosen
                if served.robot is not None
            )
            newest = self.reference()
        if newest is None:
            return WorldSample(robots.now_ns(), time.monotonic_ns(), samples)
        return WorldSample(newest.last_ns, newest.arrived_ns, samples)

    def clocks(self, now_ns: int) -> list[tuple[RobotInterface | None, Sender, int]]:
        """Return each sender, with its robot and its clock at a time of the steady clock; TF has no robot."""
        clocks: list[tuple[RobotInterface | None, Sender, int]] = []
        for served in self._robots.served:
            odometry = self._inputs.odometry_of(served)
            for senders in (served.robot.senders if served.robot is not None else None, odometry):
                clocks += [(served, *pair) for pair in (senders.clocks(now_ns) if senders is not None else ())]
        return clocks + [(None, *pair) for pair in self._frames.clocks(now_ns)]

    def reference(self) -> Sender | None:
        """Return the sender with the newest stamp of the reference; None before the first message."""
        now_ns = time.monotonic_ns()
        return self._reference.newest(self._with_topics(self.clocks(now_ns)), now_ns)

    @staticmethod
    def _with_topics(clocks: Sequence[tuple[RobotInterface | None, Sender, int]]) -> list[tuple[str, Sender, int]]:
        return [
            (sender.topic if served is None else served.topic_of(sender), sender, clock_ns)
            for served, sender, clock_ns in clocks
        ]

    def sender_rows(self) -> list[SenderRow]:
        """Return the table of senders, the reference first."""
        now_ns, node_ns = time.monotonic_ns(), self._robots.now_ns()
        with self._robots.lock:
            clocks = self.clocks(now_ns)
            with_topics = self._with_topics(clocks)
            self._reference.newest(with_topics, now_ns)
            # As in a recording, of the reference the sender with most messages is compared with all others.
            first = max(self._reference.members, key=lambda sender: sender.total, default=None)
            reference = next((clock_ns for _, sender, clock_ns in clocks if sender is first), 0)
            members = set(self._reference.members)
            rows = []
            for (served, sender, clock_ns), (topic, *_) in zip(clocks, with_topics, strict=True):
                robot = None if served is None else served.robot
                interval_ns = sender.interval_ns()
                is_reference = sender in members
                after_ns = _TF_SILENT_NS if robot is None else robot.settings.complete_after_ns
                offset_ns = clock_ns - reference
                state = state_of(
                    sender,
                    is_reference=is_reference,
                    offset_ns=offset_ns,
                    now_ns=now_ns,
                    complete_after_ns=after_ns,
                )
                row = SenderRow(
                    "" if served is None else served.name,
                    sender.kind.value,
                    topic,
                    sender.names,
                    (),
                    sender.total,
                    1e9 / interval_ns if interval_ns else math.nan,
                    float_seconds(offset_ns),
                    float_seconds(clock_ns - node_ns),
                    float_seconds(now_ns - sender.arrived_ns),
                    state,
                )
                rows.append((2 - is_reference - (sender is first), row))
        topics = dict.fromkeys(row.topic for _, row in rows)
        publishers = {topic: self._frames.publishers_of(topic) for topic in topics}
        rows.sort(key=lambda item: (item[0], item[1].kind, item[1].topic, item[1].names))
        return [row._replace(publishers=publishers[row.topic]) for _, row in rows]

    def restore(self, name: str, model: RobotModel, state: AppliedState, stamp_ns: int) -> None:
        """Set the values of a state for a robot, keep its other values, and publish all.

        Raises:
            UnknownNameError: the node has no such robot.
            DescriptionChangedError: `model`, for which the state was made, is no longer the robot's.

        """
        (served,) = self._robots.named([name])
        assert served.robot is not None
        with self._robots.lock:
            if served.robot.model is not model:
                raise DescriptionChangedError(
                    f"robot '{name}' got another description during the restore; restore again"
                )
            root = served.robot.model.root_joint.name
            positions_of = state.positions_of | ({root} if state.base_positions is not None else set())
            velocities_of = state.velocities_of | ({root} if state.base_velocities is not None else set())
            restored = served.robot.restore(state.positions, state.velocities, positions_of, velocities_of, stamp_ns)
            self._outputs.send(served, restored)
            self._unmoved.start()

    @property
    def knows_anything(self) -> bool:
        """True if any robot has a measured value, or if it has no joints."""
        return any(robot.values.measured.any() or not robot.values.measured.size for robot in self._robots.present)

    def fingerprint(self) -> tuple[object, ...]:
        """Return a value that changes with new values of a robot, with another robot, and with news on TF."""
        self.refresh()
        with self._robots.lock:
            robots = [
                (id(robot), robot.values.received_ns.tobytes(), robot.values.positions.tobytes())
                for robot in self._robots.present
            ]
        return (self._frames.news, *robots)

    def refresh(self) -> None:
        """Look up the root links that follow TF."""
        if self._robots.active:
            self._inputs.refresh()


def _sample(robot: RunningRobot, statements: tuple[RootStatement, ...]) -> RobotSample:
    buffer = robot.values
    return RobotSample(
        name=robot.name,
        model=robot.model,
        space=robot.space,
        positions=_frozen(buffer.positions),
        velocities=_frozen(buffer.velocities),
        efforts=_frozen(buffer.efforts),
        measured=_frozen(buffer.measured),
        received_ns=_frozen(buffer.received_ns),
        parent_frame=robot.parent_frame,
        frame_prefix=robot.settings.frame_prefix,
        source=robot.root_source,
        statements=statements,
        base_frames=robot.base_frames,
    )


def _frozen(array: npt.NDArray[Scalar]) -> npt.NDArray[Scalar]:
    copy: npt.NDArray[Scalar] = array.copy()
    copy.setflags(write=False)
    return copy
