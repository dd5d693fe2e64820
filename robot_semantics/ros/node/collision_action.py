# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The action `~/generate_collision_matrix`: sampling in its own thread, with feedback and cancellation."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from rclpy.action import CancelResponse, GoalResponse
from rclpy.action.server import ServerGoalHandle
from robot_semantics_interfaces.action import GenerateCollisionMatrix
from robot_semantics_interfaces.msg import CollisionPair

from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.base.errors import RobotSemanticsError
from robot_semantics.live.settings import Description
from robot_semantics.model.resources import PackageResolver
from robot_semantics.ros.node.background import in_own_thread
from robot_semantics.ros.node.served_robot import RobotInterface
from robot_semantics.srdf.edit import SrdfText

if TYPE_CHECKING:
    from robot_semantics.collision.matrix import CollisionMatrix, Settings

MOST_SAMPLES = 10_000_000
LONGEST_END_S = 10.0
"""How long [s] the end of the node waits for the worker, which looks whether it is to stop after every part."""


class CollisionAction:
    """Offers the action for one robot; one matrix at a time."""

    def __init__(self, served: RobotInterface) -> None:
        """Offer ``~/generate_collision_matrix``, or ``~/MODEL/generate_collision_matrix``."""
        self._served = served
        self._busy = threading.Lock()
        self._stop = threading.Event()
        self._work: _GoalInThread | None = None
        self._server = served.node.create_action_server(
            GenerateCollisionMatrix,
            f"~/{served.topic('generate_collision_matrix')}",
            self._execute,
            goal=self._admit,
            cancel=lambda _handle: CancelResponse.ACCEPT,
        )

    def destroy(self) -> None:
        """Stop a running goal and remove the action."""
        self._stop.set()
        if self._work is not None:
            self._work.ended.wait(LONGEST_END_S)
        self._served.node.destroy_action_server(self._server)

    def _admit(self, _goal: GenerateCollisionMatrix.Goal) -> GoalResponse:
        if not self._busy.locked():
            return GoalResponse.ACCEPT
        # The client learns only that it is rejected.
        self._served.node.get_logger().warning("a goal is rejected: another collision matrix is being generated")
        return GoalResponse.REJECT

    async def _execute(self, handle: ServerGoalHandle) -> GenerateCollisionMatrix.Result:
        work = self._work = _GoalInThread(self._served.description, handle, self._stop)
        with self._busy:
            self._stop.clear()
            try:
                await in_own_thread(self._served.node, work.run)
            except _CancelledError as error:
                work.result.message = str(error)
                handle.canceled()
            else:
                handle.succeed()
        return work.result


class _CancelledError(RobotSemanticsError):
    """The client cancelled the goal, or the node ends."""


class _GoalInThread:
    """One goal, executed in a thread."""

    def __init__(self, description: Description | None, handle: ServerGoalHandle, stop: threading.Event) -> None:
        self._description, self._handle, self._stop = description, handle, stop
        self._done = 0
        self.result = GenerateCollisionMatrix.Result()
        self.ended = threading.Event()

    def run(self) -> None:
        """Fill the result.

        Raises:
            RobotSemanticsError: the goal was cancelled, or no matrix can be made.
        """
        try:
            self._run()
        finally:
            self.ended.set()

    def _run(self) -> None:
        # Import here: most nodes never need MuJoCo, and start sooner without it.
        from robot_semantics.collision.matrix import NO_PAIRS, generate_matrix
        from robot_semantics.collision.pieces import pieces_of

        if self._description is None:
            raise RobotSemanticsError("there is no robot description yet")
        settings = self._settings()
        diagnostics = Diagnostics()
        pieces = pieces_of(self._description.model, PackageResolver(), diagnostics)
        diagnostics.raise_if_failed()

        def progress(count: int) -> None:
            self._done += count
            if self._handle.is_cancel_requested or self._stop.is_set():
                raise _CancelledError("the goal was cancelled")
            self._handle.publish_feedback(
                GenerateCollisionMatrix.Feedback(samples_done=self._done, samples_total=settings.total)
            )

        matrix = generate_matrix(self._description.model, pieces, settings, progress=progress)
        if not matrix.pairs:
            raise RobotSemanticsError(f"'{self._description.model.name}' has {NO_PAIRS}")
        self._answer(matrix)

    def _settings(self) -> Settings:
        from robot_semantics.collision.matrix import Settings

        goal, default = self._handle.request, Settings()
        if goal.samples > MOST_SAMPLES:
            raise RobotSemanticsError(f"at most {MOST_SAMPLES:,} samples are taken, not {goal.samples:,}")
        if not 0.0 <= goal.always_threshold <= 1.0:
            raise RobotSemanticsError(f"always_threshold must be from 0 to 1, not {goal.always_threshold:g}")
        return Settings(
            samples=goal.samples or default.samples,
            seed=goal.seed,
            always_fraction=goal.always_threshold or default.always_fraction,
        )

    def _answer(self, matrix: CollisionMatrix) -> None:
        from robot_semantics.collision.merging import merge_matrix
        from robot_semantics.collision.statistics import never_bound

        assert self._description is not None
        disabled = {pair: reason.value for pair, reason in matrix.disabled().items()}
        srdf = self._description.texts.srdf
        text = SrdfText(srdf) if srdf.strip() else SrdfText.empty(self._description.model.name)
        merged = merge_matrix(text, disabled)
        self.result.success = True
        self.result.pairs = [
            CollisionPair(link1=pair.first, link2=pair.second, checked=False, reason=reason)
            for pair, reason in disabled.items()
            if pair not in merged.enabled and pair not in merged.removed
        ]
        self.result.samples = matrix.samples
        self.result.never_bound = never_bound(matrix.samples)
        self.result.text = str(merged.text)
