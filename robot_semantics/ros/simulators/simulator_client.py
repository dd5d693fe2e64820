# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Clients of simulator nodes for service callbacks: they read and set the world state."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import NamedTuple

from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.client import Client
from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from rclpy.task import Future
from robot_semantics_interfaces.srv import GetWorldState, SetWorldState

from robot_semantics.base.errors import RobotSemanticsError
from robot_semantics.cdr.generated_types import RosMessage, ServiceType
from robot_semantics.ros.messages.world_messages import items_from_messages
from robot_semantics.usdf.reader import parse_world
from robot_semantics.usdf.restore_report import RestoreItem, RestoreLog
from robot_semantics.usdf.world_state import WorldState
from robot_semantics.usdf.writer import write_world

DISCOVERY_S = 3.0
"""How long a simulator may take to be discovered [s]."""
ANSWER_S = 10.0
"""How long a simulator may take to answer [s]."""
RESEND_S = 0.5
"""How long to wait for an answer before a request that changes nothing is sent again [s]."""
POLL_S = 0.02
UNKNOWN = "unknown"
"""Code of an item with an unknown name."""


class SimulatorError(RobotSemanticsError):
    """A simulator node does not exist, does not answer or refuses; the message says which."""


class RemoteReport(NamedTuple):
    """Report of a simulator after a restore.

    Attributes:
        success: the state was set (in a dry run: could be set), as a whole or, if allowed, in part.
        items: one for each stated item, with the simulator's name, also for items that were not set.
        notes: further notes for the user.
        exact: the simulation continues bit for bit as the one that was saved.
    """

    success: bool
    items: tuple[RestoreItem, ...]
    notes: tuple[str, ...] = ()
    exact: bool = False


class RemoteSimulator(ABC):
    """A simulator in another process; its methods are awaited in callbacks of its node."""

    def __init__(self, node: Node, name: str, group: ReentrantCallbackGroup) -> None:
        """`name` is the simulator node's; a relative one is looked up in the node's own namespace."""
        self.name = name
        self._node = node
        self._group = group
        # Use the wall clock for time limits: the node's clock may go back when a simulation is restored.
        self._clock = Clock(clock_type=ClockType.STEADY_TIME)
        self._clients: list[Client] = []

    def _client(self, kind: type[ServiceType], service: str, node: str = "") -> Client:
        client = self._node.create_client(kind, f"{node or self.name}/{service}", callback_group=self._group)
        self._clients.append(client)
        return client

    def destroy(self) -> None:
        """Remove the clients."""
        for client in self._clients:
            self._node.destroy_client(client)

    @abstractmethod
    async def get(self, *, hold: bool = True) -> WorldState:
        """Return the simulator's whole world; with `hold` a running simulation is held while it is asked.

        Raises:
            SimulatorError: it is not there, does not answer or refuses.
            DescriptionError: what it says is no sound state.

        """

    @abstractmethod
    async def set(
        self, state: WorldState, models: Sequence[str] = (), *, partial: bool = False, dry_run: bool = False
    ) -> RemoteReport:
        """Set the simulator to `state`, or only its `models`; return the report with done and failed items.

        Raises:
            SimulatorError: it is not there or does not answer.
            DescriptionError: the state is not sound.

        """

    def _report(self, log: RestoreLog, success: bool) -> RemoteReport:
        return RemoteReport(success, tuple(replace(item, by=self.name) for item in log.items), log.notes)

    async def _call(self, client: Client, request: RosMessage, *, once: bool = False) -> RosMessage:
        """Send a request and return the answer."""
        await self._until(
            client.service_is_ready, f"simulator '{self.name}' is not running: no service '{client.srv_name}'"
        )
        with self._sent(client, request, once=once) as future:
            answer: RosMessage = await future
        return answer

    @contextmanager
    def _sent(self, client: Client, request: RosMessage, *, once: bool = False) -> Iterator[Future]:
        """Send a request and return its future answer; without `once`, repeat the request until it is answered.

        The service of a killed simulator still seems to exist for some seconds, and a request may reach only this one
        and not its successor.
        """
        answer: Future = Future()
        sent: list[Future] = []

        def settle(future: Future) -> None:
            if not answer.done() and not future.cancelled():
                answer.set_result(future.result())

        def send() -> None:
            if answer.done():
                return
            if len(sent) * RESEND_S >= ANSWER_S:
                answer.set_exception(SimulatorError(f"simulator '{self.name}' has not answered for {ANSWER_S:g} s"))
            elif once and sent:
                sent.append(sent[0])
            else:
                sent.append(client.call_async(request))
                sent[-1].add_done_callback(settle)

        send()
        timer = self._node.create_timer(RESEND_S, send, self._group, self._clock)
        try:
            yield answer
        finally:
            self._node.destroy_timer(timer)
            for future in sent:
                if not future.done():
                    client.remove_pending_request(future)

    async def _until(self, ready: Callable[[], bool], otherwise: str) -> None:
        """Wait until something is so.

        Raises:
            SimulatorError: it is not after the time that a simulator may take to be discovered; `otherwise` says what.

        """
        if ready():
            return
        done: Future = Future()
        polls = 0

        def poll() -> None:
            nonlocal polls
            polls += 1
            if done.done():
                return
            if ready():
                done.set_result(None)
            elif polls * POLL_S > DISCOVERY_S:
                done.set_exception(SimulatorError(otherwise))

        timer = self._node.create_timer(POLL_S, poll, self._group, self._clock)
        try:
            await done
        finally:
            self._node.destroy_timer(timer)


class SimulatorClient(RemoteSimulator):
    """A simulator node with this package's own world state services."""

    def __init__(self, node: Node, name: str, group: ReentrantCallbackGroup) -> None:
        """`name` is the simulator node's; a relative one is looked up in the node's own namespace."""
        super().__init__(node, name, group)
        self._get = self._client(GetWorldState, "get_world_state")
        self._set = self._client(SetWorldState, "set_world_state")

    async def get(self, *, hold: bool = True) -> WorldState:
        """Return the simulator's whole world; it answers between two steps.

        Raises:
            SimulatorError: it is not there, does not answer or refuses.
            DescriptionError: what it says is no sound state.
        """
        answer = await self._call(self._get, GetWorldState.Request(with_text=True))
        if not answer.success:
            raise SimulatorError(f"simulator '{self.name}': {answer.message}")
        return parse_world(answer.text, f"<{self.name}>")

    async def set(
        self, state: WorldState, models: Sequence[str] = (), *, partial: bool = False, dry_run: bool = False
    ) -> RemoteReport:
        """Return the simulator's answer, which may be that it did nothing.

        First send a dry run (`dry_run`). A request with a change is sent only once; if it is lost, its result stays
        unknown.

        Raises:
            SimulatorError: it is not there or does not answer.
        """
        request = SetWorldState.Request(text=write_world(state), models=list(models), partial=partial, dry_run=dry_run)
        answer = await self._call(self._set, request, once=not dry_run)
        items = [
            *items_from_messages(answer.set, done=True, by=self.name),
            *items_from_messages(answer.not_set, done=False, by=self.name),
        ]
        if not answer.success and not answer.not_set:
            items.append(RestoreItem("simulator", "", self.name, False, answer.message))
        notes = tuple(note.reason for note in answer.notes)
        return RemoteReport(bool(answer.success), tuple(items), notes, bool(answer.exact))
