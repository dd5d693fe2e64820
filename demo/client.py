# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The demo's own ROS node: calls services, sends commands, listens to TF."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import Any

import numpy as np
import numpy.typing as npt
import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.time import Time
from sensor_msgs.msg import JointState
from tf2_ros import Buffer, TransformException, TransformListener

from demo.failure import DemoError

WAIT_S = 60.0


class Client:
    """A node that is spun only while it waits for something."""

    def __init__(self, still_alive: Callable[[], None]) -> None:
        """`still_alive` raises an error if a required process has ended."""
        rclpy.init(args=[])
        self.node = Node("demo")
        self._still_alive = still_alive
        self._executor = SingleThreadedExecutor()
        self._executor.add_node(self.node)
        self.buffer = Buffer()
        self._listener = TransformListener(self.buffer, self.node)
        self._commands = self.node.create_publisher(JointState, "joint_command", 10)
        self._clients: dict[str, Any] = {}

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._executor.shutdown()
        self.node.destroy_node()
        rclpy.try_shutdown()

    def wait_for(self, what: str, condition: Callable[[], Any]) -> Any:
        """Spin until `condition` returns something other than None or False, and return that.

        Raises:
            DemoError: this takes too many seconds, or a process has ended.
        """
        deadline = time.monotonic() + WAIT_S
        while (found := condition()) is None or found is False:
            self._still_alive()
            if time.monotonic() > deadline:
                raise DemoError(f"waited {WAIT_S:g} s in vain for {what}")
            self._executor.spin_once(timeout_sec=0.05)
        return found

    def call(self, kind: Any, name: str, /, *, once: bool = False, **request: Any) -> Any:
        """Call a service and return its successful answer.

        For some seconds after a process is killed, its service still seems to exist, and a request may go only to it.
        An answer is lost if the service has not yet found this client. So a request is repeated every two seconds,
        but for one that must not arrive twice (`once`).

        Raises:
            DemoError: the service does not exist, does not answer, or reports a failure.
        """
        client = self._clients.get(name)
        if client is None:
            client = self._clients[name] = self.node.create_client(kind, name)
        self.wait_for(f"the service {name}", client.service_is_ready)
        sent: list[tuple[float, Any]] = []

        def answered() -> Any:
            if not sent or (not once and time.monotonic() - sent[-1][0] > 2.0):
                sent.append((time.monotonic(), client.call_async(kind.Request(**request))))
            return next((future for _, future in sent if future.done()), None)

        answer = self.wait_for(f"an answer of {name}", answered).result()
        if not answer.success:
            raise DemoError(f"{name}: {answer.message}")
        return answer

    def start_anew(self) -> None:
        """Clear the TF buffer and make new clients: a new process with a new clock has started."""
        self._listener.unregister()
        self.buffer = Buffer()
        self._listener = TransformListener(self.buffer, self.node)
        for client in self._clients.values():
            self.node.destroy_client(client)
        self._clients.clear()

    def command(self, kind: str, targets: Mapping[str, float]) -> None:
        """Send targets of one kind, ``position`` or ``velocity``, by joint variable."""
        self.wait_for("the simulator to take commands", lambda: self._commands.get_subscription_count() > 0)
        self._commands.publish(JointState(name=list(targets), **{kind: list(targets.values())}))

    def transform(self, parent: str, child: str) -> npt.NDArray[np.float64] | None:
        """Return the newest (7,) pose of a TF frame in another; None if there is none."""
        try:
            found = self.buffer.lookup_transform(parent, child, Time()).transform
        except TransformException:
            return None
        at, turn = found.translation, found.rotation
        return np.array([at.x, at.y, at.z, turn.x, turn.y, turn.z, turn.w])

    def transforms(self, parent: str, children: Sequence[str]) -> dict[str, npt.NDArray[np.float64]] | None:
        """Return the newest poses of several TF frames; None if one is missing."""
        found = {child: self.transform(parent, child) for child in children}
        return (
            None if any(pose is None for pose in found.values()) else {k: v for k, v in found.items() if v is not None}
        )
