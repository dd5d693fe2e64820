# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The newest states of the node's robots, read at one moment, and restored."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from robot_semantics.base.errors import RobotSemanticsError
from robot_semantics.live.order import NEVER_NS
from robot_semantics.live.robot import RunningRobot
from robot_semantics.live.samples import RobotSample, RootStatement, WorldSample
from robot_semantics.model.robot_model import RobotModel
from robot_semantics.ros.node.inputs import Inputs
from robot_semantics.ros.node.outputs import Outputs, UnmovedRobots
from robot_semantics.ros.node.robots import Robots
from robot_semantics.ros.node.world_frames import WorldFrames
from robot_semantics.usdf.apply import AppliedState

Scalar = TypeVar("Scalar", bound=np.generic)


class DescriptionChangedError(RobotSemanticsError):
    """A robot got another description while a state was made for it."""


class RobotStates:
    """Samples the robots for services and topics, and restores values of snapshots."""

    def __init__(
        self, robots: Robots, inputs: Inputs, outputs: Outputs, frames: WorldFrames, unmoved: UnmovedRobots
    ) -> None:
        self._robots, self._inputs, self._outputs, self._frames = robots, inputs, outputs, frames
        self._unmoved = unmoved

    def sample(self, names: Iterable[str] = ()) -> WorldSample:
        """Return the newest state of the named robots at one moment, by default of all, as frozen values.

        Raises:
            UnknownNameError: the node has no such robot.

        """
        robots = self._robots
        chosen = robots.named(names)
        self._refresh()
        with robots.lock:
            now_ns = robots.now_ns()
            samples = tuple(
                _sample(served.robot, self._inputs.root_statements(served))
                for served in chosen
                if served.robot is not None
            )
        stamps = [sample.newest_ns for sample in samples if sample.newest_ns != NEVER_NS]
        stamps += [said.stamp_ns for sample in samples for said in sample.said if said.stamp_ns is not None]
        return WorldSample(max(stamps, default=now_ns), now_ns, samples)

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
        self._refresh()
        with self._robots.lock:
            robots = [
                (id(robot), robot.values.stamps_ns.tobytes(), robot.values.positions.tobytes())
                for robot in self._robots.present
            ]
        return (self._frames.news, *robots)

    def _refresh(self) -> None:
        if self._robots.active:
            self._inputs.refresh()


def _sample(robot: RunningRobot, said: tuple[RootStatement, ...]) -> RobotSample:
    buffer = robot.values
    return RobotSample(
        name=robot.name,
        model=robot.model,
        space=robot.space,
        positions=_frozen(buffer.positions),
        velocities=_frozen(buffer.velocities),
        efforts=_frozen(buffer.efforts),
        measured=_frozen(buffer.measured),
        stamps_ns=_frozen(buffer.stamps_ns),
        parent_frame=robot.parent_frame,
        frame_prefix=robot.settings.frame_prefix,
        source=robot.root_source,
        said=said,
        newest_ns=buffer.newest_stamp_ns,
        base_frames=robot.base_frames,
    )


def _frozen(array: npt.NDArray[Scalar]) -> npt.NDArray[Scalar]:
    copy: npt.NDArray[Scalar] = array.copy()
    copy.setflags(write=False)
    return copy
